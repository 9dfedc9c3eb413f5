//! Whether an answer fits the question that was recorded.

use mcp_tasks_types::v2026_07_28::{
    CreateMessageResult, ElicitAction, ElicitContent, ElicitResult, ElicitValue, ListRootsResult,
    method::{ELICITATION_CREATE, ROOTS_LIST, SAMPLING_CREATE_MESSAGE},
};
use mcp_tasks_types::{JsonError, RawJson, RawObject, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

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
/// The answer has to be of the type that belongs to the question, which takes objects only and no member twice; a
/// filled-in form also has to be as its schema wants it.
pub(crate) fn check_answer(request: &RawJson, response: &RawJson) -> Result<(), String> {
    let request: Request =
        request.get().map_err(|err| format!("the recorded question cannot be read: {err}"))?;
    match request.method.as_str() {
        ELICITATION_CREATE => {
            response.get().map_err(wrong).and_then(|answer| check_elicited(request.params, answer))
        }
        SAMPLING_CREATE_MESSAGE => response.get::<CreateMessageResult>().map(drop).map_err(wrong),
        ROOTS_LIST => response.get::<ListRootsResult>().map(drop).map_err(wrong),
        _ => RawObject::try_from(response.clone()).map(drop).map_err(wrong),
    }
}

fn wrong(err: JsonError) -> String {
    err.to_string()
}

fn check_elicited(question: Params, answer: ElicitResult) -> Result<(), String> {
    let form = question.mode.is_none_or(|mode| mode == "form");
    if answer.action != ElicitAction::Accept || !form {
        return Ok(());
    }
    let content = answer.content.ok_or("an accepted form needs an object as `content`")?;
    match question.requested_schema {
        Some(Value::Object(schema)) => check_content(&schema, &content),
        _ => Ok(()),
    }
}

fn check_content(schema: &Map<String, Value>, content: &ElicitContent) -> Result<(), String> {
    let required =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if content.get(name).is_none() {
            return Err(format!("`{name}` is missing"));
        }
    }
    // A form is open: a member that it does not name may be anything that a form can hold.
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in content.iter() {
        if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
            check_value(schema, value).map_err(|reason| format!("`{name}`: {reason}"))?;
        }
    }
    Ok(())
}

fn check_value(schema: &Value, value: &ElicitValue) -> Result<(), String> {
    let kind = schema.get("type").and_then(Value::as_str);
    match (kind, value) {
        (Some("string"), ElicitValue::String(text)) => check_text(schema, text),
        (Some("integer"), ElicitValue::Number(number)) => check_number(schema, number.as_f64(), true),
        (Some("number"), ElicitValue::Number(number)) => check_number(schema, number.as_f64(), false),
        (Some("array"), ElicitValue::Strings(items)) => check_selection(schema, items),
        (Some("string"), _) => Err("no text".to_owned()),
        (Some("integer" | "number"), _) => Err("no number".to_owned()),
        (Some("array"), _) => Err("no list of texts".to_owned()),
        (Some("boolean"), ElicitValue::Boolean(_)) => Ok(()),
        (Some("boolean"), _) => Err("not `true` or `false`".to_owned()),
        _ => Ok(()),
    }
}

fn check_text(schema: &Value, text: &str) -> Result<(), String> {
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

fn check_number(schema: &Value, number: f64, integer: bool) -> Result<(), String> {
    if !number.is_finite() {
        return Err("out of range".to_owned());
    }
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

fn check_selection(schema: &Value, items: &[String]) -> Result<(), String> {
    let count = items.len() as u64;
    if bound(schema, "minItems").is_some_and(|least| count < least) {
        return Err("too few".to_owned());
    }
    if bound(schema, "maxItems").is_some_and(|most| count > most) {
        return Err("too many".to_owned());
    }
    let allowed = schema.get("items").and_then(choices);
    for item in items {
        if let Some(allowed) = &allowed
            && !allowed.contains(&item.as_str())
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
