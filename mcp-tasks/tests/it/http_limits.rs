//! Serving over HTTP: headers as bytes on the wire, and what a connection may cost.

use std::{net::SocketAddr, time::Duration};

use mcp_tasks::transport::http::{HttpOptions, bind_http};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, sync::oneshot};

use crate::{
    http_client::{listen, post, send_bytes},
    server_harness::{request, server},
};

/// A call of `echo` with these lines in its head, each of which ends itself.
fn call(lines: &[u8]) -> Vec<u8> {
    let params = json!({"name": "echo", "arguments": {"text": "x"}});
    let body = request(json!(1), "tools/call", params).to_string();
    let head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    [head, lines, length.as_bytes(), body.as_bytes()].concat()
}

fn routed(name: &[u8]) -> Vec<u8> {
    [b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ", name, b"\r\n"].concat()
}

/// C-90: on the wire, where a value is bytes and blanks around it are part of no value.
#[tokio::test]
async fn routing_headers_are_read_from_the_wire() {
    let address = listen(server().await, HttpOptions::default()).await;
    let table: [(Vec<u8>, u16, i64); 17] = [
        (routed(b"echo"), 200, 0),
        (routed(b" \techo  "), 200, 0),
        (routed(b"=?base64?ZWNobw==?="), 200, 0),
        (routed(b" =?base64?ZWNobw==?= "), 200, 0),
        // No padding, no alphabet, no text, not the prefix, not the suffix.
        (routed(b"=?base64?ZWNobw?="), 400, -32_020),
        (routed(b"=?base64?ZWNo*w==?="), 400, -32_020),
        (routed(b"=?base64?/////w==?="), 400, -32_020),
        (routed(b"=?BASE64?ZWNobw==?="), 400, -32_020),
        (routed(b"=?base64?ZWNobw=="), 400, -32_020),
        (routed(b"Echo"), 400, -32_020),
        (routed(b""), 400, -32_020),
        // Letters that are no ASCII, in one encoding and the other.
        (routed(b"\xe9cho"), 400, -32_020),
        (routed("\u{e9}cho".as_bytes()), 400, -32_020),
        // Twice is once as long as both say the same.
        (routed(b"echo\r\nMCP-NAME: echo"), 200, 0),
        (routed(b"echo\r\nmcp-name: add"), 400, -32_020),
        (b"mcp-protocol-version:2026-07-28\r\nMCP-METHOD:tools/call\r\nmCP-nAME:echo\r\n".to_vec(), 200, 0),
        (b"Mcp-Method: tools/call\r\nMcp-Name: echo\r\n".to_vec(), 400, -32_020),
    ];
    for (lines, status, code) in table {
        let response = send_bytes(address, &call(&lines), false).await.unwrap();
        let shown = String::from_utf8_lossy(&lines);
        assert_eq!((response.status, response.code()), (status, code), "{shown:?}: {}", response.body);
    }
}

/// one of several origins that is not let in is enough.
#[tokio::test]
async fn every_origin_and_host_has_to_be_one_that_is_let_in() {
    let address = listen(server().await, HttpOptions::default()).await;
    for (lines, status) in [
        (&b"Origin: http://localhost\r\nOrigin: http://127.0.0.1:5\r\n"[..], 200),
        (b"Origin: http://localhost\r\nOrigin: http://evil.example\r\n", 403),
        (b"Origin: http://localhost, http://evil.example\r\n", 403),
        (b"Origin: \xff\r\n", 403),
        (b"Host: evil.example\r\n", 403),
    ] {
        let request = call(&[lines, &routed(b"echo")].concat());
        // The one that `call` has is the first of two.
        let request = if lines.starts_with(b"Host") {
            String::from_utf8(request).unwrap().replacen("Host: localhost\r\n", "", 1).into_bytes()
        } else {
            request
        };
        let response = send_bytes(address, &request, false).await.unwrap();
        assert_eq!(response.status, status, "{:?}", String::from_utf8_lossy(lines));
    }
}

/// which host a request is for has to be clear, and it is refused if one of two places names another one.
#[tokio::test]
async fn host_is_named_once_and_is_let_in_wherever_it_stands() {
    let address = listen(server().await, HttpOptions::default()).await;
    let request = String::from_utf8(call(&routed(b"echo"))).unwrap();
    let (line, host) = ("POST /mcp HTTP/1.1\r\n", "Host: localhost\r\n");
    let table = [
        (line, "Host: localhost\r\nHost: evil.example\r\n", 400),
        (line, "Host: evil.example\r\nHost: localhost\r\n", 400),
        (line, "Host: localhost\r\nHost: localhost\r\n", 400),
        (line, "Host: localhost, evil.example\r\n", 403),
        (line, "Host: \r\n", 403),
        (line, "", 400),
        ("POST /mcp HTTP/1.0\r\n", "Host: evil.example\r\n", 403),
        ("POST /mcp HTTP/1.0\r\n", host, 200),
        ("POST http://evil.example/mcp HTTP/1.1\r\n", host, 403),
        ("POST http://localhost@evil.example/mcp HTTP/1.1\r\n", host, 403),
        ("POST http://localhost/mcp HTTP/1.1\r\n", "Host: evil.example\r\n", 403),
        ("POST http://localhost/mcp HTTP/1.1\r\n", host, 200),
    ];
    for (this_line, hosts, status) in table {
        let request = request.replacen(&format!("{line}{host}"), &format!("{this_line}{hosts}"), 1);
        let response = send_bytes(address, request.as_bytes(), false).await.unwrap();
        assert_eq!(response.status, status, "{this_line}{hosts}");
        assert!(status == 200 || response.code() == -32_600, "{this_line}{hosts}");
    }
}

/// behind a proxy on the same machine, its host is let in as well, and no other.
#[tokio::test]
async fn a_host_that_was_named_is_let_in() {
    let options = HttpOptions::default().with_allowed_host("tasks.example");
    let address = listen(server().await, options).await;
    for (host, status) in [("Tasks.example", 200), ("localhost", 200), ("tasks.example.evil", 403)] {
        let request = String::from_utf8(call(&routed(b"echo"))).unwrap();
        let request = request.replacen("Host: localhost", &format!("Host: {host}"), 1);
        let response = send_bytes(address, request.as_bytes(), false).await.unwrap();
        assert_eq!(response.status, status, "{host}");
    }
}

/// P152: a head has a limit in size and in number, and the next connection is served.
#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let address = listen(server().await, HttpOptions::default()).await;
    let with = |more: String| [routed(b"echo"), more.into_bytes()].concat();
    let many = |count: usize| with("X-A: b\r\n".repeat(count));
    let long = |length: usize| with(format!("X-A: {}\r\n", "b".repeat(length)));
    for (lines, status) in [(many(90), 200), (many(100), 431), (long(60_000), 200), (long(200_000), 431)] {
        let response = send_bytes(address, &call(&lines), false).await.unwrap();
        assert_eq!(response.status, status, "{} bytes", lines.len());
    }
    let list = post(address, &request(json!(1), "tools/list", json!({}))).await;
    assert_eq!(list.status, 200);
}

/// P152: whoever does not read what they have asked for loses the connection, and keeps no server from ending.
#[tokio::test]
async fn a_client_that_does_not_read_loses_its_connection() {
    let options = HttpOptions::default()
        .with_message_limit(16 << 20)
        .with_drain(Duration::from_secs(600))
        .with_write_timeout(Duration::from_millis(100));
    let bound = bind_http(server().await, SocketAddr::from(([127, 0, 0, 1], 0)), options).await.unwrap();
    let address = bound.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve(async move { drop(stopped.await) }));

    // More than the system keeps on the way.
    let params = json!({"name": "echo", "arguments": {"text": "x".repeat(12 << 20)}});
    let body = request(json!(1), "tools/call", params).to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: echo\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    // The answer has begun, so that it is in flight when the server ends.
    stream.readable().await.unwrap();
    stop.send(()).unwrap();
    let served = tokio::time::timeout(Duration::from_secs(60), serving).await.expect("it waits for ever");
    served.unwrap().unwrap();
}
