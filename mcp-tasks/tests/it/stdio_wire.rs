//! Serving over a pair of byte streams.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::testing::Verb;
use mcp_tasks::transport::stdio::{StdioOptions, serve_stream};
use mcp_tasks::{Server, ToolError, task_tool};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines},
    task::JoinHandle,
};

use crate::server_harness::{create, request, request_declaring, server, until_status};

pub(crate) struct Connection {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Connection {
    pub(crate) async fn open(options: StdioOptions) -> Self {
        Self::to(server().await, options)
    }

    pub(crate) fn to(server: Server, options: StdioOptions) -> Self {
        let (input, reader) = tokio::io::duplex(1 << 16);
        let (writer, output) = tokio::io::duplex(1 << 16);
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            serving: tokio::spawn(serve_stream(server, reader, writer, options)),
        }
    }

    async fn send(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn send_message(&mut self, message: &Value) {
        self.send(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = within(self.output.next_line()).await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends the input; everything that was still written, and how serving ended.
    pub(crate) async fn finish(mut self) -> Vec<Value> {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = within(self.output.next_line()).await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        within(self.serving).await.unwrap().unwrap();
        rest
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("the connection hangs")
}

fn call(id: Value, tool: &str, capabilities: Value) -> Value {
    request_declaring(id, "tools/call", json!({"name": tool, "arguments": {}}), capabilities)
}

/// X-01, X-02, X-08, X-10, X-11, X-122, X-130, S-01
#[tokio::test]
async fn each_line_is_answered_by_at_most_one_line() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    let silent = [
        r#"{"jsonrpc":"2.0","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"method":7}"#,
        "   ",
        "",
    ];
    for line in silent {
        connection.send(line.as_bytes()).await;
    }
    let errors: [(&[u8], i64); 5] = [
        (b"{", -32_700),
        (b"\xff\xfe", -32_700),
        (b"[]", -32_600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32_600),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32_600),
    ];
    for (line, code) in errors {
        connection.send(line).await;
        let answer = connection.next().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer.get("id").is_none());
    }
    connection.send_message(&request(json!("last"), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], "last");
    assert_eq!(connection.finish().await, Vec::<Value>::new());
}

/// X-15: a slow request keeps nobody waiting, and no answer is torn.
#[tokio::test]
async fn requests_are_worked_on_side_by_side() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    connection.send_message(&call(json!("slow"), "endless", json!({}))).await;
    for id in 0..200 {
        connection.send_message(&request(json!(id), "tools/list", json!({}))).await;
        assert_eq!(connection.next().await["id"], id);
    }
}

/// X-03
#[tokio::test]
async fn an_id_that_is_still_in_use_is_refused() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    connection.send_message(&call(json!(1), "endless", json!({}))).await;
    connection.send_message(&request(json!(1), "tools/list", json!({}))).await;
    let refused = connection.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32_600)));
    // Another type is another id.
    connection.send_message(&request(json!("1"), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], "1");
}

/// X-72, X-73, X-76: and an answered id is free again.
#[tokio::test]
async fn a_cancelled_request_is_not_answered_any_more() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    connection.send_message(&call(json!(1), "endless", json!({}))).await;
    for id in [json!(1), json!(1), json!("unknown"), json!(null)] {
        connection.send_message(&cancel(&id)).await;
    }
    connection.send_message(&request(json!(1), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], 1);
    assert_eq!(connection.finish().await, Vec::<Value>::new());
}

/// S-18, S-20, X-13: the task outlives its request and its connection.
#[tokio::test]
async fn a_task_outlives_the_connection_that_made_it() {
    let server = server().await;
    let capabilities = crate::server_harness::all_capabilities();
    let mut connection = Connection::to(server.clone(), StdioOptions::default());
    connection.send_message(&call(json!(1), "endless", capabilities)).await;
    let created = connection.next().await;
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    connection.send_message(&cancel).await;
    connection.finish().await;

    let mut connection = Connection::to(server, StdioOptions::default());
    connection.send_message(&request(json!(1), "tasks/get", json!({"taskId": id}))).await;
    assert_eq!(connection.next().await["result"]["status"], "working");
}

/// X-126: answers in flight leave, a request that does not end does not keep the connection.
#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_ends_the_connection() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    connection.send_message(&call(json!("slow"), "endless", json!({}))).await;
    connection.send_message(&request(json!("quick"), "tools/list", json!({}))).await;
    let rest = connection.finish().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["id"], "quick");
}

#[tokio::test]
async fn the_last_line_needs_no_line_break() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    let message = request(json!(1), "tools/list", json!({})).to_string();
    let input = connection.input.as_mut().unwrap();
    input.write_all(message.as_bytes()).await.unwrap();
    assert_eq!(connection.finish().await[0]["id"], 1);
}

#[tokio::test]
async fn a_line_beyond_the_limit_is_refused_and_the_next_one_is_answered() {
    let mut connection = Connection::open(StdioOptions::default().with_message_limit(1_000)).await;
    let long = request(json!(1), "tools/list", json!({"long": "x".repeat(1_000)}));
    connection.send_message(&long).await;
    let refused = connection.next().await;
    assert_eq!(refused["error"]["code"], -32_600);
    assert!(refused.get("id").is_none());
    connection.send_message(&request(json!(2), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], 2);
}

fn cancel(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

fn add(id: Value) -> Value {
    let params = json!({"name": "add", "arguments": {"left": 1, "right": 2}});
    request_declaring(id, "tools/call", params, json!({}))
}

/// P150, X-15, X-72: calls that wait hold up nothing else, get their turn, and may be cancelled.
#[tokio::test]
async fn calls_beyond_the_limit_wait_and_other_requests_are_served() {
    let mut connection = Connection::open(StdioOptions::default().with_calls(2)).await;
    for id in [1, 2] {
        connection.send_message(&call(json!(id), "endless", json!({}))).await;
    }
    for id in [3, 4, 5] {
        connection.send_message(&add(json!(id))).await;
    }
    connection.send_message(&request(json!(6), "tasks/get", json!({"taskId": "tsk_1"}))).await;
    assert_eq!(connection.next().await["id"], 6);
    // A call that waits has its id, until it is cancelled.
    connection.send_message(&add(json!(4))).await;
    let refused = connection.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(4), &json!(-32_600)));
    connection.send_message(&cancel(&json!(4))).await;
    connection.send_message(&cancel(&json!(1))).await;
    for id in [3, 5] {
        let answer = connection.next().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["content"][0]["text"], "3");
    }
    assert_eq!(connection.finish().await, Vec::<Value>::new());
}

/// P152: what waits is bounded; beyond that a call is refused, since the next line may be a cancellation.
#[tokio::test]
async fn calls_that_find_no_place_to_wait_are_refused() {
    let options = StdioOptions::default().with_calls(1).with_message_limit(10_000);
    let mut connection = Connection::open(options).await;
    connection.send_message(&call(json!("first"), "endless", json!({}))).await;
    let mut sent = 0;
    for id in 0..1_000 {
        connection.send_message(&call(json!(id), "endless", json!({}))).await;
        sent += 1;
    }
    let refused = connection.next().await;
    assert_eq!(refused["error"]["code"], -32_603, "{refused}");
    let first_refused = refused["id"].as_u64().unwrap();
    assert!((100..sent).contains(&first_refused), "{refused}");
    // Cancellations are heard, and make room.
    for id in first_refused + 1..sent {
        assert_eq!(connection.next().await["id"], id);
    }
    for id in [json!("first"), json!(0)] {
        connection.send_message(&cancel(&id)).await;
    }
    connection.send_message(&request(json!("last"), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], "last");
    connection.send_message(&call(json!("again"), "endless", json!({}))).await;
    connection.send_message(&request(json!("last"), "tools/list", json!({}))).await;
    assert_eq!(connection.next().await["id"], "last");
}

/// X-126, C-31: whatever was read before the input ended is answered, as long as answers come.
#[tokio::test]
async fn every_call_of_a_burst_is_answered_although_the_input_ends() {
    const CALLS: usize = 2_000;
    let mut connection = Connection::open(StdioOptions::default().with_calls(16)).await;
    for id in 0..CALLS {
        let params = json!({"name": "report", "arguments": {"size": "small"}});
        connection.send_message(&request(json!(id), "tools/call", params)).await;
    }
    let answers = connection.finish().await;
    assert!(answers.iter().all(|answer| answer["result"]["resultType"] == "task"));
    let mut ids: Vec<_> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), CALLS);
}

/// X-126: also when the client does not read, whatever it has sent.
#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_ends_the_connection_although_the_output_is_stuck() {
    for (count, line) in [
        (3_000, request(json!(1), "tools/list", json!({})).to_string()),
        (3_000, "{".to_owned()),
        (300, call(json!(1), "job", crate::server_harness::all_capabilities()).to_string()),
    ] {
        let mut connection = Connection::open(StdioOptions::default()).await;
        for number in 0..count {
            connection.send(line.replace("\"id\":1", &format!("\"id\":{number}")).as_bytes()).await;
        }
        connection.input = None;
        within(connection.serving).await.unwrap().unwrap();
        drop(connection.output);
    }
}

/// X-126: also when so many answers wait that there is no room for another request.
#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_is_seen_where_requests_find_no_room_any_more() {
    let mut connection = Connection::open(StdioOptions::default().with_message_limit(1_000)).await;
    // There is room for a megabyte, and each takes a kilobyte and its length.
    for id in 0..1_060 {
        connection.send_message(&request(json!(id), "tools/list", json!({}))).await;
    }
    connection.input = None;
    within(connection.serving).await.unwrap().unwrap();
    drop(connection.output);
}

/// Answers with much.
#[task_tool(task = "required")]
async fn large() -> Result<String, ToolError> {
    Ok("x".repeat(100 * 1024))
}

/// X-126: small requests have large answers, and no more of them are made than a few while nobody reads.
#[tokio::test(start_paused = true)]
async fn large_answers_that_nobody_reads_are_not_piled_up() {
    let store = crate::support::faulty();
    let server =
        Server::builder("large", "1").store(Arc::clone(&store)).tool::<large>().build().await.unwrap();
    let id = create(&server, "large", json!({})).await;
    until_status(&server, &id, "completed").await;
    let mut connection = Connection::to(server, StdioOptions::default().with_message_limit(1_000));
    let before = store.calls(Verb::Load);
    for number in 0..500 {
        connection.send_message(&request(json!(number), "tasks/get", json!({"taskId": id}))).await;
    }
    connection.input = None;
    within(connection.serving).await.unwrap().unwrap();
    let polls = store.calls(Verb::Load) - before;
    assert!((16..=48).contains(&polls), "{polls} answers");
    drop(connection.output);
}

/// X-126: nobody reads, nobody writes: then nothing more is read than fits, and the memory stays bounded.
#[tokio::test(start_paused = true)]
async fn a_client_that_writes_and_never_reads_is_held_back() {
    let mut connection = Connection::open(StdioOptions::default().with_message_limit(1_000)).await;
    let flood = async {
        loop {
            connection.send(b"{").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), flood).await.unwrap_err();
}

/// C-95, X-06: also code of the tool's author that panics leaves no request without an answer.
#[tokio::test]
async fn a_panic_while_answering_is_an_internal_error() {
    let mut connection = Connection::open(StdioOptions::default()).await;
    for capabilities in [json!({}), crate::server_harness::all_capabilities()] {
        let params = json!({"name": "explode", "arguments": {"fuse": 9}});
        connection.send_message(&request_declaring(json!(1), "tools/call", params, capabilities)).await;
        let answer = connection.next().await;
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["error"], json!({"code": -32_603, "message": "Internal error"}));
    }
    let params = json!({"name": "explode", "arguments": {"fuse": 1}});
    connection.send_message(&request_declaring(json!(1), "tools/call", params, json!({}))).await;
    assert_eq!(connection.next().await["result"]["content"][0]["text"], "1");
}

/// X-31, X-89, X-90: what calls tell comes before their answers, each under its own token.
#[tokio::test]
async fn what_calls_tell_comes_before_their_answers() {
    use crate::server_telling::{call, server};

    let mut connection = Connection::to(server().await, StdioOptions::default());
    let tokens = ["one", "two"];
    for token in tokens {
        let counting = json!({"name": "count_to", "arguments": {"number": 3}});
        let mut message = call(counting, json!({}), &json!({"progressToken": token}));
        message["id"] = json!(token);
        connection.send_message(&message).await;
    }
    let mut told = Vec::new();
    for _ in 0..8 {
        told.push(connection.next().await);
    }
    for token in tokens {
        let of_it: Vec<&Value> =
            told.iter().filter(|one| one["id"] == token || one["params"]["progressToken"] == token).collect();
        let done: Vec<Option<f64>> = of_it.iter().map(|one| one["params"]["progress"].as_f64()).collect();
        assert_eq!(done, [Some(1.0), Some(2.0), Some(3.0), None], "{of_it:?}");
        assert_eq!(of_it[3]["result"]["content"][0]["text"], "counted");
    }
    assert_eq!(connection.finish().await, Vec::<Value>::new());
}

/// S-18: a task that was begun with a token for progress does not keep its connection open.
#[tokio::test]
async fn connection_ends_although_a_task_that_could_tell_goes_on() {
    use crate::server_harness::all_capabilities;
    use crate::server_telling::call;

    let options = StdioOptions::default().with_drain(Duration::from_secs(3_600));
    let mut connection = Connection::open(options).await;
    let endless = json!({"name": "endless", "arguments": {}});
    connection.send_message(&call(endless, all_capabilities(), &json!({"progressToken": 1}))).await;
    assert_eq!(connection.next().await["result"]["resultType"], "task");
    assert_eq!(connection.finish().await, Vec::<Value>::new());
}
