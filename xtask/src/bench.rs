//! `cargo xtask bench types`: builds and runs the benchmarks, which live in a workspace of their own beside other
//! people's crates.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::run::{cargo, passed_on, reported, root};

const PACKAGE: &str = "wire/benches/Cargo.toml";

/// Runs the command: a table on standard error, one JSON line a row on standard output.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    match arguments {
        [what] if what == "types" => {
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
            let mut command = cargo(&["run", "--quiet", "--release", "--manifest-path"]);
            passed_on(command.arg(root().join(PACKAGE)).arg("--target-dir").arg(target.join("benches")))
        }
        _ => reported(Err("usage: cargo xtask bench types".to_owned())),
    }
}
