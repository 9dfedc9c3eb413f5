//! The example programs as real processes.
#![cfg(unix)]

mod command_line;
mod kill;
mod process;
