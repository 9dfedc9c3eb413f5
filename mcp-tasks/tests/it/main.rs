//! Integration tests, one module a topic.

#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod support;
#[cfg(feature = "http")]
mod http_client;
#[cfg(feature = "http")]
mod http_wire;
mod server_harness;
mod server_order;
mod server_results;
mod server_sequence;
mod stdio_wire;
