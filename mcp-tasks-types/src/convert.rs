//! Conversions between the three generations of MCP tasks, for gateways, bridges and servers that speak several.
//!
//! Nothing here runs, waits or reads a clock: values in, values out, and where a time matters it is an argument. What
//! carries over fully converts with `From` or a plain function; the rest returns a [`ConvertError`] that names the
//! member and the reason.
//!
//! | what | entry point |
//! |---|---|
//! | which generation a request is of (I-01) | [`generation_of`] |
//! | where a task stands | [`State`]: `From` every status, `status_…` for every status |
//! | a task, at creation, when polled, in a notification | [`Snapshot`] |
//! | what a task came to | [`Outcome`], [`Snapshot::with_outcome`], [`Snapshot::payload_v2025_11_25`] |
//! | how long it is kept | [`Lifetime`] |
//! | a tool result | `From`/`TryFrom` between the types, [`result_to_v2026_07_28`] and its kin for text |
//! | the call and the wish for a task | [`call_to_v2026_07_28`] and its kin, [`wish_to_sep_1686`] |
//! | questions and answers | [`NestedRequest`], [`question_to_v2025_11_25`], [`answer_to_v2026_07_28`] and kin |
//! | errors of requests | [`error_to_v2025_11_25`] and its kin |
//! | progress, log messages, cancellations of requests | `From`/`TryFrom` between the types of equal name |
//! | cancelling a task | [`Snapshot::into_cancelled`], [`cancel_to_sep_1686`] |
//! | capabilities | `From`/`TryFrom` between the types, [`tasks_extension`] |
//! | pages of tasks and of tools | [`list_to_sep_1686`], [`list_from_sep_1686`], [`tools_to_v2026_07_28`], `TryFrom` |
//! | tools, content blocks, forms and the like | `From` between the types of equal name; `TryFrom` for [`Tool`] |
//!
//! Every function here is `#[inline]`: the crate compiles none of them for itself, a gateway those that it calls.
//!
//! Ids such as I-04 are of rules, which are listed at
//! <https://github.com/mcp-tasks/mcp-tasks/blob/main/docs/conformance.md>.
//!
//! # What is kept
//!
//! A name that no generation defines at a place, be it a member or a key of `_meta`, travels as the text that was sent.
//! A name that some generation defines is converted by the tables or stays behind, so that an answer never mixes the
//! members of two generations (I-02). Trace context in `_meta` means the same everywhere and travels.
//!
//! These are lost on the way, since the target has no place for them:
//!
//! - towards SEP-1686: timestamps, messages of tasks that have not failed, code and data of an error;
//! - towards 2025-11-25: whether a task was only submitted or is lost; `statusMessage` of a failed task, where the
//!   error's message takes its place; `resultType`;
//! - towards 2026-07-28: whether a task was only submitted or is lost, the wish for a task, related-task keys,
//!   `elicitationId`, `execution` of a tool, `_meta` of an answer, what a client says of tasks of its own;
//! - everywhere: `serverInfo` and `subscriptionId`, which a gateway says of itself, and extensions other than tasks.
//!
//! Durations are written within what every reader of JSON holds, 2^53 - 1, and a poll interval of 0 is left out.
//!
//! A member that the protocol defines and a peer sent twice is refused ([`ConvertErrorKind::Malformed`]), since two
//! readers of it could see different messages. Conversions that cannot fail keep the last one.
//!
//! # A client of 2025-11-25 in front of a server of 2026-07-28
//!
//! ```
//! use mcp_tasks_types::convert::{self, NestedRequest, Payload, Snapshot};
//! use mcp_tasks_types::{RawObject, from_str, to_string, v2025_11_25, v2026_07_28};
//!
//! // The client calls a tool and wants a task; the gateway calls it as itself and declares the extension.
//! let call: v2025_11_25::CallToolRequestParams =
//!     from_str(r#"{"name":"report","arguments":{"year":2025},"task":{"ttl":60000}}"#)?;
//! let own: v2026_07_28::RequestMetaObject = from_str(
//!     r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!         "io.modelcontextprotocol/clientCapabilities":
//!             {"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"form":{}}}}"#,
//! )?;
//! let call = convert::call_to_v2026_07_28(call, own)?;
//! assert_eq!(call.name, "report");
//!
//! // The server makes a task: flat there, nested here.
//! let created: v2026_07_28::CreateTaskResult = from_str(
//!     r#"{"resultType":"task","taskId":"t-1","status":"working","createdAt":"2026-08-21T10:30:00Z",
//!         "lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":900000,"pollIntervalMs":5000}"#,
//! )?;
//! let created = v2025_11_25::CreateTaskResult::from(Snapshot::from(created));
//! assert_eq!((created.task.ttl, created.task.poll_interval), (Some(900000), Some(5000)));
//!
//! // `tasks/get`: the task waits. The client sees the status, and the question as a request of its own.
//! let waiting: v2026_07_28::GetTaskResult = from_str(
//!     r#"{"resultType":"complete","taskId":"t-1","status":"input_required","createdAt":"2026-08-21T10:30:00Z",
//!         "lastUpdatedAt":"2026-08-21T10:31:00Z","ttlMs":900000,"inputRequests":{"sure":{
//!             "method":"elicitation/create","params":{"message":"Sure?",
//!             "requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean"}}}}}}}"#,
//! )?;
//! let waiting = Snapshot::from(waiting);
//! for (key, question) in waiting.questions().into_iter().flat_map(|questions| questions.iter()) {
//!     let asked = convert::question_to_v2025_11_25(question.clone(), 7, &waiting.task_id, None)?;
//!     assert!(matches!(asked, NestedRequest::Elicit(_)));
//!
//!     // The client's result, without its `_meta`, is the value for that key of `tasks/update`.
//!     let result = RawObject::from_text(
//!         r#"{"action":"accept","content":{"yes":true},
//!             "_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t-1"}}}"#,
//!     )?;
//!     let answer = convert::answer_to_v2026_07_28(&result)?;
//!     let responses = v2026_07_28::InputResponses([(key, answer)].into_iter().collect());
//!     assert_eq!(to_string(&responses)?, r#"{"sure":{"action":"accept","content":{"yes":true}}}"#);
//! }
//!
//! // The tool fails. That is completed there and failed here; `tasks/result` has the tool's result all the same.
//! let ended: v2026_07_28::GetTaskResult = from_str(
//!     r#"{"resultType":"complete","taskId":"t-1","status":"completed","createdAt":"2026-08-21T10:30:00Z",
//!         "lastUpdatedAt":"2026-08-21T10:34:12Z","ttlMs":900000,
//!         "result":{"resultType":"complete","content":[{"type":"text","text":"no data"}],"isError":true}}"#,
//! )?;
//! let ended = Snapshot::from(ended);
//! let Payload::Result(result) = ended.payload_v2025_11_25()? else { panic!("there is a result") };
//! assert_eq!(
//!     to_string(&result)?,
//!     r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t-1"}},"#.to_owned()
//!         + r#""content":[{"type":"text","text":"no data"}],"isError":true}"#
//! );
//! let shown = v2025_11_25::GetTaskResult::from(ended);
//! assert_eq!(shown.status, v2025_11_25::TaskStatus::Failed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Tool`]: crate::v2025_11_25::Tool

mod call;
mod capability;
mod error;
mod fault;
mod generation;
mod lifetime;
mod notice;
mod open;
mod page;
mod question;
mod same;
mod snapshot;
mod state;
mod tool;

pub use call::{
    call_from_sep_1686, call_to_sep_1686, call_to_v2025_11_25, call_to_v2026_07_28, wish_to_sep_1686,
};
pub use capability::tasks_extension;
pub use error::{ConvertError, ConvertErrorKind};
pub use fault::{ErrorRoute, error_to_sep_1686, error_to_v2025_11_25, error_to_v2026_07_28};
pub use generation::{Generation, generation_of};
pub use lifetime::Lifetime;
pub use notice::cancel_to_sep_1686;
pub use page::{list_from_sep_1686, list_to_sep_1686, tools_to_v2026_07_28};
pub use question::{
    NestedRequest, answer_to_sep_1686, answer_to_v2025_11_25, answer_to_v2026_07_28, question_from_sep_1686,
    question_to_sep_1686, question_to_v2025_11_25,
};
pub use snapshot::{Payload, Snapshot};
pub use state::{Outcome, State};

use crate::{RawObject, TaskId, sep_1686, v2025_11_25};

/// A result of either older generation as 2026-07-28 has it inside a completed task, as text: with `resultType` (R-4)
/// and without related-task keys. Of a member of the protocol that comes twice the last stays.
#[must_use]
#[inline]
pub fn result_to_v2026_07_28(result: &RawObject) -> RawObject {
    let mut members = open::Members::default();
    members.push("resultType", open::raw("complete"));
    open::Members::of_object(result)
        .without(open::RESULT_MEMBERS)
        .last(open::PAYLOAD_MEMBERS)
        .with_meta(None)
        .append_to(&mut members);
    members.into_object()
}

/// A result of 2026-07-28 as 2025-11-25 has it, as text: without `resultType` and `serverInfo`, tied to the task if
/// one is named, as `tasks/result` has to be.
///
/// # Errors
///
/// When `structuredContent` is no object, `resultType` is not `complete`, or a member of the protocol comes twice.
#[inline]
pub fn result_to_v2025_11_25(
    result: &RawObject,
    related: Option<&TaskId>,
) -> Result<RawObject, ConvertError> {
    let related = related.map(|id| (v2025_11_25::meta_key::RELATED_TASK, id));
    state::result_to_older(result, related, "2025-11-25")
}

/// A result of 2026-07-28 as SEP-1686 has it, as text: without `resultType` and `serverInfo`, tied to the task if one
/// is named, as every result of a task has to be.
///
/// # Errors
///
/// When `structuredContent` is no object, `resultType` is not `complete`, or a member of the protocol comes twice.
#[inline]
pub fn result_to_sep_1686(result: &RawObject, related: Option<&TaskId>) -> Result<RawObject, ConvertError> {
    let related = related.map(|id| (sep_1686::meta_key::RELATED_TASK, id));
    state::result_to_older(result, related, "SEP-1686")
}
