//! `cargo xtask ci`: everything that has to hold besides the tests.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::process::{Command, ExitCode};

use crate::run::{cargo, root};

/// Runs every check, also after one failed, and names the failed ones at the end.
pub(crate) fn run() -> ExitCode {
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    let checks: [(&str, Command); 5] = [
        ("format", cargo(&["fmt", "--all", "--check"])),
        (
            "clippy",
            cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]),
        ),
        ("documentation", doc),
        ("codegen --check", ourselves(&["codegen", "--check"])),
        ("demo", ourselves(&["demo"])),
    ];

    let mut failed = Vec::new();
    for (name, mut check) in checks {
        eprintln!("ci: {name}");
        match check.status() {
            Ok(status) if status.success() => {}
            Ok(_) => failed.push(name),
            Err(error) => {
                eprintln!("ci: cannot start `{}`: {error}", check.get_program().display());
                failed.push(name);
            }
        }
    }
    if failed.is_empty() {
        eprintln!("ci: everything passed");
        return ExitCode::SUCCESS;
    }
    eprintln!("ci: failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// Another command of this program. Cargo starts it, since the program may have to be rebuilt.
fn ourselves(arguments: &[&str]) -> Command {
    let mut command = cargo(&["run", "--quiet", "--package", "xtask", "--"]);
    command.args(arguments).current_dir(root());
    command
}
