//! The writing thread: it takes what is queued, does it in one transaction and commits once for all.
//!
//! A commit waits for the disk, and everybody who comes meanwhile shares the next one: with one caller a write takes
//! one commit, with many there are as few commits as the disk allows. Each job has a savepoint, so that one that is
//! refused undoes its own effects alone. Nobody is answered, and no change is told, before the commit.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior, ffi};
use tokio::sync::oneshot;

use super::failed_for_all;
use crate::store::{ChangeFeed, StoreError, StoreErrorKind};

/// How many jobs share a commit at most, so that the first of them does not wait for ever; a job takes some ten
/// microseconds.
const MAX_BATCH: usize = 256;

/// What the thread is asked to do.
pub(super) trait Job: Send {
    /// Does the work inside the transaction. False when its effects have to be undone.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Tells what changed, and answers; an error when there was no commit.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>, feed: &ChangeFeed);
}

/// Work with the caller that waits for it.
pub(super) struct Write<W, N, T> {
    work: Option<W>,
    tell: N,
    done: Option<Result<T, StoreError>>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<W, N, T> Write<W, N, T>
where
    W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    N: FnOnce(&ChangeFeed, &T) + Send + 'static,
    T: Send + 'static,
{
    /// Work, what to tell when it is durable, and where its result comes out.
    pub(super) fn new(work: W, tell: N) -> (Box<Self>, oneshot::Receiver<Result<T, StoreError>>) {
        let (caller, receiver) = oneshot::channel();
        (Box::new(Self { work: Some(work), tell, done: None, caller }), receiver)
    }
}

impl<W, N, T> Job for Write<W, N, T>
where
    W: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    N: FnOnce(&ChangeFeed, &T) + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        self.done = self.work.take().map(|work| work(connection));
        matches!(self.done, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>, feed: &ChangeFeed) {
        let Self { tell, done, caller, .. } = *self;
        let answer = match (committed, done) {
            // Also where it was refused: what it was refused for may be what is not there now.
            (Err(err), _) => Err(err),
            (Ok(()), Some(Ok(value))) => {
                tell(feed, &value);
                Ok(value)
            }
            (Ok(()), Some(Err(err))) => Err(err),
            (Ok(()), None) => Err(StoreError::new(StoreErrorKind::Unavailable, "a write panicked")),
        };
        // A caller that has gone away does not need the answer.
        let _ = caller.send(answer);
    }
}

/// The thread, which ends when everything that was queued is done.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(mut connection: Connection, feed: ChangeFeed) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Box<dyn Job>>();
        let thread = thread::Builder::new().name("mcp-tasks-sqlite".to_owned()).spawn(move || {
            while let Ok(first) = queue.recv() {
                let mut batch = vec![first];
                batch.extend(queue.try_iter().take(MAX_BATCH - 1));
                run(&mut connection, batch, &feed);
            }
        })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Where jobs go.
    pub(super) fn jobs(&self) -> Option<mpsc::Sender<Box<dyn Job>>> {
        self.jobs.clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has closed its connection as well.
            let _ = thread.join();
        }
    }
}

/// Does the jobs in one transaction, then answers them in their order, which is that of the versions they write.
fn run(connection: &mut Connection, mut batch: Vec<Box<dyn Job>>, feed: &ChangeFeed) {
    let committed = commit(connection, &mut batch).map_err(Arc::new);
    for job in batch {
        job.answer(committed.as_ref().map(drop).map_err(failed_for_all), feed);
    }
}

fn commit(connection: &mut Connection, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut has_effects = false;
    for job in batch {
        transaction.prepare_cached("SAVEPOINT job")?.execute([])?;
        // None panics; but if one did, the store would be gone for all.
        let done = panic::catch_unwind(AssertUnwindSafe(|| job.run(&transaction))).unwrap_or(false);
        if transaction.is_autocommit() {
            // What was done before is undone as well.
            let failure = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
            let message = "a write that failed, as of a full disk, has ended the transaction";
            return Err(rusqlite::Error::SqliteFailure(failure, Some(message.to_owned())));
        }
        if !done {
            transaction.prepare_cached("ROLLBACK TO job")?.execute([])?;
        }
        transaction.prepare_cached("RELEASE job")?.execute([])?;
        has_effects |= done;
    }
    if has_effects { transaction.commit() } else { transaction.rollback() }
}

#[cfg(test)]
mod tests;
