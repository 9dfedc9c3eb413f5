//! How fast messages are read and written, beside other crates and beside the least that the work can cost.
//!
//! A table on standard error, one JSON line a row on standard output. Everything that a ratio compares is measured in
//! the same run, batch by batch in turns, so that a machine that slows down slows all of it.

use std::hint::black_box;
use std::time::Instant;

use mcp_tasks_types::{RawMessage, v2025_11_25, v2026_07_28};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

const BATCHES: usize = 25;

/// The least that keeping a task's members can cost: payload and `_meta` as text, times as strings, nothing checked.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<String>,
    task_id: String,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Box<RawValue>>,
}

struct Row<'a> {
    case: &'static str,
    name: &'static str,
    repeat: usize,
    run: Box<dyn FnMut() + 'a>,
}

/// Nanoseconds of each row, the median over batches that take turns.
fn measure(rows: &mut [Row<'_>]) -> Vec<f64> {
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..BATCHES {
        for (row, times) in rows.iter_mut().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..row.repeat {
                (row.run)();
            }
            times.push(start.elapsed().as_nanos() as f64 / row.repeat as f64);
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect()
}

/// Measures rows of one case and tells each beside the first.
fn report(mut rows: Vec<Row<'_>>) {
    let times = measure(&mut rows);
    let Some((against, limit)) = rows.first().map(|row| row.name).zip(times.first()) else { return };
    for (row, time) in rows.iter().zip(&times) {
        let ratio = time / limit;
        eprintln!("{:<28} {:<24} {time:>10.0} ns  {ratio:>6.2} x {against}", row.case, row.name);
        let line = serde_json::json!({
            "bench": "types", "case": row.case, "name": row.name, "unit": "ns", "median": time.round(),
            "against": against, "ratio": (ratio * 100.0).round() / 100.0,
        });
        println!("{line}");
    }
}

fn reading<'a, T: for<'de> Deserialize<'de>>(
    case: &'static str,
    name: &'static str,
    text: &'a str,
) -> Row<'a> {
    assert!(serde_json::from_str::<T>(text).is_ok(), "{name} reads the message");
    Row {
        case,
        name,
        repeat: 4_000,
        run: Box::new(move || drop(black_box(serde_json::from_slice::<T>(text.as_bytes())))),
    }
}

fn writing<'a, T: Serialize + for<'de> Deserialize<'de> + 'a>(
    case: &'static str,
    name: &'static str,
    text: &str,
) -> Row<'a> {
    let value: T = serde_json::from_str(text).expect("the message is read");
    Row { case, name, repeat: 4_000, run: Box::new(move || drop(black_box(serde_json::to_string(&value)))) }
}

fn completed() -> String {
    let text = "Generated large report with approved outline. ".repeat(12);
    format!(
        r#"{{"resultType":"complete","taskId":"tsk_786512e29e0d44bd8f29789f320fe840","status":"completed","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:34:12Z","ttlMs":900000,"pollIntervalMs":1000,"result":{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}],"structuredContent":{{"size":"large","approved":true}},"isError":false}},"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"tasks-demo","version":"1.0.0"}}}}}}"#
    )
}

const WORKING: &str = r#"{"resultType":"complete","taskId":"tsk_786512e29e0d44bd8f29789f320fe840","status":"working","statusMessage":"Preparing report outline.","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":900000,"pollIntervalMs":1000,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tasks-demo","version":"1.0.0"}}}"#;
const CORE_2025: &str = r#"{"taskId":"tsk_786512e29e0d44bd8f29789f320fe840","status":"completed","statusMessage":"Done.","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:34:12Z","ttl":900000,"pollInterval":1000,"_meta":{"example.com/trace":"4bf92f3577b34da6a3ce929d0e0e4736"}}"#;

/// A call of about 100 KB whose arguments are structured.
fn large_call() -> String {
    let row = r#"{"id":12345,"name":"a name of some length","tags":["a","b"],"score":0.25,"active":true}"#;
    let rows = vec![row; 1_150].join(",");
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}},"name":"import","arguments":{{"rows":[{rows}]}}}}}}"#
    )
}

fn main() {
    let completed = completed();
    let (case, text) = ("completed, read", completed.as_str());
    report(vec![
        reading::<Raw>(case, "raw reference", text),
        reading::<v2026_07_28::GetTaskResult>(case, "mcp-tasks-types", text),
        reading::<rmcp::model::GetTaskResult>(case, "rmcp", text),
        reading::<turbomcp_ext_tasks::wire::DetailedTask>(case, "turbomcp-ext-tasks", text),
        reading::<Value>(case, "serde_json::Value", text),
    ]);
    let case = "completed, written";
    report(vec![
        writing::<Raw>(case, "raw reference", text),
        writing::<v2026_07_28::GetTaskResult>(case, "mcp-tasks-types", text),
        writing::<rmcp::model::GetTaskResult>(case, "rmcp", text),
        writing::<turbomcp_ext_tasks::wire::DetailedTask>(case, "turbomcp-ext-tasks", text),
        writing::<Value>(case, "serde_json::Value", text),
    ]);
    let (case, text) = ("working, read", WORKING);
    report(vec![
        reading::<Raw>(case, "raw reference", text),
        reading::<v2026_07_28::GetTaskResult>(case, "mcp-tasks-types", text),
        reading::<rmcp::model::GetTaskResult>(case, "rmcp", text),
        reading::<turbomcp_ext_tasks::wire::DetailedTask>(case, "turbomcp-ext-tasks", text),
    ]);
    let case = "working, written";
    report(vec![
        writing::<Raw>(case, "raw reference", text),
        writing::<v2026_07_28::GetTaskResult>(case, "mcp-tasks-types", text),
        writing::<rmcp::model::GetTaskResult>(case, "rmcp", text),
        writing::<turbomcp_ext_tasks::wire::DetailedTask>(case, "turbomcp-ext-tasks", text),
    ]);
    let (case, text) = ("2025-11-25, read", CORE_2025);
    report(vec![
        reading::<Raw>(case, "raw reference", text),
        reading::<v2025_11_25::GetTaskResult>(case, "mcp-tasks-types", text),
        reading::<rust_mcp_schema::GetTaskResult>(case, "rust-mcp-schema", text),
        reading::<Value>(case, "serde_json::Value", text),
    ]);
    let case = "2025-11-25, written";
    report(vec![
        writing::<Raw>(case, "raw reference", text),
        writing::<v2025_11_25::GetTaskResult>(case, "mcp-tasks-types", text),
        writing::<rust_mcp_schema::GetTaskResult>(case, "rust-mcp-schema", text),
    ]);
    let call = large_call();
    let case = "envelope of a 100 KB call";
    report(vec![
        Row { repeat: 20, ..reading::<Value>(case, "serde_json::Value", &call) },
        Row {
            case,
            name: "mcp-tasks-types",
            repeat: 20,
            run: Box::new(|| {
                let message = RawMessage::read(call.as_bytes()).expect("a message");
                drop(black_box((message.method().map(str::to_owned), message.meta().expect("an object"))));
            }),
        },
    ]);
}
