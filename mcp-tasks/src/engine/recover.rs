//! Taking up tasks that nobody works on: run where no run has begun, run again where that was promised, failed honestly
//! where not.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_tasks_types::{RawObject, TaskId, Timestamp};

use super::Params;
use super::core::{Core, Tool, Unwritten};
use super::role::Room;
use super::run::Run;
use super::supervise::{failed, start};
use crate::clock::after;
use crate::error::with_causes;
use crate::lifecycle::Event;
use crate::panic::caught;
use crate::record::{SharedRecord, State, TaskRecord};
use crate::store::{Claim, StoreError};
use crate::tool::Restart;

/// How many tasks are taken up in one go.
const BATCH: usize = 64;

/// What became of one go.
pub(super) struct TakenUp {
    /// How many were claimed.
    claimed: usize,
    /// Whether there may be more to take up at once.
    pub(super) more: bool,
    /// Those that were claimed and could not be dealt with. They are left to their leases.
    failed: Vec<TaskId>,
}

impl Core {
    /// Takes up all tasks that nobody works on. Gives their number.
    pub(super) async fn recover(self: &Arc<Self>) -> Result<usize, StoreError> {
        let mut claimed = 0;
        let mut failed = BTreeSet::new();
        loop {
            let taken_up = self.recover_some().await?;
            claimed += taken_up.claimed;
            // Where that takes as long as a lease, those that fail come again.
            let again = taken_up.failed.into_iter().filter(|id| !failed.insert(id.clone())).count();
            if !taken_up.more || again == taken_up.claimed {
                return Ok(claimed);
            }
        }
    }

    /// Takes up some of them. One that fails keeps nobody from the others; the error is that of claiming.
    pub(super) async fn recover_some(self: &Arc<Self>) -> Result<TakenUp, StoreError> {
        let _alone = self.recovering.lock().await;
        let Some(mut room) = self.room_for_tasks(BATCH) else {
            return Ok(TakenUp { claimed: 0, more: false, failed: Vec::new() });
        };
        let limit = room.bodies();
        let now = self.now();
        // Where leases cannot be renewed, what runs here must not look like an orphan.
        self.heartbeat().await?;
        let given = self.now();
        let until = after(&given, self.settings.lease_ms);
        let claimed = self.store.claim(Claim::new(&self.worker, now, until, limit)).await?;
        room.shrink(claimed.len());
        let mut taken_up =
            TakenUp { claimed: claimed.len(), more: claimed.len() == limit, failed: Vec::new() };
        let mut taking = self.taking(&claimed, &given);
        for record in claimed {
            let id = record.id.clone();
            if self.run(&id).is_some_and(|run| run.is_overtaken(&record)) {
                // It lost its lease against all care. Two bodies side by side would be worse than waiting.
                taking.done(&id);
                continue;
            }
            let done = async {
                // Between two tasks as well, for the others that were claimed.
                self.heartbeat().await?;
                self.take_up(record, &mut room).await
            };
            let failure = match caught("taking up a task", done).await {
                Some(Ok(())) => None,
                Some(Err(err)) => Some(with_causes(&err).to_string()),
                None => Some("a panic".to_owned()),
            };
            if let Some(failure) = failure {
                tracing::error!(task = %id, error = failure, "a task could not be taken up and is left to its lease");
                taken_up.failed.push(id.clone());
            }
            taking.done(&id);
        }
        Ok(taken_up)
    }

    /// Has the leases of what was claimed renewed until it runs.
    fn taking(self: &Arc<Self>, claimed: &[SharedRecord], given: &Timestamp) -> Taking {
        let ids: BTreeSet<TaskId> = claimed.iter().map(|record| record.id.clone()).collect();
        {
            let mut running = self.running();
            if !ids.is_empty() {
                self.expect_heartbeat(&running, given.unix_millis());
            }
            running.taking.extend(ids.iter().cloned());
        }
        self.wake_heartbeat();
        Taking { core: Arc::clone(self), ids }
    }

    async fn take_up(self: &Arc<Self>, record: SharedRecord, room: &mut Room) -> Result<(), StoreError> {
        if record.is_due(self.clock.now_millis()) {
            // Its lifetime ended while nobody was there.
            return self.overdue(record).await.map(drop);
        }
        let token = record.lease.as_ref().map_or(0, |lease| lease.token);
        if record.cancel.is_some() {
            // Whoever wanted it cancelled gets that when it is handed back.
            return self.write(record, Event::Release { token }).await.map(drop);
        }
        match self.runnable(&record) {
            Ok((tool, arguments)) => {
                let Some(record) = self.with_headway(record, token).await? else { return Ok(()) };
                #[cfg(feature = "metrics")]
                super::meter::taken_up(&record, "run");
                let event = if record.attempt > 1 { "the task is run again" } else { "the task is run" };
                tracing::info!(task = %record.id, attempt = record.attempt, "{event}");
                let run = Run::of_task(Arc::clone(self), tool, record);
                match self.register(Arc::clone(&run), room) {
                    Ok(registration) => {
                        // The body's trace goes on, although its request is long over.
                        let traceparent = run.record().trace.traceparent.clone();
                        let span = tracing::info_span!("run", task = %run.id(), traceparent);
                        span.in_scope(|| start(run, registration, arguments));
                        Ok(())
                    }
                    // This process ends. The next one need not wait for the lease.
                    Err(_) => self.write(run.record(), Event::Release { token }).await.map(drop),
                }
            }
            Err(reason) => {
                #[cfg(feature = "metrics")]
                super::meter::taken_up(&record, "failed");
                tracing::warn!(task = %record.id, reason, "the task is not run again");
                self.write(record, Event::Finish { token, outcome: failed(reason) }).await.map(drop)
            }
        }
    }

    /// Lets that happen to the task, unless somebody ended or removed it in this moment.
    async fn write(&self, record: SharedRecord, event: Event) -> Result<Option<SharedRecord>, StoreError> {
        match self.transition(record, event).await {
            Ok(written) => Ok(Some(written)),
            Err(Unwritten::Store(err)) => Err(err),
            Err(Unwritten::Illegal(_) | Unwritten::Gone) => Ok(None),
        }
    }

    /// The whole record, in which the steps that it has count as headway. Nothing if the task has ended.
    async fn with_headway(
        &self,
        record: SharedRecord,
        token: u64,
    ) -> Result<Option<SharedRecord>, StoreError> {
        if !has_new_steps(&record) {
            return Ok(Some(record));
        }
        let steps = record.steps.len();
        let written = self.write(Arc::clone(&record), Event::Headway { token, steps }).await?;
        // What is written is the head alone.
        Ok(written.map(|written| {
            let (params, steps) = (record.params.clone(), record.steps.clone());
            Arc::new(TaskRecord { params, steps, ..TaskRecord::clone(&written) })
        }))
    }

    /// The tool and the arguments to run the task again with, or why it fails instead.
    fn runnable(&self, record: &TaskRecord) -> Result<(Arc<Tool>, RawObject), String> {
        let name = &record.tool.name;
        let Some(tool) = self.tool(name) else {
            return Err(format!("the server was restarted and has no tool `{name}` any more"));
        };
        // The claim is the first attempt, but for those that were handed back: a tool that can be run once hands back
        // what it has not begun alone. So nothing was begun that could have been interrupted.
        let is_first = record.attempts_without_headway() <= 1;
        let params = match &record.params {
            Some(params) if is_first || tool.definition.restart() == Restart::Rerun => params,
            _ => return Err("the work was interrupted before the task ended".to_owned()),
        };
        if tool.fingerprint != record.tool {
            return Err(format!(
                "the server was restarted with other arguments or another version of the tool `{name}`"
            ));
        }
        let attempts = record.attempts_without_headway();
        // A task that waits for a person is not at its end, however often its server is restarted meanwhile.
        if record.state == State::Working && !has_new_steps(record) && attempts > self.settings.max_attempts {
            let before = attempts - 1;
            return Err(format!(
                "the work was interrupted in each of {before} attempts without coming any further"
            ));
        }
        match params.get::<Params<RawObject>>() {
            Ok(params) => Ok((Arc::clone(tool), params.arguments)),
            Err(_) => Err("the recorded arguments cannot be read".to_owned()),
        }
    }
}

fn has_new_steps(record: &TaskRecord) -> bool {
    record.steps.len() > record.headway.steps
}

/// What was claimed and is not run yet.
struct Taking {
    core: Arc<Core>,
    ids: BTreeSet<TaskId>,
}

impl Taking {
    fn done(&mut self, id: &TaskId) {
        self.ids.remove(id);
        self.core.running().taking.remove(id);
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        let mut running = self.core.running();
        for id in &self.ids {
            running.taking.remove(id);
        }
        if running.is_over() {
            self.core.beat.notify_one();
        }
    }
}
