//! A store that fails: nothing is told that is not so, nothing secret is told at all, and the engine gets over it.

use std::future::{Future, poll_fn};
use std::sync::Arc;

use mcp_tasks::record::State;
use mcp_tasks::store::Parts;
use mcp_tasks::testing::{LaggingStore, ManualClock, Verb};
use mcp_tasks::types::RawObject;
use mcp_tasks::{EngineErrorKind, MemoryStore, NewTask, Owner, Store, StoreErrorKind};
use serde_json::json;

use crate::support::{Bench, FaultyMemory, accept, bench_over, builder, count, eventually, faulty, text};

async fn faulty_bench() -> Bench<FaultyMemory> {
    bench_over(faulty(), Arc::new(ManualClock::default())).await
}

/// C-95: a fault of ours is an internal error without its cause, which is there for the log.
#[tokio::test]
async fn failure_of_the_store_is_told_without_its_cause() {
    let bench = faulty_bench().await;
    bench.store.fail(Verb::Insert, 1, StoreErrorKind::Unavailable);
    let created = bench.engine.create(bench.task("rerun", &json!([]))).await.unwrap_err();
    assert_eq!(bench.engine.running(), 0);
    let id = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&id, 1).await;
    bench.store.fail(Verb::Load, 1, StoreErrorKind::Unavailable);
    let read = bench.engine.get(&bench.owner, &id).await.unwrap_err();
    bench.store.fail(Verb::Replace, 1, StoreErrorKind::Corrupt);
    let answered = bench.update(&id, json!({"approve": accept(true)})).await.unwrap_err();
    bench.store.fail(Verb::Replace, 1, StoreErrorKind::Unavailable);
    let cancelled = bench.engine.cancel(&bench.owner, &id, None).await.unwrap_err();
    for error in [created, read, answered, cancelled] {
        assert_eq!((error.kind(), error.message()), (EngineErrorKind::Store, "Internal error"));
        assert!(std::error::Error::source(&error).unwrap().to_string().contains("as planned"));
    }
    // The question is as it was.
    assert_eq!(bench.get(&id).await.outstanding().count(), 1);
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "true");
}

/// P091: nobody sees an end that is not durable, and a failure that passes does not lose it.
#[tokio::test]
async fn end_is_seen_when_it_is_written_and_not_before() {
    let bench = faulty_bench().await;
    bench.store.fail(Verb::Replace, 1, StoreErrorKind::Unavailable);
    bench.store.fail(Verb::Replace, 2, StoreErrorKind::Unavailable);
    let id = bench.create(json!([["return", "done"]])).await;
    eventually("the first failure", || bench.store.faults_left() == 1).await;
    assert_eq!(bench.get(&id).await.state, State::Working);
    let due = |millis| {
        move |clock: &ManualClock, start: i64| {
            clock.next_deadline().is_some_and(|next| next.unix_millis() - start == millis)
        }
    };
    let start = mcp_tasks::Clock::now(&*bench.clock).unix_millis();
    eventually("the first wait", || due(10)(&bench.clock, start)).await;
    bench.clock.advance(10);
    eventually("the second failure", || bench.store.faults_left() == 0).await;
    assert_eq!(bench.get(&id).await.state, State::Working);
    eventually("the second wait", || due(30)(&bench.clock, start + 10)).await;
    bench.clock.advance(30);
    assert_eq!(text(&bench.settled(&id).await), "done");
}

/// However long the store fails: the end of a run is not given up.
#[tokio::test]
async fn end_is_written_however_long_the_store_fails() {
    let bench = faulty_bench().await;
    for nth in 1..=20 {
        bench.store.fail(Verb::Replace, nth, StoreErrorKind::Unavailable);
    }
    let id = bench.create(json!([["return", "done"]])).await;
    while bench.store.faults_left() > 0 {
        eventually("a wait", || bench.clock.next_deadline().is_some()).await;
        bench.clock.advance(5_000);
        tokio::task::yield_now().await;
    }
    bench.clock.advance(30_000);
    assert_eq!(text(&bench.settled(&id).await), "done");
}

/// P046, X-70: what is begun is finished: a caller who gives up at the write leaves a whole answer, or a whole wish.
#[tokio::test]
async fn update_and_cancel_go_on_without_their_caller() {
    let bench = faulty_bench().await;
    let answered = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&answered, 1).await;
    let hold = bench.store.hold(Verb::Replace, 1);
    let accepted = json!({"approve": accept(true)});
    give_up(bench.update(&answered, accepted), hold.reached()).await;
    hold.let_go();
    assert_eq!(text(&bench.settled(&answered).await), "true");

    let cancelled = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&cancelled, 1).await;
    let hold = bench.store.hold(Verb::Replace, 1);
    give_up(bench.cancel(&cancelled), hold.reached()).await;
    hold.let_go();
    assert_eq!(bench.settled(&cancelled).await.state, State::Cancelled);
}

/// Drives a call until that point and drops it there.
async fn give_up(call: impl Future, point: impl Future) {
    let (mut call, mut point) = (Box::pin(call), Box::pin(point));
    poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending(), "the call is over");
        point.as_mut().poll(cx).map(drop)
    })
    .await;
}

/// R-9, P091: what is left of a forgotten task is looked for when the answer of its write is lost, so that nobody else
/// who is due has to wait until the store is tried again.
#[tokio::test]
async fn task_that_is_forgotten_in_a_lost_answer_holds_up_nobody() {
    let bench = faulty_bench().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let id = bench.create(json!([["return", "done"]])).await;
        bench.settled(&id).await;
        ids.push(id);
    }
    bench.store.lose_answer(Verb::Replace, 1, StoreErrorKind::Unavailable);
    bench.clock.advance(900_000);
    eventually("the end of both", || bench.store.calls(Verb::Replace) >= 4).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.store.faults_left(), 0);
    for id in ids {
        let left = bench.store.inner().load(&id, Parts::Head).await.unwrap().unwrap();
        assert!(left.forgotten_at.is_some(), "{left:?}");
    }
    assert_eq!(bench.store.calls(Verb::Replace), 4, "two ends, and each forgotten once");
}

/// S-37, P091: an end that cannot be recorded for another reason than a failure that passes leaves the task to its
/// lease, which is not renewed with those of the tasks that go on; then it is taken up again.
#[tokio::test]
async fn task_whose_end_is_lost_is_taken_up_when_its_lease_ends() {
    let bench = faulty_bench().await;
    let other = bench.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&other, "busy").await;
    // Neither the end nor that it cannot be stored.
    bench.store.fail(Verb::Replace, 1, StoreErrorKind::Corrupt);
    bench.store.fail(Verb::Replace, 2, StoreErrorKind::Corrupt);
    let id = bench.create(json!([["token", ""]])).await;
    eventually("the failure", || bench.store.faults_left() == 0 && bench.engine.running() == 1).await;
    assert_eq!(bench.get(&id).await.state, State::Working);
    let mut passed = 0;
    while passed < 30_000 {
        bench.clock.advance(1_000);
        passed += 1_000;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(text(&bench.settled(&id).await), "2");
    let other = bench.get(&other).await;
    assert_eq!((&other.state, other.attempt), (&State::Working, 1));
    // And the last run of a process needs no other one that keeps the timer going.
    bench.cancel(&other.id).await;
    bench.settled(&other.id).await;
    bench.store.fail(Verb::Replace, 1, StoreErrorKind::Corrupt);
    bench.store.fail(Verb::Replace, 2, StoreErrorKind::Corrupt);
    let last = bench.create_mortal(json!([["return", "x"]])).await;
    eventually("the failure", || bench.store.faults_left() == 0 && bench.engine.running() == 0).await;
    eventually("the timer", || {
        let next = bench.clock.next_deadline();
        next.is_some_and(|next| next.unix_millis() - mcp_tasks::Clock::now_millis(&*bench.clock) <= 30_000)
    })
    .await;
    bench.clock.advance(30_000);
    let record = bench.settled(&last).await;
    assert!(record.status_message.as_ref().unwrap().contains("interrupted"), "{record:?}");
}

/// P153: a store whose lists are ahead of its records does not keep the timer busy.
#[tokio::test]
async fn due_task_that_is_not_found_is_looked_for_again_later() {
    let clock = Arc::new(ManualClock::default());
    let store = Arc::new(LaggingStore::new(MemoryStore::new(), Arc::clone(&clock), 0));
    let bench = bench_over(store, clock).await;
    let id = bench.create(json!([["until cancelled", ""]])).await;
    bench.store.set_lag_ms(10_000_000);
    bench.clock.advance(900_000);
    eventually("the wait", || {
        bench
            .clock
            .next_deadline()
            .is_some_and(|next| next.unix_millis() - mcp_tasks::Clock::now_millis(&*bench.clock) == 1_000)
    })
    .await;
    bench.store.set_lag_ms(0);
    bench.clock.advance(1_000);
    let record = bench.settled(&id).await;
    assert_eq!(record.status_message.as_deref(), Some("Task expired"));
}

/// A body whose word cannot be kept does not go on as if it had been.
#[tokio::test]
async fn body_whose_writes_fail_for_good_fails() {
    for (operation, call) in [("status", Verb::Replace), ("step", Verb::AppendStep), ("ask", Verb::Replace)] {
        let bench = faulty_bench().await;
        bench.store.fail(call, 1, StoreErrorKind::Corrupt);
        let id = bench.create(json!([[operation, "approve"], ["count", "went on"]])).await;
        let record = bench.settled(&id).await;
        assert_eq!(record.state.name(), "failed", "{operation}: {record:?}");
        assert_eq!(record.status_message.as_deref(), Some("the store failed"));
        assert_eq!(count("went on"), 0);
    }
}

/// P091: a write that was done although its answer got lost is done, and is no sign of another worker.
#[tokio::test]
async fn write_whose_answer_was_lost_counts_as_done() {
    for (operation, call) in
        [("text step", Verb::AppendStep), ("ask", Verb::Replace), ("status", Verb::Replace)]
    {
        let bench = faulty_bench().await;
        bench.store.lose_answer(call, 1, StoreErrorKind::Unavailable);
        let id = bench.create(json!([[operation, "approve"], ["return", "went on"]])).await;
        eventually("the failure", || bench.store.faults_left() == 0).await;
        eventually("the wait", || is_waited_for(&bench.clock, 10)).await;
        bench.clock.advance(10);
        if operation == "ask" {
            bench.asked(&id, 1).await;
            bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
        }
        assert_eq!(text(&bench.settled(&id).await), "went on");
    }
}

/// Whether somebody waits for as many milliseconds from now.
fn is_waited_for(clock: &ManualClock, millis: i64) -> bool {
    let now = mcp_tasks::Clock::now_millis(clock);
    clock.next_deadline().is_some_and(|next| next.unix_millis() - now == millis)
}

/// P042: a conflict is no lost lease as long as the record says otherwise: the task fails and says why, and nothing of
/// it is left to wait for ever.
#[tokio::test]
async fn step_that_the_record_has_otherwise_fails_the_task() {
    let bench = faulty_bench().await;
    let id = bench.create(json!([["status", "ready"], ["gate", "otherwise"], ["text step", "x"]])).await;
    bench.said(&id, "ready").await;
    let value = mcp_tasks::types::RawJson::new(&"y").unwrap();
    let step = mcp_tasks::record::StepRecord::new("x", std::any::type_name::<String>(), value);
    bench.store.append_step(&id, 1, step).await.unwrap();
    crate::support::open("otherwise");
    eventually("the end of the run", || bench.engine.running() == 0).await;
    let record = bench.get(&id).await;
    assert_eq!(record.state.name(), "failed", "{record:?}");
    assert!(record.status_message.as_ref().unwrap().contains("step `x`"), "{record:?}");
}

/// The timer gets over a failure.
#[tokio::test]
async fn expiry_comes_although_the_store_failed_for_a_while() {
    let bench = faulty_bench().await;
    let id = bench.create(json!([["until cancelled", ""]])).await;
    for call in [Verb::Due, Verb::Load, Verb::Replace] {
        bench.store.fail(call, 1, StoreErrorKind::Unavailable);
    }
    bench.clock.advance(900_000);
    while bench.store.faults_left() > 0 {
        eventually("a failure", || bench.clock.next_deadline().is_some()).await;
        bench.clock.advance(1_000);
        tokio::task::yield_now().await;
    }
    bench.clock.advance(1_000);
    let record = bench.settled(&id).await;
    assert_eq!(record.status_message.as_deref(), Some("Task expired"));
}

#[tokio::test]
async fn engine_does_not_start_on_a_store_that_fails() {
    let store = faulty();
    store.fail(Verb::Claim, 1, StoreErrorKind::Corrupt);
    let error = builder(store, &Arc::new(ManualClock::default())).build().await.unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("as planned"), "{error}");
}

/// P149, P153: no work, no calls; a finished task costs nothing until its lifetime is over.
#[tokio::test]
async fn idle_engine_does_not_bother_the_store() {
    let bench = faulty_bench().await;
    for _ in 0..10 {
        let id = bench.create(json!([["return", "x"]])).await;
        bench.settled(&id).await;
    }
    bench.engine.idle().await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    // The heartbeat of what ran comes once more and finds nothing to do, and so does the end of a lease that was told
    // of.
    for _ in 0..3 {
        bench.clock.advance(10_000);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    let before = bench.store.all_calls();
    for _ in 0..80 {
        bench.clock.advance(10_000);
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.store.all_calls(), before);
    let mut changes = bench.store.changes();
    bench.clock.advance(900_000);
    for _ in 0..10 {
        assert!(matches!(changes.next().await, Some(mcp_tasks::store::Change::Written { .. })));
    }
    bench.clock.advance(3_600_000);
    for _ in 0..10 {
        assert!(matches!(changes.next().await, Some(mcp_tasks::store::Change::Removed { .. })));
    }
    assert!(bench.engine.list(&bench.owner, None, 10).await.unwrap().records.is_empty());
}

/// P095: a creation costs the same however many live tasks there are, so they are not counted each time; but nobody is
/// refused without being counted anew.
#[tokio::test]
async fn live_tasks_are_counted_again_only_where_the_limit_is_near() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let engine = builder(Arc::clone(&store), &clock).max_tasks_of_owner(50).build().await.unwrap();
    let alice = Owner::new("tenant", "alice");
    let create = || {
        let script = RawObject::new(&json!({"script": [["until cancelled", ""]]})).unwrap();
        engine.create(NewTask::new(alice.clone(), "mortal", script))
    };
    let first = create().await.unwrap();
    store.fail(Verb::CountLive, 1, StoreErrorKind::Unavailable);
    for _ in 1..50 {
        create().await.unwrap();
    }
    assert_eq!(create().await.unwrap_err().kind(), EngineErrorKind::Store);
    assert_eq!(create().await.unwrap_err().kind(), EngineErrorKind::TooManyTasks);
    engine.cancel(&alice, &first.id, None).await.unwrap();
    engine.settled(&alice, &first.id).await.unwrap();
    create().await.unwrap();
    assert_eq!(create().await.unwrap_err().kind(), EngineErrorKind::TooManyTasks);
}
