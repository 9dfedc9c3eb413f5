//! The merge map of the wire shapes, sections 5.1 to 5.3, row by row, and the rows I-01, I-02, I-03, I-04 and I-05.

mod complete;
mod generations;
mod hostile;
mod notices;
mod operations;
mod outcomes;
mod properties;
mod shapes;
mod tasks;

use mcp_tasks_types::convert::ConvertError;
use mcp_tasks_types::{RawObject, Timestamp, from_str, to_string};
use serde::Serialize;
use serde::de::DeserializeOwned;

const CREATED: &str = "2026-08-21T10:30:00Z";
const UPDATED: &str = "2026-08-21T10:30:30Z";

/// Reads a value of a type from text.
fn read<T: DeserializeOwned>(text: &str) -> T {
    from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The text of a value.
fn text<T: Serialize>(value: &T) -> String {
    to_string(value).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn object(text: &str) -> RawObject {
    RawObject::from_text(text).unwrap()
}

/// The error, with its place and reason, of a conversion that has to fail.
fn refusal<T: std::fmt::Debug>(result: Result<T, ConvertError>) -> String {
    result.expect_err("an error").to_string()
}
