//! Why a request is not served: the reasons, before they become wire errors.

use mcp_tasks_types::{RawJson, v2026_07_28::ClientCapabilities};

/// One reason; `dispatch` alone turns it into code, message, data and status.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Not UTF-8, or not JSON.
    Parse(String),
    /// JSON, but no JSON-RPC request.
    InvalidRequest(String),
    /// A required header is missing, malformed, or says something else than the body.
    HeaderMismatch(String),
    /// `initialize` without any sign of this revision: the client is told what is spoken here.
    LegacyHandshake { over_http: bool },
    /// The request's `_meta` lacks what every request has to say, or says it wrongly.
    Meta(String),
    /// The version is not implemented.
    Version { requested: String },
    /// The method is not implemented, or was removed.
    Method(String),
    /// The request did not declare what serving it takes.
    Capability(Box<ClientCapabilities>),
    /// The parameters of the method do not fit.
    Params(String),
    /// No such tool.
    Tool(String),
    /// Unknown, foreign, or removed: all the same to the caller.
    TaskNotFound,
    /// Known to have expired; only its owner is told.
    TaskExpired,
    /// A fault of ours; the text is fit for the client, the cause is in the log.
    Internal(String),
    /// The tool itself ended with a protocol error.
    Tools {
        code: i64,
        message: String,
        data: Option<RawJson>,
    },
}
