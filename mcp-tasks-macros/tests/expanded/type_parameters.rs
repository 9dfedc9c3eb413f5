//! What the macro makes of the case `type_parameters` of `src/tests.rs`; that file says how to accept a change.

async fn store<T: Value, const N: usize>(
    value: T,
    others: List<T, N>,
) -> Result<T, ToolError>
where
    List<T, N>: Value,
{
    Ok(value)
}
struct store<T, const N: usize> {
    __types: ::core::marker::PhantomData<fn() -> (T,)>,
}
const _: () = {
    #[allow(unused_imports, reason = "the prelude has it")]
    use ::core::convert::Into as _;
    #[derive(
        ::mcp_tasks::macro_support::serde::Deserialize,
        ::mcp_tasks::macro_support::schemars::JsonSchema
    )]
    #[serde(crate = "::mcp_tasks::macro_support::serde", rename = "arguments")]
    #[schemars(crate = "::mcp_tasks::macro_support::schemars")]
    #[serde(bound = "")]
    #[schemars(bound = "")]
    struct __Arguments<T: Value, const N: usize>
    where
        List<T, N>: Value,
    {
        value: T,
        others: List<T, N>,
        #[serde(skip)]
        __types: ::core::marker::PhantomData<fn() -> (T,)>,
    }
    impl<T: Value, const N: usize> ::mcp_tasks::macro_support::TaskTool for store<T, N>
    where
        List<T, N>: Value,
    {
        const NAME: &'static str = "store";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            ::mcp_tasks::macro_support::ToolDefinition::new::<
                __Arguments<T, N>,
                Result<T, ToolError>,
            >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
        }
        fn check(
            object: &::mcp_tasks::macro_support::RawObject,
        ) -> ::core::result::Result<(), ::mcp_tasks::macro_support::ArgumentError> {
            ::mcp_tasks::macro_support::check_arguments::<__Arguments<T, N>>(object)
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
                let arguments = ::mcp_tasks::macro_support::ToolCall::arguments::<
                    __Arguments<T, N>,
                >(&call)?;
                ::mcp_tasks::macro_support::finish::<
                    Result<T, ToolError>,
                >(store::<T, N>(arguments.value, arguments.others).await)
            })
        }
    }
};
