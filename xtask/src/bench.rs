//! `cargo xtask bench types`, `cargo xtask bench engine [CASE...]` and `cargo xtask bench http [CASE...]`: builds and
//! runs the benchmarks, which live in a workspace of their own beside other people's crates, and times the cold release
//! build of the types.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::run::{cargo, passed_on, reported, root, target};

const PACKAGE: &str = "wire/benches/Cargo.toml";
const LOCK: &str = "wire/benches/Cargo.lock";

/// Whose cold builds are compared, each as the dependencies of a package of nothing else. The first is the measure:
/// what everybody has who writes such types by hand.
const COLD: &[(&str, &str)] = &[
    (
        "serde + serde_json",
        "serde = { version = \"1\", features = [\"derive\"] }\nserde_json = { version = \"1\", features = [\"raw_value\"] }",
    ),
    ("mcp-tasks-types", "mcp-tasks-types = { path = 'ROOT/mcp-tasks-types' }"),
    ("serde without derive", "serde = \"1\"\nserde_json = { version = \"1\", features = [\"raw_value\"] }"),
    (
        "rust-mcp-schema",
        "rust-mcp-schema = { version = \"2.0\", default-features = false, features = [\"2025_11_25\"] }",
    ),
    ("rmcp", "rmcp = { version = \"3.11\", default-features = false }"),
];
/// Builds take turns, so that a machine that slows down slows all of them.
const ROUNDS: usize = 3;

/// Runs the command: a table on standard error, one JSON line a row on standard output.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    match arguments {
        [what] if what == "types" => {
            let target = target();
            let mut command =
                cargo(&["run", "--quiet", "--release", "--bin", "mcp-tasks-benches", "--manifest-path"]);
            let ran =
                passed_on(command.arg(root().join(PACKAGE)).arg("--target-dir").arg(target.join("benches")));
            if ran != ExitCode::SUCCESS {
                return ran;
            }
            reported(
                cold_builds(&target.join("benches/cold")).map_err(|error| format!("cold builds: {error}")),
            )
        }
        [what, cases @ ..] if what == "engine" || what == "http" => {
            let mut command = cargo(&["run", "--quiet", "--release", "--bin", what, "--manifest-path"]);
            command.arg(root().join(PACKAGE)).arg("--target-dir").arg(target().join("benches"));
            passed_on(command.arg("--").args(cases))
        }
        _ => reported(Err(
            "usage: cargo xtask bench types, or cargo xtask bench engine|http [CASE...]".to_owned()
        )),
    }
}

fn cold_builds(folder: &Path) -> io::Result<()> {
    let mut packages = Vec::new();
    for (index, (name, dependencies)) in COLD.iter().enumerate() {
        let package = folder.join(index.to_string());
        fs::create_dir_all(package.join("src"))?;
        fs::write(package.join("src/lib.rs"), "")?;
        let root = root().canonicalize()?;
        let dependencies = dependencies.replace("ROOT", &root.display().to_string());
        let manifest = format!(
            "[workspace]\n[package]\nname = \"cold\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n{dependencies}\n"
        );
        fs::write(package.join("Cargo.toml"), manifest)?;
        fs::copy(root.join(LOCK), package.join("Cargo.lock"))?;
        // What is downloaded is no part of the build.
        cargo_in(&package, &["fetch", "--quiet"])?;
        packages.push((name, package));
    }
    let mut times = vec![Vec::new(); packages.len()];
    for _ in 0..ROUNDS {
        for ((_, package), times) in packages.iter().zip(&mut times) {
            let target = package.join("target");
            if target.exists() {
                fs::remove_dir_all(&target)?;
            }
            #[expect(clippy::disallowed_methods, reason = "a measurement, no decision")]
            let start = Instant::now();
            cargo_in(package, &["build", "--quiet", "--release", "--offline"])?;
            times.push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times.get(times.len() / 2).copied().unwrap_or_default()
        })
        .collect();
    let (against, measure) = (COLD[0].0, medians[0].as_secs_f64());
    for ((name, _), median) in packages.iter().zip(&medians) {
        let (millis, ratio) = (median.as_millis(), median.as_secs_f64() / measure);
        eprintln!("{:<28} {name:<22} {millis:>9} ms {ratio:>7.2} x {against}", "cold release build");
        println!(
            r#"{{"bench":"types","case":"cold release build","name":"{name}","unit":"ms","median":{millis},"against":"{against}","ratio":{ratio:.2}}}"#
        );
    }
    Ok(())
}

fn cargo_in(package: &Path, arguments: &[&str]) -> io::Result<()> {
    let mut command = cargo(arguments);
    // The package's own target folder, whatever ours is, and no flags that only we are built with.
    command.current_dir(package).env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cargo {arguments:?}: {status}"))) }
}
