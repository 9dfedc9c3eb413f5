//! A whole process on its standard streams, as an author's `main` has it: this test program, started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mcp_tasks::transport::stdio::serve_stdio;
use mcp_tasks::{Server, SqliteStore, ToolError, task_tool};
use serde_json::json;

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

/// P055: the next process gets the file, which it waits for no longer than a moment, although a body keeps this one
/// alive.
#[tokio::test]
async fn file_is_free_when_the_input_has_ended_although_a_body_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stdio_process::child", "--nocapture"])
        .env(STORE, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut child = Killed(child);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    let params = json!({"name": "block", "arguments": {}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    writeln!(input, "{call}").unwrap();
    let mut line = String::new();
    while !line.contains("\"resultType\":\"task\"") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the other process has ended");
    }
    drop(input);
    drop(SqliteStore::open(&path).await.unwrap());
    assert!(child.0.try_wait().unwrap().is_none());
}
