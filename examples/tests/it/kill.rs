//! A task whose handle was read survives the death of its server.

use serde_json::json;

use crate::process::{HttpServer, call, report_with};

/// C-31, S-09, S-35: killed right after the handle was read, restarted on the same file.
#[test]
fn no_task_is_lost_when_the_server_is_killed_after_its_handle_was_read() {
    killed_again_and_again("sqlite", 50);
}

/// The same with a folder of files; S-34.
#[test]
fn no_task_is_lost_when_a_server_on_a_folder_is_killed() {
    killed_again_and_again("fs", 25);
}

fn killed_again_and_again(store: &str, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("{store}:{}", folder.path().join("tasks.db").display());
    let mut server = HttpServer::start(&mut report_with(&store));
    let mut tasks = Vec::new();
    for round in 0..rounds {
        let created = server.result("tools/call", call("small"));
        server.process.kill();
        assert_eq!(created["resultType"], "task", "round {round}: {created}");
        let id = created["taskId"].as_str().unwrap().to_owned();

        server = HttpServer::start(&mut report_with(&store));
        let waiting = server.status(&id, "input_required");
        assert_eq!(waiting["createdAt"], created["createdAt"]);
        assert!(waiting["inputRequests"]["approve_outline"].is_object());
        tasks.push(id);
    }

    let answer = json!({"action": "accept", "content": {"approved": true}});
    for id in &tasks {
        let params = json!({"taskId": id, "inputResponses": {"approve_outline": answer}});
        server.result("tasks/update", params);
    }
    for id in &tasks {
        let done = server.status(id, "completed");
        let content = &done["result"]["structuredContent"];
        assert_eq!(*content, json!({"size": "small", "approved": true}));
    }
}
