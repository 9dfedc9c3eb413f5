//! Durable, cancellable tasks for MCP tools.
//!
//! A tool that takes minutes, asks a person something half-way and has to survive a restart is one async function with
//! `#[task_tool]` on it. Clients that know tasks get a handle to poll, answer and cancel; others wait for the result,
//! and are asked in the answer of their call, which they repeat with what they were asked for.
//!
#![cfg_attr(all(feature = "macros", feature = "stdio", feature = "sqlite"), doc = "```no_run")]
#![cfg_attr(not(all(feature = "macros", feature = "stdio", feature = "sqlite")), doc = "```text")]
//! use mcp_tasks::transport::stdio::serve_stdio;
//! use mcp_tasks::{Answer, Input, Server, SqliteStore, TaskContext, ToolError, task_tool, tool_type};
//!
//! #[tool_type]
//! struct Approval {
//!     approved: bool,
//! }
//!
//! /// Writes a report and asks for approval of its outline.
//! #[task_tool(ttl = "15m", restart = "rerun")]
//! async fn generate_report(
//!     ctx: TaskContext,
//!     /// What the report is about.
//!     topic: String,
//!     /// Approve the generated report outline?
//!     approve_outline: Input<Approval>,
//! ) -> Result<String, ToolError> {
//!     ctx.status("Preparing report outline.").await?;
//!     let outline: String = ctx.step("outline", async || Ok::<_, ToolError>(format!("On {topic}"))).await?;
//!     match approve_outline.ask(&ctx).await? {
//!         Answer::Accept(Approval { approved: true }) => Ok(outline),
//!         _ => Err(ToolError::cancelled("The outline was not approved.")),
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let store = SqliteStore::open("tasks.db").await?;
//!     let server = Server::builder("reports", "1.0.0").store(store).tool::<generate_report>().build().await?;
//!     serve_stdio(server).await?;
//!     Ok(())
//! }
//! ```
//!
//! # What holds
//!
//! - A handle that a client has read is durable; the task behind it ends in a recorded state, whatever happens to its
//!   body, its process or its caller. The first end stays for ever.
//! - A task whose process died fails honestly, or, with `restart = "rerun"`, runs again from the top: answers and
//!   [steps](TaskContext::step) come from the record, everything else is done again. Steps are recorded after their
//!   work, so the work of one step can be done twice; [`TaskContext::fencing_token`] is for effects that must not be.
//! - Each task has an [`Owner`], and to others it does not exist. Over HTTP an `Authenticator` tells whose a request is;
//!   without one, and on stdio, all requests are about one owner, that of [`ServerBuilder::owner`]: then whoever may send
//!   requests can read, answer and cancel every task whose id they have.
//! - A call that is sent again is another call and makes another task, since the protocol gives calls no identity of
//!   their own (S-07), unless the tool names one of its arguments as its `idempotency_key`.
//! - A body that ends its process each time it is run is not run for ever: after five attempts without a new step or
//!   answer its task fails ([`ServerBuilder::max_attempts`]). So does one with a result of more than 16 MiB
//!   ([`ServerBuilder::result_limit`]).
//! - When serving ends, so does the server ([`Server::shutdown`]): bodies are told to stop, and the store is free for the
//!   next process in bounded time. A process that is killed, as by SIGTERM without a handler, frees it at once and loses
//!   nothing that was acknowledged.
//! - A lifetime counts from creation. A task that outlives it fails; an ended one is removed when it is over, or when its
//!   tool's `retain` is.
//!
//! # What is stored
//!
//! Of each task, in the clear, until its retention ends (`retain`, or its lifetime): owner, tool, status and its
//! messages, the ids of the trace that its request was a part of, result or error, the questions with their answers,
//! the values of recorded steps, and, for tools that can be run again and tasks that were not begun by the process that
//! created them, the arguments. Of other arguments only a digest is kept. Then its owner is told for a while that it
//! expired ([`EngineBuilder::tombstone_ms`]). The same is kept of a call that asks without being a task, until it is
//! answered or given up. The log has ids, names, statuses and the reasons of cancellations, and none of these values.
//! What must not be read where it is stored is encrypted by a [`Seal`] of yours in a [`SealedStore`] around any store.
//! The [guide to durability][durability] says more, also how to choose a store, run replicas and grow.
//!
//! [durability]: https://github.com/mcp-tasks/mcp-tasks/blob/main/docs/durability.md
//!
//! # Layers
//!
//! [`lifecycle`] says what may happen to a [record](TaskRecord), a [`Store`] keeps records, the [`Engine`] runs bodies
//! and answers for tasks, [`server`] speaks the protocol, [`transport`] carries bytes. Each knows only those before it.
//! What a body sees, [`TaskContext`], [`Input`] and [`TaskTool`], is one layer with the engine: a context is a handle of
//! a run. [`testing`] stands beside all of them.
//! A store of your own is a trait with few methods, and [`testing::store_contract`] says whether it is right.
//!
//! # Features
//!
//! | feature | gives | default |
//! |---|---|---|
//! | `macros` | the attributes `#[task_tool]` and `#[tool_type]` | yes |
//! | `stdio` | serving over standard input and output | yes |
//! | `http` | serving over HTTP, as an axum router | |
//! | `sqlite` | `SqliteStore`, the embedded durable store: one process, one file | |
//! | `fs` | `FsStore`, a durable store of JSON files that people can read: one process, one folder | |
//! | `postgres` | `PostgresStore`, the durable store that several processes share | |
//! | `postgres-tls` | TLS to PostgreSQL | |
//! | `metrics` | counters and durations, for the recorder of the `metrics` crate that a program installs | |
//!
//! # Metrics
//!
//! Labels are names that the program chose (tools, statuses, verbs of the store), never a caller's words.
//!
//! | name | kind | labels | what it counts |
//! |---|---|---|---|
//! | `mcp_tasks_created_total` | counter | `tool` | tasks that were stored |
//! | `mcp_tasks_ended_total` | counter | `tool`, `status` | tasks that came to an end here, expired ones among the failed |
//! | `mcp_tasks_life_seconds` | histogram | `tool`, `status` | seconds from creation to the end |
//! | `mcp_tasks_questions_total` | counter | `tool` | questions asked |
//! | `mcp_tasks_cancel_requests_total` | counter | `tool` | tasks that were asked to stop |
//! | `mcp_tasks_taken_up_total` | counter | `tool`, `outcome` | tasks that nobody worked on and that were taken up here, to `run` or as `failed` |
//! | `mcp_tasks_running` | gauge | | bodies that run in this process |
//! | `mcp_tasks_store_seconds` | histogram | `verb` | seconds that a call of the store took |
//! | `mcp_tasks_store_errors_total` | counter | `verb`, `kind` | calls of the store that failed; lost races are none |

mod clock;
mod context;
mod digest;
mod engine;
mod error;
mod finite;
mod form;
mod input;
pub mod lifecycle;
#[doc(hidden)]
pub mod macro_support;
mod output;
mod owner;
mod panic;
pub mod record;
pub mod server;
pub mod store;
pub mod testing;
mod tool;
pub mod transport;

use std::pin::Pin;

pub use clock::{Clock, Ids, RandomIds, SystemClock};
pub use context::TaskContext;
pub use engine::{
    Called, Engine, EngineBuilder, InlineOutcome, NewTask, Operators, Outside, Removed, Role, Round, Stats,
    Watch,
};
pub use error::{
    ArgumentError, BuildError, DefinitionError, EngineError, EngineErrorKind, Interrupted, InterruptedKind,
    ToolError,
};
pub use input::{
    Answer, Answerable, Declare, Input, Question, Questions, RootsInput, SamplingInput, SamplingQuestion,
    UrlInput, UrlQuestion,
};
#[cfg(feature = "macros")]
pub use mcp_tasks_macros::{task_tool, tool_type};
pub use mcp_tasks_types as types;
pub use mcp_tasks_types::v2026_07_28::LoggingLevel;
pub use output::{ToolOutput, ToolReturn};
pub use owner::Owner;
pub use record::{SharedRecord, TaskRecord, TraceContext};
pub use server::{Server, ServerBuilder};
#[cfg(feature = "fs")]
pub use store::FsStore;
#[cfg(feature = "sqlite")]
pub use store::SqliteStore;
pub use store::{Cursor, MemoryStore, Page, Seal, SealError, SealedStore, Store, StoreError, StoreErrorKind};
#[cfg(feature = "postgres")]
pub use store::{PostgresStore, PostgresStoreBuilder};
pub use tool::{
    InputDeclaration, InputKind, Restart, TaskMode, TaskTool, ToolArgument, ToolCall, ToolDefinition,
    check_arguments,
};
pub use {schemars, serde};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The examples of the README, compiled.
#[cfg(all(doctest, feature = "macros", feature = "stdio", feature = "http", feature = "sqlite"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples about stores and replicas, compiled.
#[cfg(all(doctest, feature = "macros", feature = "postgres"))]
#[doc = include_str!("../../docs/durability.md")]
struct Durability;
