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
    #[serde(
        bound = "__A0: ::mcp_tasks::macro_support::ToolArgument, __A1: ::mcp_tasks::macro_support::ToolArgument"
    )]
    #[schemars(
        bound = "__A0: ::mcp_tasks::macro_support::ToolArgument, __A1: ::mcp_tasks::macro_support::ToolArgument"
    )]
    struct __Arguments<__A0, __A1> {
        value: __A0,
        others: __A1,
    }
    fn __arguments<T: Value, const N: usize>() -> ::mcp_tasks::macro_support::Arguments<
        __Arguments<T, List<T, N>>,
    >
    where
        List<T, N>: Value,
    {
        ::mcp_tasks::macro_support::Arguments::of()
    }
    impl<T: Value, const N: usize> ::mcp_tasks::macro_support::TaskTool for store<T, N>
    where
        List<T, N>: Value,
    {
        const NAME: &'static str = "store";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments::<T, N>()
                .define::<
                    <Result<
                        T,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
        }
        fn check(
            object: &::mcp_tasks::macro_support::RawObject,
        ) -> ::core::result::Result<(), ::mcp_tasks::macro_support::ArgumentError> {
            __arguments::<T, N>().check(object)
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
                let arguments = __arguments::<T, N>().read(&call)?;
                ::mcp_tasks::macro_support::finish::<
                    <Result<
                        T,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(store::<T, N>(arguments.value, arguments.others).await)
            })
        }
    }
};
