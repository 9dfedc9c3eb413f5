//! Programs to run and to learn from; each file below `src/bin` is one.

pub mod command;
