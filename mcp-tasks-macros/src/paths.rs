//! Every path that an expansion may name: what the runtime offers to expansions, and a few items of the standard
//! library, all absolute, so that nothing has to be in scope where the macro is used.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, LitStr, Path, Type, spanned::Spanned as _};

use crate::{
    args::{CRATE, RawArgs},
    diagnostics::Diagnostics,
};

/// The root under which an expansion finds the runtime: `::mcp_tasks`, or what `crate = ".."` says.
pub(crate) struct Paths {
    root: TokenStream,
}

impl Default for Paths {
    fn default() -> Self {
        Self { root: quote!(::mcp_tasks) }
    }
}

impl Paths {
    /// Takes the root out of the arguments. A wrong one is reported, and the usual one stands in for it.
    pub(crate) fn check(raw_args: &mut RawArgs, diagnostics: &mut Diagnostics) -> Self {
        let Some(arg) = raw_args.take(CRATE) else {
            return Self::default();
        };
        let Some(value) = arg.value(diagnostics, EXPECTED_CRATE) else {
            return Self::default();
        };
        if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value
            && let Ok(path) = text.parse_with(Path::parse_mod_style)
        {
            return Self { root: quote!(#path) };
        }
        diagnostics.error(value, EXPECTED_CRATE);
        Self::default()
    }

    /// The path of a re-exported crate as the text of a `crate = ".."` attribute of serde or schemars.
    fn as_text(path: &TokenStream) -> LitStr {
        let text = path.to_string().replace(' ', "");
        LitStr::new(&text, Span::call_site())
    }

    /// Tokens of ours where a type is written, so that the compiler blames the type.
    pub(crate) fn blaming(tokens: &TokenStream, ty: &Type) -> TokenStream {
        located_at(tokens.clone(), Span::call_site().located_at(ty.span()))
    }

    /// The type by way of a trait that it has to have: `<Type as Trait>::Itself`, where the type is written. A type
    /// without the trait is told once however often this is repeated, and what follows from it is not told at all.
    pub(crate) fn itself(ty: &Type, needed: &TokenStream) -> TokenStream {
        let span = Span::call_site().located_at(ty.span());
        let needed = located_at(needed.clone(), span);
        quote_spanned!(span=> <#ty as #needed>::Itself)
    }

    pub(crate) fn serde_text(&self) -> LitStr {
        Self::as_text(&self.serde())
    }

    pub(crate) fn tool_argument_text(&self) -> String {
        Self::as_text(&self.tool_argument()).value()
    }

    pub(crate) fn schemars_text(&self) -> LitStr {
        Self::as_text(&self.schemars())
    }
}

fn located_at(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), located_at(group.stream(), span)).into();
            }
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

const EXPECTED_CRATE: &str =
    "expected the path of the `mcp-tasks` crate in quotes, such as `crate = \"my_facade::mcp_tasks\"`";

/// Names of `macro_support`, each behind a method.
macro_rules! support {
    ($($method:ident => $name:ident,)*) => {
        impl Paths {
            $(pub(crate) fn $method(&self) -> TokenStream {
                let root = &self.root;
                quote!(#root::macro_support::$name)
            })*
        }
    };
}

support! {
    serde => serde,
    schemars => schemars,
    task_tool => TaskTool,
    tool_definition => ToolDefinition,
    tool_call => ToolCall,
    tool_error => ToolError,
    call_tool_result => CallToolResult,
    argument_error => ArgumentError,
    raw_object => RawObject,
    box_future => BoxFuture,
    task_mode => TaskMode,
    restart => Restart,
    input => Input,
    url_input => UrlInput,
    sampling_input => SamplingInput,
    roots_input => RootsInput,
    tool_argument => ToolArgument,
    arguments => Arguments,
    tool_return => ToolReturn,
    finish => finish,
}

/// Names of the standard library, each behind a method.
macro_rules! standard {
    ($($method:ident => $($path:ident)::+,)*) => {
        impl Paths {
            $(
                pub(crate) fn $method(&self) -> TokenStream {
                    quote!(::$($path)::+)
                }
            )*
        }
    };
}

standard! {
    result => core::result::Result,
    clone => core::clone::Clone,
    into => core::convert::Into,
    debug => core::fmt::Debug,
    phantom_data => core::marker::PhantomData,
    boxed => std::boxed::Box,
    concat => core::concat,
    unreachable => core::unreachable,
}
