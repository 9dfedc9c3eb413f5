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
#[cfg(all(feature = "http", feature = "macros"))]
mod http_client;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_wire;
#[cfg(feature = "macros")]
mod server_harness;
#[cfg(feature = "macros")]
mod server_order;
#[cfg(feature = "macros")]
mod server_results;
#[cfg(feature = "macros")]
mod server_sequence;
#[cfg(feature = "macros")]
mod server_store;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(all(feature = "stdio", feature = "macros"))]
mod stdio_wire;
mod store;
#[cfg(feature = "sqlite")]
mod store_model;
mod support;
