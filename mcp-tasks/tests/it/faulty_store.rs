//! A store over another one that fails when it is told to, and counts what it is asked for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::record::StepRecord;
use mcp_tasks::store::{Changes, Claim, Cursor, Due, Page, Parts};
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{MemoryStore, Owner, SharedRecord, Store, StoreError, StoreErrorKind, TaskRecord};
use tokio::sync::Semaphore;

#[derive(Default)]
pub(crate) struct FaultyStore {
    inner: MemoryStore,
    /// The failures of the next calls, by the name of the call.
    faults: Mutex<VecDeque<(&'static str, StoreErrorKind)>>,
    calls: AtomicUsize,
    /// Whether records are not found although they are listed, as where reading lags behind.
    blind: AtomicBool,
    /// Calls that wait, before or after they were done.
    holds: Mutex<Vec<(&'static str, Arc<Hold>)>>,
}

/// A call that waits until it is let go.
pub(crate) struct Hold {
    reached: Semaphore,
    go: Semaphore,
}

impl Hold {
    /// Waits until the call has come.
    pub(crate) async fn reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    pub(crate) fn let_go(&self) {
        self.go.add_permits(1);
    }
}

impl FaultyStore {
    /// Lets the next call of this name fail, after those that are to fail already; of `after append_step` and
    /// `after replace` only the answer is lost.
    pub(crate) fn fail(&self, call: &'static str, kind: StoreErrorKind) {
        self.faults.lock().unwrap().push_back((call, kind));
    }

    /// Lets the next call of this name wait; `after insert` waits when its work is done.
    pub(crate) fn hold(&self, call: &'static str) -> Arc<Hold> {
        let hold = Arc::new(Hold { reached: Semaphore::new(0), go: Semaphore::new(0) });
        self.holds.lock().unwrap().push((call, Arc::clone(&hold)));
        hold
    }

    pub(crate) fn set_blind(&self, blind: bool) {
        self.blind.store(blind, Ordering::SeqCst);
    }

    async fn wait_at(&self, call: &'static str) {
        let hold = {
            let mut holds = self.holds.lock().unwrap();
            let place = holds.iter().position(|(name, _)| *name == call);
            place.map(|place| holds.remove(place).1)
        };
        if let Some(hold) = hold {
            hold.reached.add_permits(1);
            hold.go.acquire().await.unwrap().forget();
        }
    }

    pub(crate) fn faults_left(&self) -> usize {
        self.faults.lock().unwrap().len()
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn come_to(&self, call: &'static str) -> Result<(), StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.fault(call)
    }

    fn fault(&self, call: &'static str) -> Result<(), StoreError> {
        let mut faults = self.faults.lock().unwrap();
        match faults.iter().position(|(name, _)| *name == call) {
            Some(place) => {
                let (_, kind) = faults.remove(place).unwrap();
                Err(StoreError::new(kind, "disk /dev/secret is on fire"))
            }
            None => Ok(()),
        }
    }
}

impl Store for FaultyStore {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        self.come_to("insert")?;
        self.wait_at("insert").await;
        let inserted = self.inner.insert(record).await;
        self.wait_at("after insert").await;
        inserted
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.come_to("load")?;
        if self.blind.load(Ordering::SeqCst) {
            return Ok(None);
        }
        self.inner.load(id, parts).await
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        self.come_to("replace")?;
        self.wait_at("replace").await;
        let replaced = self.inner.replace(record, expected_version).await;
        self.fault("after replace")?;
        replaced
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        self.come_to("append_step")?;
        let appended = self.inner.append_step(id, token, step).await;
        self.fault("after append_step")?;
        appended
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        self.come_to("remove")?;
        self.inner.remove(id, expected_version).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        self.come_to("claim")?;
        self.inner.claim(claim).await
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        self.come_to("renew")?;
        self.inner.renew(worker, ids, until).await
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        self.come_to("due")?;
        self.inner.due(now, limit).await
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        self.come_to("find_call")?;
        self.inner.find_call(same_call).await
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        self.come_to("count_live")?;
        self.inner.count_live(owner, at_most).await
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.come_to("list")?;
        self.inner.list(owner, after, limit).await
    }

    fn changes(&self) -> Changes {
        self.inner.changes()
    }
}

pub(crate) fn faulty() -> Arc<FaultyStore> {
    Arc::new(FaultyStore::default())
}
