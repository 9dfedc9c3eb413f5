//! What the macro makes of the case `conditional_and_deprecated` of `src/tests.rs`; that file says how to accept a change.

#[cfg(feature = "old")]
#[deprecated]
#[tracing::instrument]
async fn old(count: u32) -> Result<u32, ToolError> {
    Ok(count)
}
///Old.
#[cfg(feature = "old")]
#[deprecated]
struct old {}
#[cfg(feature = "old")]
#[allow(deprecated, reason = "the deprecation is meant for callers")]
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
        count: __A0,
    }
    fn __arguments() -> ::mcp_tasks::macro_support::Arguments<__Arguments<u32>> {
        ::mcp_tasks::macro_support::Arguments::of()
    }
    impl ::mcp_tasks::macro_support::TaskTool for old {
        const NAME: &'static str = "old";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Result<
                        u32,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_description("Old.")
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
                ::mcp_tasks::macro_support::finish::<
                    <Result<
                        u32,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(old(arguments.count).await)
            })
        }
    }
};
