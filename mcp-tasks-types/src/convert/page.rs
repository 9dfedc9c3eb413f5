//! Pages of lists: tasks in the older two, tools in the later two. Cursors are opaque and
//! travel as they are.

use super::open::{self, META_KEYS, PAGE_MEMBERS};
use super::tool::each;
use super::{ConvertError, Snapshot};
use crate::{TaskId, Timestamp, sep_1686, v2025_11_25, v2026_07_28};

/// A page of `tasks/list` of SEP-1686 for one of 2025-11-25; what is left of each lifetime is counted from `now`.
///
/// Of the tasks is lost what [`Snapshot::into_sep_1686`] loses. 2026-07-28 has no such list: a gateway before a server
/// of that revision makes the page of 2025-11-25 from the snapshots of an index of its own.
#[must_use]
#[inline]
pub fn list_to_sep_1686(page: v2025_11_25::ListTasksResult, now: &Timestamp) -> sep_1686::ListTasksResult {
    let tasks = page.tasks.into_iter().map(|task| Snapshot::from(task).into_sep_1686(now).into()).collect();
    let meta = page.meta.and_then(|meta| open::foreign_meta(meta.extra)).map(|keys| {
        let mut meta = sep_1686::ResultMeta::new();
        meta.extra = keys;
        meta
    });
    sep_1686::ListTasksResult {
        tasks,
        next_cursor: page.next_cursor,
        meta,
        extra: open::foreign(page.extra, PAGE_MEMBERS),
    }
}

/// A page of `tasks/list` of 2025-11-25 for one of SEP-1686.
///
/// `learnt` says of each task when the caller learnt of it and when of its present state, as in
/// [`Snapshot::from_sep_1686`].
#[must_use]
pub fn list_from_sep_1686(
    page: sep_1686::ListTasksResult,
    mut learnt: impl FnMut(&TaskId) -> (Timestamp, Timestamp),
) -> v2025_11_25::ListTasksResult {
    let task = |task: sep_1686::TaskInfo| {
        let (created_at, last_updated_at) = learnt(&task.task_id);
        Snapshot::from_sep_1686(task, created_at, last_updated_at).into()
    };
    v2025_11_25::ListTasksResult {
        meta: meta_2025(page.meta.map(|meta| meta.extra)),
        tasks: page.tasks.into_iter().map(task).collect(),
        next_cursor: page.next_cursor,
        extra: open::foreign(page.extra, PAGE_MEMBERS),
    }
}

/// The `_meta` of a page of 2025-11-25, nothing when there is no key.
#[inline]
fn meta_2025(keys: Option<crate::Extra>) -> Option<v2025_11_25::ResultMetaObject> {
    keys.and_then(open::foreign_meta).map(|keys| {
        let mut meta = v2025_11_25::ResultMetaObject::new();
        meta.extra = keys;
        meta
    })
}

/// A page of `tools/list` of 2026-07-28 for one of 2025-11-25, with the hints for caches that the older one lacks: 0
/// and private where nothing better is known.
///
/// Of the tools is lost `execution` (C-101).
#[must_use]
#[inline]
pub fn tools_to_v2026_07_28(
    page: v2025_11_25::ListToolsResult,
    ttl_ms: u64,
    cache_scope: v2026_07_28::CacheScope,
) -> v2026_07_28::ListToolsResult {
    v2026_07_28::ListToolsResult {
        meta: page.meta.and_then(|meta| open::result_meta(open::foreign(meta.extra, META_KEYS))),
        tools: page.tools.into_iter().map(Into::into).collect(),
        next_cursor: page.next_cursor,
        ttl_ms,
        cache_scope,
        extra: open::foreign(page.extra, PAGE_MEMBERS),
    }
}

impl TryFrom<v2026_07_28::ListToolsResult> for v2025_11_25::ListToolsResult {
    type Error = ConvertError;
    /// Drops the hints for caches and `serverInfo` of `_meta`; fails when a tool cannot be said in 2025-11-25, which a
    /// gateway then leaves out of the page.
    #[inline]
    fn try_from(page: v2026_07_28::ListToolsResult) -> Result<Self, ConvertError> {
        Ok(Self {
            meta: meta_2025(page.meta.map(|meta| meta.extra)),
            tools: each(page.tools, TryInto::try_into).map_err(|error| error.within("tools"))?,
            next_cursor: page.next_cursor,
            extra: open::foreign(page.extra, PAGE_MEMBERS),
        })
    }
}
