//! The reference store: everything in memory, gone with the process.
//!
//! Every query has its index, so that none costs more the more tasks are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mcp_tasks_types::{RawObject, TaskId, Timestamp};

use super::{ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError, StoreErrorKind};
use crate::lifecycle::{self, Event};
use crate::owner::Owner;
use crate::record::{Lease, SharedRecord, StepRecord, TaskRecord};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tasks: Arc<RwLock<Tasks>>,
    feed: ChangeFeed,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A second store over the same tasks, with all leases ended; see `testing::reopened`.
    pub(crate) fn reopen(&self) -> Self {
        let mut tasks = self.write();
        let leased: Vec<TaskId> = tasks.claimable.iter().map(|(_, _, id)| id.clone()).collect();
        for id in leased {
            let Some(head) = tasks.head(&id).filter(|head| head.lease.is_some()) else { continue };
            let version = head.version + 1;
            tasks.put(&head, TaskRecord { lease: None, version, ..TaskRecord::clone(&head) });
        }
        drop(tasks);
        Self { tasks: Arc::clone(&self.tasks), feed: self.feed.clone() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tasks> {
        // No code that can panic runs while a change is half done.
        self.tasks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tasks> {
        self.tasks.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Tasks {
    #[expect(
        clippy::disallowed_types,
        reason = "never iterated; a look-up costs the same however many tasks are kept"
    )]
    entries: std::collections::HashMap<TaskId, Entry>,
    due: BTreeSet<(i64, TaskId)>,
    /// Tasks that may be taken up, by the end of their lease, then by age; those without a lease come first.
    claimable: BTreeSet<(i64, i64, TaskId)>,
    ages: BTreeSet<(i64, TaskId)>,
    owners: BTreeMap<Owner, BTreeSet<(i64, TaskId)>>,
    live: usize,
    live_of: BTreeMap<Owner, usize>,
    calls: BTreeMap<String, TaskId>,
}

#[derive(Debug)]
struct Entry {
    head: SharedRecord,
    params: Option<RawObject>,
    steps: Vec<StepRecord>,
}

impl Entry {
    fn whole(&self) -> SharedRecord {
        if self.params.is_none() && self.steps.is_empty() {
            return Arc::clone(&self.head);
        }
        let mut record = TaskRecord::clone(&self.head);
        record.params.clone_from(&self.params);
        record.steps.clone_from(&self.steps);
        Arc::new(record)
    }
}

fn turn(record: &TaskRecord) -> Option<(i64, i64, TaskId)> {
    Some((record.claimable_millis()?, record.created_at.unix_millis(), record.id.clone()))
}

impl Tasks {
    fn index(&mut self, record: &TaskRecord) {
        if let Some(due) = record.due_millis() {
            self.due.insert((due, record.id.clone()));
        }
        self.claimable.extend(turn(record));
        if let Some(call) = &record.same_call {
            self.calls.insert(call.clone(), record.id.clone());
        }
        if !record.state.is_terminal() {
            self.live += 1;
            *self.live_of.entry(record.owner.clone()).or_default() += 1;
        }
    }

    fn unindex(&mut self, record: &TaskRecord) {
        if let Some(due) = record.due_millis() {
            self.due.remove(&(due, record.id.clone()));
        }
        if let Some(turn) = turn(record) {
            self.claimable.remove(&turn);
        }
        if let Some(call) = &record.same_call {
            self.calls.remove(call);
        }
        if !record.state.is_terminal() {
            self.live -= 1;
            if let Some(live) = self.live_of.get_mut(&record.owner) {
                *live -= 1;
                if *live == 0 {
                    self.live_of.remove(&record.owner);
                }
            }
        }
    }

    fn head(&self, id: &TaskId) -> Option<SharedRecord> {
        self.entries.get(id).map(|entry| Arc::clone(&entry.head))
    }

    /// Puts a head in the place of the one before and keeps the indexes right.
    fn put(&mut self, before: &TaskRecord, after: TaskRecord) -> SharedRecord {
        let after = Arc::new(after);
        self.unindex(before);
        self.index(&after);
        if let Some(entry) = self.entries.get_mut(&after.id) {
            entry.head = Arc::clone(&after);
            if after.forgotten_at.is_some() {
                entry.params = None;
                entry.steps = Vec::new();
            }
        }
        after
    }

    /// The head, if it has that version.
    fn expect(&self, id: &TaskId, version: u64) -> Result<SharedRecord, StoreError> {
        let head = self.head(id).ok_or_else(|| StoreError::not_found(id))?;
        if head.version == version { Ok(head) } else { Err(StoreError::conflict(id)) }
    }
}

impl Store for MemoryStore {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        let (head, params, steps) = record.into_parts();
        let mut tasks = self.write();
        if tasks.entries.contains_key(&head.id) {
            return Err(StoreError::new(
                StoreErrorKind::Conflict,
                format!("there is a task `{}` already", head.id),
            ));
        }
        if let Some(other) = head.same_call.as_ref().and_then(|call| tasks.calls.get(call)) {
            return Err(StoreError::new(
                StoreErrorKind::Conflict,
                format!("task `{other}` is of the same call"),
            ));
        }
        let entry = Entry { head: Arc::new(head), params, steps };
        tasks.index(&entry.head);
        let place = (entry.head.created_at.unix_millis(), entry.head.id.clone());
        tasks.ages.insert(place.clone());
        tasks.owners.entry(entry.head.owner.clone()).or_default().insert(place);
        let whole = entry.whole();
        tasks.entries.insert(whole.id.clone(), entry);
        drop(tasks);
        self.feed.written(&whole);
        Ok(whole)
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        Ok(self.read().entries.get(id).map(|entry| match parts {
            Parts::Head => Arc::clone(&entry.head),
            Parts::Whole => entry.whole(),
        }))
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let (mut head, _, _) = record.into_parts();
        let mut tasks = self.write();
        let before = tasks.expect(&head.id, expected_version)?;
        if head.lease.is_some() {
            head.lease.clone_from(&before.lease);
        }
        let after = tasks.put(&before, head);
        drop(tasks);
        self.feed.written(&after);
        Ok(after)
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        let mut tasks = self.write();
        let entry = tasks.entries.get_mut(id).ok_or_else(|| StoreError::not_found(id))?;
        // A task that has ended has no lease.
        if entry.head.lease.as_ref().is_none_or(|lease| lease.token != token) {
            return Err(StoreError::conflict(id));
        }
        if entry.steps.iter().any(|known| known.name == step.name) {
            let message = format!("task `{id}` has a step `{}` already", step.name);
            return Err(StoreError::new(StoreErrorKind::Conflict, message));
        }
        entry.steps.push(step);
        Ok(())
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        let mut tasks = self.write();
        let head = tasks.expect(id, expected_version)?;
        tasks.unindex(&head);
        tasks.entries.remove(id);
        let place = (head.created_at.unix_millis(), id.clone());
        tasks.ages.remove(&place);
        if let Some(places) = tasks.owners.get_mut(&head.owner) {
            places.remove(&place);
            if places.is_empty() {
                tasks.owners.remove(&head.owner);
            }
        }
        drop(tasks);
        self.feed.removed(id);
        Ok(())
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let mut tasks = self.write();
        let now = claim.now.unix_millis();
        let free = tasks.claimable.iter().take_while(|(lease_end, _, _)| *lease_end <= now).take(claim.limit);
        let free: Vec<TaskId> = free.map(|(_, _, id)| id.clone()).collect();
        let mut claimed = Vec::new();
        for id in free {
            let Some(head) = tasks.head(&id) else { continue };
            let event = Event::Claim { worker: claim.worker.clone(), until: claim.until.clone() };
            let Ok(after) = lifecycle::apply(&head, event, &claim.now) else { continue };
            tasks.put(&head, after);
            claimed.extend(tasks.entries.get(&id).map(Entry::whole));
        }
        drop(tasks);
        for record in &claimed {
            self.feed.written(record);
        }
        Ok(claimed)
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        let mut tasks = self.write();
        let mut renewed = 0;
        for id in ids {
            let Some(head) = tasks.head(id) else { continue };
            let Some(lease) = head.lease.clone().filter(|lease| lease.worker == worker) else { continue };
            let lease = Some(Lease { until: until.clone(), ..lease });
            tasks.put(&head, TaskRecord { lease, ..TaskRecord::clone(&head) });
            renewed += 1;
        }
        Ok(renewed)
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        let tasks = self.read();
        let mut waiting = tasks.due.iter().peekable();
        let mut ids = Vec::new();
        while ids.len() < limit
            && let Some((_, id)) = waiting.next_if(|(due_at, _)| *due_at <= now.unix_millis())
        {
            ids.push(id.clone());
        }
        let next = waiting.next().map(|(due_at, _)| *due_at);
        let lease_end = tasks.claimable.first().map(|(lease_end, _, _)| *lease_end);
        Ok(Due::new(ids, next.map(Timestamp::from_unix_millis), lease_end.map(Timestamp::from_unix_millis)))
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        let tasks = self.read();
        Ok(tasks.calls.get(same_call).and_then(|id| tasks.head(id)))
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        let tasks = self.read();
        let live = match owner {
            Some(owner) => tasks.live_of.get(owner).copied().unwrap_or_default(),
            None => tasks.live,
        };
        Ok(live.min(at_most))
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let tasks = self.read();
        let start = match after {
            Some(cursor) => Bound::Excluded((cursor.created_at(), cursor.id().clone())),
            None => Bound::Unbounded,
        };
        let places = match owner {
            Some(owner) => tasks.owners.get(owner),
            None => Some(&tasks.ages),
        };
        let places = places.into_iter().flat_map(|places| places.range((start.clone(), Bound::Unbounded)));
        let records = places
            .take(limit.saturating_add(1))
            .filter_map(|(_, id)| tasks.entries.get(id))
            .map(|entry| Arc::clone(&entry.head))
            .collect();
        Ok(Page::of(records, limit))
    }

    fn changes(&self) -> Changes {
        self.feed.subscribe()
    }
}
