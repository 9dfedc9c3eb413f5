//! What the engine costs: polls, creation, durable writes and parked tasks, beside what they cannot be faster than and
//! beside another task manager.
//!
//! Arguments name the cases to run; without any, all of them. A table on standard error, one JSON line a bar on
//! standard output; a bar with a goal says whether it is met, and the exit status is 1 when one is not. What a ratio
//! compares is measured in turns in the same run, and the ratio is the median over the turns, so that a machine that
//! slows down for a while decides nothing.

mod bare;
mod bars;
#[path = "engine/postgres.rs"]
mod postgres;

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_tasks::server::snapshot;
use mcp_tasks::store::Parts;
use mcp_tasks::types::{Map, RawJson, RawObject, TaskId, to_string};
use mcp_tasks::{
    Engine, EngineBuilder, Input, MemoryStore, NewTask, Owner, SqliteStore, Store, TaskContext, ToolError,
    task_tool, tool_type,
};

use bare::{INSERT, bare_file, bare_writer, by_callers, rate};
use bars::{Goal, Row, median, report, tell};

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

/// How many tasks are polled where only the number of those that are kept differs.
const FEW: usize = 10;
/// How many are polled in turn where they do not fit into the processor's nearer caches any more.
const MANY: usize = 1_000;

/// An engine over a store that keeps so many ended tasks, and their ids in no order.
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
    // By what their random ids are, so in no order of memory or file.
    ids.sort();
    (engine, ids)
}

/// The beginning of work that this thread does alone: it is measured in the thread's own time, so that what else the
/// machine does counts little.
struct Alone {
    cpu: Option<f64>,
    wall: Instant,
}

impl Alone {
    fn begin() -> Self {
        Self { cpu: cpu_seconds(), wall: Instant::now() }
    }

    fn rate(&self, count: usize) -> f64 {
        match (self.cpu, cpu_seconds()) {
            (Some(start), Some(end)) if end > start => count as f64 / (end - start),
            _ => rate(count, self.wall),
        }
    }
}

/// How long this thread has run, where the system says so.
fn cpu_seconds() -> Option<f64> {
    // The number is brought up to date when the thread gives way.
    std::thread::yield_now();
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(times.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

/// Polls with the answer's JSON, per second.
async fn polls(engine: &Engine, ids: &[TaskId], count: usize) -> f64 {
    let owner = owner();
    let start = Alone::begin();
    for id in ids.iter().cycle().take(count) {
        let record = engine.get(&owner, id).await.expect("a task");
        black_box(to_string(&snapshot(&record).expect("a message")).expect("text"));
    }
    start.rate(count)
}

/// The same by so many threads at once, by the clock.
async fn polls_by(threads: usize, engine: &Engine, ids: &[TaskId], count: usize) -> f64 {
    let start = Instant::now();
    let mut set = tokio::task::JoinSet::new();
    for thread in 0..threads {
        // Not in step: two clients do not poll the same task at the same moment.
        let (engine, mut ids) = (engine.clone(), ids.to_vec());
        let first = thread * ids.len() / threads;
        ids.rotate_left(first);
        set.spawn(async move { polls(&engine, &ids, count).await });
    }
    while set.join_next().await.is_some() {}
    rate(threads * count, start)
}

/// What a poll cannot do without: a look-up and a copy of the answer's text.
fn bare_polls(map: &HashMap<String, String>, ids: &[TaskId], count: usize) -> f64 {
    let start = Alone::begin();
    for id in ids.iter().cycle().take(count) {
        black_box(map[id.as_str()].clone());
    }
    start.rate(count)
}

async fn bare_map(engine: &Engine, ids: &[TaskId]) -> HashMap<String, String> {
    let mut map = HashMap::new();
    for id in ids {
        let record = engine.get(&owner(), id).await.expect("a task");
        let text = to_string(&snapshot(&record).expect("a message")).expect("text");
        map.insert(id.as_str().to_owned(), text);
    }
    map
}

fn bare_polls_by(threads: usize, map: &HashMap<String, String>, ids: &[TaskId], count: usize) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| bare_polls(map, ids, count));
        }
    });
    rate(threads * count, start)
}

/// The same ten tasks are polled while more and more are kept; then a thousand, and every one, in turn. Those cost the
/// bare map more as well: they are misses of the processor's caches.
async fn memory_polls() {
    const COUNT: usize = 100_000;
    let mut benches = Vec::new();
    for kept in [10, 10_000, 100_000] {
        let (engine, ids) = filled(MemoryStore::new(), kept).await;
        let bare = bare_map(&engine, &ids).await;
        benches.push((engine, ids, bare));
    }
    let mut rows = [
        Row::new("10 kept"),
        Row::new("10000 kept").at_least(0.9, "10 kept"),
        Row::new("100000 kept").at_least(0.8, "10 kept"),
        Row::new("bare map"),
        Row::new("bare map, 1000 of 100000").beside("bare map"),
        Row::new("1000 of 100000").beside("10 kept").beside("bare map, 1000 of 100000"),
        Row::new("bare map, each of 100000").beside("bare map"),
        Row::new("each of 100000").beside("10 kept").beside("bare map, each of 100000"),
    ];
    for _ in 0..ROUNDS {
        for (index, (engine, ids, _)) in benches.iter().enumerate() {
            let few = &ids[..FEW];
            rows[index].values.push(polls(engine, few, COUNT).await);
        }
        let (_, few, bare) = &benches[0];
        rows[3].values.push(bare_polls(bare, few, 10 * COUNT));
        let (engine, ids, bare) = &benches[2];
        rows[4].values.push(bare_polls(bare, &ids[..MANY], COUNT));
        rows[5].values.push(polls(engine, &ids[..MANY], COUNT).await);
        rows[6].values.push(bare_polls(bare, ids, COUNT));
        rows[7].values.push(polls(engine, ids, COUNT).await);
    }
    report("polls, memory", &rows);
    let mut by_clock = [
        Row::new("10000 kept, one thread").by_best(),
        Row::new("10000 kept, two threads").by_best().at_least(1.6, "10000 kept, one thread"),
        Row::new("bare map, one thread").by_best(),
        Row::new("bare map, two threads").by_best().beside("bare map, one thread"),
    ];
    let (engine, ids, bare) = &benches[1];
    for _ in 0..4 * ROUNDS {
        for threads in [1, 2] {
            by_clock[threads - 1].values.push(polls_by(threads, engine, &ids[..MANY], COUNT / 2).await);
            by_clock[threads + 1].values.push(bare_polls_by(threads, bare, &ids[..MANY], 2 * COUNT));
        }
    }
    report("polls, memory, by clock", &by_clock);
    let rate = median(&rows[0].values);
    let goal = Some(Goal::AtLeast(1.0));
    tell("polls, memory", "10 kept", (rate, "/s"), ("a million a second", rate / 1e6), goal);
}

async fn sqlite_polls() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.db");
    let (large, ids) = filled(SqliteStore::open(&path).await.expect("a store"), 100_000).await;
    let small_path = folder.path().join("small.db");
    let (small, few) = filled(SqliteStore::open(&small_path).await.expect("a store"), 10).await;
    let bare = rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the file");
    // The statement of the store, all of whose columns are read.
    let statement = "SELECT rowid, id, record, version, fence, attempt, lease_worker, lease_until FROM tasks \
        WHERE id = ?1";
    let mut read = bare.prepare(statement).expect("a statement");
    let count = 20_000;
    let some = &ids[..MANY];
    let mut rows = [
        Row::new("10 kept"),
        Row::new("100000 kept").at_least(0.8, "10 kept"),
        Row::new("bare read, 1000 of 100000"),
        Row::new("1000 of 100000").at_least(0.6, "bare read, 1000 of 100000").beside("10 kept"),
    ];
    for _ in 0..ROUNDS {
        rows[0].values.push(polls(&small, &few, count).await);
        rows[1].values.push(polls(&large, &ids[..FEW], count).await);
        let start = Alone::begin();
        for id in some.iter().cycle().take(count) {
            let row = read.query_row([id.as_str()], |row| {
                let (id, record) = (row.get::<_, String>(1)?, row.get::<_, String>(2)?);
                let numbers = [row.get::<_, i64>(3)?, row.get(4)?, row.get(5)?, row.get(7)?];
                Ok((id, record, numbers, row.get::<_, Option<String>>(6)?))
            });
            black_box(row.expect("a row"));
        }
        rows[2].values.push(start.rate(count));
        rows[3].values.push(polls(&large, some, count).await);
    }
    report("polls, SQLite", &rows);
}

/// Created, run and finished, per second, on top of what is kept.
async fn created(engine: &Engine, count: usize) -> f64 {
    let start = Alone::begin();
    for _ in 0..count {
        engine.create(call("finish")).await.expect("a task");
    }
    engine.idle().await;
    start.rate(count)
}

/// On one thread, so that waking another one is no part of it.
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
    let mut map = HashMap::new();
    let mut rows = [
        Row::new("bare map insert"),
        Row::new("rmcp, 10 kept"),
        Row::new("rmcp, 5000 kept").beside("rmcp, 10 kept"),
        Row::new("10 kept").at_least(0.08, "bare map insert").at_least(2.0, "rmcp, 10 kept"),
        Row::new("100000 kept").at_least(0.8, "10 kept").beside("rmcp, 5000 kept"),
    ];
    for round in 0..ROUNDS {
        let start = Alone::begin();
        for number in 0..20_000 {
            let text = "Generated large report with approved outline. ".repeat(16);
            map.insert(format!("tsk_{:032x}", round * 20_000 + number), text);
        }
        rows[0].values.push(start.rate(20_000));
        for (manager, row, count) in [(&peer_small, 1, 100), (&peer_large, 2, 100)] {
            let start = Alone::begin();
            for _ in 0..count {
                spawn(manager);
            }
            while manager.running_task_count() > 0 {
                tokio::task::yield_now().await;
            }
            rows[row].values.push(start.rate(count));
        }
        rows[3].values.push(created(&small, 2_000).await);
        rows[4].values.push(created(&large, 2_000).await);
    }
    report("create, run, finish", &rows);
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

async fn store_inserts(store: &Arc<impl Store>, callers: u64, each: u64, base: u64) -> f64 {
    store_inserts_of(record, store, callers, each, base).await
}

async fn store_inserts_of(
    record: fn(u64) -> mcp_tasks::TaskRecord,
    store: &Arc<impl Store>,
    callers: u64,
    each: u64,
    base: u64,
) -> f64 {
    let store = Arc::clone(store);
    by_callers(callers, each, move |number| {
        let store = Arc::clone(&store);
        async move {
            black_box(store.insert(record(base + number)).await.expect("a record"));
        }
    })
    .await
}

async fn durable_creation() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(SqliteStore::open(folder.path().join("ours.db")).await.expect("a store"));
    let bare = bare_file(&folder.path().join("bare.db"));
    let writer = bare_writer(bare_file(&folder.path().join("group.db")));
    let mut one = [Row::new("bare insert"), Row::new("store, one caller").at_least(0.8, "bare insert")];
    let mut many =
        [Row::new("bare group commit"), Row::new("store, 64 callers").at_least(0.6, "bare group commit")];
    let text = "x".repeat(500);
    for round in 0..ROUNDS as u64 {
        let base = round * 1_000_000;
        let start = Instant::now();
        for number in 0..1_000 {
            let mut insert = bare.prepare_cached(INSERT).expect("a statement");
            insert.execute([&format!("tsk_{:032x}", base + number), &text]).expect("a row");
        }
        one[0].values.push(rate(1_000, start));
        one[1].values.push(store_inserts(&store, 1, 1_000, base).await);
        let sender = writer.clone();
        many[0].values.push(
            by_callers(64, 200, move |number| {
                let sender = sender.clone();
                async move {
                    let (done, receiver) = tokio::sync::oneshot::channel();
                    sender.send((format!("tsk_{:032x}", base + number), done)).expect("the writer");
                    receiver.await.expect("a commit");
                }
            })
            .await,
        );
        many[1].values.push(store_inserts(&store, 64, 200, base + 500_000).await);
    }
    report("durable creates, SQLite", &one);
    report("durable creates, SQLite", &many);
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
    let goal = Some(Goal::AtMost(1.0));
    tell("parked tasks", "resident memory", (bytes, "bytes"), ("1 KiB", bytes / 1024.0), goal);
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
    tell("parked tasks", "answer to end, p99", (p99.as_micros() as f64, "us"), ("10 ms", ratio), goal);
}

/// The cases by name, in the order in which they run.
const CASES: [&str; 6] = ["polls-memory", "create", "polls-sqlite", "durable", "parked", "postgres"];

fn run(case: &str) {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    let mut one_thread = tokio::runtime::Builder::new_current_thread();
    let runtime = if case == "create" { &mut one_thread } else { threads.worker_threads(2) };
    let runtime = runtime.enable_all().build().expect("a runtime");
    match case {
        "polls-memory" => runtime.block_on(memory_polls()),
        "create" => runtime.block_on(creation()),
        "polls-sqlite" => runtime.block_on(sqlite_polls()),
        "durable" => runtime.block_on(durable_creation()),
        "parked" => runtime.block_on(parked()),
        _ => runtime.block_on(postgres::run()),
    }
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|case| !CASES.contains(&case.as_str())) {
        eprintln!("there is no case `{unknown}`; there are {}", CASES.join(", "));
        return ExitCode::from(2);
    }
    for case in CASES.into_iter().filter(|case| wanted.is_empty() || wanted.iter().any(|name| name == case)) {
        let start = Instant::now();
        run(case);
        eprintln!("{case} took {:.0} s", start.elapsed().as_secs_f64());
    }
    let missed = bars::missed();
    eprintln!("goals missed: {missed}");
    ExitCode::from(u8::from(missed > 0))
}
