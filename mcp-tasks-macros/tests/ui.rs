//! What the compiler says: programs that must not compile, with the text of their errors, and programs that must.
//!
//! The text is that of the toolchain pinned in `rust-toolchain.toml`; `TRYBUILD=overwrite` accepts a new one.

#[test]
fn mistakes_are_told_where_they_are_and_tools_compile_quietly() {
    // Both kinds in one run, which builds the dependencies once.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
