//! Exact, lossless, fast types of the Model Context Protocol's task messages.

mod error;
mod extra;
#[rustfmt::skip]
mod generated;
#[cfg(feature = "schemars")]
mod json_schema;
mod raw;
#[doc(hidden)]
pub mod support;
mod task_id;
mod timestamp;

pub use error::{JsonError, UnknownValue};
pub use extra::{Extra, Map};
pub use generated::v2026_07_28;
pub use raw::{JsonKind, RawJson, RawObject};
pub use task_id::TaskId;
pub use timestamp::{Timestamp, TimestampError};

/// Reads a value from JSON text.
///
/// # Errors
///
/// When the text is no JSON or does not fit the type, with line and column.
pub fn from_str<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T, JsonError> {
    Ok(serde_json::from_str(text)?)
}

/// Reads a value from JSON bytes.
///
/// # Errors
///
/// When the bytes are no UTF-8 JSON or do not fit the type, with line and column.
pub fn from_slice<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, JsonError> {
    Ok(serde_json::from_slice(bytes)?)
}

/// Writes a value as one line of JSON text.
///
/// # Errors
///
/// When the value's own `Serialize` fails, or a map key is not a string.
pub fn to_string<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, JsonError> {
    Ok(serde_json::to_string(value)?)
}
