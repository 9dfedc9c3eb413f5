//! What may happen to a task, and what it becomes: a pure function from record and event to record.
//!
//! Every rule about transitions, keys, cancelling, expiry, fencing and finality stands here and nowhere else. Nothing
//! here reads a clock, touches a store or knows a message.

use std::fmt;

use mcp_tasks_types::v2026_07_28::ErrorCode;
use mcp_tasks_types::{RawJson, RawObject, Timestamp};

use crate::clock::after;
use crate::record::{
    CancelRecord, ErrorRecord, InputRecord, InputState, LONGEST_MS, Lease, OUTSIDE_TOKEN, Parked, Progress,
    State, TaskRecord,
};

/// What a task tells about which nobody asked any more.
pub(crate) const ABANDONED_MESSAGE: &str = "Nobody asked about the task any more";

/// What an expired task tells.
pub(crate) const EXPIRED_MESSAGE: &str = "Task expired";

/// The code of a fault that is not the caller's.
pub(crate) const INTERNAL_ERROR: i64 = ErrorCode::InternalError.code();

/// Something that happens to a task.
///
/// Events that carry a `token` come from the worker that holds the lease; under an older token they are refused. Those
/// who do the work of a task outside have [`OUTSIDE_TOKEN`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The body says where it stands.
    Status {
        /// The worker's fencing token.
        token: u64,
        /// A sentence for people.
        message: String,
    },
    /// The body says how far it is. Less than before is not noted.
    Progress {
        /// The worker's fencing token.
        token: u64,
        /// How far.
        progress: Progress,
        /// A sentence for people; the status says the same then.
        message: Option<String>,
    },
    /// The body asks questions.
    Ask {
        /// The worker's fencing token.
        token: u64,
        /// The questions, under keys that were never used before.
        inputs: Vec<InputRecord>,
    },
    /// The body does not want the answer any more.
    Withdraw {
        /// The worker's fencing token.
        token: u64,
        /// The question's key.
        key: String,
    },
    /// The client answers; what it sends for keys that are not outstanding is ignored.
    Answer {
        /// Validated answers by key.
        responses: Vec<(String, RawJson)>,
    },
    /// Somebody wants the task to stop.
    Cancel {
        /// Why, if told.
        reason: Option<String>,
    },
    /// The run is over.
    Finish {
        /// The worker's fencing token.
        token: u64,
        /// How it ended.
        outcome: Outcome,
    },
    /// An operator ends the task, whoever works on it.
    Force {
        /// How it ends.
        outcome: Outcome,
    },
    /// The lifetime is over.
    Expire {
        /// How long the failure stays readable.
        retain_ms: u64,
    },
    /// Nobody has asked about the task for too long.
    Abandon {
        /// How long the failure stays readable.
        retain_ms: u64,
    },
    /// The ended task is kept no longer; its owner hears for a while that there was one.
    Forget {
        /// How long.
        tombstone_ms: u64,
    },
    /// Somebody asks about the task. No client can see that.
    Seen,
    /// A worker takes the task up.
    Claim {
        /// Who.
        worker: String,
        /// How long the lease counts.
        until: Timestamp,
    },
    /// The worker that takes the task up finds steps that were recorded since this was last looked at.
    Headway {
        /// The worker's fencing token.
        token: u64,
        /// How many steps there are.
        steps: usize,
    },
    /// The worker hands the task back, unfinished.
    Release {
        /// The worker's fencing token.
        token: u64,
    },
    /// The worker puts the body away until the answers are there. Nothing happens when they are.
    Park {
        /// The worker's fencing token.
        token: u64,
    },
    /// The worker leaves the task to work that goes on outside.
    Leave {
        /// The worker's fencing token.
        token: u64,
    },
    /// The time for some answers is over.
    GiveUpWaiting,
    /// The body says how often a client should ask.
    PollInterval {
        /// The worker's fencing token.
        token: u64,
        /// Milliseconds.
        poll_interval_ms: u64,
    },
    /// The body lengthens the lifetime; it is never shortened.
    ExtendTtl {
        /// The worker's fencing token.
        token: u64,
        /// Milliseconds from creation.
        ttl_ms: u64,
    },
}

impl Event {
    /// The event's name, for messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Progress { .. } => "progress",
            Self::Ask { .. } => "ask",
            Self::Withdraw { .. } => "withdraw",
            Self::Answer { .. } => "answer",
            Self::Cancel { .. } => "cancel",
            Self::Finish { .. } => "finish",
            Self::Force { .. } => "force",
            Self::Expire { .. } => "expire",
            Self::Abandon { .. } => "abandon",
            Self::Forget { .. } => "forget",
            Self::Seen => "seen",
            Self::Claim { .. } => "claim",
            Self::Headway { .. } => "headway",
            Self::Release { .. } => "release",
            Self::Park { .. } => "park",
            Self::Leave { .. } => "leave",
            Self::GiveUpWaiting => "give up waiting",
            Self::PollInterval { .. } => "poll interval",
            Self::ExtendTtl { .. } => "extend ttl",
        }
    }

    fn token(&self) -> Option<u64> {
        match self {
            Self::Status { token, .. }
            | Self::Progress { token, .. }
            | Self::Ask { token, .. }
            | Self::Withdraw { token, .. }
            | Self::Finish { token, .. }
            | Self::Headway { token, .. }
            | Self::Release { token }
            | Self::Park { token }
            | Self::Leave { token }
            | Self::PollInterval { token, .. }
            | Self::ExtendTtl { token, .. } => Some(*token),
            Self::Answer { .. }
            | Self::Cancel { .. }
            | Self::Expire { .. }
            | Self::Abandon { .. }
            | Self::Forget { .. }
            | Self::Seen
            | Self::Force { .. }
            | Self::Claim { .. }
            | Self::GiveUpWaiting => None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a fourth kind of end must not compile until every place handles it"
)]
pub enum Outcome {
    /// With a result, possibly one that tells of an error of the tool.
    Completed {
        /// What the request would have been answered with.
        result: RawObject,
    },
    /// With a protocol error.
    Failed {
        /// That error.
        error: ErrorRecord,
        /// What people are told.
        message: String,
    },
    /// By giving up on purpose.
    Cancelled {
        /// What people are told.
        message: String,
    },
}

/// An event that cannot happen to the task as it is. A normal value for a writer that comes too late.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IllegalTransition {
    /// The status that the task has.
    pub from: &'static str,
    /// The event that came.
    pub event: &'static str,
    /// Why it cannot happen.
    pub reason: IllegalReason,
}

/// Why an event cannot happen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IllegalReason {
    /// The task has ended; the first end stays for ever.
    Terminal,
    /// The worker's lease was lost to another one.
    Fenced,
    /// Somebody works on the task already.
    Leased,
    /// Nobody has to work on the task.
    Parked,
    /// The task is about to be cancelled.
    Cancelling,
    /// The key was used before.
    KeyUsed(String),
    /// The lifetime is not over, or somebody asked not long ago.
    NotDue,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, event, reason } = self;
        write!(f, "`{event}` cannot happen to a task that is `{from}`: ")?;
        match reason {
            IllegalReason::Terminal => f.write_str("it has ended"),
            IllegalReason::Fenced => f.write_str("the lease was lost"),
            IllegalReason::Leased => f.write_str("another worker holds the lease"),
            IllegalReason::Parked => f.write_str("it waits"),
            IllegalReason::Cancelling => f.write_str("it is being cancelled"),
            IllegalReason::KeyUsed(key) => write!(f, "the key `{key}` was used before"),
            IllegalReason::NotDue => f.write_str("its time is not over"),
        }
    }
}

impl std::error::Error for IllegalTransition {}

/// Applies an event.
///
/// The version of the record that comes back has grown if anything changed and is the same if nothing did, as with a
/// second cancel or an answer that nobody waits for; then there is nothing to write.
///
/// # Errors
///
/// When the event cannot happen to the task as it is.
pub fn apply(record: &TaskRecord, event: Event, now: &Timestamp) -> Result<TaskRecord, IllegalTransition> {
    let illegal =
        |event: &Event, reason| IllegalTransition { from: record.state.name(), event: event.name(), reason };
    if record.state.is_terminal() {
        return match event {
            // Whoever asks for these cannot know that they come too late, and nothing is lost (C-65, C-73).
            Event::Answer { .. } | Event::Cancel { .. } | Event::Seen => Ok(record.clone()),
            Event::Forget { .. } if record.forgotten_at.is_none() && !record.is_due(now.unix_millis()) => {
                Err(illegal(&event, IllegalReason::NotDue))
            }
            Event::Forget { tombstone_ms } if record.forgotten_at.is_none() => {
                Ok(record.tombstone(after(now, tombstone_ms)))
            }
            _ => Err(illegal(&event, IllegalReason::Terminal)),
        };
    }
    if let Some(token) = event.token()
        && !speaks_for(record, token)
    {
        return Err(illegal(&event, IllegalReason::Fenced));
    }
    let mut next = Draft { record: record.clone(), now };
    let changed = match event {
        Event::Status { message, .. } => next.status(message),
        Event::Progress { progress, message, .. } => next.progress(progress, message),
        Event::Ask { ref inputs, .. } => next.ask(inputs).map_err(|reason| illegal(&event, reason))?,
        Event::Withdraw { key, .. } => next.withdraw(&key),
        Event::Answer { responses } => next.answer(responses),
        Event::Cancel { reason } => next.cancel(reason),
        Event::Finish { outcome, .. } | Event::Force { outcome } => next.finish(outcome),
        Event::Expire { retain_ms } if record.is_over(now.unix_millis()) => {
            next.fail_by_itself(EXPIRED_MESSAGE, retain_ms)
        }
        Event::Abandon { retain_ms } if record.is_abandoned(now.unix_millis()) => {
            next.fail_by_itself(ABANDONED_MESSAGE, retain_ms)
        }
        Event::Seen => next.seen(),
        Event::Expire { .. } | Event::Abandon { .. } | Event::Forget { .. } => {
            return Err(illegal(&event, IllegalReason::NotDue));
        }
        Event::Claim { .. } if record.is_leased(now) => return Err(illegal(&event, IllegalReason::Leased)),
        Event::Claim { .. } if record.parked.is_some() => return Err(illegal(&event, IllegalReason::Parked)),
        Event::Claim { worker, until } => next.claim(worker, until),
        Event::Headway { steps, .. } => next.headway(steps),
        Event::Release { .. } => next.release(),
        Event::Park { .. } => next.park(),
        Event::Leave { .. } => next.leave(),
        Event::GiveUpWaiting => next.give_up_waiting(),
        Event::PollInterval { poll_interval_ms, .. } => next.poll_interval(poll_interval_ms),
        Event::ExtendTtl { ttl_ms, .. } => next.extend_ttl(ttl_ms),
    };
    if changed {
        next.record.version += 1;
    }
    Ok(next.record)
}

/// Whether whoever has the token may change the task: the worker with the lease, or outside work that it was left to.
fn speaks_for(record: &TaskRecord, token: u64) -> bool {
    match &record.lease {
        Some(lease) => lease.token == token,
        None => record.parked == Some(Parked::Outside) && token == OUTSIDE_TOKEN,
    }
}

impl CancelRecord {
    /// What the cancelled task says.
    pub(crate) fn message(&self) -> String {
        self.reason.clone().unwrap_or_else(|| "The task was cancelled.".to_owned())
    }
}

/// The record on its way. Each method says whether it changed anything.
struct Draft<'a> {
    record: TaskRecord,
    now: &'a Timestamp,
}

impl Draft<'_> {
    /// Notes that a client can see a change. A clock that was set back does not reach the record (C-10).
    fn touch(&mut self) {
        if self.record.last_updated_at < *self.now {
            self.record.last_updated_at = self.now.clone();
        }
    }

    fn status(&mut self, message: String) -> bool {
        if self.record.status_message.as_deref() == Some(message.as_str()) {
            return false;
        }
        self.record.status_message = Some(message);
        self.touch();
        true
    }

    fn progress(&mut self, mut progress: Progress, message: Option<String>) -> bool {
        let before = self.record.progress.as_ref();
        let is_further = before.is_none_or(|before| before.progress < progress.progress);
        // What is no number has no form in a record either.
        if !is_further || !progress.progress.is_finite() {
            return false;
        }
        progress.total = progress.total.filter(|total| total.is_finite());
        self.record.progress = Some(progress);
        // Only the message is something that a client can see.
        if let Some(message) = message {
            self.status(message);
        }
        true
    }

    fn ask(&mut self, inputs: &[InputRecord]) -> Result<bool, IllegalReason> {
        if self.record.cancel.is_some() {
            return Err(IllegalReason::Cancelling);
        }
        for input in inputs {
            if self.record.input(&input.key).is_some() {
                return Err(IllegalReason::KeyUsed(input.key.clone()));
            }
            self.record.inputs.push(InputRecord { state: InputState::Outstanding, ..input.clone() });
        }
        if inputs.is_empty() {
            return Ok(false);
        }
        if self.record.state == State::Working {
            self.record.headway.asked = self.record.attempt;
        }
        self.record.state = State::InputRequired;
        self.touch();
        Ok(true)
    }

    fn withdraw(&mut self, key: &str) -> bool {
        let changed = self.settle(key, InputState::Withdrawn);
        if changed && self.record.state == State::Working {
            // Attempts that began while it waited do not count.
            let headway = &mut self.record.headway;
            let waited = self.record.attempt.saturating_sub(headway.asked);
            headway.attempt = headway.attempt.saturating_add(waited).min(self.record.attempt);
        }
        changed
    }

    fn answer(&mut self, responses: Vec<(String, RawJson)>) -> bool {
        let mut changed = false;
        for (key, response) in responses {
            changed |= self.settle(&key, InputState::Answered { response });
        }
        if changed {
            self.come_further();
        }
        changed
    }

    /// Closes one outstanding question; the task works again when it was the last one.
    fn settle(&mut self, key: &str, state: InputState) -> bool {
        let outstanding =
            |input: &&mut InputRecord| input.key == key && input.state == InputState::Outstanding;
        let Some(input) = self.record.inputs.iter_mut().find(outstanding) else {
            return false;
        };
        input.state = state;
        if self.record.outstanding().next().is_none() {
            self.record.state = State::Working;
            // A body that was put away is wanted again.
            self.record.parked = self.record.parked.filter(|parked| *parked != Parked::Asking);
        }
        self.touch();
        true
    }

    fn give_up_waiting(&mut self) -> bool {
        let over = |input: &&InputRecord| input.expires_at.as_ref().is_some_and(|end| end <= self.now);
        let keys: Vec<String> =
            self.record.outstanding().filter(over).map(|input| input.key.clone()).collect();
        let mut changed = false;
        for key in keys {
            changed |= self.settle(&key, InputState::Expired);
        }
        if changed {
            self.come_further();
        }
        changed
    }

    /// Puts the body away if it still waits.
    fn park(&mut self) -> bool {
        let waits = self.record.state == State::InputRequired;
        if waits {
            self.record.lease = None;
            self.record.parked = Some(Parked::Asking);
            self.record.headway.attempt = self.record.attempt;
        }
        waits
    }

    fn leave(&mut self) -> bool {
        self.record.lease = None;
        self.record.parked = Some(Parked::Outside);
        true
    }

    fn poll_interval(&mut self, poll_interval_ms: u64) -> bool {
        let wanted = Some(poll_interval_ms.clamp(1, LONGEST_MS));
        let changed = self.record.poll_interval_ms != wanted;
        if changed {
            self.record.poll_interval_ms = wanted;
            self.touch();
        }
        changed
    }

    /// A task without a limit stays without one (C-39).
    fn extend_ttl(&mut self, ttl_ms: u64) -> bool {
        let ttl_ms = ttl_ms.min(LONGEST_MS);
        let longer = self.record.ttl_ms.is_some_and(|before| ttl_ms > before);
        if longer {
            self.record.ttl_ms = Some(ttl_ms);
            self.touch();
        }
        longer
    }

    fn cancel(&mut self, reason: Option<String>) -> bool {
        let first = self.record.cancel.is_none();
        let cancel = self.record.cancel.get_or_insert_with(|| CancelRecord { at: self.now.clone(), reason });
        let message = cancel.message();
        // Nobody has to be asked when the body waits or when there is none (S-17).
        if self.record.state == State::InputRequired || !self.record.is_leased(self.now) {
            return self.finish(Outcome::Cancelled { message });
        }
        if first {
            self.touch();
        }
        first
    }

    fn finish(&mut self, outcome: Outcome) -> bool {
        let (state, message) = match outcome {
            // What the body last said about its work is no longer true of a result (P020).
            Outcome::Completed { result } => (State::Completed { result }, None),
            Outcome::Failed { error, message } => (State::Failed { error }, Some(message)),
            Outcome::Cancelled { message } => (State::Cancelled, Some(message)),
        };
        self.touch();
        self.record.state = state;
        self.record.status_message = message;
        self.record.finished_at = Some(self.record.last_updated_at.clone());
        self.record.lease = None;
        self.record.parked = None;
        for input in &mut self.record.inputs {
            if input.state == InputState::Outstanding {
                input.state = InputState::Withdrawn;
            }
        }
        true
    }

    fn fail_by_itself(&mut self, message: &str, retain_ms: u64) -> bool {
        self.record.retain_ms = Some(self.record.retain_ms.unwrap_or(0).max(retain_ms));
        let error = ErrorRecord::new(INTERNAL_ERROR, message);
        self.finish(Outcome::Failed { error, message: message.to_owned() })
    }

    fn seen(&mut self) -> bool {
        let later = self.record.seen_at.as_ref().is_none_or(|seen_at| *seen_at < *self.now);
        let changed = later && self.record.abandon_ms.is_some();
        if changed {
            self.record.seen_at = Some(self.now.clone());
        }
        changed
    }

    fn claim(&mut self, worker: String, until: Timestamp) -> bool {
        self.record.fence += 1;
        self.record.attempt += 1;
        self.record.lease = Some(Lease { worker, until, token: self.record.fence });
        true
    }

    fn headway(&mut self, steps: usize) -> bool {
        let more = steps > self.record.headway.steps;
        if more {
            self.record.headway.steps = steps;
            self.come_further();
        }
        more
    }

    /// The present attempt is the first one that counts.
    fn come_further(&mut self) {
        let headway = &mut self.record.headway.attempt;
        *headway = self.record.attempt.saturating_sub(1).max(*headway);
    }

    fn release(&mut self) -> bool {
        self.record.lease = None;
        // Its process was told to end and did.
        self.record.headway.attempt = self.record.attempt;
        match self.record.cancel.as_ref().map(CancelRecord::message) {
            // The wish is not handed over.
            Some(message) => self.finish(Outcome::Cancelled { message }),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests;
