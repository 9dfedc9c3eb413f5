//! Progress, log messages and cancellations; capabilities; pages of lists.

use mcp_tasks_types::convert::{
    ConvertErrorKind, cancel_to_sep_1686, list_from_sep_1686, list_to_sep_1686, tasks_extension,
    tools_to_v2026_07_28,
};
use mcp_tasks_types::{RawJson, TaskId, sep_1686, v2025_11_25, v2026_07_28};

use super::{CREATED, UPDATED, at, read, refusal, text};

const B_TIED: &str = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"v/k":1.0}"#;
const A_TIED: &str = r#""_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"},"v/k":1.0}"#;
const LISTENING: &str = r#""_meta":{"io.modelcontextprotocol/subscriptionId":1,"v/k":1.0}"#;
const PLAIN: &str = r#""_meta":{"v/k":1.0}"#;

const PROGRESS: &str = r#""progressToken":"p","progress":0.50,"total":1e2,"message":"m","x":1.0"#;
const LOG: &str = r#""level":"warning","logger":"l","data":{"z":1.0},"x":1.0"#;

#[test]
fn progress_and_log_messages_keep_their_text() {
    let c: v2026_07_28::ProgressNotificationParams = read(&format!("{{{LISTENING},{PROGRESS}}}"));
    let b = v2025_11_25::ProgressNotificationParams::from(c);
    assert_eq!(text(&b), format!("{{{PLAIN},{PROGRESS}}}"));
    let c = v2026_07_28::ProgressNotificationParams::try_from(b).unwrap();
    assert_eq!(text(&c), format!("{{{PLAIN},{PROGRESS}}}"));

    let c: v2026_07_28::LoggingMessageNotificationParams = read(&format!("{{{LISTENING},{LOG}}}"));
    let b = v2025_11_25::LoggingMessageNotificationParams::from(c);
    assert_eq!(text(&b), format!("{{{PLAIN},{LOG}}}"));
    let c = v2026_07_28::LoggingMessageNotificationParams::try_from(b).unwrap();
    assert_eq!(text(&c), format!("{{{PLAIN},{LOG}}}"));

    // An emptied `_meta` goes.
    let emptied = r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"progressToken":1,"progress":1}"#;
    let c: v2026_07_28::ProgressNotificationParams = read(emptied);
    let b = v2025_11_25::ProgressNotificationParams::from(c);
    assert_eq!(text(&b), r#"{"progressToken":1,"progress":1}"#);
}

/// C-87: 2026-07-28 has neither progress nor log messages of tasks.
#[test]
fn what_a_task_reports_has_no_place_in_2026() {
    for (meta, path) in [
        (B_TIED, "_meta.io.modelcontextprotocol/related-task"),
        (A_TIED, "_meta.modelcontextprotocol.io/related-task"),
    ] {
        let b: v2025_11_25::ProgressNotificationParams = read(&format!("{{{meta},{PROGRESS}}}"));
        let error = v2026_07_28::ProgressNotificationParams::try_from(b).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, ConvertErrorKind::NoCounterpart));
        let b: v2025_11_25::LoggingMessageNotificationParams = read(&format!("{{{meta},{LOG}}}"));
        let error = v2026_07_28::LoggingMessageNotificationParams::try_from(b).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, ConvertErrorKind::NoCounterpart));
    }
}

#[test]
fn a_cancellation_keeps_its_request_and_reason() {
    const REST: &str = r#""requestId":7,"reason":"r","x":1.0"#;
    let c: v2026_07_28::CancelledNotificationParams = read(&format!("{{{LISTENING},{REST}}}"));
    let expected = format!("{{{PLAIN},{REST}}}");
    let b = v2025_11_25::CancelledNotificationParams::from(c.clone());
    assert_eq!(text(&b), expected);
    let a = sep_1686::CancelledNotificationParams::from(c);
    assert_eq!(text(&a), expected);
    assert_eq!(text(&v2026_07_28::CancelledNotificationParams::try_from(b.clone()).unwrap()), expected);
    assert_eq!(text(&v2026_07_28::CancelledNotificationParams::try_from(a.clone()).unwrap()), expected);
    assert_eq!(text(&sep_1686::CancelledNotificationParams::try_from(b).unwrap()), expected);
    assert_eq!(text(&v2025_11_25::CancelledNotificationParams::try_from(a).unwrap()), expected);
}

#[test]
fn a_cancellation_without_a_request_has_no_other_form() {
    let b: v2025_11_25::CancelledNotificationParams = read(r#"{"reason":"r"}"#);
    let error = v2026_07_28::CancelledNotificationParams::try_from(b.clone()).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("requestId", ConvertErrorKind::Missing));
    let error = sep_1686::CancelledNotificationParams::try_from(b).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("requestId", ConvertErrorKind::Missing));
}

/// Section 5.3, cancel: by notification in SEP-1686, by `tasks/cancel` in the others; A-09, A-36, B-53, C-72.
#[test]
fn a_task_is_cancelled_by_notification_in_the_proposal_alone() {
    let a = cancel_to_sep_1686(&TaskId::new("t"), "q");
    let tied = r#"{"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"}},"requestId":"q"}"#;
    assert_eq!(text(&a), tied);
    let path = "_meta.modelcontextprotocol.io/related-task";
    let error = v2025_11_25::CancelledNotificationParams::try_from(a.clone()).unwrap_err();
    assert_eq!((error.path(), error.kind()), (path, ConvertErrorKind::NoCounterpart));
    let error = v2026_07_28::CancelledNotificationParams::try_from(a).unwrap_err();
    assert_eq!((error.path(), error.kind()), (path, ConvertErrorKind::NoCounterpart));
    // A nested request of 2025-11-25 is one of SEP-1686 as well, and none of 2026-07-28.
    let b: v2025_11_25::CancelledNotificationParams = read(&format!(r#"{{{B_TIED},"requestId":"q"}}"#));
    let a = sep_1686::CancelledNotificationParams::try_from(b.clone()).unwrap();
    assert_eq!(text(&a), format!(r#"{{{A_TIED},"requestId":"q"}}"#));
    let error = v2026_07_28::CancelledNotificationParams::try_from(b).unwrap_err();
    assert_eq!(error.path(), "_meta.io.modelcontextprotocol/related-task");
}

/// B-12, C-17, C-27: `capabilities.tasks` there, an extension here, never both.
#[test]
fn a_server_declares_tasks_where_its_generation_looks() {
    let rest = r#""tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"completions":{"y":1.0},"logging":{},"experimental":{"e":{}},"x":1.0"#;
    let b: v2025_11_25::ServerCapabilities = read(&format!(
        r#"{{"tasks":{{"list":{{}},"cancel":{{}},"requests":{{"tools":{{"call":{{}}}}}}}},{rest},"extensions":{{"v/e":{{}}}}}}"#
    ));
    let c = v2026_07_28::ServerCapabilities::from(b);
    assert_eq!(text(&c), format!(r#"{{"extensions":{{"io.modelcontextprotocol/tasks":{{}}}},{rest}}}"#));
    let b = v2025_11_25::ServerCapabilities::from(c);
    // A list needs an index, which the gateway adds if it keeps one.
    let without_list = r#"{"cancel":{},"requests":{"tools":{"call":{}}}}"#;
    assert_eq!(text(&b), format!(r#"{{"tasks":{without_list},{rest}}}"#));

    let declares = |tasks: &str| {
        let b: v2025_11_25::ServerCapabilities = read(&format!(r#"{{"tasks":{tasks}}}"#));
        v2026_07_28::ServerCapabilities::from(b).extensions.is_some_and(|known| known.tasks.is_some())
    };
    assert!(declares(r#"{"requests":{"tools":{"call":true}}}"#));
    for other in ["{}", r#"{"list":{}}"#, r#"{"requests":{"tools":{}}}"#] {
        assert!(!declares(other), "{other}");
    }
    assert!(!declares(r#"{"requests":{"tools":{"call":false}}}"#));
    // C-25: the old member is no declaration here.
    let c: v2026_07_28::ServerCapabilities = read(r#"{"tasks":{"requests":{"tools":{"call":{}}}}}"#);
    assert_eq!(text(&v2025_11_25::ServerCapabilities::from(c)), "{}");
}

/// A client of 2026-07-28 declares the extension request by request, and holds no tasks of its own (C-25).
#[test]
fn a_clients_own_tasks_stay_behind() {
    let rest = r#""elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"experimental":{"e":{"y":1.0}},"x":1.0"#;
    let b: v2025_11_25::ClientCapabilities = read(&format!(
        r#"{{"tasks":{{"list":{{}},"requests":{{"elicitation":{{"create":{{}}}}}}}},{rest},"roots":{{"listChanged":true,"y":1.0}},"extensions":{{}}}}"#
    ));
    let mut c = v2026_07_28::ClientCapabilities::from(b);
    let expected: v2026_07_28::ClientCapabilities = read(&format!(r#"{{{rest},"roots":{{"y":1.0}}}}"#));
    assert_eq!(c, expected);
    c.extensions = Some(tasks_extension());
    assert!(text(&c).contains(r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#));
    let b = v2025_11_25::ClientCapabilities::from(c);
    let expected: v2025_11_25::ClientCapabilities = read(&format!(r#"{{{rest},"roots":{{"y":1.0}}}}"#));
    assert_eq!(b, expected);
}

/// A-10, R-12: the shape of 2025-11-25 without `cancel`, which is a notification there.
#[test]
fn the_proposal_declares_tasks_without_cancel() {
    let rest = r#""tools":{},"x":1.0"#;
    let requests = r#""requests":{"tools":{"call":{}}}"#;
    let b: v2025_11_25::ServerCapabilities =
        read(&format!(r#"{{"tasks":{{"list":{{}},"cancel":{{}},{requests},"y":1}},{rest}}}"#));
    let a = sep_1686::Capabilities::from(b.clone());
    assert_eq!(text(&a), format!(r#"{{"tasks":{{"list":{{}},{requests},"y":1}},{rest}}}"#));
    assert_eq!(v2025_11_25::ServerCapabilities::try_from(a).unwrap(), b);

    let requests = r#""requests":{"sampling":{"createMessage":{}},"elicitation":{"create":true}}"#;
    let b: v2025_11_25::ClientCapabilities =
        read(&format!(r#"{{"tasks":{{"list":{{}},"cancel":{{}},{requests}}},"elicitation":{{}},"x":1.0}}"#));
    let a = sep_1686::Capabilities::from(b.clone());
    assert_eq!(text(&a), format!(r#"{{"tasks":{{"list":{{}},{requests}}},"elicitation":{{}},"x":1.0}}"#));
    assert_eq!(v2025_11_25::ClientCapabilities::try_from(a).unwrap(), b);

    // Which side declares is not in the type: what the other side asks for stays behind.
    let a: sep_1686::Capabilities = read(
        r#"{"tasks":{"requests":{"tools":{"call":{}},"sampling":{"createMessage":{}}}},"extensions":{"v/e":{}}}"#,
    );
    let b = v2025_11_25::ServerCapabilities::try_from(a.clone()).unwrap();
    assert_eq!(text(&b), r#"{"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#);
    let b = v2025_11_25::ClientCapabilities::try_from(a).unwrap();
    assert_eq!(text(&b), r#"{"tasks":{"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}"#);
    // No tasks, no declaration.
    let a: sep_1686::Capabilities = read(r#"{"tools":{}}"#);
    assert_eq!(text(&v2025_11_25::ServerCapabilities::try_from(a).unwrap()), r#"{"tools":{}}"#);
    let a: sep_1686::Capabilities = read(r#"{"tools":{"listChanged":7}}"#);
    let error = v2025_11_25::ServerCapabilities::try_from(a).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("tools.listChanged", ConvertErrorKind::Malformed), "{error}");
}

/// Section 5.3, enumerate: SEP-1686 and 2025-11-25 have lists of tasks; A-05, A-09, B-07.
#[test]
fn a_page_of_tasks_is_one_of_the_other_older_generation() {
    let b_task = |id: &str| {
        format!(
            r#"{{"taskId":"{id}","status":"working","createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}","ttl":60000,"pollInterval":500}}"#
        )
    };
    let meta = r#""_meta":{"v/k":1.0,"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;
    let b: v2025_11_25::ListTasksResult = read(&format!(
        r#"{{{meta},"tasks":[{},{}],"nextCursor":"","x":1.0,"ttlMs":1}}"#,
        b_task("t"),
        b_task("u")
    ));
    let a = list_to_sep_1686(b, &at(UPDATED));
    let a_task =
        |id: &str| format!(r#"{{"taskId":"{id}","status":"working","keepAlive":30000,"pollFrequency":500}}"#);
    assert_eq!(
        text(&a),
        format!(
            r#"{{"tasks":[{},{}],"nextCursor":"","_meta":{{"v/k":1.0}},"x":1.0}}"#,
            a_task("t"),
            a_task("u")
        )
    );
    let b = list_from_sep_1686(a, |id| {
        let updated = if id.as_str() == "t" { UPDATED } else { CREATED };
        (at(CREATED), at(updated))
    });
    assert_eq!(b.next_cursor.as_deref(), Some(""));
    assert_eq!(
        (b.tasks[0].last_updated_at.as_str(), b.tasks[1].last_updated_at.as_str()),
        (UPDATED, CREATED)
    );
    assert_eq!(b.tasks[0].ttl, None);
    assert_eq!(text(&b.meta), r#"{"v/k":1.0}"#);
    assert_eq!(b.extra.get("x").map(RawJson::as_str), Some("1.0"));
    // The last page has no cursor.
    let a = list_to_sep_1686(read(r#"{"tasks":[]}"#), &at(UPDATED));
    assert_eq!(text(&a), r#"{"tasks":[]}"#);
}

#[test]
fn a_page_of_tools_gets_its_cache_hints_from_the_gateway() {
    let b: v2025_11_25::ListToolsResult = read(
        r#"{"_meta":{"v/k":1.0},"tools":[{"name":"n","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}],"nextCursor":"c","x":1.0}"#,
    );
    let c = tools_to_v2026_07_28(b, 5000, v2026_07_28::CacheScope::Private);
    let expected: v2026_07_28::ListToolsResult = read(
        r#"{"resultType":"complete","_meta":{"v/k":1.0},"tools":[{"name":"n","inputSchema":{"type":"object"}}],"nextCursor":"c","ttlMs":5000,"cacheScope":"private","x":1.0}"#,
    );
    assert_eq!(c, expected);
    let b = v2025_11_25::ListToolsResult::try_from(c).unwrap();
    assert_eq!(
        text(&b),
        r#"{"_meta":{"v/k":1.0},"tools":[{"name":"n","inputSchema":{"type":"object"}}],"nextCursor":"c","x":1.0}"#
    );
    let c: v2026_07_28::ListToolsResult = read(
        r#"{"resultType":"complete","tools":[{"name":"n","inputSchema":{"type":"object"},"outputSchema":{}}],"ttlMs":1,"cacheScope":"public"}"#,
    );
    assert_eq!(
        refusal(v2025_11_25::ListToolsResult::try_from(c)),
        "`tools[0].outputSchema.type`: 2025-11-25 has schemas of objects only"
    );
}
