//! JSON as a tree that keeps member order and knows a member that comes twice.
//!
//! serde_json's own `Value` sorts members (or, with a feature that would leak into every crate of a build, keeps
//! their order) and drops duplicates; a schema file needs neither.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Errors};

/// A JSON value of a schema file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Parses a schema file.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Errors> {
        let value: Self = serde_json::from_str(text).map_err(|error| {
            let place = format!("line {} column {}", error.line(), error.column());
            vec![Error::new(file, place, format!("no JSON: {error}"))]
        })?;
        let mut errors = Errors::new();
        value.find_duplicates(file, "#", &mut errors);
        if errors.is_empty() { Ok(value) } else { Err(errors) }
    }

    fn find_duplicates(&self, file: &str, pointer: &str, errors: &mut Errors) {
        match self {
            Self::Object(members) => {
                let mut seen = BTreeSet::new();
                for (name, value) in members {
                    let place = child(pointer, name);
                    if !seen.insert(name) {
                        errors.push(Error::new(file, &place, format!("the member `{name}` comes twice")));
                    }
                    value.find_duplicates(file, &place, errors);
                }
            }
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.find_duplicates(file, &child(pointer, &index.to_string()), errors);
                }
            }
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Number(_) | Self::Text(_) => {}
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().and_then(|members| members.iter().find_map(|(known, v)| (known == name).then_some(v)))
    }

    pub(crate) fn members(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// The definition that a `$ref` names.
    pub(crate) fn reference(&self) -> Option<&str> {
        self.get("$ref")?.text()?.strip_prefix("#/$defs/")
    }

    /// Writes the value on one line.
    pub(crate) fn write_line(&self, out: &mut String) {
        match self {
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write_line(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                    out.push(':');
                    value.write_line(out);
                }
                out.push('}');
            }
            scalar => scalar.write(0, out),
        }
    }

    /// Writes the value with two blanks of indent.
    pub(crate) fn write(&self, indent: usize, out: &mut String) {
        let pad = "  ".repeat(indent + 1);
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Integer(number) => out.push_str(&number.to_string()),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Text(text) => out.push_str(&serde_json::Value::from(text.as_str()).to_string()),
            Self::Array(items) if items.is_empty() => out.push_str("[]"),
            Self::Object(members) if members.is_empty() => out.push_str("{}"),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "[\n" } else { ",\n" });
                    out.push_str(&pad);
                    item.write(indent + 1, out);
                }
                out.push('\n');
                out.push_str(&"  ".repeat(indent));
                out.push(']');
            }
            Self::Object(members) => {
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "{\n" } else { ",\n" });
                    out.push_str(&pad);
                    out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                    out.push_str(": ");
                    value.write(indent + 1, out);
                }
                out.push('\n');
                out.push_str(&"  ".repeat(indent));
                out.push('}');
            }
        }
    }
}

/// The pointer of a member or item.
pub(crate) fn child(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonVisitor;
        impl<'de> Visitor<'de> for JsonVisitor {
            type Value = Json;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Json, E> {
                Ok(Json::Integer(number))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Json, E> {
                i64::try_from(number).map(Json::Integer).map_err(|_| E::custom("an integer beyond 64 bits"))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Json, E> {
                Ok(Json::Number(number))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Json::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Json::Object(members))
            }
        }
        deserializer.deserialize_any(JsonVisitor)
    }
}
