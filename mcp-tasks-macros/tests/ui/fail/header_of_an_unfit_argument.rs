//! Headers with names and of types that headers cannot have, and one header for two arguments.

use mcp_tasks::{Input, ToolError, task_tool, tool_type};

#[tool_type]
struct Approval {
    approved: bool,
}

/// Writes a report.
#[task_tool]
async fn report(
    /// Where.
    #[arg(header = "Region of the world")]
    region: String,
    /// How much.
    #[arg(header = "Amount")]
    amount: f64,
    /// For whom.
    #[arg(header = "Customer")]
    customer: String,
    /// From whom.
    #[arg(header = "customer")]
    sender: Option<String>,
    /// When.
    #[arg(headers = "When")]
    when: String,
    /// Approve?
    #[arg(header = "Approve")]
    approve: Input<Approval>,
) -> Result<String, ToolError> {
    Ok(format!("{region} {amount} {customer} {sender:?} {when} {approve:?}"))
}

fn main() {}
