//! What the rules look at: the repository's files, its packages, and the packages that those need.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::output::sorted;
use crate::run::cargo;

/// A file of the repository, by its path from the root.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// The file's name without its folder.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The folder of the file, empty for the root.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(super) fn is_manifest(&self) -> bool {
        self.name() == "Cargo.toml"
    }

    /// Whether the generator writes the file: by where it stands, since what it says of itself is checked.
    pub(crate) fn is_generated(&self) -> bool {
        let golden = self.path.starts_with("codegen/tests/cases/") && self.name() == "expected.rs";
        let reference = matches!(self.path.as_str(), "docs/reference.md" | "docs/conformance.md");
        golden || reference || self.is_below("generated") || self.path.starts_with("samples/")
    }

    /// Whether one of the folders that the file stands in has this name.
    pub(super) fn is_below(&self, folder: &str) -> bool {
        self.folder().split('/').any(|part| part == folder)
    }

    /// The lines with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// The repository as the rules see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repository {
    pub(crate) files: Vec<File>,
    /// The workspace's own packages, as `cargo metadata` describes them.
    pub(super) packages: Vec<Value>,
    /// All packages of the workspace's graph, with `features` as they are united.
    pub(super) graph: Vec<Value>,
}

impl Repository {
    /// Reads everything that is tracked or could be.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        for path in paths(root)? {
            // A file that is deleted and still tracked is no more of the repository than a folder of git's.
            if let Ok(text) = fs::read(root.join(&path)) {
                files.push(File { path, text: String::from_utf8_lossy(&text).replace("\r\n", "\n") });
            }
        }
        let own = metadata(&["--no-deps", "--offline"])?;
        // Offline first: mostly everything is at hand. What is fetched for a build lacks other systems' packages, and
        // without a network those cannot be looked at.
        let whole = metadata(&["--all-features", "--locked", "--offline"])
            .or_else(|_| metadata(&["--all-features", "--locked"]))
            .or_else(|_| {
                host().and_then(|host| {
                    metadata(&["--all-features", "--locked", "--offline", "--filter-platform", &host])
                })
            })?;
        Ok(Self { files, packages: list(&own["packages"]), graph: with_features(&whole) })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect(), ..Self::default() }
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files that people write.
    pub(super) fn sources(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust() && !file.is_generated())
    }

    /// The Markdown that people write.
    pub(super) fn prose(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".md") && !file.is_generated())
    }

    /// Whether a path from the root is a file or a folder.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }
}

/// The entries of a list in an answer of cargo's.
pub(super) fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The packages of an answer of cargo's, each with the features that the graph turns on.
fn with_features(metadata: &Value) -> Vec<Value> {
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (node["id"].to_string(), node["features"].clone()))
        .collect();
    let mut packages = list(&metadata["packages"]);
    // A package that the graph has no node for is one that is looked at in vain.
    packages.retain(|package| nodes.contains_key(&package["id"].to_string()));
    for package in &mut packages {
        package["features"] = nodes[&package["id"].to_string()].clone();
    }
    packages
}

fn metadata(arguments: &[&str]) -> Result<Value, String> {
    let mut command = cargo(&["metadata", "--format-version", "1"]);
    let text = answer(command.args(arguments))?;
    serde_json::from_str(&text).map_err(|error| format!("cannot read the answer of cargo metadata: {error}"))
}

/// The name of the system that the compiler makes programs for.
fn host() -> Result<String, String> {
    let text = answer(Command::new("rustc").arg("-vV"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc does not name its host".to_owned())
}

fn answer(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("cannot start `{name}`: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`{name}` ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// What git tracks or would, and without git what lies below the root.
fn paths(root: &Path) -> Result<Vec<String>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let mut paths: Vec<String> = match answer(&mut git) {
        Ok(text) => text.split_terminator('\0').map(str::to_owned).collect(),
        Err(_) => walked(root, "")?,
    };
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn walked(folder: &Path, from_root: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for path in sorted(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let below = format!("{from_root}{name}");
        if !path.is_dir() {
            out.push(below);
        } else if name != "target" && name != ".git" {
            out.extend(walked(&path, &format!("{below}/"))?);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_git_the_folders_are_walked_and_builds_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a/b.rs", "a/target/c.rs", ".git/d", "e.md"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(walked(folder.path(), "").unwrap(), ["a/b.rs", "e.md"]);
    }

    #[test]
    fn git_and_a_walk_find_the_same_manifests() {
        let root = crate::run::root();
        let manifests = |paths: Vec<String>| -> Vec<String> {
            let mut paths: Vec<String> = paths
                .into_iter()
                .filter(|path| path.ends_with("Cargo.toml") && !path.contains("/ui/"))
                .collect();
            paths.sort();
            paths
        };
        assert_eq!(manifests(paths(&root).unwrap()), manifests(walked(&root, "").unwrap()));
    }
}
