//! The call that becomes a task: the wish for one, and the parameters of `tools/call`.

use super::ConvertError;
use super::lifetime;
use super::open::{self, CALL_MEMBERS, META_KEYS, TRACE, WISH_MEMBERS};
use super::same::Carry;
use crate::{Extra, RawJson, TaskId, sep_1686, v2025_11_25, v2026_07_28};

impl From<sep_1686::TaskMetadata> for v2025_11_25::TaskMetadata {
    /// The id stays behind, since 2025-11-25 leaves ids to the receiver (B-32); so does a lifetime, since a time from
    /// the end is no time from creation before there is an end.
    #[inline]
    fn from(wish: sep_1686::TaskMetadata) -> Self {
        let mut metadata = Self::new();
        metadata.extra = open::foreign(wish.extra, WISH_MEMBERS);
        metadata
    }
}

/// The wish of SEP-1686 for a task of that id, which the requestor makes; what is wished for from creation is
/// wished for from the end.
#[must_use]
#[inline]
pub fn wish_to_sep_1686(
    wish: v2025_11_25::TaskMetadata,
    task_id: impl Into<TaskId>,
) -> sep_1686::TaskMetadata {
    let mut metadata = sep_1686::TaskMetadata::new(task_id);
    metadata.keep_alive = wish.ttl.map(lifetime::safe);
    metadata.extra = open::foreign(wish.extra, WISH_MEMBERS);
    metadata
}

/// The parameters of `tools/call` of 2026-07-28 for those of 2025-11-25.
///
/// `meta` is the gateway's own: its version and the capabilities that it can answer for. Whether the client wanted a
/// task is for the gateway to see in `params.task`, which stays behind: declaring the tasks extension in `meta` is what
/// takes its place. The progress token, trace context and unknown keys of `_meta` are added where `meta` has none.
///
/// # Errors
///
/// When trace context that `meta` does not have itself is no text, or comes twice: 2025-11-25 leaves these keys of
/// `_meta` open, 2026-07-28 does not.
#[inline]
pub fn call_to_v2026_07_28(
    params: v2025_11_25::CallToolRequestParams,
    meta: v2026_07_28::RequestMetaObject,
) -> Result<v2026_07_28::CallToolRequestParams, ConvertError> {
    let mut meta = meta;
    if let Some(given) = params.meta {
        meta.progress_token = meta.progress_token.or(given.progress_token.carry());
        let slots = [&mut meta.traceparent, &mut meta.tracestate, &mut meta.baggage];
        for (slot, name) in slots.into_iter().zip(TRACE) {
            if slot.is_none() {
                *slot = trace(&given.extra, name).map_err(|error| error.within("_meta"))?;
            }
        }
        let keys = open::foreign(open::foreign(given.extra, META_KEYS), TRACE);
        open::merge(&mut meta.extra, keys);
    }
    Ok(v2026_07_28::CallToolRequestParams {
        meta,
        name: params.name,
        arguments: params.arguments,
        input_responses: None,
        request_state: None,
        extra: open::foreign(params.extra, CALL_MEMBERS),
    })
}

/// One key of trace context.
#[inline]
fn trace(keys: &Extra, name: &str) -> Result<Option<String>, ConvertError> {
    open::extra_once(keys, &[name])?;
    let text = keys.get(name).map(RawJson::get).transpose();
    text.map_err(|_| ConvertError::no_counterpart(name, "2026-07-28 has texts only"))
}

/// The parameters of `tools/call` of 2025-11-25 for those of 2026-07-28; `task` is the wish for a task, which
/// 2026-07-28 leaves to the server.
///
/// Of `_meta` the version, capabilities, client and log level stay behind: in 2025-11-25 they belong to the session.
///
/// # Errors
///
/// When the call answers an earlier `InputRequiredResult` (`inputResponses`, `requestState`), which 2025-11-25 does
/// not have.
#[inline]
pub fn call_to_v2025_11_25(
    params: v2026_07_28::CallToolRequestParams,
    task: Option<v2025_11_25::TaskMetadata>,
) -> Result<v2025_11_25::CallToolRequestParams, ConvertError> {
    let rounds = "2025-11-25 asks by requests of its own, not by rounds of one";
    if params.input_responses.is_some() {
        return Err(ConvertError::no_counterpart("inputResponses", rounds));
    }
    if params.request_state.is_some() {
        return Err(ConvertError::no_counterpart("requestState", rounds));
    }
    let mut meta = v2025_11_25::RequestMetaObject::new();
    meta.progress_token = params.meta.progress_token.carry();
    let trace = [params.meta.traceparent, params.meta.tracestate, params.meta.baggage];
    for (name, value) in TRACE.iter().zip(trace) {
        if let Some(value) = value {
            meta.extra.push(*name, open::raw(&value));
        }
    }
    open::merge(&mut meta.extra, open::foreign(params.meta.extra, META_KEYS));
    let meta = (meta.progress_token.is_some() || !meta.extra.is_empty()).then_some(meta);
    Ok(v2025_11_25::CallToolRequestParams {
        meta,
        name: params.name,
        arguments: params.arguments,
        task,
        extra: open::foreign(params.extra, CALL_MEMBERS),
    })
}

/// The augmented `tools/call` of SEP-1686 for that of 2025-11-25, under the wish that takes the place of `params.task`
/// (see [`wish_to_sep_1686`]).
#[must_use]
#[inline]
pub fn call_to_sep_1686(
    params: v2025_11_25::CallToolRequestParams,
    task: sep_1686::TaskMetadata,
) -> sep_1686::TaskAugmentedRequestParams {
    let mut meta = sep_1686::TaskAugmentedRequestMeta::new(task);
    if let Some(given) = params.meta {
        meta.progress_token = given.progress_token.carry();
        meta.extra = open::foreign(given.extra, META_KEYS);
    }
    let mut extra = Extra::new();
    extra.push("name", open::raw(&params.name));
    if let Some(arguments) = params.arguments {
        extra.push("arguments", RawJson::from(arguments));
    }
    open::merge(&mut extra, open::foreign(params.extra, CALL_MEMBERS));
    let mut call = sep_1686::TaskAugmentedRequestParams::new(meta);
    call.extra = extra;
    call
}

/// The `tools/call` of 2025-11-25 for an augmented one of SEP-1686; `task` of the result is the wish.
///
/// The id that the requestor made stays behind: a gateway keeps it beside the id that the server makes.
///
/// # Errors
///
/// When the parameters are not those of `tools/call`: `name` or `arguments` is missing, something else, or there twice.
#[inline]
pub fn call_from_sep_1686(
    params: sep_1686::TaskAugmentedRequestParams,
) -> Result<v2025_11_25::CallToolRequestParams, ConvertError> {
    open::extra_once(&params.extra, &["name", "arguments"])?;
    let name = params.extra.get("name").ok_or_else(|| ConvertError::missing("name", "no tool is named"))?;
    let name: String = name.get().map_err(|error| ConvertError::malformed("name", &error))?;
    let arguments = params.extra.get("arguments").map(|raw| raw.get()).transpose();
    let mut meta = v2025_11_25::RequestMetaObject::new();
    meta.progress_token = params.meta.progress_token.carry();
    meta.extra = open::foreign(params.meta.extra, META_KEYS);
    let meta = (meta.progress_token.is_some() || !meta.extra.is_empty()).then_some(meta);
    Ok(v2025_11_25::CallToolRequestParams {
        meta,
        name,
        arguments: arguments.map_err(|error| ConvertError::malformed("arguments", &error))?,
        task: Some(params.meta.task.into()),
        extra: open::foreign(params.extra, CALL_MEMBERS),
    })
}
