//! Errors of generation: for the maintainer of a schema, so each says where.

use std::fmt;

/// A fault in a schema file or its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The file, as it was named in the input.
    pub file: String,
    /// Where in the file: a JSON pointer such as `#/$defs/Task/properties/ttlMs`, a line and column, a key of
    /// `codegen.toml`, or nothing where the file as a whole is meant.
    pub place: String,
    /// What was met and what was expected.
    pub message: String,
}

impl Error {
    pub(crate) fn new(file: &str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, message } = self;
        let blank = if place.is_empty() { "" } else { " " };
        write!(f, "{file}{blank}{place}: {message}")
    }
}

impl std::error::Error for Error {}

/// All faults that one stage found.
pub(crate) type Errors = Vec<Error>;
