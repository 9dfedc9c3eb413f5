//! What happens to an owner's tasks, as it happens, in whatever process.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use mcp_tasks_types::TaskId;

use super::Engine;
use super::attention::Listener;
use crate::error::{EngineError, EngineErrorKind};
use crate::owner::Owner;
use crate::record::{SharedRecord, Visibility};
use crate::store::Change;

/// The changes of some tasks that their owner can see.
pub struct Watch {
    engine: Engine,
    owner: Owner,
    changes: Listener,
    /// What was last told of each task that is watched; nothing yet where it is none.
    told: BTreeMap<TaskId, Option<SharedRecord>>,
    /// Those to look at, oldest change first.
    waiting: VecDeque<TaskId>,
    /// Whether progress without a message is news.
    with_progress: bool,
}

impl Engine {
    /// Watches tasks of this owner: first tells how each stands now, and then every change that can be seen, in
    /// whatever process it is made. No change falls between the two. Ids that are unknown, somebody else's or gone are
    /// left out without a word. Whoever reads slowly gets the newest state and not every one before it.
    #[must_use]
    pub fn watch(&self, owner: Owner, ids: impl IntoIterator<Item = TaskId>) -> Watch {
        // Listening begins before the first look.
        let changes = Listener::new(&self.core);
        let mut told = BTreeMap::new();
        let mut waiting = VecDeque::new();
        for id in ids {
            if told.insert(id.clone(), None).is_none() {
                waiting.push_back(id);
            }
        }
        Watch { engine: self.clone(), owner, changes, told, waiting, with_progress: true }
    }

    /// The same for whoever hears of progress by its messages alone, as clients do (C-87).
    pub(crate) fn watch_for_clients(&self, owner: Owner, ids: impl IntoIterator<Item = TaskId>) -> Watch {
        Watch { with_progress: false, ..self.watch(owner, ids) }
    }
}

impl Watch {
    /// The next state of a task; nothing when no task is left that could change, or the store was closed.
    ///
    /// # Errors
    ///
    /// When the store fails; the change is looked at again in the next call.
    pub async fn next(&mut self) -> Result<Option<SharedRecord>, EngineError> {
        loop {
            while let Some(id) = self.waiting.front().cloned() {
                let look = self.look(&id).await?;
                self.waiting.pop_front();
                if look.is_some() {
                    return Ok(look);
                }
            }
            if self.told.is_empty() {
                return Ok(None);
            }
            match self.changes.next(&self.engine.core).await {
                Some(Change::Written { id, .. } | Change::Removed { id }) => {
                    if self.told.contains_key(&id) {
                        self.waiting.push_back(id);
                    }
                }
                Some(Change::Resync) => self.waiting = self.told.keys().cloned().collect(),
                None => return Ok(None),
            }
        }
    }

    /// The task as it is now, if that is news.
    async fn look(&mut self, id: &TaskId) -> Result<Option<SharedRecord>, EngineError> {
        let record = match self.engine.get(&self.owner, id).await {
            Ok(record) => record,
            Err(err)
                if matches!(err.kind(), EngineErrorKind::TaskNotFound | EngineErrorKind::TaskExpired) =>
            {
                self.told.remove(id);
                return Ok(None);
            }
            Err(err) => return Err(err),
        };
        debug_assert_eq!(record.visibility, Visibility::Task);
        let Some(told) = self.told.get_mut(id) else { return Ok(None) };
        if told.as_ref().is_some_and(|told| looks_like(told, &record, self.with_progress)) {
            return Ok(None);
        }
        *told = Some(record.clone());
        if record.state.is_terminal() {
            // Nothing follows.
            self.told.remove(id);
        }
        Ok(Some(record))
    }
}

/// Whether whoever watches would see the same.
fn looks_like(before: &SharedRecord, now: &SharedRecord, with_progress: bool) -> bool {
    before.state == now.state
        && before.status_message == now.status_message
        && before.last_updated_at == now.last_updated_at
        && before.ttl_ms == now.ttl_ms
        && before.poll_interval_ms == now.poll_interval_ms
        && (!with_progress || before.progress == now.progress)
        && before.inputs == now.inputs
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("tasks", &self.told.len()).finish_non_exhaustive()
    }
}
