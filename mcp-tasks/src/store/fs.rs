//! The store of JSON files: one process, one folder, and what is in it people can read.
//!
//! A task is a file of its own, `ID.task.json`, that is only ever replaced as a whole: a temporary file is written and
//! synchronised, takes the name of the old one, and the folder is synchronised. What must not be written again with
//! every change of status, the parameters and the recorded steps, stands beside it in `ID.parts.jsonl`, to which steps
//! are appended. One thread writes, and what is queued shares the synchronising of the folder.
//!
//! The heads of all tasks are in memory too, and polls and queries are answered from there: so nobody sees what is
//! renamed but not yet durable. Parameters and steps are read from their file. A lease lives as long as the process
//! that gave it, so its renewal is in memory alone.

mod batch;
mod folder;
mod parts;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use mcp_tasks_types::{TaskId, Timestamp};

use self::batch::{Batch, Head};
use self::folder::Shared;
use super::keys::{check_keys, check_step};
use super::writer::{Place, Writer, opened};
use super::{ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError};
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord};

/// A store in a folder of JSON files.
///
/// Memory holds of each task what [`Parts::Head`] gives, with indexes about 2 KiB and its result; opening reads
/// every task's file. It is for up to some ten thousand tasks; `SqliteStore` is for more.
pub struct FsStore {
    place: Place<Batch>,
    shared: Arc<RwLock<Shared>>,
}

impl FsStore {
    /// Opens the folder, or makes it; the folder above has to be there. All leases in it end: their holders are dead,
    /// since the folder was free.
    ///
    /// Files that are not the store's are ignored and kept. What a dead process left half-written is cleaned up. A task
    /// whose file cannot be understood, or has a newer format, is set aside: it is told of in the log, its files stay
    /// as they are, and asked for by its id it is [`StoreErrorKind::Corrupt`] or [`StoreErrorKind::Unsupported`]. All
    /// other tasks are served.
    ///
    /// Waits up to about two seconds for another process to give the folder up. While a process has it, changes by hand
    /// are not seen and may be overwritten. Locks do not reach across machines: a folder on a network file system is
    /// for one machine. Where a folder cannot be synchronised, as on Windows, a power failure can take back the last
    /// writes.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Locked`] when another process has it, [`StoreErrorKind::Unsupported`] when it comes from a
    /// newer version or is no folder, [`StoreErrorKind::Corrupt`] when the file that says whose folder it is cannot be
    /// understood; then everything is left as it is.
    ///
    /// [`StoreErrorKind::Corrupt`]: super::StoreErrorKind::Corrupt
    /// [`StoreErrorKind::Locked`]: super::StoreErrorKind::Locked
    /// [`StoreErrorKind::Unsupported`]: super::StoreErrorKind::Unsupported
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        opened(path.as_ref(), Self::open_blocking).await
    }

    fn open_blocking(path: PathBuf) -> Result<Self, StoreError> {
        let (folder, lock) = folder::open(&path)?;
        let shared = Arc::new(RwLock::new(folder.read_all()?));
        let feed = ChangeFeed::default();
        let mut batch = Batch::new(folder, lock, Arc::clone(&shared), feed.clone());
        let writer = Writer::start("mcp-tasks-fs", move |jobs| batch.run(jobs))?;
        Ok(Self { place: Place::new(path, feed, writer, None), shared })
    }

    /// What is in memory.
    fn read(&self) -> Result<RwLockReadGuard<'_, Shared>, StoreError> {
        self.place.with_readers(|()| ())?;
        Ok(self.shared.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store for FsStore {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        check_keys(&record)?;
        let (head, params, steps) = record.into_parts();
        let head = Head::new(head)?;
        let lines = parts::lines(params.as_ref(), &steps)?;
        let insert = move |batch: &Batch| {
            let head = batch.insert(head, &lines)?;
            if params.is_none() && steps.is_empty() {
                return Ok(head);
            }
            Ok(Arc::new(TaskRecord { params, steps, ..TaskRecord::clone(&head) }))
        };
        self.place.write(insert, |feed, record| feed.written(record)).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        if parts == Parts::Whole {
            let id = id.clone();
            return self.place.write(move |batch| batch.load_whole(&id), |_, _| {}).await;
        }
        let shared = self.read()?;
        shared.check(id).map_err(|err| err.at(&self.place.path))?;
        Ok(shared.heads.get(id))
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let head = Head::new(record.into_parts().0)?;
        let replace = move |batch: &Batch| batch.replace(head, expected_version);
        self.place.write(replace, |feed, record| feed.written(record)).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        check_step(id, &step.name)?;
        let id = id.clone();
        self.place.write(move |batch| batch.append_step(&id, token, step), |_, ()| {}).await
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        let id = id.clone();
        let remove = move |batch: &Batch| batch.remove(&id, expected_version).map(|()| id);
        self.place.write(remove, |feed, id| feed.removed(id)).await.map(drop)
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let tell = |feed: &ChangeFeed, claimed: &Vec<SharedRecord>| {
            for record in claimed {
                feed.written(record);
            }
        };
        self.place.write(move |batch| batch.claim(&claim), tell).await
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        let (worker, ids, until) = (worker.to_owned(), ids.to_vec(), until.clone());
        self.place.write(move |batch| Ok(batch.renew(&worker, &ids, &until)), |_, _| {}).await
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        Ok(self.read()?.heads.due(now, limit))
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        Ok(self.read()?.heads.call(same_call))
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        Ok(self.read()?.heads.count_live(owner, at_most))
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let shared = self.read()?;
        Ok(shared.heads.list(owner, after, limit).without(shared.unreadable(owner)))
    }

    fn changes(&self) -> Changes {
        self.place.feed.subscribe()
    }

    async fn close(&self) {
        self.place.close().await;
    }
}

impl fmt::Debug for FsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FsStore").field("path", &self.place.path).finish_non_exhaustive()
    }
}
