//! From the schema of a Rust type to the few shapes that a form knows.

use serde_json::{Map, Value, json};

use super::FormError;

/// What schemars may say that has no meaning for a person who fills in a form.
const DROPPED: &[&str] = &["$schema", "examples", "deprecated", "readOnly", "writeOnly", "uniqueItems"];

pub(super) fn form(schema: &Value) -> Result<Value, Vec<FormError>> {
    let whole = |message: &str| vec![FormError { member: None, message: message.to_owned() }];
    let Some(root) = schema.as_object() else {
        return Err(whole("a form needs a struct with named members"));
    };
    if root.get("type") != Some(&json!("object")) || root.contains_key("oneOf") || root.contains_key("anyOf")
    {
        return Err(whole("a form needs a struct with named members"));
    }
    if root.get("additionalProperties").is_some_and(|more| !more.is_boolean()) {
        return Err(whole("a form cannot hold a map"));
    }
    let none = Map::new();
    let properties = root.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut members = Map::new();
    let mut errors = Vec::new();
    for (name, property) in properties {
        match member(property) {
            Ok(member) => {
                members.insert(name.clone(), Value::Object(member));
            }
            Err(message) => errors.push(FormError { member: Some(name.clone()), message }),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut form = Map::new();
    form.insert("type".to_owned(), json!("object"));
    form.insert("properties".to_owned(), Value::Object(members));
    if let Some(required) =
        root.get("required").filter(|required| required.as_array().is_some_and(|r| !r.is_empty()))
    {
        form.insert("required".to_owned(), required.clone());
    }
    Ok(Value::Object(form))
}

fn member(schema: &Value) -> Result<Map<String, Value>, String> {
    let schema = schema.as_object().ok_or("the member may hold anything, a form needs a primitive type")?;
    let schema = without_null(schema);
    if schema.contains_key("$ref") {
        return Err("a type that contains itself has no place in a form".to_owned());
    }
    let mut out = match choices(&schema)? {
        Some(choices) => choices,
        None => primitive(&schema)?,
    };
    for name in ["title", "description"] {
        if let Some(text) = schema.get(name) {
            out.insert(name.to_owned(), text.clone());
        }
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        out.insert("default".to_owned(), default.clone());
    }
    Ok(out)
}

/// An `Option`: the same without `null`, since an answer leaves the member out instead.
fn without_null(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    if let Some(Value::Array(types)) = schema.get("type") {
        let others: Vec<Value> = types.iter().filter(|kind| **kind != json!("null")).cloned().collect();
        if let [kind] = others.as_slice() {
            schema.insert("type".to_owned(), kind.clone());
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for name in ["anyOf", "oneOf"] {
        let Some(Value::Array(arms)) = schema.get(name) else { continue };
        let is_null =
            |arm: &Value| arm.get("type") == Some(&json!("null")) || arm.get("const") == Some(&Value::Null);
        let others: Vec<Value> = arms.iter().filter(|arm| !is_null(arm)).cloned().collect();
        if others.len() == arms.len() {
            continue;
        }
        schema.remove(name);
        match others.as_slice() {
            // The description of the member wins over the one of its type.
            [Value::Object(only)] => {
                for (name, value) in without_null(only) {
                    schema.entry(name).or_insert(value);
                }
            }
            _ => {
                schema.insert(name.to_owned(), Value::Array(others));
            }
        }
    }
    schema
}

/// One of several texts, each with what is said about it.
struct Choice {
    value: String,
    title: Option<String>,
}

/// A member that is one of several texts.
fn choices(schema: &Map<String, Value>) -> Result<Option<Map<String, Value>>, String> {
    let Some(choices) = listed(schema)? else { return Ok(None) };
    let mut out = Map::new();
    out.insert("type".to_owned(), json!("string"));
    out.extend(select("oneOf", &choices));
    Ok(Some(out))
}

fn select(titled: &str, choices: &[Choice]) -> Map<String, Value> {
    let mut out = Map::new();
    if choices.iter().all(|choice| choice.title.is_none()) {
        let values: Vec<&str> = choices.iter().map(|choice| choice.value.as_str()).collect();
        out.insert("enum".to_owned(), json!(values));
    } else {
        let title = |choice: &Choice| choice.title.clone().unwrap_or_else(|| choice.value.clone());
        let arms = choices.iter().map(|choice| json!({"const": choice.value, "title": title(choice)}));
        out.insert(titled.to_owned(), Value::Array(arms.collect()));
    }
    out
}

/// The values of an enum without fields, in the ways in which schemars writes one.
fn listed(schema: &Map<String, Value>) -> Result<Option<Vec<Choice>>, String> {
    let text = |value: &Value| {
        value.as_str().map(str::to_owned).ok_or("a form can only choose between texts".to_owned())
    };
    if let Some(value) = schema.get("const") {
        return Ok(Some(vec![Choice { value: text(value)?, title: None }]));
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        let choices = values.iter().map(|value| Ok(Choice { value: text(value)?, title: None }));
        return choices.collect::<Result<_, String>>().map(Some);
    }
    let Some(Value::Array(arms)) = schema.get("oneOf").or_else(|| schema.get("anyOf")) else {
        return Ok(None);
    };
    let mut choices = Vec::new();
    for arm in arms {
        let arm = arm.as_object().ok_or("a form cannot hold alternatives")?;
        let told = arm.get("title").or_else(|| arm.get("description")).and_then(Value::as_str);
        let Some(values) = listed(arm)? else {
            return Err("a form cannot hold alternatives other than texts".to_owned());
        };
        let single = values.len() == 1;
        choices.extend(values.into_iter().map(|choice| Choice {
            title: choice.title.or_else(|| told.filter(|_| single).map(str::to_owned)),
            ..choice
        }));
    }
    Ok(Some(choices))
}

fn primitive(schema: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(_) => return Err("a form cannot hold a value of several types".to_owned()),
        None => return Err("the member may hold anything, a form needs a primitive type".to_owned()),
    };
    let kept: &[&str] = match kind {
        "string" => &["minLength", "maxLength", "format"],
        "integer" | "number" => &["minimum", "maximum"],
        "boolean" => &[],
        "array" => return several(schema),
        "object" => return Err("a form is flat and cannot hold an object".to_owned()),
        _ => return Err(format!("a form cannot hold `{kind}`")),
    };
    let mut out = Map::new();
    out.insert("type".to_owned(), json!(kind));
    for (name, value) in schema {
        let name = name.as_str();
        if name == "format" {
            // The widths of Rust's numbers and formats of its own are schemars' and not the form's.
            if kind == "string" && matches!(value.as_str(), Some("email" | "uri" | "date" | "date-time")) {
                out.insert(name.to_owned(), value.clone());
            }
        } else if kept.contains(&name) {
            out.insert(name.to_owned(), value.clone());
        } else if !matches!(name, "type" | "title" | "description" | "default") && !DROPPED.contains(&name) {
            return Err(format!("a form knows no `{name}`"));
        }
    }
    Ok(out)
}

/// Several of some texts.
fn several(schema: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let items =
        schema.get("items").and_then(Value::as_object).ok_or("a form's list needs texts to choose from")?;
    let Some(choices) = listed(items)? else {
        return Err("a form's list holds texts to choose from, an enum without fields".to_owned());
    };
    let mut inner = select("anyOf", &choices);
    if inner.contains_key("enum") {
        inner.insert("type".to_owned(), json!("string"));
    }
    let mut out = Map::new();
    out.insert("type".to_owned(), json!("array"));
    out.insert("items".to_owned(), Value::Object(inner));
    for name in ["minItems", "maxItems"] {
        if let Some(bound) = schema.get(name) {
            out.insert(name.to_owned(), bound.clone());
        }
    }
    Ok(out)
}
