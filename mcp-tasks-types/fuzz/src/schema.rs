//! What the bundled schema of a generation says about messages: which types there are for a method, and which objects
//! have names of their own choice instead of unknown members.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value};

/// A type of whole messages, or of a request inside one.
pub(crate) struct Message {
    pub(crate) name: String,
    /// Whether it has a JSON-RPC version.
    pub(crate) has_version: bool,
    /// Whether it has an id, and whether it has to have one.
    pub(crate) id: Option<bool>,
    /// Whether it has a method.
    pub(crate) has_method: bool,
    /// The method, if that is fixed.
    pub(crate) method: Option<String>,
    /// The member with what it is about, and the type of that.
    pub(crate) payload: Option<(&'static str, String)>,
}

/// One generation.
pub(crate) struct Schema {
    pub(crate) messages: Vec<Message>,
    /// Objects in which every name is data, so that none is unknown.
    pub(crate) dictionaries: BTreeSet<String>,
}

impl Schema {
    /// The schema of a generation.
    pub(crate) fn of(generation: &str) -> &'static Self {
        static READ: [OnceLock<Schema>; 3] = [const { OnceLock::new() }; 3];
        let (at, bundle) = match generation {
            "2026-07-28" => (0, include_str!("../../src/generated/v2026_07_28.schema.json")),
            "2025-11-25" => (1, include_str!("../../src/generated/v2025_11_25.schema.json")),
            "sep-1686" => (2, include_str!("../../src/generated/sep_1686.schema.json")),
            other => panic!("no generation {other}"),
        };
        READ[at].get_or_init(|| Self::read(bundle))
    }

    fn read(bundle: &str) -> Self {
        let bundle: Value = serde_json::from_str(bundle).expect("the bundle is JSON");
        let definitions = bundle["$defs"].as_object().expect("the bundle has definitions");
        let is_dictionary =
            |schema: &Value| schema["additionalProperties"].as_object().is_some_and(|of| !of.is_empty());
        let dictionaries = definitions.iter().filter(|(_, schema)| is_dictionary(schema));
        let messages: Vec<_> =
            definitions.iter().filter_map(|(name, schema)| message(name, schema)).collect();
        assert!(messages.len() > 10, "{} messages", messages.len());
        Self { messages, dictionaries: dictionaries.map(|(name, _)| name.clone()).collect() }
    }
}

fn message(name: &str, schema: &Value) -> Option<Message> {
    let members: &Map<String, Value> = schema["properties"].as_object()?;
    let has_version = members.contains_key("jsonrpc");
    if !has_version && !members.contains_key("method") {
        return None;
    }
    let payload = ["params", "result", "error"].into_iter().find_map(|member| {
        let target = members.get(member)?["$ref"].as_str()?;
        Some((member, target.trim_start_matches("#/$defs/").to_owned()))
    });
    let is_required =
        |member: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == member));
    let id = members.contains_key("id").then(|| is_required("id"));
    let method = members.get("method").and_then(|method| method["const"].as_str()).map(str::to_owned);
    Some(Message {
        name: name.to_owned(),
        has_version,
        id,
        has_method: members.contains_key("method"),
        method,
        payload,
    })
}
