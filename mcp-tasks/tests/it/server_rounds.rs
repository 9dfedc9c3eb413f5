//! Calls that ask in their answers: rounds for clients without tasks, and questions before a task.

use std::sync::Arc;

use mcp_tasks::server::{Incoming, RequestContext};
use mcp_tasks::testing::ManualClock;
use mcp_tasks::{
    Answer, Input, MemoryStore, Owner, Server, ServerBuilder, Store, TaskContext, ToolError, task_tool,
    tool_type,
};
use serde_json::{Value, json};

use crate::server_harness::{
    Back, TASKS, all_capabilities, error, report, request, request_declaring, result, until_status,
};
use crate::support::{count, eventually, pass};

#[tool_type]
pub(crate) struct Person {
    pub(crate) name: String,
}

#[tool_type]
pub(crate) struct Choice {
    approved: bool,
}

/// Asks two persons at once, and then a third one.
#[task_tool(restart = "rerun")]
pub(crate) async fn pair(
    ctx: TaskContext,
    /// Under which runs are counted.
    counter: String,
    /// Who is on the left?
    left: Input<Person>,
    /// Who is on the right?
    right: Input<Person>,
    /// Shall they dance?
    dance: Input<Choice>,
) -> Result<String, ToolError> {
    ctx.step("begin", async || Ok::<_, ToolError>(pass(&counter))).await?;
    ctx.status("Looking for a pair.").await?;
    let (one, other) = tokio::join!(left.ask(&ctx), right.ask(&ctx));
    let name = |answer: Answer<Person>| answer.accepted().map_or("nobody".to_owned(), |person| person.name);
    let (one, other) = (name(one?), name(other?));
    match dance.ask(&ctx).await? {
        Answer::Accept(Choice { approved: true }) => Ok(format!("{one} and {other} dance")),
        Answer::Accept(_) => Ok(format!("{one} and {other} sit")),
        Answer::Decline => Err(ToolError::cancelled("declined")),
        Answer::Cancel => Err(ToolError::protocol(-7, "closed")),
    }
}

/// Asks in any case in its answer.
#[task_tool(task = "never")]
pub(crate) async fn confirm(
    ctx: TaskContext,
    /// Sure?
    sure: Input<Choice>,
) -> Result<String, ToolError> {
    match sure.ask(&ctx).await? {
        Answer::Accept(Choice { approved }) => Ok(format!("sure: {approved}")),
        Answer::Decline | Answer::Cancel => Ok("not sure".to_owned()),
    }
}

/// Greets whoever is there, in a task.
#[task_tool(name = "test_tool_with_task", task = "required", restart = "rerun")]
pub(crate) async fn greet_in_a_task(
    ctx: TaskContext,
    /// Who is there?
    #[ask(before_task)]
    user_name: Input<Person>,
) -> Result<String, ToolError> {
    ctx.status("Greeting.").await?;
    match user_name.ask(&ctx).await? {
        Answer::Accept(Person { name }) => Ok(format!("Hello, {name}!")),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("nobody is there")),
    }
}

/// Asks for two things before, and for one of them again.
#[task_tool]
pub(crate) async fn order(
    ctx: TaskContext,
    /// How many.
    number: u8,
    /// Who wants it?
    #[ask(before_task)]
    who: Input<Person>,
    /// Who pays?
    #[ask(before_task)]
    payer: Input<Person>,
) -> Result<String, ToolError> {
    let name = |answer: Answer<Person>| answer.accepted().map_or("nobody".to_owned(), |person| person.name);
    let first = name(who.ask(&ctx).await?);
    let again = name(who.ask(&ctx).await?);
    Ok(format!("{number} for {first} and {again}, {} pays", name(payer.ask(&ctx).await?)))
}

pub(crate) fn builder(store: impl Store) -> ServerBuilder {
    Server::builder("test-server", "1.2.3")
        .store(store)
        .request_state_key([7; 32])
        .tool::<report>()
        .tool::<pair>()
        .tool::<confirm>()
        .tool::<greet_in_a_task>()
        .tool::<order>()
}

pub(crate) async fn server() -> Server {
    builder(MemoryStore::new()).build().await.unwrap()
}

pub(crate) fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// Sends a request as this owner, that declares this.
async fn send_as(server: &Server, owner: Owner, params: Value, capabilities: Value) -> Back {
    let message = request_declaring(json!(1), "tools/call", params, capabilities);
    let reply = server.answer(&RequestContext::new(owner), Incoming::read(message.to_string())).await;
    (reply.status(), serde_json::from_str(reply.text().unwrap()).unwrap())
}

pub(crate) async fn send(server: &Server, params: Value, capabilities: Value) -> Back {
    send_as(server, server.owner().clone(), params, capabilities).await
}

/// The result of a call by a client that knows forms and no tasks.
pub(crate) async fn called(server: &Server, params: Value) -> Value {
    let (status, answer) = send(server, params, forms()).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// The message of the error of such a call.
pub(crate) async fn refused(server: &Server, params: Value) -> String {
    let (status, answer) = send(server, params, forms()).await;
    assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32_602)), "{answer}");
    assert!(answer["error"].get("data").is_none());
    answer["error"]["message"].as_str().unwrap().to_owned()
}

/// The same call with these answers to what the result asks.
pub(crate) fn retry(params: &Value, asked: &Value, responses: Value) -> Value {
    let mut params = params.clone();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = responses;
    params
}

/// The keys that a round asks for; it is nothing but a round.
pub(crate) fn asked_for(asked: &Value) -> Vec<&str> {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(!asked["requestState"].as_str().unwrap().is_empty());
    let members: Vec<&str> = asked.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["_meta", "inputRequests", "requestState", "resultType"], "C-68: no taskId");
    let requests = asked["inputRequests"].as_object().unwrap();
    for request in requests.values() {
        let members: Vec<&str> = request.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["method", "params"], "X-58: {request}");
        assert_eq!(request["method"], "elicitation/create");
    }
    requests.keys().map(String::as_str).collect()
}

pub(crate) fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

pub(crate) fn person(name: &str) -> Value {
    accept(json!({"name": name}))
}

pub(crate) fn text_of(result: &Value) -> &str {
    assert_eq!(result["resultType"], "complete", "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

/// How many records there are, of whatever kind.
pub(crate) async fn kept(server: &Server) -> usize {
    server.engine().operators().list(None, 100).await.unwrap().records.len()
}

/// C-68, S-05, P071: the body that asks in a task asks in the answer where there is none.
#[tokio::test]
async fn p071_one_body_asks_in_a_task_and_in_the_answer_of_a_call() {
    let server = server().await;
    let call = json!({"name": "report", "arguments": {"size": "small"}});
    let asked = called(&server, call.clone()).await;
    assert_eq!(asked_for(&asked), ["approve_outline"]);
    let answered = retry(&call, &asked, json!({"approve_outline": accept(json!({"approved": true}))}));
    let done = called(&server, answered.clone()).await;
    let report = json!({"size": "small", "approved": true});
    assert_eq!((&done["resultType"], &done["structuredContent"]), (&json!("complete"), &report));
    assert!(done.get("requestState").is_none() && done.get("inputRequests").is_none());
    assert_eq!(kept(&server).await, 0);
    // What was answered is over.
    assert!(refused(&server, answered).await.contains("is over"));

    let task = result(&server, "tools/call", call).await;
    let id = task["taskId"].as_str().unwrap();
    let snapshot = until_status(&server, id, "input_required").await;
    assert_eq!(snapshot["inputRequests"], asked["inputRequests"]);
    let responses = json!({"taskId": id, "inputResponses": {"approve_outline": {"action": "decline"}}});
    result(&server, "tasks/update", responses).await;
    until_status(&server, id, "cancelled").await;
}

/// P071: declined and closed questions reach the body as what they are, and a tool that never is a task asks as well.
#[tokio::test]
async fn declined_and_closed_questions_reach_the_body() {
    let server = server().await;
    for (capabilities, response, told) in [
        (forms(), accept(json!({"approved": true})), "sure: true"),
        (all_capabilities(), accept(json!({"approved": false})), "sure: false"),
        (json!({"elicitation": {}}), json!({"action": "decline"}), "not sure"),
        (forms(), json!({"action": "cancel"}), "not sure"),
    ] {
        let call = json!({"name": "confirm"});
        let (_, asked) = send(&server, call.clone(), capabilities.clone()).await;
        assert_eq!(asked_for(&asked["result"]), ["sure"]);
        let (_, done) =
            send(&server, retry(&call, &asked["result"], json!({"sure": response})), capabilities).await;
        assert_eq!(text_of(&done["result"]), told);
    }
    assert_eq!(kept(&server).await, 0);
}

/// X-64, C-60: missing answers are asked for again, others are not looked at, wrong ones change nothing, and the body
/// runs once through all rounds.
#[tokio::test]
async fn answers_are_taken_all_or_none_and_missing_ones_asked_for_again() {
    let server = server().await;
    let call = json!({"name": "pair", "arguments": {"counter": "rounds"}});
    let asked = called(&server, call.clone()).await;
    assert_eq!(asked_for(&asked), ["left", "right"]);
    for wrong in [json!(12_345), json!({"action": "accept"}), accept(json!({"name": 7})), json!(null)] {
        let told =
            refused(&server, retry(&call, &asked, json!({"left": person("Ann"), "right": wrong}))).await;
        assert!(told.contains("`right`"), "{told}");
    }
    let still = called(&server, retry(&call, &asked, json!({"nobody": 12_345}))).await;
    assert_eq!(asked_for(&still), ["left", "right"], "none of the wrong ones was applied");
    assert_eq!(still["inputRequests"], asked["inputRequests"]);
    let half = called(&server, retry(&call, &still, json!({"left": person("Ann"), "dance": 7}))).await;
    assert_eq!(asked_for(&half), ["right"]);
    assert_ne!(half["requestState"], still["requestState"], "each round has a state of its own");
    // The first answer stays, whatever comes later.
    let both = json!({"left": 12_345, "right": person("Bob")});
    let last = called(&server, retry(&call, &half, both)).await;
    assert_eq!(asked_for(&last), ["dance"]);
    // A state of an earlier round is as good.
    let again = called(&server, retry(&call, &asked, json!({"left": person("Eve")}))).await;
    assert_eq!(asked_for(&again), ["dance"]);
    let done =
        called(&server, retry(&call, &last, json!({"dance": accept(json!({"approved": true}))}))).await;
    assert_eq!(text_of(&done), "Ann and Bob dance");
    assert_eq!(count("rounds"), 1);
    assert_eq!(kept(&server).await, 0);
}

/// However a call with questions ends, its client is told.
#[tokio::test]
async fn every_end_of_a_call_in_rounds_is_told() {
    let server = server().await;
    for (response, expected) in [
        (json!({"action": "decline"}), Ok("declined")),
        (json!({"action": "cancel"}), Err(json!({"code": -7, "message": "closed"}))),
    ] {
        let call = json!({"name": "pair", "arguments": {"counter": "every end"}});
        let asked = called(&server, call.clone()).await;
        let nobody = json!({"left": {"action": "decline"}, "right": {"action": "cancel"}});
        let asked = called(&server, retry(&call, &asked, nobody)).await;
        let (_, done) = send(&server, retry(&call, &asked, json!({"dance": response})), forms()).await;
        match expected {
            Ok(text) => {
                assert_eq!((text_of(&done["result"]), &done["result"]["isError"]), (text, &json!(true)));
            }
            Err(error) => assert_eq!(done["error"], error),
        }
        assert_eq!(kept(&server).await, 0);
    }
}

/// S-16: a state that was changed anywhere, of another owner, tool or call, or too old has no effect.
#[tokio::test]
async fn forged_foreign_and_old_states_have_no_effect() {
    let clock = Arc::new(ManualClock::default());
    let server =
        builder(MemoryStore::new()).clock(Arc::clone(&clock)).round_ms(60_000).build().await.unwrap();
    let kept_call = json!({"name": "confirm", "arguments": {}});
    let before = json!({"name": "test_tool_with_task", "arguments": {}});
    for (call, responses) in [
        (&kept_call, json!({"sure": accept(json!({"approved": true}))})),
        (&before, json!({"user_name": person("Alice")})),
    ] {
        let (_, asked) = send(&server, call.clone(), all_capabilities()).await;
        let asked = &asked["result"];
        asked_for(asked);
        let good = retry(call, asked, responses);
        let state = good["requestState"].as_str().unwrap();
        let records = kept(&server).await;
        let refused = async |params: Value, owner: Owner| {
            let (status, answer) = send_as(&server, owner, params, all_capabilities()).await;
            assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32_602)), "{answer}");
            answer["error"]["message"].as_str().unwrap().to_owned()
        };
        let own = server.owner();
        for place in 0..state.len() {
            let mut changed = state.to_owned().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let mut params = good.clone();
            params["requestState"] = String::from_utf8(changed).unwrap().into();
            assert!(refused(params.clone(), own.clone()).await.contains("not given out"), "{place}");
            params["requestState"] = state[..place].into();
            assert!(refused(params, own.clone()).await.contains("not given out"), "{place}");
        }
        assert!(refused(good.clone(), Owner::new("", "mallory")).await.contains("not given out"));
        let mut other_arguments = good.clone();
        other_arguments["arguments"] = json!({"more": 1});
        assert!(refused(other_arguments, own.clone()).await.contains("not given out"));
        let mut other_tool = good.clone();
        other_tool["name"] = json!("report");
        other_tool["arguments"] = json!({"size": "small"});
        assert!(refused(other_tool, own.clone()).await.contains("not given out"));
        assert_eq!(kept(&server).await, records);
        clock.advance(60_000);
        assert!(refused(good.clone(), own.clone()).await.contains("expired"));
        assert_eq!(kept(&server).await, records);
    }
    // Nobody's answer came to the body.
    assert_eq!(server.engine().running(), 1);
    clock.advance(15_000);
    eventually("the end of a call that nobody came back to", || server.engine().running() == 0).await;
    assert_eq!(kept(&server).await, 0);
}

/// X-59, C-66, X-12: what may be asked is what this very request declares.
#[tokio::test]
async fn each_round_asks_only_what_its_request_declares() {
    let server = server().await;
    let call = json!({"name": "confirm"});
    let before = json!({"name": "order", "arguments": {"number": 1}});
    for undeclared in [json!({}), json!({"elicitation": {"url": {}}}), json!({"extensions": {TASKS: {}}})] {
        for call in [&call, &before] {
            let (status, answer) = send(&server, call.clone(), undeclared.clone()).await;
            assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32_021)), "{answer}");
            assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": forms()}));
        }
    }
    assert_eq!(kept(&server).await, 0);
    let asked = called(&server, call.clone()).await;
    let good = retry(&call, &asked, json!({"sure": accept(json!({"approved": true}))}));
    let (_, answer) = send(&server, good.clone(), json!({})).await;
    assert_eq!(answer["error"]["code"], -32_021);
    assert_eq!(text_of(&called(&server, good).await), "sure: true");
}

/// A kept call is reached by its state and in no other way (S-29, C-68).
#[tokio::test]
async fn no_method_finds_a_call_that_waits() {
    let server = server().await;
    let call = json!({"name": "confirm"});
    let asked = called(&server, call.clone()).await;
    let page = server.engine().operators().list(None, 9).await.unwrap();
    let [record] = page.records.as_slice() else { panic!("{page:?}") };
    for (method, more) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {"sure": 7}})),
        ("tasks/cancel", json!({})),
    ] {
        let params = |id: &str| {
            let mut params = more.clone();
            params["taskId"] = id.into();
            params
        };
        let known = error(&server, method, params(record.id.as_str())).await;
        assert_eq!(known, error(&server, method, params("tsk_unknown")).await, "{method}");
        assert_eq!(known["code"], -32_602);
    }
    let (engine, owner) = (server.engine(), server.owner());
    assert!(engine.list(owner, None, 9).await.unwrap().records.is_empty());
    assert!(engine.watch(owner.clone(), [record.id.clone()]).next().await.unwrap().is_none());
    assert!(engine.outside(owner.clone()).fail(&record.id, "x").await.is_err());
    let done = called(&server, retry(&call, &asked, json!({"sure": {"action": "decline"}}))).await;
    assert_eq!(text_of(&done), "not sure");
    assert!(!engine.operators().list(None, 9).await.unwrap().records.iter().any(|left| left.id == record.id));
}

/// C-34, C-68, C-69, P043, X-55: the question comes first, without anything in the store, and its answer is in the
/// task.
#[tokio::test]
async fn p043_questions_before_a_task_are_asked_without_one() {
    let server = server().await;
    let call = json!({"name": "test_tool_with_task", "arguments": {}});
    let asked = result(&server, "tools/call", call.clone()).await;
    assert_eq!(asked_for(&asked), ["user_name"]);
    assert_eq!((kept(&server).await, server.engine().running()), (0, 0));
    let answered = retry(&call, &asked, json!({"user_name": person("Alice")}));
    let created = result(&server, "tools/call", answered.clone()).await;
    assert_eq!(created["resultType"], "task", "{created}");
    assert!(created.get("requestState").is_none() && created.get("inputRequests").is_none());
    let id = created["taskId"].as_str().unwrap();
    let ended = until_status(&server, id, "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "Hello, Alice!");
    assert_eq!(ended["result"]["resultType"], "complete");

    // once and no more, also when the task has ended.
    for _ in 0..2 {
        let told = error(&server, "tools/call", answered.clone()).await;
        assert_eq!(told["code"], -32_602);
        assert!(told["message"].as_str().unwrap().contains("counts once"), "{told}");
    }
    assert_eq!(kept(&server).await, 1);
}

/// of many equal retries at once one makes a task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_retries_at_once_makes_the_task() {
    let server = server().await;
    let call = json!({"name": "test_tool_with_task", "arguments": {}});
    let asked = result(&server, "tools/call", call.clone()).await;
    let answered = retry(&call, &asked, json!({"user_name": person("Alice")}));
    let mut retries = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (server, answered) = (server.clone(), answered.clone());
        retries.spawn(async move { send(&server, answered, all_capabilities()).await.1 });
    }
    let answers = retries.join_all().await;
    let made = answers.iter().filter(|answer| answer["result"]["resultType"] == "task").count();
    let told = answers.iter().filter(|answer| answer["error"]["code"] == -32_602).count();
    assert_eq!((made, told), (1, 15), "{answers:?}");
    assert_eq!(kept(&server).await, 1);
}

/// X-64, C-70, X-134: all questions at once, missing ones again with what was answered in the state, wrong arguments
/// before any question; a key that was used before the task is free for it.
#[tokio::test]
async fn questions_before_a_task_are_collected_over_rounds() {
    let server = server().await;
    let call = json!({"name": "order", "arguments": {"number": 3}});
    let malformed = error(&server, "tools/call", json!({"name": "order"})).await;
    assert_eq!(malformed["code"], -32_602);
    let bad = result(&server, "tools/call", json!({"name": "order", "arguments": {"number": -1}})).await;
    assert_eq!((&bad["isError"], &bad["resultType"]), (&json!(true), &json!("complete")));

    // Answers that nobody asked for are none.
    let mut early = call.clone();
    early["inputResponses"] = json!({"who": person("Eve"), "payer": person("Eve")});
    let asked = result(&server, "tools/call", early).await;
    assert_eq!(asked_for(&asked), ["payer", "who"]);
    let wrong = retry(&call, &asked, json!({"who": person("Ann"), "payer": 12_345}));
    let told = error(&server, "tools/call", wrong).await;
    assert_eq!(told["code"], -32_602);
    assert!(told["message"].as_str().unwrap().contains("`payer`"), "{told}");
    let half =
        result(&server, "tools/call", retry(&call, &asked, json!({"who": person("Ann"), "x": 1}))).await;
    assert_eq!(asked_for(&half), ["payer"]);
    let rest = json!({"payer": person("Bob"), "who": person("Eve")});
    let created = result(&server, "tools/call", retry(&call, &half, rest)).await;
    assert_eq!(created["resultType"], "task");
    let id = created["taskId"].as_str().unwrap();
    let waits = until_status(&server, id, "input_required").await;
    let keys: Vec<&String> = waits["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["who#2"]);
    let again = json!({"taskId": id, "inputResponses": {"who#2": person("Cid")}});
    result(&server, "tasks/update", again).await;
    let ended = until_status(&server, id, "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "3 for Ann and Cid, Bob pays");

    // The same for a client without tasks: the second question of the body is a further round.
    let asked = called(&server, call.clone()).await;
    assert_eq!(asked_for(&asked), ["payer", "who"]);
    let both = json!({"payer": {"action": "decline"}, "who": person("Ann")});
    let asked = called(&server, retry(&call, &asked, both)).await;
    assert_eq!(asked_for(&asked), ["who#2"]);
    let done = called(&server, retry(&call, &asked, json!({"who#2": person("Cid")}))).await;
    assert_eq!(text_of(&done), "3 for Ann and Cid, nobody pays");
    assert_eq!(kept(&server).await, 1, "the task");
}

/// what clients leave behind goes by itself, and counts among the owner's tasks until then.
#[tokio::test]
async fn calls_that_nobody_comes_back_to_are_bounded_and_go() {
    let clock = Arc::new(ManualClock::default());
    let builder = builder(MemoryStore::new()).clock(Arc::clone(&clock)).round_ms(60_000);
    let server = builder.engine(|engine| engine.max_tasks_of_owner(2)).build().await.unwrap();
    for _ in 0..5 {
        // Nothing is kept of these.
        called(&server, json!({"name": "order", "arguments": {"number": 1}})).await;
    }
    let call = json!({"name": "confirm"});
    let asked = called(&server, call.clone()).await;
    called(&server, call.clone()).await;
    let (_, answer) = send(&server, call.clone(), forms()).await;
    assert_eq!(answer["error"]["code"], -32_603, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("may not have more"));
    // One client comes back and waits for the other question: that one is not given up.
    clock.advance(59_000);
    let still = called(&server, retry(&call, &asked, json!({}))).await;
    assert_eq!(asked_for(&still), ["sure"]);
    clock.advance(16_000);
    eventually("the end of one", || server.engine().running() == 1).await;
    assert_eq!(kept(&server).await, 1);
    assert!(refused(&server, retry(&call, &asked, json!({}))).await.contains("expired"));
    let done = called(&server, retry(&call, &still, json!({"sure": {"action": "decline"}}))).await;
    assert_eq!(text_of(&done), "not sure");
    server.engine().idle().await;
    assert_eq!(kept(&server).await, 0);
}

/// a round that its client cancels ends the call, in the first round and in later ones.
#[tokio::test]
async fn cancelled_rounds_end_the_call() {
    let server = Server::builder("test-server", "1").tool::<stubborn>().build().await.unwrap();
    let call = json!({"name": "stubborn"});
    let asked = called(&server, call.clone()).await;
    assert_eq!((kept(&server).await, server.engine().running()), (1, 1));
    let going_on = tokio::spawn({
        let (server, params) =
            (server.clone(), retry(&call, &asked, json!({"sure": accept(json!({"approved": true}))})));
        async move { send(&server, params, forms()).await }
    });
    eventually("the body", || count("stubborn goes on") == 1).await;
    going_on.abort();
    server.engine().idle().await;
    assert_eq!(count("stubborn told"), 1);
    assert!(refused(&server, retry(&call, &asked, json!({}))).await.contains("is over"));
    assert_eq!(kept(&server).await, 0);
}

/// Works for ever after it was answered.
#[task_tool(task = "never")]
async fn stubborn(
    ctx: TaskContext,
    /// Sure?
    sure: Input<Choice>,
) -> Result<String, ToolError> {
    sure.ask(&ctx).await?;
    pass("stubborn goes on");
    let told = ctx.cancelled().await;
    pass("stubborn told");
    Err(told.into())
}

/// a task that waits is a snapshot like any other, and no answer of another method asks.
#[tokio::test]
async fn only_calls_are_answered_with_questions() {
    let server = server().await;
    let call = json!({"name": "report", "arguments": {"size": "small"}});
    let id = result(&server, "tools/call", call).await["taskId"].clone();
    let snapshot = until_status(&server, id.as_str().unwrap(), "input_required").await;
    assert_eq!(snapshot["resultType"], "complete");
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tasks/update", json!({"taskId": id, "inputResponses": {}})),
        ("tasks/cancel", json!({"taskId": id})),
    ] {
        assert_eq!(result(&server, method, params).await["resultType"], "complete", "{method}");
    }
}

/// P069: a client that cannot be asked is told what it lacks and has nothing to poll.
#[tokio::test]
async fn p069_a_client_that_cannot_be_asked_has_nothing_to_poll() {
    let server = server().await;
    let call = json!({"name": "report", "arguments": {"size": "small"}});
    for declared in [json!({}), json!({"extensions": {TASKS: {}}})] {
        let (_, answer) = send(&server, call.clone(), declared).await;
        assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": forms()}), "{answer}");
    }
    assert_eq!((kept(&server).await, server.engine().running()), (0, 0));
}

/// S-16: a key that is too short is refused, and one that is made at start is another server's nonsense.
#[tokio::test]
async fn states_belong_to_a_key() {
    let short = builder(MemoryStore::new()).request_state_key([7; 31]).build().await.unwrap_err();
    assert!(short.to_string().contains("31 bytes and needs 32"), "{short}");
    let made = async || Server::builder("test-server", "1").tool::<confirm>().build().await.unwrap();
    let (one, other) = (made().await, made().await);
    let call = json!({"name": "confirm"});
    let asked = called(&one, call.clone()).await;
    assert!(refused(&other, retry(&call, &asked, json!({}))).await.contains("not given out"));
    assert_eq!(asked_for(&called(&one, retry(&call, &asked, json!({}))).await), ["sure"]);
}

/// a retry is a request of its own.
#[tokio::test]
async fn retry_has_an_id_of_its_own() {
    let server = server().await;
    let call = json!({"name": "confirm"});
    let asked = called(&server, call.clone()).await;
    let message =
        request(json!("another"), "tools/call", retry(&call, &asked, json!({"sure": {"action": "cancel"}})));
    let (_, answer) = crate::server_harness::ask(&server, &message).await;
    assert_eq!((&answer["id"], text_of(&answer["result"])), (&json!("another"), "not sure"));
}

/// answers that come with the first call are answers to what the body asks, if they fit, and others are not
/// looked at; nothing that was not asked is needed.
#[tokio::test]
async fn answers_may_come_with_the_call() {
    let server = server().await;
    let yes = accept(json!({"approved": true}));
    let call = |responses: Value| json!({"name": "pair", "arguments": {"counter": "at once"}, "inputResponses": responses});
    let all = json!({"left": person("Ann"), "right": person("Bob"), "dance": yes, "more": 7});
    assert_eq!(text_of(&called(&server, call(all)).await), "Ann and Bob dance");
    let two = called(&server, call(json!({"left": person("Ann"), "right": person("Bob")}))).await;
    assert_eq!(asked_for(&two), ["dance"]);
    let wrong = called(&server, call(json!({"left": person("Ann"), "right": 12_345}))).await;
    assert_eq!(asked_for(&wrong), ["left", "right"]);
    assert_eq!(kept(&server).await, 2);
}
