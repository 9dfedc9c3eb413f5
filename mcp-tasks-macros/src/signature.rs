//! The function's signature, read without its body: first as written, then judged.
//!
//! The body stays a run of tokens that nobody here looks at, so that its spans and its mistakes remain the compiler's.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, Generics, Ident, Lifetime, Meta, Pat, PatType,
    PathArguments, PathSegment, ReturnType, Token, Type, TypeFnPtr, TypeImplTrait, TypeReference, Visibility,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    visit::Visit,
};

use crate::{diagnostics::Diagnostics, docs::Docs, suggestion::unknown_word};

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

/// What one parameter receives.
pub(crate) enum Parameter {
    /// The context of the task.
    Context { by_reference: bool },
    /// A declared question to the person behind the client.
    Input(Input),
    /// A member of the tool's arguments.
    Argument(Argument),
}

/// A question: its key is the parameter's name, its text the parameter's documentation.
pub(crate) struct Input {
    pub(crate) key: String,
    /// Whether it is asked before there is a task.
    pub(crate) before_task: bool,
    pub(crate) question: Docs,
    pub(crate) answer: Type,
}

/// A member of the input schema; the documentation is its description.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) docs: Docs,
    pub(crate) ty: Type,
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

fn check_parameters(signature: &syn::Signature, diagnostics: &mut Diagnostics) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for parameter in &signature.inputs {
        let typed = match parameter {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                diagnostics.error(
                    receiver.self_token,
                    "a task tool is a free function without `self`: move it out of the `impl` block",
                );
                continue;
            }
        };
        check_attributes(typed, diagnostics);
        let Some(parameter) = diagnostics.part(|diagnostics| check_parameter(typed, diagnostics)) else {
            continue;
        };
        let is_context = |parameter: &Parameter| matches!(parameter, Parameter::Context { .. });
        if is_context(&parameter) && parameters.iter().any(is_context) {
            diagnostics.error(&typed.ty, "there is one `TaskContext` for a task, keep one");
        }
        parameters.push(parameter);
    }
    parameters
}

fn check_parameter(typed: &PatType, diagnostics: &mut Diagnostics) -> Option<Parameter> {
    let (reference, ty) = match peel(&typed.ty) {
        Type::Reference(reference) => (Some(reference), peel(&reference.elem)),
        ty => (None, ty),
    };
    let last = last_segment(ty);
    if last.is_none_or(|last| last.ident != "Input") {
        for attribute in typed.attrs.iter().filter(|attribute| attribute.path().is_ident(ASK)) {
            diagnostics.error(
                attribute,
                "only a question is asked: `#[ask(..)]` belongs on a parameter of the type `Input<T>`",
            );
        }
    }
    if last.is_some_and(|last| last.ident == "TaskContext") {
        return check_context(reference, diagnostics);
    }
    let ident = check_name(&typed.pat, diagnostics)?;
    let docs = Docs::of(&typed.attrs);
    let Some(last) = last.filter(|last| last.ident == "Input") else {
        check_owned(&typed.ty, "an argument", diagnostics);
        NestedCheck { diagnostics }.visit_type(&typed.ty);
        return Some(Parameter::Argument(Argument { ident: ident.clone(), docs, ty: (*typed.ty).clone() }));
    };
    if let Some(reference) = reference {
        diagnostics.error(reference.and_token, "a question is taken by value: write `Input<T>`");
    }
    let key = ident.unraw().to_string();
    if docs.is_blank() {
        diagnostics.error(
            ident,
            format!(
                "the question `{key}` has no text: write it as a doc comment (`/// ..`) above the parameter"
            ),
        );
    }
    let before_task = check_ask(&typed.attrs, diagnostics);
    let answer = check_answer(last, diagnostics)?;
    check_owned(answer, "an answer", diagnostics);
    Some(Parameter::Input(Input { key, before_task, question: docs, answer: answer.clone() }))
}

/// The attribute that says how a question is asked.
const ASK: &str = "ask";
const BEFORE_TASK: &str = "before_task";

/// Whether `#[ask(before_task)]` is there.
fn check_ask(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> bool {
    let mut before_task = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(ASK)) {
        let words = Punctuated::<Ident, Token![,]>::parse_terminated;
        let words = match &attribute.meta {
            Meta::List(list) => list.parse_args_with(words).ok().filter(|words| !words.is_empty()),
            Meta::Path(_) | Meta::NameValue(_) => None,
        };
        let Some(words) = words else {
            diagnostics.error(attribute, "expected when to ask: `#[ask(before_task)]`");
            continue;
        };
        for word in words {
            let name = word.to_string();
            if name != BEFORE_TASK {
                let statement = format!("unknown time of asking `{name}`");
                diagnostics.error(word, unknown_word(&statement, &name, &[BEFORE_TASK]));
            } else if before_task {
                diagnostics.error(word, format!("`{BEFORE_TASK}` is given twice, keep one"));
            } else {
                before_task = true;
            }
        }
    }
    before_task
}

fn check_context(reference: Option<&TypeReference>, diagnostics: &mut Diagnostics) -> Option<Parameter> {
    if let Some(mutability) = reference.and_then(|reference| reference.mutability) {
        diagnostics.error(mutability, "the context is shared: take `TaskContext` or `&TaskContext`");
    }
    if let Some(lifetime) = reference.and_then(|reference| reference.lifetime.as_ref()) {
        diagnostics.error(lifetime, "the context needs no lifetime: take `TaskContext` or `&TaskContext`");
    }
    Some(Parameter::Context { by_reference: reference.is_some() })
}

/// The type between the angle brackets of `Input<T>`.
fn check_answer<'a>(input: &'a PathSegment, diagnostics: &mut Diagnostics) -> Option<&'a Type> {
    if let PathArguments::AngleBracketed(brackets) = &input.arguments
        && brackets.args.len() == 1
        && let Some(GenericArgument::Type(answer)) = brackets.args.first()
    {
        return Some(answer);
    }
    diagnostics.error(
        input,
        "a question names the type of its answer: write `Input<T>`, and give a type of your own another name than `Input`",
    );
    None
}

/// The name of a parameter, which the caller of the tool will use.
fn check_name<'a>(pattern: &'a Pat, diagnostics: &mut Diagnostics) -> Option<&'a Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
        _ => {
            diagnostics.error(
                pattern,
                "the name of a parameter is the name of an argument: write a plain name, and take it apart in the body",
            );
            None
        }
    }
}

/// Attributes that rustc takes on parameters; all others are taken off the emitted function.
pub(crate) fn is_attribute_of_rustc(name: &str) -> bool {
    matches!(name, "allow" | "expect" | "warn" | "deny" | "forbid" | "cfg" | "cfg_attr")
}

fn check_attributes(typed: &PatType, diagnostics: &mut Diagnostics) {
    for attribute in &typed.attrs {
        let name = attribute.path().get_ident().map_or_else(String::new, ToString::to_string);
        if name == "cfg" || name == "cfg_attr" {
            diagnostics.error(
                attribute,
                "a tool has the same arguments in every build: put the condition on the whole function",
            );
        } else if name != "doc" && name != ASK && !is_attribute_of_rustc(&name) {
            diagnostics.error(
                attribute,
                "unknown attribute of a parameter: what it says belongs on a type with `#[tool_type]`",
            );
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

/// Refuses questions and contexts inside of other types, where they would be taken for arguments.
struct NestedCheck<'a> {
    diagnostics: &'a mut Diagnostics,
}

impl<'ast> Visit<'ast> for NestedCheck<'_> {
    fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
        if segment.ident == "Input" && !segment.arguments.is_empty() {
            self.diagnostics.error(
                segment,
                "a question is a parameter of its own: write `Input<T>`, and decide in the body whether to ask",
            );
        } else if segment.ident == "TaskContext" {
            self.diagnostics.error(
                segment,
                "the context is a parameter of its own: write `TaskContext` or `&TaskContext`",
            );
        } else {
            syn::visit::visit_path_segment(self, segment);
        }
    }
}

/// Refuses what cannot be part of a type that is read from a message or kept in a record.
fn check_owned(ty: &Type, what: &'static str, diagnostics: &mut Diagnostics) {
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
fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        ty => ty,
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}
