//! `cargo xtask codegen [--check]`: reads `schema/`, writes or compares `mcp-tasks-types/src/generated/`.

use std::path::Path;

use mcp_tasks_codegen::{Generation, Options, TextFile, generate};

use crate::output::{Output, read, sorted};

/// The folder that holds generated files and nothing else.
const OUTPUT: &str = "mcp-tasks-types/src/generated";
/// The command that a stale file's message tells the reader to run.
const COMMAND: &str = "cargo xtask codegen";

/// Runs the command; `root` is the workspace's folder.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask codegen [--check]".to_owned()),
    };
    let (code, reference) = (expected(root)?, reference_of(root)?);
    // Both are told about before the command ends.
    let outcomes = [output(root).settle(&code, check), docs(root).settle(&[reference], check)];
    outcomes.into_iter().collect()
}

fn output(root: &Path) -> Output<'_> {
    Output { root, folder: OUTPUT, command: COMMAND, whole: true }
}

fn docs(root: &Path) -> Output<'_> {
    Output { root, folder: "docs", command: COMMAND, whole: false }
}

/// The reference of all generations, oldest first.
fn reference_of(root: &Path) -> Result<TextFile, String> {
    let mut generations = generations(root)?;
    // Dates sort as they are; the draft has none and came first.
    generations
        .sort_by_key(|generation| (!generation.config.path.contains("sep-"), generation.config.path.clone()));
    mcp_tasks_codegen::reference::reference(&generations)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// What the schema says the generated files are.
fn expected(root: &Path) -> Result<Vec<TextFile>, String> {
    let generations = generations(root)?;
    generate(&generations, &Options::default()).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        format!("{}\n{} faults in the schema; nothing was written", lines.join("\n"), lines.len())
    })
}

pub(crate) fn generations(root: &Path) -> Result<Vec<Generation>, String> {
    let mut out = Vec::new();
    for folder in sorted(&root.join("schema"))? {
        out.extend(generation(root, &folder)?);
    }
    if out.is_empty() {
        return Err("no folder of `schema/` holds a codegen.toml".to_owned());
    }
    Ok(out)
}

/// The generation in a folder; none when the folder holds none.
pub(crate) fn generation(root: &Path, folder: &Path) -> Result<Option<Generation>, String> {
    let config = folder.join("codegen.toml");
    if !config.is_file() {
        return Ok(None);
    }
    let mut schemas = Vec::new();
    for file in sorted(folder)? {
        if file.extension().is_some_and(|extension| extension == "json") {
            schemas.push(read(root, &file)?);
        }
    }
    Ok(Some(Generation::new(read(root, &config)?, schemas)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{OUTPUT, docs, expected, output, reference_of, sorted};

    fn write(root: &Path) -> Result<(), String> {
        output(root).settle(&expected(root)?, false)
    }

    fn check(root: &Path) -> Result<(), String> {
        output(root).settle(&expected(root)?, true)
    }

    fn workspace() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    /// A folder with a copy of the schema files and freshly generated code.
    fn generated() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        for generation in
            sorted(&workspace().join("schema")).unwrap().into_iter().filter(|path| path.is_dir())
        {
            let copy = root.join("schema").join(generation.file_name().unwrap());
            fs::create_dir_all(&copy).unwrap();
            for file in sorted(&generation).unwrap() {
                fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
            }
        }
        write(&root).unwrap();
        (folder, root)
    }

    #[test]
    fn the_committed_code_is_what_the_schema_says() {
        let root = workspace();
        let mut stale = output(root).stale(&expected(root).unwrap()).unwrap();
        stale.extend(docs(root).stale(&[reference_of(root).unwrap()]).unwrap());
        assert!(stale.is_empty(), "{}\nrun `{}`", stale.join("\n"), super::COMMAND);
    }

    #[test]
    fn a_changed_description_is_told_with_the_file_and_the_command() {
        let (_folder, root) = generated();
        check(&root).unwrap();
        let schema = root.join("schema/2026-07-28/tasks.json");
        let text = fs::read_to_string(&schema).unwrap();
        fs::write(&schema, text.replacen("\"description\": \"", "\"description\": \"Changed. ", 3)).unwrap();
        let message = check(&root).unwrap_err();
        assert!(message.contains("generated/v2026_07_28/tasks.rs is stale"), "{message}");
        assert!(message.contains("run `cargo xtask codegen`"), "{message}");
        write(&root).unwrap();
        check(&root).unwrap();
    }

    #[test]
    fn damaged_missing_and_foreign_files_are_told_and_repaired() {
        let (_folder, root) = generated();
        let output = root.join(OUTPUT);
        fs::write(output.join("v2026_07_28/core.rs"), "fn (").unwrap();
        fs::remove_file(output.join("registry.rs")).unwrap();
        fs::write(output.join("old.rs"), "").unwrap();
        let message = check(&root).unwrap_err();
        for part in ["core.rs is stale from line 1", "registry.rs is missing", "old.rs comes from no schema"]
        {
            assert!(message.contains(part), "{message}");
        }
        write(&root).unwrap();
        check(&root).unwrap();
    }

    #[test]
    fn a_faulty_schema_changes_nothing() {
        let (_folder, root) = generated();
        let before = fs::read_to_string(root.join(OUTPUT).join("v2026_07_28/tasks.rs")).unwrap();
        let schema = root.join("schema/2026-07-28/tasks.json");
        let text = fs::read_to_string(&schema).unwrap();
        fs::write(&schema, text.replacen("\"type\": \"object\"", "\"type\": \"object\", \"not\": {}", 1))
            .unwrap();
        let message = write(&root).unwrap_err();
        assert!(message.contains("schema/2026-07-28/tasks.json #/$defs/"), "{message}");
        assert!(message.contains("the keyword `not` is outside the dialect"), "{message}");
        assert_eq!(fs::read_to_string(root.join(OUTPUT).join("v2026_07_28/tasks.rs")).unwrap(), before);
    }
}
