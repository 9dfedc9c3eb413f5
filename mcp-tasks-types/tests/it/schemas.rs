//! What the feature `schemars` says of every type, beside the schema that the type was generated from.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

const BUNDLES: &[(&str, &str)] = &[
    ("2026-07-28", include_str!("../../src/generated/v2026_07_28.schema.json")),
    ("2025-11-25", include_str!("../../src/generated/v2025_11_25.schema.json")),
    ("sep-1686", include_str!("../../src/generated/sep_1686.schema.json")),
];
/// Types that are written by hand: their schema is the plain form of what stands in the bundle.
const BY_HAND: &[&str] = &["JSONObject", "JSONValue", "TaskId", "Timestamp"];

struct Type {
    generation: &'static str,
    name: &'static str,
    schema: fn(&mut SchemaGenerator) -> Value,
    alone: fn() -> Value,
}

macro_rules! table {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        const TYPES: &[Type] = &[$(Type {
            generation: $generation,
            name: $name,
            schema: |generator| <$type as JsonSchema>::json_schema(generator).to_value(),
            alone: || schemars::schema_for!($type).to_value(),
        }),*];
    };
}
mcp_tasks_types::for_each_wire_type!(table);

fn bundles() -> Vec<(&'static str, Value)> {
    BUNDLES.iter().map(|(name, text)| (*name, serde_json::from_str(text).expect("a bundle"))).collect()
}

fn source<'b>(bundles: &'b [(&str, Value)], generation: &str, name: &str) -> &'b Value {
    let (_, bundle) = bundles.iter().find(|(known, _)| *known == generation).expect("a generation");
    &bundle["$defs"][name]
}

/// A source definition as a validator sees it, with the references that the types' schemas have.
fn normal(generation: &str, schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| !name.starts_with("x-"));
            let turned = members.map(|(name, value)| {
                let reference = value.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
                let value = match reference {
                    Some(target) if name == "$ref" => format!("#/$defs/mcp-{generation}-{target}").into(),
                    _ => normal(generation, value),
                };
                (name.clone(), value)
            });
            Value::Object(turned.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| normal(generation, item)).collect(),
        other => other.clone(),
    }
}

fn references<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            out.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| references(value, out));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, out)),
        _ => {}
    }
}

#[test]
fn the_schema_of_every_type_is_the_one_it_was_generated_from() {
    let bundles = bundles();
    let mut generated = 0;
    for Type { generation, name, schema, .. } in TYPES {
        let mut generator = SchemaGenerator::default();
        let (schema, wanted) =
            (schema(&mut generator), normal(generation, source(&bundles, generation, name)));
        if BY_HAND.contains(name) {
            assert_eq!(
                (schema.get("type"), schema.get("format")),
                (wanted.get("type"), wanted.get("format")),
                "{name}"
            );
            continue;
        }
        generated += 1;
        assert_eq!(schema, wanted, "{generation} {name}");
        assert!(schema.as_object().is_some_and(|schema| schema.len() > 1), "{generation} {name}: {schema}");
        for (key, definition) in generator.definitions() {
            let name = key.strip_prefix(&format!("mcp-{generation}-")).expect("a name of the generation");
            assert_eq!(*definition, normal(generation, source(&bundles, generation, name)), "{key}");
        }
    }
    assert!(generated > 300, "{generated} types");
}

#[test]
fn every_reference_of_the_schema_of_every_type_resolves() {
    let mut count = 0;
    for Type { generation, name, alone, .. } in TYPES {
        let schema = alone();
        let mut found = Vec::new();
        references(&schema, &mut found);
        count += found.len();
        for reference in found {
            let target = reference.strip_prefix("#/$defs/").and_then(|target| schema["$defs"].get(target));
            assert!(target.is_some_and(Value::is_object), "{generation} {name}: {reference}");
        }
    }
    assert!(count > 1_000, "{count} references");
}
