//! What the fuzz targets check of whatever bytes come; a broken claim is a panic.
//!
//! - What is accepted is written, on one line, and nothing of it is lost (`kept.rs`).
//! - What is written is read back as the same value and written as the same text.
//! - An unknown member is kept letter for letter, wherever it stands.
//! - What is refused has a reason of bounded length and a place inside the text (`refusal.rs`).
//! - A message read whole and one read by its envelope, piece by piece, are the same (`message.rs`).
//!
//! The time that an input may take is libFuzzer's to watch.

mod kept;
mod message;
mod refusal;
mod schema;
mod tree;
mod wire_type;

pub use message::message;
pub use wire_type::any_type;
