//! What the macro makes of the case `every_attribute` of `src/tests.rs`; that file says how to accept a change.

async fn write_report(_: &facade::mcp_tasks::TaskContext) -> Outcome {
    todo()
}
struct write_report {}
const _: () = {
    #[allow(unused_imports, reason = "the prelude has it")]
    use ::core::convert::Into as _;
    #[derive(
        facade::mcp_tasks::macro_support::serde::Deserialize,
        facade::mcp_tasks::macro_support::schemars::JsonSchema
    )]
    #[serde(crate = "facade::mcp_tasks::macro_support::serde", rename = "arguments")]
    #[schemars(crate = "facade::mcp_tasks::macro_support::schemars")]
    struct __Arguments {}
    fn __arguments() -> facade::mcp_tasks::macro_support::Arguments<__Arguments> {
        facade::mcp_tasks::macro_support::Arguments::of()
    }
    impl facade::mcp_tasks::macro_support::TaskTool for write_report {
        const NAME: &'static str = "reports.write";
        fn definition() -> facade::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Outcome as facade::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as facade::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_description(DESCRIPTION)
                .with_title("Report")
                .with_version("2")
                .with_status_message(STATUS)
                .with_ttl_ms(86400000u64)
                .with_poll_ms(250u64)
                .with_task_mode(facade::mcp_tasks::macro_support::TaskMode::Required)
                .with_restart(facade::mcp_tasks::macro_support::Restart::Fail)
                .with_cancel_grace_ms(30000u64)
                .with_deadline_ms(600000u64)
                .with_retain_ms(3600000u64)
                .with_park_after_ms(30000u64)
                .with_grace_ms(2000u64)
                .with_idempotency_argument("value")
                .with_require_input_capability(false)
        }
        fn check(
            object: &facade::mcp_tasks::macro_support::RawObject,
        ) -> ::core::result::Result<
            (),
            facade::mcp_tasks::macro_support::ArgumentError,
        > {
            __arguments().check(object)
        }
        fn run(
            call: facade::mcp_tasks::macro_support::ToolCall,
        ) -> facade::mcp_tasks::macro_support::BoxFuture<
            'static,
            ::core::result::Result<
                facade::mcp_tasks::macro_support::CallToolResult,
                facade::mcp_tasks::macro_support::ToolError,
            >,
        > {
            ::std::boxed::Box::pin(async move {
                __arguments().read(&call)?;
                let context = facade::mcp_tasks::macro_support::ToolCall::context(&call);
                facade::mcp_tasks::macro_support::finish::<
                    <Outcome as facade::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(write_report(&context).await)
            })
        }
    }
};
