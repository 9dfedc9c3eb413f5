//! The reference tool, under the lints that strict authors deny.
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    nonstandard_style,
    unreachable_pub,
    unused_qualifications,
    clippy::pedantic
)]

use mcp_tasks::{Answer, Input, TaskContext, TaskTool, ToolError, task_tool, tool_type};

#[tool_type]
enum Size {
    Small,
    Large,
}

#[tool_type]
struct Approval {
    approved: bool,
}

#[tool_type]
struct Report {
    size: Size,
    approved: bool,
}

/// Writes a report and asks for approval of its outline.
#[task_tool(ttl = "15m", poll = "1s", restart = "rerun")]
async fn generate_report(
    ctx: TaskContext,
    /// How long the report shall be.
    size: Size,
    /// Approve the generated report outline?
    approve_outline: Input<Approval>,
) -> Result<Report, ToolError> {
    ctx.status("Preparing report outline.").await?;
    let outline = outline(&size).await?;
    ctx.checkpoint()?;
    match approve_outline.ask(&ctx).await? {
        Answer::Accept(approval) => write(outline, approval).await,
        Answer::Decline | Answer::Cancel => {
            Err(ToolError::cancelled("The outline was not approved."))
        }
    }
}

async fn outline(size: &Size) -> Result<Size, std::io::Error> {
    std::future::ready(Ok(size.clone())).await
}

async fn write(size: Size, approval: Approval) -> Result<Report, ToolError> {
    let approved = approval.approved;
    std::future::ready(Ok(Report { size, approved })).await
}

/// A tool that others can use.
pub mod public {
    use mcp_tasks::{TaskContext, task_tool};

    /// Waits until it is cancelled.
    ///
    /// # Errors
    ///
    /// Always, when it is cancelled.
    #[task_tool]
    pub async fn wait(ctx: &TaskContext) -> Result<(), std::fmt::Error> {
        ctx.cancelled().await;
        Err(std::fmt::Error)
    }
}

fn main() {
    assert_eq!(generate_report::NAME, "generate_report");
    assert_eq!(public::wait::NAME, "wait");
}
