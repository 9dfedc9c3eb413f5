//! The parameters of the function: what each one receives, and the rules for each kind.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprLit, FnArg, GenericArgument, Ident, Lit, LitInt, LitStr, Meta, Pat, PatType,
    PathArguments, PathSegment, Type, TypeReference, ext::IdentExt, visit::Visit,
};

use crate::{
    args::RawArgs,
    diagnostics::Diagnostics,
    docs::Docs,
    signature::{check_owned, last_segment, peel},
};

/// What one parameter receives.
pub(crate) enum Parameter {
    /// The context of the task.
    Context { by_reference: bool },
    /// A declared question to the client.
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
    pub(crate) kind: Kind,
}

/// What is asked.
pub(crate) enum Kind {
    /// A form for this type.
    Form(Type),
    /// A visit to a web page.
    Url,
    /// The client's model.
    Sampling { max_tokens: Option<LitInt>, system: Option<Expr> },
    /// The client's roots.
    Roots,
}

/// A member of the input schema; the documentation is its description.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) docs: Docs,
    pub(crate) ty: Type,
    /// The header that repeats it.
    pub(crate) header: Option<LitStr>,
}

/// The types that are questions, by the last word of their paths.
const QUESTIONS: &[&str] = &[FORM, URL, SAMPLING, ROOTS];
const FORM: &str = "Input";
const URL: &str = "UrlInput";
const SAMPLING: &str = "SamplingInput";
const ROOTS: &str = "RootsInput";

/// The attribute that says how a question is asked.
const ASK: &str = "ask";
const BEFORE_TASK: &str = "before_task";
const MAX_TOKENS: &str = "max_tokens";
const SYSTEM: &str = "system";

/// The attribute that says more about an argument.
const ARG: &str = "arg";
const HEADER: &str = "header";

pub(crate) fn check_parameters(signature: &syn::Signature, diagnostics: &mut Diagnostics) -> Vec<Parameter> {
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
    check_headers(&parameters, diagnostics);
    parameters
}

fn check_parameter(typed: &PatType, diagnostics: &mut Diagnostics) -> Option<Parameter> {
    let (reference, ty) = match peel(&typed.ty) {
        Type::Reference(reference) => (Some(reference), peel(&reference.elem)),
        ty => (None, ty),
    };
    let last = last_segment(ty);
    let question = last.filter(|last| QUESTIONS.iter().any(|name| last.ident == name));
    let is_context = last.is_some_and(|last| last.ident == "TaskContext");
    if question.is_none() {
        for attribute in attributes_of(typed, ASK) {
            diagnostics.error(
                attribute,
                "only a question is asked: `#[ask(..)]` belongs on a parameter of the type `Input<T>`, `UrlInput`, \
                 `SamplingInput` or `RootsInput`",
            );
        }
    }
    if question.is_some() || is_context {
        for attribute in attributes_of(typed, ARG) {
            diagnostics.error(attribute, "`#[arg(..)]` belongs on an argument, which a client sends");
        }
    }
    if is_context {
        return check_context(reference, diagnostics);
    }
    let ident = check_name(&typed.pat, diagnostics)?;
    let docs = Docs::of(&typed.attrs);
    match question {
        Some(last) => {
            if let Some(reference) = reference {
                let name = if last.ident == FORM { "Input<T>".to_owned() } else { last.ident.to_string() };
                diagnostics
                    .error(reference.and_token, format!("a question is taken by value: write `{name}`"));
            }
            check_question(typed, ident, docs, last, diagnostics).map(Parameter::Input)
        }
        None => {
            check_owned(&typed.ty, "an argument", diagnostics);
            NestedCheck { diagnostics }.visit_type(&typed.ty);
            let header = check_arg(typed, diagnostics);
            let ty = (*typed.ty).clone();
            Some(Parameter::Argument(Argument { ident: ident.clone(), docs, ty, header }))
        }
    }
}

fn attributes_of<'a>(typed: &'a PatType, name: &'static str) -> impl Iterator<Item = &'a Attribute> {
    typed.attrs.iter().filter(move |attribute| attribute.path().is_ident(name))
}

fn check_question(
    typed: &PatType,
    ident: &Ident,
    docs: Docs,
    last: &PathSegment,
    diagnostics: &mut Diagnostics,
) -> Option<Input> {
    let key = ident.unraw().to_string();
    // Nobody reads what is said about roots.
    if docs.is_blank() && last.ident != ROOTS {
        diagnostics.error(
            ident,
            format!(
                "the question `{key}` has no text: write it as a doc comment (`/// ..`) above the parameter"
            ),
        );
    }
    let asking = check_ask(typed, last, diagnostics);
    let kind = if last.ident == FORM {
        let answer = check_answer(last, diagnostics)?;
        check_owned(answer, "an answer", diagnostics);
        Kind::Form(answer.clone())
    } else {
        // Whatever stands behind the name, the compiler sees it in the function.
        match last.ident.to_string().as_str() {
            URL => Kind::Url,
            SAMPLING => Kind::Sampling { max_tokens: asking.max_tokens, system: asking.system },
            _ => Kind::Roots,
        }
    };
    Some(Input { key, before_task: asking.before_task, question: docs, kind })
}

/// What `#[ask(..)]` says.
#[derive(Default)]
struct Asking {
    before_task: bool,
    max_tokens: Option<LitInt>,
    system: Option<Expr>,
}

fn check_ask(typed: &PatType, last: &PathSegment, diagnostics: &mut Diagnostics) -> Asking {
    const EXPECTED_NUMBER: &str = "expected a whole number of tokens, from 1";
    const EXPECTED_TEXT: &str = "expected text in quotes or a constant expression";
    let known: &[&str] =
        if last.ident == SAMPLING { &[BEFORE_TASK, MAX_TOKENS, SYSTEM] } else { &[BEFORE_TASK] };
    let when = "expected when to ask: `#[ask(before_task)]`";
    let mut raw = raw_of(typed, ASK, known, when, diagnostics);
    let mut asking = Asking::default();
    if let Some(arg) = raw.take(BEFORE_TASK) {
        asking.before_task = arg.is_flag(diagnostics);
        if last.ident == URL {
            let what =
                "the body says the address, so this cannot be asked before it runs: leave `before_task` out";
            diagnostics.error(arg.name(), what);
        }
    }
    if let Some(arg) = raw.take(MAX_TOKENS)
        && let Some(value) = arg.value(diagnostics, EXPECTED_NUMBER)
    {
        match value {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. })
                if number.base10_parse::<u64>().is_ok_and(|number| number > 0)
                    && number.suffix().is_empty() =>
            {
                asking.max_tokens = Some(number.clone());
            }
            value => diagnostics.error(value, EXPECTED_NUMBER),
        }
    }
    if let Some(arg) = raw.take(SYSTEM)
        && let Some(value) = arg.value(diagnostics, EXPECTED_TEXT)
    {
        match value {
            Expr::Lit(ExprLit { lit, .. }) if !matches!(lit, Lit::Str(_)) => {
                diagnostics.error(value, EXPECTED_TEXT);
            }
            value => asking.system = Some(value.clone()),
        }
    }
    asking
}

/// All that the attributes of a name say, of which there may be several.
fn raw_of(
    typed: &PatType,
    name: &'static str,
    known: &[&str],
    expected: &str,
    diagnostics: &mut Diagnostics,
) -> RawArgs {
    let mut all = TokenStream::new();
    for attribute in attributes_of(typed, name) {
        match &attribute.meta {
            Meta::List(list) if !list.tokens.is_empty() => {
                list.tokens.to_tokens(&mut all);
                <syn::Token![,]>::default().to_tokens(&mut all);
            }
            _ => diagnostics.error(attribute, expected),
        }
    }
    RawArgs::parse(all, known, diagnostics)
}

/// The header that an argument is repeated in.
fn check_arg(typed: &PatType, diagnostics: &mut Diagnostics) -> Option<LitStr> {
    const EXPECTED: &str = "expected the name of a header in quotes: `header = \"Region\"`";
    let mut raw = raw_of(typed, ARG, &[HEADER], "expected `#[arg(header = \"..\")]`", diagnostics);
    let arg = raw.take(HEADER)?;
    let value = arg.value(diagnostics, EXPECTED)?;
    let Expr::Lit(ExprLit { lit: Lit::Str(header), .. }) = value else {
        diagnostics.error(value, EXPECTED);
        return None;
    };
    if let Err(message) = check_header_name(&header.value()) {
        diagnostics.error(header, message);
    }
    if let Some(unfit) = unfit_for_a_header(&typed.ty) {
        diagnostics.error(
            &typed.ty,
            format!("{unfit} cannot be a header: take a text, an integer or a `bool`, or an `Option` of one"),
        );
    }
    Some(header.clone())
}

/// The rule for the part of a header's name that is the tool's.
fn check_header_name(name: &str) -> Result<(), String> {
    const PREFIX: &str = "mcp-param-";
    let is_legal =
        |character: char| character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character);
    if let Some(character) = name.chars().find(|character| !is_legal(*character)) {
        return Err(format!(
            "the name of a header cannot contain `{}`, expected letters, digits and `!#$%&'*+-.^_`|~` of ASCII",
            character.escape_debug()
        ));
    }
    if name.is_empty() {
        return Err("the name of a header is not empty".to_owned());
    }
    if name.to_ascii_lowercase().starts_with(PREFIX) {
        return Err("the header is called `Mcp-Param-` and this name: leave the beginning out".to_owned());
    }
    Ok(())
}

/// What a type is that is written like one without the form of a header. Others are judged when the tool is registered.
fn unfit_for_a_header(ty: &Type) -> Option<&'static str> {
    const LISTS: &[&str] = &["Vec", "VecDeque", "HashSet", "BTreeSet"];
    match peel(ty) {
        Type::Tuple(_) | Type::Array(_) | Type::Slice(_) => Some("a list"),
        ty => {
            let last = last_segment(ty)?;
            if last.ident == "f32" || last.ident == "f64" {
                return Some("a number with a fraction");
            }
            if LISTS.iter().any(|list| last.ident == list) {
                return Some("a list");
            }
            if last.ident == "HashMap" || last.ident == "BTreeMap" {
                return Some("an object");
            }
            match &last.arguments {
                PathArguments::AngleBracketed(brackets) if last.ident == "Option" || last.ident == "Box" => {
                    brackets.args.iter().find_map(|argument| match argument {
                        GenericArgument::Type(inner) => unfit_for_a_header(inner),
                        _ => None,
                    })
                }
                _ => None,
            }
        }
    }
}

/// A header repeats one argument; its name is the same in capitals and small letters.
fn check_headers(parameters: &[Parameter], diagnostics: &mut Diagnostics) {
    let mut names: Vec<String> = Vec::new();
    for parameter in parameters {
        let Parameter::Argument(Argument { header: Some(header), .. }) = parameter else { continue };
        let name = header.value().to_ascii_lowercase();
        if names.contains(&name) {
            diagnostics
                .error(header, format!("the header `{}` repeats another argument already", header.value()));
        }
        names.push(name);
    }
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
        } else if name != "doc" && name != ASK && name != ARG && !is_attribute_of_rustc(&name) {
            diagnostics.error(
                attribute,
                "unknown attribute of a parameter: what it says belongs on a type with `#[tool_type]`",
            );
        }
    }
}

/// Refuses questions and contexts inside of other types, where they would be taken for arguments.
struct NestedCheck<'a> {
    diagnostics: &'a mut Diagnostics,
}

impl<'ast> Visit<'ast> for NestedCheck<'_> {
    fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
        let of_question = QUESTIONS.iter().find(|name| segment.ident == **name);
        if let Some(name) = of_question.filter(|name| **name != FORM || !segment.arguments.is_empty()) {
            let name = if *name == FORM { "Input<T>" } else { name };
            self.diagnostics.error(
                segment,
                format!("a question is a parameter of its own: write `{name}`, and decide in the body whether to ask"),
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
