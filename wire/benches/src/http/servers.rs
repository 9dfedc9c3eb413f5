//! The servers that are compared, each in a process of its own, which ends when its standard input does.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use mcp_tasks::transport::http::{HttpOptions, bind_http, router};
use mcp_tasks::{Input, MemoryStore, Server, SqliteStore, TaskContext, ToolError, task_tool, tool_type};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, GetTaskParams,
    GetTaskResult, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio::net::TcpListener;

/// A server as a process.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    /// Starts this program again as a server.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg("serve").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a server");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its address");
        let address = line.trim().parse().unwrap_or_else(|_| panic!("no address: {line:?}"));
        Self { child, address }
    }

    /// Memory that the system has given to it, in bytes.
    pub(crate) fn resident_bytes(&self) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap_or(0.0) * 1024.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A text of about a kilobyte, or with what is around it.
fn text() -> String {
    "Generated large report with approved outline. ".repeat(16)
}

/// Gives a text.
#[task_tool(ttl = "1d", restart = "rerun")]
async fn finish(ctx: TaskContext) -> Result<String, ToolError> {
    ctx.checkpoint()?;
    Ok(text())
}

/// Says how far it is, and gives a text.
#[task_tool(task = "never")]
async fn tell(ctx: TaskContext) -> Result<String, ToolError> {
    ctx.progress(1.0, Some(2.0), Some("half")).await?;
    Ok(text())
}

#[tool_type]
struct Approval {
    approved: bool,
}

/// Waits for an answer.
#[task_tool(ttl = "1d")]
async fn wait(
    ctx: TaskContext,
    /// Go on?
    approve: Input<Approval>,
) -> Result<String, ToolError> {
    approve.ask(&ctx).await?;
    Ok("done".to_owned())
}

async fn serve(arguments: &[String]) {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["axum", template] => {
            let template = std::fs::read_to_string(template).expect("a template");
            let template: Arc<[String]> = template.split('\0').map(str::to_owned).collect();
            listen(Router::new().route("/mcp", post(answer)).with_state(template), true).await;
        }
        ["ours", "memory"] => {
            bound(server().store(MemoryStore::new()).build().await.expect("a server")).await
        }
        ["ours", "sqlite", path] => {
            let store = SqliteStore::open(Path::new(path)).await.expect("a store");
            bound(server().store(store).build().await.expect("a server")).await;
        }
        // As somebody nests it who has not heard of TCP_NODELAY.
        ["ours", "nested"] => {
            let server = server().build().await.expect("a server");
            let endpoint = router(server, HttpOptions::default());
            listen(Router::new().nest_service("/mcp", endpoint), false).await;
        }
        ["rmcp"] => listen(peer(true), true).await,
        ["rmcp", "nested", answers] => listen(peer(answers == "json"), false).await,
        _ => panic!("no such server: {words:?}"),
    }
}

/// Runs the server that the arguments name until nobody wants it any more.
pub(crate) fn run(arguments: &[String]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(serve(arguments));
}

/// Tells the address, and ends the process with its standard input.
fn announce(address: SocketAddr) {
    println!("{address}");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
}

async fn listen(router: Router, nodelay: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    announce(listener.local_addr().expect("an address"));
    if nodelay {
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("an option"));
        axum::serve(listener, router).await.expect("it serves");
    } else {
        axum::serve(listener, router).await.expect("it serves");
    }
}

fn server() -> mcp_tasks::server::ServerBuilder {
    Server::builder("bench", "1.0.0")
        .tool::<finish>()
        .tool::<wait>()
        .tool::<tell>()
        .max_subscriptions_of_owner(2_000)
        .engine(|engine| engine.max_tasks(usize::MAX).max_tasks_of_owner(usize::MAX).max_running(usize::MAX))
}

async fn bound(server: Server) {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let bound = bind_http(server, address, HttpOptions::default()).await.expect("a port");
    announce(bound.address());
    bound.serve(std::future::pending()).await.expect("it serves");
}

/// What a handler without a library for the protocol reads.
#[derive(Deserialize)]
struct Message<'a> {
    id: u64,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default)]
    task_id: Option<&'a str>,
}

/// The bytes of our answers, with the ids of the request.
async fn answer(State(template): State<Arc<[String]>>, body: Bytes) -> impl IntoResponse {
    let message: Message<'_> = serde_json::from_slice(&body).expect("a request");
    let mut text = String::with_capacity(2048);
    for part in template.iter() {
        match part.as_str() {
            "ID" => text.push_str(&message.id.to_string()),
            "TASK" => text.push_str(message.params.task_id.unwrap_or("tsk_786512e29e0d44bd8f29789f320fe840")),
            part => text.push_str(part),
        }
    }
    ([(CONTENT_TYPE, "application/json")], text)
}

/// The task server of the official SDK, as its own tests put it together.
#[derive(Clone)]
struct Peer {
    tasks: TaskManager,
}

impl rmcp::ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        std::borrow::Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let options = TaskOptions::new().with_ttl_ms(86_400_000);
        let task = self.tasks.spawn(options, |_| {
            Box::pin(async { Ok(CallToolResult::success(vec![ContentBlock::text(text())])) })
        });
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, rmcp::ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }
}

fn peer(json: bool) -> Router {
    let tasks = TaskManager::new();
    let service = StreamableHttpService::new(
        move || Ok(Peer { tasks: tasks.clone() }),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(json),
    );
    Router::new().nest_service("/mcp", service)
}
