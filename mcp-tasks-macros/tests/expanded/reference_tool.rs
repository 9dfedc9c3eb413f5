//! What the macro makes of the case `reference_tool` of `src/tests.rs`; that file says how to accept a change.

/// Writes a report and asks for approval of its outline.
pub(crate) async fn generate_report(
    ctx: TaskContext,
    size: Size,
    approve_outline: Input<Approval>,
) -> Result<Report, ToolError> {
    ctx.status("Preparing report outline.").await?;
    report(size, approve_outline.ask(&ctx).await?)
}
/// Writes a report and asks for approval of its outline.
pub(crate) struct generate_report {}
const _: () = {
    #[allow(unused_imports, reason = "the prelude has it")]
    use ::core::convert::Into as _;
    #[derive(
        ::mcp_tasks::macro_support::serde::Deserialize,
        ::mcp_tasks::macro_support::schemars::JsonSchema
    )]
    #[serde(crate = "::mcp_tasks::macro_support::serde", rename = "arguments")]
    #[schemars(crate = "::mcp_tasks::macro_support::schemars")]
    #[serde(bound = "__A0: ::mcp_tasks::macro_support::ToolArgument")]
    #[schemars(bound = "__A0: ::mcp_tasks::macro_support::ToolArgument")]
    struct __Arguments<__A0> {
        /// How long the report shall be.
        size: __A0,
    }
    fn __arguments() -> ::mcp_tasks::macro_support::Arguments<__Arguments<Size>> {
        ::mcp_tasks::macro_support::Arguments::of()
    }
    fn __question_0() -> ::mcp_tasks::macro_support::Input<Approval> {
        ::mcp_tasks::macro_support::Input::declared("approve_outline")
    }
    impl ::mcp_tasks::macro_support::TaskTool for generate_report {
        const NAME: &'static str = "generate_report";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Result<
                        Report,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_description(
                    "Writes a report and asks for approval of its outline.",
                )
                .with_ttl_ms(900000u64)
                .with_poll_ms(1000u64)
                .with_restart(::mcp_tasks::macro_support::Restart::Rerun)
                .with_question(&__question_0(), "Approve the generated report outline?")
        }
        fn check(
            object: &::mcp_tasks::macro_support::RawObject,
        ) -> ::core::result::Result<(), ::mcp_tasks::macro_support::ArgumentError> {
            __arguments().check(object)
        }
        fn run(
            call: ::mcp_tasks::macro_support::ToolCall,
        ) -> ::mcp_tasks::macro_support::BoxFuture<
            'static,
            ::core::result::Result<
                ::mcp_tasks::macro_support::CallToolResult,
                ::mcp_tasks::macro_support::ToolError,
            >,
        > {
            ::std::boxed::Box::pin(async move {
                let arguments = __arguments().read(&call)?;
                let context = ::mcp_tasks::macro_support::ToolCall::context(&call);
                ::mcp_tasks::macro_support::finish::<
                    <Result<
                        Report,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(
                    generate_report(
                            ::core::clone::Clone::clone(&context),
                            arguments.size,
                            __question_0(),
                        )
                        .await,
                )
            })
        }
    }
};
