//! Results and errors of tasks: inlined in 2026-07-28, handed out by `tasks/result` in the older two.

use mcp_tasks_types::convert::{
    self, ConvertErrorKind, Lifetime, Outcome, Payload, Snapshot, State, result_to_sep_1686,
    result_to_v2025_11_25, result_to_v2026_07_28,
};
use mcp_tasks_types::{TaskId, sep_1686, v2025_11_25, v2026_07_28};

use super::{CREATED, UPDATED, at, object, read, refusal, text};

fn snapshot(state: State) -> Snapshot {
    Snapshot::new("t", state, at(CREATED), at(UPDATED), Lifetime::Unlimited)
}

fn completed(result: &str) -> Snapshot {
    snapshot(State::Completed { result: Some(object(result)) })
}

/// What `tasks/result` of 2025-11-25 and SEP-1686 answers.
fn payloads(snapshot: &Snapshot) -> [String; 2] {
    let b = match snapshot.payload_v2025_11_25().unwrap() {
        Payload::Result(result) => text(&result),
        Payload::Error(error) => text(&error),
        _ => "pending".to_owned(),
    };
    let a = match snapshot.payload_sep_1686().unwrap() {
        Payload::Result(result) => text(&result),
        Payload::Error(error) => text(&error),
        _ => "pending".to_owned(),
    };
    [a, b]
}

const A_META: &str = r#""_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"}}"#;
const B_META: &str = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;

/// Section 5.2, original result; S-10, R-4, A-27, B-45; P001, P018.
#[test]
fn a_result_is_inlined_or_handed_out() {
    let inlined = r#"{"resultType":"complete","content":[],"isError":true}"#;
    let [a, b] = payloads(&completed(inlined));
    assert_eq!(a, format!(r#"{{{A_META},"content":[],"isError":true}}"#));
    assert_eq!(b, format!(r#"{{{B_META},"content":[],"isError":true}}"#));
    let outcome = Outcome::from(read::<v2025_11_25::GetTaskPayloadResult>(&b));
    assert_eq!(outcome, Outcome::Result(object(inlined)));
    let outcome = Outcome::from(read::<sep_1686::GetTaskPayloadResult>(&a));
    assert_eq!(outcome, Outcome::Result(object(inlined)));

    // A result that came without the discriminator is one all the same.
    assert_eq!(payloads(&completed(r#"{"content":[],"isError":true}"#)), [a, b]);
}

/// P018 (c), P017: keys of a handler's own stay, in place and as text.
#[test]
fn keys_of_a_result_stay_in_all_generations() {
    let inlined = r#"{"resultType":"complete","content":[],"x":1.0,"_meta":{"v/k":1e2,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
    let id = TaskId::new("t");
    let b = result_to_v2025_11_25(&object(inlined), Some(&id)).unwrap();
    assert_eq!(
        b.as_str(),
        r#"{"content":[],"x":1.0,"_meta":{"v/k":1e2,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#
    );
    let a = result_to_sep_1686(&object(inlined), Some(&id)).unwrap();
    assert_eq!(
        a.as_str(),
        r#"{"content":[],"x":1.0,"_meta":{"v/k":1e2,"modelcontextprotocol.io/related-task":{"taskId":"t"}}}"#
    );
    let c = r#"{"resultType":"complete","content":[],"x":1.0,"_meta":{"v/k":1e2}}"#;
    assert_eq!(result_to_v2026_07_28(&b).as_str(), c);
    assert_eq!(result_to_v2026_07_28(&a).as_str(), c);
    // Without a task there is no key, and an emptied `_meta` goes.
    let own = r#"{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
    assert_eq!(result_to_v2025_11_25(&object(own), None).unwrap().as_str(), r#"{"content":[]}"#);
    assert_eq!(result_to_v2025_11_25(&object(r#"{"_meta":{}}"#), None).unwrap().as_str(), r#"{"_meta":{}}"#);
}

/// I-02, P002: a member that would make the result something else stays behind.
#[test]
fn a_result_does_not_turn_into_something_else() {
    let odd =
        r#"{"content":[],"task":{"taskId":"x"},"resultType":"task","requestState":"s","inputRequests":{}}"#;
    assert_eq!(result_to_v2026_07_28(&object(odd)).as_str(), r#"{"resultType":"complete","content":[]}"#);
    let odd = odd.replace(r#""resultType":"task""#, r#""resultType":"complete""#);
    assert_eq!(result_to_v2025_11_25(&object(&odd), None).unwrap().as_str(), r#"{"content":[]}"#);
}

/// Section 6: structured content is an object in the older two and any value in 2026-07-28.
#[test]
fn structured_content_must_be_an_object_in_the_older_two() {
    for content in ["[1]", "\"s\"", "7", "null", "true"] {
        let result = format!(r#"{{"resultType":"complete","content":[],"structuredContent":{content}}}"#);
        assert_eq!(
            refusal(result_to_v2025_11_25(&object(&result), None)),
            "`structuredContent`: 2025-11-25 has objects only"
        );
        let error = completed(&result).payload_v2025_11_25().unwrap_err();
        assert_eq!(
            (error.path(), error.kind()),
            ("result.structuredContent", ConvertErrorKind::NoCounterpart)
        );
        let error = completed(&result).payload_sep_1686().unwrap_err();
        assert_eq!(error.to_string(), "`result.structuredContent`: SEP-1686 has objects only");
    }
    let result = r#"{"resultType":"complete","content":[],"structuredContent":{"a":[1]}}"#;
    assert!(result_to_v2025_11_25(&object(result), None).is_ok());
}

#[test]
fn a_result_of_another_kind_is_no_result_of_a_task() {
    for kind in ["\"task\"", "\"input_required\"", "7"] {
        let result = format!(r#"{{"resultType":{kind},"content":[]}}"#);
        let error = completed(&result).payload_v2025_11_25().unwrap_err();
        assert_eq!((error.path(), error.kind()), ("result.resultType", ConvertErrorKind::Contradiction));
    }
}

/// B-43, P019, P101: the same error, with its code and data.
#[test]
fn an_error_keeps_code_and_data() {
    let error: v2026_07_28::ErrorObject = read(r#"{"code":-32042,"message":"e","data":{"z":1.0},"x":1}"#);
    let failed = snapshot(State::Failed { error: Some(error.clone()) });
    let [a, b] = payloads(&failed);
    assert_eq!(b, text(&error));
    // A-28: SEP-1686 has no outcome of a failed task but the text.
    assert_eq!(
        a,
        r#"{"code":-32602,"message":"Cannot retrieve result: Task status is 'failed', not 'completed'"}"#
    );
    let b: v2025_11_25::ErrorObject = read(&b);
    assert_eq!(Outcome::from(b.clone()), Outcome::Error(error.clone()));
    let back = Snapshot::from(v2025_11_25::Task::from(failed)).with_outcome(b).unwrap();
    assert_eq!(back.outcome(), Some(Outcome::Error(error)));
    let a = sep_1686::ErrorObject::new(-1, "e");
    assert_eq!(Outcome::from(a), Outcome::Error(v2026_07_28::ErrorObject::new(-1, "e")));
}

/// A-28, B-44, B-47, I-05: `tasks/result` in every state; P056.
#[test]
fn a_task_without_a_result_says_so() {
    let a = |status: &str| {
        format!(
            r#"{{"code":-32602,"message":"Cannot retrieve result: Task status is '{status}', not 'completed'"}}"#
        )
    };
    let rows = [
        (State::Submitted, "submitted", "pending"),
        (State::Working, "working", "pending"),
        (State::InputRequired { questions: None }, "input_required", "pending"),
        (State::Failed { error: None }, "failed", r#"{"code":-32603,"message":"Task failed"}"#),
        (State::Cancelled, "cancelled", r#"{"code":-32602,"message":"Task was cancelled"}"#),
        (State::Unknown, "unknown", r#"{"code":-32603,"message":"Task state is unknown"}"#),
    ];
    for (state, status, b) in rows {
        assert_eq!(payloads(&snapshot(state)), [a(status), b.to_owned()]);
    }
}

/// The status and what `tasks/result` said must agree; what says nothing of the task is passed over.
#[test]
fn an_outcome_that_contradicts_the_status_is_refused() {
    let success = || Outcome::Result(object(r#"{"content":[]}"#));
    let error = || Outcome::Error(v2026_07_28::ErrorObject::new(-1, "e"));
    for (state, outcome) in
        [(State::Completed { result: None }, error()), (State::Failed { error: None }, success())]
    {
        let error = snapshot(state).with_outcome(outcome).unwrap_err();
        assert_eq!((error.path(), error.kind()), ("status", ConvertErrorKind::Contradiction));
    }
    for state in [State::Working, State::Cancelled, State::Unknown, State::InputRequired { questions: None }]
    {
        assert_eq!(snapshot(state.clone()).with_outcome(success()).unwrap().state, state);
        assert_eq!(snapshot(state.clone()).with_outcome(error()).unwrap().state, state);
    }
}

/// Section 5.3, cancel; B-55, B-56, R-7.
#[test]
fn a_cancellation_is_refused_once_the_task_has_ended() {
    let now = at("2026-08-21T10:31:00Z");
    for state in [State::Submitted, State::Working, State::InputRequired { questions: None }] {
        let mut before = snapshot(state);
        before.status_message = Some("half done".to_owned());
        let answer = before.into_cancelled(now.clone()).unwrap();
        assert_eq!(
            text(&answer),
            format!(
                r#"{{"taskId":"t","status":"cancelled","createdAt":"{CREATED}","lastUpdatedAt":"2026-08-21T10:31:00Z","ttl":null}}"#
            )
        );
    }
    for (state, status) in [
        (State::Completed { result: None }, "completed"),
        (State::Completed { result: Some(object(r#"{"isError":true}"#)) }, "failed"),
        (State::Failed { error: None }, "failed"),
        (State::Unknown, "failed"),
        (State::Cancelled, "cancelled"),
    ] {
        let refusal = snapshot(state).into_cancelled(now.clone()).unwrap_err();
        assert_eq!(
            text(&refusal),
            format!(
                r#"{{"code":-32602,"message":"Cannot cancel task: already in terminal status '{status}'"}}"#
            )
        );
    }
}

/// The typed tool results say the same as the text.
#[test]
fn typed_results_convert_as_their_text_does() {
    let b = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1.0},"isError":false,"x":1}"#;
    let typed: v2025_11_25::CallToolResult = read(b);
    let c = v2026_07_28::CallToolResult::from(typed.clone());
    assert!(result_to_v2026_07_28(&object(b)).json_eq(&object(&text(&c))));
    assert_eq!(text(&v2025_11_25::CallToolResult::try_from(c).unwrap()), text(&typed));
    let c: v2026_07_28::CallToolResult =
        read(r#"{"resultType":"complete","content":[],"structuredContent":[1]}"#);
    let error: convert::ConvertError = v2025_11_25::CallToolResult::try_from(c).unwrap_err();
    assert_eq!(error.to_string(), "`structuredContent`: 2025-11-25 has objects only");
    let b: v2025_11_25::CallToolResult = read(&format!(r#"{{{B_META},"content":[]}}"#));
    assert_eq!(text(&v2026_07_28::CallToolResult::from(b)), r#"{"resultType":"complete","content":[]}"#);
}
