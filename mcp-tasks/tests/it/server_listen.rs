//! Subscriptions, as every transport carries them.

use std::time::Duration;

use mcp_tasks::server::routing::ReceivedHeaders;
use mcp_tasks::server::{Incoming, Outgoing, OutgoingMessages, Reply, RequestContext};
use mcp_tasks::types::RawObject;
use mcp_tasks::{NewTask, Owner, Server, TaskContext, ToolError, task_tool};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::server_harness::{
    ask, create, echo, endless, report, request, request_declaring, result, until_status, until_task,
};
use crate::support::{gate, open};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Says a new word each time that its gate opens.
#[task_tool(ttl = "15m")]
async fn chatty(ctx: TaskContext, name: String) -> Result<String, ToolError> {
    let gate = gate(&name);
    for word in 1_u64.. {
        gate.acquire().await.unwrap().forget();
        ctx.status(format!("word {word}")).await?;
    }
    Ok(String::new())
}

async fn server() -> Server {
    let server = Server::builder("test-server", "1.2.3");
    server.tool::<chatty>().tool::<report>().tool::<echo>().tool::<endless>().build().await.unwrap()
}

struct Listener {
    messages: OutgoingMessages,
    answer: JoinHandle<Reply>,
}

fn context(server: &Server) -> (RequestContext, OutgoingMessages) {
    let (outgoing, messages) = Outgoing::channel(1);
    (RequestContext::new(server.owner().clone()).with_outgoing(outgoing), messages)
}

impl Listener {
    fn begin(server: &Server, id: Value, filter: Value) -> Self {
        let (context, messages) = context(server);
        Self::with(server, context, messages, &listen(id, filter))
    }

    fn with(server: &Server, context: RequestContext, messages: OutgoingMessages, request: &Value) -> Self {
        let (server, message) = (server.clone(), Incoming::read(request.to_string()));
        Self { messages, answer: tokio::spawn(async move { server.answer(&context, message).await }) }
    }

    async fn next(&mut self) -> Value {
        let message = within(self.messages.next()).await.expect("the subscription is over");
        serde_json::from_str(&message).unwrap()
    }

    /// The next one, which is about a task.
    async fn task(&mut self) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], "notifications/tasks", "{message}");
        message["params"].clone()
    }

    async fn answer(self) -> Value {
        let reply = within(self.answer).await.unwrap();
        serde_json::from_str(reply.text().unwrap()).unwrap()
    }

    /// Whether something has come that was not taken yet, after everybody had a turn.
    async fn is_silent(&mut self) -> bool {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        self.messages.next_now().is_none()
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("the subscription hangs")
}

fn listen(id: Value, filter: Value) -> Value {
    request(id, "subscriptions/listen", json!({"notifications": filter}))
}

/// C-85, X-79, X-80, X-82, S-31, P113: first comes what was agreed, and nothing that belongs to somebody else.
#[tokio::test]
async fn acknowledgement_comes_first_and_has_what_was_agreed() {
    let server = server().await;
    let mine = create(&server, "endless", json!({})).await;
    let foreign = NewTask::new(Owner::new("tenant", "bob"), "endless", RawObject::empty());
    let foreign = server.engine().create(foreign).await.unwrap().id.to_string();
    for id in [json!(1), json!("1"), json!(0)] {
        let filter = json!({
            "taskIds": [foreign, "tsk_unknown", mine, mine],
            "promptsListChanged": true,
            "toolsListChanged": true,
            "resourceSubscriptions": ["file:///a"],
            "com.example/own": true,
        });
        let mut listener = Listener::begin(&server, id.clone(), filter);
        let wanted = json!({
            "jsonrpc": "2.0",
            "method": ACKNOWLEDGED,
            "params": {
                "_meta": {SUBSCRIPTION_ID: id},
                "notifications": {"taskIds": [mine], "toolsListChanged": true},
            },
        });
        assert_eq!(listener.next().await, wanted);
    }
    // Nothing is agreed where nothing is asked for, and an empty list is a statement.
    for (filter, agreed) in [
        (json!({}), json!({})),
        (json!({"toolsListChanged": false}), json!({})),
        (json!({"taskIds": []}), json!({"taskIds": []})),
        (json!({"taskIds": [foreign]}), json!({"taskIds": []})),
    ] {
        let mut listener = Listener::begin(&server, json!(1), filter);
        assert_eq!(listener.next().await["params"]["notifications"], agreed);
        assert!(listener.is_silent().await);
    }
}

/// C-23, C-89, X-83: what is not declared or malformed is refused before anything is sent.
#[tokio::test]
async fn refused_subscription_is_an_ordinary_error() {
    let server = server().await;
    let undeclared = |filter: Value| {
        request_declaring(json!(1), "subscriptions/listen", json!({"notifications": filter}), json!({}))
    };
    let cases = [
        (undeclared(json!({"taskIds": ["tsk_unknown"]})), -32_021),
        (undeclared(json!({"taskIds": []})), -32_021),
        (request(json!(1), "subscriptions/listen", json!({})), -32_602),
        (listen(json!(1), json!([])), -32_602),
        (listen(json!(1), json!({"taskIds": "tsk"})), -32_602),
    ];
    for (message, code) in cases {
        let (context, messages) = context(&server);
        let mut listener = Listener::with(&server, context, messages, &message);
        assert!(listener.is_silent().await);
        let answer = listener.answer().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    // Without tasks it is a request of the core.
    let (context, messages) = context(&server);
    let message = undeclared(json!({"toolsListChanged": true}));
    let mut listener = Listener::with(&server, context, messages, &message);
    assert_eq!(listener.next().await["method"], ACKNOWLEDGED);
    // And where nothing carries a stream there is none.
    let (_, answer) = ask(&server, &listen(json!(1), json!({}))).await;
    assert_eq!(answer["error"]["code"], -32_600);
}

/// C-83, C-84, C-88, S-26, P111, P114: the present state at once, then each change, every time exactly what a poll
/// would have been told.
#[tokio::test]
async fn every_change_is_told_as_a_poll_would_be() {
    let server = server().await;
    let id = create(&server, "report", json!({"size": "small"})).await;
    let asking = until_status(&server, &id, "input_required").await;
    let mut listener = Listener::begin(&server, json!("a"), json!({"taskIds": [id]}));
    listener.next().await;
    let as_polled = |mut params: Value| {
        let meta = params.as_object_mut().unwrap().remove("_meta").unwrap();
        assert_eq!(meta, json!({SUBSCRIPTION_ID: "a"}));
        params
    };
    let polled = |mut result: Value| {
        result.as_object_mut().unwrap().retain(|name, _| name != "_meta" && name != "resultType");
        result
    };
    assert_eq!(as_polled(listener.task().await), polled(asking));

    let key = "approve_outline";
    let answers = json!({key: {"action": "accept", "content": {"approved": true}}});
    result(&server, "tasks/update", json!({"taskId": id, "inputResponses": answers})).await;
    let mut last = as_polled(listener.task().await);
    while last["status"] != "completed" {
        assert!(last.get("result").is_none() && last.get("inputRequests").is_none(), "{last}");
        last = as_polled(listener.task().await);
    }
    assert_eq!(last, polled(result(&server, "tasks/get", json!({"taskId": id})).await));
    assert!(listener.is_silent().await);

    // P100: a task that ended before is told once.
    let mut late = Listener::begin(&server, json!("a"), json!({"taskIds": [id]}));
    late.next().await;
    assert_eq!(as_polled(late.task().await), last);
    assert!(late.is_silent().await);

    let name = "every_change_is_told_as_a_poll_would_be";
    let id = create(&server, "chatty", json!({"name": name})).await;
    let mut listener = Listener::begin(&server, json!("a"), json!({"taskIds": [id]}));
    listener.next().await;
    listener.task().await;
    for word in 1..10 {
        open(name);
        let told = loop {
            let told = listener.task().await;
            if told["statusMessage"] == json!(format!("word {word}")) {
                break told;
            }
        };
        assert_eq!(as_polled(told), polled(result(&server, "tasks/get", json!({"taskId": id})).await));
    }
    assert!(listener.is_silent().await);
}

/// C-85, X-81: nobody hears of what they did not ask for.
#[tokio::test]
async fn other_tasks_and_lists_change_in_silence() {
    let server = server().await;
    let (one, other) =
        (create(&server, "endless", json!({})).await, create(&server, "endless", json!({})).await);
    let mut listener = Listener::begin(&server, json!(1), json!({"taskIds": [one]}));
    listener.next().await;
    listener.task().await;
    result(&server, "tasks/cancel", json!({"taskId": other})).await;
    until_status(&server, &other, "cancelled").await;
    assert!(server.offer_tool("echo", false));
    assert!(listener.is_silent().await);
    result(&server, "tasks/cancel", json!({"taskId": one})).await;
    while listener.task().await["status"] != "cancelled" {}
}

/// the list is told of where it was asked for, each time that it is another one.
#[tokio::test]
async fn change_of_the_tools_is_told_and_seen() {
    let server = server().await;
    let names = || async {
        let list = result(&server, "tools/list", json!({})).await;
        let tools = list["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let discovered = result(&server, "server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"]["tools"]["listChanged"], true);
    let mut listener = Listener::begin(&server, json!(7), json!({"toolsListChanged": true}));
    listener.next().await;
    assert_eq!(names().await, ["chatty", "report", "echo", "endless"]);
    let running = create(&server, "endless", json!({})).await;

    assert!(server.offer_tool("endless", false));
    let told = listener.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"], json!({"_meta": {SUBSCRIPTION_ID: 7}}));
    assert_eq!(names().await, ["chatty", "report", "echo"]);
    let (_, refused) = ask(&server, &request(json!(1), "tools/call", json!({"name": "endless"}))).await;
    let (_, unknown) = ask(&server, &request(json!(1), "tools/call", json!({"name": "unknown"}))).await;
    assert_eq!(refused["error"]["code"], unknown["error"]["code"]);
    // Its tasks go on.
    assert_eq!(result(&server, "tasks/get", json!({"taskId": running})).await["status"], "working");

    // Again is no change, and a tool that never was is none.
    assert!(server.offer_tool("endless", false));
    assert!(!server.offer_tool("unknown", false));
    assert!(listener.is_silent().await);
    assert!(server.offer_tool("endless", true));
    assert_eq!(listener.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(names().await, ["chatty", "report", "echo", "endless"]);
}

/// the server ends with the result, and where others use the stream, it says so before.
#[tokio::test]
async fn server_that_ends_answers_its_subscriptions() {
    let server = server().await;
    let task = create(&server, "endless", json!({})).await;
    let (plain, plain_messages) = context(&server);
    let (http, http_messages) = context(&server);
    let message = listen(json!("x"), json!({"taskIds": [task]}));
    let head = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let head = ReceivedHeaders::read(head.iter().map(|(name, value)| (*name, value.as_bytes())));
    let http = http.with_headers(head);
    let mut shared = Listener::with(&server, plain, plain_messages, &message);
    let mut own = Listener::with(&server, http, http_messages, &message);
    for listener in [&mut shared, &mut own] {
        listener.next().await;
        listener.task().await;
    }
    server.end_subscriptions();
    let told = shared.next().await;
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], "x");
    let wanted = json!({
        "jsonrpc": "2.0",
        "id": "x",
        "result": {"resultType": "complete", "_meta": {SUBSCRIPTION_ID: "x"}},
    });
    assert_eq!(shared.answer().await, wanted);
    assert!(own.is_silent().await);
    assert_eq!(own.answer().await, wanted);
    assert_eq!(result(&server, "tasks/get", json!({"taskId": task})).await["status"], "working");
}

/// Design section 4: whoever reads slowly is told the newest state, and what is not read fills no memory.
#[tokio::test]
async fn slow_reader_gets_the_newest_state() {
    let (server, name) = (server().await, "slow_reader_gets_the_newest_state");
    let id = create(&server, "chatty", json!({"name": name})).await;
    let mut listener = Listener::begin(&server, json!(1), json!({"taskIds": [id]}));
    listener.next().await;
    for _ in 0..500 {
        open(name);
    }
    until_task(&server, &id, |record| record.status_message.as_deref() == Some("word 500")).await;
    let newest = result(&server, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(newest["statusMessage"], "word 500", "{newest}");
    let mut read = 0;
    loop {
        let told = listener.task().await;
        read += 1;
        if told["statusMessage"] == newest["statusMessage"] {
            break;
        }
    }
    assert!(read <= 4, "{read}");
}

/// S-18, S-20: a client that goes away takes its subscription along, and nothing else.
#[tokio::test]
async fn subscription_that_is_given_up_leaves_its_task_alone() {
    let server = server().await;
    let id = create(&server, "endless", json!({})).await;
    let mut listener = Listener::begin(&server, json!(1), json!({"taskIds": [id]}));
    listener.next().await;
    listener.answer.abort();
    assert!(within(&mut listener.answer).await.unwrap_err().is_cancelled());
    assert_eq!(result(&server, "tasks/get", json!({"taskId": id})).await["status"], "working");
    // S-25: there is no replay; listening again begins with the present state.
    let mut again = Listener::begin(&server, json!(1), json!({"taskIds": [id]}));
    again.next().await;
    assert_eq!(again.task().await["status"], "working");
}

/// S-31: a thousand tasks of one's own are followed, whatever else and however often is asked for; the rest of them is
/// not agreed to.
#[tokio::test]
async fn subscription_to_very_many_tasks_agrees_to_the_first_thousand_that_there_are() {
    let server = server().await;
    let mut own = Vec::new();
    for _ in 0..1_001 {
        own.push(create(&server, "endless", json!({})).await);
    }
    let unknown = (0..8_999).map(|n| format!("tsk_{n}"));
    let ids: Vec<String> =
        std::iter::repeat_n(own[0].clone(), 5_000).chain(unknown).chain(own.clone()).collect();
    let mut listener = Listener::begin(&server, json!(1), json!({"taskIds": ids}));
    assert_eq!(listener.next().await["params"]["notifications"], json!({"taskIds": own[..1_000]}));
}

/// One request cannot make the server look for any number of tasks, and hears why it is refused.
#[tokio::test]
async fn subscription_that_asks_for_too_many_tasks_is_refused() {
    let server = server().await;
    let ids: Vec<String> = (0..=10_000).map(|n| format!("tsk_{n}")).collect();
    let mut listener = Listener::begin(&server, json!(1), json!({"taskIds": ids}));
    assert!(listener.is_silent().await);
    let answer = listener.answer().await;
    assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("10001 different ids, 10000"), "{answer}");
}

/// Subscriptions have limits, of an owner's and overall, and a place is free when its subscription is over.
#[tokio::test]
async fn one_subscription_too_many_is_refused() {
    let builder = Server::builder("test-server", "1.2.3").max_subscriptions_of_owner(2).max_subscriptions(3);
    let server = builder.tool::<echo>().build().await.unwrap();
    let as_ = |who: &str| {
        let (outgoing, messages) = Outgoing::channel(1);
        let context = RequestContext::new(Owner::new("tenant", who)).with_outgoing(outgoing);
        Listener::with(&server, context, messages, &listen(json!(1), json!({"toolsListChanged": true})))
    };
    let (mut one, mut two, mut other) = (as_("alice"), as_("alice"), as_("bob"));
    for listener in [&mut one, &mut two, &mut other] {
        listener.next().await;
    }
    for who in ["alice", "bob"] {
        assert_eq!(as_(who).answer().await["error"]["code"], -32_603);
    }
    one.answer.abort();
    assert!(within(&mut one.answer).await.unwrap_err().is_cancelled());
    as_("bob").next().await;
}

/// P088: who may listen is looked at again now and then: over HTTP a subscription has an age at which it ends.
#[tokio::test]
async fn subscription_over_http_ends_at_its_age() {
    let clock = std::sync::Arc::new(mcp_tasks::testing::ManualClock::default());
    let server = Server::builder("test-server", "1.2.3").max_subscription_ms(60_000).tool::<echo>();
    let engine_clock = std::sync::Arc::clone(&clock);
    let server = server.engine(move |engine| engine.clock(engine_clock)).build().await.unwrap();
    let message = listen(json!("x"), json!({"toolsListChanged": true}));
    let head = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let head = ReceivedHeaders::read(head.iter().map(|(name, value)| (*name, value.as_bytes())));
    let (http, http_messages) = context(&server);
    let mut http = Listener::with(&server, http.with_headers(head), http_messages, &message);
    let mut stdio = Listener::begin(&server, json!("x"), json!({"toolsListChanged": true}));
    http.next().await;
    stdio.next().await;
    assert!(http.is_silent().await);
    clock.advance(60_000);
    assert_eq!(http.answer().await["result"]["resultType"], "complete");
    assert!(stdio.is_silent().await && !stdio.answer.is_finished());
}

/// A thousand subscriptions hold a thousand answers in flight, next to the buffers of their connections.
#[tokio::test]
async fn an_answer_in_flight_is_small_whatever_it_answers() {
    let server = server().await;
    let context = RequestContext::new(server.owner().clone());
    let size = size_of_val(&server.answer(&context, Incoming::read("{}")));
    assert!(size <= 6 << 10, "{size} bytes");
}
