//! Random messages of every type, made from the schema alone, are written back equal.
//!
//! 64 messages a type; `MCP_TASKS_MESSAGES` asks for another number.

use std::collections::BTreeMap;

use mcp_tasks_types::RawJson;
use serde_json::{Map, Value};

use crate::TYPES;

const BUNDLES: &[(&str, &str)] = &[
    ("2026-07-28", include_str!("../../src/generated/v2026_07_28.schema.json")),
    ("2025-11-25", include_str!("../../src/generated/v2025_11_25.schema.json")),
    ("sep-1686", include_str!("../../src/generated/sep_1686.schema.json")),
];

/// A sequence of numbers that a seed decides (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
    fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Writes random values that a schema allows, as text: spelling is part of what is tested.
struct Maker<'s> {
    definitions: &'s Map<String, Value>,
    random: Random,
}

impl<'s> Maker<'s> {
    fn definition(&mut self, name: &str, depth: usize) -> String {
        let definitions = self.definitions;
        // Types written by hand accept less than their plain schema, or more.
        match name {
            "Timestamp" => self.timestamp(),
            "JSONValue" => self.any(depth),
            _ => self.value(&definitions[name], &[], depth),
        }
    }

    fn value(&mut self, schema: &'s Value, forced: &[&str], depth: usize) -> String {
        if let Some(target) = schema["$ref"].as_str() {
            let name = target.trim_start_matches("#/$defs/");
            if forced.is_empty() || self.definitions[name].get("anyOf").is_some() {
                return self.definition(name, depth);
            }
            let definitions = self.definitions;
            return self.value(&definitions[name], forced, depth);
        }
        if let Some(constant) = schema.get("const") {
            return constant.to_string();
        }
        let is_object = schema.get("allOf").is_some() || schema.get("properties").is_some();
        if is_object
            || (schema["type"] == "object" && schema["additionalProperties"] == Value::Object(Map::new()))
        {
            return self.object(schema, forced, depth);
        }
        if let Some(arms) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
            let arm = self.random.pick(arms);
            // The member that tells the arm has to be there even when the arm does not require it.
            let told: Vec<&str> = arm["x-member"]
                .as_str()
                .filter(|path| *path != "*")
                .and_then(|p| p.split('/').next())
                .into_iter()
                .collect();
            return self.value(arm, &told, depth);
        }
        let nullable = schema["type"].as_array().is_some_and(|types| types.iter().any(|t| t == "null"));
        if nullable && self.random.chance(30) {
            return "null".to_owned();
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("any");
        match (kind, schema["format"].as_str()) {
            ("string", Some("date-time")) => self.timestamp(),
            ("string", _) => self.text(),
            ("boolean", _) => self.random.pick(&["true", "false"]).to_string(),
            ("integer", Some("uint64")) | ("number", Some("millis")) => {
                self.random.pick(&["0", "1", "60000", "60000.0", "6e4", "9007199254740991"]).to_string()
            }
            ("integer", _) => self.random.pick(&["0", "-7", "7.0", "-32602", "9007199254740991"]).to_string(),
            ("number", _) => {
                self.random.pick(&["0", "5", "5.0", "-0.25", "1e3", "9007199254740993", "0.1"]).to_string()
            }
            ("array", _) => {
                let count = if depth == 0 { 0 } else { self.random.below(3) };
                let items: Vec<_> =
                    (0..count).map(|_| self.value(&schema["items"], &[], depth - 1)).collect();
                format!("[{}]", items.join(","))
            }
            ("object", _) => {
                let count = if depth == 0 { 0 } else { self.random.below(3) };
                let entries: Vec<_> = (0..count)
                    .map(|index| {
                        format!(
                            "\"k{index}\":{}",
                            self.value(&schema["additionalProperties"], &[], depth - 1)
                        )
                    })
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
            _ => self.any(depth),
        }
    }

    fn object(&mut self, schema: &'s Value, forced: &[&str], depth: usize) -> String {
        let mut members: Vec<(String, String)> = Vec::new();
        let mut needed: Vec<&str> = forced.to_vec();
        if let Some(some) = schema["x-at-least-one"].as_array() {
            needed.extend(self.random.pick(some).as_str());
        }
        self.members(schema, &needed, depth, &mut members);
        if self.random.chance(40) {
            let value = self.any(depth);
            members.push(("x-unknown".to_owned(), value));
        }
        // Members come in any order.
        for index in (1..members.len()).rev() {
            members.swap(index, self.random.below(index + 1));
        }
        let members: Vec<_> =
            members.into_iter().map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
        format!("{{{}}}", members.join(","))
    }

    fn members(&mut self, schema: &'s Value, needed: &[&str], depth: usize, out: &mut Vec<(String, String)>) {
        let definitions = self.definitions;
        if let Some(target) = schema["$ref"].as_str() {
            return self.members(&definitions[target.trim_start_matches("#/$defs/")], needed, depth, out);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.members(part, needed, depth, out);
        }
        if let Some(arms) = schema["oneOf"].as_array() {
            let arm = self.random.pick(arms);
            self.members(arm, needed, depth, out);
        }
        let required: Vec<_> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let wanted = required.contains(&name.as_str()) || needed.contains(&name.as_str());
            if wanted || (depth > 0 && self.random.chance(50)) {
                let value = self.value(member, &[], depth.saturating_sub(1));
                out.push((name.clone(), value));
            }
        }
    }

    fn any(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 5 } else { 7 }) {
            0 => "null".to_owned(),
            1 => "true".to_owned(),
            2 => self.random.pick(&["0", "-1.50", "1e2", "123456789012345678901234567890"]).to_string(),
            3 => self.text(),
            4 => "{}".to_owned(),
            5 => format!("[{},{}]", self.any(depth - 1), self.any(depth - 1)),
            _ => format!("{{\"a\":{},\"_\":{}}}", self.any(depth - 1), self.any(depth - 1)),
        }
    }

    fn text(&mut self) -> String {
        let texts = ["", "a", "tëxt\n\"quoted\"", "\u{0}\u{1f}", "😀", "\\", "</script>", "null", "0"];
        Value::from(*self.random.pick(&texts)).to_string()
    }

    fn timestamp(&mut self) -> String {
        let times = ["2026-08-21T10:30:00Z", "2026-08-21t12:30:00.120000+02:00", "0001-01-01T00:00:00-23:59"];
        Value::from(*self.random.pick(&times)).to_string()
    }
}

#[test]
fn random_messages_of_every_type_are_written_back_equal() {
    let count: u64 = std::env::var("MCP_TASKS_MESSAGES").ok().and_then(|n| n.parse().ok()).unwrap_or(64);
    let bundles: BTreeMap<&str, Value> =
        BUNDLES.iter().map(|(name, text)| (*name, serde_json::from_str(text).unwrap())).collect();
    let mut types = 0;
    for (generation, name, round_trip) in TYPES {
        let definitions = bundles[generation]["$defs"].as_object().unwrap();
        if definitions[*name].get("x-error-codes").is_some() {
            continue;
        }
        types += 1;
        for seed in 0..count {
            let mut maker = Maker { definitions, random: Random(seed) };
            let text = maker.definition(name, 4);
            let raw = RawJson::from_text(&text)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}\n{text}"));
            let written = round_trip(&raw)
                .unwrap_or_else(|error| panic!("{generation} {name}, seed {seed}: {error}\n{text}"));
            assert!(raw.json_eq(&written), "{generation} {name}, seed {seed}\n{raw}\n{written}");
            // What was read once is read again as the same and written the same.
            let again = round_trip(&written)
                .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}\n{written}"));
            assert_eq!(written, again, "{generation} {name}, seed {seed}");
        }
    }
    assert!(types > 300, "{types} types");
}
