//! A batch of writes: each job prepares files, and one commit gives them their names.
//!
//! A job sees what the jobs before it have prepared. One that is refused, or cannot write, takes back what it prepared
//! alone. Only the commit renames, and only when the folder is synchronised do others see the new heads in memory. When
//! a commit fails, it is not known which of its files have their names: everybody gets the error, and before anything
//! else is written the folder is synchronised and memory follows what is there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mcp_tasks_types::{TaskId, Timestamp};

use super::folder::{self, Folder, Shared, remove_if_there, stem};
use super::parts::{self, Contents};
use crate::error::with_causes;
use crate::lifecycle::{self, Event};
use crate::record::{Lease, SharedRecord, StepRecord, TaskRecord};
use crate::store::heads::{self, Turn};
use crate::store::lock::Lock;
use crate::store::writer::{Job, run_job};
use crate::store::{ChangeFeed, Claim, StoreError, StoreErrorKind};

/// A record without parameters and steps, and its text.
pub(super) struct Head {
    record: TaskRecord,
    text: String,
}

impl Head {
    /// Writes the JSON in the caller's thread; the writer has enough to do.
    pub(super) fn new(record: TaskRecord) -> Result<Self, StoreError> {
        let mut text = serde_json::to_string_pretty(&record).map_err(|err| {
            let message = format!("the record of task `{}` cannot be written", record.id);
            StoreError::new(StoreErrorKind::Refused, message).with_source(err)
        })?;
        text.push('\n');
        Ok(Self { record, text })
    }
}

/// The writer's view of the folder, and what it has prepared.
pub(super) struct Batch {
    folder: Folder,
    lock: Lock,
    shared: Arc<RwLock<Shared>>,
    feed: ChangeFeed,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// How many temporary files there were.
    temporaries: u64,
    /// Prepared by jobs that are done.
    done: Prepared,
    /// Prepared by the job that runs.
    job: Prepared,
    /// The error of a commit in the midst of a batch.
    failure: Option<StoreError>,
    /// What has to be looked at after a commit that failed.
    unsettled: BTreeSet<TaskId>,
    appended: Vec<Appended>,
    /// The steps of tasks that somebody works on and that got one from this process.
    steps: BTreeMap<TaskId, Steps>,
}

#[derive(Default)]
struct Prepared {
    heads: BTreeMap<TaskId, Change>,
    appended: Vec<Appended>,
    /// Whether files of parts have come or gone, whose entries have to be durable before the heads'.
    parts: bool,
}

/// The new head of a task, none when it goes.
struct Change {
    head: Option<SharedRecord>,
    /// The file that is to take the name; none when only memory changes.
    temporary: Option<PathBuf>,
}

struct Appended {
    id: TaskId,
    path: PathBuf,
    length: u64,
}

struct Steps {
    names: BTreeSet<String>,
    length: Option<u64>,
}

impl Batch {
    pub(super) fn new(folder: Folder, lock: Lock, shared: Arc<RwLock<Shared>>, feed: ChangeFeed) -> Self {
        Self { folder, lock, shared, feed, state: RefCell::default() }
    }

    /// Does the jobs, makes them durable at once, and answers them in their order.
    pub(super) fn run(&mut self, mut jobs: Vec<Box<dyn Job<Self>>>) {
        let committed = self.run_all(&mut jobs).map_err(Arc::new);
        for job in jobs {
            let committed = committed.as_ref().map(drop).map_err(|err| {
                StoreError::new(err.kind(), "the write could not be made durable")
                    .with_source(Arc::clone(err))
            });
            job.answer(committed, &self.feed);
        }
    }

    fn run_all(&mut self, jobs: &mut [Box<dyn Job<Self>>]) -> Result<(), StoreError> {
        if !self.lock.is_in_place() {
            let message = "the lock file is gone, and another process may have the folder";
            return Err(StoreError::new(StoreErrorKind::Locked, message));
        }
        self.settle()?;
        for job in jobs {
            if run_job(&mut **job, self) {
                let prepared = mem::take(&mut self.state.get_mut().job);
                self.keep(prepared);
            } else {
                let prepared = mem::take(&mut self.state.get_mut().job);
                self.take_back(prepared);
            }
            if let Some(err) = self.state.get_mut().failure.take() {
                return Err(err);
            }
        }
        self.commit()
    }

    fn read(&self) -> RwLockReadGuard<'_, Shared> {
        // No code that can panic runs while a change is half done.
        self.shared.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self) -> RwLockWriteGuard<'_, Shared> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The head as it is going to be.
    fn head(&self, id: &TaskId) -> Option<SharedRecord> {
        let state = self.state.borrow();
        match state.job.heads.get(id).or_else(|| state.done.heads.get(id)) {
            Some(change) => change.head.clone(),
            None => self.read().heads.get(id),
        }
    }

    /// The task of a call, as it is going to be.
    fn call(&self, call: &str) -> Option<TaskId> {
        let state = self.state.borrow();
        let prepared = || state.job.heads.iter().chain(&state.done.heads);
        let made = prepared().filter_map(|(_, change)| change.head.as_ref());
        let mut made = made.filter(|head| head.same_call.as_deref() == Some(call));
        made.next().map(|head| head.id.clone()).or_else(|| {
            let known = self.read().heads.call(call).map(|head| head.id.clone());
            known.filter(|id| prepared().all(|(changed, _)| changed != id))
        })
    }

    /// Refuses to write over a file of which nobody knows what is in it.
    fn expect_settled(&self, id: &TaskId) -> Result<(), StoreError> {
        if !self.state.borrow().unsettled.contains(id) {
            return Ok(());
        }
        let message = format!("the file of task `{id}` cannot be read since a write to it failed");
        Err(StoreError::new(StoreErrorKind::Unavailable, message))
    }

    /// Prepares a head's file.
    fn write(&self, head: Head) -> Result<SharedRecord, StoreError> {
        let Head { record, text } = head;
        self.expect_settled(&record.id)?;
        let mut state = self.state.borrow_mut();
        state.temporaries += 1;
        let path = self.folder.head_path(&stem(&record.id));
        let temporary = self.folder.write_temporary(&path, state.temporaries, &text)?;
        let record = Arc::new(record);
        state
            .job
            .put(record.id.clone(), Change { head: Some(Arc::clone(&record)), temporary: Some(temporary) });
        Ok(record)
    }

    pub(super) fn insert(&self, head: Head, lines: &str) -> Result<SharedRecord, StoreError> {
        let id = &head.record.id;
        self.read().check(id)?;
        if self.head(id).is_some() {
            return Err(StoreError::taken_id(id));
        }
        if let Some(other) = head.record.same_call.as_ref().and_then(|call| self.call(call)) {
            return Err(StoreError::taken_call(&other));
        }
        if self.read().heads.get(id).is_some() {
            // Removed in this batch: until that is durable, the parts are those of the old task.
            self.commit_early()?;
        }
        let stem = stem(id);
        let path = self.folder.head_path(&stem);
        if fs::symlink_metadata(&path).is_ok() {
            let message = format!("there is a file `{}` already", path.display());
            return Err(StoreError::new(StoreErrorKind::Conflict, message));
        }
        if lines.is_empty() {
            let parts = self.folder.parts_path(&stem);
            match fs::remove_file(&parts) {
                Ok(()) => self.state.borrow_mut().job.parts = true,
                Err(err) if err.kind() == io::ErrorKind::NotFound => {}
                Err(err) => return Err(folder::failed("removed", &parts, err)),
            }
        } else {
            self.state.borrow_mut().job.parts = true;
            self.folder.write_parts(&stem, lines)?;
        }
        self.write(head).inspect_err(|_| remove_if_there(&self.folder.parts_path(&stem)))
    }

    pub(super) fn load_whole(&self, id: &TaskId) -> Result<Option<SharedRecord>, StoreError> {
        self.read().check(id)?;
        self.head(id).map(|head| self.whole(&head)).transpose()
    }

    fn contents(&self, head: &TaskRecord) -> Result<Contents, StoreError> {
        if head.forgotten_at.is_some() {
            return Ok(Contents::default());
        }
        parts::read(&self.folder.parts_path(&stem(&head.id)))
    }

    fn whole(&self, head: &SharedRecord) -> Result<SharedRecord, StoreError> {
        let Contents { params, steps, .. } = self.contents(head)?;
        if params.is_none() && steps.is_empty() {
            return Ok(Arc::clone(head));
        }
        Ok(Arc::new(TaskRecord { params, steps, ..TaskRecord::clone(head) }))
    }

    pub(super) fn replace(&self, head: Head, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let id = head.record.id.clone();
        self.read().check(&id)?;
        let before = heads::expect(self.head(&id), &id, expected_version)?;
        let mut head = head;
        match (&head.record.lease, &before.lease) {
            // Its end in the file counts for nobody: it is over with this process.
            (Some(_), Some(lease)) => head.record.lease = Some(lease.clone()),
            (Some(_), None) => head = Head::new(TaskRecord { lease: None, ..head.record })?,
            (None, _) => {}
        }
        self.write(head)
    }

    pub(super) fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        self.read().check(id)?;
        heads::expect_token(self.head(id), id, token)?;
        let path = self.folder.parts_path(&stem(id));
        let mut state = self.state.borrow_mut();
        if !state.steps.contains_key(id) {
            let Contents { steps, length, .. } = parts::read(&path)?;
            let names = steps.into_iter().map(|step| step.name).collect();
            state.steps.insert(id.clone(), Steps { names, length });
        }
        let State { steps, job, .. } = &mut *state;
        let Some(steps) = steps.get_mut(id) else { return Err(StoreError::not_found(id)) };
        if steps.names.contains(&step.name) {
            return Err(StoreError::taken_step(id, &step.name));
        }
        let length = steps.length.unwrap_or(0);
        job.parts |= steps.length.is_none();
        steps.length = Some(parts::append(&path, length, &step)?);
        steps.names.insert(step.name);
        job.appended.push(Appended { id: id.clone(), path, length });
        Ok(())
    }

    pub(super) fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        self.read().check(id)?;
        heads::expect(self.head(id), id, expected_version)?;
        self.expect_settled(id)?;
        self.state.borrow_mut().job.put(id.clone(), Change { head: None, temporary: None });
        Ok(())
    }

    pub(super) fn claim(&self, claim: &Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let mut seen = BTreeSet::new();
        let mut claimed = Vec::new();
        while claimed.len() < claim.limit {
            let free = self.free(claim.now.unix_millis(), claim.limit - claimed.len(), &seen);
            if free.is_empty() {
                break;
            }
            for id in free {
                let head = self.head(&id);
                seen.insert(id);
                let Some(head) = head.filter(|head| self.expect_settled(&head.id).is_ok()) else { continue };
                let event = Event::Claim { worker: claim.worker.clone(), until: claim.until.clone() };
                let Ok(after) = lifecycle::apply(&head, event, &claim.now) else { continue };
                let Contents { params, steps, .. } = match self.contents(&after) {
                    Ok(contents) => contents,
                    Err(cause) if folder::is_of_the_file(&cause) => {
                        let mut shared = self.publish();
                        shared.heads.remove(&after.id);
                        shared.set_aside(stem(&after.id), Some(after.owner.clone()), &cause);
                        continue;
                    }
                    Err(cause) => {
                        // The next claim tries again; nobody else's task waits for that.
                        let error = with_causes(&cause);
                        tracing::warn!(task = %after.id, error, "a task cannot be taken up at the moment");
                        continue;
                    }
                };
                let after = self.write(Head::new(after)?)?;
                claimed.push(Arc::new(TaskRecord { params, steps, ..TaskRecord::clone(&after) }));
            }
        }
        Ok(claimed)
    }

    /// The first tasks that may be taken up, as it is going to be.
    fn free(&self, now: i64, count: usize, seen: &BTreeSet<TaskId>) -> Vec<TaskId> {
        let state = self.state.borrow();
        let is_prepared = |id| state.job.heads.contains_key(id) || state.done.heads.contains_key(id);
        let shared = self.read();
        let free = shared.heads.claimable().take_while(|(lease_end, _, _)| *lease_end <= now);
        let free = free.filter(|(_, _, id)| !seen.contains(id) && !is_prepared(id)).take(count).cloned();
        let prepared = state.done.heads.iter().filter(|(id, _)| !state.job.heads.contains_key(*id));
        let prepared = prepared.chain(&state.job.heads).filter_map(|(_, change)| change.head.as_ref());
        let turn = |head: &SharedRecord| {
            let (lease_end, created_at) = heads::turn(head)?;
            (lease_end <= now && !seen.contains(&head.id)).then(|| (lease_end, created_at, head.id.clone()))
        };
        let prepared = prepared.filter_map(turn);
        let mut free: Vec<Turn> = free.chain(prepared).collect();
        free.sort_unstable();
        free.truncate(count);
        free.into_iter().map(|(_, _, id)| id).collect()
    }

    /// Lengthens leases in memory: in the file they count for nobody.
    pub(super) fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> u64 {
        let mut renewed = 0;
        for id in ids {
            let Some(head) = self.head(id) else { continue };
            let Some(lease) = head.lease.clone().filter(|lease| lease.worker == worker) else { continue };
            let lease = Some(Lease { until: until.clone(), ..lease });
            let head = Arc::new(TaskRecord { lease, ..TaskRecord::clone(&head) });
            self.state.borrow_mut().job.put(id.clone(), Change { head: Some(head), temporary: None });
            renewed += 1;
        }
        renewed
    }

    fn keep(&self, prepared: Prepared) {
        let mut state = self.state.borrow_mut();
        state.done.parts |= prepared.parts;
        state.done.appended.extend(prepared.appended);
        for (id, change) in prepared.heads {
            state.done.put(id, change);
        }
    }

    /// Undoes what a job has prepared. What cannot be undone now is tried again before the next batch.
    fn take_back(&self, prepared: Prepared) {
        let mut state = self.state.borrow_mut();
        for (id, change) in prepared.heads {
            if let Some(temporary) = change.temporary {
                remove_if_there(&temporary);
            }
            // Parts that a new task has left.
            if prepared.parts {
                state.unsettled.insert(id);
            }
        }
        for appended in prepared.appended {
            state.steps.remove(&appended.id);
            if parts::truncate(&appended.path, appended.length).is_err() {
                state.appended.push(appended);
            }
        }
    }

    /// Commits what other jobs have prepared while a job runs that has not prepared anything yet.
    fn commit_early(&self) -> Result<(), StoreError> {
        self.commit().map_err(|err| {
            let mine = StoreError::new(err.kind(), "the write before could not be made durable");
            self.state.borrow_mut().failure.get_or_insert(err);
            mine
        })
    }

    fn commit(&self) -> Result<(), StoreError> {
        let prepared = mem::take(&mut self.state.borrow_mut().done);
        if let Err(err) = self.make_durable(&prepared) {
            let mut state = self.state.borrow_mut();
            state.steps.clear();
            state.appended.extend(prepared.appended);
            for (id, change) in prepared.heads {
                // Those that have their names are not there any more.
                change.temporary.iter().for_each(|temporary| remove_if_there(temporary));
                state.unsettled.insert(id);
            }
            return Err(err);
        }
        let mut shared = self.publish();
        let mut state = self.state.borrow_mut();
        for (id, change) in &prepared.heads {
            match &change.head {
                Some(head) => shared.heads.put(Arc::clone(head)),
                None => drop(shared.heads.remove(id)),
            }
            if change.head.as_ref().is_none_or(|head| head.lease.is_none()) {
                state.steps.remove(id);
            }
        }
        drop(shared);
        for (id, change) in &prepared.heads {
            if change.head.as_ref().is_none_or(|head| head.forgotten_at.is_some()) {
                // Now that no head refers to them; if the process dies before, the next opening does it.
                remove_if_there(&self.folder.parts_path(&stem(id)));
            }
        }
        Ok(())
    }

    fn make_durable(&self, prepared: &Prepared) -> Result<(), StoreError> {
        if prepared.parts {
            self.folder.sync()?;
        }
        let mut changed = false;
        for (id, change) in &prepared.heads {
            let path = self.folder.head_path(&stem(id));
            match (&change.head, &change.temporary) {
                (Some(_), None) => continue,
                (_, Some(temporary)) => {
                    fs::rename(temporary, &path).map_err(|err| folder::failed("written", &path, err))?;
                }
                (None, None) => match fs::remove_file(&path) {
                    Err(err) if err.kind() != io::ErrorKind::NotFound => {
                        return Err(folder::failed("removed", &path, err));
                    }
                    _ => {}
                },
            }
            changed = true;
        }
        if changed { self.folder.sync() } else { Ok(()) }
    }

    /// After a commit that failed, makes memory follow what is in the folder.
    fn settle(&self) -> Result<(), StoreError> {
        let mut state = self.state.borrow_mut();
        while let Some(appended) = state.appended.last() {
            match parts::truncate(&appended.path, appended.length) {
                Err(cause) if folder::is_of_the_file(&cause) => {
                    let mut shared = self.publish();
                    let owner = shared.heads.remove(&appended.id).map(|head| head.owner.clone());
                    shared.set_aside(stem(&appended.id), owner, &cause);
                }
                truncated => truncated?,
            }
            state.appended.pop();
        }
        if state.unsettled.is_empty() {
            return Ok(());
        }
        self.folder.sync()?;
        let unsettled: Vec<TaskId> = state.unsettled.iter().cloned().collect();
        for id in unsettled {
            let stem = stem(&id);
            let read = self.folder.read_head(&stem);
            let mut shared = self.publish();
            match read {
                Ok(None) => {
                    remove_if_there(&self.folder.parts_path(&stem));
                    if shared.heads.remove(&id).is_some() {
                        self.feed.removed(&id);
                    }
                }
                Ok(Some(record))
                    if shared.heads.get(&id).is_some_and(|head| folder::is_of(&head, &record)) => {}
                Ok(Some(mut record)) => {
                    tracing::warn!(task = %id, "a write that seemed to fail is in the folder");
                    let lease = shared.heads.get(&id).and_then(|head| head.lease.clone());
                    // In the file it was not lengthened.
                    let is_same = |known: &Lease| {
                        let written = record.lease.as_ref();
                        written
                            .is_some_and(|lease| lease.worker == known.worker && lease.token == known.token)
                    };
                    if let Some(lease) = lease.filter(is_same) {
                        record.lease = Some(lease);
                    }
                    self.feed.written(&record);
                    shared.heads.put(Arc::new(record));
                }
                Err(cause) if !folder::is_of_the_file(&cause) => return Err(cause),
                Err(cause) => {
                    // What was durable before the commit can be read as long, and nobody else's task waits for it.
                    tracing::error!(task = %id, error = with_causes(&cause), "a task's file cannot be read at the moment");
                    continue;
                }
            }
            drop(shared);
            state.unsettled.remove(&id);
        }
        Ok(())
    }
}

impl Prepared {
    /// Adds a change behind those of the same task before; a file that was prepared for one of those is not needed when
    /// there is a newer one.
    fn put(&mut self, id: TaskId, mut change: Change) {
        if let Some(before) = self.heads.remove(&id)
            && let Some(temporary) = before.temporary
        {
            if change.head.is_some() && change.temporary.is_none() {
                change.temporary = Some(temporary);
            } else {
                remove_if_there(&temporary);
            }
        }
        self.heads.insert(id, change);
    }
}

#[cfg(test)]
mod tests;
