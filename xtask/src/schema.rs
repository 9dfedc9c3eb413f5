//! `cargo xtask schema drift`: our schema of a generation against the published one.

use std::fs;
use std::path::Path;

use mcp_tasks_codegen::{TextFile, drift};

use crate::codegen::generation;

const USAGE: &str = "usage: cargo xtask schema drift --generation GENERATION FILE...";

/// Runs the command.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    match arguments {
        [command, flag, name, files @ ..]
            if command == "drift" && flag == "--generation" && !files.is_empty() =>
        {
            drift_of(root, name, files)
        }
        _ => Err(USAGE.to_owned()),
    }
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
    let drift = drift::drift(&ours, &published, &listed)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    crate::output::say(&drift.to_string());
    if drift.is_clean() {
        Ok(())
    } else {
        Err(format!("schema/{name} and the published schema have drifted apart"))
    }
}
