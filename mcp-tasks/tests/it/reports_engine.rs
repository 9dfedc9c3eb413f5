//! Public reports of faults in other engines and stores, each as a small test (`P` ids, docs/conformance.md).
//!
//! More of them are named by the tests of the topic that they belong to.

use std::process::{Child, Command};
use std::sync::Arc;

use mcp_tasks::record::{InputState, State};
use mcp_tasks::store::Parts;
use mcp_tasks::testing::{ManualClock, Verb};
use mcp_tasks::types::v2026_07_28::CallToolResult;
use mcp_tasks::types::{RawObject, TaskId};
use mcp_tasks::{
    ArgumentError, BoxFuture, Called, Clock, EngineErrorKind, InlineOutcome, NewTask, Owner, Store,
    TaskContext, TaskTool, ToolCall, ToolDefinition, ToolError, task_tool,
};
use serde_json::{Value, json};

use crate::support::{
    Bench, accept, bench, bench_over, builder, count, eventually, faulty, gate, open, outstanding, pass, text,
};

/// Lets everything run that can.
async fn let_run() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// What a body has is its own, as the compiler knows.
const fn outlives_the_request<T: Send + 'static>() {}
const _: () = outlives_the_request::<ToolCall>();
const _: () = outlives_the_request::<TaskContext>();

#[tokio::test]
async fn p038_what_a_body_has_outlives_its_request_and_its_process() {
    let bench = bench().await;
    let script = json!([["gate", "outlives"], ["owner", ""], ["ask", "approve"], ["id", ""]]);
    // The request, its task and everything in it is gone when the body goes on.
    let id = tokio::spawn({
        let (engine, task) = (bench.engine.clone(), bench.task("rerun", &script));
        async move { engine.create(task).await.unwrap().id.clone() }
    })
    .await
    .unwrap();
    open("outlives");
    bench.asked(&id, 1).await;
    let next = bench.restarted().await;
    open("outlives");
    next.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&next.settled(&id).await), format!("tenant/alice,true,{id}"));
}

/// Answers with what an ordinary request would be answered with that wants something first.
#[task_tool]
async fn fourth_kind() -> Result<CallToolResult, ToolError> {
    let wants =
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"content":[]}"#;
    Ok(mcp_tasks::types::from_str(wants)?)
}

/// `Outcome` and `State` have no fourth and no sixth arm, and their matches no wildcard; what is left is JSON.
#[tokio::test]
async fn p042_a_result_that_asks_is_no_result() {
    let bench = with_tools().await;
    let id = start(&bench, "fourth_kind").await;
    let record = bench.settled(&id).await;
    let State::Completed { result } = &record.state else { panic!("{record:?}") };
    let result: Value = result.get().unwrap();
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
    let told = result["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("resultType") && told.contains("input_required"), "{told}");
    bench.engine.idle().await;
}

/// The engine's half: a question is never a result, whichever way the call came.
#[tokio::test]
async fn p043_a_question_is_not_recorded_as_a_result() {
    let bench = bench().await;
    let script = json!([["ask", "approve"]]);
    let refused = bench.engine.call_inline(bench.task("rerun", &script)).await.unwrap_err();
    assert_eq!(refused.kind(), EngineErrorKind::InputUnavailable);
    assert!(bench.engine.operators().list(None, 9).await.unwrap().records.is_empty());

    let Called::Task(created) = bench.engine.call(bench.task("rerun", &script)).await.unwrap() else {
        panic!("a question is no answer")
    };
    let asked = bench.asked(&created.id, 1).await;
    assert!(asked.finished_at.is_none());
    bench.update(&created.id, json!({"approve": accept(true)})).await.unwrap();
    let State::Completed { result } = &bench.settled(&created.id).await.state else { panic!("no result") };
    result.get::<CallToolResult>().unwrap();
}

#[tokio::test]
async fn p045_whoever_writes_to_a_task_that_is_gone_brings_nothing_to_life() {
    let bench = bench().await;
    let script = |gate: &str| json!([["status", "busy"], ["gate", gate], ["return", "too late"]]);
    let removed = bench.create(script("removed under it")).await;
    bench.said(&removed, "busy").await;
    let record = bench.get(&removed).await;
    bench.store.remove(&removed, record.version).await.unwrap();
    open("removed under it");
    let left = bench.create(json!([["leave", ""]])).await;
    bench.engine.wait(&bench.owner, &left, |record| record.parked.is_some()).await.unwrap();
    bench.engine.idle().await;

    bench.clock.advance(900_000);
    assert!(matches!(bench.get(&left).await.state, State::Failed { .. }));
    bench.clock.advance(60_000);
    let outside = bench.engine.outside(bench.owner.clone());
    let never = TaskId::new("tsk_never");
    for (id, kind) in [
        (&removed, EngineErrorKind::TaskNotFound),
        (&never, EngineErrorKind::TaskNotFound),
        (&left, EngineErrorKind::TaskExpired),
    ] {
        let errors = [
            outside.complete(id, CallToolResult::new(Vec::new())).await.unwrap_err(),
            outside.fail(id, "no").await.unwrap_err(),
            outside.set_status(id, "alive").await.unwrap_err(),
            bench.engine.get(&bench.owner, id).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| error.kind() == kind), "{id}: {errors:?}");
    }
    assert!(bench.store.load(&removed, Parts::Head).await.unwrap().is_none());
    assert!(bench.store.load(&never, Parts::Head).await.unwrap().is_none());
    assert!(bench.engine.list(&bench.owner, None, 9).await.unwrap().records.is_empty());
}

/// The caller goes while the record is written, and when it is written and nobody was told: either way there is a task
/// with a worker, which ends and expires like any other.
#[tokio::test]
async fn p046_a_creation_whose_caller_is_gone_is_a_task_like_any_other() {
    for done in [false, true] {
        let bench = bench_over(faulty(), Arc::new(ManualClock::default())).await;
        let hold = match done {
            false => bench.store.hold(Verb::Insert, 1),
            true => bench.store.hold_answer(Verb::Insert, 1),
        };
        let creation = tokio::spawn({
            let (engine, task) = (bench.engine.clone(), bench.task("rerun", &json!([["return", "x"]])));
            async move { engine.create(task).await.map(drop) }
        });
        hold.reached().await;
        creation.abort();
        assert!(creation.await.unwrap_err().is_cancelled());
        let mut changes = bench.store.changes();
        hold.let_go();
        let page = loop {
            let page = bench.engine.list(&bench.owner, None, 9).await.unwrap();
            if page.records.iter().any(|record| record.state.is_terminal()) {
                break page;
            }
            changes.next().await.unwrap();
        };
        assert_eq!((page.records.len(), text(&page.records[0])), (1, "x".to_owned()));
        bench.engine.idle().await;
        bench.clock.advance(900_000);
        let gone = bench.engine.get(&bench.owner, &page.records[0].id).await.unwrap_err();
        assert_eq!(gone.kind(), EngineErrorKind::TaskExpired);
    }
}

/// The id in the handle is the store's: found at once by everybody, however many are made at the same time, and
/// whatever a body says about ids.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p047_every_id_that_was_told_is_found_by_everybody() {
    let one = Arc::new(bench().await);
    let two = Arc::new(bench_over(Arc::clone(&one.store), Arc::clone(&one.clock)).await);
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let (one, two) = (Arc::clone(&one), Arc::clone(&two));
            tokio::spawn(async move {
                for _ in 0..500 {
                    let id = one.create(json!([["id", ""]])).await;
                    two.get(&id).await;
                    assert_eq!(text(&two.settled(&id).await), id.as_str());
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
}

/// Sleeps for ever, and has never heard of a context.
#[task_tool]
async fn deaf() -> Result<String, ToolError> {
    let _guard = Counts("deaf dropped");
    pass("deaf");
    std::future::pending().await
}

struct Counts(&'static str);

impl Drop for Counts {
    fn drop(&mut self) {
        pass(self.0);
    }
}

/// Keeps its thread to itself.
#[task_tool]
async fn busy() -> Result<String, ToolError> {
    pass("busy");
    let gate = gate("busy");
    while gate.try_acquire().is_err() {
        std::thread::yield_now();
    }
    pass("busy is over");
    Ok("too late".to_owned())
}

/// Owns another process.
#[task_tool]
async fn parent() -> Result<String, ToolError> {
    let _child = Owned(Command::new("sleep").arg("1000").spawn()?);
    pass("parent");
    std::future::pending().await
}

struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        assert!(!self.0.wait().unwrap().success());
        pass("child is gone");
    }
}

async fn with_tools() -> Bench {
    let (store, clock) = (Arc::new(mcp_tasks::MemoryStore::new()), Arc::new(ManualClock::default()));
    let builder = builder(Arc::clone(&store), &clock).tool::<deaf>().tool::<busy>().tool::<parent>();
    let engine = builder.tool::<fourth_kind>().tool::<ForEver>().build().await.unwrap();
    Bench { engine, clock, store, owner: Owner::new("tenant", "alice") }
}

async fn start(bench: &Bench, tool: &str) -> TaskId {
    let task = NewTask::new(bench.owner.clone(), tool, RawObject::empty());
    bench.engine.create(task).await.unwrap().id.clone()
}

/// P054, P055: a body that looks at nothing is dropped at the place where it waits, with all that it owns; one that
/// waits nowhere goes on for nobody. The answer to the cancellation waits for none of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn p054_bodies_that_look_at_no_token_are_stopped_within_the_grace() {
    let bench = with_tools().await;
    let mut ids = Vec::new();
    for tool in ["deaf", "parent", "busy"] {
        ids.push(start(&bench, tool).await);
        while count(tool) == 0 {
            std::thread::yield_now();
        }
    }
    for id in &ids {
        // The body of the last one blocks its thread all the while.
        assert_eq!(bench.cancel(id).await.state, State::Working);
        assert!(bench.get(id).await.cancel.is_some());
    }
    assert_eq!((count("deaf dropped"), count("child is gone"), count("busy is over")), (0, 0, 0));
    eventually_elsewhere(|| bench.clock.next_deadline().is_some()).await;
    // All three supervisors have to have seen the wish before the clock goes on.
    let mut ends = Vec::new();
    while ends.len() < ids.len() {
        bench.clock.advance(5_000);
        let_run().await;
        ends.clear();
        for id in &ids {
            let record = bench.get(id).await;
            if record.state.is_terminal() {
                ends.push(record.state.clone());
            }
        }
    }
    assert!(ends.iter().all(|end| *end == State::Cancelled), "{ends:?}");
    eventually_elsewhere(|| count("deaf dropped") == 1 && count("child is gone") == 1).await;
    assert_eq!(count("busy is over"), 0);
    let before = bench.get(&ids[2]).await;
    open("busy");
    eventually_elsewhere(|| count("busy is over") == 1).await;
    bench.engine.idle().await;
    assert_eq!(bench.get(&ids[2]).await, before);
}

/// As `eventually`, for what other threads do.
async fn eventually_elsewhere(mut holds: impl FnMut() -> bool) {
    let held = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), held).await.expect("it does not come");
}

/// The engine's half: whoever stops waiting for a task cancels nothing and leaves nothing; what to do is the caller's
/// to say, who has the id.
#[tokio::test]
async fn p057_whoever_stops_waiting_cancels_nothing() {
    let bench = bench().await;
    let id = bench.create(json!([["status", "busy"], ["gate", "nobody waits"], ["return", "done"]])).await;
    bench.said(&id, "busy").await;
    let before = bench.get(&id).await;
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    for _ in 0..1_000 {
        let mut waiting = Box::pin(bench.settled(&id));
        let pending =
            std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx).is_pending()));
        assert!(pending.await);
    }
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
    assert_eq!((bench.get(&id).await, before.cancel.is_none()), (before, true));
    open("nobody waits");
    assert_eq!(text(&bench.settled(&id).await), "done");
}

/// The lifetime ends while the record is being written, before the handle is told, and while the body runs.
#[tokio::test]
async fn p062_an_expired_task_gives_its_place_back_whenever_it_expires() {
    for round in 0..100 {
        for moment in ["before", "during", "after"] {
            let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
            let engine =
                builder(Arc::clone(&store), &clock).max_running(1).max_tasks_of_owner(1).max_tasks(1);
            let engine = engine.build().await.unwrap();
            let bench = Bench { engine, clock, store, owner: Owner::new("tenant", "alice") };
            let name = format!("p062 {moment} {round}");
            let script = json!([["count", name], ["ignore", ""], ["count", format!("{name} told")]]);
            let hold = match moment {
                "before" => Some(bench.store.hold(Verb::Insert, 1)),
                "during" => Some(bench.store.hold_answer(Verb::Insert, 1)),
                _ => None,
            };
            let creation = tokio::spawn({
                let (engine, task) = (bench.engine.clone(), bench.task("rerun", &script));
                async move { engine.create(task).await.unwrap().id.clone() }
            });
            match &hold {
                Some(hold) => hold.reached().await,
                None => eventually("the body", || count(&name) == 1).await,
            }
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            bench.clock.advance(900_000);
            for _ in 0..round % 5 {
                tokio::task::yield_now().await;
            }
            if let Some(hold) = hold {
                hold.let_go();
            }
            let id = creation.await.unwrap();
            let record = bench.settled(&id).await;
            assert_eq!(record.status_message.as_deref(), Some("Task expired"), "{moment}");
            bench.engine.idle().await;
            assert_eq!(count(&name), count(&format!("{name} told")), "{moment}: a body was not told");
            // The place is free: for an owner, for a body, and once it is counted again for all.
            bench.clock.advance(1_000);
            let next = bench.create(json!([["return", "next"]])).await;
            assert_eq!(text(&bench.settled(&next).await), "next");
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct NoArguments {}

/// Wants its tasks for ever, beyond what the macro lets say.
struct ForEver;

impl TaskTool for ForEver {
    const NAME: &'static str = "for_ever";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<NoArguments, Result<String, ToolError>>(Self::NAME)
            .with_ttl_ms(u64::MAX)
            .with_poll_ms(u64::MAX)
            .with_retain_ms(u64::MAX)
    }

    fn check(_: &RawObject) -> Result<(), ArgumentError> {
        Ok(())
    }

    fn run(_: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async { Ok(CallToolResult::new(Vec::new())) })
    }
}

/// The engine's half: however long a lifetime is wanted to be, dates do not overflow, and what is told of it is a
/// number that every reader of JSON has.
#[tokio::test]
async fn p065_the_longest_lifetimes_overflow_nothing() {
    let bench = bench().await;
    let largest = Some((1 << 53) - 1);
    let for_ever = with_tools().await;
    let id = start(&for_ever, "for_ever").await;
    let record = for_ever.settled(&id).await;
    assert_eq!((record.ttl_ms, record.poll_interval_ms), (largest, largest));
    for millis in [(1 << 53) - 1, 1 << 53, 1 << 63, u64::MAX] {
        let millis = millis.to_string();
        let script =
            json!([["extend ttl", millis], ["poll interval", millis], ["status", "said"], ["ignore", ""]]);
        let id = bench.create(script).await;
        bench.said(&id, "said").await;
        let record = bench.get(&id).await;
        assert_eq!((record.ttl_ms, record.poll_interval_ms), (largest, largest));
        assert_eq!(record.due_at().unwrap().as_str(), "9999-12-31T23:59:59.999Z");
        bench.clock.advance(1_000_000_000);
        assert_eq!(bench.get(&id).await.state, State::Working);
        bench.cancel(&id).await;
        bench.settled(&id).await;
    }
}

/// The engine's half: whoever waits hears of the end, or that there is nothing to wait for any more.
#[tokio::test]
async fn p066_nobody_waits_for_a_task_that_is_gone() {
    let bench = Arc::new(bench().await);
    let waiters = |id: &TaskId| -> Vec<_> {
        (0..3)
            .map(|_| {
                let (bench, id) = (Arc::clone(&bench), id.clone());
                tokio::spawn(async move { bench.engine.settled(&bench.owner, &id).await })
            })
            .collect()
    };
    let expired = bench.create(json!([["ask", "approve"]])).await;
    let waiting = waiters(&expired);
    bench.asked(&expired, 1).await;
    let_run().await;
    bench.clock.advance(900_000);
    for waiter in waiting {
        let record = waiter.await.unwrap().unwrap();
        assert_eq!(record.status_message.as_deref(), Some("Task expired"));
    }
    // Also when the clock leaps over all that is kept of a task, or an operator takes it away.
    let leapt = bench.create(json!([["until cancelled", ""]])).await;
    let waiting = waiters(&leapt);
    let_run().await;
    bench.clock.advance(100_000_000);
    for waiter in waiting {
        match waiter.await.unwrap() {
            Ok(record) => assert!(record.state.is_terminal()),
            Err(error) => assert_eq!(error.kind(), EngineErrorKind::TaskExpired),
        }
    }
    let erased = bench.create(json!([["until cancelled", ""]])).await;
    let waiting = waiters(&erased);
    let_run().await;
    bench.engine.operators().erase(&bench.owner).await.unwrap();
    for waiter in waiting {
        match waiter.await.unwrap() {
            Ok(record) => assert!(record.state.is_terminal()),
            Err(error) => assert_eq!(error.kind(), EngineErrorKind::TaskNotFound),
        }
    }
}

#[tokio::test]
async fn p071_a_body_asks_and_goes_on_with_the_answer() {
    let bench = bench().await;
    for (answer, wanted) in [
        (accept(true), "true"),
        (json!({"action": "decline"}), "decline"),
        (json!({"action": "cancel"}), "cancel"),
    ] {
        let gate = format!("p071 {wanted}");
        let id = bench.create(json!([["ask", "approve"], ["gate", gate], ["status", "late"]])).await;
        let asked = bench.asked(&id, 1).await;
        assert_eq!((asked.inputs.len(), outstanding(&asked)), (1, vec!["approve"]));
        bench.update(&id, json!({"approve": answer})).await.unwrap();
        let working = bench.get(&id).await;
        assert_eq!((&working.state, outstanding(&working).len()), (&State::Working, 0));
        open(&gate);
        assert_eq!(text(&bench.settled(&id).await), wanted);
    }
}

/// Without a restart nothing runs twice; with one, what is in a step or was answered does not (`restart = "rerun"`).
#[tokio::test]
async fn p077_asking_runs_nothing_again() {
    let bench = bench().await;
    for (tool, questions) in [("rerun", 1), ("rerun", 2), ("mortal", 1), ("mortal", 2)] {
        let name = format!("p077 {tool} {questions}");
        let mut script = vec![json!(["count", name])];
        for key in ["approve", "other"].into_iter().take(questions) {
            script.extend([json!(["ask", key]), json!(["count", name])]);
        }
        let id = bench.engine.create(bench.task(tool, &json!(script))).await.unwrap().id.clone();
        for key in ["approve", "other"].into_iter().take(questions) {
            bench.asked(&id, 1).await;
            bench.update(&id, json!({key: accept(true)})).await.unwrap();
        }
        let record = bench.settled(&id).await;
        assert!(record.inputs.iter().all(|input| matches!(input.state, InputState::Answered { .. })));
        assert_eq!(count(&name), questions + 1);
    }
}

/// The engine's half: rights are asked for at each request, since each names its owner, and a right that was taken away
/// looks like an id that never was.
#[tokio::test]
async fn p084_rights_hold_for_one_request() {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "approve"]])).await;
    let before = bench.asked(&id, 1).await;
    let revoked = Owner::new("tenant without alice", "alice");
    let unknown = bench.engine.get(&revoked, &"tsk_unknown".into()).await.unwrap_err();
    let answers = || crate::support::answers(&json!({"approve": accept(true)}));
    for error in [
        bench.engine.get(&revoked, &id).await.unwrap_err(),
        bench.engine.update(&revoked, &id, answers()).await.unwrap_err(),
        bench.engine.cancel(&revoked, &id, None).await.unwrap_err(),
        bench.engine.settled(&revoked, &id).await.unwrap_err(),
        bench.engine.outside(revoked.clone()).fail(&id, "no").await.unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.message()), (unknown.kind(), unknown.message()));
    }
    let mut watch = bench.engine.watch(revoked, [id.clone()]);
    assert!(watch.next().await.unwrap().is_none());
    assert_eq!(bench.get(&id).await, before);
}

/// Just before, at and after each end: the owner never sees a task come back, and a stranger never sees it at all.
#[tokio::test]
async fn p087_an_owner_sees_the_end_once_and_a_stranger_never() {
    let bench = bench().await;
    let live = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&live, 1).await;
    let ended = bench.create(json!([["return", "x"]])).await;
    bench.settled(&ended).await;
    let stranger = Owner::new("tenant", "bob");
    let unknown = bench.engine.get(&stranger, &"tsk_unknown".into()).await.unwrap_err();
    let start = bench.clock.now_millis();
    // A minute's retention of what expired, an hour's memory that it was there.
    let (lifetime, retained, remembered) = (900_000, 960_000, 3_600_000);
    let mut moments: Vec<i64> = [lifetime, retained, lifetime + remembered, retained + remembered]
        .into_iter()
        .flat_map(|end| (end - 3)..(end + 3))
        .collect();
    moments.dedup();
    let expected = |task: &TaskId, at: i64| {
        let gone = if *task == live { retained } else { lifetime };
        match at {
            at if at >= gone + remembered => Err(EngineErrorKind::TaskNotFound),
            at if at >= gone => Err(EngineErrorKind::TaskExpired),
            at if *task == live && at >= lifetime => Ok("failed"),
            _ if *task == live => Ok("input_required"),
            _ => Ok("completed"),
        }
    };
    for at in moments {
        let now = bench.clock.now_millis() - start;
        bench.clock.advance(u64::try_from(at - now).unwrap());
        // Before, while and after the timer does what is due.
        for turn in 0..20 {
            for task in [&live, &ended] {
                let seen = bench.engine.get(&bench.owner, task).await;
                let seen = seen.map(|record| record.state.name()).map_err(|error| error.kind());
                assert_eq!(seen, expected(task, at), "{at} {turn}");
                let foreign = bench.engine.get(&stranger, task).await.unwrap_err();
                assert_eq!((foreign.kind(), foreign.message()), (unknown.kind(), unknown.message()));
            }
            tokio::task::yield_now().await;
        }
    }
}

/// P149, P152: nothing is left of tasks that have ended, in whatever way: no future, no timer, no place in a table.
#[tokio::test]
async fn p149_an_ended_task_leaves_no_future_behind() {
    let bench = bench().await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let_run().await;
    let before = alive();
    let ends = [
        json!([["return", "x"]]),
        json!([["tool error", "x"]]),
        json!([["protocol error", "x"]]),
        json!([["panic", "one of many"]]),
        json!([["give up", "x"]]),
        json!([["drop ask", ""], ["return", "x"]]),
    ];
    for _ in 0..200 {
        for script in &ends {
            let id = bench.create(script.clone()).await;
            bench.settled(&id).await;
        }
        let id = bench.create(json!([["ask", "approve"]])).await;
        bench.asked(&id, 1).await;
        bench.cancel(&id).await;
        let outcome = bench.engine.call_inline(bench.task("rerun", &ends[0])).await.unwrap();
        assert!(matches!(outcome, InlineOutcome::Result(_)));
    }
    bench.engine.idle().await;
    eventually("the end of all futures", || alive() == before).await;
    assert_eq!(bench.engine.running(), 0);
    // One heartbeat that finds nothing to renew, one look for a lease that may have ended, then the first end of a
    // lifetime.
    for _ in 0..3 {
        bench.clock.advance(10_000);
        let_run().await;
    }
    let next = bench.clock.next_deadline().unwrap().unix_millis() - bench.clock.now_millis();
    assert_eq!(next, 870_000);
}
