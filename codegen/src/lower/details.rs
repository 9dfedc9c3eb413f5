//! What a schema says for validators and readers of the reference, and no type enforces.

use crate::json::Json;
use crate::model::Details;

/// What a plain schema says, or what one says of the items of a list and the values of a map.
pub(super) fn details(schema: &Json) -> Details {
    let inner = schema
        .get("items")
        .or_else(|| schema.get("additionalProperties").filter(|_| schema.get("properties").is_none()));
    if let Some(inner) = inner.filter(|inner| inner.members().is_some_and(|members| !members.is_empty())) {
        return details(inner);
    }
    let text = |key: &str| schema.get(key).and_then(Json::text).map(str::to_owned);
    Details {
        json_type: text("type"),
        format: text("format"),
        minimum: schema.get("minimum").and_then(number),
        maximum: schema.get("maximum").and_then(number),
    }
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => Some(*number),
        Json::Integer(_) | Json::Unsigned(_) => {
            let mut text = String::new();
            value.write_line(&mut text);
            text.parse().ok()
        }
        _ => None,
    }
}
