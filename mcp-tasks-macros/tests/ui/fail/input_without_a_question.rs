//! A declared question, but nothing to ask.

use mcp_tasks::{Answer, Input, TaskContext, ToolError, task_tool};

#[task_tool]
async fn delete(ctx: TaskContext, confirm: Input<Confirmation>) -> Result<String, ToolError> {
    match confirm.ask(&ctx).await? {
        Answer::Accept(_) => Ok(String::from("Deleted.")),
        _ => Ok(String::from("Kept.")),
    }
}

#[mcp_tasks::tool_type]
struct Confirmation {
    sure: bool,
}

fn main() {}
