//! A store over another one that fails, waits or loses its answer at the call that a test chooses.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::Semaphore;

use crate::forward_store;
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord};
use crate::store::{
    Change, ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError, StoreErrorKind,
};

/// What a store can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verb {
    /// [`Store::insert`].
    Insert,
    /// [`Store::load`].
    Load,
    /// [`Store::replace`].
    Replace,
    /// [`Store::append_step`].
    AppendStep,
    /// [`Store::remove`].
    Remove,
    /// [`Store::claim`].
    Claim,
    /// [`Store::renew`].
    Renew,
    /// [`Store::due`].
    Due,
    /// [`Store::find_call`].
    FindCall,
    /// [`Store::count_live`].
    CountLive,
    /// [`Store::list`].
    List,
}

/// A store that does what the one below does, except where a test wants it otherwise.
///
/// Calls are counted by verb: `nth` is 1 for the next call of a verb, 2 for the one after it. What is planned for a
/// call happens in this order: it is held, it fails; or it is done, and then its answer is held or lost.
///
/// ```
/// use mcp_tasks::testing::{FaultyStore, Verb};
/// use mcp_tasks::{MemoryStore, Store as _, StoreErrorKind};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = FaultyStore::new(MemoryStore::new());
/// store.fail(Verb::FindCall, 2, StoreErrorKind::Unavailable);
/// assert!(store.find_call("a").await.is_ok());
/// assert_eq!(store.find_call("a").await.unwrap_err().kind(), StoreErrorKind::Unavailable);
/// assert!(store.find_call("a").await.is_ok());
/// assert_eq!(store.calls(Verb::FindCall), 3);
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    plan: Mutex<Plan>,
    under_way: AtomicUsize,
    dead: AtomicBool,
    /// Whether changes get lost at the moment.
    changes_lost: Arc<AtomicBool>,
    instead: ChangeFeed,
}

#[derive(Debug, Default)]
struct Plan {
    calls: BTreeMap<Verb, usize>,
    faults: BTreeMap<(Verb, usize), Planned>,
}

/// What is planned for one call.
#[derive(Clone, Debug, Default)]
struct Planned {
    hold: Option<Arc<Gate>>,
    fail: Option<StoreErrorKind>,
    hold_answer: Option<Arc<Gate>>,
    lose_answer: Option<StoreErrorKind>,
}

#[derive(Debug)]
struct Gate {
    reached: Semaphore,
    go: Semaphore,
}

impl Gate {
    async fn pass(&self) {
        self.reached.add_permits(1);
        // The semaphore is never closed.
        if let Ok(permit) = self.go.acquire().await {
            permit.forget();
        }
    }
}

/// A call that waits until it is let go.
#[derive(Clone, Debug)]
pub struct Held {
    gate: Arc<Gate>,
}

impl Held {
    /// Waits until the call has come.
    pub async fn reached(&self) {
        // The semaphore is never closed.
        if let Ok(permit) = self.gate.reached.acquire().await {
            permit.forget();
        }
    }

    /// Lets the call go on.
    pub fn let_go(&self) {
        self.gate.go.add_permits(1);
    }
}

/// Counts a call as under way, also when whoever made it gives up.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<S: Store> FaultyStore<S> {
    /// A store that does what `inner` does, for now.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            plan: Mutex::default(),
            under_way: AtomicUsize::new(0),
            dead: AtomicBool::new(false),
            changes_lost: Arc::default(),
            instead: ChangeFeed::default(),
        }
    }

    /// The store below, in which nothing fails.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Lets the `nth` call of this verb from now on fail, without doing anything.
    pub fn fail(&self, verb: Verb, nth: usize, kind: StoreErrorKind) {
        self.plan_for(verb, nth, |planned| planned.fail = Some(kind));
    }

    /// Lets the `nth` call of this verb from now on be done and fail nevertheless, as when a connection dies between
    /// write and answer; then the kind is [`StoreErrorKind::Unavailable`].
    pub fn lose_answer(&self, verb: Verb, nth: usize, kind: StoreErrorKind) {
        self.plan_for(verb, nth, |planned| planned.lose_answer = Some(kind));
    }

    /// Lets the `nth` call of this verb from now on wait before it does anything.
    pub fn hold(&self, verb: Verb, nth: usize) -> Held {
        let gate = Arc::new(Gate { reached: Semaphore::new(0), go: Semaphore::new(0) });
        self.plan_for(verb, nth, |planned| planned.hold = Some(Arc::clone(&gate)));
        Held { gate }
    }

    /// Lets the `nth` call of this verb from now on wait when it is done, before it is answered.
    pub fn hold_answer(&self, verb: Verb, nth: usize) -> Held {
        let gate = Arc::new(Gate { reached: Semaphore::new(0), go: Semaphore::new(0) });
        self.plan_for(verb, nth, |planned| planned.hold_answer = Some(Arc::clone(&gate)));
        Held { gate }
    }

    /// From now on no call is done and none is answered, also none that is under way: what is left of a process that
    /// was killed.
    pub fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
    }

    /// From now on changes get lost, as when the connection that tells them is dead.
    pub fn lose_changes(&self) {
        self.changes_lost.store(true, Ordering::SeqCst);
    }

    /// Changes are told again, and every listener is told [`Change::Resync`] first.
    pub fn resume_changes(&self) {
        self.changes_lost.store(false, Ordering::SeqCst);
        self.instead.send(Change::Resync);
    }

    /// How many calls of this verb there were.
    pub fn calls(&self, verb: Verb) -> usize {
        self.plan().calls.get(&verb).copied().unwrap_or(0)
    }

    /// How many calls of all verbs there were.
    pub fn all_calls(&self) -> usize {
        self.plan().calls.values().sum()
    }

    /// How many calls are being done: they have come, are not done yet and are not held.
    pub fn calls_under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    /// For how many calls something is planned that have not come yet.
    pub fn faults_left(&self) -> usize {
        self.plan().faults.len()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        // No code that can panic runs while the plan is half changed.
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plan_for(&self, verb: Verb, nth: usize, change: impl FnOnce(&mut Planned)) {
        let mut plan = self.plan();
        let number = plan.calls.get(&verb).copied().unwrap_or(0) + nth.max(1);
        change(plan.faults.entry((verb, number)).or_default());
    }

    async fn end_here_if_dead(&self) {
        if self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    async fn call<T>(
        &self,
        verb: Verb,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.end_here_if_dead().await;
        let planned = {
            let mut plan = self.plan();
            let number = plan.calls.entry(verb).or_default();
            *number += 1;
            let place = (verb, *number);
            plan.faults.remove(&place).unwrap_or_default()
        };
        if let Some(gate) = planned.hold {
            gate.pass().await;
            self.end_here_if_dead().await;
        }
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let under_way = UnderWay(&self.under_way);
        if let Some(kind) = planned.fail {
            return Err(StoreError::new(kind, "the call failed, as planned"));
        }
        let answer = call.await;
        drop(under_way);
        if let Some(gate) = planned.hold_answer {
            gate.pass().await;
        }
        self.end_here_if_dead().await;
        match planned.lose_answer {
            Some(kind) => Err(StoreError::new(kind, "the answer was lost, as planned")),
            None => answer,
        }
    }
}

impl<S: Store> Store for FaultyStore<S> {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        self.call(Verb::Insert, self.inner.insert(record)).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.call(Verb::Load, self.inner.load(id, parts)).await
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        self.call(Verb::Replace, self.inner.replace(record, expected_version)).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        self.call(Verb::AppendStep, self.inner.append_step(id, token, step)).await
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        self.call(Verb::Remove, self.inner.remove(id, expected_version)).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        self.call(Verb::Claim, self.inner.claim(claim)).await
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        self.call(Verb::Renew, self.inner.renew(worker, ids, until)).await
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        self.call(Verb::Due, self.inner.due(now, limit)).await
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        self.call(Verb::FindCall, self.inner.find_call(same_call)).await
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        self.call(Verb::CountLive, self.inner.count_live(owner, at_most)).await
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.call(Verb::List, self.inner.list(owner, after, limit)).await
    }

    fn changes(&self) -> Changes {
        self.inner.changes().with_cut(Arc::clone(&self.changes_lost), &self.instead)
    }

    forward_store!(|faulty| &faulty.inner; properties, close);
}
