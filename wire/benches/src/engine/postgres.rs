//! The PostgreSQL store: creations and claims beside the bare statements, and how soon another replica begins with a
//! task. On a server of its own in a temporary folder; nothing where PostgreSQL is not installed.
//!
//! Where a commit waits long for the disk, the disk decides: so many callers write no more than so many rows a commit,
//! by whatever statement, and no task is begun before two commits. The rows of the bare statements tell.

#[path = "../../../../mcp-tasks/tests/it/postgres_cluster.rs"]
mod postgres_cluster;

use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use mcp_tasks::store::Claim;
use mcp_tasks::types::{RawObject, Timestamp, to_string};
use mcp_tasks::{Engine, NewTask, PostgresStore, Role, Store, TaskContext, TaskRecord, ToolError, task_tool};
use postgres_cluster::Cluster;
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, NoTls, Statement};

use super::bare::by_callers;
use super::bars::{Goal, Row, report, tell};
use super::owner;

/// Turns are short, so that what is compared meets the same moments of a disk that is not always as fast.
const ROUNDS: u64 = 15;
const CALLERS: u64 = 16;
/// How many tasks a caller creates in a turn.
const CREATES: u64 = 100;
/// How many claims a caller makes in a turn, and how many tasks each takes.
const CLAIMS: u64 = 20;
const BATCH: u64 = 16;
const HANDOVERS: u64 = 500;

static BEGAN: OnceLock<mpsc::UnboundedSender<Instant>> = OnceLock::new();

/// Says when it began.
#[task_tool(ttl = "1d", restart = "rerun")]
async fn begin(_ctx: TaskContext) -> Result<String, ToolError> {
    if let Some(began) = BEGAN.get() {
        began.send(Instant::now()).ok();
    }
    Ok("done".to_owned())
}

const NOW: i64 = 1_800_000_000_000;
const PARAMS: &str = r#"{"name":"generate_report","arguments":{"size":"small"}}"#;

fn record(number: u64) -> TaskRecord {
    let mut record = super::record(number);
    // In no order, as ids are.
    let id =
        format!("tsk_{:032x}", u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835));
    record.id = id.as_str().into();
    record.params = RawObject::from_text(PARAMS).ok();
    record
}

/// The row that the store writes, with everything that is in it and all its indexes. Nobody is told of it.
const INSERT: &str = "INSERT INTO bare.tasks (id, tenant, principal, created_at, due_at, live, parked, format, \
    version, fence, attempt, lease_until, record, params) VALUES ($1, 'tenant', 'principal', $2, $3, true, false, 1, \
    1, 0, 0, '-9223372036854775808'::int8, $4, $5)";

/// The same for a whole group. What a group has in common is in the statement.
const INSERT_GROUP: &str = "INSERT INTO bare.tasks (id, tenant, principal, created_at, due_at, live, parked, format, \
    version, fence, attempt, lease_until, record, params) SELECT id, 'tenant', 'principal', at, due, true, false, 1, \
    1, 0, 0, '-9223372036854775808'::int8, record, params FROM unnest($1::text[], $2::int8[], $3::int8[], $4::text[], \
    $5::text[]) AS row(id, at, due, record, params)";

/// A claim as short as it can be: with nobody who is told, and nothing that a newer format or a step would need.
const CLAIM: &str = "UPDATE bare.tasks SET version = version + 1, fence = fence + 1, attempt = attempt + 1, \
    lease_worker = $1, lease_until = $2 WHERE id IN (SELECT id FROM bare.tasks WHERE live AND NOT parked \
    AND lease_until <= $3 ORDER BY lease_until, created_at, id LIMIT $4 FOR UPDATE SKIP LOCKED) \
    RETURNING id, record, params, version";

const FILL: &str = "INSERT INTO {s}.tasks (id, tenant, principal, created_at, due_at, live, parked, format, version, \
    fence, attempt, lease_until, record, params) SELECT md5(n::text), 'tenant', 'principal', n, n, true, false, 1, \
    1, 0, 0, '-9223372036854775808'::int8, $1, $2 FROM generate_series(1, $3::int8) AS n";

/// A connection, with a statement that is prepared.
struct Bare {
    client: Client,
    statement: Statement,
}

impl Bare {
    async fn new(url: &str, statement: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let statement = client.prepare(statement).await.expect("a statement");
        Self { client, statement }
    }

    async fn all(url: &str, statement: &str) -> Arc<Vec<Self>> {
        let mut all = Vec::new();
        for _ in 0..CALLERS {
            all.push(Self::new(url, statement).await);
        }
        Arc::new(all)
    }

    async fn query(&self, params: &[&(dyn ToSql + Sync)]) -> usize {
        self.client.query(&self.statement, params).await.expect("rows").len()
    }
}

/// What the columns of a new record are made of.
fn columns(number: u64) -> (String, i64, i64, String) {
    let mut record = record(number);
    record.params = None;
    let at = record.created_at.unix_millis();
    let text = to_string(&record).expect("JSON");
    (record.id.as_str().to_owned(), at, at + 86_400_000, text)
}

async fn creations(url: &str, store: &Arc<PostgresStore>) {
    let bare = Bare::all(url, INSERT).await;
    let grouped = Bare::new(url, INSERT_GROUP).await;
    let mut rows = [
        Row::new("bare, one row a statement"),
        Row::new("bare, groups of 16 in turn").beside("bare, one row a statement"),
        Row::new("store, 16 callers")
            .at_least(0.7, "bare, one row a statement")
            .at_least(0.6, "bare, groups of 16 in turn"),
        Row::new("bare, one caller"),
        Row::new("store, one caller").beside("bare, one caller"),
    ];
    for round in 0..ROUNDS {
        let base = round * 10_000_000;
        let connections = Arc::clone(&bare);
        let one_by_one = by_callers(CALLERS, CREATES, move |number| {
            let connections = Arc::clone(&connections);
            async move {
                let (id, at, due, text) = columns(base + number);
                let caller = usize::try_from(number / CREATES).unwrap_or(0);
                connections[caller].query(&[&id, &at, &due, &text, &PARAMS]).await;
            }
        });
        rows[0].values.push(one_by_one.await);
        rows[1].values.push(groups(&grouped, base + 1_000_000).await);
        rows[2].values.push(super::store_inserts_of(record, store, CALLERS, CREATES, base + 2_000_000).await);
        let start = Instant::now();
        for number in 0..CREATES {
            let (id, at, due, text) = columns(base + 3_000_000 + number);
            bare[0].query(&[&id, &at, &due, &text, &PARAMS]).await;
        }
        rows[3].values.push(CREATES as f64 / start.elapsed().as_secs_f64());
        rows[4].values.push(super::store_inserts_of(record, store, 1, CREATES, base + 4_000_000).await);
    }
    report("creates, PostgreSQL", &rows);
}

/// As many rows as all callers create in a turn.
async fn groups(grouped: &Bare, base: u64) -> f64 {
    let start = Instant::now();
    for group in 0..CREATES {
        let all: Vec<_> = (0..CALLERS).map(|number| columns(base + group * CALLERS + number)).collect();
        let ids: Vec<&str> = all.iter().map(|(id, ..)| id.as_str()).collect();
        let at: Vec<i64> = all.iter().map(|(_, at, ..)| *at).collect();
        let due: Vec<i64> = all.iter().map(|(_, _, due, _)| *due).collect();
        let texts: Vec<&str> = all.iter().map(|(.., text)| text.as_str()).collect();
        grouped.query(&[&ids, &at, &due, &texts, &vec![PARAMS; all.len()]]).await;
    }
    (CREATES * CALLERS) as f64 / start.elapsed().as_secs_f64()
}

async fn fill(admin: &Client) {
    let rows = i64::try_from(ROUNDS * CALLERS * CLAIMS * BATCH).unwrap_or(i64::MAX);
    let text = columns(0).3;
    for schema in ["bare", "mcp_tasks"] {
        let truncate = format!("TRUNCATE {schema}.tasks CASCADE");
        admin.batch_execute(&truncate).await.expect("a truncated table");
        admin.execute(&FILL.replace("{s}", schema), &[&text, &PARAMS, &rows]).await.expect("rows");
    }
    for order in ["VACUUM ANALYZE", "CHECKPOINT"] {
        admin.batch_execute(order).await.expect("statistics");
    }
}

async fn claims(url: &str, store: &Arc<PostgresStore>) {
    let bare = Bare::all(url, CLAIM).await;
    fill(&bare[0].client).await;
    let until = NOW + 900_000;
    let mut rows = [
        Row::new("bare, 16 connections"),
        Row::new("store, 16 callers").at_least(0.8, "bare, 16 connections"),
    ];
    for _ in 0..ROUNDS {
        let connections = Arc::clone(&bare);
        let theirs = by_callers(CALLERS, CLAIMS, move |number| {
            let connections = Arc::clone(&connections);
            async move {
                let caller = usize::try_from(number / CLAIMS).unwrap_or(0);
                let batch = i64::try_from(BATCH).unwrap_or(1);
                assert_eq!(connections[caller].query(&[&"worker", &until, &NOW, &batch]).await as u64, BATCH);
            }
        });
        rows[0].values.push(theirs.await * BATCH as f64);
        let store = Arc::clone(store);
        let ours = by_callers(CALLERS, CLAIMS, move |_| {
            let store = Arc::clone(&store);
            async move {
                let (now, until) = (Timestamp::from_unix_millis(NOW), Timestamp::from_unix_millis(until));
                let claim = Claim::new("worker", now, until, usize::try_from(BATCH).unwrap_or(1));
                let taken = store.claim(claim).await.expect("records");
                assert_eq!(taken.len() as u64, BATCH);
                black_box(taken);
            }
        });
        rows[1].values.push(ours.await * BATCH as f64);
    }
    report("claims of 16, PostgreSQL", &rows);
}

/// Makes a row, tells of it, and claims it on another connection that hears of it.
struct BareHandover {
    insert: Bare,
    claim: Bare,
    told: mpsc::UnboundedReceiver<()>,
    _listener: Client,
}

impl BareHandover {
    async fn new(url: &str) -> Self {
        let (listener, mut connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
        let (sender, told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                if matches!(message, AsyncMessage::Notification(_)) && sender.send(()).is_err() {
                    return;
                }
            }
        });
        listener.batch_execute("LISTEN bare; TRUNCATE bare.tasks CASCADE").await.expect("to listen");
        let insert =
            format!("WITH made AS ({INSERT} RETURNING id) SELECT pg_notify('bare', id)::text FROM made");
        let (insert, claim) = (Bare::new(url, &insert).await, Bare::new(url, CLAIM).await);
        Self { insert, claim, told, _listener: listener }
    }

    /// How long it takes.
    async fn millis(&mut self, number: u64) -> f64 {
        let (id, at, due, text) = columns(number);
        let start = Instant::now();
        self.insert.query(&[&id, &at, &due, &text, &PARAMS]).await;
        self.told.recv().await.expect("a word");
        let taken = self.claim.query(&[&"worker", &(NOW + 900_000), &NOW, &16_i64]).await;
        assert_eq!(taken, 1);
        start.elapsed().as_secs_f64() * 1_000.0
    }
}

/// Made by a process that runs no bodies, begun by one that takes no calls.
async fn handovers(url: &str) {
    let mut bare = BareHandover::new(url).await;
    let (sender, mut began) = mpsc::unbounded_channel();
    BEGAN.get_or_init(|| sender);
    let open = || async { PostgresStore::builder(url).schema("handover").open().await.expect("a store") };
    let serving = Engine::builder(open().await).role(Role::Serve).tool::<begin>();
    let serving = serving.build().await.expect("an engine");
    let working = Engine::builder(open().await).role(Role::Work).tool::<begin>();
    let working = working.build().await.expect("an engine");
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for number in 0..HANDOVERS {
        theirs.push(bare.millis(number).await);
        let task = NewTask::new(owner(), "begin", RawObject::empty());
        // From before it is created: that the other one begins before this one is answered is allowed.
        let start = Instant::now();
        let task = serving.create(task).await.expect("a task");
        let began = began.recv().await.expect("a beginning");
        ours.push(began.duration_since(start).as_secs_f64() * 1_000.0);
        serving.settled(&task.owner, &task.id).await.expect("an end");
    }
    drop(working);
    theirs.sort_by(f64::total_cmp);
    ours.sort_by(f64::total_cmp);
    let goal = Some(Goal::AtMost(1.0));
    let case = "created here, begun there";
    for (name, percent, bound) in [("p50", 50, 2.0), ("p99", 99, 10.0)] {
        let place = ours.len() * percent / 100;
        let (theirs, ours) = (theirs[place], ours[place]);
        tell(
            case,
            &format!("bare, {name}"),
            (theirs * 1e3, "us"),
            (&format!("{bound} ms"), theirs / bound),
            None,
        );
        tell(case, name, (ours * 1e3, "us"), ("the bare statements", ours / theirs), None);
        tell(case, name, (ours * 1e3, "us"), (&format!("{bound} ms"), ours / bound), goal);
    }
}

pub(super) async fn run() {
    let cluster = match Cluster::start() {
        Ok(Some(cluster)) => cluster,
        Ok(None) => return eprintln!("PostgreSQL is not installed: its bars are SKIPPED"),
        Err(err) => return eprintln!("PostgreSQL cannot be started, its bars are SKIPPED: {err}"),
    };
    let url = cluster.url();
    let store = Arc::new(PostgresStore::open(&url).await.expect("a store"));
    // The same tables, for the bare statements.
    PostgresStore::builder(&url).schema("bare").open().await.expect("a store").close().await;
    creations(&url, &store).await;
    claims(&url, &store).await;
    store.close().await;
    handovers(&url).await;
}
