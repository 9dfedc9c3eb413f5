//! Arguments that a tool's schema mirrors into `Mcp-Param-*` headers by `x-mcp-header` (X-110, X-111).

use std::collections::BTreeSet;

use serde_json::{Value, value::RawValue};

use super::{
    members::{Members, as_string},
    whole::Whole,
};
use crate::tool::{MIRROR as MARK, looks_secret};

const PREFIX: &str = "Mcp-Param-";

/// The mirrored arguments of one tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Mirrored(Vec<Mirror>);

#[derive(Clone, Debug)]
struct Mirror {
    header: String,
    /// From the arguments to the value, by plain members.
    path: Vec<String>,
}

/// What a header has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The argument is missing or null: there must be no header.
    Nothing,
    Text(String),
    /// Compared as a number, since both sides may write it in more than one way.
    Integer(Whole),
    /// The argument has a type that cannot be mirrored; the parameters are to blame.
    Unknown,
}

impl Mirrored {
    /// The marks of an input schema; with all faults in them at once.
    pub(super) fn of_schema(schema: &Value) -> Result<Self, Vec<String>> {
        let mut found = Found::default();
        found.walk(schema, &mut Vec::new());
        if marks(schema) > found.marks {
            let what = format!("`{MARK}` stands where it cannot be reached by plain `properties`");
            found.faults.push(what);
        }
        if found.faults.is_empty() { Ok(Self(found.mirrors)) } else { Err(found.faults) }
    }

    /// Arguments that are called like secrets, which every intermediary on the way would see (X-121).
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter_map(|mirror| mirror.path.last())
            .map(String::as_str)
            .filter(|name| looks_secret(name))
    }

    /// Each header with what it has to say about these arguments.
    pub(super) fn expected(&self, arguments: Option<&RawValue>) -> Vec<(&str, Expected)> {
        self.0.iter().map(|mirror| (mirror.header.as_str(), mirror.expected(arguments))).collect()
    }
}

impl Mirror {
    fn expected(&self, arguments: Option<&RawValue>) -> Expected {
        let mut value = arguments;
        for name in &self.path {
            let members = value.and_then(|value| Members::read(value.get()).ok());
            value = members.and_then(|members| members.get(name));
        }
        let Some(value) = value else { return Expected::Nothing };
        match value.get() {
            "null" => Expected::Nothing,
            "true" | "false" => Expected::Text(value.get().to_owned()),
            text => match (as_string(value), Whole::parse(text)) {
                (Some(text), _) => Expected::Text(text.into_owned()),
                (None, Some(number)) => Expected::Integer(number),
                (None, None) => Expected::Unknown,
            },
        }
    }
}

#[derive(Default)]
struct Found {
    mirrors: Vec<Mirror>,
    faults: Vec<String>,
    /// In lower case, since header names are the same in any case.
    names: BTreeSet<String>,
    marks: usize,
}

impl Found {
    fn walk(&mut self, schema: &Value, path: &mut Vec<String>) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            path.push(name.clone());
            if let Some(mark) = property.get(MARK) {
                self.marks += 1;
                self.take(mark, property, path);
            }
            self.walk(property, path);
            path.pop();
        }
    }

    fn take(&mut self, mark: &Value, property: &Value, path: &[String]) {
        let at = path.join(".");
        let Some(name) = mark.as_str().filter(|name| is_token(name)) else {
            self.faults.push(format!("`{MARK}` of `{at}` is no header name"));
            return;
        };
        if !is_scalar(&property["type"]) {
            self.faults.push(format!("`{at}` cannot be a header, it is no string, integer or boolean"));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            self.faults.push(format!("the header name `{name}` is there twice"));
        }
        self.mirrors.push(Mirror { header: format!("{PREFIX}{name}"), path: path.to_vec() });
    }
}

/// One type that a header can hold, possibly beside null.
fn is_scalar(kind: &Value) -> bool {
    let fits = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind.as_array() {
        Some(kinds) => {
            let mut others = kinds.iter().filter(|kind| *kind != "null");
            others.next().is_some_and(fits) && others.next().is_none()
        }
        None => fits(kind),
    }
}

/// How many marks there are anywhere in a schema.
fn marks(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => {
            members.iter().map(|(name, value)| usize::from(name == MARK) + marks(value)).sum()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a header mirrors an argument, in any case.
pub(super) fn is_mirror(header: &str) -> bool {
    header.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::RawValue};

    use super::{Expected, Mirrored};
    use crate::server::whole::Whole;

    /// X-110
    #[test]
    fn a_header_says_what_the_argument_says() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "options": {"type": "object", "properties": {
                "count": {"type": "integer", "x-mcp-header": "Count"},
                "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            }},
            "other": {"type": "string"},
        }});
        let mirrored = Mirrored::of_schema(&schema).unwrap();
        let expected = |arguments: &str| {
            let arguments: Box<RawValue> = serde_json::from_str(arguments).unwrap();
            let mut found: Vec<_> = mirrored
                .expected(Some(&arguments))
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            found.sort_by(|one, two| one.0.cmp(&two.0));
            found.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(
            expected(r#"{"region":"\u00fc","options":{"count":7.0,"dry":true},"other":"x"}"#),
            [
                Expected::Integer(Whole::parse("7").unwrap()),
                Expected::Text("true".to_owned()),
                Expected::Text("\u{fc}".to_owned()),
            ]
        );
        assert_eq!(
            expected(r#"{"region":null,"options":{"count":[]}}"#),
            [Expected::Unknown, Expected::Nothing, Expected::Nothing]
        );
        assert_eq!(mirrored.expected(None).len(), 3);
    }

    /// X-111
    #[test]
    fn marks_that_clients_would_drop_are_faults() {
        let property = |property: serde_json::Value| json!({"type": "object", "properties": {"a": property}});
        for schema in [
            property(json!({"type": "string", "x-mcp-header": ""})),
            property(json!({"type": "string", "x-mcp-header": "two words"})),
            property(json!({"type": "string", "x-mcp-header": 7})),
            property(json!({"type": "number", "x-mcp-header": "A"})),
            property(json!({"type": "array", "x-mcp-header": "A"})),
            property(json!({"type": ["string", "integer"], "x-mcp-header": "A"})),
            property(json!({"x-mcp-header": "A"})),
            property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"type": "object", "properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"},
            }}),
        ] {
            assert_eq!(Mirrored::of_schema(&schema).unwrap_err().len(), 1, "{schema}");
        }
        assert!(Mirrored::of_schema(&json!({"type": "object"})).unwrap().0.is_empty());
    }
}
