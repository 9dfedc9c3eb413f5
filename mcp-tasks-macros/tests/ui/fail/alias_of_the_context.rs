//! Other names for the context and for a question, which no macro can see through.

use mcp_tasks::{Input, TaskContext, ToolError, task_tool, tool_type};

#[tool_type]
struct Approval {
    approved: bool,
}

type Context = TaskContext;
type Question = Input<Approval>;

/// Writes a report.
#[task_tool]
async fn report(
    ctx: Context,
    /// Approve?
    approve: Question,
) -> Result<String, ToolError> {
    Ok(format!("{ctx:?} {approve:?}"))
}

fn main() {}
