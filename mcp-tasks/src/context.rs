//! What a body may do with its task: say where it stands, ask, record steps, and learn that it has to stop.

use std::fmt;
use std::sync::Arc;

use mcp_tasks_types::v2026_07_28::{InputRequest, LoggingLevel};
use mcp_tasks_types::{RawJson, TaskId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::digest;
use crate::engine::{Run, SharedCaller, Told};
use crate::error::Interrupted;
use crate::finite::check_finite;
use crate::input::{Asked, Question, Questions};
use crate::lifecycle::Event;
use crate::owner::Owner;
use crate::record::{InputRecord, InputState, Progress, StepRecord, TaskRecord, TraceContext};
use crate::tool::kind_of;

/// The body's view of its task. Cheap to clone; every clone speaks for the same run.
///
/// Each method is a checkpoint: once the run is over, it gives [`Interrupted`], which `?` passes on. The engine knows
/// that the run is over, so whatever error a body returns after that counts as the interruption.
#[derive(Clone)]
pub struct TaskContext {
    run: Arc<Run>,
}

impl TaskContext {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// The task's id. An ordinary call that became no task has one too, which nobody else knows.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        self.run.id()
    }

    /// Whose task it is: whoever sent the request that made it, also when that request and the process it came to are
    /// gone.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.run.record().owner.clone()
    }

    /// Tells people where the task stands. Recorded and visible when it returns.
    ///
    /// A body that runs again repeats what it said long ago. As long as the record has steps or answers ahead of it,
    /// that is not written, so that nobody sees the task go backwards.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn status(&self, message: impl Into<String>) -> Result<(), Interrupted> {
        self.checkpoint()?;
        match self.run.task_token() {
            Some(_) if self.run.is_behind() => Ok(()),
            Some(token) => {
                let message = message.into();
                self.run.check_size("status", message.len())?;
                self.run.emit(Event::Status { token, message }).await
            }
            None => Ok(()),
        }
    }

    /// Tells how far the work is, of how much in all if that is known, and what is being done.
    ///
    /// Whoever waits for the answer of an ordinary call hears it at once, if its request asked for progress; where it
    /// comes faster than ten times a second, what is older is left out. Of a task it is recorded, and the message is
    /// its [status](Self::status): there is nothing that a client of the task could be sent (C-87). That is a write, so
    /// it is done four times a second at most. Less than before, or no number, is told to nobody.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn progress(
        &self,
        done: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<(), Interrupted> {
        self.checkpoint()?;
        let run = &self.run;
        if !done.is_finite() || !run.is_further(done) {
            return Ok(());
        }
        let progress = Progress::new(done, total.filter(|total| total.is_finite()));
        let message = message.map(str::to_owned);
        if let Some(caller) = run.listener()
            && caller.wants_progress()
        {
            let told = Told::Progress { progress: progress.clone(), message: message.clone() };
            self.tell_caller(&caller, told).await?;
        }
        match run.task_token() {
            Some(token) if !run.is_behind() && run.may_write_progress() => {
                let length = message.as_deref().map_or(0, str::len);
                run.check_size("status", length)?;
                run.emit(Event::Progress { token, progress, message }).await
            }
            _ => Ok(()),
        }
    }

    /// Sends a log message to whoever waits for the answer of an ordinary call, if its request asked for messages of
    /// this level (X-31). Nobody else hears it: neither the client of a task (C-87) nor the log of this program. Of
    /// more than a hundred at once, and a hundred a second after that, it is told how many were left out.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn log(&self, level: LoggingLevel, data: impl Into<Value>) -> Result<(), Interrupted> {
        self.checkpoint()?;
        match self.run.listener() {
            Some(caller) if caller.wants_log(level) => {
                let logger = Some(self.run.tool().definition.name().to_owned());
                self.tell_caller(&caller, Told::Log { level, logger, data: data.into() }).await
            }
            _ => Ok(()),
        }
    }

    async fn tell_caller(&self, caller: &SharedCaller, told: Told) -> Result<(), Interrupted> {
        // Whoever reads slowly must not keep a run from ending.
        tokio::select! {
            biased;
            interrupted = self.run.stopped() => Err(interrupted),
            () = caller.tell(told) => Ok(()),
        }
    }

    /// The place of the call in a trace, to be handed on to the services that the body calls.
    #[must_use]
    pub fn trace_context(&self) -> TraceContext {
        self.run.caller().map_or_else(|| self.run.record().trace.clone(), |caller| caller.trace().clone())
    }

    /// Sets how often a client should ask, in milliseconds. Visible when it returns.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn set_poll_interval_ms(&self, poll_interval_ms: u64) -> Result<(), Interrupted> {
        self.tell(|token| Event::PollInterval { token, poll_interval_ms }).await
    }

    /// Lengthens the task's lifetime to this many milliseconds from its creation (C-39), or to as many as the engine
    /// allows. A lifetime that is longer, or has no end, stays as it is. Visible when it returns.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn extend_ttl_ms(&self, ttl_ms: u64) -> Result<(), Interrupted> {
        let ttl_ms = ttl_ms.min(self.run.max_ttl_ms());
        self.tell(|token| Event::ExtendTtl { token, ttl_ms }).await
    }

    /// Leaves the task to work that goes on outside, and ends the run: `return Err(ctx.leave().await.into())`. The task
    /// stays as it is until somebody says how it goes on, by [`Engine::outside`](crate::Engine::outside), or until its
    /// lifetime is over. An ordinary call cannot be left; then the run fails.
    pub async fn leave(&self) -> Interrupted {
        if self.run.task_token().is_none() {
            return self.run.fault("the tool leaves its task, and there is none".to_owned());
        }
        match self.tell(|token| Event::Leave { token }).await {
            Ok(()) => self.run.stopped().await,
            Err(interrupted) => interrupted,
        }
    }

    /// Writes what only a task has a place for.
    async fn tell(&self, event: impl FnOnce(u64) -> Event) -> Result<(), Interrupted> {
        self.checkpoint()?;
        match self.run.task_token() {
            Some(token) => self.run.emit(event(token)).await,
            None => Ok(()),
        }
    }

    /// Whether the run may go on, for stretches of work without any other method.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub fn checkpoint(&self) -> Result<(), Interrupted> {
        self.run.checkpoint()
    }

    /// Waits until the run is over, for a `select!` beside work that knows no checkpoints.
    pub async fn cancelled(&self) -> Interrupted {
        self.run.stopped().await
    }

    /// Does a piece of work once in the task's life: its value is recorded, and a body that runs again gets the value
    /// from the record.
    ///
    /// If the process dies between the work and its record, the work is done again; give the
    /// [`fencing_token`](Self::fencing_token) and the task's id to an effect that has to be done once. A name that is
    /// used again in the same run gets a number. An error is not recorded. A body that was changed so that a step gives
    /// another type fails the task instead of going on with a value of the old one.
    ///
    /// The error of the work has to be named where nothing else says what it is: `?` behind the call takes any, so
    /// write `Ok::<_, ToolError>(..)` at the end of the work, or let it be a function with a return type.
    ///
    /// ```
    /// use mcp_tasks::{TaskContext, ToolError};
    ///
    /// async fn fetch(url: &str) -> Result<String, ToolError> {
    ///     Ok(format!("what {url} says"))
    /// }
    ///
    /// async fn body(ctx: TaskContext) -> Result<String, ToolError> {
    ///     let page = ctx.step("fetch", async || fetch("https://example.org").await).await?;
    ///     let words = ctx.step("count", async || Ok::<_, ToolError>(page.split(' ').count())).await?;
    ///     Ok(format!("{words} words"))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The work's own error, or that the run is over.
    pub async fn step<T, E, F, W>(&self, name: impl Into<String>, work: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Interrupted>,
        F: FnOnce() -> W,
        W: Future<Output = Result<T, E>>,
    {
        self.checkpoint()?;
        let Some(token) = self.run.token() else {
            return work().await;
        };
        let name = self.run.use_step(&name.into());
        let fingerprint = std::any::type_name::<T>();
        if let Some(recorded) = self.run.recorded_step(&name) {
            let value = recorded.value.get().ok().filter(|_| recorded.fingerprint == fingerprint);
            return value.ok_or_else(|| {
                self.run
                    .fault(format!("the tool does something else in step `{name}` than before the restart"))
                    .into()
            });
        }
        let value = work().await?;
        let unwritten = |err: &dyn fmt::Display| {
            self.run.fault(format!("the value of step `{name}` cannot be written: {err}"))
        };
        check_finite(&value).map_err(|err| unwritten(&err))?;
        let text = RawJson::new(&value).map_err(|err| unwritten(&err))?;
        self.run.check_size(&format!("value of step `{name}`"), text.as_str().len())?;
        self.run.record_step(token, StepRecord::new(name, fingerprint, text)).await?;
        Ok(value)
    }

    /// Grows each time the task is taken up; lets the receiver of an effect refuse a run that was overtaken.
    #[must_use]
    pub fn fencing_token(&self) -> u64 {
        self.run.token().unwrap_or(0)
    }

    /// Asks several questions at once and waits for all answers, which may come together or one by one, and however
    /// often the server is restarted meanwhile: what is answered stays answered.
    ///
    #[cfg_attr(feature = "macros", doc = "```")]
    #[cfg_attr(not(feature = "macros"), doc = "```text")]
    /// use mcp_tasks::{Answer, Input, RootsInput, TaskContext, ToolError, task_tool, tool_type};
    ///
    /// #[tool_type]
    /// struct Name {
    ///     name: String,
    /// }
    ///
    /// /// Makes a project.
    /// #[task_tool(restart = "rerun")]
    /// async fn make_project(
    ///     ctx: TaskContext,
    ///     /// What shall it be called?
    ///     name: Input<Name>,
    ///     folders: RootsInput,
    /// ) -> Result<String, ToolError> {
    ///     let (name, folders) = ctx.ask_all((&name, &folders)).await?;
    ///     let Answer::Accept(Name { name }) = name else {
    ///         return Err(ToolError::cancelled("It has no name."));
    ///     };
    ///     Ok(format!("{name} in one of {} folders", folders.len()))
    /// }
    /// # fn is_a_tool<T: mcp_tasks::TaskTool>() {}
    /// # is_a_tool::<make_project>();
    /// ```
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask_all<Q: Questions>(&self, questions: Q) -> Result<Q::Answers, Interrupted> {
        let asked = questions.all_asked();
        let keys: Vec<_> = asked.iter().map(|asked| asked.key).collect();
        let mut responses = Vec::with_capacity(keys.len());
        for (response, key) in self.ask(asked, None).await?.into_iter().zip(keys) {
            // This run set no limit, so an earlier one of another body did.
            let late = || self.answer_unreadable(key, "no answer came in time");
            responses.push(response.ok_or_else(late)?);
        }
        questions.read_all(&responses).map_err(|unread| self.answer_unreadable(unread.key, &unread.message))
    }

    /// Whether the client has declared that it can be asked this, for a tool that can do without
    /// (`require_input_capability = false`). Where nobody knows, as of a call that did not come over the protocol, it
    /// is taken to be so. The same each time a body is run.
    #[must_use]
    pub fn can_ask<Q: Question>(&self, question: &Q) -> bool {
        let Asked { key, request } = question.asked();
        let inputs = self.run.tool().definition.inputs();
        let Some(declared) = inputs.iter().find(|input| input.key() == key) else { return false };
        let kind = match request {
            None => declared.kind(),
            Some(make) => match make(declared.message()).map(|request| request.get::<InputRequest>()) {
                Ok(Ok(request)) => kind_of(&request),
                _ => return false,
            },
        };
        self.run.record().can_be_asked.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// Asks declared questions at once and waits for all answers; nothing for those that none came for within the time.
    pub(crate) async fn ask(
        &self,
        asked: Vec<Asked>,
        within_ms: Option<u64>,
    ) -> Result<Vec<Option<RawJson>>, Interrupted> {
        self.checkpoint()?;
        let run = &self.run;
        let mut questions = Vec::with_capacity(asked.len());
        for asked in asked {
            let declared = asked.key;
            questions.push((declared, self.question(asked)?));
        }
        let Some(token) = run.token() else {
            return Err(run.cannot_ask());
        };
        let mut keys = Vec::with_capacity(questions.len());
        let mut new = Vec::new();
        for (declared, mut question) in questions {
            let key = run.use_key(declared);
            match run.record().input(&key) {
                Some(input) if input.fingerprint != question.fingerprint => {
                    return Err(run.fault(format!(
                        "the tool asks something else under `{key}` than before the restart"
                    )));
                }
                Some(_) => {}
                None => {
                    question.key.clone_from(&key);
                    question.expires_at = within_ms.map(|within_ms| run.time_after(within_ms));
                    new.push(question);
                }
            }
            keys.push(key);
        }
        let mut withdrawal = Withdrawal { run, token, keys: &keys, asking: None, pending: true };
        if !new.is_empty() {
            let asking = withdrawal.asking.insert(run.ask(token, new));
            let asked = asking.await;
            withdrawal.asking = None;
            asked
                .unwrap_or_else(|_| Err(run.fault(format!("`{}` could not be asked", keys.join("`, `")))))?;
        }
        let answer = || run.wait(|record| keys.iter().map(|key| answer_in(record, key)).collect());
        let first = match run.tool().definition.park_after_ms() {
            Some(park_after_ms) => run.within(park_after_ms, answer()).await,
            None => Some(answer().await),
        };
        let answered = match first {
            Some(answered) => answered,
            None => match run.emit(Event::Park { token }).await {
                // The answer may have come first; otherwise this run is over, and another one gets it.
                Ok(()) => answer().await,
                Err(interrupted) => Err(interrupted),
            },
        };
        withdrawal.pending = false;
        answered
    }

    /// What is asked, under the declared key. What the client has to be capable of beyond what the tool declares is
    /// looked at here where there is a task (X-54), and where the answer of a call asks there.
    fn question(&self, asked: Asked) -> Result<InputRecord, Interrupted> {
        let run = &self.run;
        let key = asked.key;
        let Some(declared) = run.tool().definition.inputs().iter().find(|input| input.key() == key) else {
            return Err(run.fault(format!("the tool asks for `{key}`, which it does not declare")));
        };
        let Some(make) = asked.request else {
            return declared
                .record(key)
                .ok_or_else(|| run.fault(format!("the tool asks for `{key}` and does not say what")));
        };
        let request = make(declared.message())
            .map_err(|reason| run.fault(format!("the question `{key}` cannot be asked: {reason}")))?;
        run.check_size(&format!("question `{key}`"), request.as_str().len())?;
        if let Ok(typed) = request.get::<InputRequest>()
            && let kind = kind_of(&typed)
            && kind != declared.kind()
            && run.task_token().is_some()
            && run.record().can_be_asked.as_ref().is_some_and(|kinds| !kinds.contains(&kind))
        {
            return Err(run.fault(format!(
                "the question `{key}` needs what the client has not declared: `{}`",
                kind.needs()
            )));
        }
        let fingerprint = digest::of_json_text(request.as_str());
        Ok(InputRecord::new(key, request, fingerprint))
    }

    /// An answer that passed its form and that the tool's type still does not take: the type was changed meanwhile.
    pub(crate) fn answer_unreadable(&self, key: &str, message: &str) -> Interrupted {
        self.run.fault(format!("the recorded answer to `{key}` does not fit the tool any more: {message}"))
    }
}

impl fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskContext").field("task_id", self.task_id()).finish_non_exhaustive()
    }
}

/// The answer to a question, or that none came in time; nothing while it is waited for.
fn answer_in(record: &TaskRecord, key: &str) -> Option<Option<RawJson>> {
    match record.input(key).map(|input| &input.state) {
        Some(InputState::Answered { response }) => Some(Some(response.clone())),
        Some(InputState::Expired) => Some(None),
        _ => None,
    }
}

/// Takes questions back when the body stops waiting for it, as in a `select!` that something else wins.
struct Withdrawal<'a> {
    run: &'a Arc<Run>,
    token: u64,
    keys: &'a [String],
    /// The questions on their way into the record; they are taken back when they are there.
    asking: Option<JoinHandle<Result<(), Interrupted>>>,
    pending: bool,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        // A run that is over leaves its questions to whoever takes the task up next.
        if !self.pending || self.run.interruption().is_some() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (run, token, keys) = (Arc::clone(self.run), self.token, self.keys.to_vec());
        let asking = self.asking.take();
        runtime.spawn(async move {
            if let Some(asking) = asking {
                // Whether it could be asked, the withdrawal finds out.
                let _ = asking.await;
            }
            for key in keys {
                // If it comes too late, there is nothing to take back.
                let _ = run.emit(Event::Withdraw { token, key }).await;
            }
        });
    }
}
