//! What the macro makes of the case `type_struct` of `src/tests.rs`; that file says how to accept a change.

#[derive(
    ::core::clone::Clone,
    ::mcp_tasks::macro_support::serde::Serialize,
    ::mcp_tasks::macro_support::serde::Deserialize,
    ::mcp_tasks::macro_support::schemars::JsonSchema
)]
#[serde(crate = "::mcp_tasks::macro_support::serde")]
#[schemars(crate = "::mcp_tasks::macro_support::schemars")]
/// A report.
#[derive(PartialEq, Debug)]
pub struct Report<T> {
    size: T,
    approved: bool,
}
