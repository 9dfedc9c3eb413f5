//! As little as a tool can be, in places where a tool can stand.

use mcp_tasks::{TaskTool, ToolError, task_tool};

#[task_tool]
async fn ping() -> Result<String, ToolError> {
    Ok(String::from("pong"))
}

#[task_tool(name = "echo.text")]
async fn echo(r#type: String) -> Result<String, ToolError> {
    Ok(r#type)
}

mod quiet {
    #![no_implicit_prelude]

    #[::mcp_tasks::task_tool]
    pub(crate) async fn ping(
        context: &::mcp_tasks::TaskContext,
        call: u8,
        arguments: u8,
    ) -> ::core::result::Result<u8, ::mcp_tasks::ToolError> {
        context.checkpoint()?;
        ::core::result::Result::Ok(call + arguments)
    }
}

fn main() {
    #[task_tool]
    async fn inner() -> Result<(), ToolError> {
        Ok(())
    }

    assert_eq!(ping::NAME, "ping");
    assert_eq!(echo::NAME, "echo.text");
    assert_eq!(<quiet::ping as TaskTool>::NAME, "ping");
    assert_eq!(inner::NAME, "inner");
    drop((ping(), echo(String::new()), inner()));
}
