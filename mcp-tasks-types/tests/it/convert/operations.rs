//! The call and its wish, questions and answers, errors of requests.

use mcp_tasks_types::convert::{
    ConvertErrorKind, ErrorRoute, NestedRequest, answer_to_sep_1686, answer_to_v2025_11_25,
    answer_to_v2026_07_28, call_from_sep_1686, call_to_sep_1686, call_to_v2025_11_25, call_to_v2026_07_28,
    error_to_sep_1686, error_to_v2025_11_25, error_to_v2026_07_28, question_from_sep_1686,
    question_to_sep_1686, question_to_v2025_11_25, wish_to_sep_1686,
};
use mcp_tasks_types::v2026_07_28::{InputRequest, InputResponse};
use mcp_tasks_types::{TaskId, sep_1686, v2025_11_25, v2026_07_28};

use super::{object, read, refusal, text};

pub(crate) const OWN: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

/// Section 5.2, the wish: `_meta` task key, `params.task`, dropped; A-02, B-29, P013.
#[test]
fn a_wish_has_its_place_in_each_generation() {
    let b: v2025_11_25::CallToolRequestParams = read(
        r#"{"_meta":{"progressToken":"p","io.modelcontextprotocol/related-task":{"taskId":"x"},"traceparent":"00-1","v/k":1.0},"name":"n","arguments":{"a":1.0},"task":{"ttl":60000,"w":1},"x":2}"#,
    );
    let c = call_to_v2026_07_28(b.clone(), read(OWN)).unwrap();
    assert_eq!(
        text(&c),
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"progressToken":"p","traceparent":"00-1","v/k":1.0},"name":"n","arguments":{"a":1.0},"x":2}"#
    );
    let back = call_to_v2025_11_25(c, b.task.clone()).unwrap();
    assert_eq!(
        text(&back),
        r#"{"_meta":{"progressToken":"p","traceparent":"00-1","v/k":1.0},"name":"n","arguments":{"a":1.0},"task":{"ttl":60000,"w":1},"x":2}"#
    );

    let wish = wish_to_sep_1686(b.task.clone().unwrap(), "mine");
    assert_eq!(text(&wish), r#"{"taskId":"mine","keepAlive":60000,"w":1}"#);
    let a = call_to_sep_1686(b, wish);
    assert_eq!(
        text(&a),
        r#"{"_meta":{"modelcontextprotocol.io/task":{"taskId":"mine","keepAlive":60000,"w":1},"progressToken":"p","traceparent":"00-1","v/k":1.0},"name":"n","arguments":{"a":1.0},"x":2}"#
    );
    // The lifetime from the end is none from creation.
    assert_eq!(
        text(&call_from_sep_1686(a).unwrap()),
        r#"{"_meta":{"progressToken":"p","traceparent":"00-1","v/k":1.0},"name":"n","arguments":{"a":1.0},"task":{"w":1},"x":2}"#
    );
}

/// The gateway's own `_meta` is not overwritten by the client's.
#[test]
fn the_gateways_own_keys_come_first() {
    let b = read(
        r#"{"_meta":{"progressToken":1,"v/k":1,"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}},"name":"n"}"#,
    );
    let mut own: v2026_07_28::RequestMetaObject = read(OWN);
    own.progress_token = Some(2.into());
    own.extra.push("v/k", read("2"));
    let c = call_to_v2026_07_28(b, own.clone()).unwrap();
    assert_eq!(c.meta, own);
}

#[test]
fn a_call_that_answers_an_earlier_round_has_no_older_form() {
    for (member, name) in
        [(r#""inputResponses":{}"#, "inputResponses"), (r#""requestState":"s""#, "requestState")]
    {
        let call = read(&format!(r#"{{"_meta":{OWN},"name":"n",{member}}}"#));
        let error = call_to_v2025_11_25(call, None).unwrap_err();
        assert_eq!((error.path(), error.kind()), (name, ConvertErrorKind::NoCounterpart));
    }
    // `_meta` of the stateless protocol belongs to the session there.
    let call = read(&format!(r#"{{"_meta":{OWN},"name":"n","task":{{"ttl":1}}}}"#));
    assert_eq!(text(&call_to_v2025_11_25(call, None).unwrap()), r#"{"name":"n"}"#);
}

#[test]
fn an_augmented_request_that_is_no_call_is_refused() {
    let request = |members: &str| -> sep_1686::TaskAugmentedRequestParams {
        read(&format!(r#"{{"_meta":{{"modelcontextprotocol.io/task":{{"taskId":"t"}}}}{members}}}"#))
    };
    for (members, path, kind) in [
        ("", "name", ConvertErrorKind::Missing),
        (r#","name":7"#, "name", ConvertErrorKind::Malformed),
        (r#","name":"n","arguments":[1]"#, "arguments", ConvertErrorKind::Malformed),
    ] {
        let error = call_from_sep_1686(request(members)).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, kind), "{error}");
    }
}

const FORM: &str = r#"{"method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":1},"c":{"type":"string","enum":["a","b"]}},"required":["n"]},"x":1.0}}"#;
const URL: &str = r#"{"method":"elicitation/create","params":{"mode":"url","message":"Pay","url":"https://example.com/pay"}}"#;
const SAMPLE: &str = r#"{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}],"maxTokens":10,"temperature":0.5,"tools":[{"name":"n","inputSchema":{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false},"outputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}}"#;
const ROOTS: &str = r#"{"method":"roots/list"}"#;

/// The text of a nested request.
fn nested(request: &NestedRequest) -> String {
    match request {
        NestedRequest::Elicit(request) => text(request),
        NestedRequest::CreateMessage(request) => text(request),
        NestedRequest::ListRoots(request) => text(request),
        _ => unreachable!("three kinds"),
    }
}

/// Section 5.3, ask input; section 5.2, related-task keys; A-33, B-49.
#[test]
fn a_question_is_a_request_of_its_own_or_an_entry() {
    let id = TaskId::new("t");
    for entry in [FORM, URL, SAMPLE, ROOTS] {
        let question: InputRequest = read(entry);
        let b = question_to_v2025_11_25(question.clone(), 7, &id, Some("e-1".into())).unwrap();
        let written = nested(&b);
        assert!(written.contains(r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#));
        assert!(written.contains(r#""id":7"#), "{written}");
        assert_eq!(written.contains(r#""elicitationId":"e-1""#), entry == URL, "{written}");
        assert_eq!(text(&InputRequest::from(b)), entry);

        let a = question_to_sep_1686(question, "q", &id, Some("e-1".into())).unwrap();
        let written = text(&a);
        assert!(written.contains(r#""_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"}}"#));
        assert_eq!(text(&question_from_sep_1686(a).unwrap()), entry);
    }
}

/// Section 5.3: the entry holds no `task` and none of the request's keys, other keys stay.
#[test]
fn an_entry_has_nothing_of_the_request_around_it() {
    let b: v2025_11_25::ElicitRequest = read(
        r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"progressToken":1,"v/k":1.0},"mode":"url","message":"m","elicitationId":"e-1","url":"https://e.com","task":{"ttl":1}}}"#,
    );
    let c = InputRequest::from(NestedRequest::from(b));
    assert_eq!(
        text(&c),
        r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://e.com","_meta":{"v/k":1.0}}}"#
    );
    let b = question_to_v2025_11_25(c, "q", &TaskId::new("u"), Some("e-2".into())).unwrap();
    assert_eq!(
        nested(&b),
        r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"u"},"v/k":1.0},"mode":"url","message":"m","elicitationId":"e-2","url":"https://e.com"}}"#
    );
}

/// Section 5.3, last paragraph.
#[test]
fn a_question_by_url_needs_an_elicitation_id() {
    let id = TaskId::new("t");
    let error = question_to_v2025_11_25(read(URL), 7, &id, None).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("params.elicitationId", ConvertErrorKind::Missing));
    assert!(question_to_sep_1686(read(URL), 7, &id, None).is_err());
    assert!(question_to_v2025_11_25(read(FORM), 7, &id, None).is_ok());
}

/// A schema and structured content that 2025-11-25 does not have are named with their place.
#[test]
fn a_sampling_request_with_wider_json_names_the_place() {
    let ask = |params: &str| {
        let question = read(&format!(r#"{{"method":"sampling/createMessage","params":{params}}}"#));
        refusal(question_to_v2025_11_25(question, 7, &TaskId::new("t"), None))
    };
    assert_eq!(
        ask(
            r#"{"messages":[],"maxTokens":1,"tools":[{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}]}"#
        ),
        "`params.tools[0].outputSchema.type`: 2025-11-25 has schemas of objects only"
    );
    assert_eq!(
        ask(
            r#"{"messages":[],"maxTokens":1,"tools":[{"name":"n","inputSchema":{"type":"object","properties":1}}]}"#
        )
        .split(": ")
        .next(),
        Some("`params.tools[0].inputSchema.properties`")
    );
    assert_eq!(
        ask(
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[],"structuredContent":7}]}],"maxTokens":1}"#
        ),
        "`params.messages[1].content[0].structuredContent`: 2025-11-25 has objects only"
    );
}

#[test]
fn a_nested_request_of_another_method_is_refused() {
    let request = read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#);
    let error = question_from_sep_1686(request).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("method", ConvertErrorKind::NoCounterpart));
    let bare = read(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#);
    let error = question_from_sep_1686(bare).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("params", ConvertErrorKind::Missing));
    let request = read(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":1}}"#);
    let error = question_from_sep_1686(request).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("params.message", ConvertErrorKind::Malformed), "{error}");
}

/// Section 5.3, give input: the value is that response's result without `_meta`.
#[test]
fn an_answer_loses_and_gains_its_meta() {
    let id = TaskId::new("t");
    for answer in [
        r#"{"action":"accept","content":{"n":1.0,"l":["a"]},"x":1.0}"#,
        r#"{"action":"decline"}"#,
        r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m","stopReason":"endTurn"}"#,
        r#"{"roots":[{"uri":"file:///x","_meta":{"a":1}}]}"#,
    ] {
        let b = answer_to_v2025_11_25(&read(answer), &id).unwrap();
        let end = answer.strip_suffix('}').unwrap();
        assert_eq!(
            b.as_str(),
            format!(r#"{end},"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"t"}}}}}}"#)
        );
        assert_eq!(answer_to_v2026_07_28(&b).unwrap().as_str(), answer);
        let a = answer_to_sep_1686(&read(answer), &id).unwrap();
        assert_eq!(
            a.as_str(),
            format!(r#"{end},"_meta":{{"modelcontextprotocol.io/related-task":{{"taskId":"t"}}}}}}"#)
        );
        assert_eq!(answer_to_v2026_07_28(&a).unwrap().as_str(), answer);
        // The typed answers agree.
        let typed = match read::<InputResponse>(answer) {
            InputResponse::Elicit(answer) => {
                text(&v2026_07_28::ElicitResult::from(v2025_11_25::ElicitResult::from(answer)))
            }
            InputResponse::ListRoots(answer) => {
                text(&v2026_07_28::ListRootsResult::from(v2025_11_25::ListRootsResult::from(answer)))
            }
            InputResponse::CreateMessage(answer) => text(&v2026_07_28::CreateMessageResult::from(
                v2025_11_25::CreateMessageResult::try_from(answer).unwrap(),
            )),
        };
        assert!(object(&typed).json_eq(&object(answer)), "{typed}");
    }
    let b: v2025_11_25::ElicitResult = read(r#"{"_meta":{"v/k":1},"action":"cancel","resultType":"task"}"#);
    assert_eq!(text(&v2026_07_28::ElicitResult::from(b)), r#"{"action":"cancel"}"#);
}

#[test]
fn an_answer_that_is_no_answer_is_refused() {
    let error = answer_to_v2026_07_28(&object(r#"{"task":{"taskId":"c"}}"#)).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("task", ConvertErrorKind::NoCounterpart));
    assert!(answer_to_v2026_07_28(&object(r#"{"action":"cancel","task":{"taskId":"c"}}"#)).is_ok());
    for value in ["null", "[]", "\"accept\""] {
        let error = answer_to_v2025_11_25(&read(value), &TaskId::new("t")).unwrap_err();
        assert_eq!((error.path(), error.kind()), ("", ConvertErrorKind::Malformed));
    }
    // A `_meta` of the wrong kind cannot name the task, so another takes its place.
    assert_eq!(
        answer_to_v2025_11_25(&read(r#"{"action":"cancel","_meta":7}"#), &TaskId::new("t")).unwrap().as_str(),
        r#"{"action":"cancel","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#
    );
}

/// How an error was routed: `answer`, `other` or `ask`, and the code.
fn route<E: serde::Serialize>(route: &ErrorRoute<E>) -> (String, i64) {
    let code = |error: &E| read::<v2026_07_28::ErrorObject>(&text(error)).code;
    match route {
        ErrorRoute::Answer(error) => ("answer".into(), code(error)),
        ErrorRoute::OtherMode { otherwise } => ("other".into(), code(otherwise)),
        ErrorRoute::Ask { questions, otherwise } => (text(questions), code(otherwise)),
        _ => unreachable!("three ways"),
    }
}

/// Section 5.3, error mapping towards the older two.
#[test]
fn an_error_of_2026_becomes_one_of_the_older_two() {
    let tasks = r#","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    let form = r#","data":{"requiredCapabilities":{"elicitation":{}}}"#;
    for (code, data, way, expected) in [
        (-32602, "", "answer", -32602),
        (-32603, "", "answer", -32603),
        (-32601, "", "answer", -32601),
        (-32050, "", "answer", -32050),
        (-32021, tasks, "other", -32603),
        (-32021, form, "answer", -32603),
        (-32021, "", "answer", -32603),
        (-32020, "", "answer", -32603),
        (-32022, "", "answer", -32603),
    ] {
        let error: v2026_07_28::ErrorObject = read(&format!(r#"{{"code":{code},"message":"m"{data}}}"#));
        assert_eq!(route(&error_to_v2025_11_25(error.clone())), (way.into(), expected), "{code}");
        assert_eq!(route(&error_to_sep_1686(error)), (way.into(), expected), "{code}");
    }
    let kept: v2026_07_28::ErrorObject = read(r#"{"code":-32602,"message":"m","data":1.0,"x":2}"#);
    let ErrorRoute::Answer(error) = error_to_v2025_11_25(kept.clone()) else { panic!("handed on") };
    assert_eq!(text(&error), text(&kept));
}

/// Section 5.3, error mapping towards 2026-07-28, and the list of codes never emitted (3.7).
#[test]
fn an_error_of_2025_becomes_one_of_2026() {
    let urls = r#","data":{"elicitations":[{"mode":"url","message":"m","elicitationId":"e-1","url":"https://e.com"}]}"#;
    let asked = r#"{"e-1":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://e.com"}}}"#;
    for (code, method, data, way, expected) in [
        (-32602, "tools/call", "", "answer", -32602),
        (-32603, "tools/call", "", "answer", -32603),
        (-32601, "tools/call", "", "other", -32603),
        (-32600, "tools/call", "", "other", -32603),
        (-32601, "tasks/cancel", "", "answer", -32601),
        (-32600, "tasks/get", "", "answer", -32600),
        (-32042, "tools/call", urls, asked, -32603),
        (-32042, "tools/call", "", "answer", -32603),
        (-32002, "tools/call", "", "answer", -32603),
        (-32021, "tools/call", "", "answer", -32603),
        (-32099, "tools/call", "", "answer", -32603),
        (-32100, "tools/call", "", "answer", -32100),
        (-32019, "tools/call", "", "answer", -32019),
    ] {
        let error = read(&format!(r#"{{"code":{code},"message":"m"{data}}}"#));
        assert_eq!(route(&error_to_v2026_07_28(error, method)), (way.into(), expected), "{code} {method}");
    }
}

/// Section 5.2, related-task keys of the older two.
#[test]
fn a_related_task_is_the_same_under_either_key() {
    let a: sep_1686::RelatedTaskMetadata = read(r#"{"taskId":"t","x":1.0}"#);
    let b = v2025_11_25::RelatedTaskMetadata::from(a.clone());
    assert_eq!(text(&b), text(&a));
    assert_eq!(sep_1686::RelatedTaskMetadata::from(b), a);
}
