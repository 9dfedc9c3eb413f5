//! A `report` process and requests to it.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use mcp_tasks::types::v2026_07_28::{PROTOCOL_VERSION, extension, meta_key};
use serde_json::{Value, json};

/// Nothing here takes longer unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "deadlines on real processes")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Asks again and again until there is something: another process, and a server that is polled, give no event to wait
/// for.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = now() + PATIENCE;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(now() < deadline, "gave up waiting: {what}");
        // How often it asks, and nothing else.
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The program with a store in a file.
pub(crate) fn report(store: &Path) -> Command {
    report_with(&format!("sqlite:{}", store.display()))
}

/// The program with any store.
pub(crate) fn report_with(store: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_report"));
    command.args(["--store", store, "--poll-ms", "20"]);
    command
}

/// A process that does not outlive its test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// SIGKILL, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// A signal by name.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// How it ended.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        until("the process ends", || self.0.try_wait().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that serves HTTP.
pub(crate) struct HttpServer {
    pub(crate) process: Process,
    pub(crate) url: String,
    agent: ureq::Agent,
}

impl HttpServer {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let process = Process(child);
        // What it warns of comes before.
        let mut said = String::new();
        let url = loop {
            let before = said.len();
            assert!(stderr.read_line(&mut said).unwrap() > 0, "the server ends and says: {said}");
            if let Some(url) = said[before..].trim_end().strip_prefix("listening on ") {
                break url.to_owned();
            }
        };
        // Kept open, so that the server never writes into a closed pipe.
        std::thread::spawn(move || stderr.lines().for_each(drop));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        Self { process, url, agent }
    }

    /// The result of a request; an error is none.
    pub(crate) fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.answer(None, method, params);
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// What a request is answered with, whose credentials these are; nothing where the server lets nobody in.
    pub(crate) fn answer(&self, authorization: Option<&str>, method: &str, params: Value) -> Value {
        self.answer_to(authorization, &request(1, method, params))
    }

    /// The same of a request that is put together already.
    pub(crate) fn answer_to(&self, authorization: Option<&str>, request: &Value) -> Value {
        self.answer_with("Authorization", authorization.unwrap_or_default(), request)
    }

    /// The same with credentials in another header; without it where they are empty.
    pub(crate) fn answer_with(&self, header: &str, credentials: &str, request: &Value) -> Value {
        let method = request["method"].as_str().unwrap();
        let mut post = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("MCP-Protocol-Version", PROTOCOL_VERSION)
            .header("Mcp-Method", method);
        let name = request["params"]["taskId"].as_str().or(request["params"]["name"].as_str());
        if let Some(name) = name {
            post = post.header("Mcp-Name", name);
        }
        if !credentials.is_empty() {
            post = post.header(header, credentials);
        }
        let mut response = post.send(request.to_string()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
    }

    /// Polls until the task has this status.
    pub(crate) fn status(&self, task_id: &str, status: &str) -> Value {
        until(status, || {
            let result = self.result("tasks/get", json!({"taskId": task_id}));
            (result["status"] == status).then_some(result)
        })
    }
}

/// A connection on which everything is sent and seen as it is.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    pub(crate) fn open(server: &HttpServer) -> Self {
        Self::try_open(server).unwrap()
    }

    pub(crate) fn try_open(server: &HttpServer) -> io::Result<Self> {
        let host = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), host })
    }

    /// The text of a request, with this line among its headers.
    pub(crate) fn post(&self, header: &str, request: &Value) -> String {
        let (host, method, body) = (&self.host, request["method"].as_str().unwrap(), request.to_string());
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {PROTOCOL_VERSION}\r\n\
             Mcp-Method: {method}\r\n{header}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Reads lines until one holds this.
    pub(crate) fn read_until(&mut self, wanted: &str) {
        let mut line = String::new();
        while !line.contains(wanted) {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the connection ends before `{wanted}`");
        }
    }

    /// Whatever else comes until the server closes; a connection that is reset is closed as well.
    pub(crate) fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = self.stream.read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }
}

/// A process that serves its standard streams.
pub(crate) struct StdioServer {
    pub(crate) process: Process,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl StdioServer {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { process: Process(child), input, lines }
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line that the server writes; every one has to be a message.
    pub(crate) fn next(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        self.send(&request(7, method, params).to_string());
        let answer = self.next();
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Whatever else was written until the output ended.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.lines.iter().collect()
    }
}

/// A request of a client that can do everything that the example needs.
pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    let capabilities = json!({
        "elicitation": {"form": {}},
        "extensions": {extension::TASKS: {}},
    });
    request_declaring(id, method, params, capabilities)
}

pub(crate) fn request_declaring(id: u64, method: &str, mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = json!({
        meta_key::PROTOCOL_VERSION: PROTOCOL_VERSION,
        meta_key::CLIENT_CAPABILITIES: capabilities,
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn call(size: &str) -> Value {
    json!({"name": "generate_report", "arguments": {"size": size}})
}
