//! The store that several processes share: PostgreSQL.
//!
//! Each call is one statement over one of a few connections, prepared and found by index. Creations and changes that
//! come at the same time share statements. What one process writes, the others are told by `NOTIFY`.

mod group;
mod listen;
mod pool;
mod rows;
mod schema;
mod session;
mod statements;
mod text;
mod time;
#[cfg(feature = "postgres-tls")]
mod tls;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};

use self::group::{Group, check_size};
use self::listen::Listener;
use self::pool::Pool;
use self::rows::{Insert, Read, Replace, get, read_head, read_params, read_step};
use self::session::{Connector, Failure, Session};
use self::statements::{Sql, Statements};
use self::text::{kept, original};
use self::time::DatabaseClock;
use super::keys::{check_keys, check_step};
use super::row::{Head, integer};
use super::{
    Change, ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError, StoreErrorKind,
};
use crate::clock::{Ids as _, RandomIds};
use crate::error::with_causes;
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord};

/// A store in a PostgreSQL database, which any number of processes can share.
///
/// A process that dies keeps its leases until they run out; one that ends in an orderly way
/// ([`Server::shutdown`](crate::Server::shutdown)) hands them over at once. Leases and lifetimes count in the
/// database's time, so that clocks that differ do no harm.
///
/// # The database
///
/// PostgreSQL 11 or later. The tables stand in a schema of their own, `mcp_tasks` unless set, and are made and brought
/// up to date on opening, by whoever comes first. Afterwards the user needs no more than `USAGE` on the schema and the
/// right to read and write its tables. Tables of a newer version are refused, and records of a newer version left to
/// the processes that know it, so that replicas can be replaced one after the other.
///
/// Each store has one connection to listen and up to eight, unless set, for everything else.
///
/// # Poolers
///
/// A pooler between the store and the server has to pool by session. One that pools by transaction, as PgBouncer can
/// be told to, loses `LISTEN`, prepared statements and settings of the session: statements fail, and what others write
/// is not heard of. The store has few connections and keeps them, so that it needs no pooler.
///
/// # Secrets
///
/// The password of the URL goes to the server and nowhere else: neither the log nor an error has it. Without the
/// feature `postgres-tls` the connection is in the clear, and a URL with `sslmode=require` is refused.
pub struct PostgresStore {
    shared: Arc<Shared>,
    open: Mutex<Option<Open>>,
}

/// What is given back on closing.
struct Open {
    inserts: Group<Insert>,
    replaces: Group<Replace>,
    listener: Listening,
}

/// The task that listens, which ends with the store.
struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the store and its tasks share.
struct Shared {
    pool: Pool,
    feed: ChangeFeed,
    clock: Arc<DatabaseClock>,
    /// Where the database is, for messages.
    place: String,
}

impl Shared {
    /// Says which database it is about, where that is what somebody has to look at.
    fn in_database(&self, err: StoreError) -> StoreError {
        in_database(&self.place, err)
    }

    /// A write that came to nothing, or of which nobody knows what it came to.
    fn not_written(&self, failure: Failure) -> StoreError {
        if failure.is_lost() {
            // What was written all the same is nowhere told as ours.
            self.feed.send(Change::Resync);
        }
        self.in_database(failure.into_error())
    }

    async fn read(&self, sql: Sql, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        self.pool.read(sql, params).await.map_err(|failure| self.in_database(failure.into_error()))
    }
}

fn in_database(place: &str, mut err: StoreError) -> StoreError {
    if matches!(err.kind, StoreErrorKind::Unavailable | StoreErrorKind::Corrupt) {
        err.message = format!("task store at {place}: {}", err.message);
    }
    err
}

fn closed() -> StoreError {
    Failure::Closed.into_error()
}

/// A store in the making.
pub struct PostgresStoreBuilder {
    url: String,
    schema: String,
    connections: usize,
    #[cfg(feature = "postgres-tls")]
    roots: Option<Vec<u8>>,
}

impl PostgresStoreBuilder {
    /// Sets the schema that the tables stand in, `mcp_tasks` unless set: up to 40 letters of `a-z`, digits and `_`.
    /// Stores in different schemas know nothing of each other.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Sets how many connections there are at most besides the one that listens: eight, unless set. They are made when
    /// they are needed.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the certificates that the server's has to come from, in PEM, in place of those that the system trusts.
    #[cfg(feature = "postgres-tls")]
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// Connects, and makes the tables or brings them up to date. Needs a tokio runtime, on which the connections live.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] when the URL or the schema's name cannot be used, or the tables are of a newer
    /// version or of something else; they are left as they are. [`StoreErrorKind::Unavailable`] when the database
    /// cannot be reached.
    pub async fn open(self) -> Result<PostgresStore, StoreError> {
        // What connecting keeps while it waits is large, and would be a part of whoever opens a store.
        Box::pin(self.open_here()).await
    }

    async fn open_here(self) -> Result<PostgresStore, StoreError> {
        let Self { url, schema, connections, .. } = &self;
        check_schema(schema)?;
        let config = config(url)?;
        let place = place(&config, schema);
        let origin = RandomIds::new().worker_id().map_err(|err| {
            StoreError::new(StoreErrorKind::Unavailable, "there are no random numbers").with_source(err)
        })?;
        let connector = Arc::new(Connector {
            config,
            statements: Statements::new(schema, &origin),
            #[cfg(feature = "postgres-tls")]
            tls: self.tls().await?,
        });
        let failed = |failure: Failure| in_database(&place, failure.into_error());
        let session = Session::connect(&connector, None).await.map_err(failed)?;
        let prepared = schema::prepare(&session, schema).await;
        prepared.map_err(|refused| in_database(&place, refused.into_error()))?;
        drop(session);

        let (feed, clock) = (ChangeFeed::default(), Arc::<DatabaseClock>::default());
        let listener =
            Listener { connector: Arc::clone(&connector), feed: feed.clone(), clock: Arc::clone(&clock) };
        let ear = listener.begin().await.map_err(failed)?;
        let listener = Listening(tokio::spawn(listener.listen(ear)));
        let pool = Pool::new(connector, *connections);
        let shared = Arc::new(Shared { pool, feed, clock, place });
        let open = Open { inserts: Group::start(&shared), replaces: Group::start(&shared), listener };
        Ok(PostgresStore { shared, open: Mutex::new(Some(open)) })
    }

    #[cfg(feature = "postgres-tls")]
    async fn tls(&self) -> Result<tls::Tls, StoreError> {
        let roots = self.roots.clone();
        let made = tokio::task::spawn_blocking(move || tls::Tls::new(roots.as_deref())).await;
        made.unwrap_or_else(|err| {
            Err(StoreError::new(StoreErrorKind::Unavailable, "TLS cannot be set up").with_source(err))
        })
    }
}

impl fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStoreBuilder").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// What is put into statements as it is.
fn check_schema(schema: &str) -> Result<(), StoreError> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let mut bytes = schema.bytes();
    if schema.len() <= 40
        && bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && !schema.starts_with("pg_")
    {
        return Ok(());
    }
    let message = format!("`{schema}` is no name for a schema: up to 40 of `a-z`, `0-9` and `_`");
    Err(StoreError::new(StoreErrorKind::Unsupported, message))
}

fn config(url: &str) -> Result<Config, StoreError> {
    // The parser's own error can have a part of the URL in it, and so of a password.
    let mut config: Config = url.parse().map_err(|_| {
        let message = "the database's URL cannot be read: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`";
        StoreError::new(StoreErrorKind::Unsupported, message)
    })?;
    if cfg!(not(feature = "postgres-tls")) && config.get_ssl_mode() == SslMode::Require {
        let message = "the database's URL asks for TLS, which is in the feature `postgres-tls`";
        return Err(StoreError::new(StoreErrorKind::Unsupported, message));
    }
    if config.get_application_name().is_none() {
        config.application_name("mcp-tasks");
    }
    Ok(config)
}

/// Where the database is, without what is secret of it.
fn place(config: &Config, schema: &str) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let mut names: Vec<String> = config.get_hosts().iter().map(host).collect();
    if names.is_empty() {
        names = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    // One port is that of all hosts.
    let ports = config.get_ports();
    let port = |nth: usize| ports.get(nth).or_else(|| ports.first()).copied().unwrap_or(5432);
    let named = |(nth, name): (usize, String)| match name.parse::<std::net::Ipv6Addr>() {
        Ok(_) => format!("[{name}]:{}", port(nth)),
        Err(_) => format!("{name}:{}", port(nth)),
    };
    let hosts: Vec<String> = names.into_iter().enumerate().map(named).collect();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("`{}/{name}`, schema `{schema}`", hosts.join(","))
}

impl PostgresStore {
    /// Opens the store in the database of this URL, `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, as
    /// [`builder`](Self::builder) does where nothing else is set.
    ///
    /// # Errors
    ///
    /// As [`PostgresStoreBuilder::open`].
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::builder(url).open().await
    }

    /// A store in the making, in the database of this URL.
    #[must_use]
    pub fn builder(url: &str) -> PostgresStoreBuilder {
        PostgresStoreBuilder {
            url: url.to_owned(),
            schema: "mcp_tasks".to_owned(),
            connections: 8,
            #[cfg(feature = "postgres-tls")]
            roots: None,
        }
    }

    fn opened(&self) -> MutexGuard<'_, Option<Open>> {
        // No code that can panic runs while it is locked.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work that writes, to its end also if the caller goes away, so that what changed is told.
    async fn write<T: Send + 'static, F: Future<Output = Result<T, StoreError>> + Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Shared>) -> F,
    ) -> Result<T, StoreError> {
        let work = work(Arc::clone(&self.shared));
        // The runtime is going away.
        self.shared.pool.runtime().spawn(work).await.unwrap_or_else(|_| Err(closed()))
    }

    async fn wait(
        &self,
        queued: Option<oneshot::Receiver<Result<SharedRecord, StoreError>>>,
    ) -> Result<SharedRecord, StoreError> {
        queued.ok_or_else(closed)?.await.unwrap_or_else(|_| Err(closed()))
    }
}

/// How often those leases are tried again whose rows are locked, and after what pause. The next renewal of all is the
/// next chance.
const RENEW_AGAIN: u32 = 5;
const RENEW_PAUSE: Duration = Duration::from_millis(100);

/// What is read of each task's steps.
type Steps = BTreeMap<String, Result<Vec<StepRecord>, StoreError>>;

/// The steps of these tasks.
async fn steps(shared: &Shared, ids: &[&str]) -> Result<Steps, StoreError> {
    let rows = shared.read(Sql::Steps, &[&ids]).await?;
    let mut steps = Steps::new();
    for row in &rows {
        let (task, step) = read_step(row)?;
        let of_task = steps.entry(task).or_insert_with(|| Ok(Vec::new()));
        match (step, of_task) {
            (Ok(step), Ok(steps)) => steps.push(step),
            (Err(err), of_task) => *of_task = Err(err),
            (Ok(_), Err(_)) => {}
        }
    }
    Ok(steps)
}

/// Takes a record that cannot be understood out of everything that happens by itself, so that it stops nobody else. Its
/// text stays as it is; asked for by its id, it is an error.
async fn set_aside(shared: &Shared, id: &str, version: i64, cause: &StoreError) -> Result<(), StoreError> {
    let set = shared.pool.write(Sql::SetAside, &[&id, &version]).await;
    set.map_err(|failure| shared.not_written(failure))?;
    tracing::error!(task = id, error = with_causes(cause), "the task cannot be understood and is set aside");
    Ok(())
}

/// A task that was taken, with when it came to be free.
type Taken = (i64, i64, TaskRecord);

async fn claim(shared: &Shared, claim: &Claim) -> Result<(Vec<Taken>, usize), StoreError> {
    let (now, until) = (claim.now.unix_millis(), claim.until.unix_millis());
    let limit = i64::try_from(claim.limit).unwrap_or(i64::MAX);
    let believed = shared.clock.now_ms();
    let rows = shared.pool.write(Sql::Claim, &[&now, &limit, &kept(&claim.worker), &until, &believed]).await;
    let rows = rows.map_err(|failure| shared.not_written(failure))?;
    let (mut taken, mut unreadable, mut with_steps) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let Read { id, version, record } = read_head(row)?;
        let params = read_params(&id, row, 7);
        match record.and_then(|record| Ok(TaskRecord { params: params?, ..record })) {
            Ok(record) => {
                // The statement does not see what a worker recorded whom it overtook just then.
                if get(row, 9)? || record.attempt > 1 {
                    with_steps.push(id.clone());
                }
                taken.push((id, version, get::<i64>(row, 8)?, record));
            }
            Err(cause) => unreadable.push((id, version, cause)),
        }
    }
    if !with_steps.is_empty() {
        let ids: Vec<&str> = with_steps.iter().map(String::as_str).collect();
        let mut steps = steps(shared, &ids).await?;
        let all = std::mem::take(&mut taken);
        for (id, version, since, mut record) in all {
            match steps.remove(&id).unwrap_or_else(|| Ok(Vec::new())) {
                Ok(steps) => {
                    record.steps = steps;
                    taken.push((id, version, since, record));
                }
                Err(cause) => unreadable.push((id, version, cause)),
            }
        }
    }
    for (id, version, cause) in &unreadable {
        set_aside(shared, id, *version, cause).await?;
    }
    let taken = taken
        .into_iter()
        .map(|(_, _, since, record)| (since, record.created_at.unix_millis(), record))
        .collect();
    Ok((taken, unreadable.len()))
}

impl Store for PostgresStore {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        check_keys(&record)?;
        let (head, params, steps) = record.into_parts();
        let insert = Insert { head: Head::new(head)?, params, steps };
        let queued = self.opened().as_ref().map(|open| open.inserts.queue(insert));
        self.wait(queued).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        let key = kept(id.as_str());
        let (row, steps) = match parts {
            Parts::Head => (self.shared.read(Sql::Load, &[&key]).await?, Steps::new()),
            Parts::Whole => {
                let (ids, params): (_, [&(dyn ToSql + Sync); 1]) = ([&*key], [&key]);
                tokio::try_join!(self.shared.read(Sql::LoadParams, &params), steps(&self.shared, &ids))?
            }
        };
        let Some(row) = row.first() else { return Ok(None) };
        let read = || {
            let mut record = read_head(row)?.record?;
            if parts == Parts::Whole {
                record.params = read_params(id.as_str(), row, 7)?;
                record.steps = steps.into_values().next().unwrap_or_else(|| Ok(Vec::new()))?;
            }
            Ok(Some(Arc::new(record)))
        };
        read().map_err(|err| self.shared.in_database(err))
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let replace = Replace { head: Head::new(record.into_parts().0)?, expected: expected_version };
        let queued = self.opened().as_ref().map(|open| open.replaces.queue(replace));
        self.wait(queued).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        check_step(id, &step.name)?;
        check_size(step.value.as_str().len())?;
        let id = id.clone();
        let append = |shared: Arc<Shared>| async move {
            let (key, token) = (kept(id.as_str()), integer(token));
            let (name, print, value) = (kept(&step.name), kept(&step.fingerprint), step.value.as_str());
            let rows = shared.pool.write(Sql::AppendStep, &[&key, &token, &name, &print, &value]).await;
            let rows = rows.map_err(|failure| shared.not_written(failure))?;
            let Some(row) = rows.first() else { return Err(StoreError::not_found(&id)) };
            match (get(row, 0)?, get(row, 1)?) {
                (true, true) => Ok(()),
                (false, _) => Err(StoreError::conflict(&id)),
                (true, false) => {
                    let message = format!("task `{id}` has a step `{}` already", step.name);
                    Err(StoreError::new(StoreErrorKind::Conflict, message))
                }
            }
        };
        self.write(append).await
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        let id = id.clone();
        let remove = move |shared: Arc<Shared>| async move {
            let (key, version) = (kept(id.as_str()), integer(expected_version));
            let gone = shared.pool.write(Sql::Remove, &[&key, &version]).await;
            if !gone.map_err(|failure| shared.not_written(failure))?.is_empty() {
                shared.feed.removed(&id);
                return Ok(());
            }
            let there = shared.read(Sql::Existing, &[&[&*key].as_slice()]).await?;
            Err(if there.is_empty() { StoreError::not_found(&id) } else { StoreError::conflict(&id) })
        };
        self.write(remove).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let take = |shared: Arc<Shared>| async move {
            loop {
                let (mut taken, unreadable) = self::claim(&shared, &claim).await?;
                if taken.is_empty() && unreadable > 0 {
                    // Behind those there may be others, and no answer means that there is none.
                    continue;
                }
                taken.sort_by(|one, other| (one.0, one.1, &one.2.id).cmp(&(other.0, other.1, &other.2.id)));
                let taken: Vec<_> = taken.into_iter().map(|(_, _, record)| Arc::new(record)).collect();
                for record in &taken {
                    shared.feed.written(record);
                }
                return Ok(taken);
            }
        };
        self.write(take).await
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        let (worker, until) = (kept(worker), until.unix_millis());
        let ids: Vec<_> = ids.iter().map(|id| kept(id.as_str())).collect();
        let mut missing: Vec<&str> = ids.iter().map(|id| &**id).collect();
        let mut renewed = 0;
        for tried in 0..=RENEW_AGAIN {
            // Nothing is told of it, so that it may be given up half-way, and to say it twice does no harm.
            let believed = self.shared.clock.now_ms();
            let rows = self.shared.read(Sql::Renew, &[&worker, &missing, &until, &believed]).await?;
            renewed += rows.len() as u64;
            let done: BTreeSet<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
            missing.retain(|id| !done.contains(*id));
            if missing.is_empty() {
                break;
            }
            // What is locked keeps nobody else waiting, and while it is, nobody can take it over.
            let held = self.shared.read(Sql::Held, &[&worker, &missing]).await?;
            let held: BTreeSet<String> = held.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
            missing.retain(|id| held.contains(*id));
            if missing.is_empty() {
                break;
            }
            if tried < RENEW_AGAIN {
                // Nothing tells when a lock is given back.
                tokio::time::sleep(RENEW_PAUSE).await;
            } else {
                tracing::warn!(
                    tasks = missing.len(),
                    "leases are not renewed yet, since their rows are locked"
                );
            }
        }
        Ok(renewed)
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        let now = now.unix_millis();
        let count = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        loop {
            let (page, later): ([&(dyn ToSql + Sync); 2], [&(dyn ToSql + Sync); 1]) =
                ([&now, &count], [&now]);
            let (rows, next) =
                tokio::try_join!(self.shared.read(Sql::Due, &page), self.shared.read(Sql::Next, &later))?;
            let mut due = Due::default();
            let mut unreadable = Vec::new();
            for row in &rows {
                let Read { id, version, record } = read_head(row)?;
                match record {
                    Ok(_) if due.ids.len() == limit => {
                        due.next = Some(Timestamp::from_unix_millis(get(row, 7)?));
                    }
                    Ok(record) => due.ids.push(record.id),
                    Err(cause) => unreadable.push((id, version, cause)),
                }
            }
            if !unreadable.is_empty() {
                for (id, version, cause) in &unreadable {
                    set_aside(&self.shared, id, *version, cause).await?;
                }
                // They had the places of others.
                continue;
            }
            let Some(next) = next.first() else { return Ok(due) };
            let time = |column| {
                Ok::<_, StoreError>(get::<Option<i64>>(next, column)?.map(Timestamp::from_unix_millis))
            };
            due.lease_end = time(1)?;
            if due.next.is_none() {
                due.next = time(0)?;
            }
            return Ok(due);
        }
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        let rows = self.shared.read(Sql::FindCall, &[&kept(same_call)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let read = read_head(row).and_then(|read| read.record);
        read.map(|record| Some(Arc::new(record))).map_err(|err| self.shared.in_database(err))
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let rows = match owner {
            Some(owner) => {
                let (tenant, principal) = (kept(owner.tenant()), kept(owner.principal()));
                self.shared.read(Sql::CountLiveOfOwner, &[&tenant, &principal, &at_most]).await?
            }
            None => self.shared.read(Sql::CountLive, &[&at_most]).await?,
        };
        let live = rows.first().map_or(Ok(0), |row| get::<i64>(row, 0))?;
        Ok(usize::try_from(live).unwrap_or(0))
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let wanted = limit.saturating_add(1);
        let mut after = after.map_or((i64::MIN, String::new()), |cursor| {
            (cursor.created_at(), kept(cursor.id().as_str()).into_owned())
        });
        let (mut records, mut unreadable) = (Vec::new(), Vec::new());
        loop {
            let missing = wanted - records.len();
            let count = i64::try_from(missing).unwrap_or(i64::MAX);
            let rows = match owner {
                Some(owner) => {
                    let (tenant, principal) = (kept(owner.tenant()), kept(owner.principal()));
                    let params: [&(dyn ToSql + Sync); 5] = [&after.0, &after.1, &count, &tenant, &principal];
                    self.shared.read(Sql::ListOfOwner, &params).await?
                }
                None => self.shared.read(Sql::List, &[&after.0, &after.1, &count]).await?,
            };
            let before = records.len();
            for row in &rows {
                let Read { id, record, .. } = read_head(row)?;
                match record {
                    Ok(record) => records.push(Arc::new(record)),
                    Err(cause) => {
                        tracing::warn!(
                            task = id,
                            error = with_causes(&cause),
                            "a task is left out of a list"
                        );
                        unreadable.push(TaskId::from(original(id.clone())));
                    }
                }
                after = (get(row, 7)?, id);
            }
            if rows.len() < missing || records.len() - before == rows.len() {
                return Ok(Page::of(records, limit).without(unreadable));
            }
        }
    }

    fn changes(&self) -> Changes {
        self.shared.feed.subscribe()
    }

    fn clock_ahead_ms(&self) -> i64 {
        self.shared.clock.ahead_ms()
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn close(&self) {
        let open = self.opened().take();
        if let Some(Open { inserts, replaces, listener }) = open {
            inserts.finish().await;
            replaces.finish().await;
            drop(listener);
        }
        self.shared.pool.close().await;
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("at", &self.shared.place).finish_non_exhaustive()
    }
}
