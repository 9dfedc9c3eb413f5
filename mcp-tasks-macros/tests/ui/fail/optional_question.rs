//! Questions and contexts inside of other types.

use mcp_tasks::{Input, TaskContext, ToolError, task_tool, tool_type};

#[tool_type]
struct Approval {
    approved: bool,
}

/// Writes a report.
#[task_tool]
async fn report(
    ctx: Option<TaskContext>,
    /// Approve?
    approve: Option<Input<Approval>>,
) -> Result<String, ToolError> {
    Ok((ctx.is_some() && approve.is_some()).to_string())
}

fn main() {}
