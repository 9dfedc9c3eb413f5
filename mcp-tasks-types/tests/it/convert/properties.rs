//! There and back keeps what the merge map says is kept, for tasks of every kind.

use mcp_tasks_types::convert::{
    Outcome, Payload, Snapshot, answer_to_v2025_11_25, answer_to_v2026_07_28, result_to_v2025_11_25,
    result_to_v2026_07_28,
};
use mcp_tasks_types::v2026_07_28::{DetailedTask, ErrorObject, TaskState};
use mcp_tasks_types::{RawJson, RawObject, TaskId, Timestamp, v2025_11_25};
use proptest::prelude::*;

use super::read;

/// Any JSON value of little depth, with numbers of odd spelling.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?",
        "\"[a-zA-Z0-9 é]{0,8}\"",
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..4).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Members that nobody defines, each name once.
fn foreign() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::btree_map("x-[a-z]{1,6}", json(), 0..4)
        .prop_map(|members| members.into_iter().collect())
}

fn members(members: &[(String, String)]) -> String {
    members.iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect()
}

/// A tool result in the form of 2026-07-28.
fn result() -> impl Strategy<Value = String> {
    (any::<Option<bool>>(), foreign(), foreign()).prop_map(|(is_error, extra, meta)| {
        let is_error = is_error.map(|flag| format!(",\"isError\":{flag}")).unwrap_or_default();
        let extra = members(&extra);
        let meta = members(&meta);
        let meta = meta.strip_prefix(',').map(|keys| format!(",\"_meta\":{{{keys}}}")).unwrap_or_default();
        format!(r#"{{"resultType":"complete","content":[]{is_error}{extra}{meta}}}"#)
    })
}

const QUESTIONS: &str = r#"{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}"#;

fn state() -> impl Strategy<Value = TaskState> {
    prop_oneof![
        Just(TaskState::Working),
        Just(TaskState::InputRequired { input_requests: read(QUESTIONS) }),
        result().prop_map(|text| TaskState::Completed { result: RawObject::from_text(text).unwrap() }),
        (any::<i32>(), "[a-z ]{1,8}").prop_map(|(code, message)| TaskState::Failed {
            error: ErrorObject::new(i64::from(code), message)
        }),
        Just(TaskState::Cancelled),
    ]
}

prop_compose! {
    fn task()(
        state in state(), message in proptest::option::of("[a-z ]{1,8}"),
        created in 0_i64..4_000_000_000_000, run in 0_i64..4_000_000_000,
        ttl_ms in proptest::option::of(0_u64..9_000_000_000), poll in proptest::option::of(0_u64..100_000),
        extra in foreign(),
    ) -> DetailedTask {
        let (created, updated) = (Timestamp::from_unix_millis(created), Timestamp::from_unix_millis(created + run));
        let mut task = DetailedTask::new("t", created, updated, ttl_ms, state);
        task.status_message = message;
        task.poll_interval_ms = poll;
        for (name, value) in extra {
            task.extra.push(name, RawJson::from_text(value).unwrap());
        }
        task
    }
}

/// What the older two hand out beside the task.
fn hand_back(there: Snapshot, origin: &Snapshot, outcome: Option<Outcome>) -> Snapshot {
    let there = match outcome {
        Some(outcome) => there.with_outcome(outcome).unwrap(),
        None => there,
    };
    match origin.questions() {
        Some(questions) => there.with_questions(questions.clone()),
        None => there,
    }
}

proptest! {
    /// 2026-07-28 to 2025-11-25 and back, by `tasks/get` and `tasks/result`: everything but the message of a task
    /// that 2025-11-25 calls failed.
    #[test]
    fn a_task_survives_2025(task in task()) {
        let origin = Snapshot::from(task.clone());
        let shown = v2025_11_25::GetTaskResult::from(origin.clone());
        let outcome = match origin.payload_v2025_11_25().unwrap() {
            Payload::Result(result) => Some(Outcome::from(result)),
            Payload::Error(error) => Some(Outcome::from(error)),
            _ => None,
        };
        let failed = shown.status == v2025_11_25::TaskStatus::Failed;
        prop_assert_eq!(&shown.task_id, &task.task_id);
        prop_assert!(!failed || shown.status_message.as_ref().is_some_and(|message| !message.is_empty()));
        let mut back = DetailedTask::try_from(hand_back(shown.into(), &origin, outcome)).unwrap();
        if failed {
            back.status_message.clone_from(&task.status_message);
        }
        if let (TaskState::Completed { result: a }, TaskState::Completed { result: b }) = (&back.state, &task.state) {
            prop_assert!(a.json_eq(b), "{} {}", a, b);
            back.state = task.state.clone();
        }
        prop_assert_eq!(back, task);
    }

    /// The same by SEP-1686: the id, the status, the interval, foreign members, and of a finished task the lifetime,
    /// unless it was over before the task was.
    #[test]
    fn a_task_survives_the_proposal(task in task(), later in 0_i64..10_000_000) {
        let origin = Snapshot::from(task.clone());
        let now = Timestamp::from_unix_millis(task.last_updated_at.unix_millis() + later);
        let shown = origin.clone().into_sep_1686(&now);
        let outcome = match origin.payload_sep_1686().unwrap() {
            Payload::Result(result) => Some(Outcome::from(result)),
            _ => None,
        };
        let there = Snapshot::from_sep_1686(shown, task.created_at.clone(), task.last_updated_at.clone());
        let back = DetailedTask::try_from(hand_back(there, &origin, outcome)).unwrap();
        prop_assert_eq!(back.status(), task.status());
        prop_assert_eq!(&back.task_id, &task.task_id);
        prop_assert_eq!(back.poll_interval_ms, task.poll_interval_ms);
        prop_assert_eq!(&back.extra, &task.extra);
        let run = u64::try_from(task.last_updated_at.unix_millis() - task.created_at.unix_millis()).unwrap();
        let expected = match task.ttl_ms {
            Some(ttl) if task.status().is_terminal() => Some(ttl.max(run)),
            _ => None,
        };
        prop_assert_eq!(back.ttl_ms, expected);
        match (&back.state, &task.state) {
            (TaskState::Failed { error: back }, TaskState::Failed { error }) => {
                prop_assert_eq!(&back.message, &error.message);
            }
            (TaskState::Completed { result: back }, TaskState::Completed { result }) => {
                prop_assert!(back.json_eq(result));
            }
            (back, origin) => prop_assert_eq!(back, origin),
        }
    }

    /// A result keeps every member as its text, in order, and gets its task only where one is named.
    #[test]
    fn a_result_survives_as_text(result in result()) {
        let result = RawObject::from_text(result).unwrap();
        let plain = result_to_v2025_11_25(&result, None).unwrap();
        prop_assert_eq!(&result_to_v2026_07_28(&plain), &result);
        let tied = result_to_v2025_11_25(&result, Some(&TaskId::new("t"))).unwrap();
        prop_assert!(tied.as_str().contains("related-task"));
        prop_assert_eq!(&result_to_v2026_07_28(&tied), &result);
    }

    /// An answer keeps all but `_meta`, as its text.
    #[test]
    fn an_answer_survives_as_text(extra in foreign()) {
        let value = RawJson::from_text(format!(r#"{{"action":"accept"{}}}"#, members(&extra))).unwrap();
        let there = answer_to_v2025_11_25(&value, &TaskId::new("t")).unwrap();
        prop_assert_eq!(answer_to_v2026_07_28(&there).unwrap(), value);
    }
}
