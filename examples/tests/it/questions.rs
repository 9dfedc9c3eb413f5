//! Questions of every kind, to a client that has declared them.

use std::process::Command;

use mcp_tasks::types::v2026_07_28::extension;
use serde_json::{Value, json};

use crate::process::{HttpServer, request_declaring};

/// C-51, C-61, C-66: what can be asked is asked, several questions at once, and answered one by one.
#[test]
fn questions_of_every_kind_are_asked_and_answered() {
    let server = HttpServer::start(Command::new(env!("CARGO_BIN_EXE_questions")).arg("0"));
    let call = |tool: &str, capabilities: Value| {
        let params = json!({"name": tool, "arguments": {}});
        server.answer_to(None, &request_declaring(1, "tools/call", params, capabilities))
    };
    let mut capabilities =
        json!({"elicitation": {"form": {}, "url": {}}, "extensions": {extension::TASKS: {}}});
    let refused = call("set_up", capabilities.clone());
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"sampling": {}}), "{refused}");
    capabilities["sampling"] = json!({});
    let id = call("set_up", capabilities.clone())["result"]["taskId"].clone();
    let id = id.as_str().unwrap();
    let methods = |asks: &Value| {
        let all = asks["inputRequests"].as_object().unwrap().iter();
        all.map(|(key, request)| format!("{key}: {}", request["method"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let asks = server.status(id, "input_required");
    assert_eq!(methods(&asks), ["login: elicitation/create", "name: elicitation/create"]);
    assert_eq!(asks["statusMessage"], "Waiting for a name and for the login.");
    let update = |responses: Value| {
        server.result("tasks/update", json!({"taskId": id, "inputResponses": responses}));
    };
    update(json!({"login": {"action": "accept"}}));
    assert_eq!(methods(&server.status(id, "input_required")), ["name: elicitation/create"]);
    update(json!({"name": {"action": "accept", "content": {"name": "Ark"}}}));
    let motto = || {
        let asks = server.result("tasks/get", json!({"taskId": id}));
        asks["inputRequests"].get("motto").is_some().then_some(())
    };
    crate::process::until("the question for a motto", motto);
    let message =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Two by two."}});
    update(json!({"motto": message}));
    let done = server.status(id, "completed");
    assert_eq!(done["result"]["content"][0]["text"], "Ark, in no region: Two by two.");

    // Without roots the tool asks a person.
    for (more, key) in [("roots", "folders"), ("other", "folder")] {
        let mut capabilities = capabilities.clone();
        capabilities[more] = json!({});
        let id = call("folders", capabilities)["result"]["taskId"].clone();
        let asks = server.status(id.as_str().unwrap(), "input_required");
        assert!(asks["inputRequests"].get(key).is_some(), "{asks}");
    }
}
