//! Commands that need the generated types compiled; `cargo xtask` starts them.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

mod demo;
mod samples;
#[cfg(all(unix, feature = "torture"))]
mod torture;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match command.as_str() {
        "wire" => wire::run(&rest),
        "demo" => demo::run(&rest),
        "samples" => samples::run(&rest),
        #[cfg(all(unix, feature = "torture"))]
        "torture" => torture::run(&rest),
        #[cfg(all(unix, feature = "torture"))]
        "torture-server" => torture::serve(&rest),
        other => {
            eprintln!("mcp-tasks-wire: unknown command `{other}`; there are `wire`, `demo` and `samples`");
            ExitCode::from(2)
        }
    }
}
