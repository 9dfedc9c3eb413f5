//! What nobody should send: every type refuses it with a place or copies it faithfully.

use mcp_tasks_types::v2026_07_28::GetTaskResult;
use mcp_tasks_types::{Extra, RawJson, RawMessage, from_slice, from_str, to_string};

use crate::TYPES;

/// A task with one member more.
fn task_with(member: &str) -> String {
    format!(
        r#"{{"resultType":"complete","taskId":"t","status":"working","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":1,{member}}}"#
    )
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("{}0{}", open.repeat(depth), close.repeat(depth))
}

/// JSON texts of odd values. The private names are those by which serde_json passes numbers and texts to itself.
fn odd_values() -> Vec<String> {
    [
        r#""\u0000""#,
        r#""\u0000\u001f\u007f\ufeff\uffff""#,
        r#""\ud83d\ude00""#,
        "123456789012345678901234567890123456789012345678901234567890",
        "-0",
        "-0.0",
        "1E2",
        "1e400",
        "-1e400",
        "0.1e-400",
        "18446744073709551615",
        "-9223372036854775809",
        r#"{"$serde_json::private::Number":"1"}"#,
        r#"{"$serde_json::private::Number":"x"}"#,
        r#"{"$serde_json::private::Number":{"a":1}}"#,
        r#"{"$serde_json::private::RawValue":"[]"}"#,
        r#"{"$serde_json::private::RawValue":1}"#,
        r#"{"":{"":{"":0}}}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"__proto__":{"constructor":1}}"#,
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([nested("[", "]", 100), nested(r#"{"a":"#, "}", 100)])
    .collect()
}

/// Whether the one is the other, but for a constant that counts as there when it is not.
fn is_copy(written: &RawJson, read: &RawJson) -> bool {
    let (Ok(written_members), Ok(read_members)) = (written.get::<Extra>(), read.get::<Extra>()) else {
        return written.json_eq(read);
    };
    if read_members.get("resultType").is_some() {
        return written.json_eq(read);
    }
    let mut rest = written_members;
    rest.retain(|name, value| name != "resultType" || value.as_str() != r#""complete""#);
    RawJson::new(&rest).unwrap().json_eq(read)
}

#[test]
fn every_type_refuses_an_odd_value_or_copies_it() {
    let mut copies = 0;
    for value in odd_values() {
        let raw = RawJson::from_text(&value).unwrap();
        for (generation, name, round_trip) in TYPES {
            if let Ok(written) = round_trip(&raw) {
                copies += 1;
                assert!(is_copy(&written, &raw), "{generation} {name} of {value}: {written}");
                let again = round_trip(&written).unwrap();
                assert_eq!(again.as_str(), written.as_str(), "{generation} {name} of {value}");
            }
        }
    }
    assert!(copies > 500, "{copies}");
}

#[test]
fn an_odd_value_of_an_unknown_member_is_copied_letter_for_letter() {
    for value in odd_values() {
        for member in [format!(r#""vendor":{value}"#), format!(r#""_meta":{{"com.example/k":{value}}}"#)] {
            let text = task_with(&member);
            let task: GetTaskResult = from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let written = to_string(&task).unwrap();
            assert!(written.contains(&member), "{member} became {written}");
        }
    }
}

#[test]
fn an_odd_value_in_a_result_is_copied_letter_for_letter() {
    for value in odd_values() {
        let member = format!(r#""result":{{"structuredContent":{value}}}"#);
        let text = task_with(&member).replace("working", "completed");
        let task: GetTaskResult = from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(to_string(&task).unwrap().contains(&member), "{member}");
    }
}

#[test]
fn what_is_no_json_is_refused_with_a_place_wherever_it_stands() {
    for value in [
        r#""\ud83d""#,
        r#""\ude00\ud83d""#,
        r#""\x""#,
        "\"a\nb\"",
        "\"\u{0}\"",
        "01",
        "1.",
        ".5",
        "+1",
        "0x10",
        "NaN",
        "Infinity",
        "'a'",
        "[1,]",
        r#"{"a":1,}"#,
        "/**/1",
        "tru",
        "",
    ] {
        for (before, after) in [(r#""vendor":"#, ""), (r#""result":{"a":"#, "}"), (r#""_meta":{"k":"#, "}")] {
            let text = task_with(&format!("{before}{value}{after}"));
            let shown = &text[..text.len().min(400)];
            match from_str::<GetTaskResult>(&text) {
                // A lone surrogate is JSON as the grammar goes: it may be copied, as long as it is copied.
                Ok(task) => {
                    assert!(value.contains(r"\ud83d"), "{shown}");
                    assert!(to_string(&task).unwrap().contains(value), "{shown}");
                }
                Err(error) => assert!(error.line() == 1 && error.column() > 1, "{error}: {shown}"),
            }
        }
    }
}

#[test]
fn a_value_nested_without_end_is_copied_and_refused_by_what_looks_inside() {
    for value in [nested("[", "]", 10_000), nested(r#"{"a":"#, "}", 10_000)] {
        let member = format!(r#""vendor":{value}"#);
        let task: GetTaskResult = from_str(&task_with(&member)).unwrap();
        assert!(to_string(&task).unwrap().ends_with(&format!("{member}}}")));
        let raw = task.extra.get("vendor").unwrap();
        assert!(raw.json_eq(&raw.clone()));
        assert!(!raw.json_eq(&RawJson::null()));
        assert!(raw.get::<serde_json::Value>().unwrap_err().to_string().contains("recursion limit"));
        for (generation, name, round_trip) in TYPES {
            if let Ok(written) = round_trip(raw) {
                // A constant of the type's own may stand before the members.
                assert!(written.as_str().ends_with(&value[1..]), "{generation} {name}");
            }
        }
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_refused() {
    let good = task_with(r#""vendor":"?""#).replace('?', "\u{fc}");
    assert!(from_slice::<GetTaskResult>(good.as_bytes()).is_ok());
    for bad in [&b"\xff"[..], b"\xc3", b"\xc0\x80", b"\xed\xa0\xbd", b"\xf4\x90\x80\x80"] {
        let mut bytes = Vec::new();
        let text = task_with(r#""vendor":"?""#);
        let (before, after) = text.split_once('?').unwrap();
        bytes.extend_from_slice(before.as_bytes());
        bytes.extend_from_slice(bad);
        bytes.extend_from_slice(after.as_bytes());
        let error = from_slice::<GetTaskResult>(&bytes).unwrap_err();
        assert_eq!(error.line(), 1, "{error}");
        // Whether the member is one that the envelope hands out, or one that it passes over.
        for member in ["params", "vendor"] {
            let before = format!(r#"{{"jsonrpc":"2.0","method":"a","{member}":{{"b":""#);
            let message = [before.as_bytes(), bad, br#""}}"#].concat();
            let error = RawMessage::read(&message).map(drop).unwrap_err();
            assert_eq!(error.line(), 1, "{error}");
        }
    }
}

#[test]
fn texts_of_many_megabytes_are_copied() {
    let long = "x".repeat(10 << 20);
    for member in [
        format!(r#""vendor":"{long}""#),
        format!(r#""statusMessage":"{long}""#),
        format!(r#""{long}":0"#),
        format!(r#""vendor":[{}0]"#, "0,".repeat(1 << 20)),
    ] {
        let text = task_with(&member);
        let task: GetTaskResult = from_str(&text).unwrap();
        let written = to_string(&task).unwrap();
        assert!(written.len() == text.len() && written.contains(&member), "{}", &member[..20]);
    }
}

#[test]
fn very_many_unknown_members_are_kept_in_order() {
    let members: Vec<String> = (0..50_000).map(|number| format!(r#""m{number}":{number}"#)).collect();
    let text = task_with(&members.join(","));
    let task: GetTaskResult = from_str(&text).unwrap();
    assert_eq!(task.extra.len(), members.len());
    assert!(to_string(&task).unwrap().ends_with(&format!("{}}}", members.join(","))));
}
