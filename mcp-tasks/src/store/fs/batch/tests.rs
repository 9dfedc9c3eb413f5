//! What becomes of writes that share a commit.

use mcp_tasks_types::{RawJson, RawObject};
use tempfile::TempDir;
use tokio::sync::oneshot::Receiver;

use super::*;
use crate::owner::Owner;
use crate::record::ToolFingerprint;
use crate::store::writer::Write;
use crate::store::{Change as Told, Changes};

type Answer<T> = Receiver<Result<T, StoreError>>;

struct Bench {
    batch: Batch,
    shared: Arc<RwLock<Shared>>,
    feed: ChangeFeed,
    jobs: Vec<Box<dyn Job<Batch>>>,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::open(tempfile::tempdir().unwrap())
    }

    /// As the next process would.
    fn reopened(self) -> Self {
        let Self { batch, folder, .. } = self;
        drop(batch);
        Self::open(folder)
    }

    fn open(folder: TempDir) -> Self {
        let (opened, lock) = folder::open(folder.path()).unwrap();
        let shared = Arc::new(RwLock::new(opened.read_all().unwrap()));
        let feed = ChangeFeed::default();
        let batch = Batch::new(opened, lock, Arc::clone(&shared), feed.clone());
        Self { batch, shared, feed, jobs: Vec::new(), folder }
    }

    fn add<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Batch) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<T> {
        let (job, answer) = Write::new(work, |_: &ChangeFeed, _: &T| {});
        self.jobs.push(job);
        answer
    }

    fn insert(&mut self, id: &str, params: Option<&str>) -> Answer<SharedRecord> {
        let params = params.map(|text| RawObject::from_text(text).unwrap());
        let lines = parts::lines(params.as_ref(), &[]).unwrap();
        let head = Head::new(record(id, 1)).unwrap();
        let (job, answer) = Write::new(
            move |batch: &Batch| batch.insert(head, &lines),
            |feed: &ChangeFeed, record: &SharedRecord| feed.written(record),
        );
        self.jobs.push(job);
        answer
    }

    fn replace(&mut self, id: &str, version: u64) -> Answer<SharedRecord> {
        let head = Head::new(record(id, version)).unwrap();
        let (job, answer) = Write::new(
            move |batch: &Batch| batch.replace(head, version - 1),
            |feed: &ChangeFeed, record: &SharedRecord| feed.written(record),
        );
        self.jobs.push(job);
        answer
    }

    fn remove(&mut self, id: &'static str, version: u64) -> Answer<()> {
        self.add(move |batch| batch.remove(&id.into(), version))
    }

    fn claim(&mut self, limit: usize) -> Answer<Vec<SharedRecord>> {
        let claim = Claim::new("worker", at(0), at(100), limit);
        self.add(move |batch| batch.claim(&claim))
    }

    fn step(&mut self, id: &'static str, token: u64, name: &str) -> Answer<()> {
        let step = StepRecord::new(name, "print", RawJson::null());
        self.add(move |batch| batch.append_step(&id.into(), token, step))
    }

    fn load(&mut self, id: &'static str) -> Answer<Option<SharedRecord>> {
        self.add(move |batch| batch.load_whole(&id.into()))
    }

    fn run(&mut self) {
        let jobs = mem::take(&mut self.jobs);
        self.batch.run(jobs);
    }

    /// What others see in memory.
    fn version(&self, id: &str) -> Option<u64> {
        let shared = self.shared.read().unwrap();
        shared.heads.get(&id.into()).map(|head| head.version)
    }

    /// The names of all files that belong to tasks.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with("mcp-tasks.")).collect();
        names.sort_unstable();
        names
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_767_225_600_000 + millis)
}

fn record(id: &str, version: u64) -> TaskRecord {
    let tool = ToolFingerprint::new("tool", "digest", None);
    TaskRecord { version, ..TaskRecord::new(id.into(), Owner::anonymous(), "tools/call", tool, at(0)) }
}

fn answered<T>(mut answer: Answer<T>) -> Result<T, StoreErrorKind> {
    answer.try_recv().unwrap().map_err(|err| err.kind())
}

fn version(answer: Answer<SharedRecord>) -> Result<u64, StoreErrorKind> {
    answered(answer).map(|record| record.version)
}

fn told(bench: Bench, mut changes: Changes) -> Vec<(String, u64)> {
    drop(bench);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut told = Vec::new();
    while let Some(change) = runtime.block_on(changes.next()) {
        match change {
            Told::Written { id, version, .. } => told.push((id.to_string(), version)),
            other => told.push((format!("{other:?}"), 0)),
        }
    }
    told
}

#[test]
fn jobs_see_what_the_ones_before_have_prepared() {
    let mut bench = Bench::new();
    let changes = bench.feed.subscribe();
    let first = bench.insert("a", Some(r#"{"n":1}"#));
    let twice = bench.insert("a", None);
    let second = bench.replace("a", 2);
    let late = bench.replace("a", 2);
    let third = bench.replace("a", 3);
    let other = bench.insert("b", None);
    let claimed = bench.claim(1);
    let step = bench.step("a", 1, "one");
    let again = bench.step("a", 1, "one");
    let loaded = bench.load("a");
    let rest = bench.claim(9);
    let nothing = bench.claim(9);
    bench.run();
    assert_eq!(
        [version(first), version(second), version(third), version(other)],
        [Ok(1), Ok(2), Ok(3), Ok(1)]
    );
    for refused in [version(twice), version(late)] {
        assert_eq!(refused, Err(StoreErrorKind::Conflict));
    }
    let claimed = answered(claimed).unwrap();
    assert_eq!((claimed[0].id.as_str(), claimed[0].version, claimed.len()), ("a", 4, 1));
    assert_eq!(claimed[0].params.as_ref().unwrap().as_str(), r#"{"n":1}"#);
    assert_eq!((answered(step), answered(again)), (Ok(()), Err(StoreErrorKind::Conflict)));
    assert_eq!(answered(loaded).unwrap().unwrap().steps.len(), 1);
    assert_eq!(answered(rest).unwrap()[0].id.as_str(), "b");
    assert!(answered(nothing).unwrap().is_empty());
    assert_eq!((bench.version("a"), bench.version("b")), (Some(4), Some(2)));
    assert_eq!(bench.names(), ["a.parts.jsonl", "a.task.json", "b.task.json"]);
    // Claims are told by the store above.
    assert_eq!(
        told(bench, changes),
        [("a", 1), ("a", 2), ("a", 3), ("b", 1)].map(|(id, v)| (id.to_owned(), v))
    );
}

#[test]
fn task_that_goes_and_comes_again_in_one_batch_has_its_own_parts() {
    let mut bench = Bench::new();
    bench.insert("a", Some(r#"{"n":1}"#));
    bench.insert("b", Some(r#"{"n":1}"#));
    bench.run();
    let removed = [bench.remove("a", 1), bench.remove("b", 1)];
    let inserted =
        [bench.insert("a", Some(r#"{"n":2}"#)), bench.insert("b", None), bench.insert("c", Some("{}"))];
    let gone = bench.remove("c", 1);
    let loaded = [bench.load("a"), bench.load("b"), bench.load("c")];
    bench.run();
    for answer in removed.into_iter().chain([gone]) {
        assert_eq!(answered(answer), Ok(()));
    }
    for answer in inserted {
        assert_eq!(version(answer), Ok(1));
    }
    let [a, b, c] = loaded.map(|answer| answered(answer).unwrap());
    assert_eq!(a.unwrap().params.as_ref().unwrap().as_str(), r#"{"n":2}"#);
    assert!(b.unwrap().params.is_none());
    assert!(c.is_none());
    assert_eq!(bench.names(), ["a.parts.jsonl", "a.task.json", "b.task.json"]);
}

#[test]
fn job_that_panics_takes_back_what_it_prepared() {
    let mut bench = Bench::new();
    bench.insert("a", None);
    bench.claim(1);
    bench.run();
    let before = bench.insert("b", None);
    let panics = bench.add::<()>(|batch| {
        batch.insert(Head::new(record("c", 1))?, "{\"params\":{}}\n")?;
        batch.append_step(&"a".into(), 1, StepRecord::new("lost", "print", RawJson::null()))?;
        panic!("a fault of ours")
    });
    let after = bench.step("a", 1, "kept");
    bench.run();
    assert_eq!((version(before), answered(panics)), (Ok(1), Err(StoreErrorKind::Refused)));
    assert_eq!(answered(after), Ok(()));
    let loaded = bench.load("a");
    bench.run();
    let steps = answered(loaded).unwrap().unwrap().steps.clone();
    assert_eq!(steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["kept"]);
    assert_eq!(bench.version("c"), None);
    assert_eq!(bench.names(), ["a.parts.jsonl", "a.task.json", "b.task.json"]);
}

/// Half of the files have their names when the commit fails: everybody hears of it, and memory follows the folder.
#[cfg(unix)]
#[test]
fn commit_that_fails_is_everybodys_error_and_memory_follows_the_folder() {
    let mut bench = Bench::new();
    bench.insert("b", Some("{}"));
    bench.claim(1);
    bench.run();
    let changes = bench.feed.subscribe();
    let first = bench.insert("a", None);
    let refused = bench.insert("a", None);
    let step = bench.step("b", 1, "lost");
    // It is in the way when all is prepared.
    let way = bench.folder.path().join("c.task.json");
    let in_the_way = way.clone();
    let third = bench.insert("c", Some("{}"));
    let blocks = bench.add(move |_| {
        fs::create_dir_all(&in_the_way).unwrap();
        Ok(())
    });
    bench.run();
    let errors = [version(first).map(drop), version(refused).map(drop), version(third).map(drop)];
    for error in errors.into_iter().chain([answered(step), answered(blocks)]) {
        assert_eq!(error, Err(StoreErrorKind::Unavailable));
    }
    assert_eq!((bench.version("a"), bench.version("c")), (None, None));
    fs::remove_dir(&way).unwrap();
    let loaded = bench.load("b");
    let again = bench.insert("c", None);
    bench.run();
    assert!(answered(loaded).unwrap().unwrap().steps.is_empty());
    assert_eq!(version(again), Ok(1));
    // The first one had its name before.
    assert_eq!(bench.version("a"), Some(1));
    assert_eq!(bench.names(), ["a.task.json", "b.parts.jsonl", "b.task.json", "c.task.json"]);
    assert_eq!(told(bench, changes), [("a".to_owned(), 1), ("c".to_owned(), 1)]);
}

/// S-37, P093: one file that cannot be read stops neither who takes tasks up nor who writes.
#[cfg(unix)]
#[test]
fn file_that_cannot_be_read_stops_nobody_else() {
    let mut bench = Bench::new();
    for id in ["a", "b"] {
        bench.insert(id, Some("{}"));
    }
    bench.run();
    let parts = bench.folder.path().join("a.parts.jsonl");
    fs::remove_file(&parts).unwrap();
    fs::create_dir(&parts).unwrap();
    let claimed = bench.claim(9);
    bench.run();
    let ids = |claimed: Vec<SharedRecord>| claimed.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    assert_eq!(answered(claimed).map(ids), Ok(vec!["b".to_owned()]));

    // The same after a commit that failed, when memory has to follow the folder.
    let in_the_way = bench.folder.path().join("c.task.json");
    let third = bench.insert("c", None);
    bench.add(move |_| {
        fs::create_dir_all(&in_the_way).unwrap();
        Ok(())
    });
    bench.run();
    assert_eq!(version(third), Err(StoreErrorKind::Unavailable));
    let other = bench.insert("d", None);
    bench.run();
    assert_eq!(version(other), Ok(1));
}

/// S-35: a commit that fails brings back neither an older version nor the lease of a process that is gone.
#[cfg(unix)]
#[test]
fn lease_of_a_dead_process_does_not_come_back_by_a_commit_that_fails() {
    let mut bench = Bench::new();
    bench.insert("z", None);
    bench.claim(1);
    bench.run();
    let mut bench = bench.reopened();
    let (before, changes) = (bench.version("z").unwrap(), bench.feed.subscribe());
    // The file in the way comes first, so that the other one keeps what it had.
    let in_the_way = bench.folder.path().join("c.task.json");
    let first = bench.insert("c", None);
    let second = bench.replace("z", before + 1);
    bench.add(move |_| {
        fs::create_dir_all(&in_the_way).unwrap();
        Ok(())
    });
    bench.run();
    assert_eq!((version(first).is_err(), version(second).is_err()), (true, true));
    let next = bench.load("z");
    bench.run();
    let next = answered(next).unwrap().unwrap();
    assert_eq!((next.version, next.lease.clone()), (before, None));
    let claimed = bench.claim(1);
    bench.run();
    assert_eq!(answered(claimed).unwrap().len(), 1);
    assert_eq!(told(bench, changes), []);
}
