//! Taking up tasks that nobody works on: run again where that was promised, failed honestly where not.

use std::sync::Arc;

use mcp_tasks_types::RawObject;

use super::Params;
use super::core::{Core, LEASE_MS, Tool, Unwritten};
use super::run::Run;
use super::supervise::{failed, start};
use crate::clock::after;
use crate::lifecycle::Event;
use crate::record::{SharedRecord, TaskRecord};
use crate::store::{Claim, StoreError};
use crate::tool::Restart;

/// How many tasks are taken up in one go.
const BATCH: usize = 64;

impl Core {
    pub(super) async fn recover(self: &Arc<Self>) -> Result<usize, StoreError> {
        let mut taken_up = 0;
        loop {
            let now = self.now();
            let until = after(&now, LEASE_MS);
            let claimed = self.store.claim(Claim::new(&self.worker, now, until, BATCH)).await?;
            if claimed.is_empty() {
                return Ok(taken_up);
            }
            taken_up += claimed.len();
            for record in claimed {
                self.take_up(record).await?;
            }
        }
    }

    async fn take_up(self: &Arc<Self>, record: SharedRecord) -> Result<(), StoreError> {
        if record.is_due(self.clock.now_millis()) {
            // Its lifetime ended while nobody was there.
            return self.overdue(record).await.map(drop);
        }
        let token = record.lease.as_ref().map_or(0, |lease| lease.token);
        let event = if record.cancel.is_some() {
            // Whoever wanted it cancelled gets that when it is handed back.
            Event::Release { token }
        } else {
            match self.runnable(&record) {
                Ok((tool, arguments)) => {
                    tracing::info!(task = %record.id, attempt = record.attempt, "the task is run again");
                    let run = Run::of_task(Arc::clone(self), tool, record);
                    if let Ok(registration) = self.register(Arc::clone(&run)) {
                        start(run, registration, arguments);
                    }
                    return Ok(());
                }
                Err(reason) => Event::Finish { token, outcome: failed(reason) },
            }
        };
        match self.transition(record, event).await {
            Err(Unwritten::Store(err)) => Err(err),
            Ok(_) | Err(Unwritten::Illegal(_) | Unwritten::Gone) => Ok(()),
        }
    }

    /// The tool and the arguments to run the task again with, or why it fails instead.
    fn runnable(&self, record: &TaskRecord) -> Result<(Arc<Tool>, RawObject), String> {
        let name = &record.tool.name;
        let Some(tool) = self.tool(name) else {
            return Err(format!("the server was restarted and has no tool `{name}` any more"));
        };
        let params = match &record.params {
            Some(params) if tool.definition.restart() == Restart::Rerun => params,
            _ => return Err("the work was interrupted before the task ended".to_owned()),
        };
        if tool.fingerprint != record.tool {
            return Err(format!("the server was restarted with another version of the tool `{name}`"));
        }
        match params.get::<Params<RawObject>>() {
            Ok(params) => Ok((Arc::clone(tool), params.arguments)),
            Err(_) => Err("the recorded arguments cannot be read".to_owned()),
        }
    }
}
