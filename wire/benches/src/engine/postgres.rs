//! What the PostgreSQL store costs beside the bare statements, on a server of its own in a temporary folder, and how
//! soon another replica begins what one has created.

use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use mcp_tasks::store::Claim;
use mcp_tasks::types::Timestamp;
use mcp_tasks::{Engine, NewTask, PostgresStore, Role, Store as _, TaskContext, ToolError, task_tool};
use tokio::sync::mpsc;
use tokio_postgres::{Client, NoTls};

use super::{Goal, ROUNDS, Row, by_callers, call, report, store_inserts, tell};
use postgres_cluster::Cluster;

#[path = "../../../../mcp-tasks/tests/it/postgres_cluster.rs"]
mod postgres_cluster;

const CALLERS: u64 = 16;
/// How many tasks a claim takes.
const CLAIMED: usize = 16;
const CLAIMS: u64 = 10;

static STARTED: OnceLock<mpsc::UnboundedSender<Instant>> = OnceLock::new();

/// Says when it began.
#[task_tool(ttl = "1d", restart = "rerun")]
async fn note(ctx: TaskContext) -> Result<String, ToolError> {
    if let Some(started) = STARTED.get() {
        let _ = started.send(Instant::now());
    }
    ctx.checkpoint()?;
    Ok("done".to_owned())
}

/// As many columns and indexes as the statements need, and no more.
const SCHEMA: &str = "CREATE TABLE bare (id text COLLATE \"C\" PRIMARY KEY, tenant text, principal text, \
    created_at int8, due_at int8, live bool, lease_until int8, record text); \
    CREATE INDEX ON bare (due_at, id); CREATE INDEX ON bare (lease_until, created_at, id) WHERE live; \
    CREATE INDEX ON bare (tenant, principal, created_at, id)";
const INSERT: &str = "INSERT INTO bare VALUES ($1, 't', 'p', 1, 2, false, 3, $2)";
const CLAIM: &str = "UPDATE bare SET lease_until = 9000000000000000 WHERE id IN (SELECT id FROM bare \
    WHERE live AND lease_until <= 5 ORDER BY lease_until, created_at, id LIMIT 16 FOR UPDATE SKIP LOCKED) \
    RETURNING id, record";

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

/// Work on a connection for each caller, so many pieces each, per second.
async fn on_connections<F: Future<Output = ()> + Send + 'static>(
    clients: &[Arc<Client>],
    each: u64,
    work: impl Fn(Arc<Client>, u64) -> F + Send + Sync + 'static,
) -> f64 {
    let clients = clients.to_vec();
    by_callers(CALLERS, each, move |number| work(Arc::clone(&clients[(number / each) as usize]), number))
        .await
}

pub(super) async fn run() {
    let cluster = match Cluster::start() {
        Ok(Some(cluster)) => cluster,
        Ok(None) => return eprintln!("PostgreSQL is not installed: its bars are SKIPPED"),
        Err(err) => return eprintln!("PostgreSQL cannot be started, its bars are SKIPPED: {err}"),
    };
    writes(&cluster.url()).await;
    replicas(&cluster.url()).await;
}

async fn writes(url: &str) {
    let store = PostgresStore::builder(url).connections(CALLERS as usize).open().await.expect("a store");
    let store = Arc::new(store);
    let mut clients = Vec::new();
    for _ in 0..CALLERS {
        clients.push(Arc::new(connect(url).await));
    }
    clients[0].batch_execute(SCHEMA).await.expect("a schema");
    let mut statements = Vec::new();
    for client in &clients {
        let insert = client.prepare(INSERT).await.expect("a statement");
        let claim = client.prepare(CLAIM).await.expect("a statement");
        statements.push((insert, claim));
    }
    let statements = Arc::new(statements);
    let mut creates = [
        Row::new("bare insert, 16 connections"),
        Row::new("store, 16 callers").at_least(0.7, "bare insert, 16 connections"),
    ];
    let mut claims = [
        Row::new("bare claim, 16 connections"),
        Row::new("store, 16 callers").at_least(0.8, "bare claim, 16 connections"),
    ];
    let each = 200;
    let rows = CALLERS * CLAIMS * CLAIMED as u64;
    for round in 0..ROUNDS as u64 {
        let base = round * 1_000_000;
        let prepared = Arc::clone(&statements);
        creates[0].rates.push(
            on_connections(&clients, each, move |client, number| {
                let insert = prepared[(number / each) as usize].0.clone();
                async move {
                    let (id, text) = (format!("tsk_{:032x}", base + number), "x".repeat(500));
                    client.execute(&insert, &[&id, &text]).await.expect("a row");
                }
            })
            .await,
        );
        creates[1].rates.push(store_inserts(&store, CALLERS, each, base).await);
        let seed = format!(
            "INSERT INTO bare SELECT 'claim' || {base} || '_' || n, 't', 'p', n, 2, true, 3, repeat('x', 500) \
             FROM generate_series(1, {rows}) AS n"
        );
        clients[0].batch_execute(&seed).await.expect("rows");
        let prepared = Arc::clone(&statements);
        let rate = on_connections(&clients, CLAIMS, move |client, number| {
            let claim = prepared[(number / CLAIMS) as usize].1.clone();
            async move {
                black_box(client.query(&claim, &[]).await.expect("rows"));
            }
        });
        claims[0].rates.push(rate.await * CLAIMED as f64);
        // The tasks that were just created are free.
        let ours = Arc::clone(&store);
        let rate = by_callers(CALLERS, CLAIMS, move |_| {
            let ours = Arc::clone(&ours);
            async move {
                let now = mcp_tasks::Clock::now(&mcp_tasks::SystemClock::new());
                let until = Timestamp::from_unix_millis(now.unix_millis() + 3_600_000);
                let claim = Claim::new("worker", now, until, CLAIMED);
                assert_eq!(ours.claim(claim).await.expect("tasks").len(), CLAIMED);
            }
        });
        claims[1].rates.push(rate.await * CLAIMED as f64);
    }
    store.close().await;
    report("creates, PostgreSQL", &creates);
    report("claims, PostgreSQL", &claims);
}

async fn replicas(url: &str) {
    let (sender, mut started) = mpsc::unbounded_channel();
    STARTED.set(sender).expect("set once");
    let mut engines = Vec::new();
    for role in [Role::Serve, Role::Work] {
        let store = PostgresStore::builder(url).schema("replicas").open().await.expect("a store");
        engines.push(Engine::builder(store).tool::<note>().role(role).build().await.expect("an engine"));
    }
    let mut times = Vec::new();
    for _ in 0..500 {
        let task: NewTask = call("note");
        // From before it is created: that the other one begins before this one is answered is allowed.
        let begin = Instant::now();
        engines[0].create(task).await.expect("a task");
        times.push(started.recv().await.expect("a start").duration_since(begin));
    }
    times.sort_unstable();
    for (name, index, goal_ms) in [("p50", times.len() / 2, 2.0), ("p99", times.len() * 99 / 100, 10.0)] {
        let millis = times[index].as_secs_f64() * 1e3;
        let name = format!("create to start elsewhere, {name}");
        let against = format!("{goal_ms} ms");
        let goal = Some(Goal::AtMost(1.0));
        tell("replicas, PostgreSQL", &name, (millis * 1e3, "us"), (&against, millis / goal_ms), goal);
    }
}
