//! What results look like: discover, the list, calls, and the three task methods.

use std::sync::Arc;

use mcp_tasks::{
    ArgumentError, BoxFuture, Input, Server, TaskContext, TaskTool, ToolCall, ToolDefinition, ToolError,
    task_tool,
    testing::ManualClock,
    tool_type,
    types::{
        RawObject,
        v2026_07_28::{CallToolResult, ContentBlock, TextContent},
    },
};
use serde_json::{Value, json};

use crate::server_harness::{
    Approval, TASKS, VERSION, all_capabilities, ask, create, echo, endless, error, job, request,
    request_declaring, result, server, until_status,
};
use crate::support::eventually;

fn server_info(result: &Value) -> &Value {
    &result["_meta"]["io.modelcontextprotocol/serverInfo"]
}

/// C-17, C-27, S-04: and nothing that is not there.
#[tokio::test]
async fn discover_claims_what_is_there_and_nothing_else() {
    let server = server().await;
    let found = result(&server, "server/discover", json!({})).await;
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["supportedVersions"], json!([VERSION]));
    assert_eq!(found["capabilities"], json!({"tools": {"listChanged": true}, "extensions": {TASKS: {}}}));
    assert!(found["ttlMs"].is_u64());
    assert_eq!(found["cacheScope"], "public");
    assert_eq!(*server_info(&found), json!({"name": "test-server", "version": "1.2.3"}));
    assert!(found.get("instructions").is_none());
    assert!(found.get("serverInfo").is_none());
}

/// C-101, S-32
#[tokio::test]
async fn tools_are_listed_in_the_order_of_registration() {
    let server = server().await;
    let first = ask(&server, &request(json!(1), "tools/list", json!({}))).await;
    let again = ask(&server, &request_declaring(json!(1), "tools/list", json!({}), json!({}))).await;
    assert_eq!(first, again);
    let list = &first.1["result"];
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["cacheScope"], "public");
    assert!(list["ttlMs"].is_u64());
    assert!(list.get("nextCursor").is_none());
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "add", "job", "broken", "report", "hopeful", "endless", "explode"]);
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["description"].is_string(), "{tool}");
        assert!(tool.get("execution").is_none(), "{tool}");
    }
    let report = &tools[4];
    assert_eq!(report["inputSchema"]["required"], json!(["size"]));
    let size = &report["inputSchema"]["properties"]["size"];
    assert_eq!(size["type"], "string");
    assert_eq!(size["description"], "How long the report shall be.");
    assert_eq!(report["outputSchema"]["type"], "object");
}

/// one page, so no cursor is ours.
#[tokio::test]
async fn every_cursor_is_refused() {
    let server = server().await;
    for cursor in [json!("zzz"), json!(""), json!(7)] {
        let error = error(&server, "tools/list", json!({"cursor": cursor})).await;
        assert_eq!(error["code"], -32_602);
    }
}

///
#[tokio::test]
async fn every_result_says_who_the_server_is() {
    let server = server().await;
    let id = create(&server, "report", json!({"size": "large"})).await;
    until_status(&server, &id, "input_required").await;
    let answer = json!({"approve_outline": {"action": "accept", "content": {"approved": true}}});
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "echo", "arguments": {"text": "x"}})),
        ("tools/call", json!({"name": "job"})),
        ("tasks/get", json!({"taskId": id})),
        ("tasks/update", json!({"taskId": id, "inputResponses": answer})),
        ("tasks/cancel", json!({"taskId": id})),
    ] {
        let found = result(&server, method, params).await;
        assert_eq!(server_info(&found)["name"], "test-server", "{method}: {found}");
        let expected =
            if found.get("taskId").is_some() && method == "tools/call" { "task" } else { "complete" };
        assert_eq!(found["resultType"], expected, "{method}");
    }
}

/// what a program does to results beside that is done as well, one after the other.
#[tokio::test]
async fn results_are_finished_by_everybody_who_asked_to() {
    let add = |text: &'static str| {
        move |mut result: CallToolResult| {
            result.content.push(ContentBlock::from(TextContent::new(text)));
            result
        }
    };
    let server = Server::builder("test-server", "1.2.3")
        .engine(move |engine| engine.finish_results(add("first")).finish_results(add("second")))
        .tool::<echo>()
        .build()
        .await
        .unwrap();
    let found = result(&server, "tools/call", json!({"name": "echo", "arguments": {"text": "said"}})).await;
    let texts: Vec<&Value> =
        found["content"].as_array().unwrap().iter().map(|block| &block["text"]).collect();
    assert_eq!(texts, ["said", "first", "second"]);
    assert_eq!(server_info(&found)["name"], "test-server");
}

/// C-02, C-06, C-09, C-33, S-06
#[tokio::test]
async fn a_new_task_is_handed_over_flat_and_without_its_state() {
    let server = server().await;
    for (tool, arguments) in [("report", json!({"size": "large"})), ("job", json!({})), ("broken", json!({}))]
    {
        let params = json!({"name": tool, "arguments": arguments});
        let created = result(&server, "tools/call", params).await;
        assert_eq!(created["resultType"], "task");
        assert!(created["ttlMs"].is_u64());
        assert_eq!(created["pollIntervalMs"], 1_000);
        let known = [
            "resultType",
            "taskId",
            "status",
            "statusMessage",
            "createdAt",
            "lastUpdatedAt",
            "ttlMs",
            "pollIntervalMs",
            "_meta",
        ];
        for name in created.as_object().unwrap().keys() {
            assert!(known.contains(&name.as_str()), "{tool}: {name}");
        }
        let id = created["taskId"].as_str().unwrap();
        assert!(id.len() >= 32);
        // C-92
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        // C-31
        result(&server, "tasks/get", json!({"taskId": id})).await;
    }
}

/// C-03, C-04, C-05, C-37, C-44, C-46, S-10, S-11, C-15
#[tokio::test]
async fn a_snapshot_has_the_member_of_its_status_and_no_other() {
    let server = server().await;
    let own = |snapshot: &Value| {
        assert_eq!(snapshot["resultType"], "complete");
        ["inputRequests", "result", "error"].map(|name| snapshot.get(name).is_some())
    };

    let asked = create(&server, "report", json!({"size": "large"})).await;
    let waiting = until_status(&server, &asked, "input_required").await;
    assert_eq!(own(&waiting), [true, false, false]);
    let question = &waiting["inputRequests"]["approve_outline"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "form");
    assert_eq!(question["params"]["message"], "Approve the generated report outline?");
    let schema = &question["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["approved"]["type"], "boolean");
    assert_eq!(schema["required"], json!(["approved"]));
    assert!(question.get("id").is_none() && question.get("jsonrpc").is_none());

    let answer = json!({"approve_outline": {"action": "accept", "content": {"approved": true}}});
    let params = json!({"taskId": asked, "inputResponses": answer});
    let acknowledged = result(&server, "tasks/update", params).await;
    // C-07
    assert_eq!(acknowledged.as_object().unwrap().len(), 2, "{acknowledged}");
    let done = until_status(&server, &asked, "completed").await;
    assert_eq!(own(&done), [false, true, false]);
    let inner = &done["result"];
    assert_eq!(inner["resultType"], "complete");
    assert_eq!(server_info(inner)["name"], "test-server");
    assert_eq!(inner["_meta"].as_object().unwrap().len(), 1);
    assert_eq!(inner["structuredContent"], json!({"size": "large", "approved": true}));
    assert_eq!(inner["isError"], false);
    assert_eq!(inner["content"][0]["type"], "text");

    let failed = create(&server, "broken", json!({})).await;
    let failed = until_status(&server, &failed, "failed").await;
    assert_eq!(own(&failed), [false, false, true]);
    assert_eq!(failed["error"], json!({"code": -1_000, "message": "out of paper"}));
    // C-47
    assert!(failed["statusMessage"].is_string());

    let cancelled = create(&server, "endless", json!({})).await;
    let working = result(&server, "tasks/get", json!({"taskId": cancelled})).await;
    assert_eq!(own(&working), [false, false, false]);
    let acknowledged = result(&server, "tasks/cancel", json!({"taskId": cancelled})).await;
    assert_eq!(acknowledged.as_object().unwrap().len(), 2);
    let cancelled = until_status(&server, &cancelled, "cancelled").await;
    assert_eq!(own(&cancelled), [false, false, false]);
}

/// C-44, C-45, X-134
#[tokio::test]
async fn an_error_of_the_tool_completes_the_task() {
    let server = server().await;
    let id = create(&server, "add", json!({"left": u32::MAX, "right": 1})).await;
    let done = until_status(&server, &id, "completed").await;
    assert_eq!(done["result"]["isError"], true);
    assert_eq!(done["result"]["content"][0]["text"], "the sum is too large");
}

/// S-07: the protocol has no identity of a call beyond its request, so a call that is sent again is another one.
#[tokio::test]
async fn a_call_that_is_sent_again_makes_a_second_task() {
    let server = server().await;
    let call = request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}));
    let mut ids = Vec::new();
    for _ in 0..2 {
        // The first answer is lost on its way.
        ids.push(ask(&server, &call).await.1["result"]["taskId"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        assert_eq!(result(&server, "tasks/get", json!({"taskId": id})).await["status"], "working");
    }
}

/// told before a task exists.
#[tokio::test]
async fn a_malformed_call_is_an_error_and_a_bad_value_is_a_result() {
    let server = server().await;
    for (params, code) in [
        (json!({"name": "nobody"}), -32_602),
        (json!({"name": "add", "arguments": {"left": 1}}), -32_602),
        (json!({"name": "add"}), -32_602),
        (json!({"name": "add", "arguments": []}), -32_602),
        (json!({"name": "add", "arguments": null, "odd": 1}), -32_602),
        (json!({"name": "echo", "arguments": {"text": "x"}, "requestState": "forged"}), -32_602),
    ] {
        let error = error(&server, "tools/call", params.clone()).await;
        assert_eq!(error["code"], code, "{params}");
        assert!(error.get("data").is_none());
    }
    let unknown = error(&server, "tools/call", json!({"name": "nobody"})).await;
    assert_eq!(unknown["message"], "Unknown tool: nobody");

    let params = json!({"name": "add", "arguments": {"left": 1, "right": -1}});
    let told = result(&server, "tools/call", params).await;
    assert_eq!(told["resultType"], "complete");
    assert_eq!(told["isError"], true);
    assert!(told["content"][0]["text"].as_str().unwrap().contains("right"));
}

/// C-30, S-05
#[tokio::test]
async fn task_wishes_of_older_revisions_are_ignored() {
    let server = server().await;
    let params = json!({
        "name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 60_000}, "inputResponses": {},
    });
    let mut message = request(json!(1), "tools/call", params);
    message["params"]["_meta"]["task"] = json!({"required": true});
    let (_, answer) = ask(&server, &message).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["content"][0]["text"], "x");
}

/// C-18, C-19, C-20, C-21, C-25, C-66, R-5, X-12, X-33, X-35, X-36
#[tokio::test]
async fn what_a_tool_needs_has_to_be_declared_by_the_request() {
    let server = server().await;
    let tasks = json!({"extensions": {TASKS: {}}});
    let forms = json!({"elicitation": {"form": {}}});
    let table = [
        ("echo", json!({}), Ok("complete")),
        ("echo", all_capabilities(), Ok("complete")),
        ("add", json!({}), Ok("complete")),
        ("add", tasks.clone(), Ok("task")),
        ("job", tasks.clone(), Ok("task")),
        ("job", json!({}), Err(tasks.clone())),
        ("job", json!({"tasks": {"requests": {}}}), Err(tasks.clone())),
        ("report", all_capabilities(), Ok("task")),
        ("report", json!({"elicitation": {}, "extensions": {TASKS: {}}}), Ok("task")),
        ("report", tasks.clone(), Err(forms.clone())),
        ("report", json!({"elicitation": {"url": {}}, "extensions": {TASKS: {}}}), Err(forms.clone())),
        ("report", forms.clone(), Ok("input_required")),
        ("report", json!({}), Err(forms.clone())),
        ("hopeful", tasks.clone(), Ok("task")),
        ("hopeful", json!({}), Err(forms.clone())),
        ("hopeful", forms.clone(), Ok("input_required")),
    ];
    for (tool, declared, expected) in table {
        let arguments = json!({"text": "x", "left": 1, "right": 2, "size": "small"});
        let params = json!({"name": tool, "arguments": arguments});
        let message = request_declaring(json!(1), "tools/call", params, declared.clone());
        let (status, answer) = ask(&server, &message).await;
        match expected {
            Ok(kind) => {
                assert_eq!(answer["result"]["resultType"], kind, "{tool} {declared}: {answer}");
                assert_eq!(status, 200);
            }
            Err(required) => {
                let data = &answer["error"]["data"];
                assert_eq!(*data, json!({"requiredCapabilities": required}), "{tool} {declared}");
                assert_eq!(answer["error"]["code"], -32_021);
                assert_eq!(status, 400);
            }
        }
    }
}

/// X-12, C-22: what an earlier request declared does not count.
#[tokio::test]
async fn task_methods_need_the_extension_whether_or_not_the_task_exists() {
    let server = server().await;
    let id = create(&server, "endless", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut answers = Vec::new();
        for task_id in [id.as_str(), "tsk_unknown"] {
            let params = json!({"taskId": task_id, "inputResponses": {}});
            let message = request_declaring(json!(1), method, params, json!({"tasks": {}}));
            answers.push(ask(&server, &message).await);
        }
        assert_eq!(answers[0], answers[1]);
        let data = &answers[0].1["error"]["data"];
        assert_eq!(*data, json!({"requiredCapabilities": {"extensions": {TASKS: {}}}}));
    }
}

/// C-60, C-61, C-62, C-63, C-64, C-65, R-6, S-14: polled twice and answered twice, and answered once in effect.
#[tokio::test]
async fn an_update_takes_what_is_asked_and_ignores_the_rest() {
    let server = server().await;
    let id = create(&server, "report", json!({"size": "small"})).await;
    until_status(&server, &id, "input_required").await;
    let update = |responses: Value| json!({"taskId": id, "inputResponses": responses});

    for malformed in [json!(null), json!([]), json!("x")] {
        let error = error(&server, "tasks/update", update(malformed)).await;
        assert_eq!(error["code"], -32_602);
    }
    let no_responses = error(&server, "tasks/update", json!({"taskId": id})).await;
    assert_eq!(no_responses["code"], -32_602);
    for unfit in [
        json!({"action": "maybe"}),
        json!({"action": "accept", "content": {"approved": "yes"}}),
        json!({"action": "accept", "content": {}}),
        json!(7),
    ] {
        let error = error(&server, "tasks/update", update(json!({"approve_outline": unfit}))).await;
        assert_eq!(error["code"], -32_602, "{unfit}");
    }
    result(&server, "tasks/update", update(json!({"other": {"ignored": true}, "odd": 7}))).await;
    let waiting = result(&server, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(waiting["status"], "input_required");
    assert_eq!(result(&server, "tasks/get", json!({"taskId": id})).await, waiting);

    let accept = json!({"action": "accept", "content": {"approved": false}});
    let params = update(json!({"approve_outline": accept, "other": 1}));
    result(&server, "tasks/update", params).await;
    // C-59: visible before the acknowledgement leaves.
    let next = result(&server, "tasks/get", json!({"taskId": id})).await;
    assert_ne!(next["status"], "input_required");
    let done = until_status(&server, &id, "completed").await;
    let params = update(json!({"approve_outline": {"action": "decline"}}));
    result(&server, "tasks/update", params).await;
    assert_eq!(result(&server, "tasks/get", json!({"taskId": id})).await, done);
}

/// C-62, C-74, C-94, C-96, R-3
#[tokio::test]
async fn an_unknown_task_is_the_same_error_for_every_method() {
    let server = server().await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": "tsk_unknown", "inputResponses": {}});
        let error = error(&server, method, params).await;
        let expected = json!({"code": -32_602, "message": "Failed to retrieve task: Task not found"});
        assert_eq!(error, expected);
    }
}

/// C-71, C-73, C-36, S-17, R-7
#[tokio::test]
async fn cancelling_is_acknowledged_however_often_and_changes_no_ended_task() {
    let server = server().await;
    let waiting = create(&server, "report", json!({"size": "small"})).await;
    until_status(&server, &waiting, "input_required").await;
    result(&server, "tasks/cancel", json!({"taskId": waiting})).await;
    let first = result(&server, "tasks/get", json!({"taskId": waiting})).await;
    assert_eq!(first["status"], "cancelled");
    result(&server, "tasks/cancel", json!({"taskId": waiting})).await;
    assert_eq!(result(&server, "tasks/get", json!({"taskId": waiting})).await, first);

    let done = create(&server, "job", json!({})).await;
    let completed = until_status(&server, &done, "completed").await;
    result(&server, "tasks/cancel", json!({"taskId": done})).await;
    assert_eq!(result(&server, "tasks/get", json!({"taskId": done})).await, completed);
}

/// S-12
#[tokio::test]
async fn a_declined_question_ends_the_task_as_the_tool_says() {
    let server = server().await;
    let id = create(&server, "report", json!({"size": "small"})).await;
    until_status(&server, &id, "input_required").await;
    let responses = json!({"approve_outline": {"action": "decline"}});
    let params = json!({"taskId": id, "inputResponses": responses});
    result(&server, "tasks/update", params).await;
    let end = until_status(&server, &id, "cancelled").await;
    assert_eq!(end["statusMessage"], "not approved");
}

/// a tool's own protocol error, where the call is answered in place.
#[tokio::test]
async fn a_protocol_error_of_an_inline_call_is_the_answer() {
    let server = server().await;
    let params = json!({"name": "broken", "arguments": {}});
    let message = request_declaring(json!(1), "tools/call", params, json!({}));
    let (status, answer) = ask(&server, &message).await;
    assert_eq!(status, 200);
    assert_eq!(answer["error"], json!({"code": -1_000, "message": "out of paper"}));
}

///
#[tokio::test]
async fn ids_come_back_with_value_and_type() {
    let server = server().await;
    for id in [json!(0), json!(-7), json!("7"), json!(""), json!("\u{e9}\n"), json!(i64::MAX)] {
        let (_, answer) = ask(&server, &request(id.clone(), "tools/list", json!({}))).await;
        assert_eq!(answer["id"], id);
        let (_, answer) = ask(&server, &request(id.clone(), "unknown", json!({}))).await;
        assert_eq!(answer["id"], id);
    }
}

/// A tool that somebody wrote by hand, with a name that clients do not take.
struct Misnamed;

impl TaskTool for Misnamed {
    const NAME: &'static str = "my tool";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<NoArguments, Result<String, ToolError>>(Self::NAME)
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        echo::check(arguments)
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        echo::run(call)
    }
}

#[tool_type]
struct NoArguments {}

#[tool_type]
struct Nested {
    inner: Approval,
}

/// Asks for what no form can hold.
#[task_tool(task = "never")]
async fn impatient(
    ctx: TaskContext,
    /// Go on?
    go_on: Input<Nested>,
) -> Result<String, ToolError> {
    go_on.ask(&ctx).await?;
    Ok(String::new())
}

/// S-06: where the builder says something about all tasks, the record says it as well.
#[tokio::test]
async fn settings_of_the_server_reach_its_tasks() {
    let clock = Arc::new(ManualClock::default());
    let builder = Server::builder("s", "1").clock(Arc::clone(&clock)).poll_ms(250);
    let builder = builder.expired_retention_ms(5_000).shutdown_grace_ms(70);
    let server = builder.tool::<endless>().tool::<stubborn>().build().await.unwrap();
    let get = async |id: &str| ask(&server, &request(json!(1), "tasks/get", json!({"taskId": id}))).await.1;

    let id = create(&server, "endless", json!({})).await;
    assert_eq!(get(&id).await["result"]["pollIntervalMs"], 250);
    let record = server.engine().get(server.owner(), &id.as_str().into()).await.unwrap();
    assert_eq!(record.poll_interval_ms, Some(250));

    // an hour, the usual lifetime, and the retention.
    clock.advance(3_600_000);
    assert_eq!(get(&id).await["result"]["status"], "failed");
    clock.advance(4_999);
    assert_eq!(get(&id).await["result"]["status"], "failed");
    clock.advance(1);
    assert_eq!(get(&id).await["error"]["code"], -32_602);

    create(&server, "stubborn", json!({})).await;
    let engine = server.engine().clone();
    let shutdown = tokio::spawn(async move { engine.shutdown().await });
    let due = mcp_tasks::Clock::now_millis(&*clock) + 70;
    eventually("the grace", || clock.next_deadline().is_some_and(|next| next.unix_millis() == due)).await;
    clock.advance(70);
    shutdown.await.unwrap();
    assert_eq!(server.engine().running(), 0);
}

/// Hears nothing.
#[task_tool(task = "required")]
async fn stubborn() -> Result<String, ToolError> {
    std::future::pending().await
}

/// A type whose author describes it by somebody else's schema.
#[derive(serde::Serialize, serde::Deserialize)]
struct Elsewhere {}

impl schemars::JsonSchema for Elsewhere {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Elsewhere".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"$ref": "https://schemas.example/thing.json"})
    }
}

/// Takes what is described elsewhere.
#[task_tool]
async fn remote(thing: Elsewhere) -> Result<Elsewhere, ToolError> {
    Ok(thing)
}

/// nothing is fetched, when the server is built or ever.
#[tokio::test]
async fn schemas_of_other_hosts_are_refused_when_the_server_is_built() {
    let error = Server::builder("s", "1").tool::<echo>().tool::<remote>().build().await.unwrap_err();
    let faults = error.faults();
    assert!(faults.iter().all(|fault| fault.tool == "remote") && !faults.is_empty(), "{error}");
    assert!(error.to_string().contains("https://schemas.example/thing.json"), "{error}");
}

///
#[tokio::test]
async fn all_faults_of_all_tools_are_told_at_once() {
    let error = Server::builder("s", "1")
        .tool::<echo>()
        .tool::<Misnamed>()
        .tool::<job>()
        .tool::<job>()
        .tool::<impatient>()
        .build()
        .await
        .unwrap_err();
    let faults: Vec<&str> = error.faults().iter().map(|fault| fault.tool.as_str()).collect();
    assert_eq!(faults, ["my tool", "job", "impatient"], "{error}");
}
