//! `cargo xtask test`: all tests of the workspace, with the number that passed.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::{
    io::{BufRead, BufReader},
    process::{Command, ExitCode, Stdio},
};

#[cfg(unix)]
use crate::postgres_cluster::{Cluster, VARIABLE};
use crate::run::{cargo, root, target};

/// Packages in workspaces of their own: a tool whose one dependency is `mcp-tasks`, a client whose one dependency is
/// the types crate, and the types' tests with other features of serde_json.
const FIXTURES: &[&str] = &[
    "mcp-tasks/tests/one_dependency",
    "mcp-tasks-types/tests/one_dependency",
    "mcp-tasks-types/tests/features",
];

/// The types beside a validator of JSON Schema. It is large, so that it belongs to long runs and to `ci`.
pub(crate) const ORACLE: &str = "mcp-tasks-types/tests/oracle";
/// What takes too long for every run.
const LONG: &[&str] = &[ORACLE];
/// How many random messages of each type a long run reads.
const LONG_MESSAGES: &str = "1000";
/// How many random sequences of events a long run sends through engines over each store.
const LONG_SEQUENCES: &str = "400";

/// Runs the workspace's tests, then the fixtures', and prints the sums.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let long = match arguments {
        [] => false,
        [flag] if flag == "--long" => true,
        _ => {
            eprintln!("usage: cargo xtask test [--long]");
            return ExitCode::from(2);
        }
    };
    let mut runs = vec![cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"])];
    runs.extend(FIXTURES.iter().chain(if long { LONG } else { &[] }).map(|folder| fixture(folder)));

    if long {
        for command in &mut runs {
            command.env("MCP_TASKS_MESSAGES", LONG_MESSAGES);
            command.env("MCP_TASKS_SEQUENCES", LONG_SEQUENCES);
        }
    }

    // It ends with this function, or with this process if that is killed.
    #[cfg(unix)]
    let _database = match database(&mut runs) {
        Ok(database) => database,
        Err(error) => {
            eprintln!("xtask: PostgreSQL does not start: {error}");
            return ExitCode::FAILURE;
        }
    };

    let mut total = Counts::default();
    let mut all_ended_well = true;
    for mut command in runs {
        match counted(&mut command) {
            Ok((counts, ended_well)) => {
                total.add(counts);
                all_ended_well &= ended_well;
            }
            Err(error) => {
                eprintln!("xtask: cannot run the tests: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("\n{} tests passed, {} failed, {} ignored", total.passed, total.failed, total.ignored);
    if all_ended_well && total.failed == 0 && total.passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One PostgreSQL server for all tests, unless there is a database for them.
#[cfg(unix)]
fn database(runs: &mut [Command]) -> std::io::Result<Option<Cluster>> {
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(None);
    }
    let cluster = Cluster::start()?;
    match &cluster {
        Some(cluster) => {
            for command in runs {
                command.env(VARIABLE, cluster.url());
            }
        }
        None => eprintln!("xtask: PostgreSQL is not installed; its tests are skipped"),
    }
    Ok(cluster)
}

/// The tests of a package in a workspace of its own.
pub(crate) fn fixture(folder: &str) -> Command {
    let mut command = cargo(&["test", "--manifest-path"]);
    command.arg(root().join(folder).join("Cargo.toml")).arg("--target-dir").arg(target().join("fixtures"));
    command
}

/// Runs one command, shows what it prints, and adds up its result lines.
fn counted(command: &mut Command) -> std::io::Result<(Counts, bool)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut counts = Counts::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some(result) = Counts::of_line(&line) {
                counts.add(result);
            }
            println!("{line}");
        }
    }
    Ok((counts, child.wait()?.success()))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    /// The numbers of one `test result: ok. 3 passed; 0 failed; 1 ignored; …` line.
    fn of_line(line: &str) -> Option<Self> {
        let numbers = line.strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut counts = Self::default();
        for part in numbers.split("; ") {
            let Some((number, what)) = part.split_once(' ') else {
                continue;
            };
            let field = match what {
                "passed" => &mut counts.passed,
                "failed" => &mut counts.failed,
                "ignored" => &mut counts.ignored,
                _ => continue,
            };
            *field = number.parse().ok()?;
        }
        Some(counts)
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn result_lines_are_added_up_and_others_are_not() {
        let line = "test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 3 filtered out; finished in 0.01s";
        assert_eq!(Counts::of_line(line), Some(Counts { passed: 12, failed: 1, ignored: 2 }));
        assert_eq!(Counts::of_line("test it::works ... ok"), None);
    }
}
