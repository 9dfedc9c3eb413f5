//! What the macro makes of the case `type_enum` of `src/tests.rs`; that file says how to accept a change.

#[derive(
    ::core::fmt::Debug,
    ::core::clone::Clone,
    facade::mcp_tasks::macro_support::serde::Serialize,
    facade::mcp_tasks::macro_support::serde::Deserialize,
    facade::mcp_tasks::macro_support::schemars::JsonSchema
)]
#[serde(crate = "facade::mcp_tasks::macro_support::serde")]
#[schemars(crate = "facade::mcp_tasks::macro_support::schemars")]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
    VeryLarge,
}
