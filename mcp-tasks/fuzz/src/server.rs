//! The server that the bytes come to: one tool of each kind, each of which ends by itself.

use std::future::Future;

use mcp_tasks::{Answer, Input, Server, TaskContext, ToolError, task_tool, tool_type};

/// Something with a form.
#[tool_type]
struct Approval {
    approved: bool,
    size: Option<u8>,
}

/// Takes either road.
#[task_tool(ttl = "15m")]
async fn add(left: u32, right: Option<u32>, words: Vec<String>) -> Result<String, ToolError> {
    Ok(format!("{left} {right:?} {}", words.join(" ")))
}

/// Never becomes a task.
#[task_tool(task = "never")]
async fn echo(text: String) -> Result<String, ToolError> {
    Ok(text)
}

/// Asks, as a task or in its answer.
#[task_tool(ttl = "15m", restart = "rerun")]
async fn ask(
    ctx: TaskContext,
    /// Go on?
    approve: Input<Approval>,
) -> Result<String, ToolError> {
    match approve.ask(&ctx).await? {
        Answer::Accept(approval) => Ok(format!("{} {:?}", approval.approved, approval.size)),
        _ => Ok("no".to_owned()),
    }
}

/// A server of its own for each input, so that an input says the same each time.
async fn server() -> Server {
    let server = Server::builder("fuzz", "1.0.0")
        .tool::<add>()
        .tool::<echo>()
        .tool::<ask>()
        .request_state_key([7; 32])
        // Over HTTP a subscription is answered with all of its stream.
        .max_subscription_ms(0)
        .build();
    server.await.expect("a server")
}

/// Runs what is done with a server, on a clock that goes on by itself.
pub(crate) fn with_server<F: Future<Output = ()>>(work: impl FnOnce(Server) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let server = server().await;
        work(server.clone()).await;
        server.shutdown().await;
    });
}
