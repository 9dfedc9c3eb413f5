//! The embedded durable store: one process, one SQLite file.
//!
//! One thread writes, in WAL mode with `synchronous=FULL`, and commits before a call returns; calls that come at the
//! same time share a commit. Readers have connections of their own and read in the caller's thread: a point read takes
//! a few microseconds, less than a hop to another thread. A lock keeps a second process out.

mod file;
mod rows;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_tasks_types::{TaskId, Timestamp};
use rusqlite::{Connection, ErrorCode};

use super::keys::{check_keys, check_step};
use super::lock::{Lock, resolve};
use super::row::Head;
use super::writer::{Place, Writer, opened};
use super::{ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError, StoreErrorKind};
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord};

/// How many idle reading connections are kept.
const IDLE_READERS: usize = 8;

/// A store in a SQLite file.
pub struct SqliteStore {
    /// With idle reading connections.
    place: Place<Connection, Vec<Connection>>,
}

impl SqliteStore {
    /// Opens the file, or makes it. All leases in it end: their holders are dead, since the file was free.
    ///
    /// Waits up to about two seconds for another process to give the file up. A file that is open under another name,
    /// by a symbolic or hard link, is the same file; one whose lock file was deleted stays locked. Locks do not reach
    /// across machines: a file on a network file system is for one machine.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Locked`] when another process has it, [`StoreErrorKind::Unsupported`] when it comes from a
    /// newer version or from another program, [`StoreErrorKind::Corrupt`] when it is damaged; in the last three cases
    /// the file is left as it is.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        opened(path.as_ref(), Self::open_blocking).await
    }

    fn open_blocking(path: PathBuf) -> Result<Self, StoreError> {
        let path = resolve(&path)?;
        let lock = Lock::beside(&path, file::is_open_elsewhere)?;
        let mut connection = file::open(&path).map_err(|err| err.at(&path))?;
        lock.vouch_for(&path);
        let feed = ChangeFeed::default();
        let (told, named) = (feed.clone(), file::Named::new(&path));
        let writer = Writer::start("mcp-tasks-sqlite", move |batch| {
            writer::run(&mut connection, &named, batch, &told);
        })?;
        Ok(Self { place: Place::new(path, feed, writer, Some(lock)) })
    }

    /// Reads in the caller's thread.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let path = &self.place.path;
        let connection = match self.place.with_readers(Vec::pop)? {
            Some(connection) => connection,
            None => file::open_reader(path).map_err(|err| err.at(path))?,
        };
        let result = work(&connection).map_err(|err| err.at(path));
        // If the store was closed meanwhile, the connection closes here.
        let _ = self.place.with_readers(|readers| {
            if readers.len() < IDLE_READERS {
                readers.push(connection);
            }
        });
        result
    }
}

/// A failure of SQLite, as those know it who act on it; [`StoreError::at`] adds which file it is.
fn failed(err: rusqlite::Error) -> StoreError {
    let (kind, message) = meaning(&err);
    StoreError::new(kind, message).with_source(err)
}

/// The same for one of several whom it befell. What the database cannot keep of one of them may be kept of the others.
fn failed_for_all(err: &Arc<rusqlite::Error>) -> StoreError {
    let (kind, message) = match meaning(err) {
        (StoreErrorKind::Refused, _) => (StoreErrorKind::Unavailable, "the database failed"),
        meaning => meaning,
    };
    StoreError::new(kind, message).with_source(Arc::clone(err))
}

fn meaning(err: &rusqlite::Error) -> (StoreErrorKind, &'static str) {
    match err {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                (StoreErrorKind::Corrupt, "the database is damaged")
            }
            // Values and limits: it would be the same with the next try.
            ErrorCode::TooBig | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => {
                (StoreErrorKind::Refused, "the database cannot keep that")
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                (StoreErrorKind::Unavailable, "the database is locked by another program")
            }
            _ => (StoreErrorKind::Unavailable, "the database failed"),
        },
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => {
            (StoreErrorKind::Corrupt, "the database holds unknown values")
        }
        _ => (StoreErrorKind::Unavailable, "the database failed"),
    }
}

impl Store for SqliteStore {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        check_keys(&record)?;
        let (head, params, steps) = record.into_parts();
        let head = Head::new(head)?;
        let insert = move |connection: &Connection| {
            rows::insert(connection, &head)?;
            let mut record = head.into_record();
            if let Some(params) = &params {
                rows::insert_params(connection, &record.id, params)?;
            }
            for step in &steps {
                rows::insert_step(connection, &record.id, step)?;
            }
            record.params = params;
            record.steps = steps;
            Ok(record)
        };
        self.place.write(insert, ChangeFeed::written).await.map(Arc::new)
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.read(|connection| {
            let Some(mut record) = rows::load(connection, id)? else { return Ok(None) };
            if parts == Parts::Whole {
                rows::read_parts(connection, &mut record)?;
            }
            Ok(Some(Arc::new(record)))
        })
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let head = Head::new(record.into_parts().0)?;
        let replace = move |connection: &Connection| rows::replace(connection, head, expected_version);
        self.place.write(replace, ChangeFeed::written).await.map(Arc::new)
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        check_step(id, &step.name)?;
        let id = id.clone();
        let append = move |connection: &Connection| {
            rows::check_token(connection, &id, token)?;
            rows::insert_step(connection, &id, &step)
        };
        self.place.write(append, |_, ()| {}).await
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        let id = id.clone();
        let remove =
            move |connection: &Connection| rows::remove(connection, &id, expected_version).map(|()| id);
        self.place.write(remove, |feed, id| feed.removed(id)).await.map(drop)
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let take = move |connection: &Connection| rows::claim(connection, &claim);
        let tell = |feed: &ChangeFeed, claimed: &Vec<TaskRecord>| {
            for record in claimed {
                feed.written(record);
            }
        };
        Ok(self.place.write(take, tell).await?.into_iter().map(Arc::new).collect())
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        let (worker, ids, until) = (worker.to_owned(), ids.to_vec(), until.unix_millis());
        self.place.write(move |connection| rows::renew(connection, &worker, &ids, until), |_, _| {}).await
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        let (due, unreadable) = self.read(|connection| rows::due(connection, now.unix_millis(), limit))?;
        if !unreadable.is_empty() {
            let set_aside = move |connection: &Connection| {
                unreadable.iter().try_for_each(|unreadable| rows::set_aside(connection, unreadable))
            };
            self.place.write(set_aside, |_, ()| {}).await?;
        }
        Ok(due)
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        self.read(|connection| Ok(rows::find_call(connection, same_call)?.map(Arc::new)))
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        self.read(|connection| rows::count_live(connection, owner, at_most))
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let (records, unreadable) =
            self.read(|connection| rows::list(connection, owner, after, limit.saturating_add(1)))?;
        Ok(Page::of(records.into_iter().map(Arc::new).collect(), limit).without(unreadable))
    }

    fn changes(&self) -> Changes {
        self.place.feed.subscribe()
    }

    async fn close(&self) {
        self.place.close().await;
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.place.path).finish_non_exhaustive()
    }
}
