//! `cargo xtask demo`: the reference sequence against the example server, over HTTP and stdio.

use std::process::ExitCode;

/// Hands over to the driver, which lives where the types are compiled.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    crate::run::wire_package("demo", arguments, true)
}
