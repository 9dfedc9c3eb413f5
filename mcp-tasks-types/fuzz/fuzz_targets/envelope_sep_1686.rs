//! Messages of sep-1686: the raw envelope beside the types of whole messages. The input is the message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_tasks_types_fuzz::message("sep-1686", bytes));
