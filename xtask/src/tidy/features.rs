//! Rules about the features of our packages.

use toml::{Table, Value};

use super::Finding;
use super::manifests::at;
use super::prose::joined;
use super::repository::{File, Repository};

/// The features of a package, as its manifest has them.
struct Features<'a> {
    manifest: &'a File,
    table: Table,
}

impl<'a> Features<'a> {
    fn of(manifest: &'a File) -> Option<Self> {
        let table: Table = manifest.text.parse().ok()?;
        table.contains_key("features").then_some(Self { manifest, table })
    }

    fn all(repository: &'a Repository) -> impl Iterator<Item = Self> {
        repository.files.iter().filter(|file| file.is_manifest()).filter_map(Self::of)
    }

    /// Each feature with what it turns on.
    fn entries(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let table = self.table.get("features").and_then(Value::as_table);
        table.into_iter().flatten().map(|(name, turns_on)| {
            let turns_on = turns_on.as_array().into_iter().flatten().filter_map(Value::as_str);
            (name.as_str(), turns_on.collect())
        })
    }

    /// What can be chosen.
    fn names(&self) -> Vec<&str> {
        chosen(self.entries().map(|(name, _)| name))
    }

    fn is_default(&self, feature: &str) -> bool {
        self.entries().any(|(name, turns_on)| name == "default" && turns_on.contains(&feature))
    }

    /// A file that is named from the package's folder.
    fn file(&self, repository: &'a Repository, path: &str) -> Option<&'a File> {
        repository.file(&joined(self.manifest.folder(), path)?)
    }
}

/// All but `default`.
fn chosen<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    names.filter(|name| *name != "default").collect()
}

/// The features that the text of a manifest has; none where it cannot be read.
pub(crate) fn names(manifest: &str) -> Vec<String> {
    let table: Table = manifest.parse().unwrap_or_default();
    let features = table.get("features").and_then(Value::as_table);
    chosen(features.into_iter().flatten().map(|(name, _)| name.as_str()))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// An optional dependency is named with `dep:`, which makes no feature of its own, and never with `?/`, which drags it
/// into lock files.
pub(super) fn dependencies_are_no_features(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for features in Features::all(repository) {
        let path = &features.manifest.path;
        let weak = features.manifest.lines().filter(|(_, line)| line.contains("?/"));
        out.extend(
            weak.map(|(number, _)| {
                Finding::at(path, number, "name the dependency with `dep:`, not with `?/`")
            }),
        );
        let dependencies = features.table.get("dependencies").and_then(Value::as_table);
        for (name, dependency) in dependencies.into_iter().flatten() {
            let optional = dependency.get("optional").and_then(Value::as_bool) == Some(true);
            let named = format!("dep:{name}");
            if optional && !features.entries().any(|(_, turns_on)| turns_on.contains(&named.as_str())) {
                let what = format!("name `{named}` in a feature; otherwise `{name}` is a feature itself");
                out.push(Finding::at(path, 1, what));
            }
        }
    }
    out
}

/// A feature is described above it in the manifest and in a table of the crate's documentation (and of its README, if
/// that has one). The tables list the same features, no others, and the same defaults.
pub(super) fn every_feature_is_described(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for features in Features::all(repository) {
        let lines: Vec<&str> = features.manifest.text.lines().collect();
        for name in features.names() {
            let begins = format!("{name} = ");
            if !lines.windows(2).any(|pair| pair[0].starts_with('#') && pair[1].starts_with(&begins)) {
                let what = format!("say above the feature `{name}` what it adds");
                out.push(Finding::at(&features.manifest.path, 1, what));
            }
        }
        if let Some(library) = features.file(repository, "src/lib.rs") {
            if feature_table(library).is_empty() {
                let what = "list the features in a table, `| feature | … |`";
                out.push(Finding::at(&library.path, 1, what));
            }
            out.extend(differences(&features, library));
        }
        let readme = at(&features.table, &["package", "readme"]).and_then(Value::as_str);
        if let Some(readme) = readme.and_then(|path| features.file(repository, path)) {
            out.extend(differences(&features, readme));
        }
    }
    out
}

/// Where the table of features in a text, if it has one, differs from the manifest.
fn differences(features: &Features<'_>, text: &File) -> Vec<Finding> {
    let (names, manifest) = (features.names(), &features.manifest.path);
    let rows = feature_table(text);
    let mut out = Vec::new();
    for Row { number, name, default } in &rows {
        if !names.contains(name) {
            out.push(Finding::at(&text.path, *number, format!("{manifest} has no feature `{name}`")));
        } else if default.is_some_and(|default| default != features.is_default(name)) {
            let what = format!("whether `{name}` is a default differs from {manifest}");
            out.push(Finding::at(&text.path, *number, what));
        }
    }
    let Some(first) = rows.first() else { return out };
    for name in names.iter().filter(|name| rows.iter().all(|row| row.name != **name)) {
        let what = format!("the table of features lacks `{name}` of {manifest}");
        out.push(Finding::at(&text.path, first.number, what));
    }
    out
}

/// A row of a table of features.
struct Row<'a> {
    number: usize,
    name: &'a str,
    /// Whether the feature is a default, when the table has a column for it.
    default: Option<bool>,
}

/// The rows of the first table whose first column is called `feature`.
fn feature_table(file: &File) -> Vec<Row<'_>> {
    let cells = |line| {
        let line: &str = str::trim_start_matches(line, "//!");
        let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        Some(line.split('|').map(str::trim).collect::<Vec<&str>>())
    };
    let mut table =
        file.lines().skip_while(|(_, line)| cells(line).is_none_or(|cells| cells[0] != "feature"));
    let Some(head) = table.next().and_then(|(_, line)| cells(line)) else { return Vec::new() };
    let default = head.iter().position(|cell| *cell == "default");
    let rows = table.skip(1).map_while(|(number, line)| Some((number, cells(line)?)));
    rows.map(|(number, cells)| {
        let is_default = default.map(|column| cells.get(column) == Some(&"yes"));
        Row { number, name: cells[0].trim_matches('`'), default: is_default }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn optional_dependencies_that_make_features_are_found() {
        let manifest =
            "[dependencies]\nx = { version = \"1\", optional = true }\n[features]\na = [\"y?/z\"]\n";
        assert_eq!(
            said(dependencies_are_no_features, &[("m/Cargo.toml", manifest)]),
            [
                "m/Cargo.toml:4: name the dependency with `dep:`, not with `?/`",
                "m/Cargo.toml:1: name `dep:x` in a feature; otherwise `x` is a feature itself",
            ]
        );
    }

    #[test]
    fn features_that_are_not_described_or_described_otherwise_are_found() {
        let manifest = "[package]\nreadme = \"../README.md\"\n\
            [features]\ndefault = [\"a\"]\n# Adds a.\na = []\nb = []\n";
        let library =
            "//! | feature | gives | default |\n//! |---|---|---|\n//! | `a` | a | |\n//! | `c` | c | |\n";
        let readme = "| feature |\n|---|\n| `a` |\n";
        let files = [("m/Cargo.toml", manifest), ("m/src/lib.rs", library), ("README.md", readme)];
        assert_eq!(
            said(every_feature_is_described, &files),
            [
                "m/Cargo.toml:1: say above the feature `b` what it adds",
                "m/src/lib.rs:3: whether `a` is a default differs from m/Cargo.toml",
                "m/src/lib.rs:4: m/Cargo.toml has no feature `c`",
                "m/src/lib.rs:3: the table of features lacks `b` of m/Cargo.toml",
                "README.md:3: the table of features lacks `b` of m/Cargo.toml",
            ]
        );
    }

    #[test]
    fn a_crate_with_features_and_without_a_table_is_found() {
        let files = [("m/Cargo.toml", "[features]\n# Adds a.\na = []\n"), ("m/src/lib.rs", "//! Nothing.\n")];
        assert_eq!(
            said(every_feature_is_described, &files),
            ["m/src/lib.rs:1: list the features in a table, `| feature | … |`"]
        );
    }
}
