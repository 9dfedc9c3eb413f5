//! A pair of byte streams. The input is everything that a client ever writes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_tasks_fuzz::stdio(bytes));
