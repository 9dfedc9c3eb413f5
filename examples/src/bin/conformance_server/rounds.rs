//! Fixtures that ask in the answers of their calls.

use mcp_tasks::{
    Answer, Input, RootsInput, SamplingInput, TaskContext, ToolError, task_tool, tool_type,
    types::v2026_07_28::{CreateMessageResult, SamplingMessageContent, SamplingMessageContentBlock},
};

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

/// What the model said, as far as it is text.
fn said(message: &CreateMessageResult) -> &str {
    match &message.content {
        SamplingMessageContent::Block(SamplingMessageContentBlock::Text(text)) => &text.text,
        _ => "something else",
    }
}

/// Needs a client with a model.
#[task_tool(name = "test_missing_capability", task = "never")]
pub(crate) async fn missing_capability(
    ctx: TaskContext,
    /// Say something.
    something: SamplingInput,
) -> Result<String, ToolError> {
    Ok(said(&something.ask(&ctx).await?).to_owned())
}

/// Asks while it works.
#[task_tool(name = "test_streaming_elicitation", task = "never")]
pub(crate) async fn streaming_elicitation(
    ctx: TaskContext,
    /// Go on?
    confirm: Input<Consent>,
) -> Result<String, ToolError> {
    confirmed(&ctx, &confirm).await
}

/// Asks the client's model.
#[task_tool(name = "test_input_required_result_sampling", task = "never")]
pub(crate) async fn sampling(
    ctx: TaskContext,
    /// What is the capital of France?
    #[ask(max_tokens = 100)]
    capital_question: SamplingInput,
) -> Result<String, ToolError> {
    Ok(said(&capital_question.ask(&ctx).await?).to_owned())
}

/// Asks where the client works.
#[task_tool(name = "test_input_required_result_list_roots", task = "never")]
pub(crate) async fn list_roots(ctx: TaskContext, client_roots: RootsInput) -> Result<String, ToolError> {
    let roots: Vec<String> = client_roots.ask(&ctx).await?.into_iter().map(|root| root.uri).collect();
    Ok(format!("Roots: {}", roots.join(", ")))
}

/// Asks for everything at once.
#[task_tool(name = "test_input_required_result_multiple_inputs", task = "never")]
pub(crate) async fn multiple_inputs(
    ctx: TaskContext,
    /// What is your name?
    user_name: Input<Name>,
    /// Generate a greeting
    #[ask(max_tokens = 50)]
    greeting: SamplingInput,
    client_roots: RootsInput,
) -> Result<String, ToolError> {
    let (name, greeting, roots) = ctx.ask_all((&user_name, &greeting, &client_roots)).await?;
    let name = name.accepted().map_or_else(|| "nobody".to_owned(), |answer| answer.name);
    Ok(format!("{}, {name}, of {} roots", said(&greeting), roots.len()))
}

/// Asks only for what the client can be asked.
#[task_tool(
    name = "test_input_required_result_capabilities",
    task = "never",
    require_input_capability = false
)]
pub(crate) async fn capabilities(
    ctx: TaskContext,
    /// What is your name?
    user_name: Input<Name>,
    /// Make up a name.
    #[ask(max_tokens = 50)]
    made_up: SamplingInput,
) -> Result<String, ToolError> {
    if ctx.can_ask(&user_name) {
        let name = user_name.ask(&ctx).await?.accepted().map(|answer| answer.name);
        return Ok(format!("Hello, {}!", name.as_deref().unwrap_or("nobody")));
    }
    Ok(format!("Hello, {}!", said(&made_up.ask(&ctx).await?)))
}
