//! Rules about manifests: reasons of dependencies, and what a package takes from the workspace.

use toml::{Table, Value};

use super::Finding;
use super::repository::{File, Repository};

const WORKSPACE: &str = "Cargo.toml";
/// What every package takes from the workspace, so that it is stated once.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "repository"];
const EDITION: &str = "2024";

/// A dependency has a reason: a comment above it, which speaks for the lines down to the next blank one, in the
/// package's manifest or in the workspace's. Our own packages need none; who may depend on whom is a rule of its own.
pub(super) fn every_dependency_has_a_reason(repository: &Repository) -> Vec<Finding> {
    let shared: Vec<Dependency<'_>> = repository.file(WORKSPACE).map(dependencies).unwrap_or_default();
    let mut out = Vec::new();
    for file in repository.files.iter().filter(|file| file.is_manifest()) {
        for dependency in dependencies(file) {
            // What the workspace says stands for a package that takes it from there, and for it alone.
            let inherited = dependency.line.contains("workspace = true");
            let explained = inherited
                && shared
                    .iter()
                    .any(|ours| ours.name == dependency.name && (ours.has_reason || ours.is_ours()));
            if !(dependency.has_reason || dependency.is_ours() || explained) {
                let what = format!("say above `{}` what it is needed for", dependency.name);
                out.push(Finding::at(&file.path, dependency.number, what));
            }
        }
    }
    out
}

/// A line of a manifest that names a dependency.
struct Dependency<'a> {
    number: usize,
    line: &'a str,
    name: &'a str,
    has_reason: bool,
}

impl Dependency<'_> {
    fn is_ours(&self) -> bool {
        self.line.contains("path = ")
    }
}

fn dependencies(file: &File) -> Vec<Dependency<'_>> {
    let (mut inside, mut has_reason) = (false, false);
    let mut out = Vec::new();
    for (number, line) in file.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = header.ends_with("dependencies");
            // `[dependencies.name]` is a dependency by itself; the comment stands above.
            if let Some((_, name)) = header.split_once("dependencies.") {
                out.push(Dependency { number, line, name, has_reason });
            }
            has_reason = false;
        } else if line.starts_with('#') {
            has_reason = true;
        } else if line.trim().is_empty() {
            has_reason = false;
        } else if inside && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let name = line.split(['.', ' ', '=']).next().unwrap_or(line);
            out.push(Dependency { number, line, name, has_reason });
        }
    }
    out
}

/// A package of the workspace takes version, edition, minimum Rust, license and lints from it; the minimum is stated
/// nowhere else. A package of its own, as fixtures are, has the same edition and forbids unsafe code as well.
pub(super) fn every_package_follows_the_workspace(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in repository.files.iter().filter(|file| file.is_manifest()) {
        let manifest = match file.text.parse::<Table>() {
            Ok(manifest) => manifest,
            Err(error) => {
                out.push(Finding::at(&file.path, 1, format!("not a manifest: {}", error.message())));
                continue;
            }
        };
        let mut fault = |what: String| out.push(Finding::at(&file.path, 1, what));
        let shared = at(&manifest, &["workspace", "package"]);
        if file.path == WORKSPACE {
            for key in INHERITED {
                if shared.and_then(|shared| shared.get(key)).is_none() {
                    fault(format!("state `{key}` in [workspace.package]"));
                }
            }
            if at(&manifest, &["workspace", "package", "edition"]).and_then(Value::as_str) != Some(EDITION) {
                fault(format!("the edition is {EDITION}"));
            }
            if at(&manifest, &["workspace", "lints", "rust", "unsafe_code"]).and_then(Value::as_str)
                != Some("forbid")
            {
                fault("forbid `unsafe_code` in [workspace.lints.rust]".to_owned());
            }
        }
        let Some(package) = manifest.get("package").and_then(Value::as_table) else { continue };
        if manifest.contains_key("workspace") && file.path != WORKSPACE {
            if package.get("edition").and_then(Value::as_str) != Some(EDITION) {
                fault(format!("the edition is {EDITION}"));
            }
            if package.contains_key("rust-version") {
                fault("the minimum Rust version is stated in the workspace alone; take it out".to_owned());
            }
            if at(&manifest, &["lints", "rust", "unsafe_code"]).and_then(Value::as_str) != Some("forbid") {
                fault(
                    "forbid `unsafe_code` in [lints.rust]; this package has no workspace to take it from"
                        .to_owned(),
                );
            }
            continue;
        }
        for key in INHERITED {
            if at(package, &[key, "workspace"]).and_then(Value::as_bool) != Some(true) {
                fault(format!("take `{key}` from the workspace: `{key}.workspace = true`"));
            }
        }
        if at(&manifest, &["lints", "workspace"]).and_then(Value::as_bool) != Some(true) {
            fault("take the lints from the workspace: `[lints]` with `workspace = true`".to_owned());
        }
    }
    out
}

/// A package that is published carries the texts of its licenses, the same as the workspace's: it is read without the
/// rest of the repository.
pub(super) fn what_is_published_has_its_licenses(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for package in repository.packages.iter().filter(|package| package["publish"].is_null()) {
        let name = format!("name = \"{}\"", package["name"].as_str().unwrap_or_default());
        let is_its = |file: &&File| file.is_manifest() && file.text.lines().any(|line| line == name);
        let Some(manifest) = repository.files.iter().find(is_its) else { continue };
        for ours in repository.files.iter().filter(|file| file.path.starts_with("LICENSE")) {
            let path = format!("{}/{}", manifest.folder(), ours.path);
            if repository.file(&path).is_none_or(|copy| copy.text != ours.text) {
                let what = format!("`{path}` is not there or differs; copy the workspace's `{}`", ours.path);
                out.push(Finding::at(&manifest.path, 1, what));
            }
        }
    }
    out
}

/// The value below a path of keys.
pub(super) fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::said;
    use super::*;

    const ROOT: &str = "[workspace.package]\nversion = \"1.0.0\"\nedition = \"2024\"\nrust-version = \"1.89\"\n\
        license = \"MIT\"\nrepository = \"r\"\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let root = "[workspace.dependencies]\n# For texts.\na = \"1\"\nb = \"1\"\n\n\
            c = \"1\"\nours = { path = \"o\" }\n";
        let member = "[dependencies]\na.workspace = true\nb = { workspace = true }\nours.workspace = true\n\
            # Down to the next blank line.\nd = \"1\"\ne = { version = \"1\" }\n\nf = \"1\"\n";
        let table = "[target.'cfg(unix)'.dependencies.g]\nversion = \"1\"\n\n[dev-dependencies]\na = \"1\"\n";
        let files = [(WORKSPACE, root), ("m/Cargo.toml", member), ("t/Cargo.toml", table)];
        assert_eq!(
            said(every_dependency_has_a_reason, &files),
            [
                "Cargo.toml:6: say above `c` what it is needed for",
                "m/Cargo.toml:9: say above `f` what it is needed for",
                "t/Cargo.toml:1: say above `g` what it is needed for",
                "t/Cargo.toml:5: say above `a` what it is needed for",
            ]
        );
    }

    #[test]
    fn a_package_that_states_what_the_workspace_states_is_found() {
        let member = "[package]\nname = \"m\"\nversion.workspace = true\nedition = \"2021\"\n\
            rust-version.workspace = true\nlicense.workspace = true\nrepository.workspace = true\n";
        let found = said(every_package_follows_the_workspace, &[(WORKSPACE, ROOT), ("m/Cargo.toml", member)]);
        assert_eq!(
            found,
            [
                "m/Cargo.toml:1: take `edition` from the workspace: `edition.workspace = true`",
                "m/Cargo.toml:1: take the lints from the workspace: `[lints]` with `workspace = true`",
            ]
        );
    }

    #[test]
    fn a_fixture_and_a_workspace_that_allow_unsafe_code_are_found() {
        let fixture = "[workspace]\n[package]\nname = \"f\"\nedition = \"2021\"\nrust-version = \"1.80\"\n";
        let found = said(every_package_follows_the_workspace, &[("f/Cargo.toml", fixture)]);
        assert_eq!(
            found,
            [
                "f/Cargo.toml:1: the edition is 2024",
                "f/Cargo.toml:1: the minimum Rust version is stated in the workspace alone; take it out",
                "f/Cargo.toml:1: forbid `unsafe_code` in [lints.rust]; this package has no workspace to take it from",
            ]
        );
        let root = ROOT.replace("forbid", "deny").replace("rust-version", "rust");
        assert_eq!(
            said(every_package_follows_the_workspace, &[(WORKSPACE, &root)]),
            [
                "Cargo.toml:1: state `rust-version` in [workspace.package]",
                "Cargo.toml:1: forbid `unsafe_code` in [workspace.lints.rust]",
            ]
        );
    }

    #[test]
    fn a_published_package_without_its_licenses_is_found() {
        let mut repository = Repository::of(&[
            ("LICENSE-A", "A."),
            ("a/Cargo.toml", "name = \"a\"\n"),
            ("a/LICENSE-A", "Another."),
            ("b/Cargo.toml", "name = \"b\"\n"),
        ]);
        repository.packages =
            vec![json!({"name": "a", "publish": null}), json!({"name": "b", "publish": []})];
        let found: Vec<String> =
            what_is_published_has_its_licenses(&repository).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            ["a/Cargo.toml:1: `a/LICENSE-A` is not there or differs; copy the workspace's `LICENSE-A`"]
        );
    }
}
