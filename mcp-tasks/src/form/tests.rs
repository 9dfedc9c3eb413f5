//! What becomes of Rust types as forms, and which answers fit.

use mcp_tasks_types::RawJson;
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{FormSchema, check_answer};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
enum Plain {
    #[schemars(rename = "small")]
    Small,
    #[schemars(rename = "large")]
    Large,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
enum Documented {
    /// As quick as it goes.
    Fast,
    Slow,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
enum WithFields {
    Number(u8),
    Text { text: String },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Inner {
    value: bool,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Everything {
    flag: bool,
    /// How many.
    count: u8,
    share: Option<f64>,
    note: Option<String>,
    size: Plain,
    /// How soon.
    pace: Option<Documented>,
    sizes: Vec<Plain>,
    paces: Vec<Documented>,
    #[schemars(length(min = 1, max = 3), email)]
    mail: String,
}

/// X-49: references inlined, options and documented enums in the shapes that a form knows.
#[test]
fn every_primitive_member_gets_its_form() {
    let form = FormSchema::of::<Everything>().unwrap();
    let wanted = json!({
        "type": "object",
        "properties": {
            "flag": {"type": "boolean"},
            "count": {"type": "integer", "minimum": 0, "maximum": 255, "description": "How many."},
            "share": {"type": "number"},
            "note": {"type": "string"},
            "size": {"type": "string", "enum": ["small", "large"]},
            "pace": {
                "type": "string",
                "oneOf": [{"const": "Slow", "title": "Slow"}, {"const": "Fast", "title": "As quick as it goes."}],
                "description": "How soon.",
            },
            "sizes": {"type": "array", "items": {"type": "string", "enum": ["small", "large"]}},
            "paces": {
                "type": "array",
                "items": {
                    "anyOf": [{"const": "Slow", "title": "Slow"}, {"const": "Fast", "title": "As quick as it goes."}],
                },
            },
            "mail": {"type": "string", "format": "email", "minLength": 1, "maxLength": 3},
        },
        "required": ["flag", "count", "size", "sizes", "paces", "mail"],
    });
    assert_eq!(form.as_value(), &wanted, "{}", form.as_value());
}

#[test]
fn what_a_form_cannot_hold_is_refused_by_member() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Wrong {
        good: bool,
        inner: Inner,
        list: Vec<String>,
        either: WithFields,
        any: Value,
        #[schemars(regex(pattern = "^a"))]
        pattern: String,
        map: std::collections::BTreeMap<String, u8>,
    }
    let errors = FormSchema::of::<Wrong>().unwrap_err();
    let members: Vec<&str> = errors.iter().filter_map(|error| error.member.as_deref()).collect();
    assert_eq!(members, ["any", "either", "inner", "list", "map", "pattern"]);
    for whole in [
        FormSchema::of::<bool>(),
        FormSchema::of::<Plain>(),
        FormSchema::of::<WithFields>(),
        FormSchema::of::<std::collections::BTreeMap<String, u8>>(),
    ] {
        assert_eq!(whole.unwrap_err()[0].member, None);
    }
}

fn check(response: &Value) -> Result<(), String> {
    let schema = json!({
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "size": {"type": "string", "enum": ["small", "large"]},
            "pace": {"type": "string", "oneOf": [{"const": "fast", "title": "Fast"}]},
            "name": {"type": "string", "minLength": 2, "maxLength": 3},
            "day": {"type": "string", "format": "date"},
            "when": {"type": "string", "format": "date-time"},
            "mail": {"type": "string", "format": "email"},
            "link": {"type": "string", "format": "uri"},
            "sizes": {"type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["small", "large"]}},
        },
        "required": ["approved"],
    });
    let request =
        json!({"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}});
    check_answer(&RawJson::new(&request).unwrap(), &RawJson::new(response).unwrap())
}

/// C-64, X-51, X-52, P080, P120: every action is understood, and bad content is not handed over.
#[test]
fn answers_are_judged_by_the_recorded_form() {
    for good in [
        json!({"action": "decline"}),
        json!({"action": "cancel", "content": null, "vendor": 1}),
        json!({"action": "accept", "content": {"approved": true}}),
        json!({"action": "accept", "content": {"approved": false, "count": 2.0, "size": "small", "pace": "fast"}}),
        json!({"action": "accept", "content": {"approved": true, "name": "äöü", "day": "2026-02-28"}}),
        json!({"action": "accept", "content": {"approved": true, "when": "2026-02-28T00:00:00Z", "mail": "a@b"}}),
        json!({"action": "accept", "content": {"approved": true, "link": "x:y", "sizes": ["small"], "more": "text"}}),
    ] {
        assert_eq!(check(&good), Ok(()), "{good}");
    }
    for bad in [
        json!(null),
        json!([]),
        json!({}),
        json!(["accept", {"approved": true}]),
        json!(["decline", null]),
        json!({"action": "maybe"}),
        json!({"action": ["decline"]}),
        json!({"action": {"decline": null}}),
        json!({"action": {"accept": null}, "content": {"approved": true}}),
        json!({"action": "accept", "content": [true]}),
        json!({"action": "accept", "content": {"$serde_json::private::RawValue": "{\"approved\":true}"}}),
        json!({"action": "decline", "content": 7}),
        json!({"action": "decline", "content": []}),
        json!({"action": "cancel", "content": {"approved": {}}}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": []}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"approved": "true"}}),
        json!({"action": "accept", "content": {"approved": null}}),
        json!({"action": "accept", "content": {"approved": true, "count": "x"}}),
        json!({"action": "accept", "content": {"approved": true, "count": 1.5}}),
        json!({"action": "accept", "content": {"approved": true, "count": 10}}),
        json!({"action": "accept", "content": {"approved": true, "count": 0}}),
        json!({"action": "accept", "content": {"approved": true, "size": "huge"}}),
        json!({"action": "accept", "content": {"approved": true, "pace": "slow"}}),
        json!({"action": "accept", "content": {"approved": true, "name": "ä"}}),
        json!({"action": "accept", "content": {"approved": true, "name": "abcd"}}),
        json!({"action": "accept", "content": {"approved": true, "day": "2026-02-29"}}),
        json!({"action": "accept", "content": {"approved": true, "when": "2026-02-28"}}),
        json!({"action": "accept", "content": {"approved": true, "mail": "@b"}}),
        json!({"action": "accept", "content": {"approved": true, "link": "nothing"}}),
        json!({"action": "accept", "content": {"approved": true, "sizes": "small"}}),
        json!({"action": "accept", "content": {"approved": true, "sizes": ["huge"]}}),
        json!({"action": "accept", "content": {"approved": true, "sizes": ["small", "large", "small"]}}),
        json!({"action": "accept", "content": {"approved": true, "more": {"nested": 1}}}),
    ] {
        assert!(check(&bad).is_err(), "{bad}");
    }
}

/// C-64: a member that comes twice says two things.
#[test]
fn answer_with_a_member_twice_is_refused() {
    let request = RawJson::from_text(r#"{"method":"elicitation/create","params":{"message":"?"}}"#).unwrap();
    for bad in [
        r#"{"action":"accept","action":"decline","content":{}}"#,
        r#"{"action":"accept","content":{},"content":{}}"#,
        r#"{"action":"accept","content":{"a":1,"a":2}}"#,
    ] {
        assert!(check_answer(&request, &RawJson::from_text(bad).unwrap()).is_err(), "{bad}");
    }
}

/// C-64: the answers to other kinds of question have types of their own.
#[test]
fn answers_to_other_questions_are_judged_by_their_type() {
    let check = |method: &str, response: Value| {
        let request = RawJson::new(&json!({"method": method, "params": {}})).unwrap();
        check_answer(&request, &RawJson::new(&response).unwrap())
    };
    let roots = json!({"roots": [{"uri": "file:///a"}]});
    let message = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "a"}});
    assert_eq!(check("roots/list", roots.clone()), Ok(()));
    assert_eq!(check("sampling/createMessage", message.clone()), Ok(()));
    assert!(check("roots/list", message).is_err());
    assert!(check("sampling/createMessage", roots).is_err());
    assert!(check("roots/list", json!([[]])).is_err());
    assert!(check("vendor/ask", json!([])).is_err());
    assert_eq!(check("vendor/ask", json!({"any": 1})), Ok(()));
}
