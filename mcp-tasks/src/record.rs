//! The task record: everything that is known about one task, and all that a store keeps.
//!
//! The record belongs to no wire generation and assumes nothing about the method that made it; `server` turns it into
//! messages. Its JSON form is ours alone: it is what stores write, it carries a format number, and a newer one is
//! refused rather than guessed at.

use std::sync::Arc;

use mcp_tasks_types::{RawJson, RawObject, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock::millis_after;
use crate::owner::Owner;

/// The format that this version writes; every older one can be read.
pub const FORMAT: u32 = 1;

/// The longest duration that is written, in milliseconds: the largest integer that every reader of JSON holds. A longer
/// one is not told from it by any of them.
pub(crate) const LONGEST_MS: u64 = (1 << 53) - 1;

/// Everything that is known about one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskRecord {
    /// The format of this record, [`FORMAT`] when we write it.
    pub format: u32,
    /// The id, minted by the engine.
    pub id: TaskId,
    /// Whose task it is.
    pub owner: Owner,
    /// The method of the original request.
    pub method: String,
    /// The original parameters; kept only if the task can be run again, or was not begun where it
    /// was created. Written once, at insertion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<RawObject>,
    /// Digest of the original parameters, kept also where they are not.
    pub params_digest: String,
    /// What the tool was when the task began.
    pub tool: ToolFingerprint,
    /// The wire generation that the task was made in.
    pub generation: Generation,
    /// Whether the client holds a handle of it.
    pub visibility: Visibility,
    /// The status with what belongs to it.
    pub state: State,
    /// A sentence for people about where the task stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// How far the work has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The trace that the call is a part of.
    #[serde(default, skip_serializing_if = "TraceContext::is_none")]
    pub trace: TraceContext,
    /// When the task was made.
    pub created_at: Timestamp,
    /// When anything that a client can see last changed; never goes back.
    pub last_updated_at: Timestamp,
    /// When the task became terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Lifetime from creation; none means unlimited.
    pub ttl_ms: Option<u64>,
    /// How often a client should ask.
    pub poll_interval_ms: Option<u64>,
    /// How long the ended task stays readable, counted from its end, if that is longer than its lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retain_ms: Option<u64>,
    /// How long the live task goes on when nobody asks about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandon_ms: Option<u64>,
    /// When somebody was last seen to ask about it, to a quarter of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
    /// Every question ever asked, in order. A key is used once in a task's life.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputRecord>,
    /// What the client declared that it can be asked, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_be_asked: Option<Vec<InputKind>>,
    /// What makes a second call the same one: a digest of owner, tool and a key of the author's choice. Unique in a
    /// store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_call: Option<String>,
    /// Why nobody works on the live task and nobody has to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<Parked>,
    /// Until when the owner of a removed task is told that it expired. Nothing else is left of such a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_at: Option<Timestamp>,
    /// Recorded steps, in order. Written by `append_step` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRecord>,
    /// The wish to cancel, once somebody had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelRecord>,
    /// Who works on the task now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// The last fencing token given out for this task; grows with every lease.
    pub fence: u64,
    /// How often a worker has taken the task up.
    pub attempt: u32,
    /// Where the work last came further.
    #[serde(default, skip_serializing_if = "Headway::is_none")]
    pub headway: Headway,
    /// Grows with every write of the record.
    pub version: u64,
}

impl TaskRecord {
    /// A fresh working task that nobody works on yet.
    #[must_use]
    pub fn new(
        id: TaskId,
        owner: Owner,
        method: impl Into<String>,
        tool: ToolFingerprint,
        now: Timestamp,
    ) -> Self {
        Self {
            format: FORMAT,
            id,
            owner,
            method: method.into(),
            params: None,
            params_digest: String::new(),
            tool,
            generation: Generation::V2026_07_28,
            visibility: Visibility::Task,
            state: State::Working,
            status_message: None,
            progress: None,
            trace: TraceContext::default(),
            created_at: now.clone(),
            last_updated_at: now,
            finished_at: None,
            ttl_ms: None,
            poll_interval_ms: None,
            retain_ms: None,
            abandon_ms: None,
            seen_at: None,
            inputs: Vec::new(),
            can_be_asked: None,
            same_call: None,
            parked: None,
            forgotten_at: None,
            steps: Vec::new(),
            cancel: None,
            lease: None,
            fence: 0,
            attempt: 0,
            headway: Headway::default(),
            version: 1,
        }
    }

    /// When something has to happen by itself: a live task fails, a question is taken back, an ended task is removed.
    /// None means never.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        self.due_millis().map(Timestamp::from_unix_millis)
    }

    /// That moment in milliseconds since 1970.
    #[must_use]
    pub fn due_millis(&self) -> Option<i64> {
        if let Some(forgotten_at) = &self.forgotten_at {
            return Some(forgotten_at.unix_millis());
        }
        let end_of_life = self.ttl_ms.map(|ttl_ms| millis_after(self.created_at.unix_millis(), ttl_ms));
        match (&self.finished_at, self.retain_ms) {
            // Whoever waits for a call fetches its end, and nobody else can.
            (Some(finished_at), retain_ms) if self.visibility == Visibility::Inline => {
                Some(millis_after(finished_at.unix_millis(), retain_ms.unwrap_or(0)))
            }
            (Some(finished_at), Some(retain_ms)) => {
                end_of_life.map(|end| end.max(millis_after(finished_at.unix_millis(), retain_ms)))
            }
            (Some(_), None) => end_of_life,
            (None, _) => {
                let waits = self.outstanding().filter_map(|input| input.expires_at.as_ref());
                waits.map(Timestamp::unix_millis).chain(end_of_life).chain(self.abandoned_millis()).min()
            }
        }
    }

    /// From when on nobody is taken to want the live task any more. That somebody asked is noted once in a quarter of
    /// the time, and the quarter is added here, so that no task ends too early.
    fn abandoned_millis(&self) -> Option<i64> {
        let abandon_ms = self.abandon_ms?;
        let seen_at = self.seen_at.as_ref().unwrap_or(&self.created_at);
        Some(millis_after(seen_at.unix_millis(), abandon_ms.saturating_add(abandon_ms / 4)))
    }

    /// Whether nobody has asked about the live task for too long.
    #[must_use]
    pub fn is_abandoned(&self, now_millis: i64) -> bool {
        !self.state.is_terminal() && self.abandoned_millis().is_some_and(|end| end <= now_millis)
    }

    /// Whether it is time to note that somebody asks about the live task.
    #[must_use]
    pub fn wants_to_be_seen(&self, now_millis: i64) -> bool {
        let Some(abandon_ms) = self.abandon_ms.filter(|_| !self.state.is_terminal()) else { return false };
        let seen_at = self.seen_at.as_ref().unwrap_or(&self.created_at);
        millis_after(seen_at.unix_millis(), (abandon_ms / 4).max(1)) <= now_millis
    }

    /// Whether the task's own lifetime or retention is over, and not only a question's.
    #[must_use]
    pub fn is_over(&self, now_millis: i64) -> bool {
        let end_of_life = || self.ttl_ms.map(|ttl_ms| millis_after(self.created_at.unix_millis(), ttl_ms));
        let end = if self.state.is_terminal() { self.due_millis() } else { end_of_life() };
        end.is_some_and(|end| end <= now_millis)
    }

    /// From when on a worker may take the task up, in milliseconds since 1970: the end of its lease, the beginning of
    /// time where there is none. None when it has ended or is parked.
    #[must_use]
    pub fn claimable_millis(&self) -> Option<i64> {
        if self.state.is_terminal() || self.parked.is_some() {
            return None;
        }
        Some(self.lease.as_ref().map_or(i64::MIN, |lease| lease.until.unix_millis()))
    }

    /// What is left of the task when its retention is over: that it was there, for its owner alone.
    #[must_use]
    pub fn tombstone(&self, forgotten_at: Timestamp) -> Self {
        let tool = ToolFingerprint::new("", "", None);
        let now = self.last_updated_at.clone();
        let mut tombstone = Self::new(self.id.clone(), self.owner.clone(), "", tool, now);
        tombstone.created_at = self.created_at.clone();
        tombstone.generation = self.generation;
        tombstone.visibility = self.visibility;
        tombstone.state = State::Cancelled;
        tombstone.finished_at = Some(self.last_updated_at.clone());
        tombstone.forgotten_at = Some(forgotten_at);
        tombstone.fence = self.fence;
        tombstone.attempt = self.attempt;
        tombstone.version = self.version + 1;
        tombstone
    }

    /// Whether that moment has come.
    #[must_use]
    pub fn is_due(&self, now_millis: i64) -> bool {
        self.due_millis().is_some_and(|due| due <= now_millis)
    }

    /// The questions that wait for an answer.
    pub fn outstanding(&self) -> impl Iterator<Item = &InputRecord> {
        self.inputs.iter().filter(|input| matches!(input.state, InputState::Outstanding))
    }

    /// The question with this key, whatever became of it.
    #[must_use]
    pub fn input(&self, key: &str) -> Option<&InputRecord> {
        self.inputs.iter().find(|input| input.key == key)
    }

    /// Whether somebody holds a lease that still counts.
    #[must_use]
    pub fn is_leased(&self, now: &Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.until > *now)
    }

    /// How many attempts there were, the present one included, since the work last came further: since an answer, a
    /// new step, or an orderly end of the process.
    #[must_use]
    pub fn attempts_without_headway(&self) -> u32 {
        self.attempt.saturating_sub(self.headway.attempt)
    }

    /// The record without its parameters and steps, which are stored apart.
    #[must_use]
    pub fn into_parts(mut self) -> (Self, Option<RawObject>, Vec<StepRecord>) {
        let params = self.params.take();
        let steps = std::mem::take(&mut self.steps);
        (self, params, steps)
    }
}

/// A shared record, as stores hand them out.
pub type SharedRecord = Arc<TaskRecord>;

/// What a tool was when a task began; a changed one must not go on with the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolFingerprint {
    /// The tool's name.
    pub name: String,
    /// Digest of the input schema, without titles and descriptions.
    pub input_schema: String,
    /// The author's own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl ToolFingerprint {
    /// The fingerprint of a tool.
    pub fn new(name: impl Into<String>, input_schema: impl Into<String>, version: Option<String>) -> Self {
        Self { name: name.into(), input_schema: input_schema.into(), version }
    }
}

/// The wire generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Generation {
    /// The first proposal, with ids made by the client.
    #[serde(rename = "sep-1686")]
    Sep1686,
    /// The experimental tasks of core 2025-11-25.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// The tasks extension on core 2026-07-28.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

/// Whether the client knows the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Visibility {
    /// The client holds a handle.
    Task,
    /// An ordinary call that waits for its answer; no method finds it by its id.
    Inline,
}

/// The status of a task with what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a match on the outcome of a task must name all five; a sixth is a change of the protocol"
)]
pub enum State {
    /// The work goes on.
    Working,
    /// At least one question is outstanding.
    InputRequired,
    /// The request has its result, possibly one that tells of an error of the tool.
    Completed {
        /// What the request would have been answered with.
        result: RawObject,
    },
    /// The request ended in a protocol error.
    Failed {
        /// That error.
        error: ErrorRecord,
    },
    /// The task was cancelled.
    Cancelled,
}

impl State {
    /// Whether nothing can change any more.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Working | Self::InputRequired => false,
            Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled => true,
        }
    }

    /// The name of the status, spelled as in the protocol.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A protocol error as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorRecord {
    /// The code.
    pub code: i64,
    /// What the client is told.
    pub message: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorRecord {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: RawJson) -> Self {
        self.data = Some(data);
        self
    }
}

/// How far the work has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Units done; grows.
    pub progress: f64,
    /// Units in all, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
}

impl Progress {
    /// So many units.
    pub fn new(progress: f64, total: Option<f64>) -> Self {
        Self { progress, total }
    }
}

/// The place of a call in a trace, in the text forms of W3C Trace Context and Baggage, letter for letter as the caller
/// sent them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceContext {
    /// The trace and the caller's place in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// What tracing systems add of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// What the caller hands on to everybody down the road. It may be about people and is in no record: a body that
    /// runs again after a restart has none.
    #[serde(skip)]
    pub baggage: Option<String>,
}

impl TraceContext {
    /// Whether nothing of it was sent.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// One question and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputRecord {
    /// The key under which it was asked.
    pub key: String,
    /// The request, `{"method":…,"params":…}`.
    pub request: RawJson,
    /// Digest of the request; a replay that asks something else under the same key is found out by it.
    pub fingerprint: String,
    /// What became of it.
    pub state: InputState,
    /// How long the answer is waited for, if not for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl InputRecord {
    /// A question that waits for its answer.
    pub fn new(key: impl Into<String>, request: RawJson, fingerprint: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            request,
            fingerprint: fingerprint.into(),
            state: InputState::Outstanding,
            expires_at: None,
        }
    }
}

/// What a question needs the client to be capable of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputKind {
    /// An elicitation with a form.
    Form,
    /// An elicitation that sends the person to a web page.
    Url,
    /// A message of its model.
    Sampling,
    /// A message of its model, which may use tools.
    SamplingWithTools,
    /// A message of its model, which is given the context of servers.
    SamplingWithContext,
    /// Its roots.
    Roots,
}

impl InputKind {
    pub(crate) const ALL: &'static [Self] = &[
        Self::Form,
        Self::Url,
        Self::Sampling,
        Self::SamplingWithTools,
        Self::SamplingWithContext,
        Self::Roots,
    ];

    /// The place of it among a client's capabilities.
    pub(crate) fn needs(self) -> &'static str {
        match self {
            Self::Form => "elicitation.form",
            Self::Url => "elicitation.url",
            Self::Sampling => "sampling",
            Self::SamplingWithTools => "sampling.tools",
            Self::SamplingWithContext => "sampling.context",
            Self::Roots => "roots",
        }
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputState {
    /// Waits for its answer.
    Outstanding,
    /// Has its answer.
    Answered {
        /// As the client sent it, after validation.
        response: RawJson,
    },
    /// Nobody wants the answer any more.
    Withdrawn,
    /// No answer came in time.
    Expired,
}

/// Why nobody works on a live task and nobody has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Parked {
    /// Its body waits for answers and was put away; the last answer brings it back.
    Asking,
    /// Its work goes on outside, and whoever does it tells the engine.
    Outside,
}

/// The token of those who speak for a task whose work goes on outside; no lease has it.
pub const OUTSIDE_TOKEN: u64 = 0;

/// The recorded value of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepRecord {
    /// The step's name, unique in the task.
    pub name: String,
    /// What kind of step it was.
    pub fingerprint: String,
    /// What it gave.
    pub value: RawJson,
}

impl StepRecord {
    /// A recorded step.
    pub fn new(name: impl Into<String>, fingerprint: impl Into<String>, value: RawJson) -> Self {
        Self { name: name.into(), fingerprint: fingerprint.into(), value }
    }
}

/// The wish to cancel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CancelRecord {
    /// When it was first asked for.
    pub at: Timestamp,
    /// Why, if told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Where the work last came further, so that a body that ends its process again and again is found out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Headway {
    /// The last attempt that does not count any more.
    pub attempt: u32,
    /// How many steps there were.
    #[serde(default)]
    pub steps: usize,
    /// The attempt in which the task began to wait for answers: waiting for a person is nobody's failure.
    #[serde(default)]
    pub asked: u32,
}

impl Headway {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The right to work on a task, for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lease {
    /// Who holds it.
    pub worker: String,
    /// How long it counts without being renewed.
    pub until: Timestamp,
    /// The fencing token: a write under an older one is refused.
    pub token: u64,
}

impl Lease {
    /// A lease.
    pub fn new(worker: impl Into<String>, until: Timestamp, token: u64) -> Self {
        Self { worker: worker.into(), until, token }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> TaskRecord {
        let now = Timestamp::from_unix_millis(1_000);
        TaskRecord::new(
            "tsk_1".into(),
            Owner::anonymous(),
            "tools/call",
            ToolFingerprint::new("t", "d", None),
            now,
        )
    }

    /// S-21, C-77: the lifetime counts from creation, not from the end.
    #[test]
    fn lifetime_counts_from_creation() {
        let mut record = record();
        assert_eq!(record.due_at(), None);
        record.ttl_ms = Some(500);
        assert_eq!(record.due_at().unwrap().unix_millis(), 1_500);
        record.finished_at = Some(Timestamp::from_unix_millis(1_400));
        assert_eq!(record.due_at().unwrap().unix_millis(), 1_500);
        assert!(!record.is_due(1_499));
        assert!(record.is_due(1_500));
    }

    #[test]
    fn retention_counts_from_the_end_and_only_lengthens() {
        let mut record = record();
        record.ttl_ms = Some(500);
        record.retain_ms = Some(1_000);
        assert_eq!(record.due_at().unwrap().unix_millis(), 1_500);
        record.finished_at = Some(Timestamp::from_unix_millis(1_400));
        assert_eq!(record.due_at().unwrap().unix_millis(), 2_400);
        record.retain_ms = Some(10);
        assert_eq!(record.due_at().unwrap().unix_millis(), 1_500);
    }

    /// S-33: all of this survives its own JSON form.
    #[test]
    fn record_survives_its_json_form() {
        let mut record = record();
        record.state =
            State::Completed { result: RawObject::from_text(r#"{"content":[],"n":1.0}"#).unwrap() };
        record.params = Some(RawObject::from_text(r#"{"a":1e2}"#).unwrap());
        let request = RawJson::from_text(r#"{"method":"elicitation/create"}"#).unwrap();
        record.inputs.push(InputRecord::new("key", request, "print"));
        record.inputs[0].state = InputState::Answered { response: RawJson::from_text("[1.50]").unwrap() };
        record.steps.push(StepRecord::new("step", "print", RawJson::null()));
        record.lease = Some(Lease::new("wrk", Timestamp::from_unix_millis(5), 3));
        let text = mcp_tasks_types::to_string(&record).unwrap();
        let back: TaskRecord = mcp_tasks_types::from_str(&text).unwrap();
        assert_eq!(back, record);
    }
}
