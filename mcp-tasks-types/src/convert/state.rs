//! Where a task stands, in the words of all three generations.

use super::open::{self, Members, PAYLOAD_MEMBERS, RESULT_MEMBERS};
use super::{ConvertError, result_to_v2026_07_28};
use crate::v2026_07_28::{ErrorObject, InputRequests, TaskState};
use crate::{RawObject, sep_1686, v2025_11_25, v2026_07_28};

/// What 2026-07-28 and 2025-11-25 say of a task whose state is lost (I-05).
pub(super) const UNKNOWN: &str = "Task state is unknown";
/// What stands in for the message of a failed task that has none.
const FAILED: &str = "Task failed";
/// What 2025-11-25 says of a tool result with `isError`, when the task itself says nothing.
const TOOL_ERROR: &str = "Tool returned an error";

/// Where a task stands, with as much of its outcome as is known.
///
/// The seven statuses of SEP-1686 are the finest; each generation has its word for each of them. Payloads are kept in
/// the form of 2026-07-28. A payload is `None` when the generation that it was read from does not carry it.
///
/// | state | SEP-1686 | 2025-11-25 | 2026-07-28 |
/// |---|---|---|---|
/// | `Submitted` | submitted | working | working |
/// | `Working` | working | working | working |
/// | `InputRequired` | input_required | input_required | input_required |
/// | `Completed` | completed | completed, or failed with `isError:true` (I-04) | completed |
/// | `Failed` | failed | failed | failed |
/// | `Cancelled` | cancelled | cancelled | cancelled |
/// | `Unknown` | unknown | failed | failed, error -32603 (I-05) |
///
/// Of a bare status it is made with `From`: `failed` of 2025-11-25 then counts as an error, since only the outcome
/// tells a tool's error from one of the protocol.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum State {
    /// The request was taken, the work has not begun.
    Submitted,
    /// The work goes on.
    Working,
    /// The work waits for answers.
    InputRequired {
        /// The open questions by key.
        questions: Option<InputRequests>,
    },
    /// The work has a result, which may say `isError:true`.
    Completed {
        /// The result.
        result: Option<RawObject>,
    },
    /// The work ended with a JSON-RPC error.
    Failed {
        /// The error.
        error: Option<ErrorObject>,
    },
    /// The work was given up.
    Cancelled,
    /// What became of the work cannot be told.
    Unknown,
}

impl State {
    /// Whether a task of this state never changes again.
    #[must_use]
    #[inline]
    pub const fn is_terminal(&self) -> bool {
        match self {
            Self::Submitted | Self::Working | Self::InputRequired { .. } => false,
            Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled | Self::Unknown => true,
        }
    }

    /// Whether the result is known and says `isError:true`.
    #[must_use]
    #[inline]
    pub fn is_tool_error(&self) -> bool {
        matches!(self, Self::Completed { result: Some(result) } if open::is_error(result))
    }

    /// The status of SEP-1686.
    #[must_use]
    #[inline]
    pub const fn status_sep_1686(&self) -> sep_1686::TaskStatus {
        use sep_1686::TaskStatus as S;
        match self {
            Self::Submitted => S::Submitted,
            Self::Working => S::Working,
            Self::InputRequired { .. } => S::InputRequired,
            Self::Completed { .. } => S::Completed,
            Self::Failed { .. } => S::Failed,
            Self::Cancelled => S::Cancelled,
            Self::Unknown => S::Unknown,
        }
    }

    /// The status of 2025-11-25; a result with `isError:true` counts as failed (I-04).
    #[must_use]
    #[inline]
    pub fn status_v2025_11_25(&self) -> v2025_11_25::TaskStatus {
        use v2025_11_25::TaskStatus as S;
        match self {
            Self::Submitted | Self::Working => S::Working,
            Self::InputRequired { .. } => S::InputRequired,
            Self::Completed { .. } if self.is_tool_error() => S::Failed,
            Self::Completed { .. } => S::Completed,
            Self::Failed { .. } | Self::Unknown => S::Failed,
            Self::Cancelled => S::Cancelled,
        }
    }

    /// The status of 2026-07-28.
    #[must_use]
    #[inline]
    pub const fn status_v2026_07_28(&self) -> v2026_07_28::TaskStatus {
        use v2026_07_28::TaskStatus as S;
        match self {
            Self::Submitted | Self::Working => S::Working,
            Self::InputRequired { .. } => S::InputRequired,
            Self::Completed { .. } => S::Completed,
            Self::Failed { .. } | Self::Unknown => S::Failed,
            Self::Cancelled => S::Cancelled,
        }
    }

    /// The message of 2025-11-25 and 2026-07-28 has one text where SEP-1686 has `error`.
    #[inline]
    pub(super) fn message_v2025_11_25(&self, status_message: Option<String>) -> Option<String> {
        let text = |text: &str| Some(text.to_owned());
        match self {
            Self::Failed { error } => said(error.as_ref()).or(status_message).or_else(|| text(FAILED)),
            Self::Unknown => status_message.or_else(|| text(UNKNOWN)),
            Self::Completed { .. } if self.is_tool_error() => status_message.or_else(|| text(TOOL_ERROR)),
            Self::Submitted
            | Self::Working
            | Self::InputRequired { .. }
            | Self::Completed { .. }
            | Self::Cancelled => status_message,
        }
    }

    #[inline]
    pub(super) fn error_sep_1686(&self, status_message: Option<String>) -> Option<String> {
        match self {
            Self::Failed { error } => said(error.as_ref()).or(status_message),
            Self::Submitted
            | Self::Working
            | Self::InputRequired { .. }
            | Self::Completed { .. }
            | Self::Cancelled
            | Self::Unknown => None,
        }
    }

    /// The error that the work ended with, made up from the message where only that is known.
    #[inline]
    pub(super) fn into_error(self, status_message: Option<&str>) -> Option<ErrorObject> {
        match self {
            Self::Failed { error: Some(error) } => Some(error),
            Self::Failed { error: None } => Some(internal(status_message.unwrap_or(FAILED))),
            Self::Unknown => Some(internal(UNKNOWN)),
            Self::Submitted
            | Self::Working
            | Self::InputRequired { .. }
            | Self::Completed { .. }
            | Self::Cancelled => None,
        }
    }

    #[inline]
    pub(super) fn into_v2026_07_28(self, status_message: Option<&str>) -> Result<TaskState, ConvertError> {
        Ok(match self {
            Self::Submitted | Self::Working => TaskState::Working,
            Self::InputRequired { questions: Some(input_requests) } => {
                TaskState::InputRequired { input_requests }
            }
            Self::InputRequired { questions: None } => {
                let reason = "2026-07-28 carries the questions; hand them in by `with_questions`";
                return Err(ConvertError::missing("inputRequests", reason));
            }
            Self::Completed { result: Some(result) } => TaskState::Completed { result },
            Self::Completed { result: None } => {
                let reason = "2026-07-28 carries the result; hand it in by `with_outcome`";
                return Err(ConvertError::missing("result", reason));
            }
            Self::Cancelled => TaskState::Cancelled,
            Self::Failed { .. } | Self::Unknown => TaskState::Failed {
                error: self.into_error(status_message).unwrap_or_else(|| internal(FAILED)),
            },
        })
    }
}

#[inline]
fn said(error: Option<&ErrorObject>) -> Option<String> {
    error.map(|error| error.message.clone()).filter(|message| !message.is_empty())
}

#[inline]
fn internal(message: &str) -> ErrorObject {
    ErrorObject::new(v2026_07_28::ErrorCode::InternalError.code(), message)
}

impl From<sep_1686::TaskStatus> for State {
    #[inline]
    fn from(status: sep_1686::TaskStatus) -> Self {
        use sep_1686::TaskStatus as S;
        match status {
            S::Submitted => Self::Submitted,
            S::Working => Self::Working,
            S::InputRequired => Self::InputRequired { questions: None },
            S::Completed => Self::Completed { result: None },
            S::Failed => Self::Failed { error: None },
            S::Cancelled => Self::Cancelled,
            S::Unknown => Self::Unknown,
        }
    }
}

impl From<v2025_11_25::TaskStatus> for State {
    #[inline]
    fn from(status: v2025_11_25::TaskStatus) -> Self {
        use v2025_11_25::TaskStatus as S;
        match status {
            S::Working => Self::Working,
            S::InputRequired => Self::InputRequired { questions: None },
            S::Completed => Self::Completed { result: None },
            S::Failed => Self::Failed { error: None },
            S::Cancelled => Self::Cancelled,
        }
    }
}

impl From<v2026_07_28::TaskStatus> for State {
    #[inline]
    fn from(status: v2026_07_28::TaskStatus) -> Self {
        use v2026_07_28::TaskStatus as S;
        match status {
            S::Working => Self::Working,
            S::InputRequired => Self::InputRequired { questions: None },
            S::Completed => Self::Completed { result: None },
            S::Failed => Self::Failed { error: None },
            S::Cancelled => Self::Cancelled,
        }
    }
}

impl From<TaskState> for State {
    #[inline]
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Working => Self::Working,
            TaskState::InputRequired { input_requests } => {
                Self::InputRequired { questions: Some(input_requests) }
            }
            TaskState::Completed { result } => Self::Completed { result: Some(result) },
            TaskState::Failed { error } => Self::Failed { error: Some(error) },
            TaskState::Cancelled => Self::Cancelled,
        }
    }
}

/// What a task came to: what 2026-07-28 carries inside the task, and the older two hand out by `tasks/result`.
///
/// Kept in the form of 2026-07-28. `From` reads what `tasks/result` of the older two answered, a result or an error:
/// the related-task key goes, `resultType` comes, and the error keeps its code (B-43).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// A result, `isError` or not.
    Result(RawObject),
    /// A JSON-RPC error.
    Error(ErrorObject),
}

/// The result of `tasks/result` as the object that the original request would have had for an answer.
#[inline]
fn payload(meta: Option<crate::Extra>, extra: &crate::Extra) -> Outcome {
    let mut members = Members::of_extra(extra);
    if let Some(meta) = meta.and_then(open::foreign_meta) {
        members.push("_meta", open::raw(&Members::of_extra(&meta)));
    }
    Outcome::Result(result_to_v2026_07_28(&members.into_object()))
}

impl From<v2025_11_25::GetTaskPayloadResult> for Outcome {
    #[inline]
    fn from(result: v2025_11_25::GetTaskPayloadResult) -> Self {
        payload(result.meta.map(|meta| meta.extra), &result.extra)
    }
}

impl From<sep_1686::GetTaskPayloadResult> for Outcome {
    #[inline]
    fn from(result: sep_1686::GetTaskPayloadResult) -> Self {
        payload(result.meta.map(|meta| meta.extra), &result.extra)
    }
}

impl From<ErrorObject> for Outcome {
    #[inline]
    fn from(error: ErrorObject) -> Self {
        Self::Error(error)
    }
}

impl From<v2025_11_25::ErrorObject> for Outcome {
    #[inline]
    fn from(error: v2025_11_25::ErrorObject) -> Self {
        Self::Error(error.into())
    }
}

impl From<sep_1686::ErrorObject> for Outcome {
    #[inline]
    fn from(error: sep_1686::ErrorObject) -> Self {
        Self::Error(error.into())
    }
}

/// A tool result as the older two have it; `related` is the key and id that `tasks/result` has to carry.
#[inline]
pub(super) fn result_to_older(
    result: &RawObject,
    related: Option<(&str, &crate::TaskId)>,
    generation: &str,
) -> Result<RawObject, ConvertError> {
    let members = Members::of_object(result);
    members.once(PAYLOAD_MEMBERS)?;
    if let Some(kind) = members.get("resultType")
        && kind.get::<String>().ok().as_deref() != Some("complete")
    {
        return Err(ConvertError::contradiction("resultType", "the result of a task is `complete`"));
    }
    if let Some(content) = members.get("structuredContent")
        && content.kind() != crate::JsonKind::Object
    {
        let reason = format!("{generation} has objects only");
        return Err(ConvertError::no_counterpart("structuredContent", &reason));
    }
    Ok(members.without(RESULT_MEMBERS).with_meta(related).into_object())
}
