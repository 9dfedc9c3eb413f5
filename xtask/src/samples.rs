//! `cargo xtask samples [--check]`: writes or compares `samples/`, and has the types read what is in it.

use std::path::Path;

use mcp_tasks_codegen::TextFile;
use mcp_tasks_codegen::samples::{readme, samples};

use crate::codegen::{generations, told};
use crate::output::{Output, Owns, say};
use crate::run::wire_command;

/// The folder of the samples, for our tests and for other people's.
const OUTPUT: &str = "samples";
const COMMAND: &str = "cargo xtask samples";

/// Runs the command; what the types say about the samples is asked of the package that has them compiled, after the
/// samples are written, so that they can be made while the types do not compile.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask samples [--check]".to_owned()),
    };
    say(&settled(root, check)?);
    let mut command = wire_command("samples", &[OUTPUT.to_owned()], false);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the types do not say what the samples say of them".to_owned()),
        Err(error) => Err(format!("cannot start `{}`: {error}", command.get_program().display())),
    }
}

/// Writes or compares the samples, and says what that came to.
pub(crate) fn settled(root: &Path, check: bool) -> Result<String, String> {
    output(root).settle(&expected(root)?, check)
}

fn output(root: &Path) -> Output<'_> {
    Output { root, folder: OUTPUT, command: COMMAND, owns: Owns::Everything }
}

fn expected(root: &Path) -> Result<Vec<TextFile>, String> {
    let mut files = Vec::new();
    for generation in generations(root)? {
        files.extend(samples(&generation).map_err(|errors| told(&errors))?);
    }
    files.push(readme(&files));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{expected, output, run};

    #[test]
    fn the_committed_samples_are_what_the_schema_says() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let expected = expected(root).unwrap();
        let stale = output(root).stale(&expected).unwrap();
        assert!(stale.is_empty(), "{}\nrun `{}`", stale.join("\n"), super::COMMAND);
        let readme = expected.last().unwrap();
        assert_eq!(readme.path, "README.md");
        for file in expected.iter().filter(|file| file.path.ends_with(".jsonl")) {
            let (generation, _) = file.path.split_once('/').unwrap();
            let row =
                readme.text.lines().find(|line| line.starts_with(&format!("| {generation} |"))).unwrap();
            assert!(row.contains(&format!(" {} |", file.text.lines().count())), "{row}");
        }
    }

    #[test]
    fn half_a_command_is_refused() {
        let arguments = ["--chek".to_owned()];
        assert!(run(Path::new("."), &arguments).unwrap_err().starts_with("usage:"));
    }
}
