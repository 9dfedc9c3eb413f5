//! Which generation a request is of (I-01, R-1 step 3).

use mcp_tasks_types::RawMessage;
use mcp_tasks_types::convert::{ConvertErrorKind, Generation, generation_of};

/// The generation of a request with these parameters, in a session of that revision.
fn told(method: &str, params: &str, session: Option<&str>) -> Option<Generation> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    generation_of(&RawMessage::read(text.as_bytes()).unwrap(), session).unwrap()
}

const MODERN: &str = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
const WISH: &str = r#"{"name":"n","_meta":{"modelcontextprotocol.io/task":{"taskId":"t"}}}"#;
const RELATED: &str = r#"{"taskId":"t","_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"}}}"#;
const SESSIONS: [Option<&str>; 6] =
    [None, Some("2024-11-05"), Some("2025-06-18"), Some("2025-11-25"), Some("2026-07-28"), Some("x")];

const A: Option<Generation> = Some(Generation::Sep1686);
const B: Option<Generation> = Some(Generation::V2025_11_25);
const C: Option<Generation> = Some(Generation::V2026_07_28);

/// I-01, the matrix: what the request brings, and the session that it comes in.
#[test]
fn the_era_of_a_request_tells_its_generation() {
    for (method, params, expected) in [
        ("tools/call", MODERN, [C, C, C, C, C, C]),
        ("initialize", MODERN, [C, C, C, C, C, C]),
        ("tools/call", r#"{"name":"n"}"#, [C, None, None, B, C, C]),
        ("tools/call", r#"{"name":"n","task":{"ttl":1}}"#, [C, None, None, B, C, C]),
        ("tools/call", WISH, [C, A, A, B, C, C]),
        ("tasks/get", RELATED, [C, A, A, B, C, C]),
        ("tasks/get", r#"{"taskId":"t"}"#, [C, None, None, B, C, C]),
        ("tasks/cancel", r#"{"taskId":"t"}"#, [C, None, None, B, C, C]),
        // The one message of the proposal that is not about one task, and so has no key (A-09).
        ("tasks/list", "{}", [C, A, A, B, C, C]),
        ("notifications/cancelled", r#"{"requestId":1}"#, [C, None, None, B, C, C]),
    ] {
        for (session, expected) in SESSIONS.into_iter().zip(expected) {
            assert_eq!(told(method, params, session), expected, "{method} {params} in {session:?}");
        }
    }
}

/// R-1 step 3: `initialize` without the modern `_meta` opens a session, whose revision it asks for.
#[test]
fn a_handshake_tells_the_generation_of_the_session_that_it_opens() {
    for (version, expected) in [
        (r#""2025-11-25""#, B),
        // A server answers with the newest revision that has sessions.
        (r#""2026-07-28""#, B),
        (r#""2025-06-18""#, None),
        (r#""2024-11-05""#, None),
        ("7", B),
    ] {
        let params = format!(r#"{{"protocolVersion":{version},"capabilities":{{}}}}"#);
        assert_eq!(told("initialize", &params, None), expected, "{version}");
    }
    assert_eq!(told("initialize", "{}", None), B);
}

/// R-1 step 3, steps 6 and 9: one of the two required keys is enough to be held to the rules of 2026-07-28.
#[test]
fn half_a_modern_meta_is_modern() {
    for key in ["protocolVersion", "clientCapabilities"] {
        // Of whatever value: that is for a later check.
        let params = format!(r#"{{"_meta":{{"io.modelcontextprotocol/{key}":null}}}}"#);
        assert_eq!(told("tools/call", &params, Some("2025-11-25")), C, "{key}");
    }
    for params in [
        r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"}}}"#,
        r#"{"_meta":{"v/k":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"_meta":7}"#,
        r#"{"_meta":null}"#,
        r#"{"arguments":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
    ] {
        assert_eq!(told("tools/call", params, Some("2025-11-25")), B, "{params}");
    }
    // Escaped, it is the same key.
    let escaped = r#"{"_m\u0065ta":{"io.modelcontextprotocol\/protocolV\u0065rsion":"2026-07-28"}}"#;
    assert_eq!(told("tools/call", escaped, Some("2025-11-25")), C);
}

#[test]
fn a_message_without_parameters_goes_by_its_session() {
    for (text, session, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Some("2025-11-25"), B),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Some("2025-03-26"), None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, None, C),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Some("2025-11-25"), B),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/tasks/created","params":{"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"}}}}"#,
            Some("2025-06-18"),
            A,
        ),
        // A response says nothing of itself.
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Some("2025-06-18"), None),
    ] {
        let message = RawMessage::read(text.as_bytes()).unwrap();
        assert_eq!(generation_of(&message, session).unwrap(), expected, "{text}");
    }
}

#[test]
fn parameters_that_cannot_be_told_are_named() {
    for (params, path) in [
        ("[]", "params"),
        ("7", "params"),
        (r#"{"_meta":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#, "params._meta"),
    ] {
        let text = format!(r#"{{"id":1,"method":"tools/call","params":{params}}}"#);
        let message = RawMessage::read(text.as_bytes()).unwrap();
        let error = generation_of(&message, Some("2025-11-25")).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, ConvertErrorKind::Malformed), "{error}");
    }
}

#[test]
fn a_generation_is_called_by_its_revision() {
    assert_eq!(Generation::Sep1686.to_string(), "SEP-1686");
    assert_eq!(Generation::V2025_11_25.to_string(), "2025-11-25");
    assert_eq!(Generation::V2026_07_28.to_string(), "2026-07-28");
}
