//! A store that is away for a while: bodies wait for it as long as they may go on, and no longer.

use std::sync::Arc;

use mcp_tasks::StoreErrorKind;
use mcp_tasks::record::State;
use mcp_tasks::testing::{ManualClock, Verb};
use mcp_tasks::types::TaskId;
use serde_json::json;

use crate::engine_log::Log;
use crate::support::{Bench, FaultyMemory, accept, bench_over, builder, eventually, faulty, open, text};

async fn faulty_bench() -> Bench<FaultyMemory> {
    bench_over(faulty(), Arc::new(ManualClock::default())).await
}

/// A task whose body goes on behind a gate, after which the store fails this often.
async fn before_an_outage(bench: &Bench<FaultyMemory>, operation: &str, verb: Verb, fails: usize) -> TaskId {
    let gate = format!("outage of {operation} {fails}");
    let script = json!([["status", "ready"], ["gate", gate], [operation, "approve"], ["return", "went on"]]);
    let id = bench.create(script).await;
    bench.said(&id, "ready").await;
    for nth in 1..=fails {
        bench.store.fail(verb, nth, StoreErrorKind::Unavailable);
    }
    open(&gate);
    eventually("the first failure", || bench.store.faults_left() < fails).await;
    id
}

/// P091: an outage of minutes, as when a database is restarted, costs the time that it takes and no task.
#[tokio::test]
async fn what_a_body_says_waits_for_the_store() {
    for (operation, verb) in
        [("text step", Verb::AppendStep), ("ask", Verb::Replace), ("status", Verb::Replace)]
    {
        let bench = faulty_bench().await;
        let id = before_an_outage(&bench, operation, verb, 12).await;
        while bench.store.faults_left() > 0 {
            eventually("a wait", || bench.clock.next_deadline().is_some()).await;
            bench.clock.advance(5_000);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }
        bench.clock.advance(30_000);
        if operation == "ask" {
            bench.asked(&id, 1).await;
            bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
        }
        let record = bench.settled(&id).await;
        assert_eq!((text(&record).as_str(), record.attempt), ("went on", 1), "{operation}");
    }
}

/// And a body that waits for the store hears that it has to stop.
#[tokio::test]
async fn body_that_waits_for_the_store_is_cancelled_at_once() {
    let bench = faulty_bench().await;
    let id = before_an_outage(&bench, "text step", Verb::AppendStep, 50).await;
    bench.cancel(&id).await;
    assert_eq!(bench.settled(&id).await.state, State::Cancelled);
}

/// The same for an orderly end: the next process goes on.
#[tokio::test]
async fn body_that_waits_for_the_store_is_handed_over_at_the_end_of_its_process() {
    let bench = faulty_bench().await;
    let id = before_an_outage(&bench, "text step", Verb::AppendStep, 51).await;
    bench.engine.shutdown().await;
    let record = mcp_tasks::Store::load(&bench.store, &id, mcp_tasks::store::Parts::Head).await;
    let record = record.unwrap().unwrap();
    assert!(record.lease.is_none() && record.state == State::Working, "{record:?}");
}

/// A store that is closed while the timer asks it is no failure of the store.
#[tokio::test]
async fn closing_soon_after_the_start_is_no_error() {
    let (store, clock, log) = (faulty(), Arc::new(ManualClock::default()), Log::default());
    let hold = store.hold(Verb::Due, 1);
    store.fail(Verb::Due, 1, StoreErrorKind::Unavailable);
    let guard = log.listen();
    let engine = builder(Arc::clone(&store), &clock).build().await.unwrap();
    hold.reached().await;
    engine.shutdown().await;
    hold.let_go();
    eventually("the failure", || store.faults_left() == 0).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    drop(guard);
    assert!(!log.text().contains("ERROR"), "{}", log.text());
}
