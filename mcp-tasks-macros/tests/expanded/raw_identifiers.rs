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
    struct __Arguments {
        /// What kind of thing to move.
        r#type: Kind,
        #[doc = include_str!("where.md")]
        r#where: Option<Place>,
    }
    impl ::mcp_tasks::macro_support::TaskTool for r#move {
        const NAME: &'static str = "move";
        fn definition() -> ::mcp_tasks::macro_support::ToolDefinition {
            ::mcp_tasks::macro_support::ToolDefinition::new::<
                __Arguments,
                Result<(), Failure>,
            >(<Self as ::mcp_tasks::macro_support::TaskTool>::NAME)
                .with_input::<bool>("continue", "Really?")
        }
        fn check(
            object: &::mcp_tasks::macro_support::RawObject,
        ) -> ::core::result::Result<(), ::mcp_tasks::macro_support::ArgumentError> {
            ::mcp_tasks::macro_support::check_arguments::<__Arguments>(object)
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
                    __Arguments,
                >(&call)?;
                let context = ::mcp_tasks::macro_support::ToolCall::context(&call);
                ::mcp_tasks::macro_support::finish::<
                    Result<(), Failure>,
                >(
                    r#move(
                            arguments.r#type,
                            arguments.r#where,
                            ::mcp_tasks::macro_support::Input::<
                                bool,
                            >::declared("continue"),
                            &context,
                        )
                        .await,
                )
            })
        }
    }
};
