//! The two older generations: what sets their shapes apart from 2026-07-28, and from each other.

use mcp_tasks_types::v2025_11_25::{
    CallToolResponse, CapabilityMark, CapabilitySettings, CreateMessageResponse, ElicitResponse,
    ServerTasksCapability,
};
use mcp_tasks_types::{from_str, sep_1686, to_string, v2025_11_25, v2026_07_28};

use crate::read_as;

const CORE: &str = "2025-11-25";
const PROPOSAL: &str = "sep-1686";
const TASK: &str = r#""taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":60000"#;

fn refused(generation: &str, name: &str, text: &str, reason: &str) {
    let error = read_as(generation, name, text).expect_err(text);
    assert!(error.contains(reason), "{text}\n{error}");
}

/// A-01.
#[test]
fn a_task_id_is_text() {
    refused(
        PROPOSAL,
        "TaskAugmentedRequestParams",
        r#"{"_meta":{"modelcontextprotocol.io/task":{"taskId":7}}}"#,
        r#"`_meta["modelcontextprotocol.io/task"].taskId`: invalid type: integer `7`, expected a string"#,
    );
}

/// A-02: an absent wish stays absent.
#[test]
fn a_wish_without_a_lifetime_stays_without_one() {
    for text in [r#"{"taskId":"t"}"#, r#"{"taskId":"t","keepAlive":60000}"#] {
        assert_eq!(read_as(PROPOSAL, "TaskMetadata", text).unwrap(), text);
    }
}

/// A-03, A-44: the lifetime is always there, a number of milliseconds or null.
#[test]
fn a_lifetime_of_the_proposal_is_a_number_or_null() {
    let task = |keep: &str| format!(r#"{{"taskId":"t","status":"working"{keep}}}"#);
    for (sent, written) in [
        ("null", "null"),
        ("0", "0"),
        ("30000", "30000"),
        ("30000.0", "30000"),
        ("0.25", "1"),
        ("2999.5", "3000"),
        ("3e4", "30000"),
    ] {
        assert_eq!(
            read_as(PROPOSAL, "GetTaskResult", &task(&format!(r#","keepAlive":{sent}"#))).unwrap(),
            task(&format!(r#","keepAlive":{written}"#))
        );
    }
    refused(PROPOSAL, "TaskInfo", &task(""), "missing field `keepAlive`");
    for keep in ["-1", "-0.5", "\"30000\"", "true"] {
        let text = task(&format!(r#","keepAlive":{keep}"#));
        refused(PROPOSAL, "TaskInfo", &text, "expected a number of milliseconds that is not negative");
    }
    // The later revisions have integers.
    refused(CORE, "Task", &format!("{{{}}}", TASK.replace("60000", "0.5")), "floating point `0.5`");
}

/// A-04: the error of a failed task is text, not an error object.
#[test]
fn an_error_of_the_proposal_is_text() {
    let task =
        |error: &str| format!(r#"{{"taskId":"t","status":"failed","keepAlive":null,"error":{error}}}"#);
    assert_eq!(read_as(PROPOSAL, "TaskInfo", &task("\"e\"")).unwrap(), task("\"e\""));
    refused(PROPOSAL, "TaskInfo", &task(r#"{"code":-32603,"message":"m"}"#), "expected a string");
}

/// A-07, B-05: seven statuses and five, and no other word.
#[test]
fn each_generation_has_its_statuses() {
    let words = |list: &[&str]| list.join(" ");
    let proposal: Vec<_> = sep_1686::TaskStatus::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(words(&proposal), "submitted working input_required completed failed cancelled unknown");
    let core: Vec<_> = v2025_11_25::TaskStatus::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(words(&core), "working input_required completed failed cancelled");
    refused(CORE, "TaskStatus", "\"submitted\"", "unknown variant `submitted`");
    refused(PROPOSAL, "TaskStatus", "\"canceled\"", "unknown variant `canceled`");
}

/// B-01: a missing lifetime is an error, one without limit is written.
#[test]
fn a_lifetime_of_the_core_is_an_integer_or_null() {
    refused(CORE, "Task", &format!("{{{}}}", TASK.replace(r#","ttl":60000"#, "")), "missing field `ttl`");
    let endless = format!("{{{}}}", TASK.replace("60000", "null"));
    assert_eq!(read_as(CORE, "Task", &endless).unwrap(), endless);
}

/// B-02, B-03: nested at creation, flat everywhere else.
#[test]
fn a_created_task_is_nested_and_a_looked_up_one_is_flat() {
    refused(CORE, "CreateTaskResult", &format!("{{{TASK}}}"), "missing field `task`");
    for name in ["GetTaskResult", "CancelTaskResult", "TaskStatusNotificationParams"] {
        refused(CORE, name, &format!(r#"{{"task":{{{TASK}}}}}"#), "missing field `taskId`");
        assert_eq!(read_as(CORE, name, &format!("{{{TASK}}}")).unwrap(), format!("{{{TASK}}}"));
    }
    // 2026-07-28 wants its own members and says which.
    refused(
        "2026-07-28",
        "CreateTaskResult",
        &format!(r#"{{"task":{{{TASK}}}}}"#),
        "missing field `resultType`",
    );
}

/// B-30: an answer to a request that may become a task is told by its `task`.
#[test]
fn an_answer_is_a_task_or_the_result_itself() {
    let task = format!(r#"{{"task":{{{TASK}}}}}"#);
    assert!(matches!(from_str(&task), Ok(CallToolResponse::Task(_))));
    assert!(matches!(from_str(&task), Ok(CreateMessageResponse::Task(_))));
    assert!(matches!(from_str(&task), Ok(ElicitResponse::Task(_))));
    assert!(matches!(from_str(r#"{"content":[]}"#), Ok(CallToolResponse::Complete(_))));
    assert!(matches!(from_str(r#"{"action":"cancel"}"#), Ok(ElicitResponse::Complete(_))));
    let flat = format!("{{{TASK}}}");
    assert!(from_str::<CallToolResponse>(&flat).unwrap_err().to_string().contains("missing field `content`"));
}

/// B-12: `{}` is what we write, and `true` is understood.
#[test]
fn support_is_an_object_or_a_boolean() {
    let text = r#"{"list":{},"cancel":true,"requests":{"tools":{"call":{"x":1.50}}}}"#;
    let tasks: ServerTasksCapability = from_str(text).unwrap();
    assert_eq!(tasks.list, Some(CapabilityMark::Settings(CapabilitySettings::new())));
    assert_eq!(tasks.cancel, Some(CapabilityMark::Boolean(true)));
    assert_eq!(to_string(&tasks).unwrap(), text);
    let ours = ServerTasksCapability::new().with_cancel(CapabilitySettings::new());
    assert_eq!(to_string(&ours).unwrap(), r#"{"cancel":{}}"#);
    refused(CORE, "ServerTasksCapability", r#"{"list":7}"#, "`list`: ");
}

/// B-06, B-09, A-09: one key each, never the other's.
#[test]
fn the_related_task_has_the_key_of_its_generation() {
    assert_eq!(v2025_11_25::meta_key::RELATED_TASK, "io.modelcontextprotocol/related-task");
    assert_eq!(sep_1686::meta_key::RELATED_TASK, "modelcontextprotocol.io/related-task");
    let text = r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#;
    let result: v2025_11_25::GetTaskPayloadResult = from_str(text).unwrap();
    assert_eq!(result.meta.unwrap().related_task.unwrap().task_id.as_str(), "t");
    let result: sep_1686::GetTaskPayloadResult = from_str(text).unwrap();
    assert_eq!(to_string(&result).unwrap(), text);
    assert!(result.meta.unwrap().related_task.is_none());
}

#[test]
fn the_payload_of_a_task_is_kept_as_it_came() {
    let text = r#"{"content":[{"type":"text","text":"a"}],"isError":false,"n":1.50}"#;
    assert_eq!(read_as(CORE, "GetTaskPayloadResult", text).unwrap(), text);
    assert_eq!(read_as(PROPOSAL, "GetTaskPayloadResult", text).unwrap(), text);
}

#[test]
fn only_a_revision_has_a_version() {
    assert_eq!(v2025_11_25::PROTOCOL_VERSION, "2025-11-25");
    assert_eq!(v2026_07_28::PROTOCOL_VERSION, "2026-07-28");
}

/// The error that this revision alone has.
#[test]
fn a_demand_to_visit_an_address_carries_the_addresses() {
    let data =
        r#"{"elicitations":[{"mode":"url","message":"m","elicitationId":"e","url":"https://example.com"}]}"#;
    let code = v2025_11_25::ErrorCode::from_code(-32042);
    assert_eq!(code, v2025_11_25::ErrorCode::UrlElicitationRequired);
    let raw = mcp_tasks_types::RawJson::from_text(data).unwrap();
    let decoded = v2025_11_25::ErrorCodeData::decode(code, &raw).unwrap();
    assert!(matches!(decoded, v2025_11_25::ErrorCodeData::UrlElicitationRequired(_)));
    refused(
        CORE,
        "URLElicitationRequiredErrorData",
        &data.replace(r#""elicitationId":"e","#, ""),
        "missing field `elicitationId`",
    );
}
