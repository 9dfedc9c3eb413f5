//! What is no message of a type is refused with the reason and the place.

use mcp_tasks_types::v2026_07_28::{ElicitResult, GetTaskResult, TaskStatus};
use mcp_tasks_types::{RawJson, RawMessage, from_slice, from_str};

use crate::read;

const WORKING: &str = r#""taskId":"t","status":"working","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":900000"#;

/// A `tasks/get` answer with one part of it replaced.
fn with(from: &str, to: &str) -> String {
    let text = format!(r#"{{"resultType":"complete",{WORKING}}}"#);
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

fn check(name: &str, text: &str, reason: &str) {
    let error = read(name, text).expect_err(text);
    assert!(error.contains(reason), "{text}\n{error}");
    assert!(error.contains(" at line 1 column "), "{error}");
}

/// C-01: the lifetime is required, an integer that is not negative, or null.
#[test]
fn a_lifetime_that_is_none_is_refused() {
    for (lifetime, reason) in [
        ("-1", "integer `-1`, expected an integer that is not negative"),
        ("1.5", "floating point `1.5`, expected an integer that is not negative"),
        ("1e400", "floating point `1e400`, expected an integer that is not negative"),
        ("18446744073709551616", "expected an integer that is not negative"),
        ("\"900000\"", "string \"900000\", expected an integer that is not negative"),
        ("true", "boolean `true`"),
    ] {
        check("GetTaskResult", &with("900000", lifetime), reason);
    }
    check("GetTaskResult", &with(r#","ttlMs":900000"#, ""), "missing field `ttlMs`");
}

/// C-10.
#[test]
fn a_time_that_is_no_rfc_3339_is_refused() {
    let text = with(r#""createdAt":"2026-08-21T10:30:00Z""#, r#""createdAt":"yesterday""#);
    check("GetTaskResult", &text, "string \"yesterday\", expected an RFC 3339 timestamp");
}

/// C-05, C-08: a state without its payload is no state.
#[test]
fn a_state_without_its_payload_is_refused() {
    for (status, member) in
        [("completed", "result"), ("failed", "error"), ("input_required", "inputRequests")]
    {
        let text = with("working", status);
        check("GetTaskResult", &text, &format!("missing field `{member}`"));
        check("DetailedTask", &text, &format!("missing field `{member}`"));
    }
    let failed = with(r#""status":"working""#, r#""status":"failed","error":{}"#);
    check("GetTaskResult", &failed, "missing field `code`");
    // The payload before the tag is read by way of its text, with the same outcome.
    let failed = with(r#""status":"working""#, r#""error":{},"status":"failed""#);
    check("GetTaskResult", &failed, "`error`: missing field `code`");
    check(
        "GetTaskResult",
        &with(r#""status":"working""#, r#""status":"completed","result":7"#),
        "expected an object",
    );
}

/// C-02, C-03: only a creation result has `resultType: "task"`, and it is never assumed.
#[test]
fn the_result_type_of_another_result_is_refused() {
    let create = |result_type: &str| format!("{{{result_type}{WORKING}}}");
    assert!(read("CreateTaskResult", &create(r#""resultType":"task","#)).is_ok());
    check("CreateTaskResult", &create(r#""resultType":"complete","#), "expected \"task\" as `resultType`");
    check("CreateTaskResult", &create(""), "missing field `resultType`");
    check("GetTaskResult", &with("complete", "task"), "expected \"complete\" as `resultType`");
    check("GetTaskResult", &with("complete", "later"), "expected \"complete\" as `resultType`");
}

#[test]
fn an_unknown_status_is_refused_by_the_names_of_the_known_ones() {
    for status in ["pending", "running", "canceled", "Working", "submitted"] {
        let reason = format!("unknown variant `{status}`, expected one of `working`, `input_required`");
        check("GetTaskResult", &with("working", status), &reason);
    }
    check("GetTaskResult", &with(r#""working""#, "null"), "expected one of `working`");
}

/// X-01.
#[test]
fn another_version_of_json_rpc_is_refused() {
    let request = |version: &str| {
        format!(
            r#"{{"jsonrpc":{version},"id":1,"method":"tasks/get","params":{{"taskId":"t","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        )
    };
    assert!(read("GetTaskRequest", &request("\"2.0\"")).is_ok());
    check("GetTaskRequest", &request("\"9.9\""), "string \"9.9\", expected \"2.0\" as `jsonrpc`");
    check("GetTaskRequest", &request("2.0"), "expected \"2.0\" as `jsonrpc`");
}

#[test]
fn a_known_member_that_comes_twice_is_refused() {
    for (member, text) in [
        ("taskId", with(r#""ttlMs""#, r#""taskId":"u","ttlMs""#)),
        ("status", with(r#""ttlMs""#, r#""status":"failed","ttlMs""#)),
        ("resultType", with(r#""ttlMs""#, r#""resultType":"complete","ttlMs""#)),
        ("statusMessage", with(r#""ttlMs""#, r#""statusMessage":null,"statusMessage":"x","ttlMs""#)),
    ] {
        check("GetTaskResult", &text, &format!("duplicate field `{member}`"));
    }
}

#[test]
fn an_answer_with_neither_of_two_members_is_refused_where_one_is_needed() {
    let reason = "expected at least one of `inputRequests`, `requestState`";
    for members in ["", r#","requestState":null"#, r#","inputRequests":null,"requestState":null"#] {
        check("InputRequiredResult", &format!(r#"{{"resultType":"input_required"{members}}}"#), reason);
    }
    assert!(read("InputRequiredResult", r#"{"resultType":"input_required","requestState":"s"}"#).is_ok());
    // Null for an optional member is its absence, here as everywhere.
    for members in [r#""requestState":null"#, r#""inputRequests":null,"requestState":null"#] {
        check("InputRequiredResult", &format!(r#"{{"resultType":"input_required",{members}}}"#), reason);
    }
}

#[test]
fn null_and_fractions_are_no_request_ids() {
    for id in ["null", "1.5", "true", "[]", "{}"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
        check("JSONRPCRequest", &text, "expected a string or an integer (`RequestId`)");
    }
}

#[test]
fn the_value_at_fault_is_named_by_its_path() {
    let failed =
        |error: &str| with(r#""status":"working""#, &format!(r#""status":"failed","error":{error}"#));
    for (name, text, path) in [
        ("GetTaskResult", with("900000", "-1"), "`ttlMs`: "),
        ("GetTaskResult", failed("{}"), "`error`: "),
        ("GetTaskResult", failed(r#"{"code":"x","message":"m"}"#), "`error.code`: "),
        (
            "CallToolResult",
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b","annotations":{"audience":["system"]}}]}"#.to_owned(),
            "`content[1].annotations.audience[0]`: ",
        ),
        (
            "GetTaskRequestParams",
            r#"{"taskId":"t","_meta":{"io.modelcontextprotocol/protocolVersion":7}}"#.to_owned(),
            r#"`_meta["io.modelcontextprotocol/protocolVersion"]`: "#,
        ),
        (
            "ElicitFormSchema",
            r#"{"type":"object","properties":{"a":{"type":"object"}}}"#.to_owned(),
            "`properties.a`: ",
        ),
        ("JSONRPCRequest", r#"{"jsonrpc":"2.0","method":"x","id":1.5}"#.to_owned(), "`id`: "),
        // Inside what had to be kept as text before its type was known, the path goes on.
        (
            "CallToolResultResponse",
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text"}]}}"#.to_owned(),
            "`result.content[0]`: missing field `text`",
        ),
        (
            "GetTaskResult",
            with(
                r#""status":"working""#,
                r#""inputRequests":{"k":{"method":"elicitation/create","params":{"message":1}}},"status":"input_required""#,
            ),
            "`inputRequests.k.params.message`: ",
        ),
    ] {
        let error = read(name, &text).unwrap_err();
        assert!(error.starts_with(path), "{error}");
    }
}

/// What is kept as text first is looked at when it has been read to its end, which must not lose its name.
#[test]
fn the_value_at_fault_is_named_in_whatever_place_it_stands() {
    let completed = r#""status":"completed","result":null"#;
    let first = with(r#""status":"working""#, completed);
    let last = with(r#""status":"working","#, "").replace("900000", &format!("1,{completed}"));
    for (generation, name, text, path, value) in [
        ("2025-11-25", "CallToolRequestParams", r#"{"name":"x","arguments":5,"_meta":{}}"#, "arguments", "5"),
        ("2025-11-25", "CallToolRequestParams", r#"{"_meta":{},"name":"x","arguments":5}"#, "arguments", "5"),
        (
            "2025-11-25",
            "CallToolRequestParams",
            r#"{"name":"x","arguments":[1],"task":{}}"#,
            "arguments",
            "[1]",
        ),
        (
            "2025-11-25",
            "CallToolRequest",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":5}}"#,
            "params.arguments",
            "5",
        ),
        (
            "2025-11-25",
            "CallToolRequest",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"arguments":3},"name":2}}"#,
            "params.name",
            "2",
        ),
        ("2026-07-28", "NumberSchema", r#"{"type":"number","minimum":"x"}"#, "minimum", r#""x""#),
        (
            "2026-07-28",
            "NumberSchema",
            r#"{"minimum":{"minimum":1},"type":"number"}"#,
            "minimum",
            r#"{"minimum":1}"#,
        ),
        ("2026-07-28", "ElicitResult", r#"{"action":"accept","content":{"a":1,"b":{}}}"#, "content.b", "{}"),
        (
            "2026-07-28",
            "ElicitResult",
            r#"{"content":{"a":[2],"b":true},"action":"accept"}"#,
            "content.a[0]",
            "2",
        ),
        ("2026-07-28", "JSONRPCRequest", r#"{"jsonrpc":"2.0","method":"x","id":1.5}"#, "id", "1.5"),
        ("2026-07-28", "GetTaskResult", &first, "result", "null"),
        ("2026-07-28", "GetTaskResult", &last, "result", "null"),
        ("2026-07-28", "ContentBlock", r#"{"type":"video"}"#, "type", r#""video""#),
        ("2026-07-28", "ContentBlock", r#"{"type":"video","a":1}"#, "type", r#""video""#),
        ("2026-07-28", "ContentBlock", r#"{"a":{"b":1},"type":"video"}"#, "type", r#""video""#),
        (
            "2026-07-28",
            "ContentBlock",
            r#"{"annotations":{"priority":"1"},"text":"a","type":"text"}"#,
            "annotations.priority",
            r#""1""#,
        ),
    ] {
        let round_trip = crate::round_trip(generation, name).unwrap();
        let error = round_trip(&RawJson::from_text(text).unwrap()).expect_err(text);
        assert_eq!(error.path(), path, "{text}\n{error}");
        assert!(!error.reason().starts_with('`'), "{error}");
        // The place is that where the value ends, wherever the reader has come to.
        let end = text.rfind(value).unwrap() + value.len();
        assert_eq!((error.line(), error.column()), (1, end), "{text}\n{error}");
        assert!(error.to_string().ends_with(&format!(" at line 1 column {end}")), "{error}");
    }
}

/// A name that looks like a path is a name.
#[test]
fn a_name_with_the_marks_of_a_path_in_it_stays_one_name() {
    let text = r#"{"action":"accept","content":{"a`: `b.c[0]":null}}"#;
    let error = from_str::<ElicitResult>(text).unwrap_err();
    assert_eq!(error.path(), r#"content["a`: `b.c[0]"]"#);
    assert!(error.reason().starts_with("invalid type: null"), "{error}");
}

#[test]
fn the_text_of_an_error_is_short_whatever_was_sent() {
    let long = "x".repeat(1 << 20);
    let deep = format!(r#"{{"vendor":{}tru"#, "[".repeat(100_000));
    let nested = format!(r#"{{"_meta":{}5{}}}"#, r#"{"k":"#.repeat(60), "}".repeat(60));
    for (name, text) in [
        ("ContentBlock", format!(r#"{{"type":"{long}"}}"#)),
        ("TaskStatus", format!(r#""{long}""#)),
        ("Tool", format!(r#"{{"name":["{long}"]}}"#)),
        ("ElicitResult", format!(r#"{{"action":"accept","content":{{"{long}":null}}}}"#)),
        ("ElicitResult", format!(r#"{{"action":"accept","content":{{"{long}":1,"{long}":1}}}}"#)),
        ("GetTaskResult", with("900000", &format!("\"{long}\""))),
        ("GetTaskResult", with("2026-08-21T10:30:00Z", &long)),
        ("GetTaskResult", with("\"complete\"", &format!("\"{long}\""))),
        ("Tool", deep),
        ("Tool", nested),
    ] {
        let error = match RawJson::from_text(&text) {
            Ok(raw) => crate::round_trip("2026-07-28", name).unwrap()(&raw).err(),
            Err(error) => Some(error),
        };
        let Some(error) = error else { continue };
        let shown = &text[..text.len().min(80)];
        assert!(
            error.to_string().len() < 3_000 && error.path().len() < 1_500,
            "{shown}: {}",
            error.to_string().len()
        );
        assert!(format!("{error:?}").len() < 4_000, "{shown}");
    }
    let error = "x".repeat(1 << 20).parse::<TaskStatus>().unwrap_err().to_string();
    assert!(error.len() < 1_000 && error.contains("`working`"), "{}", error.len());
    // What is expected is said after what was sent, and is not cut off.
    let error = read("GetTaskResult", &with("900000", &format!("\"{long}\""))).unwrap_err();
    assert!(error.contains("expected an integer that is not negative at line 1"), "{}", &error[..200]);
}

#[test]
fn a_value_of_a_list_is_a_string_and_nothing_else() {
    for (name, text) in [
        ("TaskStatus", r#"{"working":null}"#),
        ("Role", r#"["user"]"#),
        ("ElicitResult", r#"{"action":{"accept":null}}"#),
        ("ElicitResult", r#"["accept",{}]"#),
        ("NumberSchema", r#"{"type":{"integer":null}}"#),
    ] {
        assert!(read(name, text).is_err(), "{name} {text}");
    }
}

#[test]
fn a_place_is_where_reading_stopped_also_at_the_beginning_of_a_line() {
    for (text, line, column) in
        [("{\n", 2, 1), ("[\n1]", 1, 1), ("{\n \"taskId\":1}", 2, 11), ("{\n}\n", 2, 1)]
    {
        let error = from_str::<GetTaskResult>(text).unwrap_err();
        assert_eq!((error.line(), error.column()), (line, column), "{error}");
    }
}

/// A reader that refuses the first byte of a line, or comes to an end there, has passed no byte of it; its place is the
/// first column all the same.
#[test]
fn the_first_column_of_a_line_is_one() {
    let read = |text: &str| from_str::<GetTaskResult>(text).unwrap_err();
    for (error, place, path) in [
        (RawMessage::read(b"[]").unwrap_err(), (1, 1), ""),
        (read(""), (1, 1), ""),
        (read("\n[1]"), (2, 1), ""),
        (read("{\n\"taskId\":\n[]}"), (3, 1), "taskId"),
        (from_slice::<RawJson>(b"\xff").unwrap_err(), (1, 1), ""),
        (RawJson::from_text("").unwrap_err(), (1, 1), ""),
    ] {
        assert_eq!((error.line(), error.column()), place, "{error}");
        assert_eq!(error.path(), path, "{error}");
        assert!(error.to_string().ends_with(&format!("at line {} column {}", place.0, place.1)), "{error}");
    }
    // Without a text there is no place.
    let error = RawJson::from_text("7").unwrap().get::<String>().map(drop).unwrap_err();
    assert_eq!(error.line() == 0, error.column() == 0, "{error}");
}
