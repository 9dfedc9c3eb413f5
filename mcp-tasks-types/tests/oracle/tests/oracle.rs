//! Every sample goes through its type, the schema that the type was made from, the schema that `schemars` gives for
//! the type, and the published schema where that is at hand. Where two of them disagree, the kind of disagreement is
//! listed here with its reason, and a kind that no sample shows any more is a fault too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use mcp_tasks_types::RawJson;
use serde::Deserialize;
use serde_json::{Value, json};

type Reads = fn(&RawJson) -> bool;
type Derived = fn() -> Value;

macro_rules! types {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        const TYPES: &[(&str, &str, Reads, Derived)] = &[$((
            $generation,
            $name,
            |raw| raw.get::<$type>().is_ok(),
            || schemars::schema_for!($type).to_value(),
        )),*];
    };
}
mcp_tasks_types::for_each_wire_type!(types);

/// A kind of disagreement that is meant.
struct Exception {
    /// The schema that disagrees with the type: `source`, `derived` or `published`.
    schema: &'static str,
    /// Whether the schema accepts what the type refuses; else it refuses what the type accepts.
    accepts: bool,
    fits: fn(&Sample) -> bool,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &include!("../src/exceptions.rs");

#[derive(Deserialize)]
struct Sample {
    r#type: String,
    case: String,
    value: RawJson,
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator(root: &Value, name: &str) -> Option<Validator> {
    let definitions = root.get("$defs")?;
    definitions.get(name)?;
    let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions });
    compile(&schema)
}

/// Times are checked as the types check them. What a URI or base64 is, the types leave to whoever uses them.
fn compile(schema: &Value) -> Option<Validator> {
    let options = jsonschema::options().should_validate_formats(true);
    options.with_format("uri", |_: &str| true).with_format("byte", |_: &str| true).build(schema).ok()
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

#[test]
fn types_and_schemas_agree_but_for_what_is_listed() {
    let samples = package().join("../samples");
    let shared = std::env::var_os("MCP_TASKS_SHARED").map_or_else(|| package().join("../../shared"), PathBuf::from);
    let published = |names: &[&str]| -> Vec<Value> {
        names.iter().filter_map(|name| read_json(&shared.join("upstream").join(name))).collect()
    };
    let (mut faults, mut used, mut counts) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    for (generation, module, published) in [
        ("2026-07-28", "v2026_07_28", published(&["ext-tasks-2026-07-28.schema.json", "core-2026-07-28.schema.json"])),
        ("2025-11-25", "v2025_11_25", published(&["core-2025-11-25.schema.json"])),
        ("sep-1686", "sep_1686", Vec::new()),
    ] {
        let source = read_json(&package().join(format!("src/generated/{module}.schema.json"))).expect("a bundle");
        let mut lines = Vec::new();
        for verdict in ["accept", "reject", "lenient"] {
            let text = fs::read_to_string(samples.join(generation).join(format!("{verdict}.jsonl"))).expect("samples");
            lines.extend(text.lines().map(|line| (verdict, serde_json::from_str::<Sample>(line).expect("a sample"))));
        }
        let mut validators: BTreeMap<String, [Option<Validator>; 3]> = BTreeMap::new();
        for (verdict, sample) in &lines {
            let found = TYPES.iter().find(|(g, name, ..)| *g == generation && *name == sample.r#type);
            let (_, name, reads, derived) = found.expect("a type");
            let validators = validators.entry(sample.r#type.clone()).or_insert_with(|| {
                let derived = compile(&derived());
                [validator(&source, name), derived, published.iter().find_map(|root| validator(root, name))]
            });
            let value: Value = sample.value.get().expect("JSON");
            let by_type = reads(&sample.value);
            for (schema, validator) in ["source", "derived", "published"].into_iter().zip(validators.iter()) {
                let Some(validator) = validator else { continue };
                *counts.entry(schema).or_insert(0_usize) += 1;
                let by_schema = validator.is_valid(&value);
                // Lenient is what the type reads although the schema refuses it.
                if by_schema == (by_type && *verdict != "lenient") {
                    continue;
                }
                let listed = EXCEPTIONS.iter().position(|exception| {
                    let derived = exception.schema == "source" && schema == "derived";
                    (exception.schema == schema || derived) && exception.accepts == by_schema && (exception.fits)(sample)
                });
                match listed {
                    Some(index) => drop(used.insert(index)),
                    None => faults.push(format!(
                        "{generation} {}, {} ({verdict}): type {by_type}, {schema} schema {by_schema}\n  {}",
                        sample.r#type, sample.case, sample.value
                    )),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} disagreements\n{}", faults.len(), faults.join("\n"));
    let has_published = counts.contains_key("published");
    for (index, exception) in EXCEPTIONS.iter().enumerate() {
        let checked = exception.schema != "published" || has_published;
        assert!(used.contains(&index) || !checked, "no sample shows any more: {}", exception.reason);
    }
    println!("compared {counts:?}");
    if !has_published {
        println!("skipped: no published schemas in {}", shared.display());
    }
}
