//! Serving over a pair of byte streams: standard input and output, a socket, a pipe.
//!
//! One message a line in both directions.
//! Requests are worked on side by side; each answer leaves as one whole line, in the order in which
//! the answers are ready.
//! Serving ends when the input ends: answers in flight leave as long as they keep coming, then the
//! connection is over, whether or not the client still reads, while tasks stay what they are in the
//! store.
//! To see the end, reading goes on although answers pile up, by as many bytes as eight of the largest
//! messages have (two MiB at least); a client that writes more and reads nothing is held back, and its
//! end is seen when it reads.
//! Calls beyond the limit wait their turn and can be cancelled meanwhile; reading goes on, since a
//! cancellation has to be heard whatever else waits.

mod dispatch;
mod framing;

use std::{io, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, oneshot},
};

use self::{
    dispatch::Dispatch,
    framing::{Framing, Line},
};
use crate::{error::with_causes, server::Server, transport::DEFAULT_MESSAGE_LIMIT};

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
    /// The longest line that is read, in bytes: [4 MiB](DEFAULT_MESSAGE_LIMIT), unless set. A longer one is read over
    /// and answered with an error.
    #[must_use]
    pub fn with_message_limit(mut self, bytes: usize) -> Self {
        self.message_limit = bytes;
        self
    }

    /// How long serving goes on when the input has ended and no answer leaves any more: 500 ms, unless set. In all it
    /// goes on for ten times that at most. Zero waits for nobody.
    #[must_use]
    pub fn with_drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// How many calls of tools are worked on at a time: 256, unless set; zero is taken for one. More wait until one is
    /// done, and are refused when those that wait are larger than four messages of the allowed size. Other requests are
    /// served at once, so that tasks can be followed and cancelled while calls wait.
    #[must_use]
    pub fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }
}

/// Serves the process's standard streams until the input ends, and then ends the server as
/// [`Server::shutdown`] does. For one connection in a process: what is read ahead is lost to a second one.
///
/// When this returns, the store is free for the next process, within about two seconds after the last
/// answer. A body that blocks its thread keeps a `#[tokio::main]` from ending all the same; hand such work
/// to a process or thread of its own, or end the runtime with `shutdown_background`.
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
    let (answers, queue) = mpsc::channel(LINES_AHEAD);
    let (end, ended) = oneshot::channel();
    let limit = options.message_limit;
    // Threads of our own: a read or a write that blocks on one of the runtime's threads would keep the
    // process from ending before its input does, or before its output is read.
    std::thread::Builder::new()
        .name("mcp-stdin".to_owned())
        .spawn(move || read_blocking(&mut io::stdin().lock(), limit, &sender))?;
    std::thread::Builder::new().name("mcp-stdout".to_owned()).spawn(move || {
        // Nobody listens any more: then the connection is over already.
        let _ = end.send(write_blocking(&mut io::stdout(), queue));
    })?;
    let written = async { ended.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())) };
    let served = connection(server.clone(), lines, answers, written, &options).await;
    server.shutdown().await;
    served
}

/// Serves any pair of byte streams until the input ends. The server goes on: it may have other
/// connections, and [`Server::shutdown`] ends it.
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
    let (answers, queue) = mpsc::channel(LINES_AHEAD);
    let reading = AbortOnDrop(tokio::spawn(read_stream(reader, options.message_limit, sender)));
    let mut writing = AbortOnDrop(tokio::spawn(write_stream(writer, queue)));
    let written = async { (&mut writing.0).await.unwrap_or_else(|error| Err(io::Error::other(error))) };
    let served = connection(server, lines, answers, written, &options).await;
    drop(reading);
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

/// One writer, so that lines never mix.
fn write_blocking(output: &mut impl io::Write, mut queue: mpsc::Receiver<String>) -> io::Result<()> {
    while let Some(mut line) = queue.blocking_recv() {
        line.push('\n');
        output.write_all(line.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

async fn write_stream(
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<String>,
) -> io::Result<()> {
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

/// Work that nobody wants any more when serving is over, or was given up.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How many times the drain serving goes on at most when the input has ended.
const DRAINS: u32 = 10;

/// Has lines answered side by side until the input ends, and waits for the answers to leave.
async fn connection(
    server: Server,
    mut lines: mpsc::Receiver<Line>,
    answers: mpsc::Sender<String>,
    written: impl Future<Output = io::Result<()>>,
    options: &StdioOptions,
) -> io::Result<()> {
    let mut written = std::pin::pin!(written);
    let mut dispatch = Dispatch::new(server, answers, options);
    let reading = async {
        loop {
            tokio::select! {
                () = dispatch.next_done(), if dispatch.is_busy() => {}
                line = lines.recv(), if dispatch.may_read() => match line {
                    Some(line) => dispatch.take(line),
                    None => break,
                },
            }
        }
    };
    tokio::select! {
        () = reading => {}
        // The output is gone: nobody can hear an answer any more.
        written = &mut written => return written,
    }
    // The input has ended.
    dispatch.end_subscriptions();
    let draining = async {
        while dispatch.is_busy() {
            if tokio::time::timeout(options.drain, dispatch.next_done()).await.is_err() {
                break;
            }
        }
        // Gives up what is still not answered, and with that ends the queue.
        drop(dispatch);
        tokio::time::timeout(options.drain, std::future::pending::<()>()).await
    };
    let draining = tokio::time::timeout(options.drain.saturating_mul(DRAINS), draining);
    tokio::select! {
        biased;
        written = &mut written => written,
        _ = draining => {
            tracing::debug!("the input has ended, and nobody reads the output");
            Ok(())
        }
    }
}
