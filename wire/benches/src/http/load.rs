//! Requests over connections that stay open, as light as a client can be: bytes made beforehand, answers looked at only
//! as far as their end and their status. The same for every server.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) const CONNECTIONS: usize = 32;

/// How long a load lasts.
#[derive(Clone, Copy)]
pub(crate) enum Amount {
    For(Duration),
    /// So many requests on all connections together.
    Requests(usize),
}

/// What a load came to.
pub(crate) struct Measured {
    pub(crate) rate: f64,
    /// In microseconds.
    pub(crate) p99: f64,
}

/// A request of the 2026-07-28 revision to `/mcp`, with its headers.
pub(crate) fn request(method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
    request_saying("", method, name, params)
}

/// The same with more members of `_meta`, each with a comma behind it.
fn request_saying(meta: &str, method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
    const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let meta = format!(r#""_meta":{{{meta}{META}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{meta},{params}}}}}"#);
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn poll(id: &str) -> Vec<u8> {
    request("tasks/get", Some(id), &format!(r#""taskId":"{id}""#))
}

pub(crate) fn call(tool: &str) -> Vec<u8> {
    request("tools/call", Some(tool), &format!(r#""name":"{tool}","arguments":{{}}"#))
}

/// A call that wants to hear of progress, which makes its answer an event stream.
pub(crate) fn call_with_progress(tool: &str) -> Vec<u8> {
    let params = format!(r#""name":"{tool}","arguments":{{}}"#);
    request_saying(r#""progressToken":1,"#, "tools/call", Some(tool), &params)
}

/// A connection, and what came on it.
pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(4096) })
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.received.clear();
        self.stream.write_all(request).await
    }

    /// Sends a request and gives the whole answer, which has to be a good one.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<&[u8]> {
        self.send(request).await?;
        while !is_whole(&self.received)? {
            self.more().await?;
        }
        Ok(&self.received)
    }

    /// Waits until a text has come in the answer that is going on.
    pub(crate) async fn wait_for(&mut self, text: &str) -> io::Result<()> {
        while find(&self.received, text.as_bytes()).is_none() {
            self.more().await?;
        }
        Ok(())
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, text_of(&self.received))),
            _ => Ok(()),
        }
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Whether an answer is there to its end.
fn is_whole(received: &[u8]) -> io::Result<bool> {
    let Some(head) = find(received, b"\r\n\r\n") else { return Ok(false) };
    if !received.starts_with(b"HTTP/1.1 200") {
        return Err(io::Error::other(text_of(received)));
    }
    let lines = received[..head].split(|byte| *byte == b'\n');
    const LENGTH: &[u8] = b"content-length:";
    for line in lines {
        if line.len() > LENGTH.len() && line[..LENGTH.len()].eq_ignore_ascii_case(LENGTH) {
            let number = std::str::from_utf8(&line[LENGTH.len()..]).unwrap_or_default().trim();
            let length: usize = number.parse().map_err(io::Error::other)?;
            return Ok(received.len() >= head + 4 + length);
        }
    }
    Ok(received.ends_with(b"\r\n0\r\n\r\n"))
}

/// The id of the task in an answer.
pub(crate) fn task_id(answer: &[u8]) -> String {
    const MEMBER: &[u8] = br#""taskId":""#;
    let start =
        find(answer, MEMBER).unwrap_or_else(|| panic!("no task in {}", text_of(answer))) + MEMBER.len();
    let length = answer[start..].iter().position(|byte| *byte == b'"').unwrap_or(0);
    text_of(&answer[start..start + length])
}

/// The body of an answer.
pub(crate) fn body(answer: &[u8]) -> String {
    find(answer, b"\r\n\r\n").map(|head| text_of(&answer[head + 4..])).unwrap_or_default()
}

/// Sends the requests in turn over all connections, each its next one when it has its answer.
pub(crate) async fn load(address: SocketAddr, requests: &Rc<[Vec<u8>]>, amount: Amount) -> Measured {
    let (measured, _) = load_with(address, requests, amount, |_| ()).await;
    measured
}

/// The same, with what is taken from the answers.
pub(crate) async fn load_with<T: 'static>(
    address: SocketAddr,
    requests: &Rc<[Vec<u8>]>,
    amount: Amount,
    take: fn(&[u8]) -> T,
) -> (Measured, Vec<T>) {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Client::connect(address).await.expect("a connection"));
    }
    let local = tokio::task::LocalSet::new();
    let start = Instant::now();
    let runs: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(number, mut client)| {
            let requests = Rc::clone(requests);
            local.spawn_local(async move {
                let mut times = Vec::new();
                let mut taken = Vec::new();
                // Not in step: no two clients ask for the same task at the same moment.
                let mut next = number * requests.len() / CONNECTIONS;
                loop {
                    let goes_on = match amount {
                        Amount::For(duration) => start.elapsed() < duration,
                        Amount::Requests(count) => times.len() < count / CONNECTIONS,
                    };
                    if !goes_on {
                        return (times, taken);
                    }
                    let sent = Instant::now();
                    let answer = client.ask(&requests[next % requests.len()]).await.expect("an answer");
                    times.push(sent.elapsed());
                    if size_of::<T>() > 0 {
                        taken.push(take(answer));
                    }
                    next += 1;
                }
            })
        })
        .collect();
    let (mut times, mut taken) = (Vec::new(), Vec::new());
    let all = local.run_until(async {
        for run in runs {
            let (of_client, taken_of_client) = run.await.expect("a client");
            times.extend(of_client);
            taken.extend(taken_of_client);
        }
    });
    all.await;
    let rate = times.len() as f64 / start.elapsed().as_secs_f64();
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100].as_secs_f64() * 1e6;
    (Measured { rate, p99 }, taken)
}
