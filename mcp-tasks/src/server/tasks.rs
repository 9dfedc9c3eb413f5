//! `tasks/get`, `tasks/update`, `tasks/cancel`: records to messages.

use mcp_tasks_types::{
    JsonError, RawJson, RawObject, TaskId, Timestamp,
    v2026_07_28::{
        CancelTaskResult, CreateTaskResult, ErrorObject, GetTaskResult, InputRequest, InputRequests,
        InputResponses, TaskState, TaskStatus, UpdateTaskResult,
    },
};

use super::{
    Inner, RequestContext,
    polls::Polls,
    refusal::{Refusal, is_gone},
};
use crate::{
    owner::Owner,
    record::{SharedRecord, State, TaskRecord},
};

impl Inner {
    pub(super) async fn get_task(
        &self,
        context: &RequestContext,
        task_id: TaskId,
    ) -> Result<RawObject, Refusal> {
        // There is no way to say it on a stream, which is one client's anyway (C-40).
        let record = match &self.polls {
            Some(polls) if context.headers().is_some() => self.poll(polls, context.owner(), &task_id).await?,
            _ => self.engine.get(context.owner(), &task_id).await?,
        };
        self.snapshot(&record)
            .and_then(|result| RawObject::new(&result))
            .map_err(|error| Refusal::internal(&error))
    }

    /// Looks at a task where that is not too early.
    async fn poll(&self, polls: &Polls, owner: &Owner, id: &TaskId) -> Result<SharedRecord, Refusal> {
        let now_ms = self.engine.now_millis();
        polls.begin(owner, id, now_ms)?;
        match self.engine.get(owner, id).await {
            Ok(record) => {
                if let Some(interval_ms) = record.poll_interval_ms {
                    polls.told(owner, id, interval_ms, now_ms);
                }
                Ok(record)
            }
            Err(error) => {
                if is_gone(&error) {
                    polls.missed(owner, id, now_ms)?;
                }
                Err(error.into())
            }
        }
    }

    pub(super) async fn update_task(
        &self,
        owner: &Owner,
        task_id: TaskId,
        responses: InputResponses,
    ) -> Result<RawObject, Refusal> {
        self.engine.update(owner, &task_id, responses.0).await?;
        self.acknowledgement(&UpdateTaskResult::new().with_meta(self.identity.meta()))
    }

    pub(super) async fn cancel_task(&self, owner: &Owner, task_id: TaskId) -> Result<RawObject, Refusal> {
        self.engine.cancel(owner, &task_id, None).await?;
        self.acknowledgement(&CancelTaskResult::new().with_meta(self.identity.meta()))
    }

    fn acknowledgement(&self, result: &impl serde::Serialize) -> Result<RawObject, Refusal> {
        RawObject::new(result).map_err(|error| Refusal::internal(&error))
    }

    /// The answer that hands a new task over: the task's own members and nothing of its state (C-06).
    pub(super) fn handle(&self, record: &TaskRecord) -> CreateTaskResult {
        let mut result = CreateTaskResult::new(
            record.id.clone(),
            status(&record.state),
            record.created_at.clone(),
            record.last_updated_at.clone(),
            record.ttl_ms,
        )
        .with_meta(self.identity.meta());
        result.status_message.clone_from(&record.status_message);
        result.poll_interval_ms = record.poll_interval_ms;
        result
    }

    /// What `tasks/get` says about a task now, as this server.
    fn snapshot(&self, record: &TaskRecord) -> Result<GetTaskResult, JsonError> {
        Ok(snapshot(record)?.with_meta(self.identity.meta()))
    }
}

/// What `tasks/get` of 2026-07-28 says about a task, but for who says it.
///
/// # Errors
///
/// When a question in the record is none of this revision.
pub fn snapshot(record: &TaskRecord) -> Result<GetTaskResult, JsonError> {
    let mut result = GetTaskResult::new(
        // Copies, since clones of what all polls of a task share are counted in one place, for which the threads that
        // poll it at the same time would wait for each other. The times of a record are of whole milliseconds.
        TaskId::from(record.id.as_str()),
        Timestamp::from_unix_millis(record.created_at.unix_millis()),
        Timestamp::from_unix_millis(record.last_updated_at.unix_millis()),
        record.ttl_ms,
        state(record)?,
    );
    result.status_message.clone_from(&record.status_message);
    result.poll_interval_ms = record.poll_interval_ms;
    Ok(result)
}

fn status(state: &State) -> TaskStatus {
    match state {
        State::Working => TaskStatus::Working,
        State::InputRequired => TaskStatus::InputRequired,
        State::Completed { .. } => TaskStatus::Completed,
        State::Failed { .. } => TaskStatus::Failed,
        State::Cancelled => TaskStatus::Cancelled,
    }
}

/// The status with the member that belongs to it (C-05).
fn state(record: &TaskRecord) -> Result<TaskState, JsonError> {
    Ok(match &record.state {
        State::Working => TaskState::Working,
        State::InputRequired => TaskState::InputRequired { input_requests: questions(record)? },
        State::Completed { result } => TaskState::Completed { result: result.clone() },
        State::Failed { error } => {
            let mut object = ErrorObject::new(error.code, error.message.clone());
            if let Some(data) = &error.data {
                object = object.with_data(data.clone());
            }
            TaskState::Failed { error: object }
        }
        State::Cancelled => TaskState::Cancelled,
    })
}

/// All outstanding questions (C-50).
fn questions(record: &TaskRecord) -> Result<InputRequests, JsonError> {
    requests(record.outstanding().map(|input| (input.key.as_str(), &input.request)))
}

/// Questions by their keys.
pub(super) fn requests<'a>(
    questions: impl Iterator<Item = (&'a str, &'a RawJson)>,
) -> Result<InputRequests, JsonError> {
    questions
        .map(|(key, request)| Ok((key.to_owned(), request.get::<InputRequest>()?)))
        .collect::<Result<_, JsonError>>()
        .map(InputRequests)
}
