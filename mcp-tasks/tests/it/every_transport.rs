//! What holds for each message that leaves the server, over each transport, and for whatever a request says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use mcp_tasks::server::{Incoming, Outgoing, RequestContext};
use mcp_tasks::transport::http::HttpOptions;
use mcp_tasks::transport::stdio::{StdioOptions, serve_stream};
use mcp_tasks::{Owner, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::http_client::{listen, post, post_with};
use crate::http_events::Events;
use crate::http_owners::{as_, authenticated};
use crate::server_harness::{TASKS, all_capabilities, reaches_status, request, request_declaring, server};

/// A way to a server.
pub(crate) enum Way {
    Http(SocketAddr),
    /// The framing of stdio over a socket.
    Socket(BufReader<TcpStream>),
    /// Somebody's own, in memory.
    Memory(Server),
}

impl Way {
    /// All ways, each to a server of its own.
    pub(crate) async fn to(server: impl AsyncFn() -> Server) -> Vec<(&'static str, Server, Self)> {
        let (http, socket, memory) = (server().await, server().await, server().await);
        let over_http = Self::Http(listen(http.clone(), HttpOptions::default()).await);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (reader, writer) = listener.accept().await.unwrap().0.into_split();
        tokio::spawn(serve_stream(socket.clone(), reader, writer, StdioOptions::default()));
        let over_socket = Self::Socket(BufReader::new(stream));
        let in_memory = Self::Memory(memory.clone());
        vec![("http", http, over_http), ("socket", socket, over_socket), ("memory", memory, in_memory)]
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, message: &Value) -> Value {
        self.ask(message).await.pop().unwrap()
    }

    /// The answers to requests that are under way at once, in the order of the requests.
    pub(crate) async fn answers(&mut self, messages: &[Value]) -> Vec<Value> {
        let mut out = Vec::new();
        match self {
            Self::Socket(stream) => {
                let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
                stream.write_all(lines.as_bytes()).await.unwrap();
                let mut by_id = BTreeMap::new();
                for _ in messages {
                    let mut line = String::new();
                    stream.read_line(&mut line).await.unwrap();
                    let answer: Value = serde_json::from_str(&line).unwrap();
                    by_id.insert(answer["id"].to_string(), answer);
                }
                out.extend(messages.iter().map(|message| by_id[&message["id"].to_string()].clone()));
            }
            Self::Http(address) => {
                let address = *address;
                let posts = messages
                    .iter()
                    .cloned()
                    .map(|message| tokio::spawn(async move { post(address, &message).await.json() }));
                for post in posts.collect::<Vec<_>>() {
                    out.push(post.await.unwrap());
                }
            }
            Self::Memory(_) => {
                for message in messages {
                    out.push(self.answer(message).await);
                }
            }
        }
        out
    }

    /// All messages that come for a request, the answer last.
    async fn ask(&mut self, message: &Value) -> Vec<Value> {
        match self {
            Self::Http(address) if message["method"] == "subscriptions/listen" => {
                let mut events = Events::open(*address, message).await;
                let mut out = Vec::new();
                while let Some(event) = events.next().await {
                    out.push(event);
                }
                out
            }
            Self::Http(address) => vec![post(*address, message).await.json()],
            Self::Socket(stream) => {
                stream.write_all(format!("{message}\n").as_bytes()).await.unwrap();
                let mut out: Vec<Value> = Vec::new();
                while out.last().is_none_or(|last| last.get("id").is_none()) {
                    let mut line = String::new();
                    stream.read_line(&mut line).await.unwrap();
                    out.push(serde_json::from_str(&line).unwrap());
                }
                out
            }
            Self::Memory(server) => {
                let (outgoing, mut messages) = Outgoing::channel(16);
                let context = RequestContext::new(server.owner().clone()).with_outgoing(outgoing);
                let reply = server.answer(&context, Incoming::read(message.to_string())).await;
                drop(context);
                let mut out = Vec::new();
                while let Some(text) = messages.next().await {
                    out.push(serde_json::from_str(&text).unwrap());
                }
                out.extend(reply.text().map(|text| serde_json::from_str(text).unwrap()));
                out
            }
        }
    }
}

/// One of everything: a client without tasks that is asked in the answer, one with tasks that is asked in a poll,
/// errors, and last a subscription. Gives all that the server sent.
async fn whole_run(server: &Server, way: &mut Way) -> Vec<Value> {
    let forms = json!({"elicitation": {"form": {}}});
    let call = json!({"name": "report", "arguments": {"size": "small"}});
    let answer = json!({"approve_outline": {"action": "accept", "content": {"approved": true}}});
    let mut sent = Vec::new();

    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "echo", "arguments": {"text": "x"}})),
        ("tools/call", json!({"name": "nobody"})),
        ("tasks/get", json!({"taskId": "tsk_0"})),
        ("tasks/result", json!({"taskId": "tsk_0"})),
    ] {
        sent.extend(way.ask(&request(json!("a"), method, params)).await);
    }

    let asked = way.ask(&request_declaring(json!(1), "tools/call", call.clone(), forms.clone())).await;
    let mut retry = call.clone();
    retry["requestState"] = asked[0]["result"]["requestState"].clone();
    retry["inputResponses"] = answer.clone();
    let done = way.ask(&request_declaring(json!(2), "tools/call", retry, forms)).await;
    assert_eq!(done[0]["result"]["structuredContent"]["approved"], true, "{done:?}");
    sent.extend(asked.into_iter().chain(done));

    let created = way.ask(&request(json!(3), "tools/call", call)).await;
    let id = created[0]["result"]["taskId"].clone();
    let get = request(json!(4), "tasks/get", json!({"taskId": id}));
    sent.extend(created);
    let mut until = async |way: &mut Way, status: &str| {
        reaches_status(server, &id, status).await;
        let snapshot = way.ask(&get).await;
        assert_eq!(snapshot[0]["result"]["status"], status, "{snapshot:?}");
        sent.extend(snapshot);
    };
    until(way, "input_required").await;
    let updated =
        way.ask(&request(json!(5), "tasks/update", json!({"taskId": id, "inputResponses": answer}))).await;
    until(way, "completed").await;
    sent.extend(updated);
    sent.extend(way.ask(&request(json!(6), "tasks/cancel", json!({"taskId": id}))).await);

    // A subscription is acknowledged, and over at once.
    server.end_subscriptions();
    let filter = json!({"notifications": {"taskIds": [id], "toolsListChanged": true}});
    let told = way.ask(&request(json!(7), "subscriptions/listen", filter)).await;
    assert_eq!(told[0]["method"], "notifications/subscriptions/acknowledged", "{told:?}");
    assert_eq!(told.last().unwrap()["id"], 7);
    sent.extend(told);
    sent
}

/// the three patterns work over every transport, and what
/// leaves the server are results with a kind, errors with code and message, and notifications without an id; a request
/// is never among it.
#[tokio::test]
async fn every_transport_carries_all_patterns_and_no_request_of_the_server() {
    for (name, server, mut way) in Way::to(server).await {
        let sent = whole_run(&server, &mut way).await;
        let (mut results, mut errors, mut notifications) = (0, 0, 0);
        for message in &sent {
            assert_eq!(message["jsonrpc"], "2.0", "{name}: {message}");
            assert!(message.get("method").is_none() || message.get("id").is_none(), "{name}: {message}");
            if let Some(result) = message.get("result") {
                assert!(result["resultType"].is_string(), "{name}: {message}");
                results += 1;
            } else if let Some(error) = message.get("error") {
                let known = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_021, -32_022];
                assert!(
                    error["code"].as_i64().is_some_and(|code| known.contains(&code)),
                    "{name}: {message}"
                );
                assert!(error["message"].is_string(), "{name}: {message}");
                errors += 1;
            } else {
                assert!(
                    message["method"].as_str().unwrap().starts_with("notifications/"),
                    "{name}: {message}"
                );
                notifications += 1;
            }
        }
        assert!(results >= 9 && errors == 3 && notifications >= 1, "{name}: {sent:?}");
    }
}

/// Whether a key of `_meta` is one: labels with dots and a slash, all of which may be missing, then a name.
fn is_key(key: &str) -> bool {
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let ends_well = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let is_label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && ends_well(label)
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let name_is_one =
        ends_well(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && name_is_one
}

fn meta_keys(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, inside) in members {
                if name == "_meta" {
                    out.extend(inside.as_object().unwrap().keys().cloned());
                }
                meta_keys(inside, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| meta_keys(item, out)),
        _ => {}
    }
}

/// and the extension that is announced is named by the same rule, with a prefix.
#[tokio::test]
async fn keys_of_meta_that_leave_the_server_are_well_formed() {
    for odd in ["", "/a", "a/", "1a/b", "a-/b", "a/b/c", "a..b/c", "_a", "a b"] {
        assert!(!is_key(odd), "{odd}");
    }
    for good in ["a", "traceparent", "com.example/x_1", "a-b.c/d.e-f", "a.b1/0"] {
        assert!(is_key(good), "{good}");
    }
    for (name, server, mut way) in Way::to(server).await {
        let sent = Value::Array(whole_run(&server, &mut way).await);
        let mut keys = BTreeSet::new();
        meta_keys(&sent, &mut keys);
        assert!(keys.iter().all(|key| is_key(key)), "{name}: {keys:?}");
        let expected = ["io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/subscriptionId"]
            .map(str::to_owned);
        assert_eq!(keys, BTreeSet::from(expected), "{name}");
        let extensions = sent[0]["result"]["capabilities"]["extensions"].as_object().unwrap();
        assert!(extensions.keys().all(|key| is_key(key) && key.contains('/')), "{name}: {extensions:?}");
    }
}

/// whatever stands under a key that we do not know, reserved or not, well formed or not.
#[tokio::test]
async fn keys_of_meta_that_the_server_does_not_know_have_no_effect() {
    let address = listen(server().await, HttpOptions::default()).await;
    let echo = request(json!(1), "tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    let plain = post(address, &echo).await;
    for key in [
        "io.modelcontextprotocol/foo",
        "io.modelcontextprotocol/serverInfo",
        "io.modelcontextprotocol/subscriptionId",
        "io.modelcontextprotocol/related-task",
        "modelcontextprotocol.io/task",
        "com.mcp.tools/x",
        "com.example.mcp/x",
        "/",
        "not a key",
        "",
    ] {
        for value in [json!(null), json!(7), json!({"taskId": "tsk_0"}), json!(["x"])] {
            let mut message = echo.clone();
            message["params"]["_meta"][key] = value;
            let answer = post(address, &message).await;
            assert_eq!((answer.status, &answer.body), (plain.status, &plain.body), "{key}");
        }
    }
}

/// X-24, S-30, X-135: whose a task is was settled before the message was read, and nothing in the message or beside it
/// changes that.
#[tokio::test]
async fn who_a_request_says_it_is_from_changes_nothing() {
    let address = authenticated(server().await).await;
    let call = request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}));
    let id = as_(address, "alice", &call).await.json()["result"]["taskId"].clone();
    let claims = [
        ("Authorization", "Bearer bob"),
        ("X-Tenant", "one"),
        ("X-User", "alice"),
        ("Mcp-Session-Id", "alice"),
        ("Cookie", "user=alice"),
    ];
    for (method, params) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {}})),
        ("tasks/cancel", json!({})),
    ] {
        let about = |id: &Value| {
            let mut message = request(json!(1), method, params.clone());
            message["params"]["taskId"] = id.clone();
            message
        };
        let unknown = as_(address, "bob", &about(&json!("tsk_0"))).await;
        let mut forged = about(&id);
        for (member, value) in
            [("owner", json!("alice")), ("tenant", json!("one")), ("principal", json!("alice"))]
        {
            forged["params"][member] = value.clone();
            forged["params"]["_meta"][member] = value;
        }
        forged["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({"name": "alice", "version": "1"});
        let answer = post_with(address, &claims, &forged).await;
        assert_eq!((answer.status, &answer.body), (unknown.status, &unknown.body), "{method}");
        // And Alice is who she is, whatever her client is called.
        if method == "tasks/get" {
            let plain = as_(address, "alice", &about(&id)).await;
            for name in ["bob", "", "test-server"] {
                let mut message = about(&id);
                message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
                    json!({"name": name, "version": ""});
                assert_eq!(as_(address, "alice", &message).await.body, plain.body, "{name}");
            }
            assert_eq!(plain.json()["result"]["status"], "working");
        }
    }
}

/// what everybody may keep is the same for everybody, to the byte.
#[tokio::test]
async fn lists_that_may_be_shared_are_the_same_for_everybody() {
    let address = authenticated(server().await).await;
    for method in ["server/discover", "tools/list"] {
        let message = request(json!(1), method, json!({}));
        let first = as_(address, "alice", &message).await;
        assert_eq!(first.json()["result"]["cacheScope"], "public");
        for other in ["bob", "other alice"] {
            assert_eq!(as_(address, other, &message).await.body, first.body, "{method}");
        }
    }
}

/// a round is good for one client and once.
#[tokio::test]
async fn questions_in_an_answer_have_no_hints_for_caches() {
    let address = listen(server().await, HttpOptions::default()).await;
    let call = json!({"name": "report", "arguments": {"size": "small"}});
    let forms = json!({"elicitation": {}});
    let asked = post(address, &request_declaring(json!(1), "tools/call", call, forms)).await.json();
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert!(asked["result"].get("ttlMs").is_none() && asked["result"].get("cacheScope").is_none(), "{asked}");
}

/// C-29: what begins like the extension is the extension, and there is nothing else of it.
#[tokio::test]
async fn names_of_the_extension_are_not_used_for_anything_else() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    for method in [
        "tasks",
        "tasks/",
        "tasks/create",
        "tasks/delete",
        "tasks/list",
        "tasks/pause",
        "tasks/result",
        "tasks/status",
        "Tasks/get",
        "tasks/get/",
        "notifications/tasks",
        "notifications/tasks/status",
        TASKS,
    ] {
        let response = post(address, &request(json!(1), method, json!({"taskId": "tsk_0"}))).await;
        assert_eq!((response.status, response.code()), (404, -32_601), "{method}");
        let notification = json!({"jsonrpc": "2.0", "method": method, "params": {"taskId": "tsk_0"}});
        let response = post(address, &notification).await;
        assert_eq!((response.status, response.body.as_str()), (202, ""), "{method}");
    }
    // `task` as a kind of result belongs to handles alone.
    let call = request_declaring(
        json!(1),
        "tools/call",
        json!({"name": "add", "arguments": {"left": 1, "right": 1}}),
        all_capabilities(),
    );
    assert_eq!(post(address, &call).await.json()["result"]["resultType"], "task");
    let page = server.engine().list(&Owner::anonymous(), None, 10).await.unwrap();
    assert_eq!(page.records.len(), 1);
}
