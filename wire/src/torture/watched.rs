//! A store that tells what it recorded, for those who hold it against what is promised.

use std::path::PathBuf;

use mcp_tasks::store::Claim;
use mcp_tasks::{SharedRecord, Store, StoreError, StoreErrorKind, TaskRecord, forward_store};

use super::effects;

/// Adds to the log of effects which ends it recorded, and which tasks were taken over.
pub(super) struct Watched<S> {
    inner: S,
    log: PathBuf,
}

impl<S: Store> Watched<S> {
    pub(super) fn new(inner: S, log: impl Into<PathBuf>) -> Self {
        Self { inner, log: log.into() }
    }

    fn tell(&self, what: &str, record: &TaskRecord, step: &str) -> Result<(), StoreError> {
        effects::add(&self.log, what, record.id.as_str(), step, record.fence).map_err(|err| {
            StoreError::new(StoreErrorKind::Unavailable, "the log of effects cannot be written")
                .with_source(err)
        })
    }

    /// An end that was recorded just now. What is left of a task that was forgotten is none.
    fn tell_of_end(&self, written: &TaskRecord) -> Result<(), StoreError> {
        if written.state.is_terminal() && written.forgotten_at.is_none() {
            self.tell(effects::FINISHED, written, written.state.name())?;
        }
        Ok(())
    }
}

impl<S: Store> Store for Watched<S> {
    forward_store! {
        |watched| &watched.inner;
        load, append_step, remove, renew, due, find_call, count_live, list, changes, properties,
        close,
    }

    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        let written = self.inner.insert(record).await?;
        self.tell_of_end(&written)?;
        Ok(written)
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let written = self.inner.replace(record, expected_version).await?;
        self.tell_of_end(&written)?;
        Ok(written)
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let claimed = self.inner.claim(claim).await?;
        // A body that was put away, or handed back at an orderly end, leaves one attempt.
        for record in claimed.iter().filter(|record| record.attempts_without_headway() > 1) {
            self.tell(effects::TAKEN_OVER, record, "-")?;
        }
        Ok(claimed)
    }
}
