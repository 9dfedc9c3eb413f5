//! Serving over HTTP: methods, headers, statuses and bodies as they are on the wire.

use std::{net::SocketAddr, time::Duration};

use mcp_tasks::transport::http::{HttpOptions, bind_http};
use serde_json::{Value, json};

use crate::{
    http_client::{listen, post, post_with, send, send_bytes},
    server_harness::{VERSION, reaches_status, request, request_declaring, server},
};

/// X-93, X-94
#[tokio::test]
async fn other_methods_than_post_are_not_allowed() {
    let address = listen(server().await, HttpOptions::default()).await;
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        let response = send(address, method, &[], b"").await;
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.header("allow"), Some("POST"));
    }
}

/// X-95, X-98, X-100
#[tokio::test]
async fn a_request_is_answered_by_one_json_object_and_no_session() {
    let address = listen(server().await, HttpOptions::default()).await;
    let message = request(json!(1), "server/discover", json!({}));
    let plain = post(address, &message).await;
    let more = [("Mcp-Session-Id", "s"), ("Last-Event-ID", "7"), ("Authorization", "x")];
    let with_session = post_with(address, &more, &message).await;
    assert_eq!(plain.body, with_session.body);
    assert_eq!(plain.status, 200);
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert_eq!(with_session.header("mcp-session-id"), None);
    assert_eq!(plain.json()["result"]["resultType"], "complete");

    let bare = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", "server/discover")];
    let without_accept = send(address, "POST", &bare, message.to_string().as_bytes()).await;
    assert_eq!(without_accept.status, 200);
}

/// X-99, X-106, S-01: without the headers of a request.
#[tokio::test]
async fn a_notification_gets_202_and_no_body() {
    let address = listen(server().await, HttpOptions::default()).await;
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "job"}}),
    ] {
        let response = send(address, "POST", &[], message.to_string().as_bytes()).await;
        assert_eq!(response.status, 202);
        assert_eq!(response.body, "");
        assert_eq!(response.header("content-type"), None);
    }
    let refused = send(address, "POST", &[], br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!((refused.status, refused.body.as_str()), (400, ""));
}

/// C-93, R-10, X-01, X-11, X-105, X-112, X-113, X-114; section 3.8 of the wire shapes
#[tokio::test]
async fn each_error_has_its_status() {
    let address = listen(server().await, HttpOptions::default()).await;
    let bytes: [(&[u8], i64); 4] = [
        (b"{", -32_700),
        (b"\xff", -32_700),
        (b"[]", -32_600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32_600),
    ];
    for (body, code) in bytes {
        let response = send(address, "POST", &[], body).await;
        assert_eq!((response.status, response.code()), (400, code));
        assert!(response.json().get("id").is_none());
    }
    let get = |id: &str| json!({"taskId": id});
    let messages = [
        (request(json!(1), "unknown/method", json!({})), 404, -32_601),
        (request(json!(1), "tasks/list", json!({})), 404, -32_601),
        (request(json!(1), "tasks/get", get("tsk_unknown")), 200, -32_602),
        (request(json!(1), "tools/call", json!({"name": "nobody"})), 200, -32_602),
        (request(json!(1), "tools/list", json!({"cursor": "x"})), 200, -32_602),
        (request_declaring(json!(1), "tasks/get", get("x"), json!({})), 400, -32_021),
        (json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}), 400, -32_602),
        (json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}), 400, -32_602),
    ];
    for (message, status, code) in messages {
        let response = post(address, &message).await;
        assert_eq!((response.status, response.code()), (status, code), "{message}");
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.json()["id"], 1);
    }
    let old = [("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "server/discover")];
    let mut message = request(json!(1), "server/discover", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25");
    let response = send(address, "POST", &old, message.to_string().as_bytes()).await;
    assert_eq!((response.status, response.code()), (400, -32_022));
}

/// X-96, X-97: step 1 comes first, whatever the body is.
#[tokio::test]
async fn pages_of_other_origins_and_hosts_are_refused() {
    let options = HttpOptions::default().with_allowed_origin("https://app.example");
    let address = listen(server().await, options).await;
    let message = request(json!(1), "tools/list", json!({}));
    let table = [
        (("Origin", "http://localhost:5173"), 200),
        (("Origin", "http://127.0.0.1"), 200),
        (("Origin", "https://app.example"), 200),
        (("Origin", "http://evil.example"), 403),
        (("Origin", "null"), 403),
        (("Host", "evil.example"), 403),
        (("Host", "localhost:99"), 200),
    ];
    for (header, status) in table {
        let response = post_with(address, &[header], &message).await;
        assert_eq!(response.status, status, "{header:?}");
        if status == 403 {
            assert!(response.json().get("id").is_none());
            let garbage = send(address, "POST", &[header], b"{").await;
            assert_eq!(garbage.status, 403);
        }
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_and_a_body_nested_too_deep_are_refused() {
    let options = HttpOptions::default().with_message_limit(2_000);
    let address = listen(server().await, options).await;
    let long = request(json!(1), "tools/list", json!({"long": "x".repeat(2_000)}));
    let response = post(address, &long).await;
    assert_eq!((response.status, response.code()), (413, -32_600));

    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let message = request(json!(1), "tools/list", json!({"deep": "DEEP"})).to_string();
    let message = message.replace("\"DEEP\"", &deep);
    let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tools/list")];
    let response = send(address, "POST", &headers, message.as_bytes()).await;
    assert_eq!((response.status, response.code()), (400, -32_600));
    assert_eq!(response.json()["id"], 1);
}

/// X-03: two clients use the same id at once.
#[tokio::test]
async fn ids_of_different_clients_have_nothing_to_do_with_each_other() {
    let address = listen(server().await, HttpOptions::default()).await;
    let call = |text: &str| {
        let params = json!({"name": "echo", "arguments": {"text": text}});
        request(json!(1), "tools/call", params)
    };
    let (one, two) = (call("one"), call("two"));
    let (first, second) = tokio::join!(post(address, &one), post(address, &two));
    let text = |response: Value| response["result"]["content"][0]["text"].clone();
    assert_eq!(text(first.json()), "one");
    assert_eq!(text(second.json()), "two");
}

/// C-99, X-13, S-18: the task is found from another connection; where nobody is authenticated its id is all that it
/// takes.
#[tokio::test]
async fn a_task_is_followed_over_any_number_of_connections() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    let params = json!({"name": "report", "arguments": {"size": "small"}});
    let created = post(address, &request(json!(1), "tools/call", params)).await.json();
    let id = &created["result"]["taskId"];
    let poll = request(json!(2), "tasks/get", json!({"taskId": id}));
    reaches_status(&server, id, "input_required").await;
    for _ in 0..3 {
        let snapshot = post(address, &poll).await.json();
        assert_eq!(snapshot["result"]["status"], "input_required", "{snapshot}");
    }
}

/// X-70: closing the connection cancels the request that waits on it.
#[tokio::test]
async fn a_client_that_hangs_up_ends_its_inline_call() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    let params = json!({"name": "endless", "arguments": {}});
    let message = request_declaring(json!(1), "tools/call", params, json!({}));
    let client = tokio::spawn(async move { post(address, &message).await });
    reaches(&server, 1).await;
    client.abort();
    reaches(&server, 0).await;
}

/// Waits until so many bodies run.
async fn reaches(server: &mcp_tasks::Server, running: usize) {
    let reached = async {
        while server.engine().running() != running {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached).await.expect("the bodies do not end");
}

/// X-126, for HTTP: a request that does not end does not keep the server.
#[tokio::test]
async fn a_server_that_shuts_down_does_not_wait_for_ever() {
    let server = server().await;
    let options = HttpOptions::default().with_drain(Duration::from_millis(1));
    let bound = bind_http(server.clone(), SocketAddr::from(([127, 0, 0, 1], 0)), options).await.unwrap();
    let address = bound.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve(async move { drop(stopped.await) }));
    let params = json!({"name": "endless", "arguments": {}});
    let message = request_declaring(json!(1), "tools/call", params, json!({}));
    let _client = tokio::spawn(async move { post(address, &message).await });
    reaches(&server, 1).await;
    stop.send(()).unwrap();
    let served = tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it waits for ever");
    served.unwrap().unwrap();
}

/// C-95: a panic while answering costs neither the answer nor the connection.
#[tokio::test]
async fn a_panic_while_answering_is_an_internal_error() {
    let address = listen(server().await, HttpOptions::default()).await;
    let params = json!({"name": "explode", "arguments": {"fuse": 9}});
    let response = post(address, &request(json!(1), "tools/call", params)).await;
    assert_eq!((response.status, response.code()), (200, -32_603));
    assert_eq!(response.json()["id"], 1);
    assert!(!response.body.contains("secret"));
}

fn head(framing: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Method: tools/list\r\n{framing}\r\n\r\n")
}

/// P152: nobody holds a connection by saying nothing.
#[tokio::test]
async fn a_request_that_does_not_arrive_loses_its_connection() {
    let short = Duration::from_millis(200);
    let options = HttpOptions::default().with_head_timeout(short).with_body_timeout(short);
    let address = listen(server().await, options).await;
    let kept = head("Content-Length: 2") + "{}";
    for begun in ["", "POST /mcp HT", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX"] {
        assert!(send_bytes(address, begun.as_bytes(), false).await.is_none(), "{begun}");
        // Also behind a request that was answered.
        let bytes = format!("{kept}{begun}");
        assert_eq!(send_bytes(address, bytes.as_bytes(), false).await.unwrap().status, 400);
    }
    for begun in [
        head("Content-Length: 100") + "{",
        head("Content-Length: 100"),
        head("Transfer-Encoding: chunked"),
        head("Transfer-Encoding: chunked") + "2\r\n{}\r\n",
    ] {
        let response = send_bytes(address, begun.as_bytes(), false).await.unwrap();
        assert_eq!((response.status, response.code()), (408, -32_600), "{begun}");
        assert!(response.json().get("id").is_none());
    }
}

/// X-01: what is wrong is said, and before the rest has come.
#[tokio::test]
async fn a_body_that_is_cut_off_is_told_from_one_that_is_too_long() {
    let address = listen(server().await, HttpOptions::default().with_message_limit(2_000)).await;
    for (bytes, and_closes) in [
        (head("Transfer-Encoding: chunked") + "zz\r\n", false),
        (head("Transfer-Encoding: chunked") + "2\r\n{}x", false),
        (head("Transfer-Encoding: chunked") + "5\r\nab", true),
        (head("Transfer-Encoding: chunked") + "2\r\n{}\r\n", true),
        (head("Content-Length: 100") + "{}", true),
    ] {
        let response = send_bytes(address, bytes.as_bytes(), and_closes).await.unwrap();
        assert_eq!((response.status, response.code()), (400, -32_700), "{bytes}");
        assert!(response.json()["error"]["message"].as_str().unwrap().contains("cut off"), "{response:?}");
    }
    for bytes in [
        head("Content-Length: 99999999999"),
        head("Content-Length: 2001\r\nExpect: 100-continue"),
        head("Transfer-Encoding: chunked") + "7d1\r\n" + &"x".repeat(2_001),
    ] {
        let response = send_bytes(address, bytes.as_bytes(), false).await.unwrap();
        assert_eq!((response.status, response.code()), (413, -32_600), "{bytes}");
    }
}

/// A server that serves by itself ends with its serving: it takes no more work, whoever still has a handle of it.
#[tokio::test]
async fn the_end_of_serving_ends_the_server() {
    let server = server().await;
    let bound = bind_http(server.clone(), SocketAddr::from(([127, 0, 0, 1], 0)), HttpOptions::default())
        .await
        .unwrap();
    bound.serve(std::future::ready(())).await.unwrap();
    let task = mcp_tasks::NewTask::new(server.owner().clone(), "echo", mcp_tasks::types::RawObject::empty());
    let refused = server.engine().create(task).await.unwrap_err();
    assert_eq!(refused.kind(), mcp_tasks::EngineErrorKind::ShuttingDown);
    // A second time there is nothing left to end.
    server.shutdown().await;
}

/// The endpoint has one address, and people write it with a slash at its end as well.
#[tokio::test]
async fn a_slash_at_the_end_of_the_path_makes_no_difference() {
    let address = listen(server().await, HttpOptions::default()).await;
    let message = request(json!(1), "tools/list", json!({}));
    let statuses = [("/mcp", 200), ("/mcp/", 200), ("/mcp/more", 404), ("/mcpx", 404)];
    for (path, status) in statuses {
        let (length, body) = (message.to_string().len(), message.to_string());
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nMCP-Protocol-Version: {VERSION}\r\n\
             Mcp-Method: tools/list\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let response = send_bytes(address, text.as_bytes(), false).await.unwrap();
        assert_eq!(response.status, status, "{path}");
    }
}
