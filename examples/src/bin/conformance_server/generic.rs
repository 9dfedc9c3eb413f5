//! Fixtures that have nothing to do with tasks: kinds of content, schemas, headers, a list that changes.

use std::sync::OnceLock;

use mcp_tasks::{
    ArgumentError, BoxFuture, LoggingLevel, Server, TaskContext, TaskMode, TaskTool, ToolCall,
    ToolDefinition, ToolError, check_arguments, task_tool,
    types::{
        RawObject,
        v2026_07_28::{
            AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent, ResourceContents,
            TextContent, TextResourceContents,
        },
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

/// One red pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// The head of a sound without samples.
const SILENCE: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Says something. The suite calls the first tool of the list without arguments.
#[task_tool(name = "test_simple_text", task = "never")]
pub(crate) async fn simple_text() -> Result<String, ToolError> {
    Ok("This is a simple text response for testing.".to_owned())
}

/// Shows a picture.
#[task_tool(name = "test_image_content", task = "never")]
pub(crate) async fn image() -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::new(vec![ContentBlock::Image(ImageContent::new(PIXEL, "image/png"))]))
}

/// Plays a sound.
#[task_tool(name = "test_audio_content", task = "never")]
pub(crate) async fn audio() -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::new(vec![ContentBlock::Audio(AudioContent::new(SILENCE, "audio/wav"))]))
}

fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    let contents = TextResourceContents::new(uri, text).with_mime_type(mime_type);
    ContentBlock::Resource(EmbeddedResource::new(ResourceContents::Text(contents)))
}

/// Brings a resource along.
#[task_tool(name = "test_embedded_resource", task = "never")]
pub(crate) async fn embedded_resource() -> Result<CallToolResult, ToolError> {
    let text = "This is an embedded resource content.";
    Ok(CallToolResult::new(vec![resource("test://embedded-resource", "text/plain", text)]))
}

/// Brings all of it.
#[task_tool(name = "test_multiple_content_types", task = "never")]
pub(crate) async fn multiple_content_types() -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::new(vec![
        ContentBlock::Text(TextContent::new("Multiple content types test:")),
        ContentBlock::Image(ImageContent::new(PIXEL, "image/png")),
        resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
    ]))
}

/// Fails, as a tool does.
#[task_tool(name = "test_error_handling", task = "never")]
pub(crate) async fn error_handling() -> Result<String, ToolError> {
    Err(ToolError::tool("This tool intentionally returns an error for testing."))
}

/// Says where it is called for; whoever routes requests sees it in a header.
#[task_tool(name = "test_custom_header", task = "never")]
pub(crate) async fn custom_header(
    /// Where.
    #[arg(header = "Region")]
    region: String,
) -> Result<String, ToolError> {
    Ok(region)
}

/// A tool whose schema uses what JSON Schema 2020-12 has to offer, for which it has to speak for itself.
#[expect(non_camel_case_types, reason = "registered like the tools that the attribute makes")]
pub(crate) struct json_schema;

/// The arguments of [`json_schema`], as loose as they are given.
#[derive(Deserialize)]
struct Person {
    name: Option<String>,
}

impl JsonSchema for Person {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Person".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                },
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        })
    }
}

impl TaskTool for json_schema {
    const NAME: &'static str = "json_schema_2020_12_tool";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Person, Result<String, ToolError>>(Self::NAME)
            .with_description("Takes what a large schema describes.")
            .with_task_mode(TaskMode::Never)
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        check_arguments::<Person>(arguments)
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async move {
            let person: Person = call.arguments()?;
            let text = format!("Hello, {}!", person.name.as_deref().unwrap_or("you"));
            Ok(CallToolResult::new(vec![ContentBlock::Text(TextContent::new(text))]))
        })
    }
}

/// Says how far it is, three times.
#[task_tool(name = "test_tool_with_progress", task = "never")]
pub(crate) async fn progress(ctx: TaskContext) -> Result<String, ToolError> {
    for (done, message) in [(0.0, "Begun."), (50.0, "Half-way."), (100.0, "Done.")] {
        ctx.progress(done, Some(100.0), Some(message)).await?;
    }
    Ok("Told how far it was.".to_owned())
}

/// Logs, to whoever asked for it.
#[task_tool(name = "test_logging_tool", task = "never")]
pub(crate) async fn logging(ctx: TaskContext) -> Result<String, ToolError> {
    ctx.log(LoggingLevel::Info, "It begins.").await?;
    ctx.log(LoggingLevel::Info, "It ends.").await?;
    Ok("Logged what it did.".to_owned())
}

/// The server, for the tool that changes its list.
pub(crate) static SERVER: OnceLock<Server> = OnceLock::new();

/// Comes and goes.
#[task_tool(task = "never")]
pub(crate) async fn sometimes() -> Result<String, ToolError> {
    Ok("I am here.".to_owned())
}

/// Changes the list of tools, and back again.
#[task_tool(name = "test_trigger_tool_change", task = "never")]
pub(crate) async fn trigger_tool_change() -> Result<String, ToolError> {
    let server = SERVER.get().ok_or("the server is not up yet")?;
    server.offer_tool("sometimes", false);
    server.offer_tool("sometimes", true);
    Ok("The list has changed.".to_owned())
}
