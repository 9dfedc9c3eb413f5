//! What the macro makes of the case `type_enum_with_own_names` of `src/tests.rs`; that file says how to accept a change.

#[derive(
    ::core::fmt::Debug,
    ::core::clone::Clone,
    ::mcp_tasks::macro_support::serde::Serialize,
    ::mcp_tasks::macro_support::serde::Deserialize,
    ::mcp_tasks::macro_support::schemars::JsonSchema
)]
#[serde(crate = "::mcp_tasks::macro_support::serde")]
#[schemars(crate = "::mcp_tasks::macro_support::schemars")]
#[serde(rename_all = "UPPERCASE")]
enum Size {
    Small,
    Large,
}
