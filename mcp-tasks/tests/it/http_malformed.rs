//! Whatever comes over HTTP: no status of a broken server, no connection that hangs, and the server still serves.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use mcp_tasks::transport::http::HttpOptions;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    http_client::{listen, post},
    malformed::{Random, bytes, message},
    server_harness::{request, server},
};

/// One request as it goes over the wire, and whether the client closes its side then.
struct Malformed {
    kind: &'static str,
    wire: Vec<u8>,
    closes: bool,
}

const KINDS: [&str; 9] =
    ["body", "headers", "method", "framing", "chunks", "cut off", "head", "garbage", "repeated head"];

fn malformed(random: &mut Random) -> Malformed {
    let kind = random.one_of(&KINDS);
    let (verb, mut headers) = ("POST", routing_headers(random));
    let body = if kind == "body" { bytes(random) } else { message(random).to_string().into_bytes() };
    let length = format!("Content-Length: {}\r\n", body.len());
    let mut closes = false;
    let wire = match kind {
        "body" => request_of(verb, &headers, &length, &body),
        "headers" => {
            for _ in 0..=random.below(3) {
                headers.push_str(&odd_header(random));
            }
            request_of(verb, &headers, &length, &body)
        }
        "method" => {
            let verb =
                random.one_of(&["GET", "DELETE", "PUT", "OPTIONS", "HEAD", "TRACE", "X", "post", "PRI"]);
            request_of(verb, &headers, &length, &body)
        }
        "framing" => {
            let framing = random.one_of(&[
                "Content-Length: -1\r\n",
                "Content-Length: 1e3\r\n",
                "Content-Length: 99999999999999999999999\r\n",
                "Content-Length: 18446744073709551615\r\n",
                "Content-Length: 1\r\nContent-Length: 2\r\n",
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding: gzip\r\n",
                "Transfer-Encoding: chunked, chunked\r\n",
                "Content-Encoding: gzip\r\nContent-Length: 1\r\n",
                "",
            ]);
            request_of(verb, &headers, framing, &body)
        }
        "chunks" => {
            let chunks = random.one_of(&[
                "zz\r\nab\r\n",
                "-1\r\n",
                "ffffffffffffffffffff\r\n",
                "5;ext=\u{1}\r\nhello\r\n0\r\n\r\n",
                "2\r\n{}x",
                "2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
                "2\r\n{}\r\n0\r\n: \r\n\r\n",
                "\r\n\r\n",
                "1\n{\n0\n\n",
            ]);
            request_of(verb, &headers, "Transfer-Encoding: chunked\r\n", chunks.as_bytes())
        }
        "cut off" => {
            let mut wire = request_of(verb, &headers, &length, &body);
            wire.truncate(random.below(wire.len()));
            closes = random.below(4) != 0;
            wire
        }
        "head" => {
            let line = random.one_of(&[
                "POST /mcp HTTP/9.9\r\n",
                "POST /mcp\r\n",
                "POST  /mcp HTTP/1.1\r\n",
                "POST /mcp/../x HTTP/1.1\r\n",
                "POST http://[::1/mcp HTTP/1.1\r\n",
                "POST * HTTP/1.1\r\n",
                "POST /mcp?%ff%00 HTTP/1.0\r\n",
                "\r\n\r\nPOST /mcp HTTP/1.1\r\n",
                "POST /mcp\u{0} HTTP/1.1\r\n",
            ]);
            [line.as_bytes(), headers.as_bytes(), length.as_bytes(), b"\r\n", &body].concat()
        }
        "garbage" => {
            let garbage: Vec<u8> =
                (0..random.below(2_000)).map(|_| random.one_of(b"\x00\x16\x03\xff{\r\n: P")).collect();
            closes = true;
            garbage
        }
        _ => {
            // More and longer headers than anybody takes.
            let name =
                format!("X-{}: {}\r\n", "n".repeat(random.below(3_000)), "v".repeat(random.below(9_000)));
            let headers = headers + &name.repeat(1 + random.below(120));
            request_of(verb, &headers, &length, &body)
        }
    };
    Malformed { kind, wire, closes }
}

fn request_of(verb: &str, headers: &str, framing: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("{verb} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}{framing}\r\n");
    [head.as_bytes(), body].concat()
}

fn routing_headers(random: &mut Random) -> String {
    let method = random.one_of(&["tools/call", "tools/list", "tasks/get", "subscriptions/listen", "x"]);
    let name = random.one_of(&["Mcp-Name: add\r\n", "Mcp-Name: tsk_1\r\n", ""]);
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

fn odd_header(random: &mut Random) -> String {
    let name = random.one_of(&[
        "MCP-Protocol-Version",
        "mcp-method",
        "MCP-NAME",
        "Mcp-Param-x",
        "Origin",
        "Accept",
        "Content-Type",
        "Host",
        "Expect",
        "Upgrade",
        "",
        "a b",
    ]);
    let value = random.one_of(&[
        "",
        " ",
        "=?base64?????=",
        "=?base64?4pyT?=",
        "=?base64?",
        "=?BASE64?eA==?=",
        "\u{e4}\u{202e}",
        "\u{1}\u{7f}",
        "tools/list, tools/call",
        "null",
        "http://evil.example",
        "100-continue",
        "h2c",
        "2026-07-28",
    ]);
    format!("{name}: {value}\r\n")
}

/// Sends it and reads what comes back: the status and the body, nothing where the server has just closed.
async fn exchange(address: SocketAddr, request: &Malformed) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has refused may close before it has read everything.
    let _ = stream.write_all(&request.wire).await;
    if request.closes {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let reading = async {
        // A subscription has no end; it is told by its first event.
        while !(has(&answer, b"text/event-stream") && has(&answer, b"\n\n"))
            && matches!(stream.read_buf(&mut answer).await, Ok(length) if length > 0)
        {}
    };
    let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
    read.unwrap_or_else(|_| {
        panic!("{}: it hangs: {:?}", request.kind, String::from_utf8_lossy(&request.wire))
    });
    let text = String::from_utf8_lossy(&answer);
    // What was asked for with `Expect` is no answer yet.
    let text = text.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
    let status = text.split(' ').nth(1)?.parse().unwrap();
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())?;
    Some((status, body))
}

fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// X-01, C-95, P152
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_malformed_requests_are_refused_one_by_one_and_the_server_still_serves() {
    let short = Duration::from_millis(100);
    let options = HttpOptions::default().with_head_timeout(short).with_body_timeout(short);
    let address = listen(server().await, options).await;
    let mut random = Random::of_seed(0x5eed_2026);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..20 {
        let mut exchanges = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let request = malformed(&mut random);
            exchanges.spawn(async move { (exchange(address, &request).await, request) });
        }
        while let Some(exchanged) = exchanges.join_next().await {
            let (answer, request) = exchanged.unwrap();
            let wire = String::from_utf8_lossy(&request.wire);
            let Some((status, body)) = answer else {
                // Whoever leaves, or stops, before a request is whole has asked nothing.
                assert_eq!(request.kind, "cut off", "closed without an answer: {wire:?}");
                continue;
            };
            assert!((200..500).contains(&status), "{}: {status}: {body}: {wire}", request.kind);
            *refused.entry(request.kind).or_default() += usize::from(status >= 400);
            if let Ok(message) = serde_json::from_str::<Value>(&body) {
                assert_ne!(message["error"]["code"], -32_603, "{}: {body}: {wire}", request.kind);
            }
        }
        // Between two of them as well.
        let list = post(address, &request(json!(1), "tools/list", json!({}))).await;
        assert_eq!(list.status, 200);
    }
    // Of each kind there are about a hundred, of which some are right by chance.
    for kind in KINDS {
        let answered = refused.get(kind).copied().unwrap_or_default();
        assert!(answered > 60, "{kind}: only {answered} were refused: {refused:?}");
    }
    assert!(refused.values().sum::<usize>() > 900, "{refused:?}");
}
