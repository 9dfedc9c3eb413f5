//! Calls that ask without being tasks: each question ends a round, and the client comes back with answers.
//!
//! Such a call has a record that no task method finds. It is stored when the body first asks and removed when the call
//! is answered, so that the next round can come to any process over the store. One that nobody comes back to is removed
//! by itself.

use std::sync::Arc;

use mcp_tasks_types::{Map, RawJson, TaskId};

use super::attention::Listener;
use super::birth::Stage;
use super::core::Core;
use super::run::Run;
use super::{Engine, InlineOutcome, NewTask, SharedCaller, outcome_of, supervise, to_the_end};
use crate::clock::millis_after;
use crate::error::{EngineError, EngineErrorKind, InterruptedKind, with_causes};
use crate::form::check_answer;
use crate::lifecycle::Outcome;
use crate::owner::Owner;
use crate::record::{SharedRecord, State, TaskRecord, Visibility};
use crate::store::{Change, Parts, StoreErrorKind};
use crate::tool::{InputDeclaration, ToolDefinition};

/// How far a call has come in one round.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a round ends the call, or there is another one")]
pub enum Round {
    /// The call is answered, and nothing is left of it.
    Ended(InlineOutcome),
    /// It has outstanding questions. The record is nobody's task; its id goes to [`Engine::next_round`].
    Asks(SharedRecord),
}

impl Engine {
    /// Runs the body once as [`call_inline`](Self::call_inline) does, but lets it ask: then the call is kept and waits
    /// for [the next round](Self::next_round). Nothing is stored before the body asks. If the caller stops waiting, the
    /// body is told to stop.
    ///
    /// # Errors
    ///
    /// When the tool is unknown, its arguments do not fit, there are too many tasks or no
    /// room for one more body, the engine shuts down or the store
    /// fails.
    pub async fn call_in_rounds(&self, task: NewTask) -> Result<Round, EngineError> {
        if self.tool(&task.tool).is_some_and(|tool| tool.inputs().is_empty()) {
            return self.call_inline(task).await.map(Round::Ended);
        }
        let tool = self.admit(&task)?;
        let mut room = self.core.room_for_call()?;
        let record = self.new_record(&task, &tool, Visibility::Inline, true)?;
        let (owner, id) = (record.owner.clone(), record.id.clone());
        let core = &self.core;
        let place = core.admit(&owner).await?;
        let run = Run::of_unborn_task(Arc::clone(core), tool, record, place);
        run.answers_to(task.caller);
        let registration = core.register(Arc::clone(&run), &mut room)?;
        let mut given_up = GivenUp { core, id: &id, run: Some(Arc::clone(&run)), pending: true };
        let (unborn, ended) = tokio::sync::oneshot::channel();
        supervise::start_unborn(Arc::clone(&run), registration, task.arguments, unborn);
        run.birth().decided().await;
        let round = if run.birth().stage() == Stage::Stored {
            self.round(&owner, &id, Listener::of_call(core)).await
        } else {
            let end = ended.await.map_err(EngineError::internal);
            end.and_then(|end| outcome_of(core, end)).map(Round::Ended)
        };
        // Without an answer nobody comes back.
        given_up.pending = round.is_err();
        round
    }

    /// Gives answers to the questions of a call, all or none, and waits until it asks again or ends. Keys that are not
    /// outstanding are ignored, whatever their values are; if questions are still open after that, they are the
    /// round's. The call may have begun in another process. If the caller stops waiting, the call is given up.
    ///
    /// # Errors
    ///
    /// When this owner has no such call any more, an answer does not fit its question, the engine shuts down or the
    /// store fails.
    pub async fn next_round(
        &self,
        owner: &Owner,
        id: &TaskId,
        responses: Map<RawJson>,
    ) -> Result<Round, EngineError> {
        self.next_round_of(owner, id, responses, None).await
    }

    /// The same for a caller who wants to hear more than the answer, where the call runs in this process.
    pub(crate) async fn next_round_of(
        &self,
        owner: &Owner,
        id: &TaskId,
        responses: Map<RawJson>,
        caller: Option<SharedCaller>,
    ) -> Result<Round, EngineError> {
        // Listening begins before the answers are given.
        let changes = Listener::of_call(&self.core);
        let record = self.core.call_of(owner, id).await?;
        if let Some(run) = self.core.run(id) {
            run.answers_to(caller);
        }
        let core = Arc::clone(&self.core);
        let answered = to_the_end(async move { core.answer(record, responses).await });
        let answered = answered.await.map_err(not_a_task)?;
        self.core.seen(id, answered.version).await?;
        let mut given_up = GivenUp { core: &self.core, id, run: None, pending: true };
        let round = self.round(owner, id, changes).await;
        given_up.pending = false;
        round
    }

    /// Ends a call to which nobody can come back.
    pub(crate) async fn give_up_call(&self, id: &TaskId) {
        if let Some(run) = self.core.run(id) {
            run.stop(InterruptedKind::Cancelled);
        }
        self.core.give_up(id).await;
    }

    /// Waits until the call asks or has ended.
    async fn round(&self, owner: &Owner, id: &TaskId, mut changes: Listener) -> Result<Round, EngineError> {
        let core = &self.core;
        loop {
            if let Some(run) = core.run(id) {
                // What the body asks at once goes out at once.
                run.has_asked().await;
            }
            let record = core.see(core.call_of(owner, id).await?).await;
            if record.state.is_terminal() {
                core.forget(&record).await;
                return outcome_in(core, &record).map(Round::Ended);
            }
            if record.state == State::InputRequired {
                return Ok(Round::Asks(record));
            }
            loop {
                match changes.next(core).await {
                    Some(Change::Written { id: changed, .. } | Change::Removed { id: changed })
                        if changed != *id => {}
                    Some(_) => break,
                    None => return Err(EngineError::shutting_down()),
                }
            }
        }
    }

    /// Takes the answers to what the tool asks before a task exists, as far as they are known, into the call. Gives the
    /// questions that are still open.
    ///
    /// # Errors
    ///
    /// When the tool is unknown, its arguments do not fit, or an answer does not fit its question.
    pub(crate) fn ask_before(
        &self,
        task: &mut NewTask,
        responses: &Map<RawJson>,
    ) -> Result<Vec<&InputDeclaration>, EngineError> {
        self.admit(task)?;
        let tool = self.tool(&task.tool).ok_or_else(|| EngineError::unknown_tool(&task.tool))?;
        let mut open = Vec::new();
        let mut answers = Vec::new();
        for input in tool.inputs().iter().filter(|input| input.is_before_task()) {
            let Some(response) = responses.get(input.key()) else {
                open.push(input);
                continue;
            };
            // One without a request is not registered.
            let Some(request) = input.request() else { continue };
            check_answer(request, response)
                .and_then(|()| input.check(response))
                .map_err(|reason| invalid_input(input.key(), &reason))?;
            answers.push((input.key().to_owned(), response.clone()));
        }
        task.answers = answers;
        Ok(open)
    }

    /// Something that is never given out twice.
    pub(crate) fn nonce(&self) -> Result<String, EngineError> {
        let id = self.core.ids.task_id().map_err(EngineError::internal)?;
        Ok(id.as_str().to_owned())
    }

    pub(crate) fn now_millis(&self) -> i64 {
        self.core.clock.now_millis()
    }

    /// Until when the client may come back to a call that asks, in milliseconds since 1970.
    pub(crate) fn round_ends(&self, record: &TaskRecord) -> i64 {
        let round_ends = millis_after(self.now_millis(), self.core.settings.round_ms);
        let end_of_life = record.ttl_ms.map(|ttl_ms| millis_after(record.created_at.unix_millis(), ttl_ms));
        end_of_life.map_or(round_ends, |end| end.min(round_ends))
    }

    /// How long a client may take for one round of this tool's calls. What comes of a call that becomes a task lives at
    /// least as long.
    pub(crate) fn round_ms(&self, tool: &ToolDefinition) -> u64 {
        let ttl_ms = tool.ttl_ms().unwrap_or(self.core.settings.default_ttl_ms);
        self.core.settings.round_ms.min(ttl_ms).min(self.core.settings.max_ttl_ms)
    }
}

/// What a client is told of an answer that does not fit.
pub(super) fn invalid_input(key: &str, reason: &str) -> EngineError {
    EngineError::new(EngineErrorKind::InvalidInput, format!("Invalid input `{key}`: {reason}"))
}

/// The one answer for a call that is unknown, somebody else's or over.
fn call_is_over() -> EngineError {
    EngineError::new(EngineErrorKind::CallOver, "the call that these answers belong to is over")
}

fn not_a_task(err: EngineError) -> EngineError {
    if err.kind() == EngineErrorKind::TaskNotFound { call_is_over() } else { err }
}

/// How a kept call ended.
fn outcome_in(core: &Core, record: &TaskRecord) -> Result<InlineOutcome, EngineError> {
    let outcome = match &record.state {
        State::Completed { result } => Outcome::Completed { result: result.clone() },
        State::Failed { error } => Outcome::Failed { error: error.clone(), message: error.message.clone() },
        State::Cancelled => Outcome::Cancelled { message: record.status_message.clone().unwrap_or_default() },
        State::Working | State::InputRequired => return Err(call_is_over()),
    };
    outcome_of(core, supervise::End::Finish(outcome))
}

impl Core {
    /// The call that waits for its client under this id.
    async fn call_of(&self, owner: &Owner, id: &TaskId) -> Result<SharedRecord, EngineError> {
        let record = self.store.load(id, Parts::Head).await?;
        let record =
            record.filter(|record| record.owner == *owner && record.visibility == Visibility::Inline);
        let record = record.ok_or_else(call_is_over)?;
        self.overdue(record).await?.ok_or_else(call_is_over)
    }

    /// Removes a call that is answered. One that is left behind goes by itself.
    async fn forget(&self, record: &TaskRecord) {
        match self.store.remove(&record.id, record.version).await {
            Ok(()) => {}
            Err(err) if matches!(err.kind(), StoreErrorKind::NotFound | StoreErrorKind::Conflict) => {}
            Err(err) => {
                tracing::warn!(call = %record.id, error = with_causes(&err), "a call that was answered is left");
            }
        }
    }

    /// Removes a call that nobody waits for any more, whoever works on it.
    async fn give_up(&self, id: &TaskId) {
        loop {
            let record = match self.store.load(id, Parts::Head).await {
                Ok(Some(record)) => record,
                Ok(None) => return,
                Err(err) => {
                    tracing::warn!(call = %id, error = with_causes(&err), "a call that was given up is left");
                    return;
                }
            };
            match self.store.remove(id, record.version).await {
                // Something happened to it in this moment.
                Err(err) if err.kind() == StoreErrorKind::Conflict && !self.store.reads_may_lag() => {}
                _ => return,
            }
        }
    }
}

/// Ends a call when the request that waits for it is cancelled.
struct GivenUp<'a> {
    core: &'a Arc<Core>,
    id: &'a TaskId,
    /// In the first round, which may not be stored.
    run: Option<Arc<Run>>,
    pending: bool,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if !self.pending {
            return;
        }
        if let Some(run) = &self.run {
            run.stop(InterruptedKind::Cancelled);
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (core, id) = (Arc::clone(self.core), self.id.clone());
        runtime.spawn(async move { core.give_up(&id).await });
    }
}
