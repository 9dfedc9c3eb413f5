//! The heads of all records in memory, with an index for every query, so that none costs more the more tasks are kept.
//!
//! Polls go by the id alone, past whatever guards the indexes. It knows nothing of parameters, steps and files; what it
//! holds is what its store lets others see.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, Hash, Hasher, RandomState};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mcp_tasks_types::{TaskId, Timestamp};

use super::{Cursor, Due, Page, StoreError};
use crate::owner::Owner;
use crate::record::{SharedRecord, TaskRecord};

/// The end of a lease, when the task was made, and its id: the order in which tasks are taken up.
pub(super) type Turn = (i64, i64, TaskId);

/// The heads with their indexes, changed by one at a time.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// Also in the hands of those who poll.
    records: Arc<ById>,
    due: BTreeSet<(i64, TaskId)>,
    /// Tasks that may be taken up; those without a lease come first.
    claimable: BTreeSet<Turn>,
    ages: BTreeSet<(i64, TaskId)>,
    owners: BTreeMap<Owner, BTreeSet<(i64, TaskId)>>,
    live: usize,
    live_of: BTreeMap<Owner, usize>,
    calls: BTreeMap<String, TaskId>,
}

/// How many parts the heads are in. More than a machine has cores, so that two polls seldom want the same part.
const PARTS: usize = 64;

/// The heads by id and nothing else. A poll reads one, and waits for nobody but a writer of the same part; threads that
/// poll at the same time do not even write to the same lines of memory, which would cost more than all the rest.
#[derive(Debug)]
pub(super) struct ById {
    /// Has a key, since ids can come from clients.
    hashes: RandomState,
    parts: [Part; PARTS],
}

/// A part has lines of memory of its own; processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Part(RwLock<Entries>);

#[expect(
    clippy::disallowed_types,
    reason = "never iterated; a look-up costs the same however many tasks are kept"
)]
type Entries = std::collections::HashSet<Entry, BuildHasherDefault<AsItIs>>;

/// A head that is found by its id: the id inside, so that looking it up touches no copy of it elsewhere, and its hash
/// beside it, so that a table that grows touches no head.
#[derive(Debug)]
struct Entry {
    hash: u64,
    head: SharedRecord,
}

/// What is looked for: an id and its hash.
trait Key {
    fn hash(&self) -> u64;
    fn id(&self) -> &TaskId;
}

impl Key for Entry {
    fn hash(&self) -> u64 {
        self.hash
    }

    fn id(&self) -> &TaskId {
        &self.head.id
    }
}

impl Key for (u64, &TaskId) {
    fn hash(&self) -> u64 {
        self.0
    }

    fn id(&self) -> &TaskId {
        self.1
    }
}

impl<'a> Borrow<dyn Key + 'a> for Entry {
    fn borrow(&self) -> &(dyn Key + 'a) {
        self
    }
}

impl PartialEq for dyn Key + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.hash() == other.hash() && self.id() == other.id()
    }
}

impl Eq for dyn Key + '_ {}

impl Hash for dyn Key + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash());
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.head.id == other.head.id
    }
}

impl Eq for Entry {}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Takes one number for its hash, since it is one.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Default for ById {
    fn default() -> Self {
        Self { hashes: RandomState::new(), parts: std::array::from_fn(|_| Part::default()) }
    }
}

impl ById {
    fn hash(&self, id: &TaskId) -> u64 {
        self.hashes.hash_one(id)
    }

    fn part(&self, hash: u64) -> &Part {
        // From its middle: the tables inside go by both ends of it.
        &self.parts[usize::try_from(hash >> 32).unwrap_or_default() % PARTS]
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<SharedRecord> {
        let hash = self.hash(id);
        let part = self.part(hash).read();
        part.get(&(hash, id) as &dyn Key).map(|entry| Arc::clone(&entry.head))
    }

    /// Puts a head and gives the one that was in its place.
    fn put(&self, head: SharedRecord) -> Option<SharedRecord> {
        let hash = self.hash(&head.id);
        self.part(hash).write().replace(Entry { hash, head }).map(|entry| entry.head)
    }

    fn remove(&self, id: &TaskId) -> Option<SharedRecord> {
        let hash = self.hash(id);
        self.part(hash).write().take(&(hash, id) as &dyn Key).map(|entry| entry.head)
    }
}

impl Part {
    // No code that can panic runs while a change is half done.
    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When it is whose turn to be taken up, but for the id.
pub(super) fn turn(record: &TaskRecord) -> Option<(i64, i64)> {
    Some((record.claimable_millis()?, record.created_at.unix_millis()))
}

/// Moves a task in an index, if what it is there by changes.
fn moved<K: PartialEq, T: Ord>(
    before: Option<K>,
    after: Option<K>,
    place: impl Fn(K) -> T,
    index: &mut BTreeSet<T>,
) {
    if before != after {
        if let Some(before) = before {
            index.remove(&place(before));
        }
        index.extend(after.map(place));
    }
}

/// The record has the version; otherwise the error that says so.
pub(super) fn expect(
    head: Option<SharedRecord>,
    id: &TaskId,
    version: u64,
) -> Result<SharedRecord, StoreError> {
    let head = head.ok_or_else(|| StoreError::not_found(id))?;
    if head.version == version { Ok(head) } else { Err(StoreError::conflict(id)) }
}

/// The task's lease has the token, which one that has ended has not.
pub(super) fn expect_token(head: Option<SharedRecord>, id: &TaskId, token: u64) -> Result<(), StoreError> {
    let head = head.ok_or_else(|| StoreError::not_found(id))?;
    match &head.lease {
        Some(lease) if lease.token == token => Ok(()),
        _ => Err(StoreError::conflict(id)),
    }
}

impl Heads {
    /// The heads by id, as they are at any time, for those who poll.
    pub(super) fn by_id(&self) -> Arc<ById> {
        Arc::clone(&self.records)
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<SharedRecord> {
        self.records.get(id)
    }

    /// The task of a call.
    pub(super) fn call(&self, same_call: &str) -> Option<SharedRecord> {
        self.calls.get(same_call).and_then(|id| self.records.get(id))
    }

    /// Gives a record that is going to be put the copy of its owner that the owner's other tasks have.
    pub(super) fn share_owner(&self, record: &mut TaskRecord) {
        if let Some((known, _)) = self.owners.get_key_value(&record.owner) {
            record.owner = known.clone();
        }
    }

    /// Puts a head in the place of the one before, if there is one.
    pub(super) fn put(&mut self, head: SharedRecord) {
        let before = self.records.put(Arc::clone(&head));
        if before.is_none() {
            let place = (head.created_at.unix_millis(), head.id.clone());
            self.ages.insert(place.clone());
            self.owners.entry(head.owner.clone()).or_default().insert(place);
        }
        self.index(before.as_deref(), Some(&head));
    }

    pub(super) fn remove(&mut self, id: &TaskId) -> Option<SharedRecord> {
        let head = self.records.remove(id)?;
        self.index(Some(&head), None);
        let place = (head.created_at.unix_millis(), id.clone());
        self.ages.remove(&place);
        if let Some(places) = self.owners.get_mut(&head.owner) {
            places.remove(&place);
            if places.is_empty() {
                self.owners.remove(&head.owner);
            }
        }
        Some(head)
    }

    /// Lets the indexes follow from one head to the next. Most of what is in them does not change in a task's life.
    fn index(&mut self, before: Option<&TaskRecord>, after: Option<&TaskRecord>) {
        let Some(id) = after.or(before).map(|head| &head.id) else { return };
        let due = TaskRecord::due_millis;
        moved(before.and_then(due), after.and_then(due), |at| (at, id.clone()), &mut self.due);
        let place = |(lease_end, created_at)| (lease_end, created_at, id.clone());
        moved(before.and_then(turn), after.and_then(turn), place, &mut self.claimable);
        let call = |head: &TaskRecord| head.same_call.clone();
        let (call_before, call_after) = (before.and_then(call), after.and_then(call));
        if call_before != call_after {
            if let Some(call) = call_before {
                self.calls.remove(&call);
            }
            self.calls.extend(call_after.map(|call| (call, id.clone())));
        }
        let live = |head: Option<&TaskRecord>| head.is_some_and(|head| !head.state.is_terminal());
        let owner = after.or(before).map(|head| &head.owner);
        match (live(before), live(after), owner) {
            (false, true, Some(owner)) => {
                self.live += 1;
                *self.live_of.entry(owner.clone()).or_default() += 1;
            }
            (true, false, Some(owner)) => {
                self.live -= 1;
                if let Some(live) = self.live_of.get_mut(owner) {
                    *live -= 1;
                    if *live == 0 {
                        self.live_of.remove(owner);
                    }
                }
            }
            _ => {}
        }
    }

    /// All that may be taken up, now or when their leases end.
    pub(super) fn claimable(&self) -> impl Iterator<Item = &Turn> {
        self.claimable.iter()
    }

    pub(super) fn due(&self, now: &Timestamp, limit: usize) -> Due {
        let mut waiting = self.due.iter().peekable();
        let mut ids = Vec::new();
        while ids.len() < limit
            && let Some((_, id)) = waiting.next_if(|(due_at, _)| *due_at <= now.unix_millis())
        {
            ids.push(id.clone());
        }
        let next = waiting.next().map(|(due_at, _)| *due_at);
        let lease_end = self.claimable.first().map(|(lease_end, _, _)| *lease_end);
        Due::new(ids, next.map(Timestamp::from_unix_millis), lease_end.map(Timestamp::from_unix_millis))
    }

    pub(super) fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> usize {
        let live = match owner {
            Some(owner) => self.live_of.get(owner).copied().unwrap_or_default(),
            None => self.live,
        };
        live.min(at_most)
    }

    pub(super) fn list(&self, owner: Option<&Owner>, after: Option<&Cursor>, limit: usize) -> Page {
        let start = match after {
            Some(cursor) => Bound::Excluded((cursor.created_at(), cursor.id().clone())),
            None => Bound::Unbounded,
        };
        let places = match owner {
            Some(owner) => self.owners.get(owner),
            None => Some(&self.ages),
        };
        let places = places.into_iter().flat_map(|places| places.range((start.clone(), Bound::Unbounded)));
        let records =
            places.take(limit.saturating_add(1)).filter_map(|(_, id)| self.records.get(id)).collect();
        Page::of(records, limit)
    }
}
