//! What the compiler says: programs that must not compile, with the text of their errors, and programs that must.
//!
//! The text belongs to one version of the compiler; with another one, only the programs that must compile are tried,
//! and the test says so. `TRYBUILD=overwrite` accepts a new text.

use std::{io::Write as _, process::Command};

/// The version that the texts of errors belong to.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn mistakes_are_told_where_they_are_and_tools_compile_quietly() {
    // Both kinds in one run, which builds the dependencies once.
    let cases = trybuild::TestCases::new();
    let version = compiler_version();
    if version.starts_with(COMPILER) {
        cases.compile_fail("tests/ui/fail/*.rs");
    } else {
        // Past the test runner, which keeps the words of a test that passes to itself.
        let told = writeln!(
            std::io::stderr(),
            "SKIPPED tests/ui/fail: its texts are those of {COMPILER}x, and this is {version}"
        );
        told.expect("standard error is there");
    }
    cases.pass("tests/ui/pass/*.rs");
}

fn compiler_version() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("the compiler tells its version");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
