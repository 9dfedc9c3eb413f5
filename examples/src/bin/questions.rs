//! Questions of every kind, several at once, and progress on the way.
//!
//! Run `cargo run -p mcp-tasks-examples --bin questions -- 8000` and call `set_up` at `http://127.0.0.1:8000/mcp`, as a
//! client that can show forms and web pages and has a model: as a task it becomes `input_required` with two questions,
//! and when both are answered with one for the model. A client that knows no tasks gets the same questions in the
//! answer of its call, and with a `progressToken` it hears how far things are.
//!
//! A second tool, `folders`, asks a client that declares roots for them, and another one in a form.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use mcp_tasks::{
    Answer, Input, MemoryStore, RootsInput, SamplingInput, Server, TaskContext, ToolError, UrlInput,
    task_tool, tool_type,
    transport::http::{HttpOptions, bind_http},
    types::v2026_07_28::{CreateMessageResult, SamplingMessageContent, SamplingMessageContentBlock},
};
use mcp_tasks_examples::command::{Failure, address, told_to_end};

/// What a project is called.
#[tool_type]
struct Name {
    name: String,
}

/// Sets a project up.
#[task_tool(ttl = "1h", restart = "rerun")]
async fn set_up(
    ctx: TaskContext,
    /// Where the work is done, for whoever routes requests.
    #[arg(header = "Region")]
    region: Option<String>,
    /// What shall the project be called?
    name: Input<Name>,
    /// Please log in to your account.
    login: UrlInput,
    /// Write a motto for a new project.
    #[ask(max_tokens = 50, system = "You are brief.")]
    motto: SamplingInput,
) -> Result<String, ToolError> {
    ctx.progress(0.0, Some(2.0), Some("Waiting for a name and for the login.")).await?;
    // The same after a restart; what is made up anew each time would be another question, and belongs into a step.
    let page = format!("https://login.example/?task={}", ctx.task_id());
    let (name, login) = ctx.ask_all((&name, login.at(page))).await?;
    let (Answer::Accept(Name { name }), Answer::Accept(())) = (name, login) else {
        return Err(ToolError::cancelled("There is no project."));
    };
    ctx.progress(1.0, Some(2.0), Some("Waiting for a motto.")).await?;
    let motto = motto.ask(&ctx).await?;
    Ok(format!("{name}, in {}: {}", region.as_deref().unwrap_or("no region"), text_of(&motto)))
}

/// Says which folders there are.
#[task_tool(require_input_capability = false)]
async fn folders(
    ctx: TaskContext,
    folders: RootsInput,
    /// Which folder shall be used?
    folder: Input<Name>,
) -> Result<String, ToolError> {
    if ctx.can_ask(&folders) {
        let folders: Vec<String> = folders.ask(&ctx).await?.into_iter().map(|root| root.uri).collect();
        return Ok(folders.join(", "));
    }
    match folder.ask(&ctx).await? {
        Answer::Accept(Name { name }) => Ok(name),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("There is no folder.")),
    }
}

fn text_of(message: &CreateMessageResult) -> &str {
    match &message.content {
        SamplingMessageContent::Block(SamplingMessageContentBlock::Text(text)) => &text.text,
        _ => "no words",
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = address(&std::env::args().nth(1).ok_or("usage: questions ADDRESS")?)?;
    let told_to_end = told_to_end()?;
    let server = Server::builder("questions", env!("CARGO_PKG_VERSION"))
        .store(MemoryStore::new())
        .tool::<set_up>()
        .tool::<folders>()
        .build()
        .await?;
    let http = bind_http(server, address, HttpOptions::default()).await?;
    eprintln!("listening on {}", http.url());
    http.serve(told_to_end).await?;
    Ok(())
}
