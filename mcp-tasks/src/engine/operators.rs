//! What the people who run a server may do with everybody's tasks. No transport leads here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_tasks_types::{TaskId, Timestamp};

use super::Engine;
use super::core::Unwritten;
use super::supervise::failed;
use crate::error::{EngineError, with_causes};
use crate::lifecycle::Event;
use crate::owner::Owner;
use crate::record::SharedRecord;
use crate::store::{Cursor, Page, Parts, StoreError, StoreErrorKind};

/// How many records are read in one go.
const BATCH: usize = 256;

/// Everybody's tasks, for those who run the server.
#[derive(Clone, Copy, Debug)]
pub struct Operators<'e> {
    engine: &'e Engine,
}

/// How many tasks there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Tasks by the name of their status.
    pub by_status: BTreeMap<&'static str, usize>,
    /// Live tasks that nobody works on and nobody has to.
    pub parked: usize,
    /// Removed tasks that their owners are still told of.
    pub forgotten: usize,
    /// Records that cannot be read.
    pub unreadable: usize,
    /// Bodies that run in this process.
    pub running: usize,
}

/// What became of the tasks that were to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// How many were removed.
    pub removed: usize,
    /// Those that are still there, since they cannot be read or the store refuses to change them; the log says why.
    /// What cannot be read may not be among those that were meant.
    pub left: BTreeSet<TaskId>,
}

impl Engine {
    /// Everybody's tasks, for those who run the server; never for a client.
    #[must_use]
    pub fn operators(&self) -> Operators<'_> {
        Operators { engine: self }
    }
}

impl Operators<'_> {
    /// All tasks, the oldest first, in pages, with what is left of removed ones and with calls that wait for answers.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn list(&self, after: Option<&Cursor>, limit: usize) -> Result<Page, EngineError> {
        Ok(self.engine.core.store.list(None, after, limit).await?)
    }

    /// The whole record of a task, with parameters and steps.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn inspect(&self, id: &TaskId) -> Result<Option<SharedRecord>, EngineError> {
        Ok(self.engine.core.store.load(id, Parts::Whole).await?)
    }

    /// Ends a live task as failed, whoever works on it; its body is told to stop. An ended one stays as it is.
    ///
    /// # Errors
    ///
    /// When there is no such task or the store fails.
    pub async fn fail(&self, id: &TaskId, message: impl Into<String>) -> Result<SharedRecord, EngineError> {
        let core = &self.engine.core;
        let record = core.store.load(id, Parts::Head).await?.ok_or_else(EngineError::task_not_found)?;
        if record.state.is_terminal() {
            return Ok(record);
        }
        match core.transition(record, Event::Force { outcome: failed(message.into()) }).await {
            Ok(record) => Ok(record),
            // It has just ended by itself.
            Err(Unwritten::Illegal(_)) => {
                core.store.load(id, Parts::Head).await?.ok_or_else(EngineError::task_not_found)
            }
            Err(unwritten) => Err(unwritten.into()),
        }
    }

    /// Removes the tasks that ended before that time, and what is left of removed ones, whatever their retention is.
    /// Their owners are not told that they expired. Of a record that cannot be read nobody knows whether it is meant;
    /// it is left, and keeps nobody from the others.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed by then stays removed.
    pub async fn purge(&self, ended_before: &Timestamp) -> Result<Removed, EngineError> {
        let ended = |record: &SharedRecord| {
            record.finished_at.as_ref().is_some_and(|finished_at| finished_at < ended_before)
        };
        self.remove_all(None, ended).await
    }

    /// Removes everything that is kept of an owner: live tasks are failed first, so that nobody goes on with them.
    /// Calls of the owner that come in meanwhile may leave new ones. Records that cannot be read are left, keep nobody
    /// from the others, and are told of: whoever promised to erase everything has to look at them in the store.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed by then stays removed.
    pub async fn erase(&self, owner: &Owner) -> Result<Removed, EngineError> {
        self.remove_all(Some(owner), |_| true).await
    }

    /// Counts the tasks. Reads all records: for now and then, not for each request.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn stats(&self) -> Result<Stats, EngineError> {
        let mut stats = Stats { running: self.engine.running(), ..Stats::default() };
        let (mut after, mut unreadable) = (None, BTreeSet::new());
        loop {
            let page = self.engine.core.store.list(None, after.as_ref(), BATCH).await?;
            unreadable.extend(page.unreadable);
            for record in &page.records {
                if record.forgotten_at.is_some() {
                    stats.forgotten += 1;
                    continue;
                }
                *stats.by_status.entry(record.state.name()).or_default() += 1;
                stats.parked += usize::from(record.parked.is_some());
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(Stats { unreadable: unreadable.len(), ..stats }),
            }
        }
    }

    async fn remove_all(
        &self,
        owner: Option<&Owner>,
        wanted: impl Fn(&SharedRecord) -> bool,
    ) -> Result<Removed, EngineError> {
        let store = &self.engine.core.store;
        let (mut all, mut after) = (Removed::default(), None);
        loop {
            let page = store.list(owner, after.as_ref(), BATCH).await?;
            all.left.extend(page.unreadable);
            for record in page.records.iter().filter(|record| wanted(record)) {
                match self.remove(record).await {
                    Ok(is_removed) => all.removed += usize::from(is_removed),
                    Err(err) if is_of_the_record(&err) => {
                        tracing::warn!(task = %record.id, error = with_causes(&err), "a task is not removed");
                        all.left.insert(record.id.clone());
                    }
                    Err(err) => return Err(err.into()),
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(all),
            }
        }
    }

    /// Removes a record, whatever happens to it meanwhile. False when somebody else did.
    async fn remove(&self, record: &SharedRecord) -> Result<bool, StoreError> {
        let core = &self.engine.core;
        let mut record = SharedRecord::clone(record);
        loop {
            if !record.state.is_terminal() {
                let outcome = failed("the task was removed by an operator".to_owned());
                match core.transition(Arc::clone(&record), Event::Force { outcome }).await {
                    Ok(ended) => record = ended,
                    Err(Unwritten::Gone) => return Ok(false),
                    Err(Unwritten::Store(err)) => return Err(err),
                    // It has just ended by itself, which the removal finds out.
                    Err(Unwritten::Illegal(_)) => {}
                }
            }
            match core.store.remove(&record.id, record.version).await {
                Ok(()) => return Ok(true),
                Err(err) if err.kind() == StoreErrorKind::NotFound => return Ok(false),
                Err(err) if err.kind() == StoreErrorKind::Conflict => {}
                Err(err) => return Err(err),
            }
            match core.store.load(&record.id, Parts::Head).await? {
                Some(now) => record = now,
                None => return Ok(false),
            }
        }
    }
}

/// Whether it is about one record, so that the others may be dealt with.
fn is_of_the_record(err: &StoreError) -> bool {
    matches!(err.kind(), StoreErrorKind::Corrupt | StoreErrorKind::Unsupported | StoreErrorKind::Refused)
}
