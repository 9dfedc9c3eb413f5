//! Several processes over one PostgreSQL database.

use std::sync::mpsc;
use std::thread;

use mcp_tasks::types::TaskId;
use mcp_tasks::{Engine, Owner, PostgresStore, Role};
use serde_json::{Value, json};

use crate::postgres_cluster::Cluster;
use crate::process::{HttpServer, PATIENCE, call, report_with, request_declaring};

/// A database, or nothing to test with.
fn database() -> Option<Cluster> {
    let cluster = Cluster::start().unwrap();
    if cluster.is_none() {
        skipped();
    }
    cluster
}

#[expect(clippy::print_stdout, reason = "who reads the tests' output shall know what did not run")]
fn skipped() {
    println!("skipped: PostgreSQL is not installed");
}

fn replica(database: &Cluster, more: &[&str]) -> HttpServer {
    HttpServer::start(report_with(&format!("postgres:{}", database.url())).args(more))
}

fn approve(server: &HttpServer, id: &str) {
    let answer = json!({"action": "accept", "content": {"approved": true}});
    let params = json!({"taskId": id, "inputResponses": {"approve_outline": answer}});
    server.result("tasks/update", params);
}

/// Tells every state of the task that `Engine::watch` gives in this process, which runs no bodies, until the last.
fn watched(url: String, id: TaskId) -> mpsc::Receiver<&'static str> {
    let (sender, states) = mpsc::channel();
    let watch = async move {
        let store = PostgresStore::open(&url).await.unwrap();
        let engine = Engine::builder(store).role(Role::Serve).build().await.unwrap();
        let mut watch = engine.watch(Owner::anonymous(), [id]);
        while let Some(record) = watch.next().await.unwrap() {
            sender.send(record.state.name()).unwrap();
        }
    };
    thread::spawn(|| tokio::runtime::Runtime::new().unwrap().block_on(watch));
    states
}

/// S-09, S-36, S-37: made by one process, answered through another one, and finished by it when the first is killed;
/// who polls the second or watches from a third sees every change.
#[test]
fn task_is_answered_and_finished_by_another_process_than_the_one_that_made_it() {
    let Some(database) = database() else { return };
    // It holds behind the question.
    let one = replica(&database, &["--steps", "1", "--lease-ms", "600"]);
    let two = replica(&database, &["--lease-ms", "600"]);
    let created = one.result("tools/call", call("small"));
    let id = created["taskId"].as_str().unwrap();
    let states = watched(database.url(), TaskId::from(id));
    let next = || states.recv_timeout(PATIENCE).unwrap();

    let asked = two.status(id, "input_required");
    assert_eq!(asked["createdAt"], created["createdAt"]);
    let mut seen = next();
    if seen == "working" {
        seen = next();
    }
    assert_eq!(seen, "input_required");

    approve(&two, id);
    assert_eq!(two.result("tasks/get", json!({"taskId": id}))["status"], "working");
    assert_eq!(one.result("tasks/get", json!({"taskId": id}))["status"], "working");
    assert_eq!(next(), "working");

    one.process.kill();
    let done = two.status(id, "completed");
    assert_eq!(done["result"]["structuredContent"], json!({"size": "small", "approved": true}));
    let mut rest = vec![next()];
    while let Ok(state) = states.recv_timeout(PATIENCE) {
        rest.push(state);
    }
    assert_eq!(rest.last(), Some(&"completed"));
    assert!(rest[..rest.len() - 1].iter().all(|state| *state == "working"), "{rest:?}");
}

/// S-36: a process that is told to end hands its tasks over; nobody waits for its leases, which are long.
#[test]
fn process_that_is_told_to_end_hands_its_tasks_over_at_once() {
    let Some(database) = database() else { return };
    let long = ["--lease-ms", "600000"];
    let mut one = replica(&database, &[&["--steps", "0"], long.as_slice()].concat());
    let two = replica(&database, &long);
    let created = one.result("tools/call", call("small"));
    let id = created["taskId"].as_str().unwrap();
    assert_eq!(two.result("tasks/get", json!({"taskId": id}))["status"], "working");
    one.process.signal("-TERM");
    assert!(one.process.ended().success());
    let asked: Value = two.status(id, "input_required");
    assert!(asked["inputRequests"]["approve_outline"].is_object());
    approve(&two, id);
    two.status(id, "completed");
}

/// X-55, S-36: a client without tasks comes to another process in each round, and the one that ran the body is killed
/// on the way.
#[test]
fn call_that_asks_goes_on_in_another_process() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, [7; 32]).unwrap();
    let options = ["--lease-ms", "600", "--state-key-file", key.to_str().unwrap()];
    let (one, two) = (replica(&database, &options), replica(&database, &options));
    let forms = || json!({"elicitation": {"form": {}}});
    let mut params = call("small");
    let asked = one.answer_to(None, &request_declaring(1, "tools/call", params.clone(), forms()));
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    one.process.kill();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] =
        json!({"approve_outline": {"action": "accept", "content": {"approved": true}}});
    let done = two.answer_to(None, &request_declaring(2, "tools/call", params, forms()));
    let report = json!({"size": "small", "approved": true});
    assert_eq!(done["result"]["structuredContent"], report, "{done}");
}
