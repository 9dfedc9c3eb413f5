//! The smallest HTTP client that shows what is on the wire: one request a connection.

use std::{net::SocketAddr, time::Duration};

use mcp_tasks::{
    Server,
    transport::http::{HttpOptions, bind_http},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::server_harness::VERSION;

/// A server that listens until the test ends.
pub(crate) async fn listen(server: Server, options: HttpOptions) -> SocketAddr {
    let bound = bind_http(server, SocketAddr::from(([127, 0, 0, 1], 0)), options).await.unwrap();
    let address = bound.address();
    tokio::spawn(bound.serve(std::future::pending()));
    address
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or(0)
    }
}

/// Sends one request with exactly these headers, plus `Host` unless it is among them.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let mut head = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // A server that refuses by the head may close before it has read the body.
    let _ = stream.write_all(body).await;
    response(&mut stream).await.unwrap()
}

/// Sends these bytes and nothing more; what comes back until the server closes, if anything does.
pub(crate) async fn send_bytes(address: SocketAddr, bytes: &[u8], and_closes: bool) -> Option<Response> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    if and_closes {
        stream.shutdown().await.unwrap();
    }
    tokio::time::timeout(Duration::from_secs(20), response(&mut stream)).await.expect("it waits for ever")
}

async fn response(stream: &mut TcpStream) -> Option<Response> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    Some(Response {
        status: status.parse().unwrap(),
        headers: lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        body: body.to_owned(),
    })
}

/// The headers that a client sends with a message, and the message.
pub(crate) async fn post(address: SocketAddr, message: &Value) -> Response {
    post_with(address, &[], message).await
}

/// The same with more headers.
pub(crate) async fn post_with(address: SocketAddr, more: &[(&str, &str)], message: &Value) -> Response {
    let method = message["method"].as_str().unwrap_or_default();
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", VERSION),
        ("Mcp-Method", method),
    ];
    let params = &message["params"];
    let name = params["taskId"].as_str().or(params["name"].as_str());
    headers.extend(name.map(|name| ("Mcp-Name", name)));
    headers.extend(more);
    send(address, "POST", &headers, message.to_string().as_bytes()).await
}
