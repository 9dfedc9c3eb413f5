//! The file itself: whether it is ours, and bringing it up to date.
//!
//! A file that is damaged, newer or somebody else's is refused before anything is written to it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::failed;
use crate::record::FORMAT;
use crate::store::lock::{identity, private};
use crate::store::row::NO_LEASE;
use crate::store::{StoreError, StoreErrorKind};

/// The schema, one step a version; never changed once released.
const MIGRATIONS: &[&str] = &[include_str!("0001_tasks.sql")];

/// Says whose file it is, in SQLite's own place for that: "mcpt".
const APPLICATION_ID: i64 = 0x6d63_7074;

/// Up to this size the whole file is checked on opening; that takes a fraction of a second.
const CHECKED_BYTES: u64 = 64 << 20;

/// How much of the file a reading connection keeps in memory, in KiB, once it has read that much. Polls of a few
/// thousand tasks find their pages there, wherever in a large file they are.
const READER_CACHE_KIB: i64 = 16 << 10;

/// How long a statement waits for a lock that another program has, such as a backup.
const BUSY: Duration = Duration::from_secs(5);

/// Opens the writing connection, makes the schema or brings it up to date, and ends all leases: whoever had them is
/// dead, since we have the lock.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    check_magic(path)?;
    make(path)?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    // Until it is known to be ours, not even closing it may write to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    let version = check(&connection, path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    migrate(&mut connection, version)?;
    connection.execute(super::rows::END_LEASES, rusqlite::params![NO_LEASE, FORMAT]).map_err(failed)?;
    Ok(connection)
}

/// Opens a connection for reading only.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    // A negative number is one of KiB.
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB).map_err(failed)?;
    Ok(connection)
}

/// Whether somebody has the database open, by SQLite's own locks, which go by the file and not by its name: as long as
/// a connection in WAL mode is open, nobody else gets the exclusive lock. Nothing is written.
pub(super) fn is_open_elsewhere(database: &Path) -> bool {
    let probe = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(database, flags)?;
        connection.busy_timeout(Duration::ZERO)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")
    };
    // Whatever else is wrong with the file is told when it is opened.
    probe().is_err_and(|err| {
        matches!(err.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    })
}

fn corrupt(what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("the file {what}"))
}

fn unsupported(path: &Path, what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Unsupported, format!("the file `{}` {what}", path.display()))
}

/// Makes an empty file that nobody else can read, unless there is one; the files beside it get the same rights from
/// SQLite.
fn make(path: &Path) -> Result<(), StoreError> {
    match private(File::options().create_new(true).write(true)).open(path) {
        Err(err) if err.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::new(StoreErrorKind::Unavailable, "the file cannot be made").with_source(err))
        }
        _ => Ok(()),
    }
}

/// The file that stands under a database's name.
pub(super) struct Named {
    path: PathBuf,
    identity: Option<String>,
}

impl Named {
    pub(super) fn new(path: &Path) -> Self {
        let mut named = Self { path: path.to_owned(), identity: None };
        named.identity = named.now();
        named
    }

    fn now(&self) -> Option<String> {
        std::fs::metadata(&self.path).ok().map(|file| identity(&file))
    }

    /// An error when the file that is open is not the one that others find: what is written to it is lost.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.identity.is_some() && self.now() == self.identity {
            return Ok(());
        }
        let message = format!(
            "the database `{}` was deleted or replaced while it was open; nothing is written any more",
            self.path.display()
        );
        Err(StoreError::new(StoreErrorKind::Locked, message))
    }
}

/// A file that does not begin like a database is left alone; an empty or absent one becomes one.
fn check_magic(path: &Path) -> Result<(), StoreError> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let unavailable =
        |err| StoreError::new(StoreErrorKind::Unavailable, "the file cannot be read").with_source(err);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(unavailable(err)),
    };
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(unavailable)?;
    if start.is_empty() || start == MAGIC { Ok(()) } else { Err(corrupt("is no SQLite database")) }
}

/// Whether the file is ours and sound; gives the version of its schema.
fn check(connection: &Connection, path: &Path) -> Result<usize, StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let is_empty = "SELECT count(*) = 0 FROM sqlite_schema";
    let is_empty: bool = connection.query_row(is_empty, [], |row| row.get(0)).map_err(failed)?;
    if is_empty && application == 0 && version == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(unsupported(path, "is a database of something else"));
    }
    let known = usize::try_from(version).ok().filter(|version| *version <= MIGRATIONS.len());
    let Some(known) = known else {
        return Err(unsupported(path, "was written by a newer version of this program"));
    };
    if std::fs::metadata(path).is_ok_and(|file| file.len() <= CHECKED_BYTES) {
        let found = connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
            .map_err(failed)?;
        if found != "ok" {
            return Err(corrupt("is damaged").with_source(found));
        }
    }
    Ok(known)
}

fn migrate(connection: &mut Connection, from: usize) -> Result<(), StoreError> {
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(from) {
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(migration).map_err(failed)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        transaction.pragma_update(None, "user_version", index as i64 + 1).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}
