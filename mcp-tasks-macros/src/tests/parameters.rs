//! What is refused of parameters: questions asked in ways that they cannot be, arguments in headers that cannot be.

use proc_macro2::TokenStream;
use quote::quote;

use super::messages;

#[test]
fn what_is_said_wrongly_of_a_parameter_is_refused() {
    for (item, part) in [
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(before_task = 1)]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "has no value",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(max_tokens = 1)]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "unknown attribute `max_tokens`",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(max_tokens = 0)]
                    a: SamplingInput,
                ) -> Result<(), E> {
                }
            ),
            "a whole number of tokens",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(max_tokens)]
                    a: SamplingInput,
                ) -> Result<(), E> {
                }
            ),
            "a whole number of tokens",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(system = 1)]
                    a: SamplingInput,
                ) -> Result<(), E> {
                }
            ),
            "expected text in quotes",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[ask(before_task)]
                    a: UrlInput,
                ) -> Result<(), E> {
                }
            ),
            "the body says the address",
        ),
        (
            quote!(
                async fn tool(a: UrlInput) -> Result<(), E> {}
            ),
            "the question `a` has no text",
        ),
        (
            quote!(
                async fn tool(a: SamplingInput) -> Result<(), E> {}
            ),
            "the question `a` has no text",
        ),
        (
            quote!(
                async fn tool(a: &RootsInput) -> Result<(), E> {}
            ),
            "write `RootsInput`",
        ),
        (
            quote!(
                async fn tool(a: Option<RootsInput>) -> Result<(), E> {}
            ),
            "a question is a parameter of its own",
        ),
        (
            quote!(
                async fn tool(#[arg] a: u8) -> Result<(), E> {}
            ),
            "expected `#[arg(header",
        ),
        (
            quote!(
                async fn tool(#[arg(haeder = "A")] a: u8) -> Result<(), E> {}
            ),
            "did you mean `header`?",
        ),
        (
            quote!(
                async fn tool(#[arg(header)] a: u8) -> Result<(), E> {}
            ),
            "`header` has no value",
        ),
        (
            quote!(
                async fn tool(#[arg(header = 1)] a: u8) -> Result<(), E> {}
            ),
            "expected the name of a header",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "")] a: u8) -> Result<(), E> {}
            ),
            "is not empty",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "a b")] a: u8) -> Result<(), E> {}
            ),
            "cannot contain ` `",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "größe")] a: u8) -> Result<(), E> {}
            ),
            "cannot contain `ö`",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "Mcp-Param-A")] a: u8) -> Result<(), E> {}
            ),
            "leave the beginning out",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "A")] a: f64) -> Result<(), E> {}
            ),
            "a number with a fraction cannot be a header",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "A")] a: Option<Vec<u8>>) -> Result<(), E> {}
            ),
            "a list cannot be a header",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "A")] a: (u8, u8)) -> Result<(), E> {}
            ),
            "a list cannot be a header",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "A")] a: u8, #[arg(header = "a")] b: u8) -> Result<(), E> {}
            ),
            "repeats another argument already",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "A", header = "B")] a: u8) -> Result<(), E> {}
            ),
            "`header` is given twice",
        ),
        (
            quote!(
                async fn tool(
                    #[doc = "?"]
                    #[arg(header = "A")]
                    a: Input<bool>,
                ) -> Result<(), E> {
                }
            ),
            "belongs on an argument",
        ),
        (
            quote!(
                async fn tool(#[arg(header = "A")] ctx: TaskContext) -> Result<(), E> {}
            ),
            "belongs on an argument",
        ),
    ] {
        let messages = messages(TokenStream::new(), item.clone());
        assert_eq!(messages.len(), 1, "{item}: {messages:#?}");
        assert!(messages[0].contains(part), "{item}: {}", messages[0]);
    }
}
