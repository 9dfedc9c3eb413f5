//! What the engine counts, through the facade of the `metrics` crate. The crate's documentation has the table of names.
//!
//! Labels are names of tools, verbs, statuses and kinds, all of which the program chose: none comes from a caller, so
//! that the number of series is bounded.

use std::sync::Arc;
use std::time::Instant;

use mcp_tasks_types::{TaskId, Timestamp};
use metrics::{counter, gauge, histogram};

use crate::BoxFuture;
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord, Visibility};
use crate::store::{Changes, Claim, Cursor, Due, DynStore, Page, Parts, StoreError, StoreErrorKind};

/// A task was stored.
pub(super) fn created(record: &TaskRecord) {
    if record.visibility == Visibility::Inline {
        return;
    }
    counter!("mcp_tasks_created_total", "tool" => record.tool.name.clone()).increment(1);
}

/// A record was written in the place of another.
pub(super) fn changed(before: &TaskRecord, after: &TaskRecord) {
    let tool = || after.tool.name.clone();
    let is_task = after.visibility == Visibility::Task;
    if is_task && !before.state.is_terminal() && after.state.is_terminal() {
        let labels = [("tool", tool()), ("status", after.state.name().to_owned())];
        counter!("mcp_tasks_ended_total", &labels).increment(1);
        let millis = after.finished_at.as_ref().map(|end| end.unix_millis() - after.created_at.unix_millis());
        // A clock that was set back says nothing, and nothing lives for 49 days unless nobody cares how long.
        if let Some(Ok(millis)) = millis.map(u32::try_from) {
            histogram!("mcp_tasks_life_seconds", &labels).record(f64::from(millis) / 1e3);
        }
    }
    let asked = after.inputs.len().saturating_sub(before.inputs.len());
    if let Ok(asked @ 1..) = u64::try_from(asked) {
        counter!("mcp_tasks_questions_total", "tool" => tool()).increment(asked);
    }
    if before.cancel.is_none() && after.cancel.is_some() {
        counter!("mcp_tasks_cancel_requests_total", "tool" => tool()).increment(1);
    }
}

/// A task that nobody worked on was taken up, to be run (again) or to be failed.
pub(super) fn taken_up(record: &TaskRecord, outcome: &'static str) {
    let labels = [("tool", record.tool.name.clone()), ("outcome", outcome.to_owned())];
    counter!("mcp_tasks_taken_up_total", &labels).increment(1);
}

/// How many bodies run in this process.
pub(super) fn running(bodies: usize) {
    gauge!("mcp_tasks_running").set(u32::try_from(bodies).unwrap_or(u32::MAX));
}

/// The store, with how long it takes and how often it fails.
pub(super) struct MeteredStore(pub(super) Arc<dyn DynStore>);

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

fn metered<'a, T: 'a>(verb: &'static str, answer: Answer<'a, T>) -> Answer<'a, T> {
    Box::pin(async move {
        #[expect(
            clippy::disallowed_methods,
            reason = "it measures this machine, and nothing is decided by it"
        )]
        let begin = Instant::now();
        let answer = answer.await;
        histogram!("mcp_tasks_store_seconds", "verb" => verb).record(begin.elapsed());
        if let Err(err) = &answer {
            let kind = match err.kind() {
                // The normal course of a race, not a failure of the store.
                StoreErrorKind::Conflict | StoreErrorKind::NotFound => return answer,
                StoreErrorKind::Unavailable => "unavailable",
                _ => "other",
            };
            counter!("mcp_tasks_store_errors_total", "verb" => verb, "kind" => kind).increment(1);
        }
        answer
    })
}

impl DynStore for MeteredStore {
    fn insert(&self, record: TaskRecord) -> Answer<'_, SharedRecord> {
        metered("insert", self.0.insert(record))
    }

    fn load<'a>(&'a self, id: &'a TaskId, parts: Parts) -> Answer<'a, Option<SharedRecord>> {
        metered("load", self.0.load(id, parts))
    }

    fn replace(&self, record: TaskRecord, expected_version: u64) -> Answer<'_, SharedRecord> {
        metered("replace", self.0.replace(record, expected_version))
    }

    fn append_step<'a>(&'a self, id: &'a TaskId, token: u64, step: StepRecord) -> Answer<'a, ()> {
        metered("append_step", self.0.append_step(id, token, step))
    }

    fn remove<'a>(&'a self, id: &'a TaskId, expected_version: u64) -> Answer<'a, ()> {
        metered("remove", self.0.remove(id, expected_version))
    }

    fn claim(&self, claim: Claim) -> Answer<'_, Vec<SharedRecord>> {
        metered("claim", self.0.claim(claim))
    }

    fn renew<'a>(&'a self, worker: &'a str, ids: &'a [TaskId], until: &'a Timestamp) -> Answer<'a, u64> {
        metered("renew", self.0.renew(worker, ids, until))
    }

    fn due<'a>(&'a self, now: &'a Timestamp, limit: usize) -> Answer<'a, Due> {
        metered("due", self.0.due(now, limit))
    }

    fn find_call<'a>(&'a self, same_call: &'a str) -> Answer<'a, Option<SharedRecord>> {
        metered("find_call", self.0.find_call(same_call))
    }

    fn count_live<'a>(&'a self, owner: Option<&'a Owner>, at_most: usize) -> Answer<'a, usize> {
        metered("count_live", self.0.count_live(owner, at_most))
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a Owner>,
        after: Option<&'a Cursor>,
        limit: usize,
    ) -> Answer<'a, Page> {
        metered("list", self.0.list(owner, after, limit))
    }

    fn changes(&self) -> Changes {
        self.0.changes()
    }

    fn clock_ahead_ms(&self) -> i64 {
        self.0.clock_ahead_ms()
    }

    fn reads_may_lag(&self) -> bool {
        self.0.reads_may_lag()
    }

    fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.0.close()
    }
}
