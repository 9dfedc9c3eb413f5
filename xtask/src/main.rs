//! The project's tasks, run as `cargo xtask COMMAND`.
//!
//! Of our packages this program depends on the generator alone, so that it builds while generated code does not.
//! Commands that need the types compiled are handed to the package `mcp-tasks-wire`.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

mod bench;
mod ci;
mod clients;
mod codegen;
mod conformance;
mod demo;
mod example;
mod fuzz;
mod output;
#[cfg(unix)]
#[path = "../../mcp-tasks/tests/it/postgres_cluster.rs"]
mod postgres_cluster;
mod requirements;
mod run;
mod samples;
mod schema;
mod test;
mod tidy;
#[cfg(test)]
mod walk;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  codegen [--check]   write the generated types from schema/, or tell what is stale
  codegen --schema DIR --out DIR [--root PATH] [--check]
                      the same for an extension of somebody else's
  schema drift --generation G [--write] FILE...
                      our schema against a published one; --write notes in the
                      listed differences what is published there
  schema diff OLD NEW what changed between two schema folders, and whom it breaks
  wire [--list]       read and write back messages, one JSON line each
  test [--long]       run all tests and print how many passed
  samples [--check]   write the messages that types accept, reject and read leniently, have
                      the types read them, and print how many there are
  bench types         reading, writing and a cold build beside other crates
  bench engine        polls, creation and durable writes beside what they cannot be faster than
  bench http          the same over HTTP, beside a bare handler and another server
  fuzz [--seconds N] [TARGET...]
                      random bytes against types and transports, a minute each
  demo                drive the example server through the reference sequence
  torture --store KIND [--replicas N] [--seconds S] [--seed X] [--broken]
                      load servers that are killed, and hold the outcome against the promises
  clients [--store KIND] [--replicas N] [--rows REGEX]
                      published clients against `report`, over HTTP and stdio; with
                      replicas every request goes to another process
  conformance tasks|2026-07-28 [--store KIND|all] [--scenario NAME]
                      the public conformance suite against the fixture server, held
                      against xtask/conformance/
  requirements [--check] [ID...]
                      every rule of the protocol, with the tests that name it or the reason
                      why none does; writes docs/conformance.md from that
  tidy                tell where the house rules are not kept
  ci                  all that has to hold besides the tests: formatting, lints, documentation,
                      tidy, cargo-deny, generated files and samples, drift, demo, packages, the
                      types beside a validator, the conformance suite, published clients";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match command.as_str() {
        "codegen" => run::reported(codegen::run(&run::root(), &rest)),
        "samples" => run::reported(samples::run(&run::root(), &rest)),
        "schema" => schema::run(&run::root(), &rest),
        "wire" => run::wire_package("wire", &rest, false),
        "bench" => bench::run(&rest),
        "test" => test::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "demo" => demo::run(&rest),
        "clients" => clients::run(&rest),
        "conformance" => conformance::run(&rest),
        "torture" => run::torture(&rest),
        "requirements" => run::reported(requirements::run(&run::root(), &rest)),
        "tidy" => run::without_arguments(&command, &rest, || run::reported(tidy::run(&run::root()))),
        "ci" => run::without_arguments(&command, &rest, ci::run),
        "help" | "--help" | "-h" => {
            eprintln!("{USAGE}");
            ExitCode::SUCCESS
        }
        "" => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        other => {
            eprintln!("xtask: unknown command `{other}`\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
