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
