//! What the macro makes of the case `smallest_tool` of `src/tests.rs`; that file says how to accept a change.

async fn ping() -> Result<String, ToolError> {
    Ok(String::from("pong"))
}
struct ping {}
const _: () = {
    #[allow(unused_imports, reason = "the prelude has it")]
    use ::core::convert::Into as _;
    #[derive(
        ::mcp_tasks::macro_support::serde::Deserialize,
        ::mcp_tasks::macro_support::schemars::JsonSchema
    )]
    #[serde(crate = "::mcp_tasks::macro_support::serde", rename = "arguments")]
    #[schemars(crate = "::mcp_tasks::macro_support::schemars")]
    struct __Arguments {}
    fn __arguments() -> ::mcp_tasks::macro_support::Arguments<__Arguments> {
        ::mcp_tasks::macro_support::Arguments::of()
    }
    impl ::mcp_tasks::macro_support::TaskTool for ping {
        const NAME: &'static str = "ping";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Result<
                        String,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
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
                __arguments().read(&call)?;
                ::mcp_tasks::macro_support::finish::<
                    <Result<
                        String,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(ping().await)
            })
        }
    }
};
