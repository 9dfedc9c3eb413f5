//! Tasks that nobody asks about any more (P067).

use std::sync::Arc;

use mcp_tasks::record::State;
use mcp_tasks::types::TaskId;
use mcp_tasks::{Clock, Engine, Store};
use serde_json::json;

use crate::support::{Bench, FaultyMemory, accept, bench_over, builder, eventually, faulty};

/// An engine that gives tasks up about which nobody asks for twenty seconds.
async fn impatient() -> Bench<FaultyMemory> {
    let (store, clock) = (faulty(), Arc::new(mcp_tasks::testing::ManualClock::default()));
    let engine = engine(&store, &clock).await;
    Bench { engine, clock, store, owner: mcp_tasks::Owner::new("tenant", "alice") }
}

async fn engine(store: &FaultyMemory, clock: &Arc<mcp_tasks::testing::ManualClock>) -> Engine {
    builder(Arc::clone(store), clock).abandon_ms(20_000).build().await.unwrap()
}

async fn busy(bench: &Bench<FaultyMemory>) -> TaskId {
    let id = bench.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&id, "busy").await;
    id
}

/// What an operator sees, who is nobody that asks.
async fn seen<S: Store>(bench: &Bench<S>, id: &TaskId) -> State {
    bench.engine.operators().inspect(id).await.unwrap().unwrap().state.clone()
}

/// P067: the body is told, the failure says why and can be read by whoever comes after all.
#[tokio::test]
async fn task_that_nobody_asks_about_fails() {
    let bench = impatient().await;
    let working = busy(&bench).await;
    let waiting = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&waiting, 1).await;
    let left = bench.create(json!([["leave", ""]])).await;
    bench.engine.wait(&bench.owner, &left, |record| record.parked.is_some()).await.unwrap();
    bench.clock.advance(24_999);
    for id in [&working, &waiting, &left] {
        assert!(!seen(&bench, id).await.is_terminal());
    }
    bench.clock.advance(1);
    bench.engine.idle().await;
    for id in [&working, &waiting, &left] {
        let record = bench.get(id).await;
        let State::Failed { error } = &record.state else { panic!("{record:?}") };
        assert_eq!((error.code, error.message.as_str()), (-32603, "Nobody asked about the task any more"));
        assert_eq!(bench.cancel(id).await, record);
    }
    // Word from a worker outside is no sign of anybody who waits; and it comes too late.
    bench.engine.outside(bench.owner.clone()).set_status(&left, "done soon").await.unwrap_err();
}

/// P067: whoever asks in time, in whatever way, keeps the task; and never sees a change of it for that reason.
#[tokio::test]
async fn task_that_is_asked_about_goes_on() {
    let bench = impatient().await;
    let polled = busy(&bench).await;
    let before = bench.get(&polled).await;
    let answered = bench.create(json!([["ask", "approve"], ["until cancelled", ""]])).await;
    bench.asked(&answered, 1).await;
    let waited_for = busy(&bench).await;
    let waiter = tokio::spawn({
        let (engine, owner, id) = (bench.engine.clone(), bench.owner.clone(), waited_for.clone());
        async move { engine.settled(&owner, &id).await.unwrap() }
    });
    let watched = busy(&bench).await;
    let mut watch = bench.engine.watch(bench.owner.clone(), [watched.clone()]);
    assert_eq!(watch.next().await.unwrap().unwrap().id, watched);
    let watcher = tokio::spawn(async move { watch.next().await.unwrap().unwrap() });
    let forgotten = busy(&bench).await;
    for round in 0..100 {
        bench.clock.advance(1_000);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        if round % 19 == 18 {
            let now = bench.get(&polled).await;
            assert_eq!((&now.state, &now.last_updated_at), (&before.state, &before.last_updated_at));
        }
        if round % 19 == 17 {
            // An answer that nobody waits for is a sign of somebody as well.
            bench.update(&answered, json!({"zzz": accept(true)})).await.unwrap();
        }
    }
    for id in [&polled, &waited_for, &watched] {
        assert_eq!(seen(&bench, id).await, State::Working, "{id}");
    }
    assert_eq!(seen(&bench, &answered).await, State::InputRequired);
    assert!(seen(&bench, &forgotten).await.is_terminal());
    assert!(!waiter.is_finished() && !watcher.is_finished(), "nothing has changed that they could see");
    for id in [&waited_for, &watched] {
        bench.cancel(id).await;
    }
    assert_eq!(waiter.await.unwrap().state, State::Cancelled);
    assert_eq!(watcher.await.unwrap().id, watched);
}

/// P067: most polls write nothing, and one whose note cannot be written is answered all the same.
#[tokio::test]
async fn asking_is_noted_now_and_then() {
    let bench = impatient().await;
    let id = busy(&bench).await;
    let version = bench.get(&id).await.version;
    for _ in 0..100 {
        assert_eq!(bench.get(&id).await.version, version);
    }
    bench.clock.advance(5_000);
    bench.store.fail(mcp_tasks::testing::Verb::Replace, 1, mcp_tasks::StoreErrorKind::Unavailable);
    assert_eq!(bench.get(&id).await.version, version);
    assert_eq!(bench.store.faults_left(), 0);
    for _ in 0..100 {
        assert_eq!(bench.get(&id).await.version, version + 1);
    }
    assert!(bench.get(&id).await.due_at().unwrap().unix_millis() - bench.clock.now_millis() == 25_000);
}

/// P067: time passes while no process is there, too; and what another process noted counts.
#[tokio::test]
async fn what_counts_is_in_the_record() {
    let bench = impatient().await;
    let asked = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&asked, 1).await;
    let forgotten = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&forgotten, 1).await;
    let other = engine(&bench.store, &bench.clock).await;
    bench.clock.advance(24_000);
    other.get(&bench.owner, &asked).await.unwrap();
    bench.clock.advance(1_000);
    eventually("the end of one", || bench.engine.running() == 1).await;
    assert_eq!(seen(&bench, &asked).await, State::InputRequired);
    assert!(seen(&bench, &forgotten).await.is_terminal());
    // Ended tasks are not asked to be looked at.
    let done = bench.create(json!([["return", "x"]])).await;
    bench.settled(&done).await;
    bench.clock.advance(60_000);
    assert!(matches!(bench.get(&done).await.state, State::Completed { .. }));
    drop(bench_over(Arc::clone(&bench.store), Arc::clone(&bench.clock)).await);
}
