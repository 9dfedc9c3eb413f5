//! The example programs as real processes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod application;
mod command_line;
mod ends;
mod kill;
mod owners;
#[path = "../../../mcp-tasks/tests/it/postgres_cluster.rs"]
mod postgres_cluster;
mod process;
mod questions;
mod replicas;
