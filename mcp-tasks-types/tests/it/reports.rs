//! Public reports of faults in wire types, each as a small test (`P` ids, docs/conformance.md).

use std::fs;

use mcp_tasks_types::v2026_07_28::{
    CallToolResponse, ElicitRequestFormParams, GetTaskResult, PrimitiveSchemaDefinition,
};
use mcp_tasks_types::{RawJson, from_str, to_string, v2025_11_25};

use serde_json::Value;

use crate::{package, read, read_as, round_trip};

const TASK: &str = r#""taskId":"t-7","status":"working","createdAt":"2026-08-01T00:00:00Z","lastUpdatedAt":"2026-08-01T00:00:00Z","ttlMs":60000"#;

#[test]
fn p006_a_handle_without_its_discriminator_is_no_empty_success() {
    let handle: CallToolResponse = from_str(&format!(r#"{{"resultType":"task",{TASK}}}"#)).unwrap();
    assert!(matches!(handle, CallToolResponse::Task(_)), "{handle:?}");
    let error = from_str::<CallToolResponse>(&format!("{{{TASK}}}")).unwrap_err().to_string();
    assert!(error.contains("`content`"), "{error}");
    let error = from_str::<CallToolResponse>(&format!(r#"{{"resultType":"stream",{TASK}}}"#)).unwrap_err();
    assert!(error.to_string().contains("stream"), "{error}");
    // The discriminator alone decides what it is; a fault elsewhere is told as the fault that it is.
    for (from, to, path, reason) in [
        ("\"working\"", "\"paused\"", "status", "unknown variant `paused`"),
        ("\"working\"", "7", "status", "invalid type: integer `7`"),
        (r#""status":"working","#, "", "", "missing field `status`"),
    ] {
        let text = format!(r#"{{"resultType":"task",{TASK}}}"#).replace(from, to);
        let error = from_str::<CallToolResponse>(&text).unwrap_err();
        assert!(error.path() == path && error.reason().contains(reason), "{error}");
    }
}

/// The types' half: a legacy answer that holds a task is one, and no member is lost beside it.
#[test]
fn p012_a_legacy_call_may_be_answered_with_a_task() {
    let task = r#""task":{"taskId":"t-1","status":"working","createdAt":"2026-08-01T00:00:00Z","lastUpdatedAt":"2026-08-01T00:00:00Z","ttl":60000}"#;
    let created = format!("{{{task}}}");
    let response: v2025_11_25::CallToolResponse = from_str(&created).unwrap();
    assert!(matches!(response, v2025_11_25::CallToolResponse::Task(_)), "{response:?}");
    assert_eq!(to_string(&response).unwrap(), created);
    let both = format!(r#"{{"content":[],{task}}}"#);
    let response: v2025_11_25::CallToolResponse = from_str(&both).unwrap();
    let written = RawJson::new(&response).unwrap();
    assert!(written.json_eq(&RawJson::from_text(&both).unwrap()), "{written}");
}

#[test]
fn p016_invented_statuses_and_members_are_refused_by_the_names_of_the_real_ones() {
    for status in ["pending", "running", "canceled", "Working"] {
        let error = read("TaskStatus", &format!(r#""{status}""#)).unwrap_err();
        for known in ["working", "input_required", "completed", "failed", "cancelled"] {
            assert!(error.contains(known), "{error}");
        }
    }
    assert_eq!(read("TaskStatus", r#""working""#).unwrap(), r#""working""#);
    let error = read("Task", r#"{"id":"t-1","state":"working"}"#).unwrap_err();
    assert!(error.contains("taskId"), "{error}");
}

#[test]
fn p021_each_field_of_a_form_is_of_its_own_kind() {
    let text = r#"{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean","default":true},"n":{"type":"integer","minimum":1},"c":{"type":"string","enum":["a","b"]}}}}"#;
    let form: ElicitRequestFormParams = from_str(text).unwrap();
    let fields = &form.requested_schema.properties;
    assert!(matches!(fields.get("ok"), Some(PrimitiveSchemaDefinition::Boolean(_))));
    assert!(matches!(fields.get("n"), Some(PrimitiveSchemaDefinition::Number(_))));
    assert!(matches!(fields.get("c"), Some(PrimitiveSchemaDefinition::Enum(_))));
    assert_eq!(to_string(&form).unwrap(), text);
    let error = read("PrimitiveSchemaDefinition", r#"{"type":"array"}"#).unwrap_err();
    assert!(error.contains("items"), "{error}");
}

#[test]
fn p022_an_annotation_that_nobody_knows_costs_no_result() {
    let result =
        r#"{"content":[{"type":"text","text":"ok","annotations":{"audience":["system"]}}],"isError":false}"#;
    let task =
        format!(r#"{{"resultType":"complete",{},"result":{result}}}"#, TASK.replace("working", "completed"));
    let task: GetTaskResult = from_str(&task).unwrap();
    assert!(to_string(&task).unwrap().contains(result));
    let error = read("CallToolResult", &result.replacen('{', r#"{"resultType":"complete","#, 1)).unwrap_err();
    assert!(error.contains("content[0].annotations.audience[0]"), "{error}");
}

/// The types' half: capabilities of the older revision keep their levels.
#[test]
fn p024_nested_capabilities_are_nested() {
    let client = r#"{"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}"#;
    let server = r#"{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    for (name, text) in [("ClientCapabilities", client), ("ServerCapabilities", server)] {
        assert_eq!(read_as("2025-11-25", name, text).unwrap(), text);
    }
    let calls = v2025_11_25::ToolsTasksCapability::new().with_call(v2025_11_25::CapabilitySettings::new());
    let requests = v2025_11_25::ServerTaskRequestsCapability::new().with_tools(calls);
    assert_eq!(to_string(&requests).unwrap(), r#"{"tools":{"call":{}}}"#);
}

/// The types' half: what is no number of milliseconds is refused, and none is too large to be read.
#[test]
fn p065_a_wished_lifetime_is_a_whole_number_that_is_not_negative() {
    for (ttl, fits) in [
        ("60000", true),
        ("0", true),
        ("18446744073709551615", true),
        ("-5", false),
        ("1.5", false),
        ("18446744073709551616", false),
        ("\"60000\"", false),
        ("true", false),
    ] {
        let text = format!(r#"{{"name":"n","task":{{"ttl":{ttl}}}}}"#);
        let read = from_str::<v2025_11_25::CallToolRequestParams>(&text);
        match read {
            Ok(params) => {
                assert!(fits, "{text}");
                assert_eq!(to_string(&params).unwrap(), text);
            }
            Err(error) => assert!(!fits && error.path() == "task.ttl", "{text}: {error}"),
        }
    }
    // No limit is wished for by saying nothing, and null says as much.
    for task in [r#"{"ttl":null}"#, "{}"] {
        let text = format!(r#"{{"name":"n","task":{task}}}"#);
        let params: v2025_11_25::CallToolRequestParams = from_str(&text).unwrap();
        assert!(params.task.unwrap().ttl.is_none());
    }
}

/// The types' half: a gateway gives a task another id and touches nothing else.
#[test]
fn p084_a_task_gets_another_id_and_keeps_everything_else_as_it_is_written() {
    let meta = r#""_meta":{"example.com/taskId":"1","n":1.0}"#;
    let base = r#""createdAt":"2026-08-01T00:00:00+00:00","lastUpdatedAt":"2026-08-01T00:00:00.50Z","ttlMs":null,"x":[1.50]"#;
    let question = r#"{"1":{"method":"elicitation/create","params":{"mode":"form","message":"1","requestedSchema":{"type":"object","properties":{}},"y":1e2}}}"#;
    for own in [
        r#""status":"completed","result":{"content":[{"type":"text","text":"1"}],"taskId":"1","n":1.0}"#
            .to_owned(),
        format!(r#""status":"input_required","inputRequests":{question}"#),
        r#""status":"failed","error":{"code":-1,"message":"1","data":{"taskId":"1","n":1.0}}"#.to_owned(),
    ] {
        let text = |id: &str| format!(r#"{{"resultType":"complete",{meta},"taskId":"{id}",{base},{own}}}"#);
        let mut task: GetTaskResult = from_str(&text("1")).unwrap();
        task.task_id = "outer-1".into();
        let (written, wanted) = (RawJson::new(&task).unwrap(), text("outer-1"));
        assert!(written.json_eq(&RawJson::from_text(&wanted).unwrap()), "{written}\n{wanted}");
        for literal in ["1.0", "1.50", "2026-08-01T00:00:00+00:00", "2026-08-01T00:00:00.50Z"] {
            let count = |text: &str| text.matches(literal).count();
            assert_eq!(count(written.as_str()), count(&wanted), "{literal}: {written}");
        }
    }
}

#[test]
fn p117_a_state_without_its_payload_is_named_and_not_lost_among_variants() {
    let text = format!(r#"{{"resultType":"complete",{}}}"#, TASK.replace("working", "completed"));
    let error = from_str::<GetTaskResult>(&text).unwrap_err().to_string();
    assert!(error.starts_with("missing field `result`, since `status` is `completed`"), "{error}");
}

#[test]
fn p118_numbers_of_ids_and_progress_come_back_as_the_text_that_came() {
    for id in ["1", r#""1""#, "9007199254740993", "-5"] {
        assert_eq!(read("RequestId", id).unwrap(), id);
        assert_eq!(read("ProgressToken", id).unwrap(), id);
    }
    for progress in ["1", "1.5", "0.3", "9007199254740993", "1e2"] {
        let text = format!(r#"{{"progressToken":1,"progress":{progress}}}"#);
        assert_eq!(read("ProgressNotificationParams", &text).unwrap(), text);
    }
}

#[test]
fn p123_a_creation_result_is_read_as_result_and_task_at_once() {
    let text = format!(r#"{{"resultType":"task",{},"_meta":{{}}}}"#, TASK.replace("60000", "null"));
    let written = RawJson::from_text(read("CreateTaskResult", &text).unwrap()).unwrap();
    assert!(written.json_eq(&RawJson::from_text(&text).unwrap()), "{written}");
    let error = read("CreateTaskResult", &text.replace(r#""resultType":"task","#, "")).unwrap_err();
    assert!(error.contains("resultType"), "{error}");
    let error = read("CreateTaskResult", &text.replace("null", "1.5")).unwrap_err();
    assert!(error.contains("ttlMs"), "{error}");
}

#[test]
fn p125_every_message_type_has_the_method_that_its_schema_says() {
    let mut found = 0;
    for (generation, bundle) in [
        ("2026-07-28", include_str!("../../src/generated/v2026_07_28.schema.json")),
        ("2025-11-25", include_str!("../../src/generated/v2025_11_25.schema.json")),
        ("sep-1686", include_str!("../../src/generated/sep_1686.schema.json")),
    ] {
        let bundle: Value = from_str(bundle).unwrap();
        let samples = package().join("../samples").join(generation).join("accept.jsonl");
        for sample in fs::read_to_string(samples).unwrap().lines() {
            let sample: Value = from_str(sample).unwrap();
            let name = sample["type"].as_str().unwrap();
            let Some(method) = bundle["$defs"][name].pointer("/properties/method/const") else { continue };
            let round_trip = round_trip(generation, name).unwrap();
            let mut value = sample["value"].clone();
            let written: Value = round_trip(&RawJson::new(&value).unwrap()).unwrap().get().unwrap();
            assert_eq!(written["method"], *method, "{generation} {name}");
            value["method"] = "another/method".into();
            assert!(round_trip(&RawJson::new(&value).unwrap()).is_err(), "{generation} {name}");
            found += 1;
        }
    }
    assert!(found > 60, "{found} messages");
}

#[test]
fn p126_numbers_may_be_fractions_and_lifetimes_may_not() {
    for (name, text) in [
        ("NumberSchema", r#"{"type":"number","default":1.25,"minimum":0.5}"#),
        ("ProgressNotificationParams", r#"{"progressToken":1,"progress":0.3}"#),
    ] {
        for generation in ["2026-07-28", "2025-11-25"] {
            let written: Value = from_str(&read_as(generation, name, text).unwrap()).unwrap();
            assert_eq!(written, from_str::<Value>(text).unwrap());
        }
    }
    let text = format!(r#"{{"resultType":"complete",{}}}"#, TASK.replace("60000", "1.5"));
    assert!(from_str::<GetTaskResult>(&text).unwrap_err().to_string().contains("ttlMs"));
}

#[test]
fn p127_an_empty_answer_is_the_empty_answer_of_its_request() {
    for name in ["CancelTaskResult", "UpdateTaskResult"] {
        for text in ["{}", r#"{"resultType":"complete"}"#] {
            assert_eq!(read(name, text).unwrap(), r#"{"resultType":"complete"}"#, "{name} of {text}");
        }
        let more = r#"{"resultType":"complete","com.example/x":[1]}"#;
        assert_eq!(read(name, more).unwrap(), more);
    }
}
