//! What all parts of the engine share: the store with its one way of writing, and the table of runs.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as StdError;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_tasks_types::v2026_07_28::CallToolResult;
use mcp_tasks_types::{RawObject, TaskId, Timestamp};
use tokio::sync::{Notify, watch};

use super::limits::Census;
use super::role::{Role, Room};
use super::run::Run;
use super::storing::not_seen;
use crate::clock::{Clock, Ids, after};
use crate::error::{ArgumentError, EngineError, InterruptedKind, ToolError, with_causes};
use crate::lifecycle::{Event, IllegalTransition, apply};
use crate::panic::caught_at_once;
use crate::record::{LONGEST_MS, SharedRecord, TaskRecord, ToolFingerprint};
use crate::store::{DynStore, Parts, StoreError, StoreErrorKind};
use crate::tool::{TaskTool, ToolCall, ToolDefinition};
use crate::{BoxFuture, record};

const HOUR_MS: u64 = 3_600_000;

/// A registered tool.
pub(crate) struct Tool {
    pub(crate) definition: ToolDefinition,
    pub(super) fingerprint: ToolFingerprint,
    pub(super) check: fn(&RawObject) -> Result<(), ArgumentError>,
    pub(super) run: fn(ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>>,
}

impl Tool {
    pub(super) fn of<T: TaskTool>() -> Self {
        let definition = T::definition();
        let fingerprint = definition.fingerprint();
        Self { definition, fingerprint, check: T::check, run: T::run }
    }
}

/// What an engine was built with, for all tools.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// How long a lease counts without being renewed; it is renewed three times as often.
    pub(super) lease_ms: u64,
    pub(super) shutdown_grace_ms: u64,
    pub(super) expired_retention_ms: u64,
    /// In place of what the tools say.
    pub(super) poll_ms: Option<u64>,
    /// How often a body is started without coming any further.
    pub(super) max_attempts: u32,
    /// The largest result, in bytes.
    pub(super) result_limit: usize,
    /// How long an owner is told that a removed task expired.
    pub(super) tombstone_ms: u64,
    /// How many live tasks an owner may have.
    pub(super) max_tasks_of_owner: usize,
    /// How many live tasks there may be.
    pub(super) max_tasks: usize,
    /// How long a live task goes on when nobody asks about it.
    pub(super) abandon_ms: Option<u64>,
    /// How long a call that asks waits for its client to come back.
    pub(super) round_ms: u64,
    /// The lifetime of tasks whose tools say nothing about it.
    pub(super) default_ttl_ms: u64,
    /// The longest lifetime of a task.
    pub(super) max_ttl_ms: u64,
    pub(super) role: Role,
    /// How many bodies run here at once.
    pub(super) max_running: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease_ms: 30_000,
            // Half of what a store waits for its file at least: a process that is started while this one ends gets it.
            shutdown_grace_ms: 1_000,
            expired_retention_ms: 60_000,
            poll_ms: None,
            // A supervisor that gives a service up after five starts in a row sees the fifth one stay.
            max_attempts: 5,
            result_limit: 16 * 1024 * 1024,
            tombstone_ms: 3_600_000,
            max_tasks_of_owner: 10_000,
            max_tasks: 100_000,
            abandon_ms: None,
            round_ms: 600_000,
            default_ttl_ms: HOUR_MS,
            max_ttl_ms: LONGEST_MS,
            role: Role::Both,
            max_running: 10_000,
        }
    }
}

/// What is done to the result of a tool before it is kept or given out.
pub(super) type FinishResult = Box<dyn Fn(CallToolResult) -> CallToolResult + Send + Sync>;

pub(crate) struct Core {
    pub(super) store: Arc<dyn DynStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Box<dyn Ids>,
    pub(super) finish_result: FinishResult,
    /// In the order of registration.
    pub(super) tools: Vec<Arc<Tool>>,
    pub(super) worker: String,
    pub(super) settings: Settings,
    pub(super) running: Mutex<Running>,
    /// The number of runs, for those who wait until there is none.
    pub(super) count: watch::Sender<usize>,
    pub(super) closing: watch::Sender<bool>,
    /// Whether the store was given back.
    pub(super) ended: watch::Sender<bool>,
    pub(super) timer: Arc<Notify>,
    /// When the timer wakes by itself.
    pub(super) next_wake: AtomicI64,
    /// When leases have to be renewed, if there are any.
    pub(super) heartbeat_at: AtomicI64,
    pub(super) beat: Arc<Notify>,
    /// When the task that renews leases wakes by itself.
    pub(super) next_beat: AtomicI64,
    /// Held by whoever takes up tasks.
    pub(super) recovering: tokio::sync::Mutex<()>,
    pub(super) census: Census,
}

/// The runs of this process.
#[derive(Default)]
pub(super) struct Running {
    pub(super) runs: BTreeMap<TaskId, Arc<Run>>,
    /// What was claimed and is not run yet.
    pub(super) taking: BTreeSet<TaskId>,
    /// How many bodies are about to run.
    pub(super) promised: usize,
    /// Whether there was no room for some task.
    pub(super) is_waited_for: bool,
    pub(super) closed: bool,
    /// Whether the store is given back, whatever still runs.
    pub(super) abandoned: bool,
}

impl Running {
    /// How many bodies run or are about to.
    pub(super) fn bodies(&self) -> usize {
        self.runs.len() + self.promised
    }

    /// Whether nothing has a lease.
    pub(super) fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.taking.is_empty()
    }

    /// Whether nothing here will ever have a lease again that has to be renewed.
    pub(super) fn is_over(&self) -> bool {
        self.abandoned || (self.closed && self.is_idle())
    }
}

/// Why an event was not written.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// It cannot happen to the task.
    Illegal(IllegalTransition),
    /// The task is gone.
    Gone,
    /// The store failed.
    Store(StoreError),
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal(illegal) => illegal.fmt(f),
            Self::Gone => f.write_str("the task is gone"),
            Self::Store(_) => f.write_str("the store failed"),
        }
    }
}

impl StdError for Unwritten {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Illegal(_) | Self::Gone => None,
            Self::Store(err) => Some(err),
        }
    }
}

impl Core {
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.iter().find(|tool| tool.definition.name() == name)
    }

    pub(super) fn running(&self) -> MutexGuard<'_, Running> {
        // No code that can panic runs while the table is half changed.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a run into the table, where it has room, so that whatever happens to its task from now on reaches it.
    pub(super) fn register(
        self: &Arc<Self>,
        run: Arc<Run>,
        room: &mut Room,
    ) -> Result<Registration, EngineError> {
        let now = self.clock.now_millis();
        let id = run.id().clone();
        let mut running = self.running();
        if running.closed {
            return Err(EngineError::shutting_down());
        }
        self.expect_heartbeat(&running, now);
        room.use_one(&mut running);
        let overtaken = running.runs.insert(id, Arc::clone(&run));
        self.count_running(running.runs.len());
        drop(running);
        if let Some(overtaken) = overtaken {
            // Nothing that runs here is taken up here; if it were, one body would have to go.
            overtaken.stop(InterruptedKind::LeaseLost);
        }
        self.wake_heartbeat();
        Ok(Registration { core: Arc::clone(self), run })
    }

    fn count_running(&self, bodies: usize) {
        #[cfg(feature = "metrics")]
        super::meter::running(bodies);
        // Waking nobody costs as much as waking somebody.
        self.count.send_if_modified(|count| {
            *count = bodies;
            self.count.receiver_count() > 0
        });
    }

    pub(super) fn wake_timer_by(&self, deadline: i64) {
        if deadline < self.next_wake.load(Ordering::SeqCst) {
            self.timer.notify_one();
        }
    }

    /// Makes a written record known in this process.
    pub(super) fn announce(&self, record: &SharedRecord) {
        let run = self.running().runs.get(&record.id).cloned();
        if let Some(run) = run {
            run.publish(record);
        }
        if let Some(due) = record.due_millis() {
            self.wake_timer_by(due);
        }
    }

    /// Lets happen to a task what is decided on the record, starting from what is known of it; nothing happens where
    /// nothing is decided. This is the only way in which the engine changes a record, and whoever loses a race decides
    /// again on what the winner wrote. A write whose answer is lost is looked for once.
    pub(super) async fn transition_with<E: From<Unwritten>>(
        &self,
        mut known: SharedRecord,
        mut decide: impl FnMut(&TaskRecord) -> Result<Option<Event>, E> + Send,
    ) -> Result<SharedRecord, E> {
        let mut unsure = None;
        loop {
            match self.write_with(known, &mut unsure, &mut decide).await? {
                Written::Done(record) => return Ok(record),
                Written::Failed(before, err) => match self.store.load(&before.id, Parts::Head).await {
                    Ok(Some(found)) if found.version > before.version => {
                        if let Some(done) = self.done(unsure.as_ref(), &found) {
                            return Ok(done);
                        }
                        known = found;
                    }
                    Ok(None) => return Err(Unwritten::Gone.into()),
                    Ok(Some(_)) | Err(_) => return Err(Unwritten::Store(err).into()),
                },
            }
        }
    }

    /// The same up to a failure of the store. A write that may have been done is left in `unsure`, and recognized when
    /// it is met in the store: it is no other one's.
    async fn write_with<E: From<Unwritten>>(
        &self,
        mut known: SharedRecord,
        unsure: &mut Option<TaskRecord>,
        decide: &mut (impl FnMut(&TaskRecord) -> Result<Option<Event>, E> + Send),
    ) -> Result<Written, E> {
        let mut retry = Retry::new(Patience::Short);
        loop {
            let Some(event) = decide(&known)? else { return Ok(Written::Done(known)) };
            let now = self.now();
            let next = apply(&known, event, &now).map_err(Unwritten::Illegal)?;
            if next.version == known.version {
                return Ok(Written::Done(known));
            }
            match self.store.replace(next, known.version).await {
                Ok(written) => {
                    #[cfg(feature = "metrics")]
                    super::meter::changed(&known, &written);
                    self.announce(&written);
                    return Ok(Written::Done(written));
                }
                Err(err) if err.kind() == StoreErrorKind::Conflict => {}
                Err(err) if err.kind() == StoreErrorKind::NotFound => return Err(Unwritten::Gone.into()),
                Err(err) => {
                    if err.kind() == StoreErrorKind::Unavailable
                        && let Some(event) = decide(&known)?
                    {
                        *unsure = apply(&known, event, &now).ok();
                    }
                    return Ok(Written::Failed(known, err));
                }
            }
            let found = match self.store.load(&known.id, Parts::Head).await {
                Ok(found) => found.ok_or(Unwritten::Gone)?,
                Err(err) => return Ok(Written::Failed(known, err)),
            };
            if let Some(done) = self.done(unsure.as_ref(), &found) {
                return Ok(Written::Done(done));
            }
            if found.version <= known.version {
                // What was refused is older than what can be read.
                if let Err(err) = retry.after(self, not_seen(known.id.as_str())).await {
                    return Ok(Written::Failed(known, err));
                }
            } else {
                known = found;
            }
        }
    }

    /// The record, if it is what was written before without an answer.
    fn done(&self, unsure: Option<&TaskRecord>, found: &SharedRecord) -> Option<SharedRecord> {
        let done = unsure.is_some_and(|unsure| is_same_write(unsure, found));
        if done {
            self.announce(found);
        }
        done.then(|| Arc::clone(found))
    }

    /// The same for an event that does not depend on the record.
    pub(super) async fn transition(
        &self,
        known: SharedRecord,
        event: Event,
    ) -> Result<SharedRecord, Unwritten> {
        self.transition_with(known, |_| Ok(Some(event.clone()))).await
    }

    /// The same for a body, or for its end, which wait for a store that fails for a while.
    pub(super) async fn transition_surely(
        &self,
        known: SharedRecord,
        event: Event,
        patience: Patience<'_>,
    ) -> Result<SharedRecord, Unwritten> {
        self.transition_surely_with(known, |_| Some(event.clone()), patience).await
    }

    /// The same for an event that depends on the record.
    pub(super) async fn transition_surely_with(
        &self,
        known: SharedRecord,
        decide: impl Fn(&TaskRecord) -> Option<Event> + Send + Sync,
        patience: Patience<'_>,
    ) -> Result<SharedRecord, Unwritten> {
        let mut retry = Retry::new(patience);
        let mut unsure = None;
        let mut decide = |record: &TaskRecord| Ok::<_, Unwritten>(decide(record));
        let mut known = known;
        loop {
            match self.write_with(known, &mut unsure, &mut decide).await {
                Ok(Written::Done(record)) => return Ok(record),
                Ok(Written::Failed(before, err)) => {
                    known = before;
                    retry.after(self, err).await.map_err(Unwritten::Store)?;
                }
                Err(unwritten) => return Err(unwritten),
            }
        }
    }

    /// A tool's result as it is kept and sent, or what is said if there can be none.
    pub(super) fn full_result(&self, result: CallToolResult) -> Result<RawObject, String> {
        // What finishes results is not ours.
        let full = caught_at_once("finishing a result", || RawObject::new(&(self.finish_result)(result)));
        let full = full.ok_or_else(|| "the result could not be finished".to_owned())?;
        full.map_err(|err| format!("the result cannot be written: {err}"))
    }

    /// Whether something of this size can be kept and sent, or what is said if not.
    pub(super) fn check_size(&self, what: &str, size: usize) -> Result<(), String> {
        let limit = self.settings.result_limit;
        if size <= limit {
            return Ok(());
        }
        Err(format!("the {what} of {size} bytes is larger than the limit of {limit} bytes"))
    }

    pub(super) fn lease(&self, token: u64) -> record::Lease {
        record::Lease::new(&self.worker, after(&self.now(), self.settings.lease_ms), token)
    }
}

/// What became of a write.
enum Written {
    Done(SharedRecord),
    /// The store failed on what was known by then.
    Failed(SharedRecord, StoreError),
}

/// Whether the record is what was to be written. Trying again changes the times of a write, and renewing a lease
/// changes nothing else.
fn is_same_write(wanted: &TaskRecord, found: &TaskRecord) -> bool {
    let mut found = found.clone().into_parts().0;
    if found.lease.as_ref().map(|lease| lease.token) == wanted.lease.as_ref().map(|lease| lease.token) {
        found.lease.clone_from(&wanted.lease);
    }
    found.last_updated_at.clone_from(&wanted.last_updated_at);
    if found.finished_at.is_some() && wanted.finished_at.is_some() {
        found.finished_at.clone_from(&wanted.finished_at);
    }
    found == wanted.clone().into_parts().0
}

/// How long a failing store is tried again.
#[derive(Clone, Copy)]
pub(super) enum Patience<'a> {
    /// A few seconds.
    Short,
    /// As long as the run may go on: what its body says is not given up for a store that comes back.
    While(&'a Run),
    /// As long as the engine is there: the end of a run must not get lost.
    Endless,
}

/// Trying again, at growing distances.
pub(super) struct Retry<'a> {
    patience: Patience<'a>,
    wait_ms: u64,
}

impl<'a> Retry<'a> {
    pub(super) fn new(patience: Patience<'a>) -> Self {
        Self { patience, wait_ms: 10 }
    }

    /// Waits before the next try, or gives the error back when there shall be none.
    pub(super) async fn after(&mut self, core: &Core, err: StoreError) -> Result<(), StoreError> {
        let patient = match self.patience {
            Patience::Short => self.wait_ms < 5_000,
            Patience::While(run) => run.interruption().is_none(),
            Patience::Endless => self.wait_ms < 5_000 || !*core.closing.borrow(),
        };
        if !patient || err.kind() != StoreErrorKind::Unavailable {
            return Err(err);
        }
        tracing::warn!(error = with_causes(&err), "the store failed, trying again");
        let sleep = core.clock.sleep_until(&after(&core.now(), self.wait_ms));
        match self.patience {
            Patience::While(run) => tokio::select! {
                biased;
                _ = run.stopped() => return Err(err),
                () = sleep => {}
            },
            Patience::Short | Patience::Endless => sleep.await,
        }
        self.wait_ms = (self.wait_ms * 3).min(30_000);
        Ok(())
    }
}

/// A run's place in the table, given up when the run is over, however it ends.
pub(super) struct Registration {
    core: Arc<Core>,
    run: Arc<Run>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut running = self.core.running();
        let id = self.run.id();
        if running.runs.get(id).is_some_and(|run| Arc::ptr_eq(run, &self.run)) {
            running.runs.remove(id);
        }
        let left = running.runs.len();
        if running.is_over() {
            self.core.beat.notify_one();
        }
        self.core.count_running(left);
        if std::mem::take(&mut running.is_waited_for) {
            // There is work that nobody had room for.
            self.core.timer.notify_one();
        }
    }
}
