//! A store that loses records when its process dies: what the torture has to find out.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_tasks::record::StepRecord;
use mcp_tasks::store::Parts;
use mcp_tasks::types::TaskId;
use mcp_tasks::{MemoryStore, SharedRecord, Store, StoreError, TaskRecord, forward_store};

/// Every so many records are kept in memory alone.
const EVERY: u64 = 5;

/// Keeps some tasks in memory and says that they are stored.
pub(super) struct Broken<S> {
    inner: S,
    memory: MemoryStore,
    forgotten: Mutex<BTreeSet<TaskId>>,
    count: AtomicU64,
}

impl<S: Store> Broken<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, memory: MemoryStore::new(), forgotten: Mutex::default(), count: AtomicU64::new(0) }
    }

    fn is_forgotten(&self, id: &TaskId) -> bool {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }
}

impl<S: Store> Store for Broken<S> {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        if self.count.fetch_add(1, Ordering::SeqCst).is_multiple_of(EVERY) {
            self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).insert(record.id.clone());
            return self.memory.insert(record).await;
        }
        self.inner.insert(record).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        if self.is_forgotten(id) {
            self.memory.load(id, parts).await
        } else {
            self.inner.load(id, parts).await
        }
    }

    async fn replace(&self, record: TaskRecord, expected: u64) -> Result<SharedRecord, StoreError> {
        if self.is_forgotten(&record.id) {
            return self.memory.replace(record, expected).await;
        }
        self.inner.replace(record, expected).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        if self.is_forgotten(id) {
            return self.memory.append_step(id, token, step).await;
        }
        self.inner.append_step(id, token, step).await
    }

    async fn remove(&self, id: &TaskId, expected: u64) -> Result<(), StoreError> {
        if self.is_forgotten(id) {
            return self.memory.remove(id, expected).await;
        }
        self.inner.remove(id, expected).await
    }

    forward_store! {
        |broken| &broken.inner;
        claim, renew, due, find_call, count_live, list, changes, properties, close,
    }
}
