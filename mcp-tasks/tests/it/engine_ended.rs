//! What becomes of those who wait, and of keys, when something is over.

use std::time::Duration;

use mcp_tasks::EngineErrorKind;
use mcp_tasks::record::State;
use serde_json::json;

use crate::support::bench;

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it waits for ever")
}

/// Whoever waits for a change hears of none after the engine has ended, and is told so.
#[tokio::test]
async fn waiting_and_watching_end_with_the_engine() {
    let bench = bench().await;
    // A task that nobody ends: it goes on elsewhere.
    let id = bench.create(json!([["until cancelled", ""]])).await;
    let mut watch = bench.engine.watch(bench.owner.clone(), [id.clone()]);
    assert_eq!(soon(watch.next()).await.unwrap().unwrap().state, State::Working);
    let (engine, owner) = (bench.engine.clone(), bench.owner.clone());
    let settled = tokio::spawn(async move { engine.settled(&owner, &id).await });
    tokio::task::yield_now().await;
    soon(bench.engine.shutdown()).await;
    assert_eq!(soon(settled).await.unwrap().unwrap_err().kind(), EngineErrorKind::ShuttingDown);
    while soon(watch.next()).await.is_ok_and(|told| told.is_some()) {}
}

/// C-78: a key whose task is over and removed makes a new task, also in the moment before anybody has removed it.
#[tokio::test]
async fn key_of_a_task_whose_retention_is_over_makes_a_new_one() {
    let bench = bench().await;
    let task = || bench.task("rerun", &json!([["return", "done"]])).with_idempotency_key("k");
    let first = bench.engine.create(task()).await.unwrap();
    bench.settled(&first.id).await;
    assert_eq!(bench.engine.create(task()).await.unwrap().id, first.id);
    bench.clock.advance(900_001);
    let second = bench.engine.create(task()).await.unwrap();
    assert_ne!(second.id, first.id);
    assert_eq!(second.state, State::Working);
    assert_eq!(bench.settled(&second.id).await.state.name(), "completed");
}
