//! Callers who list and reach their own tasks only.

use std::process::Command;

use serde_json::{Value, json};

use crate::process::HttpServer;

const ALICE: Option<&str> = Some("Bearer alice-token");
const BOB: Option<&str> = Some("Bearer bob-token");

/// S-24, S-29: the history is a tool, and it has the tasks of whoever asks.
#[test]
fn everybody_lists_their_own_tasks() {
    let server = HttpServer::start(Command::new(env!("CARGO_BIN_EXE_owners")).arg("0"));
    let call = |who, tool: &str, arguments: Value| {
        server.answer(who, "tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    };
    let id = call(ALICE, "export", json!({}))["taskId"].clone();
    assert!(id.is_string());
    let mine = |who, filter: Value| call(who, "my_tasks", filter)["structuredContent"]["tasks"].clone();
    let tasks = mine(ALICE, json!({}));
    assert_eq!((tasks.as_array().map(Vec::len), &tasks[0]["task_id"]), (Some(1), &id));
    assert_eq!(mine(ALICE, json!({"status": "completed"})), json!([]));
    assert_eq!(mine(ALICE, json!({"status": "working", "tool": "export"})), tasks);
    assert_eq!(mine(BOB, json!({})), json!([]));
    let get = |who| server.answer(who, "tasks/get", json!({"taskId": id}));
    assert_eq!(get(BOB)["error"]["code"], -32_602);
    assert_eq!(get(Some("Bearer made-up")), Value::Null);
    assert_eq!(get(ALICE)["result"]["status"], "working");
}
