//! Integration tests, one module a topic; a test names the rows of the requirements that it shows.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod engine_abandoned;
mod engine_brittle;
mod engine_cancel;
mod engine_durable;
mod engine_ended;
mod engine_ends;
mod engine_faults;
mod engine_input;
mod engine_leases;
mod engine_limits;
mod engine_log;
#[cfg(feature = "metrics")]
mod engine_metrics;
mod engine_model;
mod engine_operators;
mod engine_outages;
mod engine_outcome;
mod engine_panics;
mod engine_restart;
mod engine_rules;
#[cfg(feature = "sqlite")]
mod engine_sqlite;
#[cfg(all(feature = "http", feature = "stdio", feature = "macros"))]
mod every_transport;
#[cfg(feature = "fs")]
mod fs;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_client;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_events;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_limits;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_malformed;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_owners;
#[cfg(all(feature = "http", feature = "stdio", feature = "macros"))]
mod http_polls;
#[cfg(all(feature = "http", feature = "macros"))]
mod http_wire;
#[cfg(all(any(feature = "http", feature = "stdio"), feature = "macros"))]
mod malformed;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
#[cfg(all(unix, feature = "postgres"))]
mod postgres_cluster;
#[cfg(all(unix, feature = "postgres"))]
mod postgres_faults;
#[cfg(all(unix, feature = "postgres-tls"))]
mod postgres_tls;
#[cfg(all(feature = "http", feature = "macros"))]
mod probes;
mod processes;
#[cfg(all(feature = "http", feature = "stdio", feature = "macros"))]
mod reports_asking;
#[cfg(feature = "macros")]
mod reports_engine;
#[cfg(feature = "macros")]
mod reports_log;
#[cfg(all(feature = "http", feature = "stdio", feature = "macros"))]
mod reports_wire;
#[cfg(feature = "macros")]
mod server_harness;
#[cfg(feature = "macros")]
mod server_kinds;
#[cfg(feature = "macros")]
mod server_listen;
#[cfg(feature = "macros")]
mod server_order;
#[cfg(feature = "macros")]
mod server_results;
#[cfg(feature = "macros")]
mod server_rounds;
#[cfg(all(
    feature = "macros",
    feature = "http",
    feature = "stdio",
    feature = "sqlite",
    feature = "postgres",
    unix
))]
mod server_rounds_across;
#[cfg(feature = "macros")]
mod server_rounds_faults;
#[cfg(feature = "macros")]
mod server_sequence;
#[cfg(feature = "macros")]
mod server_store;
#[cfg(feature = "macros")]
mod server_telling;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(all(feature = "stdio", feature = "macros"))]
mod stdio_listen;
#[cfg(all(feature = "stdio", feature = "macros"))]
mod stdio_malformed;
#[cfg(all(feature = "stdio", feature = "macros", feature = "sqlite"))]
mod stdio_process;
#[cfg(all(feature = "stdio", feature = "macros"))]
mod stdio_wire;
mod store;
#[cfg(any(feature = "sqlite", feature = "fs", feature = "postgres"))]
mod store_model;
mod store_rules;
mod store_sealed;
mod support;
#[cfg(feature = "macros")]
mod types_readme;
