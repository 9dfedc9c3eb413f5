//! Fixtures that ask in the answers of their calls.

use mcp_tasks::{Answer, Input, TaskContext, ToolError, task_tool, tool_type};

use crate::Name;

/// A yes or a no.
#[tool_type]
pub(crate) struct Consent {
    ok: bool,
}

/// A color.
#[tool_type]
pub(crate) struct Color {
    color: String,
}

/// Greets whoever is there.
#[task_tool(name = "test_input_required_result_elicitation", task = "never")]
pub(crate) async fn elicitation(
    ctx: TaskContext,
    /// What is your name?
    user_name: Input<Name>,
) -> Result<String, ToolError> {
    let name =
        user_name.ask(&ctx).await?.accepted().map_or_else(|| "nobody".to_owned(), |answer| answer.name);
    Ok(format!("Hello, {name}!"))
}

/// Has a state.
#[task_tool(name = "test_input_required_result_request_state", task = "never")]
pub(crate) async fn request_state(
    ctx: TaskContext,
    /// Please confirm
    confirm: Input<Consent>,
) -> Result<String, ToolError> {
    confirmed(&ctx, &confirm).await
}

/// Has a state that nobody may change.
#[task_tool(name = "test_input_required_result_tampered_state", task = "never")]
pub(crate) async fn tampered_state(
    ctx: TaskContext,
    /// Please confirm
    confirm: Input<Consent>,
) -> Result<String, ToolError> {
    confirmed(&ctx, &confirm).await
}

async fn confirmed(ctx: &TaskContext, confirm: &Input<Consent>) -> Result<String, ToolError> {
    let ok = matches!(confirm.ask(ctx).await?, Answer::Accept(Consent { ok: true }));
    Ok(format!("state-ok, confirmed: {ok}"))
}

/// Asks twice.
#[task_tool(name = "test_input_required_result_multi_round", task = "never")]
pub(crate) async fn multi_round(
    ctx: TaskContext,
    /// Step 1: What is your name?
    step1: Input<Name>,
    /// Step 2: What is your favorite color?
    step2: Input<Color>,
) -> Result<String, ToolError> {
    let name = step1.ask(&ctx).await?.accepted().map_or_else(|| "nobody".to_owned(), |answer| answer.name);
    let color =
        step2.ask(&ctx).await?.accepted().map_or_else(|| "no color".to_owned(), |answer| answer.color);
    Ok(format!("{name} likes {color}"))
}
