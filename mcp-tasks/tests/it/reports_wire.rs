//! Public reports of faults in other servers, each as a small test over the real transports (`P` ids,
//! docs/conformance.md).

use std::net::SocketAddr;

use mcp_tasks::Server;
use mcp_tasks::transport::http::HttpOptions;
use mcp_tasks::transport::stdio::StdioOptions;
use serde_json::{Value, json};

use crate::http_client::{listen, post, post_with, send};
use crate::server_harness::{
    TASKS, VERSION, all_capabilities, meta, reaches_status, request, request_declaring, server,
};
use crate::stdio_wire::Connection;

/// One server behind both transports.
struct Both {
    server: Server,
    address: SocketAddr,
    stdio: Connection,
}

impl Both {
    async fn of(server: Server) -> Self {
        let address = listen(server.clone(), HttpOptions::default()).await;
        let stdio = Connection::to(server.clone(), StdioOptions::default());
        Self { server, address, stdio }
    }

    async fn open() -> Self {
        Self::of(server().await).await
    }

    /// The answers to the same message over both, with the status on HTTP.
    async fn ask(&mut self, message: &Value) -> [Value; 2] {
        let over_http = post(self.address, message).await;
        self.stdio.send_message(message).await;
        [over_http.json(), self.stdio.next().await]
    }

    /// The same of a request that has to be served.
    async fn result(&mut self, message: &Value) -> [Value; 2] {
        let answers = self.ask(message).await;
        for answer in &answers {
            assert!(answer["result"].is_object(), "{message}: {answer}");
        }
        answers.map(|answer| answer["result"].clone())
    }

    /// The id of a task that was made over HTTP.
    async fn create(&self, tool: &str) -> Value {
        let created = post(self.address, &call(tool, all_capabilities())).await.json();
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        created["result"]["taskId"].clone()
    }

    async fn status(&self, id: &Value) -> Value {
        let snapshot = post(self.address, &get(id)).await.json();
        snapshot["result"]["status"].clone()
    }

    async fn until(&self, id: &Value, status: &str) -> Value {
        reaches_status(&self.server, id, status).await;
        let snapshot = post(self.address, &get(id)).await.json();
        assert_eq!(snapshot["result"]["status"], status, "{snapshot}");
        snapshot["result"].clone()
    }
}

fn call(tool: &str, capabilities: Value) -> Value {
    let arguments = if tool == "add" { json!({"left": 1, "right": 2}) } else { json!({}) };
    request_declaring(json!(1), "tools/call", json!({"name": tool, "arguments": arguments}), capabilities)
}

fn get(id: &Value) -> Value {
    request(json!(2), "tasks/get", json!({"taskId": id}))
}

fn tasks_methods(id: &Value) -> [(&'static str, Value); 3] {
    [
        ("tasks/get", json!({"taskId": id})),
        ("tasks/update", json!({"taskId": id, "inputResponses": {}})),
        ("tasks/cancel", json!({"taskId": id})),
    ]
}

#[tokio::test]
async fn p027_only_the_declared_capability_opts_in() {
    let mut both = Both::open().await;
    for declared in [json!({"extensions": {TASKS: {}}}), json!({"extensions": {TASKS: {}, "other": {}}})] {
        for result in both.result(&call("add", declared.clone())).await {
            assert_eq!(result["resultType"], "task", "{declared}");
        }
    }
    // A key beside the capabilities, a key inside them that is not below `extensions`, and other identifiers.
    let mut beside = call("add", json!({}));
    beside["params"]["_meta"][TASKS] = json!({});
    for undeclared in [
        beside,
        call("add", json!({TASKS: {}})),
        call("add", json!({"tasks": {}})),
        call("add", json!({"experimental": {TASKS: {}}})),
        call("add", json!({"extensions": {"tasks": {}}})),
        call("add", json!({"extensions": {"IO.MODELCONTEXTPROTOCOL/TASKS": {}}})),
        call("add", json!({"extensions": {}})),
    ] {
        for result in both.result(&undeclared).await {
            assert_eq!(result["resultType"], "complete", "{undeclared}");
        }
    }
    // What is no declaration makes no task, whether it is refused or not.
    for odd in [json!(true), json!(null), json!([]), json!("yes")] {
        for answer in both.ask(&call("add", json!({"extensions": {TASKS: odd}}))).await {
            let told = (&answer["error"]["code"], &answer["result"]["resultType"]);
            assert!(*told.0 == -32_602 || *told.1 == "complete", "{odd}: {answer}");
        }
    }
}

/// P028, P034: what an earlier request of the connection declared does not count.
#[tokio::test]
async fn p028_each_request_declares_for_itself() {
    let mut both = Both::open().await;
    for _ in 0..2 {
        for result in both.result(&call("add", all_capabilities())).await {
            assert_eq!(result["resultType"], "task");
        }
        for result in both.result(&call("add", json!({}))).await {
            assert_eq!(
                (&result["resultType"], &result["content"][0]["text"]),
                (&json!("complete"), &json!("3"))
            );
            assert!(result.get("taskId").is_none());
        }
        for answer in both.ask(&call("job", json!({}))).await {
            assert_eq!(answer["error"]["code"], -32_021, "{answer}");
        }
    }
}

/// The half of 2026-07-28: what is missing is said in the words of the protocol, and a tool that is a task where it can
/// be is there for everybody.
#[tokio::test]
async fn p031_a_tool_that_has_to_be_a_task_says_what_the_client_lacks() {
    let mut both = Both::open().await;
    for answer in both.ask(&call("job", json!({"elicitation": {}}))).await {
        let error = &answer["error"];
        assert_eq!(error["code"], -32_021, "{answer}");
        assert_eq!(error["data"]["requiredCapabilities"], json!({"extensions": {TASKS: {}}}));
        let message = error["message"].as_str().unwrap().to_lowercase();
        for foreign in ["sdk", "callasync", "call_tool", "stream", "rmcp", "crate", "()"] {
            assert!(!message.contains(foreign), "{message}");
        }
    }
    for result in both.result(&call("add", json!({}))).await {
        assert_eq!(result["content"][0]["text"], "3");
    }
}

#[tokio::test]
async fn p032_the_task_methods_are_closed_to_who_does_not_declare() {
    let mut both = Both::open().await;
    let id = both.create("endless").await;
    for (method, params) in tasks_methods(&id) {
        for answer in both.ask(&request_declaring(json!(1), method, params, json!({}))).await {
            assert_eq!(answer["error"]["code"], -32_021, "{method}: {answer}");
        }
        assert_eq!(both.status(&id).await, "working", "{method}");
    }
    let before = post(both.address, &get(&id)).await.json();
    assert_eq!(post(both.address, &get(&id)).await.json(), before);
    assert!(before["result"].get("statusMessage").is_none());
}

#[tokio::test]
async fn p033_a_task_member_of_an_older_revision_is_no_member() {
    let mut both = Both::open().await;
    for (tool, capabilities, kind) in [
        ("echo", json!({}), "complete"),
        ("echo", all_capabilities(), "complete"),
        ("add", json!({}), "complete"),
        ("add", all_capabilities(), "task"),
    ] {
        for task in [json!({"ttl": 1_000}), json!({"ttl": -5}), json!(7), json!(null)] {
            let mut message = call(tool, capabilities.clone());
            message["params"]["task"] = task;
            if tool == "echo" {
                message["params"]["arguments"] = json!({"text": "me"});
            }
            for result in both.result(&message).await {
                assert_eq!(result["resultType"], kind, "{message}");
                assert!(kind == "complete" || result["ttlMs"] == 900_000, "{result}");
            }
        }
    }
}

/// The half of 2026-07-28: no hint of how a tool runs, whoever asks.
#[tokio::test]
async fn p035_a_list_of_this_revision_has_no_hints_about_tasks() {
    let mut both = Both::open().await;
    for capabilities in [all_capabilities(), json!({})] {
        for result in both.result(&request_declaring(json!(1), "tools/list", json!({}), capabilities)).await {
            let tools = result["tools"].as_array().unwrap();
            assert!(
                tools.iter().any(|tool| tool["name"] == "job")
                    && tools.iter().any(|tool| tool["name"] == "add")
            );
            assert!(tools.iter().all(|tool| tool.get("execution").is_none()), "{result}");
            assert!(!result.to_string().contains("taskSupport"));
        }
    }
}

/// A server here always has a store, so it announces the extension, and serves all of it.
#[tokio::test]
async fn p036_what_is_announced_is_served() {
    let mut both = Both::of(Server::builder("bare", "1").build().await.unwrap()).await;
    for result in both.result(&request(json!(1), "server/discover", json!({}))).await {
        assert_eq!(result["capabilities"]["extensions"], json!({TASKS: {}}));
    }
    for (method, params) in tasks_methods(&json!("tsk_unknown")) {
        for answer in both.ask(&request(json!(1), method, params)).await {
            assert_eq!(answer["error"]["code"], -32_602, "{method}: {answer}");
        }
    }
}

/// P050, P056: a cancellation is acknowledged whenever it comes, and an end stays what it was; a cancelled task has
/// neither a result nor an error.
#[tokio::test]
async fn p050_a_cancellation_after_the_end_is_acknowledged_and_changes_nothing() {
    let both = Both::open().await;
    let (completed, cancelled) = (both.create("job").await, both.create("endless").await);
    let cancel = |id: &Value| request(json!(3), "tasks/cancel", json!({"taskId": id}));
    post(both.address, &cancel(&cancelled)).await;
    let cancelled_then = both.until(&cancelled, "cancelled").await;
    assert!(cancelled_then.get("result").is_none() && cancelled_then.get("error").is_none());
    let completed_then = both.until(&completed, "completed").await;
    for (id, then) in [(completed, completed_then), (cancelled, cancelled_then)] {
        for _ in 0..2 {
            let acknowledged = post(both.address, &cancel(&id)).await.json();
            assert_eq!(acknowledged["result"]["resultType"], "complete", "{acknowledged}");
            assert_eq!(acknowledged["result"].as_object().unwrap().len(), 2, "{acknowledged}");
            assert_eq!(post(both.address, &get(&id)).await.json()["result"], then);
        }
    }
}

/// The server's half: whoever cannot answer learns all that it takes to answer later, and how long to wait before the
/// next look; looking changes nothing.
#[tokio::test]
async fn p069_a_task_that_waits_says_what_for_and_how_often_to_look() {
    let both = Both::open().await;
    let message = request(json!(1), "tools/call", json!({"name": "report", "arguments": {"size": "small"}}));
    let id = post(both.address, &message).await.json()["result"]["taskId"].clone();
    let waiting = both.until(&id, "input_required").await;
    assert_eq!(waiting["taskId"], id);
    assert_eq!(waiting["inputRequests"].as_object().unwrap().len(), 1);
    let question = &waiting["inputRequests"]["approve_outline"];
    // P078: a request without an envelope and without members of another revision.
    let members: Vec<&String> = question.as_object().unwrap().keys().collect();
    assert_eq!(members, ["method", "params"]);
    assert!(question["params"].get("task").is_none() && question["params"].get("_meta").is_none());
    assert!(waiting["pollIntervalMs"].as_u64().unwrap() >= 1_000);
    for _ in 0..10 {
        assert_eq!(post(both.address, &get(&id)).await.json()["result"], waiting);
    }
}

#[tokio::test]
async fn p086_a_client_that_goes_takes_nobodys_tasks_along() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    let open = || Connection::to(server.clone(), StdioOptions::default());
    let (mut one, mut two) = (open(), open());
    let mut ids = Vec::new();
    for connection in [&mut one, &mut two] {
        connection.send_message(&call("endless", all_capabilities())).await;
        ids.push(connection.next().await["result"]["taskId"].clone());
    }
    // One over HTTP as well, whose connection is closed after each answer.
    let over_http = post(address, &call("endless", all_capabilities())).await.json();
    ids.push(over_http["result"]["taskId"].clone());
    assert_eq!(one.finish().await, Vec::<Value>::new());
    let mut again = open();
    for connection in [&mut two, &mut again] {
        for id in &ids {
            connection.send_message(&get(id)).await;
            assert_eq!(connection.next().await["result"]["status"], "working");
        }
    }
    assert_eq!(server.engine().running(), 3);
}

/// By R-1 a missing name is taken unless the server is told otherwise, since a published client leaves it out.
#[tokio::test]
async fn p105_a_wrong_name_is_refused_and_a_missing_one_where_that_is_wanted() {
    let strict = Server::builder("strict", "1").require_task_name(true).build().await.unwrap();
    for (server, missing) in [(server().await, (200, -32_602)), (strict, (400, -32_020))] {
        let mut both = Both::of(server).await;
        for (method, params) in tasks_methods(&json!("tsk_1")) {
            let message = request(json!(1), method, params);
            let mut headers = vec![
                ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"),
                ("MCP-Protocol-Version", VERSION),
                ("Mcp-Method", method),
            ];
            let body = message.to_string();
            let without = send(both.address, "POST", &headers, body.as_bytes()).await;
            assert_eq!((without.status, without.code()), missing, "{method}");
            headers.push(("Mcp-Name", "tsk_2"));
            let wrong = send(both.address, "POST", &headers, body.as_bytes()).await;
            assert_eq!((wrong.status, wrong.code()), (400, -32_020), "{method}");
            headers.pop();
            headers.push(("Mcp-Name", "tsk_1"));
            let right = send(both.address, "POST", &headers, body.as_bytes()).await;
            assert_eq!((right.status, right.code()), (200, -32_602), "{method}");
            // On stdio there are no headers to miss.
            both.stdio.send_message(&message).await;
            assert_eq!(both.stdio.next().await["error"]["code"], -32_602, "{method}");
        }
    }
}

/// A fault of a header is told from an unknown task, and nothing is done.
#[tokio::test]
async fn p109_a_wrong_name_is_no_unknown_task() {
    let both = Both::open().await;
    let id = both.create("endless").await;
    for (method, params) in tasks_methods(&id) {
        let mut message = request(json!(1), method, params);
        message["params"]["_meta"] = meta(all_capabilities());
        let headers =
            [("MCP-Protocol-Version", VERSION), ("Mcp-Method", method), ("Mcp-Name", "tsk_of_somebody_else")];
        let refused = send(both.address, "POST", &headers, message.to_string().as_bytes()).await;
        assert_eq!((refused.status, refused.code()), (400, -32_020), "{method}");
        assert_eq!(both.status(&id).await, "working", "{method}");
    }
    let unknown = post_with(both.address, &[], &get(&json!("tsk_unknown"))).await;
    assert_eq!((unknown.status, unknown.code()), (200, -32_602));
}
