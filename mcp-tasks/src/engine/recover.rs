//! Taking up tasks that nobody works on: run where no run has begun, run again where that was promised, failed honestly
//! where not.

use std::sync::Arc;

use mcp_tasks_types::RawObject;

use super::Params;
use super::core::{Core, Tool, Unwritten};
use super::run::Run;
use super::supervise::{failed, start};
use crate::clock::after;
use crate::lifecycle::Event;
use crate::record::{SharedRecord, State, TaskRecord};
use crate::store::{Claim, StoreError};
use crate::tool::Restart;

/// How many tasks are taken up in one go.
const BATCH: usize = 64;

impl Core {
    pub(super) async fn recover(self: &Arc<Self>) -> Result<usize, StoreError> {
        let mut taken_up = 0;
        loop {
            let now = self.now();
            let until = after(&now, self.settings.lease_ms);
            let limit = self.room().min(BATCH);
            if limit == 0 {
                return Ok(taken_up);
            }
            let claimed = self.store.claim(Claim::new(&self.worker, now, until, limit)).await?;
            if claimed.is_empty() {
                return Ok(taken_up);
            }
            taken_up += claimed.len();
            let mut failed = None;
            for record in claimed {
                // One that fails keeps nobody from the others, which are leased to this process by now.
                if let Err(err) = self.take_up(record).await {
                    failed = Some(err);
                }
            }
            if let Some(err) = failed {
                return Err(err);
            }
        }
    }

    async fn take_up(self: &Arc<Self>, record: SharedRecord) -> Result<(), StoreError> {
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
                if let Ok(registration) = self.register(Arc::clone(&run)) {
                    start(run, registration, arguments);
                }
                Ok(())
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
        // The claim is the first attempt: nothing was begun that could have been interrupted.
        let is_first = record.attempt <= 1;
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
