//! Unions are read by what tells their arms apart, wherever in the object that stands.

use mcp_tasks_types::from_str;
use mcp_tasks_types::v2026_07_28::{
    CallToolResponse, ContentBlock, ElicitRequestParams, ElicitValue, EnumSchema, InputRequest,
    InputResponse, PrimitiveSchemaDefinition, ResourceContents,
};

use crate::{read, read_as};

#[test]
fn a_tag_is_found_first_last_and_in_between() {
    let texts = [
        r#"{"type":"text","text":"hi","_meta":{"k":1}}"#,
        r#"{"text":"hi","type":"text","_meta":{"k":1}}"#,
        r#"{"text":"hi","_meta":{"k":1},"type":"text"}"#,
    ];
    for text in texts {
        let ContentBlock::Text(block) = from_str(text).unwrap() else { panic!("{text}") };
        assert_eq!(block.text, "hi");
        assert_eq!(read("ContentBlock", text).unwrap(), texts[0]);
    }
}

#[test]
fn unknown_members_before_the_tag_keep_their_text() {
    let text = r#"{"x":1.50,"y":{"b":1,"a":[2e0]},"type":"text","text":"hi"}"#;
    assert_eq!(
        read("ContentBlock", text).unwrap(),
        r#"{"type":"text","text":"hi","x":1.50,"y":{"b":1,"a":[2e0]}}"#
    );
}

#[test]
fn what_fits_no_arm_is_refused_by_the_names_of_the_arms() {
    for (name, text, reason) in [
        ("ContentBlock", r#"{"text":"hi"}"#, "missing field `type`"),
        ("ContentBlock", r#"{"type":"video"}"#, "unknown variant `video`, expected one of `text`, `image`"),
        ("ContentBlock", r#"{"type":"text","type":"image","text":"hi"}"#, "duplicate field `type`"),
        ("ContentBlock", r#"{"a":1,"type":"text","type":"text","text":"hi"}"#, "duplicate field `type`"),
        ("ContentBlock", r#"{"a":1,"type":"text"}"#, "missing field `text`"),
        ("ContentBlock", "[]", "expected an object of type `ContentBlock`"),
        ("ResourceContents", r#"{"uri":"file:///a"}"#, "with `text`"),
        (
            "InputRequest",
            r#"{"method":"tools/call","params":{}}"#,
            "unknown variant `tools/call`, expected one of",
        ),
        ("InputResponse", "7", "expected an object of type `InputResponse`"),
        ("ElicitValue", "null", "expected a string or a number or a boolean or an array"),
    ] {
        let error = read(name, text).expect_err(text);
        assert!(error.contains(reason), "{text}\n{error}");
    }
}

/// C-51: what a client may be asked for.
#[test]
fn an_input_request_is_told_by_its_method() {
    let text = r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#;
    assert!(matches!(from_str(text), Ok(InputRequest::Elicit(_))));
    assert!(matches!(from_str(r#"{"method":"roots/list"}"#), Ok(InputRequest::ListRoots(_))));
}

/// X-50: a missing mode means form.
#[test]
fn an_elicitation_without_a_mode_is_a_form() {
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    assert!(matches!(from_str(form), Ok(ElicitRequestParams::Form(_))));
    let url = r#"{"mode":"url","message":"m","url":"https://example.com"}"#;
    assert!(matches!(from_str(url), Ok(ElicitRequestParams::Url(_))));
}

/// X-49: the kinds of form field are told apart, none swallows another.
#[test]
fn form_fields_are_told_apart() {
    type Is = fn(&PrimitiveSchemaDefinition) -> bool;
    let kinds: [(&str, Is); 8] = [
        (r#"{"type":"boolean","default":true}"#, |p| matches!(p, PrimitiveSchemaDefinition::Boolean(_))),
        (r#"{"type":"integer","minimum":1}"#, |p| matches!(p, PrimitiveSchemaDefinition::Number(_))),
        (r#"{"type":"number"}"#, |p| matches!(p, PrimitiveSchemaDefinition::Number(_))),
        (r#"{"type":"string","maxLength":3}"#, |p| matches!(p, PrimitiveSchemaDefinition::String(_))),
        (r#"{"type":"string","enum":["a","b"]}"#, |p| {
            matches!(p, PrimitiveSchemaDefinition::Enum(EnumSchema::SingleSelect(_)))
        }),
        (r#"{"type":"string","oneOf":[{"const":"a","title":"A"}]}"#, |p| {
            matches!(p, PrimitiveSchemaDefinition::Enum(EnumSchema::SingleSelect(_)))
        }),
        (r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#, |p| {
            matches!(p, PrimitiveSchemaDefinition::Enum(EnumSchema::MultiSelect(_)))
        }),
        (r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#, |p| {
            matches!(p, PrimitiveSchemaDefinition::Enum(EnumSchema::Legacy(_)))
        }),
    ];
    for (text, is) in kinds {
        let read_back = from_str(text).unwrap();
        assert!(is(&read_back), "{text}: {read_back:?}");
    }
    assert!(from_str::<PrimitiveSchemaDefinition>(r#"{"type":"array"}"#).is_err());
    assert!(from_str::<PrimitiveSchemaDefinition>(r#"{"type":"object","properties":{}}"#).is_err());
}

/// An optional member that is null is not there, also where it would tell an arm; what is left of the message is read
/// as the same arm again.
#[test]
fn null_for_an_optional_member_chooses_no_arm() {
    let text = r#"{"type":"string","enum":["a"],"enumNames":null}"#;
    assert!(matches!(from_str(text), Ok(EnumSchema::SingleSelect(_))));
    for generation in ["2026-07-28", "2025-11-25"] {
        for name in ["EnumSchema", "PrimitiveSchemaDefinition"] {
            assert_eq!(read_as(generation, name, text).unwrap(), text, "{generation} {name}");
        }
    }
    let error = read("EnumSchema", r#"{"type":"string","enumNames":null}"#).unwrap_err();
    assert!(error.contains("expected an object of type `EnumSchema`"), "{error}");
    // Null for a required one is a fault of the arm: no notification comes of a request without an id.
    let error = read("JSONRPCMessage", r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#).unwrap_err();
    assert!(error.contains("`RequestId`"), "{error}");
}

#[test]
fn answers_and_contents_are_told_by_their_members() {
    assert!(matches!(from_str(r#"{"action":"decline"}"#), Ok(InputResponse::Elicit(_))));
    assert!(matches!(from_str(r#"{"roots":[]}"#), Ok(InputResponse::ListRoots(_))));
    assert!(matches!(from_str(r#"{"uri":"u","blob":"AA=="}"#), Ok(ResourceContents::Blob(_))));
    assert!(matches!(from_str("1.50"), Ok(ElicitValue::Number(number)) if number.as_str() == "1.50"));
    assert!(matches!(from_str(r#"["a"]"#), Ok(ElicitValue::Strings(_))));
}

/// C-02, X-19: the answer to a tool call is told by its result type, and an absent one is `complete`.
#[test]
fn an_answer_to_a_tool_call_is_told_by_its_result_type() {
    let task = r#"{"resultType":"task","taskId":"t","status":"working","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":null}"#;
    assert!(matches!(from_str(task), Ok(CallToolResponse::Task(_))));
    assert!(matches!(from_str(r#"{"content":[]}"#), Ok(CallToolResponse::Complete(_))));
    // A handle without its discriminator is no empty tool result.
    let nameless = task.replacen(r#""resultType":"task","#, "", 1);
    let error = read("CallToolResponse", &nameless).unwrap_err();
    assert!(error.contains("missing field `content`"), "{error}");
    let later = task.replacen("\"task\"", "\"later\"", 1);
    assert!(read("CallToolResponse", &later).unwrap_err().contains("expected \"complete\" as `resultType`"));
}
