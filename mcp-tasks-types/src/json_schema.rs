//! `schemars::JsonSchema` for all wire types: each has the schema that it was generated from.
//!
//! The definitions of a generation come from its bundle, which the generator writes beside the types; what a
//! definition refers to goes among the caller's own definitions, under a name that tells the generation.

use std::borrow::Cow;
use std::sync::OnceLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::generated::registry::BUNDLES;

const REFERENCE: &str = "#/$defs/";

/// The definitions of a generation.
fn definitions(generation: &str) -> Option<&'static Map<String, Value>> {
    static PARSED: OnceLock<Vec<(&str, Value)>> = OnceLock::new();
    let parsed = PARSED.get_or_init(|| {
        let parse = |(name, text): &(&'static str, &str)| Some((*name, serde_json::from_str(text).ok()?));
        BUNDLES.iter().filter_map(parse).collect()
    });
    parsed.iter().find(|(name, _)| *name == generation)?.1.get("$defs")?.as_object()
}

/// The key of a definition among those of other crates.
fn key(generation: &str, name: &str) -> String {
    format!("mcp-{generation}-{name}")
}

/// A definition with its references turned to the caller's definitions, which are filled on the way.
///
/// # Panics
///
/// When the bundle lacks it. The generator writes the bundle beside the types and follows every reference; a schema
/// that allows everything would say something else than the type.
fn definition(generation: &str, name: &str, generator: &mut SchemaGenerator) -> Value {
    let source = definitions(generation).and_then(|definitions| definitions.get(name));
    let mut schema = source.unwrap_or_else(|| panic!("no definition of `{name}` in {generation}")).clone();
    turn(generation, &mut schema, generator);
    schema
}

fn turn(generation: &str, schema: &mut Value, generator: &mut SchemaGenerator) {
    match schema {
        Value::Object(members) => {
            // Marks for the generator say nothing to a validator.
            members.retain(|keyword, _| !keyword.starts_with("x-"));
            for (keyword, value) in members.iter_mut() {
                match value {
                    Value::String(text) if keyword == "$ref" => {
                        let Some(name) = text.strip_prefix(REFERENCE).map(str::to_owned) else { continue };
                        let key = key(generation, &name);
                        if !generator.definitions().contains_key(&key) {
                            // First a placeholder, since definitions refer to each other in circles.
                            generator.definitions_mut().insert(key.clone(), Value::Bool(true));
                            let definition = definition(generation, &name, generator);
                            generator.definitions_mut().insert(key.clone(), definition);
                        }
                        *text = format!("{REFERENCE}{key}");
                    }
                    _ => turn(generation, value, generator),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| turn(generation, item, generator)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

macro_rules! generated {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        $(impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
            fn schema_id() -> Cow<'static, str> {
                Cow::Owned(key($generation, $name))
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let definition = definition($generation, $name, generator);
                Schema::try_from(definition).expect("a definition is an object")
            }
        })*
    };
}
crate::generated::registry::for_each_generated_type!(generated);

impl JsonSchema for crate::RawJson {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("AnyValue")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl JsonSchema for crate::RawObject {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("AnyObject")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl JsonSchema for crate::Number {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Number")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

impl JsonSchema for crate::Timestamp {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Timestamp")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl JsonSchema for crate::TaskId {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("TaskId")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl<T: JsonSchema> JsonSchema for crate::Map<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("Map_of_{}", T::schema_name()))
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

#[cfg(test)]
mod tests {
    use schemars::SchemaGenerator;

    #[test]
    fn a_definition_that_is_not_there_is_no_schema_for_everything() {
        let made = || super::definition("2026-07-28", "Nothing", &mut SchemaGenerator::default());
        let panic = std::panic::catch_unwind(made).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "no definition of `Nothing` in 2026-07-28");
    }

    #[test]
    fn types_of_one_name_have_the_schema_of_their_generation() {
        let mut generator = SchemaGenerator::default();
        let members = [
            generator.subschema_for::<crate::v2025_11_25::GetTaskResultResponse>(),
            generator.subschema_for::<crate::v2026_07_28::GetTaskResultResponse>(),
            generator.subschema_for::<crate::sep_1686::GetTaskResultResponse>(),
        ];
        let definitions = generator.definitions();
        for (schema, generation) in members.iter().zip(["2025-11-25", "2026-07-28", "sep-1686"]) {
            let name = schema.as_value()["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            let result = &definitions[name]["properties"]["result"]["$ref"];
            assert_eq!(result, &format!("#/$defs/mcp-{generation}-GetTaskResult"));
            assert!(definitions.contains_key(&format!("mcp-{generation}-GetTaskResult")));
        }
    }
}
