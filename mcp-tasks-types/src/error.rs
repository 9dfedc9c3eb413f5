//! The errors of reading and writing JSON text.

use std::fmt;

use serde::de::Error as _;

use crate::path::path;

/// Why a JSON text did not become a value, or a value no JSON text.
///
/// Display gives the path of the value at fault, the reason and, where reading stopped inside a text, the line and
/// column: `` `result.error`: missing field `code` at line 1 column 168 ``.
pub struct JsonError {
    error: serde_json::Error,
    path: String,
    line: usize,
    column: usize,
}

impl JsonError {
    pub(crate) fn custom(message: impl fmt::Display) -> Self {
        Self::from(serde_json::Error::custom(message))
    }

    /// The error of reading a text.
    pub(crate) fn of_text(text: &[u8], error: serde_json::Error) -> Self {
        let (line, column) = match error.line() {
            // A union that has looked at the whole of the outermost value and refuses it: it ends with the text.
            0 => {
                let lines = text.iter().filter(|byte| **byte == b'\n').count();
                (lines + 1, text.iter().rev().take_while(|byte| **byte != b'\n').count())
            }
            line => (line, error.column()),
        };
        let path = path(text, line, column);
        Self { error, path, line, column }
    }

    /// The path of the value at fault, such as `result.content[0].text`; empty for the outermost value.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line where reading stopped, from 1; 0 when the error has no place in a text.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column where reading stopped: how many bytes of its line had been read. 0 at the beginning of a line, and when
    /// the error has no place in a text.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// Whether the text itself is no JSON (or ends too early), as opposed to JSON of another shape.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.error.is_syntax() || self.error.is_eof()
    }

    /// The reason without the place.
    #[must_use]
    pub fn reason(&self) -> String {
        without_place(&self.error)
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
        let (line, column) = (error.line(), error.column());
        Self { error, path: String::new(), line, column }
    }
}

impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonError").field(&self.to_string()).finish()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        self.error.fmt(f)?;
        if self.error.line() == 0 && self.line != 0 {
            write!(f, " at line {} column {}", self.line, self.column)?;
        }
        Ok(())
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
