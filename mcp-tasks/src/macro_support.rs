//! Everything that an expansion of `#[task_tool]` or `#[tool_type]` refers to. Not for people.

pub use mcp_tasks_types::RawObject;
pub use mcp_tasks_types::v2026_07_28::CallToolResult;
pub use {schemars, serde};

pub use crate::BoxFuture;
pub use crate::error::{ArgumentError, ToolError};
pub use crate::input::{Input, RootsInput, SamplingInput, UrlInput};
pub use crate::output::ToolReturn;
pub use crate::tool::{
    Arguments, Restart, TaskMode, TaskTool, ToolArgument, ToolCall, ToolDefinition, finish,
};
