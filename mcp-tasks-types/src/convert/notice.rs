//! Notifications about a request that still runs: progress, log messages, its cancellation.
//!
//! Request ids and progress tokens are kept. They belong to one connection: a gateway that makes requests under ids of
//! its own puts those in.

use super::ConvertError;
use super::open::{self, META_KEYS};
use super::same::Carry;
use crate::{Extra, TaskId, sep_1686, v2025_11_25, v2026_07_28};

/// The keys of a `_meta` that are nobody's in particular, unless one ties the notification to a task: `related` is
/// that one, where the type knows it.
#[inline]
fn untied(related: Option<&'static str>, keys: Extra, reason: &str) -> Result<Extra, ConvertError> {
    // The proposal has no types of its own for reports: a peer's are read by those of 2025-11-25.
    let of_the_proposal = sep_1686::meta_key::RELATED_TASK;
    match related.or_else(|| keys.get(of_the_proposal).map(|_| of_the_proposal)) {
        Some(key) => Err(ConvertError::no_counterpart(key, reason).within("_meta")),
        None => Ok(open::foreign(keys, META_KEYS)),
    }
}

/// The `_meta` of a notification of 2025-11-25 for 2026-07-28.
#[inline]
fn meta_of_2025(
    meta: Option<v2025_11_25::NotificationMetaObject>,
    reason: &str,
) -> Result<Option<v2026_07_28::NotificationMetaObject>, ConvertError> {
    let Some(meta) = meta else { return Ok(None) };
    let related = meta.related_task.map(|_| v2025_11_25::meta_key::RELATED_TASK);
    let keys = untied(related, meta.extra, reason)?;
    Ok(meta_2026(keys))
}

/// The `_meta` of a notification of SEP-1686 without the tie to a task.
#[inline]
fn keys_of_1686(meta: Option<sep_1686::NotificationMeta>, reason: &str) -> Result<Extra, ConvertError> {
    let Some(meta) = meta else { return Ok(Extra::new()) };
    untied(meta.related_task.map(|_| sep_1686::meta_key::RELATED_TASK), meta.extra, reason)
}

/// The keys of a `_meta` of 2026-07-28 that are nobody's in particular: the subscription stays behind.
#[inline]
fn keys_of_2026(meta: Option<v2026_07_28::NotificationMetaObject>) -> Extra {
    meta.map(|meta| open::foreign(meta.extra, META_KEYS)).unwrap_or_default()
}

macro_rules! meta {
    ($function:ident $type:path) => {
        /// A `_meta` of these keys, nothing when there is none.
        #[inline]
        fn $function(keys: Extra) -> Option<$type> {
            (!keys.is_empty()).then(|| {
                let mut meta = <$type>::new();
                meta.extra = keys;
                meta
            })
        }
    };
}

meta! { meta_1686 sep_1686::NotificationMeta }
meta! { meta_2025 v2025_11_25::NotificationMetaObject }
meta! { meta_2026 v2026_07_28::NotificationMetaObject }

const NO_REPORTS: &str = "2026-07-28 has neither progress nor log messages of tasks";

macro_rules! reports {
    ($($name:ident { $($member:ident)* })*) => {$(
        impl From<v2026_07_28::$name> for v2025_11_25::$name {
            /// Drops `subscriptionId` of `_meta`.
            #[inline]
            fn from(params: v2026_07_28::$name) -> Self {
                Self {
                    meta: meta_2025(keys_of_2026(params.meta)),
                    $($member: params.$member.carry(),)*
                    extra: params.extra,
                }
            }
        }

        impl TryFrom<v2025_11_25::$name> for v2026_07_28::$name {
            type Error = ConvertError;
            /// Keeps everything; fails when the notification is tied to a task, of which 2026-07-28 reports nothing but
            /// its status (C-87).
            #[inline]
            fn try_from(params: v2025_11_25::$name) -> Result<Self, ConvertError> {
                Ok(Self {
                    meta: meta_of_2025(params.meta, NO_REPORTS)?,
                    $($member: params.$member.carry(),)*
                    extra: params.extra,
                })
            }
        }
    )*};
}

reports! {
    ProgressNotificationParams { progress_token progress total message }
    LoggingMessageNotificationParams { level logger data }
}

const NO_CANCELLATION: &str = "tasks are cancelled by `tasks/cancel` and questions taken back with the task";

impl From<v2026_07_28::CancelledNotificationParams> for v2025_11_25::CancelledNotificationParams {
    /// Drops `subscriptionId` of `_meta`.
    #[inline]
    fn from(params: v2026_07_28::CancelledNotificationParams) -> Self {
        Self {
            meta: meta_2025(keys_of_2026(params.meta)),
            request_id: Some(params.request_id.into()),
            reason: params.reason,
            extra: params.extra,
        }
    }
}

impl From<v2026_07_28::CancelledNotificationParams> for sep_1686::CancelledNotificationParams {
    /// Drops `subscriptionId` of `_meta`. The request must not be one that became a task: SEP-1686 would cancel that.
    #[inline]
    fn from(params: v2026_07_28::CancelledNotificationParams) -> Self {
        Self {
            meta: meta_1686(keys_of_2026(params.meta)),
            request_id: params.request_id.into(),
            reason: params.reason,
            extra: params.extra,
        }
    }
}

/// The id of the request, which only 2025-11-25 leaves open.
#[inline]
fn request_id(id: Option<v2025_11_25::RequestId>) -> Result<v2025_11_25::RequestId, ConvertError> {
    id.ok_or_else(|| ConvertError::missing("requestId", "the request that is given up"))
}

impl TryFrom<v2025_11_25::CancelledNotificationParams> for v2026_07_28::CancelledNotificationParams {
    type Error = ConvertError;
    /// Fails when no request is named, or the notification is tied to a task: requests of a task's own are entries of
    /// `inputRequests` in 2026-07-28, and a task is cancelled by `tasks/cancel` (C-72).
    #[inline]
    fn try_from(params: v2025_11_25::CancelledNotificationParams) -> Result<Self, ConvertError> {
        Ok(Self {
            meta: meta_of_2025(params.meta, NO_CANCELLATION)?,
            request_id: request_id(params.request_id)?.into(),
            reason: params.reason,
            extra: params.extra,
        })
    }
}

impl TryFrom<v2025_11_25::CancelledNotificationParams> for sep_1686::CancelledNotificationParams {
    type Error = ConvertError;
    /// The related task goes under its other key. Fails when no request is named.
    #[inline]
    fn try_from(params: v2025_11_25::CancelledNotificationParams) -> Result<Self, ConvertError> {
        let meta = params.meta.and_then(|meta| {
            let mut tied = meta_1686(open::foreign(meta.extra, META_KEYS)).unwrap_or_default();
            tied.related_task = meta.related_task.carry();
            (tied.related_task.is_some() || !tied.extra.is_empty()).then_some(tied)
        });
        Ok(Self {
            meta,
            request_id: request_id(params.request_id)?.into(),
            reason: params.reason,
            extra: params.extra,
        })
    }
}

impl TryFrom<sep_1686::CancelledNotificationParams> for v2025_11_25::CancelledNotificationParams {
    type Error = ConvertError;
    /// Fails when the notification is tied to a task, which 2025-11-25 cancels by `tasks/cancel` (B-53). A gateway that
    /// knows the request for one that became a task sends that as well, tied or not.
    #[inline]
    fn try_from(params: sep_1686::CancelledNotificationParams) -> Result<Self, ConvertError> {
        Ok(Self {
            meta: meta_2025(keys_of_1686(params.meta, NO_CANCELLATION)?),
            request_id: Some(params.request_id.into()),
            reason: params.reason,
            extra: params.extra,
        })
    }
}

impl TryFrom<sep_1686::CancelledNotificationParams> for v2026_07_28::CancelledNotificationParams {
    type Error = ConvertError;
    /// Fails when the notification is tied to a task, which 2026-07-28 cancels by `tasks/cancel` (C-72). A gateway that
    /// knows the request for one that became a task sends that as well, tied or not.
    #[inline]
    fn try_from(params: sep_1686::CancelledNotificationParams) -> Result<Self, ConvertError> {
        Ok(Self {
            meta: meta_2026(keys_of_1686(params.meta, NO_CANCELLATION)?),
            request_id: params.request_id.into(),
            reason: params.reason,
            extra: params.extra,
        })
    }
}

/// What SEP-1686 says where the later two call `tasks/cancel`: that the request which became the task is given up
/// tied to the task as every notification about one has to be.
///
/// There is no answer; `tasks/get` tells whether it was heard.
#[must_use]
#[inline]
pub fn cancel_to_sep_1686(
    task_id: &TaskId,
    request_id: impl Into<sep_1686::RequestId>,
) -> sep_1686::CancelledNotificationParams {
    let related = sep_1686::RelatedTaskMetadata::new(task_id.clone());
    sep_1686::CancelledNotificationParams::new(request_id)
        .with_meta(sep_1686::NotificationMeta::new().with_related_task(related))
}
