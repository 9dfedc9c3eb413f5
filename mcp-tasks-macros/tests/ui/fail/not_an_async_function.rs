//! Work that blocks, without `async`.

use mcp_tasks::{ToolError, task_tool};

#[task_tool]
fn hash(text: String) -> Result<String, ToolError> {
    Ok(text)
}

fn main() {
    drop(hash(String::new()));
}
