//! What a type does not know it keeps, and what it knows it writes as the protocol wants it.

use mcp_tasks_types::v2026_07_28::{GetTaskResult, JsonRpcRequest, RequestId, TaskState};
use mcp_tasks_types::{Extra, Map, RawJson, RawObject, Timestamp, from_str, to_string};

use crate::read;

const REST: &str = r#""taskId":"t","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":900000"#;

/// C-11: result objects are open maps.
#[test]
fn unknown_members_are_written_back_in_their_order_and_as_their_text() {
    let text = format!(
        r#"{{"resultType":"complete",{REST},"status":"working","z":1.0,"a":{{"b":1e2,"b":2}},"z":"again"}}"#
    );
    assert_eq!(read("GetTaskResult", &text).unwrap(), text);
}

/// C-05: objects are open, so a payload of another state is no error; it is kept and never taken for the state's own.
#[test]
fn a_payload_of_another_state_is_kept_aside() {
    for payload in [r#""result":{"a":1}"#, r#""result":null"#, r#""error":"text""#, r#""inputRequests":[1]"#]
    {
        let text = format!(r#"{{"resultType":"complete",{REST},"status":"working",{payload}}}"#);
        let task: GetTaskResult = from_str(&text).unwrap();
        assert_eq!(task.state, TaskState::Working);
        assert_eq!(to_string(&task).unwrap(), text);
        let before = format!(r#"{{"resultType":"complete",{payload},{REST},"status":"working"}}"#);
        assert_eq!(read("GetTaskResult", &before).unwrap(), text);
    }
}

#[test]
fn a_payload_kept_aside_gives_way_when_the_state_gets_its_own() {
    let text = format!(r#"{{"resultType":"complete",{REST},"status":"working","result":{{"stray":1}}}}"#);
    let mut task: GetTaskResult = from_str(&text).unwrap();
    task.state = TaskState::Completed { result: RawObject::empty() };
    let written = to_string(&task).unwrap();
    assert!(written.ends_with(r#""status":"completed","result":{}}"#), "{written}");
}

/// C-01: required and nullable.
#[test]
fn an_unlimited_lifetime_is_written_as_null_and_an_absent_interval_is_not_written() {
    let now = Timestamp::from_unix_millis(0);
    let task = GetTaskResult::new("t", now.clone(), now, None, TaskState::Working);
    assert_eq!(
        to_string(&task).unwrap(),
        r#"{"resultType":"complete","taskId":"t","createdAt":"1970-01-01T00:00:00Z","lastUpdatedAt":"1970-01-01T00:00:00Z","ttlMs":null,"status":"working"}"#
    );
}

/// X-19: an absent result type counts as `complete`.
#[test]
fn an_absent_result_type_is_read_and_written_as_complete() {
    let text = format!(r#"{{{REST},"status":"working"}}"#);
    assert!(read("GetTaskResult", &text).unwrap().starts_with(r#"{"resultType":"complete","#));
}

#[test]
fn times_are_written_back_letter_for_letter_and_whole_numbers_in_any_spelling_are_read() {
    let text = format!(r#"{{"resultType":"complete",{REST},"status":"working"}}"#)
        .replacen("10:30:00Z", "12:30:00.1200+02:00", 1)
        .replace("900000", "9e5");
    let written = read("GetTaskResult", &text).unwrap();
    assert!(
        written.contains("2026-08-21T12:30:00.1200+02:00") && written.contains(r#""ttlMs":900000,"#),
        "{written}"
    );
}

#[test]
fn null_for_an_optional_member_is_tolerated_on_reading() {
    let text = format!(
        r#"{{"resultType":"complete",{REST},"statusMessage":null,"pollIntervalMs":null,"status":"working"}}"#
    );
    assert!(!read("GetTaskResult", &text).unwrap().contains("null"));
}

/// X-04: the id of an answer has the JSON type of the request's.
#[test]
fn request_ids_keep_their_kind() {
    for (text, id) in [
        ("\"7\"", RequestId::from("7")),
        ("0", RequestId::Integer(0)),
        ("1.0", RequestId::Integer(1)),
        ("-9007199254740991", RequestId::Integer(-9_007_199_254_740_991)),
    ] {
        let request: JsonRpcRequest =
            from_str(&format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"tasks/get"}}"#)).unwrap();
        assert_eq!(request.id, id);
    }
}

#[test]
fn a_structured_result_of_null_is_a_result() {
    let text = r#"{"resultType":"complete","content":[],"structuredContent":null}"#;
    assert_eq!(read("CallToolResult", text).unwrap(), text);
}

#[test]
fn empty_lists_and_objects_are_not_lost() {
    for (name, text) in [
        ("ClientCapabilities", r#"{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{}}"#),
        ("SubscriptionFilter", r#"{"taskIds":[]}"#),
        ("Implementation", r#"{"name":"n","version":"1","icons":[]}"#),
    ] {
        let written = RawJson::from_text(read(name, text).unwrap()).unwrap();
        assert!(written.json_eq(&RawJson::from_text(text).unwrap()), "{written}");
    }
}

#[test]
fn line_breaks_in_a_payload_do_not_reach_the_wire() {
    let text = format!(
        "{{\"resultType\":\"complete\",{REST},\"status\":\"completed\",\"result\":{{\n\"a\":\r\n1}}}}"
    );
    let task: GetTaskResult = from_str(&text).unwrap();
    assert!(!to_string(&task).unwrap().contains(['\n', '\r']));
}

#[test]
fn numbers_of_forms_and_answers_keep_their_spelling() {
    for (name, text) in [
        ("ElicitResult", r#"{"action":"accept","content":{"a":5,"b":5.0,"c":9007199254740993,"d":1e2}}"#),
        ("NumberSchema", r#"{"type":"integer","minimum":1,"maximum":123456789012345678901234567890}"#),
        ("Annotations", r#"{"priority":0.50}"#),
    ] {
        assert_eq!(read(name, text).unwrap(), text);
    }
}

#[test]
fn unknown_members_are_appended_taken_out_and_sifted() {
    let raw = |text: &str| RawJson::from_text(text).unwrap();
    let mut extra: Extra = [("a", raw("1")), ("b", raw("2")), ("a", raw("3"))].into_iter().collect();
    extra.push("b", raw("4"));
    let names = |extra: &Extra| {
        extra.iter().map(|(name, value)| format!("{name}{value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&extra), "a1 b2 a3 b4");
    assert_eq!(extra.remove("a"), Some(raw("1")));
    assert_eq!(extra.remove("a"), None);
    assert_eq!(names(&extra), "b2 b4");
    extra.extend([("c", raw("5"))]);
    extra.retain(|_, value| value.as_str() != "2");
    assert_eq!(extra.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "c"]);
    let mut map: Map<u8> = [("a", 1), ("b", 2)].into_iter().collect();
    *map.get_mut("b").unwrap() += 1;
    assert_eq!((map.remove("a"), map.remove("a"), map.get_mut("a")), (Some(1), None, None));
    map.retain(|_, value| *value == 0);
    assert!(map.is_empty());
}

/// A type's own member has its name to itself.
#[test]
fn an_unknown_member_with_the_name_of_a_known_one_is_not_written() {
    let text = format!(r#"{{"resultType":"complete",{REST},"status":"working"}}"#);
    let mut task: GetTaskResult = from_str(&text).unwrap();
    for name in ["taskId", "statusMessage", "status", "resultType"] {
        task.extra.push(name, RawJson::null());
    }
    assert_eq!(to_string(&task).unwrap(), text);
}
