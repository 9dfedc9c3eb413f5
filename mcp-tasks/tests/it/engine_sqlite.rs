//! The engine over a file: what one process left, the next goes on with.

use std::path::Path;
use std::sync::Arc;

use mcp_tasks::testing::ManualClock;
use mcp_tasks::{SqliteStore, Store, StoreErrorKind};
use serde_json::json;

use crate::support::{Bench, accept, bench_over, count, eventually, outstanding, text};

async fn opened(path: &Path, clock: &Arc<ManualClock>) -> Bench<Arc<SqliteStore>> {
    let store = SqliteStore::open(path).await.unwrap();
    bench_over(Arc::new(store), Arc::clone(clock)).await
}

/// S-33, S-35, P090: each process does one step of the task.
#[tokio::test]
async fn task_goes_on_through_any_number_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, clock) = (folder.path().join("tasks.db"), Arc::new(ManualClock::default()));
    let script = json!([
        ["step", "sqlite 1"],
        ["ask", "approve"],
        ["step", "sqlite 2"],
        ["ask", "approve"],
        ["token", ""]
    ]);

    let one = opened(&path, &clock).await;
    let id = one.create(script).await;
    let asked = one.asked(&id, 1).await;
    one.engine.shutdown().await;

    let two = opened(&path, &clock).await;
    let again = two.asked(&id, 1).await;
    assert_eq!((again.inputs.clone(), &again.created_at), (asked.inputs.clone(), &asked.created_at));
    two.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(outstanding(&*two.asked(&id, 1).await), ["approve#2"]);
    // Killed: nothing more of this process reaches the file.
    two.store.close().await;

    let three = opened(&path, &clock).await;
    assert_eq!(outstanding(&*three.asked(&id, 1).await), ["approve#2"]);
    three.update(&id, json!({"approve#2": {"action": "decline"}})).await.unwrap();
    assert_eq!(text(&three.settled(&id).await), "1,true,1,decline,3");
    assert_eq!((count("sqlite 1"), count("sqlite 2")), (1, 1));
    three.engine.shutdown().await;

    let four = opened(&path, &clock).await;
    assert_eq!(text(&four.get(&id).await), "1,true,1,decline,3");
}

/// The file is free when `shutdown` returns, whoever still holds the engine.
#[tokio::test]
async fn shutdown_gives_the_file_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, clock) = (folder.path().join("tasks.db"), Arc::new(ManualClock::default()));
    let one = opened(&path, &clock).await;
    let id = one.create(json!([["ask", "approve"]])).await;
    one.asked(&id, 1).await;
    assert_eq!(SqliteStore::open(&path).await.unwrap_err().kind(), StoreErrorKind::Locked);
    one.engine.shutdown().await;
    drop(SqliteStore::open(&path).await.unwrap());
    assert!(one.engine.get(&one.owner, &id).await.is_err());
}

/// C-31: with real threads, every handle that was returned resolves at once, for others as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_handle_resolves_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Arc::new(opened(&folder.path().join("tasks.db"), &Arc::new(ManualClock::default())).await);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let bench = Arc::clone(&bench);
            tokio::spawn(async move {
                for _ in 0..20 {
                    let id = bench.create(json!([["status", "x"], ["return", "done"]])).await;
                    bench.get(&id).await;
                    assert_eq!(text(&bench.settled(&id).await), "done");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    bench.engine.idle().await;
    eventually("the end of all runs", || bench.engine.running() == 0).await;
}

/// The same where a write takes its time: the question waits for the writer when the body loses interest.
#[tokio::test]
async fn question_dropped_while_it_is_asked_is_taken_back_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let bench = opened(&folder.path().join("tasks.db"), &Arc::new(ManualClock::default())).await;
    bench.dropped_questions_are_taken_back().await;
}

/// The file is free in time although a body blocks every thread that could have kept the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn shutdown_gives_the_file_back_although_a_body_blocks_the_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let (path, clock) = (folder.path().join("tasks.db"), Arc::new(ManualClock::default()));
    let store = Arc::new(SqliteStore::open(&path).await.unwrap());
    let engine =
        crate::support::builder(Arc::clone(&store), &clock).shutdown_grace_ms(50).build().await.unwrap();
    let bench = Bench { engine, clock: Arc::clone(&clock), store, owner: mcp_tasks::Owner::anonymous() };
    let id = bench.create(json!([["spin", "blocks the runtime"], ["return", "done"]])).await;
    eventually("the body", || count("blocks the runtime") == 1).await;
    bench.engine.shutdown().await;
    let free = SqliteStore::open(&path).await;
    crate::support::open("blocks the runtime");
    let next = bench_over(Arc::new(free.unwrap()), clock).await;
    // What the old body returns now is not written any more.
    eventually("the next run", || count("blocks the runtime") == 2).await;
    crate::support::open("blocks the runtime");
    next.engine.settled(&bench.owner, &id).await.unwrap();
}
