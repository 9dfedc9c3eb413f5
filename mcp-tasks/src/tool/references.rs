//! What the schema of a tool refers to: clients read it as it is, and nobody fetches anything for it.

use serde_json::{Map, Value};

/// The dialect that schemas are in, with and without its empty fragment.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Members whose value is a schema for each name in it.
const BY_NAME: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Members whose value is data and no schema.
const DATA: &[&str] = &["const", "enum", "default", "examples"];

/// How deep schemas nest at most; what lies deeper would be refused by those who read it.
const DEPTH: usize = 128;

/// What is wrong with what a schema refers to, by its place.
pub(super) fn faults_of_references(schema: &Value) -> Vec<String> {
    let mut found = Found::default();
    found.collect(schema, DEPTH);
    let mut faults = found.faults;
    faults.extend(found.references.iter().filter_map(|reference| {
        let unresolved = match reference.split_once('#') {
            // A path with escapes for URLs is left to who reads it.
            Some(("", path)) if path.contains('%') => false,
            Some(("", path)) if path.is_empty() || path.starts_with('/') => {
                // Inside a part with an `$id` of its own, a path begins there.
                found.ids.is_empty() && schema.pointer(path).is_none()
            }
            Some(("", anchor)) => !found.anchors.contains(&anchor),
            Some((id, _)) => !found.ids.contains(&id),
            None => !found.ids.contains(reference),
        };
        unresolved.then(|| format!("`{reference}` is not in the schema, and nobody fetches it"))
    }));
    faults
}

#[derive(Default)]
struct Found<'s> {
    references: Vec<&'s str>,
    ids: Vec<&'s str>,
    anchors: Vec<&'s str>,
    faults: Vec<String>,
}

impl<'s> Found<'s> {
    fn collect(&mut self, schema: &'s Value, depth: usize) {
        match schema {
            _ if depth == 0 => self.faults.push(format!("the schema is nested more than {DEPTH} deep")),
            Value::Array(schemas) => schemas.iter().for_each(|schema| self.collect(schema, depth - 1)),
            Value::Object(members) => self.collect_members(members, depth),
            _ => {}
        }
    }

    fn collect_members(&mut self, members: &'s Map<String, Value>, depth: usize) {
        for (name, value) in members {
            match (name.as_str(), value) {
                ("$ref" | "$dynamicRef", Value::String(reference)) => self.references.push(reference),
                ("$id", Value::String(id)) => self.ids.push(id.trim_end_matches('#')),
                ("$anchor" | "$dynamicAnchor", Value::String(anchor)) => self.anchors.push(anchor),
                ("$schema", Value::String(dialect)) if dialect.trim_end_matches('#') != DIALECT => {
                    self.faults.push(format!("the dialect `{dialect}` is not that of JSON Schema 2020-12"));
                }
                (name, _) if DATA.contains(&name) => {}
                (name, Value::Object(schemas)) if BY_NAME.contains(&name) => {
                    schemas.values().for_each(|schema| self.collect(schema, depth - 1));
                }
                (_, value) => self.collect(value, depth - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// what is in the schema is found however it is named, and data is no reference.
    #[test]
    fn schemas_that_stand_by_themselves_are_fine() {
        for schema in [
            json!({"$schema": DIALECT, "type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}}}),
            json!({"$schema": format!("{DIALECT}#"), "type": "object"}),
            json!({"properties": {"a": {"$ref": "#"}, "$ref": {"type": "string"}}}),
            json!({"allOf": [{"$ref": "#name"}], "$defs": {"A": {"$anchor": "name"}}}),
            json!({"$defs": {"A": {"$id": "https://example.com/a"}}, "items": {"$ref": "https://example.com/a#/x"}}),
            json!({"const": {"$ref": "https://example.com/a"}, "examples": [{"$schema": "draft-04"}]}),
        ] {
            assert_eq!(faults_of_references(&schema), [""; 0], "{schema}");
        }
    }

    /// references into other documents, to nothing, other dialects and bottomless schemas.
    #[test]
    fn schemas_that_lean_on_others_are_refused() {
        for (schema, part) in [
            (json!({"properties": {"a": {"$ref": "https://example.com/a"}}}), "nobody fetches it"),
            (json!({"allOf": [{"$ref": "other.json#/A"}]}), "nobody fetches it"),
            (json!({"$dynamicRef": "file:///etc/passwd"}), "nobody fetches it"),
            (json!({"properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {"A": {}}}), "is not in the schema"),
            (json!({"$ref": "#nowhere"}), "is not in the schema"),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
                "not that of JSON Schema 2020-12",
            ),
            ((0..200).fold(json!({}), |inner, _| json!({"not": inner})), "nested more than"),
        ] {
            let faults = faults_of_references(&schema);
            assert!(faults.len() == 1 && faults[0].contains(part), "{schema}: {faults:?}");
        }
    }
}
