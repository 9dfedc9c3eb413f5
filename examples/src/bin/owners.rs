//! Callers who cannot reach each other's tasks, and a tool with which each lists their own.
//!
//! Run `cargo run -p mcp-tasks-examples --bin owners -- 8000`, and call `export` and then `my_tasks` at
//! `http://127.0.0.1:8000/mcp` with the header `Authorization: Bearer alice-token`, then with `bob-token`: Bob's list
//! is empty, and with the id of Alice's task he gets what he gets for an id that never was. The protocol has no method
//! that lists tasks, so a history is a tool, with the filters that make sense for it.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::{sync::OnceLock, time::Duration};

use mcp_tasks::{
    Engine, MemoryStore, Owner, Server, TaskContext, ToolError, task_tool, tool_type,
    transport::http::{Authenticator, Denied, HttpOptions, Parts, bind_http},
};
use mcp_tasks_examples::command::{Failure, address, told_to_end};
use sha2::{Digest as _, Sha256};

/// Who may come in. Of a token its digest is kept, so that neither a look at this table nor the time that a comparison
/// takes gives one away.
struct Tokens(Vec<([u8; 32], Owner)>);

impl Tokens {
    fn new(tokens: &[(&str, Owner)]) -> Self {
        Self(tokens.iter().map(|(token, owner)| (Sha256::digest(token).into(), owner.clone())).collect())
    }
}

impl Authenticator for Tokens {
    async fn authenticate(&self, request: &Parts) -> Result<Owner, Denied> {
        let header = request.headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
        let digest: [u8; 32] = Sha256::digest(token).into();
        let known = self.0.iter().find(|(known, _)| *known == digest);
        known.map(|(_, owner)| owner.clone()).ok_or_else(|| Denied::unauthorized("Bearer"))
    }
}

/// Exports everything, which takes a while.
#[task_tool(ttl = "1h")]
async fn export(ctx: TaskContext) -> Result<String, ToolError> {
    for part in 1..=10 {
        ctx.status(format!("part {part} of 10")).await?;
        tokio::select! {
            // It stands for the work.
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            interrupted = ctx.cancelled() => return Err(interrupted.into()),
        }
    }
    Ok("exported".to_owned())
}

/// A line of the history.
#[tool_type]
struct Entry {
    task_id: String,
    tool: String,
    status: String,
    created_at: String,
}

/// All of it.
#[tool_type]
struct History {
    tasks: Vec<Entry>,
}

/// The engine that runs the tools, for the one that looks at tasks.
static ENGINE: OnceLock<Engine> = OnceLock::new();

/// Lists your tasks, the oldest first.
#[task_tool(task = "never")]
async fn my_tasks(
    ctx: TaskContext,
    /// Only those with this status, for instance `working`.
    status: Option<String>,
    /// Only those of this tool.
    tool: Option<String>,
) -> Result<History, ToolError> {
    let engine = ENGINE.get().ok_or("the server is not up yet")?;
    let mut tasks = Vec::new();
    let mut after = None;
    loop {
        let page = engine.list(&ctx.owner(), after.as_ref(), 100).await?;
        let wanted = page.records.iter().filter(|record| {
            status.as_ref().is_none_or(|status| record.state.name() == status)
                && tool.as_ref().is_none_or(|tool| record.tool.name == *tool)
        });
        tasks.extend(wanted.map(|record| Entry {
            task_id: record.id.to_string(),
            tool: record.tool.name.clone(),
            status: record.state.name().to_owned(),
            created_at: record.created_at.to_string(),
        }));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(History { tasks }),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = address(&std::env::args().nth(1).ok_or("usage: owners ADDRESS")?)?;
    let told_to_end = told_to_end()?;
    let server = Server::builder("owners", env!("CARGO_PKG_VERSION"))
        .store(MemoryStore::new())
        .tool::<export>()
        .tool::<my_tasks>()
        .build()
        .await?;
    ENGINE.get_or_init(|| server.engine().clone());
    let tokens = Tokens::new(&[
        ("alice-token", Owner::new("example", "alice")),
        ("bob-token", Owner::new("example", "bob")),
    ]);
    let http = bind_http(server, address, HttpOptions::default().with_authenticator(tokens)).await?;
    eprintln!("listening on {}", http.url());
    http.serve(told_to_end).await?;
    Ok(())
}
