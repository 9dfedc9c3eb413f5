//! The dialect's keyword rules. They fail closed: a keyword that no later stage understands is an error, because every
//! stage that skips one in silence makes types that are wrong in silence.

use crate::error::{Error, Errors};
use crate::json::{Json, child};

const TOP: &[&str] = &["$schema", "$id", "$comment", "title", "description", "$defs"];
const KEYWORDS: &[&str] = &[
    "$ref",
    "$comment",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "oneOf",
    "anyOf",
    "allOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "format",
    "minimum",
    "maximum",
    "x-union",
    "x-tag",
    "x-member",
    "x-const-absent",
    "x-mixin",
    "x-at-least-one",
    "x-mcp-method",
    "x-mcp-direction",
    "x-mcp-result",
    "x-mcp-name",
    "x-meta-key",
    "x-error-codes",
    "x-error-data",
    "x-http-status",
    "x-extension-id",
];
const FORMATS: &[&str] = &["uint64", "millis", "date-time", "uri", "byte"];
const DIRECTIONS: &[&str] = &["client-to-server", "server-to-client", "both"];
const UNIONS: &[&str] = &["kind", "tag", "member"];

/// Checks one file.
pub(crate) fn lint(file: &str, root: &Json) -> Errors {
    let mut lint = Lint { file, errors: Errors::new() };
    lint.file_root(root);
    lint.errors
}

struct Lint<'a> {
    file: &'a str,
    errors: Errors,
}

impl Lint<'_> {
    fn fault(&mut self, place: &str, message: impl Into<String>) {
        self.errors.push(Error::new(self.file, place, message));
    }

    fn file_root(&mut self, root: &Json) {
        let Some(members) = root.members() else {
            return self.fault("#", "a schema file is an object");
        };
        for (name, value) in members {
            let place = child("#", name);
            if !TOP.contains(&name.as_str()) {
                self.fault(
                    &place,
                    format!("the keyword `{name}` is outside the dialect; here stand {}", TOP.join(", ")),
                );
            } else if name == "$defs" {
                self.definitions(&place, value);
            } else if value.text().is_none() {
                self.fault(&place, "expected a string");
            }
        }
        for required in ["$schema", "$id", "description", "$defs"] {
            if root.get(required).is_none() {
                self.fault("#", format!("`{required}` is missing"));
            }
        }
    }

    fn definitions(&mut self, place: &str, value: &Json) {
        let Some(definitions) = value.members() else {
            return self.fault(place, "expected an object of definitions");
        };
        for (name, definition) in definitions {
            let place = child(place, name);
            if !name.chars().next().is_some_and(|c| c.is_ascii_uppercase())
                || !name.chars().all(|c| c.is_ascii_alphanumeric())
            {
                self.fault(&place, "the name of a definition is in PascalCase");
            }
            if definition.get("description").and_then(Json::text).is_none_or(|text| text.trim().is_empty()) {
                self.fault(&place, "a definition needs a `description`; it becomes the type's documentation");
            }
            self.schema(&place, definition);
        }
    }

    fn schema(&mut self, place: &str, schema: &Json) {
        let Some(members) = schema.members() else {
            return self.fault(place, "expected a schema object; boolean schemas are outside the dialect");
        };
        for (name, value) in members {
            let here = child(place, name);
            if !KEYWORDS.contains(&name.as_str()) {
                self.fault(&here, format!("the keyword `{name}` is outside the dialect"));
                continue;
            }
            self.keyword(&here, name, value);
        }
        if schema.get("$ref").is_some()
            && members.iter().any(|(name, _)| {
                !matches!(
                    name.as_str(),
                    "$ref" | "description" | "$comment" | "title" | "x-member" | "x-meta-key"
                )
            })
        {
            self.fault(place, "beside `$ref` only description, title, x-member and x-meta-key may stand");
        }
        if schema.get("anyOf").is_some() && schema.get("x-union").is_none() {
            self.fault(place, "`anyOf` needs `x-union` to say how its arms are told apart");
        }
        if schema.get("x-union").and_then(Json::text) == Some("tag") && schema.get("x-tag").is_none() {
            self.fault(place, "`x-union: tag` needs `x-tag`, the member that decides");
        }
    }

    fn keyword(&mut self, here: &str, name: &str, value: &Json) {
        match name {
            "properties" => match value.members() {
                Some(properties) => {
                    for (name, property) in properties {
                        self.schema(&child(here, name), property);
                    }
                }
                None => self.fault(here, "expected an object of schemas"),
            },
            "oneOf" | "anyOf" | "allOf" => match value.items() {
                Some(arms) if !arms.is_empty() => {
                    for (index, arm) in arms.iter().enumerate() {
                        self.schema(&child(here, &index.to_string()), arm);
                    }
                }
                _ => self.fault(here, "expected an array of at least one schema"),
            },
            "items" | "additionalProperties" | "x-error-data" | "x-mcp-result" => self.schema(here, value),
            "$ref" => {
                let target = value.text().and_then(|text| text.strip_prefix("#/$defs/"));
                if target.is_none_or(|name| name.is_empty() || name.contains('/')) {
                    self.fault(here, "a reference has the form `#/$defs/Name`");
                }
            }
            "required" | "x-at-least-one"
                if value.items().is_none_or(|items| items.iter().any(|item| item.text().is_none())) =>
            {
                self.fault(here, "expected an array of member names");
            }
            "format" => self.one_of(here, value, FORMATS),
            "x-mcp-direction" => self.one_of(here, value, DIRECTIONS),
            "x-union" => self.one_of(here, value, UNIONS),
            "description" | "title" if value.text().is_some_and(has_hidden_characters) => {
                self.fault(
                    here,
                    "the text has control or direction characters, which would hide what it says",
                );
            }
            "$comment" | "title" | "description" | "x-tag" | "x-member" | "x-mcp-method" | "x-mcp-name"
            | "x-extension-id"
                if value.text().is_none() =>
            {
                self.fault(here, "expected a string");
            }
            "x-const-absent" | "x-mixin" | "x-meta-key" | "x-error-codes" if !value.is_true() => {
                self.fault(here, "the mark is either `true` or left out");
            }
            "x-http-status" if !matches!(value, Json::Integer(100..=599)) => {
                self.fault(here, "expected an HTTP status");
            }
            "const" if !matches!(value, Json::Text(_) | Json::Integer(_)) => {
                self.fault(here, "a constant is a string or an integer");
            }
            "enum" => self.fault(here, "write `oneOf` of constants, so that each value has a description"),
            // `type`, `minimum` and `maximum` are judged with the shape that they belong to.
            _ => {}
        }
    }

    fn one_of(&mut self, here: &str, value: &Json, known: &[&str]) {
        if !value.text().is_some_and(|text| known.contains(&text)) {
            self.fault(here, format!("expected one of {}", known.join(", ")));
        }
    }
}

/// Whether a text has characters that documentation must not have: controls but for line feeds, and marks that turn
/// the direction of reading.
fn has_hidden_characters(text: &str) -> bool {
    text.chars().any(|c| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    })
}
