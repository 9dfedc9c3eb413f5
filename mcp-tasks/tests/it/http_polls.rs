//! How often owners may poll, on the wire.

use std::net::SocketAddr;
use std::sync::Arc;

use mcp_tasks::Server;
use mcp_tasks::testing::ManualClock;
use mcp_tasks::transport::http::HttpOptions;
use mcp_tasks::transport::stdio::StdioOptions;
use serde_json::{Value, json};

use crate::http_client::{Response, listen, post};
use crate::http_owners::{as_, authenticated};
use crate::server_harness::{echo, endless, request};
use crate::stdio_wire::Connection;

fn call() -> Value {
    request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}))
}

fn get(id: &Value) -> Value {
    request(json!(2), "tasks/get", json!({"taskId": id}))
}

async fn server(clock: &Arc<ManualClock>, early_per_minute: impl Into<Option<u32>>) -> Server {
    let server = Server::builder("polled", "1").clock(Arc::clone(clock)).poll_ms(5_000);
    server.max_early_polls(early_per_minute).tool::<endless>().tool::<echo>().build().await.unwrap()
}

/// Status, code, and after how many milliseconds to come again.
fn verdict(response: &Response) -> (u16, i64, Value) {
    (response.status, response.code(), response.json()["error"]["data"]["retryAfterMs"].clone())
}

const FINE: (u16, i64, Value) = (200, 0, Value::Null);

async fn poll(address: SocketAddr, who: &str, id: &Value) -> Response {
    as_(address, who, &get(id)).await
}

/// C-40, X-136: whoever polls faster than they were told has an allowance, then is told when to come again, in the
/// header and in the body; others are not concerned, and neither are requests of other kinds.
#[tokio::test]
async fn polls_that_come_too_early_are_limited_for_each_owner() {
    let clock = Arc::new(ManualClock::default());
    let address = authenticated(server(&clock, 4).await).await;
    let create = async |who: &str| as_(address, who, &call()).await.json()["result"]["taskId"].clone();
    let (hers, his) = (create("alice").await, create("bob").await);
    // The first one is in time, since nothing was told before.
    for _ in 0..5 {
        assert_eq!(verdict(&poll(address, "alice", &hers).await), FINE);
    }
    let refused = poll(address, "alice", &hers).await;
    assert_eq!(verdict(&refused), (429, -32_603, json!(4_500)));
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(refused.json()["id"], 2);
    assert_eq!(verdict(&poll(address, "bob", &his).await), FINE);
    for (method, params) in [("tasks/update", json!({"inputResponses": {}})), ("tasks/cancel", json!({}))] {
        let mut message = request(json!(1), method, params);
        message["params"]["taskId"] = hers.clone();
        assert_eq!(verdict(&as_(address, "alice", &message).await), FINE, "{method}");
    }
    clock.advance(4_500);
    assert_eq!(verdict(&poll(address, "alice", &hers).await), FINE);
    assert_eq!(poll(address, "alice", &hers).await.status, 429);
    // The allowance comes back, one in a quarter of a minute.
    clock.advance(60_000);
    for _ in 0..5 {
        assert_eq!(verdict(&poll(address, "alice", &hers).await), FINE);
    }
    assert_eq!(poll(address, "alice", &hers).await.status, 429);
}

/// C-40: however many tasks somebody has, and whatever they did before, the advertised interval is enough.
#[tokio::test]
async fn polls_at_the_advertised_interval_are_never_limited() {
    let clock = Arc::new(ManualClock::default());
    let address = authenticated(server(&clock, 1).await).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(as_(address, "alice", &call()).await.json()["result"]["taskId"].clone());
    }
    let stranger = json!("tsk_0");
    while poll(address, "alice", &stranger).await.status == 200 {}
    for _ in 0..3 {
        for id in &ids {
            let answer = poll(address, "alice", id).await;
            assert_eq!(verdict(&answer), FINE);
            assert_eq!(answer.json()["result"]["pollIntervalMs"], 5_000);
        }
        clock.advance(5_000);
    }
}

/// S-31, S-29: what is refused, and when, is the same to the byte for a task of somebody else's and one that never was.
#[tokio::test]
async fn limits_tell_nothing_of_tasks_of_others() {
    let clock = Arc::new(ManualClock::default());
    let server = server(&clock, 3).await;
    let address = authenticated(server).await;
    let hers = as_(address, "alice", &call()).await.json()["result"]["taskId"].clone();
    // She is over her limit with it, which is hers alone.
    while poll(address, "alice", &hers).await.status == 200 {}
    let never = json!(format!("tsk_{}", "0".repeat(32)));
    let mut told = Vec::new();
    for (who, id) in [("bob", &hers), ("other alice", &never)] {
        let mut answers = Vec::new();
        for _ in 0..5 {
            let answer = poll(address, who, id).await;
            let retry_after = answer.header("retry-after").map(str::to_owned);
            answers.push((answer.status, retry_after, answer.body));
        }
        told.push(answers);
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].iter().map(|answer| answer.0).collect::<Vec<_>>(), [200, 200, 200, 429, 429]);
}

/// C-40, S-40: off unless it is set, and on a stream, where nothing could say it, never.
#[tokio::test]
async fn polls_are_not_limited_on_streams_nor_unless_that_was_set() {
    let clock = Arc::new(ManualClock::default());
    let address = listen(server(&clock, None).await, HttpOptions::default()).await;
    let id = post(address, &call()).await.json()["result"]["taskId"].clone();
    for _ in 0..200 {
        assert_eq!(verdict(&post(address, &get(&id)).await), FINE);
    }
    let mut stdio = Connection::to(server(&clock, 1).await, StdioOptions::default());
    stdio.send_message(&call()).await;
    let id = stdio.next().await["result"]["taskId"].clone();
    for _ in 0..20 {
        stdio.send_message(&get(&id)).await;
        assert_eq!(stdio.next().await["result"]["status"], "working");
    }
}
