//! What the macro makes of the case `question_before_the_task` of `src/tests.rs`; that file says how to accept a change.

async fn welcome(
    ctx: TaskContext,
    user_name: Input<Person>,
    go_on: Input<Choice>,
) -> Result<String, ToolError> {
    greet(user_name, go_on, ctx)
}
struct welcome {}
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
    fn __question_0() -> ::mcp_tasks::macro_support::Input<Person> {
        ::mcp_tasks::macro_support::Input::declared("user_name")
    }
    fn __question_1() -> ::mcp_tasks::macro_support::Input<Choice> {
        ::mcp_tasks::macro_support::Input::declared("go_on")
    }
    impl ::mcp_tasks::macro_support::TaskTool for welcome {
        const NAME: &'static str = "welcome";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Result<
                        String,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_task_mode(::mcp_tasks::macro_support::TaskMode::Required)
                .with_question_before_task(&__question_0(), "Who is there?")
                .with_question(&__question_1(), "Go on?")
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
                let context = ::mcp_tasks::macro_support::ToolCall::context(&call);
                ::mcp_tasks::macro_support::finish::<
                    <Result<
                        String,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(
                    welcome(
                            ::core::clone::Clone::clone(&context),
                            __question_0(),
                            __question_1(),
                        )
                        .await,
                )
            })
        }
    }
};
