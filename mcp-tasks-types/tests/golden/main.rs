//! The generator's golden cases, compiled with warnings denied and run.
//!
//! Generated code names the types crate by a root path; here this test's own root stands in for it.
#![deny(warnings)]

pub use mcp_tasks_types::{
    Extra, JsonError, Map, Notification, Number, RawJson, RawObject, Request as _, TaskId, Timestamp,
    UnknownValue, support,
};

macro_rules! case {
    ($name:ident, $path:literal) => {
        #[rustfmt::skip]
        #[path = $path]
        #[allow(dead_code, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "a case is compiled whole and used in part")]
        pub mod $name;
    };
}
case!(constants_and_presence, "../../../codegen/tests/cases/constants_and_presence/expected.rs");
case!(error_codes, "../../../codegen/tests/cases/error_codes/expected.rs");
case!(milliseconds, "../../../codegen/tests/cases/milliseconds/expected.rs");
case!(state_by_status, "../../../codegen/tests/cases/state_by_status/expected.rs");
case!(types_by_hand, "../../../codegen/tests/cases/types_by_hand/expected.rs");
case!(unions, "../../../codegen/tests/cases/unions/expected.rs");

use constants_and_presence::{Color, Request};
use error_codes::{ErrorCode, ErrorCodeData, PlainCode, TooManyData};
use mcp_tasks_types::{from_str, to_string};
use milliseconds::Pause;
use state_by_status::{Job, JobState};
use types_by_hand::UrlHolder;
use unions::{Body, Id, Note, Shape};

#[test]
fn constants_are_checked_and_written_and_presence_is_kept() {
    let text =
        r#"{"jsonrpc":"2.0","method":"things/get","version":2,"count":1,"until":null,"tags":[],"labels":{}}"#;
    let request: Request = from_str(text).unwrap();
    assert_eq!(to_string(&request).unwrap(), text);
    assert_eq!(Request::METHOD, "things/get");
    let error = from_str::<Request>(&text.replace("\"version\":2", "\"version\":3")).unwrap_err().to_string();
    assert!(error.contains("integer `3`, expected 2 as `version`"), "{error}");
    assert_eq!("dark_blue".parse(), Ok(Color::DarkBlue));
    assert_eq!(
        "blue".parse::<Color>().unwrap_err().to_string(),
        "unknown value `blue`, expected one of `red`, `dark_blue`"
    );
}

#[test]
fn error_codes_carry_typed_data() {
    let data = RawJson::from_text(r#"{"limit":3}"#).unwrap();
    assert_eq!(ErrorCode::from_code(7), ErrorCode::TooMany);
    assert_eq!(ErrorCode::from_code(8).code(), 8);
    assert_eq!(ErrorCode::ParseError.http_status(), Some(400));
    assert_eq!(PlainCode::from_code(-1), PlainCode::Lost);
    let decoded = ErrorCodeData::decode(ErrorCode::TooMany, &data).unwrap();
    assert_eq!(decoded, ErrorCodeData::TooMany(TooManyData::new(3)));
    assert_eq!(decoded.encode().unwrap(), data);
    assert!(ErrorCodeData::decode(ErrorCode::TooMany, &RawJson::null()).is_err());
}

#[test]
fn a_fraction_of_a_millisecond_is_rounded_up() {
    for (text, millis) in [
        ("0", 0),
        ("-0.0", 0),
        ("0.001", 1),
        ("60000", 60_000),
        ("60000.0", 60_000),
        ("60000.5", 60_001),
        ("6e4", 60_000),
        ("1e16", 10_000_000_000_000_000),
        ("18446744073709551615", u64::MAX),
    ] {
        let text = format!(r#"{{"least":{text},"most":{text},"warning":{text}}}"#);
        let pause: Pause = from_str(&text).unwrap();
        assert_eq!(pause, Pause::new(millis, Some(millis)).with_warning(millis), "{text}");
        let buffered: serde_json::Value = from_str(&text).unwrap();
        assert_eq!(serde_json::from_value::<Pause>(buffered).unwrap(), pause);
    }
    let endless = r#"{"least":1,"most":null}"#;
    assert_eq!(to_string(&from_str::<Pause>(endless).unwrap()).unwrap(), endless);
    for text in ["-1", "-0.5", "1e400", "18446744073709551616", "1e20", "\"1\"", "true", "null", "[]"] {
        assert!(from_str::<Pause>(&format!(r#"{{"least":{text},"most":null}}"#)).is_err(), "{text}");
    }
}

#[test]
fn a_state_is_read_with_its_payload_before_or_after_its_tag() {
    let written = r#"{"resultType":"complete","jobId":"j","ttlMs":null,"status":"done","result":{"a":1}}"#;
    for text in [written, r#"{"result":{"a":1},"status":"done","jobId":"j","ttlMs":null}"#] {
        let job: Job = from_str(text).unwrap();
        assert!(matches!(job.state, JobState::Done { .. }));
        assert_eq!(to_string(&job).unwrap(), written);
    }
}

#[test]
fn unions_of_all_kinds_are_read_by_what_tells_them_apart() {
    assert_eq!(from_str::<Id>("7").unwrap(), Id::Integer(7));
    assert!(matches!(from_str(r#"{"radius":1,"type":"circle"}"#), Ok(Shape::Circle(_))));
    assert!(matches!(from_str(r#"{"text":"t"}"#), Ok(Body::Text(_))));
    assert!(matches!(from_str(r#"{"type":"circle","radius":2}"#), Ok(Body::Circle(_))));
    assert!(matches!(from_str(r#"{"note":"n"}"#), Ok(Body::Note(_))));
    assert!(matches!(from_str(r#"{"note":null,"type":"circle","radius":2}"#), Ok(Body::Circle(_))));
    let error = from_str::<Note>(r#"{"note":null}"#).unwrap_err().to_string();
    assert!(error.contains("expected at least one of `note`, `by`"), "{error}");
    let error = from_str::<Body>(r#"{"by":"b"}"#).unwrap_err().to_string();
    let arms = "`TextBody` (with `text`), or `Note` (with `note`), or `Circle` (with `type` `circle`)";
    assert!(error.contains(arms), "{error}");
}

/// What `[replace]` may name among the types that are written by hand can stand for a member.
#[test]
fn types_by_hand_stand_for_definitions() {
    let text = r#"{"anything":[1.50],"members":{"a":1},"number":1e400,"object":{"b": 2},"taskId":"t","timestamp":"2026-08-21T10:30:00Z"}"#;
    let holder: UrlHolder = from_str(text).unwrap();
    assert_eq!(to_string(&holder).unwrap(), text);
}
