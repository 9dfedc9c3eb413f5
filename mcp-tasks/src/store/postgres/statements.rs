//! What is said to the database. Each call of the store is one statement, which is a transaction by itself, so that no
//! lock outlives a process that stalls, and a pipeline of several callers' statements is no danger.
//!
//! No statement waits long for a row that somebody else has locked, since others' statements may be behind it on its
//! connection: it fails, has done nothing, and is said again.
//!
//! What others are told is part of the statement that changes it. Rows are locked in the order of their ids, so that
//! two statements never wait for each other.

use std::sync::Arc;

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sql {
    Insert,
    InsertWithSteps,
    Replace,
    Existing,
    Load,
    LoadParams,
    Steps,
    AppendStep,
    Remove,
    Claim,
    SetAside,
    Renew,
    Held,
    Due,
    Next,
    FindCall,
    CountLiveOfOwner,
    CountLive,
    ListOfOwner,
    List,
    Now,
}

/// How many there are.
pub(super) const COUNT: usize = Sql::Now as usize + 1;

/// The columns that every reader of a head reads, in this order, without their table.
macro_rules! head {
    () => {
        "id, record, version, fence, attempt, lease_worker, lease_until"
    };
}

/// What is told of one record: `c` for a task that may be taken up at once, `w` for another one, `r` for one that is
/// gone, then its version, its id.
macro_rules! item {
    ($letter:literal) => {
        concat!($letter, " || version || ' ' || id")
    };
}

/// Tells all who listen: who writes, and of one record what became of it.
macro_rules! tell {
    ($letter:literal) => {
        concat!("pg_notify('{c}', '{o} ' || ", item!($letter), ")::text")
    };
}

/// Tells of all records of a group at once, which costs the server as much as telling of one. What separates them is
/// in no text that is kept.
macro_rules! tell_all {
    ($letter:literal) => {
        concat!("pg_notify('{c}', '{o} ' || string_agg(", item!($letter), ", E'\\x01,'))::text")
    };
}

/// What the time in `$believed`, which the process takes for the database's, has to be put right by. How exactly it
/// can be read, and what a statement takes to get here, is no difference of clocks.
macro_rules! wrong_by {
    ($believed:literal) => {
        concat!(
            "(SELECT CASE WHEN wrong BETWEEN -500 AND 5000 THEN 0 ELSE wrong END FROM \
             (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 - ",
            $believed,
            " AS wrong) AS compared)"
        )
    };
}

/// The columns of a task, from lists.
macro_rules! insert {
    () => {
        "WITH made AS (INSERT INTO {s}.tasks (id, tenant, principal, created_at, due_at, live, parked, format, \
         version, fence, attempt, lease_worker, lease_until, same_call, record, params) \
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::int8[], $6::bool[], \
         $7::bool[], $8::int4[], $9::int8[], $10::int8[], $11::int8[], $12::text[], $13::int8[], $14::text[], \
         $15::text[], $16::text[]) ON CONFLICT DO NOTHING \
         RETURNING id, version, live AND NOT parked AND lease_worker IS NULL AS claimable)"
    };
}

/// Says which were made, and tells of them; no row where there is none.
macro_rules! made {
    () => {
        concat!(
            " SELECT array_agg(id), ",
            tell_all!("CASE WHEN claimable THEN 'c' ELSE 'w' END"),
            " FROM made HAVING count(*) > 0"
        )
    };
}

/// `{s}` is the schema, `{c}` the channel, `{o}` who we are, `{f}` the newest format of records that we know.
const TEXTS: [(Sql, &str); COUNT] = [
    (Sql::Insert, concat!(insert!(), made!())),
    (
        Sql::InsertWithSteps,
        concat!(
            insert!(),
            ", step AS (INSERT INTO {s}.steps (task, name, fingerprint, value) SELECT task, name, fingerprint, value \
             FROM unnest($17::text[], $18::text[], $19::text[], $20::text[]) WITH ORDINALITY \
             AS step(task, name, fingerprint, value, number) WHERE task IN (SELECT id FROM made) ORDER BY number)",
            made!()
        ),
    ),
    (
        Sql::Replace,
        concat!(
            "WITH wanted AS (SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[], $4::bool[], $5::bool[], \
             $6::int4[], $7::int8[], $8::int8[], $9::int8[], $10::bool[], $11::text[], $12::text[], $13::bool[]) \
             AS wanted(id, expected, due_at, live, parked, format, version, fence, attempt, leased, same_call, \
             record, forgotten)), \
             done AS (UPDATE {s}.tasks AS task SET due_at = wanted.due_at, live = wanted.live, \
             parked = wanted.parked, format = wanted.format, version = wanted.version, fence = wanted.fence, \
             attempt = wanted.attempt, lease_worker = CASE WHEN wanted.leased THEN task.lease_worker END, \
             lease_until = CASE WHEN wanted.leased THEN task.lease_until ELSE '-9223372036854775808'::int8 END, \
             same_call = wanted.same_call, record = wanted.record, \
             params = CASE WHEN wanted.forgotten THEN NULL ELSE task.params END \
             FROM wanted WHERE task.id = wanted.id AND task.version = wanted.expected \
             RETURNING task.id, task.version, task.lease_worker, task.lease_until, wanted.forgotten, \
             task.live AND NOT task.parked AND task.lease_worker IS NULL AS claimable), \
             forgotten AS (DELETE FROM {s}.steps USING done WHERE done.forgotten AND steps.task = done.id) \
             SELECT array_agg(id), array_agg(lease_worker), array_agg(lease_until), ",
            tell_all!("CASE WHEN claimable THEN 'c' ELSE 'w' END"),
            " FROM done HAVING count(*) > 0"
        ),
    ),
    (Sql::Existing, "SELECT id FROM {s}.tasks WHERE id = ANY($1::text[])"),
    (Sql::Load, concat!("SELECT ", head!(), " FROM {s}.tasks WHERE id = $1")),
    (Sql::LoadParams, concat!("SELECT ", head!(), ", params FROM {s}.tasks WHERE id = $1")),
    (
        Sql::Steps,
        "SELECT task, name, fingerprint, value FROM {s}.steps WHERE task = ANY($1::text[]) ORDER BY number",
    ),
    (
        // The lock keeps the lease while the step is written.
        Sql::AppendStep,
        "WITH task AS (SELECT id, live AND lease_worker IS NOT NULL AND fence = $2 AS leased FROM {s}.tasks \
         WHERE id = $1 FOR SHARE), \
         step AS (INSERT INTO {s}.steps (task, name, fingerprint, value) \
         SELECT id, $3, $4, $5 FROM task WHERE leased ON CONFLICT DO NOTHING RETURNING 1) \
         SELECT leased, EXISTS (SELECT 1 FROM step) FROM task",
    ),
    (
        Sql::Remove,
        concat!(
            "WITH gone AS (DELETE FROM {s}.tasks WHERE id = $1 AND version = $2 RETURNING id, version) SELECT ",
            tell!("'r'"),
            " FROM gone"
        ),
    ),
    (
        // Who holds a lease that ran out finds out that it is lost; of others nobody has to know.
        Sql::Claim,
        concat!(
            "WITH free AS (SELECT id, lease_worker, lease_until FROM {s}.tasks WHERE live AND NOT parked \
             AND lease_until <= $1 + ",
            wrong_by!("$5"),
            " AND format <= {f} ORDER BY lease_until, created_at, id LIMIT $2 \
             FOR UPDATE SKIP LOCKED), \
             taken AS (UPDATE {s}.tasks AS task SET version = version + 1, fence = fence + 1, \
             attempt = attempt + 1, lease_worker = $3, lease_until = $4 + ",
            wrong_by!("$5"),
            " FROM free WHERE task.id = free.id \
             RETURNING task.id, record, version, fence, attempt, task.lease_worker, task.lease_until, params, \
             free.lease_until AS free_since, free.lease_worker IS NOT NULL AS overtaken) \
             SELECT ",
            head!(),
            ", params, free_since, EXISTS (SELECT 1 FROM {s}.steps WHERE task = taken.id), \
             CASE WHEN overtaken THEN ",
            tell!("'w'"),
            " END FROM taken"
        ),
    ),
    (
        Sql::SetAside,
        "UPDATE {s}.tasks SET live = false, due_at = NULL, lease_worker = NULL, \
         lease_until = '-9223372036854775808'::int8 WHERE id = $1 AND version = $2",
    ),
    (
        Sql::Renew,
        concat!(
            "WITH held AS (SELECT id FROM {s}.tasks WHERE id = ANY($2::text[]) AND lease_worker = $1 ORDER BY id \
             FOR UPDATE SKIP LOCKED) \
             UPDATE {s}.tasks AS task SET lease_until = $3 + ",
            wrong_by!("$4"),
            " FROM held WHERE task.id = held.id RETURNING task.id"
        ),
    ),
    (Sql::Held, "SELECT id FROM {s}.tasks WHERE id = ANY($2::text[]) AND lease_worker = $1"),
    (
        Sql::Due,
        concat!(
            "SELECT ",
            head!(),
            ", due_at FROM {s}.tasks WHERE due_at <= $1 AND format <= {f} ORDER BY due_at, id LIMIT $2"
        ),
    ),
    (
        Sql::Next,
        "SELECT (SELECT due_at FROM {s}.tasks WHERE due_at > $1 AND format <= {f} ORDER BY due_at, id LIMIT 1), \
         (SELECT lease_until FROM {s}.tasks WHERE live AND NOT parked AND format <= {f} \
         ORDER BY lease_until, created_at, id LIMIT 1)",
    ),
    (Sql::FindCall, concat!("SELECT ", head!(), " FROM {s}.tasks WHERE same_call = $1")),
    (
        Sql::CountLiveOfOwner,
        "SELECT count(*) FROM (SELECT 1 FROM {s}.tasks WHERE live AND tenant = $1 AND principal = $2 LIMIT $3) \
         AS live",
    ),
    (Sql::CountLive, "SELECT count(*) FROM (SELECT 1 FROM {s}.tasks WHERE live LIMIT $1) AS live"),
    (
        Sql::ListOfOwner,
        concat!(
            "SELECT ",
            head!(),
            ", created_at FROM {s}.tasks WHERE (created_at, id) > ($1, $2) AND tenant = $4 AND principal = $5 \
             ORDER BY created_at, id LIMIT $3"
        ),
    ),
    (
        Sql::List,
        concat!(
            "SELECT ",
            head!(),
            ", created_at FROM {s}.tasks WHERE (created_at, id) > ($1, $2) ORDER BY created_at, id LIMIT $3"
        ),
    ),
    (Sql::Now, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8"),
];

/// The statements as one store says them.
#[derive(Clone, Debug)]
pub(super) struct Statements {
    texts: Arc<[String]>,
    schema: String,
    origin: String,
}

impl Statements {
    /// For this schema, and for a store that is known by `origin` to itself.
    pub(super) fn new(schema: &str, origin: &str) -> Self {
        let channel = channel(schema);
        let text = |index: usize| {
            let (sql, text) = TEXTS[index];
            debug_assert_eq!(sql as usize, index);
            text.replace("{s}", schema)
                .replace("{c}", &channel)
                .replace("{o}", origin)
                .replace("{f}", &crate::record::FORMAT.to_string())
        };
        let texts = (0..COUNT).map(text).collect();
        Self { texts, schema: schema.to_owned(), origin: origin.to_owned() }
    }

    pub(super) fn text(&self, sql: Sql) -> &str {
        &self.texts[sql as usize]
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Asks for what others tell.
    pub(super) fn listen(&self) -> String {
        format!("LISTEN \"{}\"", channel(&self.schema))
    }
}

/// Where changes are told; channels belong to a whole database.
fn channel(schema: &str) -> String {
    format!("mcp-tasks.{schema}")
}
