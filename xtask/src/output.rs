//! Folders that hold generated files and nothing else: writing them, and telling what in them is stale.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mcp_tasks_codegen::TextFile;

/// A folder of generated files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    /// The workspace.
    pub(crate) root: &'a Path,
    /// The folder, from the workspace.
    pub(crate) folder: &'a str,
    /// The command that writes it, for the message about a stale file.
    pub(crate) command: &'a str,
    /// Which files are one too many when they are not among those that are made.
    pub(crate) owns: Owns<'a>,
}

/// Which files in a folder of generated files are the generator's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owns<'a> {
    /// The folder holds nothing else.
    Everything,
    /// Only the files that are made.
    Nothing,
    /// What lies below this subfolder and says in its first line that it was generated. Nothing that does not say so
    /// is overwritten either.
    Marked(&'a str),
}

/// How the first line of generated code begins.
const MARK: &str = "// @generated";

impl Output<'_> {
    /// Writes the files, or only compares them, and says what that came to.
    pub(crate) fn settle(&self, files: &[TextFile], check: bool) -> Result<String, String> {
        if check { self.check(files) } else { self.write(files) }
    }

    fn write(&self, files: &[TextFile]) -> Result<String, String> {
        let output = self.root.join(self.folder);
        let present = self.present(files)?;
        if matches!(self.owns, Owns::Marked(_)) {
            let by_hand = |file: &&TextFile| {
                file.path.ends_with(".rs")
                    && present.get(&file.path).is_some_and(|text| !text.starts_with(MARK))
            };
            if let Some(file) = files.iter().find(by_hand) {
                return Err(format!("{}/{} is there and was not generated", self.folder, file.path));
            }
        }
        let mut changed = 0;
        for file in files {
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
        for path in self.surplus(files, &present) {
            let path = output.join(path);
            fs::remove_file(&path).map_err(|error| describe("remove", &path, &error))?;
            changed += 1;
        }
        Ok(format!("{} files in {}, {changed} changed", files.len(), self.folder))
    }

    fn check(&self, files: &[TextFile]) -> Result<String, String> {
        let stale = self.stale(files)?;
        if stale.is_empty() {
            return Ok(format!("{} is up to date", self.folder));
        }
        Err(format!("{}\nrun `{}` and commit what it writes", stale.join("\n"), self.command))
    }

    /// The files that are there, as far as they can be the generator's.
    fn present(&self, files: &[TextFile]) -> Result<BTreeMap<String, String>, String> {
        let output = self.root.join(self.folder);
        let Owns::Marked(folder) = self.owns else { return present(&output, &output) };
        let mut out = present(&output, &output.join(folder))?;
        for file in files {
            let path = output.join(&file.path);
            if path.exists() {
                out.insert(file.path.clone(), text_of(&path)?);
            }
        }
        Ok(out)
    }

    /// The files that are there and should not be.
    fn surplus<'p>(&self, files: &[TextFile], present: &'p BTreeMap<String, String>) -> Vec<&'p String> {
        let ours = |path: &str, text: &str| match self.owns {
            Owns::Everything => true,
            Owns::Nothing => false,
            Owns::Marked(folder) => {
                path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) && text.starts_with(MARK)
            }
        };
        let unknown = |(path, text): &(&String, &String)| {
            ours(path, text) && !files.iter().any(|file| file.path == **path)
        };
        present.iter().filter(unknown).map(|(path, _)| path).collect()
    }

    /// The files that are not what they should be, in words.
    pub(crate) fn stale(&self, files: &[TextFile]) -> Result<Vec<String>, String> {
        let folder = self.folder;
        let present = self.present(files)?;
        let mut stale = Vec::new();
        for file in files {
            match present.get(&file.path) {
                Some(text) if *text == file.text => {}
                Some(text) => {
                    let line = text.lines().zip(file.text.lines()).take_while(|(a, b)| a == b).count() + 1;
                    stale.push(format!("{folder}/{} is stale from line {line} on", file.path));
                }
                None => stale.push(format!("{folder}/{} is missing", file.path)),
            }
        }
        for path in self.surplus(files, &present) {
            stale.push(format!("{folder}/{path} comes from no schema file any more"));
        }
        Ok(stale)
    }
}

/// The files below a folder by their path from the output folder.
fn present(output: &Path, folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in sorted(&folder)? {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            out.insert(relative(output, &path), text_of(&path)?);
        }
    }
    Ok(out)
}

/// The text of a file, with line ends as the generator writes them.
fn text_of(path: &Path) -> Result<String, String> {
    let text = fs::read(path).map_err(|error| describe("read", path, &error))?;
    Ok(String::from_utf8_lossy(&text).replace("\r\n", "\n"))
}

pub(crate) fn read(root: &Path, path: &Path) -> Result<TextFile, String> {
    let text = fs::read_to_string(path).map_err(|error| describe("read", path, &error))?;
    Ok(TextFile::new(relative(root, path), text))
}

/// The entries of a folder in order; none when it does not exist.
pub(crate) fn sorted(folder: &Path) -> Result<Vec<PathBuf>, String> {
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
