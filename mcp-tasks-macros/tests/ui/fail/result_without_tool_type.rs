//! The type of the result without its derives.

use mcp_tasks::{ToolError, task_tool};

struct Report {
    pages: u32,
}

/// Writes a report.
#[task_tool]
async fn report() -> Result<Report, ToolError> {
    Ok(Report { pages: 1 })
}

fn main() {}
