//! The reference: every message, `_meta` key, error and status of all generations side by side, as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::{
    Constant, ConstantValue, ErrorCode, Item, ItemKind, Model, Part, Presence, TypeRef, Union, Variant,
};
use crate::{Error, Generation, TextFile};

/// The reference of some generations, oldest first.
///
/// # Errors
///
/// As [`generate`](crate::generate).
pub fn reference(generations: &[Generation]) -> Result<TextFile, Vec<Error>> {
    let models = generations.iter().map(crate::model_of).collect::<Result<Vec<_>, _>>()?;
    let mut out = String::from(
        "<!-- Made by `cargo xtask codegen` from schema/. Do not edit. -->\n\n# Protocol reference\n\n\
         Every message, `_meta` key, error and status of the protocol revisions side by side, and every type below.\n\
         A column is empty where the revision has no such thing.\n",
    );
    let names: Vec<&str> = models.iter().map(|model| model.generation.as_str()).collect();
    side_by_side(&mut out, "Methods", "method", &names, &models.iter().map(methods).collect::<Vec<_>>());
    side_by_side(&mut out, "`_meta` keys", "key", &names, &models.iter().map(meta_keys).collect::<Vec<_>>());
    side_by_side(
        &mut out,
        "Task statuses",
        "status",
        &names,
        &models.iter().map(statuses).collect::<Vec<_>>(),
    );
    side_by_side(&mut out, "Errors", "code", &names, &models.iter().map(errors).collect::<Vec<_>>());
    for model in &models {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n## Types of {}\n", model.generation);
        for file in &model.files {
            for item in &file.items {
                describe(&mut out, model, item);
            }
        }
    }
    Ok(TextFile::new("reference.md", out))
}

type Column = BTreeMap<String, String>;

/// A table with a row for each key of any column, in the order of their names.
fn side_by_side(out: &mut String, title: &str, key: &str, names: &[&str], columns: &[Column]) {
    let _ = write!(out, "\n## {title}\n\n| {key} |");
    for name in names {
        let _ = write!(out, " {name} |");
    }
    let _ = write!(out, "\n|---|{}\n", "---|".repeat(names.len()));
    let mut keys: Vec<&String> = columns.iter().flat_map(Column::keys).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let _ = write!(out, "| `{key}` |");
        for column in columns {
            let _ = write!(out, " {} |", column.get(key).map_or("", String::as_str));
        }
        out.push('\n');
    }
}

fn methods(model: &Model) -> Column {
    let mut out = Column::new();
    for item in model.items() {
        if let ItemKind::Object(object) = &item.kind
            && let Some(method) = &object.method
        {
            out.insert(method.name.clone(), link(model, &item.schema_name));
        }
    }
    out
}

fn meta_keys(model: &Model) -> Column {
    let mut out = Column::new();
    for item in model.items() {
        let ItemKind::Object(object) = &item.kind else { continue };
        for part in &object.parts {
            if let Part::Member(member) = part
                && member.meta_key
            {
                let text = out.entry(member.name.clone()).or_default();
                if !text.is_empty() {
                    text.push_str("<br>");
                }
                let _ = write!(text, "{}: {}", link(model, &item.schema_name), cell(&member.docs));
            }
        }
    }
    out
}

fn statuses(model: &Model) -> Column {
    let status = model.items().find(|item| item.schema_name == "TaskStatus");
    match status.map(|item| &item.kind) {
        Some(ItemKind::StringEnum(variants)) => {
            variants.iter().map(|Variant { value, docs, .. }| (value.clone(), cell(docs))).collect()
        }
        _ => Column::new(),
    }
}

fn errors(model: &Model) -> Column {
    let mut out = Column::new();
    for item in model.items() {
        let ItemKind::ErrorCodes(codes) = &item.kind else { continue };
        for ErrorCode { code, variant, docs, data, http_status } in codes {
            let mut text = format!("{variant}: {}", cell(docs));
            if let Some(data) = data {
                let _ = write!(text, " `data`: {}.", link(model, data));
            }
            if let Some(status) = http_status {
                let _ = write!(text, " HTTP {status}.");
            }
            out.insert(code.to_string(), text);
        }
    }
    out
}

fn describe(out: &mut String, model: &Model, item: &Item) {
    let _ =
        write!(out, "\n### {}\n\n<a id=\"{}\"></a>\n", item.schema_name, anchor(model, &item.schema_name));
    if item.rust_name != item.schema_name && !matches!(item.kind, ItemKind::Replaced(_)) {
        let _ = writeln!(out, "Rust: `{}`.", item.rust_name);
    }
    let _ = writeln!(out, "{}", item.docs);
    match &item.kind {
        ItemKind::Object(object) => {
            if object.parts.is_empty() {
                return;
            }
            out.push_str("\n| member | type | presence | |\n|---|---|---|---|\n");
            for part in &object.parts {
                match part {
                    Part::Constant(constant) => constant_row(out, constant),
                    Part::Member(member) => {
                        let presence = match member.presence {
                            Presence::Required => "required",
                            Presence::Nullable => "required, may be null",
                            Presence::Optional => "",
                        };
                        let (shape, docs) = (shape(model, &member.shape), cell(&member.docs));
                        let _ = writeln!(out, "| `{}` | {shape} | {presence} | {docs} |", member.name);
                    }
                    Part::State(name) => {
                        let _ = writeln!(out, "| *by state* | {} | required | |", link(model, name));
                    }
                }
            }
            if !object.at_least_one.is_empty() {
                let _ = writeln!(out, "\nAt least one of `{}`.", object.at_least_one.join("`, `"));
            }
        }
        ItemKind::State(state) => {
            let _ = writeln!(out, "\n| `{}` | members | |\n|---|---|---|", state.tag);
            for arm in &state.arms {
                let members: Vec<_> =
                    arm.members.iter().map(|m| format!("`{}`: {}", m.name, shape(model, &m.shape))).collect();
                let _ = writeln!(out, "| `{}` | {} | {} |", arm.value, members.join("<br>"), cell(&arm.docs));
            }
        }
        ItemKind::StringEnum(variants) => {
            out.push_str("\n| value | |\n|---|---|\n");
            for variant in variants {
                let _ = writeln!(out, "| `{}` | {} |", variant.value, cell(&variant.docs));
            }
        }
        ItemKind::Union(union) => {
            let arms: Vec<String> = match union {
                Union::Kind(arms) => arms.iter().map(|arm| shape(model, &arm.shape)).collect(),
                Union::Tag { tag, arms } => arms
                    .iter()
                    .map(|arm| format!("`{tag}: {}` {}", arm.value, link(model, &arm.target)))
                    .collect(),
                Union::Member(arms) => arms.iter().map(|arm| link(model, &arm.target)).collect(),
            };
            let _ = writeln!(out, "\nOne of: {}.", arms.join(", "));
        }
        ItemKind::Newtype(inner) => {
            let _ = writeln!(out, "\n{}.", shape(model, inner));
        }
        ItemKind::ErrorCodes(_) | ItemKind::Replaced(_) => {}
    }
}

fn constant_row(out: &mut String, constant: &Constant) {
    let value = match &constant.value {
        ConstantValue::Text(text) => format!("\"{text}\""),
        ConstantValue::Integer(number) => number.to_string(),
    };
    let note = if constant.absent { "absence is read as this" } else { "" };
    let _ = writeln!(out, "| `{}` | `{value}` | required | {note} |", constant.name);
}

fn shape(model: &Model, shape_ref: &TypeRef) -> String {
    match shape_ref {
        TypeRef::Named(name) => link(model, name),
        TypeRef::Text => "string".to_owned(),
        TypeRef::Unsigned => "integer, not negative".to_owned(),
        TypeRef::Millis => "number of milliseconds, not negative".to_owned(),
        TypeRef::Integer => "integer".to_owned(),
        TypeRef::Number => "number".to_owned(),
        TypeRef::Boolean => "boolean".to_owned(),
        TypeRef::List(item) => format!("list of {}", shape(model, item)),
        TypeRef::Map(value) => format!("map to {}", shape(model, value)),
    }
}

fn link(model: &Model, name: &str) -> String {
    format!("[{name}](#{})", anchor(model, name))
}

fn anchor(model: &Model, name: &str) -> String {
    format!("{}-{}", model.generation, name).to_lowercase()
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
