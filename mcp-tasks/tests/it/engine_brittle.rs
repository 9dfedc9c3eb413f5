//! Stores and seals that panic, and changes that cannot be read at once: what is wrong with one task or one call stays
//! with it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_tasks::record::State;
use mcp_tasks::store::{Due, Parts, Seal, SealError, SealedStore, Subject};
use mcp_tasks::testing::{FaultyStore, ManualClock, Verb};
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{
    EngineErrorKind, MemoryStore, SharedRecord, Store, StoreError, StoreErrorKind, TaskRecord, forward_store,
};
use serde_json::json;

use crate::support::{bench_over, open, text};

/// Lets the time pass, and everybody do what they do in it.
async fn pass_time(clock: &ManualClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(1_000);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

/// A verb, for one task or for all.
type Call = (Verb, Option<TaskId>);

/// A store that panics where it is told to.
#[derive(Clone, Default)]
struct Brittle {
    inner: Arc<MemoryStore>,
    panics: Arc<Mutex<BTreeSet<Call>>>,
}

impl Brittle {
    fn panics(&self, verb: Verb, id: Option<&TaskId>) {
        self.panics.lock().unwrap().insert((verb, id.cloned()));
    }

    fn check(&self, verb: Verb, id: Option<&TaskId>) {
        // The lock is free again when it panics.
        let panics = self.panics.lock().unwrap().clone();
        assert!(!panics.contains(&(verb, None)), "{verb:?} panics");
        assert!(id.is_none() || !panics.contains(&(verb, id.cloned())), "{verb:?} panics for a task");
    }
}

impl Store for Brittle {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        let inserted = self.inner.insert(record).await;
        self.check(Verb::Insert, None);
        inserted
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.check(Verb::Load, Some(id));
        self.inner.load(id, parts).await
    }

    async fn replace(&self, record: TaskRecord, expected: u64) -> Result<SharedRecord, StoreError> {
        self.check(Verb::Replace, Some(&record.id));
        self.inner.replace(record, expected).await
    }

    // Not even the future is made.
    fn due(&self, now: &Timestamp, limit: usize) -> impl Future<Output = Result<Due, StoreError>> + Send {
        self.check(Verb::Due, None);
        async move { self.inner.due(now, limit).await }
    }

    forward_store!(
        |brittle| &brittle.inner;
        append_step, remove, claim, renew, find_call, count_live, list, changes, properties, close
    );
}

/// A store that panics over one task keeps nobody from the others: neither from what is due nor from being called.
#[tokio::test]
async fn store_that_panics_over_one_task_serves_the_others() {
    let store = Brittle::default();
    let bench = bench_over(store.clone(), Arc::new(ManualClock::default())).await;
    let bad = bench.create(json!([["status", "there"], ["until cancelled", ""]])).await;
    bench.said(&bad, "there").await;
    let good = bench.create(json!([["until cancelled", ""]])).await;
    store.panics(Verb::Load, Some(&bad));
    store.panics(Verb::Replace, Some(&bad));
    let told = bench.engine.get(&bench.owner, &bad).await.unwrap_err();
    assert_eq!((told.kind(), told.message()), (EngineErrorKind::Store, "Internal error"));
    bench.clock.advance(900_000);
    assert_eq!(bench.settled(&good).await.status_message.as_deref(), Some("Task expired"));
    store.panics.lock().unwrap().clear();
    bench.clock.advance(2_000);
    assert_eq!(bench.settled(&bad).await.status_message.as_deref(), Some("Task expired"));
}

/// The same for a seal, wherever it is asked.
#[tokio::test]
async fn seal_that_panics_over_one_task_keeps_nobody_from_the_others() {
    #[derive(Clone, Default)]
    struct Brittle(Arc<Mutex<BTreeSet<TaskId>>>);

    impl Seal for Brittle {
        fn seal(&self, _: &Subject<'_>, plain: &[u8]) -> Result<Vec<u8>, SealError> {
            assert!(!plain.starts_with(b"unsealable"), "a seal that panics");
            Ok(plain.to_vec())
        }

        fn open(&self, subject: &Subject<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
            let panics = self.0.lock().unwrap().contains(subject.task());
            assert!(!panics, "a seal that panics");
            Ok(sealed.to_vec())
        }
    }

    let seal = Brittle::default();
    let store = Arc::new(SealedStore::new(MemoryStore::new(), seal.clone()));
    let bench = bench_over(store, Arc::new(ManualClock::default())).await;
    let unsealable = bench.create(json!([["status", "unsealable"]])).await;
    let failed = bench.settled(&unsealable).await;
    assert_eq!(failed.status_message.as_deref(), Some("the store failed"));
    let mut bad = Vec::new();
    for _ in 0..3 {
        let id = bench.create(json!([["status", "sealed"], ["until cancelled", ""]])).await;
        bench.said(&id, "sealed").await;
        bad.push(id);
    }
    let good = bench.create(json!([["until cancelled", ""]])).await;
    seal.0.lock().unwrap().extend(bad.iter().cloned());
    bench.clock.advance(900_000);
    assert_eq!(bench.settled(&good).await.status_message.as_deref(), Some("Task expired"));
    let told = bench.engine.get(&bench.owner, &bad[0]).await.unwrap_err();
    assert_eq!(told.kind(), EngineErrorKind::Store);
    let page = bench.engine.operators().list(None, 9).await.unwrap();
    assert_eq!((page.records.len(), page.unreadable.len()), (2, 3));
}

/// What is due and what nobody works on are two things: that the one cannot be told keeps nobody from the other.
#[tokio::test]
async fn orphans_are_taken_up_although_the_store_panics_over_what_is_due() {
    let (inner, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let dead = bench_over(Arc::new(FaultyStore::new(Arc::clone(&inner))), Arc::clone(&clock)).await;
    let orphan = dead.create_mortal(json!([["until cancelled", ""]])).await;
    dead.store.die();
    let store = Brittle { inner, panics: Arc::default() };
    store.panics(Verb::Due, None);
    let bench = bench_over(store, clock).await;
    pass_time(&bench.clock, 40).await;
    let failed = bench.settled(&orphan).await;
    assert_eq!(failed.status_message.as_deref(), Some("the work was interrupted before the task ended"));
}

/// An end that the store panics over is given up in bounded time, and so is whatever the body says.
#[tokio::test]
async fn write_that_panics_fails_its_task() {
    let store = Brittle::default();
    let bench = bench_over(store.clone(), Arc::new(ManualClock::default())).await;
    let id = bench.create(json!([["gate", "before the panic"], ["status", "said"], ["return", "x"]])).await;
    store.panics(Verb::Replace, Some(&id));
    open("before the panic");
    // The run is over, and leaves the task to its lease.
    bench.engine.idle().await;
    assert_eq!(bench.get(&id).await.state, State::Working);
    store.panics.lock().unwrap().clear();
    // The body comes by once more.
    open("before the panic");
    pass_time(&bench.clock, 40).await;
    assert_eq!(text(&bench.settled(&id).await), "x");
}

/// A creation that panics was done or not; its caller is told of what is there.
#[tokio::test]
async fn creation_that_panics_is_looked_for() {
    let store = Brittle::default();
    let bench = bench_over(store.clone(), Arc::new(ManualClock::default())).await;
    store.panics(Verb::Insert, None);
    let id = bench.create(json!([["return", "made"]])).await;
    assert_eq!(text(&bench.settled(&id).await), "made");
}

/// A wish that cannot be read at once is read later, and not only when the body says something.
#[tokio::test]
async fn wish_that_cannot_be_read_is_looked_for_again() {
    let (inner, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let bench = bench_over(Arc::new(FaultyStore::new(Arc::clone(&inner))), Arc::clone(&clock)).await;
    let other = bench_over(Arc::clone(&inner), Arc::clone(&clock)).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = bench.create(json!([["status", "there"], ["until cancelled", ""]])).await;
        bench.said(&id, "there").await;
        ids.push(id);
    }
    // As long as an outage lasts, and for many at once.
    for nth in 1..=12 {
        bench.store.fail(Verb::Load, nth, StoreErrorKind::Unavailable);
    }
    bench.store.lose_changes();
    for id in &ids {
        other.cancel(id).await;
    }
    bench.store.resume_changes();
    pass_time(&clock, 20).await;
    for id in &ids {
        assert_eq!(other.settled(id).await.state, State::Cancelled);
    }
    // What the store can say nothing of is not asked about for ever.
    let id = bench.create(json!([["status", "there"], ["until cancelled", ""]])).await;
    bench.said(&id, "there").await;
    bench.store.fail(Verb::Load, 1, StoreErrorKind::Corrupt);
    let before = bench.store.calls(Verb::Load);
    bench.store.resume_changes();
    pass_time(&clock, 5).await;
    assert_eq!(bench.store.calls(Verb::Load), before + 1);
}
