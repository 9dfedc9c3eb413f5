//! `cargo xtask codegen [--check]`: reads `schema/`, writes or compares `mcp-tasks-types/src/generated/` and the
//! reference. With `--schema DIR --out DIR` it does the same for an extension of somebody else's.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use mcp_tasks_codegen::{Error, Generation, Options, TextFile, generate};

use crate::output::{Output, Owns, counted, read, say, sorted};

/// The folder that holds generated files and nothing else.
const OUTPUT: &str = "mcp-tasks-types/src/generated";
/// The command that a stale file's message tells the reader to run.
const COMMAND: &str = "cargo xtask codegen";
const USAGE: &str = "\
usage: cargo xtask codegen [--check]
       cargo xtask codegen --schema DIR --out DIR [--root PATH] [--check]";

/// Runs the command; `root` is the workspace's folder. Folders that are named on the command line are named from where
/// the caller stands.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let (mut schema, mut out, mut types, mut check) = (None, None, None, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let slot = match argument.as_str() {
            "--check" => {
                check = true;
                continue;
            }
            "--schema" => &mut schema,
            "--out" => &mut out,
            "--root" => &mut types,
            _ => return Err(USAGE.to_owned()),
        };
        *slot = Some(rest.next().ok_or(USAGE)?.as_str());
    }
    match (schema, out, types) {
        (None, None, None) => ours(root, check),
        (Some(schema), Some(out), types) => {
            let extension = Extension { from: Path::new(""), schema, out, types };
            let told = extension.settle(check)?;
            extension.notes()?.iter().for_each(|note| say(note));
            say(&told);
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn ours(root: &Path, check: bool) -> Result<(), String> {
    let (told, faults) = settled(root, check)?;
    told.iter().for_each(|line| say(line));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Writes or compares code and reference, and gives what went well and what did not.
pub(crate) fn settled(root: &Path, check: bool) -> Result<(Vec<String>, Vec<String>), String> {
    let (code, reference, known) = (expected(root)?, reference_of(root)?, known_of(root)?);
    let (mut told, mut faults) = (Vec::new(), Vec::new());
    for outcome in [
        output(root).settle(&code, check),
        docs(root).settle(&[reference], check),
        generator(root).settle(&[known], check),
    ] {
        match outcome {
            Ok(line) => told.push(line),
            Err(fault) => faults.push(fault),
        }
    }
    Ok((told, faults))
}

/// An extension of somebody else's: one schema folder outside `schema/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extension<'a> {
    /// The folder that the other two are named from.
    pub(crate) from: &'a Path,
    pub(crate) schema: &'a str,
    pub(crate) out: &'a str,
    /// The path by which the generated code names the types crate.
    pub(crate) types: Option<&'a str>,
}

impl Extension<'_> {
    /// What stands in the schema and is perhaps not meant, a line each.
    fn notes(&self) -> Result<Vec<String>, String> {
        let Some(mut generation) = generation(self.from, &self.from.join(self.schema))? else {
            return Ok(Vec::new());
        };
        name_files(&mut generation, self.schema);
        let notes = mcp_tasks_codegen::notes(&generation).map_err(|errors| told(&errors))?;
        Ok(notes.iter().map(|note| format!("note: {note}")).collect())
    }

    /// Writes the extension's code, or compares it.
    pub(crate) fn settle(&self, check: bool) -> Result<String, String> {
        let folder = self.from.join(self.schema);
        let mut generation = generation(self.from, &folder)?
            .ok_or_else(|| format!("{} is no schema folder: it holds no codegen.toml", self.schema))?;
        // The code says the same whoever makes it and wherever from: both folders as they are seen from the code.
        let home = way(&self.from.join(self.out), &folder);
        let mut options = Options::outside(command(&home, ".", self.types));
        if let Some(types) = self.types {
            types.clone_into(&mut options.root);
        }
        name_files(&mut generation, &home);
        let files = generate(std::slice::from_ref(&generation), &options).map_err(|errors| {
            // Faults are for whoever runs the command, so they name the files as that person did.
            name_files(&mut generation, self.schema);
            refused(&generate(&[generation], &options).err().unwrap_or(errors))
        })?;
        let module = files
            .iter()
            .find_map(|file| file.path.strip_suffix(".schema.json"))
            .ok_or_else(|| format!("{} makes no module", self.schema))?;
        let owns = Owns::Marked(module);
        let command = command(self.schema, self.out, self.types);
        let folder = self.out.trim_end_matches(['/', '\\']);
        let folder = if folder.is_empty() { self.out } else { folder };
        Output { root: self.from, folder, command: &command, owns }.settle(&files, check)
    }
}

/// Names the files of a generation by the folder that they stand in.
fn name_files(generation: &mut Generation, folder: &str) {
    let folder = folder.replace('\\', "/");
    for file in std::iter::once(&mut generation.config).chain(&mut generation.schemas) {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        file.path = format!("{}/{name}", folder.trim_end_matches('/'));
    }
}

/// The command that makes an extension's code, as a shell takes it.
fn command(schema: &str, out: &str, types: Option<&str>) -> String {
    let root = types.map_or_else(String::new, |types| format!(" --root {}", quoted(types)));
    format!("{COMMAND} --schema {} --out {}{root}", quoted(schema), quoted(out))
}

fn quoted(argument: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "/\\:._-+@".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return Cow::Borrowed(argument);
    }
    Cow::Owned(format!("'{}'", argument.replace('\'', "'\\''")))
}

/// The way from one folder to another. Where they have nothing in common but the root it would tell how somebody's
/// machine is laid out, so it is the last part alone.
fn way(from: &Path, to: &Path) -> String {
    let (from, to) = (real(from), real(to));
    let same = from.components().zip(to.components()).take_while(|(a, b)| a == b);
    let (shared, named) = same.fold((0, false), |(shared, named), (part, _)| {
        (shared + 1, named || matches!(part, Component::Normal(_)))
    });
    if !named {
        return to.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
    }
    let up = from.components().skip(shared).map(|_| Cow::Borrowed(".."));
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy());
    let parts: Vec<_> = up.chain(down).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// A path without links and turns, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in path.ancestors() {
        let (Ok(mut found), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) else { continue };
        for part in rest.components() {
            match part {
                Component::ParentDir => _ = found.pop(),
                Component::Normal(name) => found.push(name),
                _ => {}
            }
        }
        return found;
    }
    path
}

fn output(root: &Path) -> Output<'_> {
    Output { root, folder: OUTPUT, command: COMMAND, owns: Owns::Everything }
}

fn docs(root: &Path) -> Output<'_> {
    Output { root, folder: "docs", command: COMMAND, owns: Owns::Nothing }
}

/// What the generator itself has to know of the types.
fn generator(root: &Path) -> Output<'_> {
    Output { root, folder: "codegen/src", command: COMMAND, owns: Owns::Nothing }
}

/// The types, methods and error codes that extensions of others are held against.
fn known_of(root: &Path) -> Result<TextFile, String> {
    mcp_tasks_codegen::known(&oldest_first(root)?).map_err(|errors| told(&errors))
}

/// The reference of all generations.
fn reference_of(root: &Path) -> Result<TextFile, String> {
    mcp_tasks_codegen::reference::reference(&oldest_first(root)?).map_err(|errors| told(&errors))
}

fn oldest_first(root: &Path) -> Result<Vec<Generation>, String> {
    let mut generations = generations(root)?;
    // Dates sort as they are; the draft has none and came first.
    generations
        .sort_by_key(|generation| (!generation.config.path.contains("sep-"), generation.config.path.clone()));
    Ok(generations)
}

/// What the schema says the generated files are.
fn expected(root: &Path) -> Result<Vec<TextFile>, String> {
    let generations = generations(root)?;
    generate(&generations, &Options::inside()).map_err(|errors| refused(&errors))
}

/// Faults, a line each.
pub(crate) fn told(errors: &[Error]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn refused(errors: &[Error]) -> String {
    format!("{}\n{} in the schema; nothing was written", told(errors), counted(errors.len(), "fault"))
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

    use super::{Extension, OUTPUT, docs, expected, generator, known_of, output, reference_of, run, sorted};

    fn write(root: &Path) -> Result<String, String> {
        output(root).settle(&expected(root)?, false)
    }

    fn check(root: &Path) -> Result<String, String> {
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
        stale.extend(generator(root).stale(&[known_of(root).unwrap()]).unwrap());
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

    /// The worked example of an extension.
    const SCHEMA: &str = "examples/vendor/schema";
    const OUT: &str = "examples/vendor/src/generated";

    #[test]
    fn the_code_of_the_example_extension_is_what_its_schema_says() {
        let extension = Extension { from: workspace(), schema: SCHEMA, out: OUT, types: None };
        assert_eq!(extension.settle(true).unwrap(), format!("{OUT} is up to date"));
    }

    /// A copy of the example's schema in a folder that holds other things too.
    fn vendor() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("schema")).unwrap();
        fs::create_dir_all(folder.path().join("src/budget")).unwrap();
        for file in sorted(&workspace().join(SCHEMA)).unwrap() {
            fs::copy(&file, folder.path().join("schema").join(file.file_name().unwrap())).unwrap();
        }
        folder
    }

    #[test]
    fn an_extension_is_written_among_files_of_its_owner() {
        let folder = vendor();
        let at = |path: &str| folder.path().join("src").join(path);
        fs::write(at("lib.rs"), "mod budget;").unwrap();
        fs::write(at("budget/by_hand.rs"), "//! Mine.").unwrap();
        fs::write(
            at("budget/gone.rs"),
            "// @generated by `cargo xtask codegen --schema old --out src` from old.",
        )
        .unwrap();
        let extension = Extension { from: folder.path(), schema: "schema/", out: "src", types: None };
        assert!(
            extension
                .settle(true)
                .unwrap_err()
                .contains("src/budget/gone.rs comes from no schema file any more")
        );
        assert_eq!(extension.settle(false).unwrap(), "3 files in src, 4 changed");
        assert_eq!(fs::read_to_string(at("lib.rs")).unwrap(), "mod budget;");
        assert!(at("budget/by_hand.rs").exists() && !at("budget/gone.rs").exists());
        assert_eq!(extension.settle(true).unwrap(), "src is up to date");
        let code = fs::read_to_string(at("budget/messages.rs")).unwrap();
        let first =
            "// @generated by `cargo xtask codegen --schema ../schema --out .` from ../schema/messages.json.";
        assert!(code.starts_with(first), "{code}");
    }

    #[test]
    fn the_code_is_the_same_however_its_folders_are_spelled() {
        let folder = vendor();
        let from = folder.path();
        let absolute = |name: &str| from.join(name).to_str().unwrap().to_owned();
        let turn =
            |name: &str| from.join("schema/../src/budget/../..").join(name).to_str().unwrap().to_owned();
        let (schema, out) = (absolute("schema"), absolute("src"));
        Extension { from: Path::new(""), schema: &schema, out: &out, types: None }.settle(false).unwrap();
        let spellings = [
            (from, "schema".to_owned(), "src".to_owned()),
            (from, "./schema/".to_owned(), "./src/".to_owned()),
            (&from.join("schema"), ".".to_owned(), "../src".to_owned()),
            (Path::new(""), turn("schema"), turn("src")),
        ];
        for (from, schema, out) in &spellings {
            let told = Extension { from, schema, out, types: None }.settle(true).unwrap();
            assert_eq!(told, format!("{} is up to date", out.trim_end_matches('/')));
        }
        // Nothing else is passed over: a header that says something else is stale.
        let file = from.join("src/budget/messages.rs");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen("../schema/", "schema/", 1)).unwrap();
        for (from, schema, out) in &spellings {
            let told = Extension { from, schema, out, types: None }.settle(true).unwrap_err();
            assert!(told.contains("messages.rs is stale from line 1 on"), "{told}");
            let repair = format!("run `cargo xtask codegen --schema {schema} --out {out}`");
            assert!(told.contains(&repair), "{told}");
        }
    }

    #[test]
    fn faults_and_repairs_name_the_folders_as_the_caller_did() {
        let folder = vendor();
        let from = folder.path();
        let absolute = |name: &str| from.join(name).to_str().unwrap().to_owned();
        fs::write(from.join("schema/messages.json"), "{").unwrap();
        for schema in ["schema".to_owned(), absolute("schema"), absolute("schema/")] {
            let told = Extension { from, schema: &schema, out: "src", types: None }.settle(true).unwrap_err();
            let file = format!("{}/messages.json ", schema.trim_end_matches('/'));
            assert!(told.starts_with(&file), "{told}");
        }
        assert_eq!(
            super::command("a b", "it's", Some("::x::y")),
            r"cargo xtask codegen --schema 'a b' --out 'it'\''s' --root ::x::y"
        );
        // Folders with nothing in common but the root are not told.
        assert_eq!(super::way(Path::new("/nowhere-a/b"), Path::new("/nowhere-c/d")), "d");
        assert_eq!(super::way(Path::new("/nowhere/b/new"), Path::new("/nowhere/b/../c")), "../../c");
    }

    #[test]
    fn a_type_that_is_not_there_and_words_of_the_protocol_are_told() {
        let folder = vendor();
        let from = folder.path();
        let extension = Extension { from, schema: "schema", out: "src", types: None };
        assert_eq!(extension.notes().unwrap(), [""; 0]);
        let change = |file: &str, old: &str, new: &str| {
            let text = fs::read_to_string(from.join(file)).unwrap();
            assert!(text.contains(old), "{text}");
            fs::write(from.join(file), text.replace(old, new)).unwrap();
        };
        change("schema/messages.json", "budget/get", "tasks/get");
        change("schema/messages.json", "-31100", "-32602");
        assert_eq!(
            extension.notes().unwrap(),
            [
                "note: schema/messages.json #/$defs/GetBudgetRequest: the method `tasks/get` is one of the \
                 protocol's own",
                "note: schema/messages.json #/$defs/BudgetErrorCode: the error code -32602 is one of the \
                 protocol's own",
            ]
        );
        change("schema/codegen.toml", "v2026_07_28::RequestId", "v2026_07_28::RequestID");
        let message = extension.settle(false).unwrap_err();
        let (first, last) = message.split_once('\n').unwrap();
        assert!(
            first.starts_with("schema/codegen.toml [replace] RequestId: `v2026_07_28::RequestID` "),
            "{first}"
        );
        assert!(first.ends_with("; did you mean `v2026_07_28::RequestId`?"), "{first}");
        assert_eq!(last, "1 fault in the schema; nothing was written");
    }

    #[test]
    fn a_file_by_hand_is_not_overwritten() {
        let folder = vendor();
        fs::write(folder.path().join("src/budget.rs"), "//! Mine.").unwrap();
        let extension = Extension { from: folder.path(), schema: "schema", out: "src", types: None };
        assert_eq!(extension.settle(false).unwrap_err(), "src/budget.rs is there and was not generated");
        assert_eq!(fs::read_to_string(folder.path().join("src/budget.rs")).unwrap(), "//! Mine.");
    }

    #[test]
    fn the_types_crate_can_have_another_path_and_folders_leave_no_trace_of_a_machine() {
        let folder = vendor();
        let absolute = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (schema, out) = (absolute("schema"), absolute("src"));
        let arguments =
            ["--schema", &schema, "--out", &out, "--root", "::mcp_tasks::types"].map(str::to_owned);
        run(workspace(), &arguments).unwrap();
        let code = fs::read_to_string(folder.path().join("src/budget/messages.rs")).unwrap();
        assert!(code.contains("use ::mcp_tasks::types::support;"), "{code}");
        assert!(
            !code.contains(folder.path().to_str().unwrap()) && !code.contains("mcp_tasks_types"),
            "{code}"
        );
    }

    /// A configuration that leads out of the folder, and a folder that makes nothing: faults, and nothing is written.
    #[test]
    fn a_module_that_is_no_module_and_a_folder_without_a_schema_are_refused() {
        for (key, value) in [("module", "../../evil"), ("module", "/evil"), ("generation", "../evil")] {
            let folder = vendor();
            let config = folder.path().join("schema/codegen.toml");
            let text = fs::read_to_string(&config).unwrap();
            let lines = text.lines().map(|line| match line.starts_with(&format!("{key} =")) {
                true => format!("{key} = \"{value}\""),
                false => line.to_owned(),
            });
            fs::write(&config, lines.collect::<Vec<_>>().join("\n")).unwrap();
            let extension = Extension { from: folder.path(), schema: "schema", out: "src", types: None };
            let message = extension.settle(false).unwrap_err();
            assert!(message.starts_with(&format!("schema/codegen.toml {key}: ")), "{message}");
            assert_eq!(sorted(&folder.path().join("src")).unwrap().len(), 1, "{value}");
        }
        let folder = vendor();
        for file in sorted(&folder.path().join("schema")).unwrap() {
            if file.extension().is_some_and(|extension| extension == "json") {
                fs::remove_file(file).unwrap();
            }
        }
        let extension = Extension { from: folder.path(), schema: "schema", out: "src", types: None };
        let message = extension.settle(false).unwrap_err();
        assert!(message.starts_with("schema/codegen.toml: "), "{message}");
        assert!(message.contains("no schema file"), "{message}");
    }

    #[test]
    fn half_a_command_is_refused() {
        for arguments in
            [&["--schema", "a"][..], &["--out", "a"], &["--root", "a"], &["--schema"], &["--chek"]]
        {
            let arguments: Vec<String> = arguments.iter().copied().map(str::to_owned).collect();
            assert!(run(workspace(), &arguments).unwrap_err().starts_with("usage:"), "{arguments:?}");
        }
        let extension = Extension { from: workspace(), schema: "docs", out: "target", types: None };
        assert_eq!(extension.settle(true).unwrap_err(), "docs is no schema folder: it holds no codegen.toml");
    }
}
