//! The commands as processes.

// Processes are killed as Unix does it.
#[cfg(unix)]
mod torture;
