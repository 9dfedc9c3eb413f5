//! Tools, their results and the messages of sampling: alike but for schemas and structured content, which
//! 2025-11-25 restricts to objects.

use super::ConvertError;
use super::open::{self, KEYWORDS, META_KEYS, QUESTION_MEMBERS, RESULT_MEMBERS, TOOL_MEMBERS};
use super::same::Carry;
use crate::{Extra, JsonKind, RawJson, RawObject, v2025_11_25, v2026_07_28};

/// Converts the items of a list and names the one that fails.
pub(super) fn each<S, T>(
    items: Vec<S>,
    one: impl Fn(S) -> Result<T, ConvertError>,
) -> Result<Vec<T>, ConvertError> {
    let items = items.into_iter().enumerate();
    items.map(|(at, item)| one(item).map_err(|error| error.within(&format!("[{at}]")))).collect()
}

#[inline]
fn object_only(content: Option<RawJson>) -> Result<Option<RawObject>, ConvertError> {
    let Some(content) = content else { return Ok(None) };
    RawObject::try_from(content)
        .map(Some)
        .map_err(|_| ConvertError::no_counterpart("structuredContent", "2025-11-25 has objects only"))
}

impl From<v2025_11_25::CallToolResult> for v2026_07_28::CallToolResult {
    /// Drops the related-task key of `_meta`.
    #[inline]
    fn from(result: v2025_11_25::CallToolResult) -> Self {
        Self {
            meta: result.meta.and_then(|meta| open::result_meta(open::foreign(meta.extra, META_KEYS))),
            content: result.content.carry(),
            structured_content: result.structured_content.map(RawJson::from),
            is_error: result.is_error,
            extra: open::foreign(result.extra, RESULT_MEMBERS),
        }
    }
}

impl TryFrom<v2026_07_28::CallToolResult> for v2025_11_25::CallToolResult {
    type Error = ConvertError;
    /// Drops `serverInfo` of `_meta`; fails when `structuredContent` is no object.
    #[inline]
    fn try_from(result: v2026_07_28::CallToolResult) -> Result<Self, ConvertError> {
        let meta = result.meta.and_then(|meta| open::foreign_meta(meta.extra)).map(|keys| {
            let mut meta = v2025_11_25::ResultMetaObject::new();
            meta.extra = keys;
            meta
        });
        Ok(Self {
            meta,
            content: result.content.carry(),
            structured_content: object_only(result.structured_content)?,
            is_error: result.is_error,
            extra: open::foreign(result.extra, RESULT_MEMBERS),
        })
    }
}

impl From<v2025_11_25::Tool> for v2026_07_28::Tool {
    /// Drops `execution`, which 2026-07-28 does not have (C-101).
    #[inline]
    fn from(tool: v2025_11_25::Tool) -> Self {
        Self {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            input_schema: {
                let v2025_11_25::ToolInputSchema { schema, properties, required, extra } = tool.input_schema;
                let extra = Keywords { properties, required, extra }.into_extra(None);
                v2026_07_28::ToolInputSchema { schema, extra }
            },
            output_schema: tool.output_schema.map(|output| {
                let v2025_11_25::ToolOutputSchema { schema, properties, required, extra } = output;
                let extra = Keywords { properties, required, extra }.into_extra(Some("object"));
                v2026_07_28::ToolOutputSchema { schema, extra }
            }),
            annotations: tool.annotations.carry(),
            icons: tool.icons.carry(),
            meta: tool.meta.carry(),
            extra: open::foreign(tool.extra, TOOL_MEMBERS),
        }
    }
}

/// The keywords of a schema that have a name and a choice in 2025-11-25, and those that have no name.
struct Keywords {
    properties: Option<RawObject>,
    required: Option<Vec<String>>,
    extra: Extra,
}

impl Keywords {
    #[inline]
    fn of(extra: Extra) -> Result<Self, ConvertError> {
        fn read<'a, T: serde::Deserialize<'a>>(
            extra: &'a Extra,
            name: &str,
        ) -> Result<Option<T>, ConvertError> {
            let value = extra.get(name).map(|raw| raw.get()).transpose();
            value.map_err(|error| ConvertError::malformed(name, &error))
        }
        open::extra_once(&extra, KEYWORDS)?;
        let (properties, required) = (read(&extra, "properties")?, read(&extra, "required")?);
        let extra = open::foreign(extra, KEYWORDS);
        Ok(Self { properties, required, extra })
    }

    /// All of them as members that 2026-07-28 does not name.
    #[inline]
    fn into_extra(self, kind: Option<&str>) -> Extra {
        let mut extra = Extra::new();
        if let Some(kind) = kind {
            extra.push("type", open::raw(kind));
        }
        if let Some(properties) = self.properties {
            extra.push("properties", properties.into());
        }
        if let Some(required) = self.required {
            extra.push("required", open::raw(&required));
        }
        open::merge(&mut extra, self.extra);
        extra
    }
}

impl TryFrom<v2026_07_28::Tool> for v2025_11_25::Tool {
    type Error = ConvertError;
    /// Leaves `execution` out, which is `forbidden`: a gateway that offers the tool as a task adds it. Fails when
    /// `outputSchema` is not one of objects, or a keyword that 2025-11-25 names has another form there or comes twice.
    #[inline]
    fn try_from(tool: v2026_07_28::Tool) -> Result<Self, ConvertError> {
        let Keywords { properties, required, extra } =
            Keywords::of(tool.input_schema.extra).map_err(|error| error.within("inputSchema"))?;
        let input_schema =
            v2025_11_25::ToolInputSchema { schema: tool.input_schema.schema, properties, required, extra };
        let output_schema = tool.output_schema.map(output).transpose();
        Ok(Self {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            input_schema,
            output_schema: output_schema.map_err(|error| error.within("outputSchema"))?,
            annotations: tool.annotations.carry(),
            execution: None,
            icons: tool.icons.carry(),
            meta: tool.meta.carry(),
            extra: open::foreign(tool.extra, TOOL_MEMBERS),
        })
    }
}

#[inline]
fn output(output: v2026_07_28::ToolOutputSchema) -> Result<v2025_11_25::ToolOutputSchema, ConvertError> {
    open::extra_once(&output.extra, KEYWORDS)?;
    if output.extra.get("type").and_then(|kind| kind.get::<String>().ok()).as_deref() != Some("object") {
        return Err(ConvertError::no_counterpart("type", "2025-11-25 has schemas of objects only"));
    }
    let Keywords { properties, required, extra } = Keywords::of(output.extra)?;
    Ok(v2025_11_25::ToolOutputSchema { schema: output.schema, properties, required, extra })
}

impl From<v2025_11_25::ToolResultContent> for v2026_07_28::ToolResultContent {
    #[inline]
    fn from(result: v2025_11_25::ToolResultContent) -> Self {
        Self {
            tool_use_id: result.tool_use_id,
            content: result.content.carry(),
            structured_content: result.structured_content.map(RawJson::from),
            is_error: result.is_error,
            meta: result.meta.carry(),
            extra: result.extra,
        }
    }
}

impl TryFrom<v2026_07_28::ToolResultContent> for v2025_11_25::ToolResultContent {
    type Error = ConvertError;
    /// Fails when `structuredContent` is no object.
    #[inline]
    fn try_from(result: v2026_07_28::ToolResultContent) -> Result<Self, ConvertError> {
        Ok(Self {
            tool_use_id: result.tool_use_id,
            content: result.content.carry(),
            structured_content: object_only(result.structured_content)?,
            is_error: result.is_error,
            meta: result.meta.carry(),
            extra: result.extra,
        })
    }
}

impl From<v2025_11_25::SamplingMessageContentBlock> for v2026_07_28::SamplingMessageContentBlock {
    #[inline]
    fn from(block: v2025_11_25::SamplingMessageContentBlock) -> Self {
        use v2025_11_25::SamplingMessageContentBlock as B;
        match block {
            B::Text(block) => Self::Text(block.into()),
            B::Image(block) => Self::Image(block.into()),
            B::Audio(block) => Self::Audio(block.into()),
            B::ToolUse(block) => Self::ToolUse(block.into()),
            B::ToolResult(block) => Self::ToolResult(block.into()),
        }
    }
}

impl TryFrom<v2026_07_28::SamplingMessageContentBlock> for v2025_11_25::SamplingMessageContentBlock {
    type Error = ConvertError;
    #[inline]
    fn try_from(block: v2026_07_28::SamplingMessageContentBlock) -> Result<Self, ConvertError> {
        use v2026_07_28::SamplingMessageContentBlock as B;
        Ok(match block {
            B::Text(block) => Self::Text(block.into()),
            B::Image(block) => Self::Image(block.into()),
            B::Audio(block) => Self::Audio(block.into()),
            B::ToolUse(block) => Self::ToolUse(block.into()),
            B::ToolResult(block) => Self::ToolResult(block.try_into()?),
        })
    }
}

impl From<v2025_11_25::SamplingMessageContent> for v2026_07_28::SamplingMessageContent {
    #[inline]
    fn from(content: v2025_11_25::SamplingMessageContent) -> Self {
        use v2025_11_25::SamplingMessageContent as C;
        match content {
            C::Block(block) => Self::Block(block.into()),
            C::Blocks(blocks) => Self::Blocks(blocks.into_iter().map(Into::into).collect()),
        }
    }
}

impl TryFrom<v2026_07_28::SamplingMessageContent> for v2025_11_25::SamplingMessageContent {
    type Error = ConvertError;
    #[inline]
    fn try_from(content: v2026_07_28::SamplingMessageContent) -> Result<Self, ConvertError> {
        use v2026_07_28::SamplingMessageContent as C;
        Ok(match content {
            C::Block(block) => Self::Block(block.try_into()?),
            C::Blocks(blocks) => Self::Blocks(each(blocks, TryInto::try_into)?),
        })
    }
}

impl From<v2025_11_25::SamplingMessage> for v2026_07_28::SamplingMessage {
    #[inline]
    fn from(message: v2025_11_25::SamplingMessage) -> Self {
        Self {
            role: message.role.into(),
            content: message.content.into(),
            meta: message.meta.carry(),
            extra: message.extra,
        }
    }
}

impl TryFrom<v2026_07_28::SamplingMessage> for v2025_11_25::SamplingMessage {
    type Error = ConvertError;
    #[inline]
    fn try_from(message: v2026_07_28::SamplingMessage) -> Result<Self, ConvertError> {
        Ok(Self {
            role: message.role.into(),
            content: message.content.try_into().map_err(|error: ConvertError| error.within("content"))?,
            meta: message.meta.carry(),
            extra: message.extra,
        })
    }
}

impl From<v2025_11_25::CreateMessageRequestParams> for v2026_07_28::CreateMessageRequestParams {
    /// Drops `task`, the progress token and the related-task key.
    #[inline]
    fn from(params: v2025_11_25::CreateMessageRequestParams) -> Self {
        let mut extra = open::foreign(params.extra, QUESTION_MEMBERS);
        open::insert_meta(&mut extra, params.meta);
        Self {
            messages: params.messages.into_iter().map(Into::into).collect(),
            max_tokens: params.max_tokens,
            system_prompt: params.system_prompt,
            model_preferences: params.model_preferences.carry(),
            include_context: params.include_context.map(Into::into),
            temperature: params.temperature,
            stop_sequences: params.stop_sequences,
            metadata: params.metadata,
            tools: params.tools.map(|tools| tools.into_iter().map(Into::into).collect()),
            tool_choice: params.tool_choice.carry(),
            extra,
        }
    }
}

#[inline]
pub(super) fn create_message_params(
    params: v2026_07_28::CreateMessageRequestParams,
    task_id: &crate::TaskId,
) -> Result<v2025_11_25::CreateMessageRequestParams, ConvertError> {
    let tools = params.tools.map(|tools| each(tools, TryInto::try_into)).transpose();
    Ok(v2025_11_25::CreateMessageRequestParams {
        meta: Some(open::take_meta(&params.extra, task_id)?),
        messages: each(params.messages, TryInto::try_into).map_err(|error| error.within("messages"))?,
        max_tokens: params.max_tokens,
        system_prompt: params.system_prompt,
        model_preferences: params.model_preferences.carry(),
        include_context: params.include_context.map(Into::into),
        temperature: params.temperature,
        stop_sequences: params.stop_sequences,
        metadata: params.metadata,
        tools: tools.map_err(|error| error.within("tools"))?,
        tool_choice: params.tool_choice.carry(),
        task: None,
        extra: open::foreign(params.extra, QUESTION_MEMBERS),
    })
}

impl From<v2025_11_25::CreateMessageResult> for v2026_07_28::CreateMessageResult {
    /// Without `_meta`, as an answer in `inputResponses` is.
    #[inline]
    fn from(result: v2025_11_25::CreateMessageResult) -> Self {
        Self {
            role: result.role.into(),
            content: result.content.into(),
            model: result.model,
            stop_reason: result.stop_reason,
            meta: None,
            extra: open::foreign(result.extra, RESULT_MEMBERS),
        }
    }
}

impl TryFrom<v2026_07_28::CreateMessageResult> for v2025_11_25::CreateMessageResult {
    type Error = ConvertError;
    /// Keeps `_meta`; fails when the structured content of a tool result is no object.
    #[inline]
    fn try_from(result: v2026_07_28::CreateMessageResult) -> Result<Self, ConvertError> {
        let meta = result.meta.and_then(|meta| open::foreign_meta(meta.extra)).map(|keys| {
            let mut meta = v2025_11_25::ResultMetaObject::new();
            meta.extra = keys;
            meta
        });
        Ok(Self {
            meta,
            role: result.role.into(),
            content: result.content.try_into().map_err(|error: ConvertError| error.within("content"))?,
            model: result.model,
            stop_reason: result.stop_reason,
            extra: open::foreign(result.extra, RESULT_MEMBERS),
        })
    }
}

/// Whether a value is an object, of whatever members.
#[inline]
pub(super) fn is_object(value: &RawJson) -> bool {
    value.kind() == JsonKind::Object
}
