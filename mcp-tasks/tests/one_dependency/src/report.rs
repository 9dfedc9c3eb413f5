use mcp_tasks::{Answer, Input, TaskContext, ToolError, task_tool, tool_type};

#[tool_type] enum Size { Small, Large }
#[tool_type] struct Approval { approved: bool }
#[tool_type] struct Report { size: Size, approved: bool }
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
    match approve_outline.ask(&ctx).await? {
        Answer::Accept(Approval { approved }) => Ok(Report { size, approved }),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("The outline was not approved.")),
    }
}
