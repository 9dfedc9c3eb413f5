//! Questions of all kinds, alone and together, and an argument that is repeated in a header.
#![deny(warnings, missing_docs, unused_qualifications, clippy::pedantic)]

use mcp_tasks::types::v2026_07_28::CreateMessageRequestParams;
use mcp_tasks::{
    Answer, Input, LoggingLevel, RootsInput, SamplingInput, TaskContext, ToolError, UrlInput, task_tool,
    tool_type,
};

/// What a project is called.
#[tool_type]
struct Name {
    /// Its name.
    name: String,
}

const GREETER: &str = "You greet people.";

/// Makes a project.
#[task_tool(require_input_capability = false)]
async fn project(
    ctx: TaskContext,
    /// Where it is.
    #[arg(header = "Region")]
    region: Option<String>,
    /// What shall it be called?
    name: Input<Name>,
    /// Please log in.
    login: UrlInput,
    /// Greet whoever is there.
    #[ask(before_task, max_tokens = 50, system = GREETER)]
    greeting: SamplingInput,
    /// Say more.
    more: SamplingInput,
    folders: RootsInput,
) -> Result<String, ToolError> {
    ctx.progress(1.0, Some(2.0), Some("Asking.")).await?;
    ctx.log(LoggingLevel::Info, "asking").await?;
    let greeting = greeting.ask(&ctx).await?;
    let (name, login) = ctx.ask_all((&name, login.at("https://example.org/login/7"))).await?;
    let (Answer::Accept(Name { name }), Answer::Accept(())) = (name, login) else {
        return Err(ToolError::cancelled("Nobody is there."));
    };
    let folders = if ctx.can_ask(&folders) { folders.ask(&ctx).await? } else { Vec::new() };
    let more = more.with(CreateMessageRequestParams::new(Vec::new(), 10)).ask(&ctx).await?;
    let trace = ctx.trace_context();
    Ok(format!("{name} {region:?} {} {} {folders:?} {trace:?}", greeting.model, more.model))
}

fn is_a_tool<T: mcp_tasks::TaskTool>() {}

fn main() {
    is_a_tool::<project>();
}
