//! Taking up tasks that nobody works on: run again where that was promised, failed honestly where not.

use std::sync::Arc;

use mcp_tasks_types::RawObject;
use serde::Deserialize;

use super::core::{Core, Refusal, Tool};
use super::run::Run;
use super::supervise::{failed, start};
use crate::clock::after;
use crate::lifecycle::{CANCELLED_MESSAGE, Event, Outcome};
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
            let until = after(&now, self.settings.lease_ms);
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
            let head = TaskRecord::clone(&record).into_parts().0;
            return self.overdue(Arc::new(head)).await.map(drop);
        }
        let token = record.lease.as_ref().map_or(0, |lease| lease.token);
        let outcome = match self.runnable(&record) {
            Ok((tool, arguments)) => {
                tracing::info!(task = %record.id, attempt = record.attempt, "the task is run again");
                let (run, _) = Run::of_task(Arc::clone(self), tool, TaskRecord::clone(&record));
                if let Ok(registration) = self.register(Arc::clone(&run)) {
                    start(run, registration, arguments);
                }
                return Ok(());
            }
            Err(outcome) => outcome,
        };
        let head = Arc::new(TaskRecord::clone(&record).into_parts().0);
        match self.transition(head, Event::Finish { token, outcome }).await {
            Err(Refusal::Store(err)) => Err(err),
            Ok(_) | Err(Refusal::Illegal(_) | Refusal::Gone) => Ok(()),
        }
    }

    /// The tool and the arguments to run the task again with, or the end that it comes to instead.
    fn runnable(&self, record: &TaskRecord) -> Result<(Arc<Tool>, RawObject), Outcome> {
        if let Some(cancel) = &record.cancel {
            let message = cancel.reason.clone().unwrap_or_else(|| CANCELLED_MESSAGE.to_owned());
            return Err(Outcome::Cancelled { message });
        }
        let name = &record.tool.name;
        let Some(tool) = self.tool(name) else {
            return Err(failed(format!("the server was restarted and has no tool `{name}` any more")));
        };
        let params = match &record.params {
            Some(params) if tool.definition.restart_policy() == Restart::Rerun => params,
            _ => return Err(failed("the work was interrupted before the task ended".to_owned())),
        };
        if tool.fingerprint != record.tool {
            return Err(failed(format!(
                "the server was restarted with another version of the tool `{name}`"
            )));
        }
        #[derive(Deserialize)]
        struct Params {
            arguments: Option<RawObject>,
        }
        match params.get::<Params>() {
            Ok(params) => Ok((Arc::clone(tool), params.arguments.unwrap_or_else(RawObject::empty))),
            Err(_) => Err(failed("the recorded arguments cannot be read".to_owned())),
        }
    }
}
