//! The commands as processes.

mod torture;
