//! Calls that ask, with rounds that come to another process, and over the transports.

use std::sync::Arc;

use mcp_tasks::{Input, MemoryStore, Server, Store as _, TaskContext, ToolError, task_tool};
use serde_json::{Value, json};

use crate::server_harness::{error, report, request, request_declaring, result, until_status};
use crate::server_rounds::{
    Choice, Person, accept, asked_for, builder, called, forms, kept, person, refused, retry, send, server,
    text_of,
};
use crate::support::{count, eventually, pass};

/// S-33, S-35, X-55: a call goes on in the next process with what was answered and recorded, where its tool promised
/// it.
#[tokio::test]
async fn call_goes_on_after_a_restart_between_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let opened = async || builder(mcp_tasks::SqliteStore::open(&path).await.unwrap()).build().await.unwrap();
    let call = json!({"name": "pair", "arguments": {"counter": "restart between rounds"}});

    let one = opened().await;
    let asked = called(&one, call.clone()).await;
    assert_eq!(asked_for(&asked), ["left", "right"]);
    one.shutdown().await;

    let two = opened().await;
    let half = called(&two, retry(&call, &asked, json!({"left": person("Ann")}))).await;
    assert_eq!(asked_for(&half), ["right"]);
    two.shutdown().await;

    let three = opened().await;
    let last = called(&three, retry(&call, &half, json!({"right": person("Bob")}))).await;
    assert_eq!(asked_for(&last), ["dance"]);
    three.shutdown().await;

    let four = opened().await;
    let done = called(&four, retry(&call, &last, json!({"dance": accept(json!({"approved": false}))}))).await;
    assert_eq!(text_of(&done), "Ann and Bob sit");
    assert_eq!(count("restart between rounds"), 1);
    assert_eq!(kept(&four).await, 0);
    four.shutdown().await;
}

/// S-35, C-95: where the tool promised nothing, the client is told once what became of its call.
#[tokio::test]
async fn call_that_cannot_go_on_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = Arc::new(mcp_tasks::SqliteStore::open(&path).await.unwrap());
    let one = builder(Arc::clone(&store)).build().await.unwrap();
    let call = json!({"name": "confirm"});
    let asked = called(&one, call.clone()).await;
    // Killed: nothing more of this process reaches the file.
    store.close().await;

    let two = builder(mcp_tasks::SqliteStore::open(&path).await.unwrap()).build().await.unwrap();
    let answered = retry(&call, &asked, json!({"sure": accept(json!({"approved": true}))}));
    let (status, answer) = send(&two, answered.clone(), forms()).await;
    assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32_603)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("was interrupted"), "{answer}");
    assert!(refused(&two, answered).await.contains("is over"));
    assert_eq!(kept(&two).await, 0);
    two.shutdown().await;
}

/// C-69: what was answered before a task is there for it after a restart, also to a body that never came to ask.
#[tokio::test]
async fn answers_before_a_task_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let opened = async || {
        let store = mcp_tasks::SqliteStore::open(&path).await.unwrap();
        builder(store).tool::<late>().build().await.unwrap()
    };
    let one = opened().await;
    let call = json!({"name": "late"});
    let asked = result(&one, "tools/call", call.clone()).await;
    one.shutdown().await;

    // The state is good for the next process, and for one task over all of them.
    let two = opened().await;
    let answered = retry(&call, &asked, json!({"user_name": person("Alice")}));
    let created = result(&two, "tools/call", answered.clone()).await;
    let id = created["taskId"].as_str().unwrap();
    two.shutdown().await;

    let three = opened().await;
    assert!(error(&three, "tools/call", answered).await["message"].as_str().unwrap().contains("counts once"));
    let waits = until_status(&three, id, "input_required").await;
    assert_eq!(waits["inputRequests"].as_object().unwrap().len(), 1);
    result(&three, "tasks/update", json!({"taskId": id, "inputResponses": {"go_on": {"action": "cancel"}}}))
        .await;
    let ended = until_status(&three, id, "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "Late is Alice.");
    three.shutdown().await;
}

/// Comes late to what was asked first.
#[task_tool(restart = "rerun")]
async fn late(
    ctx: TaskContext,
    /// Who is there?
    #[ask(before_task)]
    user_name: Input<Person>,
    /// Go on?
    go_on: Input<Choice>,
) -> Result<String, ToolError> {
    go_on.ask(&ctx).await?;
    let name = user_name.ask(&ctx).await?.accepted().map(|person| person.name);
    Ok(format!("Late is {}.", name.unwrap_or_default()))
}

/// X-55, S-36: two servers over one database take the rounds in turn, whichever runs the body; both know what was used.
#[tokio::test]
async fn two_servers_over_one_database_take_rounds_in_turn() {
    use crate::postgres::{fresh, is_there};

    if !is_there() {
        return;
    }
    let place = fresh();
    let store = async || place.opened().await;
    let keyless = Server::builder("test-server", "1").store(store().await).tool::<report>();
    let told = keyless.build().await.unwrap_err();
    assert!(told.to_string().contains("`request_state_key`"), "{told}");
    let unasking = Server::builder("test-server", "1").store(store().await);
    unasking.tool::<crate::server_harness::job>().build().await.unwrap();

    let (one, two) =
        (builder(store().await).build().await.unwrap(), builder(store().await).build().await.unwrap());
    let call = json!({"name": "pair", "arguments": {"counter": "in turn"}});
    let asked = called(&one, call.clone()).await;
    assert_eq!(asked_for(&asked), ["left", "right"]);
    let half = called(&two, retry(&call, &asked, json!({"right": person("Bob")}))).await;
    assert_eq!(asked_for(&half), ["left"]);
    let last = called(&two, retry(&call, &half, json!({"left": person("Ann")}))).await;
    assert_eq!(asked_for(&last), ["dance"]);
    let again = called(&one, retry(&call, &asked, json!({}))).await;
    assert_eq!(asked_for(&again), ["dance"]);
    let done = called(&two, retry(&call, &last, json!({"dance": accept(json!({"approved": true}))}))).await;
    assert_eq!(text_of(&done), "Ann and Bob dance");
    assert_eq!(count("in turn"), 1);
    assert_eq!((kept(&one).await, kept(&two).await), (0, 0));
    one.engine().idle().await;

    let call = json!({"name": "test_tool_with_task", "arguments": {}});
    let asked = result(&one, "tools/call", call.clone()).await;
    let answered = retry(&call, &asked, json!({"user_name": person("Alice")}));
    let created = result(&two, "tools/call", answered.clone()).await;
    assert_eq!(created["resultType"], "task");
    let told = error(&one, "tools/call", answered).await;
    assert!(told["message"].as_str().unwrap().contains("counts once"), "{told}");
    until_status(&one, created["taskId"].as_str().unwrap(), "completed").await;
    one.shutdown().await;
    two.shutdown().await;
}

/// P043 over HTTP: headers as for any call, and status 200 for every round.
#[tokio::test]
async fn rounds_go_over_http() {
    use crate::http_client::{listen, post};

    let address = listen(server().await, mcp_tasks::transport::http::HttpOptions::default()).await;
    let call = json!({"name": "test_tool_with_task", "arguments": {}});
    let asked = post(address, &request(json!(1), "tools/call", call.clone())).await;
    assert_eq!(asked.status, 200);
    let asked = asked.json()["result"].clone();
    assert_eq!(asked_for(&asked), ["user_name"]);
    let forged = retry(&call, &json!({"requestState": "forged"}), json!({"user_name": person("Alice")}));
    let forged = post(address, &request(json!(2), "tools/call", forged)).await;
    assert_eq!((forged.status, forged.code()), (200, -32_602));
    let answered = retry(&call, &asked, json!({"user_name": person("Alice")}));
    let created = post(address, &request(json!(3), "tools/call", answered)).await.json();
    assert_eq!(created["result"]["resultType"], "task", "{created}");

    let call = json!({"name": "confirm"});
    let asked = post(address, &request_declaring(json!(4), "tools/call", call.clone(), forms())).await;
    let answered = retry(&call, &asked.json()["result"], json!({"sure": {"action": "decline"}}));
    let done = post(address, &request_declaring(json!(5), "tools/call", answered, forms())).await;
    assert_eq!((done.status, text_of(&done.json()["result"])), (200, "not sure"));
    let undeclared = post(address, &request_declaring(json!(6), "tools/call", call, json!({}))).await;
    assert_eq!((undeclared.status, undeclared.code()), (400, -32_021));
}

/// over stdio: a round that is cancelled has no answer, and its call is over.
#[tokio::test]
async fn rounds_go_over_stdio() {
    use crate::stdio_wire::Connection;

    let server = builder(MemoryStore::new()).tool::<stubborn_on_stdio>().build().await.unwrap();
    let mut connection = Connection::to(server.clone(), mcp_tasks::transport::stdio::StdioOptions::default());
    let mut ask = async |id: u32, params: Value| {
        connection.send_message(&request_declaring(json!(id), "tools/call", params, forms())).await;
        let answer = connection.next().await;
        assert_eq!(answer["id"], id);
        answer["result"].clone()
    };
    let call = json!({"name": "confirm"});
    let asked = ask(1, call.clone()).await;
    let done = ask(2, retry(&call, &asked, json!({"sure": accept(json!({"approved": true}))}))).await;
    assert_eq!(text_of(&done), "sure: true");

    let call = json!({"name": "stubborn_on_stdio"});
    let asked = ask(3, call.clone()).await;
    assert_eq!(asked_for(&asked), ["sure"]);
    let params = retry(&call, &asked, json!({"sure": {"action": "decline"}}));
    connection.send_message(&request_declaring(json!(4), "tools/call", params, forms())).await;
    eventually("the body", || count("stdio goes on") == 1).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}});
    connection.send_message(&cancelled).await;
    server.engine().idle().await;
    assert_eq!(kept(&server).await, 0);
    assert_eq!(connection.finish().await, Vec::<Value>::new());
}

/// Works until it is told to stop, after it was answered.
#[task_tool(task = "never")]
async fn stubborn_on_stdio(
    ctx: TaskContext,
    /// Sure?
    sure: Input<Choice>,
) -> Result<String, ToolError> {
    sure.ask(&ctx).await?;
    pass("stdio goes on");
    Err(ctx.cancelled().await.into())
}
