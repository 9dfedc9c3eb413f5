//! What is emitted beside the mistakes: always the user's function, and a stand-in for the tool, so that the rest of
//! the program yields no errors that only follow from the ones told.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{GenericParam, Generics};

use crate::{
    diagnostics::Diagnostics,
    expand::Companion,
    parameter::is_attribute_of_rustc,
    paths::Paths,
    signature::{Head, conditions_of},
};

/// The item as written, except for attributes that rustc refuses on parameters: documentation, and ours.
///
/// It works on tokens, not on a parsed function, so that it never fails and the body is passed on untouched.
pub(crate) fn user_function(item: TokenStream) -> TokenStream {
    let mut place = Place::BeforeName;
    item.into_iter()
        .map(|token| match (&place, token) {
            (Place::Generics(0), TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                place = Place::Behind;
                TokenTree::Group(without_parameter_attributes(&group))
            }
            (_, token) => {
                place = place.after(&token);
                token
            }
        })
        .collect()
}

/// How far the walk has come in the head of a function.
enum Place {
    BeforeName,
    Name,
    /// So many angle brackets are open.
    Generics(usize),
    /// The same, right behind a `-`, which may be the first half of an arrow.
    Minus(usize),
    Behind,
}

impl Place {
    fn after(&self, token: &TokenTree) -> Self {
        let punct = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match (self, punct) {
            (Self::BeforeName, _) => match token {
                TokenTree::Ident(word) if word == "fn" => Self::Name,
                _ => Self::BeforeName,
            },
            (Self::Name, _) => Self::Generics(0),
            (Self::Generics(open), '<') => Self::Generics(open + 1),
            (Self::Generics(open), '>') => Self::Generics(open.saturating_sub(1)),
            (Self::Generics(open), '-') => Self::Minus(*open),
            (Self::Generics(open) | Self::Minus(open), _) => Self::Generics(*open),
            (Self::Behind, _) => Self::Behind,
        }
    }
}

fn without_parameter_attributes(parameters: &Group) -> Group {
    let mut kept = TokenStream::new();
    let mut tokens = parameters.stream().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_pound = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        let is_foreign = matches!(tokens.peek(), Some(TokenTree::Group(group)) if !is_kept(group));
        if is_pound && is_foreign {
            tokens.next();
        } else {
            kept.extend([token]);
        }
    }
    let mut stripped = Group::new(parameters.delimiter(), kept);
    stripped.set_span(parameters.span());
    stripped
}

fn is_kept(attribute: &Group) -> bool {
    match attribute.stream().into_iter().next() {
        Some(TokenTree::Ident(name)) => is_attribute_of_rustc(&name.to_string()),
        _ => false,
    }
}

/// The stand-in for a tool with mistakes.
pub(crate) struct Fallback<'a> {
    head: Option<&'a Head>,
}

impl<'a> Fallback<'a> {
    pub(crate) fn new(head: Option<&'a Head>) -> Self {
        Self { head }
    }

    /// The mistakes, the function, and the stand-in where there can be one.
    pub(crate) fn expand(
        &self,
        paths: &Paths,
        function: &TokenStream,
        diagnostics: Diagnostics,
    ) -> TokenStream {
        let errors = diagnostics.into_tokens();
        let stand_in = self.expand_stand_in(paths);
        quote!(#errors #function #stand_in)
    }

    /// Nothing inside of an `impl` block, where no struct can stand.
    fn expand_stand_in(&self, paths: &Paths) -> Option<TokenStream> {
        let Head { attributes, visibility, signature } = self.head?;
        if signature.receiver().is_some() {
            return None;
        }
        let conditions = conditions_of(attributes);
        let companion = Companion::new(&signature.ident, &bare_generics(&signature.generics));
        let declaration = companion.expand_declaration(visibility, paths);
        let implementation = companion.expand_impl(&stand_in_items(paths), paths);
        Some(quote! {
            #(#conditions)*
            #[doc(hidden)]
            #declaration
            #(#conditions)*
            const _: () = { #implementation };
        })
    }
}

/// The type parameters with no more than the bound that every tool needs.
fn bare_generics(generics: &Generics) -> Generics {
    let mut bare = Generics::default();
    for parameter in &generics.params {
        match parameter {
            GenericParam::Type(parameter) => {
                let ident = &parameter.ident;
                bare.params.push(syn::parse_quote!(#ident: 'static));
            }
            GenericParam::Const(_) => bare.params.push(parameter.clone()),
            GenericParam::Lifetime(_) => {}
        }
    }
    bare
}

fn stand_in_items(paths: &Paths) -> TokenStream {
    let (raw_object, tool_call) = (paths.raw_object(), paths.tool_call());
    let (tool_definition, argument_error) = (paths.tool_definition(), paths.argument_error());
    let (box_future, call_tool_result) = (paths.box_future(), paths.call_tool_result());
    let (result, tool_error, unreachable) = (paths.result(), paths.tool_error(), paths.unreachable());
    quote! {
        const NAME: &'static str = "";
        fn definition() -> #tool_definition {
            #unreachable!()
        }
        fn check(_: &#raw_object) -> #result<(), #argument_error> {
            #unreachable!()
        }
        fn run(_: #tool_call) -> #box_future<'static, #result<#call_tool_result, #tool_error>> {
            #unreachable!()
        }
    }
}
