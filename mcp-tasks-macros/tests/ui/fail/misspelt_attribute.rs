//! One letter swapped in the name of an attribute.

use mcp_tasks::{TaskContext, ToolError, task_tool};

#[task_tool(tll = "15m")]
async fn wait(ctx: TaskContext) -> Result<(), ToolError> {
    ctx.checkpoint()?;
    Ok(())
}

fn is_a_tool<T: mcp_tasks::TaskTool>() {}

fn main() {
    is_a_tool::<wait>();
}
