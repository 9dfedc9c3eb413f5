//! The reference sequence in one process.

use serde_json::{Value, json};

use crate::server_harness::{TASKS, ask, ask_with, meta, request_declaring, server, until_status};

fn line(answer: &Value) -> String {
    let text = |member: &str| answer["result"][member].as_str();
    format!(
        "id={} resultType={} status={}",
        answer["id"],
        text("resultType").unwrap_or("none"),
        text("status").unwrap_or("ack"),
    )
}

// S-40, S-04, S-06, S-13, S-11
#[tokio::test]
async fn the_reference_sequence_gives_its_six_lines() {
    let server = server().await;
    let mut lines = Vec::new();
    let capabilities = json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}});
    let request = |id: u64, method: &str, params: Value| {
        request_declaring(json!(id), method, params, capabilities.clone())
    };

    lines.push(line(&ask(&server, &request(0, "server/discover", json!({}))).await.1));
    let call = json!({"name": "report", "arguments": {"size": "large"}});
    let created = ask(&server, &request(1, "tools/call", call)).await.1;
    lines.push(line(&created));
    assert_eq!(created["result"]["statusMessage"], "Preparing report outline.");
    assert_eq!(created["result"]["ttlMs"], 900_000);
    let id = created["result"]["taskId"].as_str().unwrap();

    until_status(&server, id, "input_required").await;
    let get = json!({"taskId": id});
    lines.push(line(&ask(&server, &request(3, "tasks/get", get.clone())).await.1));
    let answer = json!({"approve_outline": {"action": "accept", "content": {"approved": true}}});
    let update = json!({"taskId": id, "inputResponses": answer});
    lines.push(line(&ask(&server, &request(4, "tasks/update", update)).await.1));
    until_status(&server, id, "completed").await;
    lines.push(line(&ask(&server, &request(5, "tasks/get", get)).await.1));

    let expected = [
        "id=0 resultType=complete status=ack",
        "id=1 resultType=task status=working",
        "id=3 resultType=complete status=input_required",
        "id=4 resultType=complete status=ack",
        "id=5 resultType=complete status=completed",
    ];
    assert_eq!(lines, expected);
}

// S-23
#[tokio::test]
async fn methods_of_older_course_material_are_not_found() {
    let server = server().await;
    for method in ["tasks/status", "tasks/result", "tasks/list"] {
        let params = json!({"taskId": "tsk_1", "_meta": meta(json!({}))});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        let (status, answer) = ask_with(&server, &headers, &message).await;
        assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32_601)));
    }
}
