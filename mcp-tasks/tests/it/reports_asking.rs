//! Public reports about questions, owners, headers and subscriptions, over the real transports (`P` ids,
//! docs/conformance.md).

use std::sync::Arc;

use mcp_tasks::testing::ManualClock;
use mcp_tasks::transport::http::HttpOptions;
use mcp_tasks::{Answer, Input, Server, TaskContext, TaskRecord, ToolError, task_tool};
use serde_json::{Value, json};

use crate::every_transport::Way;
use crate::http_client::{listen, post, send};
use crate::http_events::{Events, subscribe};
use crate::http_owners::{as_, authenticated};
use crate::server_harness::{
    Approval, VERSION, add, broken, endless, job, reaches_status, report, request, request_declaring, server,
    until_task,
};
use crate::support::{count, outstanding, pass};

/// Asks two things at once.
#[task_tool(ttl = "15m")]
async fn both(
    ctx: TaskContext,
    /// The left one?
    left: Input<Approval>,
    /// The right one?
    right: Input<Approval>,
) -> Result<String, ToolError> {
    let (left, right) = tokio::join!(left.ask(&ctx), right.ask(&ctx));
    let said = |answer: Answer<Approval>| match answer {
        Answer::Accept(Approval { approved }) => approved.to_string(),
        Answer::Decline => "declined".to_owned(),
        Answer::Cancel => "dismissed".to_owned(),
    };
    Ok(format!("{} {}", said(left?), said(right?)))
}

/// Counts how often it gets where.
#[task_tool(ttl = "15m")]
async fn counted(
    ctx: TaskContext,
    counter: String,
    questions: u32,
    /// Go on?
    go_on: Input<Approval>,
) -> Result<String, ToolError> {
    pass(&counter);
    for _ in 0..questions {
        go_on.ask(&ctx).await?;
        pass(&counter);
    }
    Ok(pass(&counter).to_string())
}

async fn asking() -> Server {
    let server = Server::builder("asking", "1");
    server.tool::<both>().tool::<counted>().tool::<report>().tool::<endless>().build().await.unwrap()
}

/// A task of a tool, over one transport.
struct Asked<'a> {
    server: &'a Server,
    way: &'a mut Way,
    id: Value,
}

impl<'a> Asked<'a> {
    async fn create(server: &'a Server, way: &'a mut Way, tool: &str, arguments: Value) -> Self {
        let call = json!({"name": tool, "arguments": arguments});
        let created = way.answer(&request(json!(1), "tools/call", call)).await;
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        Self { server, way, id: created["result"]["taskId"].clone() }
    }

    async fn get(&mut self) -> Value {
        let get = request(json!(2), "tasks/get", json!({"taskId": self.id}));
        self.way.answer(&get).await["result"].clone()
    }

    async fn until(&mut self, wanted: impl FnMut(&TaskRecord) -> bool) -> Value {
        until_task(self.server, self.id.as_str().unwrap(), wanted).await;
        self.get().await
    }

    /// Waits until exactly these keys are asked for.
    async fn asks(&mut self, keys: &[&str]) -> Value {
        let snapshot = self.until(|record| outstanding(record) == keys).await;
        assert_eq!(asked_for(&snapshot), keys, "{snapshot}");
        snapshot
    }

    async fn status(&mut self, status: &str) -> Value {
        let snapshot = self.until(|record| record.state.name() == status).await;
        assert_eq!(snapshot["status"], status, "{snapshot}");
        snapshot
    }

    async fn text(&mut self) -> String {
        let completed = self.status("completed").await;
        completed["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    async fn update(&mut self, responses: Value) -> Value {
        let params = json!({"taskId": self.id, "inputResponses": responses});
        self.way.answer(&request(json!(3), "tasks/update", params)).await
    }

    /// Gives answers, which have to be acknowledged.
    async fn give(&mut self, responses: Value) {
        let acknowledged = self.update(responses).await;
        assert_eq!(acknowledged["result"]["resultType"], "complete", "{acknowledged}");
    }
}

fn asked_for(snapshot: &Value) -> Vec<&str> {
    let requests = snapshot["inputRequests"].as_object();
    requests.map(|requests| requests.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn approved(yes: bool) -> Value {
    json!({"action": "accept", "content": {"approved": yes}})
}

/// A body asks in a task, in the answer of a call where there is none, and goes on with what it was told.
#[tokio::test]
async fn p071_questions_are_set_by_bodies_and_seen_by_clients() {
    for (name, server, mut way) in Way::to(asking).await {
        let mut task = Asked::create(&server, &mut way, "report", json!({"size": "small"})).await;
        let waiting = task.asks(&["approve_outline"]).await;
        assert_eq!(waiting["status"], "input_required", "{name}");
        task.give(json!({"approve_outline": approved(true)})).await;
        let completed = task.status("completed").await;
        assert_eq!(completed["result"]["structuredContent"]["approved"], true, "{name}");

        // The same body, for a client without tasks.
        let forms = json!({"elicitation": {"form": {}}});
        let mut params = json!({"name": "report", "arguments": {"size": "small"}});
        let asked =
            way.answer(&request_declaring(json!(1), "tools/call", params.clone(), forms.clone())).await;
        assert_eq!(asked_for(&asked["result"]), ["approve_outline"], "{name}: {asked}");
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({"approve_outline": approved(true)});
        let done = way.answer(&request_declaring(json!(2), "tools/call", params, forms)).await;
        assert_eq!(done["result"]["structuredContent"], completed["result"]["structuredContent"], "{name}");
    }
}

/// P075: an acknowledged answer has had its effect, at once, and the first one to a key stays.
#[tokio::test]
async fn p072_no_answer_is_acknowledged_in_vain() {
    for (name, server, mut way) in Way::to(asking).await {
        let mut task = Asked::create(&server, &mut way, "both", json!({})).await;
        task.asks(&["left", "right"]).await;
        task.give(json!({"left": approved(true)})).await;
        let snapshot = task.get().await;
        assert_eq!(
            (asked_for(&snapshot), &snapshot["status"]),
            (vec!["right"], &json!("input_required")),
            "{name}"
        );
        task.give(json!({"right": approved(false), "left": approved(false)})).await;
        assert_eq!(task.text().await, "true false", "{name}");
        let completed = task.get().await;
        task.give(json!({"never": 7})).await;
        assert_eq!(task.get().await, completed, "{name}");
    }
}

#[tokio::test]
async fn p076_a_task_that_waits_for_a_person_is_cancelled_at_once() {
    for (name, server, mut way) in Way::to(asking).await {
        let mut task = Asked::create(&server, &mut way, "both", json!({})).await;
        task.asks(&["left", "right"]).await;
        let cancel = request(json!(4), "tasks/cancel", json!({"taskId": task.id}));
        assert_eq!(task.way.answer(&cancel).await["result"]["resultType"], "complete", "{name}");
        let cancelled = task.status("cancelled").await;
        assert!(cancelled.get("inputRequests").is_none(), "{name}: {cancelled}");
        task.give(json!({"left": approved(true)})).await;
        assert_eq!(task.get().await, cancelled, "{name}");
        crate::support::eventually("the end of the body", || server.engine().running() == 0).await;
    }
}

#[tokio::test]
async fn p077_each_statement_runs_once_however_often_a_body_asks() {
    for (name, server, mut way) in Way::to(asking).await {
        for questions in [1_usize, 2] {
            let counter = format!("p077 over {name} {questions}");
            let arguments = json!({"counter": counter, "questions": questions});
            let mut task = Asked::create(&server, &mut way, "counted", arguments).await;
            for round in 0..questions {
                let waiting = task.until(|record| outstanding(record).len() == 1).await;
                assert_eq!(count(&counter), round + 1, "{name}");
                let key = asked_for(&waiting)[0].to_owned();
                task.give(json!({&key: approved(true)})).await;
                task.until(|record| !outstanding(record).contains(&key.as_str())).await;
            }
            assert_eq!(task.text().await, (questions + 2).to_string(), "{name}");
        }
    }
}

#[tokio::test]
async fn p079_an_update_that_answers_nothing_resumes_nothing() {
    for (name, server, mut way) in Way::to(asking).await {
        let mut task = Asked::create(&server, &mut way, "both", json!({})).await;
        task.asks(&["left", "right"]).await;
        task.give(json!({"left": approved(true)})).await;
        let waiting = task.get().await;
        for nothing in
            [json!({}), json!({"zzz": approved(true)}), json!({"left": approved(false)}), json!({"left": 7})]
        {
            task.give(nothing.clone()).await;
            assert_eq!(task.get().await, waiting, "{name}: {nothing}");
        }
        task.give(json!({"right": approved(true)})).await;
        assert_eq!(task.text().await, "true true", "{name}");
    }
}

#[tokio::test]
async fn p080_accepted_declined_and_dismissed_are_three_answers_and_bad_content_is_none() {
    for (name, server, mut way) in Way::to(asking).await {
        for (answer, said) in [
            (approved(true), "true"),
            (json!({"action": "decline"}), "declined"),
            (json!({"action": "cancel"}), "dismissed"),
        ] {
            let mut task = Asked::create(&server, &mut way, "both", json!({})).await;
            let waiting = task.asks(&["left", "right"]).await;
            for bad in [
                json!({"action": "accept"}),
                json!({"action": "accept", "content": {"approved": "x"}}),
                json!({"action": "accept", "content": {}}),
                json!({"action": "later"}),
                json!({}),
            ] {
                // All or nothing: the good one beside it is not taken either.
                let refused = task.update(json!({"left": answer, "right": bad})).await;
                assert_eq!(refused["error"]["code"], -32_602, "{name}: {bad}");
                assert_eq!(task.get().await, waiting, "{name}: {bad}");
            }
            task.give(json!({"left": answer, "right": answer})).await;
            assert_eq!(task.text().await, format!("{said} {said}"), "{name}");
        }
    }
}

/// R-3, S-22: first there, then expired, then gone and never back; for a stranger the same answer throughout.
#[tokio::test]
async fn p087_the_end_of_a_task_is_told_to_its_owner_alone() {
    let clock = Arc::new(ManualClock::default());
    let server = Server::builder("s", "1").clock(Arc::clone(&clock)).tool::<add>().build().await.unwrap();
    let address = authenticated(server).await;
    let call = json!({"name": "add", "arguments": {"left": 1, "right": 2}});
    let id = as_(address, "alice", &request(json!(1), "tools/call", call)).await.json()["result"]["taskId"]
        .clone();
    let get = request(json!(1), "tasks/get", json!({"taskId": id}));
    let unknown = request(json!(1), "tasks/get", json!({"taskId": "tsk_0"}));
    let constant = as_(address, "bob", &unknown).await;
    let mut seen = Vec::new();
    for advance in [0, 899_999, 1, 3_599_999, 1, 60_000] {
        clock.advance(advance);
        for _ in 0..20 {
            let hers = as_(address, "alice", &get).await.json();
            let what = match hers["error"]["message"].as_str() {
                None => "there",
                Some("Failed to retrieve task: Task has expired") => "expired",
                Some("Failed to retrieve task: Task not found") => "gone",
                Some(other) => panic!("{other}"),
            };
            if seen.last() != Some(&what) {
                seen.push(what);
            }
            for stranger in ["bob", "other alice"] {
                let theirs = as_(address, stranger, &get).await;
                assert_eq!((theirs.status, &theirs.body), (constant.status, &constant.body), "{what}");
            }
        }
    }
    assert_eq!(seen, ["there", "expired", "gone"]);
}

/// A right that is taken away is gone with the next request, and comes back with it: nothing is remembered.
#[tokio::test]
async fn p084_rights_are_looked_at_for_each_request() {
    let address = authenticated(server().await).await;
    let call = request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}));
    let id = as_(address, "alice", &call).await.json()["result"]["taskId"].clone();
    let get = request(json!(1), "tasks/get", json!({"taskId": id}));
    for _ in 0..3 {
        assert_eq!(as_(address, "alice", &get).await.json()["result"]["taskId"], id);
        assert_eq!(as_(address, "banned", &get).await.status, 403);
        assert_eq!(as_(address, "mallory", &get).await.status, 401);
        assert_eq!(as_(address, "bob", &get).await.code(), -32_602);
    }
}

/// Each request says which task it asked about by its own id, so that no error has to.
#[tokio::test]
async fn p085_errors_of_many_polls_at_once_are_told_apart_by_their_ids() {
    for (name, server, mut way) in Way::to(asking).await {
        let known = Asked::create(&server, &mut way, "endless", json!({})).await.id;
        let polls = (0..20).map(|number| {
            let id = if number % 4 == 0 { json!(format!("tsk_{number}")) } else { known.clone() };
            request(json!(format!("poll {number}")), "tasks/get", json!({"taskId": id}))
        });
        for (number, answer) in way.answers(&polls.collect::<Vec<_>>()).await.iter().enumerate() {
            assert_eq!(answer["id"], format!("poll {number}"), "{name}");
            assert_eq!(answer.get("error").is_some(), number % 4 == 0, "{name}: {answer}");
        }
    }
}

/// P107: for every method that has a name, and no other.
#[tokio::test]
async fn p106_names_in_headers_are_decoded_compared_and_never_skipped() {
    let strict = Server::builder("strict", "1").require_task_name(true).tool::<job>().build().await.unwrap();
    let address = listen(strict, HttpOptions::default()).await;
    let verdict = async |method: &str, params: Value, name: Option<&str>| {
        let mut headers = vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", method)];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        let body = request(json!(1), method, params).to_string();
        let response = send(address, "POST", &headers, body.as_bytes()).await;
        (response.status, response.code())
    };
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for (id, header, expected) in [
            ("t-1", Some("t-1"), (200, -32_602)),
            ("t-1", Some("=?base64?dC0x?="), (200, -32_602)),
            ("a b", Some("a b"), (200, -32_602)),
            ("\u{65e5}\u{672c}", Some("=?base64?5pel5pys?="), (200, -32_602)),
            ("=?base64?eA==?=", Some("=?base64?PT9iYXNlNjQ/ZUE9PT89?="), (200, -32_602)),
            ("=?base64?eA==?=", Some("=?base64?eA==?="), (400, -32_020)),
            ("t-1", Some("=?base64??="), (400, -32_020)),
            ("t-1", Some("=?base64?dC0x"), (400, -32_020)),
            ("t-1", Some("=?base64?dC0x=?="), (400, -32_020)),
            ("t-1", Some(""), (400, -32_020)),
            ("t-1", Some("T-1"), (400, -32_020)),
            ("t-1", None, (400, -32_020)),
        ] {
            let params = json!({"taskId": id, "inputResponses": {}});
            assert_eq!(verdict(method, params, header).await, expected, "{method} {id} {header:?}");
        }
    }
    let call = || json!({"name": "job", "arguments": {}});
    assert_eq!(verdict("tools/call", call(), None).await, (400, -32_020));
    assert_eq!(verdict("tools/call", call(), Some("=?base64??=")).await, (400, -32_020));
    assert_eq!(verdict("tools/call", call(), Some("=?base64?am9i?=")).await, (200, 0));
    for method in ["server/discover", "tools/list"] {
        assert_eq!(verdict(method, json!({}), None).await, (200, 0), "{method}");
    }
}

/// P113, C-84: for each status, the payload included; only the kind of result and the subscription differ.
#[tokio::test]
async fn p111_a_notice_is_what_a_poll_would_have_been_told() {
    let clock = Arc::new(ManualClock::default());
    let server = Server::builder("s", "1")
        .clock(clock)
        .tool::<add>()
        .tool::<broken>()
        .tool::<report>()
        .tool::<endless>();
    let server = server.build().await.unwrap();
    let address = listen(server.clone(), HttpOptions::default()).await;
    let arguments = json!({"left": 1, "right": 2, "size": "small"});
    for (tool, status) in [
        ("add", "completed"),
        ("broken", "failed"),
        ("report", "input_required"),
        ("endless", "working"),
        ("endless", "cancelled"),
    ] {
        let call = request(json!(1), "tools/call", json!({"name": tool, "arguments": arguments}));
        let id = post(address, &call).await.json()["result"]["taskId"].clone();
        if status == "cancelled" {
            post(address, &request(json!(1), "tasks/cancel", json!({"taskId": id}))).await;
        }
        let get = request(json!(1), "tasks/get", json!({"taskId": id}));
        reaches_status(&server, &id, status).await;
        let mut polled = post(address, &get).await.json()["result"].clone();
        let mut events = Events::open(address, &subscribe(json!(9), json!({"taskIds": [id]}))).await;
        assert_eq!(events.next().await.unwrap()["params"]["notifications"], json!({"taskIds": [id]}));
        let mut told = events.next().await.unwrap();
        assert_eq!(told["method"], "notifications/tasks", "{told}");
        let told = told["params"].as_object_mut().unwrap();
        let polled = polled.as_object_mut().unwrap();
        assert_eq!(told.remove("_meta").unwrap()["io.modelcontextprotocol/subscriptionId"], 9);
        assert_eq!(polled.remove("resultType").unwrap(), "complete");
        polled.remove("_meta");
        assert_eq!(polled["status"], status);
        assert_eq!(told, polled);
    }
}
