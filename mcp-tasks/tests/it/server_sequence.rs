//! The reference sequence in one process.

use serde_json::{Value, json};

use mcp_tasks::{Answer, Input, Server, TaskContext, ToolError, task_tool};

use crate::server_harness::{Approval, TASKS, ask, request_declaring, until_status};
use crate::support::{gate, open};

/// Asks a person once the test lets it.
#[task_tool(ttl = "15m", restart = "rerun", status = "Preparing report outline.")]
async fn gated_report(
    ctx: TaskContext,
    /// Approve the generated report outline?
    approve_outline: Input<Approval>,
) -> Result<String, ToolError> {
    gate("reference sequence").acquire().await?.forget();
    match approve_outline.ask(&ctx).await? {
        Answer::Accept(_) => Ok("approved".to_owned()),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("not approved")),
    }
}

fn line(answer: &Value) -> String {
    let text = |member: &str| answer["result"][member].as_str();
    format!(
        "id={} resultType={} status={}",
        answer["id"],
        text("resultType").unwrap_or("none"),
        text("status").unwrap_or("ack"),
    )
}

/// S-40, S-04, S-06, S-08, S-11, S-13: a request that is `complete` says nothing about the work, which goes on.
#[tokio::test]
async fn the_reference_sequence_gives_its_six_lines() {
    let server = Server::builder("test-server", "1.2.3").tool::<gated_report>().build().await.unwrap();
    let mut lines = Vec::new();
    let capabilities = json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}});
    let request = |id: u64, method: &str, params: Value| {
        request_declaring(json!(id), method, params, capabilities.clone())
    };

    lines.push(line(&ask(&server, &request(0, "server/discover", json!({}))).await.1));
    let call = json!({"name": "gated_report", "arguments": {}});
    let created = ask(&server, &request(1, "tools/call", call)).await.1;
    lines.push(line(&created));
    assert_eq!(created["result"]["statusMessage"], "Preparing report outline.");
    assert_eq!(created["result"]["ttlMs"], 900_000);
    let id = created["result"]["taskId"].as_str().unwrap();

    let get = json!({"taskId": id});
    lines.push(line(&ask(&server, &request(2, "tasks/get", get.clone())).await.1));
    open("reference sequence");
    until_status(&server, id, "input_required").await;
    lines.push(line(&ask(&server, &request(3, "tasks/get", get.clone())).await.1));
    let answer = json!({"approve_outline": {"action": "accept", "content": {"approved": true}}});
    let update = json!({"taskId": id, "inputResponses": answer});
    lines.push(line(&ask(&server, &request(4, "tasks/update", update)).await.1));
    until_status(&server, id, "completed").await;
    lines.push(line(&ask(&server, &request(5, "tasks/get", get)).await.1));

    let expected = [
        "id=0 resultType=complete status=ack",
        "id=1 resultType=task status=working",
        "id=2 resultType=complete status=working",
        "id=3 resultType=complete status=input_required",
        "id=4 resultType=complete status=ack",
        "id=5 resultType=complete status=completed",
    ];
    assert_eq!(lines, expected);
}
