//! What the compiler says: programs that must not compile, with the text of their errors, and programs that must.
//!
//! The text is that of the toolchain pinned in `rust-toolchain.toml`; `TRYBUILD=overwrite` accepts a new one.

#[test]
fn mistakes_are_told_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn tools_compile_quietly() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
