//! Digests of JSON that mean the same after a restart: by value, with members in order of their names.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock::hex;

/// The digest of a JSON value; the order of members and the spelling of text do not matter.
pub(crate) fn of_value(value: &Value) -> String {
    let mut hasher = Sha256::new();
    feed(&mut hasher, value);
    hex(&hasher.finalize()[..16])
}

/// The digest of text that is JSON; one that is not is digested as it stands.
pub(crate) fn of_json_text(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(value) => of_value(&value),
        Err(_) => of_text(text),
    }
}

/// The digest of any text.
pub(crate) fn of_text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..16])
}

fn feed(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                feed(hasher, item);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        Value::Object(members) => {
            // Another crate in the graph may have made serde_json keep the order of arrival.
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| name.as_str());
            hasher.update(b"{");
            for (name, member) in sorted {
                feed(hasher, &Value::from(name.as_str()));
                hasher.update(b":");
                feed(hasher, member);
                hasher.update(b",");
            }
            hasher.update(b"}");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            hasher.update(value.to_string().as_bytes());
        }
    }
}

/// A schema without what is said for people only, so that a better description does not make it another schema.
pub(crate) fn without_annotations(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "title" | "description" | "examples"));
            Value::Object(kept.map(|(name, member)| (name.clone(), keyword(name, member))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_annotations).collect()),
        other => other.clone(),
    }
}

/// Below these keywords the names are the author's own, or the values are data.
fn keyword(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(members)) => {
            Value::Object(
                members.iter().map(|(name, schema)| (name.clone(), without_annotations(schema))).collect(),
            )
        }
        ("const" | "enum" | "default", value) => value.clone(),
        (_, value) => without_annotations(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn digest_knows_values_and_not_spelling() {
        assert_eq!(
            of_json_text(r#"{"a":1,"b":[true,"ä"]}"#),
            of_json_text(r#" {"b":[true,"\u00e4"], "a":1} "#)
        );
        let different =
            [r#"{"a":"1"}"#, r#"{"a":1}"#, r#"["a",1]"#, r#"[["a"],1]"#, r#"["a,1"]"#, "{}", "[]", "null"];
        for (index, one) in different.iter().enumerate() {
            for other in &different[..index] {
                assert_ne!(of_json_text(one), of_json_text(other));
            }
        }
    }

    #[test]
    fn descriptions_do_not_make_another_schema_but_members_do() {
        let schema = |description: &str, member: &str| json!({"type": "object", "description": description, "properties": {member: {"title": description}}});
        let digest = |schema: &Value| of_value(&without_annotations(schema));
        assert_eq!(digest(&schema("one", "title")), digest(&schema("two", "title")));
        assert_ne!(digest(&schema("one", "title")), digest(&schema("one", "description")));
    }
}
