//! What a peer should not send: very many names, members that come twice, values beyond what every reader holds.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mcp_tasks_types::convert::{
    ConvertErrorKind, Lifetime, Outcome, Snapshot, State, answer_to_sep_1686, answer_to_v2025_11_25,
    answer_to_v2026_07_28, call_from_sep_1686, call_to_sep_1686, call_to_v2025_11_25, call_to_v2026_07_28,
    question_from_sep_1686, question_to_sep_1686, question_to_v2025_11_25, result_to_sep_1686,
    result_to_v2025_11_25, result_to_v2026_07_28, wish_to_sep_1686,
};
use mcp_tasks_types::v2026_07_28::InputRequest;
use mcp_tasks_types::{Map, RawJson, RawObject, TaskId, sep_1686, v2025_11_25, v2026_07_28};

use super::operations::OWN;
use super::{CREATED, UPDATED, at, object, read, text};

/// `"<prefix>0":"v","<prefix>1":"v",…`.
fn many(prefix: &str, count: usize) -> String {
    let mut out = String::new();
    for n in 0..count {
        let comma = if n == 0 { "" } else { "," };
        write!(out, r#"{comma}"{prefix}{n}":"v""#).unwrap();
    }
    out
}

/// Holds that 40,000 names in one value take about as long as in forty values of a thousand: linear time makes no
/// difference of it, quadratic time one of forty. Both are measured alike, so that other programs on the machine slow
/// both, and more than once.
#[expect(clippy::disallowed_methods, reason = "how long it takes is what this is about")]
fn grows_linearly<S, T>(what: &str, input: impl Fn(usize) -> S, convert: impl Fn(S) -> T) {
    let took = |values: usize, names: usize| -> Duration {
        let inputs: Vec<S> = (0..values).map(|_| input(names)).collect();
        let begin = Instant::now();
        let outputs: Vec<T> = inputs.into_iter().map(&convert).collect();
        let took = begin.elapsed();
        drop(outputs);
        took
    };
    let mut measured = Vec::new();
    let is_linear = (0..4).any(|_| {
        let (many, one) = (took(40, 1_000), took(1, 40_000));
        measured.push((many, one));
        one < many * 10
    });
    assert!(is_linear, "{what}: forty values and one of as many names take {measured:?}");
}

#[test]
fn many_answers_are_carried_in_linear_time() {
    let answer = |count| format!(r#"{{"action":"accept","content":{{{}}}}}"#, many("k", count));
    grows_linearly(
        "answers to 2026-07-28",
        |count| read::<v2025_11_25::ElicitResult>(&answer(count)),
        v2026_07_28::ElicitResult::from,
    );
    grows_linearly(
        "answers to 2025-11-25",
        |count| read::<v2026_07_28::ElicitResult>(&answer(count)),
        v2025_11_25::ElicitResult::from,
    );
    grows_linearly(
        "an answer as text",
        |count| read::<RawJson>(&answer(count)),
        |answer| answer_to_v2025_11_25(&answer, &TaskId::new("t")).unwrap(),
    );
}

#[test]
fn a_map_is_collected_in_linear_time() {
    grows_linearly(
        "a map of different names",
        |count| (0..count).map(|n| (n.to_string(), n)).collect::<Vec<_>>(),
        |entries| entries.into_iter().collect::<Map<usize>>(),
    );
}

#[test]
fn many_keys_of_meta_are_carried_in_linear_time() {
    let call = |count| {
        read::<v2025_11_25::CallToolRequestParams>(&format!(
            r#"{{"name":"n","_meta":{{{}}}}}"#,
            many("v/k", count)
        ))
    };
    // With a key of the gateway's own, with which each of the client's has to be compared.
    let own = format!(r#"{},"v/own":1}}"#, OWN.strip_suffix('}').unwrap());
    grows_linearly("keys to 2026-07-28", call, |call| call_to_v2026_07_28(call, read(&own)).unwrap());
    let call = |count| {
        let own = OWN.strip_suffix('}').unwrap();
        read::<v2026_07_28::CallToolRequestParams>(&format!(
            r#"{{"name":"n","_meta":{own},{}}}}}"#,
            many("v/k", count)
        ))
    };
    grows_linearly("keys to 2025-11-25", call, |call| call_to_v2025_11_25(call, None).unwrap());
    let result = |count| object(&format!(r#"{{"content":[],"_meta":{{{}}}}}"#, many("v/k", count)));
    grows_linearly("keys of a result", result, |result| result_to_v2025_11_25(&result, None).unwrap());
}

#[test]
fn many_members_are_carried_in_linear_time() {
    let call = |count| {
        read::<v2025_11_25::CallToolRequestParams>(&format!(r#"{{"name":"n",{}}}"#, many("x", count)))
    };
    let to_sep = |call| call_to_sep_1686(call, sep_1686::TaskMetadata::new("t"));
    grows_linearly("members of a call to SEP-1686", call, to_sep);
    grows_linearly(
        "members of a call from SEP-1686",
        |count| to_sep(call(count)),
        |call| call_from_sep_1686(call).unwrap(),
    );
    let created = |count| {
        read::<v2025_11_25::CreateTaskResult>(&format!(
            r#"{{"task":{{"taskId":"t","status":"working","createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}","ttl":null,{}}},{}}}"#,
            many("x", count),
            many("y", count)
        ))
    };
    grows_linearly("members around a task", created, Snapshot::from);
    let tool = |count| {
        read::<v2025_11_25::Tool>(&format!(
            r#"{{"name":"n","inputSchema":{{"type":"object",{}}}}}"#,
            many("x", count)
        ))
    };
    grows_linearly("keywords of a schema", tool, v2026_07_28::Tool::from);
    let result = |count| object(&format!(r#"{{"content":[],{}}}"#, many("x", count)));
    grows_linearly("members of a result", result, |result| result_to_v2026_07_28(&result));
}

#[test]
fn the_later_value_of_a_name_takes_the_place_of_the_earlier() {
    let map: Map<u8> = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)].into_iter().collect();
    assert_eq!(map.iter().collect::<Vec<_>>(), [("a", &3), ("b", &5), ("c", &4)]);
}

/// Results and answers with a member of the protocol twice, and the name of that member.
const TWICE: &[(&str, &str)] = &[
    (
        r#"{"content":[],"_meta":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"evil"}}}"#,
        "_meta",
    ),
    (
        r#"{"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"evil"}},"content":[],"_m\u0065ta":{}}"#,
        "_meta",
    ),
    (r#"{"content":[],"structuredContent":{"a":1},"structuredContent":[]}"#, "structuredContent"),
    (r#"{"content":[],"structuredContent":{"a":1},"structuredContent":{"a":2}}"#, "structuredContent"),
    (r#"{"resultType":"complete","resultType":"complete","content":[]}"#, "resultType"),
    (r#"{"content":[],"x":1,"content":[1]}"#, "content"),
    (r#"{"content":[],"isError":true,"isError":false}"#, "isError"),
    (r#"{"action":"accept","action":"decline"}"#, "action"),
    (r#"{"role":"user","role":"assistant","content":[],"model":"m"}"#, "role"),
    (r#"{"role":"user","content":[],"model":"m","model":"n"}"#, "model"),
    (r#"{"role":"user","content":[],"model":"m","stopReason":"a","stopReason":"b"}"#, "stopReason"),
    (r#"{"roots":[],"roots":[]}"#, "roots"),
];

/// How often a name is a member of an object.
fn occurrences(object: &RawObject, name: &str) -> usize {
    let members: v2026_07_28::MetaObject = object.get().unwrap();
    members.extra.iter().filter(|(known, _)| *known == name).count()
}

#[test]
fn a_member_of_the_protocol_that_comes_twice_is_refused() {
    let id = TaskId::new("me");
    for (text, name) in TWICE {
        let result = object(text);
        for error in [
            result_to_v2025_11_25(&result, Some(&id)).unwrap_err(),
            result_to_v2025_11_25(&result, None).unwrap_err(),
            result_to_sep_1686(&result, Some(&id)).unwrap_err(),
            answer_to_v2025_11_25(result.as_json(), &id).unwrap_err(),
            answer_to_sep_1686(result.as_json(), &id).unwrap_err(),
            answer_to_v2026_07_28(&result).unwrap_err(),
        ] {
            assert_eq!((error.path(), error.kind()), (*name, ConvertErrorKind::Malformed), "{text}: {error}");
            assert!(error.to_string().ends_with("the member is there twice"), "{error}");
        }
        let state = State::Completed { result: Some(result) };
        let task = Snapshot::new("t", state, at(CREATED), at(UPDATED), Lifetime::Unlimited);
        let path = format!("result.{name}");
        assert_eq!(task.payload_v2025_11_25().unwrap_err().path(), path);
        assert_eq!(task.payload_sep_1686().unwrap_err().path(), path);
    }
    // What no generation defines is somebody else's, and stays as it is.
    let foreign = object(r#"{"content":[],"x":1,"x":2,"_meta":{"v/k":1,"v/k":2}}"#);
    assert_eq!(result_to_v2025_11_25(&foreign, None).unwrap(), foreign);
    assert_eq!(answer_to_v2026_07_28(&foreign).unwrap().as_str(), r#"{"content":[],"x":1,"x":2}"#);
}

#[test]
fn a_total_conversion_keeps_the_last_of_a_member_that_comes_twice() {
    for (text, name) in TWICE {
        let converted = result_to_v2026_07_28(&object(text));
        assert!(!converted.as_str().contains("evil"), "{text} became {converted}");
        assert!(occurrences(&converted, name) <= 1, "{text} became {converted}");
    }
    let twice = r#"{"content":[1],"x":1,"_meta":{"v/k":1},"content":[2],"x":2,"_meta":{"v/k":2},"resultType":"task"}"#;
    let once = r#"{"resultType":"complete","x":1,"content":[2],"x":2,"_meta":{"v/k":2}}"#;
    assert_eq!(result_to_v2026_07_28(&object(twice)).as_str(), once);
    // `tasks/result` reads `_meta` alone as a member that it knows.
    let payload: v2025_11_25::GetTaskPayloadResult = read(r#"{"content":[1],"content":[2]}"#);
    assert_eq!(Outcome::from(payload), Outcome::Result(object(r#"{"resultType":"complete","content":[2]}"#)));
    // The status says of the same member what the result says.
    for (text, expected) in [
        (r#"{"content":[],"isError":true,"isError":false}"#, false),
        (r#"{"content":[],"isError":false,"isError":true}"#, true),
    ] {
        let state = State::Completed { result: Some(object(text)) };
        assert_eq!(state.is_tool_error(), expected, "{text}");
    }
}

#[test]
fn a_question_with_a_member_twice_is_refused() {
    let id = TaskId::new("t");
    let metas = r#""_meta":{"v/k":1},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"evil"}}"#;
    for params in [
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{}},"#,
        r#"{"mode":"url","message":"m","url":"https://e.com","#,
    ] {
        let entry = format!(r#"{{"method":"elicitation/create","params":{params}{metas}}}}}"#);
        let question: InputRequest = read(&entry);
        let b = question_to_v2025_11_25(question.clone(), 7, &id, Some("e".into())).unwrap_err();
        let a = question_to_sep_1686(question, 7, &id, Some("e".into())).unwrap_err();
        for error in [a, b] {
            assert_eq!((error.path(), error.kind()), ("params._meta", ConvertErrorKind::Malformed));
        }
    }
    let sample =
        format!(r#"{{"method":"sampling/createMessage","params":{{"messages":[],"maxTokens":1,{metas}}}}}"#);
    let error = question_to_v2025_11_25(read(&sample), 7, &id, None).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("params._meta", ConvertErrorKind::Malformed));
    for (member, name) in [(metas, "_meta"), (r#""message":"m","message":"n""#, "message")] {
        let request: sep_1686::JsonRpcRequest = read(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{{"mode":"url","url":"https://e.com","message":"m",{member}}}}}"#
        ));
        let error = question_from_sep_1686(request).unwrap_err();
        assert_eq!(error.path(), format!("params.{name}"), "{error}");
    }
}

#[test]
fn a_call_or_a_tool_with_a_member_twice_is_refused() {
    for (members, name) in [
        (r#""name":"a","name":"b""#, "name"),
        (r#""name":"a","arguments":{},"arguments":{"x":1}"#, "arguments"),
    ] {
        let call: sep_1686::TaskAugmentedRequestParams =
            read(&format!(r#"{{"_meta":{{"modelcontextprotocol.io/task":{{"taskId":"t"}}}},{members}}}"#));
        let error = call_from_sep_1686(call).unwrap_err();
        assert_eq!((error.path(), error.kind()), (name, ConvertErrorKind::Malformed), "{error}");
    }
    for (schema, member) in [
        (r#""properties":{},"properties":{}"#, "properties"),
        (r#""required":[],"required":["a"]"#, "required"),
    ] {
        let tool: v2026_07_28::Tool =
            read(&format!(r#"{{"name":"n","inputSchema":{{"type":"object",{schema}}}}}"#));
        let error = v2025_11_25::Tool::try_from(tool).unwrap_err();
        assert_eq!(error.path(), format!("inputSchema.{member}"), "{error}");
    }
    let tool: v2026_07_28::Tool = read(
        r#"{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"object","type":"array"}}"#,
    );
    let error = v2025_11_25::Tool::try_from(tool).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("outputSchema.type", ConvertErrorKind::Malformed));
}

/// A letter may be written by its number anywhere in a text.
#[test]
fn an_escaped_word_is_the_same_word() {
    let result = object(r#"{"resultType":"compl\u0065te","content":[]}"#);
    assert_eq!(result_to_v2025_11_25(&result, None).unwrap().as_str(), r#"{"content":[]}"#);
    let tool: v2026_07_28::Tool =
        read(r#"{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"obj\u0065ct"}}"#);
    assert!(v2025_11_25::Tool::try_from(tool).is_ok());
}

#[test]
fn trace_context_that_2026_cannot_say_is_refused_and_not_dropped() {
    let convert = |keys: &str, own: &str| {
        let call = read(&format!(r#"{{"name":"n","_meta":{{{keys}}}}}"#));
        call_to_v2026_07_28(call, read(own))
    };
    for (keys, path, kind) in [
        (r#""traceparent":5"#, "_meta.traceparent", ConvertErrorKind::NoCounterpart),
        (r#""tracestate":null"#, "_meta.tracestate", ConvertErrorKind::NoCounterpart),
        (r#""baggage":{}"#, "_meta.baggage", ConvertErrorKind::NoCounterpart),
        (r#""baggage":"a","baggage":"b""#, "_meta.baggage", ConvertErrorKind::Malformed),
    ] {
        let error = convert(keys, OWN).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, kind), "{error}");
    }
    // Where the gateway has a value of its own, nobody looks at the client's.
    let own = format!(r#"{},"traceparent":"own"}}"#, OWN.strip_suffix('}').unwrap());
    assert_eq!(convert(r#""traceparent":5"#, &own).unwrap().meta.traceparent.as_deref(), Some("own"));
}

#[test]
fn a_key_of_somebody_else_that_comes_twice_travels_twice() {
    let keys = r#""v/k":1,"v/k":2"#;
    let b: v2025_11_25::CallToolRequestParams =
        read(&format!(r#"{{"_meta":{{{keys}}},"name":"n","x":1,"x":2}}"#));
    let c = call_to_v2026_07_28(b.clone(), read(OWN)).unwrap();
    assert!(text(&c).contains(keys), "{}", text(&c));
    let back = call_to_v2025_11_25(c, None).unwrap();
    assert_eq!(text(&back), text(&b));
    let a = call_to_sep_1686(b, sep_1686::TaskMetadata::new("t"));
    assert!(text(&a).contains(keys) && text(&a).contains(r#""x":1,"x":2"#), "{}", text(&a));
}

const MOST: u64 = (1 << 53) - 1;

/// A task that runs, with both of its durations.
fn lasting(millis: u64) -> Snapshot {
    let lifetime = Lifetime::FromCreation(millis);
    let mut task = Snapshot::new("t", State::Working, at(CREATED), at(UPDATED), lifetime);
    task.poll_interval = Some(millis);
    task
}

/// Wire shapes, section 0: integers are within what every JSON reader holds.
#[test]
fn no_duration_is_written_that_a_reader_of_json_may_round() {
    let large = lasting(u64::MAX);
    let c = v2026_07_28::GetTaskResult::try_from(large.clone()).unwrap();
    assert_eq!((c.ttl_ms, c.poll_interval_ms), (Some(MOST), Some(MOST)));
    let c = v2026_07_28::CreateTaskResult::from(large.clone());
    assert_eq!((c.ttl_ms, c.poll_interval_ms), (Some(MOST), Some(MOST)));
    let c = large.clone().into_notification(1).unwrap();
    assert_eq!((c.ttl_ms, c.poll_interval_ms), (Some(MOST), Some(MOST)));
    let b = v2025_11_25::Task::from(large.clone());
    assert_eq!((b.ttl, b.poll_interval), (Some(MOST), Some(MOST)));
    let a = large.into_sep_1686(&at(UPDATED));
    assert_eq!((a.keep_alive, a.poll_frequency), (Some(MOST), Some(MOST)));
    let wish = read::<v2025_11_25::TaskMetadata>(r#"{"ttl":18446744073709551615}"#);
    assert_eq!(wish_to_sep_1686(wish, "t").keep_alive, Some(MOST));
}

/// Wire shapes, section 3.4: both durations of a task are positive. A task without time is over at once, so it has the
/// shortest that there is; a poller without interval chooses its own.
#[test]
fn no_duration_of_zero_is_written() {
    let none = lasting(0);
    let c = v2026_07_28::GetTaskResult::try_from(none.clone()).unwrap();
    assert_eq!((c.ttl_ms, c.poll_interval_ms), (Some(1), None));
    let c = v2026_07_28::CreateTaskResult::from(none.clone());
    assert_eq!((c.ttl_ms, c.poll_interval_ms), (Some(1), None));
    let b = v2025_11_25::Task::from(none.clone());
    assert_eq!((b.ttl, b.poll_interval), (Some(1), None));
    // What is left of a lifetime may be nothing (section 5.2).
    let a = none.into_sep_1686(&at(UPDATED));
    assert_eq!((a.keep_alive, a.poll_frequency), (Some(0), None));
    let ended = Lifetime::FromEnd(0);
    assert_eq!(ended.ttl(&at(CREATED), Some(&at(CREATED))), Some(1));
}
