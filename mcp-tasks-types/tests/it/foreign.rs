//! Our types inside types of others that keep what they read in a form of their own before they know what it is
//! (untagged, flattened, internally tagged), and in a `serde_json::Value`.

use std::fs;

use mcp_tasks_types::v2026_07_28::{DetailedTask, ElicitValue, ErrorObject, RequestId};
use mcp_tasks_types::{RawJson, sep_1686, v2025_11_25};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Outcome, package};

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Untagged<T> {
    Arm(T),
    Other(RawJson),
}

#[derive(Debug, Deserialize)]
struct Flattened<T> {
    #[serde(flatten)]
    inner: T,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "x-kind")]
enum Tagged<T> {
    Arm(T),
}

fn untagged<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    match serde_json::from_str(text).map_err(|error| error.to_string())? {
        Untagged::Arm(value) => Ok(value),
        Untagged::Other(raw) => Err(format!("no arm for {raw}")),
    }
}

fn flattened<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str::<Flattened<T>>(text).map(|read| read.inner).map_err(|error| error.to_string())
}

fn tagged<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let text = text.replacen('{', r#"{"x-kind":"Arm","#, 1).replace(r#"Arm",}"#, r#"Arm"}"#);
    serde_json::from_str(&text).map(|Tagged::Arm(value)| value).map_err(|error| error.to_string())
}

fn of_value<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

type Wrappers = [(&'static str, fn(&str) -> Outcome); 4];

fn written<T: Serialize>(read: Result<T, String>) -> Outcome {
    RawJson::new(&read?).map_err(|error| error.to_string())
}

macro_rules! table {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        const TYPES: &[(&str, &str, Wrappers)] = &[$(($generation, $name, [
            ("untagged", |text| written(untagged::<$type>(text))),
            ("flattened", |text| written(flattened::<$type>(text))),
            ("tagged", |text| written(tagged::<$type>(text))),
            ("a value", |text| written(of_value::<$type>(text))),
        ])),*];
    };
}
mcp_tasks_types::for_each_wire_type!(table);

#[derive(Deserialize)]
struct Sample {
    r#type: String,
    value: RawJson,
}

#[test]
fn every_type_is_read_inside_types_of_others() {
    let mut faults = Vec::new();
    let mut count = 0;
    for generation in ["2026-07-28", "2025-11-25", "sep-1686"] {
        let text =
            fs::read_to_string(package().join("../samples").join(generation).join("accept.jsonl")).unwrap();
        for line in text.lines() {
            let sample: Sample = serde_json::from_str(line).unwrap();
            let found = TYPES.iter().find(|(g, name, _)| *g == generation && *name == sample.r#type);
            let text = sample.value.as_str();
            for (wrapper, read) in &found.unwrap().2 {
                // Members can be flattened and tagged, other values cannot.
                if matches!(*wrapper, "flattened" | "tagged") && !text.starts_with('{') {
                    continue;
                }
                let fault = match read(text) {
                    Ok(written) if written.json_eq(&sample.value) => None,
                    Ok(written) => Some(written.to_string()),
                    Err(error) => Some(error),
                };
                let told =
                    fault.map(|fault| format!("{generation} {} {wrapper}: {text}\n  {fault}", sample.r#type));
                faults.extend(told);
                count += 1;
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(count > 4_000, "{count} readings");
}

/// Reads a text in every way.
fn all<T: DeserializeOwned>(text: &str) -> Vec<Result<T, String>> {
    let mut out =
        vec![serde_json::from_str(text).map_err(|error| error.to_string()), untagged(text), of_value(text)];
    if text.starts_with('{') {
        out.extend([flattened(text), tagged(text)]);
    }
    out
}

#[test]
fn whole_numbers_are_read_in_any_spelling_in_any_place() {
    let task = |ttl: &str| {
        format!(
            r#"{{"taskId":"t","status":"working","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":{ttl}}}"#
        )
    };
    for (text, ttl) in [
        ("60000.0", 60_000),
        ("6e4", 60_000),
        ("9007199254740993", (1 << 53) + 1),
        ("18446744073709551615", u64::MAX),
    ] {
        for read in all::<DetailedTask>(&task(text)) {
            assert_eq!(read.unwrap().ttl_ms, Some(ttl), "{text}");
        }
    }
    for text in ["1.5", "-1", "\"1\"", "18446744073709551616", "1e400"] {
        for read in all::<DetailedTask>(&task(text)) {
            assert!(read.is_err(), "{text}: {read:?}");
        }
    }
    for text in ["-32600", "-32600.0", "-326e2"] {
        for read in all::<ErrorObject>(&format!(r#"{{"code":{text},"message":"m"}}"#)) {
            assert_eq!(read.unwrap().code, -32_600, "{text}");
        }
    }
    for (text, id) in [("7", 7), ("7.0", 7), ("-9223372036854775808", i64::MIN)] {
        for read in all::<RequestId>(text) {
            assert_eq!(read.unwrap(), RequestId::Integer(id), "{text}");
        }
        for read in all::<v2025_11_25::ProgressToken>(text) {
            assert_eq!(read.unwrap(), v2025_11_25::ProgressToken::Integer(id), "{text}");
        }
    }
    for text in ["1.5", "9223372036854775808", "true", "null", "[1]", "{}"] {
        for read in all::<RequestId>(text) {
            assert!(read.is_err(), "{text}: {read:?}");
        }
    }
}

#[test]
fn durations_are_rounded_up_in_any_place() {
    for (text, millis) in [
        ("1.5", 2),
        ("60000.0", 60_000),
        ("9007199254740993", (1 << 53) + 1),
        ("18446744073709551615", u64::MAX),
        ("0.25", 1),
    ] {
        for read in all::<sep_1686::TaskMetadata>(&format!(r#"{{"taskId":"t","keepAlive":{text}}}"#)) {
            assert_eq!(read.unwrap().keep_alive, Some(millis), "{text}");
        }
    }
    // Read from text directly, no digit is lost.
    for (text, millis) in [("1e-400", 1), ("1.00000000000000001", 2), ("9007199254740992.5", (1 << 53) + 1)] {
        let text = format!(r#"{{"taskId":"t","keepAlive":{text}}}"#);
        assert_eq!(
            serde_json::from_str::<sep_1686::TaskMetadata>(&text).unwrap().keep_alive,
            Some(millis),
            "{text}"
        );
    }
    for text in ["1.00000000000000001", "1e-400"] {
        assert!(serde_json::from_str::<RequestId>(text).is_err(), "{text}");
    }
}

#[test]
fn answers_keep_their_kind_in_any_place() {
    for (text, integer) in [("5", Some(5)), ("1.5", None), ("-0.25", None)] {
        for read in all::<ElicitValue>(text) {
            let ElicitValue::Number(number) = read.unwrap() else { panic!("{text} is a number") };
            assert_eq!((number.as_str(), number.as_i64()), (text, integer));
        }
    }
    for read in all::<ElicitValue>(r#"["a"]"#) {
        assert!(matches!(read, Ok(ElicitValue::Strings(_))), "{read:?}");
    }
    for (text, settings) in [("{}", true), (r#"{"x":1}"#, true), ("true", false)] {
        for read in all::<v2025_11_25::CapabilityMark>(text) {
            assert_eq!(matches!(read.unwrap(), v2025_11_25::CapabilityMark::Settings(_)), settings, "{text}");
        }
    }
}

/// X-02: an object is no id, whatever the name of its member means to serde_json.
#[test]
fn an_object_with_a_private_name_of_serde_json_is_an_object() {
    let text = r#"{"$serde_json::private::Number":"5"}"#;
    assert!(serde_json::from_str::<RequestId>(text).is_err());
    assert!(serde_json::from_str::<ElicitValue>(text).is_err());
    let mark: v2025_11_25::CapabilityMark = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&mark).unwrap(), text);
    let task = format!(r#"{{"taskId":"t","keepAlive":{text}}}"#);
    assert!(serde_json::from_str::<sep_1686::TaskMetadata>(&task).is_err());
}

/// Where there is no text to count lines in, the path tells the place.
#[test]
fn an_error_in_a_value_has_its_path() {
    let value = serde_json::json!({"code": 1, "message": 7});
    let error = mcp_tasks_types::JsonError::from(serde_json::from_value::<ErrorObject>(value).unwrap_err());
    assert_eq!((error.path(), error.line()), ("message", 0), "{error}");
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}"#;
    let error = of_value::<mcp_tasks_types::v2026_07_28::JsonRpcErrorResponse>(text).unwrap_err();
    assert!(error.starts_with("`error`: `code`: ") || error.starts_with("`error.code`: "), "{error}");
}
