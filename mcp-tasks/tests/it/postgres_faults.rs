//! What happens to the PostgreSQL store when the server or the connection to it fails.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::store::{Change, Claim, Parts};
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{PostgresStore, Store, StoreErrorKind};
use tokio::io::copy;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;

use crate::postgres::{client, fresh, heard, is_there, skipped, url};
use crate::postgres_cluster::Cluster;
use crate::support::record;

/// A server of the test's own, which it may stop.
fn cluster() -> Option<Cluster> {
    let cluster = Cluster::start().unwrap();
    if cluster.is_none() {
        skipped("PostgreSQL is not installed");
    }
    cluster
}

/// Until the store answers again.
async fn answered<T>(what: impl AsyncFn() -> Result<T, mcp_tasks::StoreError>) -> T {
    let ask = async {
        loop {
            match what().await {
                Ok(answer) => return answer,
                Err(err) => assert_eq!(err.kind(), StoreErrorKind::Unavailable, "{err:?}"),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ask).await.unwrap()
}

/// Whoever looks for a database that does not answer is told which one, to the port, and nothing that is secret of it.
#[tokio::test]
async fn error_names_host_and_port_of_the_database() {
    for (url, place) in [
        ("postgresql://alice:hunter2@127.0.0.1:1/tasks", "`127.0.0.1:1/tasks`"),
        ("postgresql://alice:hunter2@[::1]:2/tasks", "`[::1]:2/tasks`"),
        ("postgresql://alice:hunter2@127.0.0.1:1,localhost:3/tasks", "`127.0.0.1:1,localhost:3/tasks`"),
    ] {
        let err = PostgresStore::open(url).await.unwrap_err();
        assert!(err.to_string().contains(place) && !format!("{err:?}").contains("hunter2"), "{err}");
    }
}

/// S-09, S-35: nothing that was answered is lost, and whoever listens is told that something may have been missed.
#[tokio::test]
async fn store_goes_on_after_a_crash_of_the_server_and_listeners_look_again() {
    let Some(cluster) = cluster() else { return };
    let store = PostgresStore::open(&cluster.url()).await.unwrap();
    let kept = store.insert(record("tsk_1")).await.unwrap();
    let mut changes = store.changes();
    cluster.crash().unwrap();
    let err = store.insert(record("tsk_2")).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unavailable, "{err:?}");
    assert!(err.to_string().contains("task store at"), "{err}");
    let err = store.load(&"tsk_1".into(), Parts::Head).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unavailable, "{err:?}");
    cluster.resume().unwrap();

    let read = answered(async || store.load(&"tsk_1".into(), Parts::Whole).await).await;
    assert_eq!(read.unwrap(), kept);
    // The first is for the write whose fate is unknown; the second when there is a connection that listens.
    heard(&mut changes, |change| *change == Change::Resync).await;
    let other = PostgresStore::open(&cluster.url()).await.unwrap();
    let told = async {
        for number in 0.. {
            let id = format!("tsk_other_{number}");
            other.insert(record(&id)).await.unwrap();
            let hear = heard(
                &mut changes,
                |change| matches!(change, Change::Written { id: told, .. } if told.as_str() == id),
            );
            if tokio::time::timeout(Duration::from_millis(500), hear).await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), told).await.unwrap();
}

/// The server closes idle connections, as an operator or a balancer does: the next call makes a new one.
#[tokio::test]
async fn connection_that_was_closed_while_idle_fails_no_call() {
    let Some(cluster) = cluster() else { return };
    let store = PostgresStore::open(&cluster.url()).await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    let mut changes = store.changes();
    cluster.crash().unwrap();
    cluster.resume().unwrap();
    // The listening connection is back, so that the loss of the others has come through as well.
    heard(&mut changes, |change| *change == Change::Resync).await;
    store.insert(record("tsk_2")).await.unwrap();
    assert!(store.load(&"tsk_1".into(), Parts::Head).await.unwrap().is_some());
}

/// Passes connections on to the server, until answers are held back and until all is cut.
struct Passage {
    port: u16,
    switch: watch::Sender<Switch>,
}

#[derive(Clone, Copy, PartialEq)]
enum Switch {
    Open,
    NoAnswers,
    Cut,
}

impl Passage {
    async fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (switch, state) = watch::channel(Switch::Open);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.unwrap();
                tokio::spawn(pass(client, server, state.clone()));
            }
        });
        Self { port, switch }
    }

    fn url(&self) -> String {
        format!("postgresql://tasks:secret@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }
}

async fn pass(client: tokio::net::TcpStream, server: UnixStream, mut state: watch::Receiver<Switch>) {
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server): (OwnedReadHalf, OwnedWriteHalf) = server.into_split();
    let mut cut = state.clone();
    let answers = async {
        let (mut from_server, mut to_client) = (from_server, to_client);
        let open = copy(&mut from_server, &mut to_client);
        let is_open = tokio::select! {
            _ = open => true,
            _ = state.wait_for(|state| *state != Switch::Open) => false,
        };
        if !is_open {
            // What the server says from now on stays there.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        _ = copy(&mut from_client, &mut to_server) => {}
        () = answers => {}
        _ = cut.wait_for(|state| *state == Switch::Cut) => {}
    }
}

/// C-31: the write is done, and nobody knows; so it is an error, and listeners look again.
#[tokio::test]
async fn write_whose_answer_is_lost_is_an_error_and_listeners_look_again() {
    let Some(cluster) = cluster() else { return };
    let passage = Passage::to(cluster.socket()).await;
    let store = Arc::new(PostgresStore::open(&passage.url()).await.unwrap());
    let known = store.insert(record("tsk_1")).await.unwrap();
    let other = PostgresStore::open(&cluster.url()).await.unwrap();
    let (mut there, mut here) = (other.changes(), store.changes());

    // The statement has to be known to the server, since preparing it takes an answer.
    let mut next = mcp_tasks::TaskRecord::clone(&known);
    next.version = 2;
    let known = store.replace(next, 1).await.unwrap();
    heard(&mut here, |change| matches!(change, Change::Written { version: 2, .. })).await;
    passage.switch.send(Switch::NoAnswers).unwrap();
    let mut next = mcp_tasks::TaskRecord::clone(&known);
    next.version = 3;
    next.status_message = Some("written".to_owned());
    let write = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.replace(next, 2).await }
    });
    heard(&mut there, |change| matches!(change, Change::Written { version: 3, .. })).await;
    assert!(!write.is_finished());
    passage.switch.send(Switch::Cut).unwrap();
    let err = write.await.unwrap().unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unavailable, "{err:?}");
    assert!(!format!("{err:?}").contains("secret"), "{err:?}");
    assert_eq!(heard(&mut here, |_| true).await, Change::Resync);

    passage.switch.send(Switch::Open).unwrap();
    let read = answered(async || store.load(&"tsk_1".into(), Parts::Head).await).await.unwrap();
    assert_eq!((read.version, read.status_message.as_deref()), (3, Some("written")));
}

/// A store that is gone leaves no connection behind.
#[tokio::test]
async fn dropped_store_leaves_no_connection_behind() {
    if !is_there() {
        return;
    }
    let place = fresh();
    let name = format!("of_{}", place.schema);
    let named = format!("{}&application_name={name}", url());
    let client = client(url()).await;
    let connections = async || {
        let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
        client.query(count, &[&name]).await.unwrap()[0].get::<_, i64>(0)
    };
    let store = PostgresStore::builder(&named).schema(&place.schema).open().await.unwrap();
    store.insert(record("tsk_1")).await.unwrap();
    assert!(connections().await >= 2);
    drop(store);
    let gone = async {
        while connections().await > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.unwrap();
}

/// A store whose database has a clock that the test sets, as many milliseconds off as the table says.
async fn with_a_clock(cluster: &Cluster, off_ms: i64) -> (PostgresStore, tokio_postgres::Client) {
    let behind = client(&cluster.url()).await;
    let make = format!(
        "CREATE SCHEMA IF NOT EXISTS fake; CREATE TABLE IF NOT EXISTS fake.off (ms bigint); DELETE FROM fake.off; \
         INSERT INTO fake.off VALUES ({off_ms}); CREATE OR REPLACE FUNCTION fake.clock_timestamp() RETURNS timestamptz \
         LANGUAGE sql VOLATILE AS \
         'SELECT pg_catalog.clock_timestamp() + (SELECT ms FROM fake.off) * interval ''1 millisecond'''"
    );
    behind.batch_execute(&make).await.unwrap();
    let url = format!("{}&options=-csearch_path%3Dfake,pg_catalog", cluster.url());
    (PostgresStore::open(&url).await.unwrap(), behind)
}

/// S-36: what a process takes for the time may be a minute wrong; leases end when they end in the database.
#[tokio::test]
async fn live_lease_is_not_taken_over_by_a_process_whose_clock_has_jumped() {
    let Some(cluster) = cluster() else { return };
    let (store, behind) = with_a_clock(&cluster, 0).await;
    let now = "SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8";
    let now: i64 = behind.query_one(now, &[]).await.unwrap().get(0);
    let at = |millis: i64| Timestamp::from_unix_millis(now + millis);
    store.insert(record("tsk_1")).await.unwrap();
    assert_eq!(store.claim(Claim::new("one", at(0), at(30_000), 1)).await.unwrap().len(), 1);
    // As when ours went forward by a minute.
    behind.batch_execute("UPDATE fake.off SET ms = -60000").await.unwrap();
    let claim = Claim::new("two", at(40_000), at(70_000), 1);
    assert_eq!(store.claim(claim).await.unwrap(), []);
    assert_eq!(store.renew("one", &["tsk_1".into()], &at(90_000)).await.unwrap(), 1);
    let kept = store.load(&"tsk_1".into(), Parts::Head).await.unwrap().unwrap();
    let until = kept.lease.as_ref().unwrap().until.unix_millis();
    assert!((until - now - 30_000).abs() < 5_000, "{}", until - now);
}

/// S-36: clocks are compared however much there is to hear.
#[tokio::test]
async fn clocks_are_compared_while_others_tell_without_end() {
    let Some(cluster) = cluster() else { return };
    let (store, behind) = with_a_clock(&cluster, 0).await;
    assert!(store.clock_ahead_ms().abs() < 1_000);
    behind.batch_execute("UPDATE fake.off SET ms = -60000").await.unwrap();
    let told = async {
        while store.clock_ahead_ms() > -50_000 {
            behind.batch_execute("NOTIFY \"mcp-tasks.mcp_tasks\", 'they c1 a'").await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(30), told).await.unwrap();
}

/// S-36: one row that somebody has locked keeps neither the leases of the others from being renewed, nor their writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn locked_row_keeps_only_its_own_task_waiting() {
    let Some(cluster) = cluster() else { return };
    let store = Arc::new(PostgresStore::builder(&cluster.url()).connections(2).open().await.unwrap());
    let at = |millis: i64| Timestamp::from_unix_millis(1_767_225_600_000 + millis);
    for number in 0..20 {
        store.insert(record(&format!("tsk_{number}"))).await.unwrap();
    }
    let claimed = store.claim(Claim::new("one", at(0), at(30_000), 20)).await.unwrap();
    let mut holder = client(&cluster.url()).await;
    let lock = holder.transaction().await.unwrap();
    lock.execute("SELECT FROM mcp_tasks.tasks WHERE id = 'tsk_7' FOR UPDATE", &[]).await.unwrap();

    let ids: Vec<TaskId> = claimed.iter().map(|task| task.id.clone()).collect();
    assert_eq!(store.renew("one", &ids, &at(60_000)).await.unwrap(), 19);
    let mut writes: Vec<_> = claimed
        .iter()
        .map(|task| {
            let (store, mut next) = (Arc::clone(&store), mcp_tasks::TaskRecord::clone(task));
            let version = next.version;
            next.version += 1;
            (next.id.clone(), tokio::spawn(async move { store.replace(next, version).await }))
        })
        .collect();
    let locked = writes.remove(writes.iter().position(|(id, _)| id.as_str() == "tsk_7").unwrap()).1;
    for (id, write) in writes {
        assert_eq!(write.await.unwrap().unwrap().id, id);
    }
    assert!(!locked.is_finished());
    lock.rollback().await.unwrap();
    assert_eq!(locked.await.unwrap().unwrap().id.as_str(), "tsk_7");
    assert_eq!(store.renew("one", &ids, &at(60_000)).await.unwrap(), 20);
}

/// S-37: a database whose encoding cannot keep every text is refused before anything is kept in it.
#[tokio::test]
async fn database_that_cannot_keep_every_text_is_refused() {
    let Some(cluster) = cluster() else { return };
    let behind = client(&cluster.url()).await;
    let make = "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'";
    behind.batch_execute(make).await.unwrap();
    let url = cluster.url().replace("/postgres?", "/latin?");
    let err = PostgresStore::open(&url).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Unsupported, "{err:?}");
    assert!(err.to_string().contains("LATIN1"), "{err}");
}

/// S-37: what the database can never keep is told apart from a database that fails, and no row's contents are in the
/// error.
#[tokio::test]
async fn what_the_database_cannot_keep_is_an_error_that_stays_one() {
    let Some(cluster) = cluster() else { return };
    let store = PostgresStore::open(&cluster.url()).await.unwrap();
    let behind = client(&cluster.url()).await;
    let refuse = "ALTER TABLE mcp_tasks.tasks ADD CHECK (id <> 'tsk_1')";
    behind.batch_execute(refuse).await.unwrap();
    let err = store.insert(record("tsk_1")).await.unwrap_err();
    assert_eq!(err.kind(), StoreErrorKind::Refused, "{err:?}");
    let told = format!("{err:?}");
    assert!(told.contains("23514") && !told.contains("Failing row"), "{told}");
}

/// P045: records that come together and are more than one message to the database may hold are kept all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn large_records_that_come_together_are_all_kept() {
    let Some(cluster) = cluster() else { return };
    let store = Arc::new(PostgresStore::open(&cluster.url()).await.unwrap());
    let inserts: Vec<_> = (0..12)
        .map(|number| {
            let (store, mut record) = (Arc::clone(&store), record(&format!("tsk_{number}")));
            record.status_message = Some("x".repeat(4 << 20));
            tokio::spawn(async move { store.insert(record).await })
        })
        .collect();
    for insert in inserts {
        insert.await.unwrap().unwrap();
    }
}
