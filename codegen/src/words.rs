//! What the model says, in words for people: for the tables of `diff` and for the reference.

use crate::model::Condition;

/// When an arm of a union is chosen.
pub(crate) fn condition_words(condition: &Condition) -> String {
    let list = |parts: &[Condition], word: &str| -> String {
        parts.iter().map(condition_words).collect::<Vec<_>>().join(word)
    };
    match condition {
        Condition::Always => "what is left".to_owned(),
        Condition::Has(path) => format!("has `{path}`"),
        Condition::Holds(path) => format!("has `{path}`, not null"),
        Condition::Is { name, values } => format!("`{name}` is `{}`", values.join("` or `")),
        Condition::All(parts) => list(parts, " and "),
        Condition::Any(parts) => list(parts, " or "),
    }
}
