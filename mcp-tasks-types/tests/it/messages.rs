//! Messages are told by their method and read as what was asked for, not by trial.

use mcp_tasks_types::v2026_07_28::{
    CallToolRequest, CancelTaskRequest, ErrorObject, GetTaskRequest, GetTaskResult, GetTaskResultResponse,
    JsonRpcErrorResponse, JsonRpcMessage, ListToolsRequest, Method, RequestId, TaskStatusNotification,
    TaskStatusNotificationParams, UpdateTaskRequest,
};
use mcp_tasks_types::{
    MessageId, Notification, RawMessage, Request, decode_header_value, from_str, header_value,
    routing_headers, v2025_11_25,
};
use serde::de::DeserializeOwned;

fn result_of<R: Request>(text: &str) -> R::Result
where
    R::Result: DeserializeOwned,
{
    from_str(text).unwrap()
}

/// P002: one answer reads differently by the request that it answers.
#[test]
fn an_answer_is_read_as_the_result_of_its_request() {
    let task = r#"{"taskId":"t","status":"working","createdAt":"2026-01-05T10:00:00Z","lastUpdatedAt":"2026-01-05T10:00:00Z","ttl":null}"#;
    let flat = result_of::<v2025_11_25::GetTaskRequest>(task);
    assert_eq!(flat.task_id.as_str(), "t");
    let nested = format!(r#"{{"task":{task}}}"#);
    let answer = result_of::<v2025_11_25::CallToolRequest>(&nested);
    assert!(matches!(answer, v2025_11_25::CallToolResponse::Task(_)));
    assert!(from_str::<v2025_11_25::GetTaskResult>(&nested).is_err());
    let _: GetTaskResult = result_of::<GetTaskRequest>(
        r#"{"taskId":"t","status":"working","createdAt":"2026-01-05T10:00:00Z","lastUpdatedAt":"2026-01-05T10:00:00Z","ttlMs":null}"#,
    );
    fn params<N: Notification<Params = P>, P>() -> &'static str {
        N::METHOD
    }
    assert_eq!(params::<TaskStatusNotification, TaskStatusNotificationParams>(), "notifications/tasks");
}

#[test]
fn methods_are_told_by_their_names() {
    assert_eq!("tasks/update".parse(), Ok(Method::TasksUpdate));
    assert_eq!(Method::ToolsCall.as_str(), <CallToolRequest as Request>::METHOD);
    assert!("tasks/list".parse::<Method>().is_err(), "removed in this revision");
    assert_eq!("tasks/list".parse(), Ok(v2025_11_25::Method::TasksList));
    for method in Method::ALL {
        assert_eq!(method.as_str().parse(), Ok(*method));
    }
}

/// S-28, C-90: `Mcp-Name` is the task's id, never the method.
#[test]
fn the_routing_headers_of_a_request_say_what_its_body_says() {
    fn headers<R: Request + DeserializeOwned>(params: &str) -> Vec<(&'static str, String)> {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{{params}{meta}}}}}"#, R::METHOD);
        let request: R = from_str(&text).unwrap();
        routing_headers(&request).into_iter().map(|(name, value)| (name, value.into_owned())).collect()
    }
    let expected = |method: &str, name: Option<&str>| {
        let mut headers =
            vec![("MCP-Protocol-Version", "2026-07-28".to_owned()), ("Mcp-Method", method.to_owned())];
        headers.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
        headers
    };
    assert_eq!(headers::<GetTaskRequest>(r#""taskId":"t","#), expected("tasks/get", Some("t")));
    assert_eq!(headers::<CancelTaskRequest>(r#""taskId":"t","#), expected("tasks/cancel", Some("t")));
    let update = r#""taskId":"\u00fc","inputResponses":{},"#;
    assert_eq!(headers::<UpdateTaskRequest>(update), expected("tasks/update", Some("=?base64?w7w=?=")));
    assert_eq!(headers::<CallToolRequest>(r#""name":"n","#), expected("tools/call", Some("n")));
    assert_eq!(headers::<ListToolsRequest>(""), expected("tools/list", None));
}

#[test]
fn a_request_of_an_older_revision_has_no_routing_headers() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}"#;
    let request: v2025_11_25::GetTaskRequest = from_str(text).unwrap();
    assert_eq!(routing_headers(&request), []);
}

/// X-108
#[test]
fn only_values_that_a_header_cannot_hold_are_encoded() {
    for (text, value) in [
        ("two words\tand more", "two words\tand more"),
        ("", ""),
        ("f\u{fc}", "=?base64?ZsO8?="),
        ("\u{fc}", "=?base64?w7w=?="),
        ("a\n", "=?base64?YQo=?="),
        ("\u{7f}", "=?base64?fw==?="),
        (" outer", "=?base64?IG91dGVy?="),
        ("=?base64?QQ==?=", "=?base64?PT9iYXNlNjQ/UVE9PT89?="),
        ("=?base64?=", "=?base64?="),
    ] {
        assert_eq!(header_value(text), value, "{text:?}");
    }
}

/// X-02, X-04.
#[test]
fn a_raw_message_keeps_what_its_id_is() {
    for (id, expected) in [
        (r#""id":"7","#, MessageId::String("7".into())),
        (r#""id":"a\u00e9","#, MessageId::String("aé".into())),
        (r#""id":0,"#, MessageId::Integer(0)),
        (r#""id":1.0,"#, MessageId::Integer(1)),
        (r#""id":1e2,"#, MessageId::Integer(100)),
        (r#""id":null,"#, MessageId::Null),
        (r#""id":1.5,"#, MessageId::Invalid("1.5")),
        (r#""id":[1],"#, MessageId::Invalid("[1]")),
        ("", MessageId::Absent),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"method":"m"}}"#);
        let message = RawMessage::read(text.as_bytes()).unwrap();
        assert_eq!(*message.id(), expected, "{text}");
        assert!(message.is_json_rpc());
    }
    let message = RawMessage::read(br#"{"id":7}"#).unwrap();
    assert_eq!(message.request_id(), Some(RequestId::Integer(7)));
    assert_eq!(message.request_id(), Some(v2025_11_25::RequestId::Integer(7)));
    assert!(!message.is_json_rpc() && message.method().is_none());
}

#[test]
fn a_raw_message_leaves_its_payload_alone() {
    let text = r#"{"params":{"z":1.50,"z":2,"_meta":{"k":[1e0]}},"method":"tools/call","id":1,"x":{}}"#;
    let message = RawMessage::read(text.as_bytes()).unwrap();
    assert_eq!(message.params(), Some(r#"{"z":1.50,"z":2,"_meta":{"k":[1e0]}}"#));
    assert_eq!(message.meta().unwrap(), Some(r#"{"k":[1e0]}"#));
    let response = RawMessage::read(br#"{"id":1,"result":{"a":1}}"#).unwrap();
    assert_eq!((response.result(), response.error()), (Some(r#"{"a":1}"#), None));
}

#[test]
fn a_raw_message_that_says_something_twice_is_none() {
    for text in [
        r#"{"id":1,"id":2}"#,
        r#"{"method":"a","method":"b"}"#,
        r#"{"params":{},"params":{}}"#,
        r#"[{"id":1}]"#,
        "7",
        "{",
    ] {
        assert!(RawMessage::read(text.as_bytes()).is_err(), "{text}");
    }
    let twice = RawMessage::read(br#"{"params":{"_meta":{},"_meta":{}}}"#).unwrap();
    assert!(twice.meta().unwrap_err().to_string().contains("duplicate field `_meta`"));
    let list = RawMessage::read(br#"{"params":[1]}"#).unwrap();
    assert!(list.meta().is_err());
    assert!(RawMessage::read(b"{\"id\":\"\xff\"}").is_err(), "no UTF-8");
}

/// X-10: a response is a message of its own, told by its members.
#[test]
fn json_rpc_messages_are_told_apart() {
    type Is = fn(&JsonRpcMessage) -> bool;
    let kinds: [(&str, Is); 4] = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, |m| matches!(m, JsonRpcMessage::ResultResponse(_))),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, |m| {
            matches!(m, JsonRpcMessage::ErrorResponse(_))
        }),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, |m| matches!(m, JsonRpcMessage::Request(_))),
        (r#"{"jsonrpc":"2.0","method":"m"}"#, |m| matches!(m, JsonRpcMessage::Notification(_))),
    ];
    for (text, _) in kinds {
        let message: JsonRpcMessage = from_str(text).unwrap();
        for (other, is) in &kinds {
            assert_eq!(is(&message), text == *other, "{text} as {other}");
        }
    }
}

/// What is not looked at has to be text all the same.
#[test]
fn bytes_that_are_no_utf_8_are_no_message_wherever_they_stand() {
    for (before, after) in [
        (&br#"{"jsonrpc":"2.0","vendor":""#[..], &br#"","method":"m"}"#[..]),
        (br#"{"jsonrpc":"2.0","vendor":{"a":[1,""#, br#""]},"method":"m"}"#),
        (br#"{"jsonrpc":"2.0","method":"m",""#, br#"":1}"#),
    ] {
        let good = [before, b"a", after].concat();
        assert_eq!(RawMessage::read(&good).unwrap().method(), Some("m"));
        for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\xbd"] {
            let error = RawMessage::read(&[before, bad, after].concat()).unwrap_err();
            assert!(error.is_syntax(), "{error}");
            assert_eq!((error.line(), error.column()), (1, before.len() + 1), "{error}");
        }
    }
}

/// P101: the peer's error comes whole, with its own code and message.
#[test]
fn an_answer_is_a_result_or_the_error_of_the_peer() {
    let read = |text: &str| {
        RawMessage::read(text.as_bytes()).unwrap().answer::<GetTaskRequest, ErrorObject>().map(|answer| {
            answer.map(|task| task.task_id.to_string()).map_err(|error| (error.code, error.message))
        })
    };
    let task = r#"{"taskId":"t","status":"working","createdAt":"2026-01-05T10:00:00Z","lastUpdatedAt":"2026-01-05T10:00:00Z","ttlMs":null}"#;
    for nothing in ["", r#","error":null"#] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}{nothing}}}"#);
        assert_eq!(read(&text).unwrap(), Ok("t".to_owned()));
    }
    for nothing in ["", r#","result":null"#] {
        let text = format!(r#"{{"id":1,"error":{{"code":-7,"message":"no"}}{nothing}}}"#);
        assert_eq!(read(&text).unwrap(), Err((-7, "no".to_owned())));
    }
    for (text, reason) in [
        (r#"{"id":1}"#.to_owned(), "missing field `result` or `error`"),
        (format!(r#"{{"id":1,"result":{task},"error":{{"code":1,"message":"m"}}}}"#), "not both"),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.reason().contains(reason) && error.line() == 0, "{error}");
    }
}

/// The place of a fault in an answer is the one that the whole message would have been told.
#[test]
fn a_fault_in_an_answer_has_its_place_in_the_message() {
    let working = r#""taskId":"t","status":"working","createdAt":"2026-01-05T10:00:00Z","lastUpdatedAt":"2026-01-05T10:00:00Z""#;
    for (member, value) in [
        ("result", format!("{{{working}}}")),
        ("result", format!("{{{working},\n  \"ttlMs\": -1}}")),
        ("result", "{\n\"taskId\":\n[]}".to_owned()),
        ("result", "7".to_owned()),
        ("error", r#"{"code":"x","message":"m"}"#.to_owned()),
        ("error", "[\n1]".to_owned()),
    ] {
        let text = format!("{{\"jsonrpc\":\"2.0\",\n \"id\":1, \"{member}\": {value}}}");
        let error =
            RawMessage::read(text.as_bytes()).unwrap().answer::<GetTaskRequest, ErrorObject>().unwrap_err();
        let whole = match member {
            "result" => from_str::<GetTaskResultResponse>(&text).unwrap_err(),
            _ => from_str::<JsonRpcErrorResponse>(&text).unwrap_err(),
        };
        assert_eq!(error.path(), whole.path(), "{text}");
        assert_eq!(
            (error.line(), error.column()),
            (whole.line(), whole.column()),
            "{text}\n{error}\n{whole}"
        );
        // Inside somebody else's reader there is no text of the whole.
        let message: RawMessage<'_> = serde_json::from_str(&text).unwrap();
        let error = message.answer::<GetTaskRequest, ErrorObject>().unwrap_err();
        assert_eq!((error.path(), error.line(), error.column()), (whole.path(), 0, 0));
    }
}

/// X-108, X-109, P106
#[test]
fn a_header_value_is_decoded_strictly() {
    for text in [
        "",
        "tsk_1",
        "a b",
        "ü",
        "\n",
        " x",
        "x\t",
        "=?base64?",
        "=?base64??=",
        "=?base64?QQ==?=",
        "a=b",
        "ab\u{1F600}",
    ] {
        let value = header_value(text);
        assert_eq!(decode_header_value(&value).as_deref(), Ok(text), "{value}");
        assert_eq!(decode_header_value(&format!(" \t{value} ")).as_deref(), Ok(text), "{value}");
    }
    for (value, text) in
        [("=?BASE64?QQ==?=", "=?BASE64?QQ==?="), ("=?base64?=", "=?base64?="), ("=?base64??=", "")]
    {
        assert_eq!(decode_header_value(value).as_deref(), Ok(text), "{value}");
    }
    for (value, reason) in [
        ("=?base64?QQ?=", "no base64"),
        ("=?base64?QQ=?=", "no base64"),
        ("=?base64?QQ===?=", "no base64"),
        ("=?base64?====?=", "no base64"),
        ("=?base64?Q===?=", "no base64"),
        ("=?base64?QR==?=", "no base64"),
        ("=?base64?QUJ=?=", "no base64"),
        ("=?base64?Q*==?=", "no base64"),
        ("=?base64?QQ==QQ==?=", "no base64"),
        ("=?base64?Q-_A?=", "no base64"),
        ("=?base64?Q Q=?=", "no base64"),
        ("=?base64?/w==?=", "no UTF-8"),
        ("ü", "visible ASCII"),
        ("a\u{7f}", "visible ASCII"),
    ] {
        let error = decode_header_value(value).unwrap_err().to_string();
        assert!(error.contains(reason), "{value}: {error}");
    }
}
