//! A tool that asks before its task exists.
#![deny(warnings, missing_docs, unused_qualifications, clippy::pedantic)]

use mcp_tasks::{Answer, Input, TaskContext, TaskTool, ToolError, task_tool, tool_type};

#[tool_type]
struct Person {
    name: String,
}

/// Greets whoever is there.
#[task_tool(task = "required", restart = "rerun")]
async fn welcome(
    ctx: TaskContext,
    /// Who is there?
    #[ask(before_task)]
    user_name: Input<Person>,
    /// And who else?
    other: Input<Person>,
) -> Result<String, ToolError> {
    match (user_name.ask(&ctx).await?, other.ask(&ctx).await?) {
        (Answer::Accept(one), Answer::Accept(other)) => Ok(format!("{} and {}", one.name, other.name)),
        _ => Err(ToolError::cancelled("nobody is there")),
    }
}

fn main() {
    let before: Vec<_> =
        welcome::definition().inputs().iter().map(|input| (input.key().to_owned(), input.is_before_task())).collect();
    assert_eq!(before, [("user_name".to_owned(), true), ("other".to_owned(), false)]);
}
