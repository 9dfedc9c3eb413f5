//! The messages of the proposal (SEP-1686) as its text shows them: which type each one is, that it is written back
//! equal, and, where the text is at hand (`MCP_TASKS_SHARED`), that none is missing.

use std::fs;
use std::path::PathBuf;

use mcp_tasks_types::RawJson;

use crate::round_trip;

/// The JSON blocks in the order of the text, as type and file below `tests/data/sep-1686`. Blocks of TypeScript and
/// of pseudocode are no JSON and stand between them.
const BLOCKS: &[(&str, &str)] = &[
    ("TaskAugmentedRequest", "any-method"),
    ("GetTaskRequest", "plain"),
    ("GetTaskResultResponse", "submitted"),
    ("GetTaskPayloadRequest", "plain"),
    ("GetTaskPayloadResultResponse", "tool-result"),
    ("TaskCreatedNotification", "plain"),
    ("ListTasksRequest", "next-page"),
    ("ListTasksResultResponse", "two-tasks"),
    ("DeleteTaskRequest", "plain"),
    ("DeleteTaskResultResponse", "deleted"),
    ("RequestMeta", "wish"),
    ("TaskCreatedNotification", "plain"),
    ("ResultMeta", "related-task"),
    ("JSONRPCErrorResponse", "not-found"),
    ("JSONRPCErrorResponse", "expired"),
    ("JSONRPCErrorResponse", "not-completed"),
    ("JSONRPCErrorResponse", "id-exists"),
    ("GetTaskResultResponse", "failed-without-meta"),
];

fn block(kind: &str, file: &str) -> RawJson {
    let path = crate::package().join(format!("tests/data/sep-1686/{kind}/{file}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    RawJson::from_text(text).unwrap()
}

#[test]
fn every_message_of_the_proposal_is_written_back_equal() {
    for (kind, file) in BLOCKS {
        let raw = block(kind, file);
        let round_trip = round_trip("sep-1686", kind).unwrap();
        let written = round_trip(&raw).unwrap_or_else(|error| panic!("{kind}/{file}: {error}"));
        assert!(raw.json_eq(&written), "{kind}/{file}:\n{raw}\n{written}");
    }
}

/// An envelope of any method takes each message that has one.
#[test]
fn every_message_of_the_proposal_is_a_message() {
    let round_trip = round_trip("sep-1686", "JSONRPCMessage").unwrap();
    for (kind, file) in BLOCKS.iter().filter(|(kind, _)| !kind.ends_with("Meta")) {
        let raw = block(kind, file);
        let written = round_trip(&raw).unwrap_or_else(|error| panic!("{kind}/{file}: {error}"));
        assert!(raw.json_eq(&written), "{kind}/{file}:\n{raw}\n{written}");
    }
}

#[test]
fn the_table_has_every_json_block_of_the_text() {
    let shared = std::env::var_os("MCP_TASKS_SHARED")
        .map_or_else(|| crate::package().join("../../shared"), PathBuf::from);
    let path = shared.join("seeds/000_2536d62abeb3bcb0.txt");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: no text of the proposal in {}", shared.display());
        return;
    };
    let found: Vec<RawJson> = text
        .split("\n\n")
        .filter(|block| block.starts_with('{'))
        .filter_map(|block| RawJson::from_text(block).ok())
        .collect();
    assert_eq!(found.len(), BLOCKS.len());
    for (found, (kind, file)) in found.iter().zip(BLOCKS) {
        let ours = block(kind, file);
        assert!(found.json_eq(&ours), "{kind}/{file}:\n{ours}\n{found}");
    }
}
