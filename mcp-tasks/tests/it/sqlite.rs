//! The SQLite store: the contract, and what is special about a file.

use std::path::{Path, PathBuf};

use mcp_tasks::record::State;
use mcp_tasks::store::{Claim, Due, Parts};
use mcp_tasks::testing::Backend;
use mcp_tasks::types::Timestamp;
use mcp_tasks::{Owner, SqliteStore, Store, StoreError, StoreErrorKind};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::record;

pub(crate) struct File {
    path: PathBuf,
    _folder: TempDir,
}

impl Backend for File {
    type Store = SqliteStore;

    async fn open(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.path).await
    }
}

pub(crate) fn fresh() -> File {
    let folder = tempfile::tempdir().unwrap();
    File { path: folder.path().join("tasks.db"), _folder: folder }
}

/// C-14, C-31, S-09, S-33, S-35, S-37, P045, P093: by the rules of the contract.
#[tokio::test]
async fn sqlite_store_keeps_the_contract() {
    crate::support::keeps_the_contract("SQLite", fresh).await;
}

async fn refused(path: &Path, kind: StoreErrorKind) -> String {
    let before = std::fs::read(path).unwrap();
    let err = SqliteStore::open(path).await.unwrap_err();
    assert_eq!(err.kind(), kind, "{err}: {:?}", std::error::Error::source(&err));
    assert_eq!(std::fs::read(path).unwrap(), before, "a refused file was changed");
    err.to_string()
}

#[tokio::test]
async fn file_of_a_newer_version_is_refused_and_left_alone() {
    let file = fresh();
    drop(file.open().await.unwrap());
    Connection::open(&file.path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let message = refused(&file.path, StoreErrorKind::Unsupported).await;
    assert!(message.contains("tasks.db") && message.contains("newer"), "{message}");
}

#[tokio::test]
async fn damaged_or_foreign_file_is_refused_and_left_alone() {
    let file = fresh();
    std::fs::write(&file.path, "no database at all").unwrap();
    refused(&file.path, StoreErrorKind::Corrupt).await;

    let file = fresh();
    let store = file.open().await.unwrap();
    for number in 0..200 {
        store.insert(record(&format!("tsk_{number}"))).await.unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&file.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0x5a);
    std::fs::write(&file.path, &bytes).unwrap();
    refused(&file.path, StoreErrorKind::Corrupt).await;

    let file = fresh();
    Connection::open(&file.path).unwrap().execute_batch("CREATE TABLE other (a)").unwrap();
    refused(&file.path, StoreErrorKind::Unsupported).await;
}

#[tokio::test]
async fn record_of_a_newer_format_is_refused() {
    let file = fresh();
    file.open().await.unwrap().insert(record("tsk_1")).await.unwrap();
    let change = "UPDATE tasks SET record = '{\"format\":2,\"what\":\"ever\"}'";
    Connection::open(&file.path).unwrap().execute(change, []).unwrap();
    let err = file.open().await.unwrap().load(&"tsk_1".into(), Parts::Head).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unsupported);
    assert!(err.to_string().contains("tsk_1"), "{err}");
}

#[tokio::test]
async fn second_store_on_a_file_is_refused_until_the_first_is_gone() {
    let file = fresh();
    let store = file.open().await.unwrap();
    let err = file.open().await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Locked);
    assert!(err.to_string().contains("in use by another process"), "{err}");
    // Whoever waits gets the file as soon as it comes free.
    let waiting = tokio::spawn({
        let path = file.path.clone();
        async move { SqliteStore::open(path).await }
    });
    drop(store);
    waiting.await.unwrap().unwrap();
}

/// The file and the lock come free at once, although the store is still referred to.
#[tokio::test]
async fn closed_store_gives_the_file_back_and_answers_with_an_error() {
    let file = fresh();
    let store = file.open().await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    store.close().await;
    assert_eq!(store.insert(record("tsk_2")).await.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert_eq!(
        store.load(&"tsk_1".into(), Parts::Head).await.unwrap_err().kind(),
        StoreErrorKind::Unavailable
    );
    let names: Vec<_> =
        std::fs::read_dir(file.path.parent().unwrap()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("-wal")), "{names:?}");
    let second = file.open().await.unwrap();
    assert!(second.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_some());
}

/// C-31: a write that its caller did not wait for is whole or not there, and it is told.
#[tokio::test]
async fn write_whose_caller_went_away_is_told_all_the_same() {
    let file = fresh();
    let store = file.open().await.unwrap();
    let mut changes = store.changes();
    {
        let insert = std::pin::pin!(store.insert(record("tsk_1")));
        let mut insert = insert;
        assert!(
            std::future::poll_fn(|cx| std::task::Poll::Ready(insert.as_mut().poll(cx).is_pending())).await
        );
    }
    changes.next().await.unwrap();
    assert!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_and_readers_get_along() {
    let file = fresh();
    let store = std::sync::Arc::new(file.open().await.unwrap());
    let tasks: Vec<_> = (0..16)
        .map(|worker| {
            let store = std::sync::Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0..20 {
                    let id = format!("tsk_{worker}_{number}");
                    store.insert(record(&id)).await.unwrap();
                    assert!(store.load(&id.as_str().into(), Parts::Whole).await.unwrap().is_some());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let page = store.list(Some(&Owner::anonymous()), None, 1_000).await.unwrap();
    assert_eq!(page.records.len(), 320);
}

/// Another program that writes for a moment, such as a backup, delays a write and does not break it.
#[tokio::test]
async fn write_waits_for_another_program_to_finish() {
    let file = fresh();
    let store = std::sync::Arc::new(file.open().await.unwrap());
    let other = Connection::open(&file.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let insert = tokio::spawn({
        let store = std::sync::Arc::clone(&store);
        async move { store.insert(record("tsk_1")).await }
    });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    // Reading goes on meanwhile.
    assert!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_none());
    assert!(!insert.is_finished());
    other.execute_batch("COMMIT").unwrap();
    insert.await.unwrap().unwrap();
}

async fn is_locked(path: &Path) {
    let err = SqliteStore::open(path).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Locked, "{err}");
}

/// S-33: one file is one store, whatever it is called, also before it exists.
#[cfg(unix)]
#[tokio::test]
async fn file_is_locked_under_all_of_its_names() {
    use std::os::unix::fs::symlink;

    let file = fresh();
    let folder = file.path.parent().unwrap();
    let (link, far, hard) = (folder.join("link.db"), folder.join("far/link.db"), folder.join("far/hard.db"));
    std::fs::create_dir(folder.join("far")).unwrap();
    symlink("tasks.db", &link).unwrap();
    symlink("../link.db", &far).unwrap();

    // Through two links to a file that does not exist yet.
    let store = SqliteStore::open(&far).await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    assert!(!std::fs::symlink_metadata(&file.path).unwrap().is_symlink());
    std::fs::hard_link(&file.path, &hard).unwrap();
    let names = [file.path.clone(), link.clone(), folder.join("far/../link.db"), hard.clone()];
    let tries: Vec<_> =
        names.into_iter().map(|name| tokio::spawn(async move { is_locked(&name).await })).collect();
    for tried in tries {
        tried.await.unwrap();
    }
    assert!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_some());
    store.insert(record("tsk_2")).await.unwrap();
    drop(store);

    // And the other way round, with lock files under both names.
    for (one, other) in [(&hard, &link), (&file.path, &hard)] {
        let store = SqliteStore::open(one).await.unwrap();
        assert!(store.load(&"tsk_2".into(), Parts::Head).await.unwrap().is_some());
        is_locked(other).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn file_stays_locked_when_its_lock_file_is_deleted() {
    let file = fresh();
    let lock = file.path.with_extension("db.lock");
    let store = file.open().await.unwrap();
    std::fs::remove_file(&lock).unwrap();
    // The first try makes a new lock file, which the second one finds.
    is_locked(&file.path).await;
    is_locked(&file.path).await;
    // A second store that was opened meanwhile may not even have finished off the log of the first.
    store.insert(record("tsk_1")).await.unwrap();
    std::fs::remove_file(&lock).unwrap();
    drop(store);
    let store = file.open().await.unwrap();
    assert!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_some());
}

/// Another program that looks at the file keeps nobody out whose lock is in order.
#[tokio::test]
async fn file_that_another_program_reads_can_be_opened() {
    let file = fresh();
    drop(file.open().await.unwrap());
    let other = Connection::open(&file.path).unwrap();
    other.query_row("SELECT count(*) FROM tasks", [], |_| Ok(())).unwrap();
    let store = file.open().await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
}

fn change(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn text_of(path: &Path, id: &str) -> Vec<u8> {
    let sql = "SELECT CAST(record AS BLOB) FROM tasks WHERE id = ?1";
    Connection::open(path).unwrap().query_row(sql, [id], |row| row.get(0)).unwrap()
}

/// S-37, P093: what cannot be understood is set aside as it is, and stops nobody else.
#[tokio::test]
async fn record_that_cannot_be_read_is_set_aside_and_the_others_are_served() {
    let damages = [
        "UPDATE tasks SET record = '{' WHERE id = 'bad'",
        "UPDATE tasks SET record = '{}' WHERE id = 'bad'",
        "UPDATE tasks SET record = replace(record, '\"state\"', '\"stat\"') WHERE id = 'bad'",
        "UPDATE tasks SET record = CAST(X'7bff7d' AS TEXT) WHERE id = 'bad'",
        "UPDATE tasks SET attempt = -1 WHERE id = 'bad'",
        "INSERT INTO params (task, value) VALUES ('bad', '{')",
        "INSERT INTO steps (task, name, fingerprint, value) VALUES ('bad', 'a', 'b', 'no')",
    ];
    for damage in damages {
        let file = fresh();
        let store = file.open().await.unwrap();
        for (id, at) in [("bad", 0), ("good", 1)] {
            let mut task = record(id);
            task.created_at = Timestamp::from_unix_millis(at);
            task.ttl_ms = Some(1_000);
            store.insert(task).await.unwrap();
        }
        drop(store);
        change(&file.path, damage);
        let before = text_of(&file.path, "bad");

        let now = Timestamp::from_unix_millis(5_000);
        let store = file.open().await.unwrap();
        // The oldest would come first and fill the page.
        let claim = || Claim::new("worker", now.clone(), now.clone(), 1);
        let claimed = store.claim(claim()).await.unwrap();
        assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["good"], "{damage}");
        let due = store.due(&now, 1).await.unwrap();
        assert_eq!(due.ids, ["good".into()], "{damage}");
        assert_eq!(due.next, None);
        assert_eq!(store.load(&"good".into(), Parts::Whole).await.unwrap().unwrap().attempt, 1);
        let err = store.load(&"bad".into(), Parts::Whole).await.unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Corrupt, "{damage}");
        assert!(err.to_string().contains("tasks.db"), "{err}");
        let page = store.list(Some(&Owner::anonymous()), None, 2).await.unwrap();
        assert!(page.records.iter().any(|task| task.id.as_str() == "good"), "{damage}");
        drop(store);
        assert_eq!(text_of(&file.path, "bad"), before, "{damage}");
    }
}

/// The same where only the timer comes across it: it would never get past it.
#[tokio::test]
async fn ended_record_that_cannot_be_read_is_not_due_for_ever() {
    let file = fresh();
    let store = file.open().await.unwrap();
    for number in 0..10 {
        let mut task = record(&format!("tsk_{number}"));
        task.ttl_ms = Some(1);
        task.state = State::Cancelled;
        store.insert(task).await.unwrap();
    }
    change(&file.path, "UPDATE tasks SET record = 'x' WHERE id < 'tsk_5'");
    let now = Timestamp::from_unix_millis(1_900_000_000_000);
    let due = store.due(&now, 3).await.unwrap();
    assert_eq!(due.ids, ["tsk_5".into(), "tsk_6".into(), "tsk_7".into()]);
    assert!(due.next.is_some());
    for number in 5..10 {
        store.remove(&format!("tsk_{number}").as_str().into(), 1).await.unwrap();
    }
    assert_eq!(store.due(&now, 3).await.unwrap(), Due::default());
    let left: i64 = Connection::open(&file.path)
        .unwrap()
        .query_row("SELECT count(*) FROM tasks WHERE record = 'x'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 5);
}

/// S-37, P093: a newer version's tasks are not touched, whether they are live or not, and the others are served.
#[tokio::test]
async fn task_of_a_newer_format_is_neither_taken_up_nor_set_aside() {
    let newer = "UPDATE tasks SET record = '{\"format\":2,\"what\":\"ever\"}' WHERE id = 'newer'";
    let now = Timestamp::from_unix_millis(1_900_000_000_000);
    for state in [State::Working, State::Cancelled] {
        let file = fresh();
        let store = file.open().await.unwrap();
        let mut task = record("newer");
        (task.ttl_ms, task.state) = (Some(1), state);
        if !task.state.is_terminal() {
            task.lease = Some(mcp_tasks::record::Lease::new("dead", now.clone(), 1));
        }
        store.insert(task).await.unwrap();
        let mut task = record("other");
        task.ttl_ms = Some(1);
        store.insert(task).await.unwrap();
        change(&file.path, newer);
        let row = |connection: &Connection| {
            let sql = "SELECT live, due_at, version, record, lease_worker, lease_until FROM tasks WHERE id = 'newer'";
            let read = |row: &rusqlite::Row<'_>| {
                Ok((
                    row.get::<_, bool>(0)?,
                    row.get::<_, i64>(1)?,
                    row.get::<_, i64>(2)?,
                    row.get::<_, String>(3)?,
                    (row.get::<_, Option<String>>(4)?, row.get::<_, i64>(5)?),
                ))
            };
            connection.query_row(sql, [], read).unwrap()
        };
        let before = row(&Connection::open(&file.path).unwrap());
        drop(store);
        let store = file.open().await.unwrap();
        let until = Timestamp::from_unix_millis(now.unix_millis() + 1_000);
        let claimed = store.claim(Claim::new("worker", now.clone(), until.clone(), 1)).await.unwrap();
        assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["other"]);
        let due = store.due(&now, 9).await.unwrap();
        // Nobody is woken for what nobody takes up.
        assert_eq!((due.ids, due.lease_end), (vec!["other".into()], Some(until)));
        let err = store.load(&"newer".into(), Parts::Head).await.unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Unsupported);
        let page = store.list(None, None, 9).await.unwrap();
        assert_eq!((page.records.len(), page.unreadable), (1, vec!["newer".into()]));
        assert_eq!(row(&Connection::open(&file.path).unwrap()), before);
    }
}

/// What people said is in the files, so that nobody else may read them.
#[cfg(unix)]
#[tokio::test]
async fn database_and_the_files_beside_it_are_their_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let file = fresh();
    let store = file.open().await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(file.path.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["tasks.db", "tasks.db-shm", "tasks.db-wal", "tasks.db.lock"]);
}

/// C-31: what is written to a file that nobody finds any more is lost, so that it is refused.
#[cfg(unix)]
#[tokio::test]
async fn database_that_was_deleted_or_replaced_while_open_takes_no_more_writes() {
    for is_replaced in [false, true] {
        let file = fresh();
        let store = file.open().await.unwrap();
        store.insert(record("tsk_1")).await.unwrap();
        std::fs::rename(&file.path, file.path.with_extension("gone")).unwrap();
        if is_replaced {
            std::fs::write(&file.path, "").unwrap();
        }
        let error = store.insert(record("tsk_2")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Locked, "{error}");
        assert!(error.to_string().contains("deleted or replaced"), "{error}");
    }
}
