//! A server with one tool of each kind, and requests to it. It keeps its tasks in memory.

use std::time::Duration;

use mcp_tasks::{
    Answer, Input, Server, TaskContext, TaskRecord, ToolError,
    server::routing::ReceivedHeaders,
    server::{Incoming, RequestContext},
    task_tool, tool_type,
    types::TaskId,
};
use serde_json::{Value, json};

pub(crate) const VERSION: &str = "2026-07-28";
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

#[tool_type]
pub(crate) struct Approval {
    pub(crate) approved: bool,
}

#[tool_type]
pub(crate) struct Report {
    size: String,
    approved: bool,
}

/// Says what it was told.
#[task_tool(task = "never")]
pub(crate) async fn echo(text: String) -> Result<String, ToolError> {
    Ok(text)
}

/// Takes either road.
#[task_tool(ttl = "15m")]
pub(crate) async fn add(left: u32, right: u32) -> Result<String, ToolError> {
    match left.checked_add(right) {
        Some(sum) => Ok(sum.to_string()),
        None => Err(ToolError::tool("the sum is too large")),
    }
}

/// Is always a task.
#[task_tool(task = "required")]
pub(crate) async fn job() -> Result<String, ToolError> {
    Ok("done".to_owned())
}

/// Ends with a protocol error.
#[task_tool]
pub(crate) async fn broken() -> Result<String, ToolError> {
    Err(ToolError::protocol(-1_000, "out of paper"))
}

/// Asks a person.
#[task_tool(ttl = "15m", restart = "rerun", status = "Preparing report outline.")]
pub(crate) async fn report(
    ctx: TaskContext,
    /// How long the report shall be.
    size: String,
    /// Approve the generated report outline?
    approve_outline: Input<Approval>,
) -> Result<Report, ToolError> {
    ctx.status("Preparing report outline.").await?;
    match approve_outline.ask(&ctx).await? {
        Answer::Accept(Approval { approved }) => Ok(Report { size, approved }),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("not approved")),
    }
}

/// Asks a person, and asks also clients that do not say that they can ask one.
#[task_tool(require_input_capability = false)]
pub(crate) async fn hopeful(
    ctx: TaskContext,
    /// Go on?
    go_on: Input<Approval>,
) -> Result<String, ToolError> {
    match go_on.ask(&ctx).await? {
        Answer::Accept(_) => Ok("yes".to_owned()),
        Answer::Decline | Answer::Cancel => Ok("no".to_owned()),
    }
}

/// Waits until it is cancelled.
#[task_tool(task = "auto")]
pub(crate) async fn endless(ctx: TaskContext) -> Result<String, ToolError> {
    Err(ctx.cancelled().await.into())
}

/// A type of an author who did not think of everything.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Explosive(u8);

impl<'de> serde::Deserialize<'de> for Explosive {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        assert!(number < 7, "the secret of the author");
        Ok(Self(number))
    }
}

/// Takes what cannot be read without a panic.
#[task_tool]
pub(crate) async fn explode(fuse: Explosive) -> Result<String, ToolError> {
    Ok(fuse.0.to_string())
}

pub(crate) async fn server() -> Server {
    Server::builder("test-server", "1.2.3")
        .tool::<echo>()
        .tool::<add>()
        .tool::<job>()
        .tool::<broken>()
        .tool::<report>()
        .tool::<hopeful>()
        .tool::<endless>()
        .tool::<explode>()
        .build()
        .await
        .unwrap()
}

/// Everything that a client can declare here.
pub(crate) fn all_capabilities() -> Value {
    json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}})
}

pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A request that declares everything.
pub(crate) fn request(id: Value, method: &str, params: Value) -> Value {
    request_declaring(id, method, params, all_capabilities())
}

pub(crate) fn request_declaring(id: Value, method: &str, mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = meta(capabilities);
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// What came back: the status on HTTP, and the message if there is one.
pub(crate) type Back = (u16, Value);

/// Sends a message as stdio does, without headers.
pub(crate) async fn ask(server: &Server, message: &Value) -> Back {
    let context = RequestContext::new(server.owner().clone());
    send(server, &context, message).await
}

/// Sends a message as HTTP does, with these headers.
pub(crate) async fn ask_with(server: &Server, headers: &[(&str, &str)], message: &Value) -> Back {
    let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
    let context = RequestContext::new(server.owner().clone()).with_headers(ReceivedHeaders::read(headers));
    send(server, &context, message).await
}

async fn send(server: &Server, context: &RequestContext, message: &Value) -> Back {
    let reply = server.answer(context, Incoming::read(message.to_string())).await;
    let message = reply.text().map_or(Value::Null, |text| serde_json::from_str(text).unwrap());
    (reply.status(), message)
}

/// The result of a request that declares everything.
pub(crate) async fn result(server: &Server, method: &str, params: Value) -> Value {
    let (status, answer) = ask(server, &request(json!(1), method, params)).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// The error of a request that declares everything.
pub(crate) async fn error(server: &Server, method: &str, params: Value) -> Value {
    let (_, answer) = ask(server, &request(json!(1), method, params)).await;
    assert!(answer["error"].is_object(), "{answer}");
    answer["error"].clone()
}

/// Calls a tool that becomes a task; gives its id.
pub(crate) async fn create(server: &Server, tool: &str, arguments: Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    let created = result(server, "tools/call", params).await;
    assert_eq!(created["resultType"], "task", "{created}");
    created["taskId"].as_str().unwrap().to_owned()
}

/// Waits until a task of the server's owner is as wanted, or has ended; what it is then is for the caller to look at.
pub(crate) async fn until_task(server: &Server, id: &str, wanted: impl FnMut(&TaskRecord) -> bool) {
    let id = TaskId::from(id);
    let waiting = server.engine().wait(server.owner(), &id, wanted);
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    waited.unwrap_or_else(|_| panic!("the task {id} does not come to that")).unwrap();
}

/// Waits until the task has this status, or has ended.
#[cfg(feature = "http")]
pub(crate) async fn reaches_status(server: &Server, id: &Value, status: &str) {
    until_task(server, id.as_str().unwrap(), |record| record.state.name() == status).await;
}

/// The task as it is told when it has this status.
pub(crate) async fn until_status(server: &Server, id: &str, status: &str) -> Value {
    until_task(server, id, |record| record.state.name() == status).await;
    let snapshot = result(server, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(snapshot["status"], status, "{snapshot}");
    snapshot
}
