//! Who asks about a task, for engines that give up the tasks that nobody asks about.

use std::sync::Arc;

use mcp_tasks_types::Timestamp;

use super::core::Core;
use crate::clock::{after, until};
use crate::error::with_causes;
use crate::lifecycle::Event;
use crate::record::SharedRecord;
use crate::store::{Change, Changes};

/// How often those who wait look where reads may lag.
const LAG_MS: u64 = 100;

impl Core {
    /// Notes that somebody asks about the task, if it is time to. Whoever asks is answered also when that fails.
    pub(super) async fn see(&self, record: SharedRecord) -> SharedRecord {
        if !record.wants_to_be_seen(self.clock.now_millis()) {
            return record;
        }
        match self.transition(Arc::clone(&record), Event::Seen).await {
            Ok(seen) => seen,
            Err(unwritten) => {
                tracing::warn!(task = %record.id, error = with_causes(&unwritten), "that somebody asked could not be noted");
                record
            }
        }
    }
}

/// Listens to changes on behalf of somebody who waits, which is as good as asking.
pub(super) struct Listener {
    changes: Changes,
    /// How long nobody may ask.
    patience_ms: Option<u64>,
    /// When to look again although nothing was heard: to be seen, or since what was told long ago can be read only now.
    look_again: Option<Timestamp>,
}

impl Listener {
    pub(super) fn new(core: &Core) -> Self {
        Self::with_patience(core, core.settings.abandon_ms)
    }

    /// For those who wait for a call that is no task.
    pub(super) fn of_call(core: &Core) -> Self {
        Self::with_patience(core, Some(core.settings.round_ms))
    }

    fn with_patience(core: &Core, patience_ms: Option<u64>) -> Self {
        Self { changes: core.store.changes(), patience_ms, look_again: look_again(core, patience_ms) }
    }

    /// The next change; [`Change::Resync`] also when it is time to look again. Nothing when the engine has ended: what
    /// changes from then on is not heard here.
    pub(super) async fn next(&mut self, core: &Core) -> Option<Change> {
        let mut ended = core.ended.subscribe();
        tokio::select! {
            biased;
            // The sender is in the engine.
            _ = ended.wait_for(|ended| *ended) => None,
            change = self.next_change(core) => change,
        }
    }

    async fn next_change(&mut self, core: &Core) -> Option<Change> {
        let Some(deadline) = &self.look_again else { return self.changes.next().await };
        // Asked first, since where something changes all the time the wait would never be over.
        if *deadline > core.now()
            && let Some(change) = until(&*core.clock, deadline, self.changes.next()).await
        {
            return change;
        }
        self.look_again = look_again(core, self.patience_ms);
        Some(Change::Resync)
    }
}

fn look_again(core: &Core, patience_ms: Option<u64>) -> Option<Timestamp> {
    let to_be_seen = patience_ms.map(|abandon_ms| (abandon_ms / 4).max(1));
    let to_see = core.store.reads_may_lag().then_some(LAG_MS);
    let wait_ms = to_be_seen.into_iter().chain(to_see).min()?;
    Some(after(&core.now(), wait_ms))
}
