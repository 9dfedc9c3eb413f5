//! Questions with what belongs to questions of other kinds.

use mcp_tasks::{Input, RootsInput, SamplingInput, ToolError, UrlInput, task_tool, tool_type};

#[tool_type]
struct Approval {
    approved: bool,
}

/// Writes a report.
#[task_tool]
async fn report(
    /// Approve?
    #[ask(max_tokens = 10)]
    approve: Input<Approval>,
    /// Please log in.
    #[ask(before_task)]
    login: UrlInput,
    /// Summarize it.
    #[ask(max_tokens = "ten", system = 1)]
    summary: SamplingInput,
    folders: RootsInput,
    /// What it is about.
    #[ask(before_task)]
    topic: String,
) -> Result<String, ToolError> {
    Ok(format!("{approve:?} {login:?} {summary:?} {folders:?} {topic}"))
}

fn main() {}
