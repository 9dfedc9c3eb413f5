//! The type of an answer without its derives: told once, also where the body asks.

use mcp_tasks::{Answer, Input, TaskContext, ToolError, task_tool};

struct Approval {
    approved: bool,
}

/// Writes a report.
#[task_tool]
async fn report(
    ctx: TaskContext,
    /// Approve?
    approve: Input<Approval>,
) -> Result<String, ToolError> {
    match approve.ask(&ctx).await? {
        Answer::Accept(approval) => Ok(approval.approved.to_string()),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("no")),
    }
}

fn main() {}
