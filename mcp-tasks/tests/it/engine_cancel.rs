//! Cancelling, expiring and shutting down.

use std::sync::Arc;

use mcp_tasks::record::State;
use mcp_tasks::testing::{ManualClock, Verb};
use mcp_tasks::{EngineErrorKind, Store};
use serde_json::json;

use crate::support::{accept, bench, bench_over, count, eventually, faulty, open, outstanding, text};

/// S-17, S-19, C-71: the wish is recorded without waiting for the body, and a body that listens ends cancelled.
#[tokio::test]
async fn working_task_is_cancelled_when_its_body_listens() {
    let bench = bench().await;
    let id =
        bench.create(json!([["status", "busy"], ["gate", "listens"], ["check", ""], ["return", "x"]])).await;
    bench.said(&id, "busy").await;
    let first = bench.engine.cancel(&bench.owner, &id, Some("enough".to_owned())).await.unwrap();
    assert_eq!(first.state, State::Working);
    bench.clock.advance(10);
    // S-17: once more changes nothing.
    assert_eq!(bench.cancel(&id).await, first);
    open("listens");
    let record = bench.settled(&id).await;
    assert_eq!((&record.state, record.status_message.as_deref()), (&State::Cancelled, Some("enough")));
    // C-73, P050: and neither does a cancel after the end.
    bench.clock.advance(10);
    assert_eq!(bench.cancel(&id).await, record);
    assert_eq!(bench.get(&id).await, record);
}

/// Once a body was told to stop, whatever error it returns is that.
#[tokio::test]
async fn any_error_after_the_cancel_is_the_cancel() {
    let bench = bench().await;
    for (number, last) in ["until cancelled", "any error", "protocol error", "panic"].into_iter().enumerate()
    {
        let gate = format!("any error {number}");
        let id = bench.create(json!([["status", "busy"], ["gate", gate], [last, "late"]])).await;
        bench.said(&id, "busy").await;
        bench.cancel(&id).await;
        open(&gate);
        assert_eq!(bench.settled(&id).await.state, State::Cancelled, "{last}");
    }
    // C-75: a result that came in time is a result.
    let id = bench.create(json!([["status", "busy"], ["ignore", ""]])).await;
    bench.said(&id, "busy").await;
    bench.cancel(&id).await;
    assert_eq!(text(&bench.settled(&id).await), "Cancelled");
}

/// P055, P058: a body that does not stop is not waited for beyond its grace, is dropped, and its late writes are
/// values.
#[tokio::test]
async fn body_that_does_not_stop_is_left_behind() {
    let bench = bench().await;
    let script = json!([
        ["status", "busy"],
        ["ignore", ""],
        ["late status", "left behind"],
        ["count", "left behind"],
        ["hold", "left behind dropped"],
    ]);
    let id = bench.create(script).await;
    bench.said(&id, "busy").await;
    bench.cancel(&id).await;
    eventually("the word to stop", || count("left behind") == 1).await;
    assert_eq!(count("left behind the task was cancelled"), 1);
    assert_eq!(bench.get(&id).await.state, State::Working);
    bench.clock.advance(4_999);
    assert_eq!(count("left behind dropped"), 0);
    bench.clock.advance(1);
    assert_eq!(bench.settled(&id).await.state, State::Cancelled);
    eventually("the drop", || count("left behind dropped") == 1).await;
    bench.engine.idle().await;
}

/// R-9, C-36, C-78, P059, P061, P062: a live task past its lifetime fails, its body is woken, and it is removed later,
/// all without a call from outside.
#[tokio::test]
async fn live_task_expires_by_itself() {
    let bench = bench().await;
    let waiting = bench.create(json!([["ask", "approve"]])).await;
    bench.asked(&waiting, 1).await;
    let working = bench.create(json!([["status", "busy"], ["until cancelled", ""]])).await;
    bench.said(&working, "busy").await;
    bench.clock.advance(899_999);
    assert!(!bench.get(&working).await.state.is_terminal());
    let mut changes = bench.store.changes();
    bench.clock.advance(1);
    bench.engine.idle().await;
    for id in [&waiting, &working] {
        let record = bench.get(id).await;
        let State::Failed { error } = &record.state else { panic!("{record:?}") };
        assert_eq!((error.code, error.message.as_str()), (-32603, "Task expired"));
        // C-65, C-73: late calls change nothing.
        assert_eq!(bench.cancel(id).await, record);
        assert_eq!(bench.update(id, json!({"approve": accept(true)})).await.unwrap(), record);
    }
    bench.clock.advance(60_000);
    let mut forgotten = 0;
    while forgotten < 2 {
        let change = changes.next().await.unwrap();
        let mcp_tasks::store::Change::Written { id, .. } = change else { panic!("{change:?}") };
        let left = bench.store.load(&id, mcp_tasks::store::Parts::Whole).await.unwrap().unwrap();
        forgotten += usize::from(left.forgotten_at.is_some());
        // Nothing of what was asked, answered or called with is kept any longer, though nobody came.
        if left.forgotten_at.is_some() {
            assert!(left.params.is_none() && left.inputs.is_empty() && left.steps.is_empty(), "{left:?}");
            assert!(left.params_digest.is_empty() && left.status_message.is_none(), "{left:?}");
        }
    }
    for id in [&waiting, &working] {
        let errors = [
            bench.engine.get(&bench.owner, id).await.unwrap_err(),
            bench.engine.cancel(&bench.owner, id, None).await.unwrap_err(),
            bench.update(id, json!({"approve": accept(true)})).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| error.kind() == EngineErrorKind::TaskExpired), "{errors:?}");
    }
    bench.clock.advance(3_600_000);
    let mut removed = 0;
    while removed < 2 {
        if let mcp_tasks::store::Change::Removed { .. } = changes.next().await.unwrap() {
            removed += 1;
        }
    }
    let error = bench.engine.get(&bench.owner, &working).await.unwrap_err();
    assert_eq!(error.kind(), EngineErrorKind::TaskNotFound);
}

/// C-80, S-21: an ended task stays as it is until its lifetime from creation is over, and then goes.
#[tokio::test]
async fn ended_task_stays_until_its_lifetime_is_over() {
    let bench = bench().await;
    let id = bench.create(json!([["return", "x"]])).await;
    let record = bench.settled(&id).await;
    bench.clock.advance(899_999);
    assert_eq!(bench.get(&id).await, record);
    bench.clock.advance(1);
    // Also before the timer came to it.
    assert_eq!(bench.engine.get(&bench.owner, &id).await.unwrap_err().kind(), EngineErrorKind::TaskExpired);
    assert!(bench.engine.list(&bench.owner, None, 9).await.unwrap().records.is_empty());
    // S-22, P087: for everybody else it was never there, and after a while for its owner too.
    let other = mcp_tasks::Owner::new("somebody", "else");
    let unknown = bench.engine.get(&other, &"tsk_unknown".into()).await.unwrap_err();
    let foreign = bench.engine.get(&other, &id).await.unwrap_err();
    assert_eq!((foreign.kind(), foreign.message()), (unknown.kind(), unknown.message()));
    bench.clock.advance(3_599_999);
    assert_eq!(bench.engine.get(&bench.owner, &id).await.unwrap_err().kind(), EngineErrorKind::TaskExpired);
    bench.clock.advance(1);
    assert_eq!(bench.engine.get(&bench.owner, &id).await.unwrap_err().kind(), EngineErrorKind::TaskNotFound);
    eventually("the removal", || bench.clock.next_deadline().is_none()).await;
}

/// P153: an engine without work waits for nothing.
#[tokio::test]
async fn idle_engine_sets_no_timer() {
    let bench = bench().await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(bench.clock.next_deadline().is_none());
}

/// Shutting down: no new work, a task that can be run again goes on in the next process, another one fails and says so.
#[tokio::test]
async fn shutdown_hands_over_what_can_go_on() {
    let bench = bench().await;
    let waiting = bench.create(json!([["step", "handed over"], ["ask", "approve"]])).await;
    bench.asked(&waiting, 1).await;
    let stubborn = bench.create(json!([["status", "busy"], ["hold", "stubborn dropped"]])).await;
    bench.said(&stubborn, "busy").await;
    let mortal = bench.create_mortal(json!([["ask", "approve"]])).await;
    bench.asked(&mortal, 1).await;
    let call = tokio::spawn({
        let (engine, task) = (
            bench.engine.clone(),
            bench.task("rerun", &json!([["count", "inline call"], ["until cancelled", ""]])),
        );
        async move { engine.call_inline(task).await }
    });
    eventually("the call", || count("inline call") == 1).await;

    let shutdown = tokio::spawn({
        let engine = bench.engine.clone();
        async move { engine.shutdown().await }
    });
    eventually("the quick ones", || bench.engine.running() == 1).await;
    let refused = bench.engine.create(bench.task("rerun", &json!([]))).await.unwrap_err();
    assert_eq!(refused.kind(), EngineErrorKind::ShuttingDown);
    assert_eq!(call.await.unwrap().unwrap_err().kind(), EngineErrorKind::ShuttingDown);
    bench.clock.advance(2_000);
    shutdown.await.unwrap();
    assert_eq!(count("stubborn dropped"), 1);

    let record = bench.get(&mortal).await;
    assert_eq!(record.state.name(), "failed");
    assert!(record.status_message.as_ref().unwrap().contains("stopped"), "{record:?}");
    let record = bench.get(&stubborn).await;
    assert_eq!((&record.state, &record.lease), (&State::Working, &None));

    // Nobody's leases had to be taken away: this is the same store, opened by nobody.
    let next = bench_over(Arc::clone(&bench.store), Arc::clone(&bench.clock)).await;
    assert_eq!(outstanding(&*next.asked(&waiting, 1).await), ["approve"]);
    next.update(&waiting, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(text(&next.settled(&waiting).await), "1,true");
    assert_eq!(count("handed over"), 1);
}

/// P049: a cancel that comes while the task is being created is not lost.
#[tokio::test]
async fn cancel_reaches_a_task_whose_creation_is_not_over() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let one = bench_over(Arc::clone(&store), Arc::clone(&clock)).await;
    let two = bench_over(Arc::clone(&store), clock).await;
    let hold = store.hold_answer(Verb::Insert, 1);
    let script = json!([["check", ""], ["count", "creation not over"]]);
    let creation = tokio::spawn({
        let (engine, task) = (one.engine.clone(), one.task("rerun", &script));
        async move { engine.create(task).await }
    });
    hold.reached().await;
    let id = two.engine.list(&two.owner, None, 1).await.unwrap().records[0].id.clone();
    two.cancel(&id).await;
    hold.let_go();
    creation.await.unwrap().unwrap();
    assert_eq!(one.settled(&id).await.state, State::Cancelled);
    assert_eq!(count("creation not over"), 0);
}

/// P049, X-76: a cancel between the body's return and its record; there is one end, decided once.
#[tokio::test]
async fn cancel_beside_the_end_leaves_one_end() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let bench = bench_over(Arc::clone(&store), clock).await;
    let hold = store.hold(Verb::Replace, 1);
    let id = bench.create(json!([["return", "done"]])).await;
    hold.reached().await;
    let cancelled = bench.cancel(&id).await;
    assert_eq!(cancelled.state, State::Working);
    hold.let_go();
    let record = bench.settled(&id).await;
    assert_eq!(text(&record), "done");
    bench.engine.idle().await;
    assert_eq!(bench.cancel(&id).await, record);
}
