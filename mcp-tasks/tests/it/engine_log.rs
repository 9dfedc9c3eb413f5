//! The log: what people need to follow a task, and nothing that belongs to a task's owner.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, OnceLock};

use mcp_tasks::InlineOutcome;
use mcp_tasks::record::State;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span;

use crate::support::{Bench, accept, answers, bench};

/// Keeps every event and span of this thread, of any level and from whatever code.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Log {
    fn line(&self, level: tracing::Level, write: impl FnOnce(&mut Fields<'_>)) {
        let mut text = self.0.lock().unwrap();
        write!(text, "{level} ").unwrap();
        write(&mut Fields(&mut text));
        text.push('\n');
    }

    /// Begins to listen on this thread, until the guard is dropped.
    pub(crate) fn listen(&self) -> tracing::subscriber::DefaultGuard {
        // Whether a place in the code has anybody to tell is asked once, of the thread that comes there first, as long
        // as there is one listener; and that may be the thread of another test, where nobody listens.
        static OTHER: OnceLock<tracing::Dispatch> = OnceLock::new();
        OTHER.get_or_init(|| tracing::Dispatch::new(Self::default()));
        tracing::subscriber::set_default(self.clone())
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.line(*span.metadata().level(), |fields| span.record(fields));
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        self.line(tracing::Level::TRACE, |fields| values.record(fields));
    }
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        self.line(*event.metadata().level(), |fields| event.record(fields));
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Does everything to tasks that has a payload, and each payload says `hunter2`.
async fn everything_with_secrets(bench: &Bench) -> usize {
    let secret = "hunter2";
    let ends = [
        ("return", secret),
        ("tool error", secret),
        ("any error", secret),
        ("protocol error", secret),
        ("give up", secret),
        ("panic", secret),
    ];
    for (operation, operand) in ends {
        let script =
            json!([["status", secret], ["text step", secret], ["ask", "approve"], [operation, operand]]);
        let id = bench.create(script.clone()).await;
        bench.asked(&id, 1).await;
        let refused = bench.update(&id, json!({"approve": {"action": secret}})).await;
        refused.unwrap_err();
        bench.update(&id, json!({"approve": accept(true), "hunter2": {}})).await.unwrap();
        bench.settled(&id).await;
        bench.engine.create(bench.task("rerun", &json!(secret))).await.unwrap_err();
        bench.engine.create(bench.task("no such tool", &json!(secret))).await.unwrap_err();
        let inline = bench.engine.call_inline(bench.task("rerun", &json!([[operation, operand]]))).await;
        assert!(matches!(inline.unwrap(), InlineOutcome::Result(_) | InlineOutcome::Error(_)));
    }
    // Killed and taken up again: what is replayed is as secret, also where it cannot be.
    let script = json!([["text step", secret], ["ask", "approve"], ["return", secret]]);
    let (again, mortal) = (bench.create(script.clone()).await, bench.create_mortal(script).await);
    bench.asked(&again, 1).await;
    bench.asked(&mortal, 1).await;
    let after = bench.restarted().await;
    after.asked(&again, 1).await;
    after.update(&again, json!({"approve": accept(true)})).await.unwrap();
    after.settled(&again).await;
    let record = after.settled(&mortal).await;
    assert!(matches!(record.state, State::Failed { .. }), "{record:?}");
    answers(&json!({})).len() + ends.len()
}

/// C-48, P152: at no level is there a payload in the log, whoever made it and whatever became of it.
#[tokio::test]
async fn log_has_no_argument_result_answer_status_or_error_of_a_task() {
    let (log, bench) = (Log::default(), bench().await);
    let guard = log.listen();
    assert_eq!(everything_with_secrets(&bench).await, 6);
    drop(guard);
    let text = log.text();
    // The log is there, and tells the whole life of a task.
    for wanted in
        ["the task was created", "the run is over", "the task is run again", "is not run again", "panicked"]
    {
        assert!(text.contains(wanted), "`{wanted}` is missing:\n{text}");
    }
    let leaks: Vec<&str> = text.lines().filter(|line| line.contains("hunter2")).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
}

/// who runs the server sees why a task was cancelled, but not without bound.
#[tokio::test]
async fn reason_of_a_cancellation_is_logged_in_short() {
    let (log, bench) = (Log::default(), bench().await);
    let id = bench.create(json!([["until cancelled", ""]])).await;
    let guard = log.listen();
    let reason = format!("too slow\n{}", "ß".repeat(10_000));
    bench.engine.cancel(&bench.owner, &id, Some(reason)).await.unwrap();
    drop(guard);
    let text = log.text();
    let line = text.lines().find(|line| line.contains("a cancellation was asked for")).unwrap();
    assert!(line.contains("reason=\"too slow\\n") && line.contains(id.as_str()), "{line}");
    assert!(line.chars().count() < 400, "{line}");
}

/// P153: where nothing happens, nothing is logged.
#[tokio::test]
async fn idle_engine_logs_nothing() {
    let bench = bench().await;
    let log = Log::default();
    let guard = log.listen();
    bench.clock.advance(24 * 3_600_000);
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    drop(guard);
    assert_eq!(log.text(), "");
}
