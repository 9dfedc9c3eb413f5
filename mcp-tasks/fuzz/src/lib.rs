//! What the fuzz targets check of a server to which whatever bytes come; a broken claim is a panic.
//!
//! - A panic of ours would be answered as an internal error, and there is none (`answer.rs`).
//! - Each answer is one JSON-RPC message of known form, and over HTTP its status is none of a broken server.
//! - Serving ends when the input does, and the server still serves afterwards.
//!
//! The time that an input may take is libFuzzer's to watch. The server's own clock stands in for it: timeouts come at
//! once when nothing else is left to do.

mod answer;
mod http;
mod server;
mod stdio;

pub use http::http;
pub use stdio::stdio;
