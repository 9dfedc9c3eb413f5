//! What the people who run a server may do with everybody's tasks. No transport leads here.

use std::collections::BTreeMap;

use mcp_tasks_types::{TaskId, Timestamp};

use super::Engine;
use super::core::Unwritten;
use super::supervise::failed;
use crate::error::EngineError;
use crate::lifecycle::Event;
use crate::owner::Owner;
use crate::record::SharedRecord;
use crate::store::{Cursor, Page, Parts, StoreErrorKind};

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
    /// Bodies that run in this process.
    pub running: usize,
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
    /// Gives their number. Their owners are not told that they expired.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed by then stays removed.
    pub async fn purge(&self, ended_before: &Timestamp) -> Result<usize, EngineError> {
        let ended = |record: &SharedRecord| {
            record.finished_at.as_ref().is_some_and(|finished_at| finished_at < ended_before)
        };
        self.remove_all(None, ended).await
    }

    /// Removes everything that is kept of an owner: live tasks are failed first, so that nobody goes on with them. Gives
    /// the number of tasks. Calls of the owner that come in meanwhile may leave new ones.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed by then stays removed.
    pub async fn erase(&self, owner: &Owner) -> Result<usize, EngineError> {
        self.remove_all(Some(owner), |_| true).await
    }

    /// Counts the tasks. Reads all records: for now and then, not for each request.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn stats(&self) -> Result<Stats, EngineError> {
        let mut stats = Stats { running: self.engine.running(), ..Stats::default() };
        let mut after = None;
        loop {
            let page = self.engine.core.store.list(None, after.as_ref(), BATCH).await?;
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
                None => return Ok(stats),
            }
        }
    }

    async fn remove_all(
        &self,
        owner: Option<&Owner>,
        wanted: impl Fn(&SharedRecord) -> bool,
    ) -> Result<usize, EngineError> {
        let store = &self.engine.core.store;
        let (mut removed, mut after) = (0, None);
        loop {
            let page = store.list(owner, after.as_ref(), BATCH).await?;
            for record in page.records.iter().filter(|record| wanted(record)) {
                removed += usize::from(self.remove(record).await?);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(removed),
            }
        }
    }

    /// Removes a record, whatever happens to it meanwhile.
    async fn remove(&self, record: &SharedRecord) -> Result<bool, EngineError> {
        let store = &self.engine.core.store;
        let mut record = SharedRecord::clone(record);
        loop {
            if !record.state.is_terminal() {
                record = self.fail(&record.id, "the task was removed by an operator").await?;
            }
            match store.remove(&record.id, record.version).await {
                Ok(()) => return Ok(true),
                Err(err) if err.kind() == StoreErrorKind::NotFound => return Ok(false),
                Err(err) if err.kind() == StoreErrorKind::Conflict => {
                    match store.load(&record.id, Parts::Head).await? {
                        Some(now) => record = now,
                        None => return Ok(false),
                    }
                }
                Err(err) => return Err(err.into()),
            }
        }
    }
}
