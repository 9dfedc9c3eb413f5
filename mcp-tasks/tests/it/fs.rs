//! The store of JSON files: the contract, and what is special about a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_tasks::lifecycle::{Event, apply};
use mcp_tasks::record::{State, StepRecord};
use mcp_tasks::store::{Claim, Parts};
use mcp_tasks::testing::{Backend, ManualClock};
use mcp_tasks::types::{RawJson, RawObject, TaskId, Timestamp};
use mcp_tasks::{FsStore, Owner, Store, StoreError, StoreErrorKind, TaskRecord};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{accept, bench_over, count, record, text};

pub(crate) struct Folder {
    path: PathBuf,
    _folder: TempDir,
}

impl Backend for Folder {
    type Store = FsStore;

    async fn open(&self) -> Result<FsStore, StoreError> {
        FsStore::open(&self.path).await
    }
}

pub(crate) fn fresh() -> Folder {
    let folder = tempfile::tempdir().unwrap();
    Folder { path: folder.path().join("tasks"), _folder: folder }
}

impl Folder {
    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The names of all files, in order.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    async fn refused(&self) -> StoreError {
        self.open().await.unwrap_err()
    }
}

fn with_parts(id: &str) -> TaskRecord {
    let mut task = record(id);
    task.params = Some(RawObject::from_text(r#"{"n":1.0}"#).unwrap());
    task
}

fn step(name: &str) -> StepRecord {
    StepRecord::new(name, "print", RawJson::from_text("[1e2]").unwrap())
}

fn now() -> Timestamp {
    Timestamp::from_unix_millis(1_900_000_000_000)
}

fn claim(limit: usize) -> Claim {
    Claim::new("worker", now(), Timestamp::from_unix_millis(1_900_000_010_000), limit)
}

async fn ids(store: &FsStore) -> Vec<String> {
    let page = store.list(None, None, 100).await.unwrap();
    page.records.iter().map(|record| record.id.to_string()).collect()
}

/// C-14, C-31, S-09, S-33, S-34, S-35, S-37, P045, P093: by the rules of the contract.
#[tokio::test]
async fn fs_store_keeps_the_contract() {
    crate::support::keeps_the_contract("fs", fresh).await;
}

#[tokio::test]
async fn any_id_has_a_file_inside_the_folder() {
    let folder = fresh();
    let long = "x".repeat(1_024);
    let ids = ["", ".", "..", "../out", "a/b", "a\\b", "nul\0", "ä 😀", "%2F", "~", "a.task.json", &long];
    let store = folder.open().await.unwrap();
    for id in ids {
        store.insert(with_parts(id)).await.unwrap();
    }
    drop(store);
    assert_eq!(folder.names().iter().filter(|name| name.ends_with(".task.json")).count(), ids.len());
    assert!(folder.names().contains(&"a%2Fb.task.json".to_owned()), "{:?}", folder.names());
    assert_eq!(fs::read_dir(folder.path.parent().unwrap()).unwrap().count(), 1);
    let store = folder.open().await.unwrap();
    for id in ids {
        let read = store.load(&id.into(), Parts::Whole).await.unwrap().unwrap();
        assert_eq!(*read, with_parts(id));
    }
}

/// S-34: no stray file is read as a task, and none is lost.
#[tokio::test]
async fn stray_files_are_ignored_and_kept() {
    let folder = fresh();
    folder.open().await.unwrap().insert(with_parts("tsk_1")).await.unwrap();
    fs::create_dir(folder.file("tsk_3.task")).unwrap();
    let strays =
        ["notes.json", "tsk_1.task.json~", "tsk 2.task.json", ".task.json", "a.tmp", "tsk_1.task.json.x.tmp"];
    for stray in strays {
        fs::write(folder.file(stray), "mine").unwrap();
    }
    let store = folder.open().await.unwrap();
    assert_eq!(ids(&store).await, ["tsk_1"]);
    assert_eq!(store.claim(claim(9)).await.unwrap().len(), 1);
    for stray in strays {
        assert_eq!(fs::read_to_string(folder.file(stray)).unwrap(), "mine", "{stray}");
    }
}

/// S-34: whatever the process had reached when it died, the record is the old one or the new one.
#[tokio::test]
async fn what_a_dead_process_left_is_cleaned_up() {
    let folder = fresh();
    folder.open().await.unwrap().insert(with_parts("tsk_1")).await.unwrap();
    let before = folder.names();
    let whole = fs::read_to_string(folder.file("tsk_1.task.json")).unwrap();
    // Replacing: the temporary file is half or wholly written, and not renamed.
    fs::write(folder.file("tsk_1.task.json.7.tmp"), &whole[..whole.len() / 2]).unwrap();
    fs::write(folder.file("tsk_1.task.json.8.tmp"), whole.replace("working", "other")).unwrap();
    // Inserting: parameters are there, the record is not.
    fs::write(folder.file("tsk_2.parts.jsonl"), "{\"params\":{\"secret\":1}}\n").unwrap();
    let store = folder.open().await.unwrap();
    assert_eq!(folder.names(), before);
    assert_eq!(*store.load(&"tsk_1".into(), Parts::Whole).await.unwrap().unwrap(), with_parts("tsk_1"));
    // The id is as good as new.
    store.insert(record("tsk_2")).await.unwrap();
    assert_eq!(*store.load(&"tsk_2".into(), Parts::Whole).await.unwrap().unwrap(), record("tsk_2"));
}

/// S-34: the steps before a torn one are there, and the next one can be read again.
#[tokio::test]
async fn half_written_step_is_dropped() {
    let folder = fresh();
    let id = TaskId::from("tsk_1");
    let store = folder.open().await.unwrap();
    store.insert(with_parts("tsk_1")).await.unwrap();
    store.claim(claim(1)).await.unwrap();
    store.append_step(&id, 1, step("a")).await.unwrap();
    drop(store);
    let path = folder.file("tsk_1.parts.jsonl");
    let whole = fs::read(&path).unwrap();
    for torn in [&b"{\"st"[..], b"{\"step\":{\"name\":\"b\",\"fingerprint\":\"\",\"value\":1}}", b"\0\0"] {
        fs::write(&path, [&whole[..], torn].concat()).unwrap();
        let store = folder.open().await.unwrap();
        let claimed = store.claim(claim(1)).await.unwrap();
        assert_eq!(claimed[0].steps, [step("a")]);
        store.append_step(&id, claimed[0].fence, step("c")).await.unwrap();
        drop(store);
        let store = folder.open().await.unwrap();
        assert_eq!(store.load(&id, Parts::Whole).await.unwrap().unwrap().steps, [step("a"), step("c")]);
        assert!(store.load(&id, Parts::Whole).await.unwrap().unwrap().params.is_some());
    }
}

/// S-37, P093: what cannot be understood is set aside as it is, and stops nobody else.
#[tokio::test]
async fn record_that_cannot_be_read_is_set_aside_and_the_others_are_served() {
    let damages: [(&str, &[u8]); 6] = [
        ("bad.task.json", b""),
        ("bad.task.json", b"{}"),
        ("bad.task.json", b"{\xff}"),
        ("bad.task.json", b"other"),
        ("bad.parts.jsonl", b"{\n"),
        ("bad.parts.jsonl", b"{\"step\":{\"name\":1}}\n"),
    ];
    for (name, damage) in damages {
        let folder = fresh();
        let store = folder.open().await.unwrap();
        for (id, at) in [("bad", 0), ("good", 1)] {
            let mut task = with_parts(id);
            task.created_at = Timestamp::from_unix_millis(at);
            task.ttl_ms = Some(1_000);
            store.insert(task).await.unwrap();
        }
        drop(store);
        let other = fs::read(folder.file("good.task.json")).unwrap();
        let damage = if damage == b"other" { &other[..] } else { damage };
        fs::write(folder.file(name), damage).unwrap();
        let store = folder.open().await.unwrap();
        // The oldest would come first.
        let claimed = store.claim(claim(1)).await.unwrap();
        assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["good"], "{name}");
        assert_eq!(store.due(&now(), 9).await.unwrap().ids, ["good".into()]);
        let bad = TaskId::from("bad");
        for parts in [Parts::Head, Parts::Whole] {
            let err = store.load(&bad, parts).await.unwrap_err();
            assert_eq!(err.kind(), StoreErrorKind::Corrupt);
            assert!(err.to_string().contains(name), "{err}");
        }
        assert_eq!(store.insert(record("bad")).await.unwrap_err().kind(), StoreErrorKind::Corrupt);
        assert_eq!(store.remove(&bad, 1).await.unwrap_err().kind(), StoreErrorKind::Corrupt);
        drop(store);
        assert_eq!(fs::read(folder.file(name)).unwrap(), damage);
    }
}

/// S-37, P093: a newer version's tasks are not touched, whether they are live or not, and the others are served.
#[tokio::test]
async fn task_of_a_newer_format_is_neither_taken_up_nor_set_aside_for_others() {
    for state in [State::Working, State::Cancelled] {
        let folder = fresh();
        let store = folder.open().await.unwrap();
        let mut task = record("newer");
        task.state = state;
        store.insert(task).await.unwrap();
        store.insert(record("other")).await.unwrap();
        drop(store);
        let path = folder.file("newer.task.json");
        let newer = fs::read_to_string(&path).unwrap().replacen("\"format\": 1", "\"format\": 2", 1);
        fs::write(&path, newer.replace("\"method\"", "\"methods\"")).unwrap();
        let before = fs::read(&path).unwrap();
        let store = folder.open().await.unwrap();
        let err = store.load(&"newer".into(), Parts::Head).await.unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Unsupported, "{err}");
        let claimed = store.claim(claim(1)).await.unwrap();
        assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["other"]);
        assert_eq!(ids(&store).await, ["other"]);
        let due = store.due(&now(), 9).await.unwrap();
        assert!(due.lease_end.is_some_and(|end| end > now()), "somebody is woken for what nobody takes up");
        drop(store);
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[tokio::test]
async fn folder_of_a_newer_version_or_of_something_else_is_refused_and_left_alone() {
    let cases = [
        (r#"{"store":"mcp-tasks","layout":99}"#, StoreErrorKind::Unsupported),
        (r#"{"store":"other","layout":1}"#, StoreErrorKind::Unsupported),
        ("{", StoreErrorKind::Corrupt),
    ];
    for (marker, kind) in cases {
        let folder = fresh();
        fs::create_dir(&folder.path).unwrap();
        fs::write(folder.file("mcp-tasks.json"), marker).unwrap();
        fs::write(folder.file("tsk_1.task.json.1.tmp"), "x").unwrap();
        let err = folder.refused().await;
        assert_eq!(err.kind(), kind);
        assert!(err.to_string().contains("tasks"), "{err}");
        assert_eq!(folder.names(), ["mcp-tasks.json", "tsk_1.task.json.1.tmp"]);
        assert_eq!(fs::read_to_string(folder.file("mcp-tasks.json")).unwrap(), marker);
    }
    let folder = fresh();
    fs::write(&folder.path, "a file").unwrap();
    assert_eq!(folder.refused().await.kind(), StoreErrorKind::Unsupported);
}

#[tokio::test]
async fn second_store_on_a_folder_is_refused_until_the_first_is_closed() {
    let folder = fresh();
    let store = folder.open().await.unwrap();
    let err = folder.refused().await;
    assert_eq!(err.kind(), StoreErrorKind::Locked);
    assert!(err.to_string().contains("in use by another process"), "{err}");
    store.insert(record("tsk_1")).await.unwrap();
    store.close().await;
    assert_eq!(store.insert(record("tsk_2")).await.unwrap_err().kind(), StoreErrorKind::Unavailable);
    let read = store.load(&"tsk_1".into(), Parts::Head).await;
    assert_eq!(read.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert_eq!(ids(&folder.open().await.unwrap()).await, ["tsk_1"]);
}

/// Whoever has lost the lock writes nothing any more.
#[cfg(unix)]
#[tokio::test]
async fn store_whose_lock_file_was_deleted_writes_no_more() {
    let folder = fresh();
    let store = folder.open().await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    fs::remove_file(folder.file("mcp-tasks.lock")).unwrap();
    let other = folder.open().await.unwrap();
    assert_eq!(store.insert(record("tsk_2")).await.unwrap_err().kind(), StoreErrorKind::Locked);
    other.insert(record("tsk_2")).await.unwrap();
}

/// A write that fails leaves the old record, and the store goes on when it can.
#[cfg(unix)]
#[tokio::test]
async fn write_that_fails_leaves_the_old_record() {
    let folder = fresh();
    let store = folder.open().await.unwrap();
    let first = store.insert(with_parts("tsk_1")).await.unwrap();
    let mut changes = store.changes();
    let cancelled = apply(&first, Event::Cancel { reason: None }, &now()).unwrap();
    // A folder in the way of the temporary file, and one in the way of the new name.
    let path = folder.file("tsk_1.task.json");
    fs::create_dir(folder.file("tsk_1.task.json.2.tmp")).unwrap();
    let err = store.replace(cancelled.clone(), 1).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unavailable);
    assert!(err.to_string().contains("tsk_1.task.json.2.tmp"), "{err}");
    let aside = folder.file("aside");
    fs::rename(&path, &aside).unwrap();
    fs::create_dir(&path).unwrap();
    let answers = tokio::join!(store.replace(cancelled.clone(), 1), store.insert(record("tsk_2")));
    assert_eq!(answers.0.unwrap_err().kind(), StoreErrorKind::Unavailable);
    let read = store.load(&"tsk_1".into(), Parts::Head).await.unwrap().unwrap();
    assert_eq!(read.version, 1);
    fs::remove_dir(&path).unwrap();
    fs::rename(&aside, &path).unwrap();
    let after = store.replace(cancelled, 1).await.unwrap();
    let told = changes.next().await.unwrap();
    let is_of_the_write = format!("{told:?}").contains("tsk_2")
        || format!("{told:?}").contains(&format!("version: {}", after.version));
    assert!(is_of_the_write, "{told:?}");
    drop(store);
    let store = folder.open().await.unwrap();
    assert_eq!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().unwrap().state, State::Cancelled);
}

/// A change of status leaves the parameters alone, and a step what is before it.
#[tokio::test]
async fn parts_are_not_rewritten() {
    let folder = fresh();
    let store = folder.open().await.unwrap();
    store.insert(with_parts("tsk_1")).await.unwrap();
    let claimed = store.claim(claim(1)).await.unwrap();
    let path = folder.file("tsk_1.parts.jsonl");
    let mark = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let (before, at) = (fs::read(&path).unwrap(), mark(&path));
    let status = Event::Status { token: 1, message: "on it".to_owned() };
    store.replace(apply(&claimed[0], status, &now()).unwrap(), 2).await.unwrap();
    assert_eq!(mark(&path), at);
    store.append_step(&"tsk_1".into(), 1, step("a")).await.unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&before));
    let text = fs::read_to_string(folder.file("tsk_1.task.json")).unwrap();
    assert!(text.contains("\n  \"status_message\": \"on it\""), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_and_readers_get_along() {
    let folder = fresh();
    let store = Arc::new(folder.open().await.unwrap());
    let tasks: Vec<_> = (0..8)
        .map(|worker| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0..10 {
                    let id = format!("tsk_{worker}_{number}");
                    store.insert(with_parts(&id)).await.unwrap();
                    assert!(store.load(&id.as_str().into(), Parts::Head).await.unwrap().is_some());
                    let read = store.load(&id.as_str().into(), Parts::Whole).await.unwrap().unwrap();
                    assert!(read.params.is_some());
                    if number % 2 == 0 {
                        store.remove(&id.as_str().into(), 1).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(store.count_live(Some(&Owner::anonymous()), 100).await.unwrap(), 40);
    drop(store);
    assert_eq!(ids(&folder.open().await.unwrap()).await.len(), 40);
    assert_eq!(folder.names().len(), 82);
}

/// S-35, P090: what one process left, the next goes on with.
#[tokio::test]
async fn task_goes_on_in_the_next_process() {
    let (folder, clock) = (fresh(), Arc::new(ManualClock::default()));
    let one = bench_over(Arc::new(folder.open().await.unwrap()), Arc::clone(&clock)).await;
    let id = one.create(json!([["step", "fs 1"], ["ask", "approve"], ["token", ""]])).await;
    one.asked(&id, 1).await;
    // Killed: nothing more of this process reaches the folder.
    one.store.close().await;
    let two = bench_over(Arc::new(folder.open().await.unwrap()), Arc::clone(&clock)).await;
    two.asked(&id, 1).await;
    two.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&two.settled(&id).await), "1,true,2");
    assert_eq!(count("fs 1"), 1);
    two.engine.shutdown().await;
}

/// What people said is in the files, so that nobody else may read them.
#[cfg(unix)]
#[tokio::test]
async fn folder_and_files_are_their_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = fresh();
    let store = folder.open().await.unwrap();
    store.insert(with_parts("tsk_1")).await.unwrap();
    let claimed = store.claim(claim(1)).await.unwrap();
    store.append_step(&"tsk_1".into(), claimed[0].fence, step("one")).await.unwrap();
    store.insert(record("tsk_2")).await.unwrap();
    assert_eq!(fs::metadata(&folder.path).unwrap().permissions().mode() & 0o777, 0o700);
    for name in folder.names() {
        let mode = fs::metadata(folder.file(&name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

/// Set where files of this process may have 64 KiB at most.
#[cfg(unix)]
const LIMITED: &str = "MCP_TASKS_TEST_LIMITED_FILES";

/// P095: what does not fit into a file never will, so that its task fails at once and nobody waits for a store that
/// could be tried again; the others go on.
#[cfg(unix)]
#[test]
fn p095_what_does_not_fit_into_a_file_fails_its_own_task() {
    // Without its signal, a file that gets too large is an error of the write.
    let limited =
        "trap '' XFSZ; ulimit -f 128; exec \"$0\" fs::inside_of_a_limit_for_files --exact --nocapture";
    let program = std::env::current_exe().unwrap();
    let mut shell = std::process::Command::new("sh");
    let ended = shell.arg("-c").arg(limited).arg(program).env(LIMITED, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

/// The other half of the test above, which runs it in a process of its own.
#[cfg(unix)]
#[tokio::test]
async fn inside_of_a_limit_for_files() {
    if std::env::var_os(LIMITED).is_none() {
        return;
    }
    let folder = fresh();
    let bench = bench_over(Arc::new(folder.open().await.unwrap()), Arc::new(ManualClock::default())).await;
    let large = "x".repeat(100_000);
    let goes_on = bench.create(json!([["gate", "beside what is too large"], ["return", "x"]])).await;
    for (script, told) in [
        (json!([["return", large]]), "the result cannot be stored"),
        (json!([["text step", "small"], ["long step", "100000"]]), "the store failed"),
        (json!([["status", large]]), "the store failed"),
    ] {
        let id = bench.engine.create(bench.task("mortal", &script)).await.unwrap().id.clone();
        let record = bench.settled(&id).await;
        assert_eq!(record.status_message.as_deref(), Some(told), "{:.100}", script.to_string());
    }
    let params = bench.engine.create(bench.task("rerun", &json!([["return", large]]))).await.unwrap_err();
    let source = std::error::Error::source(&params).unwrap();
    assert_eq!(source.downcast_ref::<StoreError>().unwrap().kind(), StoreErrorKind::Refused, "{params:?}");
    crate::support::open("beside what is too large");
    assert_eq!(text(&bench.settled(&goes_on).await), "x");
    // What was refused is not there, also not for whoever opens the folder next.
    bench.engine.shutdown().await;
    let store = folder.open().await.unwrap();
    assert_eq!(ids(&store).await.len(), 4);
    assert!(folder.names().iter().all(|name| !name.ends_with(".tmp")), "{:?}", folder.names());
}
