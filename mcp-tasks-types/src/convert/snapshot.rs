//! A task as all three generations see it, and its forms in each.

use super::lifetime::interval;
use super::open::{self, META_KEYS, TASK_MEMBERS};
use super::state::{Outcome, State, result_to_older};
use super::{ConvertError, Lifetime};
use crate::v2026_07_28::InputRequests;
use crate::{Extra, TaskId, Timestamp, sep_1686, v2025_11_25, v2026_07_28};

/// A task at one moment, independent of the generation that it was read from.
///
/// Read with `From` from every task type of 2026-07-28 and 2025-11-25, and with
/// [`from_sep_1686`](Self::from_sep_1686), which needs the times that the proposal lacks. Written with
///
/// | target | how | can fail |
/// |---|---|---|
/// | 2026-07-28 `CreateTaskResult` | `From` | no |
/// | 2026-07-28 `GetTaskResult`, `DetailedTask` | `TryFrom` | the payload of the state is not known |
/// | 2026-07-28 `TaskStatusNotificationParams` | [`into_notification`](Self::into_notification) | as above |
/// | 2025-11-25 `Task`, `CreateTaskResult`, `GetTaskResult`, `TaskStatusNotificationParams` | `From` | no |
/// | 2025-11-25 `CancelTaskResult` | [`into_cancelled`](Self::into_cancelled) | the task had ended |
/// | SEP-1686 `GetTaskResult`, `TaskInfo` | [`into_sep_1686`](Self::into_sep_1686) | no |
///
/// The older two do not carry the outcome or the questions: [`with_outcome`](Self::with_outcome) and
/// [`with_questions`](Self::with_questions) hand them in, [`outcome`](Self::outcome),
/// [`payload_v2025_11_25`](Self::payload_v2025_11_25), [`payload_sep_1686`](Self::payload_sep_1686) and
/// [`questions`](Self::questions) hand them out.
///
/// The message: SEP-1686 has `error` for failed tasks alone, which becomes `statusMessage`, and in 2026-07-28 the
/// message of `error` as well. Towards the older two the message of a failed task is that of its error. Messages of
/// other states have no place in SEP-1686.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The task.
    pub task_id: TaskId,
    /// Where it stands.
    pub state: State,
    /// One sentence for people.
    pub status_message: Option<String>,
    /// When the task was made.
    pub created_at: Timestamp,
    /// When it last changed; of a task that has ended, when it ended.
    pub last_updated_at: Timestamp,
    /// How long it is kept.
    pub lifetime: Lifetime,
    /// Milliseconds that a poller should wait; 0 is not written, and nothing beyond 2^53 - 1.
    pub poll_interval: Option<u64>,
    /// Keys of `_meta` around the task that are nobody's in particular, and the words for the model that 2025-11-25 has
    /// at creation. Related-task keys, `serverInfo` and `subscriptionId` belong to one message and stay behind.
    pub meta: Extra,
    /// Members of the task or the result around it that no generation defines.
    pub extra: Extra,
}

/// What `tasks/result` answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Payload<R, E> {
    /// Nothing yet: 2025-11-25 waits until the task ends (B-44).
    Pending,
    /// The result of the original request, tied to its task.
    Result(R),
    /// An error.
    Error(E),
}

impl Snapshot {
    /// Makes a snapshot without message and poll interval.
    #[must_use]
    #[inline]
    pub fn new(
        task_id: impl Into<TaskId>,
        state: State,
        created_at: Timestamp,
        last_updated_at: Timestamp,
        lifetime: Lifetime,
    ) -> Self {
        Self {
            task_id: task_id.into(),
            state,
            status_message: None,
            created_at,
            last_updated_at,
            lifetime,
            poll_interval: None,
            meta: Extra::new(),
            extra: Extra::new(),
        }
    }

    /// Reads a `GetTaskResult` or a `TaskInfo` of SEP-1686.
    ///
    /// The proposal has no timestamps: the caller says when it learnt of the task and when of its present state. For a
    /// task that has ended the latter counts as the end.
    #[must_use]
    #[inline]
    pub fn from_sep_1686(
        task: impl Into<sep_1686::GetTaskResult>,
        created_at: Timestamp,
        last_updated_at: Timestamp,
    ) -> Self {
        let task = task.into();
        Self {
            task_id: task.task_id,
            state: task.status.into(),
            status_message: task.error,
            created_at,
            last_updated_at,
            lifetime: Lifetime::from_keep_alive(task.keep_alive),
            poll_interval: task.poll_frequency,
            meta: task.meta.map(|meta| open::foreign(meta.extra, META_KEYS)).unwrap_or_default(),
            extra: open::foreign(task.extra, TASK_MEMBERS),
        }
    }

    /// Adds what `tasks/result` said of a task of 2025-11-25 or SEP-1686.
    ///
    /// A result that says `isError:true` turns `failed` into completed (I-04). A task that has not ended, was cancelled
    /// or lost has no outcome: for these the call does nothing, so that whatever the peer answered may be handed in.
    ///
    /// # Errors
    ///
    /// When `status` and the outcome contradict each other: an error of a completed task, or a success of a failed one.
    #[inline]
    pub fn with_outcome(mut self, outcome: impl Into<Outcome>) -> Result<Self, ConvertError> {
        self.state = match (self.state, outcome.into()) {
            (State::Completed { .. }, Outcome::Result(result)) => State::Completed { result: Some(result) },
            (State::Failed { .. }, Outcome::Error(error)) => State::Failed { error: Some(error) },
            (State::Failed { .. }, Outcome::Result(result)) if open::is_error(&result) => {
                State::Completed { result: Some(result) }
            }
            (State::Failed { .. }, Outcome::Result(_)) => {
                let reason = "the task is `failed`, its result does not say `isError`";
                return Err(ConvertError::contradiction("status", reason));
            }
            (State::Completed { .. }, Outcome::Error(_)) => {
                let reason = "the task is `completed`, its outcome is an error";
                return Err(ConvertError::contradiction("status", reason));
            }
            (state, _) => state,
        };
        Ok(self)
    }

    /// Adds the questions of a task that waits for input; does nothing to others.
    ///
    /// The older two ask by requests of their own; see [`NestedRequest`](super::NestedRequest).
    #[must_use]
    #[inline]
    pub fn with_questions(mut self, questions: InputRequests) -> Self {
        if let State::InputRequired { questions: slot } = &mut self.state {
            *slot = Some(questions);
        }
        self
    }

    /// What the task came to; `None` while it runs, when it was cancelled, or when the result is not known.
    #[must_use]
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        match &self.state {
            State::Completed { result } => result.clone().map(Outcome::Result),
            state => state.clone().into_error(self.status_message.as_deref()).map(Outcome::Error),
        }
    }

    /// The open questions by key; `None` when the task does not wait or they are not known.
    #[must_use]
    #[inline]
    pub const fn questions(&self) -> Option<&InputRequests> {
        match &self.state {
            State::InputRequired { questions } => questions.as_ref(),
            State::Submitted
            | State::Working
            | State::Completed { .. }
            | State::Failed { .. }
            | State::Cancelled
            | State::Unknown => None,
        }
    }

    /// When the task ended, if it has.
    #[inline]
    fn ended_at(&self) -> Option<&Timestamp> {
        self.state.is_terminal().then_some(&self.last_updated_at)
    }

    #[inline]
    fn ttl(&self) -> Option<u64> {
        self.lifetime.ttl(&self.created_at, self.ended_at())
    }

    /// The task as SEP-1686 shows it now; the result is for [`payload_sep_1686`](Self::payload_sep_1686).
    #[must_use]
    #[inline]
    pub fn into_sep_1686(self, now: &Timestamp) -> sep_1686::GetTaskResult {
        let keep_alive = self.lifetime.keep_alive(&self.created_at, self.ended_at(), now);
        let mut meta = sep_1686::ResultMeta::new()
            .with_related_task(sep_1686::RelatedTaskMetadata::new(self.task_id.clone()));
        meta.extra = open::foreign(self.meta, META_KEYS);
        sep_1686::GetTaskResult {
            meta: Some(meta),
            task_id: self.task_id,
            status: self.state.status_sep_1686(),
            keep_alive,
            poll_frequency: interval(self.poll_interval),
            error: self.state.error_sep_1686(self.status_message),
            extra: self.extra,
        }
    }

    /// The parameters of `notifications/tasks` for one subscription of 2026-07-28.
    ///
    /// # Errors
    ///
    /// When the payload of the state is not known: `result` or `inputRequests`.
    #[inline]
    pub fn into_notification(
        self,
        subscription_id: impl Into<v2026_07_28::RequestId>,
    ) -> Result<v2026_07_28::TaskStatusNotificationParams, ConvertError> {
        let mut meta = v2026_07_28::SubscriptionNotificationMetaObject::new(subscription_id);
        meta.extra = open::foreign(self.meta.clone(), META_KEYS);
        let task = v2026_07_28::DetailedTask::try_from(self)?;
        Ok(v2026_07_28::TaskStatusNotificationParams {
            meta,
            task_id: task.task_id,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl_ms: task.ttl_ms,
            poll_interval_ms: task.poll_interval_ms,
            state: task.state,
            extra: task.extra,
        })
    }

    /// The answer to `tasks/cancel` of 2025-11-25, from the task as it stood before the cancellation.
    ///
    /// 2026-07-28 acknowledges a cancellation and may still complete the task; a gateway that has given out this answer
    /// goes on saying cancelled (B-58).
    ///
    /// # Errors
    ///
    /// When the task had ended: the refusal -32602 that 2025-11-25 demands where 2026-07-28 acknowledges.
    #[inline]
    pub fn into_cancelled(
        mut self,
        now: Timestamp,
    ) -> Result<v2025_11_25::CancelTaskResult, v2025_11_25::ErrorObject> {
        if self.state.is_terminal() {
            let status = self.state.status_v2025_11_25();
            return Err(v2025_11_25::ErrorObject::new(
                v2025_11_25::ErrorCode::InvalidParams.code(),
                format!("Cannot cancel task: already in terminal status '{status}'"),
            ));
        }
        self.state = State::Cancelled;
        // What was said of the work is no longer so.
        self.status_message = None;
        self.last_updated_at = now.max(self.last_updated_at);
        Ok(flat_2025(self).into())
    }

    /// The answer to `tasks/result` of 2025-11-25: the result (R-11: `isError` or not), or the same error (B-43). A
    /// cancelled task has the error -32602 (B-47), a lost one -32603.
    ///
    /// # Errors
    ///
    /// When the task is completed and its result is not known, or as
    /// [`result_to_v2025_11_25`](super::result_to_v2025_11_25): `structuredContent` is no object, a member comes twice.
    #[inline]
    pub fn payload_v2025_11_25(
        &self,
    ) -> Result<Payload<v2025_11_25::GetTaskPayloadResult, v2025_11_25::ErrorObject>, ConvertError> {
        let cancelled = || {
            let code = v2025_11_25::ErrorCode::InvalidParams.code();
            Payload::Error(v2025_11_25::ErrorObject::new(code, "Task was cancelled"))
        };
        match &self.state {
            State::Cancelled => Ok(cancelled()),
            state if !state.is_terminal() => Ok(Payload::Pending),
            _ => match self.outcome() {
                Some(Outcome::Error(error)) => Ok(Payload::Error(error.into())),
                Some(Outcome::Result(result)) => {
                    let related = (v2025_11_25::meta_key::RELATED_TASK, &self.task_id);
                    let result = result_to_older(&result, Some(related), "2025-11-25")
                        .map_err(|error| error.within("result"))?;
                    let read = result.get().map_err(|error| ConvertError::malformed("result", &error))?;
                    Ok(Payload::Result(read))
                }
                None => Err(no_result()),
            },
        }
    }

    /// The answer to `tasks/result` of SEP-1686, which knows results of completed tasks alone and never waits.
    ///
    /// # Errors
    ///
    /// When the task is completed and its result is not known, or as
    /// [`result_to_v2025_11_25`](super::result_to_v2025_11_25): `structuredContent` is no object, a member comes twice.
    #[inline]
    pub fn payload_sep_1686(
        &self,
    ) -> Result<Payload<sep_1686::GetTaskPayloadResult, sep_1686::ErrorObject>, ConvertError> {
        let State::Completed { result } = &self.state else {
            let status = self.state.status_sep_1686();
            return Ok(Payload::Error(sep_1686::ErrorObject::new(
                sep_1686::ErrorCode::InvalidParams.code(),
                format!("Cannot retrieve result: Task status is '{status}', not 'completed'"),
            )));
        };
        let result = result.as_ref().ok_or_else(no_result)?;
        let related = (sep_1686::meta_key::RELATED_TASK, &self.task_id);
        let result =
            result_to_older(result, Some(related), "SEP-1686").map_err(|error| error.within("result"))?;
        let read = result.get().map_err(|error| ConvertError::malformed("result", &error))?;
        Ok(Payload::Result(read))
    }
}

#[inline]
fn no_result() -> ConvertError {
    ConvertError::missing("result", "the result of the task is not known; hand it in by `with_outcome`")
}

impl From<sep_1686::TaskInfo> for sep_1686::GetTaskResult {
    /// A task of a list as the answer to `tasks/get`, tied to the task as that answer has to be.
    #[inline]
    fn from(task: sep_1686::TaskInfo) -> Self {
        let related = sep_1686::RelatedTaskMetadata::new(task.task_id.clone());
        Self {
            meta: Some(sep_1686::ResultMeta::new().with_related_task(related)),
            task_id: task.task_id,
            status: task.status,
            keep_alive: task.keep_alive,
            poll_frequency: task.poll_frequency,
            error: task.error,
            extra: task.extra,
        }
    }
}

impl From<sep_1686::GetTaskResult> for sep_1686::TaskInfo {
    /// The task of an answer as a list has it, without `_meta`.
    #[inline]
    fn from(task: sep_1686::GetTaskResult) -> Self {
        Self {
            task_id: task.task_id,
            status: task.status,
            keep_alive: task.keep_alive,
            poll_frequency: task.poll_frequency,
            error: task.error,
            extra: task.extra,
        }
    }
}

impl From<&Snapshot> for sep_1686::TaskCreatedNotificationParams {
    /// What SEP-1686 says at creation, where the later two answer the request.
    #[inline]
    fn from(snapshot: &Snapshot) -> Self {
        let related = sep_1686::RelatedTaskMetadata::new(snapshot.task_id.clone());
        Self::new(sep_1686::TaskCreatedNotificationMeta::new(related))
    }
}

impl From<v2025_11_25::Task> for Snapshot {
    #[inline]
    fn from(task: v2025_11_25::Task) -> Self {
        Self {
            task_id: task.task_id,
            state: task.status.into(),
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            lifetime: Lifetime::from_ttl(task.ttl),
            poll_interval: task.poll_interval,
            meta: Extra::new(),
            extra: open::foreign(task.extra, TASK_MEMBERS),
        }
    }
}

impl From<Snapshot> for v2025_11_25::Task {
    #[inline]
    fn from(snapshot: Snapshot) -> Self {
        Self {
            ttl: snapshot.ttl(),
            status: snapshot.state.status_v2025_11_25(),
            status_message: snapshot.state.message_v2025_11_25(snapshot.status_message),
            task_id: snapshot.task_id,
            created_at: snapshot.created_at,
            last_updated_at: snapshot.last_updated_at,
            poll_interval: interval(snapshot.poll_interval),
            extra: snapshot.extra,
        }
    }
}

impl From<v2025_11_25::CreateTaskResult> for Snapshot {
    #[inline]
    fn from(result: v2025_11_25::CreateTaskResult) -> Self {
        let mut snapshot = Self::from(result.task);
        open::merge(&mut snapshot.extra, open::foreign(result.extra, TASK_MEMBERS));
        if let Some(meta) = result.meta {
            snapshot.meta = open::foreign(meta.extra, META_KEYS);
            if let Some(text) = meta.model_immediate_response {
                snapshot.meta.push(open::IMMEDIATE_RESPONSE, open::raw(&text));
            }
        }
        snapshot
    }
}

impl From<Snapshot> for v2025_11_25::CreateTaskResult {
    #[inline]
    fn from(mut snapshot: Snapshot) -> Self {
        let words = snapshot.meta.get(open::IMMEDIATE_RESPONSE).and_then(|raw| raw.get().ok());
        let keys = open::foreign(std::mem::take(&mut snapshot.meta), META_KEYS);
        let mut result = Self::new(v2025_11_25::Task::from(snapshot));
        if words.is_some() || !keys.is_empty() {
            let mut meta = v2025_11_25::CreateTaskResultMetaObject::new();
            meta.model_immediate_response = words;
            meta.extra = keys;
            result.meta = Some(meta);
        }
        result
    }
}

/// A task beside `_meta` in one object.
struct Flat2025 {
    meta: Extra,
    task: v2025_11_25::Task,
}

#[inline]
fn flat_2025(mut snapshot: Snapshot) -> Flat2025 {
    let meta = open::foreign(std::mem::take(&mut snapshot.meta), META_KEYS);
    Flat2025 { meta, task: snapshot.into() }
}

macro_rules! flat_2025 {
    ($($name:ident $meta:ident)*) => {$(
        impl From<Flat2025> for v2025_11_25::$name {
            #[inline]
            fn from(Flat2025 { meta, task }: Flat2025) -> Self {
                let meta = (!meta.is_empty()).then(|| {
                    let mut object = v2025_11_25::$meta::new();
                    object.extra = meta;
                    object
                });
                Self {
                    meta,
                    task_id: task.task_id,
                    status: task.status,
                    status_message: task.status_message,
                    created_at: task.created_at,
                    last_updated_at: task.last_updated_at,
                    ttl: task.ttl,
                    poll_interval: task.poll_interval,
                    extra: task.extra,
                }
            }
        }

        impl From<v2025_11_25::$name> for Snapshot {
            #[inline]
            fn from(task: v2025_11_25::$name) -> Self {
                Self {
                    task_id: task.task_id,
                    state: task.status.into(),
                    status_message: task.status_message,
                    created_at: task.created_at,
                    last_updated_at: task.last_updated_at,
                    lifetime: Lifetime::from_ttl(task.ttl),
                    poll_interval: task.poll_interval,
                    meta: task.meta.map(|meta| open::foreign(meta.extra, META_KEYS)).unwrap_or_default(),
                    extra: open::foreign(task.extra, TASK_MEMBERS),
                }
            }
        }
    )*};
}

flat_2025! {
    GetTaskResult ResultMetaObject
    CancelTaskResult ResultMetaObject
    TaskStatusNotificationParams NotificationMetaObject
}

impl From<Snapshot> for v2025_11_25::GetTaskResult {
    #[inline]
    fn from(snapshot: Snapshot) -> Self {
        flat_2025(snapshot).into()
    }
}

impl From<Snapshot> for v2025_11_25::TaskStatusNotificationParams {
    #[inline]
    fn from(snapshot: Snapshot) -> Self {
        flat_2025(snapshot).into()
    }
}

/// The tasks of 2026-07-28 without `_meta`, each with where it stands.
macro_rules! bare_2026 {
    ($($name:ident $task:ident $state:expr;)*) => {$(
        impl From<v2026_07_28::$name> for Snapshot {
            #[inline]
            fn from($task: v2026_07_28::$name) -> Self {
                Self {
                    state: $state,
                    task_id: $task.task_id,
                    status_message: $task.status_message,
                    created_at: $task.created_at,
                    last_updated_at: $task.last_updated_at,
                    lifetime: Lifetime::from_ttl($task.ttl_ms),
                    poll_interval: $task.poll_interval_ms,
                    meta: Extra::new(),
                    extra: open::foreign($task.extra, TASK_MEMBERS),
                }
            }
        }
    )*};
}

bare_2026! {
    Task task task.status.into();
    WorkingTask task State::Working;
    InputRequiredTask task State::InputRequired { questions: Some(task.input_requests) };
    CompletedTask task State::Completed { result: Some(task.result) };
    FailedTask task State::Failed { error: Some(task.error) };
    CancelledTask task State::Cancelled;
    DetailedTask task task.state.into();
}

impl TryFrom<Snapshot> for v2026_07_28::DetailedTask {
    type Error = ConvertError;
    /// Fails when the payload of the state is not known.
    #[inline]
    fn try_from(snapshot: Snapshot) -> Result<Self, ConvertError> {
        let ttl_ms = snapshot.ttl();
        let message = snapshot.status_message.as_deref();
        Ok(Self {
            state: snapshot.state.into_v2026_07_28(message)?,
            task_id: snapshot.task_id,
            status_message: snapshot.status_message,
            created_at: snapshot.created_at,
            last_updated_at: snapshot.last_updated_at,
            ttl_ms,
            poll_interval_ms: interval(snapshot.poll_interval),
            extra: snapshot.extra,
        })
    }
}

impl From<v2026_07_28::GetTaskResult> for Snapshot {
    #[inline]
    fn from(task: v2026_07_28::GetTaskResult) -> Self {
        Self {
            task_id: task.task_id,
            state: task.state.into(),
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            lifetime: Lifetime::from_ttl(task.ttl_ms),
            poll_interval: task.poll_interval_ms,
            meta: task.meta.map(|meta| open::foreign(meta.extra, META_KEYS)).unwrap_or_default(),
            extra: open::foreign(task.extra, TASK_MEMBERS),
        }
    }
}

impl TryFrom<Snapshot> for v2026_07_28::GetTaskResult {
    type Error = ConvertError;
    /// Fails when the payload of the state is not known.
    #[inline]
    fn try_from(mut snapshot: Snapshot) -> Result<Self, ConvertError> {
        let meta = open::result_meta(open::foreign(std::mem::take(&mut snapshot.meta), META_KEYS));
        let task = v2026_07_28::DetailedTask::try_from(snapshot)?;
        Ok(Self {
            meta,
            task_id: task.task_id,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl_ms: task.ttl_ms,
            poll_interval_ms: task.poll_interval_ms,
            state: task.state,
            extra: task.extra,
        })
    }
}

impl From<v2026_07_28::TaskStatusNotificationParams> for Snapshot {
    #[inline]
    fn from(task: v2026_07_28::TaskStatusNotificationParams) -> Self {
        Self {
            task_id: task.task_id,
            state: task.state.into(),
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            lifetime: Lifetime::from_ttl(task.ttl_ms),
            poll_interval: task.poll_interval_ms,
            meta: open::foreign(task.meta.extra, META_KEYS),
            extra: open::foreign(task.extra, TASK_MEMBERS),
        }
    }
}

impl From<v2026_07_28::CreateTaskResult> for Snapshot {
    #[inline]
    fn from(task: v2026_07_28::CreateTaskResult) -> Self {
        Self {
            task_id: task.task_id,
            state: task.status.into(),
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            lifetime: Lifetime::from_ttl(task.ttl_ms),
            poll_interval: task.poll_interval_ms,
            meta: task.meta.map(|meta| open::foreign(meta.extra, META_KEYS)).unwrap_or_default(),
            extra: open::foreign(task.extra, TASK_MEMBERS),
        }
    }
}

impl From<Snapshot> for v2026_07_28::CreateTaskResult {
    #[inline]
    fn from(snapshot: Snapshot) -> Self {
        Self {
            ttl_ms: snapshot.ttl(),
            meta: open::result_meta(open::foreign(snapshot.meta, META_KEYS)),
            task_id: snapshot.task_id,
            status: snapshot.state.status_v2026_07_28(),
            status_message: snapshot.status_message,
            created_at: snapshot.created_at,
            last_updated_at: snapshot.last_updated_at,
            poll_interval_ms: interval(snapshot.poll_interval),
            extra: snapshot.extra,
        }
    }
}
