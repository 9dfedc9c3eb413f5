//! Whether an answer fits the question that was recorded.

use mcp_tasks_types::v2026_07_28::{ElicitAction, method::ELICITATION_CREATE};
use mcp_tasks_types::{RawJson, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

/// An answer, with its content as it came: the tool's own type reads it, and may take more than a form's types do.
#[derive(Deserialize)]
pub(crate) struct Response {
    pub(crate) action: ElicitAction,
    pub(crate) content: Option<RawJson>,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
struct Params {
    mode: Option<String>,
    #[serde(rename = "requestedSchema")]
    requested_schema: Option<Value>,
}

/// Checks an answer against its recorded question and says what is wrong with it (C-64, X-52).
///
/// Of the kinds of question only elicitations are judged in depth; the others need an object.
pub(crate) fn check_answer(request: &RawJson, response: &RawJson) -> Result<(), String> {
    let request: Request =
        request.get().map_err(|err| format!("the recorded question cannot be read: {err}"))?;
    if request.method != ELICITATION_CREATE {
        let object = response.kind() == mcp_tasks_types::JsonKind::Object;
        return if object { Ok(()) } else { Err("the answer is no object".to_owned()) };
    }
    let answer: Response = response.get().map_err(|err| err.to_string())?;
    let form = request.params.mode.is_none_or(|mode| mode == "form");
    if answer.action != ElicitAction::Accept || !form {
        return Ok(());
    }
    let Some(Ok(content)) = answer.content.map(|content| content.get::<Map<String, Value>>()) else {
        return Err("an accepted form needs an object as `content`".to_owned());
    };
    match request.params.requested_schema {
        Some(Value::Object(schema)) => check_content(&schema, &content),
        _ => Ok(()),
    }
}

fn check_content(schema: &Map<String, Value>, content: &Map<String, Value>) -> Result<(), String> {
    let required =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !content.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in content {
        let fits = match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => check_value(schema, value),
            // A form is open, but no form holds more than primitives.
            None if is_form_value(value) => Ok(()),
            None => Err("no value of a form".to_owned()),
        };
        fits.map_err(|reason| format!("`{name}`: {reason}"))?;
    }
    Ok(())
}

fn is_form_value(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Null | Value::Object(_) => false,
    }
}

fn check_value(schema: &Value, value: &Value) -> Result<(), String> {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => check_text(schema, value),
        Some(kind @ ("integer" | "number")) => check_number(schema, value, kind == "integer"),
        Some("boolean") if value.is_boolean() => Ok(()),
        Some("boolean") => Err("not `true` or `false`".to_owned()),
        Some("array") => check_selection(schema, value),
        _ => Ok(()),
    }
}

fn check_text(schema: &Value, value: &Value) -> Result<(), String> {
    let text = value.as_str().ok_or("no text")?;
    if let Some(choices) = choices(schema)
        && !choices.contains(&text)
    {
        return Err(format!("none of `{}`", choices.join("`, `")));
    }
    // Lengths count characters, not bytes (P120).
    let length = text.chars().count() as u64;
    if bound(schema, "minLength").is_some_and(|least| length < least) {
        return Err("too short".to_owned());
    }
    if bound(schema, "maxLength").is_some_and(|most| length > most) {
        return Err("too long".to_owned());
    }
    let fits = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => Timestamp::parse(text).is_ok(),
        Some("date") => text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_ok(),
        Some("email") => text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@')),
        Some("uri") => text.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        }),
        _ => true,
    };
    if fits { Ok(()) } else { Err("not in the wanted format".to_owned()) }
}

fn check_number(schema: &Value, value: &Value, integer: bool) -> Result<(), String> {
    let number = value.as_f64().filter(|_| value.is_number()).ok_or("no number")?;
    // JSON Schema calls `2.0` an integer.
    if integer && number.fract() != 0.0 {
        return Err("no integer".to_owned());
    }
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    if limit("minimum").is_some_and(|least| number < least) {
        return Err("too small".to_owned());
    }
    if limit("maximum").is_some_and(|most| number > most) {
        return Err("too large".to_owned());
    }
    Ok(())
}

fn check_selection(schema: &Value, value: &Value) -> Result<(), String> {
    let items = value.as_array().ok_or("no list")?;
    let count = items.len() as u64;
    if bound(schema, "minItems").is_some_and(|least| count < least) {
        return Err("too few".to_owned());
    }
    if bound(schema, "maxItems").is_some_and(|most| count > most) {
        return Err("too many".to_owned());
    }
    let allowed = schema.get("items").and_then(choices);
    for item in items {
        let text = item.as_str().ok_or("no list of texts")?;
        if let Some(allowed) = &allowed
            && !allowed.contains(&text)
        {
            return Err(format!("none of `{}`", allowed.join("`, `")));
        }
    }
    Ok(())
}

fn bound(schema: &Value, name: &str) -> Option<u64> {
    schema.get(name).and_then(Value::as_u64)
}

fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().filter_map(Value::as_str).collect());
    }
    let arms = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    Some(arms.iter().filter_map(|arm| arm.get("const")?.as_str()).collect())
}
