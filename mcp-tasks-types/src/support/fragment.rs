//! Parts of a text that are read on their own.

use serde::de;

use crate::error::without_place;
use crate::path::path;

/// What an error in a part of a text says: the path inside the part, and the reason. The line and column count from the
/// part's start and would mislead; the reader of the whole adds its own.
pub(super) fn within(text: &str, error: &serde_json::Error) -> String {
    let path =
        if error.line() == 0 { String::new() } else { path(text.as_bytes(), error.line(), error.column()) };
    let reason = without_place(error);
    if path.is_empty() { reason } else { format!("`{path}`: {reason}") }
}

/// Reads from a text that is part of a larger one, whose reader adds its own place to an error.
pub(super) fn fragment<'t, T, E: de::Error>(
    text: &'t str,
    read: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'t>>) -> Result<T, serde_json::Error>,
) -> Result<T, E> {
    read(&mut serde_json::Deserializer::from_str(text)).map_err(|error| E::custom(within(text, &error)))
}
