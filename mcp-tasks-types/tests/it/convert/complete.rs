//! That no type is forgotten: what the schemas call a task can be read as a snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use mcp_tasks_types::convert::{Snapshot, State};
use mcp_tasks_types::{RawJson, sep_1686, v2025_11_25, v2026_07_28};
use serde_json::Value;

use super::shapes::Sample;
use super::{CREATED, UPDATED, at, read};

/// Reads a value as a type and that as a snapshot.
type AsSnapshot = fn(&RawJson) -> Snapshot;

macro_rules! tasks {
    ($constant:ident $generation:ident $($name:ident)*) => {
        const $constant: &[(&str, AsSnapshot)] =
            &[$((stringify!($name), |raw| raw.get::<$generation::$name>().unwrap().into())),*];
    };
}

tasks! { OF_2025 v2025_11_25 Task CreateTaskResult GetTaskResult CancelTaskResult TaskStatusNotificationParams }
tasks! { OF_2026 v2026_07_28
    Task WorkingTask InputRequiredTask CompletedTask FailedTask CancelledTask DetailedTask
    CreateTaskResult GetTaskResult TaskStatusNotificationParams
}

const OF_THE_PROPOSAL: &[(&str, AsSnapshot)] = &[
    ("TaskInfo", |raw| {
        Snapshot::from_sep_1686(raw.get::<sep_1686::TaskInfo>().unwrap(), at(CREATED), at(UPDATED))
    }),
    ("GetTaskResult", |raw| {
        Snapshot::from_sep_1686(raw.get::<sep_1686::GetTaskResult>().unwrap(), at(CREATED), at(UPDATED))
    }),
];

/// The definition that a `$ref` names.
fn target(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The members of an object and of those that it is composed of.
fn members<'a>(definitions: &'a Value, schema: &'a Value, out: &mut BTreeMap<&'a str, &'a Value>) {
    let schema = target(schema).map_or(schema, |name| &definitions[name]);
    let properties = schema["properties"].as_object().into_iter().flatten();
    out.extend(properties.map(|(name, schema)| (name.as_str(), schema)));
    for part in schema["allOf"].as_array().into_iter().flatten() {
        members(definitions, part, out);
    }
}

/// The names of the definitions that are a task or hold one beside `_meta`.
fn tasks(generation: &str) -> BTreeSet<String> {
    let file = crate::package().join("src/generated").join(format!("{generation}.schema.json"));
    let bundle: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let definitions = &bundle["$defs"];
    let is_task = |schema: &Value| {
        let mut all = BTreeMap::new();
        members(definitions, schema, &mut all);
        let is_task =
            |names: [&str; 2]| names.iter().all(|name| all.contains_key(name)) && all.contains_key("taskId");
        is_task(["createdAt", "lastUpdatedAt"])
            || is_task(["status", "keepAlive"])
            || all.get("task").and_then(|task| target(task)) == Some("Task")
    };
    let tasks = definitions.as_object().unwrap().iter();
    let tasks = tasks.filter(|(_, schema)| schema["x-mixin"].is_null() && is_task(schema));
    tasks.map(|(name, _)| name.clone()).collect()
}

/// What the task itself says.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    task_id: Option<String>,
    status: Option<String>,
    task: Option<RawJson>,
}

#[test]
fn a_snapshot_is_read_from_every_task_type() {
    for (module, folder, types) in [
        ("sep_1686", "sep-1686", OF_THE_PROPOSAL),
        ("v2025_11_25", "2025-11-25", OF_2025),
        ("v2026_07_28", "2026-07-28", OF_2026),
    ] {
        let known: BTreeSet<String> = types.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(known, tasks(module), "{module}");

        let samples = crate::package().join("../samples").join(folder).join("accept.jsonl");
        let mut seen = BTreeSet::new();
        for line in fs::read_to_string(samples).unwrap().lines() {
            let sample: Sample = read(line);
            let Some((name, as_snapshot)) = types.iter().find(|(name, _)| *name == sample.r#type) else {
                continue;
            };
            let snapshot = as_snapshot(&sample.value);
            let said: Said = sample.value.get().unwrap();
            let said: Said = said.task.as_ref().unwrap_or(&sample.value).get().unwrap();
            assert_eq!(Some(snapshot.task_id.as_str()), said.task_id.as_deref(), "{line}");
            let status = match module {
                "sep_1686" => snapshot.state.status_sep_1686().as_str(),
                "v2025_11_25" => snapshot.state.status_v2025_11_25().as_str(),
                _ => snapshot.state.status_v2026_07_28().as_str(),
            };
            assert_eq!(Some(status), said.status.as_deref(), "{line}");
            seen.insert((*name).to_owned());
        }
        assert_eq!(seen, known, "a type without a sample");
    }
}

#[test]
fn a_task_of_one_state_brings_its_payload() {
    let times = format!(r#""taskId":"t","createdAt":"{CREATED}","lastUpdatedAt":"{UPDATED}","ttlMs":7"#);
    let done: v2026_07_28::CompletedTask =
        read(&format!(r#"{{{times},"status":"completed","result":{{"content":[]}},"x":1}}"#));
    let snapshot = Snapshot::from(done);
    assert!(matches!(&snapshot.state, State::Completed { result: Some(_) }), "{snapshot:?}");
    assert_eq!(snapshot.extra.get("x").map(RawJson::as_str), Some("1"));
    let failed: v2026_07_28::FailedTask =
        read(&format!(r#"{{{times},"status":"failed","error":{{"code":-1,"message":"e"}}}}"#));
    assert!(matches!(Snapshot::from(failed).state, State::Failed { error: Some(_) }));
    let waiting: v2026_07_28::InputRequiredTask =
        read(&format!(r#"{{{times},"status":"input_required","inputRequests":{{}}}}"#));
    assert!(Snapshot::from(waiting).questions().is_some());
    // A task without payload may be of any state.
    let bare: v2026_07_28::Task = read(&format!(r#"{{{times},"status":"completed"}}"#));
    assert_eq!(Snapshot::from(bare).outcome(), None);
}
