//! What the public conformance suite does not ask, put to a server over real HTTP: the probes on which published
//! servers differ, and what that suite leaves out.

use std::net::SocketAddr;
use std::sync::Arc;

use mcp_tasks::testing::ManualClock;
use mcp_tasks::transport::http::HttpOptions;
use mcp_tasks::{Input, Server, TaskContext, ToolError, task_tool};
use serde_json::{Value, json};

use crate::http_client::{listen, post, send};
use crate::http_events::{Events, subscribe};
use crate::http_owners::{as_, authenticated};
use crate::server_harness::{
    Approval, TASKS, VERSION, add, all_capabilities, broken, endless, job, reaches_status, report, request,
    request_declaring, server, until_task,
};

/// Asks the same twice.
#[task_tool(ttl = "15m")]
async fn twice(
    ctx: TaskContext,
    /// Sure?
    sure: Input<Approval>,
) -> Result<String, ToolError> {
    let first = sure.ask(&ctx).await?.accepted().is_some_and(|answer| answer.approved);
    let second = sure.ask(&ctx).await?.accepted().is_some_and(|answer| answer.approved);
    Ok(format!("{first} {second}"))
}

struct Probe {
    server: Server,
    address: SocketAddr,
    clock: Arc<ManualClock>,
}

impl Probe {
    /// A server whose time stands still.
    async fn open() -> Self {
        let clock = Arc::new(ManualClock::default());
        let server = Server::builder("probed", "1")
            .clock(Arc::clone(&clock))
            .tool::<add>()
            .tool::<job>()
            .tool::<broken>()
            .tool::<report>()
            .tool::<twice>()
            .tool::<endless>()
            .build()
            .await
            .unwrap();
        Self::of(server, clock).await
    }

    async fn of(server: Server, clock: Arc<ManualClock>) -> Self {
        let address = listen(server.clone(), HttpOptions::default()).await;
        Self { server, address, clock }
    }

    /// Status, code and body of an answer.
    async fn ask(&self, method: &str, params: Value) -> (u16, i64, Value) {
        self.ask_declaring(method, params, all_capabilities()).await
    }

    async fn ask_declaring(&self, method: &str, params: Value, capabilities: Value) -> (u16, i64, Value) {
        let response = post(self.address, &request_declaring(json!(1), method, params, capabilities)).await;
        (response.status, response.code(), response.json())
    }

    /// An acknowledgement: a result with nothing in it.
    async fn acknowledged(&self, method: &str, params: Value) {
        let (status, _, answer) = self.ask(method, params).await;
        let result = answer["result"].as_object().unwrap_or_else(|| panic!("{answer}"));
        let members: Vec<&str> = result.keys().map(String::as_str).collect();
        assert_eq!((status, members), (200, vec!["_meta", "resultType"]));
        assert_eq!(result["resultType"], "complete");
    }

    async fn get(&self, id: &Value) -> Value {
        self.ask("tasks/get", json!({"taskId": id})).await.2["result"].clone()
    }

    async fn create(&self, tool: &str, arguments: Value) -> Value {
        let (_, _, created) = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        created["result"]["taskId"].clone()
    }

    async fn until(&self, id: &Value, status: &str) -> Value {
        reaches_status(&self.server, id, status).await;
        let snapshot = self.get(id).await;
        assert_eq!(snapshot["status"], status, "{snapshot}");
        snapshot
    }

    /// A task that waits for an answer to `approve_outline`.
    async fn waiting(&self) -> Value {
        let id = self.create("report", json!({"size": "small"})).await;
        self.until(&id, "input_required").await;
        id
    }
}

fn answers(id: &Value, responses: Value) -> Value {
    json!({"taskId": id, "inputResponses": responses})
}

fn accepted(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

/// C-23: no stream is opened, also where the list is empty.
#[tokio::test]
async fn listening_to_tasks_without_declaring_them_is_refused() {
    let probe = Probe::open().await;
    let id = probe.create("endless", json!({})).await;
    for ids in [json!([id]), json!([])] {
        for declared in [json!({}), json!({"tasks": {}}), json!({"elicitation": {}})] {
            let filter = json!({"notifications": {"taskIds": ids}});
            let (status, code, answer) = probe.ask_declaring("subscriptions/listen", filter, declared).await;
            assert_eq!((status, code), (400, -32_021), "{answer}");
            let required = &answer["error"]["data"]["requiredCapabilities"];
            assert_eq!(*required, json!({"extensions": {TASKS: {}}}));
        }
    }
}

/// C-85, C-86, X-26, X-79: own ids are agreed to, unknown ones left out, each change is told, and everything names the
/// subscription.
#[tokio::test]
async fn listening_to_tasks_with_the_declaration_tells_of_exactly_them() {
    const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
    let probe = Probe::open().await;
    let (listed, other) = (probe.waiting().await, probe.waiting().await);
    let mut events =
        Events::open(probe.address, &subscribe(json!("s"), json!({"taskIds": [listed, "tsk_0"]}))).await;
    let first = events.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({"taskIds": [listed]}));
    assert_eq!(first["params"]["_meta"][SUBSCRIPTION], "s");
    let present = events.next().await.unwrap();
    assert_eq!(
        (&present["params"]["taskId"], &present["params"]["status"]),
        (&listed, &json!("input_required"))
    );
    for id in [&other, &listed] {
        probe.acknowledged("tasks/cancel", json!({"taskId": id})).await;
    }
    let end = events.next().await.unwrap();
    assert_eq!((&end["method"], &end["params"]["taskId"]), (&json!("notifications/tasks"), &listed));
    assert_eq!(
        (&end["params"]["status"], &end["params"]["_meta"][SUBSCRIPTION]),
        (&json!("cancelled"), &json!("s"))
    );

    // Where nothing is agreed the list is there and empty.
    let mut none = Events::open(probe.address, &subscribe(json!(2), json!({"taskIds": ["tsk_0"]}))).await;
    let acknowledged = none.next().await.unwrap();
    assert_eq!(acknowledged["params"]["notifications"], json!({"taskIds": []}));
    assert_eq!(acknowledged["params"]["_meta"][SUBSCRIPTION], 2);
}

/// C-63, C-94, X-14: the method is there, and the parameters are not; nothing is guessed from the connection.
#[tokio::test]
async fn missing_parameters_are_no_unknown_method() {
    let probe = Probe::open().await;
    let id = probe.waiting().await;
    let before = probe.get(&id).await;
    for (method, params) in [
        ("tasks/get", json!({})),
        ("tasks/get", json!({"taskId": 7})),
        ("tasks/get", json!({"taskId": null})),
        ("tasks/cancel", json!({})),
        ("tasks/update", json!({"inputResponses": {}})),
        ("tasks/update", json!({"taskId": id})),
        ("tasks/update", answers(&id, json!(null))),
        ("tasks/update", answers(&id, json!([]))),
    ] {
        let (status, code, answer) = probe.ask(method, params).await;
        assert_eq!((status, code), (200, -32_602), "{method}: {answer}");
    }
    assert_eq!(probe.get(&id).await, before);
}

/// C-91, R-1 steps 4 and 10: a missing name is a matter of the server's settings, and a wrong one is refused for each
/// of the three methods before anything happens.
#[tokio::test]
async fn missing_name_is_taken_or_refused_as_set_and_a_wrong_one_always_refused() {
    let probe = Probe::open().await;
    let strict = Server::builder("strict", "1").require_task_name(true).build().await.unwrap();
    let strict = listen(strict, HttpOptions::default()).await;
    let id = probe.waiting().await;
    let before = probe.get(&id).await;
    let send_named = async |address, method: &str, name: Option<&str>, params: Value| {
        let mut headers = vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", method)];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        let body = request(json!(1), method, params).to_string();
        let response = send(address, "POST", &headers, body.as_bytes()).await;
        (response.status, response.code())
    };
    let about =
        || json!({"taskId": id, "inputResponses": {"approve_outline": accepted(json!({"approved": true}))}});
    assert_eq!(send_named(probe.address, "tasks/get", None, about()).await, (200, 0));
    assert_eq!(send_named(strict, "tasks/get", None, about()).await, (400, -32_020));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert_eq!(
            send_named(probe.address, method, Some("tsk_other"), about()).await,
            (400, -32_020),
            "{method}"
        );
    }
    assert_eq!(probe.get(&id).await, before);
}

/// C-47: whoever polls is told why.
#[tokio::test]
async fn failed_task_has_a_status_message() {
    let probe = Probe::open().await;
    let id = probe.create("broken", json!({})).await;
    let failed = probe.until(&id, "failed").await;
    assert!(failed["statusMessage"].as_str().is_some_and(|message| !message.is_empty()), "{failed}");
    assert_eq!(failed["error"]["code"], -1_000);
}

/// C-64, R-6, X-52: what does not fit is refused, the key stays, and nothing of the update counts.
#[tokio::test]
async fn answer_of_another_kind_is_refused_and_the_question_stays() {
    let probe = Probe::open().await;
    let id = probe.waiting().await;
    let before = probe.get(&id).await;
    for odd in
        [json!(12_345), json!("yes"), json!([]), json!({"action": "maybe"}), accepted(json!({"approved": 1}))]
    {
        let (status, code, _) =
            probe.ask("tasks/update", answers(&id, json!({"approve_outline": odd}))).await;
        assert_eq!((status, code), (200, -32_602), "{odd}");
        assert_eq!(probe.get(&id).await, before, "{odd}");
    }
    let good = json!({"approve_outline": accepted(json!({"approved": true}))});
    probe.acknowledged("tasks/update", answers(&id, good)).await;
    assert_eq!(probe.until(&id, "completed").await["result"]["structuredContent"]["approved"], true);
}

/// C-43, C-10: looking is no change, however late it is.
#[tokio::test]
async fn last_updated_stands_still_while_nothing_changes() {
    let probe = Probe::open().await;
    let id = probe.waiting().await;
    let first = probe.get(&id).await;
    for _ in 0..5 {
        probe.clock.advance(60_000);
        assert_eq!(probe.get(&id).await, first);
    }
    probe.acknowledged("tasks/cancel", json!({"taskId": id})).await;
    let last = probe.until(&id, "cancelled").await;
    assert_eq!(last["createdAt"], first["createdAt"]);
    assert_ne!(last["lastUpdatedAt"], first["lastUpdatedAt"]);
}

/// C-62, C-74, C-94
#[tokio::test]
async fn unknown_id_is_the_same_error_for_get_update_and_cancel() {
    let probe = Probe::open().await;
    let mut told = Vec::new();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (status, code, answer) = probe.ask(method, answers(&json!("tsk_0"), json!({"a": 1}))).await;
        assert_eq!((status, code), (200, -32_602), "{method}");
        told.push(answer);
    }
    assert!(told.iter().all(|answer| *answer == told[0]), "{told:?}");
}

/// C-25, C-19: what 2025-11-25 called tasks is another thing.
#[tokio::test]
async fn capability_of_the_older_revision_declares_nothing() {
    let probe = Probe::open().await;
    let id = probe.create("endless", json!({})).await;
    let older = json!({"tasks": {"list": {}, "cancel": {}, "requests": {"elicitation": {"create": {}}}}});
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (status, code, _) = probe.ask_declaring(method, answers(&id, json!({})), older.clone()).await;
        assert_eq!((status, code), (400, -32_021), "{method}");
    }
    let call = json!({"name": "job", "arguments": {}});
    let (status, code, answer) = probe.ask_declaring("tools/call", call, older).await;
    assert_eq!((status, code), (400, -32_021));
    assert_eq!(answer["error"]["data"]["requiredCapabilities"], json!({"extensions": {TASKS: {}}}));
    assert_eq!(probe.get(&id).await["status"], "working");
}

/// C-72, S-18, X-73: it is about a request, and that one was answered.
#[tokio::test]
async fn cancelled_notification_for_the_creating_request_leaves_the_task_alone() {
    let probe = Probe::open().await;
    let id = probe.create("endless", json!({})).await;
    let before = probe.get(&id).await;
    for request_id in [json!(1), json!("1"), id.clone(), json!(null), json!({})] {
        let params = json!({"requestId": request_id, "taskId": id, "reason": "enough"});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        let response = post(probe.address, &message).await;
        assert_eq!((response.status, response.body.as_str()), (202, ""));
        assert_eq!(probe.get(&id).await, before);
    }
}

/// C-52, C-53, C-60, C-65, P075: the first answer counts, a key is never used for another question, and what comes
/// after the end has no effect.
#[tokio::test]
async fn keys_are_used_once_and_answers_that_come_late_are_ignored() {
    let probe = Probe::open().await;
    let id = probe.create("twice", json!({})).await;
    let keys = |snapshot: &Value| -> Vec<String> {
        snapshot["inputRequests"].as_object().unwrap().keys().cloned().collect()
    };
    let first = keys(&probe.until(&id, "input_required").await);
    assert_eq!(first, ["sure"]);
    let yes = accepted(json!({"approved": true}));
    let no = accepted(json!({"approved": false}));
    probe.acknowledged("tasks/update", answers(&id, json!({"sure": yes}))).await;
    until_task(&probe.server, id.as_str().unwrap(), |record| {
        record.outstanding().any(|input| input.key != first[0])
    })
    .await;
    let second = keys(&probe.get(&id).await);
    assert!(!second.contains(&first[0]), "{second:?}");
    assert_eq!(second.len(), 1);
    // Again, under the key that was answered.
    let before = probe.get(&id).await;
    probe.acknowledged("tasks/update", answers(&id, json!({"sure": no}))).await;
    assert_eq!(probe.get(&id).await, before);
    probe.acknowledged("tasks/update", answers(&id, json!({&second[0]: no, "sure": no}))).await;
    let completed = probe.until(&id, "completed").await;
    assert_eq!(completed["result"]["content"][0]["text"], "true false");
    for late in [json!({"sure": no}), json!({&second[0]: yes}), json!({"new": {"odd": true}})] {
        probe.acknowledged("tasks/update", answers(&id, late)).await;
        assert_eq!(probe.get(&id).await, completed);
    }
}

/// C-05, C-37: a cancelled task has a status and neither a result nor an error nor questions.
#[tokio::test]
async fn cancelled_task_has_nothing_but_its_own_members() {
    let probe = Probe::open().await;
    let id = probe.waiting().await;
    probe.acknowledged("tasks/cancel", json!({"taskId": id})).await;
    let cancelled = probe.until(&id, "cancelled").await;
    for member in ["result", "error", "inputRequests", "requestState", "task"] {
        assert!(cancelled.get(member).is_none(), "{member}: {cancelled}");
    }
}

/// C-36, C-77, C-78, C-80, R-9, S-21, S-22: readable until its lifetime from creation is over, then failed and gone,
/// and the owner is told that it was there.
#[tokio::test]
async fn lifetime_counts_from_the_creation_and_its_end_is_told() {
    let probe = Probe::open().await;
    let (done, live) = (probe.create("add", json!({"left": 1, "right": 2})).await, probe.waiting().await);
    let completed = probe.until(&done, "completed").await;
    assert_eq!(completed["ttlMs"], 900_000);
    probe.clock.advance(899_999);
    assert_eq!(probe.get(&done).await, completed);
    assert_eq!(probe.get(&live).await["status"], "input_required");
    probe.clock.advance(1);
    let (status, code, answer) = probe.ask("tasks/get", json!({"taskId": done})).await;
    assert_eq!((status, code), (200, -32_602));
    assert_eq!(answer["error"]["message"], "Failed to retrieve task: Task has expired");
    assert!(answer["error"].get("data").is_none());
    let expired = probe.until(&live, "failed").await;
    assert_eq!(expired["error"], json!({"code": -32_603, "message": "Task expired"}));
}

/// C-97, C-92: 128 random bits, and no two alike among many that were made at once.
#[tokio::test]
async fn ids_cannot_be_guessed_and_calls_at_once_do_not_meet() {
    let server = server().await;
    let address = listen(server.clone(), HttpOptions::default()).await;
    let calls = (0..50_u32).map(|number| {
        let server = server.clone();
        tokio::spawn(async move {
            let arguments = json!({"left": number, "right": 1_000});
            let call = request(json!(1), "tools/call", json!({"name": "add", "arguments": arguments}));
            let created = post(address, &call).await.json()["result"].clone();
            let get = request(json!(1), "tasks/get", json!({"taskId": created["taskId"]}));
            reaches_status(&server, &created["taskId"], "completed").await;
            let snapshot = post(address, &get).await.json()["result"].clone();
            assert_eq!(snapshot["status"], "completed", "{snapshot}");
            assert_eq!(snapshot["result"]["content"][0]["text"], (number + 1_000).to_string());
            created["taskId"].as_str().unwrap().to_owned()
        })
    });
    let mut ids = std::collections::BTreeSet::new();
    for call in calls.collect::<Vec<_>>() {
        let id = call.await.unwrap();
        let random = id.strip_prefix("tsk_").unwrap();
        assert!(random.len() >= 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        ids.insert(id);
    }
    assert_eq!(ids.len(), 50);
    // Each digit is as likely at each place: 50 ids that share one would be no accident.
    for place in 4..36 {
        let digits: std::collections::BTreeSet<u8> = ids.iter().map(|id| id.as_bytes()[place]).collect();
        assert!(digits.len() > 4, "place {place}");
    }
}

/// C-98, P088, S-31, X-135: a stranger's subscription agrees to nothing of somebody else's and hears nothing of it.
#[tokio::test]
async fn p088_listening_to_the_task_of_somebody_else_is_listening_to_none() {
    let address = authenticated(server().await).await;
    let call = request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}));
    let create = async |who| as_(address, who, &call).await.json()["result"]["taskId"].clone();
    let cancel = async |who, id: &Value| {
        let cancel = request(json!(2), "tasks/cancel", json!({"taskId": id}));
        assert_eq!(as_(address, who, &cancel).await.code(), 0);
    };
    let hers = create("alice").await;
    for stranger in ["bob", "other alice"] {
        let his = create(stranger).await;
        let credentials = format!("Authorization: Bearer {stranger}\r\n");
        let filter = json!({"taskIds": [hers, his, "tsk_0"]});
        let mut events = Events::open_with(address, &credentials, &subscribe(json!(1), filter)).await;
        let acknowledged = events.next().await.unwrap();
        assert_eq!(acknowledged["params"]["notifications"]["taskIds"], json!([his]));
        assert_eq!(events.next().await.unwrap()["params"]["taskId"], his);
        // Hers changes, then his: he hears of his.
        cancel("alice", &hers).await;
        cancel(stranger, &his).await;
        loop {
            let told = events.next().await.unwrap();
            assert_eq!(told["params"]["taskId"], his);
            if told["params"]["status"] == "cancelled" {
                break;
            }
        }
    }
}

/// S-35, S-09, C-31: another process over the same file goes on where the last one ended.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn task_is_there_after_a_restart() {
    use mcp_tasks::SqliteStore;
    let folder = tempfile::tempdir().unwrap();
    let begin = async || {
        let store = SqliteStore::open(folder.path().join("tasks.db")).await.unwrap();
        Server::builder("restarted", "1").store(store).tool::<report>().tool::<add>().build().await.unwrap()
    };
    let probe = Probe::of(begin().await, Arc::default()).await;
    let waiting = probe.waiting().await;
    let done = probe.create("add", json!({"left": 1, "right": 2})).await;
    let completed = probe.until(&done, "completed").await;
    probe.server.shutdown().await;
    drop(probe);

    let probe = Probe::of(begin().await, Arc::default()).await;
    assert_eq!(probe.get(&done).await["result"], completed["result"]);
    probe.until(&waiting, "input_required").await;
    let good = json!({"approve_outline": accepted(json!({"approved": true}))});
    probe.acknowledged("tasks/update", answers(&waiting, good)).await;
    assert_eq!(probe.until(&waiting, "completed").await["result"]["structuredContent"]["approved"], true);
}
