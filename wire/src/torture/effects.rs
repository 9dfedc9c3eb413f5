//! The outside world of the servers: a file to which bodies add what they did, and stores what they recorded.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The work of a step was done.
pub(super) const DONE: &str = "done";
/// A body knows that its step is recorded.
pub(super) const RECORDED: &str = "recorded";
/// The store recorded the end of a task; in place of a step stands how it ended.
pub(super) const FINISHED: &str = "finished";
/// A task was taken up that nobody had handed back: its process died, or lost its lease.
pub(super) const TAKEN_OVER: &str = "taken-over";

/// What happened, in the order in which all processes did it.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    /// One of the words above.
    pub(super) what: String,
    pub(super) task: String,
    pub(super) step: String,
    pub(super) token: u64,
}

/// Adds a line. A line is one write, so that those of several processes do not mix.
pub(super) fn add(path: &Path, what: &str, task: &str, step: &str, token: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{what} {task} {step} {token}\n").as_bytes())
}

/// All lines; one that a killed process did not finish is none.
pub(super) fn read(path: &Path) -> io::Result<Vec<Effect>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => String::new(),
        Err(err) => return Err(err),
    };
    let effect = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let (what, task, step) = (words.next()?, words.next()?, words.next()?);
        Some(Effect { what, task, step, token: words.next()?.parse().ok()? })
    };
    Ok(text.lines().filter_map(effect).collect())
}
