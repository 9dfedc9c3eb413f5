//! The supervisor of one run: whatever the body does, the run ends in a recorded state.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks_types::RawObject;
use mcp_tasks_types::v2026_07_28::CallToolResult;
use tokio::task::JoinHandle;
use tracing::Instrument;

use super::birth::Unborn;
use super::core::{Core, Patience, Registration, Unwritten};
use super::run::{Fault, Run};
use crate::clock::after;
use crate::context::TaskContext;
use crate::error::{InterruptedKind, ToolError, ToolErrorKind, with_causes};
use crate::lifecycle::{Event, INTERNAL_ERROR, Outcome};
use crate::output::text_result;
use crate::panic::{caught, caught_at_once};
use crate::record::{CancelRecord, ErrorRecord};
use crate::store::StoreError;
use crate::tool::{Restart, ToolCall};

/// How often an end is tried to be recorded where that panics, and how long is waited in between.
const MAX_PANICS: u32 = 5;
const PANIC_PAUSE_MS: u64 = 100;

/// What a run left behind.
pub(super) enum End {
    /// An end of the task.
    Finish(Outcome),
    /// The task is handed back and goes on elsewhere.
    Release,
    /// Nothing: the task has ended or belongs to another worker.
    Lost,
    /// The body asked where nobody can be asked.
    CannotAsk,
}

/// A body in its own task, ended with its supervisor.
struct Body(JoinHandle<Result<CallToolResult, ToolError>>);

impl Drop for Body {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts the body and, in a task of its own, its supervisor.
pub(super) fn start(run: Arc<Run>, registration: Registration, arguments: RawObject) {
    let body = spawn_body(&run, arguments);
    // It is large, and spawning moves it about.
    tokio::spawn(Box::pin(async move {
        let end = drive_surely(&run, body).await;
        settle_surely(&run, end).await;
        drop(registration);
    }));
}

/// The same for a call that may end before it is a task; its end is then told instead of recorded.
pub(super) fn start_unborn(run: Arc<Run>, registration: Registration, arguments: RawObject, unborn: Unborn) {
    let body = spawn_body(&run, arguments);
    tokio::spawn(async move {
        let (body, end) = drive_surely(&run, body).await;
        if run.birth().prevent().await {
            drop(body);
            // Whoever called has gone away: then nobody wants to know.
            let _ = unborn.send(end);
        } else {
            settle_surely(&run, (body, end)).await;
        }
        drop(registration);
    });
}

/// Runs the body of an ordinary call to its end.
pub(super) async fn run_inline(run: Arc<Run>, registration: Registration, arguments: RawObject) -> End {
    let body = spawn_body(&run, arguments);
    let end = drive_surely(&run, body).await.1;
    drop(registration);
    end
}

fn spawn_body(run: &Arc<Run>, arguments: RawObject) -> Body {
    let call = ToolCall::new(arguments, TaskContext::new(Arc::clone(run)));
    let start = run.tool().run;
    // The caller's span goes along; task-locals do not.
    let body = async move { start(call).await }.instrument(tracing::Span::current());
    Body(tokio::spawn(body))
}

/// A run ends also when code that its supervisor calls panics, as a clock.
async fn drive_surely(run: &Arc<Run>, body: Body) -> (Option<Body>, End) {
    let driven = caught("supervising a run", drive(run, body)).await;
    driven.unwrap_or_else(|| (None, End::Finish(failed("the run could not be supervised".to_owned()))))
}

/// The same for what is left to do then.
async fn settle_surely(run: &Arc<Run>, (body, end): (Option<Body>, End)) {
    let Some(event) = event_of(run, end) else { return };
    let hands_over = matches!(event, Event::Release { .. });
    // A body that still runs is dropped after its cancellation is recorded, since it may not let itself be stopped; but
    // before its task is handed over, so that two bodies run side by side for as short as possible.
    let body = body.filter(|_| !hands_over);
    for _ in 0..MAX_PANICS {
        if caught("recording an end", record_end(run, event.clone())).await.is_some() {
            break;
        }
        // The clock may be what panicked.
        tokio::time::sleep(Duration::from_millis(PANIC_PAUSE_MS)).await;
    }
    drop(body);
}

/// Waits for the body, but no longer than the grace once it was told to stop. The body comes back if it still runs.
async fn drive(run: &Arc<Run>, mut body: Body) -> (Option<Body>, End) {
    let deadline = async {
        match run.tool().definition.deadline_ms() {
            Some(deadline_ms) => run.core().clock.sleep_until(&run.time_after(deadline_ms)).await,
            None => std::future::pending().await,
        }
    };
    let joined = tokio::select! {
        biased;
        joined = &mut body.0 => Some(joined),
        _ = run.stopped() => within_grace(run, &mut body).await,
        () = deadline => {
            run.stop(InterruptedKind::Deadline);
            within_grace(run, &mut body).await
        }
    };
    let core = run.core();
    let Some(joined) = joined else {
        return (Some(body), interrupted(run, None));
    };
    if joined.is_err() {
        tracing::error!(task = %run.id(), tool = run.tool().definition.name(), "the tool's body panicked");
    }
    let end = match joined {
        _ if run.found_fault().is_some() => interrupted(run, None),
        // A body that got through to its result in time has one, whatever was asked for meanwhile (C-75).
        Ok(Ok(result)) => End::Finish(completed(core, result)),
        Ok(Err(error)) if run.interruption().is_some() => interrupted(run, Some(error)),
        Ok(Err(error)) => End::Finish(of_error(core, error)),
        Err(_) if run.interruption().is_some() => interrupted(run, None),
        Err(_) => End::Finish(failed("the tool failed unexpectedly".to_owned())),
    };
    let end = match end {
        End::Finish(outcome) => End::Finish(within_limit(core, outcome)),
        end => end,
    };
    (None, end)
}

/// An end that is too large to be kept and sent is a failure that says so.
pub(super) fn within_limit(core: &Core, outcome: Outcome) -> Outcome {
    let (what, size) = match &outcome {
        Outcome::Completed { result } => ("result", result.as_str().len()),
        Outcome::Failed { message, .. } | Outcome::Cancelled { message } => ("error", message.len()),
    };
    core.check_size(what, size).map_or_else(failed, |()| outcome)
}

type Joined = Result<Result<CallToolResult, ToolError>, tokio::task::JoinError>;

async fn within_grace(run: &Arc<Run>, body: &mut Body) -> Option<Joined> {
    let core = run.core();
    let mut closing = core.closing.subscribe();
    let shutdown_grace_ms = core.settings.shutdown_grace_ms;
    let grace_ms = match run.interruption() {
        Some(InterruptedKind::Shutdown) => shutdown_grace_ms,
        _ => run.tool().definition.cancel_grace_ms(),
    };
    let mut deadline = after(&core.now(), grace_ms);
    loop {
        let closed = *closing.borrow_and_update();
        if closed {
            deadline = deadline.min(after(&core.now(), shutdown_grace_ms));
        }
        tokio::select! {
            biased;
            joined = &mut body.0 => return Some(joined),
            () = core.clock.sleep_until(&deadline) => return None,
            _ = closing.changed(), if !closed => {}
        }
    }
}

/// The end of a run that was told to stop. The engine goes by its own reason, never by the body's error.
fn interrupted(run: &Run, error: Option<ToolError>) -> End {
    match run.found_fault() {
        Some(Fault::CannotAsk) => return End::CannotAsk,
        Some(Fault::Failed(message)) => return End::Finish(failed(message.clone())),
        None => {}
    }
    match run.interruption() {
        Some(InterruptedKind::Cancelled) => {
            // Dropping another error is the tool's own code.
            let said = caught_at_once("an error", || match error.map(ToolError::into_kind) {
                Some(ToolErrorKind::Cancelled(message)) => Some(message),
                _ => None,
            });
            let message = match said.flatten() {
                Some(message) => message,
                // An ordinary call has no record of the wish; it ends because nobody waits for it.
                _ => run.record().cancel.as_ref().map(CancelRecord::message).unwrap_or_default(),
            };
            End::Finish(Outcome::Cancelled { message })
        }
        // An ordinary call has nothing to record and is refused instead.
        Some(InterruptedKind::Shutdown)
            if run.token().is_none()
                || (run.is_call() && run.birth().is_pending())
                || run.tool().definition.restart() == Restart::Rerun =>
        {
            End::Release
        }
        Some(InterruptedKind::Shutdown) => {
            End::Finish(failed("the server was stopped before the task ended".to_owned()))
        }
        Some(InterruptedKind::Deadline) => {
            let deadline_ms = run.tool().definition.deadline_ms().unwrap_or_default();
            End::Finish(failed(format!("the tool did not come to an end within {deadline_ms} ms")))
        }
        Some(InterruptedKind::Ended | InterruptedKind::LeaseLost) => End::Lost,
        Some(InterruptedKind::Fault) | None => End::Finish(failed("the run could not go on".to_owned())),
    }
}

fn completed(core: &Core, result: CallToolResult) -> Outcome {
    match core.full_result(result) {
        Ok(result) => Outcome::Completed { result },
        Err(reason) => failed(reason),
    }
}

fn of_error(core: &Core, error: ToolError) -> Outcome {
    match error.into_kind() {
        ToolErrorKind::Tool(message) => completed(core, text_result(message, true)),
        // The text, and what dropping it does, is the tool's own code.
        ToolErrorKind::Other(source) => match caught_at_once("an error's text", move || source.to_string()) {
            Some(text) => completed(core, text_result(text, true)),
            None => failed("the tool failed, and its error cannot be told".to_owned()),
        },
        ToolErrorKind::Protocol { code, message } => {
            Outcome::Failed { error: ErrorRecord::new(code, &message), message }
        }
        ToolErrorKind::Cancelled(message) => Outcome::Cancelled { message },
        // No run was told to stop and yet its body says so: it passed on another run's error.
        ToolErrorKind::Interrupted(interrupted) => failed(interrupted.to_string()),
    }
}

/// A fault of ours or of the tool's code, which the protocol calls an internal error.
pub(super) fn failed(message: String) -> Outcome {
    Outcome::Failed { error: ErrorRecord::new(INTERNAL_ERROR, &message), message }
}

/// What is recorded of an end.
fn event_of(run: &Run, end: End) -> Option<Event> {
    let token = run.token()?;
    match end {
        End::Finish(outcome) => Some(Event::Finish { token, outcome }),
        End::Release => Some(Event::Release { token }),
        End::Lost => None,
        End::CannotAsk => {
            let outcome = failed("the tool asks where nobody can be asked".to_owned());
            Some(Event::Finish { token, outcome })
        }
    }
}

/// Records the end. One that the store refuses for good becomes a failure that says so.
async fn record_end(run: &Arc<Run>, event: Event) {
    let Some(refusal) = try_to_record_end(run, event.clone()).await else { return };
    let Event::Finish { token, .. } = event else { return give_up_end(run, &refusal) };
    tracing::error!(task = %run.id(), error = with_causes(&refusal), "the store refuses the end of the run");
    let outcome = failed("the result cannot be stored".to_owned());
    if let Some(refusal) = try_to_record_end(run, Event::Finish { token, outcome }).await {
        give_up_end(run, &refusal);
    }
}

/// The lease runs out and the task is taken up again, by whoever looks at that time.
fn give_up_end(run: &Run, refusal: &StoreError) {
    tracing::error!(task = %run.id(), error = with_causes(refusal), "the end of the run could not be recorded");
    run.core().timer.notify_one();
}

/// Gives why the store refuses the end, if it does.
async fn try_to_record_end(run: &Arc<Run>, event: Event) -> Option<StoreError> {
    let name = event.name();
    match run.core().transition_surely(run.record(), event, Patience::Endless).await {
        Ok(record) => {
            tracing::info!(task = %record.id, status = record.state.name(), event = name, "the run is over");
        }
        // A late writer is normal: somebody else decided first (P058).
        Err(Unwritten::Illegal(illegal)) => {
            tracing::debug!(task = %run.id(), reason = %illegal, "the run came too late");
        }
        Err(Unwritten::Gone) => tracing::debug!(task = %run.id(), "the task of the run is gone"),
        Err(Unwritten::Store(err)) => return Some(err),
    }
    None
}
