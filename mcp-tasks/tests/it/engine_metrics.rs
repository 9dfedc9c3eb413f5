//! What is counted, as a recorder of the `metrics` crate sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_tasks::MemoryStore;
use mcp_tasks::testing::ManualClock;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use serde_json::json;

use crate::support::{accept, bench_over};

/// `name{label=value,…}` and the value: counters and gauges as they are, of histograms the number of entries.
fn seen(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let entries = snapshotter.snapshot().into_vec().into_iter();
    entries
        .map(|(key, _, _, value)| {
            let labels = key.key().labels().map(|label| format!("{}={}", label.key(), label.value()));
            let mut labels: Vec<String> = labels.collect();
            labels.sort();
            let name = format!("{}{{{}}}", key.key().name(), labels.join(","));
            let value = match value {
                DebugValue::Counter(count) => f64::from(u32::try_from(count).unwrap()),
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(values) => f64::from(u32::try_from(values.len()).unwrap()),
            };
            (name, value)
        })
        .collect()
}

/// P152: everything that happens to tasks is counted once, and what runs is counted down to nothing.
#[tokio::test]
async fn life_of_tasks_is_counted_once_for_each_event() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let bench = bench_over(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).await;

    let asking = bench.create(json!([["ask", "approve"], ["return", "done"]])).await;
    let panicking = bench.create(json!([["panic", "by design"]])).await;
    let endless = bench.create_mortal(json!([["until cancelled", ""]])).await;
    let orphan = bench.create_mortal(json!([["until cancelled", ""]])).await;
    bench.asked(&asking, 1).await;
    bench.update(&asking, json!({"approve": accept(true)})).await.unwrap();
    bench.settled(&asking).await;
    bench.settled(&panicking).await;
    bench.cancel(&endless).await;
    bench.cancel(&endless).await;
    bench.settled(&endless).await;
    let after = bench.restarted().await;
    after.settled(&orphan).await;
    bench.engine.idle().await;

    let seen = seen(&snapshotter);
    let wanted = [
        ("mcp_tasks_created_total{tool=rerun}", 2.0),
        ("mcp_tasks_created_total{tool=mortal}", 2.0),
        ("mcp_tasks_questions_total{tool=rerun}", 1.0),
        ("mcp_tasks_cancel_requests_total{tool=mortal}", 1.0),
        ("mcp_tasks_ended_total{status=completed,tool=rerun}", 1.0),
        ("mcp_tasks_ended_total{status=failed,tool=rerun}", 1.0),
        ("mcp_tasks_ended_total{status=cancelled,tool=mortal}", 1.0),
        ("mcp_tasks_ended_total{status=failed,tool=mortal}", 1.0),
        ("mcp_tasks_life_seconds{status=completed,tool=rerun}", 1.0),
        ("mcp_tasks_taken_up_total{outcome=failed,tool=mortal}", 1.0),
        ("mcp_tasks_store_seconds{verb=insert}", 4.0),
        ("mcp_tasks_running{}", 0.0),
    ];
    for (name, value) in wanted {
        assert_eq!(seen.get(name), Some(&value), "{name}: {seen:#?}");
    }
    let errors: Vec<&String> =
        seen.keys().filter(|name| name.starts_with("mcp_tasks_store_errors")).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// Whoever builds a dashboard finds every name in the documentation, and no other.
#[test]
fn every_name_is_documented() {
    let names = |text: &str, before: &str| -> BTreeSet<String> {
        let found = text.split(before).skip(1).map(|rest| {
            rest.split(|c: char| c != '_' && !c.is_ascii_lowercase()).next().unwrap_or_default().to_owned()
        });
        found.filter(|name| name.starts_with("mcp_tasks_")).collect()
    };
    let counted = names(include_str!("../../src/engine/meter.rs"), "!(\"");
    assert!(counted.len() > 5, "{counted:?}");
    assert_eq!(names(include_str!("../../src/lib.rs"), "//! | `"), counted);
}
