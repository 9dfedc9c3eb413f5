//! The type of an argument without its derives: told once, and how to mend it.

use mcp_tasks::{Input, TaskContext, ToolError, task_tool, tool_type};

enum Size {
    Small,
    Large,
}

#[tool_type]
struct Approval {
    approved: bool,
}

/// Writes a report.
#[task_tool]
async fn report(
    ctx: TaskContext,
    /// How long.
    size: Size,
    /// Whether with pictures.
    pictures: Option<bool>,
    /// Approve?
    approve: Input<Approval>,
) -> Result<String, ToolError> {
    let answer = approve.ask(&ctx).await?;
    Ok(match size {
        Size::Small => format!("{answer:?}"),
        Size::Large => format!("{pictures:?}"),
    })
}

fn main() {}
