//! Bringing a new record into the store, whatever becomes of the answer, and telling of it when it can be found.

use std::sync::Arc;

use mcp_tasks_types::TaskId;

use super::core::{Core, Patience, Retry};
use super::limits::Place;
use crate::error::with_causes;
use crate::record::{SharedRecord, TaskRecord};
use crate::store::{Parts, StoreError, StoreErrorKind};

impl Core {
    /// Stores a new record in the place that it has. What comes back is durable and found by whoever asks for it (C-31,
    /// C-32). Can be tried again after an error; who does not has to [see to](Self::see_to) the record.
    pub(super) async fn store_new(
        &self,
        record: &TaskRecord,
        place: &mut Place,
    ) -> Result<SharedRecord, StoreError> {
        place.storing();
        let stored = self.store_surely(record).await;
        match &stored {
            Ok(_) => place.stored(),
            // It may be there all the same.
            Err(err) if err.kind() == StoreErrorKind::Unavailable => {}
            Err(_) => place.not_stored(),
        }
        stored
    }

    async fn store_surely(&self, record: &TaskRecord) -> Result<SharedRecord, StoreError> {
        let may_lag = self.store.reads_may_lag();
        let failed = match self.store.insert(record.clone()).await {
            Ok(stored) if !may_lag => return Ok(stored),
            Ok(_) => None,
            // It may have been done, now or in an earlier try: the id is new, and what is found under it is this
            // record.
            Err(err) if matches!(err.kind(), StoreErrorKind::Unavailable | StoreErrorKind::Conflict) => {
                Some(err)
            }
            Err(err) => return Err(err),
        };
        let mut retry = Retry::new(Patience::Short);
        loop {
            let missing = match self.store.load(&record.id, Parts::Whole).await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => not_seen(record.id.as_str()),
                Err(err) => err,
            };
            match failed {
                // Who tries again, or is told of the failure, need not be kept waiting here.
                Some(failed) => return Err(failed),
                None => retry.after(self, missing).await?,
            }
        }
    }

    /// Waits until a read shows at least this version of the task, which was told of. Only where reads may lag, and not
    /// for ever.
    pub(super) async fn seen(&self, id: &TaskId, version: u64) -> Result<(), StoreError> {
        if !self.store.reads_may_lag() {
            return Ok(());
        }
        let mut retry = Retry::new(Patience::Short);
        loop {
            let found = self.store.load(id, Parts::Head).await?;
            if found.is_some_and(|found| found.version >= version) {
                return Ok(());
            }
            retry.after(self, not_seen(id.as_str())).await?;
        }
    }

    /// Sees to a record that may have been stored although its caller is told of this failure.
    ///
    /// Under a key the call can be made again and finds the task, which is then taken up when its first lease ends.
    /// Without one nobody knows of it, and it is removed before anybody works on it. If this process ends first, the
    /// next one takes it up like any other.
    /// What counts once cannot be used again, so that its task is removed as well.
    pub(super) fn see_to(self: &Arc<Self>, record: &TaskRecord, counts_once: bool, failure: &StoreError) {
        if failure.kind() != StoreErrorKind::Unavailable {
            return;
        }
        let can_be_found = record.same_call.is_some() && !counts_once;
        if let Some(lease) = record.lease.as_ref().filter(|_| can_be_found) {
            self.wake_timer_by(lease.until.unix_millis());
            return;
        }
        let (core, id, version) = (Arc::clone(self), record.id.clone(), record.version);
        tokio::spawn(async move {
            let mut retry = Retry::new(Patience::Endless);
            loop {
                let failure = match core.store.remove(&id, version).await {
                    Ok(()) => return,
                    Err(err) if matches!(err.kind(), StoreErrorKind::NotFound | StoreErrorKind::Conflict) => {
                        return;
                    }
                    Err(err) => err,
                };
                if let Err(err) = retry.after(&core, failure).await {
                    tracing::warn!(task = %id, error = with_causes(&err), "a task that was not told of may be left");
                    return;
                }
            }
        });
    }
}

/// What was written is not there yet for those who read.
pub(super) fn not_seen(what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, format!("`{what}` was written and cannot be read yet"))
}
