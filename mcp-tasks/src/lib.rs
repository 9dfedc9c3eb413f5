//! Durable, cancellable tasks for MCP tools.

mod clock;
pub mod lifecycle;
mod owner;
pub mod record;

use std::pin::Pin;

pub use clock::{Clock, CountingIds, Ids, ManualClock, RandomIds, SystemClock};
pub use mcp_tasks_types as types;
pub use owner::Owner;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
