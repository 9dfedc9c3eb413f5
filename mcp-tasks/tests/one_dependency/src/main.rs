//! Prints what the reference tool says about itself, in a package that depends on `mcp-tasks` alone.

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
    match approve_outline.ask(&ctx).await? {
        Answer::Accept(Approval { approved }) => Ok(Report { size, approved }),
        Answer::Decline | Answer::Cancel => Err(ToolError::cancelled("The outline was not approved.")),
    }
}

fn main() {
    let definition = generate_report::definition();
    println!("{}: {}", definition.name(), definition.description().unwrap_or_default());
    println!("{}", definition.input_schema());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dependency_is_enough_for_the_reference_tool() {
        let definition = generate_report::definition();
        assert_eq!(definition.name(), "generate_report");
        assert_eq!(definition.description(), Some("Writes a report and asks for approval of its outline."));
        assert_eq!(definition.ttl_ms(), Some(900_000));
        assert_eq!(definition.inputs()[0].key(), "approve_outline");
        assert_eq!(definition.inputs()[0].message(), "Approve the generated report outline?");
        let size = &definition.input_schema()["properties"]["size"];
        assert_eq!(size["description"], "How long the report shall be.");
        let output = definition.output_schema().expect("a struct has a schema");
        assert_eq!(output["properties"]["approved"]["type"], "boolean");
    }

    #[test]
    fn arguments_are_judged_before_the_call() {
        let check = |text: &str| {
            let arguments = mcp_tasks::types::RawObject::from_text(text.to_owned());
            generate_report::check(&arguments.expect("an object"))
        };
        assert!(check(r#"{"size":"small"}"#).is_ok());
        assert!(check(r#"{"size":"medium"}"#).is_err());
        assert!(check("{}").is_err());
    }
}
