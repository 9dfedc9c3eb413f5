//! `cargo xtask clients`: published clients against the example server.
//!
//! The drivers stand in `$MCP_TASKS_SHARED/tools/clients`. With replicas, `report` runs in several processes over one
//! store, behind a proxy that sends each request to the next one.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

mod proxy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use self::proxy::Proxy;
use crate::example::{Place, STORES, Server};
use crate::run::{SKIPPED, cargo, shared, target};

const USAGE: &str =
    "usage: cargo xtask clients [--store memory|sqlite|fs|postgres] [--replicas N] [--rows REGEX]";

/// How the drivers end when they have no clients.
const NOT_INSTALLED: u8 = 2;

/// The rows of the generation that is served.
const ROWS: &str = "modern|auto|fastmcp4";

struct Options {
    store: &'static str,
    replicas: usize,
    rows: String,
}

impl Options {
    fn parse(arguments: &[String]) -> Option<Self> {
        let mut options = Self { store: "memory", replicas: 1, rows: ROWS.to_owned() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next()?;
            match argument.as_str() {
                "--store" => options.store = STORES.iter().find(|known| *known == value)?,
                "--replicas" => options.replicas = value.parse().ok().filter(|replicas| *replicas > 0)?,
                "--rows" => options.rows.clone_from(value),
                _ => return None,
            }
        }
        // Only one process can have any other store.
        (options.replicas == 1 || options.store == "postgres").then_some(options)
    }
}

pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let Some(options) = Options::parse(arguments) else {
        eprintln!("{USAGE}\n\nSeveral replicas need the store `postgres`.");
        return ExitCode::from(2);
    };
    let (drivers, place) = match needs(&options) {
        Ok(needs) => needs,
        Err(missing) => {
            eprintln!("clients skipped: {missing}");
            return ExitCode::from(SKIPPED);
        }
    };
    match drive(&options, &drivers, &place) {
        Ok(Some(ended)) => ended,
        Ok(None) => {
            eprintln!("clients skipped: they cannot be installed");
            ExitCode::from(SKIPPED)
        }
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The drivers and a place for tasks, and that there is what starts the clients.
fn needs(options: &Options) -> Result<(PathBuf, Place), String> {
    for program in ["bash", "node", "npm", "python3"] {
        let mut command = Command::new(program);
        let started = command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status();
        started.map_err(|error| format!("`{program}` does not start: {error}"))?;
    }
    let place = Place::of(options.store)?.ok_or("PostgreSQL is not installed")?;
    Ok((drivers()?, place))
}

/// What the drivers say; nothing when the clients could not be installed.
fn drive(options: &Options, drivers: &Path, place: &Place) -> Result<Option<ExitCode>, String> {
    let arguments = ["--store", place.argument(), "--poll-ms", "200"];
    let servers: Vec<Server> =
        (0..options.replicas).map(|_| Server::start("report", &arguments)).collect::<Result<_, _>>()?;
    let proxy = Proxy::before(servers.iter().map(Server::url))?;

    let mut command = Command::new("bash");
    command.arg(drivers.join("run.sh")).arg(proxy.url());
    // The built program itself, since cargo would wait for its own lock.
    command.arg(program("report")?).args(["--stdio", "--store", &place.beside(), "--poll-ms", "200"]);
    command.env("ONLY", &options.rows).env("CLIENTS_DIR", target().join("clients"));
    let ended = command.status().map_err(|error| format!("cannot start bash: {error}"))?;
    let code = ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok((code != NOT_INSTALLED).then(|| ExitCode::from(code)))
}

fn drivers() -> Result<PathBuf, String> {
    let drivers = shared().join("tools/clients");
    if drivers.join("run.sh").is_file() {
        Ok(drivers)
    } else {
        Err(format!("no drivers in `{}`, see `MCP_TASKS_SHARED`", drivers.display()))
    }
}

/// Builds an example, and where it is.
fn program(example: &str) -> Result<PathBuf, String> {
    let built = cargo(&["build", "--quiet", "--package", "mcp-tasks-examples", "--bin", example]).status();
    match built {
        Ok(status) if status.success() => Ok(target().join("debug").join(example)),
        Ok(status) => Err(format!("`{example}` is not built: {status}")),
        Err(error) => Err(format!("cannot start cargo: {error}")),
    }
}
