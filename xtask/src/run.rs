//! Starting other programs: cargo as it was given to us, in the workspace's root.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

/// The exit status of a command that was not run, since what it needs is not at hand; it says so itself.
pub(crate) const SKIPPED: u8 = 3;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The folder of published schemas, lists and drivers, which need not be at hand.
pub(crate) fn shared() -> PathBuf {
    std::env::var_os("MCP_TASKS_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from)
}

/// The cargo that runs us, started in the root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// A command of the package that has the types compiled, with our streams passed on.
pub(crate) fn wire_package(command: &str, arguments: &[String], shows_building: bool) -> ExitCode {
    passed_on(&mut wire_command(command, arguments, shows_building))
}

/// The same, not yet started. Building it may take a while, which a person wants to see and a program that reads our
/// streams does not.
pub(crate) fn wire_command(command: &str, arguments: &[String], shows_building: bool) -> Command {
    let mut cargo = cargo(&["run", "--package", "mcp-tasks-wire"]);
    if !shows_building {
        cargo.arg("--quiet");
    }
    cargo.arg("--").arg(command).args(arguments);
    cargo
}

/// The torture, which alone needs the runtime compiled.
pub(crate) fn torture(arguments: &[String]) -> ExitCode {
    let mut cargo = cargo(&["run", "--quiet", "--package", "mcp-tasks-wire", "--features", "torture", "--"]);
    passed_on(cargo.arg("torture").args(arguments))
}

/// Runs a command in our place: its exit status becomes ours.
pub(crate) fn passed_on(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("xtask: cannot start `{}`: {error}", command.get_program().display());
            ExitCode::FAILURE
        }
    }
}

/// Refuses arguments for a command that takes none, so that a misspelt option is not ignored.
pub(crate) fn without_arguments(
    command: &str,
    arguments: &[String],
    run: impl FnOnce() -> ExitCode,
) -> ExitCode {
    match arguments.first() {
        None => run(),
        Some(argument) => {
            eprintln!("xtask: `{command}` takes no argument `{argument}`");
            ExitCode::from(2)
        }
    }
}

/// The exit status of a command that says what went wrong.
pub(crate) fn reported(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
