//! The tables: whether they are ours, and bringing them up to date.
//!
//! What is newer or somebody else's is refused before anything is written to it. Processes that start at the same time
//! take turns by a lock in the database.

use super::session::{Failure, Session};
use crate::store::{StoreError, StoreErrorKind};

/// The schema, one step a version; never changed once released.
const MIGRATIONS: &[&str] = &[include_str!("0001_tasks.sql")];

/// What comes of the tables.
pub(super) enum Refused {
    Failed(Failure),
    Unsupported(String),
}

impl Refused {
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Failed(failure) => failure.into_error(),
            Self::Unsupported(message) => StoreError::new(StoreErrorKind::Unsupported, message),
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Makes the tables, or what is missing of them, in one transaction.
pub(super) async fn prepare(session: &Session, schema: &str) -> Result<(), Refused> {
    let encoding = session.query_once("SELECT current_setting('server_encoding')", &[]).await?;
    let encoding: &str = encoding.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default();
    if encoding != "UTF8" {
        let message = format!(
            "the database's encoding is {encoding}, which cannot keep every text: make one with ENCODING 'UTF8'"
        );
        return Err(Refused::Unsupported(message));
    }
    if version(session, schema).await? == Some(MIGRATIONS.len()) {
        // Neither a lock nor the right to make tables is needed then.
        return Ok(());
    }
    // Others that make the tables are waited for.
    session.execute("BEGIN; SET LOCAL lock_timeout = 0").await?;
    let migrated = migrate(session, schema).await;
    session.execute(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    migrated
}

async fn migrate(session: &Session, schema: &str) -> Result<(), Refused> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('mcp-tasks.' || $1::text, 0))";
    session.query_once(lock, &[&schema]).await?;
    let known = version(session, schema).await?;
    if known.is_none() {
        // Asked for only where it is missing, since that needs a right of its own.
        let there =
            session.query_once("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", &[&schema]).await?;
        if there.is_empty() {
            session.execute(&format!("CREATE SCHEMA {schema}")).await?;
        }
        let table = format!(
            "CREATE TABLE {schema}.mcp_tasks_schema (version integer NOT NULL); \
             INSERT INTO {schema}.mcp_tasks_schema VALUES (0)"
        );
        session.execute(&table).await?;
    }
    for migration in MIGRATIONS.iter().skip(known.unwrap_or(0)) {
        session.execute(&migration.replace("{s}", schema)).await?;
    }
    let version = MIGRATIONS.len();
    session.execute(&format!("UPDATE {schema}.mcp_tasks_schema SET version = {version}")).await?;
    Ok(())
}

/// The version of the tables that are there; nothing when there are none.
async fn version(session: &Session, schema: &str) -> Result<Option<usize>, Refused> {
    // From the tables of the catalog: what `to_regclass` knows may be from before the lock.
    let tables = "SELECT relname::text FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid \
         WHERE nspname = $1::text AND relname IN ('mcp_tasks_schema', 'tasks', 'steps')";
    let rows = session.query_once(tables, &[&schema]).await?;
    let names: Vec<&str> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    if !names.contains(&"mcp_tasks_schema") {
        let message = format!("the schema `{schema}` has tables of something else");
        return Err(Refused::Unsupported(message));
    }
    let rows = session.query_once(&format!("SELECT version FROM {schema}.mcp_tasks_schema"), &[]).await?;
    let version = rows.first().and_then(|row| row.try_get::<_, i32>(0).ok());
    let known = version.and_then(|version| usize::try_from(version).ok());
    known.filter(|version| *version <= MIGRATIONS.len()).map(Some).ok_or_else(|| {
        let message = format!("the tables in schema `{schema}` are of a newer version of this program");
        Refused::Unsupported(message)
    })
}
