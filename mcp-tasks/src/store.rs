//! Where records live: the trait that a backend implements, and what it speaks.
//!
//! A store keeps records and never interprets a payload; it names no message and no transport. What a call returned is
//! durable. Every backend passes the same suite, `testing::store_contract`, with the memory store as the reference.

mod dynamic;
mod forward;
#[cfg(feature = "fs")]
mod fs;
mod heads;
mod keys;
#[cfg(any(feature = "sqlite", feature = "fs"))]
mod lock;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod row;
mod sealed;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "fs"))]
mod writer;

use std::error::Error as StdError;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::broadcast;

pub(crate) use dynamic::DynStore;
#[cfg(feature = "fs")]
pub use fs::FsStore;
pub use keys::{MAX_KEY_BYTES, check_keys, check_step};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresStore, PostgresStoreBuilder};
pub use sealed::{Seal, SealError, SealedStore, Subject};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

use crate::error::write_chain;
use crate::owner::Owner;
use crate::record::{SharedRecord, StepRecord, TaskRecord};

/// A place where task records live.
///
/// Authors of a backend write plain `async fn`. Every method is atomic, and its effect is durable and visible to every
/// other caller when it returns; a store whose reads may be behind says so by [`reads_may_lag`](Self::reads_may_lag).
///
/// A write that fails with [`StoreErrorKind::Unavailable`] was done or not, as when a connection dies between write and
/// answer; one that fails otherwise was not done. Every write can be tried again: what was done then is refused by its
/// id, version, token or name, and reading tells whose it is. A method that panics has failed for good.
pub trait Store: Send + Sync + 'static {
    /// Adds a record.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Conflict`] when the id is taken, or the [`same_call`](TaskRecord::same_call) of another record
    /// is the same, [`StoreErrorKind::Refused`] when [`check_keys`] says so; nothing is written then.
    fn insert(&self, record: TaskRecord) -> impl Future<Output = Result<SharedRecord, StoreError>> + Send;

    /// The record with this id, with as much of it as `parts` asks for.
    ///
    /// # Errors
    ///
    /// When the store cannot be read; that there is no such record is no error.
    fn load(
        &self,
        id: &TaskId,
        parts: Parts,
    ) -> impl Future<Output = Result<Option<SharedRecord>, StoreError>> + Send;

    /// Puts the record, which carries its new version, in the place of the one with `expected_version`.
    ///
    /// Parameters and steps stay as they are, whatever the record holds, so that a change of status does not rewrite
    /// them; only what is [`forgotten`](TaskRecord::forgotten_at) loses them. A lease that the record still has stays
    /// as it is stored, and one that the record has not is ended: leases are given by [`claim`](Self::claim) and
    /// lengthened by [`renew`](Self::renew) alone.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Conflict`] when another version is stored, [`StoreErrorKind::NotFound`] when none is.
    fn replace(
        &self,
        record: TaskRecord,
        expected_version: u64,
    ) -> impl Future<Output = Result<SharedRecord, StoreError>> + Send;

    /// Records a step of a live task, after the ones that are there. The version does not change.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Conflict`] when the task has ended, when its lease has another token or when it has a step of
    /// this name, [`StoreErrorKind::NotFound`] when there is no such task, [`StoreErrorKind::Refused`] when
    /// [`check_step`] says so.
    fn append_step(
        &self,
        id: &TaskId,
        token: u64,
        step: StepRecord,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes the record with everything that belongs to it.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Conflict`] when another version is stored, [`StoreErrorKind::NotFound`] when none is.
    fn remove(
        &self,
        id: &TaskId,
        expected_version: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes up to `limit` tasks that [may be taken up](TaskRecord::claimable_millis), those that are free for longest
    /// first and among them the oldest, and gives each a lease. The records come whole, as they are stored then.
    ///
    /// Of a record that changes its lease, whose token is its new `fence`, and three numbers, each of which is one more
    /// than before: its `fence`, its `attempt` and its `version`. All else stays, `last_updated_at` too, since nothing
    /// changes that a client can see. So whoever had the task before is refused: its writes by their version, its steps
    /// by their token.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or written.
    fn claim(&self, claim: Claim) -> impl Future<Output = Result<Vec<SharedRecord>, StoreError>> + Send;

    /// Lengthens the leases that the worker has on these tasks and says how many there are. Versions do not change.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    fn renew(
        &self,
        worker: &str,
        ids: &[TaskId],
        until: &Timestamp,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Up to `limit` tasks whose [`due_at`](TaskRecord::due_at) has come, the longest overdue first, when the next one
    /// is, and when the next lease ends. Its cost does not depend on the number of tasks kept.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn due(&self, now: &Timestamp, limit: usize) -> impl Future<Output = Result<Due, StoreError>> + Send;

    /// The record of the call that was made under this [`same_call`](TaskRecord::same_call), without parameters and
    /// steps.
    ///
    /// # Errors
    ///
    /// When the store cannot be read; that there is no such record is no error.
    fn find_call(
        &self,
        same_call: &str,
    ) -> impl Future<Output = Result<Option<SharedRecord>, StoreError>> + Send;

    /// How many live tasks the owner has, or all owners have, counted up to `at_most`; what it costs does not depend on
    /// the number of tasks that are more.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn count_live(
        &self,
        owner: Option<&Owner>,
        at_most: usize,
    ) -> impl Future<Output = Result<usize, StoreError>> + Send;

    /// The tasks of an owner, or of all owners, the oldest first, without parameters and steps. What cannot be read is
    /// named and stands in the way of nothing else.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page, StoreError>> + Send;

    /// What changes from now on.
    fn changes(&self) -> Changes;

    /// By how many milliseconds the clock that all users of the store share is ahead of this process's own, as last
    /// measured. Leases and deadlines are told in that clock's time, so that processes whose clocks differ agree on
    /// them. A store of one process has none.
    fn clock_ahead_ms(&self) -> i64 {
        0
    }

    /// Whether [`load`](Self::load), [`find_call`](Self::find_call) and [`list`](Self::list) may show an older state
    /// than the one that was written last, as replicas do. The handle of a task is then withheld until a read finds the
    /// task, which costs a read for each creation.
    fn reads_may_lag(&self) -> bool {
        false
    }

    /// Whether several processes use the store at the same time, so that they have to agree on what they are told: a
    /// request that one of them began may come to another one next.
    fn is_shared(&self) -> bool {
        false
    }

    /// Gives back everything that other processes wait for, files and locks above all: when it returns, the place can
    /// be opened by another one. Later calls fail, unless nothing had to be given back; none is done that the other one
    /// does not find.
    fn close(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// How much of a record is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parts {
    /// Without parameters and steps: all that a poll needs.
    Head,
    /// The whole record.
    Whole,
}

/// A wish to take up tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// Who.
    pub worker: String,
    /// The time now: leases that end by then count no more.
    pub now: Timestamp,
    /// How long the new leases count.
    pub until: Timestamp,
    /// How many at most.
    pub limit: usize,
}

impl Claim {
    /// A wish to take up tasks.
    pub fn new(worker: impl Into<String>, now: Timestamp, until: Timestamp, limit: usize) -> Self {
        Self { worker: worker.into(), now, until, limit }
    }
}

/// Tasks that something has to be done about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Due {
    /// Those whose time has come.
    pub ids: Vec<TaskId>,
    /// When the next one's time comes, of those not listed.
    pub next: Option<Timestamp>,
    /// When the first task may be taken up: when the first lease ends, or ended. A task without a lease that is not
    /// parked may be taken up since long ago. None when there is no such task.
    pub lease_end: Option<Timestamp>,
}

impl Due {
    /// Tasks whose time has come, when the next one's does, and when the first lease ends.
    #[must_use]
    pub fn new(ids: Vec<TaskId>, next: Option<Timestamp>, lease_end: Option<Timestamp>) -> Self {
        Self { ids, next, lease_end }
    }
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The records.
    pub records: Vec<SharedRecord>,
    /// Where the next part begins; none when this was the last one.
    pub next: Option<Cursor>,
    /// Records that would have a place in this part and cannot be read, as damaged ones or those of a newer version. A
    /// store that cannot tell whose they are names them to everybody, and one that does not know their places names
    /// them in any part.
    pub unreadable: Vec<TaskId>,
}

impl Page {
    /// A part of a list that was read with one record more than asked for, to know whether there is a next part.
    #[must_use]
    pub fn of(mut records: Vec<SharedRecord>, limit: usize) -> Self {
        let more = records.len() > limit;
        records.truncate(limit);
        let next = records.last().filter(|_| more).map(|record| Cursor::at(record));
        Self { records, next, unreadable: Vec::new() }
    }

    /// Names records that cannot be read and were left out.
    #[must_use]
    pub fn without(mut self, unreadable: Vec<TaskId>) -> Self {
        self.unreadable = unreadable;
        self
    }
}

/// A place in the list of an owner's tasks; stays right when tasks come and go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    created_at: i64,
    id: TaskId,
}

impl Cursor {
    /// The place behind this record.
    #[must_use]
    pub fn at(record: &TaskRecord) -> Self {
        Self { created_at: record.created_at.unix_millis(), id: record.id.clone() }
    }

    /// When the last task of the page was created, in milliseconds since 1970.
    #[must_use]
    pub fn created_at(&self) -> i64 {
        self.created_at
    }

    /// The id of that task.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.id
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.created_at, self.id)
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (created_at, id) = text.split_once('.').ok_or(InvalidCursor)?;
        Ok(Self { created_at: created_at.parse().map_err(|_| InvalidCursor)?, id: id.into() })
    }
}

/// A text that is no cursor of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidCursor;

impl fmt::Display for InvalidCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no cursor of this list")
    }
}

impl StdError for InvalidCursor {}

/// One change of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The record was inserted or replaced and has this version now.
    Written {
        /// Which record.
        id: TaskId,
        /// Its version.
        version: u64,
        /// Whether a worker may take it up at once.
        claimable: bool,
    },
    /// The record is gone.
    Removed {
        /// Which record.
        id: TaskId,
    },
    /// Changes were missed: everything of interest has to be read anew.
    Resync,
}

/// The changes of a store, as one listener hears them.
#[derive(Debug)]
pub struct Changes {
    receiver: broadcast::Receiver<Change>,
    cut: Option<Box<Cut>>,
}

/// A place where changes can get lost on their way, for tests.
#[derive(Debug)]
struct Cut {
    lost: Arc<AtomicBool>,
    /// What is told in place of them.
    instead: broadcast::Receiver<Change>,
}

impl Changes {
    /// The next change, [`Change::Resync`] when some were missed, nothing when the store is gone.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            let Some(cut) = &mut self.cut else { return received(self.receiver.recv().await) };
            tokio::select! {
                biased;
                change = cut.instead.recv() => return received(change),
                change = self.receiver.recv() => {
                    let change = received(change);
                    if change.is_none() || !cut.lost.load(Ordering::SeqCst) {
                        return change;
                    }
                }
            }
        }
    }

    /// The same, but changes are dropped while `lost`, and what `feed` tells comes first.
    pub(crate) fn with_cut(mut self, lost: Arc<AtomicBool>, feed: &ChangeFeed) -> Self {
        self.cut = Some(Box::new(Cut { lost, instead: feed.sender.subscribe() }));
        self
    }
}

fn received(change: Result<Change, broadcast::error::RecvError>) -> Option<Change> {
    match change {
        Ok(change) => Some(change),
        Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::Resync),
        Err(broadcast::error::RecvError::Closed) => None,
    }
}

/// The other end of [`Changes`], for a backend.
#[derive(Clone, Debug)]
pub struct ChangeFeed {
    sender: broadcast::Sender<Change>,
}

impl ChangeFeed {
    /// A feed whose listeners may fall behind by `capacity` changes before they have to read anew.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { sender: broadcast::Sender::new(capacity.max(1)) }
    }

    /// Tells every listener.
    pub fn send(&self, change: Change) {
        // Without a listener there is nobody to tell.
        let _ = self.sender.send(change);
    }

    /// Tells every listener that the record has this version now.
    pub fn written(&self, record: &TaskRecord) {
        if self.sender.receiver_count() > 0 {
            let claimable = record.claimable_millis() == Some(i64::MIN);
            self.send(Change::Written { id: record.id.clone(), version: record.version, claimable });
        }
    }

    /// Tells every listener that the record is gone.
    pub fn removed(&self, id: &TaskId) {
        if self.sender.receiver_count() > 0 {
            self.send(Change::Removed { id: id.clone() });
        }
    }

    /// A new listener.
    #[must_use]
    pub fn subscribe(&self) -> Changes {
        Changes { receiver: self.sender.subscribe(), cut: None }
    }
}

impl Default for ChangeFeed {
    fn default() -> Self {
        Self::new(1024)
    }
}

/// Why a store could not do what it was asked for. `Debug` says it with everything that caused it.
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What kind of failure it was, for those who act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// There is no such record.
    NotFound,
    /// Somebody else was faster, or has the lease.
    Conflict,
    /// Another process holds the store.
    Locked,
    /// The store cannot be reached or written at the moment, as when its disk is full, its files may not be written or
    /// its database is away: what somebody who runs the server can put right. A write that ended so may have been done
    /// all the same. Bodies wait, and ends are tried again.
    Unavailable,
    /// The store can never keep this, as it is too long or has something in it that the store cannot hold. It was not
    /// written, and trying again is no use. The task fails.
    Refused,
    /// What is stored cannot be understood.
    Corrupt,
    /// What is stored comes from a newer version, or from something else altogether.
    Unsupported,
}

impl StoreError {
    /// An error without a source.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The record is not there.
    #[must_use]
    pub fn not_found(id: &TaskId) -> Self {
        Self::new(StoreErrorKind::NotFound, format!("there is no task `{id}`"))
    }

    /// The record has another version than expected.
    #[must_use]
    pub fn conflict(id: &TaskId) -> Self {
        Self::new(StoreErrorKind::Conflict, format!("task `{id}` was changed by somebody else"))
    }

    /// There is a record with this id.
    #[must_use]
    pub fn taken_id(id: &TaskId) -> Self {
        Self::new(StoreErrorKind::Conflict, format!("there is a task `{id}` already"))
    }

    /// There is a record of the same call, that of this task.
    #[must_use]
    pub fn taken_call(other: &TaskId) -> Self {
        Self::new(StoreErrorKind::Conflict, format!("task `{other}` is of the same call"))
    }

    /// The task has a step of this name.
    #[must_use]
    pub fn taken_step(id: &TaskId, name: &str) -> Self {
        Self::new(StoreErrorKind::Conflict, format!("task `{id}` has a step `{name}` already"))
    }

    /// Nothing can be done any more.
    #[cfg(any(feature = "sqlite", feature = "fs"))]
    pub(crate) fn closed() -> Self {
        Self::new(StoreErrorKind::Unavailable, "the store is closed")
    }

    /// Says which place it is about, where that is what somebody has to look at.
    #[cfg(any(feature = "sqlite", feature = "fs"))]
    pub(crate) fn at(mut self, place: &std::path::Path) -> Self {
        if matches!(self.kind, StoreErrorKind::Unavailable | StoreErrorKind::Corrupt | StoreErrorKind::Locked)
        {
            self.message = format!("task store `{}`: {}", place.display(), self.message);
        }
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_chain(f, &self.message, self.source())
    }
}

impl StdError for StoreError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl<S: Store> Store for Arc<S> {
    crate::forward_store! {
        |store| &**store;
        insert, load, replace, append_step, remove, claim, renew, due, find_call, count_live, list, changes,
        properties, close,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn listener_that_fell_behind_is_told_to_read_anew() {
        let feed = ChangeFeed::new(2);
        let mut changes = feed.subscribe();
        for version in 0..5 {
            feed.send(Change::Written { id: "tsk_1".into(), version, claimable: false });
        }
        assert_eq!(changes.next().await, Some(Change::Resync));
        assert_eq!(
            changes.next().await,
            Some(Change::Written { id: "tsk_1".into(), version: 3, claimable: false })
        );
        drop(feed);
        changes.next().await;
        assert_eq!(changes.next().await, None);
    }

    /// a text that is no cursor is told apart.
    #[test]
    fn cursor_survives_its_text_and_refuses_others() {
        let cursor = Cursor { created_at: -5, id: "tsk_1.x".into() };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "zzz", "1", "x.y"] {
            assert_eq!(text.parse::<Cursor>(), Err(InvalidCursor));
        }
    }
}
