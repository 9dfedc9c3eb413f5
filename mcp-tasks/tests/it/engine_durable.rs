//! What tasks have beside a body: parking, time limits, work outside, calls made once, limits, roles, watchers and
//! operators.

use std::sync::Arc;

use mcp_tasks::record::{Parked, State};
use mcp_tasks::store::Parts;
use mcp_tasks::testing::{ManualClock, reopened};
use mcp_tasks::types::v2026_07_28::CallToolResult;
use mcp_tasks::types::{RawObject, TaskId};
use mcp_tasks::{
    ArgumentError, BoxFuture, Called, Engine, EngineErrorKind, InlineOutcome, MemoryStore, NewTask, Owner,
    Restart, Role, SharedRecord, Store, TaskMode, TaskTool, ToolCall, ToolDefinition, ToolError,
    check_arguments,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{
    Approval, Bench, Script, accept, bench, bench_over, builder, count, eventually, open, text,
};

/// The scripts of `Script`, with a body that is parked after five seconds.
struct Parking;

impl TaskTool for Parking {
    const NAME: &'static str = "parking";

    fn definition() -> ToolDefinition {
        let mut definition = ToolDefinition::new::<Once, Result<String, ToolError>>(Self::NAME);
        definition = definition.with_ttl_ms(900_000).with_restart(Restart::Rerun).with_park_after_ms(5_000);
        definition.with_input::<Approval>("approve", "Approve?").with_input::<Approval>("other", "Other?")
    }

    fn check(_: &RawObject) -> Result<(), ArgumentError> {
        Ok(())
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Script::<true>::run(call)
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "read by the script's own type")]
struct Once {
    /// Pairs of an operation and its operand.
    script: Vec<(String, String)>,
    /// Makes a call the same one.
    key: Option<String>,
}

/// The same with a deadline of a minute, a retention of an hour and calls that are made once.
struct Limited;

impl TaskTool for Limited {
    const NAME: &'static str = "limited";

    fn definition() -> ToolDefinition {
        let definition = ToolDefinition::new::<Once, Result<String, ToolError>>(Self::NAME)
            .with_ttl_ms(900_000)
            .with_deadline_ms(60_000)
            .with_retain_ms(3_600_000);
        definition.with_idempotency_argument("key")
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        check_arguments::<Once>(arguments)
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Script::<false>::run(call)
    }
}

async fn engine(store: impl Store, clock: &Arc<ManualClock>) -> Engine {
    builder(store, clock).tool::<Parking>().tool::<Limited>().build().await.unwrap()
}

async fn durable_bench() -> Bench {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = engine(Arc::clone(&store), &clock).await;
    Bench { engine, clock, store, owner: Owner::new("tenant", "alice") }
}

async fn started(bench: &Bench, tool: &str, script: Value) -> TaskId {
    bench.engine.create(bench.task(tool, &script)).await.unwrap().id.clone()
}

async fn parked(bench: &Bench, id: &TaskId) -> SharedRecord {
    let parked = |record: &mcp_tasks::TaskRecord| record.parked.is_some();
    bench.engine.wait(&bench.owner, id, parked).await.unwrap()
}

/// A body that waits for a person is not kept in memory, and its answer brings it back.
#[tokio::test]
async fn parked_body_is_gone_and_the_answer_brings_it_back() {
    let bench = durable_bench().await;
    let id = started(&bench, "parking", json!([["step", "before parking"], ["ask", "approve"]])).await;
    bench.asked(&id, 1).await;
    bench.clock.advance(4_999);
    assert!(bench.get(&id).await.parked.is_none());
    bench.clock.advance(1);
    let record = parked(&bench, &id).await;
    assert_eq!((record.parked, record.lease.is_none()), (Some(Parked::Asking), true));
    bench.engine.idle().await;
    // Nobody takes it up, whoever looks and however often.
    assert_eq!(bench.engine.recover().await.unwrap(), 0);
    bench.clock.advance(60_000);
    assert_eq!(bench.get(&id).await.parked, Some(Parked::Asking));
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    let record = bench.settled(&id).await;
    assert_eq!(text(&record), "1,true");
    assert_eq!(count("before parking"), 1, "a recorded step is not done again");
}

/// The same when the answer comes to another process.
#[tokio::test]
async fn parked_task_goes_on_in_another_process() {
    let bench = durable_bench().await;
    let id = started(&bench, "parking", json!([["ask", "approve"]])).await;
    bench.asked(&id, 1).await;
    bench.clock.advance(5_000);
    parked(&bench, &id).await;
    let store = Arc::new(reopened(&bench.store));
    let other = engine(Arc::clone(&store), &bench.clock).await;
    let other = Bench { engine: other, clock: Arc::clone(&bench.clock), store, owner: bench.owner.clone() };
    other.update(&id, json!({"approve": accept(false)})).await.unwrap();
    assert_eq!(text(&other.settled(&id).await), "false");
}

#[tokio::test]
async fn parked_task_is_cancelled_at_once_and_expires() {
    let bench = durable_bench().await;
    let (cancelled, expired) = (
        started(&bench, "parking", json!([["ask", "approve"]])).await,
        started(&bench, "parking", json!([["ask", "approve"]])).await,
    );
    bench.asked(&cancelled, 1).await;
    bench.asked(&expired, 1).await;
    bench.clock.advance(5_000);
    parked(&bench, &cancelled).await;
    parked(&bench, &expired).await;
    assert_eq!(bench.cancel(&cancelled).await.state, State::Cancelled);
    bench.clock.advance(895_000);
    assert!(matches!(bench.settled(&expired).await.state, State::Failed { .. }));
}

/// A limit of the wait is in the record: it counts while the body is parked or its process is dead.
#[tokio::test]
async fn answer_that_does_not_come_in_time_is_nothing() {
    let bench = durable_bench().await;
    let id = started(&bench, "parking", json!([["ask within 60s", "approve"], ["ask", "other"]])).await;
    bench.asked(&id, 1).await;
    bench.clock.advance(5_000);
    parked(&bench, &id).await;
    let restarted = bench_over(Arc::new(reopened(&bench.store)), Arc::clone(&bench.clock)).await;
    drop(restarted);
    bench.clock.advance(54_999);
    assert_eq!(bench.get(&id).await.outstanding().count(), 1);
    bench.clock.advance(1);
    let record =
        bench.engine.wait(&bench.owner, &id, |record| record.input("other").is_some()).await.unwrap();
    assert!(record.input("other").is_some(), "{record:?}");
    // An answer that comes too late is ignored.
    let answers = json!({"approve": accept(true), "other": accept(true)});
    bench.update(&id, answers).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "nothing,true");
}

/// Within its time an answer is an answer.
#[tokio::test]
async fn answer_within_its_time_counts() {
    let bench = bench().await;
    let id = bench.create(json!([["ask within 60s", "approve"]])).await;
    bench.asked(&id, 1).await;
    bench.clock.advance(59_999);
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "true");
}

#[tokio::test]
async fn body_that_runs_too_long_fails_its_task() {
    let bench = durable_bench().await;
    let id = started(&bench, "limited", json!([["until cancelled", ""]])).await;
    let stubborn = started(&bench, "limited", json!([["hold", "stubborn past its deadline"]])).await;
    bench.clock.advance(59_999);
    assert!(!bench.get(&id).await.state.is_terminal());
    bench.clock.advance(1);
    let record = bench.settled(&id).await;
    assert_eq!(record.status_message.as_deref(), Some("the tool did not come to an end within 60000 ms"));
    // The stubborn one has the grace of a cancelled one, and no more.
    eventually("the grace", || bench.clock.next_deadline().is_some()).await;
    bench.clock.advance(5_000);
    assert!(matches!(bench.settled(&stubborn).await.state, State::Failed { .. }));
    eventually("the end of the body", || count("stubborn past its deadline") == 1).await;
}

/// C-75: the deadline tells the body to stop, and what it brings within the grace counts.
#[tokio::test]
async fn result_within_the_grace_after_the_deadline_counts() {
    let bench = durable_bench().await;
    let script = json!([["gate", "after the deadline"], ["ignore", ""], ["return", "late, but there"]]);
    let id = started(&bench, "limited", script).await;
    bench.clock.advance(60_000);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    bench.clock.advance(4_999);
    open("after the deadline");
    assert_eq!(text(&bench.settled(&id).await), "late, but there");
}

/// C-39
#[tokio::test]
async fn body_changes_lifetime_and_poll_interval() {
    let bench = bench().await;
    let script = json!([
        ["poll interval", "250"],
        ["extend ttl", "1800000"],
        ["extend ttl", "1000"],
        ["status", "said"],
        ["until cancelled", ""]
    ]);
    let id = bench.create(script).await;
    bench.said(&id, "said").await;
    let record = bench.get(&id).await;
    assert_eq!((record.poll_interval_ms, record.ttl_ms), (Some(250), Some(1_800_000)));
    bench.clock.advance(900_000);
    assert!(!bench.get(&id).await.state.is_terminal(), "the old lifetime is over, the new one is not");
}

#[tokio::test]
async fn ended_task_is_kept_for_its_retention() {
    let bench = durable_bench().await;
    let id = started(&bench, "limited", json!([["return", "x"]])).await;
    let record = bench.settled(&id).await;
    bench.clock.advance(3_599_999);
    assert_eq!(bench.get(&id).await, record);
    bench.clock.advance(1);
    let gone = bench.engine.get(&bench.owner, &id).await.unwrap_err();
    assert_eq!(gone.kind(), EngineErrorKind::TaskExpired);
}

/// A webhook or another process says how a task goes on that its body left.
#[tokio::test]
async fn task_that_was_left_is_ended_from_outside() {
    let bench = durable_bench().await;
    let id = started(&bench, "parking", json!([["status", "handed over"], ["leave", ""]])).await;
    let record = parked(&bench, &id).await;
    assert_eq!(record.parked, Some(Parked::Outside));
    bench.engine.idle().await;
    let store = Arc::new(reopened(&bench.store));
    let other = engine(Arc::clone(&store), &bench.clock).await;
    assert!(!bench.get(&id).await.state.is_terminal(), "a restart does not take it up");
    let outside = other.outside(bench.owner.clone());
    outside.set_status(&id, "half-way").await.unwrap();
    outside.require_input(&id, "approve").await.unwrap();
    assert_eq!(bench.get(&id).await.state, State::InputRequired);
    let again = outside.require_input(&id, "approve").await.unwrap_err();
    assert_eq!(again.kind(), EngineErrorKind::InvalidInput);
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    let record = bench.get(&id).await;
    assert_eq!((record.parked, &record.state), (Some(Parked::Outside), &State::Working));
    let result = outside.complete(&id, CallToolResult::new(Vec::new())).await.unwrap();
    assert!(matches!(result.state, State::Completed { .. }));
    let late = outside.fail(&id, "too late").await.unwrap_err();
    assert_eq!(late.kind(), EngineErrorKind::NotOutside);
    // Nobody outside speaks for a task that is worked on, nor for another owner's.
    let inside = started(&bench, "parking", json!([["until cancelled", ""]])).await;
    assert_eq!(outside.fail(&inside, "no").await.unwrap_err().kind(), EngineErrorKind::NotOutside);
    let stranger = other.outside(Owner::new("tenant", "bob"));
    assert_eq!(stranger.fail(&inside, "no").await.unwrap_err().kind(), EngineErrorKind::TaskNotFound);
}

fn once(owner: &Owner, key: &str, operand: &str) -> NewTask {
    let arguments = RawObject::new(&json!({"script": [["return", operand]], "key": key})).unwrap();
    NewTask::new(owner.clone(), "limited", arguments)
}

/// A call that is tried again gives the same handle, and does its work once.
#[tokio::test]
async fn same_call_gives_the_same_task() {
    let bench = durable_bench().await;
    let first = bench.engine.create(once(&bench.owner, "k", "x")).await.unwrap();
    let (one, two) = tokio::join!(
        bench.engine.create(once(&bench.owner, "k", "x")),
        bench.engine.create(once(&bench.owner, "k", "x")),
    );
    assert_eq!((&one.unwrap().id, &two.unwrap().id), (&first.id, &first.id));
    let other = bench.engine.create(once(&bench.owner, "k", "y")).await.unwrap_err();
    assert_eq!(other.kind(), EngineErrorKind::InvalidArguments);
    let bob = Owner::new("tenant", "bob");
    assert_ne!(bench.engine.create(once(&bob, "k", "x")).await.unwrap().id, first.id);
    assert_ne!(bench.engine.create(once(&bench.owner, "l", "x")).await.unwrap().id, first.id);
    let script = json!([["return", "x"]]);
    let without = started(&bench, "limited", script.clone()).await;
    assert_ne!(started(&bench, "limited", script).await, without, "without a key each call is a new one");
    // When the task is gone, the key is free.
    bench.settled(&first.id).await;
    bench.clock.advance(3_600_000);
    assert_ne!(bench.engine.create(once(&bench.owner, "k", "x")).await.unwrap().id, first.id);
}

/// P095: one task more is refused; none is dropped for it.
#[tokio::test]
async fn limits_hold_for_an_owner_and_for_all() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine =
        builder(Arc::clone(&store), &clock).max_tasks_of_owner(2).max_tasks(3).build().await.unwrap();
    let create = |name: &str| {
        let script = RawObject::new(&json!({"script": [["until cancelled", ""]]})).unwrap();
        engine.create(NewTask::new(Owner::new("tenant", name), "mortal", script))
    };
    let first = create("alice").await.unwrap();
    create("alice").await.unwrap();
    assert_eq!(create("alice").await.unwrap_err().kind(), EngineErrorKind::TooManyTasks);
    create("bob").await.unwrap();
    assert_eq!(create("bob").await.unwrap_err().kind(), EngineErrorKind::TooManyTasks);
    // Whether or not anybody looked at them, those that run and those that ended are all there.
    assert_eq!(engine.running(), 3);
    let live = engine.operators().list(None, 10).await.unwrap().records;
    assert!(live.len() == 3 && live.iter().all(|record| record.state == State::Working), "{live:?}");
    engine.cancel(&Owner::new("tenant", "alice"), &first.id, None).await.unwrap();
    engine.settled(&Owner::new("tenant", "alice"), &first.id).await.unwrap();
    // All owners together are counted once a second.
    clock.advance(1_000);
    create("alice").await.unwrap();
    let ended = engine.get(&Owner::new("tenant", "alice"), &first.id).await.unwrap();
    assert_eq!(ended.state, State::Cancelled);
    assert_eq!(engine.running(), 3);
}

/// What serves leaves tasks to those that work, and those take them up when they are told.
#[tokio::test]
async fn worker_runs_what_a_serving_process_creates() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let owner = Owner::new("tenant", "alice");
    let serving = builder(Arc::clone(&store), &clock).role(Role::Serve).build().await.unwrap();
    let script = RawObject::new(&json!({"script": [["return", "worked"]]})).unwrap();
    let task = NewTask::new(owner.clone(), "rerun", script);
    let id = serving.create(task.clone()).await.unwrap().id.clone();
    assert_eq!((serving.running(), serving.recover().await.unwrap()), (0, 0));
    let working = builder(Arc::clone(&store), &clock).role(Role::Work).build().await.unwrap();
    assert_eq!(text(&serving.settled(&owner, &id).await.unwrap()), "worked");
    assert_eq!(working.create(task.clone()).await.unwrap_err().kind(), EngineErrorKind::WrongRole);
    assert_eq!(working.call_inline(task.clone()).await.unwrap_err().kind(), EngineErrorKind::WrongRole);
    // And what comes later, without anybody looking at a clock.
    let id = serving.create(task).await.unwrap().id.clone();
    assert_eq!(text(&serving.settled(&owner, &id).await.unwrap()), "worked");
}

/// P089: nothing of a task is interrupted that nobody has begun, so that it is run whatever its tool says of restarts;
/// and once it was begun, that counts.
#[tokio::test]
async fn task_that_nobody_has_begun_is_run_whatever_its_tool_says_of_restarts() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let owner = Owner::new("tenant", "alice");
    let serving = builder(Arc::clone(&store), &clock).role(Role::Serve).build().await.unwrap();
    let create = async |script: Value| {
        let script = RawObject::new(&json!({"script": script})).unwrap();
        serving.create(NewTask::new(owner.clone(), "mortal", script)).await.unwrap().id.clone()
    };
    let before = create(json!([["return", "before there were workers"]])).await;
    let kept = store.load(&before, Parts::Whole).await.unwrap().unwrap();
    assert!(kept.params.is_some() && kept.attempt == 0, "{kept:?}");
    let working = builder(Arc::clone(&store), &clock).role(Role::Work).build().await.unwrap();
    assert_eq!(text(&serving.settled(&owner, &before).await.unwrap()), "before there were workers");
    let begun = create(json!([["count", "begun by a worker"], ["until cancelled", ""]])).await;
    eventually("the beginning", || count("begun by a worker") == 1).await;
    let store = Arc::new(reopened(&store));
    let next = builder(store, &clock).build().await.unwrap();
    let record = next.settled(&owner, &begun).await.unwrap();
    let told = record.status_message.as_deref();
    assert_eq!(told, Some("the work was interrupted before the task ended"));
    drop(working);
}

/// The same where a process has room for no more, and what it has room for leaves no arguments.
#[tokio::test]
async fn task_of_a_mortal_tool_waits_for_room() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = builder(Arc::clone(&store), &clock).max_running(1).build().await.unwrap();
    let bench = Bench { engine, clock, store, owner: Owner::new("tenant", "alice") };
    let first = bench.create_mortal(json!([["gate", "mortal room for one"]])).await;
    let second = bench.create_mortal(json!([["return", "later"]])).await;
    let params =
        async |id: &TaskId| bench.store.load(id, Parts::Whole).await.unwrap().unwrap().params.clone();
    assert!(params(&first).await.is_none() && params(&second).await.is_some());
    open("mortal room for one");
    bench.settled(&first).await;
    assert_eq!(text(&bench.settled(&second).await), "later");
}

#[tokio::test]
async fn no_more_bodies_run_than_there_is_room_for() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let owner = Owner::new("tenant", "alice");
    let engine = builder(store, &clock).max_running(1).build().await.unwrap();
    let create = |script: Value| {
        let script = RawObject::new(&json!({"script": script})).unwrap();
        engine.create(NewTask::new(owner.clone(), "rerun", script))
    };
    let first = create(json!([["gate", "room for one"]])).await.unwrap();
    let second = create(json!([["count", "second in one room"]])).await.unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!((engine.running(), count("second in one room")), (1, 0));
    open("room for one");
    engine.settled(&owner, &first.id).await.unwrap();
    engine.settled(&owner, &second.id).await.unwrap();
    assert_eq!(count("second in one room"), 1);
}

/// No change falls between the first state and what follows, and nothing of others is told.
#[tokio::test]
async fn watcher_hears_every_change_that_can_be_seen() {
    let bench = durable_bench().await;
    let id =
        started(&bench, "parking", json!([["ask", "approve"], ["status", "on it"], ["gate", "watched"]]))
            .await;
    bench.asked(&id, 1).await;
    let foreign = {
        let script = RawObject::new(&json!({"script": [["until cancelled", ""]]})).unwrap();
        let bob = NewTask::new(Owner::new("tenant", "bob"), "mortal", script);
        bench.engine.create(bob).await.unwrap().id.clone()
    };
    // Another process over the same store.
    let store = Arc::clone(&bench.store);
    let other = builder(store, &bench.clock).role(Role::Serve).build().await.unwrap();
    let mut watch = other.watch(bench.owner.clone(), [id.clone(), foreign, "tsk_unknown".into()]);
    let first = watch.next().await.unwrap().unwrap();
    assert_eq!((&first.id, &first.state), (&id, &State::InputRequired));
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    let mut seen = Vec::new();
    let mut opened = false;
    while let Some(record) = watch.next().await.unwrap() {
        assert_eq!(record.id, id);
        seen.push((record.state.name(), record.status_message.clone()));
        if record.status_message.as_deref() == Some("on it") && !opened {
            open("watched");
            opened = true;
        }
    }
    assert_eq!(seen.last().map(|(state, _)| *state), Some("completed"), "{seen:?}");
    assert!(seen.contains(&("working", Some("on it".to_owned()))), "{seen:?}");
}

/// P067: stalled tasks are found and stopped by those who run the server.
#[tokio::test]
async fn operators_see_fail_purge_and_erase() {
    let bench = durable_bench().await;
    let done = started(&bench, "limited", json!([["return", "x"]])).await;
    bench.settled(&done).await;
    let stuck = started(&bench, "parking", json!([["until cancelled", ""]])).await;
    let bobs = {
        let script = RawObject::new(&json!({"script": [["until cancelled", ""]]})).unwrap();
        let task = NewTask::new(Owner::new("tenant", "bob"), "rerun", script);
        bench.engine.create(task).await.unwrap().id.clone()
    };
    let operators = bench.engine.operators();
    assert_eq!(operators.list(None, 10).await.unwrap().records.len(), 3);
    assert!(operators.inspect(&bobs).await.unwrap().unwrap().params.is_some());
    let stats = operators.stats().await.unwrap();
    assert_eq!((stats.by_status["working"], stats.by_status["completed"], stats.running), (2, 1, 2));
    let failed = operators.fail(&stuck, "taken out of service").await.unwrap();
    assert_eq!(failed.status_message.as_deref(), Some("taken out of service"));
    assert_eq!(operators.fail(&stuck, "again").await.unwrap(), failed);
    eventually("the end of the body", || bench.engine.running() == 1).await;
    bench.clock.advance(1);
    let now = mcp_tasks::Clock::now(&bench.clock);
    assert_eq!(operators.purge(&now).await.unwrap().removed, 2);
    assert!(bench.store.load(&done, Parts::Head).await.unwrap().is_none());
    let erased = operators.erase(&Owner::new("tenant", "bob")).await.unwrap();
    assert_eq!((erased.removed, erased.left.len()), (1, 0));
    assert!(operators.list(None, 10).await.unwrap().records.is_empty());
    bench.engine.idle().await;
}

/// P067: the age of tasks has a limit that no tool and no body can lift.
#[tokio::test]
async fn no_task_gets_older_than_the_engine_allows() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = builder(Arc::clone(&store), &clock).max_ttl_ms(600_000).build().await.unwrap();
    let bench = Bench { engine, clock, store, owner: Owner::new("tenant", "alice") };
    let mut ids = Vec::new();
    for _ in 0..5 {
        let script =
            json!([["extend ttl", u64::MAX.to_string()], ["status", "for ever"], ["until cancelled", ""]]);
        let id = bench.create(script).await;
        bench.said(&id, "for ever").await;
        assert_eq!(bench.get(&id).await.ttl_ms, Some(600_000));
        ids.push(id);
    }
    // Operators find them by their owner, and end one; the others end by themselves.
    let found = bench.engine.list(&bench.owner, None, 10).await.unwrap().records;
    assert!(found.len() == 5 && found.iter().all(|record| ids.contains(&record.id)), "{found:?}");
    bench.engine.operators().fail(&ids[0], "stalled").await.unwrap();
    eventually("the end of one", || bench.engine.running() == 4).await;
    bench.clock.advance(600_000);
    bench.engine.idle().await;
    for id in &ids[1..] {
        assert_eq!(bench.get(id).await.status_message.as_deref(), Some("Task expired"));
    }
}

/// P061: a tool that says nothing about lifetimes has that of its server.
#[tokio::test]
async fn lifetime_is_the_tools_or_the_engines() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = builder(store, &clock).tool::<Silent>().default_ttl_ms(5_000).build().await.unwrap();
    let create = |tool: &str| {
        engine.create(NewTask::new(Owner::anonymous(), tool, RawObject::new(&json!({"script": []})).unwrap()))
    };
    assert_eq!(create("silent").await.unwrap().ttl_ms, Some(5_000));
    assert_eq!(create("rerun").await.unwrap().ttl_ms, Some(900_000));
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let unset = builder(store, &clock).tool::<Silent>().build().await.unwrap();
    let task = NewTask::new(Owner::anonymous(), "silent", RawObject::empty());
    assert_eq!(unset.create(task).await.unwrap().ttl_ms, Some(3_600_000));
}

/// Says nothing about lifetimes.
struct Silent;

impl TaskTool for Silent {
    const NAME: &'static str = "silent";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Once, Result<String, ToolError>>(Self::NAME)
    }

    fn check(_: &RawObject) -> Result<(), ArgumentError> {
        Ok(())
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Script::<false>::run(call)
    }
}

#[tokio::test]
async fn contradictory_durations_are_faults() {
    struct Contradictory;
    impl TaskTool for Contradictory {
        const NAME: &'static str = "contradictory";
        fn definition() -> ToolDefinition {
            ToolDefinition::new::<Once, Result<String, ToolError>>(Self::NAME)
                .with_deadline_ms(0)
                .with_park_after_ms(1)
                .with_idempotency_argument("other")
        }
        fn check(_: &RawObject) -> Result<(), ArgumentError> {
            Ok(())
        }
        fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
            Script::<true>::run(call)
        }
    }
    let error = Engine::builder(MemoryStore::new()).tool::<Contradictory>().build().await.unwrap_err();
    let error = format!("{error:?}");
    for part in ["a deadline of 0", "`park_after` needs `restart = \"rerun\"`", "`other` is no argument"] {
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn promises_about_tasks_are_faults_of_a_tool_that_never_has_one() {
    struct Hasty;
    impl TaskTool for Hasty {
        const NAME: &'static str = "hasty";
        fn definition() -> ToolDefinition {
            let definition = ToolDefinition::new::<Once, Result<String, ToolError>>(Self::NAME);
            definition.with_task_mode(TaskMode::Never).with_grace_ms(1).with_restart(Restart::Rerun)
        }
        fn check(_: &RawObject) -> Result<(), ArgumentError> {
            Ok(())
        }
        fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
            Script::<true>::run(call)
        }
    }
    let error = Engine::builder(MemoryStore::new()).tool::<Hasty>().build().await.unwrap_err();
    let error = format!("{error:?}");
    for part in ["`grace` needs another `task`", "`restart = \"rerun\"` needs another `task`"] {
        assert!(error.contains(part), "{error}");
    }
}

/// The scripts with a grace of two seconds.
struct Graceful;

impl TaskTool for Graceful {
    const NAME: &'static str = "graceful";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Once, Result<String, ToolError>>(Self::NAME)
            .with_ttl_ms(900_000)
            .with_restart(Restart::Rerun)
            .with_grace_ms(2_000)
            .with_input::<Approval>("approve", "Approve?")
    }

    fn check(_: &RawObject) -> Result<(), ArgumentError> {
        Ok(())
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Script::<true>::run(call)
    }
}

async fn graceful_bench() -> Bench {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let engine = builder(Arc::clone(&store), &clock).tool::<Graceful>().build().await.unwrap();
    Bench { engine, clock, store, owner: Owner::new("tenant", "alice") }
}

#[tokio::test]
async fn call_that_ends_within_its_grace_is_answered_and_stored_nowhere() {
    let bench = graceful_bench().await;
    let mut changes = bench.store.changes();
    for (script, is_error) in [
        (json!([["status", "said"], ["return", "quick"]]), false),
        (json!([["tool error", "no"]]), true),
        (json!([["panic", "as it should"]]), true),
    ] {
        let called = bench.engine.call(bench.task("graceful", &script)).await.unwrap();
        match called {
            Called::Ended(InlineOutcome::Result(result)) => {
                let result: Value = result.get().unwrap();
                assert_eq!(result["isError"] == true, is_error, "{result}");
            }
            Called::Ended(InlineOutcome::Error(error)) => assert!(is_error, "{error:?}"),
            Called::Task(record) => panic!("{record:?}"),
        }
    }
    assert!(bench.engine.operators().list(None, 10).await.unwrap().records.is_empty());
    bench.engine.idle().await;
    drop(bench);
    assert_eq!(changes.next().await, None, "something was stored");
}

#[tokio::test]
async fn call_that_outlasts_its_grace_is_a_task_with_what_was_said_by_then() {
    let bench = graceful_bench().await;
    let script = json!([["status", "on it"], ["gate", "outlasting"], ["return", "late"]]);
    let call = tokio::spawn({
        let (engine, task) = (bench.engine.clone(), bench.task("graceful", &script));
        async move { engine.call(task).await.unwrap() }
    });
    eventually("the grace", || bench.clock.next_deadline().is_some()).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    bench.clock.advance(2_000);
    let Called::Task(record) = call.await.unwrap() else { panic!("no task") };
    assert_eq!(record.status_message.as_deref(), Some("on it"));
    assert_eq!(bench.get(&record.id).await.status_message.as_deref(), Some("on it"));
    open("outlasting");
    assert_eq!(text(&bench.settled(&record.id).await), "late");
}

/// What has to be remembered needs a place.
#[tokio::test]
async fn question_or_step_makes_a_call_a_task_at_once() {
    let bench = graceful_bench().await;
    for (script, answers) in [
        (json!([["ask", "approve"]]), json!({"approve": accept(true)})),
        (json!([["step", "step within grace"], ["gate", "stepped"]]), Value::Null),
    ] {
        let called = bench.engine.call(bench.task("graceful", &script)).await.unwrap();
        let Called::Task(record) = called else { panic!("no task") };
        if answers.is_null() {
            let whole = bench.store.load(&record.id, Parts::Whole).await.unwrap().unwrap();
            assert!(whole.params.is_some(), "it can be run again");
            open("stepped");
        } else {
            bench.asked(&record.id, 1).await;
            bench.update(&record.id, answers).await.unwrap();
        }
        assert!(matches!(bench.settled(&record.id).await.state, State::Completed { .. }));
    }
}

#[tokio::test]
async fn idempotent_call_has_no_grace() {
    let bench = graceful_bench().await;
    let task = bench.task("graceful", &json!([["return", "quick"]])).with_idempotency_key("k");
    let Called::Task(first) = bench.engine.call(task.clone()).await.unwrap() else { panic!("no task") };
    let Called::Task(second) = bench.engine.call(task).await.unwrap() else { panic!("no task") };
    assert_eq!(first.id, second.id);
}
