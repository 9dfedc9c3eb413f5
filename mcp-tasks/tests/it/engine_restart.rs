//! What a new process makes of the tasks of a dead one, and two processes on one store.

use std::sync::Arc;

use mcp_tasks::record::State;
use mcp_tasks::testing::{ManualClock, Verb, reopened};
use mcp_tasks::types::RawObject;
use mcp_tasks::types::v2026_07_28::CallToolResult;
use mcp_tasks::{BoxFuture, MemoryStore, Restart, TaskTool, ToolCall, ToolDefinition, ToolError};
use serde_json::json;

use crate::support::{
    Approval, Script, accept, bench, bench_over, builder, count, eventually, faulty, open, outstanding, text,
};

/// S-35, P077, P090: the body runs again; its answers and steps come from the record, and the open question is the
/// same.
#[tokio::test]
async fn task_goes_on_with_its_answers_and_steps() {
    let bench = bench().await;
    let script = json!([
        ["count", "goes on"],
        ["step", "goes on 1"],
        ["step", "goes on 1"],
        ["ask", "approve"],
        ["step", "goes on 2"],
        ["ask", "other"],
        ["token", ""],
    ]);
    let id = bench.create(script).await;
    bench.asked(&id, 1).await;
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    let before = bench.asked(&id, 1).await;
    assert_eq!(outstanding(&before), ["other"]);

    let next = bench.restarted().await;
    eventually("the second run", || count("goes on") == 2).await;
    let after = next.asked(&id, 1).await;
    // S-09: the client sees no difference.
    assert_eq!((outstanding(&after), &after.last_updated_at), (vec!["other"], &before.last_updated_at));
    assert_eq!((after.attempt, after.fence), (2, 2));
    next.update(&id, json!({"other": accept(false)})).await.unwrap();
    assert_eq!(text(&next.settled(&id).await), "1,2,true,1,false,2");
    assert_eq!((count("goes on 1"), count("goes on 2")), (2, 1));
    // The first run is still there and finds out at its next write that it is nobody any more.
    eventually("the end of the first run", || bench.engine.running() == 0).await;
}

/// A name that looks like a numbered one is a name of its own, also after a restart.
#[tokio::test]
async fn steps_with_names_like_numbers_are_told_apart() {
    let bench = bench().await;
    let names = ["x#2", "x", "x", "x#", "x#", "x##2", "x#2", "#", "##"];
    let mut script: Vec<_> = names.iter().map(|name| json!(["step", name])).collect();
    script.extend([json!(["ask", "approve"]), json!(["token", ""])]);
    let id = bench.create(json!(script)).await;
    bench.asked(&id, 1).await;
    let next = bench.restarted().await;
    next.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&next.settled(&id).await), "1,1,2,1,2,1,2,1,1,true,2");
}

/// P020: what a body says again while it is run again is not told again; what is new is.
#[tokio::test]
async fn task_that_is_run_again_does_not_go_backwards() {
    let bench = bench().await;
    let script = json!([
        ["status", "one"],
        ["step", "backwards"],
        ["status", "two"],
        ["ask", "approve"],
        ["status", "three"],
        ["count", "backwards end"],
        ["until cancelled", ""],
    ]);
    let id = bench.create(script).await;
    let before = bench.asked(&id, 1).await;
    bench.clock.advance(1_000);
    let next = bench.restarted().await;
    next.update(&id, json!({"approve": accept(true)})).await.unwrap();
    eventually("the second run", || count("backwards end") == 1).await;
    let third = bench.restarted().await;
    eventually("the third run", || count("backwards end") == 2).await;
    // Two writes by each taking up (the lease's end and its claim), and one each by the step that it finds, by the
    // answer and by `three`.
    assert_eq!(before.status_message.as_deref(), Some("two"));
    assert_eq!(third.get(&id).await.version, before.version + 7);
    assert_eq!(count("backwards"), 1);
}

/// A body that ends its process each time does not do so for ever; whatever brings the task further counts anew.
#[tokio::test]
async fn task_that_never_comes_further_fails_after_some_attempts() {
    let mut bench = bench().await;
    let script = json!([
        ["step", "further"],
        ["ask", "approve"],
        ["count", "further crash"],
        ["hold", "further dropped"]
    ]);
    let id = bench.create(script).await;
    bench.asked(&id, 1).await;
    // Waiting for a person is no failure.
    for _ in 0..20 {
        bench = bench.restarted().await;
        bench.asked(&id, 1).await;
    }
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    for attempt in 1..=5 {
        eventually("the crash", || count("further crash") == attempt).await;
        bench = bench.restarted().await;
    }
    let record = bench.get(&id).await;
    let State::Failed { error } = &record.state else { panic!("{record:?}") };
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("in each of 5 attempts"), "{}", error.message);
    assert_eq!(record.status_message.as_ref(), Some(&error.message));
    assert_eq!((count("further crash"), count("further")), (5, 1));
}

/// Attempts count from the last step or orderly end.
#[tokio::test]
async fn step_and_orderly_end_are_headway() {
    let mut bench = bench().await;
    let gates = |gate: &str| json!([["count", gate], ["gate", gate], ["step", gate]]);
    let mut script = Vec::new();
    for gate in ["headway 1", "headway 2"] {
        script.extend(gates(gate).as_array().unwrap().clone());
    }
    script.extend([json!(["status", "stepped"]), json!(["hold", "headway dropped"])]);
    let id = bench.create(json!(script)).await;
    for attempt in 1..=4 {
        eventually("the first part", || count("headway 1") == attempt).await;
        bench = bench.restarted().await;
    }
    open_all("headway 1", 5);
    eventually("the step", || count("headway 2") >= 1).await;
    for attempt in 1..=4 {
        eventually("the second part", || count("headway 2") >= attempt).await;
        bench = bench.restarted().await;
        open_all("headway 1", 1);
    }
    assert_eq!(bench.get(&id).await.state, State::Working);
}

fn open_all(name: &str, times: usize) {
    for _ in 0..times {
        open(name);
    }
}

/// P089: a task that does not promise to be run again fails and says why, within the start.
#[tokio::test]
async fn mortal_task_fails_honestly() {
    let bench = bench().await;
    let ended = bench.create_mortal(json!([["return", "x"]])).await;
    let completed = bench.settled(&ended).await;
    let waiting = bench.create_mortal(json!([["ask", "approve"]])).await;
    bench.asked(&waiting, 1).await;
    let busy = bench.create_mortal(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&busy, "busy").await;
    let next = bench.restarted().await;
    for id in [&busy, &waiting] {
        let record = next.get(id).await;
        let State::Failed { error } = &record.state else { panic!("{record:?}") };
        assert_eq!(error.code, -32603);
        assert!(record.status_message.as_ref().unwrap().contains("interrupted"), "{record:?}");
    }
    let record = next.get(&waiting).await;
    // P090: the answer that comes now is acknowledged without effect.
    assert_eq!(next.update(&waiting, json!({"approve": accept(true)})).await.unwrap(), record);
    assert_eq!(next.get(&ended).await, completed);
}

/// A wish to cancel outlives the process.
#[tokio::test]
async fn recorded_cancel_is_carried_out_after_the_restart() {
    let bench = bench().await;
    let id = bench
        .create(json!([
            ["count", "recorded cancel"],
            ["status", "busy"],
            ["hold", "recorded cancel dropped"]
        ]))
        .await;
    bench.said(&id, "busy").await;
    bench.cancel(&id).await;
    let next = bench.restarted().await;
    assert_eq!(next.get(&id).await.state, State::Cancelled);
    assert_eq!(count("recorded cancel"), 1);
}

/// The same tool and yet another: what it is called with, asks or does differs from before the restart.
struct Changed<const WHAT: u8>;

impl<const WHAT: u8> TaskTool for Changed<WHAT> {
    const NAME: &'static str = "rerun";

    fn definition() -> ToolDefinition {
        let definition = Script::<true>::definition();
        match WHAT {
            0 => definition.with_version("2"),
            // Built anew, since the question's text is what differs.
            1 => ToolDefinition::new::<Arguments, Result<String, ToolError>>("rerun")
                .with_restart(Restart::Rerun)
                .with_input::<Approval>("approve", "Approve something else?"),
            _ => definition.with_restart(Restart::Fail),
        }
    }

    fn check(_: &RawObject) -> Result<(), mcp_tasks::ArgumentError> {
        Ok(())
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Script::<true>::run(call)
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Arguments {
    script: Vec<(String, String)>,
}

async fn restarted_with<T: TaskTool>(what: &str) {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&id, 1).await;
    let store = Arc::new(reopened(&bench.store));
    let engine =
        mcp_tasks::Engine::builder(store).clock(Arc::clone(&bench.clock)).tool::<T>().build().await.unwrap();
    let record = engine.settled(&bench.owner, &id).await.unwrap();
    let State::Failed { error } = &record.state else { panic!("{record:?}") };
    assert_eq!(error.code, -32603);
    assert!(error.message.contains(what), "{}", error.message);
    assert_eq!(record.status_message.as_ref(), Some(&error.message));
}

#[tokio::test]
async fn changed_tool_does_not_go_on_with_the_task() {
    restarted_with::<Changed<0>>("other arguments or another version of the tool `rerun`").await;
    restarted_with::<Changed<1>>("asks something else under `approve`").await;
    restarted_with::<Changed<2>>("interrupted before the task ended").await;
    restarted_with::<Script<false>>("no tool `rerun` any more").await;
}

/// A replay that does something else in a step of the same name.
#[tokio::test]
async fn changed_step_fails_the_task() {
    let bench = bench().await;
    let id = bench.create(json!([["text step", "changed step"], ["ask", "approve"]])).await;
    let before = bench.asked(&id, 1).await;
    // As if the body had been changed: the record has a number where the tool has a text.
    let whole =
        mcp_tasks::Store::load(&bench.store, &id, mcp_tasks::store::Parts::Whole).await.unwrap().unwrap();
    let mut changed = mcp_tasks::TaskRecord::clone(&whole);
    changed.steps[0].fingerprint = "usize".to_owned();
    mcp_tasks::Store::remove(&bench.store, &id, before.version).await.unwrap();
    changed.lease = None;
    mcp_tasks::Store::insert(&bench.store, changed).await.unwrap();
    let next = bench.restarted().await;
    let record = next.settled(&id).await;
    assert_eq!(record.state.name(), "failed");
    assert!(record.status_message.as_ref().unwrap().contains("step `changed step`"), "{record:?}");
}

/// S-09, S-19, P072: another process on the same store reads, answers and cancels what runs here.
#[tokio::test]
async fn two_engines_on_one_store_are_one_service() {
    let one = bench().await;
    let two = bench_over(Arc::clone(&one.store), Arc::clone(&one.clock)).await;
    let asking = one.create(json!([["ask", "approve"]])).await;
    let record = two.asked(&asking, 1).await;
    assert_eq!(one.get(&asking).await, record);
    two.update(&asking, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&one.settled(&asking).await), "true");

    let busy = one.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    two.said(&busy, "busy").await;
    assert_eq!(two.cancel(&busy).await.state, State::Working);
    assert_eq!(one.settled(&busy).await.state, State::Cancelled);
}

/// S-37, P093: two workers never both finish a task; the one that stalled past its lease is refused.
#[tokio::test]
async fn worker_that_lost_its_lease_cannot_finish() {
    let store = Arc::new(MemoryStore::new());
    let clock = Arc::new(ManualClock::default());
    let one = bench_over(Arc::clone(&store), Arc::clone(&clock)).await;
    let id = one.create(json!([["count", "lost lease"], ["gate", "lost lease"], ["token", ""]])).await;
    eventually("the first run", || count("lost lease") == 1).await;
    // Nobody renews while the clock jumps: the process is stalled.
    clock.advance(30_000);
    let two = bench_over(Arc::clone(&store), Arc::clone(&clock)).await;
    eventually("the second run", || count("lost lease") == 2).await;
    open("lost lease");
    eventually("the end of one run", || one.engine.running() + two.engine.running() == 1).await;
    open("lost lease");
    let record = two.settled(&id).await;
    assert_eq!(text(&record), "2");
    eventually("the end of the other", || one.engine.running() + two.engine.running() == 0).await;
    assert_eq!(two.get(&id).await, record);
}

/// S-37: a process that stalled past its lease, while nobody else looked, keeps its own task: it renews what runs
/// before it takes up what does not.
#[tokio::test]
async fn stalled_process_does_not_overtake_itself() {
    let bench = bench().await;
    let id = bench.create(json!([["count", "overtakes"], ["ask", "approve"], ["token", ""]])).await;
    bench.asked(&id, 1).await;
    bench.clock.advance(30_000);
    assert_eq!(bench.engine.recover().await.unwrap(), 0);
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "true,1");
    assert_eq!(count("overtakes"), 1);
    bench.engine.idle().await;
}

/// Leases of what runs are renewed, so that nobody takes it over.
#[tokio::test]
async fn running_task_keeps_its_lease() {
    let bench = bench_over(faulty(), Arc::new(ManualClock::default())).await;
    let id = bench.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&id, "busy").await;
    let version = bench.get(&id).await.version;
    for renewals in 1..=10 {
        bench.clock.advance(10_000);
        eventually("the renewal", || bench.store.calls(Verb::Renew) == renewals).await;
        // And the sleep until the next one.
        tokio::task::yield_now().await;
    }
    let two = builder(Arc::clone(&bench.store), &bench.clock).build().await.unwrap();
    assert_eq!(two.running(), 0);
    let record = bench.get(&id).await;
    assert_eq!((record.version, record.attempt), (version, 1));
}

/// a task whose lifetime ended while nobody was there fails, and its body is not run again.
#[tokio::test]
async fn task_that_outlived_the_restart_expires() {
    let bench = bench().await;
    let id = bench.create(json!([["count", "outlived"], ["ask", "approve"]])).await;
    bench.asked(&id, 1).await;
    let store = reopened(&bench.store);
    bench.clock.advance(900_000);
    let next = bench_over(Arc::new(store), Arc::clone(&bench.clock)).await;
    assert_eq!(next.get(&id).await.status_message.as_deref(), Some("Task expired"));
    assert_eq!(count("outlived"), 1);
}

/// S-35: a step's value has to come back as it was, so one that JSON does not have is told at once.
#[tokio::test]
async fn step_whose_value_cannot_be_written_fails_before_a_restart_does() {
    let bench = bench().await;
    let id = bench.create(json!([["number step", "0.5"], ["number step", "NaN"]])).await;
    let record = bench.settled(&id).await;
    assert_eq!(record.state.name(), "failed");
    let message = record.status_message.as_deref().unwrap();
    assert_eq!(message, "the value of step `NaN` cannot be written: JSON has no number `NaN`");
}
