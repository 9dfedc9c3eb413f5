//! The errors of reading and writing JSON text.

use std::borrow::Cow;
use std::fmt;

use crate::path::{self, Path};

/// Why a JSON text did not become a value, or a value no JSON text.
///
/// Display gives the path of the value at fault, the reason and, where there is a text, the line and column at which
/// that value ends or the reader stopped in it: `` `result.error`: missing field `code` at line 1 column 168 ``.
/// However much was sent, path and reason are short: what is too long has its middle left out (`…`).
pub struct JsonError {
    reason: String,
    path: String,
    line: usize,
    /// How many bytes of the line have been passed, as serde_json counts.
    column: usize,
    syntax: bool,
}

impl JsonError {
    pub(crate) fn custom(message: impl fmt::Display) -> Self {
        Self::from(<serde_json::Error as serde::de::Error>::custom(message))
    }

    /// The error of reading a text.
    pub(crate) fn of_text(text: &[u8], error: &serde_json::Error) -> Self {
        let (inner, reason) = inside(error);
        let (mut line, mut column) = match error.line() {
            // Whoever has looked at the whole of the outermost value and refuses it: it ends with the text.
            0 => path::line_and_column(text, text.len()),
            line => (line, error.column()),
        };
        let mut path = Path::of(text, line, column);
        // A part that was read on its own counts lines of its own; where it stands, its path tells.
        if !inner.is_empty() {
            path.append(inner);
            if let Some(end) = path.end_in(text) {
                (line, column) = path::line_and_column(text, end);
            }
        }
        let syntax = error.is_syntax() || error.is_eof();
        Self { reason: shortened(reason), path: shortened(path.to_string()), line, column, syntax }
    }

    /// The error of bytes that are no text, of which so many are.
    pub(crate) fn no_utf8(bytes: &[u8], valid: usize) -> Self {
        let (line, column) = path::line_and_column(bytes, valid);
        let path = shortened(Path::of(bytes, line, column).to_string());
        Self { reason: "the bytes are no UTF-8".to_owned(), path, line, column: column + 1, syntax: true }
    }

    /// The error of a part, by its place in the whole: below the member that holds the part, and behind the line and
    /// the column at which the part begins; without those there is no place.
    #[cold]
    pub(crate) fn of_part(self, member: &str, begins: Option<(usize, usize)>) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        let path = shortened(format!("{member}{joint}{}", self.path));
        let (line, column) = match begins {
            Some((line, column)) if self.line == 1 => (line, column + self.column),
            Some((line, _)) => (line + self.line - 1, self.column),
            None => (0, 0),
        };
        Self { path, line, column, ..self }
    }

    /// The path of the value at fault, such as `result.content[0].text`; empty for the outermost value.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line of the place, from 1; 0 when the error has no place in a text.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the place, in bytes from 1; 0 when the error has no place in a text.
    #[must_use]
    pub fn column(&self) -> usize {
        // None is passed where a line, or the text, begins with what is refused or ends at once.
        if self.line == 0 { 0 } else { self.column.max(1) }
    }

    /// Whether the text itself is no JSON (or ends too early), as opposed to JSON of another shape.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.syntax
    }

    /// The reason without the place.
    #[must_use]
    pub fn reason(&self) -> String {
        self.reason.clone()
    }
}

/// The path that the reader of a part has put before the reason, and the reason.
fn inside(error: &serde_json::Error) -> (Path, String) {
    let mut path = Path::default();
    let text = without_place(error);
    let mut reason = text.as_str();
    while let Some((inner, rest)) = Path::before(reason) {
        path.append(inner);
        reason = rest;
    }
    (path, reason.to_owned())
}

/// What an error in a part of a text says: the path inside the part, and the reason. The line and column count from the
/// part's start and would mislead; the reader of the whole finds its own.
pub(crate) fn within(text: &str, error: &serde_json::Error) -> String {
    let JsonError { path, reason, .. } = JsonError::of_text(text.as_bytes(), error);
    if path.is_empty() { reason } else { format!("`{path}`: {reason}") }
}

/// The text of a serde_json error without its trailing place.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(place.as_str()) {
        Some(reason) => reason.to_owned(),
        None => text,
    }
}

/// Whether the text of an error ends with a place.
pub(crate) fn has_place(error: &impl fmt::Display) -> bool {
    /// The end of a text, which may be too long to be kept whole.
    struct End(String);
    impl fmt::Write for End {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            const ROOM: usize = 80;
            let cut = |text: &str| text.char_indices().rev().nth(ROOM).map_or(0, |(at, _)| at);
            self.0.push_str(&text[cut(text)..]);
            self.0.drain(..cut(&self.0));
            Ok(())
        }
    }
    let mut end = End(String::new());
    if fmt::write(&mut end, format_args!("{error}")).is_err() {
        return false;
    }
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    end.0
        .rsplit_once(" at line ")
        .and_then(|(_, place)| place.split_once(" column "))
        .is_some_and(|(line, column)| number(line) && number(column))
}

/// The beginning of a text that somebody sent, to be shown in an error.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(200) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// A text whose middle is left out when it is long.
fn shortened(text: String) -> String {
    const HALF: usize = 480;
    let start = text.char_indices().nth(HALF).map(|(at, _)| at);
    let end = text.char_indices().rev().nth(HALF).map(|(at, _)| at);
    match (start, end) {
        (Some(start), Some(end)) if start < end => format!("{}…{}", &text[..start], &text[end..]),
        _ => text,
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let (path, reason) = inside(&error);
        let syntax = error.is_syntax() || error.is_eof();
        let (line, column) = (error.line(), error.column());
        Self { reason: shortened(reason), path: shortened(path.to_string()), line, column, syntax }
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
        f.write_str(&self.reason)?;
        if self.line != 0 {
            write!(f, " at line {} column {}", self.line, self.column())?;
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
        Self { text: excerpt(text).into_owned(), expected }
    }
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown value `{}`, expected one of {}", self.text, self.expected)
    }
}

impl std::error::Error for UnknownValue {}
