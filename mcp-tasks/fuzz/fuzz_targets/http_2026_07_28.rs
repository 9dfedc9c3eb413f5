//! A connection over HTTP. The input is the head of a request without its first line, a blank line, and the body.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_tasks_fuzz::http(bytes));
