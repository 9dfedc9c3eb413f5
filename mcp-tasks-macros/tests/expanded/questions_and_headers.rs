//! What the macro makes of the case `questions_and_headers` of `src/tests.rs`; that file says how to accept a change.

async fn project(
    ctx: TaskContext,
    r#in: Option<String>,
    login: UrlInput,
    greeting: mcp_tasks::SamplingInput,
    topic: SamplingInput,
    folders: RootsInput,
) -> Result<String, ToolError> {
    make(ctx, r#in, login, greeting, topic, folders)
}
struct project {}
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
        /// Where it is.
        r#in: __A0,
    }
    fn __arguments() -> ::mcp_tasks::macro_support::Arguments<
        __Arguments<Option<String>>,
    > {
        ::mcp_tasks::macro_support::Arguments::of()
    }
    fn __question_0() -> ::mcp_tasks::macro_support::UrlInput {
        ::mcp_tasks::macro_support::UrlInput::declared("login")
    }
    fn __question_1() -> ::mcp_tasks::macro_support::SamplingInput {
        ::mcp_tasks::macro_support::SamplingInput::declared("greeting")
            .with_max_tokens(50)
            .with_system_prompt(GREETER)
    }
    fn __question_2() -> ::mcp_tasks::macro_support::SamplingInput {
        ::mcp_tasks::macro_support::SamplingInput::declared("topic")
    }
    fn __question_3() -> ::mcp_tasks::macro_support::RootsInput {
        ::mcp_tasks::macro_support::RootsInput::declared("folders")
    }
    impl ::mcp_tasks::macro_support::TaskTool for project {
        const NAME: &'static str = "project";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Result<
                        String,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_require_input_capability(false)
                .with_header("in", "Region")
                .with_question(&__question_0(), "Please log in.")
                .with_question(&__question_1(), "Greet them.")
                .with_question_before_task(&__question_2(), "What is it about?")
                .with_question(&__question_3(), "")
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
                        String,
                        ToolError,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(
                    project(
                            ::core::clone::Clone::clone(&context),
                            arguments.r#in,
                            __question_0(),
                            __question_1(),
                            __question_2(),
                            __question_3(),
                        )
                        .await,
                )
            })
        }
    }
};
