//! `cargo xtask codegen [--check]`: reads `schema/`, writes or compares `mcp-tasks-types/src/generated/`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mcp_tasks_codegen::{Generation, Options, TextFile, generate};

/// The folder that holds generated files and nothing else.
const OUTPUT: &str = "mcp-tasks-types/src/generated";
/// The command that a stale file's message tells the reader to run.
const COMMAND: &str = "cargo xtask codegen";

/// Runs the command; `root` is the workspace's folder.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    match arguments {
        [] => write(root),
        [flag] if flag == "--check" => check(root),
        _ => Err("usage: cargo xtask codegen [--check]".to_owned()),
    }
}

/// What the schema says the generated files are.
fn expected(root: &Path) -> Result<Vec<TextFile>, String> {
    let generations = generations(root)?;
    generate(&generations, &Options::default()).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        format!("{}\n{} faults in the schema; nothing was written", lines.join("\n"), lines.len())
    })
}

fn generations(root: &Path) -> Result<Vec<Generation>, String> {
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

fn write(root: &Path) -> Result<(), String> {
    let files = expected(root)?;
    let output = root.join(OUTPUT);
    let present = present(&output)?;
    let mut changed = 0;
    for file in &files {
        let path = output.join(&file.path);
        if present.get(&file.path) == Some(&file.text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| describe("create", folder, &error))?;
        }
        // A reader (or a build) never sees half a file.
        let temporary = path.with_extension("tmp");
        fs::write(&temporary, &file.text).map_err(|error| describe("write", &temporary, &error))?;
        fs::rename(&temporary, &path).map_err(|error| describe("replace", &path, &error))?;
        changed += 1;
    }
    for path in present.keys().filter(|path| !files.iter().any(|file| file.path == **path)) {
        let path = output.join(path);
        fs::remove_file(&path).map_err(|error| describe("remove", &path, &error))?;
        changed += 1;
    }
    say(&format!("{} files in {OUTPUT}, {changed} changed", files.len()));
    Ok(())
}

fn check(root: &Path) -> Result<(), String> {
    let stale = stale(root)?;
    if stale.is_empty() {
        say("the generated code is up to date");
        return Ok(());
    }
    Err(format!("{}\nrun `{COMMAND}` and commit what it writes", stale.join("\n")))
}

/// The generated files that are not what the schema says.
fn stale(root: &Path) -> Result<Vec<String>, String> {
    let files = expected(root)?;
    let present = present(&root.join(OUTPUT))?;
    let mut stale = Vec::new();
    for file in &files {
        match present.get(&file.path) {
            Some(text) if *text == file.text => {}
            Some(text) => {
                let line = text.lines().zip(file.text.lines()).take_while(|(a, b)| a == b).count() + 1;
                stale.push(format!("{OUTPUT}/{} is stale from line {line} on", file.path));
            }
            None => stale.push(format!("{OUTPUT}/{} is missing", file.path)),
        }
    }
    for path in present.keys().filter(|path| !files.iter().any(|file| file.path == **path)) {
        stale.push(format!("{OUTPUT}/{path} comes from no schema file any more"));
    }
    Ok(stale)
}

/// The files below the output folder by relative path, with line ends as the generator writes them.
fn present(output: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![output.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in sorted(&folder)? {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read(&path).map_err(|error| describe("read", &path, &error))?;
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            out.insert(relative(output, &path), text);
        }
    }
    Ok(out)
}

fn read(root: &Path, path: &Path) -> Result<TextFile, String> {
    let text = fs::read_to_string(path).map_err(|error| describe("read", path, &error))?;
    Ok(TextFile::new(relative(root, path), text))
}

/// The entries of a folder in order; none when it does not exist.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(describe("read", folder, &error)),
    };
    let paths: Result<Vec<PathBuf>, io::Error> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(|error| describe("read", folder, &error))?;
    paths.sort();
    Ok(paths)
}

/// A path below a folder, with slashes on every system.
fn relative(folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn describe(verb: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {verb} {}: {error}", path.display())
}

#[expect(clippy::print_stdout, reason = "a command's answer to the person who runs it")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{OUTPUT, check, sorted, stale, write};

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
        let stale = stale(workspace()).unwrap();
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
