//! What those who run a server are told of records that cannot be dealt with.

use std::collections::BTreeSet;
use std::sync::Arc;

#[cfg(any(feature = "sqlite", feature = "fs"))]
use mcp_tasks::Clock as _;
use mcp_tasks::testing::{ManualClock, Verb};
use mcp_tasks::types::{RawObject, TaskId};
use mcp_tasks::{Engine, NewTask, Owner, Removed, Store, StoreErrorKind};
use serde_json::json;

use crate::support::{builder, faulty};

fn alice() -> Owner {
    Owner::new("tenant", "alice")
}

#[cfg(any(feature = "sqlite", feature = "fs"))]
fn bob() -> Owner {
    Owner::new("tenant", "bob")
}

async fn engine(store: impl Store, clock: &Arc<ManualClock>) -> Engine {
    builder(store, clock).build().await.unwrap()
}

/// Ended tasks of an owner.
async fn ended<const TASKS: usize>(engine: &Engine, owner: &Owner) -> [TaskId; TASKS] {
    let mut ids = Vec::new();
    for _ in 0..TASKS {
        let script = RawObject::new(&json!({"script": [["return", "x"]]})).unwrap();
        let task = engine.create(NewTask::new(owner.clone(), "rerun", script)).await.unwrap();
        ids.push(engine.settled(owner, &task.id).await.unwrap().id.clone());
    }
    ids.try_into().unwrap()
}

fn told(removed: &Removed) -> (usize, BTreeSet<TaskId>) {
    (removed.removed, removed.left.clone())
}

/// Of three tasks one is damaged: the others are removed, and it is told of to those whom it may concern.
#[cfg(any(feature = "sqlite", feature = "fs"))]
async fn damaged_record_is_told_of<S: Store>(
    open: impl AsyncFn() -> S,
    damage: impl Fn(&TaskId),
    whose_is_known: bool,
) {
    let clock = Arc::new(ManualClock::default());
    let first = engine(open().await, &clock).await;
    let [bad, _, _]: [TaskId; 3] = ended(&first, &alice()).await;
    let [_]: [TaskId; 1] = ended(&first, &bob()).await;
    first.shutdown().await;
    drop(first);
    damage(&bad);
    let engine = engine(open().await, &clock).await;
    let operators = engine.operators();
    let of_bad = BTreeSet::from([bad.clone()]);
    let page = operators.list(None, 9).await.unwrap();
    assert_eq!((page.records.len(), page.unreadable), (3, vec![bad.clone()]));
    assert_eq!(operators.stats().await.unwrap().unreadable, 1);
    // An owner is told of nothing whose owner may be another one.
    assert!(engine.list(&bob(), None, 9).await.unwrap().unreadable.is_empty());
    let of_bob = if whose_is_known { BTreeSet::new() } else { of_bad.clone() };
    assert_eq!(told(&operators.erase(&bob()).await.unwrap()), (1, of_bob));
    assert_eq!(told(&operators.erase(&alice()).await.unwrap()), (2, of_bad.clone()));
    clock.advance(1);
    assert_eq!(told(&operators.purge(&clock.now()).await.unwrap()), (0, of_bad));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn damaged_row_is_told_of_to_those_who_erase_and_purge() {
    for damage in ["record = '{'", "record = '{\"format\":2}'"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.db");
        let open = async || mcp_tasks::SqliteStore::open(&path).await.unwrap();
        let damaged = |id: &TaskId| {
            let sql = format!("UPDATE tasks SET {damage} WHERE id = ?1");
            rusqlite::Connection::open(&path).unwrap().execute(&sql, [id.as_str()]).unwrap();
        };
        damaged_record_is_told_of(open, damaged, true).await;
    }
}

#[cfg(feature = "fs")]
#[tokio::test]
async fn damaged_file_is_told_of_to_those_who_erase_and_purge() {
    let owner = r#"{"owner":{"tenant":"tenant","principal":"alice"}}"#;
    for (damage, whose_is_known) in [("{", false), ("{}", false), (owner, true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks");
        let open = async || mcp_tasks::FsStore::open(&path).await.unwrap();
        let damaged = |id: &TaskId| std::fs::write(path.join(format!("{id}.task.json")), damage).unwrap();
        damaged_record_is_told_of(open, damaged, whose_is_known).await;
    }
}

/// A record that the store refuses to remove keeps nobody from the others; a store that fails is an error.
#[tokio::test]
async fn record_that_is_not_removed_is_told_of() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let engine = engine(Arc::clone(&store), &clock).await;
    let mut ids: [TaskId; 3] = ended(&engine, &alice()).await;
    // As they are listed.
    ids.sort_unstable();
    let [first, second, third] = ids;
    store.fail(Verb::Remove, 1, StoreErrorKind::Corrupt);
    store.fail(Verb::Remove, 3, StoreErrorKind::Refused);
    let erased = engine.operators().erase(&alice()).await.unwrap();
    assert_eq!(told(&erased), (1, BTreeSet::from([first.clone(), third.clone()])));
    assert!(engine.get(&alice(), &second).await.is_err());
    store.fail(Verb::Remove, 1, StoreErrorKind::Unavailable);
    assert!(engine.operators().erase(&alice()).await.is_err());
    assert_eq!(told(&engine.operators().erase(&alice()).await.unwrap()), (2, BTreeSet::new()));
}

/// S-37, P093: an engine starts over a store with tasks of a newer version, serves the others and leaves those as they
/// are, and their own program goes on with them.
#[cfg(any(feature = "sqlite", feature = "fs"))]
async fn newer_tasks_wait_for_their_program<S: Store>(
    open: impl AsyncFn() -> S,
    change: impl Fn(&TaskId, &str, &str),
    text_of: impl Fn(&TaskId) -> String,
) {
    let clock = Arc::new(ManualClock::default());
    let before = engine(open().await, &clock).await;
    let create = async |engine: &Engine, script: serde_json::Value| {
        let script = RawObject::new(&json!({"script": script})).unwrap();
        engine.create(NewTask::new(alice(), "rerun", script)).await.unwrap().id.clone()
    };
    let newer = create(&before, json!([["ask", "approve"]])).await;
    let older = create(&before, json!([["ask", "approve"]])).await;
    for id in [&newer, &older] {
        before.wait(&alice(), id, |record| record.outstanding().count() == 1).await.unwrap();
    }
    before.shutdown().await;
    drop(before);
    change(&newer, "1", "2");
    let text = text_of(&newer);
    let after = engine(open().await, &clock).await;
    let yes = || crate::support::answers(&json!({"approve": crate::support::accept(true)}));
    after.update(&alice(), &older, yes()).await.unwrap();
    assert_eq!(crate::support::text(&after.settled(&alice(), &older).await.unwrap()), "true");
    let fresh = create(&after, json!([["return", "x"]])).await;
    after.settled(&alice(), &fresh).await.unwrap();
    assert_eq!(after.get(&alice(), &newer).await.unwrap_err().kind(), mcp_tasks::EngineErrorKind::Store);
    // Its lifetime is not this program's to end.
    for _ in 0..10 {
        clock.advance(100_000);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(
        told(&after.operators().purge(&clock.now()).await.unwrap()).1,
        BTreeSet::from([newer.clone()])
    );
    after.shutdown().await;
    drop(after);
    assert_eq!(text_of(&newer), text);
    change(&newer, "2", "1");
    let own = engine(open().await, &clock).await;
    let ended = own.settled(&alice(), &newer).await.unwrap();
    assert_eq!(ended.status_message.as_deref(), Some("Task expired"));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn rows_of_a_newer_version_wait_for_their_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let open = async || mcp_tasks::SqliteStore::open(&path).await.unwrap();
    let change = |id: &TaskId, from: &str, to: &str| {
        let sql = format!(
            "UPDATE tasks SET record = replace(record, '\"format\":{from}', '\"format\":{to}') WHERE id = ?1"
        );
        assert_eq!(rusqlite::Connection::open(&path).unwrap().execute(&sql, [id.as_str()]).unwrap(), 1);
    };
    let text_of = |id: &TaskId| {
        let sql = "SELECT json_array(record, version, live, due_at, lease_worker, lease_until) FROM tasks WHERE id = ?1";
        rusqlite::Connection::open(&path).unwrap().query_row(sql, [id.as_str()], |row| row.get(0)).unwrap()
    };
    newer_tasks_wait_for_their_program(open, change, text_of).await;
}

#[cfg(feature = "fs")]
#[tokio::test]
async fn files_of_a_newer_version_wait_for_their_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks");
    let open = async || mcp_tasks::FsStore::open(&path).await.unwrap();
    let file = |id: &TaskId| path.join(format!("{id}.task.json"));
    let change = |id: &TaskId, from: &str, to: &str| {
        let text = std::fs::read_to_string(file(id)).unwrap();
        let changed = text.replacen(&format!("\"format\": {from}"), &format!("\"format\": {to}"), 1);
        assert_ne!(changed, text);
        std::fs::write(file(id), changed).unwrap();
    };
    let text_of = |id: &TaskId| std::fs::read_to_string(file(id)).unwrap();
    newer_tasks_wait_for_their_program(open, change, text_of).await;
}
