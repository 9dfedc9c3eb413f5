//! How runs end that do not end by themselves, over every store: a panic, a body without an end, a result that is too
//! large, a process that died.

use std::sync::Arc;

use mcp_tasks::record::State;
use mcp_tasks::store::Parts;
use mcp_tasks::testing::{Backend, ManualClock};
use mcp_tasks::types::TaskId;
use mcp_tasks::{Owner, SharedRecord, Store};
use serde_json::json;

use crate::processes::Processes;
use crate::support::{Bench, builder, count, text};

const LIMIT: usize = 1_000;

/// The record when so much time has passed; before, it was live.
async fn ended_within<S: Store>(
    processes: &Processes<S>,
    id: &TaskId,
    from: u64,
    until: u64,
) -> SharedRecord {
    processes.pass(from.saturating_sub(1)).await;
    let record = processes.store.load(id, Parts::Head).await.unwrap().unwrap();
    assert!(from == 0 || !record.state.is_terminal(), "ended too early: {record:?}");
    processes.pass(until + 1 - from.saturating_sub(1)).await;
    processes.store.load(id, Parts::Head).await.unwrap().unwrap()
}

fn failed(record: &SharedRecord, what: &str) {
    let State::Failed { error } = &record.state else { panic!("{record:?}") };
    assert_eq!(error.code, -32_603, "{error:?}");
    assert!(error.message.contains(what) && !error.message.contains("secret"), "{error:?}");
    assert_eq!(record.status_message.as_ref(), Some(&error.message));
    assert!(record.lease.is_none() && record.finished_at.is_some(), "{record:?}");
}

/// C-46, C-48, P020, P055, P091, S-37: each in the right state, within its limit.
async fn runs_end_as_recorded<B: Backend>(name: &str, backend: B) {
    let clock = Arc::new(ManualClock::default());
    let mut processes = Processes::new(backend.open().await.unwrap(), Arc::clone(&clock));
    let owner = Owner::new("tenant", "alice");
    let mut benches = Vec::new();
    for _ in 0..2 {
        let store = processes.view();
        let engine = builder(Arc::clone(&store), &clock).result_limit(LIMIT).build().await.unwrap();
        benches.push(Bench { engine, clock: Arc::clone(&clock), store, owner: owner.clone() });
    }
    let (bench, other) = (&benches[0], &benches[1]);

    let id = bench.create(json!([["panic", "secret"]])).await;
    failed(&ended_within(&processes, &id, 0, 0).await, "unexpectedly");

    let id = bench.create(json!([["return", "secret".repeat(LIMIT)]])).await;
    let record = ended_within(&processes, &id, 0, 0).await;
    failed(&record, "larger than the limit");
    assert!(mcp_tasks::types::to_string(&*record).unwrap().len() < 2 * LIMIT, "{record:?}");

    // The body hears nothing; it is not waited for longer than its grace, and then it is gone.
    let dropped = format!("endless over {name}");
    let id = bench.create(json!([["hold", dropped], ["return", "late"]])).await;
    processes.settle().await;
    assert_eq!(bench.cancel(&id).await.state, State::Working);
    let cancelled = ended_within(&processes, &id, 5_000, 5_000).await;
    assert_eq!(cancelled.state, State::Cancelled);
    bench.engine.idle().await;
    assert_eq!(count(&dropped), 1);

    let script = json!([["text step", format!("once over {name}")], ["ask", "approve"], ["token", ""]]);
    let again = bench.create(script.clone()).await;
    let mortal = bench.create_mortal(script).await;
    bench.asked(&again, 1).await;
    bench.asked(&mortal, 1).await;
    bench.store.die();
    failed(&ended_within(&processes, &mortal, 20_000, 31_000).await, "interrupted");
    let taken_up = other.get(&again).await;
    assert_eq!((taken_up.attempt, &taken_up.state), (2, &State::InputRequired));
    other
        .update(&again, json!({"approve": {"action": "accept", "content": {"approved": true}}}))
        .await
        .unwrap();
    let record = other.settled(&again).await;
    assert!(text(&record).ends_with("true,2"), "{record:?}");
}

#[tokio::test]
async fn runs_end_as_recorded_over_memory() {
    runs_end_as_recorded("memory", crate::store::fresh()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn runs_end_as_recorded_over_sqlite() {
    runs_end_as_recorded("SQLite", crate::sqlite::fresh()).await;
}

#[cfg(feature = "fs")]
#[tokio::test]
async fn runs_end_as_recorded_over_fs() {
    runs_end_as_recorded("fs", crate::fs::fresh()).await;
}

#[cfg(all(unix, feature = "postgres"))]
#[tokio::test]
async fn runs_end_as_recorded_over_postgres() {
    if crate::postgres::is_there() {
        runs_end_as_recorded("PostgreSQL", crate::postgres::fresh()).await;
    }
}
