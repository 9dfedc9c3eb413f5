//! `cargo xtask conformance`: the public conformance suite against the fixture server, held against committed lists.
//!
//! The suite is the published package at one version, installed once into the target folder together with a Node.js
//! that it runs on. Which of its scenarios concern a server of ours, and what each has to say, stands in
//! `conformance/*.toml`: a scenario that fails, is missing, is new or checks less than before fails the command.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod list;
mod suite;

use std::process::ExitCode;

use self::list::{List, Verdict};
use self::suite::Suite;
use crate::example::{Place, STORES, Server};
use crate::run::{SKIPPED, reported, root, target};

const USAGE: &str = "usage: cargo xtask conformance tasks|2026-07-28 [--store memory|sqlite|fs|postgres|all] [--scenario NAME]";

struct Options {
    selection: String,
    stores: Vec<&'static str>,
    scenario: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Option<Self> {
        let mut options = Self { selection: String::new(), stores: vec!["memory"], scenario: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "tasks" | "2026-07-28" if options.selection.is_empty() => {
                    options.selection.clone_from(argument);
                }
                "--store" => match arguments.next()?.as_str() {
                    "all" => options.stores = STORES.to_vec(),
                    store => options.stores = vec![STORES.iter().find(|known| **known == store)?],
                },
                "--scenario" => options.scenario = Some(arguments.next()?.clone()),
                _ => return None,
            }
        }
        (!options.selection.is_empty()).then_some(options)
    }
}

pub(crate) fn run(arguments: &[String]) -> ExitCode {
    match Options::parse(arguments) {
        Some(options) => match Suite::install(&cache()) {
            Ok(suite) => match conform(&options, &suite) {
                Ok(0) => ExitCode::from(SKIPPED),
                outcome => reported(outcome.map(|_| ())),
            },
            Err(missing) => {
                eprintln!("conformance skipped: {missing}");
                ExitCode::from(SKIPPED)
            }
        },
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Over how many stores it was held against the list; they are fewer than asked for where PostgreSQL is missing.
fn conform(options: &Options, suite: &Suite) -> Result<usize, String> {
    let file = root().join("xtask/conformance").join(format!("{}.toml", options.selection));
    let list = List::read(&file)?;
    if let Some(scenario) = &options.scenario {
        list.has(scenario)?;
    }
    let mut failed = Vec::new();
    let mut ran = 0;
    for store in &options.stores {
        match Place::of(store)? {
            Some(place) => {
                ran += 1;
                let fixture = Server::start("conformance_server", &["--store", place.argument()])?;
                if !conforms(suite, &list, &fixture, store, options)? {
                    failed.push(*store);
                }
            }
            None => eprintln!("conformance over {store} skipped: PostgreSQL is not installed"),
        }
    }
    if failed.is_empty() { Ok(ran) } else { Err(format!("does not conform over {}", failed.join(", "))) }
}

/// Where the suite is kept between runs.
fn cache() -> std::path::PathBuf {
    target().join("conformance")
}

fn conforms(
    suite: &Suite,
    list: &List,
    fixture: &Server,
    store: &str,
    options: &Options,
) -> Result<bool, String> {
    println!("{} of suite {} over {store}", options.selection, suite.version());
    // Scenarios that are selected by name belong to no revision.
    let revision = list.select().is_empty().then_some(options.selection.as_str());
    let known = suite.scenarios(list.select(), revision)?;
    let mut well = true;
    match &options.scenario {
        None => {
            for complaint in list.compare(&known) {
                println!("  {complaint}");
                well = false;
            }
        }
        Some(only) if !known.contains(only) => {
            return Err(format!("`{only}` is in the list and not in the suite"));
        }
        Some(_) => {}
    }
    let mut total = Verdict::default();
    for name in known.iter().filter(|name| options.scenario.as_ref().is_none_or(|only| only == *name)) {
        let Some(expected) = list.expected(name) else { continue };
        let (verdict, complaints) = suite.run(name, revision, fixture.url())?;
        let as_expected = verdict == expected;
        well &= as_expected;
        println!("  {name:<48} {verdict}{}", if as_expected { "" } else { "  NOT AS LISTED" });
        for complaint in complaints {
            println!("      {complaint}");
        }
        total.add(verdict);
    }
    println!("  {:<48} {total}", "TOTAL");
    if let Some(left_out) = list.left_out() {
        println!("  {left_out}");
    }
    Ok(well)
}
