//! The program's options, and how it ends.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::process::{HttpServer, Process, StdioServer, call, report, request, request_declaring};

fn store() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    (folder, path)
}

/// a client's probe process ends like this, and the next one opens the same file.
#[test]
fn the_end_of_the_input_ends_the_process_and_frees_the_file() {
    let (_folder, store) = store();
    let mut id = None;
    for _ in 0..5 {
        let mut server = StdioServer::start(&mut report(&store));
        server.result("server/discover", json!({}));
        match &id {
            None => {
                let created = server.result("tools/call", call("small"));
                id = Some(created["taskId"].as_str().unwrap().to_owned());
            }
            Some(id) => {
                server.result("tasks/get", json!({"taskId": id}));
            }
        }
        server.close_input();
        assert!(server.process.ended().success());
        assert_eq!(server.rest(), Vec::<String>::new());
    }
}

#[test]
fn a_signal_ends_the_process_at_once_and_frees_the_file() {
    let (_folder, store) = store();
    for signal in ["-TERM", "-INT"] {
        let mut server = StdioServer::start(&mut report(&store));
        server.result("tools/call", call("small"));
        server.process.signal(signal);
        assert!(server.process.ended().success(), "{signal}");

        let mut server = HttpServer::start(&mut report(&store));
        server.result("tools/call", call("small"));
        server.process.signal(signal);
        assert!(server.process.ended().success(), "{signal}");
    }
}

/// The next process waits for a moment for the one before it.
#[test]
fn a_process_that_is_told_to_end_later_does_not_keep_the_next_one_out() {
    let (_folder, store) = store();
    let mut first = StdioServer::start(&mut report(&store));
    first.result("server/discover", json!({}));
    let mut second = StdioServer::start(&mut report(&store));
    second.send(&request(1, "tools/list", json!({})).to_string());
    first.process.signal("-TERM");
    assert!(first.process.ended().success());
    assert_eq!(second.next()["id"], 1);
}

#[test]
fn a_second_server_on_the_same_file_gets_a_clear_error() {
    let (_folder, store) = store();
    let mut first = StdioServer::start(&mut report(&store));
    first.result("server/discover", json!({}));
    let output = report(&store).arg("--stdio").output().unwrap();
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("tasks.db"), "{text}");
}

/// neither does what the client has not read.
#[test]
fn a_client_that_does_not_read_does_not_keep_the_process() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_report"));
    let mut child = command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut process = Process(child);
    for id in 0..1_000 {
        writeln!(input, "{}", request(id, "tools/list", json!({}))).unwrap();
    }
    drop(input);
    assert!(process.ended().success());
}

/// What is wrong with a store is told with the file and down to the first cause.
#[test]
fn a_store_that_cannot_be_opened_is_told_with_its_file_and_the_cause() {
    let (folder, store) = store();
    std::fs::write(&store, "no database at all").unwrap();
    let nowhere = folder.path().join("nowhere").join("tasks.db");
    let half = folder.path().join("half.db");
    std::fs::write(&half, b"SQLite format 3\0 and no more").unwrap();
    for (path, cause) in [
        (&store, "is no SQLite database"),
        (&nowhere, "No such file or directory"),
        (&half, "file is not a database"),
    ] {
        let output = report(path).arg("--stdio").output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(&*path.to_string_lossy()) && text.contains(cause), "{text}");
    }
}

/// S-06, R-5
#[test]
fn the_defaults_are_those_of_the_reference_and_strict() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_report"));
    let mut server = StdioServer::start(&mut command);
    let created = server.result("tools/call", call("large"));
    assert_eq!(created["status"], "working");
    assert_eq!(created["ttlMs"], 900_000);
    assert_eq!(created["pollIntervalMs"], 1_000);
    assert_eq!(created["statusMessage"], "Preparing report outline.");

    server.send(&only_tasks(2).to_string());
    let refused = server.next();
    assert_eq!(refused["error"]["code"], -32_021);
    let required = &refused["error"]["data"]["requiredCapabilities"];
    assert_eq!(*required, json!({"elicitation": {"form": {}}}));
}

/// R-5, P159: the literal requests of the reference sequence.
#[test]
fn lenient_inputs_take_a_caller_that_declares_the_extension_alone() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_report"));
    let mut server = StdioServer::start(command.arg("--lenient-inputs"));
    server.send(&only_tasks(2).to_string());
    assert_eq!(server.next()["result"]["resultType"], "task");
}

fn only_tasks(id: u64) -> Value {
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    request_declaring(id, "tools/call", call("large"), capabilities)
}

/// S-12, S-17: declining is a choice, closing the question is none.
#[test]
fn a_declined_question_and_a_cancelled_task_end_cancelled() {
    let (_folder, store) = store();
    let server = HttpServer::start(&mut report(&store));
    let create = || {
        let created = server.result("tools/call", call("small"));
        created["taskId"].as_str().unwrap().to_owned()
    };

    let declined = create();
    server.status(&declined, "input_required");
    let answers = json!({"approve_outline": {"action": "decline"}});
    let params = json!({"taskId": declined, "inputResponses": answers});
    server.result("tasks/update", params);
    let end = server.status(&declined, "cancelled");
    assert!(end["statusMessage"].is_string(), "{end}");

    let closed = create();
    server.status(&closed, "input_required");
    let answers = json!({"approve_outline": {"action": "cancel"}});
    let params = json!({"taskId": closed, "inputResponses": answers});
    server.result("tasks/update", params);
    let end = server.status(&closed, "completed");
    assert_eq!(end["result"]["structuredContent"], json!({"size": "small", "approved": false}));

    let cancelled = create();
    server.status(&cancelled, "input_required");
    server.result("tasks/cancel", json!({"taskId": cancelled}));
    let first = server.result("tasks/get", json!({"taskId": cancelled}));
    assert_eq!(first["status"], "cancelled");
    server.result("tasks/cancel", json!({"taskId": cancelled}));
    let second = server.result("tasks/get", json!({"taskId": cancelled}));
    assert_eq!(first["lastUpdatedAt"], second["lastUpdatedAt"]);
}

/// S-38: without the step, the work holds; a cancel is heard nevertheless.
#[test]
fn a_worker_without_steps_holds_and_can_be_cancelled() {
    let (_folder, store) = store();
    let server = HttpServer::start(report(&store).args(["--steps", "0"]));
    let created = server.result("tools/call", call("small"));
    let id = created["taskId"].as_str().unwrap();
    for _ in 0..5 {
        let snapshot = server.result("tasks/get", json!({"taskId": id}));
        assert_eq!(snapshot["status"], "working");
    }
    server.result("tasks/cancel", json!({"taskId": id}));
    server.status(id, "cancelled");
}

#[test]
fn wrong_arguments_are_told_and_nothing_is_served() {
    for arguments in [
        &[][..],
        &["--stdio", "--store", "disk"],
        &["--http", "nowhere"],
        &["--stdio", "--steps", "-1"],
        &["--serve"],
        &["--stdio", "--http", "0"],
        &["--http", "0", "--stdio"],
        &["--http", "0", "--http", "0"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_report")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let (_folder, store) = store();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = report(&store).args(["--http", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("cannot listen on `{address}`: Address already in use")), "{text}");
}
