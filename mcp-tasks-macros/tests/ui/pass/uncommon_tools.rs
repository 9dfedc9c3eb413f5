//! Tools with type parameters, through a facade, under a condition, out of use.
#![deny(warnings)]

use mcp_tasks::schemars::JsonSchema;
use mcp_tasks::serde::{Serialize, de::DeserializeOwned};
use mcp_tasks::{TaskContext, TaskTool, ToolError, task_tool};

mod facade {
    pub(crate) use mcp_tasks;
}

#[facade::mcp_tasks::tool_type(crate = "facade::mcp_tasks")]
struct Pair<T> {
    left: T,
    right: T,
}

/// A description that is put together.
#[doc = concat!("Of ", "parts.")]
#[task_tool(crate = "facade::mcp_tasks", title = TITLE)]
async fn swap(pair: Pair<u8>) -> Result<Pair<u8>, ToolError> {
    Ok(Pair { left: pair.right, right: pair.left })
}

const TITLE: &str = "Swap";

#[task_tool]
async fn largest<T>(ctx: TaskContext, values: Vec<T>) -> Result<Option<T>, ToolError>
where
    T: Ord + Serialize + DeserializeOwned + JsonSchema + Send + 'static,
{
    ctx.checkpoint()?;
    Ok(values.into_iter().max())
}

#[task_tool]
#[cfg(any())]
async fn absent(no: SuchType) -> Result<(), ToolError> {}

#[task_tool]
#[deprecated(note = "take `swap`")]
async fn exchange(left: u8) -> Result<u8, ToolError> {
    Ok(left)
}

fn main() {
    assert_eq!(swap::definition().title(), Some("Swap"));
    let description = "A description that is put together.\nOf parts.";
    assert_eq!(swap::definition().description(), Some(description));
    assert_eq!(largest::<u64>::NAME, "largest");
    let schema = largest::<u64>::definition().input_schema().to_string();
    assert!(!schema.contains("types"), "{schema}");
    #[allow(deprecated)]
    let name = exchange::NAME;
    assert_eq!(name, "exchange");
}
