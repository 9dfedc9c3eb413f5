//! The reference store: everything in memory, gone with the process.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mcp_tasks_types::{RawObject, TaskId, Timestamp};

use super::heads::{self, ById, Heads};
use super::keys::{check_keys, check_step};
use super::{ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError};
use crate::lifecycle::{self, Event};
use crate::owner::Owner;
use crate::record::{Lease, SharedRecord, StepRecord, TaskRecord};

/// A store in memory.
#[derive(Debug)]
pub struct MemoryStore {
    tasks: Arc<RwLock<Tasks>>,
    /// Those of `tasks`, for polls.
    heads: Arc<ById>,
    feed: ChangeFeed,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Arc::default(), ChangeFeed::default())
    }

    fn over(tasks: Arc<RwLock<Tasks>>, feed: ChangeFeed) -> Self {
        let heads = tasks.read().unwrap_or_else(PoisonError::into_inner).heads.by_id();
        Self { tasks, heads, feed }
    }

    /// A second store over the same tasks, with all leases ended; see `testing::reopened`.
    pub(crate) fn reopen(&self) -> Self {
        let mut tasks = self.write();
        let leased: Vec<TaskId> = tasks.heads.claimable().map(|(_, _, id)| id.clone()).collect();
        for id in leased {
            let Some(head) = tasks.heads.get(&id).filter(|head| head.lease.is_some()) else { continue };
            let version = head.version + 1;
            let ended = TaskRecord { lease: None, version, ..TaskRecord::clone(&head) };
            tasks.heads.put(Arc::new(ended));
        }
        drop(tasks);
        Self::over(Arc::clone(&self.tasks), self.feed.clone())
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
    heads: Heads,
    #[expect(
        clippy::disallowed_types,
        reason = "never iterated; a look-up costs the same however many tasks are kept"
    )]
    rest: std::collections::HashMap<TaskId, Rest>,
}

/// What a head comes without. Tasks that have none of it are not listed.
#[derive(Debug, Default)]
struct Rest {
    params: Option<RawObject>,
    steps: Vec<StepRecord>,
}

impl Tasks {
    fn whole(&self, id: &TaskId) -> Option<SharedRecord> {
        let head = self.heads.get(id)?;
        Some(self.rest.get(id).map_or_else(|| Arc::clone(&head), |rest| rest.with(&head)))
    }
}

impl Rest {
    fn with(&self, head: &TaskRecord) -> SharedRecord {
        let mut record = head.clone();
        record.params.clone_from(&self.params);
        record.steps.clone_from(&self.steps);
        Arc::new(record)
    }
}

impl Store for MemoryStore {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        check_keys(&record)?;
        let (mut head, params, steps) = record.into_parts();
        let mut tasks = self.write();
        if tasks.heads.get(&head.id).is_some() {
            return Err(StoreError::taken_id(&head.id));
        }
        if let Some(other) = head.same_call.as_ref().and_then(|call| tasks.heads.call(call)) {
            return Err(StoreError::taken_call(&other.id));
        }
        tasks.heads.share_owner(&mut head);
        let head = Arc::new(head);
        tasks.heads.put(Arc::clone(&head));
        let whole = if params.is_some() || !steps.is_empty() {
            let rest = Rest { params, steps };
            let whole = rest.with(&head);
            tasks.rest.insert(head.id.clone(), rest);
            whole
        } else {
            head
        };
        drop(tasks);
        self.feed.written(&whole);
        Ok(whole)
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        Ok(match parts {
            Parts::Head => self.heads.get(id),
            Parts::Whole => self.read().whole(id),
        })
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let (mut head, _, _) = record.into_parts();
        let mut tasks = self.write();
        let before = heads::expect(tasks.heads.get(&head.id), &head.id, expected_version)?;
        if head.lease.is_some() {
            head.lease.clone_from(&before.lease);
        }
        let after = Arc::new(head);
        tasks.heads.put(Arc::clone(&after));
        if after.forgotten_at.is_some() {
            tasks.rest.remove(&after.id);
        }
        drop(tasks);
        self.feed.written(&after);
        Ok(after)
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        check_step(id, &step.name)?;
        let mut tasks = self.write();
        heads::expect_token(tasks.heads.get(id), id, token)?;
        let rest = tasks.rest.entry(id.clone()).or_default();
        if rest.steps.iter().any(|known| known.name == step.name) {
            return Err(StoreError::taken_step(id, &step.name));
        }
        rest.steps.push(step);
        Ok(())
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        let mut tasks = self.write();
        heads::expect(tasks.heads.get(id), id, expected_version)?;
        tasks.heads.remove(id);
        tasks.rest.remove(id);
        drop(tasks);
        self.feed.removed(id);
        Ok(())
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let mut tasks = self.write();
        let now = claim.now.unix_millis();
        let free = tasks.heads.claimable().take_while(|(lease_end, _, _)| *lease_end <= now);
        let free: Vec<TaskId> = free.take(claim.limit).map(|(_, _, id)| id.clone()).collect();
        let mut claimed = Vec::new();
        for id in free {
            let Some(head) = tasks.heads.get(&id) else { continue };
            let event = Event::Claim { worker: claim.worker.clone(), until: claim.until.clone() };
            let Ok(after) = lifecycle::apply(&head, event, &claim.now) else { continue };
            tasks.heads.put(Arc::new(after));
            claimed.extend(tasks.whole(&id));
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
            let Some(head) = tasks.heads.get(id) else { continue };
            let Some(lease) = head.lease.clone().filter(|lease| lease.worker == worker) else { continue };
            let lease = Some(Lease { until: until.clone(), ..lease });
            let renewal = TaskRecord { lease, ..TaskRecord::clone(&head) };
            tasks.heads.put(Arc::new(renewal));
            renewed += 1;
        }
        Ok(renewed)
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        Ok(self.read().heads.due(now, limit))
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        Ok(self.read().heads.call(same_call))
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        Ok(self.read().heads.count_live(owner, at_most))
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        Ok(self.read().heads.list(owner, after, limit))
    }

    fn changes(&self) -> Changes {
        self.feed.subscribe()
    }
}
