//! Integration tests, one module a topic.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod engine_cancel;
mod engine_faults;
mod engine_input;
mod engine_outcome;
mod engine_restart;
#[cfg(feature = "sqlite")]
mod engine_sqlite;
mod faulty_store;
#[cfg(feature = "http")]
mod http_client;
#[cfg(feature = "http")]
mod http_wire;
mod server_harness;
mod server_order;
mod server_results;
mod server_sequence;
mod server_store;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stdio_wire;
mod store;
mod support;
