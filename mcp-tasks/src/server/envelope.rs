//! From bytes to one message: JSON-RPC form, before anything is known about methods.
//!
//! This is step 2 of the order of checks (R-1).
//! It tells an absent `id` from `"id":null`, because the first makes a notification and the second
//! a malformed request (X-02).

use std::ops::Range;

use mcp_tasks_types::v2026_07_28::{
    RequestId,
    method::{NOTIFICATIONS_CANCELLED, SUBSCRIPTIONS_LISTEN, TOOLS_CALL},
};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{members::Members, refusal::Refusal};

/// Arrays and objects may be nested this deep; far more than any message needs, and far less than
/// what exhausts a stack.
pub(crate) const MAX_DEPTH: usize = 128;

/// One message as it came in, read as far as its form goes: enough for a transport to keep the
/// requests of one connection apart, and for [`Server::answer`](super::Server::answer).
#[derive(Debug)]
pub struct Incoming {
    text: String,
    form: Result<Form, Malformed>,
}

/// What a message is, told by its members. Parameters are a place in the text.
#[derive(Debug)]
pub(super) enum Form {
    Request {
        id: RequestId,
        method: String,
        params: Option<Range<usize>>,
    },
    /// Never answered, whatever its method.
    Notification {
        method: String,
        params: Option<Range<usize>>,
    },
    /// Clients have nothing to respond to in this revision (X-10).
    Response,
}

impl Incoming {
    /// Reads a message, well formed or not: the server knows what to do with either.
    pub fn read(bytes: impl Into<Vec<u8>>) -> Self {
        match String::from_utf8(bytes.into()) {
            Ok(text) => Self { form: form(&text), text },
            Err(_) => {
                let form = Err(Malformed::without_id(Refusal::Parse("not UTF-8".to_owned())));
                Self { text: String::new(), form }
            }
        }
    }

    /// The id, if it is a request that wants an answer.
    pub fn request_id(&self) -> Option<&RequestId> {
        match &self.form {
            Ok(Form::Request { id, .. }) => Some(id),
            _ => None,
        }
    }

    /// Whether it is a request that calls a tool, so that its answer may take long.
    pub fn calls_tool(&self) -> bool {
        matches!(&self.form, Ok(Form::Request { method, .. }) if method == TOOLS_CALL)
    }

    /// Whether it is a request that has no end of its own.
    pub fn subscribes(&self) -> bool {
        matches!(&self.form, Ok(Form::Request { method, .. }) if method == SUBSCRIPTIONS_LISTEN)
    }

    /// The request that is not wanted any more, if it says so (X-72).
    pub fn cancels(&self) -> Option<RequestId> {
        match &self.form {
            Ok(Form::Notification { method, params }) if method == NOTIFICATIONS_CANCELLED => {
                let params = Members::read(&self.text[params.clone()?]).ok()?;
                params.get("requestId").and_then(request_id)
            }
            _ => None,
        }
    }

    pub(super) fn into_parts(self) -> (String, Result<Form, Malformed>) {
        (self.text, self.form)
    }
}

/// A request on its way through the checks.
#[derive(Debug)]
pub(super) struct Request<'m> {
    pub(super) method: &'m str,
    pub(super) params: Members<'m>,
    /// The text of `params`, for typed reading.
    pub(super) params_text: Option<&'m str>,
}

impl<'m> Request<'m> {
    pub(super) fn new(text: &'m str, method: &'m str, params: Option<Range<usize>>) -> Self {
        let params_text = params.map(|place| &text[place]);
        // The form is checked: they are an object.
        let params = params_text.and_then(|text| Members::read(text).ok()).unwrap_or_default();
        Self { method, params, params_text }
    }
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

/// Tells what a message is.
fn form(text: &str) -> Result<Form, Malformed> {
    let members = members(text)?;

    let invalid = |id: Option<RequestId>, what: String| Malformed::Answered {
        id,
        refusal: Refusal::InvalidRequest(what),
    };
    let Some(id) = members.get("id") else {
        return without_id(text, &members);
    };
    if members.get("method").is_none() && (members.get("result").is_some() || members.get("error").is_some())
    {
        return Ok(Form::Response);
    }
    if members.repeats("id") {
        return Err(invalid(None, "`id` is there twice".to_owned()));
    }
    let id = request_id(id).ok_or_else(|| invalid(None, "`id` must be a string or an integer".to_owned()))?;
    let form = check_form(text, &members);
    let (method, params) = form.map_err(|what| invalid(Some(id.clone()), what))?;
    if too_deep(text) {
        let what = format!("nested deeper than {MAX_DEPTH} levels");
        return Err(invalid(Some(id), what));
    }
    Ok(Form::Request { id, method, params })
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
fn without_id(text: &str, members: &Members<'_>) -> Result<Form, Malformed> {
    if members.get("method").is_none() && members.get("error").is_some() {
        return Ok(Form::Response);
    }
    match check_form(text, members) {
        Ok((method, params)) => Ok(Form::Notification { method, params }),
        Err(_) => Err(Malformed::Silent),
    }
}

/// What requests and notifications have in common: a method, and parameters at a place of the text.
fn check_form(text: &str, members: &Members<'_>) -> Result<(String, Option<Range<usize>>), String> {
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
    let params = match members.get("params").map(RawValue::get) {
        None => None,
        Some(params) if params.starts_with('{') => {
            let start = params.as_ptr() as usize - text.as_ptr() as usize;
            Some(start..start + params.len())
        }
        Some(_) => return Err("`params` must be an object".to_owned()),
    };
    Ok((method.into_owned(), params))
}

/// A string or an integer, kept as such (X-04); read by the type that clients and other servers read it by.
pub(super) fn request_id(value: &RawValue) -> Option<RequestId> {
    serde_json::from_str(value.get()).ok()
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

    use super::{Form, Incoming, MAX_DEPTH, Malformed, Request, too_deep};
    use crate::server::refusal::Refusal;

    /// What became of a message, in one word, with the id that an answer would carry.
    fn verdict(text: &str) -> (&'static str, Option<RequestId>) {
        match Incoming::read(text).form {
            Ok(Form::Request { id, .. }) => ("request", Some(id)),
            Ok(Form::Notification { .. }) => ("notification", None),
            Ok(Form::Response) => ("response", None),
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

    /// X-72, P150: what a transport has to know, with escapes and in any order.
    #[test]
    fn transport_learns_ids_calls_and_cancellations() {
        let read = |text: &str| {
            let incoming = Incoming::read(text);
            (incoming.request_id().cloned(), incoming.calls_tool(), incoming.cancels())
        };
        let call = r#"{"jsonrpc":"2.0","method":"tools\/call","id":1}"#;
        assert_eq!(read(call), (integer(1), true, None));
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        assert_eq!(read(list), (integer(2), false, None));
        let cancel =
            r#"{"params": {"\u0072equestId" : 3 } ,"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        assert_eq!(read(cancel), (None, false, integer(3)));
        for other in
            ["{", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#]
        {
            assert_eq!(read(other), (None, false, None));
        }
    }

    #[test]
    fn parameters_are_read_where_they_stand() {
        let (text, form) =
            Incoming::read(r#"{"jsonrpc":"2.0","id":1,"params": {"a":[1.0]} ,"method":"m"}"#).into_parts();
        let Ok(Form::Request { method, params, .. }) = form else { panic!("{form:?}") };
        let request = Request::new(&text, &method, params);
        assert_eq!(request.params_text, Some(r#"{"a":[1.0]}"#));
        assert_eq!(request.params.get("a").unwrap().get(), "[1.0]");
    }

    /// X-01, X-02, X-04, X-07, X-08, X-10, X-11, S-01
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
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, "request", integer(1)),
            (r#"{"jsonrpc":"2.0","id":1e2,"method":"m"}"#, "request", integer(100)),
            (r#"{"jsonrpc":"2.0","id":-0,"method":"m"}"#, "request", integer(0)),
            (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","id":1e400,"method":"m"}"#, "invalid", None),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "invalid", None),
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
            Incoming::read(b"{\"jsonrpc\":\"\xff\"}").form,
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
