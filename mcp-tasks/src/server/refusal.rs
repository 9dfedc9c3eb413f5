//! Why a request is not served: the reasons, before they become wire errors.

use mcp_tasks_types::{RawJson, v2026_07_28::ClientCapabilities};

use super::{capability, polls::TooEarly};
use crate::error::{EngineError, EngineErrorKind};

/// One reason; `dispatch` alone turns it into code, message, data and status.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Not UTF-8, or not JSON.
    Parse(String),
    /// JSON, but no JSON-RPC request.
    InvalidRequest(String),
    /// A required header is missing, malformed, or says something else than the body.
    HeaderMismatch(String),
    /// `initialize` over HTTP without any sign of this revision: its headers are missing, and the
    /// client is told what is spoken here.
    LegacyHandshake,
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
    /// The caller's own task was there, and its time is over.
    TaskExpired,
    /// A poll that came earlier than it was told to, once too often.
    TooEarly(TooEarly),
    /// Nothing is wrong with the request, and it is not served all the same: there is no room for it, the server ends,
    /// or its role is another.
    Unserved(String),
    /// A fault of ours; the client learns nothing of it, the cause is in the log.
    Internal,
    /// The tool itself ended with a protocol error.
    Protocol { code: i64, message: String, data: Option<RawJson> },
}

impl Refusal {
    /// A fault of ours: the cause goes to the log, and the client learns nothing of it (C-95).
    pub(super) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request failed");
        Self::Internal
    }
}

impl From<TooEarly> for Refusal {
    fn from(early: TooEarly) -> Self {
        Self::TooEarly(early)
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        match error.kind() {
            EngineErrorKind::TaskNotFound => Self::TaskNotFound,
            EngineErrorKind::TaskExpired => Self::TaskExpired,
            EngineErrorKind::UnknownTool
            | EngineErrorKind::InvalidArguments
            | EngineErrorKind::InvalidInput => Self::Params(error.message().to_owned()),
            EngineErrorKind::CallOver => {
                Self::Params("the call that `requestState` belongs to is over".to_owned())
            }
            EngineErrorKind::AnswersUsed => {
                Self::Params("a task was made with this `requestState`, which counts once".to_owned())
            }
            // As a task it could have asked.
            EngineErrorKind::InputUnavailable => Self::Capability(Box::new(capability::tasks())),
            EngineErrorKind::ShuttingDown | EngineErrorKind::TooManyTasks | EngineErrorKind::Busy => {
                Self::Unserved(error.message().to_owned())
            }
            // Whoever sends calls here has to be told, and not the log of each.
            EngineErrorKind::WrongRole => {
                tracing::debug!("a call was refused, since this process takes none");
                Self::Unserved(error.message().to_owned())
            }
            _ => Self::internal(&error),
        }
    }
}

/// Whether there is no such task for whoever asked.
pub(super) fn is_gone(error: &EngineError) -> bool {
    matches!(error.kind(), EngineErrorKind::TaskNotFound | EngineErrorKind::TaskExpired)
}
