//! What happens by itself: lifetimes end, leases are renewed, and what others wrote reaches the runs here.
//!
//! One task sleeps until the store's next deadline, however many tasks are kept; without work it does not wake at all.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::watch;

use super::core::{Core, Unwritten};
use super::run::Run;
use crate::clock::after;
use crate::error::{InterruptedKind, with_causes};
use crate::lifecycle::Event;
use crate::record::{SharedRecord, TaskRecord, Visibility};
use crate::store::{Change, Changes, Parts, StoreError, StoreErrorKind};

/// How many due tasks are looked at in one go.
const BATCH: usize = 64;

/// How long the timer waits after the store failed.
const BACK_OFF_MS: u64 = 1_000;

/// Sleeps and works until the engine is gone or closes.
pub(super) async fn keep_time(core: Weak<Core>, mut closing: watch::Receiver<bool>) {
    loop {
        let Some(strong) = core.upgrade() else { return };
        let wake = match strong.tick().await {
            Ok(wake) => wake,
            // The store is closed, or about to be; nothing is tried again.
            Err(err) if *closing.borrow() => {
                tracing::debug!(error = with_causes(&err), "the store failed while the engine closes");
                return;
            }
            Err(err) => {
                tracing::error!(error = with_causes(&err), "the store failed, trying again");
                Some(after(&strong.now(), BACK_OFF_MS))
            }
        };
        strong.next_wake.store(wake.as_ref().map_or(i64::MAX, Timestamp::unix_millis), Ordering::SeqCst);
        let (clock, timer) = (Arc::clone(&strong.clock), Arc::clone(&strong.timer));
        drop(strong);
        let sleep = async {
            match &wake {
                Some(wake) => clock.sleep_until(wake).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = sleep => {}
            () = timer.notified() => {}
            _ = closing.changed() => return,
        }
    }
}

impl Core {
    /// Does what is due and says when there is more to do.
    async fn tick(self: &Arc<Self>) -> Result<Option<Timestamp>, StoreError> {
        // Whoever sets a deadline from here on wakes the timer again.
        self.next_wake.store(i64::MAX, Ordering::SeqCst);
        let heartbeat_at = self.heartbeat().await;
        let (due_at, lease_end) = self.work_off().await?;
        // Where leases cannot be renewed, what runs here must not look like an orphan.
        let heartbeat_at = heartbeat_at?;
        let orphans_at = self.adopt(lease_end).await?;
        Ok([heartbeat_at, due_at, orphans_at].into_iter().flatten().min())
    }

    /// Ends and removes what is due. Gives when there is more of it, and when the first lease ends.
    async fn work_off(&self) -> Result<(Option<Timestamp>, Option<Timestamp>), StoreError> {
        loop {
            let due = self.store.due(&self.now(), BATCH).await?;
            if due.ids.is_empty() {
                return Ok((due.next, due.lease_end));
            }
            let mut progress = false;
            for id in &due.ids {
                if let Some(record) = self.store.load(id, Parts::Head).await? {
                    let left = self.overdue(record).await?;
                    progress |= left.is_none_or(|left| !left.is_due(self.clock.now_millis()));
                }
            }
            if !progress {
                // The store's list is behind its records, or the other way round; at once nothing would differ.
                return Ok((Some(after(&self.now(), BACK_OFF_MS)), due.lease_end));
            }
        }
    }

    /// Takes up the tasks whose workers are gone, if a lease has ended, and says when to look again. What runs here
    /// has its leases renewed before they end, so that all that is found is somebody's who cannot go on: a process
    /// that died, or a run of this one whose end could not be recorded.
    async fn adopt(self: &Arc<Self>, lease_end: Option<Timestamp>) -> Result<Option<Timestamp>, StoreError> {
        let now = self.now();
        match lease_end {
            // When there is room again, the timer is woken.
            Some(end) if end <= now && self.room() == 0 => Ok(None),
            Some(end) if end <= now => {
                self.recover().await?;
                // Looked at again soon, but not at once: others may be at it, or the store may be behind.
                Ok(Some(after(&now, BACK_OFF_MS)))
            }
            later => Ok(later),
        }
    }

    /// Ends a live task whose lifetime is over or that nobody asks about any more, takes back questions that waited long
    /// enough; forgets an ended task, and in the end removes it. Gives what is left of it.
    pub(super) async fn overdue(&self, record: SharedRecord) -> Result<Option<SharedRecord>, StoreError> {
        if !record.is_due(self.clock.now_millis()) {
            return Ok(Some(record));
        }
        if let Some(event) = self.due_event(&record) {
            let id = record.id.clone();
            return match self.transition(record, event).await {
                Ok(after) => Ok(Some(after)),
                Err(Unwritten::Store(err)) => Err(err),
                // Somebody ended, forgot or removed it in this moment.
                Err(Unwritten::Illegal(_) | Unwritten::Gone) => self.store.load(&id, Parts::Head).await,
            };
        }
        match self.store.remove(&record.id, record.version).await {
            Ok(()) => Ok(None),
            Err(err) if matches!(err.kind(), StoreErrorKind::NotFound | StoreErrorKind::Conflict) => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// What happens to a task whose time has come; nothing when all that is left to do is to remove it.
    fn due_event(&self, record: &TaskRecord) -> Option<Event> {
        let (now, retain_ms) = (self.clock.now_millis(), self.settings.expired_retention_ms);
        let (is_live, is_call) = (!record.state.is_terminal(), record.visibility == Visibility::Inline);
        match (record.is_over(now), record.is_abandoned(now)) {
            // Nobody is told how a call ended. A body that still runs learns that there is nothing left.
            (true, _) | (_, true) if is_live && is_call => None,
            (true, _) if is_live => Some(Event::Expire { retain_ms }),
            (_, true) if is_live => Some(Event::Abandon { retain_ms }),
            _ if is_live => Some(Event::GiveUpWaiting),
            // Nor is anybody told that there was one.
            _ if is_call || record.forgotten_at.is_some() => None,
            _ => {
                let tombstone_ms = self.settings.tombstone_ms;
                (tombstone_ms > 0).then_some(Event::Forget { tombstone_ms })
            }
        }
    }

    /// Renews the leases of what runs here, if it is time to.
    async fn heartbeat(&self) -> Result<Option<Timestamp>, StoreError> {
        if self.running().runs.is_empty() {
            return Ok(None);
        }
        let now = self.now();
        let at = self.heartbeat_at.load(Ordering::SeqCst);
        if now.unix_millis() < at {
            return Ok(Some(Timestamp::from_unix_millis(at)));
        }
        let ids: Vec<TaskId> = self.running().runs.keys().cloned().collect();
        self.store.renew(&self.worker, &ids, &after(&now, self.settings.lease_ms)).await?;
        let next = after(&now, self.settings.lease_ms / 3);
        self.heartbeat_at.store(next.unix_millis(), Ordering::SeqCst);
        Ok(Some(next))
    }

    pub(super) fn run(&self, id: &TaskId) -> Option<Arc<Run>> {
        self.running().runs.get(id).cloned()
    }

    async fn look_again(&self, run: &Run) {
        if run.birth().is_pending() {
            return;
        }
        match self.store.load(run.id(), Parts::Head).await {
            Ok(Some(record)) => run.publish(&record),
            Ok(None) if run.token().is_some() => run.stop(InterruptedKind::Ended),
            Ok(None) => {}
            // The run is told to stop as it is.
            Err(_) if *self.closing.borrow() => {}
            // The run finds out at its next write.
            Err(err) => {
                tracing::warn!(task = %run.id(), error = with_causes(&err), "a change could not be read");
            }
        }
    }
}

/// Brings what others wrote to the runs here.
pub(super) async fn follow(core: Weak<Core>, mut changes: Changes, mut closing: watch::Receiver<bool>) {
    loop {
        let change = tokio::select! {
            change = changes.next() => change,
            _ = closing.changed() => None,
        };
        let (Some(change), Some(core)) = (change, core.upgrade()) else { return };
        match change {
            Change::Written { id, version, claimable } => {
                if claimable {
                    // Somebody has to work on it, and that may be us.
                    core.timer.notify_one();
                }
                let Some(run) = core.run(&id) else {
                    // Whoever works on it may die: by the time its lease ends at the latest, the timer has to know.
                    core.wake_timer_by(after(&core.now(), core.settings.lease_ms).unix_millis());
                    continue;
                };
                // What was written here is known already.
                if run.record().version >= version {
                    continue;
                }
                if core.store.reads_may_lag() {
                    // Others need not wait until it can be read.
                    tokio::spawn(async move {
                        let seen = core.seen(&id, version).await;
                        if let Err(err) = seen {
                            tracing::warn!(task = %id, error = with_causes(&err), "a change could not be read");
                        }
                        core.look_again(&run).await;
                    });
                } else {
                    core.look_again(&run).await;
                }
            }
            Change::Removed { id } => {
                if let Some(run) = core.run(&id) {
                    run.stop(InterruptedKind::Ended);
                }
            }
            Change::Resync => {
                // Among what was missed may be work for us.
                core.timer.notify_one();
                let runs: Vec<Arc<Run>> = core.running().runs.values().cloned().collect();
                for run in runs {
                    core.look_again(&run).await;
                }
            }
        }
    }
}
