//! A store over another one whose reads are behind its writes, as those of a replica.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::Mutex;

use crate::clock::{Clock, millis_after};
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord};
use crate::store::{Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError};

/// What a task was from some time on; nothing while it was not there.
type Image = (i64, Option<SharedRecord>);

/// A store whose [`load`](Store::load), [`find_call`](Store::find_call) and [`list`](Store::list) show what was written
/// through it only some time later. Everything else is done where the newest state is: writes with their conflicts,
/// claims, what is due, counts and changes.
#[derive(Debug)]
pub struct LaggingStore<S, C> {
    inner: S,
    clock: Arc<C>,
    lag_ms: AtomicU64,
    /// Held while something is written, so that the images have the order of the writes.
    images: Mutex<BTreeMap<TaskId, Vec<Image>>>,
}

impl<S: Store, C: Clock> LaggingStore<S, C> {
    /// A store whose reads are `lag_ms` milliseconds behind, in the time of this clock.
    pub fn new(inner: S, clock: Arc<C>, lag_ms: u64) -> Self {
        Self { inner, clock, lag_ms: AtomicU64::new(lag_ms), images: Mutex::default() }
    }

    /// Sets how far reads are behind from now on, for what was written before as well.
    pub fn set_lag_ms(&self, lag_ms: u64) {
        self.lag_ms.store(lag_ms, Ordering::SeqCst);
    }

    /// Makes a write and keeps what the task was before and is after.
    async fn written<T>(
        &self,
        id: &TaskId,
        write: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut images = self.images.lock().await;
        if !images.contains_key(id) {
            images.insert(id.clone(), vec![(i64::MIN, self.inner.load(id, Parts::Whole).await?)]);
        }
        let written = write.await?;
        let image = self.inner.load(id, Parts::Whole).await?;
        images.entry(id.clone()).or_default().push((self.clock.now_millis(), image));
        Ok(written)
    }

    /// The task as it is seen now, when `newest` is what it is.
    async fn seen(&self, id: &TaskId, newest: Option<SharedRecord>, parts: Parts) -> Option<SharedRecord> {
        let images = self.images.lock().await;
        let Some(images) = images.get(id) else { return newest };
        let (now, lag_ms) = (self.clock.now_millis(), self.lag_ms.load(Ordering::SeqCst));
        let old_enough =
            |(written_at, _): &&Image| *written_at == i64::MIN || millis_after(*written_at, lag_ms) <= now;
        let seen = images.iter().rev().find(old_enough).and_then(|(_, image)| image.clone())?;
        Some(match parts {
            Parts::Whole => seen,
            Parts::Head => Arc::new(TaskRecord::clone(&seen).into_parts().0),
        })
    }
}

impl<S: Store, C: Clock> Store for LaggingStore<S, C> {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        let id = record.id.clone();
        self.written(&id, self.inner.insert(record)).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        let newest = self.inner.load(id, parts).await?;
        Ok(self.seen(id, newest, parts).await)
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let id = record.id.clone();
        self.written(&id, self.inner.replace(record, expected_version)).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        self.written(id, self.inner.append_step(id, token, step)).await
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        self.written(id, self.inner.remove(id, expected_version)).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let mut images = self.images.lock().await;
        let claimed = self.inner.claim(claim).await?;
        for record in &claimed {
            let images = images.entry(record.id.clone()).or_default();
            // What was not written through this store was there long ago.
            let since = if images.is_empty() { i64::MIN } else { self.clock.now_millis() };
            images.push((since, Some(Arc::clone(record))));
        }
        Ok(claimed)
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        let mut images = self.images.lock().await;
        let renewed = self.inner.renew(worker, ids, until).await?;
        for id in ids {
            if let (Some(images), Some(record)) =
                (images.get_mut(id), self.inner.load(id, Parts::Whole).await?)
            {
                images.push((self.clock.now_millis(), Some(record)));
            }
        }
        Ok(renewed)
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        self.inner.due(now, limit).await
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        let Some(newest) = self.inner.find_call(same_call).await? else { return Ok(None) };
        let id = newest.id.clone();
        let seen = self.seen(&id, Some(newest), Parts::Head).await;
        Ok(seen.filter(|record| record.same_call.as_deref() == Some(same_call)))
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        self.inner.count_live(owner, at_most).await
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let mut page = self.inner.list(owner, after, limit).await?;
        let mut seen = Vec::new();
        for record in page.records {
            let id = record.id.clone();
            seen.extend(self.seen(&id, Some(record), Parts::Head).await);
        }
        page.records = seen;
        Ok(page)
    }

    fn changes(&self) -> Changes {
        self.inner.changes()
    }

    fn clock_ahead_ms(&self) -> i64 {
        self.inner.clock_ahead_ms()
    }

    fn reads_may_lag(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
