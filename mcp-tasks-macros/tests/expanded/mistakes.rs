//! What the macro makes of the case `mistakes` of `src/tests.rs`; that file says how to accept a change.

::core::compile_error! {
    "unknown attribute `tll`, did you mean `ttl`? known: `name`, `title`, `description`, `version`, `status`, `ttl`, `poll`, `task`, `restart`, `cancel_grace`, `deadline`, `retain`, `park_after`, `grace`, `idempotency_key`, `require_input_capability`, `crate`"
}
::core::compile_error! {
    "a task tool is an `async fn`: write `async` before `fn`, and hand work that blocks to a blocking thread"
}
::core::compile_error! {
    "unknown attribute of a parameter: what it says belongs on a type with `#[tool_type]`"
}
::core::compile_error! {
    "an argument of a task outlives the call and cannot borrow: take `String`"
}
#[cfg(feature = "new")]
pub fn wrong<T>(name: &str) -> Result<T, ToolError> {
    todo()
}
#[cfg(feature = "new")]
#[doc(hidden)]
pub struct wrong<T> {
    __types: ::core::marker::PhantomData<fn() -> (T,)>,
}
#[cfg(feature = "new")]
const _: () = {
    impl<T: 'static> ::mcp_tasks::macro_support::TaskTool for wrong<T> {
        const NAME: &'static str = "";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            ::core::unreachable!()
        }
        fn check(
            _: &::mcp_tasks::macro_support::RawObject,
        ) -> ::core::result::Result<(), ::mcp_tasks::macro_support::ArgumentError> {
            ::core::unreachable!()
        }
        fn run(
            _: ::mcp_tasks::macro_support::ToolCall,
        ) -> ::mcp_tasks::macro_support::BoxFuture<
            'static,
            ::core::result::Result<
                ::mcp_tasks::macro_support::CallToolResult,
                ::mcp_tasks::macro_support::ToolError,
            >,
        > {
            ::core::unreachable!()
        }
    }
};
