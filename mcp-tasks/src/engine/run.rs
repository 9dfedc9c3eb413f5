//! One run of a body: what it knows of its task, and whether it may go on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use super::birth::{Birth, Stage};
use super::caller::SharedCaller;
use super::core::{Core, Patience, Retry, Tool, Unwritten};
use super::limits::Place;
use super::storing::not_seen;
use super::watched::Watched;
use crate::clock::{after, until};
use crate::error::{Interrupted, InterruptedKind, with_causes};
use crate::lifecycle::{Event, IllegalReason, apply};
use crate::record::{InputRecord, InputState, SharedRecord, StepRecord, TaskRecord, Visibility};
use crate::store::{Parts, StoreError, StoreErrorKind};

/// How long a body's progress is not written again: each time is a write of the record.
const PROGRESS_PAUSE_MS: i64 = 250;

/// One run of a body.
pub(crate) struct Run {
    core: Arc<Core>,
    tool: Arc<Tool>,
    id: TaskId,
    /// None for an ordinary call, which has no record.
    token: Option<u64>,
    signal: Watched<Signal>,
    /// What the run itself did wrong.
    fault: OnceLock<Fault>,
    birth: Birth,
    /// How many questions are on their way into the record.
    asking: Watched<usize>,
    replay: Mutex<Replay>,
    is_looked_at: AtomicBool,
    /// Who waits for the answer of the call, or did.
    caller: Mutex<Option<SharedCaller>>,
}

/// What a run did wrong.
#[derive(Debug)]
pub(super) enum Fault {
    /// The task fails with this.
    Failed(String),
    /// It asked where nobody can be asked.
    CannotAsk,
}

/// What this process last knew, and whether the run is over. The first reason to stop stays.
struct Signal {
    record: SharedRecord,
    stop: Option<InterruptedKind>,
}

/// Names used so far in this run, and what earlier runs recorded and this one has not come to yet.
#[derive(Default)]
struct Replay {
    steps: BTreeMap<String, StepRecord>,
    keys: BTreeSet<String>,
    used_steps: BTreeMap<String, u32>,
    used_keys: BTreeMap<String, u32>,
    /// Whether the run has done something new, after which what is left of the record may never come.
    past: bool,
    /// How far this run said that it is.
    done: Option<f64>,
    /// Until when no progress is written.
    progress_pause_ends: Option<i64>,
}

impl Run {
    /// The run of a task, with the whole record, under the lease that it has.
    pub(super) fn of_task(core: Arc<Core>, tool: Arc<Tool>, record: SharedRecord) -> Arc<Self> {
        let token = record.lease.as_ref().map_or(0, |lease| lease.token);
        let steps = record.steps.iter().map(|step| (step.name.clone(), step.clone())).collect();
        let asked = record.inputs.iter().filter(|input| input.state != InputState::Withdrawn);
        // What was answered before the task began, no run has asked.
        let asked = asked.filter(|input| !tool.definition.asks_before_task(&input.key));
        let keys = asked.map(|input| input.key.clone()).collect();
        let mut run = Self::new(core, tool, record);
        run.token = Some(token);
        run.replay = Mutex::new(Replay { steps, keys, ..Replay::default() });
        Arc::new(run)
    }

    /// The run of a task that is not stored yet, and may end before it is.
    pub(super) fn of_unborn_task(
        core: Arc<Core>,
        tool: Arc<Tool>,
        record: TaskRecord,
        place: Place,
    ) -> Arc<Self> {
        let token = record.lease.as_ref().map_or(0, |lease| lease.token);
        let mut run = Self::new(core, tool, Arc::new(record));
        run.token = Some(token);
        run.birth = Birth::awaited(place);
        Arc::new(run)
    }

    /// The run of an ordinary call.
    pub(super) fn of_call(core: Arc<Core>, tool: Arc<Tool>, record: TaskRecord) -> Arc<Self> {
        Arc::new(Self::new(core, tool, Arc::new(record)))
    }

    fn new(core: Arc<Core>, tool: Arc<Tool>, record: SharedRecord) -> Self {
        let id = record.id.clone();
        let signal = Watched::new(Signal { record, stop: None });
        let (fault, birth) = (OnceLock::new(), Birth::over());
        let asking = Watched::new(0);
        let (replay, caller) = (Mutex::default(), Mutex::default());
        let is_looked_at = AtomicBool::new(false);
        Self { core, tool, id, token: None, signal, fault, birth, asking, replay, is_looked_at, caller }
    }

    /// Has the body be heard by whoever waits for its call now.
    pub(super) fn answers_to(&self, caller: Option<SharedCaller>) {
        *self.caller.lock().unwrap_or_else(PoisonError::into_inner) = caller;
    }

    pub(crate) fn caller(&self) -> Option<SharedCaller> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Who hears what the body tells: whoever waits for a call that is no task (C-87).
    pub(crate) fn listener(&self) -> Option<SharedCaller> {
        let is_task = self.token.is_some() && !self.is_call() && !self.birth.is_pending();
        if is_task { None } else { self.caller() }
    }

    pub(crate) fn id(&self) -> &TaskId {
        &self.id
    }

    pub(crate) fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(crate) fn token(&self) -> Option<u64> {
        self.token
    }

    /// Notes whether somebody tries to bring what is stored to the run, and gives whether that was so before.
    pub(super) fn is_looked_at(&self, now: bool) -> bool {
        self.is_looked_at.swap(now, Ordering::SeqCst)
    }

    pub(super) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The token under which the body speaks about its task; none for a call that is no task, of which nobody hears.
    pub(crate) fn task_token(&self) -> Option<u64> {
        self.token.filter(|_| !self.is_call())
    }

    /// Whether it is the run of a call that is no task, kept or not.
    pub(super) fn is_call(&self) -> bool {
        self.signal.read(|signal| signal.record.visibility == Visibility::Inline)
    }

    /// What this process last knew of the task.
    pub(crate) fn record(&self) -> SharedRecord {
        self.signal.read(|signal| Arc::clone(&signal.record))
    }

    /// Takes note of a newer record, and of what it means for the run.
    pub(super) fn publish(&self, record: &SharedRecord) {
        self.signal.change(|signal| {
            if record.version <= signal.record.version {
                return false;
            }
            signal.record = Arc::clone(record);
            signal.stop = signal.stop.or_else(|| self.reason_in(record));
            true
        });
    }

    fn reason_in(&self, record: &TaskRecord) -> Option<InterruptedKind> {
        if record.cancel.is_some() {
            Some(InterruptedKind::Cancelled)
        } else if record.state.is_terminal() {
            Some(InterruptedKind::Ended)
        } else if record.lease.as_ref().map(|lease| lease.token) != self.token {
            Some(InterruptedKind::LeaseLost)
        } else {
            None
        }
    }

    /// Learns that the task was claimed under another token, if it was.
    pub(super) fn is_overtaken(&self, record: &SharedRecord) -> bool {
        let overtaken = record.lease.as_ref().map(|lease| lease.token) != self.token;
        if overtaken {
            self.publish(record);
        }
        overtaken
    }

    /// Ends the run for a reason that is not in the record.
    pub(super) fn stop(&self, reason: InterruptedKind) {
        self.signal.change(|signal| {
            let first = signal.stop.is_none();
            signal.stop.get_or_insert(reason);
            first
        });
    }

    pub(crate) fn interruption(&self) -> Option<InterruptedKind> {
        self.signal.read(|signal| signal.stop)
    }

    pub(crate) fn checkpoint(&self) -> Result<(), Interrupted> {
        self.interruption().map_or(Ok(()), |kind| Err(Interrupted::new(kind)))
    }

    /// Waits until the run is over.
    pub(crate) async fn stopped(&self) -> Interrupted {
        match self.wait(|_| None::<std::convert::Infallible>).await {
            Err(interrupted) => interrupted,
            Ok(never) => match never {},
        }
    }

    /// Waits until the record has what is looked for, or the run is over.
    pub(crate) async fn wait<T>(&self, find: impl Fn(&TaskRecord) -> Option<T>) -> Result<T, Interrupted> {
        let waited = self.signal.wait(|signal| match signal.stop {
            Some(kind) => Some(Err(Interrupted::new(kind))),
            None => find(&signal.record).map(Ok),
        });
        waited.await
    }

    /// Ends the run because of what it did itself; the task fails and says so.
    pub(crate) fn fault(&self, message: String) -> Interrupted {
        self.fail_with(Fault::Failed(message))
    }

    /// Ends the run because there is nobody to ask.
    pub(crate) fn cannot_ask(&self) -> Interrupted {
        self.fail_with(Fault::CannotAsk)
    }

    fn fail_with(&self, fault: Fault) -> Interrupted {
        // Of several faults the first one tells what happened.
        let _ = self.fault.set(fault);
        self.stop(InterruptedKind::Fault);
        Interrupted::new(self.interruption().unwrap_or(InterruptedKind::Fault))
    }

    pub(super) fn found_fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// Fails the task over what is too large to be kept and sent.
    pub(crate) fn check_size(&self, what: &str, size: usize) -> Result<(), Interrupted> {
        self.core.check_size(what, size).map_err(|fault| self.fault(fault))
    }

    /// Stores the task if that has not been done.
    pub(super) async fn be_born(&self) -> Result<(), StoreError> {
        let Some(mut deciding) = self.birth.pending().await else { return Ok(()) };
        let Some(place) = deciding.as_mut() else { return Ok(()) };
        let mut record = TaskRecord::clone(&self.record());
        record.lease = Some(self.core.lease(record.fence));
        if self.is_call() {
            // How long the body worked before it asked is no part of how long it waits.
            record.created_at = self.core.now();
            record.last_updated_at = record.created_at.clone();
        }
        let stored = self.core.store_new(&record, place).await?;
        self.birth.decide(&mut deciding, Stage::Stored);
        self.core.created(&stored);
        Ok(())
    }

    pub(super) fn birth(&self) -> &Birth {
        &self.birth
    }

    async fn surely_born(&self) -> Result<(), Interrupted> {
        if self.is_call() && self.birth.is_pending() {
            // Nobody comes back to a call that was given up.
            self.checkpoint()?;
        }
        // Somebody waits for the answer to a call that is no task, and can call again.
        let patience = if self.is_call() { Patience::Short } else { Patience::While(self) };
        let mut retry = Retry::new(patience);
        while let Err(err) = self.be_born().await {
            if let Err(err) = retry.after(&self.core, err).await {
                self.core.see_to(&self.record(), false, &err);
                return Err(self.refused(Unwritten::Store(err)).await);
            }
        }
        Ok(())
    }

    /// Writes what the body says about its task.
    pub(crate) async fn emit(&self, event: Event) -> Result<(), Interrupted> {
        if matches!(event, Event::Status { .. } | Event::Progress { .. })
            && let Some(_deciding) = self.birth.pending().await
        {
            // What is said by then is part of the beginning.
            if let Ok(next) = apply(&self.record(), event, &self.core.now()) {
                self.publish(&Arc::new(next));
            }
            return self.checkpoint();
        }
        self.surely_born().await?;
        match self.core.transition_surely(self.record(), event, Patience::While(self)).await {
            Ok(_) => Ok(()),
            Err(refusal) => Err(self.refused(refusal).await),
        }
    }

    /// Asks questions under keys of their own, in a task of its own: a body that loses interest meanwhile finds them
    /// asked when it takes them back. They are asked all at once.
    pub(crate) fn ask(
        self: &Arc<Self>,
        token: u64,
        inputs: Vec<InputRecord>,
    ) -> JoinHandle<Result<(), Interrupted>> {
        let run = Arc::clone(self);
        let on_its_way = OnItsWay::new(self);
        let asking = async move {
            let _on_its_way = on_its_way;
            run.surely_born().await?;
            let decide = |record: &TaskRecord| {
                // Keys are used once, so these are these very questions: they were written and the answer got lost.
                let is_done = |input: &InputRecord| {
                    record.input(&input.key).is_some_and(|known| known.fingerprint == input.fingerprint)
                };
                (!inputs.iter().all(is_done)).then(|| Event::Ask { token, inputs: inputs.clone() })
            };
            match run.core.transition_surely_with(run.record(), decide, Patience::While(&run)).await {
                Ok(record) => {
                    run.publish(&record);
                    Ok(())
                }
                Err(refusal) => Err(run.refused(refusal).await),
            }
        };
        tokio::spawn(asking.in_current_span())
    }

    /// Waits until no question is on its way into the record.
    pub(super) async fn has_asked(&self) {
        self.asking.wait(|asking| (*asking == 0).then_some(())).await;
    }

    /// What a refused write means for the run.
    async fn refused(&self, refusal: Unwritten) -> Interrupted {
        match refusal {
            Unwritten::Illegal(illegal) => match illegal.reason {
                IllegalReason::KeyUsed(key) => return self.fault(format!("the key `{key}` was used before")),
                IllegalReason::Cancelling => self.stop(InterruptedKind::Cancelled),
                IllegalReason::Terminal => self.stop(InterruptedKind::Ended),
                _ => self.stop(InterruptedKind::LeaseLost),
            },
            Unwritten::Gone => self.stop(InterruptedKind::Ended),
            // The run was over before the store came back.
            Unwritten::Store(err)
                if err.kind() == StoreErrorKind::Unavailable && self.interruption().is_some() => {}
            Unwritten::Store(err) => {
                tracing::error!(task = %self.id, error = with_causes(&err), "the store failed");
                return self.fault("the store failed".to_owned());
            }
        }
        Interrupted::new(self.interruption().unwrap_or(InterruptedKind::Ended))
    }

    /// The longest lifetime that a task may be given.
    pub(crate) fn max_ttl_ms(&self) -> u64 {
        self.core.settings.max_ttl_ms
    }

    /// The time this many milliseconds from now.
    pub(crate) fn time_after(&self, millis: u64) -> Timestamp {
        after(&self.core.now(), millis)
    }

    /// What comes within the time, if it does.
    pub(crate) async fn within<T>(&self, millis: u64, work: impl Future<Output = T>) -> Option<T> {
        until(&*self.core.clock, &self.time_after(millis), work).await
    }

    fn replay(&self) -> std::sync::MutexGuard<'_, Replay> {
        self.replay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name under which a step is recorded: its own, with a number from the second time on. The sign before the
    /// number is doubled in the step's own name, so that a name that looks numbered is another one.
    pub(crate) fn use_step(&self, name: &str) -> String {
        numbered(&mut self.replay().used_steps, &name.replace('#', "##"))
    }

    /// What an earlier run recorded under this name, which is used once in a run.
    pub(crate) fn recorded_step(&self, name: &str) -> Option<StepRecord> {
        let mut replay = self.replay();
        let recorded = replay.steps.remove(name);
        replay.past |= recorded.is_none();
        recorded
    }

    /// Whether the body still does what an earlier run did before, so that the record is ahead of it.
    pub(crate) fn is_behind(&self) -> bool {
        let replay = self.replay();
        let left = !replay.steps.is_empty() || !replay.keys.is_empty();
        left && !replay.past
    }

    /// Whether it is more than what this run said before of its progress. It is what it said from now on.
    pub(crate) fn is_further(&self, done: f64) -> bool {
        let mut replay = self.replay();
        let further = replay.done.is_none_or(|before| before < done);
        if further {
            replay.done = Some(done);
        }
        further
    }

    /// Whether progress may be written again.
    pub(crate) fn may_write_progress(&self) -> bool {
        let now = self.core.clock.now_millis();
        let mut replay = self.replay();
        let may = replay.progress_pause_ends.is_none_or(|end| end <= now);
        if may {
            replay.progress_pause_ends = Some(now.saturating_add(PROGRESS_PAUSE_MS));
        }
        may
    }

    /// The key under which a question is asked: a question that was taken back is asked anew.
    pub(crate) fn use_key(&self, declared: &str) -> String {
        let record = self.record();
        let mut replay = self.replay();
        loop {
            let key = numbered(&mut replay.used_keys, declared);
            if record.input(&key).is_none_or(|input| input.state != InputState::Withdrawn) {
                let is_new = !replay.keys.remove(&key);
                // What was answered before the task began says nothing about where an earlier run was.
                replay.past |= is_new && !self.tool.definition.asks_before_task(&key);
                return key;
            }
        }
    }

    /// Records a step, durably.
    pub(crate) async fn record_step(&self, token: u64, step: StepRecord) -> Result<(), Interrupted> {
        if self.is_call()
            && let Some(_deciding) = self.birth.pending().await
        {
            // It is stored with the first question, if one comes.
            let mut record = TaskRecord::clone(&self.record());
            record.steps.push(step);
            record.version += 1;
            self.publish(&Arc::new(record));
            return self.checkpoint();
        }
        self.surely_born().await?;
        let mut retry = Retry::new(Patience::While(self));
        loop {
            let err = match self.core.store.append_step(&self.id, token, step.clone()).await {
                Ok(()) => return Ok(()),
                Err(err) => err,
            };
            let err = match err.kind() {
                StoreErrorKind::NotFound => return Err(self.refused(Unwritten::Gone).await),
                // The record tells why.
                StoreErrorKind::Conflict => match self.core.store.load(&self.id, Parts::Whole).await {
                    Ok(Some(record)) => match self.step_in_the_way(token, &step, &record) {
                        Some(known) => return known,
                        None => not_seen(&step.name),
                    },
                    Ok(None) => return Err(self.refused(Unwritten::Gone).await),
                    Err(err) => err,
                },
                _ => err,
            };
            if let Err(err) = retry.after(&self.core, err).await {
                return Err(self.refused(Unwritten::Store(err)).await);
            }
        }
    }

    /// What it means that a step could not be added to the record as it is. Nothing if the record does not say, as one
    /// that is older than what was refused.
    fn step_in_the_way(
        &self,
        token: u64,
        step: &StepRecord,
        record: &SharedRecord,
    ) -> Option<Result<(), Interrupted>> {
        if record.fence < token {
            return None;
        }
        if record.lease.as_ref().is_none_or(|lease| lease.token != token) {
            self.publish(record);
            // A record without news has another worker all the same.
            self.stop(InterruptedKind::LeaseLost);
            return Some(self.checkpoint());
        }
        // If it is this very step, it was written, and the answer got lost.
        let known = record.steps.iter().find(|known| known.name == step.name)?;
        if known == step {
            return Some(Ok(()));
        }
        Some(Err(self.fault(format!("the step `{}` is in the record with another value", step.name))))
    }
}

/// A question on its way into the record.
struct OnItsWay(Arc<Run>);

impl OnItsWay {
    fn new(run: &Arc<Run>) -> Self {
        run.asking.change(|asking| {
            *asking += 1;
            false
        });
        Self(Arc::clone(run))
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.asking.change(|asking| {
            *asking = asking.saturating_sub(1);
            *asking == 0
        });
    }
}

fn numbered(used: &mut BTreeMap<String, u32>, name: &str) -> String {
    let count = used.entry(name.to_owned()).or_insert(0);
    *count += 1;
    if *count == 1 { name.to_owned() } else { format!("{name}#{count}") }
}
