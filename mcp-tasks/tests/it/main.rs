//! Integration tests, one module a topic.

#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod support;
#[cfg(feature = "http")]
mod http_client;
#[cfg(feature = "http")]
mod http_wire;
mod engine_cancel;
mod engine_input;
mod engine_outcome;
mod engine_restart;
mod server_harness;
mod server_order;
mod server_results;
mod server_sequence;
mod server_store;
mod stdio_wire;
