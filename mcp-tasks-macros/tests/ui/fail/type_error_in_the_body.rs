//! A mistake in the body is the compiler's to tell, at its place in the body.

use mcp_tasks::{ToolError, task_tool};

#[task_tool]
async fn add(
    /// The first number.
    left: u32,
    /// The second number.
    right: u32,
) -> Result<u32, ToolError> {
    let sum: u32 = "left and right";
    Ok(sum + left + right)
}

fn main() {}
