//! `cargo xtask schema drift` and `cargo xtask schema diff`: our schema against the published one, and two of our own
//! schema folders against each other.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use mcp_tasks_codegen::{TextFile, diff, drift};

use crate::codegen::{generation, told};
use crate::output::say;

const USAGE: &str = "\
usage: cargo xtask schema drift --generation GENERATION FILE...
       cargo xtask schema diff OLD NEW";

/// Runs the command. Folders and files are named from where the caller stands.
pub(crate) fn run(root: &Path, arguments: &[String]) -> ExitCode {
    match arguments {
        [command, flag, name, files @ ..]
            if command == "drift" && flag == "--generation" && !files.is_empty() =>
        {
            crate::run::reported(drift_of(root, name, files))
        }
        [command, old, new] if command == "diff" => match diff_of(Path::new(""), old, new) {
            Ok(diff) => {
                say(&diff.to_string());
                if diff.breaks() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
            }
            // As `diff` does, so that a script can tell a break from a folder that cannot be read.
            Err(message) => {
                eprintln!("{message}");
                ExitCode::from(2)
            }
        },
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// What changed from one schema folder to another, both named from a folder.
pub(crate) fn diff_of(from: &Path, old: &str, new: &str) -> Result<diff::Diff, String> {
    let read = |folder: &str| {
        generation(from, &from.join(folder))?
            .ok_or_else(|| format!("{folder} is no schema folder: it holds no codegen.toml"))
    };
    diff::diff(&read(old)?, &read(new)?).map_err(|errors| told(&errors))
}

fn drift_of(root: &Path, name: &str, files: &[String]) -> Result<(), String> {
    let folder = root.join("schema").join(name);
    let ours =
        generation(root, &folder)?.ok_or_else(|| format!("there is no generation `{name}` in schema/"))?;
    let mut published = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
        published.push(TextFile::new(file.as_str(), text));
    }
    let listed = folder.join("divergences.toml");
    let text = if listed.exists() {
        fs::read_to_string(&listed).map_err(|error| format!("cannot read {}: {error}", listed.display()))?
    } else {
        String::new()
    };
    let listed = TextFile::new(format!("schema/{name}/divergences.toml"), text);
    let drift = drift::drift(&ours, &published, &listed).map_err(|errors| told(&errors))?;
    say(&drift.to_string());
    if drift.is_clean() {
        Ok(())
    } else {
        Err(format!("schema/{name} and the published schema have drifted apart"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::diff_of;

    #[test]
    fn folders_are_compared_and_what_is_none_is_told() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(!diff_of(root, "schema/2026-07-28", "schema/2026-07-28/").unwrap().breaks());
        assert!(diff_of(root, "schema/2025-11-25", "schema/2026-07-28").unwrap().breaks());
        let message = diff_of(root, "schema/2026-07-28", "docs").unwrap_err();
        assert_eq!(message, "docs is no schema folder: it holds no codegen.toml");
    }
}
