//! The writing thread of a store on disk: what is queued when it looks is one batch, which becomes durable at once.
//!
//! What a commit is, it leaves to the store. Nobody is answered, and no change is told, before it. A store has the
//! thread as long as it is open, and gives it back with all else.

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::lock::Lock;
use super::{ChangeFeed, StoreError, StoreErrorKind};
use crate::error::with_causes;

/// How many jobs share a commit at most, so that the first of them does not wait for ever.
const MAX_BATCH: usize = 256;

/// What the thread is asked to do.
pub(super) trait Job<P>: Send {
    /// Does the work at its place, a transaction of some kind. False when its effects have to be undone.
    fn run(&mut self, place: &P) -> bool;

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

impl<W, N, T> Write<W, N, T> {
    /// Work, what to tell when it is durable, and where its result comes out.
    pub(super) fn new<P>(work: W, tell: N) -> (Box<Self>, oneshot::Receiver<Result<T, StoreError>>)
    where
        W: FnOnce(&P) -> Result<T, StoreError> + Send,
        N: FnOnce(&ChangeFeed, &T) + Send,
    {
        let (caller, receiver) = oneshot::channel();
        (Box::new(Self { work: Some(work), tell, done: None, caller }), receiver)
    }
}

impl<P, W, N, T> Job<P> for Write<W, N, T>
where
    W: FnOnce(&P) -> Result<T, StoreError> + Send,
    N: FnOnce(&ChangeFeed, &T) + Send,
    T: Send,
{
    fn run(&mut self, place: &P) -> bool {
        self.done = self.work.take().map(|work| work(place));
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
            // Its effects are undone, and the next try would come to the same.
            (Ok(()), None) => Err(StoreError::new(StoreErrorKind::Refused, "a write panicked")),
        };
        // A caller that has gone away does not need the answer.
        let _ = caller.send(answer);
    }
}

/// Runs a job; one that panics has failed, and the thread goes on for the others.
pub(super) fn run_job<P>(job: &mut dyn Job<P>, place: &P) -> bool {
    panic::catch_unwind(AssertUnwindSafe(|| job.run(place))).unwrap_or(false)
}

/// The thread, which ends when everything that was queued is done.
pub(super) struct Writer<P: 'static> {
    jobs: Option<mpsc::Sender<Box<dyn Job<P>>>>,
    thread: Option<JoinHandle<()>>,
}

impl<P: 'static> Writer<P> {
    /// Starts a thread of this name, which does what is queued in batches.
    pub(super) fn start(
        name: &str,
        mut run: impl FnMut(Vec<Box<dyn Job<P>>>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel::<Box<dyn Job<P>>>();
        let serve = move || {
            while let Ok(first) = queue.recv() {
                let mut batch = vec![first];
                batch.extend(queue.try_iter().take(MAX_BATCH - 1));
                run(batch);
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(serve).map_err(|err| {
            StoreError::new(StoreErrorKind::Unavailable, "the writing thread cannot be started")
                .with_source(err)
        })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Where jobs go.
    pub(super) fn jobs(&self) -> Option<mpsc::Sender<Box<dyn Job<P>>>> {
        self.jobs.clone()
    }
}

impl<P: 'static> Drop for Writer<P> {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has given back what it had as well.
            let _ = thread.join();
        }
    }
}

/// The place of a store on disk, with its writer until it is closed.
pub(super) struct Place<P: 'static, R = ()> {
    pub(super) path: PathBuf,
    pub(super) feed: ChangeFeed,
    open: Mutex<Option<Open<P, R>>>,
}

/// What is given back on closing, in the order of the members.
struct Open<P: 'static, R> {
    readers: R,
    writer: Writer<P>,
    _lock: Option<Lock>,
}

impl<P: 'static, R: Default + Send + 'static> Place<P, R> {
    pub(super) fn new(path: PathBuf, feed: ChangeFeed, writer: Writer<P>, lock: Option<Lock>) -> Self {
        let open = Open { readers: R::default(), writer, _lock: lock };
        Self { path, feed, open: Mutex::new(Some(open)) }
    }

    fn opened(&self) -> MutexGuard<'_, Option<Open<P, R>>> {
        // No code that can panic runs while it is locked.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What readers have, unless the store is closed.
    pub(super) fn with_readers<T>(&self, work: impl FnOnce(&mut R) -> T) -> Result<T, StoreError> {
        self.opened().as_mut().map(|open| work(&mut open.readers)).ok_or_else(StoreError::closed)
    }

    /// Does work on the writing thread, in a batch that it may share; it is durable when this returns. What changed is
    /// told there and then, so that it is told even if the caller has gone away.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&P) -> Result<T, StoreError> + Send + 'static,
        tell: impl FnOnce(&ChangeFeed, &T) + Send + 'static,
    ) -> Result<T, StoreError> {
        let (job, receiver) = Write::new(work, tell);
        let jobs = self.opened().as_ref().and_then(|open| open.writer.jobs());
        jobs.and_then(|jobs| jobs.send(job).ok()).ok_or_else(StoreError::closed)?;
        receiver.await.unwrap_or_else(|_| Err(StoreError::closed())).map_err(|err| err.at(&self.path))
    }

    pub(super) async fn close(&self)
    where
        P: Send,
    {
        let open = self.opened().take();
        // Finishing what is queued and giving the place back can take as long as the disk likes.
        if let Err(err) = spawn_blocking(move || drop(open)).await {
            tracing::error!(error = with_causes(&err), "the store could not be closed in an orderly way");
        }
    }
}

/// Opens a store where waiting for a disk keeps nobody else waiting.
pub(super) async fn opened<S: Send + 'static>(
    path: &Path,
    open: fn(PathBuf) -> Result<S, StoreError>,
) -> Result<S, StoreError> {
    let path = path.to_owned();
    spawn_blocking(move || open(path)).await.unwrap_or_else(|err| {
        Err(StoreError::new(StoreErrorKind::Unavailable, "the store could not be opened").with_source(err))
    })
}
