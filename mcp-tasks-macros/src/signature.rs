//! The function's signature, read without its body: first as written, then judged.
//!
//! The body stays a run of tokens that nobody here looks at, so that its spans and its mistakes remain the compiler's.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, GenericParam, Generics, Ident, Lifetime, PathSegment, ReturnType, Type, TypeFnPtr,
    TypeImplTrait, TypeReference, Visibility,
    parse::{ParseStream, Parser},
    visit::Visit,
};

use crate::{
    diagnostics::Diagnostics,
    docs::Docs,
    parameter::{Parameter, check_parameters},
};

/// Everything of a function before its body, as the author wrote it.
pub(crate) struct Head {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: syn::Signature,
}

impl Head {
    /// Reads the head of the item under the attribute; anything but a function is reported.
    pub(crate) fn parse(item: &TokenStream, diagnostics: &mut Diagnostics) -> Option<Self> {
        let parse = |input: ParseStream<'_>| {
            let head = Self {
                attributes: input.call(Attribute::parse_outer)?,
                visibility: input.parse()?,
                signature: parse_signature(input)?,
            };
            input.parse::<TokenStream>()?;
            Ok(head)
        };
        match parse.parse2(item.clone()) {
            Ok(head) => Some(head),
            Err(error) => {
                diagnostics.push(error);
                None
            }
        }
    }
}

fn parse_signature(input: ParseStream<'_>) -> syn::Result<syn::Signature> {
    let is_function = input
        .fork()
        .parse::<TokenStream>()?
        .into_iter()
        .take_while(|token| !matches!(token, TokenTree::Group(_)))
        .any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"));
    if is_function { input.parse() } else { Err(input.error("`#[task_tool]` belongs on an `async fn`")) }
}

/// A signature that can be called with arguments from a message.
pub(crate) struct Signature {
    pub(crate) docs: Docs,
    /// Conditions that everything beside the function has to repeat.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) deprecation: Option<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Type,
}

impl Signature {
    /// Judges a head; nothing comes back if any part of it is wrong.
    pub(crate) fn check(head: Option<&Head>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Head { attributes, visibility, signature } = head?;
        diagnostics.part(|diagnostics| {
            check_qualifiers(signature, diagnostics);
            check_generics(&signature.generics, diagnostics);
            let parameters = check_parameters(signature, diagnostics);
            let result = check_result(signature, diagnostics)?;
            Some(Self {
                docs: Docs::of(attributes),
                conditions: conditions_of(attributes),
                deprecation: attributes
                    .iter()
                    .find(|attribute| attribute.path().is_ident("deprecated"))
                    .cloned(),
                visibility: visibility.clone(),
                ident: signature.ident.clone(),
                generics: signature.generics.clone(),
                parameters,
                result,
            })
        })
    }
}

/// The `cfg` attributes below the macro's own; those above it were decided before the macro ran.
pub(crate) fn conditions_of(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect()
}

fn check_qualifiers(signature: &syn::Signature, diagnostics: &mut Diagnostics) {
    if signature.asyncness.is_none() {
        diagnostics.error(
            signature.fn_token,
            "a task tool is an `async fn`: write `async` before `fn`, and hand work that blocks to a blocking thread",
        );
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        diagnostics.error(token, "a task tool is safe to call: keep the `unsafe` part inside of its body");
    }
    if let Some(abi) = &signature.abi {
        diagnostics.error(abi, "a task tool is a plain Rust function: remove its ABI");
    }
    if let Some(variadic) = &signature.variadic {
        diagnostics.error(
            variadic.dots,
            "the arguments of a task tool are known by name: take a `Vec` instead of `...`",
        );
    }
}

fn check_generics(generics: &Generics, diagnostics: &mut Diagnostics) {
    for parameter in &generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            refuse_lifetime(&lifetime.lifetime, diagnostics);
        }
    }
}

fn check_result(signature: &syn::Signature, diagnostics: &mut Diagnostics) -> Option<Type> {
    match &signature.output {
        ReturnType::Type(_, ty) => {
            check_owned(ty, "a result", diagnostics);
            Some((**ty).clone())
        }
        ReturnType::Default => {
            diagnostics.error_at(
                signature.ident.span(),
                "a task tool returns a `Result`: write `-> Result<T, ToolError>` behind the parameters",
            );
            None
        }
    }
}

/// Refuses what cannot be part of a type that is read from a message or kept in a record.
pub(crate) fn check_owned(ty: &Type, what: &'static str, diagnostics: &mut Diagnostics) {
    let mut visitor = OwnedCheck { what, is_result: what == "a result", diagnostics };
    visitor.visit_type(ty);
}

struct OwnedCheck<'a> {
    what: &'static str,
    is_result: bool,
    diagnostics: &'a mut Diagnostics,
}

impl<'ast> Visit<'ast> for OwnedCheck<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        let is_static = reference.lifetime.as_ref().is_some_and(is_static);
        if !(self.is_result && is_static) {
            let owned = match peel(&reference.elem) {
                Type::Slice(_) => "a `Vec`",
                ty if last_segment(ty).is_some_and(|last| last.ident == "str") => "`String`",
                _ => "the owned type",
            };
            let what = self.what;
            self.diagnostics.error(
                reference.and_token,
                format!("{what} of a task outlives the call and cannot borrow: take {owned}"),
            );
        }
        self.visit_type(&reference.elem);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if !is_static(lifetime) {
            refuse_lifetime(lifetime, self.diagnostics);
        }
    }

    fn visit_type_impl_trait(&mut self, impl_trait: &'ast TypeImplTrait) {
        let what = self.what;
        self.diagnostics.error(
            impl_trait,
            format!("{what} needs a type with a schema, which `impl Trait` hides: name the type"),
        );
    }

    fn visit_type_fn_ptr(&mut self, _: &'ast TypeFnPtr) {
        // What a function borrows while it is called is its own affair.
    }
}

fn refuse_lifetime(lifetime: &Lifetime, diagnostics: &mut Diagnostics) {
    diagnostics.error(
        lifetime,
        format!(
            "a task outlives the call, so nothing in its signature can borrow for `{lifetime}`: take owned types"
        ),
    );
}

fn is_static(lifetime: &Lifetime) -> bool {
    lifetime.ident == "static"
}

/// The type inside of parentheses, also of the invisible ones of `macro_rules!`.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        ty => ty,
    }
}

pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}
