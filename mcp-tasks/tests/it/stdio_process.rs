//! A whole process on its standard streams, as an author's `main` has it: this test program, started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use mcp_tasks::transport::stdio::serve_stdio;
use mcp_tasks::{Server, SqliteStore, ToolError, task_tool};
use serde_json::{Value, json};

const STORE: &str = "MCP_TASKS_TEST_STORE";

/// Blocks its thread for good, as no tool should.
#[task_tool]
async fn block() -> Result<String, ToolError> {
    loop {
        std::thread::park();
    }
}

/// The other process; without a store it is an empty test.
#[test]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(Path::new(&path)).await.unwrap();
        let server = Server::builder("child", "1").store(store).tool::<block>().build().await.unwrap();
        serve_stdio(server).await.unwrap();
    });
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The other process and its streams.
struct Process {
    child: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn over(store: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "stdio_process::child", "--nocapture"])
            .env(STORE, store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child: Killed(child), input, output }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// The next message that says so; what the test program itself writes is none.
    fn next_with(&mut self, what: &str) -> String {
        let mut line = String::new();
        while !line.contains(what) {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the other process has ended");
        }
        line
    }

    /// What it has in memory, in MiB.
    #[cfg(target_os = "linux")]
    fn resident_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

fn request(id: Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// P055: the next process gets the file, which it waits for no longer than a moment, although a body keeps this one
/// alive.
#[tokio::test]
async fn file_is_free_when_the_input_has_ended_although_a_body_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut process = Process::over(&path);
    let call = request(json!(1), "tools/call", json!({"name": "block", "arguments": {}}));
    process.send(&call);
    process.next_with("\"resultType\":\"task\"");
    let Process { mut child, input, output: _output } = process;
    drop(input);
    drop(SqliteStore::open(&path).await.unwrap());
    assert!(child.0.try_wait().unwrap().is_none());
}

/// A subscription lasts for days, and what came with its request and says nothing to us does not.
#[cfg(target_os = "linux")]
#[test]
fn subscription_does_not_keep_the_text_of_its_request() {
    const SUBSCRIPTIONS: u64 = 32;
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::over(&folder.path().join("tasks.db"));
    let padding = "x".repeat(4_000_000);
    let mut before = 0;
    for id in 0..=SUBSCRIPTIONS {
        let mut params = json!({"notifications": {"toolsListChanged": true}});
        // Wherever it stands.
        params[if id % 2 == 0 { "padding" } else { "notifications" }]["padding"] = json!(padding);
        process.send(&request(json!(id), "subscriptions/listen", params));
        process.next_with("notifications/subscriptions/acknowledged");
        if id == 0 {
            // What reading one takes, which an allocator may keep.
            before = process.resident_mib();
        }
    }
    let grown = process.resident_mib().saturating_sub(before);
    assert!(grown < 2 * SUBSCRIPTIONS, "{grown} MiB for {SUBSCRIPTIONS} subscriptions");
}
