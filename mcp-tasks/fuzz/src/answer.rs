//! What an answer has to be, whatever it answers.

use serde_json::Value;

/// A request that has to be served by any server.
pub(crate) const LIST: &str = r#"{"jsonrpc":"2.0","id":"still there","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Checks one message of the server; gives it for a closer look.
pub(crate) fn check(text: &str) -> Value {
    let message: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(message["jsonrpc"], "2.0", "{text}");
    assert!(!text.contains('\n'), "more than a line: {text}");
    match (message.get("method"), message.get("result"), message.get("error")) {
        (Some(method), None, None) => {
            assert!(method.is_string() && message.get("id").is_none(), "a server never asks: {text}");
        }
        (None, Some(result), None) => {
            assert!(result["resultType"].is_string() && message.get("id").is_some(), "{text}");
        }
        (None, None, Some(error)) => {
            let code = error["code"].as_i64().unwrap_or_else(|| panic!("no code: {text}"));
            assert!(error["message"].is_string(), "{text}");
            // An internal error would be a panic or a failing store, unless it says that there is no room for more.
            let is_known = matches!(code, -32_700 | -32_602..=-32_600 | -32_022..=-32_020);
            assert!(is_known || (code == -32_603 && text.contains("Too many")), "{text}");
        }
        _ => panic!("neither notification nor answer: {text}"),
    }
    assert!(message.get("id").is_none_or(|id| id.is_string() || id.is_i64()), "{text}");
    message
}
