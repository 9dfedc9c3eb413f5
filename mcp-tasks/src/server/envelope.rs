//! From bytes to one message: JSON-RPC form, before anything is known about methods.
//!
//! This is step 2 of the order of checks (R-1).
//! It tells an absent `id` from `"id":null`, because the first makes a notification and the second
//! a malformed request (X-02).

use std::{borrow::Cow, str};

use mcp_tasks_types::v2026_07_28::RequestId;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{
    members::{Members, as_string},
    refusal::Refusal,
};

/// Arrays and objects may be nested this deep; far more than any message needs, and far less than
/// what exhausts a stack.
pub(crate) const MAX_DEPTH: usize = 128;

/// One message, told apart by its members.
#[derive(Debug)]
pub(super) enum Message<'m> {
    Request(Request<'m>),
    /// Never answered, whatever its method.
    Notification(Notification<'m>),
    /// Clients have nothing to respond to in this revision (X-10).
    Response,
}

#[derive(Debug)]
pub(super) struct Request<'m> {
    pub(super) id: RequestId,
    pub(super) method: Cow<'m, str>,
    pub(super) params: Members<'m>,
    /// The text of `params`, for typed reading.
    pub(super) params_text: Option<&'m str>,
}

#[derive(Debug)]
pub(super) struct Notification<'m> {
    pub(super) method: Cow<'m, str>,
    pub(super) params: Members<'m>,
}

/// Why bytes are no message that can be worked on.
#[derive(Debug)]
pub(super) enum Malformed {
    /// Answered with an error; the id is there if it could be read (X-07).
    Answered { id: Option<RequestId>, refusal: Refusal },
    /// A notification of no use: refused without an answer (S-01).
    Silent,
}

impl Malformed {
    fn without_id(refusal: Refusal) -> Self {
        Self::Answered { id: None, refusal }
    }
}

/// Reads one message.
pub(super) fn read(bytes: &[u8]) -> Result<Message<'_>, Malformed> {
    let text =
        str::from_utf8(bytes).map_err(|_| Malformed::without_id(Refusal::Parse("not UTF-8".to_owned())))?;
    let members = members(text)?;

    let invalid = |id: Option<RequestId>, what: String| Malformed::Answered {
        id,
        refusal: Refusal::InvalidRequest(what),
    };
    let Some(id) = members.get("id") else {
        return without_id(&members);
    };
    if members.get("method").is_none() && (members.get("result").is_some() || members.get("error").is_some())
    {
        return Ok(Message::Response);
    }
    if members.repeats("id") {
        return Err(invalid(None, "`id` is there twice".to_owned()));
    }
    let id = request_id(id).ok_or_else(|| invalid(None, "`id` must be a string or an integer".to_owned()))?;
    let form = check_form(&members);
    let (method, params) = form.map_err(|what| invalid(Some(id.clone()), what))?;
    if too_deep(text) {
        let what = format!("nested deeper than {MAX_DEPTH} levels");
        return Err(invalid(Some(id), what));
    }
    let params_text = members.get("params").map(RawValue::get);
    Ok(Message::Request(Request { id, method, params, params_text }))
}

/// The members of the message, if it is one object.
fn members(text: &str) -> Result<Members<'_>, Malformed> {
    let parse = |error: serde_json::Error| Malformed::without_id(Refusal::Parse(error.to_string()));
    if text.trim_start_matches(is_blank).starts_with('{') {
        return Members::read(text).map_err(parse);
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(parse)?;
    let what = if text.trim_start_matches(is_blank).starts_with('[') {
        "one message at a time, batches are not part of the protocol"
    } else {
        "a message is an object"
    };
    Err(Malformed::without_id(Refusal::InvalidRequest(what.to_owned())))
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// A message without `id` is never answered; a useful one is taken.
fn without_id<'m>(members: &Members<'m>) -> Result<Message<'m>, Malformed> {
    if members.get("method").is_none() && members.get("error").is_some() {
        return Ok(Message::Response);
    }
    match check_form(members) {
        Ok((method, params)) => Ok(Message::Notification(Notification { method, params })),
        Err(_) => Err(Malformed::Silent),
    }
}

/// What requests and notifications have in common.
fn check_form<'m>(members: &Members<'m>) -> Result<(Cow<'m, str>, Members<'m>), String> {
    for name in ["jsonrpc", "method", "params"] {
        if members.repeats(name) {
            return Err(format!("`{name}` is there twice"));
        }
    }
    if members.string("jsonrpc").as_deref() != Some("2.0") {
        return Err("`jsonrpc` must be \"2.0\"".to_owned());
    }
    if members.get("result").is_some() || members.get("error").is_some() {
        return Err("a request has neither `result` nor `error`".to_owned());
    }
    let method = members.string("method").ok_or("`method` must be a string")?;
    let params = match members.get("params") {
        None => Members::default(),
        Some(params) => Members::read(params.get()).map_err(|_| "`params` must be an object".to_owned())?,
    };
    Ok((method, params))
}

/// A string or an integer, kept as such (X-04).
pub(super) fn request_id(value: &RawValue) -> Option<RequestId> {
    match as_string(value) {
        Some(text) => Some(RequestId::String(text.into_owned())),
        None => serde_json::from_str(value.get()).ok().map(RequestId::Integer),
    }
}

/// Whether brackets outside of strings are nested deeper than is allowed.
fn too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use mcp_tasks_types::v2026_07_28::RequestId;

    use super::{MAX_DEPTH, Malformed, Message, read, too_deep};
    use crate::server::refusal::Refusal;

    /// What became of a message, in one word, with the id that an answer would carry.
    fn verdict(text: &str) -> (&'static str, Option<RequestId>) {
        match read(text.as_bytes()) {
            Ok(Message::Request(request)) => ("request", Some(request.id)),
            Ok(Message::Notification(_)) => ("notification", None),
            Ok(Message::Response) => ("response", None),
            Err(Malformed::Silent) => ("silent", None),
            Err(Malformed::Answered { id, refusal }) => match refusal {
                Refusal::Parse(_) => ("parse", id),
                Refusal::InvalidRequest(_) => ("invalid", id),
                other => panic!("unexpected refusal: {other:?}"),
            },
        }
    }

    fn integer(id: i64) -> Option<RequestId> {
        Some(RequestId::Integer(id))
    }

    // X-01, X-02, X-04, X-07, X-08, X-10, X-11, S-01
    #[test]
    fn messages_are_told_apart_by_their_members() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#, "request", integer(0)),
            (
                r#"{"method":"m","params":{},"id":"7","jsonrpc":"2.0"}"#,
                "request",
                Some(RequestId::String("7".to_owned())),
            ),
            (r#"{"jsonrpc":"2.0","id":-3,"method":"m"}"#, "request", integer(-3)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "notification", None),
            (r#"{"jsonrpc":"2.0","method":5}"#, "silent", None),
            (r#"{"jsonrpc":"1.0","method":"m"}"#, "silent", None),
            (r#"{"jsonrpc":"2.0","method":"m","params":[]}"#, "silent", None),
            ("{}", "silent", None),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response", None),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "response", None),
            (r#"{"jsonrpc":"2.0","error":{}}"#, "response", None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, "invalid", integer(1)),
            (r#"{"id":1,"method":"m"}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":"9.9","id":1,"method":"m"}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":"2.0","id":1}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, "invalid", integer(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}"#, "invalid", integer(1)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "invalid", None),
            ("[]", "invalid", None),
            ("7", "invalid", None),
            ("{", "parse", None),
            ("", "parse", None),
            ("[1,", "parse", None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"} x"#, "parse", None),
        ];
        for (text, expected, id) in table {
            assert_eq!(verdict(text), (expected, id), "{text}");
        }
        assert!(matches!(
            read(b"{\"jsonrpc\":\"\xff\"}"),
            Err(Malformed::Answered { id: None, refusal: Refusal::Parse(_) })
        ));
    }

    #[test]
    fn nesting_is_limited_and_brackets_in_strings_do_not_count() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!too_deep(&nested(MAX_DEPTH)));
        assert!(too_deep(&nested(MAX_DEPTH + 1)));
        assert!(!too_deep(&format!(r#""\"{}""#, "[".repeat(1_000))));
        let deep = nested(100_000);
        let text = format!(r#"{{"jsonrpc":"2.0","id":4,"method":"m","params":{{"x":{deep}}}}}"#);
        assert_eq!(verdict(&text), ("invalid", integer(4)));
    }
}
