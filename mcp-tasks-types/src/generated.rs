//! Everything that `cargo xtask codegen` makes, and the lint exceptions for it.

#![expect(
    clippy::exhaustive_enums,
    reason = "a union or state of a protocol revision is closed: the revision is part of the module's name"
)]

pub(crate) mod registry;
pub mod v2026_07_28;
