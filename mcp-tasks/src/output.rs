//! What a body returns, as a tool result.
//!
//! One blanket impl takes everything that can be written as JSON and has a schema. The few types that mean something
//! else than structured content (text, content blocks, nothing, a finished result) are recognised by their identity.

use std::any::{Any, TypeId};

use mcp_tasks_types::RawJson;
use mcp_tasks_types::v2026_07_28::{CallToolResult, ContentBlock, TextContent};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::error::ToolError;
use crate::finite::check_finite;
use crate::lifecycle::INTERNAL_ERROR;

/// A value that a tool can return: text, content blocks, `()`, a [`CallToolResult`], or any type with
/// `serde::Serialize` and `schemars::JsonSchema`, which becomes structured content beside its JSON text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a task tool",
    label = "no result of a tool",
    note = "put `#[mcp_tasks::tool_type]` on `{Self}`, or derive `serde::Serialize` and `schemars::JsonSchema`, or return text or content blocks"
)]
pub trait ToolOutput: Send + 'static {
    /// The value as a tool result.
    ///
    /// # Errors
    ///
    /// When the value cannot be written as JSON.
    fn into_result(self) -> Result<CallToolResult, ToolError>
    where
        Self: Sized;

    /// The schema of the structured content; none where there is no structured content.
    fn schema() -> Option<Value>
    where
        Self: Sized;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for T {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        let mut slot = Some(self);
        let any: &mut dyn Any = &mut slot;
        if let Some(result) = take::<CallToolResult>(any) {
            return Ok(result);
        }
        if let Some(blocks) = take::<Vec<ContentBlock>>(any) {
            return Ok(content(blocks));
        }
        if let Some(block) = take::<ContentBlock>(any) {
            return Ok(content(vec![block]));
        }
        if let Some(text) = take::<String>(any) {
            return Ok(text_result(text, false));
        }
        if let Some(text) = take::<&'static str>(any) {
            return Ok(text_result(text, false));
        }
        if take::<()>(any).is_some() {
            return Ok(content(Vec::new()));
        }
        let Some(value) = slot else { return Ok(content(Vec::new())) };
        // With `null` where JSON has no number, the result would break its own schema (X-149).
        check_finite(&value).map_err(not_written)?;
        let structured = RawJson::new(&value).map_err(not_written)?;
        Ok(text_result(structured.as_str(), false).with_structured_content(structured))
    }

    fn schema() -> Option<Value> {
        let unstructured = [
            TypeId::of::<CallToolResult>(),
            TypeId::of::<Vec<ContentBlock>>(),
            TypeId::of::<ContentBlock>(),
            TypeId::of::<String>(),
            TypeId::of::<&'static str>(),
            TypeId::of::<()>(),
        ];
        (!unstructured.contains(&TypeId::of::<T>()))
            .then(|| schema_of::<T>(schemars::generate::Contract::Serialize))
    }
}

fn not_written(err: impl std::fmt::Display) -> ToolError {
    ToolError::protocol(INTERNAL_ERROR, format!("the result cannot be written: {err}"))
}

fn take<T: 'static>(any: &mut dyn Any) -> Option<T> {
    any.downcast_mut::<Option<T>>().and_then(Option::take)
}

fn content(blocks: Vec<ContentBlock>) -> CallToolResult {
    CallToolResult::new(blocks).with_is_error(false)
}

/// A result that is one text.
pub(crate) fn text_result(text: impl Into<String>, is_error: bool) -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::Text(TextContent::new(text))]).with_is_error(is_error)
}

/// The schema of a type in the default dialect, without the name of the Rust type.
pub(crate) fn schema_of<T: JsonSchema>(contract: schemars::generate::Contract) -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// What a body may return: a `Result` of something that can be a tool's result and anything that becomes a
/// [`ToolError`].
#[diagnostic::on_unimplemented(message = "a task tool returns a `Result`, not `{Self}`")]
pub trait ToolReturn: Sized {
    /// The type of the result.
    type Output: ToolOutput;

    /// The type itself, by whose name expansions ask for the trait: asked several times, the compiler tells once that
    /// it is missing.
    #[doc(hidden)]
    type Itself: ToolReturn;

    /// How the run ended.
    ///
    /// # Errors
    ///
    /// The body's own error.
    fn into_outcome(self) -> Result<CallToolResult, ToolError>;
}

impl<T: ToolOutput, E: Into<ToolError>> ToolReturn for Result<T, E> {
    type Output = T;
    type Itself = Self;

    fn into_outcome(self) -> Result<CallToolResult, ToolError> {
        self.map_err(Into::into).and_then(T::into_result)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Report {
        size: u8,
        approved: bool,
    }

    fn written(result: Result<CallToolResult, ToolError>) -> Value {
        serde_json::to_value(result.unwrap()).unwrap()
    }

    /// S-11, X-149: structured content, a text copy of it, and the schema that it fits.
    #[test]
    fn structured_result_has_content_twice_and_a_schema() {
        let result = written(Report { size: 1, approved: true }.into_result());
        let wanted = json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": r#"{"size":1,"approved":true}"#}],
            "structuredContent": {"size": 1, "approved": true},
            "isError": false,
        });
        assert_eq!(result, wanted);
        let schema = Report::schema().unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["size", "approved"]));
    }

    /// P146: no schema is announced where no structured content comes.
    #[test]
    fn text_and_nothing_have_no_schema() {
        assert_eq!(String::schema(), None);
        assert_eq!(<()>::schema(), None);
        assert_eq!(CallToolResult::schema(), None);
        assert_eq!(Vec::<ContentBlock>::schema(), None);
        assert_eq!(written("text".into_result())["content"], json!([{"type": "text", "text": "text"}]));
        assert_eq!(written(String::from("text").into_result()).get("structuredContent"), None);
        assert_eq!(written(().into_result())["content"], json!([]));
        let blocks = vec![ContentBlock::Text(TextContent::new("text"))];
        let wanted = written(blocks.clone().into_result());
        assert_eq!(
            wanted,
            json!({
                "resultType": "complete",
                "content": [{"type": "text", "text": "text"}],
                "isError": false,
            })
        );
        assert_eq!(written(blocks[0].clone().into_result()), wanted);
        // A finished result stays as it is.
        let own = CallToolResult::new(blocks).with_is_error(true);
        assert_eq!(own.clone().into_result().unwrap(), own);
    }

    #[test]
    fn value_that_cannot_be_written_is_a_protocol_error() {
        let map = std::collections::BTreeMap::from([((1, 2), 3)]);
        #[derive(Serialize)]
        struct Wrong(std::collections::BTreeMap<(u8, u8), u8>);
        impl JsonSchema for Wrong {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Wrong".into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::Schema::default()
            }
        }
        let error = Wrong(map).into_result().unwrap_err();
        assert!(matches!(error.into_kind(), crate::error::ToolErrorKind::Protocol { code: -32603, .. }));
    }

    /// X-149: no result is better than one that breaks its own schema.
    #[test]
    fn number_that_json_does_not_have_is_a_protocol_error() {
        for number in [f64::NAN, f64::INFINITY] {
            match number.into_result().unwrap_err().into_kind() {
                crate::error::ToolErrorKind::Protocol { code: -32603, message } => {
                    let wanted = format!("the result cannot be written: JSON has no number `{number}`");
                    assert_eq!(message, wanted);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(written(0.5.into_result())["structuredContent"], json!(0.5));
    }
}
