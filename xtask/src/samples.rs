//! `cargo xtask samples [--check]`: writes or compares `samples/`, and has the types read what is in it.

use std::path::Path;

use mcp_tasks_codegen::{TextFile, samples::samples};

use crate::codegen::{generations, told};
use crate::output::{Output, Owns, say};

/// The folder of the samples, for our tests and for other people's.
const OUTPUT: &str = "samples";
const COMMAND: &str = "cargo xtask samples";

/// Runs the command; what the types say about the samples is asked of the package that has them compiled.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask samples [--check]".to_owned()),
    };
    let output = Output { root, folder: OUTPUT, command: COMMAND, owns: Owns::Everything };
    say(&output.settle(&expected(root)?, check)?);
    Ok(())
}

fn expected(root: &Path) -> Result<Vec<TextFile>, String> {
    let mut files = Vec::new();
    for generation in generations(root)? {
        let made = samples(&generation).map_err(|errors| told(&errors))?;
        files.extend(made);
    }
    Ok(files)
}
