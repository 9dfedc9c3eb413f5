//! A server process to talk to, over HTTP or over its standard streams.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use mcp_tasks_types::v2026_07_28::{PROTOCOL_VERSION, method::TOOLS_CALL};
use serde_json::Value;

use super::Failure;

/// How long a request may stay unanswered.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// The demo's deadlines; it drives real processes, so its time is the machine's.
#[expect(clippy::disallowed_methods, reason = "deadlines on real processes")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// One server process.
pub(super) trait Peer {
    /// Sends a request and waits for its answer.
    fn ask(&mut self, request: &Value) -> Result<Value, Failure>;
    /// Ends the process and waits until it is gone.
    fn end(self: Box<Self>) -> Result<(), Failure>;
}

/// A process that does not outlive the demo, whatever happens.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) struct HttpPeer {
    _process: Process,
    url: String,
    agent: ureq::Agent,
}

impl HttpPeer {
    /// Starts the server on a port of its choice and waits until it says which.
    pub(super) fn start(command: &mut Command) -> Result<Self, Failure> {
        let mut child =
            command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take();
        let process = Process(child);
        let mut lines = BufReader::new(stderr.ok_or("no standard error")?).lines();
        let line = lines.next().ok_or("the server ended before it listened")??;
        let url = line.strip_prefix("listening on ").ok_or_else(|| format!("the server says: {line}"))?;
        let url = url.to_owned();
        // Whatever else it says is for the person at the terminal.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        });
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(ANSWER_WITHIN))
            .build();
        Ok(Self { _process: process, url, agent: config.into() })
    }
}

impl Peer for HttpPeer {
    fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        let method = request["method"].as_str().unwrap_or_default();
        let mut post = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", PROTOCOL_VERSION)
            .header("Mcp-Method", method);
        // The name that a router between client and server goes by.
        let name = match method {
            TOOLS_CALL => request["params"]["name"].as_str(),
            _ => request["params"]["taskId"].as_str(),
        };
        if let Some(name) = name {
            post = post.header("Mcp-Name", name);
        }
        let text = post.send(request.to_string())?.body_mut().read_to_string()?;
        serde_json::from_str(&text).map_err(|_| format!("no JSON answer: {text}").into())
    }

    fn end(self: Box<Self>) -> Result<(), Failure> {
        // Killed, so that nothing but the file can tell the next process.
        Ok(())
    }
}

pub(super) struct StdioPeer {
    process: Process,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
}

impl StdioPeer {
    /// Starts the server on its standard streams.
    pub(super) fn start(command: &mut Command) -> Result<Self, Failure> {
        let mut child = command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let process = Process(child);
        let output = BufReader::new(output.ok_or("no standard output")?);
        // Read beside us, since reading a pipe cannot be given a deadline.
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, input: input.ok_or("no standard input")?, lines })
    }
}

impl Peer for StdioPeer {
    fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        writeln!(self.input, "{request}")?;
        let line = self
            .lines
            .recv_timeout(ANSWER_WITHIN)
            .map_err(|reason| format!("the server does not answer: {reason}"))?;
        serde_json::from_str(&line).map_err(|_| format!("no JSON answer: {line}").into())
    }

    fn end(self: Box<Self>) -> Result<(), Failure> {
        let Self { mut process, input, .. } = *self;
        drop(input);
        let deadline = now() + ANSWER_WITHIN;
        loop {
            match process.0.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}").into()),
                None if now() > deadline => {
                    return Err("the server does not end with its input".into());
                }
                // Nothing tells the end of a process by a deadline.
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}
