//! The PostgreSQL store: the contract, and what is special about a database that several processes share.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use mcp_tasks::record::State;
use mcp_tasks::store::{
    Change, Changes, Claim, Due, MAX_KEY_BYTES, Parts, PostgresStoreBuilder, Seal, SealError, SealedStore,
    Subject,
};
use mcp_tasks::testing::Backend;
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{MemoryStore, Owner, PostgresStore, Store, StoreError, StoreErrorKind};
use tokio_postgres::{Client, NoTls};

use crate::postgres_cluster::{Cluster, VARIABLE, clear_in_the_end};
use crate::support::{keeps_the_contract, record};

/// The database of all tests.
struct Database {
    url: String,
    #[expect(dead_code, reason = "ended with this process")]
    keeper: Keeper,
}

/// Who takes away what the tests made.
#[expect(dead_code, reason = "ended with this process")]
enum Keeper {
    /// The server is ours.
    Own(Cluster),
    /// Somebody else's; what is left is our schemas.
    Shared(Child),
}

static DATABASE: LazyLock<Option<Database>> = LazyLock::new(|| {
    if let Ok(url) = std::env::var(VARIABLE) {
        let keeper = Keeper::Shared(clear_in_the_end(&url, &PREFIX).unwrap());
        return Some(Database { url, keeper });
    }
    let cluster = Cluster::start().unwrap()?;
    Some(Database { url: cluster.url(), keeper: Keeper::Own(cluster) })
});

/// What the names of this process's schemas begin with.
static PREFIX: LazyLock<String> =
    LazyLock::new(|| format!("test_{:016x}_", RandomState::new().build_hasher().finish()));

/// Whether there is a database to test with; says so if not.
pub(crate) fn is_there() -> bool {
    if DATABASE.is_none() {
        skipped(&format!("PostgreSQL is not installed, and `{VARIABLE}` names no database"));
    }
    DATABASE.is_some()
}

#[expect(clippy::print_stdout, reason = "who reads the tests' output shall know what did not run")]
pub(crate) fn skipped(why: &str) {
    println!("skipped: {why}");
}

pub(crate) fn url() -> &'static str {
    &DATABASE.as_ref().unwrap().url
}

/// A schema of its own.
pub(crate) struct Place {
    pub(crate) schema: String,
}

impl Place {
    pub(crate) fn builder(&self) -> PostgresStoreBuilder {
        PostgresStore::builder(url()).schema(&self.schema).connections(2)
    }

    pub(crate) async fn opened(&self) -> Arc<PostgresStore> {
        Arc::new(self.builder().open().await.unwrap())
    }
}

impl Backend for Place {
    type Store = PostgresStore;
    const SHARED: bool = true;

    async fn open(&self) -> Result<PostgresStore, StoreError> {
        self.builder().open().await
    }
}

pub(crate) fn fresh() -> Place {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Place { schema: format!("{}{number}", *PREFIX) }
}

/// A connection behind the store's back.
pub(crate) async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn change(place: &Place, sql: &str) {
    client(url()).await.batch_execute(&sql.replace("{s}", &place.schema)).await.unwrap();
}

async fn number(place: &Place, sql: &str) -> i64 {
    let rows = client(url()).await.query(&sql.replace("{s}", &place.schema), &[]).await.unwrap();
    rows[0].get(0)
}

/// C-14, C-31, S-09, S-33, S-35, S-36, S-37, P045, P093: by the rules of the contract.
#[tokio::test]
async fn postgres_store_keeps_the_contract() {
    if is_there() {
        keeps_the_contract("PostgreSQL", fresh).await;
    }
}

/// No cipher, but nothing is in the clear.
struct Turned;

impl Seal for Turned {
    fn seal(&self, _: &Subject<'_>, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        Ok(plain.iter().map(|byte| !byte).collect())
    }

    fn open(&self, _: &Subject<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        Ok(sealed.iter().map(|byte| !byte).collect())
    }
}

struct Sealed(Place);

impl Backend for Sealed {
    type Store = SealedStore<PostgresStore, Turned>;
    const SHARED: bool = true;

    async fn open(&self) -> Result<Self::Store, StoreError> {
        Ok(SealedStore::new(self.0.open().await?, Turned))
    }
}

#[tokio::test]
async fn sealed_store_over_postgres_keeps_the_contract() {
    if is_there() {
        keeps_the_contract("sealed PostgreSQL", || Sealed(fresh())).await;
    }
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_and_left_alone() {
    if !is_there() {
        return;
    }
    let place = fresh();
    place.opened().await.insert(record("tsk_1")).await.unwrap();
    change(&place, "UPDATE {s}.mcp_tasks_schema SET version = 99").await;
    let err = place.open().await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unsupported);
    assert!(err.to_string().contains(&place.schema) && err.to_string().contains("newer"), "{err}");
    assert_eq!(number(&place, "SELECT version::int8 FROM {s}.mcp_tasks_schema").await, 99);
    assert_eq!(number(&place, "SELECT count(*) FROM {s}.tasks").await, 1);
}

#[tokio::test]
async fn tables_of_something_else_are_refused_and_left_alone() {
    if !is_there() {
        return;
    }
    let place = fresh();
    change(&place, "CREATE SCHEMA {s}; CREATE TABLE {s}.tasks (a int)").await;
    let err = place.open().await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unsupported);
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = '{s}'::regnamespace";
    assert_eq!(number(&place, tables).await, 1);
}

/// Replicas are started at the same time.
#[tokio::test]
async fn stores_that_are_opened_at_once_make_the_tables_once() {
    if !is_there() {
        return;
    }
    let place = Arc::new(fresh());
    let opened: Vec<_> = (0..6)
        .map(|_| {
            let place = Arc::clone(&place);
            tokio::spawn(async move { place.open().await.unwrap() })
        })
        .collect();
    for (number, opened) in opened.into_iter().enumerate() {
        opened.await.unwrap().insert(record(&format!("tsk_{number}"))).await.unwrap();
    }
    assert_eq!(number(&place, "SELECT count(*) FROM {s}.tasks").await, 6);
}

/// Whoever runs the service needs no right to make anything.
#[tokio::test]
async fn user_who_may_only_read_and_write_can_open_what_is_there() {
    if !is_there() {
        return;
    }
    let place = fresh();
    drop(place.opened().await);
    let grants = "CREATE ROLE user_of_{s} LOGIN; GRANT USAGE ON SCHEMA {s} TO user_of_{s}; \
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {s} TO user_of_{s}; \
        REVOKE CREATE ON DATABASE postgres FROM PUBLIC";
    let url = url().replace("user=tasks", &format!("user=user_of_{}", place.schema));
    if url == self::url() {
        skipped("the database is not ours to make users in");
        return;
    }
    change(&place, grants).await;
    let store = PostgresStore::builder(&url).schema(&place.schema).open().await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    store.remove(&"tsk_1".into(), 1).await.unwrap();
}

#[tokio::test]
async fn password_is_in_no_error_and_in_no_debug_output() {
    for url in [
        "postgresql://user:hunter2@localhost:1/tasks",
        "postgresql://user:hunter2@localhost:port/tasks",
        "postgresql://user:hunter2%zz@localhost/tasks",
        "user=user password=hunter2 host=localhost port=1 hunter2",
        "postgresql://user:hunter2@localhost/tasks?hunter2=1",
    ] {
        let builder = PostgresStore::builder(url);
        assert!(!format!("{builder:?}").contains("hunter2"));
        let err = builder.open().await.unwrap_err();
        // `Debug` says all that caused it.
        assert!(!format!("{err} {err:?}").contains("hunter2"), "{err:?}");
    }
}

#[tokio::test]
async fn name_of_a_schema_that_is_none_is_refused() {
    for schema in ["", "Tasks", "1tasks", "a b", "a;b", "pg_tasks", "a\"b", &"a".repeat(41)] {
        let err = PostgresStore::builder("postgresql://localhost/x").schema(schema).open().await.unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Unsupported, "{schema}");
    }
}

#[tokio::test]
async fn any_text_can_be_an_id_an_owner_or_a_name() {
    if !is_there() {
        return;
    }
    let store = fresh().opened().await;
    for (number, text) in ["\0", "\u{1}0", "", "a\0b", "'; --", "😀", "{s}", "$1"].iter().enumerate() {
        let mut task = record(text);
        task.owner = Owner::new(*text, format!("{text}{number}"));
        task.same_call = Some((*text).to_owned());
        store.insert(task.clone()).await.unwrap();
        assert_eq!(*store.load(&(*text).into(), Parts::Whole).await.unwrap().unwrap(), task);
        let page = store.list(Some(&task.owner), None, 9).await.unwrap();
        assert_eq!(page.records.len(), 1, "{text:?}");
        assert_eq!(store.count_live(Some(&task.owner), 9).await.unwrap(), 1);
        assert_eq!(store.find_call(text).await.unwrap().unwrap().id.as_str(), *text);
    }
}

/// C-31: more than fits into one notice, and ids that have in them what separates them there.
#[tokio::test]
async fn what_is_written_together_is_told_to_others_one_by_one() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let (here, there) = (place.opened().await, place.opened().await);
    let mut changes = there.changes();
    let mut ids: Vec<String> = (0..100).map(|number| format!("{number:0>500}")).collect();
    ids.extend(["\u{1},", "\u{1},w1 tsk_1", "a b", "", "\0,", "\u{1}1,"].map(str::to_owned));
    let insert = |id: String| {
        let here = Arc::clone(&here);
        tokio::spawn(async move { here.insert(record(&id)).await })
    };
    let inserts: Vec<_> = ids.iter().cloned().map(insert).collect();
    for insert in inserts {
        insert.await.unwrap().unwrap();
    }
    let mut missing: BTreeSet<String> = ids.iter().cloned().collect();
    while !missing.is_empty() {
        match changes.next().await {
            Some(Change::Written { id, version: 1, claimable: true }) => {
                assert!(missing.remove(id.as_str()), "{id:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    let replace = |id: String| {
        let here = Arc::clone(&here);
        tokio::spawn(async move {
            let mut next = record(&id);
            next.version = 2;
            here.replace(next, 1).await
        })
    };
    let replaces: Vec<_> = ids.iter().cloned().map(replace).collect();
    for replace in replaces {
        replace.await.unwrap().unwrap();
    }
    let mut missing: BTreeSet<String> = ids.into_iter().collect();
    while !missing.is_empty() {
        match changes.next().await {
            Some(Change::Written { id, version: 2, .. }) => assert!(missing.remove(id.as_str()), "{id:?}"),
            other => panic!("{other:?}"),
        }
    }
}

/// What cannot be stored at all spoils nothing for those whose write goes out with it.
#[tokio::test]
async fn record_that_the_database_refuses_stops_nobody_else() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let store = place.opened().await;
    let refuse = "ALTER TABLE {s}.tasks ADD CHECK (id <> 'refused')";
    change(&place, refuse).await;
    let inserts: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&store);
            let id = if number == 7 { "refused".to_owned() } else { format!("tsk_{number}") };
            tokio::spawn(async move { store.insert(record(&id)).await })
        })
        .collect();
    for (number, insert) in inserts.into_iter().enumerate() {
        assert_eq!(insert.await.unwrap().is_err(), number == 7, "{number}");
    }
}

/// Writes that come at the same time are still one after the other for each task.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_writers_of_one_version_one_wins() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let stores = [place.opened().await, place.opened().await];
    let known = stores[0].insert(record("tsk_1")).await.unwrap();
    for round in 1..20_u64 {
        let tries: Vec<_> = (0..8)
            .map(|number| {
                let store = Arc::clone(&stores[number % 2]);
                let mut next = mcp_tasks::TaskRecord::clone(&known);
                next.version = round + 1;
                next.status_message = Some(number.to_string());
                tokio::spawn(async move { store.replace(next, round).await })
            })
            .collect();
        let mut written = Vec::new();
        for tried in tries {
            match tried.await.unwrap() {
                Ok(record) => written.push(record),
                Err(err) => assert_eq!(err.kind(), StoreErrorKind::Conflict, "{err:?}"),
            }
        }
        assert_eq!(written.len(), 1);
        assert_eq!(*stores[0].load(&"tsk_1".into(), Parts::Whole).await.unwrap().unwrap(), *written[0]);
    }
}

/// S-36, S-37: each task is taken by one worker, however many there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_task_is_claimed_once_by_all_workers_together() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let store = place.opened().await;
    let inserts: Vec<_> = (0..200)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.insert(record(&format!("tsk_{number:03}"))).await.unwrap() })
        })
        .collect();
    for insert in inserts {
        insert.await.unwrap();
    }
    let now = Timestamp::from_unix_millis(1_767_225_600_000);
    let until = Timestamp::from_unix_millis(1_767_225_900_000);
    let mut workers = Vec::new();
    for worker in 0..6 {
        let (store, now, until) = (place.opened().await, now.clone(), until.clone());
        workers.push(tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let claim = Claim::new(worker.to_string(), now.clone(), until.clone(), 7);
                let some = store.claim(claim).await.unwrap();
                if some.is_empty() {
                    return taken;
                }
                taken.extend(some.iter().map(|task| task.id.to_string()));
            }
        }));
    }
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    all.sort_unstable();
    assert_eq!(all, (0..200).map(|number| format!("tsk_{number:03}")).collect::<Vec<_>>());
}

/// A worker that stalled hears that its task was taken from it.
#[tokio::test]
async fn worker_hears_that_its_lease_was_taken_over() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let (one, two) = (place.opened().await, place.opened().await);
    one.insert(record("tsk_1")).await.unwrap();
    let at = |millis: i64| Timestamp::from_unix_millis(1_767_225_600_000 + millis);
    one.claim(Claim::new("one", at(0), at(10), 1)).await.unwrap();
    let mut changes = one.changes();
    let taken = two.claim(Claim::new("two", at(10), at(20), 1)).await.unwrap();
    let wanted = Change::Written { id: "tsk_1".into(), version: taken[0].version, claimable: false };
    assert_eq!(heard(&mut changes, |change| *change == wanted).await, wanted);
}

/// The first change that is wanted; others may come before it.
pub(crate) async fn heard(changes: &mut Changes, wanted: impl Fn(&Change) -> bool) -> Change {
    let hear = async {
        loop {
            let change = changes.next().await.unwrap();
            if wanted(&change) {
                return change;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), hear).await.unwrap()
}

#[tokio::test]
async fn closed_store_answers_with_an_error() {
    if !is_there() {
        return;
    }
    let store = fresh().opened().await;
    store.insert(record("tsk_1")).await.unwrap();
    store.close().await;
    assert_eq!(store.insert(record("tsk_2")).await.unwrap_err().kind(), StoreErrorKind::Unavailable);
    let read = store.load(&"tsk_1".into(), Parts::Head).await;
    assert_eq!(read.unwrap_err().kind(), StoreErrorKind::Unavailable);
}

/// C-31: a write that its caller did not wait for is whole or not there, and it is told.
#[tokio::test]
async fn write_whose_caller_went_away_is_told_all_the_same() {
    if !is_there() {
        return;
    }
    let store = fresh().opened().await;
    let mut changes = store.changes();
    {
        let mut insert = std::pin::pin!(store.insert(record("tsk_1")));
        assert!(
            std::future::poll_fn(|cx| std::task::Poll::Ready(insert.as_mut().poll(cx).is_pending())).await
        );
    }
    heard(&mut changes, |change| matches!(change, Change::Written { .. })).await;
    assert!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_some());
}

/// S-37, P093: what cannot be understood is set aside as it is, and stops nobody else.
#[tokio::test]
async fn record_that_cannot_be_read_is_set_aside_and_the_others_are_served() {
    if !is_there() {
        return;
    }
    for damage in [
        "UPDATE {s}.tasks SET record = '{' WHERE id = 'bad'",
        "UPDATE {s}.tasks SET record = '{}' WHERE id = 'bad'",
        "UPDATE {s}.tasks SET attempt = -5 WHERE id = 'bad'",
        "UPDATE {s}.tasks SET params = '{' WHERE id = 'bad'",
        "INSERT INTO {s}.steps (task, name, fingerprint, value) VALUES ('bad', 'a', 'b', 'no')",
    ] {
        let place = fresh();
        let store = place.opened().await;
        for (id, at) in [("bad", 0), ("good", 1)] {
            let mut task = record(id);
            task.created_at = Timestamp::from_unix_millis(at);
            task.ttl_ms = Some(1_000);
            store.insert(task).await.unwrap();
        }
        change(&place, damage).await;
        let now = Timestamp::from_unix_millis(5_000);
        let claimed = store.claim(Claim::new("worker", now.clone(), now.clone(), 1)).await.unwrap();
        // The oldest would come first and fill the page.
        assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["good"], "{damage}");
        let due = store.due(&now, 1).await.unwrap();
        assert_eq!(due.ids, ["good".into()], "{damage}");
        let err = store.load(&"bad".into(), Parts::Whole).await.unwrap_err();
        assert_eq!(err.kind(), StoreErrorKind::Corrupt, "{damage}");
        let page = store.list(Some(&Owner::anonymous()), None, 1).await.unwrap();
        assert!(!page.records.is_empty(), "{damage}");
        if damage.contains("record") || damage.contains("attempt") {
            assert_eq!(page.unreadable, ["bad".into()], "{damage}");
        }
    }
}

#[tokio::test]
async fn ended_record_that_cannot_be_read_is_not_due_for_ever() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let store = place.opened().await;
    for number in 0..10 {
        let mut task = record(&format!("tsk_{number}"));
        (task.ttl_ms, task.state) = (Some(1), State::Cancelled);
        store.insert(task).await.unwrap();
    }
    change(&place, "UPDATE {s}.tasks SET record = 'x' WHERE id < 'tsk_5'").await;
    let now = Timestamp::from_unix_millis(1_900_000_000_000);
    let due = store.due(&now, 3).await.unwrap();
    assert_eq!(due.ids, ["tsk_5".into(), "tsk_6".into(), "tsk_7".into()]);
    assert!(due.next.is_some());
    for number in 5..10 {
        store.remove(&format!("tsk_{number}").as_str().into(), 1).await.unwrap();
    }
    assert_eq!(store.due(&now, 3).await.unwrap(), Due::default());
    assert_eq!(number(&place, "SELECT count(*) FROM {s}.tasks WHERE record = 'x'").await, 5);
}

/// While replicas are replaced, there are old ones and new ones: the old ones leave the new ones' tasks alone and go
/// on.
#[tokio::test]
async fn task_of_a_newer_format_is_left_alone_and_the_others_are_served() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let store = place.opened().await;
    for id in ["newer", "other"] {
        let mut task = record(id);
        task.ttl_ms = Some(1);
        store.insert(task).await.unwrap();
    }
    let newer =
        "UPDATE {s}.tasks SET format = 2, record = '{\"format\":2,\"what\":\"ever\"}' WHERE id = 'newer'";
    change(&place, newer).await;
    let now = Timestamp::from_unix_millis(1_900_000_000_000);
    let claimed = store.claim(Claim::new("worker", now.clone(), now.clone(), 9)).await.unwrap();
    assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["other"]);
    assert_eq!(store.due(&now, 9).await.unwrap().ids, ["other".into()]);
    let err = store.load(&"newer".into(), Parts::Head).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unsupported);
    let untouched =
        "SELECT count(*) FROM {s}.tasks WHERE id = 'newer' AND live AND due_at > 0 AND version = 1";
    assert_eq!(number(&place, untouched).await, 1);
}

/// No statement reads the whole table, however little the database knows about it.
#[tokio::test]
async fn every_statement_finds_its_rows_by_index() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let scans = "SELECT coalesce(sum(seq_scan), 0)::int8 FROM pg_stat_user_tables \
        WHERE schemaname = '{s}' AND relname <> 'mcp_tasks_schema'";
    let store = place.builder().connections(1).open().await.unwrap();
    // Making an index reads the table, which is empty then. A connection hands its statistics over when it ends.
    while number(&place, scans).await == 0 {
        tokio::task::yield_now().await;
    }
    let before = number(&place, scans).await;
    let (id, owner) = (TaskId::from("tsk_1"), Owner::anonymous());
    let at = |millis: i64| Timestamp::from_unix_millis(1_767_225_600_000 + millis);
    for round in 0..10 {
        let inserted = store.insert(record("tsk_1")).await.unwrap();
        store.claim(Claim::new("one", at(0), at(10), 1)).await.unwrap();
        store.load(&id, Parts::Head).await.unwrap();
        let whole = store.load(&id, Parts::Whole).await.unwrap().unwrap();
        let mut next = mcp_tasks::TaskRecord::clone(&whole);
        next.version += 1;
        store.replace(next, whole.version).await.unwrap();
        store.replace(mcp_tasks::TaskRecord::clone(&inserted), 99).await.unwrap_err();
        let step = mcp_tasks::record::StepRecord::new("a", "b", mcp_tasks::types::RawJson::null());
        store.append_step(&id, whole.fence, step).await.unwrap();
        store.renew("one", std::slice::from_ref(&id), &at(20)).await.unwrap();
        store.due(&at(round), 3).await.unwrap();
        store.find_call("none").await.unwrap();
        store.count_live(Some(&owner), 3).await.unwrap();
        store.count_live(None, 3).await.unwrap();
        store.list(Some(&owner), None, 3).await.unwrap();
        store.list(None, None, 3).await.unwrap();
        store.remove(&id, 3).await.unwrap();
    }
    store.close().await;
    drop(store);
    let found = "SELECT coalesce(sum(idx_scan), 0)::int8 FROM pg_stat_user_tables WHERE schemaname = '{s}'";
    while number(&place, found).await < 100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(number(&place, scans).await, before);
}

/// What tasks are looked up by is kept up to its limit, however little it can be made shorter, and refused beyond it.
#[tokio::test]
async fn keys_are_kept_up_to_their_limit_and_refused_beyond_it() {
    if !is_there() {
        return;
    }
    let text = |seed: u32, length: usize| -> String {
        let byte = |at: u32| b'!' + ((at + seed * 7_919).wrapping_mul(2_654_435_761) >> 24) as u8 % 90;
        (0..u32::try_from(length).unwrap()).map(|at| char::from(byte(at))).collect()
    };
    let with = |length: usize| {
        let mut long = record(&text(1, length));
        long.owner = Owner::new(text(2, length / 2), text(3, length - length / 2));
        long.same_call = Some(text(4, length));
        let value = mcp_tasks::types::RawJson::null();
        long.steps.push(mcp_tasks::record::StepRecord::new(text(5, length), "print", value));
        long
    };
    let store = fresh().opened().await;
    let longest = with(MAX_KEY_BYTES);
    assert_eq!(*store.insert(longest.clone()).await.unwrap(), longest);
    let too_long = with(MAX_KEY_BYTES + 1);
    let mut others = vec![record("tsk_1"); 4];
    others[0].id = too_long.id;
    others[1].owner = too_long.owner;
    others[2].same_call = too_long.same_call;
    others[3].steps = too_long.steps;
    let memory = MemoryStore::new();
    for other in others {
        assert_eq!(store.insert(other.clone()).await.unwrap_err().kind(), StoreErrorKind::Refused);
        assert_eq!(memory.insert(other).await.unwrap_err().kind(), StoreErrorKind::Refused);
    }
}
