//! What the engine costs: polls, creation, durable writes and parked tasks, beside what they cannot be faster than and
//! beside another task manager.
//!
//! A table on standard error, one JSON line a row on standard output. What a ratio compares is measured in turns in the
//! same run.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mcp_tasks::server::snapshot;
use mcp_tasks::store::Parts;
use mcp_tasks::types::{Map, RawJson, RawObject, TaskId, to_string};
use mcp_tasks::{
    Engine, EngineBuilder, Input, MemoryStore, NewTask, Owner, SqliteStore, Store, TaskContext, ToolError,
    task_tool, tool_type,
};

const ROUNDS: usize = 7;

#[tool_type]
struct Approval {
    approved: bool,
}

/// Gives a text of about a kilobyte.
#[task_tool(ttl = "1d", restart = "rerun")]
async fn finish(ctx: TaskContext) -> Result<String, ToolError> {
    ctx.checkpoint()?;
    Ok("Generated large report with approved outline. ".repeat(16))
}

/// Waits for an answer, and not in memory.
#[task_tool(ttl = "1d", restart = "rerun", park_after = "1ms")]
async fn wait(
    ctx: TaskContext,
    /// Go on?
    approve: Input<Approval>,
) -> Result<String, ToolError> {
    approve.ask(&ctx).await?;
    Ok("done".to_owned())
}

fn owner() -> Owner {
    Owner::new("tenant", "principal")
}

fn call(tool: &str) -> NewTask {
    NewTask::new(owner(), tool, RawObject::empty())
}

fn builder(store: impl Store) -> EngineBuilder {
    Engine::builder(store)
        .tool::<finish>()
        .tool::<wait>()
        .max_tasks(usize::MAX)
        .max_tasks_of_owner(usize::MAX)
        .max_running(usize::MAX)
}

async fn engine(store: impl Store) -> Engine {
    builder(store).build().await.expect("an engine")
}

/// An engine over a store that keeps so many ended tasks, and the ids of some.
async fn filled(store: impl Store, kept: usize) -> (Engine, Vec<TaskId>) {
    let engine = engine(store).await;
    let mut ids = Vec::new();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..kept {
        if waiting.len() == 64 {
            ids.push(waiting.join_next().await.expect("a task").expect("it ran"));
        }
        let engine = engine.clone();
        waiting.spawn(async move { engine.create(call("finish")).await.expect("a task").id.clone() });
    }
    while let Some(id) = waiting.join_next().await {
        ids.push(id.expect("it ran"));
    }
    engine.idle().await;
    // Ten of them, spread over all, so that a small cache does not decide.
    let step = (ids.len() / 997).max(1);
    let some = ids.into_iter().step_by(step).collect();
    (engine, some)
}

struct Row {
    name: String,
    rates: Vec<f64>,
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Prints rows beside the first.
fn report(case: &str, unit: &str, rows: Vec<Row>) {
    let mut against: Option<(String, f64)> = None;
    for mut row in rows {
        let rate = median(&mut row.rates);
        let (name, base) = against.get_or_insert_with(|| (row.name.clone(), rate)).clone();
        let ratio = rate / base;
        eprintln!("{case:<30} {:<34} {rate:>12.0} {unit}  {ratio:>7.2} x {name}", row.name);
        println!(
            "{}",
            serde_json::json!({
                "bench": "engine", "case": case, "name": row.name, "unit": unit, "median": rate.round(),
                "against": name, "ratio": (ratio * 1000.0).round() / 1000.0,
            })
        );
    }
}

fn rate(count: usize, start: Instant) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}

/// Polls with the answer's JSON, per second.
async fn polls(engine: &Engine, ids: &[TaskId], count: usize) -> f64 {
    let owner = owner();
    let start = Instant::now();
    for id in ids.iter().cycle().take(count) {
        let record = engine.get(&owner, id).await.expect("a task");
        black_box(to_string(&snapshot(&record).expect("a message")).expect("text"));
    }
    rate(count, start)
}

async fn polls_by_two(engine: &Engine, ids: &[TaskId], count: usize) -> f64 {
    let start = Instant::now();
    let mut threads = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let (engine, ids) = (engine.clone(), ids.to_vec());
        threads.spawn(async move { polls(&engine, &ids, count).await });
    }
    while threads.join_next().await.is_some() {}
    rate(2 * count, start)
}

async fn memory_polls() {
    let mut benches = Vec::new();
    for kept in [10, 10_000, 100_000] {
        benches.push((kept, filled(MemoryStore::new(), kept).await));
    }
    let mut rows: Vec<Row> =
        benches.iter().map(|(kept, _)| Row { name: format!("{kept} kept"), rates: Vec::new() }).collect();
    let mut two = Row { name: "10000 kept, two threads".to_owned(), rates: Vec::new() };
    for _ in 0..ROUNDS {
        for ((_, (engine, ids)), row) in benches.iter().zip(&mut rows) {
            row.rates.push(polls(engine, ids, 100_000).await);
        }
        let (_, (engine, ids)) = &benches[1];
        two.rates.push(polls_by_two(engine, ids, 100_000).await);
    }
    rows.push(two);
    report("polls, memory", "/s", rows);
}

async fn sqlite_polls() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rows = Vec::new();
    let path = folder.path().join("large.db");
    let (large, ids) = filled(SqliteStore::open(&path).await.expect("a store"), 100_000).await;
    let small_path = folder.path().join("small.db");
    let (small, few) = filled(SqliteStore::open(&small_path).await.expect("a store"), 10).await;
    let bare = rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the file");
    let mut read = bare.prepare("SELECT record FROM tasks WHERE id = ?1").expect("a statement");
    let count = 20_000;
    for name in ["bare point read, 100000 kept", "100000 kept", "10 kept"] {
        rows.push(Row { name: name.to_owned(), rates: Vec::new() });
    }
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for id in ids.iter().cycle().take(count) {
            black_box(read.query_row([id.as_str()], |row| row.get::<_, String>(0)).expect("a row"));
        }
        rows[0].rates.push(rate(count, start));
        rows[1].rates.push(polls(&large, &ids, count).await);
        rows[2].rates.push(polls(&small, &few, count).await);
    }
    report("polls, SQLite", "/s", rows);
}

/// Created, run and finished, per second, on top of what is kept.
async fn created(engine: &Engine, count: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        engine.create(call("finish")).await.expect("a task");
    }
    engine.idle().await;
    rate(count, start)
}

async fn creation() {
    let (small, _) = filled(MemoryStore::new(), 10).await;
    let (large, _) = filled(MemoryStore::new(), 100_000).await;
    let peer = |kept: usize| {
        let manager = rmcp::task_manager::TaskManager::new();
        for _ in 0..kept {
            spawn(&manager);
        }
        manager
    };
    let (peer_small, peer_large) = (peer(10), peer(5_000));
    let mut rows: Vec<Row> = ["10 kept", "100000 kept", "rmcp, 10 kept", "rmcp, 5000 kept"]
        .map(|name| Row { name: name.to_owned(), rates: Vec::new() })
        .into();
    for _ in 0..ROUNDS {
        rows[0].rates.push(created(&small, 2_000).await);
        rows[1].rates.push(created(&large, 2_000).await);
        for (manager, row, count) in [(&peer_small, 2, 100), (&peer_large, 3, 100)] {
            let start = Instant::now();
            for _ in 0..count {
                spawn(manager);
            }
            while manager.running_task_count() > 0 {
                tokio::task::yield_now().await;
            }
            rows[row].rates.push(rate(count, start));
        }
    }
    report("create, run and finish, memory", "/s", rows);
}

fn spawn(manager: &rmcp::task_manager::TaskManager) {
    let options = rmcp::task_manager::TaskOptions::new().with_ttl_ms(86_400_000);
    black_box(manager.spawn(options, |_| {
        Box::pin(async {
            let text = "Generated large report with approved outline. ".repeat(16);
            Ok(rmcp::model::CallToolResult::success(vec![rmcp::model::ContentBlock::text(text)]))
        })
    }));
}

const SCHEMA: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
    CREATE TABLE tasks (id TEXT PRIMARY KEY, tenant TEXT, principal TEXT, created_at INTEGER, due_at INTEGER, \
    live INTEGER, lease_until INTEGER, record TEXT) STRICT; \
    CREATE INDEX by_due ON tasks (due_at, id); CREATE INDEX by_lease ON tasks (lease_until, created_at, id) WHERE live = 1; \
    CREATE INDEX by_owner ON tasks (tenant, principal, created_at, id);";
const INSERT: &str = "INSERT INTO tasks VALUES (?1, 't', 'p', 1, 2, 1, 3, ?2)";

/// A bare writer that commits what is queued together.
fn bare_writer(path: &std::path::Path) -> mpsc::Sender<(String, tokio::sync::oneshot::Sender<()>)> {
    let mut connection = rusqlite::Connection::open(path).expect("a file");
    connection.execute_batch(SCHEMA).expect("a schema");
    let (sender, receiver) = mpsc::channel::<(String, tokio::sync::oneshot::Sender<()>)>();
    std::thread::spawn(move || {
        let record = "x".repeat(500);
        while let Ok(first) = receiver.recv() {
            let mut batch = vec![first];
            batch.extend(receiver.try_iter().take(255));
            let transaction = connection.transaction().expect("a transaction");
            {
                let mut insert = transaction.prepare_cached(INSERT).expect("a statement");
                for (id, _) in &batch {
                    insert.execute([id, &record]).expect("a row");
                }
            }
            transaction.commit().expect("a commit");
            for (_, done) in batch {
                let _ = done.send(());
            }
        }
    });
    sender
}

/// The record that a durable creation writes: one insert, and no body that runs.
fn record(number: u64) -> mcp_tasks::TaskRecord {
    use mcp_tasks::record::ToolFingerprint;
    let tool = ToolFingerprint::new("finish", "digest", None);
    let id = format!("tsk_{number:032x}");
    let now = mcp_tasks::Clock::now(&mcp_tasks::SystemClock::new());
    let mut record = mcp_tasks::TaskRecord::new(id.as_str().into(), owner(), "tools/call", tool, now);
    record.ttl_ms = Some(86_400_000);
    record
}

async fn by_callers<F: Future<Output = ()> + Send + 'static>(
    callers: u64,
    each: u64,
    work: impl Fn(u64) -> F + Send + Sync + 'static,
) -> f64 {
    let work = Arc::new(work);
    let start = Instant::now();
    let mut set = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let work = Arc::clone(&work);
        set.spawn(async move {
            for number in 0..each {
                work(caller * each + number).await;
            }
        });
    }
    while set.join_next().await.is_some() {}
    rate(usize::try_from(callers * each).unwrap_or(0), start)
}

async fn durable_creation() {
    let folder = tempfile::tempdir().expect("a folder");
    let bare = bare_writer(&folder.path().join("bare.db"));
    let store = Arc::new(SqliteStore::open(folder.path().join("ours.db")).await.expect("a store"));
    for (callers, each) in [(1_u64, 1_000_u64), (64, 200)] {
        let mut rows: Vec<Row> = ["bare insert", "insert of the store"]
            .map(|name| Row { name: name.to_owned(), rates: Vec::new() })
            .into();
        for round in 0..ROUNDS as u64 {
            let base = (callers * 1_000_000 + round * 100_000) * 10;
            let sender = bare.clone();
            rows[0].rates.push(
                by_callers(callers, each, move |number| {
                    let sender = sender.clone();
                    async move {
                        let (done, receiver) = tokio::sync::oneshot::channel();
                        sender.send((format!("tsk_{:032x}", base + number), done)).expect("the writer");
                        receiver.await.expect("a commit");
                    }
                })
                .await,
            );
            let ours = Arc::clone(&store);
            rows[1].rates.push(
                by_callers(callers, each, move |number| {
                    let ours = Arc::clone(&ours);
                    async move {
                        black_box(ours.insert(record(base + number)).await.expect("a record"));
                    }
                })
                .await,
            );
        }
        report(&format!("durable creates, {callers} callers"), "/s", rows);
    }
}

fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap_or(0.0) * 1024.0
}

/// Parked tasks are in the store and nowhere else; an answer brings one back.
async fn parked() {
    const TASKS: usize = 100_000;
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(SqliteStore::open(folder.path().join("parked.db")).await.expect("a store"));
    let engine = engine(Arc::clone(&store)).await;
    // What the process and its pools need in any case.
    engine.create(call("wait")).await.expect("a task");
    engine.idle().await;
    let before = resident_bytes();
    let mut ids = Vec::new();
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..TASKS {
        if set.len() == 256 {
            ids.push(set.join_next().await.expect("a task").expect("it ran"));
        }
        let engine = engine.clone();
        set.spawn(async move { engine.create(call("wait")).await.expect("a task").id.clone() });
    }
    while let Some(id) = set.join_next().await {
        ids.push(id.expect("it ran"));
    }
    engine.idle().await;
    let bytes = (resident_bytes() - before) / TASKS as f64;
    eprintln!("{:<30} {:<34} {bytes:>12.0} bytes a task", "parked tasks", "resident memory");
    println!(
        "{}",
        serde_json::json!({"bench": "engine", "case": "parked tasks", "name": "resident memory", "unit": "bytes", "median": bytes.round(), "against": "1024 bytes", "ratio": bytes / 1024.0})
    );
    let answer = r#"{"action":"accept","content":{"approved":true}}"#;
    let mut times = Vec::new();
    for id in ids.iter().step_by(TASKS / 500) {
        let parked = store.load(id, Parts::Head).await.expect("a read").expect("a task");
        assert!(parked.parked.is_some(), "{parked:?}");
        let answers: Map<RawJson> =
            [("approve".to_owned(), RawJson::from_text(answer).expect("an answer"))].into_iter().collect();
        let start = Instant::now();
        engine.update(&owner(), id, answers).await.expect("an update");
        engine.settled(&owner(), id).await.expect("an end");
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100];
    let ratio = p99.as_secs_f64() / Duration::from_millis(10).as_secs_f64();
    eprintln!("{:<30} {:<34} {:>12} us", "parked tasks", "answer to end, p99", p99.as_micros());
    println!(
        "{}",
        serde_json::json!({"bench": "engine", "case": "parked tasks", "name": "answer to end, p99", "unit": "us", "median": p99.as_micros() as u64, "against": "10 ms", "ratio": ratio})
    );
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        memory_polls().await;
        creation().await;
        sqlite_polls().await;
        durable_creation().await;
        parked().await;
    });
}
