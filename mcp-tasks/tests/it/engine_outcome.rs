//! From a call to its recorded end: creation, reading, results and errors.

use std::sync::Arc;

use mcp_tasks::record::{ErrorRecord, State};
use mcp_tasks::types::RawObject;
use mcp_tasks::{EngineErrorKind, InlineOutcome, NewTask, Owner};
use serde_json::{Value, json};

use crate::support::{bench, count, eventually, gate, open, text};

/// C-31, C-37, C-44, S-10: found at once, and completed with what the call would have been answered with.
#[tokio::test]
async fn task_is_found_at_once_and_completes_with_the_whole_result() {
    let bench = bench().await;
    let created = bench.engine.create(bench.task("rerun", &json!([["return", "done"]]))).await.unwrap();
    // C-06: the handle tells of the beginning, however quick the body is.
    assert_eq!(created.state, State::Working);
    assert!(created.id.as_str().starts_with("tsk_"));
    assert_eq!((created.ttl_ms, created.poll_interval_ms), (Some(900_000), Some(1_000)));
    bench.get(&created.id).await;
    let record = bench.settled(&created.id).await;
    let State::Completed { result } = &record.state else { panic!("{record:?}") };
    let wanted = json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": "done"}],
        "isError": false,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1"}},
    });
    assert_eq!(result.get::<Value>().unwrap(), wanted);
    assert_eq!(record.created_at, created.created_at);
}

/// C-43, P037: reading consumes nothing and changes nothing, the version in the store included.
#[tokio::test]
async fn reading_changes_nothing() {
    let bench = bench().await;
    let id = bench.create(json!([["return", "done"]])).await;
    let other = bench.create(json!([["return", "also done"]])).await;
    let (first, second) = (bench.settled(&id).await, bench.settled(&other).await);
    for _ in 0..10 {
        for (id, seen, wanted) in [(&id, &first, "done"), (&other, &second, "also done")] {
            let again = bench.get(id).await;
            assert_eq!((&again, again.version), (seen, seen.version));
            assert_eq!(text(&again), wanted);
        }
    }
}

/// C-44, C-45: what the tool finds out is a result.
#[tokio::test]
async fn error_of_the_tool_completes_the_task() {
    let bench = bench().await;
    for operation in ["tool error", "any error"] {
        let id = bench.create(json!([[operation, "no such file"]])).await;
        let record = bench.settled(&id).await;
        assert_eq!(text(&record), "no such file");
        let State::Completed { result } = &record.state else { panic!("{record:?}") };
        let result: Value = result.get().unwrap();
        assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
    }
}

/// C-46, C-47: a protocol error fails the task and is told as it is.
#[tokio::test]
async fn protocol_error_fails_the_task() {
    let bench = bench().await;
    let id = bench.create(json!([["status", "on it"], ["protocol error", "quota exceeded"]])).await;
    let record = bench.settled(&id).await;
    assert_eq!(record.state, State::Failed { error: ErrorRecord::new(-1234, "quota exceeded") });
    assert_eq!(record.status_message.as_deref(), Some("quota exceeded"));
}

/// S-12: giving up on purpose is no failure.
#[tokio::test]
async fn body_that_gives_up_cancels_the_task() {
    let bench = bench().await;
    let id = bench.create(json!([["give up", "not approved"]])).await;
    let record = bench.settled(&id).await;
    assert_eq!(record.state, State::Cancelled);
    assert_eq!(record.status_message.as_deref(), Some("not approved"));
}

/// C-46, C-48: a panic fails the task, and what it said stays inside. P152: nothing is left of any run.
#[tokio::test]
async fn panic_fails_the_task_without_its_words() {
    let bench = bench().await;
    let id = bench.create(json!([["panic", "password is 1234"]])).await;
    let record = bench.settled(&id).await;
    let State::Failed { error } = &record.state else { panic!("{record:?}") };
    assert_eq!(error.code, -32603);
    assert!(record.status_message.is_some());
    // Its words were an argument here, so those are looked for where they must not be.
    let told = format!("{:?} {:?}", record.state, record.status_message);
    assert!(!told.contains("password") && !told.contains("1234"), "{told}");
    bench.engine.idle().await;
    assert_eq!(bench.engine.running(), 0);
}

/// P020: what the body says is seen at once, and not any more once there is a result.
#[tokio::test]
async fn status_is_seen_while_it_is_true() {
    let bench = bench().await;
    let id =
        bench.create(json!([["status", "phase 2 of 3"], ["gate", "status is seen"], ["return", "x"]])).await;
    bench.said(&id, "phase 2 of 3").await;
    open("status is seen");
    assert_eq!(bench.settled(&id).await.status_message, None);
}

/// X-134, P014: what cannot run makes no task.
#[tokio::test]
async fn call_that_cannot_run_makes_no_task() {
    let bench = bench().await;
    let unknown = bench.engine.create(bench.task("nothing", &json!([]))).await.unwrap_err();
    assert_eq!((unknown.kind(), unknown.message()), (EngineErrorKind::UnknownTool, "Unknown tool: nothing"));
    for (arguments, missing) in [("{}", true), (r#"{"script":5}"#, false)] {
        let task = NewTask::new(bench.owner.clone(), "rerun", RawObject::from_text(arguments).unwrap());
        let error = bench.engine.create(task).await.unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::InvalidArguments);
        let argument = error.argument().unwrap();
        assert_eq!((argument.missing, argument.member.as_deref()), (missing, Some("script")));
    }
    assert!(bench.engine.list(&bench.owner, None, 10).await.unwrap().records.is_empty());
    assert_eq!(bench.engine.running(), 0);
}

/// C-62, C-74, C-94, C-98, S-29, S-31, X-135: to others a task is exactly what an unknown one is, and they change
/// nothing.
#[tokio::test]
async fn task_of_another_owner_is_as_good_as_none() {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "approve"]])).await;
    let before = bench.asked(&id, 1).await;
    let unknown = "tsk_00000000000000000000000000000000".into();
    let strangers = [Owner::new("tenant", "bob"), Owner::new("other", "alice"), Owner::anonymous()];
    for (owner, id) in strangers.iter().map(|owner| (owner, &id)).chain([(&bench.owner, &unknown)]) {
        let responses = crate::support::answers(&json!({"approve": crate::support::accept(true)}));
        let errors = [
            bench.engine.get(owner, id).await.unwrap_err(),
            bench.engine.update(owner, id, responses).await.unwrap_err(),
            bench.engine.cancel(owner, id, None).await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!((error.kind(), error.message()), (EngineErrorKind::TaskNotFound, "Task not found"));
            assert!(error.argument().is_none() && std::error::Error::source(&error).is_none());
        }
    }
    assert_eq!(bench.get(&id).await, before);
}

/// P046, P047, S-18: whoever gives up on a creation leaves nothing, or a task that runs like any other.
#[tokio::test]
async fn creation_is_whole_wherever_its_caller_gives_up() {
    let bench = bench().await;
    for polls in 0..12 {
        let creation = bench.engine.create(bench.task("rerun", &json!([["return", "x"]])));
        let mut creation = Box::pin(creation);
        for _ in 0..polls {
            let ready =
                std::future::poll_fn(|cx| std::task::Poll::Ready(creation.as_mut().poll(cx).is_ready()))
                    .await;
            if ready {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(creation);
    }
    eventually("the end of all runs", || bench.engine.running() == 0).await;
    let page = bench.engine.list(&bench.owner, None, 100).await.unwrap();
    assert!(!page.records.is_empty());
    assert!(page.records.iter().all(|record| record.state.is_terminal()), "{:?}", page.records);
}

/// An ordinary call leaves no record and has the result that the task would have.
#[tokio::test]
async fn inline_call_is_answered_like_the_task_and_leaves_nothing() {
    let bench = bench().await;
    let script = json!([["status", "x"], ["step", "inline step"], ["return", "done"]]);
    let outcome = bench.engine.call_inline(bench.task("rerun", &script)).await.unwrap();
    let InlineOutcome::Result(result) = outcome else { panic!("{outcome:?}") };
    let id = bench.create(json!([["return", "done"]])).await;
    let record = bench.settled(&id).await;
    assert_eq!(record.state, State::Completed { result });
    assert_eq!(bench.engine.list(&bench.owner, None, 10).await.unwrap().records.len(), 1);

    for (script, wanted) in [
        (json!([["protocol error", "no"]]), ErrorRecord::new(-1234, "no")),
        (json!([["panic", "secret"]]), ErrorRecord::new(-32603, "the tool failed unexpectedly")),
    ] {
        let outcome = bench.engine.call_inline(bench.task("rerun", &script)).await.unwrap();
        assert_eq!(outcome, InlineOutcome::Error(wanted));
    }
    let ask = bench.engine.call_inline(bench.task("rerun", &json!([["ask", "approve"]]))).await.unwrap_err();
    assert_eq!(ask.kind(), EngineErrorKind::InputUnavailable);
    assert_eq!(bench.engine.running(), 0);
}

/// X-70: a call that nobody waits for is told to stop, and dropped when it does not listen.
#[tokio::test]
async fn inline_call_stops_when_its_caller_goes_away() {
    let bench = bench().await;
    let script = json!([
        ["count", "inline stops"],
        ["ignore", ""],
        ["count", "inline told"],
        ["hold", "inline dropped"]
    ]);
    let call = tokio::spawn({
        let (engine, task) = (bench.engine.clone(), bench.task("rerun", &script));
        async move { engine.call_inline(task).await.map(drop) }
    });
    eventually("the body", || count("inline stops") == 1).await;
    call.abort();
    eventually("the word to stop", || count("inline told") == 1).await;
    eventually("the grace", || bench.clock.next_deadline().is_some()).await;
    bench.clock.advance(5_000);
    eventually("the drop", || count("inline dropped") == 1).await;
    bench.engine.idle().await;
}

/// C-52: an undeclared question is the tool's fault and fails the task.
#[tokio::test]
async fn undeclared_question_fails_the_task() {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "undeclared"]])).await;
    let record = bench.settled(&id).await;
    assert_eq!(record.state.name(), "failed");
    assert!(record.status_message.as_ref().unwrap().contains("`undeclared`"), "{record:?}");
}

/// C-97: ids that were given out are never given out again.
#[tokio::test]
async fn ten_tasks_at_once_do_not_meet() {
    let bench = Arc::new(bench().await);
    let tasks: Vec<_> = (0..10)
        .map(|number| {
            let bench = Arc::clone(&bench);
            tokio::spawn(async move {
                let id = bench
                    .create(json!([["gate", "ten tasks"], ["id", ""], ["return", number.to_string()]]))
                    .await;
                (bench.settled(&id).await, number)
            })
        })
        .collect();
    eventually("all of them", || bench.engine.running() == 10).await;
    gate("ten tasks").add_permits(10);
    for task in tasks {
        let (record, number) = task.await.unwrap();
        assert_eq!(text(&record), number.to_string());
    }
}

/// A result that is too large ends the task, or the call, honestly; so does whatever else it would have to carry.
#[tokio::test]
async fn what_is_too_large_fails_and_names_the_limit() {
    let clock = Arc::new(mcp_tasks::testing::ManualClock::default());
    let store = Arc::new(mcp_tasks::MemoryStore::new());
    let engine =
        crate::support::builder(Arc::clone(&store), &clock).result_limit(1_000).build().await.unwrap();
    let bench = crate::support::Bench { engine, clock, store, owner: Owner::anonymous() };
    let long = "x".repeat(2_000);
    for (operation, what) in [
        ("return", "the result of "),
        ("tool error", "the result of "),
        ("protocol error", "the error of 2000 bytes"),
        ("give up", "the error of 2000 bytes"),
        ("status", "the status of 2000 bytes"),
        ("long step", "the value of step `long` of 2002 bytes"),
    ] {
        let operand = if operation == "long step" { "2000" } else { &long };
        let id = bench.create(json!([[operation, operand]])).await;
        let record = bench.settled(&id).await;
        let State::Failed { error } = &record.state else { panic!("{record:?}") };
        assert_eq!(error.code, -32603);
        assert!(error.message.starts_with(what), "{}", error.message);
        assert!(error.message.ends_with("is larger than the limit of 1000 bytes"), "{}", error.message);
    }
    let called = bench.engine.call_inline(bench.task("rerun", &json!([["return", long]]))).await.unwrap();
    let InlineOutcome::Error(error) = called else { panic!("{called:?}") };
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("the limit of 1000 bytes"), "{}", error.message);
    let id = bench.create(json!([["return", "short"]])).await;
    assert_eq!(text(&bench.settled(&id).await), "short");
}
