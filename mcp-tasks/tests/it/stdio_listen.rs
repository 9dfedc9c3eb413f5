//! Subscriptions on a stream that all requests share.

use mcp_tasks::transport::stdio::StdioOptions;
use serde_json::{Value, json};

use crate::server_harness::{create, request, result, server};
use crate::stdio_wire::Connection;

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

fn subscribe(id: Value, filter: Value) -> Value {
    request(id, "subscriptions/listen", json!({"notifications": filter}))
}

fn of(message: &Value) -> &Value {
    &message["params"]["_meta"][SUBSCRIPTION_ID]
}

/// many subscriptions on one stream are told apart by their ids, and each is in order.
#[tokio::test]
async fn subscriptions_share_the_stream() {
    let server = server().await;
    let id = create(&server, "endless", json!({})).await;
    let mut connection = Connection::to(server.clone(), StdioOptions::default());
    connection.send_message(&subscribe(json!(1), json!({"taskIds": [id]}))).await;
    connection.send_message(&subscribe(json!("1"), json!({"taskIds": [id]}))).await;
    // but one id is one request.
    connection.send_message(&subscribe(json!(1), json!({}))).await;
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut refused = 0;
    for _ in 0..5 {
        let message = connection.next().await;
        match (of(&message) == &json!(1), of(&message) == &json!("1")) {
            (true, _) => one.push(message["method"].clone()),
            (_, true) => other.push(message["method"].clone()),
            _ => {
                assert_eq!(message["error"]["code"], -32_600, "{message}");
                refused += 1;
            }
        }
    }
    let wanted = [json!("notifications/subscriptions/acknowledged"), json!("notifications/tasks")];
    assert_eq!((one.as_slice(), other.as_slice(), refused), (&wanted[..], &wanted[..], 1));
}

/// a subscription that is cancelled ends without a word, and its task goes on; the others are told.
#[tokio::test]
async fn cancelled_subscription_is_silent() {
    let server = server().await;
    let id = create(&server, "endless", json!({})).await;
    let mut connection = Connection::to(server.clone(), StdioOptions::default());
    for subscription in ["one", "other"] {
        connection.send_message(&subscribe(json!(subscription), json!({"taskIds": [id]}))).await;
        connection.next().await;
        connection.next().await;
    }
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "one"}});
    connection.send_message(&cancel).await;
    // What is answered after it comes after it.
    connection.send_message(&request(json!(2), "tasks/get", json!({"taskId": id}))).await;
    assert_eq!(connection.next().await["result"]["status"], "working");
    result(&server, "tasks/cancel", json!({"taskId": id})).await;
    loop {
        let message = connection.next().await;
        assert_eq!(of(&message), "other", "{message}");
        if message["params"]["status"] == "cancelled" {
            break;
        }
    }
    // Its id is free.
    connection.send_message(&subscribe(json!("one"), json!({}))).await;
    assert_eq!(of(&connection.next().await), "one");
}

/// when the input ends, each subscription is ended in an orderly way.
#[tokio::test]
async fn end_of_the_input_ends_subscriptions_with_their_results() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    connection.send_message(&subscribe(json!(1), json!({"toolsListChanged": true}))).await;
    connection.next().await;
    let rest = connection.finish().await;
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(rest[0]["method"], "notifications/cancelled");
    assert_eq!(rest[0]["params"]["requestId"], 1);
    assert_eq!(rest[1]["id"], 1);
    assert_eq!(rest[1]["result"]["resultType"], "complete");
}

/// Subscriptions keep nobody else waiting, however many and however large they are, and their number has a limit.
#[tokio::test]
async fn many_large_subscriptions_leave_room_for_requests() {
    let mut connection = Connection::open(StdioOptions::default().with_message_limit(64 * 1024)).await;
    let ids: Vec<String> = (0..2_000).map(|n| format!("tsk_{n:016}")).collect();
    for id in 0..256 {
        connection.send_message(&subscribe(json!(id), json!({"taskIds": ids}))).await;
        assert_eq!(of(&connection.next().await), id);
    }
    connection.send_message(&subscribe(json!(256), json!({}))).await;
    let refused = connection.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(256), &json!(-32_603)));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    connection.send_message(&cancel).await;
    connection.send_message(&request(json!("list"), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], "list");
    connection.send_message(&subscribe(json!(256), json!({}))).await;
    assert_eq!(of(&connection.next().await), 256);
}
