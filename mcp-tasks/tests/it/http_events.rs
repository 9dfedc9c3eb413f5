//! Answers as event streams, on the wire.

use std::net::SocketAddr;
use std::time::Duration;

use mcp_tasks::Server;
use mcp_tasks::transport::http::{HttpOptions, bind_http};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::http_client::{listen, post};
use crate::server_harness::{VERSION, create, request, request_declaring, result, server};

/// A stream that is read as it comes.
pub(crate) struct Events {
    stream: TcpStream,
    /// What has come and was not taken, without the framing in chunks.
    body: String,
    head: String,
    raw: Vec<u8>,
    /// Whether the last chunk has come.
    ended: bool,
}

impl Events {
    pub(crate) async fn open(address: SocketAddr, message: &Value) -> Self {
        Self::open_with(address, "", message).await
    }

    /// The same with more lines in its head, each with its end.
    pub(crate) async fn open_with(address: SocketAddr, more: &str, message: &Value) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let body = message.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n\
             Mcp-Method: {}\r\n{more}Content-Length: {}\r\n\r\n",
            message["method"].as_str().unwrap(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut events =
            Self { stream, body: String::new(), head: String::new(), raw: Vec::new(), ended: false };
        while events.head.is_empty() {
            assert!(events.more().await, "closed before its head");
            if let Some(end) = events.raw.windows(4).position(|window| window == b"\r\n\r\n") {
                events.head =
                    String::from_utf8(events.raw.drain(..end + 4).collect()).unwrap().to_lowercase();
            }
        }
        events
    }

    /// Reads some more; false when the server has closed.
    async fn more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(20), self.stream.read(&mut buffer)).await;
        let read = read.expect("nothing comes").unwrap();
        self.raw.extend_from_slice(&buffer[..read]);
        read > 0
    }

    /// Takes whole chunks.
    fn dechunk(&mut self) {
        while let Some(end) = self.raw.windows(2).position(|window| window == b"\r\n") {
            let size = std::str::from_utf8(&self.raw[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            if self.raw.len() < end + 2 + size + 2 {
                return;
            }
            let chunk: Vec<u8> = self.raw.drain(..end + 2 + size + 2).skip(end + 2).take(size).collect();
            self.ended |= size == 0;
            self.body.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event or comment, as it is on the wire; nothing at the end of the stream.
    async fn next_block(&mut self) -> Option<String> {
        loop {
            self.dechunk();
            if let Some((block, rest)) = self.body.split_once("\n\n") {
                let block = block.to_owned();
                self.body = rest.to_owned();
                return Some(block);
            }
            if self.ended {
                assert_eq!(self.body, "");
                return None;
            }
            assert!(self.more().await, "the stream broke off");
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        let block = self.next_block().await?;
        let data = block.strip_prefix("data: ").unwrap_or_else(|| panic!("no event of one line: {block:?}"));
        Some(serde_json::from_str(data).unwrap())
    }
}

pub(crate) fn subscribe(id: Value, filter: Value) -> Value {
    request(id, "subscriptions/listen", json!({"notifications": filter}))
}

/// A server that listens until it is told to end, and what tells it.
async fn stoppable(server: Server) -> (SocketAddr, oneshot::Sender<()>) {
    let bound = bind_http(server, ([127, 0, 0, 1], 0).into(), HttpOptions::default()).await.unwrap();
    let address = bound.address();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(bound.serve(async move { drop(stopped.await) }));
    (address, stop)
}

/// S-27, X-79, X-116: the answer of the POST is the stream, without ids and without buffering on the way.
#[tokio::test]
async fn subscription_is_the_event_stream_of_its_request() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    let id = create(&server, "endless", json!({})).await;
    let mut events = Events::open(address, &subscribe(json!(1), json!({"taskIds": [id]}))).await;
    assert!(events.head.starts_with("http/1.1 200 "), "{}", events.head);
    for line in ["content-type: text/event-stream", "x-accel-buffering: no", "cache-control: no-cache"] {
        assert!(events.head.contains(&format!("\r\n{line}\r\n")), "{line}: {}", events.head);
    }
    assert!(!events.head.contains("mcp-session-id"));
    let acknowledged = events.next().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(events.next().await.unwrap()["params"]["status"], "working");
    result(&server, "tasks/cancel", json!({"taskId": id})).await;
    while events.next().await.unwrap()["params"]["status"] != "cancelled" {}
}

/// two clients may use the same id at once.
#[tokio::test]
async fn equal_ids_on_two_connections_do_not_meet() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    let id = create(&server, "endless", json!({})).await;
    let message = subscribe(json!(1), json!({"taskIds": [id]}));
    let (mut one, mut other) = (Events::open(address, &message).await, Events::open(address, &message).await);
    for events in [&mut one, &mut other] {
        events.next().await.unwrap();
        events.next().await.unwrap();
    }
    drop(one);
    result(&server, "tasks/cancel", json!({"taskId": id})).await;
    while other.next().await.unwrap()["params"]["status"] != "cancelled" {}
}

/// C-23: an error before the first message is an answer like any other, with its status.
#[tokio::test]
async fn refused_subscription_is_answered_in_json() {
    let address = listen(server().await, HttpOptions::default()).await;
    let undeclared = request_declaring(
        json!(1),
        "subscriptions/listen",
        json!({"notifications": {"taskIds": []}}),
        json!({}),
    );
    let response = post(address, &undeclared).await;
    assert_eq!((response.status, response.code()), (400, -32_021));
    assert_eq!(response.header("content-type"), Some("application/json"));
}

/// while nothing changes, a comment says that the stream is alive.
#[tokio::test]
async fn silent_stream_is_kept_alive_by_comments() {
    let options = HttpOptions::default().with_keep_alive(Duration::from_millis(20));
    let address = listen(server().await, options).await;
    let mut events = Events::open(address, &subscribe(json!(1), json!({"toolsListChanged": true}))).await;
    events.next().await.unwrap();
    for _ in 0..3 {
        let block = events.next_block().await.unwrap();
        assert!(block.starts_with(':'), "{block:?}");
    }
}

/// a server that ends answers its subscriptions, closes them, and does not wait for them.
#[tokio::test]
async fn server_that_stops_ends_its_streams_with_their_results() {
    let server = server().await;
    let (address, stop) = stoppable(server).await;
    let mut events = Events::open(address, &subscribe(json!("x"), json!({"toolsListChanged": true}))).await;
    events.next().await.unwrap();
    stop.send(()).unwrap();
    let wanted = json!({
        "jsonrpc": "2.0",
        "id": "x",
        "result": {"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": "x"}},
    });
    assert_eq!(events.next().await, Some(wanted));
    assert_eq!(events.next().await, None);
    assert!(!events.more().await);
}

/// what a call tells comes on its own stream, the answer last; a call that tells nothing is plain
/// JSON.
#[tokio::test]
async fn call_that_tells_is_an_event_stream() {
    use crate::server_telling::{call, server};

    let address = listen(server().await, HttpOptions::default()).await;
    let counting = json!({"name": "count_to", "arguments": {"number": 3}});
    let asked = call(counting.clone(), json!({}), &json!({"progressToken": "t"}));
    let mut events = Events::open_with(address, "Mcp-Name: count_to\r\n", &asked).await;
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    for done in 1..=3 {
        let told = events.next().await.unwrap();
        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"]["progress"].as_f64(), Some(f64::from(done)));
    }
    let answer = events.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(1), &json!("complete")));
    assert_eq!(events.next().await, None);

    let plain = post(address, &call(counting, json!({}), &json!({}))).await;
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert_eq!(plain.json()["result"]["content"][0]["text"], "counted");
}
