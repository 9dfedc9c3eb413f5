//! Serving over a pair of byte streams: standard input and output, a socket, a pipe.
//!
//! One message a line in both directions.
//! Requests are worked on side by side; each answer leaves as one whole line, in the order in which
//! the answers are ready.
//! Serving ends when the input ends: answers in flight get a moment, then the connection is over,
//! while tasks stay what they are in the store.

mod framing;

use std::{collections::BTreeMap, io, sync::Arc, time::Duration};

use mcp_tasks_types::v2026_07_28::RequestId;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
};

use self::framing::{Framing, Line};
use crate::{
    error::with_causes,
    server::{Incoming, Reply, RequestContext, Server},
    transport::DEFAULT_MESSAGE_LIMIT,
};

/// How a connection is served.
#[derive(Clone, Debug)]
pub struct StdioOptions {
    message_limit: usize,
    drain: Duration,
    calls: usize,
}

impl Default for StdioOptions {
    fn default() -> Self {
        Self { message_limit: DEFAULT_MESSAGE_LIMIT, drain: Duration::from_millis(500), calls: 256 }
    }
}

impl StdioOptions {
    /// The longest line that is read, in bytes.
    #[must_use]
    pub fn with_message_limit(mut self, bytes: usize) -> Self {
        self.message_limit = bytes;
        self
    }

    /// How long answers in flight may still take when the input has ended.
    #[must_use]
    pub fn with_drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// How many calls of tools may wait for their answers at a time; more are refused. Other requests are
    /// always served, so that tasks can be followed and cancelled while calls wait.
    #[must_use]
    pub fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }
}

/// Serves the process's standard streams until the input ends.
///
/// # Errors
///
/// When the output cannot be written.
pub async fn serve_stdio(server: Server) -> io::Result<()> {
    serve_stdio_with(server, StdioOptions::default()).await
}

/// The same with options.
///
/// # Errors
///
/// When the output cannot be written.
pub async fn serve_stdio_with(server: Server, options: StdioOptions) -> io::Result<()> {
    let (sender, lines) = mpsc::channel(LINES_AHEAD);
    let limit = options.message_limit;
    // A thread of our own: a blocking read on the runtime's threads would keep the process from
    // ending before its input does.
    std::thread::Builder::new()
        .name("mcp-stdin".to_owned())
        .spawn(move || read_blocking(&mut io::stdin().lock(), limit, &sender))?;
    connection(server, lines, tokio::io::stdout(), &options).await
}

/// Serves any pair of byte streams until the input ends.
///
/// # Errors
///
/// When the output cannot be written.
pub async fn serve_stream<R, W>(server: Server, reader: R, writer: W, options: StdioOptions) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (sender, lines) = mpsc::channel(LINES_AHEAD);
    let reading = tokio::spawn(read_stream(reader, options.message_limit, sender));
    let served = connection(server, lines, writer, &options).await;
    reading.abort();
    served
}

/// How many lines are read before the first is worked on.
const LINES_AHEAD: usize = 16;

fn read_blocking(input: &mut impl io::Read, limit: usize, lines: &mpsc::Sender<Line>) {
    let mut framing = Framing::new(limit);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                for line in framing.push(&buffer[..length]) {
                    if lines.blocking_send(line).is_err() {
                        return;
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(error = with_causes(&error), "the input cannot be read");
                break;
            }
        }
    }
    if let Some(line) = framing.finish() {
        // Nobody listens any more: then the line does not matter either.
        let _ = lines.blocking_send(line);
    }
}

async fn read_stream(mut input: impl AsyncRead + Unpin, limit: usize, lines: mpsc::Sender<Line>) {
    let mut framing = Framing::new(limit);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match input.read(&mut buffer).await {
            Ok(0) => break,
            Ok(length) => {
                for line in framing.push(&buffer[..length]) {
                    if lines.send(line).await.is_err() {
                        return;
                    }
                }
            }
            Err(error) => {
                tracing::warn!(error = with_causes(&error), "the input cannot be read");
                break;
            }
        }
    }
    if let Some(line) = framing.finish() {
        let _ = lines.send(line).await;
    }
}

/// Reads lines, has them answered side by side, writes the answers.
async fn connection(
    server: Server,
    lines: mpsc::Receiver<Line>,
    writer: impl AsyncWrite + Unpin + Send + 'static,
    options: &StdioOptions,
) -> io::Result<()> {
    let (answers, queue) = mpsc::channel(LINES_AHEAD);
    let mut writing = tokio::spawn(write_lines(writer, queue));
    let reading = answer_lines(&server, lines, answers, options);
    tokio::select! {
        () = reading => {}
        // The output is gone: nobody can hear an answer any more.
        written = &mut writing => return flatten(written),
    }
    flatten(writing.await)
}

fn flatten(written: Result<io::Result<()>, tokio::task::JoinError>) -> io::Result<()> {
    written.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// One writer, so that lines never mix.
async fn write_lines(
    mut writer: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<String>,
) -> io::Result<()> {
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        writer.write_all(line.as_bytes()).await?;
        writer.flush().await?;
    }
    Ok(())
}

async fn answer_lines(
    server: &Server,
    mut lines: mpsc::Receiver<Line>,
    answers: mpsc::Sender<String>,
    options: &StdioOptions,
) {
    let mut in_flight = InFlight::default();
    let calls = Arc::new(Semaphore::new(options.calls));
    while let Some(line) = lines.recv().await {
        in_flight.forget_finished();
        let Line::Message(bytes) = line else {
            let refusal = Reply::too_large(options.message_limit);
            send(&answers, refusal.into_text()).await;
            continue;
        };
        let message = Incoming::read(bytes);
        if let Some(id) = message.cancels() {
            in_flight.cancel(&key(&id));
            continue;
        }
        let Some(id) = message.request_id().cloned() else {
            let context = RequestContext::new(server.owner().clone());
            let reply = server.answer(&context, message).await;
            send(&answers, reply.into_text()).await;
            continue;
        };
        let calls_tool = message.calls_tool();
        let key = key(&id);
        if in_flight.has(&key) {
            send(&answers, Reply::id_in_use(id).into_text()).await;
            continue;
        }
        let permit = if calls_tool { Arc::clone(&calls).try_acquire_owned().ok() } else { None };
        if calls_tool && permit.is_none() {
            send(&answers, Reply::busy(id).into_text()).await;
            continue;
        }
        let server = server.clone();
        let answers = answers.clone();
        let handle = in_flight.work.spawn(async move {
            let context = RequestContext::new(server.owner().clone());
            let reply = server.answer(&context, message).await;
            send(&answers, reply.into_text()).await;
            drop(permit);
        });
        in_flight.by_id.insert(key, handle);
    }
    // The input has ended.
    let drained = async { while in_flight.work.join_next().await.is_some() {} };
    if tokio::time::timeout(options.drain, drained).await.is_err() {
        tracing::debug!("requests in flight were given up, the input has ended");
    }
}

async fn send(answers: &mpsc::Sender<String>, text: Option<String>) {
    if let Some(text) = text {
        // A closed queue means that the output failed; the connection ends by that.
        let _ = answers.send(text).await;
    }
}

/// Number and string ids are different ids.
fn key(id: &RequestId) -> String {
    match id {
        RequestId::Integer(number) => number.to_string(),
        RequestId::String(text) => format!("\"{text}\""),
    }
}

/// The requests of this connection that are not answered yet; tasks are not among them (S-20).
#[derive(Debug, Default)]
struct InFlight {
    work: JoinSet<()>,
    by_id: BTreeMap<String, AbortHandle>,
}

impl InFlight {
    fn has(&self, id: &str) -> bool {
        self.by_id.get(id).is_some_and(|request| !request.is_finished())
    }

    /// No further message for that request. A task that it has created lives on (S-18).
    fn cancel(&mut self, id: &str) {
        if let Some(request) = self.by_id.remove(id) {
            request.abort();
        }
    }

    fn forget_finished(&mut self) {
        let mut finished = false;
        while self.work.try_join_next().is_some() {
            finished = true;
        }
        if finished {
            self.by_id.retain(|_, request| !request.is_finished());
        }
    }
}
