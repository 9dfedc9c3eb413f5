//! Leases are kept whatever else goes on, and nothing that fails or panics keeps an engine from the rest of its work.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::record::State;
use mcp_tasks::store::{Parts, Seal, SealError, SealedStore, Store as _, Subject};
use mcp_tasks::testing::{FaultyStore, ManualClock, Verb, reopened};
use mcp_tasks::types::{RawObject, TaskId, Timestamp};
use mcp_tasks::{BoxFuture, Clock, MemoryStore, NewTask, Owner, Role, StoreErrorKind};
use serde_json::json;

use crate::support::{Bench, bench, bench_over, builder, count, eventually, faulty, open, text};

/// Lets the time pass, and everybody do what they do in it.
async fn pass_time(clock: &ManualClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(1_000);
        for _ in 0..30 {
            tokio::task::yield_now().await;
        }
    }
}

/// S-37: a slow write about a due task lets no lease of the process end, so that it does not take up its own task.
#[tokio::test]
async fn leases_are_renewed_while_due_tasks_are_slow() {
    let bench = bench_over(faulty(), Arc::new(ManualClock::default())).await;
    let ended = bench.create(json!([["return", "x"]])).await;
    bench.settled(&ended).await;
    pass_time(&bench.clock, 100).await;
    let busy = bench.create_mortal(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&busy, "busy").await;
    pass_time(&bench.clock, 799).await;
    let held = bench.store.hold(Verb::Replace, 1);
    bench.clock.advance(1_000);
    held.reached().await;
    pass_time(&bench.clock, 45).await;
    held.let_go();
    pass_time(&bench.clock, 45).await;
    let record = bench.get(&busy).await;
    assert_eq!((&record.state, record.attempt), (&State::Working, 1));
}

/// S-37: taking up many tasks may take longer than a lease, and what was taken up first is not taken up again.
#[tokio::test]
async fn body_is_begun_once_while_many_others_are_taken_up() {
    for place in [0, 70, 150] {
        let name = format!("leases once {place}");
        begun_once(&name, place).await;
    }
}

async fn begun_once(name: &str, place: usize) {
    let before = bench_over(faulty(), Arc::new(ManualClock::default())).await;
    let mut id = None;
    for number in 0..=150 {
        if number == place {
            id = Some(before.create(json!([["count", name], ["gate", name]])).await);
        } else {
            before.create_mortal(json!([["gate", "leases never"]])).await;
        }
        before.clock.advance(1);
    }
    let id = id.unwrap();
    eventually("the first body", || count(name) == 1).await;
    before.store.die();
    let store = Arc::new(FaultyStore::new(reopened(before.store.inner())));
    let held = store.hold(Verb::Replace, 100);
    let clock = Arc::clone(&before.clock);
    let building = tokio::spawn(bench_over(store, Arc::clone(&clock)));
    held.reached().await;
    pass_time(&clock, 45).await;
    held.let_go();
    let after = building.await.unwrap();
    pass_time(&clock, 5).await;
    assert_eq!(after.get(&id).await.attempt, 2);
    assert_eq!(count(name), 2, "once in each process");
    // The body of the dead process waits as well.
    open(name);
    open(name);
    after.settled(&id).await;
}

/// S-37: a lease is kept until its run is settled, however long the engine lets it end in peace.
#[tokio::test]
async fn leases_are_renewed_while_the_engine_shuts_down() {
    let store = Arc::new(MemoryStore::new());
    let clock = Arc::new(ManualClock::default());
    let engine = builder(Arc::clone(&store), &clock).shutdown_grace_ms(90_000).build().await.unwrap();
    let owner = Owner::new("tenant", "alice");
    let ending = Bench { engine, clock: Arc::clone(&clock), store: Arc::clone(&store), owner };
    let id = ending.create_mortal(json!([["gate", "leases end"], ["return", "in peace"]])).await;
    let other = bench_over(store, Arc::clone(&clock)).await;
    let engine = ending.engine.clone();
    let shutdown = tokio::spawn(async move { engine.shutdown().await });
    pass_time(&clock, 80).await;
    assert_eq!(other.get(&id).await.state, State::Working);
    open("leases end");
    shutdown.await.unwrap();
    assert_eq!(text(&other.get(&id).await), "in peace");
}

/// Seals nothing, and opens what it is let open.
#[derive(Clone, Default)]
struct Key {
    lost: Arc<Mutex<BTreeSet<TaskId>>>,
}

impl Seal for Key {
    fn seal(&self, _: &Subject<'_>, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        Ok(plain.to_vec())
    }

    fn open(&self, subject: &Subject<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        if self.lost.lock().unwrap().contains(subject.task()) {
            return Err(SealError::new("another key"));
        }
        Ok(sealed.to_vec())
    }
}

/// Tasks that cannot be read keep nobody from what is due after them, and are dealt with when they can be.
#[tokio::test]
async fn due_task_that_cannot_be_read_keeps_nobody_from_the_others() {
    let key = Key::default();
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(SealedStore::new(Arc::clone(&inner), key.clone()));
    let bench = bench_over(store, Arc::new(ManualClock::default())).await;
    // More than are looked at in one go.
    for _ in 0..100 {
        let id = bench.create(json!([["return", "x"]])).await;
        bench.settled(&id).await;
        key.lost.lock().unwrap().insert(id);
    }
    pass_time(&bench.clock, 1).await;
    let readable = bench.create(json!([["until cancelled", ""]])).await;
    pass_time(&bench.clock, 905).await;
    let ended = bench.get(&readable).await;
    assert_eq!(ended.status_message.as_deref(), Some("Task expired"));
    let first = key.lost.lock().unwrap().first().unwrap().clone();
    assert!(inner.load(&first, Parts::Head).await.unwrap().unwrap().forgotten_at.is_none());
    key.lost.lock().unwrap().clear();
    pass_time(&bench.clock, 70).await;
    assert!(inner.load(&first, Parts::Head).await.unwrap().unwrap().forgotten_at.is_some());
}

/// One orphan that cannot be written keeps nobody from the others, nor the server from its start.
#[tokio::test]
async fn task_that_cannot_be_taken_up_keeps_nobody_from_the_others() {
    let before = bench().await;
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(before.create_mortal(json!([["gate", "leases unwritable"]])).await);
    }
    let store = Arc::new(FaultyStore::new(reopened(&before.store)));
    store.fail(Verb::Replace, 1, StoreErrorKind::Corrupt);
    let after = bench_over(store, Arc::clone(&before.clock)).await;
    let mut left = 0;
    for id in &ids {
        left += usize::from(!after.get(id).await.state.is_terminal());
    }
    assert_eq!(left, 1);
    pass_time(&after.clock, 32).await;
    for id in &ids {
        assert!(after.get(id).await.state.is_terminal());
    }
}

/// A clock that panics when it is told to.
#[derive(Clone)]
struct BrittleClock {
    clock: Arc<ManualClock>,
    broken: Arc<AtomicBool>,
    panics: Arc<AtomicUsize>,
}

impl BrittleClock {
    fn check(&self) {
        if self.broken.load(Ordering::SeqCst) {
            self.panics.fetch_add(1, Ordering::SeqCst);
            panic!("the clock is broken");
        }
    }
}

impl Clock for BrittleClock {
    fn now(&self) -> Timestamp {
        self.check();
        self.clock.now()
    }

    fn now_millis(&self) -> i64 {
        self.check();
        self.clock.now_millis()
    }

    fn sleep_until(&self, deadline: &Timestamp) -> BoxFuture<'static, ()> {
        self.check();
        self.clock.sleep_until(deadline)
    }
}

/// A panic of somebody's clock stops neither the timer nor the heartbeat for good.
#[tokio::test(start_paused = true)]
async fn engine_goes_on_after_its_clock_panicked() {
    let clock = Arc::new(ManualClock::default());
    let brittle = BrittleClock { clock: Arc::clone(&clock), broken: Arc::default(), panics: Arc::default() };
    let store = faulty();
    let engine = builder(Arc::clone(&store), &clock).clock(brittle.clone()).build().await.unwrap();
    let bench = Bench { engine, clock, store, owner: Owner::new("tenant", "alice") };
    let id = bench.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&id, "busy").await;
    let renewed = bench.store.calls(Verb::Renew);
    brittle.broken.store(true, Ordering::SeqCst);
    bench.clock.advance(900_000);
    eventually("the panics", || brittle.panics.load(Ordering::SeqCst) >= 2).await;
    brittle.broken.store(false, Ordering::SeqCst);
    let ended = bench.settled(&id).await;
    assert_eq!(ended.status_message.as_deref(), Some("Task expired"));
    let next = bench.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&next, "busy").await;
    tokio::time::advance(std::time::Duration::from_secs(2)).await;
    pass_time(&bench.clock, 45).await;
    assert!(bench.store.calls(Verb::Renew) > renewed + 2);
    let record = bench.get(&next).await;
    assert_eq!((&record.state, record.attempt), (&State::Working, 1));
}

/// P089: a task that a worker claimed in its last moment, and never began, is nobody's interrupted work: the next
/// worker runs it, whatever its tool says of restarts.
#[tokio::test]
async fn task_that_was_claimed_and_never_begun_is_run_by_the_next_worker() {
    let (inner, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let serving = builder(Arc::clone(&inner), &clock).role(Role::Serve).build().await.unwrap();
    let owner = Owner::new("tenant", "alice");
    let view = Arc::new(FaultyStore::new(Arc::clone(&inner)));
    let worker = builder(Arc::clone(&view), &clock).role(Role::Work).build().await.unwrap();
    let held = view.hold_answer(Verb::Claim, 1);
    let script = RawObject::new(&json!({"script": [["count", "never begun"], ["return", "x"]]})).unwrap();
    let id = serving.create(NewTask::new(owner.clone(), "mortal", script)).await.unwrap().id.clone();
    held.reached().await;
    let ending = tokio::spawn(async move { worker.shutdown().await });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    held.let_go();
    ending.await.unwrap();
    pass_time(&clock, 1).await;
    assert_eq!(count("never begun"), 0);
    let last = builder(Arc::clone(&inner), &clock).role(Role::Work).build().await.unwrap();
    let ended = serving.settled(&owner, &id).await.unwrap();
    assert_eq!((text(&ended), count("never begun")), ("x".to_owned(), 1));
    last.shutdown().await;
}
