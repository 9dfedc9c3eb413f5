//! What becomes of jobs that share a commit.

use std::error::Error as _;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::oneshot::Receiver;

use super::super::{failed, file, rows};
use super::*;
use crate::owner::Owner;
use crate::record::{TaskRecord, ToolFingerprint};
use crate::store::Change;
use crate::store::row::Head;
use crate::store::writer::{Write, Writer};
use crate::store::{StoreError, StoreErrorKind};

/// Fails when its transaction is committed, and not before.
const FAILS_LATE: &str = "PRAGMA defer_foreign_keys = ON; INSERT INTO params VALUES ('nobody', '{}')";

type Answer = Receiver<Result<TaskRecord, StoreError>>;

struct Bench {
    connection: Connection,
    feed: ChangeFeed,
    batch: Vec<Box<dyn Job<Connection>>>,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = file::open(&folder.path().join("tasks.db")).unwrap();
        Self { connection, feed: ChangeFeed::default(), batch: Vec::new(), folder }
    }

    fn add(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<TaskRecord, StoreError> + Send + 'static,
    ) -> Answer {
        let (job, answer) = Write::new(work, |feed: &ChangeFeed, record: &TaskRecord| feed.written(record));
        self.batch.push(job);
        answer
    }

    fn insert(&mut self, id: &str) -> Answer {
        let head = head(id, 1);
        self.add(move |connection| rows::insert(connection, &head).map(|()| head.into_record()))
    }

    fn replace(&mut self, id: &str, version: u64) -> Answer {
        let head = head(id, version);
        self.add(move |connection| rows::replace(connection, head, version - 1))
    }

    fn execute(&mut self, sql: &'static str) -> Answer {
        self.add(move |connection| {
            connection.execute_batch(sql).map_err(failed)?;
            Ok(record("executed", 1))
        })
    }

    fn run(&mut self) {
        let named = Named::new(&self.folder.path().join("tasks.db"));
        run(&mut self.connection, &named, std::mem::take(&mut self.batch), &self.feed);
    }

    fn ids(&self) -> Vec<String> {
        let mut statement = self.connection.prepare("SELECT id FROM tasks ORDER BY id").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

fn record(id: &str, version: u64) -> TaskRecord {
    let tool = ToolFingerprint::new("tool", "digest", None);
    let now = mcp_tasks_types::Timestamp::from_unix_millis(1_767_225_600_000);
    TaskRecord { version, ..TaskRecord::new(id.into(), Owner::anonymous(), "tools/call", tool, now) }
}

fn head(id: &str, version: u64) -> Head {
    Head::new(record(id, version)).unwrap()
}

fn answered(mut answer: Answer) -> Result<u64, StoreErrorKind> {
    answer.try_recv().unwrap().map(|record| record.version).map_err(|err| err.kind())
}

#[test]
fn refused_job_undoes_its_own_effects_alone() {
    let mut bench = Bench::new();
    let first = bench.insert("a");
    let head_of_b = head("b", 1);
    let second = bench.add(move |connection| {
        rows::insert(connection, &head_of_b)?;
        rows::insert(connection, &head("a", 1)).map(|()| head_of_b.into_record())
    });
    let third = bench.insert("c");
    bench.run();
    assert_eq!(answered(first), Ok(1));
    assert_eq!(answered(second), Err(StoreErrorKind::Conflict));
    assert_eq!(answered(third), Ok(1));
    assert_eq!(bench.ids(), ["a", "c"]);
}

#[test]
fn commit_that_fails_is_everybodys_error_and_leaves_nothing() {
    let mut bench = Bench::new();
    let changes = bench.feed.subscribe();
    let first = bench.insert("a");
    // It is refused because of the first one, which is not there in the end.
    let second = bench.insert("a");
    let third = bench.execute(FAILS_LATE);
    bench.run();
    for answer in [first, second, third] {
        let err = { answer }.try_recv().unwrap().unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Unavailable);
        assert!(err.source().unwrap().to_string().contains("FOREIGN KEY"), "{err:?}");
    }
    assert!(bench.ids().is_empty());
    // The next ones are none the worse for it, and the first that is told.
    let next = bench.insert("a");
    bench.run();
    assert_eq!(answered(next), Ok(1));
    assert_eq!(told(bench, changes), [("a".to_owned(), 1)]);
}

#[test]
fn database_that_another_program_has_is_everybodys_error() {
    let mut bench = Bench::new();
    bench.connection.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(bench.folder.path().join("tasks.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answers = [bench.insert("a"), bench.insert("b")];
    bench.run();
    for answer in answers {
        let err = { answer }.try_recv().unwrap().unwrap_err();
        assert!(err.to_string().contains("locked by another program"), "{err:?}");
    }
    assert!(bench.ids().is_empty());
}

#[test]
fn full_disk_leaves_nothing_half_done() {
    let mut bench = Bench::new();
    let pages: i64 = bench.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    bench.connection.execute_batch(&format!("PRAGMA max_page_count = {}", pages + 2)).unwrap();
    let first = bench.insert("a");
    let large = bench.execute("CREATE TABLE large AS SELECT zeroblob(1000000)");
    let last = bench.insert("c");
    bench.run();
    let answers = [answered(first), answered(large), answered(last)];
    assert_eq!(answers[1], Err(StoreErrorKind::Unavailable));
    let written: Vec<&str> =
        ["a", "", "c"].iter().zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(id, _)| *id).collect();
    assert_eq!(bench.ids(), written);
}

/// Trying again is no use, so that nobody may wait for it.
#[test]
fn what_the_database_can_never_keep_is_refused_and_its_own_error() {
    let mut bench = Bench::new();
    let first = bench.insert("a");
    let large = bench.execute("CREATE TABLE large AS SELECT zeroblob(1000000001)");
    let of_nobody = bench.execute("INSERT INTO params VALUES ('nobody', '{}')");
    let without = bench.execute("INSERT INTO tasks (id) VALUES ('b')");
    let last = bench.insert("c");
    bench.run();
    for refused in [large, of_nobody, without] {
        let err = { refused }.try_recv().unwrap().unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Refused, "{err:?}");
    }
    assert_eq!((answered(first), answered(last)), (Ok(1), Ok(1)));
    assert_eq!(bench.ids(), ["a", "c"]);
}

#[test]
fn panic_is_one_callers_error() {
    let mut bench = Bench::new();
    let first = bench.insert("a");
    let second = bench.add(|connection| {
        rows::insert(connection, &head("b", 1))?;
        panic!("a fault of ours")
    });
    let third = bench.insert("c");
    bench.run();
    // It would panic again.
    assert_eq!(answered(second), Err(StoreErrorKind::Refused));
    assert_eq!((answered(first), answered(third)), (Ok(1), Ok(1)));
    assert_eq!(bench.ids(), ["a", "c"]);
}

/// What is told, once the feed's last sender is gone.
fn told(bench: Bench, mut changes: crate::store::Changes) -> Vec<(String, u64)> {
    drop(bench);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut told = Vec::new();
    while let Some(change) = runtime.block_on(changes.next()) {
        match change {
            Change::Written { id, version, .. } => told.push((id.to_string(), version)),
            other => told.push((format!("{other:?}"), 0)),
        }
    }
    told
}

#[test]
fn changes_are_told_in_the_order_of_versions() {
    let mut bench = Bench::new();
    let changes = bench.feed.subscribe();
    let mut answers = vec![bench.insert("a"), bench.insert("b")];
    for version in 2..6 {
        answers.push(bench.replace("a", version));
    }
    answers.push(bench.replace("b", 2));
    let late = bench.replace("a", 3);
    bench.run();
    for answer in answers {
        answered(answer).unwrap();
    }
    assert_eq!(answered(late), Err(StoreErrorKind::Conflict));
    let wanted = [("a", 1), ("b", 1), ("a", 2), ("a", 3), ("a", 4), ("a", 5), ("b", 2)];
    assert_eq!(told(bench, changes), wanted.map(|(id, version)| (id.to_owned(), version)));
}

/// What is queued while the disk is busy shares the next commit.
#[test]
fn callers_that_come_together_share_a_commit() {
    let Bench { mut connection, feed, folder, .. } = Bench::new();
    let other = Connection::open(folder.path().join("tasks.db")).unwrap();
    let seen = || other.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0)).unwrap();
    let named = Named::new(&folder.path().join("tasks.db"));
    let writer = Writer::start("writer", move |batch| run(&mut connection, &named, batch, &feed)).unwrap();
    let jobs = writer.jobs().unwrap();
    let (go, gate) = mpsc::channel::<()>();
    let (entered, entrance) = mpsc::channel::<()>();
    let wait = move |_: &Connection| {
        entered.send(()).unwrap();
        gate.recv().unwrap();
        Ok(record("waits", 1))
    };
    let (job, first) = Write::new(wait, |_: &ChangeFeed, _: &TaskRecord| {});
    jobs.send(job).unwrap();
    entrance.recv().unwrap();
    let answers: Vec<_> = (0..100)
        .map(|number| {
            let head = head(&format!("tsk_{number}"), 1);
            let insert =
                move |connection: &Connection| rows::insert(connection, &head).map(|()| head.into_record());
            let (job, answer) = Write::new(insert, |_: &ChangeFeed, _: &TaskRecord| {});
            jobs.send(job).unwrap();
            answer
        })
        .collect();
    let before = seen();
    go.send(()).unwrap();
    first.blocking_recv().unwrap().unwrap();
    for answer in answers {
        answer.blocking_recv().unwrap().unwrap();
        // The number counts what others have committed, as far as one has looked.
        let count: i64 = other.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 100);
    }
    assert!(seen() > before);
}
