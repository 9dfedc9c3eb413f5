//! Questions of all kinds, alone and together: in tasks and in rounds, and only to clients that can be asked.

use std::sync::Arc;

use mcp_tasks::testing::{Backend, ManualClock};
use mcp_tasks::types::v2026_07_28::{
    CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage, SamplingMessageContent,
    SamplingMessageContentBlock, TextContent, ToolResultContent,
};
use mcp_tasks::{
    Answer, Input, MemoryStore, RootsInput, SamplingInput, Server, TaskContext, ToolError, UrlInput,
    task_tool,
};
use serde_json::{Value, json};

use crate::processes::Processes;
use crate::server_harness::{TASKS, create, error, request_declaring, result, until_status};
use crate::server_rounds::{Choice, Person, accept, kept, person, retry, send, text_of};
use crate::support::gate;

fn said(message: &CreateMessageResult) -> String {
    match &message.content {
        SamplingMessageContent::Block(SamplingMessageContentBlock::Text(text)) => text.text.clone(),
        _ => "something else".to_owned(),
    }
}

/// Asks for all there is, at once.
#[task_tool(restart = "rerun")]
async fn survey(
    ctx: TaskContext,
    /// Who is there?
    name: Input<Person>,
    /// Please log in.
    login: UrlInput,
    /// Greet them.
    #[ask(max_tokens = 50, system = "Be kind.")]
    greeting: SamplingInput,
    folders: RootsInput,
) -> Result<String, ToolError> {
    let (name, login, greeting, folders) =
        ctx.ask_all((&name, login.at("https://example.org/login?for=7"), &greeting, &folders)).await?;
    let name = name.accepted().map_or_else(|| "nobody".to_owned(), |person| person.name);
    let folders: Vec<String> = folders.into_iter().map(|root| root.uri).collect();
    Ok(format!("{name}, {login:?}, {}, {}", said(&greeting), folders.join(" ")))
}

/// Asks for what it can.
#[task_tool(require_input_capability = false)]
async fn modest(
    ctx: TaskContext,
    /// Who is there?
    name: Input<Person>,
    folders: RootsInput,
    /// Which of the two shall be asked in any case.
    insist: Option<String>,
) -> Result<String, ToolError> {
    let can = (ctx.can_ask(&name), ctx.can_ask(&folders));
    if can.0 || insist.as_deref() == Some("name") {
        name.ask(&ctx).await?;
    }
    if can.1 || insist.as_deref() == Some("folders") {
        folders.ask(&ctx).await?;
    }
    Ok(format!("{can:?}"))
}

/// Asks the model with more than its text.
#[task_tool(restart = "rerun")]
async fn converse(
    ctx: TaskContext,
    kind: String,
    /// Say something.
    model: SamplingInput,
    /// Please log in.
    login: UrlInput,
) -> Result<String, ToolError> {
    let text = |role, text: &str| {
        SamplingMessage::new(role, SamplingMessageContentBlock::Text(TextContent::new(text)))
    };
    let mut params = CreateMessageRequestParams::new(vec![text(Role::User, "Hello?")], 10);
    match kind.as_str() {
        "tools" => params = params.with_tools(Vec::new()),
        "orphan" => {
            let orphan = ToolResultContent::new("use-1", Vec::new());
            let blocks = SamplingMessageContentBlock::ToolResult(orphan);
            params.messages.push(SamplingMessage::new(Role::User, blocks));
        }
        "no address" => {
            login.ask(&ctx, "not an address").await?;
        }
        _ => {}
    }
    let can = ctx.can_ask(&model.with(params.clone()));
    let answer = model.with(params).ask(&ctx).await?;
    Ok(format!("{can} {}", said(&answer)))
}

/// Asks for everything before there is a task.
#[task_tool(task = "required")]
async fn prepared(
    ctx: TaskContext,
    /// Say something.
    #[ask(before_task)]
    words: SamplingInput,
    #[ask(before_task)] folders: RootsInput,
) -> Result<String, ToolError> {
    let (words, folders) = ctx.ask_all((&words, &folders)).await?;
    Ok(format!("{} {}", said(&words), folders.len()))
}

/// Loses interest in two questions and asks one of them twice.
#[task_tool(restart = "rerun")]
async fn fickle(
    ctx: TaskContext,
    gate_name: String,
    /// Who is there?
    name: Input<Person>,
    folders: RootsInput,
) -> Result<String, ToolError> {
    let opened = gate(&gate_name);
    tokio::select! {
        answers = ctx.ask_all((&name, &folders)) => { answers?; }
        permit = opened.acquire() => permit.map_err(|_| "closed")?.forget(),
    }
    let (one, other) = ctx.ask_all((&name, &name)).await?;
    let name = |answer: Answer<Person>| answer.accepted().map(|person| person.name).unwrap_or_default();
    Ok(format!("{} {}", name(one), name(other)))
}

/// Says where it is called for.
#[task_tool(task = "never")]
async fn routed(
    /// Where.
    #[arg(header = "Region")]
    region: Option<String>,
) -> Result<String, ToolError> {
    Ok(region.unwrap_or_default())
}

fn tools(builder: mcp_tasks::ServerBuilder) -> mcp_tasks::ServerBuilder {
    builder
        .request_state_key([7; 32])
        .tool::<survey>()
        .tool::<modest>()
        .tool::<converse>()
        .tool::<prepared>()
        .tool::<fickle>()
        .tool::<routed>()
}

async fn server() -> Server {
    tools(Server::builder("test-server", "1").store(MemoryStore::new())).build().await.unwrap()
}

fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

fn with_tasks(mut capabilities: Value) -> Value {
    capabilities["extensions"] = json!({TASKS: {}});
    capabilities
}

fn message(text: &str) -> Value {
    json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": text}})
}

fn roots() -> Value {
    json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]})
}

fn all_answers() -> Value {
    json!({
        "name": person("Ann"), "login": {"action": "accept"}, "greeting": message("Hi"), "folders": roots(),
    })
}

/// The result of a call that declares this.
async fn called(server: &Server, params: &Value, capabilities: Value) -> Value {
    let (status, answer) = send(server, params.clone(), capabilities).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// What a call that is refused would have to declare.
async fn lacking(server: &Server, params: &Value, capabilities: Value) -> Value {
    let (status, answer) = send(server, params.clone(), capabilities).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32_021)), "{answer}");
    answer["error"]["data"]["requiredCapabilities"].clone()
}

async fn task(server: &Server, params: Value, capabilities: Value) -> String {
    let created = called(server, &params, with_tasks(capabilities)).await;
    assert_eq!(created["resultType"], "task", "{created}");
    created["taskId"].as_str().unwrap().to_owned()
}

/// C-50, C-51, X-48, X-50, X-58: each kind is the request of its method, in a task as in the answer of a call.
#[tokio::test]
async fn every_kind_of_question_is_asked_in_tasks_and_in_rounds() {
    let server = server().await;
    let wanted = json!({
        "name": {"method": "elicitation/create", "params": {
            "mode": "form",
            "message": "Who is there?",
            "requestedSchema": {
                "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
            },
        }},
        "login": {"method": "elicitation/create", "params": {
            "mode": "url", "message": "Please log in.", "url": "https://example.org/login?for=7",
        }},
        "greeting": {"method": "sampling/createMessage", "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Greet them."}}],
            "maxTokens": 50,
            "systemPrompt": "Be kind.",
        }},
        "folders": {"method": "roots/list", "params": {}},
    });
    let told = "Ann, Accept(()), Hi, file:///a file:///b";

    let call = json!({"name": "survey"});
    let asked = called(&server, &call, everything()).await;
    assert_eq!(asked["inputRequests"], wanted);
    let done = called(&server, &retry(&call, &asked, all_answers()), everything()).await;
    assert_eq!(text_of(&done), told);
    assert_eq!(kept(&server).await, 0);

    let id = task(&server, call, everything()).await;
    let asks = until_status(&server, &id, "input_required").await;
    assert_eq!(asks["inputRequests"], wanted);
    result(&server, "tasks/update", json!({"taskId": id, "inputResponses": all_answers()})).await;
    let done = until_status(&server, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], told);
}

/// C-60, C-61, C-64, R-6: an answer has to be of the question's kind; one that is not keeps all others of its update
/// out; unknown keys are not looked at; what was taken stays.
#[tokio::test]
async fn answers_of_another_kind_are_refused_all_or_none() {
    let server = server().await;
    let id = task(&server, json!({"name": "survey"}), everything()).await;
    let open = async || {
        let snapshot = result(&server, "tasks/get", json!({"taskId": id})).await;
        let keys = snapshot["inputRequests"].as_object().map(|all| all.keys().cloned().collect::<Vec<_>>());
        keys.unwrap_or_default()
    };
    until_status(&server, &id, "input_required").await;
    for (key, wrong) in [
        ("name", roots()),
        ("name", message("Hi")),
        ("name", accept(json!({"name": 7}))),
        ("login", roots()),
        ("login", json!({"action": "perhaps"})),
        ("greeting", person("Ann")),
        ("greeting", json!({"role": "assistant", "model": "m"})),
        ("greeting", json!("Hi")),
        ("folders", message("Hi")),
        ("folders", json!({"roots": [7]})),
        ("folders", json!({"roots": [{"name": "no address"}]})),
    ] {
        let mut responses = all_answers();
        responses[key] = wrong;
        let refused =
            error(&server, "tasks/update", json!({"taskId": id, "inputResponses": responses})).await;
        assert_eq!(refused["code"], -32_602, "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(&format!("`{key}`")), "{refused}");
        assert_eq!(open().await, ["folders", "greeting", "login", "name"]);
    }
    for (answer, left) in [
        (json!({"greeting": message("Hi"), "other": 7}), &["folders", "login", "name"][..]),
        (json!({"greeting": 7, "folders": roots()}), &["login", "name"]),
        (json!({"login": {"action": "decline"}}), &["name"]),
    ] {
        result(&server, "tasks/update", json!({"taskId": id, "inputResponses": answer})).await;
        assert_eq!(open().await, left);
    }
    result(&server, "tasks/update", json!({"taskId": id, "inputResponses": {"name": {"action": "cancel"}}}))
        .await;
    let done = until_status(&server, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "nobody, Decline, Hi, file:///a file:///b");
}

/// C-66, X-35, X-36, X-59, R-5: nothing is asked of a client that did not declare it, and it is told what to declare,
/// before any work.
#[tokio::test]
async fn only_what_was_declared_is_asked() {
    let server = server().await;
    let call = json!({"name": "survey"});
    let url = json!({"elicitation": {"url": {}}});
    for (declared, wanted) in [
        (json!({}), everything()),
        (json!({"elicitation": {}, "sampling": {}, "roots": {}}), url),
        (json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}}), json!({"roots": {}})),
        (json!({"elicitation": {"form": {}, "url": {}}, "roots": {}}), json!({"sampling": {}})),
    ] {
        assert_eq!(lacking(&server, &call, declared.clone()).await, wanted);
        assert_eq!(lacking(&server, &call, with_tasks(declared)).await, wanted);
    }
    let missing = lacking(&server, &json!({"name": "prepared"}), json!({"sampling": {}})).await;
    assert_eq!(missing, json!({"extensions": {TASKS: {}}, "roots": {}}));
    assert_eq!(kept(&server).await, 0);
}

/// C-66, X-59, R-5: a tool that can do without asks what it can, and in rounds what it must not ask ends the round with
/// what to declare; the client can come back with that.
#[tokio::test]
async fn tool_that_can_do_without_asks_what_it_can() {
    let server = server().await;
    let (forms, roots_alone) = (json!({"elicitation": {}}), json!({"roots": {}}));
    let keys =
        |asked: &Value| asked["inputRequests"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let plain = json!({"name": "modest"});
    for (declared, key, answer, told) in [
        (&forms, "name", person("Ann"), "(true, false)"),
        (&roots_alone, "folders", roots(), "(false, true)"),
    ] {
        let asked = called(&server, &plain, declared.clone()).await;
        assert_eq!(keys(&asked), [key]);
        let done = called(&server, &retry(&plain, &asked, json!({key: answer})), declared.clone()).await;
        assert_eq!(text_of(&done), told);
    }
    // Nothing of what it asks could be asked.
    let missing = lacking(&server, &plain, json!({"sampling": {}})).await;
    assert_eq!(missing, json!({"elicitation": {"form": {}}, "roots": {}}));

    let insisting = json!({"name": "modest", "arguments": {"insist": "folders"}});
    let first = called(&server, &insisting, forms.clone()).await;
    let answered = retry(&insisting, &first, json!({"name": person("Ann")}));
    assert_eq!(lacking(&server, &answered, forms).await, roots_alone);
    let both = json!({"elicitation": {}, "roots": {}});
    let second = called(&server, &answered, both.clone()).await;
    assert_eq!(keys(&second), ["folders"]);
    let done = called(&server, &retry(&insisting, &second, json!({"folders": roots()})), both).await;
    assert_eq!(text_of(&done), "(true, false)");

    // In the first round there is nothing to come back with, and nothing is left.
    let insisting = json!({"name": "modest", "arguments": {"insist": "name"}});
    let missing = lacking(&server, &insisting, roots_alone).await;
    assert_eq!(missing, json!({"elicitation": {"form": {}}}));
    server.engine().idle().await;
    assert_eq!(kept(&server).await, 0);

    // a task can wait for whoever answers all the same.
    let id = task(&server, insisting, json!({})).await;
    let asks = until_status(&server, &id, "input_required").await;
    assert_eq!(keys(&asks), ["name"]);
}

/// tools are for clients whose models may use them, and results of tools stand where they belong.
#[tokio::test]
async fn model_is_asked_what_it_may_be_asked() {
    let server = server().await;
    let call = |kind: &str| json!({"name": "converse", "arguments": {"kind": kind}});
    let plain = json!({"elicitation": {"url": {}}, "sampling": {}});
    let with_tools = json!({"elicitation": {"url": {}}, "sampling": {"tools": {}}});

    let answer = json!({"model": message("Hello!")});
    for (kind, declared) in [("plain", &plain), ("tools", &with_tools)] {
        let asked = called(&server, &call(kind), declared.clone()).await;
        let done = called(&server, &retry(&call(kind), &asked, answer.clone()), declared.clone()).await;
        assert_eq!(text_of(&done), "true Hello!");
    }
    assert_eq!(lacking(&server, &call("tools"), plain.clone()).await, json!({"sampling": {"tools": {}}}));
    for (kind, declared, reason) in [
        ("tools", &plain, "needs what the client has not declared: `sampling.tools`"),
        ("orphan", &plain, "a result has no use"),
        ("no address", &plain, "its address is no URL"),
    ] {
        let id = task(&server, call(kind), declared.clone()).await;
        let failed = until_status(&server, &id, "failed").await;
        assert_eq!(failed["error"]["code"], -32_603, "{failed}");
        assert!(failed["error"]["message"].as_str().unwrap().contains(reason), "{failed}");
    }
}

/// C-69: what is asked before a task may be of any kind that is known by then.
#[tokio::test]
async fn questions_of_other_kinds_are_asked_before_a_task() {
    let server = server().await;
    let call = json!({"name": "prepared"});
    let asked = called(&server, &call, with_tasks(everything())).await;
    assert_eq!(asked["resultType"], "input_required");
    let half =
        called(&server, &retry(&call, &asked, json!({"folders": roots()})), with_tasks(everything())).await;
    assert_eq!(half["inputRequests"].as_object().unwrap().len(), 1);
    let answered = retry(&call, &half, json!({"words": message("Well.")}));
    let id = task(&server, answered, everything()).await;
    let done = until_status(&server, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Well. 2");
}

/// the attribute puts the mark into the tool's schema, and calls are held against it.
#[tokio::test]
async fn argument_is_repeated_in_its_header() {
    use crate::server_harness::{VERSION, ask_with};

    let server = server().await;
    let list = result(&server, "tools/list", json!({})).await;
    let tools = list["tools"].as_array().unwrap();
    let schema = &tools.iter().find(|tool| tool["name"] == "routed").unwrap()["inputSchema"];
    assert_eq!(schema["properties"]["region"]["x-mcp-header"], "Region", "{schema}");
    let params = json!({"name": "routed", "arguments": {"region": "eu"}});
    let call = request_declaring(json!(1), "tools/call", params, json!({}));
    let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", "tools/call"), ("Mcp-Name", "routed")];
    let with = |value| headers.into_iter().chain([("Mcp-Param-Region", value)]).collect::<Vec<_>>();
    assert_eq!(ask_with(&server, &with("eu"), &call).await.1["result"]["content"][0]["text"], "eu");
    for headers in [headers.to_vec(), with("us")] {
        assert_eq!(ask_with(&server, &headers, &call).await.1["error"]["code"], -32_020);
    }
}

/// Asks two at once.
#[task_tool(restart = "rerun")]
async fn pair_of_questions(
    ctx: TaskContext,
    /// Who is on the left?
    left: Input<Person>,
    /// Shall they dance?
    dance: Input<Choice>,
) -> Result<String, ToolError> {
    let (left, dance) = ctx.ask_all((&left, &dance)).await?;
    let name = left.accepted().map(|person| person.name).unwrap_or_default();
    Ok(format!("{name}: {}", matches!(dance, Answer::Accept(_))))
}

/// C-50, C-61, S-33, S-35: of two questions one is answered, the process dies, and the next one asks for the other
/// alone, once in a task and once in the rounds of a call.
async fn half_of_the_answers_survives<B: Backend>(backend: B) {
    let clock = Arc::new(ManualClock::default());
    let mut processes = Processes::new(backend.open().await.unwrap(), Arc::clone(&clock));
    let mut servers = Vec::new();
    let mut stores = Vec::new();
    for _ in 0..2 {
        let store = processes.view();
        let builder = Server::builder("test-server", "1").store(Arc::clone(&store)).clock(Arc::clone(&clock));
        servers.push(tools(builder).tool::<pair_of_questions>().build().await.unwrap());
        stores.push(store);
    }
    let (one, two) = (&servers[0], &servers[1]);
    let open = |asks: &Value| asks["inputRequests"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();

    let id = create(one, "pair_of_questions", json!({})).await;
    let asks = until_status(one, &id, "input_required").await;
    assert_eq!(open(&asks), ["dance", "left"]);
    let left = json!({"left": person("Ann")});
    result(one, "tasks/update", json!({"taskId": id, "inputResponses": left})).await;
    let call = json!({"name": "pair_of_questions"});
    let first = called(one, &call, everything()).await;
    let half = called(one, &retry(&call, &first, left), everything()).await;
    assert_eq!(open(&half), ["dance"]);

    stores[0].die();
    processes.pass(31_000).await;
    let asks = result(two, "tasks/get", json!({"taskId": id})).await;
    assert_eq!((&asks["status"], open(&asks)), (&json!("input_required"), vec!["dance".to_owned()]));
    let dance = json!({"dance": accept(json!({"approved": true})), "left": 7});
    result(two, "tasks/update", json!({"taskId": id, "inputResponses": dance})).await;
    let done = until_status(two, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Ann: true");
    let done = called(two, &retry(&call, &half, dance), everything()).await;
    assert_eq!(text_of(&done), "Ann: true");
}

#[tokio::test]
async fn half_of_the_answers_survives_over_memory() {
    half_of_the_answers_survives(crate::store::fresh()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn half_of_the_answers_survives_over_sqlite() {
    half_of_the_answers_survives(crate::sqlite::fresh()).await;
}

#[cfg(feature = "fs")]
#[tokio::test]
async fn half_of_the_answers_survives_over_fs() {
    half_of_the_answers_survives(crate::fs::fresh()).await;
}

#[cfg(all(unix, feature = "postgres"))]
#[tokio::test]
async fn half_of_the_answers_survives_over_postgres() {
    if crate::postgres::is_there() {
        half_of_the_answers_survives(crate::postgres::fresh()).await;
    }
}

/// C-52, C-60: questions that were asked together are taken back together, and what is asked again has keys of its own.
#[tokio::test]
async fn questions_that_were_asked_together_are_taken_back_together() {
    let server = server().await;
    let arguments = json!({"gate_name": "taken back together"});
    let id = task(&server, json!({"name": "fickle", "arguments": arguments}), everything()).await;
    let task_id = mcp_tasks::types::TaskId::from(id.as_str());
    let asked = async |keys: &[&str]| {
        let holds = |record: &mcp_tasks::TaskRecord| {
            record.outstanding().map(|input| input.key.as_str()).eq(keys.iter().copied())
        };
        let record = server.engine().wait(server.owner(), &task_id, holds).await.unwrap();
        assert!(holds(&record), "{record:?}");
    };
    asked(&["name", "folders"]).await;
    gate("taken back together").add_permits(1);
    asked(&["name#2", "name#3"]).await;
    let late =
        json!({"name": person("Nobody"), "folders": 7, "name#3": person("Bob"), "name#2": person("Ann")});
    result(&server, "tasks/update", json!({"taskId": id, "inputResponses": late})).await;
    let done = until_status(&server, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Ann Bob");
}
