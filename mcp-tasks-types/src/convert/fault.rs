//! The errors of a server, as the client on the other side of a gateway may see them.
//!
//! For errors of requests. What a task failed with is data and keeps its code in every generation
//! ([`Outcome`](super::Outcome)).

use crate::v2026_07_28::{InputRequest, InputRequests, MissingRequiredClientCapabilityErrorData};
use crate::{Map, sep_1686, v2025_11_25, v2026_07_28};

/// What a gateway does with an error of the server behind it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorRoute<E> {
    /// It hands the error on.
    Answer(E),
    /// It makes the call again in the other mode, without the client noticing: as a task whose end it awaits where it
    /// called without one, and without a task where it called for one. Where it cannot, it answers with the error.
    OtherMode {
        /// The error for a gateway that cannot.
        otherwise: E,
    },
    /// It asks these questions in an `InputRequiredResult` and makes the call again when they are answered. Where it
    /// cannot, it answers with the error.
    Ask {
        /// What to ask, under the elicitation ids as keys.
        questions: InputRequests,
        /// The error for a gateway that cannot.
        otherwise: E,
    },
}

/// What a client of 2025-11-25 sees of an error of a server of 2026-07-28.
///
/// -32021 for want of the tasks extension is a matter between the gateway and the server; it, and the other faults of
/// the stateless protocol (-32020 to -32022), are answered with -32603. Everything else passes, -32602 included.
#[must_use]
#[inline]
pub fn error_to_v2025_11_25(error: v2026_07_28::ErrorObject) -> ErrorRoute<v2025_11_25::ErrorObject> {
    use v2026_07_28::ErrorCode as C;
    let internal =
        |message: &str| v2025_11_25::ErrorObject::new(v2025_11_25::ErrorCode::InternalError.code(), message);
    match C::from_code(error.code) {
        C::MissingRequiredClientCapability => {
            let otherwise = internal(&error.message);
            if wants_tasks(&error) {
                ErrorRoute::OtherMode { otherwise }
            } else {
                ErrorRoute::Answer(otherwise)
            }
        }
        C::HeaderMismatch | C::UnsupportedProtocolVersion => ErrorRoute::Answer(internal(&error.message)),
        C::ParseError
        | C::InvalidRequest
        | C::MethodNotFound
        | C::InvalidParams
        | C::InternalError
        | C::Other(_) => ErrorRoute::Answer(error.into()),
    }
}

/// What a client of SEP-1686 sees of an error of a server of 2026-07-28: the same as one of 2025-11-25.
#[must_use]
#[inline]
pub fn error_to_sep_1686(error: v2026_07_28::ErrorObject) -> ErrorRoute<sep_1686::ErrorObject> {
    match error_to_v2025_11_25(error) {
        ErrorRoute::Answer(error) => ErrorRoute::Answer(error.into()),
        ErrorRoute::OtherMode { otherwise } => ErrorRoute::OtherMode { otherwise: otherwise.into() },
        ErrorRoute::Ask { questions, otherwise } => {
            ErrorRoute::Ask { questions, otherwise: otherwise.into() }
        }
    }
}

#[inline]
fn wants_tasks(error: &v2026_07_28::ErrorObject) -> bool {
    let data =
        error.data.as_ref().and_then(|data| data.get::<MissingRequiredClientCapabilityErrorData>().ok());
    data.and_then(|data| data.required_capabilities.extensions).is_some_and(|known| known.tasks.is_some())
}

/// What a client of 2026-07-28 sees of an error that a server of 2025-11-25 answered to a request of that method.
///
/// -32601 and -32600 on `tools/call` say that the tool wants a task, or wants none: no fault of the client's, and not
/// an unknown method. -32042 names the URLs to visit, which 2026-07-28 asks as questions. Codes that 2026-07-28 keeps
/// to itself become -32603. Everything else passes, -32602 included.
#[must_use]
#[inline]
pub fn error_to_v2026_07_28(
    error: v2025_11_25::ErrorObject,
    method: &str,
) -> ErrorRoute<v2026_07_28::ErrorObject> {
    use v2025_11_25::ErrorCode as C;
    let internal =
        |message: &str| v2026_07_28::ErrorObject::new(v2026_07_28::ErrorCode::InternalError.code(), message);
    match C::from_code(error.code) {
        C::MethodNotFound | C::InvalidRequest if method == v2025_11_25::method::TOOLS_CALL => {
            ErrorRoute::OtherMode { otherwise: internal(&error.message) }
        }
        C::UrlElicitationRequired => {
            let otherwise = internal(&error.message);
            match questions(&error) {
                Some(questions) => ErrorRoute::Ask { questions, otherwise },
                None => ErrorRoute::Answer(otherwise),
            }
        }
        // What a server of 2026-07-28 never says, or says of its own requests alone.
        C::Other(-32099..=-32020 | -32002) => ErrorRoute::Answer(internal(&error.message)),
        C::ParseError
        | C::InvalidRequest
        | C::MethodNotFound
        | C::InvalidParams
        | C::InternalError
        | C::Other(_) => ErrorRoute::Answer(error.into()),
    }
}

#[inline]
fn questions(error: &v2025_11_25::ErrorObject) -> Option<InputRequests> {
    let data: v2025_11_25::UrlElicitationRequiredErrorData = error.data.as_ref()?.get().ok()?;
    let questions: Map<InputRequest> = data
        .elicitations
        .into_iter()
        .map(|params| {
            let key = params.elicitation_id.clone();
            let params = v2026_07_28::ElicitRequestParams::Url(params.into());
            (key, InputRequest::Elicit(v2026_07_28::ElicitRequest::new(params)))
        })
        .collect();
    (!questions.is_empty()).then_some(InputRequests(questions))
}
