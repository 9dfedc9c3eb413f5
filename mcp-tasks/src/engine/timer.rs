//! What happens by itself: lifetimes end, tasks of the dead are taken up, and what others wrote reaches the runs here.
//!
//! One task sleeps until the store's next deadline, however many tasks are kept; without work it does not wake at all.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::watch;

use super::core::{Core, Patience, Retry, Unwritten};
use super::run::Run;
use super::trouble::Troubles;
use crate::BoxFuture;
use crate::clock::{after, millis_after};
use crate::error::{InterruptedKind, with_causes};
use crate::lifecycle::Event;
use crate::panic::caught;
use crate::record::{SharedRecord, TaskRecord, Visibility};
use crate::store::{Change, Changes, Parts, StoreError, StoreErrorKind};

/// How many due tasks are looked at in one go.
const BATCH: usize = 64;

/// How long the timer waits after the store failed.
pub(super) const BACK_OFF_MS: u64 = 1_000;

/// Sleeps and works until the engine is gone or closes.
pub(super) async fn keep_time(core: Weak<Core>, mut closing: watch::Receiver<bool>) {
    let mut troubles = Troubles::default();
    loop {
        let Some(strong) = core.upgrade() else { return };
        let timer = Arc::clone(&strong.timer);
        let sleep = caught("doing what is due", strong.tick_once(&mut troubles)).await;
        drop(strong);
        let sleep = async {
            let slept = match sleep {
                Some(sleep) => caught("sleeping", sleep).await,
                None => None,
            };
            if slept.is_none() {
                // The clock may be what panicked.
                tokio::time::sleep(Duration::from_millis(BACK_OFF_MS)).await;
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
    /// Does what is due, and gives the time until there is more to do.
    async fn tick_once(self: &Arc<Self>, troubles: &mut Troubles) -> BoxFuture<'static, ()> {
        // Whoever sets a deadline from here on wakes the timer again.
        self.next_wake.store(i64::MAX, Ordering::SeqCst);
        let wake = match self.tick(troubles).await {
            Ok(wake) => wake,
            // The store is closed, or about to be; nothing is tried again.
            Err(err) if *self.closing.borrow() => {
                tracing::debug!(error = with_causes(&err), "the store failed while the engine closes");
                None
            }
            Err(err) => {
                tracing::error!(error = with_causes(&err), "the store failed, trying again");
                Some(after(&self.now(), BACK_OFF_MS))
            }
        };
        let Some(wake) = wake else { return Box::pin(std::future::pending()) };
        self.next_wake.store(wake.unix_millis(), Ordering::SeqCst);
        self.clock.sleep_until(&wake)
    }

    /// Does a part of what is due and says when there is more to do. Bounded, so that neither of the two keeps the
    /// other waiting, however much of it there is.
    async fn tick(self: &Arc<Self>, troubles: &mut Troubles) -> Result<Option<Timestamp>, StoreError> {
        let (due_at, lease_end) = match self.work_off(troubles).await {
            Ok(done) => done,
            Err(err) => {
                // When a lease ends is not known, and those whose leases did need not wait for that.
                if !*self.closing.borrow()
                    && let Err(err) = self.adopt(Some(self.now())).await
                {
                    tracing::debug!(error = with_causes(&err), "nor can tasks be taken up");
                }
                return Err(err);
            }
        };
        let orphans_at = self.adopt(lease_end).await?;
        Ok([due_at, orphans_at].into_iter().flatten().min())
    }

    /// Ends and removes some of what is due. Gives when there is more of it, and when the first lease ends.
    async fn work_off(
        &self,
        troubles: &mut Troubles,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), StoreError> {
        let now = self.now();
        // What could not be dealt with stands in the way of nothing else.
        let limit = BATCH + troubles.len();
        let due = self.store.due(&now, limit).await?;
        troubles.forget_others(&due.ids, &now);
        let mut more = due.ids.len() == limit;
        let open = due.ids.iter().filter(|id| !troubles.is_waiting(id, &now)).take(BATCH).cloned();
        for id in open.collect::<Vec<TaskId>>() {
            let failure = match caught("dealing with a due task", self.work_off_one(&id)).await {
                Some(Ok(true)) => {
                    troubles.solved(&id);
                    more = true;
                    continue;
                }
                // The store's list is behind its records, or the other way round; at once nothing would differ.
                Some(Ok(false)) => None,
                Some(Err(err)) => Some(with_causes(&err).to_string()),
                None => Some("a panic".to_owned()),
            };
            let again = troubles.add(&id, &self.now());
            if let Some(failure) = failure.filter(|_| !again) {
                tracing::error!(task = %id, error = failure, "a due task is left for later");
            }
        }
        let next = if more { Some(now) } else { due.next.into_iter().chain(troubles.next()).min() };
        Ok((next, due.lease_end))
    }

    /// Whether something came of it.
    async fn work_off_one(&self, id: &TaskId) -> Result<bool, StoreError> {
        let Some(record) = self.store.load(id, Parts::Head).await? else { return Ok(false) };
        let left = self.overdue(record).await?;
        Ok(left.is_none_or(|left| !left.is_due(self.clock.now_millis())))
    }

    /// Takes up some of the tasks whose workers are gone, if a lease has ended, and says when to look again. What runs
    /// here has its leases renewed before they end, so that all that is found is somebody's who cannot go on: a process
    /// that died, or a run of this one whose end could not be recorded.
    async fn adopt(self: &Arc<Self>, lease_end: Option<Timestamp>) -> Result<Option<Timestamp>, StoreError> {
        let now = self.now();
        match lease_end {
            // When there is room again, the timer is woken.
            Some(end) if end <= now && self.is_full() => Ok(None),
            Some(end) if end <= now => {
                let taken_up = self.recover_some().await?;
                if taken_up.more {
                    return Ok(Some(now));
                }
                // Looked at again soon, but not at once: others may be at it, or the store may be behind.
                Ok(Some(after(&now, BACK_OFF_MS)))
            }
            later => Ok(later),
        }
    }

    /// Ends a live task whose lifetime is over or that nobody asks about any more, takes back questions that waited
    /// long enough; forgets an ended task, and in the end removes it. Gives what is left of it.
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

    pub(super) fn run(&self, id: &TaskId) -> Option<Arc<Run>> {
        self.running().runs.get(id).cloned()
    }

    /// Brings what is stored to the run. Where that fails, it is tried again until it is done or the run is over: a
    /// wish to cancel must not wait until the body says something.
    async fn look_again(self: &Arc<Self>, run: &Arc<Run>) {
        if run.birth().is_pending() {
            return;
        }
        let Err(err) = self.look(run).await else { return };
        // The run is told to stop as it is, or somebody looks already.
        if *self.closing.borrow() || run.is_looked_at(true) {
            return;
        }
        let (core, run) = (Arc::clone(self), Arc::clone(run));
        tokio::spawn(async move {
            let (mut err, mut retry) = (err, Retry::new(Patience::While(&run)));
            while core.run(run.id()).is_some_and(|known| Arc::ptr_eq(&known, &run)) {
                if let Err(err) = retry.after(&core, err).await {
                    // The run finds out at its next write.
                    tracing::warn!(task = %run.id(), error = with_causes(&err), "a change could not be read");
                    run.is_looked_at(false);
                    return;
                }
                // What fails from here on has to be looked at again, by whoever comes first.
                run.is_looked_at(false);
                match core.look(&run).await {
                    Err(next) if !run.is_looked_at(true) => err = next,
                    _ => return,
                }
            }
        });
    }

    async fn look(&self, run: &Run) -> Result<(), StoreError> {
        match self.store.load(run.id(), Parts::Head).await? {
            Some(record) => run.publish(&record),
            None if run.token().is_some() => run.stop(InterruptedKind::Ended),
            None => {}
        }
        Ok(())
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
        if caught("looking at a change", core.heed(change)).await.is_none() {
            // What the change was about is looked for.
            core.timer.notify_one();
        }
    }
}

impl Core {
    async fn heed(self: &Arc<Self>, change: Change) {
        match change {
            Change::Written { id, version, claimable } => {
                if claimable {
                    // Somebody has to work on it, and that may be us.
                    self.timer.notify_one();
                }
                let Some(run) = self.run(&id) else {
                    // Whoever works on it may die: by the time its lease ends at the latest, the timer has to know.
                    self.wake_timer_by(millis_after(self.clock.now_millis(), self.settings.lease_ms));
                    return;
                };
                // What was written here is known already.
                if run.record().version >= version {
                    return;
                }
                if self.store.reads_may_lag() {
                    // Others need not wait until it can be read.
                    let core = Arc::clone(self);
                    tokio::spawn(async move {
                        let seen = core.seen(&id, version).await;
                        if let Err(err) = seen {
                            tracing::warn!(task = %id, error = with_causes(&err), "a change could not be read");
                        }
                        core.look_again(&run).await;
                    });
                } else {
                    self.look_again(&run).await;
                }
            }
            Change::Removed { id } => {
                if let Some(run) = self.run(&id) {
                    run.stop(InterruptedKind::Ended);
                }
            }
            Change::Resync => {
                // Among what was missed may be work for us.
                self.timer.notify_one();
                let runs: Vec<Arc<Run>> = self.running().runs.values().cloned().collect();
                for run in runs {
                    // One that cannot be looked at keeps nobody from the others.
                    let _ = caught("looking at a task", self.look_again(&run)).await;
                }
            }
        }
    }
}
