//! Digests of JSON that mean the same after a restart: by value, with members in order of their names.
//!
//! They are stored, so that no version may make another one of the same value. Of members of one name the last counts.
//! An integer and the same number with a fraction (`1`, `1.0`) are two values, as they are to most who read them.

use mcp_tasks_types::Number;
use serde::de::IgnoredAny;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock::hex;

/// The digest of a JSON value; the order of members and the spelling of text do not matter.
pub(crate) fn of_value(value: &Value) -> String {
    let mut hasher = Sha256::new();
    feed(&mut hasher, value);
    hex(&hasher.finalize()[..16])
}

/// The digest of text that is JSON, that of its value where a [`Value`] holds all of it; numbers that it would round
/// count with all their digits. Text that is no JSON is digested as it stands.
pub(crate) fn of_json_text(text: &str) -> String {
    let value = match with_marks(text) {
        None => serde_json::from_str(text).map(|value| of_value(&value)),
        Some(marked) => serde_json::from_str(text).and_then(|IgnoredAny| {
            let mut hasher = Sha256::new();
            // No value begins like this.
            hasher.update(b"exact ");
            feed(&mut hasher, &serde_json::from_str(&marked)?);
            Ok(hex(&hasher.finalize()[..16]))
        }),
    };
    value.unwrap_or_else(|_| of_text(text))
}

/// The digest of any text.
pub(crate) fn of_text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..16])
}

/// The text with each number that a [`Value`] would round as a string, and with a mark in front of all strings that
/// tells them from these; nothing where there is no such number.
fn with_marks(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut marked, mut copied, mut has_rounded) = (String::new(), 0, false);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                marked.push_str(&text[copied..at]);
                marked.push('s');
                copied = at;
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let in_number = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                at += bytes[at..].iter().take_while(in_number).count();
                if let Some(exact) = rounded(&text[start..at]) {
                    has_rounded = true;
                    marked.push_str(&text[copied..start]);
                    marked.push_str("\"n");
                    marked.push_str(&exact);
                    marked.push('"');
                    copied = at;
                }
            }
            _ => {}
        }
    }
    marked.push_str(&text[copied..]);
    has_rounded.then_some(marked)
}

/// A number that is no longer the same when a [`Value`] has held it, in the one form that all its spellings have.
fn rounded(number: &str) -> Option<String> {
    // What a float has digits enough for, and what is held as an integer.
    let is_held = (number.len() <= 16 && !number.contains(['e', 'E']))
        || number.parse::<i64>().is_ok()
        || number.parse::<u64>().is_ok();
    if is_held {
        return None;
    }
    let held = serde_json::from_str::<Value>(number).and_then(|value| serde_json::to_string(&value));
    let is_same = held.ok().is_some_and(|held| Number::parse(number).ok() == Number::parse(&held).ok());
    (!is_same).then(|| exact(number)).flatten()
}

/// Sign, digits and the power of ten of the last one; nothing for zero, which everything holds.
fn exact(number: &str) -> Option<String> {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let zeros = digits.len() - significant.len();
    let shift = i128::try_from(zeros).ok()?.checked_sub(i128::try_from(fraction.len()).ok()?)?;
    Some(match exponent.parse::<i128>().ok().and_then(|exponent| exponent.checked_add(shift)) {
        Some(exponent) => format!("{sign}{}e{exponent}", significant.trim_start_matches('0')),
        // An exponent beyond counting: such numbers are told by their spelling.
        None => number.to_owned(),
    })
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

    /// Records keep them: another digest would take a task from its key, and a waiting body from its answers.
    #[test]
    fn digests_of_ordinary_values_are_those_of_earlier_versions() {
        for (text, digest) in [
            ("{}", "44136fa355b3678a1146ad16f7e8649e"),
            (r#"{ "b": [true, "\u00e4"], "a": 1 }"#, "2915a20f9b1593fb1ce5792260a8ee99"),
            (
                "[0.1,1.0,-7,1e2,1.5E-7,18446744073709551615,-9223372036854775808,0.30000000000000004,\
                  100000000000000000000]",
                "70579781f9fa6238f4e401b4e654e496",
            ),
        ] {
            assert_eq!(of_json_text(text), digest, "{text}");
        }
        // Of members of one name the last counts, also beside a number that no float holds.
        assert_eq!(of_json_text(r#"{"a":2,"a":1}"#), of_json_text(r#"{"a":1}"#));
        let big = "36893488147419103233";
        assert_eq!(
            of_json_text(&format!(r#"{{"a":2,"b":{big},"a":1}}"#)),
            of_json_text(&format!(r#"{{"b":{big},"a":1}}"#))
        );
    }

    /// S-16, X-60: a state or a key that was made for one number is not good for another one that rounds alike.
    #[test]
    fn numbers_that_round_alike_are_told_apart() {
        let numbers = [
            "18446744073709551616",
            "18446744073709551617",
            "-18446744073709551617",
            "340282366920938463463374607431768211455",
            "340282366920938463463374607431768211454",
            "9007199254740993.0",
            "9007199254740992.0",
            "0.1",
            "0.10000000000000000001",
            "1e400",
            "1e401",
            "-1e400",
            "1e-400",
            "0.0",
            r#""18446744073709551617""#,
            r#""n18446744073709551617e0""#,
            r#""sn18446744073709551617e0""#,
            "1",
            "1.0",
        ];
        for shape in ["N", "[N]", r#"{"account":N,"x":"y"}"#, r#"[18446744073709551617,N,"s"]"#] {
            for (index, one) in numbers.iter().enumerate() {
                for other in &numbers[..index] {
                    let [one, other] = [one, other].map(|number| shape.replace('N', number));
                    assert_ne!(of_json_text(&one), of_json_text(&other), "{one} and {other}");
                }
            }
        }
        for (one, other) in [
            (
                r#"{"a":18446744073709551617,"b":["\"1","\u00e4\\"]}"#,
                r#"{ "b" : ["\u00221", "ä\u005c"], "a" : 184467440737095516.17e2 }"#,
            ),
            ("1e400", "10.0E+399"),
            ("0.10000000000000000001", "100000000000000000010E-21"),
            ("100000000000000000000", "1e20"),
        ] {
            assert_eq!(of_json_text(one), of_json_text(other), "{one} and {other}");
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
