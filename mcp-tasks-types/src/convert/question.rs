//! Questions and answers: requests of their own in the older two, entries of `inputRequests` and `inputResponses` in
//! 2026-07-28.

use super::ConvertError;
use super::open::{self, META_KEYS, Members, PAYLOAD_MEMBERS, QUESTION_MEMBERS, RESULT_MEMBERS};
use super::same::Carry;
use super::tool::{create_message_params, is_object};
use crate::v2026_07_28::{InputRequest, method};
use crate::{RawJson, RawObject, TaskId, sep_1686, v2025_11_25, v2026_07_28};

/// A request that 2025-11-25 sends to ask something for a task, where 2026-07-28 has an entry of `inputRequests`.
///
/// `From` makes that entry: the request's id, `task`, `elicitationId`, the progress token and the related-task key
/// stay behind. A gateway keeps the id beside the key that it makes up, and answers the request when `tasks/update`
/// brings that key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NestedRequest {
    /// `elicitation/create`.
    Elicit(v2025_11_25::ElicitRequest),
    /// `sampling/createMessage`.
    CreateMessage(v2025_11_25::CreateMessageRequest),
    /// `roots/list`.
    ListRoots(v2025_11_25::ListRootsRequest),
}

impl From<v2025_11_25::ElicitRequest> for NestedRequest {
    #[inline]
    fn from(request: v2025_11_25::ElicitRequest) -> Self {
        Self::Elicit(request)
    }
}

impl From<v2025_11_25::CreateMessageRequest> for NestedRequest {
    #[inline]
    fn from(request: v2025_11_25::CreateMessageRequest) -> Self {
        Self::CreateMessage(request)
    }
}

impl From<v2025_11_25::ListRootsRequest> for NestedRequest {
    #[inline]
    fn from(request: v2025_11_25::ListRootsRequest) -> Self {
        Self::ListRoots(request)
    }
}

impl From<v2025_11_25::ElicitRequestFormParams> for v2026_07_28::ElicitRequestFormParams {
    #[inline]
    fn from(params: v2025_11_25::ElicitRequestFormParams) -> Self {
        let mut extra = open::foreign(params.extra, QUESTION_MEMBERS);
        open::insert_meta(&mut extra, params.meta);
        Self {
            mode: params.mode.carry(),
            message: params.message,
            requested_schema: params.requested_schema.into(),
            extra,
        }
    }
}

impl From<v2025_11_25::ElicitRequestUrlParams> for v2026_07_28::ElicitRequestUrlParams {
    /// Loses `elicitationId`.
    #[inline]
    fn from(params: v2025_11_25::ElicitRequestUrlParams) -> Self {
        let mut extra = open::foreign(params.extra, QUESTION_MEMBERS);
        open::insert_meta(&mut extra, params.meta);
        Self { message: params.message, url: params.url, extra }
    }
}

impl From<v2025_11_25::ElicitRequestParams> for v2026_07_28::ElicitRequestParams {
    #[inline]
    fn from(params: v2025_11_25::ElicitRequestParams) -> Self {
        match params {
            v2025_11_25::ElicitRequestParams::Form(params) => Self::Form(params.into()),
            v2025_11_25::ElicitRequestParams::Url(params) => Self::Url(params.into()),
        }
    }
}

impl From<NestedRequest> for InputRequest {
    #[inline]
    fn from(request: NestedRequest) -> Self {
        match request {
            NestedRequest::Elicit(request) => {
                let mut entry =
                    v2026_07_28::ElicitRequest::new(v2026_07_28::ElicitRequestParams::from(request.params));
                entry.extra = request.extra;
                Self::Elicit(entry)
            }
            NestedRequest::CreateMessage(request) => {
                let mut entry = v2026_07_28::CreateMessageRequest::new(
                    v2026_07_28::CreateMessageRequestParams::from(request.params),
                );
                entry.extra = request.extra;
                Self::CreateMessage(entry)
            }
            NestedRequest::ListRoots(request) => {
                let mut entry = v2026_07_28::ListRootsRequest::new();
                entry.params = request.params.and_then(|params| {
                    let mut kept = v2026_07_28::ListRootsRequestParams::new();
                    kept.meta = params.meta.and_then(|meta| open::foreign_meta(meta.extra)).map(|keys| {
                        let mut meta = v2026_07_28::MetaObject::new();
                        meta.extra = keys;
                        meta
                    });
                    kept.extra = open::foreign(params.extra, QUESTION_MEMBERS);
                    (kept.meta.is_some() || !kept.extra.is_empty()).then_some(kept)
                });
                entry.extra = request.extra;
                Self::ListRoots(entry)
            }
        }
    }
}

/// The request of 2025-11-25 that asks what an entry of `inputRequests` asks, tied to its task (B-49).
///
/// `id` is the request's own. An elicitation by URL needs an `elicitation_id`, which 2026-07-28 does not have: the
/// caller makes one up and may pass it for every question.
///
/// # Errors
///
/// When `params.elicitationId` is needed and none is given; when a tool or tool result among the parameters of a
/// sampling request has a schema or structured content that is no object; when `params._meta` comes twice.
#[inline]
pub fn question_to_v2025_11_25(
    question: InputRequest,
    id: impl Into<v2025_11_25::RequestId>,
    task_id: &TaskId,
    elicitation_id: Option<String>,
) -> Result<NestedRequest, ConvertError> {
    let id = id.into();
    Ok(match question {
        InputRequest::Elicit(entry) => {
            let params = match entry.params {
                v2026_07_28::ElicitRequestParams::Form(params) => {
                    v2025_11_25::ElicitRequestParams::Form(v2025_11_25::ElicitRequestFormParams {
                        meta: Some(
                            open::take_meta(&params.extra, task_id)
                                .map_err(|error| error.within("params"))?,
                        ),
                        mode: params.mode.carry(),
                        message: params.message,
                        requested_schema: params.requested_schema.into(),
                        task: None,
                        extra: open::foreign(params.extra, QUESTION_MEMBERS),
                    })
                }
                v2026_07_28::ElicitRequestParams::Url(params) => {
                    let elicitation_id = elicitation_id.ok_or_else(|| {
                        let reason = "2025-11-25 requires one in url mode; make one up";
                        ConvertError::missing("params.elicitationId", reason)
                    })?;
                    v2025_11_25::ElicitRequestParams::Url(v2025_11_25::ElicitRequestUrlParams {
                        meta: Some(
                            open::take_meta(&params.extra, task_id)
                                .map_err(|error| error.within("params"))?,
                        ),
                        message: params.message,
                        elicitation_id,
                        url: params.url,
                        task: None,
                        extra: open::foreign(params.extra, QUESTION_MEMBERS),
                    })
                }
            };
            let mut request = v2025_11_25::ElicitRequest::new(id, params);
            request.extra = entry.extra;
            NestedRequest::Elicit(request)
        }
        InputRequest::CreateMessage(entry) => {
            let params =
                create_message_params(entry.params, task_id).map_err(|error| error.within("params"))?;
            let mut request = v2025_11_25::CreateMessageRequest::new(id, params);
            request.extra = entry.extra;
            NestedRequest::CreateMessage(request)
        }
        InputRequest::ListRoots(entry) => {
            let mut params = v2025_11_25::RequestParams::new();
            let mut meta = v2025_11_25::RequestMetaObject::new()
                .with_related_task(v2025_11_25::RelatedTaskMetadata::new(task_id.clone()));
            if let Some(given) = entry.params {
                meta.extra =
                    given.meta.map(|given| open::foreign(given.extra, META_KEYS)).unwrap_or_default();
                params.extra = open::foreign(given.extra, QUESTION_MEMBERS);
            }
            params.meta = Some(meta);
            let mut request = v2025_11_25::ListRootsRequest::new(id).with_params(params);
            request.extra = entry.extra;
            NestedRequest::ListRoots(request)
        }
    })
}

/// The request of SEP-1686 that asks what an entry of `inputRequests` asks, tied to its task.
///
/// The proposal fixes no revision of the core; the parameters are those of 2025-11-25, but for the related-task key.
///
/// # Errors
///
/// As [`question_to_v2025_11_25`].
#[inline]
pub fn question_to_sep_1686(
    question: InputRequest,
    id: impl Into<sep_1686::RequestId>,
    task_id: &TaskId,
    elicitation_id: Option<String>,
) -> Result<sep_1686::JsonRpcRequest, ConvertError> {
    let id = id.into();
    let nested =
        question_to_v2025_11_25(question, v2025_11_25::RequestId::from(id.clone()), task_id, elicitation_id)?;
    let (method, params, extra) = match nested {
        NestedRequest::Elicit(request) => {
            (method::ELICITATION_CREATE, open::raw(&request.params), request.extra)
        }
        NestedRequest::CreateMessage(request) => {
            (method::SAMPLING_CREATE_MESSAGE, open::raw(&request.params), request.extra)
        }
        NestedRequest::ListRoots(request) => (method::ROOTS_LIST, open::raw(&request.params), request.extra),
    };
    let params = Members::of(&params)
        .unwrap_or_default()
        .with_meta(Some((sep_1686::meta_key::RELATED_TASK, task_id)))
        .into_object();
    let mut request = sep_1686::JsonRpcRequest::new(id, method).with_params(params);
    request.extra = extra;
    Ok(request)
}

/// The entry of `inputRequests` that asks what a nested request of SEP-1686 asks.
///
/// # Errors
///
/// When the method is none of the three, the parameters are not those of the method, or one of them comes twice.
#[inline]
pub fn question_from_sep_1686(request: sep_1686::JsonRpcRequest) -> Result<InputRequest, ConvertError> {
    fn read<T: serde::de::DeserializeOwned>(params: Option<&RawJson>) -> Result<T, ConvertError> {
        let params = params.ok_or_else(|| ConvertError::missing("params", "the question itself"))?;
        params.get().map_err(|error| ConvertError::malformed("params", &error))
    }
    let params = request.params.as_ref().map(|params| {
        let members = Members::of_object(params);
        members.once(QUESTION_MEMBERS).map_err(|error| error.within("params"))?;
        Ok(open::raw(&members.with_meta(None).without(&["task", "elicitationId"])))
    });
    let params = params.transpose()?;
    let extra = request.extra;
    Ok(match request.method.as_str() {
        method::ELICITATION_CREATE => {
            let params: v2026_07_28::ElicitRequestParams = read(params.as_ref())?;
            let mut entry = v2026_07_28::ElicitRequest::new(params);
            entry.extra = extra;
            InputRequest::Elicit(entry)
        }
        method::SAMPLING_CREATE_MESSAGE => {
            let params: v2026_07_28::CreateMessageRequestParams = read(params.as_ref())?;
            let mut entry = v2026_07_28::CreateMessageRequest::new(params);
            entry.extra = extra;
            InputRequest::CreateMessage(entry)
        }
        method::ROOTS_LIST => {
            let mut entry = v2026_07_28::ListRootsRequest::new();
            entry.params = match params {
                Some(params) if params.as_str() != "{}" => Some(read(Some(&params))?),
                _ => None,
            };
            entry.extra = extra;
            InputRequest::ListRoots(entry)
        }
        _ => return Err(ConvertError::no_counterpart("method", "2026-07-28 asks by three methods only")),
    })
}

/// The value of `inputResponses` for what a nested request of either older generation was answered with: that
/// result without `_meta`.
///
/// # Errors
///
/// When the answer is a task of the client (`task`), which 2026-07-28 does not have: the caller waits for that task
/// and converts its result. When a member of the protocol comes twice.
#[inline]
pub fn answer_to_v2026_07_28(result: &RawObject) -> Result<RawJson, ConvertError> {
    let members = Members::of_object(result);
    members.once(PAYLOAD_MEMBERS)?;
    let is_answer = ["action", "role", "roots"].iter().any(|name| members.get(name).is_some());
    if !is_answer && members.get("task").is_some_and(is_object) {
        let reason = "2026-07-28 has no tasks of clients; wait for its result and convert that";
        return Err(ConvertError::no_counterpart("task", reason));
    }
    Ok(members.without(&["_meta"]).without(RESULT_MEMBERS).into_object().into())
}

/// The result that answers a nested request of 2025-11-25, tied to its task, from a value of `inputResponses`.
///
/// # Errors
///
/// When the value is no object, or a member of the protocol comes twice in it.
#[inline]
pub fn answer_to_v2025_11_25(value: &RawJson, task_id: &TaskId) -> Result<RawObject, ConvertError> {
    answer(value, v2025_11_25::meta_key::RELATED_TASK, task_id)
}

/// The result that answers a nested request of SEP-1686, tied to its task, from a value of `inputResponses`.
///
/// # Errors
///
/// When the value is no object, or a member of the protocol comes twice in it.
#[inline]
pub fn answer_to_sep_1686(value: &RawJson, task_id: &TaskId) -> Result<RawObject, ConvertError> {
    answer(value, sep_1686::meta_key::RELATED_TASK, task_id)
}

#[inline]
fn answer(value: &RawJson, key: &str, task_id: &TaskId) -> Result<RawObject, ConvertError> {
    let members: Members = value.get().map_err(|error| ConvertError::malformed("", &error))?;
    members.once(PAYLOAD_MEMBERS)?;
    Ok(members.without(RESULT_MEMBERS).with_meta(Some((key, task_id))).into_object())
}

impl From<v2025_11_25::ElicitResult> for v2026_07_28::ElicitResult {
    /// Without `_meta`, as an answer in `inputResponses` is.
    #[inline]
    fn from(result: v2025_11_25::ElicitResult) -> Self {
        Self {
            action: result.action.into(),
            content: result.content.carry(),
            extra: open::foreign(result.extra, RESULT_MEMBERS),
        }
    }
}

impl From<v2026_07_28::ElicitResult> for v2025_11_25::ElicitResult {
    #[inline]
    fn from(result: v2026_07_28::ElicitResult) -> Self {
        Self {
            meta: None,
            action: result.action.into(),
            content: result.content.carry(),
            extra: open::foreign(open::foreign(result.extra, RESULT_MEMBERS), &["_meta"]),
        }
    }
}

impl From<v2025_11_25::ListRootsResult> for v2026_07_28::ListRootsResult {
    /// Without `_meta`, as an answer in `inputResponses` is.
    #[inline]
    fn from(result: v2025_11_25::ListRootsResult) -> Self {
        Self { roots: result.roots.carry(), extra: open::foreign(result.extra, RESULT_MEMBERS) }
    }
}

impl From<v2026_07_28::ListRootsResult> for v2025_11_25::ListRootsResult {
    #[inline]
    fn from(result: v2026_07_28::ListRootsResult) -> Self {
        Self {
            meta: None,
            roots: result.roots.carry(),
            extra: open::foreign(open::foreign(result.extra, RESULT_MEMBERS), &["_meta"]),
        }
    }
}
