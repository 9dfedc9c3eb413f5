//! The extension `com.example/budget`, as its vendor would publish it: types that the generator of this project made
//! from `schema/`, and the little that is written by hand.
//!
//! ```sh
//! cargo xtask codegen --schema examples/vendor/schema --out examples/vendor/src/generated
//! ```
//!
//! Types of the core (`RequestId`, `ErrorObject`, …) are those of `mcp-tasks-types`, named in `schema/codegen.toml`.

#[rustfmt::skip]
#[expect(clippy::exhaustive_enums, reason = "a state or named list of one version of the extension is closed")]
mod generated {
    pub mod budget;
}

pub use generated::budget;

use mcp_tasks_types::{JsonError, RawJson, v2026_07_28::RequestMetaObject};

/// The limit that a request of any method sets for its task.
///
/// # Errors
///
/// When the key is there and holds no amount.
pub fn limit_of(meta: &RequestMetaObject) -> Result<Option<budget::Amount>, JsonError> {
    meta.extra.get(budget::meta_key::BUDGET).map(RawJson::get).transpose()
}
