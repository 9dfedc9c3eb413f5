//! Public reports that the log and its spans tell of (`P` ids, docs/conformance.md).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::record::State;
use mcp_tasks::testing::ManualClock;
use mcp_tasks::{MemoryStore, NewTask, Owner, ToolError, task_tool};
use serde_json::json;
use tracing::span::{Attributes, Id, Record};
use tracing::{Instrument as _, Metadata, Subscriber};
use tracing_core::span::Current;

use crate::engine_log::Log;
use crate::support::{Bench, bench, builder, count, eventually, gate, open};

tokio::task_local! {
    static TENANT: &'static str;
}

/// Tells what it finds of the request, when that is over.
#[task_tool(name = "inheritance")]
async fn inheritance() -> Result<String, ToolError> {
    gate("inheritance").acquire().await?.forget();
    let span = tracing::Span::current().metadata().map_or("none", Metadata::name);
    let tenant = TENANT.try_with(|tenant| *tenant).unwrap_or("not set");
    Ok(format!("{span}, {tenant}"))
}

/// Knows in which span its thread is.
#[derive(Clone, Default)]
struct Spans {
    known: Arc<Mutex<Vec<&'static Metadata<'static>>>>,
    entered: Arc<Mutex<Vec<u64>>>,
    exits: Arc<AtomicU64>,
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut known = self.known.lock().unwrap();
        known.push(span.metadata());
        Id::from_u64(u64::try_from(known.len()).unwrap())
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, id: &Id) {
        self.entered.lock().unwrap().push(id.into_u64());
    }
    fn exit(&self, id: &Id) {
        let left = self.entered.lock().unwrap().pop();
        assert_eq!(left, Some(id.into_u64()));
        self.exits.fetch_add(1, Ordering::SeqCst);
    }
    fn current_span(&self) -> Current {
        match self.entered.lock().unwrap().last() {
            Some(id) => {
                let metadata = self.known.lock().unwrap()[usize::try_from(*id).unwrap() - 1];
                Current::new(Id::from_u64(*id), metadata)
            }
            None => Current::none(),
        }
    }
}

/// What is documented of `TaskTool::run` and `#[task_tool]`: the span goes along, and a task-local that does not is not
/// there, instead of having another value.
#[tokio::test]
async fn p048_the_span_goes_along_and_task_locals_do_not() {
    let _listening = tracing::subscriber::set_default(Spans::default());
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = builder(Arc::clone(&store), &clock).tool::<inheritance>().build().await.unwrap();
    let bench = Bench { engine, clock, store, owner: Owner::new("tenant", "alice") };
    let task = NewTask::new(bench.owner.clone(), "inheritance", mcp_tasks::types::RawObject::empty());
    let create = async { bench.engine.create(task).await.unwrap().id.clone() };
    let middleware = TENANT.scope("acme", create.instrument(tracing::info_span!("middleware")));
    let id = middleware.await;
    open("inheritance");
    assert_eq!(crate::support::text(&bench.settled(&id).await), "middleware, not set");
}

/// A body that comes late with a word, an end or an outside result gets a value that says so; the record stays, and
/// nobody is alarmed.
#[tokio::test]
async fn p058_a_late_writer_alarms_nobody() {
    let (log, bench) = (Log::default(), bench().await);
    let late = [
        ("a word", json!([["gate", "late a word"], ["late status", "late said"], ["return", "late"]])),
        ("a result", json!([["gate", "late a result"], ["return", "late"]])),
        ("an error", json!([["gate", "late an error"], ["protocol error", "late"]])),
        ("a failure", json!([["gate", "late a failure"], ["any error", "late"]])),
    ];
    let listening = log.listen();
    for (what, script) in late {
        let id = bench.create(json!([["status", "busy"], script[0], script[1]])).await;
        bench.said(&id, "busy").await;
        let decided = bench.engine.operators().fail(&id, "out of service").await.unwrap();
        open(&format!("late {what}"));
        bench.engine.idle().await;
        assert_eq!(bench.get(&id).await, decided, "{what}");
    }
    assert_eq!(count("late said the task has ended"), 1);

    let left = bench.create(json!([["leave", ""]])).await;
    bench.engine.wait(&bench.owner, &left, |record| record.parked.is_some()).await.unwrap();
    let cancelled = bench.cancel(&left).await;
    assert_eq!(cancelled.state, State::Cancelled);
    let outside = bench.engine.outside(bench.owner.clone());
    let result = mcp_tasks::types::v2026_07_28::CallToolResult::new(Vec::new());
    let late = outside.complete(&left, result).await.unwrap_err();
    assert!(late.message().contains("`cancelled`") && late.message().contains("has ended"), "{late}");
    assert_eq!(bench.get(&left).await, cancelled);
    eventually("the log", || log.text().contains("the run came too late")).await;
    drop(listening);
    let text = log.text();
    let alarms: Vec<&str> =
        text.lines().filter(|line| line.starts_with("ERROR") || line.starts_with("WARN")).collect();
    assert!(alarms.is_empty(), "{alarms:#?}");
}

/// Who looks into a batch of polls finds in the log which ids were asked for in vain, and not whose they would have
/// been. The answer says nothing of it; it has the id of its request.
#[tokio::test]
async fn p085_the_log_says_which_task_was_not_found() {
    let (log, bench) = (Log::default(), bench().await);
    let known = bench.create(json!([["until cancelled", ""]])).await;
    let listening = log.listen();
    let stranger = Owner::new("tenant", "mallory");
    let mut wanted = Vec::new();
    for number in 0..20 {
        if number % 4 == 0 {
            let unknown = format!("tsk_unknown_{number}");
            bench.engine.get(&bench.owner, &unknown.as_str().into()).await.unwrap_err();
            wanted.push(unknown);
        } else {
            bench.get(&known).await;
        }
    }
    bench.engine.get(&stranger, &known).await.unwrap_err();
    wanted.push(known.to_string());
    drop(listening);
    let text = log.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("not found")).collect();
    assert_eq!(lines.len(), wanted.len(), "{text}");
    for (line, id) in lines.iter().zip(&wanted) {
        assert!(line.contains(id), "{line}");
        assert!(!line.contains("alice") && !line.contains("mallory"), "{line}");
    }
}
