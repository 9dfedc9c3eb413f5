//! Bytes to messages and back; a transport knows nothing of tasks and tools.
//!
//! Every transport does the same: it takes one message, has the [`Server`](crate::Server) answer
//! it, and sends the answer's text.

#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "stdio")]
pub mod stdio;

/// The longest message that a transport takes, unless it is told otherwise: 4 MiB.
pub const DEFAULT_MESSAGE_LIMIT: usize = 4 * 1024 * 1024;
