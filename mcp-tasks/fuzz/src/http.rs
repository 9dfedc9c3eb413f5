//! Bytes on a connection over HTTP.

use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use mcp_tasks::{
    Server,
    transport::http::{HttpOptions, router},
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::{answer, server::with_server};

/// Sends the bytes as one request, and afterwards one that has to be served.
pub fn http(bytes: &[u8]) {
    with_server(async |server| {
        let answer = exchange(&server, &request(bytes)).await;
        check(&answer);
        let headers = b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n\r\n";
        let answer = exchange(&server, &request(&[headers, answer::LIST.as_bytes()].concat())).await;
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&answer));
    });
}

/// The whole request: with what frames its body, unless the input says that itself.
fn request(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let (head, body) = end.map_or((&b""[..], bytes), |end| (&bytes[..end + 2], &bytes[end + 4..]));
    let mut request = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".to_vec();
    request.extend_from_slice(head);
    let lower = head.to_ascii_lowercase();
    let frames = |name: &[u8]| lower.windows(name.len()).any(|window| window == name);
    if !frames(b"content-length") && !frames(b"transfer-encoding") {
        request.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(body);
    request
}

/// How long a server may keep silent: longer than it waits for a body or between two comments on a stream. Time goes on
/// by itself when nothing else is left to do, so that this passes at once.
const PATIENCE: Duration = Duration::from_secs(120);

/// What comes back until the server closes, or has answered and waits for a further request.
async fn exchange(server: &Server, request: &[u8]) -> Vec<u8> {
    let (client, theirs) = tokio::io::duplex(1 << 20);
    let endpoint = router(server.clone(), HttpOptions::default());
    let service = TowerToHyperService::new(endpoint);
    let connection = http1::Builder::new().serve_connection(TokioIo::new(theirs), service);
    let (mut reader, mut writer) = tokio::io::split(client);
    let talking = async {
        // A server that has refused may close before it has read everything.
        let _ = writer.write_all(request).await;
        let mut answer = Vec::new();
        if timeout(PATIENCE, read_all(&mut reader, &mut answer)).await.is_err() {
            // The input may have asked to keep the connection; the answer to what it asked is there all the same.
            assert!(!answer.is_empty(), "it hangs: {}", String::from_utf8_lossy(request));
            let _ = writer.shutdown().await;
            let closing = timeout(PATIENCE, read_all(&mut reader, &mut answer)).await;
            closing.unwrap_or_else(|_| panic!("it does not close: {}", String::from_utf8_lossy(request)));
        }
        answer
    };
    // What is wrong with the input is an error of its connection as well; that the connection ends is what is asked.
    let serving = async { timeout(3 * PATIENCE, connection).await.is_ok() };
    let (ends, answer) = tokio::join!(serving, talking);
    assert!(ends, "the connection goes on: {}", String::from_utf8_lossy(request));
    assert!(!answer.is_empty(), "it closes without an answer: {}", String::from_utf8_lossy(request));
    answer
}

/// Reads until the end, and keeps what came before if this is dropped.
async fn read_all(reader: &mut (impl AsyncRead + Unpin), into: &mut Vec<u8>) {
    while reader.read_buf(into).await.is_ok_and(|length| length > 0) {}
}

/// Each answer of a connection: more than one where the input has brought more than one request.
fn check(answer: &[u8]) {
    let mut rest = std::str::from_utf8(answer).expect("text");
    while !rest.is_empty() {
        // What was asked for with `Expect` is no answer yet.
        if let Some(behind) = rest.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n") {
            assert!(!behind.is_empty(), "no answer follows: {rest}");
            rest = behind;
            continue;
        }
        let (head, body) = rest.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no whole head: {rest}"));
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let (body, behind) = match length {
            Some(length) => body.split_at_checked(length).unwrap_or_else(|| panic!("cut off: {rest}")),
            // It ends with the connection.
            None => (body, ""),
        };
        check_one(&head, body);
        rest = behind;
    }
}

fn check_one(head: &str, body: &str) {
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    assert!((200..500).contains(&status), "{head}: {body}");
    if head.contains("content-type: application/json") {
        let message = answer::check(body);
        assert!(status != 200 || message.get("id").is_some(), "{head}: {body}");
    } else if head.contains("content-type: text/event-stream") {
        for line in body.lines() {
            if let Some(data) = line.strip_prefix("data: ") {
                answer::check(data);
            }
        }
    } else {
        assert!(status == 202 || status >= 400, "{head}: {body}");
    }
}
