//! Everything that `cargo xtask codegen` makes, and the lint exceptions for it.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a union, state or named list of a protocol revision is closed: the revision is part of the module's name"
)]
#![expect(clippy::large_enum_variant, reason = "messages are read once and handed on; a box a message costs more")]

pub(crate) mod registry;
pub mod sep_1686;
pub mod v2025_11_25;
pub mod v2026_07_28;
