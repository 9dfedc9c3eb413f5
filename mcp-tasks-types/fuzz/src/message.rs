//! Whole messages: what the raw envelope says about one is what its types say.

use mcp_tasks_types::{
    JsonError, MessageId, RawMessage, from_str, sep_1686, to_string, v2025_11_25, v2026_07_28,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::refusal;
use crate::schema::{Message, Schema};
use crate::tree::Tree;
use crate::wire_type::Types;

/// Checks a message of a generation.
pub fn message(generation: &'static str, bytes: &[u8]) {
    let types = Types::of(generation);
    let whole = types.read("JSONRPCMessage", bytes);
    let raw = match RawMessage::read(bytes) {
        Ok(raw) => raw,
        Err(error) => {
            // A type that knows fewer members takes the others as often as they come.
            let is_twice = error.reason().contains("duplicate field");
            assert!(whole.is_err() || is_twice, "a message that is no envelope: {error}");
            return refusal::check(bytes, &error);
        }
    };
    let text = std::str::from_utf8(bytes).expect("what is accepted is UTF-8");
    if whole.is_ok() {
        assert!(raw.is_json_rpc(), "a message of another version: {text}");
    }
    check_parts(&raw, bytes);
    match generation {
        "2026-07-28" => check_id::<v2026_07_28::RequestId>(&raw),
        "2025-11-25" => check_id::<v2025_11_25::RequestId>(&raw),
        _ => check_id::<sep_1686::RequestId>(&raw),
    }
    for kind in &Schema::of(generation).messages {
        // Requests and notifications of its method and of any; of what has none, the answers.
        let is_meant = kind.has_method == raw.method().is_some()
            && kind.method.as_ref().is_none_or(|method| Some(method.as_str()) == raw.method());
        if is_meant {
            check_kind(types, kind, &raw, bytes);
        }
    }
}

/// The texts that an envelope hands out are parts of the message, and its own names are those of its members.
fn check_parts(raw: &RawMessage<'_>, bytes: &[u8]) {
    let within = bytes.as_ptr_range();
    let parts = [raw.params(), raw.result(), raw.error()];
    for part in parts.into_iter().flatten() {
        assert!(within.contains(&part.as_ptr()), "copied instead of borrowed: {part}");
    }
    match (raw.params(), raw.meta()) {
        (Some(params), Ok(Some(meta))) => {
            assert!(params.as_bytes().as_ptr_range().contains(&meta.as_ptr()), "copied: {meta}");
        }
        (Some(_), Ok(None)) => {}
        (None, meta) => assert!(meta.expect("no parameters are no fault").is_none(), "from nowhere"),
        (Some(params), Err(error)) => refusal::check(params.as_bytes(), &error),
    }
    let Some(tree) = Tree::of(bytes) else { return };
    for (name, part) in ["params", "result", "error"].into_iter().zip(parts) {
        assert_eq!(part.is_some(), tree.members(name).next().is_some(), "`{name}`");
    }
    let params = tree.members("params").next();
    let metas = params.map_or(0, |params| params.members("_meta").count());
    match raw.meta() {
        Ok(meta) => assert_eq!(usize::from(meta.is_some()), metas, "`_meta`"),
        Err(error) => {
            let is_object = matches!(params, Some(Tree::Object(_)));
            assert!(metas > 1 || !is_object, "parameters without a fault: {error}");
        }
    }
    let method = tree.members("method").next();
    assert_eq!(
        raw.method(),
        method.and_then(|method| if let Tree::String(text) = method { Some(text.as_str()) } else { None })
    );
    match (tree.members("id").next(), raw.id()) {
        (None, MessageId::Absent) | (Some(Tree::Null), MessageId::Null) => {}
        (Some(Tree::String(text)), MessageId::String(id)) => assert_eq!(text, id),
        (Some(Tree::Number(number)), MessageId::Integer(id)) => {
            assert!(
                number.as_i64() == Some(*id) || number.as_f64() == Some(*id as f64),
                "{number} became {id}"
            );
        }
        (Some(Tree::Number(_) | Tree::Bool(_) | Tree::Array(_) | Tree::Object(_)), MessageId::Invalid(_)) => {
        }
        (id, other) => panic!("{id:?} became {other:?}"),
    }
}

/// An id that is one is that of the generation's own type; what is none is refused by it.
fn check_id<Id>(raw: &RawMessage<'_>)
where
    Id: From<String> + From<i64> + DeserializeOwned + Serialize + PartialEq + std::fmt::Debug,
{
    let id: Option<Id> = raw.request_id();
    match (raw.id(), &id) {
        (id @ (MessageId::String(_) | MessageId::Integer(_)), Some(own)) => {
            let text = to_string(own).expect("an id is written");
            match id {
                MessageId::String(id) => assert_eq!(from_str::<String>(&text).ok().as_deref(), Some(&**id)),
                _ => assert_eq!(MessageId::Integer(text.parse().expect("a number")), *id),
            }
            assert_eq!(&from_str::<Id>(&text).expect("what is written is read"), own);
        }
        (MessageId::Invalid(text), None) => {
            assert!(from_str::<Id>(text).is_err(), "an id that the envelope refuses: {text}");
        }
        (MessageId::Absent | MessageId::Null, None) => {}
        (raw, id) => panic!("{raw:?} is the id {id:?}"),
    }
}

/// A message that a type accepts has the parts that the type's parts accept, and the other way round.
fn check_kind(types: &Types, kind: &Message, raw: &RawMessage<'_>, bytes: &[u8]) {
    let whole: Result<String, JsonError> = types.read(&kind.name, bytes);
    let has_id = match raw.id() {
        MessageId::String(_) | MessageId::Integer(_) => true,
        MessageId::Absent | MessageId::Null => kind.id != Some(true),
        MessageId::Invalid(_) => kind.id.is_none(),
    };
    let has_method = raw.method().is_some() || !kind.has_method;
    let head = has_id && has_method && (raw.is_json_rpc() || !kind.has_version);
    if whole.is_ok() {
        assert!(head, "{} accepts an envelope that is none of its own: {raw:?}", kind.name);
    }
    let Some((member, payload)) = &kind.payload else { return };
    let text = match *member {
        "params" => raw.params(),
        "result" => raw.result(),
        _ => raw.error(),
    };
    // Whether it may be absent is the type's own rule; null stands for absence there.
    let Some(text) = text.filter(|text| *text != "null") else { return };
    let part = types.read(payload, text.as_bytes());
    match (whole, part) {
        (Ok(_), Err(error)) => panic!("{} accepts what {payload} refuses: {error}\n{raw:?}", kind.name),
        (Err(error), Ok(_)) if head => {
            panic!("{} refuses what {payload} accepts: {error}\n{raw:?}", kind.name)
        }
        _ => {}
    }
}
