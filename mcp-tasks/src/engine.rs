//! The engine: creates tasks, runs their bodies, answers for them, and brings every run to a recorded end.
//!
//! The engine knows owners, records and tools; it knows no message and no transport. What it answers with are records,
//! which the server turns into the words of a generation.

mod attention;
mod birth;
mod builder;
mod caller;
mod core;
mod heartbeat;
mod limits;
#[cfg(feature = "metrics")]
mod meter;
mod operators;
mod outside;
mod recover;
mod role;
mod rounds;
mod run;
mod shutdown;
mod storing;
mod supervise;
mod timer;
mod trouble;
mod update;
mod watch;
mod watched;

use std::fmt;
use std::sync::Arc;

use mcp_tasks_types::v2026_07_28::method::TOOLS_CALL;
use mcp_tasks_types::{Map, RawJson, RawObject, TaskId};
use serde::{Deserialize, Serialize};
use tracing::Instrument as _;

pub use builder::EngineBuilder;
pub(crate) use caller::{Caller, SharedCaller, Told};
pub use operators::{Operators, Removed, Stats};
pub use outside::Outside;
pub use role::Role;
pub use rounds::Round;
pub(crate) use run::Run;
pub use watch::Watch;

use self::attention::Listener;
use self::core::{Core, Patience, Retry, Tool, Unwritten};
use self::supervise::End;
use crate::clock::Clock;
use crate::digest;
use crate::error::{EngineError, EngineErrorKind, InterruptedKind};
use crate::lifecycle::{Event, Outcome};
use crate::output::text_result;
use crate::owner::Owner;
use crate::record::{
    ErrorRecord, Generation, InputState, LONGEST_MS, SharedRecord, TaskRecord, TraceContext, Visibility,
};
use crate::store::{Change, Cursor, Page, Parts, Store, StoreErrorKind};
use crate::tool::{InputKind, Restart, ToolDefinition};

/// How often a client should ask about a task of which nobody says.
const DEFAULT_POLL_MS: u64 = 1_000;

/// Creates, runs and answers for tasks. Cheap to clone; every clone is the same engine.
///
/// Every method that touches a task takes its owner; another owner's task is as good as none.
#[derive(Clone)]
pub struct Engine {
    core: Arc<Core>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewTask {
    /// Who calls.
    pub owner: Owner,
    /// The method of the request.
    pub method: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: RawObject,
    /// The wire generation of the request.
    pub generation: Generation,
    /// Under which the same owner gets the same task of the same tool however often it calls, as long as that task is
    /// there.
    pub idempotency_key: Option<String>,
    /// Answers that were given before there was a task, each of which fits its question.
    pub(crate) answers: Vec<(String, RawJson)>,
    /// What may be used for one task and no more.
    pub(crate) once: Option<String>,
    /// What the client declared that it can be asked; none is unknown.
    pub can_be_asked: Option<Vec<InputKind>>,
    /// Who waits for the answer, if it is of interest.
    pub(crate) caller: Option<SharedCaller>,
}

impl NewTask {
    /// A `tools/call` of the present generation.
    pub fn new(owner: Owner, tool: impl Into<String>, arguments: RawObject) -> Self {
        Self {
            owner,
            method: TOOLS_CALL.to_owned(),
            tool: tool.into(),
            arguments,
            generation: Generation::V2026_07_28,
            idempotency_key: None,
            answers: Vec::new(),
            once: None,
            can_be_asked: None,
            caller: None,
        }
    }

    /// Sets the key under which a second call is the same one.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a call is answered, or there is a task")]
pub enum Called {
    /// It is a task.
    Task(SharedRecord),
    /// It ended within its tool's grace, and there is no task.
    Ended(InlineOutcome),
}

/// How an ordinary call ended.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "an answer is a result or an error")]
pub enum InlineOutcome {
    /// With a result, possibly one that tells of an error of the tool.
    Result(RawObject),
    /// With a protocol error.
    Error(ErrorRecord),
}

impl Engine {
    /// Begins an engine over a store.
    pub fn builder(store: impl Store) -> EngineBuilder {
        EngineBuilder::new(store)
    }

    /// The tools, in the order of registration.
    pub fn tools(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.core.tools.iter().map(|tool| &tool.definition)
    }

    /// The tool with this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.core.tool(name).map(|tool| &tool.definition)
    }

    /// Creates a task and starts its body. The task is durable when this returns, and it lives on when the caller does
    /// not wait for that: then either nothing was created, or the task runs to its end like any other.
    ///
    /// # Errors
    ///
    /// When the tool is unknown, its arguments do not fit or are others than before under the same idempotency key,
    /// there are too many tasks, the engine shuts down or the store fails; nothing was created then. Where that cannot
    /// be known, since neither the write was answered nor a read, a task without an idempotency key is removed as soon
    /// as the store can be reached, and one with a key is what the next call under it finds.
    pub async fn create(&self, task: NewTask) -> Result<SharedRecord, EngineError> {
        let tool = self.admit(&task)?;
        let room = self.core.room_for_tasks(1);
        let record = self.new_record(&task, &tool, Visibility::Task, room.is_some())?;
        let core = Arc::clone(&self.core);
        to_the_end(async move {
            let once = task.once.as_deref().map(limits::used_once);
            let once = once.is_some() && once == record.same_call;
            if let Some(known) = core.made_before(&record).await? {
                return if once { Err(answers_used()) } else { Ok(known) };
            }
            let mut place = core.admit(&record.owner).await?;
            let mut retry = Retry::new(Patience::Short);
            // Known before it is stored: a cancel that follows at once finds the run.
            let record = Arc::new(record);
            let run = match room {
                Some(mut room) => {
                    let run = Run::of_task(Arc::clone(&core), tool, Arc::clone(&record));
                    run.answers_to(task.caller);
                    Some((core.register(Arc::clone(&run), &mut room)?, run))
                }
                // Some worker takes it up, perhaps this one when it has room.
                None => None,
            };
            let record = loop {
                match core.store_new(&record, &mut place).await {
                    Ok(record) => break record,
                    // Both of two equal calls at once found none before them.
                    Err(err) if err.kind() == StoreErrorKind::Conflict && record.same_call.is_some() => {}
                    Err(err) => {
                        core.see_to(&record, once, &err);
                        return Err(err.into());
                    }
                }
                if let Some(known) = core.made_before(&record).await? {
                    return if once { Err(answers_used()) } else { Ok(known) };
                }
                // It was removed in this moment, or it cannot be read yet.
                retry.after(&core, storing::not_seen("the call's task")).await?;
            };
            core.created(&record);
            if let Some((registration, run)) = run {
                supervise::start(run, registration, task.arguments);
            }
            Ok(record)
        })
        .await
    }

    /// Calls a tool as [`create`](Self::create) does, but waits for [its grace](ToolDefinition::grace_ms) first, if it
    /// has one: a body that ends in time, without having asked or recorded a step, is answered in place and nothing is
    /// stored. If the caller stops waiting in that time, the call becomes a task that nobody knows.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub async fn call(&self, task: NewTask) -> Result<Called, EngineError> {
        let grace_ms = self.tool(&task.tool).and_then(ToolDefinition::grace_ms);
        let Some(grace_ms) = grace_ms.filter(|_| self.core.settings.role == Role::Both) else {
            return self.create(task).await.map(Called::Task);
        };
        let tool = self.admit(&task)?;
        let Some(mut room) = self.core.room_for_tasks(1) else {
            return self.create(task).await.map(Called::Task);
        };
        let record = self.new_record(&task, &tool, Visibility::Task, true)?;
        if record.same_call.is_some() {
            drop(room);
            return self.create(task).await.map(Called::Task);
        }
        let core = Arc::clone(&self.core);
        to_the_end(async move {
            let place = core.admit(&record.owner).await?;
            let run = Run::of_unborn_task(Arc::clone(&core), tool, record, place);
            run.answers_to(task.caller);
            let registration = core.register(Arc::clone(&run), &mut room)?;
            let (unborn, ended) = tokio::sync::oneshot::channel();
            supervise::start_unborn(Arc::clone(&run), registration, task.arguments, unborn);
            let _ = run.within(grace_ms, run.birth().decided()).await;
            if let Err(err) = run.be_born().await
                && run.birth().prevent().await
            {
                // Without a place for the task there is none, and the caller is told.
                run.stop(InterruptedKind::Ended);
                core.see_to(&run.record(), false, &err);
                return Err(err.into());
            }
            if run.birth().stage() == birth::Stage::Stored {
                return Ok(Called::Task(run.record()));
            }
            let end = ended.await.map_err(EngineError::internal)?;
            outcome_of(&core, end).map(Called::Ended)
        })
        .await
    }

    /// The task as it is now. A read: asking again changes nothing that anybody can see.
    ///
    /// # Errors
    ///
    /// When this owner has no such task, or the store fails.
    pub async fn get(&self, owner: &Owner, id: &TaskId) -> Result<SharedRecord, EngineError> {
        let record = self.find(owner, id).await?;
        Ok(self.core.see(record).await)
    }

    /// The same for whoever is nobody that waits for the task.
    async fn find(&self, owner: &Owner, id: &TaskId) -> Result<SharedRecord, EngineError> {
        let record = self.core.store.load(id, Parts::Head).await?;
        let Some(record) =
            record.filter(|record| record.owner == *owner && record.visibility == Visibility::Task)
        else {
            // The caller is told the same of every id; whoever looks into many polls finds here which one it was.
            tracing::debug!(task = in_short(id.as_str()), "the task was not found");
            return Err(EngineError::task_not_found());
        };
        let record = if record.is_due(self.core.clock.now_millis()) {
            self.core.overdue(record).await?.ok_or_else(EngineError::task_not_found)?
        } else {
            record
        };
        if record.forgotten_at.is_some() { Err(EngineError::task_expired()) } else { Ok(record) }
    }

    /// Gives answers to the task's outstanding questions, all or none. They are durable and visible when this returns,
    /// and applied also when the caller does not wait for that. Keys that are not outstanding are ignored, whatever
    /// their values are.
    ///
    /// # Errors
    ///
    /// When this owner has no such task, an answer does not fit its question, or the store fails.
    pub async fn update(
        &self,
        owner: &Owner,
        id: &TaskId,
        responses: Map<RawJson>,
    ) -> Result<SharedRecord, EngineError> {
        let (engine, owner, id) = (self.clone(), owner.clone(), id.clone());
        to_the_end(async move {
            let record = engine.get(&owner, &id).await?;
            engine.core.answer(record, responses).await
        })
        .await
    }

    /// Asks the task to stop. A task that waits or that nobody works on is cancelled when this returns; for a working
    /// one the wish is recorded, and its body is not waited for. On a task that has ended, nothing happens. The wish
    /// holds also when the caller does not wait for that.
    ///
    /// # Errors
    ///
    /// When this owner has no such task, or the store fails.
    pub async fn cancel(
        &self,
        owner: &Owner,
        id: &TaskId,
        reason: Option<String>,
    ) -> Result<SharedRecord, EngineError> {
        let (engine, owner, id) = (self.clone(), owner.clone(), id.clone());
        to_the_end(async move {
            let record = engine.get(&owner, &id).await?;
            let before = record.version;
            let record = engine.core.transition(record, Event::Cancel { reason }).await?;
            if record.version != before {
                let reason = record.cancel.as_ref().and_then(|cancel| cancel.reason.as_deref()).map(in_short);
                tracing::info!(task = %record.id, status = record.state.name(), reason, "a cancellation was asked for");
            }
            Ok(record)
        })
        .await
    }

    /// Runs the body once and waits for its result, without a task. If the caller stops waiting, the body is told to.
    ///
    /// # Errors
    ///
    /// When the tool is unknown, its arguments do not fit, there is no room for one more body, the engine shuts down,
    /// or the body asks a question.
    pub async fn call_inline(&self, task: NewTask) -> Result<InlineOutcome, EngineError> {
        let tool = self.admit(&task)?;
        let mut room = self.core.room_for_call()?;
        let record = self.new_record(&task, &tool, Visibility::Inline, true)?;
        let run = Run::of_call(Arc::clone(&self.core), tool, record);
        run.answers_to(task.caller);
        let registration = self.core.register(Arc::clone(&run), &mut room)?;
        let _stop = StopOnDrop(Arc::clone(&run));
        let body = tokio::spawn(supervise::run_inline(run, registration, task.arguments));
        outcome_of(&self.core, body.await.map_err(EngineError::internal)?)
    }

    /// Waits until the task is as wanted, or has ended, and gives it as it is then.
    ///
    /// # Errors
    ///
    /// When this owner has no such task, or it is removed meanwhile, or the store fails.
    pub async fn wait(
        &self,
        owner: &Owner,
        id: &TaskId,
        mut wanted: impl FnMut(&TaskRecord) -> bool,
    ) -> Result<SharedRecord, EngineError> {
        let mut changes = Listener::new(&self.core);
        loop {
            let record = self.get(owner, id).await?;
            if record.state.is_terminal() || wanted(&record) {
                return Ok(record);
            }
            loop {
                match changes.next(&self.core).await {
                    Some(Change::Written { id: changed, .. } | Change::Removed { id: changed })
                        if changed != *id => {}
                    Some(_) => break,
                    None => return Err(EngineError::shutting_down()),
                }
            }
        }
    }

    /// Waits until the task has ended.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub async fn settled(&self, owner: &Owner, id: &TaskId) -> Result<SharedRecord, EngineError> {
        self.wait(owner, id, |_| false).await
    }

    /// The tasks of an owner, the oldest first, in pages. The protocol has no list: a history for clients
    /// is a tool of yours over this, with the filters that make sense where you are (S-24). What is expired is left
    /// out, so that a page may be shorter than `limit` and still not be the last one.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn list(
        &self,
        owner: &Owner,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, EngineError> {
        let mut page = self.core.store.list(Some(owner), after, limit).await?;
        page.records.retain(|record| record.forgotten_at.is_none() && record.visibility == Visibility::Task);
        // Whose they are is not always known.
        page.unreadable.clear();
        Ok(page)
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.core.clock
    }

    /// Waits this many milliseconds of the engine's time.
    pub(crate) async fn pause(&self, millis: u64) {
        let core = &self.core;
        core.clock.sleep_until(&crate::clock::after(&core.now(), millis)).await;
    }

    /// How many bodies run in this process.
    #[must_use]
    pub fn running(&self) -> usize {
        *self.core.count.borrow()
    }

    /// Waits until no body runs in this process.
    pub async fn idle(&self) {
        // The sender is in `self`; waiting cannot fail.
        let _ = self.core.count.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Takes up live tasks that nobody works on, as those of a dead process: runs them again or fails them, as their
    /// tools want. Gives their number.
    ///
    /// An engine does this by itself when it is built, when it hears of such a task, and when a lease has ended. Call
    /// it where you know sooner, as after a change to the store that tells nobody, or in a test.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn recover(&self) -> Result<usize, EngineError> {
        Ok(self.core.recover().await?)
    }

    fn admit(&self, task: &NewTask) -> Result<Arc<Tool>, EngineError> {
        if self.core.settings.role == Role::Work {
            return Err(EngineError::new(EngineErrorKind::WrongRole, "this process takes no calls"));
        }
        if *self.core.closing.borrow() {
            return Err(EngineError::shutting_down());
        }
        let tool = self.core.tool(&task.tool).ok_or_else(|| EngineError::unknown_tool(&task.tool))?;
        (tool.check)(&task.arguments)?;
        Ok(Arc::clone(tool))
    }

    fn new_record(
        &self,
        task: &NewTask,
        tool: &Tool,
        visibility: Visibility,
        runs_here: bool,
    ) -> Result<TaskRecord, EngineError> {
        let core = &self.core;
        let id = core.ids.task_id().map_err(EngineError::internal)?;
        let definition = &tool.definition;
        let mut record =
            TaskRecord::new(id, task.owner.clone(), &task.method, tool.fingerprint.clone(), core.now());
        record.generation = task.generation;
        if let Some(caller) = &task.caller {
            record.trace = TraceContext { baggage: None, ..caller.trace().clone() };
        }
        record.visibility = visibility;
        record.status_message = definition.status_message().map(str::to_owned);
        let ttl_ms = definition.ttl_ms().unwrap_or(core.settings.default_ttl_ms);
        record.ttl_ms = Some(ttl_ms.min(core.settings.max_ttl_ms));
        record.abandon_ms = core.settings.abandon_ms;
        let poll_ms = core.settings.poll_ms.or(definition.poll_ms()).unwrap_or(DEFAULT_POLL_MS);
        record.poll_interval_ms = Some(poll_ms.min(LONGEST_MS));
        record.retain_ms = definition.retain_ms();
        if runs_here {
            record.fence = 1;
            record.attempt = 1;
            record.lease = Some(core.lease(1));
        }
        if visibility == Visibility::Task {
            let named =
                definition.idempotency_argument().and_then(|name| limits::text_of(&task.arguments, name));
            let key = task.idempotency_key.clone().or(named);
            record.same_call = match (key, &task.once) {
                (Some(key), _) => Some(limits::same_call(&task.owner, &task.tool, &key)),
                (None, Some(once)) => Some(limits::used_once(once)),
                (None, None) => None,
            };
        } else {
            record.abandon_ms = Some(core.settings.round_ms);
            record.retain_ms = Some(core.settings.round_ms);
        }
        if visibility == Visibility::Task || !definition.inputs().is_empty() {
            if !definition.inputs().is_empty() {
                record.can_be_asked.clone_from(&task.can_be_asked);
            }
            record.params_digest = digest::of_json_text(task.arguments.as_str());
            // Whoever takes up a task that is not begun here needs them as well, and whoever runs it again.
            if record.lease.is_none() || definition.restart() == Restart::Rerun {
                let params = Params { name: task.tool.clone(), arguments: &task.arguments };
                record.params = Some(RawObject::new(&params).map_err(EngineError::internal)?);
            }
        }
        for (key, response) in &task.answers {
            if let Some(declared) = definition.inputs().iter().find(|input| input.key() == key) {
                let Some(mut input) = declared.record(key) else { continue };
                input.state = InputState::Answered { response: response.clone() };
                record.inputs.push(input);
            }
        }
        Ok(record)
    }
}

/// The original parameters as they are kept: the arguments letter for letter, and nothing about the client.
#[derive(Serialize, Deserialize)]
struct Params<A> {
    name: String,
    arguments: A,
}

/// How a call ended that is no task.
fn outcome_of(core: &Core, end: End) -> Result<InlineOutcome, EngineError> {
    match end {
        End::Finish(Outcome::Completed { result }) => Ok(InlineOutcome::Result(result)),
        End::Finish(Outcome::Failed { error, .. }) => Ok(InlineOutcome::Error(error)),
        End::Finish(Outcome::Cancelled { message }) => {
            let result = core.full_result(text_result(message, true)).map_err(EngineError::internal)?;
            Ok(InlineOutcome::Result(result))
        }
        End::CannotAsk => {
            Err(EngineError::new(EngineErrorKind::InputUnavailable, "the tool asks, and nobody can be asked"))
        }
        End::Release | End::Lost => Err(EngineError::shutting_down()),
    }
}

/// What whoever uses answers for a second task is told.
fn answers_used() -> EngineError {
    let message = "a task was made with these answers, which count once";
    EngineError::new(EngineErrorKind::AnswersUsed, message)
}

/// The beginning of a text that a caller chose, for the log.
fn in_short(text: &str) -> &str {
    text.char_indices().nth(200).map_or(text, |(end, _)| &text[..end])
}

/// Does what must not stop half-way when its caller gives up, in a task of its own: what is begun is finished.
async fn to_the_end<T: Send + 'static>(
    operation: impl Future<Output = Result<T, EngineError>> + Send + 'static,
) -> Result<T, EngineError> {
    // It is large, and spawning moves it about.
    let done = tokio::spawn(Box::pin(operation.instrument(tracing::Span::current())));
    done.await.unwrap_or_else(|err| Err(EngineError::internal(err)))
}

impl From<Unwritten> for EngineError {
    fn from(unwritten: Unwritten) -> Self {
        match unwritten {
            Unwritten::Gone => Self::task_not_found(),
            Unwritten::Store(err) => err.into(),
            Unwritten::Illegal(illegal) => Self::internal(illegal),
        }
    }
}

/// Tells the body of an ordinary call to stop when nobody waits for its result any more.
struct StopOnDrop(Arc<Run>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop(InterruptedKind::Cancelled);
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&str> = self.tools().map(ToolDefinition::name).collect();
        f.debug_struct("Engine")
            .field("tools", &tools)
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}
