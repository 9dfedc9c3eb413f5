//! Every wire type of sep-1686. The input is a line with the schema name of the type, then the text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_tasks_types_fuzz::any_type("sep-1686", bytes));
