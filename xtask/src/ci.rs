//! `cargo xtask ci`: everything that has to hold besides the tests.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::output::sorted;
use crate::run::{SKIPPED, cargo, root, shared};
use crate::test::{ORACLE, fixture};
use crate::tidy;

/// Runs every check, also after one failed, and names the failed ones at the end.
pub(crate) fn run() -> ExitCode {
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    let checks: Vec<(&str, Command)> = vec![
        ("format", cargo(&["fmt", "--all", "--check"])),
        (
            "clippy",
            cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]),
        ),
        ("documentation", doc),
        ("tidy", ourselves(&["tidy"])),
        ("requirements --check", ourselves(&["requirements", "--check"])),
        ("codegen --check", ourselves(&["codegen", "--check"])),
        ("samples --check", ourselves(&["samples", "--check"])),
        ("types beside a validator", fixture(ORACLE)),
        ("demo", ourselves(&["demo"])),
        ("torture sqlite", ourselves(&["torture", "--store", "sqlite", "--seconds", "10"])),
        ("torture fs", ourselves(&["torture", "--store", "fs", "--seconds", "10"])),
        // What is published builds from its archive alone.
        (
            "package of the types",
            cargo(&["package", "--quiet", "--allow-dirty", "--package", "mcp-tasks-types"]),
        ),
    ];
    let mut checks: Vec<(String, Command)> =
        checks.into_iter().map(|(name, check)| (name.to_owned(), check)).collect();
    checks.extend(each_feature_alone());
    checks.extend(torture_postgres());
    checks.extend(deny());
    checks.extend(drift());
    checks.extend(others());

    let mut failed = Vec::new();
    let mut steps = Vec::new();
    for (name, mut check) in checks {
        eprintln!("ci: {name}");
        #[expect(clippy::disallowed_methods, reason = "how long a person waits, no decision")]
        let start = Instant::now();
        let outcome = match check.status() {
            Ok(status) if status.success() => "",
            Ok(status) if status.code() == Some(i32::from(SKIPPED)) => "  skipped, and it says above why",
            Ok(_) => "  FAILED",
            Err(error) => {
                eprintln!("ci: cannot start `{}`: {error}", check.get_program().display());
                "  FAILED"
            }
        };
        steps.push(format!("{:>6} s  {name}{outcome}", start.elapsed().as_secs()));
        if outcome == "  FAILED" {
            failed.push(name);
        }
    }
    eprintln!("ci: how long each step took\n{}", steps.join("\n"));
    if failed.is_empty() {
        eprintln!("ci: everything passed");
        return ExitCode::SUCCESS;
    }
    eprintln!("ci: failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// Each feature of the runtime has to be enough for itself, and none as well.
fn each_feature_alone() -> Vec<(String, Command)> {
    let manifest = std::fs::read_to_string(root().join("mcp-tasks/Cargo.toml")).unwrap_or_default();
    let mut features = tidy::features::names(&manifest);
    if features.is_empty() {
        eprintln!("ci: mcp-tasks/Cargo.toml tells of no features");
    }
    features.insert(0, String::new());
    let alone = |feature: String| {
        let package = ["--package", "mcp-tasks", "--all-targets", "--no-default-features", "--features"];
        let mut command = cargo(&["clippy"]);
        command.args(package).arg(&feature).args(["--", "-D", "warnings"]);
        (format!("feature `{feature}` alone"), command)
    };
    features.into_iter().map(alone).collect()
}

/// Several processes over one database, where PostgreSQL is installed.
fn torture_postgres() -> Option<(String, Command)> {
    #[cfg(unix)]
    if crate::postgres_cluster::is_installed() {
        let arguments = ["torture", "--store", "postgres", "--replicas", "3", "--seconds", "10"];
        return Some(("torture postgres".to_owned(), ourselves(&arguments)));
    }
    eprintln!("ci: torture of PostgreSQL skipped: it is not installed");
    None
}

/// What other people's programs find: the conformance suite and the published clients. They skip themselves where they
/// cannot be had.
fn others() -> Vec<(String, Command)> {
    let mut out = vec![
        ("conformance tasks".to_owned(), ourselves(&["conformance", "tasks", "--store", "all"])),
        ("conformance 2026-07-28".to_owned(), ourselves(&["conformance", "2026-07-28"])),
        ("clients".to_owned(), ourselves(&["clients"])),
    ];
    #[cfg(unix)]
    if crate::postgres_cluster::is_installed() {
        let arguments = ["clients", "--store", "postgres", "--replicas", "2"];
        out.push(("clients of two replicas".to_owned(), ourselves(&arguments)));
        return out;
    }
    eprintln!("ci: clients of two replicas skipped: PostgreSQL is not installed");
    out
}

/// What `deny.toml` says of packages of others, where the program that looks at all of it is at hand.
fn deny() -> Option<(String, Command)> {
    let installed = cargo(&["deny", "--version"]).output().is_ok_and(|output| output.status.success());
    if !installed {
        eprintln!("ci: deny skipped: cargo-deny is not installed");
        return None;
    }
    Some(("deny".to_owned(), cargo(&["deny", "check"])))
}

/// Our schemas against the published ones, where those are at hand.
fn drift() -> Vec<(String, Command)> {
    let (ours, published) = (root().join("schema"), shared().join("upstream"));
    let mut out = Vec::new();
    for revision in entries(&ours).iter().filter(|path| path.is_dir()) {
        let revision = name(revision);
        let files = published_of(&published, &revision);
        let what = format!("schema drift {revision}");
        if files.is_empty() && !is_unpublished(&revision) {
            eprintln!("ci: {what} skipped: no file `*-{revision}.schema.json` in {}", published.display());
            continue;
        }
        let mut command = ourselves(&["schema", "drift", "--generation", &revision]);
        command.args(files);
        out.push((what, command));
    }
    out
}

/// Whether a revision says itself that there is nothing to compare it with.
fn is_unpublished(revision: &str) -> bool {
    crate::schema::unpublished(&root(), revision).is_ok_and(|reason| reason.is_some())
}

/// The published schemas of a revision, the core's before its extensions', since a definition is taken from the first.
fn published_of(folder: &Path, revision: &str) -> Vec<PathBuf> {
    let end = format!("-{revision}.schema.json");
    entries(folder).into_iter().filter(|path| name(path).ends_with(&end)).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    sorted(folder).unwrap_or_else(|error| {
        eprintln!("ci: {error}");
        Vec::new()
    })
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Another command of this program. Cargo starts it, since the program may have to be rebuilt.
fn ourselves(arguments: &[&str]) -> Command {
    let mut command = cargo(&["run", "--quiet", "--package", "xtask", "--"]);
    command.args(arguments).current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{drift, each_feature_alone, published_of};

    /// A new feature needs no line here.
    #[test]
    fn every_feature_of_the_manifest_is_built_alone_and_so_is_none() {
        let names: Vec<String> = each_feature_alone().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names[0], "feature `` alone");
        for feature in ["macros", "metrics", "postgres-tls"] {
            assert!(names.contains(&format!("feature `{feature}` alone")), "{names:?}");
        }
        assert!(!names.contains(&"feature `default` alone".to_owned()));
    }

    /// A new revision needs no line here.
    #[test]
    fn every_schema_folder_is_compared_with_what_is_published_of_its_revision() {
        let folder = tempfile::tempdir().unwrap();
        for file in
            ["ext-tasks-2.schema.json", "core-2.schema.json", "core-12.schema.json.txt", "core-1.schema.json"]
        {
            fs::write(folder.path().join(file), "{}").unwrap();
        }
        let found = |revision: &str| -> Vec<String> {
            published_of(folder.path(), revision).iter().map(|path| super::name(path)).collect()
        };
        assert_eq!(found("2"), ["core-2.schema.json", "ext-tasks-2.schema.json"]);
        assert_eq!(found("1"), ["core-1.schema.json"]);
        assert_eq!(found("12"), [""; 0]);
        // Whatever is at hand here, the proposal is always asked about.
        assert!(drift().iter().any(|(what, _)| what == "schema drift sep-1686"));
    }
}
