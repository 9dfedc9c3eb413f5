//! `cargo xtask schema drift` and `cargo xtask schema diff`: our schema against the published one, and two of our own
//! schema folders against each other.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use mcp_tasks_codegen::{TextFile, diff, drift};

use crate::codegen::{generation, told};
use crate::output::say;

const USAGE: &str = "\
usage: cargo xtask schema drift --generation GENERATION [--write] FILE...
       cargo xtask schema diff OLD NEW";

/// Runs the command. Folders and files are named from where the caller stands.
///
/// Exit statuses are those of `diff`: 0 where all is as it may be or there is nothing to compare on purpose, 1 where
/// something differs that must not, 2 where something cannot be compared, so that a script can tell one from the other.
pub(crate) fn run(root: &Path, arguments: &[String]) -> ExitCode {
    match clean(root, arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// Says what was found, and whether all of it may be.
fn clean(root: &Path, arguments: &[String]) -> Result<bool, String> {
    match arguments {
        [command, rest @ ..] if command == "drift" => {
            let (name, write, files) = drift_arguments(rest).ok_or(USAGE)?;
            if let Some(reason) = unpublished(root, name)? {
                say(&format!("schema/{name} is compared with nothing: {reason}"));
                return Ok(true);
            }
            if files.is_empty() {
                return Err(USAGE.to_owned());
            }
            let drift = drift_of(root, name, files, write)?;
            say(&drift.to_string());
            if !drift.is_clean() {
                eprintln!("schema/{name} and the published schema have drifted apart");
            }
            Ok(drift.is_clean())
        }
        [command, old, new] if command == "diff" => {
            let diff = diff_of(Path::new(""), old, new)?;
            say(&diff.to_string());
            Ok(!diff.breaks())
        }
        _ => Err(USAGE.to_owned()),
    }
}

/// The generation, whether its `divergences.toml` is to be written, and the published files.
fn drift_arguments(arguments: &[String]) -> Option<(&str, bool, &[String])> {
    let [flag, name, rest @ ..] = arguments else { return None };
    let (write, files) = match rest {
        [flag, files @ ..] if flag == "--write" => (true, files),
        files => (false, files),
    };
    let known = flag == "--generation" && !files.iter().any(|file| file.starts_with('-'));
    known.then_some((name, write, files))
}

/// What changed from one schema folder to another, both named from a folder.
pub(crate) fn diff_of(from: &Path, old: &str, new: &str) -> Result<diff::Diff, String> {
    let read = |folder: &str| {
        generation(from, &from.join(folder))?
            .ok_or_else(|| format!("{folder} is no schema folder: it holds no codegen.toml"))
    };
    diff::diff(&read(old)?, &read(new)?).map_err(|errors| told(&errors))
}

/// The file of a schema folder that lists where it departs from the published schema on purpose.
const DIVERGENCES: &str = "divergences.toml";

fn divergences(root: &Path, name: &str) -> Result<TextFile, String> {
    let path = root.join("schema").join(name).join(DIVERGENCES);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // A new revision has none yet.
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    Ok(TextFile::new(format!("schema/{name}/{DIVERGENCES}"), text))
}

/// Why nothing can be compared, where nobody publishes a schema of a revision.
pub(crate) fn unpublished(root: &Path, name: &str) -> Result<Option<String>, String> {
    drift::unpublished(&divergences(root, name)?).map_err(|errors| told(&errors))
}

/// Our schema of a generation against published ones.
fn drift_of(root: &Path, name: &str, files: &[String], write: bool) -> Result<drift::Drift, String> {
    let folder = root.join("schema").join(name);
    let ours =
        generation(root, &folder)?.ok_or_else(|| format!("there is no generation `{name}` in schema/"))?;
    let mut published = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
        published.push(TextFile::new(file.as_str(), text));
    }
    let listed = divergences(root, name)?;
    let compared =
        |listed: &TextFile| drift::drift(&ours, &published, listed).map_err(|errors| told(&errors));
    let found = compared(&listed)?;
    if !write {
        return Ok(found);
    }
    let written = drift::with_published(&listed, &found).map_err(|errors| told(&errors))?;
    if written != listed {
        let path = folder.join(DIVERGENCES);
        fs::write(&path, &written.text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    compared(&written)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{USAGE, clean, diff_of};

    #[test]
    fn folders_are_compared_and_what_is_none_is_told() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(!diff_of(root, "schema/2026-07-28", "schema/2026-07-28/").unwrap().breaks());
        assert!(diff_of(root, "schema/2025-11-25", "schema/2026-07-28").unwrap().breaks());
        let message = diff_of(root, "schema/2026-07-28", "docs").unwrap_err();
        assert_eq!(message, "docs is no schema folder: it holds no codegen.toml");
    }

    fn asked(root: &Path, arguments: &[&str]) -> Result<bool, String> {
        let arguments: Vec<String> = arguments.iter().copied().map(str::to_owned).collect();
        clean(root, &arguments)
    }

    /// A difference is an answer; what cannot be compared is a message, for another exit status.
    #[test]
    fn drift_tells_a_difference_from_what_cannot_be_compared() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (schema, text) = (file("schema.json", r#"{"$defs":{}}"#), file("notes.txt", "Notes."));
        let drift = |name: &str, path: &str| asked(root, &["drift", "--generation", name, path]);
        assert_eq!(drift("2026-07-28", &schema), Ok(false));
        assert!(drift("2026-07-28", &text).unwrap_err().contains("no JSON"));
        assert!(drift("2026-07-28", "gone.json").unwrap_err().starts_with("cannot read gone.json"));
        assert_eq!(
            drift("1999-01-01", &schema).unwrap_err(),
            "there is no generation `1999-01-01` in schema/"
        );
        // Nobody publishes one, which is no failure; the answer says what stands in for it.
        let answer = super::unpublished(root, "sep-1686").unwrap().unwrap();
        assert!(answer.contains("no schema to compare with") && answer.contains("seed.rs"), "{answer}");
        assert_eq!(drift("sep-1686", &text), Ok(true));
        assert_eq!(asked(root, &["drift", "--generation", "sep-1686"]), Ok(true));
        for arguments in [
            &["drift"][..],
            &["drift", "--generation", "2026-07-28", "--write"],
            &["drift", "--generation", "2026-07-28"],
            &["drift", "--generation", "a", "-x"],
        ] {
            assert_eq!(asked(root, arguments).unwrap_err(), USAGE, "{arguments:?}");
        }
    }

    #[test]
    fn drift_writes_what_is_published_into_the_entries() {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join("schema/1");
        fs::create_dir_all(&ours).unwrap();
        fs::write(ours.join("codegen.toml"), "").unwrap();
        fs::write(ours.join("things.json"), r#"{"$defs":{"A":{"type":"string"}}}"#).unwrap();
        let published = folder.path().join("published.json");
        fs::write(&published, r#"{"$defs":{"A":{"type":"integer"}}}"#).unwrap();
        let listed = ours.join("divergences.toml");
        fs::write(&listed, "[[differs]]\nat = \"A\"\nkind = \"type\"\nreason = \"meant\"\n").unwrap();
        let published = published.to_str().unwrap();
        assert_eq!(asked(folder.path(), &["drift", "--generation", "1", published]), Ok(false));
        assert_eq!(asked(folder.path(), &["drift", "--generation", "1", "--write", published]), Ok(true));
        assert!(fs::read_to_string(&listed).unwrap().contains("published = \"integer\""));
        assert_eq!(asked(folder.path(), &["drift", "--generation", "1", published]), Ok(true));
    }
}
