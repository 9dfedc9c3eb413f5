//! Exact, lossless, fast types of the Model Context Protocol's task messages.
//!
//! Each protocol revision is a module of types generated from JSON Schema; all revisions are compiled side by side.
//! The crate knows nothing of transports, stores or runtimes: clients, gateways and SDKs take it on its own.
//!
//! ```
//! use mcp_tasks_types::v2026_07_28::{GetTaskResult, TaskState};
//!
//! let text = r#"{"resultType":"complete","taskId":"tsk_1","status":"completed",
//!     "createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:34:12Z","ttlMs":900000,
//!     "result":{"content":[],"isError":false},"x-vendor":1}"#;
//! let task: GetTaskResult = mcp_tasks_types::from_str(text)?;
//! match &task.state {
//!     TaskState::Completed { result } => println!("{result}"),
//!     other => println!("still {}", other.as_str()),
//! }
//! assert_eq!(task.extra.get("x-vendor").map(|value| value.as_str()), Some("1"));
//! # Ok::<(), mcp_tasks_types::JsonError>(())
//! ```
//!
//! A tool call is answered with its result, with a handle of a task, or with questions that come first:
//!
//! ```
//! use mcp_tasks_types::RawMessage;
//! use mcp_tasks_types::v2026_07_28::{CallToolRequest, CallToolResponse, ErrorObject};
//!
//! let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"tsk_1","status":"working",
//!     "createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":null}}"#;
//! match RawMessage::read(answer)?.answer::<CallToolRequest, ErrorObject>()? {
//!     Ok(CallToolResponse::Complete(result)) => println!("{} blocks of content", result.content.len()),
//!     Ok(CallToolResponse::Task(task)) => println!("poll {} with tasks/get", task.task_id),
//!     Ok(CallToolResponse::InputRequired(asked)) => println!("answer {:?} and call again", asked.input_requests),
//!     Err(error) => println!("refused with {}: {}", error.code, error.message),
//! }
//! # Ok::<(), mcp_tasks_types::JsonError>(())
//! ```
//!
//! | item | for |
//! |---|---|
//! | [`v2026_07_28`], [`v2025_11_25`], [`sep_1686`] | the types of a revision, its methods, `_meta` keys and error codes |
//! | [`convert`] | tasks, calls, answers and questions of one revision as those of another |
//! | [`RawMessage`] | id, method and `_meta` of a message, the rest as text; the answer to a request |
//! | [`Request`], [`Notification`] | which result answers a request |
//! | [`routing_headers`], [`header_value`], [`decode_header_value`] | the HTTP headers by which a request is routed |
//! | [`tasks_extension`] | what a client of 2026-07-28 declares in each request about tasks, and in each that may become one |
//! | [`RawJson`], [`RawObject`], [`Extra`], [`Number`], [`Timestamp`], [`Map`] | what is kept as it was sent |
//!
//! What every type keeps to:
//!
//! - A state without its payload cannot be read or built; a payload that does not belong to the state is kept in
//!   `extra`, as all unknown members are, and written back as the text that was sent.
//! - Constants (`jsonrpc`, `method`, `resultType`) are no fields: they are checked on reading and always written.
//!   An absent `resultType` is read as `complete` and never as `task`.
//! - A member that is required but may be null is written as null; an optional one is left out, and `null` for it is
//!   tolerated on reading.
//! - Durations are whole milliseconds and refuse negatives; a fraction is rounded up in [`sep_1686`], which has plain
//!   numbers, and refused elsewhere. Timestamps are strict RFC 3339 and are written back letter for letter.
//! - Payloads ([`RawJson`], [`RawObject`]) stay text until asked for.
//! - Known members are written in the order of the schema, integers as digits, and null for an optional member not at
//!   all; what no schema names, payloads, timestamps and every [`Number`] are written back letter for letter.
//!
//! The types are types of JSON: they work with serde_json, on text as well as inside types of others that buffer
//! (`untagged`, `flatten`) and with [`serde_json::Value`]. In other formats a payload is the text of JSON, and a task
//! with a result is not read back equal. With serde_json's feature `arbitrary_precision`, inside such buffers and
//! values an object whose one member has serde_json's private name for numbers is read as a number; read from text, it
//! is an object.
//!
//! Ids in this documentation, such as C-36 or R-7, are of rules of the protocol and of our readings of it:
//! <https://github.com/mcp-tasks/mcp-tasks/blob/main/docs/conformance.md> says what each demands.
//!
//! | feature | what it adds |
//! |---|---|
//! | `schemars` | `schemars::JsonSchema` for every type: the schema that it was generated from |

pub mod convert;
mod decimal;
mod equal;
mod error;
mod extra;
#[rustfmt::skip]
mod generated;
#[cfg(feature = "schemars")]
mod json_schema;
mod message;
mod number;
mod path;
mod raw;
mod routing;
#[doc(hidden)]
pub mod support;
mod task;
mod task_id;
mod timestamp;
mod transcribe;

pub use convert::tasks_extension;
pub use error::{JsonError, UnknownValue};
pub use extra::{Extra, Map};
pub use generated::{sep_1686, v2025_11_25, v2026_07_28};
pub use message::{MessageId, Notification, RawMessage, Request};
pub use number::Number;
pub use raw::{JsonKind, RawJson, RawObject};
pub use routing::{
    HeaderValueError, METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER, decode_header_value, header_value,
    routing_headers,
};
pub use task_id::TaskId;
pub use timestamp::{Timestamp, TimestampError};

/// Reads a value from JSON text.
///
/// # Errors
///
/// When the text is no JSON or does not fit the type, with the path, line and column.
pub fn from_str<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T, JsonError> {
    serde_json::from_str(text).map_err(|error| JsonError::of_text(text.as_bytes(), &error))
}

/// Reads a value from JSON bytes.
///
/// # Errors
///
/// When the bytes are no UTF-8 JSON or do not fit the type, with the path, line and column.
pub fn from_slice<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, JsonError> {
    // First the whole as text: a reader passes over what it does not keep without looking.
    match std::str::from_utf8(bytes) {
        Ok(text) => from_str(text),
        Err(error) => Err(JsonError::no_utf8(bytes, error.valid_up_to())),
    }
}

/// Writes a value as one line of JSON text.
///
/// # Errors
///
/// When the value's own `Serialize` fails, or a map key is not a string.
pub fn to_string<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, JsonError> {
    Ok(serde_json::to_string(value)?)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
