//! The reference service: writes a report and asks for approval of its outline.

fn main() {}
