//! The torture can fail.

use std::process::Command;

/// A store that keeps some records in memory loses tasks when its process is killed, and that is found out.
#[test]
fn store_that_loses_records_is_found_out() {
    let run = Command::new(env!("CARGO_BIN_EXE_mcp-tasks-wire"))
        .args(["torture", "--store", "sqlite", "--seconds", "3", "--broken"])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let line: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(line["lost"].as_u64().unwrap() > 0, "{line}");
    assert!(line["kills"].as_u64().unwrap() > 0, "{line}");
}
