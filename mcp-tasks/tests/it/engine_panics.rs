//! Code of a tool's author that panics outside the body, and ends that the store does not take: the run ends honestly.

use std::fmt;
use std::sync::Arc;

use mcp_tasks::record::State;
use mcp_tasks::testing::{ManualClock, Verb};
use mcp_tasks::types::RawObject;
use mcp_tasks::types::v2026_07_28::CallToolResult;
use mcp_tasks::{
    ArgumentError, BoxFuture, Engine, InlineOutcome, MemoryStore, NewTask, Owner, Restart, SharedRecord,
    StoreErrorKind, TaskTool, ToolCall, ToolDefinition, ToolError,
};
use serde_json::json;

use crate::support::{Bench, bench_over, builder, count, faulty, pass};

/// An error that cannot tell what it is, nor be dropped in peace.
#[derive(Debug)]
struct Unspeakable {
    in_drop: bool,
}

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(self.in_drop, "no words");
        Ok(())
    }
}

impl std::error::Error for Unspeakable {}

impl Drop for Unspeakable {
    fn drop(&mut self) {
        assert!(!self.in_drop || std::thread::panicking(), "no peace");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// A tool that can be run again and whose errors panic.
struct Failing<const IN_DROP: bool>;

impl<const IN_DROP: bool> TaskTool for Failing<IN_DROP> {
    const NAME: &'static str = if IN_DROP { "in_drop" } else { "in_display" };

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Nothing, Result<(), ToolError>>(Self::NAME).with_restart(Restart::Rerun)
    }

    fn check(_: &RawObject) -> Result<(), ArgumentError> {
        Ok(())
    }

    fn run(_: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async {
            pass(Self::NAME);
            Err(Unspeakable { in_drop: IN_DROP }.into())
        })
    }
}

async fn ended(engine: &Engine, tool: &str) -> SharedRecord {
    let owner = Owner::anonymous();
    let id = engine.create(new_task(tool)).await.unwrap().id.clone();
    engine.settled(&owner, &id).await.unwrap()
}

fn new_task(tool: &str) -> NewTask {
    NewTask::new(Owner::anonymous(), tool, RawObject::new(&json!({})).unwrap())
}

/// S-07: an error whose text panics ends its task as failed, once.
#[tokio::test]
async fn error_that_panics_fails_its_task() {
    let engine = Engine::builder(MemoryStore::new())
        .clock(ManualClock::default())
        .tool::<Failing<true>>()
        .tool::<Failing<false>>()
        .build()
        .await
        .unwrap();
    for tool in ["in_drop", "in_display"] {
        let record = ended(&engine, tool).await;
        let State::Failed { error } = &record.state else { panic!("{record:?}") };
        assert_eq!(error.message, "the tool failed, and its error cannot be told");
        assert_eq!(count(tool), 1);
        let outcome = engine.call_inline(new_task(tool)).await.unwrap();
        assert!(matches!(outcome, InlineOutcome::Error(error) if error.message.contains("cannot be told")));
    }
}

/// S-07: so does a hook for results that panics, for tasks and for ordinary calls.
#[tokio::test]
async fn hook_for_results_that_panics_fails_the_task() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = builder(Arc::clone(&store), &clock).finish_results(|_| panic!("unfinished")).build();
    let bench = Bench { engine: engine.await.unwrap(), clock, store, owner: Owner::anonymous() };
    let script = json!([["count", "panics hook"], ["return", "x"]]);
    let id = bench.create(script.clone()).await;
    let record = bench.settled(&id).await;
    let State::Failed { error } = &record.state else { panic!("{record:?}") };
    assert_eq!(error.message, "the result could not be finished");
    assert_eq!(count("panics hook"), 1);
    let outcome = bench.engine.call_inline(bench.task("mortal", &script)).await.unwrap();
    assert!(matches!(outcome, InlineOutcome::Error(error) if error.message.contains("finished")));
}

/// S-07: an end that the store refuses for good is tried once, and then the task fails and says so.
#[tokio::test]
async fn end_that_the_store_refuses_becomes_a_failure() {
    for kind in [StoreErrorKind::Corrupt, StoreErrorKind::Unsupported] {
        let bench = bench_over(faulty(), Arc::new(ManualClock::default())).await;
        bench.store.fail(Verb::Replace, 1, kind);
        let id = bench.create(json!([["return", "x"]])).await;
        let record = bench.settled(&id).await;
        let State::Failed { error } = &record.state else { panic!("{record:?}") };
        assert_eq!(error.message, "the result cannot be stored");
        assert_eq!(record.attempt, 1);
    }
}
