//! What the macro makes of the case `raw_identifiers` of `src/tests.rs`; that file says how to accept a change.

pub async fn r#move(
    #[allow(unused_variables)]
    r#type: Kind,
    mut r#where: Option<Place>,
    r#continue: mcp_tasks::Input<bool>,
    context: &TaskContext,
) -> Result<(), Failure> {
    Ok(())
}
pub struct r#move {}
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
        /// What kind of thing to move.
        r#type: __A0,
        #[doc = include_str!("where.md")]
        r#where: __A1,
    }
    fn __arguments() -> ::mcp_tasks::macro_support::Arguments<
        __Arguments<Kind, Option<Place>>,
    > {
        ::mcp_tasks::macro_support::Arguments::of()
    }
    fn __question_0() -> ::mcp_tasks::macro_support::Input<bool> {
        ::mcp_tasks::macro_support::Input::declared("continue")
    }
    impl ::mcp_tasks::macro_support::TaskTool for r#move {
        const NAME: &'static str = "move";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            __arguments()
                .define::<
                    <Result<
                        (),
                        Failure,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_question(&__question_0(), "Really?")
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
                        (),
                        Failure,
                    > as ::mcp_tasks::macro_support::ToolReturn>::Itself,
                >(
                    r#move(arguments.r#type, arguments.r#where, __question_0(), &context)
                        .await,
                )
            })
        }
    }
};
