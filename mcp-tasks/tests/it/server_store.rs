//! The server over a store that is slow or broken.

use std::{sync::Arc, task::Poll};

use mcp_tasks::testing::Verb;
use mcp_tasks::{Role, Server, StoreErrorKind};
use serde_json::{Value, json};

use crate::engine_log::Log;
use crate::server_harness::{Back, ask, echo, job, request};
use crate::support::{FaultyMemory, faulty};

async fn server(store: FaultyMemory) -> Server {
    Server::builder("faulty", "1").store(store).tool::<job>().build().await.unwrap()
}

fn call() -> Value {
    request(json!(1), "tools/call", json!({"name": "job", "arguments": {}}))
}

/// C-95, C-93: and nothing of the cause.
#[tokio::test]
async fn a_store_that_fails_is_an_internal_error() {
    let store = faulty();
    let server = server(Arc::clone(&store)).await;
    let (_, created) = ask(&server, &call()).await;
    let id = &created["result"]["taskId"];

    server.engine().idle().await;
    store.fail(Verb::Insert, 1, StoreErrorKind::Corrupt);
    let params = json!({"taskId": id, "inputResponses": {}});
    let mut answers: Vec<Back> = vec![ask(&server, &call()).await];
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        store.fail(Verb::Load, 1, StoreErrorKind::Corrupt);
        answers.push(ask(&server, &request(json!(1), method, params.clone())).await);
    }
    for (status, answer) in answers {
        assert_eq!(status, 200);
        assert_eq!(answer["error"], json!({"code": -32_603, "message": "Internal error"}));
    }
}

/// C-31, C-32: the handle is not handed over before the task can be found.
#[tokio::test]
async fn a_new_task_is_answered_for_when_it_is_stored_and_not_before() {
    let store = faulty();
    let hold = store.hold(Verb::Insert, 1);
    let server = server(Arc::clone(&store)).await;

    let message = call();
    let mut answer = Box::pin(ask(&server, &message));
    for _ in 0..1_000 {
        let early = std::future::poll_fn(|context| Poll::Ready(answer.as_mut().poll(context).is_ready()));
        assert!(!early.await, "the task is not stored yet");
        tokio::task::yield_now().await;
    }
    hold.let_go();
    let (_, created) = answer.await;
    let params = json!({"taskId": created["result"]["taskId"]});
    let (_, found) = ask(&server, &request(json!(2), "tasks/get", params)).await;
    assert!(found["result"]["status"].is_string(), "{found}");
}

/// C-93: a process that runs bodies only says so to whoever calls it, and fills no log with that.
#[tokio::test]
async fn a_call_to_a_process_that_takes_none_is_refused_plainly() {
    let server = Server::builder("working", "1").store(faulty()).tool::<job>().tool::<echo>();
    let server = server.engine(|engine| engine.role(Role::Work)).build().await.unwrap();
    let log = Log::default();
    let guard = log.listen();
    let echo = request(json!(2), "tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    for message in [call(), echo] {
        let (_, refused) = ask(&server, &message).await;
        let error = json!({"code": -32_603, "message": "this process takes no calls"});
        assert_eq!(refused["error"], error);
    }
    drop(guard);
    let text = log.text();
    assert!(!text.contains("ERROR") && !text.contains("WARN") && text.contains("takes none"), "{text}");
}
