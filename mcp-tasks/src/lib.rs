//! Durable, cancellable tasks for MCP tools.

mod clock;
mod context;
mod digest;
mod engine;
mod error;
mod form;
mod input;
pub mod lifecycle;
#[doc(hidden)]
pub mod macro_support;
mod output;
mod owner;
pub mod record;
pub mod server;
pub mod store;
pub mod testing;
mod tool;
pub mod transport;

use std::pin::Pin;

pub use clock::{Clock, CountingIds, Ids, ManualClock, RandomIds, SystemClock};
pub use context::TaskContext;
pub use engine::{Engine, EngineBuilder, InlineOutcome, NewTask};
pub use error::{
    ArgumentError, BuildError, DefinitionError, EngineError, EngineErrorKind, Interrupted, InterruptedKind,
    ToolError,
};
pub use input::{Answer, Input};
#[cfg(feature = "macros")]
pub use mcp_tasks_macros::{task_tool, tool_type};
pub use mcp_tasks_types as types;
pub use output::{ToolOutput, ToolReturn};
pub use owner::Owner;
pub use record::{SharedRecord, TaskRecord};
pub use server::{Server, ServerBuilder};
#[cfg(feature = "sqlite")]
pub use store::SqliteStore;
pub use store::{MemoryStore, Store, StoreError, StoreErrorKind};
pub use tool::{
    InputDeclaration, InputKind, Restart, TaskMode, TaskTool, ToolCall, ToolDefinition, check_arguments,
};
pub use {schemars, serde};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
