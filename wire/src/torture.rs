//! `cargo xtask torture`: clients load real server processes that are killed at random moments and started again, and
//! what the clients saw is held against what is promised.
//!
//! It ends by itself and prints one JSON line on standard output; the exit status says whether all zeros are zeros.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod broken;
mod client;
mod cluster;
mod effects;
#[path = "../../mcp-tasks/tests/it/postgres_cluster.rs"]
mod postgres_cluster;
mod server;
mod tally;
mod watched;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::cluster::Cluster;
use self::tally::Tally;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: torture --store KIND [--replicas N] [--seconds S] [--seed X] [--broken]

  --store KIND   one of the stores that outlive a process: sqlite, fs or postgres, for which a
                 server is started, and stopped once as a crash would
  --replicas N   how many processes serve at once (1); more than one for postgres alone
  --seconds S    how long the load and the kills go on (10)
  --seed X       of everything that is random (1)
  --broken       over a store that loses records, to see that it is found out";

/// How long tasks may take to come to their end when load and kills have stopped.
const DRAIN: Duration = Duration::from_secs(60);
/// How long, when tasks are lost anyway.
const DRAIN_BROKEN: Duration = Duration::from_secs(3);
/// How many clients there are.
const CLIENTS: u64 = 6;

#[derive(Clone, Debug)]
struct Options {
    store: String,
    replicas: usize,
    seconds: u64,
    seed: u64,
    broken: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self { store: String::new(), replicas: 1, seconds: 10, seed: 1, broken: false };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--broken" {
                options.broken = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("`{argument}` needs a value"))?;
            match argument.as_str() {
                "--store" => options.store.clone_from(value),
                "--replicas" => options.replicas = value.parse()?,
                "--seconds" => options.seconds = value.parse()?,
                "--seed" => options.seed = value.parse()?,
                other => return Err(format!("unknown option `{other}`").into()),
            }
        }
        if !server::STORES.contains(&options.store.as_str()) {
            return Err(format!("`--store` is one of {}", server::STORES.join(", ")).into());
        }
        if options.replicas == 0 || (options.replicas > 1 && options.store != "postgres") {
            return Err("`--replicas` is 1, and more for postgres alone".into());
        }
        if options.broken && options.store != "sqlite" {
            return Err("`--broken` is for sqlite alone".into());
        }
        Ok(options)
    }
}

#[expect(clippy::disallowed_methods, reason = "it drives real processes, so its time is the machine's")]
fn now() -> Instant {
    Instant::now()
}

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(failure) => {
            eprintln!("torture: {failure}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match torture(&options) {
        Ok(tally) => {
            println!("{}", tally.line(&options));
            if tally.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(failure) => {
            eprintln!("torture: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The process that is tortured.
pub(crate) fn serve(arguments: &[String]) -> ExitCode {
    match server::serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("torture server: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn torture(options: &Options) -> Result<Tally, Failure> {
    let started = now();
    let cluster = Cluster::start(options)?;
    let tally = std::sync::Mutex::new(Tally::default());
    let stop = started + Duration::from_secs(options.seconds);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (cluster, tally) = (&cluster, &tally);
            scope.spawn(move || client::load(cluster, tally, options.seed ^ (number + 1), stop));
        }
        cluster.kill_until(stop, options.seed)
    })?;
    let (kills, crashes) = (cluster.kills(), cluster.crashes());
    let mut tally = tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    client::drain(&cluster, &mut tally, now() + if options.broken { DRAIN_BROKEN } else { DRAIN });
    tally.kills = kills;
    tally.crashes = crashes;
    tally.effects(&effects::read(&cluster.effects())?);
    tally.duration_ms = started.elapsed().as_millis();
    Ok(tally)
}
