//! Statuses, task objects, messages and lifetimes.

use mcp_tasks_types::convert::{ConvertErrorKind, Lifetime, Outcome, Snapshot, State};
use mcp_tasks_types::{sep_1686, v2025_11_25, v2026_07_28};

use super::{CREATED, UPDATED, at, object, read, refusal, text};

const RESULT: &str = r#"{"resultType":"complete","content":[]}"#;
const TOOL_ERROR: &str = r#"{"resultType":"complete","content":[],"isError":true}"#;

fn task_2026(status: &str, more: &str) -> Snapshot {
    let task: v2026_07_28::GetTaskResult = read(&format!(
        r#"{{"resultType":"complete","taskId":"t","status":"{status}","createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}","ttlMs":60000{more}}}"#
    ));
    task.into()
}

fn task_2025(status: &str, more: &str) -> Snapshot {
    let task: v2025_11_25::GetTaskResult = read(&format!(
        r#"{{"taskId":"t","status":"{status}","createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}","ttl":60000{more}}}"#
    ));
    task.into()
}

fn task_1686(status: &str, keep_alive: &str, more: &str) -> Snapshot {
    let task: sep_1686::GetTaskResult =
        read(&format!(r#"{{"taskId":"t","status":"{status}","keepAlive":{keep_alive}{more}}}"#));
    Snapshot::from_sep_1686(task, at(CREATED), at(UPDATED))
}

/// The parts of a task of each generation that section 5.1 is about.
fn shown(snapshot: &Snapshot) -> [String; 3] {
    let a = snapshot.clone().into_sep_1686(&at(UPDATED));
    let b = v2025_11_25::Task::from(snapshot.clone());
    let c = v2026_07_28::DetailedTask::try_from(snapshot.clone()).unwrap();
    let error = match &c.state {
        v2026_07_28::TaskState::Failed { error } => format!(" {} {}", error.code, error.message),
        _ => String::new(),
    };
    let message = |message: Option<String>| message.map(|text| format!(" ({text})")).unwrap_or_default();
    [
        format!("{}{}", a.status, message(a.error)),
        format!("{}{}", b.status, message(b.status_message)),
        format!("{}{}{error}", c.status(), message(c.status_message)),
    ]
}

/// Section 5.1, all eight rows; I-03, I-04, I-05, R-11.
#[test]
fn each_canonical_state_has_its_status_in_each_generation() {
    let no_questions = || State::InputRequired { questions: Some(read("{}")) };
    let done = |result| State::Completed { result: Some(object(result)) };
    let error = || State::Failed { error: Some(v2026_07_28::ErrorObject::new(-32050, "e")) };
    let rows = [
        (State::Submitted, ["submitted", "working", "working"]),
        (State::Working, ["working", "working", "working"]),
        (no_questions(), ["input_required", "input_required", "input_required"]),
        (done(RESULT), ["completed", "completed", "completed"]),
        (done(TOOL_ERROR), ["completed", "failed (Tool returned an error)", "completed"]),
        (error(), ["failed (e)", "failed (e)", "failed -32050 e"]),
        (State::Cancelled, ["cancelled", "cancelled", "cancelled"]),
        (
            State::Unknown,
            ["unknown", "failed (Task state is unknown)", "failed -32603 Task state is unknown"],
        ),
    ];
    for (state, expected) in rows {
        let snapshot = Snapshot::new("t", state, at(CREATED), at(UPDATED), Lifetime::Unlimited);
        assert_eq!(shown(&snapshot), expected);
    }
}

/// I-04: the same run seen in three generations.
#[test]
fn a_tool_error_is_completed_but_failed_in_2025() {
    let snapshot = task_2026("completed", &format!(r#","result":{TOOL_ERROR}"#));
    assert!(snapshot.state.is_tool_error());
    assert_eq!(shown(&snapshot), ["completed", "failed (Tool returned an error)", "completed"]);
    // What the task says of itself comes first.
    let snapshot = task_2026("completed", &format!(r#","statusMessage":"quota","result":{TOOL_ERROR}"#));
    assert_eq!(shown(&snapshot)[1], "failed (quota)");
    // An `isError` inside the content is none of the result's.
    let inner =
        r#"{"resultType":"complete","content":[],"structuredContent":{"isError":true},"isError":false}"#;
    assert_eq!(
        shown(&task_2026("completed", &format!(r#","result":{inner}"#))),
        ["completed", "completed", "completed"]
    );
}

/// Section 5.1, back direction: the outcome decides, and without it a failed task is an error.
#[test]
fn a_failed_task_of_2025_needs_its_outcome() {
    let failed = || task_2025("failed", r#","statusMessage":"m""#);
    assert_eq!(shown(&failed()), ["failed (m)", "failed (m)", "failed (m) -32603 m"]);
    let tool = failed().with_outcome(Outcome::Result(object(TOOL_ERROR))).unwrap();
    assert_eq!(shown(&tool), ["completed", "failed (m)", "completed (m)"]);
    let error = v2025_11_25::ErrorObject::new(-32050, "e");
    let error = failed().with_outcome(error).unwrap();
    assert_eq!(shown(&error), ["failed (e)", "failed (e)", "failed (m) -32050 e"]);
}

/// Section 5.1: A's failed becomes an error of code -32603 with its text; without a text one is made up.
#[test]
fn a_failed_task_of_the_proposal_has_an_error_in_2026() {
    assert_eq!(
        shown(&task_1686("failed", "null", r#","error":"disk full""#)),
        ["failed (disk full)", "failed (disk full)", "failed (disk full) -32603 disk full"]
    );
    assert_eq!(
        shown(&task_1686("failed", "null", "")),
        ["failed", "failed (Task failed)", "failed -32603 Task failed"]
    );
    // B-46: an error without words does not leave the message empty.
    let silent = task_2026("failed", r#","statusMessage":"m","error":{"code":-1,"message":""}"#);
    assert_eq!(shown(&silent), ["failed (m)", "failed (m)", "failed (m) -1 "]);
}

/// I-05.
#[test]
fn an_unknown_task_is_failed_elsewhere() {
    let snapshot = task_1686("unknown", "null", "");
    assert_eq!(
        shown(&snapshot),
        ["unknown", "failed (Task state is unknown)", "failed -32603 Task state is unknown"]
    );
}

/// Each word of each generation, on its own.
#[test]
fn every_status_has_a_word_in_every_generation() {
    let words = |state: State| {
        let [a, b, c] = [
            state.status_sep_1686().as_str(),
            state.status_v2025_11_25().as_str(),
            state.status_v2026_07_28().as_str(),
        ];
        format!("{a} {b} {c}")
    };
    let proposal = [
        "submitted working working",
        "working working working",
        "input_required input_required input_required",
        "completed completed completed",
        "failed failed failed",
        "cancelled cancelled cancelled",
        "unknown failed failed",
    ];
    for (status, expected) in sep_1686::TaskStatus::ALL.iter().zip(proposal) {
        assert_eq!(words(State::from(*status)), expected);
        assert_eq!(State::from(*status).status_sep_1686(), *status);
    }
    for (b, c) in v2025_11_25::TaskStatus::ALL.iter().zip(v2026_07_28::TaskStatus::ALL) {
        assert_eq!(b.as_str(), c.as_str());
        assert_eq!(State::from(*b).status_v2026_07_28(), *c);
        assert_eq!(State::from(*c).status_v2025_11_25(), *b);
        assert_eq!(State::from(*c).is_terminal(), c.is_terminal());
    }
    assert!(State::Unknown.is_terminal() && !State::Submitted.is_terminal());
}

/// Section 5.2: names of members, in all directions; B-01, B-02, B-03, C-10; P002, P008.
#[test]
fn each_member_has_its_name_in_each_generation() {
    let times = format!(r#""createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}""#);
    let a_meta = r#""_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"}}"#;
    let flat_2025 = format!(
        r#"{{"taskId":"t","status":"working","statusMessage":"m",{times},"ttl":60000,"pollInterval":500}}"#
    );
    let flat_2026 = format!(
        r#""taskId":"t","status":"working","statusMessage":"m",{times},"ttlMs":60000,"pollIntervalMs":500}}"#
    );
    let create_2025 = format!(r#"{{"task":{flat_2025}}}"#);
    let create_2026 = format!(r#"{{"resultType":"task",{flat_2026}"#);
    // A state is written behind the members that all states have.
    let state_2026 = flat_2026.replace(r#""status":"working","#, "").replace('}', r#","status":"working"}"#);
    let get_2026 = format!(r#"{{"resultType":"complete",{state_2026}"#);
    let detailed = format!("{{{state_2026}");
    let notice = format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":1}},{state_2026}"#);
    // 30 of the 60 seconds have passed.
    let get_1686 =
        format!(r#"{{{a_meta},"taskId":"t","status":"working","keepAlive":30000,"pollFrequency":500}}"#);
    let info = r#"{"taskId":"t","status":"working","keepAlive":30000,"pollFrequency":500}"#;

    let sources: [Snapshot; 8] = [
        read::<v2025_11_25::Task>(&flat_2025).into(),
        read::<v2025_11_25::GetTaskResult>(&flat_2025).into(),
        read::<v2025_11_25::CancelTaskResult>(&flat_2025).into(),
        read::<v2025_11_25::TaskStatusNotificationParams>(&flat_2025).into(),
        read::<v2025_11_25::CreateTaskResult>(&create_2025).into(),
        read::<v2026_07_28::CreateTaskResult>(&create_2026).into(),
        read::<v2026_07_28::GetTaskResult>(&get_2026).into(),
        read::<v2026_07_28::TaskStatusNotificationParams>(&notice).into(),
    ];
    for source in sources {
        let take = || source.clone();
        assert_eq!(text(&v2025_11_25::Task::from(take())), flat_2025);
        assert_eq!(text(&v2025_11_25::GetTaskResult::from(take())), flat_2025);
        assert_eq!(text(&v2025_11_25::TaskStatusNotificationParams::from(take())), flat_2025);
        assert_eq!(text(&v2025_11_25::CreateTaskResult::from(take())), create_2025);
        assert_eq!(text(&v2026_07_28::CreateTaskResult::from(take())), create_2026);
        assert_eq!(text(&v2026_07_28::GetTaskResult::try_from(take()).unwrap()), get_2026);
        assert_eq!(text(&v2026_07_28::DetailedTask::try_from(take()).unwrap()), detailed);
        assert_eq!(text(&take().into_notification(1).unwrap()), notice);
        let proposal = take().into_sep_1686(&at(UPDATED));
        assert_eq!(text(&proposal), get_1686);
        assert_eq!(text(&sep_1686::TaskInfo::from(proposal)), info);
        assert_eq!(text(&sep_1686::TaskCreatedNotificationParams::from(&source)), format!("{{{a_meta}}}"));
    }

    let snapshot = Snapshot::from_sep_1686(read::<sep_1686::TaskInfo>(info), at(CREATED), at(UPDATED));
    assert_eq!(text(&snapshot.clone().into_sep_1686(&at(UPDATED))), get_1686);
    let snapshot = v2025_11_25::Task::from(snapshot);
    assert_eq!(
        text(&snapshot),
        format!(r#"{{"taskId":"t","status":"working",{times},"ttl":null,"pollInterval":500}}"#)
    );
}

/// Section 5.2, `createdAt` and `lastUpdatedAt`: letter for letter; P009.
#[test]
fn timestamps_travel_letter_for_letter() {
    let task: v2025_11_25::Task = read(
        r#"{"taskId":"t","status":"working","createdAt":"2026-08-21t12:30:00.120000+02:00","lastUpdatedAt":"2026-08-21T10:30:01z","ttl":null}"#,
    );
    let there = v2026_07_28::GetTaskResult::try_from(Snapshot::from(task.clone())).unwrap();
    assert_eq!(there.created_at.as_str(), "2026-08-21t12:30:00.120000+02:00");
    assert_eq!(text(&v2025_11_25::Task::from(Snapshot::from(there))), text(&task));
}

/// Section 5.2, lifetime; A-42, A-44, B-61, C-77.
#[test]
fn a_lifetime_is_counted_from_where_the_generation_counts() {
    let ttl = |snapshot: Snapshot| v2026_07_28::CreateTaskResult::from(snapshot).ttl_ms;
    // A to B and C, finished after 30 s.
    for (keep_alive, expected) in
        [("null", None), ("0", Some(30_000)), ("5000", Some(35_000)), ("0.25", Some(30_001))]
    {
        assert_eq!(ttl(task_1686("completed", keep_alive, "")), expected, "{keep_alive}");
        assert_eq!(ttl(task_1686("unknown", keep_alive, "")), expected, "{keep_alive}");
    }
    // Unfinished there is no finite value, unless the gateway has a cap.
    for status in ["submitted", "working", "input_required"] {
        let mut snapshot = task_1686(status, "5000", "");
        assert_eq!(ttl(snapshot.clone()), None);
        snapshot.lifetime = Lifetime::FromCreation(90_000);
        assert_eq!(ttl(snapshot), Some(90_000));
    }
    // B and C to A: what is left at the end, or now.
    let keep = |snapshot: Snapshot, now: &str| snapshot.into_sep_1686(&at(now)).keep_alive;
    let completed = || task_2026("completed", &format!(r#","result":{RESULT}"#));
    for (snapshot, now, expected) in [
        (completed(), "2026-08-21T10:30:59Z", Some(30_000)),
        (completed(), "2027-01-01T00:00:00Z", Some(30_000)),
        (task_2026("working", ""), "2026-08-21T10:30:59Z", Some(1_000)),
        (task_2025("working", ""), "2026-08-21T10:30:59.5Z", Some(500)),
        (task_2025("working", ""), "2026-08-21T10:31:00Z", Some(0)),
        (task_2025("working", ""), "2027-01-01T00:00:00Z", Some(0)),
        // A clock that is behind makes nothing longer.
        (task_2025("working", ""), "2020-01-01T00:00:00Z", Some(60_000)),
    ] {
        assert_eq!(keep(snapshot, now), expected, "{now}");
    }
    let mut endless = task_2025("working", "");
    endless.lifetime = Lifetime::Unlimited;
    assert!(text(&endless.clone().into_sep_1686(&at(UPDATED))).contains(r#""keepAlive":null"#));
    assert!(text(&v2026_07_28::CreateTaskResult::from(endless)).contains(r#""ttlMs":null"#));
    // A keepAlive stays itself in its own generation.
    assert_eq!(keep(task_1686("working", "5000", ""), "2027-01-01T00:00:00Z"), Some(5_000));
}

#[test]
fn lifetimes_at_the_end_of_their_range_do_not_wrap() {
    let (created, ended) = (at("0000-01-01T00:00:00Z"), at("9999-12-31T23:59:59Z"));
    // A sum and a value stay within what every reader of JSON holds.
    let most = (1 << 53) - 1;
    for lifetime in [Lifetime::FromEnd(u64::MAX), Lifetime::FromCreation(u64::MAX)] {
        assert_eq!(lifetime.ttl(&created, Some(&ended)), Some(most));
        assert_eq!(lifetime.ttl(&ended, Some(&created)), Some(most));
        for (created, ended) in [(&created, &ended), (&ended, &created)] {
            assert_eq!(lifetime.keep_alive(created, Some(ended), ended), Some(most));
        }
    }
    assert_eq!(Lifetime::FromEnd(most - 1).ttl(&created, Some(&ended)), Some(most));
    assert_eq!(Lifetime::FromEnd(7).ttl(&ended, Some(&created)), Some(7));
}

/// I-02: what no generation defines travels, the rest stays behind; P017.
#[test]
fn foreign_members_and_keys_travel() {
    let created: v2025_11_25::CreateTaskResult = read(&format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/model-immediate-response":"later","x/y":1.0,
            "io.modelcontextprotocol/related-task":{{"taskId":"t"}},"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}},
            "task":{{"taskId":"t","status":"working","createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}","ttl":null,
            "ttlMs":7,"result":{{}},"inputRequests":{{}},"keepAlive":3,"x-vendor":[1.50]}},"resultType":"task","y":2,"x-vendor":0}}"#
    ));
    let snapshot = Snapshot::from(created);
    let times = format!(r#""createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}""#);
    assert_eq!(
        text(&v2026_07_28::CreateTaskResult::from(snapshot.clone())),
        format!(
            r#"{{"resultType":"task","_meta":{{"x/y":1.0}},"taskId":"t","status":"working",{times},"ttlMs":null,"x-vendor":[1.50],"y":2}}"#
        )
    );
    assert_eq!(
        text(&v2025_11_25::GetTaskResult::from(snapshot.clone())),
        format!(
            r#"{{"_meta":{{"x/y":1.0}},"taskId":"t","status":"working",{times},"ttl":null,"x-vendor":[1.50],"y":2}}"#
        )
    );
    assert_eq!(
        text(&v2025_11_25::CreateTaskResult::from(snapshot.clone())),
        format!(
            r#"{{"_meta":{{"io.modelcontextprotocol/model-immediate-response":"later","x/y":1.0}},"task":{{"taskId":"t","status":"working",{times},"ttl":null,"x-vendor":[1.50],"y":2}}}}"#
        )
    );
    assert_eq!(
        text(&snapshot.into_sep_1686(&at(UPDATED))),
        r#"{"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"t"},"x/y":1.0},"taskId":"t","status":"working","keepAlive":null,"x-vendor":[1.50],"y":2}"#
    );
}

/// What a server says of itself stays behind, as does the number of the subscription.
#[test]
fn what_belongs_to_one_message_stays_behind() {
    let meta = r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"x":1}"#;
    let task = v2025_11_25::GetTaskResult::from(task_2026("working", meta));
    assert_eq!(text(&task.meta.unwrap()), r#"{"x":1}"#);
    let notice = task_2026("working", meta).into_notification("s").unwrap();
    assert_eq!(text(&notice.meta), r#"{"io.modelcontextprotocol/subscriptionId":"s","x":1}"#);
    let snapshot = Snapshot::from(notice);
    assert_eq!(text(&v2025_11_25::TaskStatusNotificationParams::from(snapshot).meta), r#"{"x":1}"#);
}

/// A payload that 2026-07-28 carries and the source does not is named.
#[test]
fn a_missing_payload_is_named() {
    let completed = task_2025("completed", "");
    assert_eq!(
        refusal(v2026_07_28::GetTaskResult::try_from(completed.clone())),
        "`result`: 2026-07-28 carries the result; hand it in by `with_outcome`"
    );
    assert_eq!(refusal(completed.clone().into_notification(1)).split(':').next(), Some("`result`"));
    let error = completed.payload_v2025_11_25().unwrap_err();
    assert_eq!((error.path(), error.kind()), ("result", ConvertErrorKind::Missing));
    let waiting = task_2025("input_required", "");
    let error = v2026_07_28::DetailedTask::try_from(waiting.clone()).unwrap_err();
    assert_eq!((error.path(), error.kind()), ("inputRequests", ConvertErrorKind::Missing));
    let waiting = waiting.with_questions(read("{}"));
    assert_eq!(text(waiting.questions().unwrap()), "{}");
    assert!(v2026_07_28::DetailedTask::try_from(waiting).is_ok());
    // Only a task that waits has questions.
    assert_eq!(task_2025("working", "").with_questions(read("{}")).questions(), None);
    // The creation result carries no payload, so nothing is missing.
    assert_eq!(v2026_07_28::CreateTaskResult::from(completed).status, v2026_07_28::TaskStatus::Completed);
}
