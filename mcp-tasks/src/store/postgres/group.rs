//! Writes in groups: what is queued while a statement is on its way is one statement next.
//!
//! A commit waits for the disk, and one that notifies waits for every other one that does, in the whole server. With
//! one caller a write takes one commit, with many there are as few as the disk allows. Each record of a group is
//! written or refused by itself.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use mcp_tasks_types::TaskId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Shared;
use super::pool::Locked;
use super::session::Failure;
use super::text::kept;
use crate::record::{SharedRecord, TaskRecord};
use crate::store::{StoreError, StoreErrorKind};

/// How many writes are one statement at most, so that the first of them does not wait for ever.
const MAX_GROUP: usize = 128;

/// How many bytes of records are one statement at most, unless it is one record: a value of PostgreSQL's, and a message
/// to it, ends at a gigabyte.
const MAX_BYTES: usize = 16 << 20;

/// How large a record may be, with its parameters and steps: short of what a message to PostgreSQL may have, for what
/// is sent besides. A server that is sent more says so and hangs up, which looks like an outage.
const MAX_RECORD_BYTES: usize = (1 << 30) - (1 << 20);

/// Whether a record can be sent at all.
pub(super) fn check_size(bytes: usize) -> Result<(), StoreError> {
    if bytes <= MAX_RECORD_BYTES {
        return Ok(());
    }
    let message =
        format!("a record of {bytes} bytes is larger than the {MAX_RECORD_BYTES} that PostgreSQL takes");
    Err(StoreError::new(StoreErrorKind::Refused, message))
}

/// How much can be told at once of a group: PostgreSQL takes less than 8000 bytes, of which who tells has some.
const MAX_TOLD: usize = 7_800;
/// What is told of a record besides its id, at most.
const TOLD_BESIDES: usize = 24;

/// A record to write.
pub(super) trait Work: Send + Sync + 'static {
    /// What the database says of one of them.
    type Said: Send;

    fn id(&self) -> &TaskId;

    /// About how large it is.
    fn bytes(&self) -> usize;

    /// Writes all of them, which have different ids, and gives for each what was said of it.
    fn write(
        shared: &Shared,
        group: &[&Self],
    ) -> impl Future<Output = Result<Vec<Self::Said>, Failure>> + Send;

    /// The record as it is stored, or why it was refused.
    fn finish(self, said: Self::Said) -> Result<TaskRecord, StoreError>;
}

/// Work with the caller that waits for it.
struct Job<W> {
    work: W,
    caller: oneshot::Sender<Result<SharedRecord, StoreError>>,
}

/// The queue, with the task that works it off.
pub(super) struct Group<W> {
    jobs: mpsc::UnboundedSender<Job<W>>,
    task: JoinHandle<()>,
}

impl<W: Work> Group<W> {
    pub(super) fn start(shared: &Arc<Shared>) -> Self {
        let (jobs, mut queue) = mpsc::unbounded_channel();
        let serving = Arc::clone(shared);
        let serve = async move {
            let mut waiting = VecDeque::new();
            loop {
                if waiting.is_empty() {
                    let Some(job) = queue.recv().await else { return };
                    waiting.push_back(job);
                }
                while let Ok(job) = queue.try_recv() {
                    waiting.push_back(job);
                }
                let group = next_group(&mut waiting);
                let is_shared = group.len() > 1;
                write(&serving, group).await;
                if is_shared {
                    gather(&queue).await;
                }
            }
        };
        Self { jobs, task: shared.pool.runtime().spawn(serve) }
    }

    /// Queues the work; what comes out is its result. It is done also when nobody waits for it.
    pub(super) fn queue(&self, work: W) -> oneshot::Receiver<Result<SharedRecord, StoreError>> {
        let (caller, receiver) = oneshot::channel();
        if let Err(err) = check_size(work.bytes()) {
            // The receiver is there.
            let _ = caller.send(Err(err));
            return receiver;
        }
        // If the task is gone, the receiver hears of it.
        let _ = self.jobs.send(Job { work, caller });
        receiver
    }

    /// Does what is queued.
    pub(super) async fn finish(self) {
        drop(self.jobs);
        // A task that panicked has nothing left to do.
        let _ = self.task.await;
    }
}

/// Lets those who were answered just now come again, if that is what they do. The first of them alone would have a
/// statement of its own, and all others would wait for it.
async fn gather<W>(queue: &mpsc::UnboundedReceiver<Job<W>>) {
    loop {
        let before = queue.len();
        tokio::task::yield_now().await;
        if queue.len() == before || queue.len() >= MAX_GROUP {
            return;
        }
    }
}

/// Takes what can be one statement: no id is in it twice, since the order of two writes counts.
fn next_group<W: Work>(waiting: &mut VecDeque<Job<W>>) -> Vec<Job<W>> {
    let mut ids = BTreeSet::new();
    let mut group = Vec::new();
    let mut later = VecDeque::new();
    let (mut told, mut bytes) = (0, 0);
    while group.len() < MAX_GROUP
        && let Some(job) = waiting.pop_front()
    {
        told += kept(job.work.id().as_str()).len() + TOLD_BESIDES;
        bytes += job.work.bytes();
        if (told > MAX_TOLD || bytes > MAX_BYTES) && !group.is_empty() {
            waiting.push_front(job);
            break;
        }
        if ids.insert(job.work.id().clone()) {
            group.push(job);
        } else {
            later.push_back(job);
        }
    }
    later.append(waiting);
    *waiting = later;
    group.sort_by(|one, other| one.work.id().cmp(other.work.id()));
    group
}

async fn write<W: Work>(shared: &Arc<Shared>, mut group: Vec<Job<W>>) {
    let failure = match try_write(shared, &group).await {
        Ok(said) => return answer(shared, group, said),
        Err(failure) => failure,
    };
    if failure.is_lost() {
        return refuse(shared, group, &failure);
    }
    if group.len() == 1 {
        return write_or_refuse(shared, group, failure);
    }
    // One of them, perhaps locked by somebody else, spoils it for all.
    while let Some(job) = group.pop() {
        let job = vec![job];
        match try_write(shared, &job).await {
            Ok(said) => answer(shared, job, said),
            Err(failure) => write_or_refuse(shared, job, failure),
        }
    }
}

/// What is locked waits apart from the others, who are behind it.
fn write_or_refuse<W: Work>(shared: &Arc<Shared>, job: Vec<Job<W>>, failure: Failure) {
    if !failure.is_locked() {
        return refuse(shared, job, &failure);
    }
    let waiting = Arc::clone(shared);
    shared.pool.runtime().spawn(async move {
        let mut locked = Locked::new();
        loop {
            match try_write(&waiting, &job).await {
                Ok(said) => return answer(&waiting, job, said),
                Err(failure) if locked.again(&failure).await => {}
                Err(failure) => return refuse(&waiting, job, &failure),
            }
        }
    });
}

async fn try_write<W: Work>(shared: &Shared, group: &[Job<W>]) -> Result<Vec<W::Said>, Failure> {
    let works: Vec<&W> = group.iter().map(|job| &job.work).collect();
    W::write(shared, &works).await
}

fn answer<W: Work>(shared: &Shared, group: Vec<Job<W>>, said: Vec<W::Said>) {
    for (Job { work, caller }, said) in group.into_iter().zip(said) {
        let written = work.finish(said).map(Arc::new);
        if let Ok(record) = &written {
            shared.feed.written(record);
        }
        // A caller that has gone away does not need the answer.
        let _ = caller.send(written.map_err(|err| shared.in_database(err)));
    }
}

fn refuse<W: Work>(shared: &Shared, group: Vec<Job<W>>, failure: &Failure) {
    let errors: Vec<_> = group.iter().map(|_| shared.not_written(failure.clone())).collect();
    for (job, err) in group.into_iter().zip(errors) {
        let _ = job.caller.send(Err(err));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_that_is_larger_than_a_message_is_refused() {
        assert!(check_size(1_000_000_000).is_ok());
        for bytes in [1 << 30, usize::MAX] {
            assert_eq!(check_size(bytes).unwrap_err().kind(), StoreErrorKind::Refused);
        }
    }
}
