//! Bytes on a connection over HTTP.

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use mcp_tasks::{
    Server,
    transport::http::{HttpOptions, router},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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

/// What comes back until the server closes.
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
        // A head that never ends is waited for without limit here; the server that binds by itself has one.
        let waiting =
            tokio::time::timeout(std::time::Duration::from_secs(60), reader.read_to_end(&mut answer));
        let _ = waiting.await;
        answer
    };
    let (_, answer) = tokio::join!(
        async {
            let _ = tokio::time::timeout(std::time::Duration::from_secs(60), connection).await;
        },
        talking
    );
    answer
}

fn check(answer: &[u8]) {
    // Nothing was understood as a request.
    if answer.is_empty() {
        return;
    }
    let text = std::str::from_utf8(answer).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    assert!((200..500).contains(&status), "{text}");
    let head = head.to_ascii_lowercase();
    if head.contains("content-type: application/json") {
        let message = answer::check(body);
        assert!(status != 200 || message.get("id").is_some(), "{text}");
    } else if head.contains("content-type: text/event-stream") {
        for line in body.lines() {
            if let Some(data) = line.strip_prefix("data: ") {
                answer::check(data);
            }
        }
    } else {
        assert!(status == 202 || status >= 400, "{text}");
    }
}
