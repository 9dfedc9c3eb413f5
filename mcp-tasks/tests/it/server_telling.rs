//! What calls tell before their answers: progress, log messages, and the trace that goes along.

use std::sync::Arc;

use mcp_tasks::server::{Incoming, Outgoing, RequestContext};
use mcp_tasks::testing::ManualClock;
use mcp_tasks::{Input, LoggingLevel, MemoryStore, Server, TaskContext, ToolError, task_tool};
use serde_json::{Value, json};

use crate::engine_log::Log;
use crate::server_harness::{VERSION, all_capabilities, until_status};
use crate::server_rounds::{Choice, accept, asked_for, forms, retry};
use crate::support::{eventually, gate, pass};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Counts to a number.
#[task_tool(task = "never")]
async fn count_to(ctx: TaskContext, number: u32) -> Result<String, ToolError> {
    for done in 1..=number {
        ctx.progress(done.into(), Some(number.into()), Some("Counting.")).await?;
    }
    Ok("counted".to_owned())
}

/// Says all that must not be told.
#[task_tool(task = "never")]
async fn numbers(ctx: TaskContext) -> Result<String, ToolError> {
    for done in [f64::NAN, 2.0, 2.0, f64::INFINITY, 1.0, -1.0, 2.5] {
        ctx.progress(done, Some(f64::NAN), None).await?;
    }
    Ok("said".to_owned())
}

/// Logs on all levels.
#[task_tool(task = "never")]
async fn chatter(ctx: TaskContext) -> Result<String, ToolError> {
    for level in LoggingLevel::ALL {
        ctx.log(*level, json!({"level": level.as_str()})).await?;
    }
    Ok("logged".to_owned())
}

/// Logs one thing again and again.
#[task_tool(task = "never")]
async fn shout(ctx: TaskContext, number: u32) -> Result<String, ToolError> {
    for _ in 0..number {
        ctx.log(LoggingLevel::Error, "hey").await?;
    }
    Ok("logged".to_owned())
}

/// Tells what it knows of its trace.
#[task_tool(task = "never")]
async fn traced(ctx: TaskContext) -> Result<String, ToolError> {
    ctx.progress(1.0, None, None).await?;
    ctx.log(LoggingLevel::Error, "traced").await?;
    let trace = ctx.trace_context();
    Ok(json!([trace.traceparent, trace.tracestate, trace.baggage]).to_string())
}

/// Tells while it works in a task.
#[task_tool(restart = "rerun")]
async fn working(
    ctx: TaskContext,
    /// Go on?
    go_on: Input<Choice>,
) -> Result<String, ToolError> {
    for done in 1..=100 {
        ctx.progress(done.into(), Some(100.0), Some(&format!("{done} %"))).await?;
        ctx.log(LoggingLevel::Emergency, "it works").await?;
    }
    go_on.ask(&ctx).await?;
    Ok(ctx.trace_context().traceparent.unwrap_or_default())
}

/// Tells in two rounds.
#[task_tool(task = "never")]
async fn rounds(
    ctx: TaskContext,
    /// Go on?
    go_on: Input<Choice>,
) -> Result<String, ToolError> {
    ctx.progress(1.0, None, None).await?;
    go_on.ask(&ctx).await?;
    ctx.progress(2.0, None, None).await?;
    Ok("done".to_owned())
}

/// Goes on telling when nobody listens any more.
#[task_tool(task = "never", cancel_grace = "1h")]
async fn stubborn(ctx: TaskContext, gate_name: String) -> Result<String, ToolError> {
    ctx.progress(1.0, None, None).await?;
    gate(&gate_name).acquire().await.map_err(|_| "closed")?.forget();
    // It is told that the run is over, and nobody else is told anything.
    let told = ctx.progress(2.0, None, None).await;
    pass(&format!("{gate_name}: {}", told.is_err()));
    Ok("done".to_owned())
}

/// Tells before it is a task and after.
#[task_tool(grace = "5s")]
async fn becoming(ctx: TaskContext, gate_name: String) -> Result<String, ToolError> {
    ctx.progress(1.0, None, Some("begun")).await?;
    gate(&gate_name).acquire().await.map_err(|_| "closed")?.forget();
    ctx.progress(2.0, None, Some("nearly done")).await?;
    ctx.log(LoggingLevel::Emergency, "it works").await?;
    gate(&gate_name).acquire().await.map_err(|_| "closed")?.forget();
    Ok("done".to_owned())
}

/// Counts without a word.
#[task_tool]
async fn silent(ctx: TaskContext, gate_name: String) -> Result<String, ToolError> {
    gate(&gate_name).acquire().await.map_err(|_| "closed")?.forget();
    ctx.progress(1.0, Some(2.0), None).await?;
    gate(&gate_name).acquire().await.map_err(|_| "closed")?.forget();
    Ok("done".to_owned())
}

async fn server_on(clock: Arc<ManualClock>) -> Server {
    Server::builder("test-server", "1")
        .store(MemoryStore::new())
        .request_state_key([7; 32])
        .clock(clock)
        .tool::<count_to>()
        .tool::<numbers>()
        .tool::<chatter>()
        .tool::<shout>()
        .tool::<traced>()
        .tool::<working>()
        .tool::<rounds>()
        .tool::<stubborn>()
        .tool::<becoming>()
        .tool::<silent>()
        .build()
        .await
        .unwrap()
}

pub(crate) async fn server() -> Server {
    server_on(Arc::default()).await
}

/// A call whose `_meta` says this as well.
pub(crate) fn call(params: Value, capabilities: Value, more: &Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    for (name, value) in more.as_object().unwrap() {
        params["_meta"][name] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// What comes before the answer, and the answer.
async fn told(server: &Server, message: &Value) -> (Vec<Value>, Value) {
    let (outgoing, mut messages) = Outgoing::channel(1);
    let context = RequestContext::new(server.owner().clone()).with_outgoing(outgoing);
    let mut before = Vec::new();
    let reply = {
        let mut answering = std::pin::pin!(server.answer(&context, Incoming::read(message.to_string())));
        loop {
            tokio::select! {
                biased;
                Some(text) = messages.next() => before.push(serde_json::from_str(&text).unwrap()),
                reply = &mut answering => break reply,
            }
        }
    };
    while let Some(text) = messages.next_now() {
        before.push(serde_json::from_str(&text).unwrap());
    }
    (before, serde_json::from_str(reply.text().unwrap()).unwrap())
}

async fn tool(server: &Server, name: &str, arguments: Value, more: Value) -> (Vec<Value>, Value) {
    let message = call(json!({"name": name, "arguments": arguments}), forms(), &more);
    let (before, answer) = told(server, &message).await;
    assert!(answer["result"].is_object(), "{answer}");
    (before, answer["result"].clone())
}

/// progress comes before the answer, grows, and has the token with its type.
#[tokio::test]
async fn progress_comes_before_the_answer_with_the_token_of_its_request() {
    let server = server().await;
    for token in [json!("token"), json!(7)] {
        let asked = json!({"progressToken": token});
        let (before, result) = tool(&server, "count_to", json!({"number": 3}), asked.clone()).await;
        assert_eq!(result["content"][0]["text"], "counted");
        let wanted: Vec<Value> = (1..=3)
            .map(|done| {
                let params = json!({
                    "progressToken": token, "progress": done, "total": 3, "message": "Counting.",
                });
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            })
            .collect();
        assert_eq!(before.len(), 3, "{before:?}");
        for (one, wanted) in before.iter().zip(&wanted) {
            let number = |value: &Value| value["params"]["progress"].as_f64();
            assert_eq!(number(one), number(wanted), "{one}");
            assert_eq!(one["params"]["progressToken"], token);
            assert_eq!(one["method"], wanted["method"]);
            assert_eq!(one["params"]["message"], wanted["params"]["message"]);
            assert!(one.get("id").is_none() && one["params"].get("_meta").is_none(), "{one}");
        }
        let (before, _) = tool(&server, "numbers", json!({}), asked).await;
        let numbers: Vec<_> = before.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
        assert_eq!(numbers, [2.0, 2.5]);
        assert!(before.iter().all(|one| one["params"].get("total").is_none()));
    }
}

/// nothing is sent that was not asked for, and of log messages nothing below the level.
#[tokio::test]
async fn nothing_is_told_that_was_not_asked_for() {
    let server = server().await;
    for more in [json!({}), json!({"progressToken": 1})] {
        assert_eq!(tool(&server, "chatter", json!({}), more).await.0, Vec::<Value>::new());
    }
    for more in [json!({}), json!({LEVEL: "debug"})] {
        assert_eq!(tool(&server, "count_to", json!({"number": 3}), more).await.0, Vec::<Value>::new());
    }
    for (place, level) in LoggingLevel::ALL.iter().enumerate() {
        let (before, _) = tool(&server, "chatter", json!({}), json!({LEVEL: level.as_str()})).await;
        let levels: Vec<&Value> = before.iter().map(|one| &one["params"]["level"]).collect();
        let wanted: Vec<&str> = LoggingLevel::ALL[place..].iter().map(|level| level.as_str()).collect();
        assert_eq!(levels, wanted);
        for one in &before {
            assert_eq!(one["method"], "notifications/message");
            assert_eq!((&one["params"]["logger"], one.get("id")), (&json!("chatter"), None));
            assert_eq!(one["params"]["data"]["level"], one["params"]["level"]);
        }
    }
    let unknown = call(json!({"name": "chatter"}), forms(), &json!({LEVEL: "loud"}));
    assert_eq!(told(&server, &unknown).await.1["error"]["code"], -32_602);
}

/// a flood of progress is a few notifications, of which the last one says how far it came.
#[tokio::test]
async fn flood_of_progress_is_bounded() {
    let clock = Arc::new(ManualClock::default());
    let server = server_on(Arc::clone(&clock)).await;
    let (before, _) =
        tool(&server, "count_to", json!({"number": 10_000}), json!({"progressToken": "flood"})).await;
    let done: Vec<f64> = before.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
    assert!(done.len() <= 11, "{done:?}");
    assert!(done.is_sorted_by(|one, next| one < next), "{done:?}");
    assert_eq!(done.last(), Some(&10_000.0));
}

/// C-87, X-89, P110: of a task nothing is sent, whatever its request asked for; what it tells is its status.
#[tokio::test]
async fn task_tells_by_its_status_alone() {
    let clock = Arc::new(ManualClock::default());
    let server = server_on(Arc::clone(&clock)).await;
    let asked = json!({"progressToken": "t", LEVEL: "debug", "traceparent": PARENT, "baggage": "user=ann"});
    let message = call(json!({"name": "working"}), all_capabilities(), &asked);
    let (before, answer) = told(&server, &message).await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    let id = answer["result"]["taskId"].as_str().unwrap();
    let asks = until_status(&server, id, "input_required").await;
    // The rest came too fast for as many writes.
    assert_eq!(asks["statusMessage"], "1 %");
    assert_eq!(before, Vec::<Value>::new());
    let records = server.engine().operators().list(None, 10).await.unwrap().records;
    assert_eq!(records[0].progress.as_ref().map(|progress| progress.progress), Some(1.0));
    // the trace goes on with the task; what is about people is not kept.
    let kept = mcp_tasks::types::to_string(&*records[0]).unwrap();
    assert!(kept.contains(PARENT) && !kept.contains("user=ann"), "{kept}");
}

/// each round tells its own request, under its own token, and nothing between them.
#[tokio::test]
async fn each_round_has_its_own_progress() {
    let server = server().await;
    let round = async |params: Value, token: Value| {
        let (before, answer) = told(&server, &call(params, forms(), &json!({"progressToken": token}))).await;
        let told: Vec<Value> = before
            .iter()
            .map(|one| json!([one["params"]["progressToken"], one["params"]["progress"]]))
            .collect();
        (told, answer["result"].clone())
    };
    let asks = json!({"name": "rounds"});
    let (told_first, asked) = round(asks.clone(), json!("one")).await;
    assert_eq!(asked_for(&asked), ["go_on"]);
    assert_eq!(told_first, [json!(["one", 1.0])]);
    let answered = retry(&asks, &asked, json!({"go_on": accept(json!({"approved": true}))}));
    let (told_then, done) = round(answered, json!(2)).await;
    assert_eq!(told_then, [json!([2, 2.0])]);
    assert_eq!(done["content"][0]["text"], "done");
}

/// nothing is told of a request that was cancelled, whatever its body does.
#[tokio::test]
async fn cancelled_request_tells_nothing_more() {
    let server = server().await;
    let (outgoing, mut messages) = Outgoing::channel(8);
    let context = RequestContext::new(server.owner().clone()).with_outgoing(outgoing);
    let params = json!({"name": "stubborn", "arguments": {"gate_name": "cancelled telling"}});
    let message = call(params, forms(), &json!({"progressToken": 1}));
    {
        let mut answering = std::pin::pin!(server.answer(&context, Incoming::read(message.to_string())));
        tokio::select! {
            biased;
            _ = &mut answering => panic!("it waits"),
            Some(first) = messages.next() => assert!(first.contains("\"progress\":1"), "{first}"),
        }
    }
    gate("cancelled telling").add_permits(1);
    eventually("the body's end", || crate::support::count("cancelled telling: true") == 1).await;
    drop(context);
    server.engine().idle().await;
    assert_eq!(messages.next().await, None);
}

/// trace context reaches the body letter for letter, and goes on in what is sent and in the span.
#[tokio::test]
async fn trace_context_goes_along() {
    let log = Log::default();
    let _listening = log.listen();
    let server = server().await;
    let trace =
        json!({"traceparent": PARENT, "tracestate": "rojo=00f067aa0ba902b7", "baggage": "user=ann%20b"});
    let mut asked = trace.clone();
    asked["progressToken"] = json!("t");
    asked[LEVEL] = json!("info");
    let (before, result) = tool(&server, "traced", json!({}), asked).await;
    assert_eq!(before.len(), 2);
    assert!(before.iter().all(|one| one["params"]["_meta"] == trace), "{before:?}");
    let told: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(told, json!([PARENT, "rojo=00f067aa0ba902b7", "user=ann%20b"]));
    let text = log.text();
    assert!(text.contains(PARENT) && !text.contains("user=ann"), "{text}");

    let (before, result) =
        tool(&server, "traced", json!({}), json!({"progressToken": 1, "traceparent": "no\nsuch"})).await;
    assert!(before[0]["params"].get("_meta").is_none());
    assert_eq!(result["content"][0]["text"], "[null,null,null]");
}

/// C-87, X-91: a call that becomes a task tells its caller nothing from then on; one that ends before tells it all.
#[tokio::test]
async fn call_that_becomes_a_task_tells_nothing_more() {
    let clock = Arc::new(ManualClock::default());
    let server = server_on(Arc::clone(&clock)).await;
    let call_of = |name: &str| {
        let params = json!({"name": "becoming", "arguments": {"gate_name": name}});
        call(params, all_capabilities(), &json!({"progressToken": 1, LEVEL: "debug"}))
    };
    gate("quick becoming").add_permits(2);
    let (before, answer) = told(&server, &call_of("quick becoming")).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(before.len(), 3, "{before:?}");

    let (outgoing, mut messages) = Outgoing::channel(8);
    let context = RequestContext::new(server.owner().clone()).with_outgoing(outgoing);
    let answered = tokio::spawn({
        let (server, message) = (server.clone(), call_of("slow becoming").to_string());
        async move { server.answer(&context, Incoming::read(message)).await }
    });
    assert!(messages.next().await.unwrap().contains("begun"));
    clock.advance(5_000);
    let answer: Value = serde_json::from_str(answered.await.unwrap().text().unwrap()).unwrap();
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    gate("slow becoming").add_permits(1);
    let id = answer["result"]["taskId"].as_str().unwrap();
    let id = mcp_tasks::types::TaskId::from(id);
    let told = |record: &mcp_tasks::TaskRecord| record.status_message.as_deref() == Some("nearly done");
    server.engine().wait(server.owner(), &id, told).await.unwrap();
    gate("slow becoming").add_permits(1);
    until_status(&server, id.as_str(), "completed").await;
    // Nobody can send anything any more, although the task's run may still be there.
    assert_eq!(messages.next().await, None);
}

/// C-87: what a task tells without a sentence is nothing that its subscribers could see.
#[tokio::test]
async fn progress_without_a_message_is_no_change_for_subscribers() {
    let clock = Arc::new(ManualClock::default());
    let server = server_on(Arc::clone(&clock)).await;
    let owner = server.owner().clone();
    let id = crate::server_harness::create(&server, "silent", json!({"gate_name": "silent progress"})).await;
    let id = mcp_tasks::types::TaskId::from(id.as_str());
    let mut watch = server.engine().watch(owner.clone(), [id.clone()]);
    let (outgoing, mut messages) = Outgoing::channel(8);
    let context = RequestContext::new(owner).with_outgoing(outgoing);
    let listen = json!({"notifications": {"taskIds": [id]}});
    let listen = crate::server_harness::request(json!(7), "subscriptions/listen", listen).to_string();
    let listening = server.clone();
    tokio::spawn(async move { listening.answer(&context, Incoming::read(listen)).await });
    for wanted in ["acknowledged", "working"] {
        assert!(messages.next().await.unwrap().contains(wanted));
    }
    watch.next().await.unwrap();
    gate("silent progress").add_permits(1);
    // Whoever watches from inside hears it.
    let record = watch.next().await.unwrap().unwrap();
    assert_eq!(record.progress.as_ref().map(|progress| progress.progress), Some(1.0));
    gate("silent progress").add_permits(1);
    // The next thing that a subscriber hears is the end.
    assert!(messages.next().await.unwrap().contains("completed"));
}

/// a flood of log messages is bounded as well, and what was left out is told.
#[tokio::test]
async fn flood_of_log_messages_is_bounded() {
    let server = server().await;
    let flood = json!({"number": 10_000});
    for (level, told_of_it) in [("debug", true), ("error", false)] {
        let (before, _) = tool(&server, "shout", flood.clone(), json!({LEVEL: level})).await;
        let (last, others) = before.split_last().unwrap();
        assert_eq!(others.len(), if told_of_it { 100 } else { 99 });
        assert!(others.iter().all(|one| one["params"]["data"] == "hey"));
        let wanted = if told_of_it { json!("9900 messages were left out") } else { json!("hey") };
        assert_eq!(last["params"]["data"], wanted);
    }
}
