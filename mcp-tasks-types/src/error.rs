//! The error of reading and writing JSON text.

use std::fmt;

/// Why a JSON text did not become a value, or a value no JSON text.
///
/// Display gives the reason and, where reading stopped inside a text, the line and column (both from 1).
pub struct JsonError(serde_json::Error);

impl JsonError {
    pub(crate) fn custom(message: impl fmt::Display) -> Self {
        Self(serde::de::Error::custom(message))
    }

    /// The line where reading stopped, from 1; 0 when the error has no place in a text.
    #[must_use]
    pub fn line(&self) -> usize {
        self.0.line()
    }

    /// The column where reading stopped, in bytes from 1; 0 when the error has no place in a text.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.column()
    }

    /// Whether the text itself is no JSON (or ends too early), as opposed to JSON of another shape.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.0.is_syntax() || self.0.is_eof()
    }

    /// The reason without the place.
    #[must_use]
    pub fn reason(&self) -> String {
        without_place(&self.0)
    }
}

/// The text of a serde_json error without its trailing place, which counts from the start of a fragment and would
/// mislead once the fragment is reported as part of a larger text.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(place.as_str()) {
        Some(reason) => reason.to_owned(),
        None => text,
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self(error)
    }
}

impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonError").field(&self.0.to_string()).finish()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for JsonError {}

/// A text is none of the values that a list allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    text: String,
    expected: &'static str,
}

impl UnknownValue {
    #[doc(hidden)]
    #[must_use]
    pub fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown value `{}`, expected one of {}", self.text, self.expected)
    }
}

impl std::error::Error for UnknownValue {}
