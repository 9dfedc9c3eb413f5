//! `cargo xtask ci`: everything that has to hold besides the tests.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::run::{cargo, root};
use crate::test::{ORACLE, fixture};

/// Runs every check, also after one failed, and names the failed ones at the end.
pub(crate) fn run() -> ExitCode {
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    let mut checks: Vec<(&str, Command)> = vec![
        ("format", cargo(&["fmt", "--all", "--check"])),
        (
            "clippy",
            cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]),
        ),
        ("documentation", doc),
        ("tidy", ourselves(&["tidy"])),
        ("codegen --check", ourselves(&["codegen", "--check"])),
        ("samples --check", ourselves(&["samples", "--check"])),
        ("types beside a validator", fixture(ORACLE)),
        ("demo", ourselves(&["demo"])),
        ("torture sqlite", ourselves(&["torture", "--store", "sqlite", "--seconds", "10"])),
        // What is published builds from its archive alone.
        (
            "package of the types",
            cargo(&["package", "--quiet", "--allow-dirty", "--package", "mcp-tasks-types"]),
        ),
    ];
    // Each feature has to be enough for itself.
    for features in ["", "macros", "stdio", "http", "sqlite", "fs", "postgres", "postgres-tls"] {
        let alone = ["check", "--package", "mcp-tasks", "--no-default-features", "--features", features];
        checks.push(("a feature alone", cargo(&alone)));
    }
    checks.extend(deny());
    checks.extend(drift());

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

/// What `deny.toml` says of packages of others, where the program that looks at all of it is at hand.
fn deny() -> Option<(&'static str, Command)> {
    let installed = cargo(&["deny", "--version"]).output().is_ok_and(|output| output.status.success());
    if !installed {
        eprintln!("ci: deny skipped: cargo-deny is not installed");
        return None;
    }
    Some(("deny", cargo(&["deny", "check"])))
}

/// Our schemas against the published ones, where those are at hand.
fn drift() -> Vec<(&'static str, Command)> {
    let shared = std::env::var_os("MCP_TASKS_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let published = shared.join("upstream");
    if !published.is_dir() {
        eprintln!("ci: schema drift skipped: no published schemas in {}", published.display());
        return Vec::new();
    }
    let of = |generation: &str, files: &[&str]| {
        let mut command = ourselves(&["schema", "drift", "--generation", generation]);
        command.args(files.iter().map(|file| published.join(file)));
        command
    };
    vec![
        ("schema drift 2025-11-25", of("2025-11-25", &["core-2025-11-25.schema.json"])),
        (
            "schema drift 2026-07-28",
            of("2026-07-28", &["core-2026-07-28.schema.json", "ext-tasks-2026-07-28.schema.json"]),
        ),
    ]
}

/// Another command of this program. Cargo starts it, since the program may have to be rebuilt.
fn ourselves(arguments: &[&str]) -> Command {
    let mut command = cargo(&["run", "--quiet", "--package", "xtask", "--"]);
    command.args(arguments).current_dir(root());
    command
}
