//! The reference: every message, `_meta` key, error and status of all generations side by side, as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::{
    Constant, ConstantValue, Details, ErrorCode, Item, ItemKind, Member, Model, Object, Part, Presence,
    TypeRef, Union, Variant,
};
use crate::words::condition_words;
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
    for (_, text) in SCOPES.iter().filter(|(name, _)| models.iter().any(|model| model.generation == *name)) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{text}");
    }
    out.push_str(
        "\nEvery object is open: members that are not described here are kept. \
         Formats and bounds are for validators: of them types enforce those of types written by hand, such as a \
         moment, and that what is not negative is not.\n",
    );
    contents(&mut out, &models);
    let names: Vec<&str> = models.iter().map(|model| model.generation.as_str()).collect();
    let columns = |title, column: fn(&Model) -> Column| -> Vec<Column> {
        models.iter().map(|model| noted(title, model, column(model))).collect()
    };
    let mut table = |title, key, column: fn(&Model) -> Column| {
        side_by_side(&mut out, title, key, &names, &columns(title, column));
    };
    table(METHODS, "method", methods);
    table(META_KEYS, "key", meta_keys);
    table(STATUSES, "status", statuses);
    table(ERRORS, "code", errors);
    for model in &models {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n## {}\n", types_of(model));
        for item in model.items() {
            describe(&mut out, model, item);
        }
    }
    Ok(TextFile::new("reference.md", out))
}

/// What a table says of a revision beside what is in its schema: table, key, revision, and the text, where `{Name}` is
/// a link to a definition.
const NOTES: &[(&str, &str, &str, &str)] = &[
    (
        METHODS,
        "any request",
        "sep-1686",
        "becomes a task by what the client puts into its `_meta`: {TaskAugmentedRequestMeta}",
    ),
    (
        METHODS,
        "any request",
        "2025-11-25",
        "of a kind that the receiver declares becomes a task by `params.task`: {TaskAugmentedRequestParams}<br>\
         answered with {CreateTaskResult}",
    ),
    (
        METHODS,
        "any request",
        "2026-07-28",
        "none can be asked to: the server decides whether `tools/call` is answered with {CreateTaskResult}, where \
         the request declares the extension",
    ),
    (
        META_KEYS,
        "io.modelcontextprotocol/related-task",
        "2026-07-28",
        "none: the task's id stands in the parameters and in each snapshot",
    ),
];

/// What is to be known of a revision's columns.
const SCOPES: &[(&str, &str)] = &[(
    "sep-1686",
    "The columns of sep-1686 hold only what that proposal adds to the revision that it was made for: its `tools/call` \
     and all other messages without tasks are not repeated.",
)];

/// Adds to a column what the schema does not say.
fn noted(title: &str, model: &Model, mut column: Column) -> Column {
    for (_, key, _, text) in NOTES.iter().filter(|note| note.0 == title && note.2 == model.generation) {
        let mut text = (*text).to_owned();
        for item in model.items() {
            text = text.replace(&format!("{{{}}}", item.schema_name), &link(model, &item.schema_name));
        }
        // What the schema says comes first.
        column.entry((*key).to_owned()).or_insert(text);
    }
    column
}

/// The tables of all revisions, by their titles.
const METHODS: &str = "Methods";
const META_KEYS: &str = "`_meta` keys";
const STATUSES: &str = "Task statuses";
const ERRORS: &str = "Errors";

fn types_of(model: &Model) -> String {
    format!("Types of {}", model.generation)
}

/// Links to the tables and to each type, in the order in which they come.
fn contents(out: &mut String, models: &[Model]) {
    out.push_str("\n## Contents\n\n");
    for title in [METHODS, META_KEYS, STATUSES, ERRORS] {
        let _ = writeln!(out, "- {}", heading_link(title));
    }
    for model in models {
        let _ = writeln!(out, "- {}", heading_link(&types_of(model)));
        for file in model.files.iter().filter(|file| !file.items.is_empty()) {
            let links: Vec<String> = file.items.iter().map(|item| link(model, &item.schema_name)).collect();
            let _ = writeln!(out, "  - {}: {}", file.stem, links.join(", "));
        }
    }
}

/// A link to a heading, by the name that Markdown gives it: small letters, digits, `-` and `_`, and `-` for blanks.
fn heading_link(title: &str) -> String {
    let kept = title.to_lowercase().replace(' ', "-");
    let kept: String = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect();
    format!("[{title}](#{kept})")
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
        // A name has no blanks; words are words.
        let _ = if key.contains(' ') { write!(out, "| {key} |") } else { write!(out, "| `{key}` |") };
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
            let text = format!("{}<br>{}", link(model, &item.schema_name), sent(model, object));
            out.insert(method.name.clone(), text);
        }
    }
    out
}

/// Who sends a message, and what it is answered with.
fn sent(model: &Model, object: &Object) -> String {
    let direction = match object.direction.as_deref() {
        Some("client-to-server") => "from client to server",
        Some("server-to-client") => "from server to client",
        _ => "in both directions",
    };
    match object.method.as_ref().and_then(|method| method.result.as_ref()) {
        Some(result) => format!("{direction}<br>answered with {}", link(model, result)),
        None => format!("{direction}<br>no answer"),
    }
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
    let Item { schema_name, rust_name, docs, details, kind } = item;
    let anchor = anchor(model, schema_name);
    let _ = write!(out, "\n<a id=\"{anchor}\"></a>\n\n### {schema_name} ({})\n\n", model.generation);
    if rust_name != schema_name && !matches!(kind, ItemKind::Replaced(_)) {
        let _ = writeln!(out, "Rust: `{rust_name}`.");
    }
    let _ = writeln!(out, "{docs}");
    match kind {
        ItemKind::Object(object) => describe_object(out, model, object),
        ItemKind::State(state) => {
            let _ = writeln!(out, "\n| `{}` | members | |\n|---|---|---|", state.tag);
            for arm in &state.arms {
                let members: Vec<_> =
                    arm.members.iter().map(|m| format!("`{}`: {}", m.name, of(model, m))).collect();
                let _ = writeln!(out, "| `{}` | {} | {} |", arm.value, members.join("<br>"), cell(&arm.docs));
            }
        }
        ItemKind::StringEnum(variants) => {
            out.push_str("\n| value | |\n|---|---|\n");
            for variant in variants {
                let _ = writeln!(out, "| `{}` | {} |", variant.value, cell(&variant.docs));
            }
        }
        ItemKind::Union(union) => describe_union(out, model, union),
        ItemKind::Newtype(inner) => {
            let _ = writeln!(out, "\nJSON: {}.", shape(model, inner, details));
        }
        ItemKind::ErrorCodes(codes) => {
            let codes: Vec<String> =
                codes.iter().map(|code| format!("`{}` {}", code.code, code.variant)).collect();
            let table = heading_link(ERRORS);
            let _ = writeln!(out, "\nJSON: integer, one of {} or another; see {table}.", codes.join(", "));
        }
        ItemKind::Replaced(_) => {
            let kind = details.json_type.as_deref().unwrap_or("any value");
            let _ = writeln!(out, "\nJSON: {}.", detailed(kind, details));
        }
    }
}

fn describe_object(out: &mut String, model: &Model, object: &Object) {
    if let Some(method) = &object.method {
        let sent = sent(model, object).replace("<br>", ", ");
        let _ = writeln!(out, "\nMethod `{}`, {sent}.", method.name);
        if let Some(name) = &method.routed_by {
            let _ = writeln!(out, "Over HTTP the header `Mcp-Name` repeats `params.{name}`.");
        }
    }
    if let Some(extension) = &object.extension {
        let _ = writeln!(out, "\nSettings of the extension `{extension}`.");
    }
    if object.parts.is_empty() {
        out.push_str("\nJSON: object.\n");
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
                let (shape, docs) = (of(model, member), cell(&member.docs));
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

fn describe_union(out: &mut String, model: &Model, union: &Union) {
    let (title, arms): (_, Vec<String>) = match union {
        Union::Kind(arms) => {
            let shape = |arm: &crate::model::KindArm| shape(model, &arm.shape, &Details::default());
            ("One of, by the kind of value:", arms.iter().map(shape).collect())
        }
        Union::Tag { tag, arms } => (
            "One of, by its tag:",
            arms.iter()
                .map(|arm| format!("`{tag}` is `{}`: {}", arm.value, link(model, &arm.target)))
                .collect(),
        ),
        Union::Member(arms) => (
            "The first that fits:",
            arms.iter()
                .map(|arm| format!("{}: {}", condition_words(&arm.condition), link(model, &arm.target)))
                .collect(),
        ),
    };
    let _ = write!(out, "\n{title}\n\n");
    for arm in arms {
        let _ = writeln!(out, "- {arm}");
    }
}

fn constant_row(out: &mut String, constant: &Constant) {
    let value = match &constant.value {
        ConstantValue::Text(text) => format!("\"{text}\""),
        ConstantValue::Integer(number) => number.to_string(),
    };
    let note = if constant.absent { "Absence is read as this." } else { "" };
    let docs = format!("{} {note}", cell(&constant.docs));
    let _ = writeln!(out, "| `{}` | `{value}` | required | {} |", constant.name, docs.trim());
}

/// The type of a member.
fn of(model: &Model, member: &Member) -> String {
    shape(model, &member.shape, &member.details)
}

fn shape(model: &Model, shape_ref: &TypeRef, details: &Details) -> String {
    match shape_ref {
        TypeRef::Named(name) => link(model, name),
        TypeRef::Text => detailed("string", details),
        TypeRef::Unsigned => "integer, not negative".to_owned(),
        TypeRef::Millis => "number of milliseconds, not negative".to_owned(),
        TypeRef::Integer => "integer".to_owned(),
        TypeRef::Number => detailed("number", details),
        TypeRef::Boolean => "boolean".to_owned(),
        TypeRef::List(item) => format!("list of {}", shape(model, item, details)),
        TypeRef::Map(value) => format!("map to {}", shape(model, value, details)),
    }
}

/// A plain type with its format and bounds.
fn detailed(kind: &str, details: &Details) -> String {
    let format = details.format.as_ref().map(|format| format!(" ({format})")).unwrap_or_default();
    let bounds = match (details.minimum, details.maximum) {
        (Some(minimum), Some(maximum)) => format!(", {minimum} to {maximum}"),
        (Some(minimum), None) => format!(", at least {minimum}"),
        (None, Some(maximum)) => format!(", at most {maximum}"),
        (None, None) => String::new(),
    };
    format!("{kind}{format}{bounds}")
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
