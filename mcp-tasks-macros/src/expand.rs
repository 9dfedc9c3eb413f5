//! From the validated model to tokens. Nothing is checked here.
//!
//! Beside the function comes a struct of the same name in the type namespace, and its `TaskTool` implementation in an
//! unnamed constant. Names that the expansion makes are told from the author's by their spans (locals) or by two
//! leading underscores (items and members), and everything else is named by an absolute path.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, GenericArgument, Generics, Ident, PathArguments, Type, Visibility, ext::IdentExt as _};

use crate::{
    docs::Docs,
    parameter::{Input, Kind, Parameter},
    paths::Paths,
    signature::Signature,
    tool::Tool,
};

/// The function as given, the struct of its name, and the implementation.
pub(crate) fn expand_tool(tool: &Tool, paths: &Paths, function: &TokenStream) -> TokenStream {
    let Signature { conditions, deprecation, visibility, ident, generics, .. } = &tool.signature;
    let docs = struct_docs(tool);
    let companion = Companion::new(ident, generics);
    let declaration = companion.expand_declaration(visibility, paths);
    let arguments = expand_arguments(tool, paths);
    let questions = expand_questions(tool, paths);
    let implementation = expand_implementation(tool, &companion, paths);
    let quiet = deprecation
        .as_ref()
        .map(|_| quote!(#[allow(deprecated, reason = "the deprecation is meant for callers")]));
    // What schemars derives calls `.into()`, and a module without the prelude would not know it.
    let into = paths.into();
    let into_in_scope = quote!(#[allow(unused_imports, reason = "the prelude has it")] use #into as _;);
    quote! {
        #function

        #docs
        #(#conditions)*
        #deprecation
        #declaration

        #(#conditions)*
        #quiet
        const _: () = {
            #into_in_scope
            #arguments
            #questions
            #implementation
        };
    }
}

/// The struct beside a function: how it is declared and how it is named.
pub(crate) struct Companion {
    ident: Ident,
    generics: Generics,
}

impl Companion {
    /// The struct's name stands where the function's stands, but counts as written by the macro:
    /// a lint on its form, its missing documentation or its traits would be one on our work.
    pub(crate) fn new(ident: &Ident, generics: &Generics) -> Self {
        let mut ident = ident.clone();
        ident.set_span(ident.span().resolved_at(Span::call_site()));
        Self { ident, generics: generics.clone() }
    }

    pub(crate) fn expand_declaration(&self, visibility: &Visibility, paths: &Paths) -> TokenStream {
        let ident = &self.ident;
        let parameters = self.generics.params.iter().map(without_bounds);
        let parameters =
            if self.generics.params.is_empty() { TokenStream::new() } else { quote!(<#(#parameters),*>) };
        let marker = expand_marker(&self.generics, paths);
        quote!(#visibility struct #ident #parameters { #marker })
    }

    /// `impl<..> TaskTool for name<..> where ..`, with the items given.
    pub(crate) fn expand_impl(&self, items: &TokenStream, paths: &Paths) -> TokenStream {
        let ident = &self.ident;
        let (parameters, arguments, bounds) = self.generics.split_for_impl();
        let task_tool = paths.task_tool();
        quote! {
            impl #parameters #task_tool for #ident #arguments #bounds {
                #items
            }
        }
    }
}

/// A member that uses the type parameters, if there are any.
fn expand_marker(generics: &Generics, paths: &Paths) -> Option<TokenStream> {
    let types: Vec<&Ident> = generics.type_params().map(|parameter| &parameter.ident).collect();
    let phantom_data = paths.phantom_data();
    (!types.is_empty()).then(|| quote!(__types: #phantom_data<fn() -> (#(#types,)*)>))
}

fn without_bounds(parameter: &syn::GenericParam) -> TokenStream {
    match parameter {
        syn::GenericParam::Type(parameter) => parameter.ident.to_token_stream(),
        syn::GenericParam::Lifetime(parameter) => parameter.lifetime.to_token_stream(),
        syn::GenericParam::Const(parameter) => {
            let (ident, ty) = (&parameter.ident, &parameter.ty);
            quote!(const #ident: #ty)
        }
    }
}

/// The function's documentation, or else the description, which then documents both; an expression cannot.
fn struct_docs(tool: &Tool) -> TokenStream {
    let docs = &tool.signature.docs;
    let attributes = docs.attributes();
    let description = match &tool.args.description {
        Some(description @ Expr::Lit(_)) if docs.is_blank() => Some(quote!(#[doc = #description])),
        _ => None,
    };
    quote!(#(#attributes)* #description)
}

fn arguments_ident() -> Ident {
    Ident::new("__Arguments", Span::call_site())
}

/// The function that says how the arguments are read.
fn read_arguments_ident() -> Ident {
    Ident::new("__arguments", Span::call_site())
}

/// The function that makes the question of that number.
fn question_ident(number: usize) -> Ident {
    Ident::new(&format!("__question_{number}"), Span::call_site())
}

/// The struct that a call's arguments are read into and that the input schema is made from. It is generic over the
/// types of its members, so that what is derived for it compiles whatever the author's types lack.
fn expand_arguments(tool: &Tool, paths: &Paths) -> TokenStream {
    let ident = arguments_ident();
    let (serde, schemars) = (paths.serde(), paths.schemars());
    let (serde_text, schemars_text) = (paths.serde_text(), paths.schemars_text());
    let parameters: Vec<Ident> = (0..tool.arguments().count())
        .map(|number| Ident::new(&format!("__A{number}"), Span::call_site()))
        .collect();
    let needed = paths.tool_argument_text();
    let bounds: Vec<String> = parameters.iter().map(|parameter| format!("{parameter}: {needed}")).collect();
    let bounds = bounds.join(", ");
    let bounds =
        (!parameters.is_empty()).then(|| quote!(#[serde(bound = #bounds)] #[schemars(bound = #bounds)]));
    let generics = (!parameters.is_empty()).then(|| quote!(<#(#parameters),*>));
    let members = tool.arguments().zip(&parameters).map(|(argument, parameter)| {
        let docs = argument.docs.attributes();
        let ident = &argument.ident;
        quote!(#(#docs)* #ident: #parameter,)
    });
    let read = expand_read_arguments(tool, paths);
    quote! {
        #[derive(#serde::Deserialize, #schemars::JsonSchema)]
        #[serde(crate = #serde_text, rename = "arguments")]
        #[schemars(crate = #schemars_text)]
        #bounds
        struct #ident #generics {
            #(#members)*
        }

        #read
    }
}

/// The one place that needs what the types of arguments have to have. It blames the first type that may lack it.
fn expand_read_arguments(tool: &Tool, paths: &Paths) -> TokenStream {
    let (ident, function) = (arguments_ident(), read_arguments_ident());
    let (parameters, _, bounds) = tool.signature.generics.split_for_impl();
    let types: Vec<&Type> = tool.arguments().map(|argument| &argument.ty).collect();
    let generics = (!types.is_empty()).then(|| quote!(<#(#types),*>));
    let arguments = paths.arguments();
    let of = quote!(#arguments::of());
    let suspect = types.iter().find(|ty| !is_of_the_standard_library(ty)).or(types.first());
    let of = suspect.map_or_else(|| of.clone(), |ty| Paths::blaming(&of, ty));
    quote! {
        fn #function #parameters () -> #arguments<#ident #generics> #bounds {
            #of
        }
    }
}

/// Whether a type is written like one that can be an argument in any case.
fn is_of_the_standard_library(ty: &Type) -> bool {
    const PLAIN: &[&str] = &[
        "String", "bool", "char", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize",
        "f32", "f64",
    ];
    const AROUND: &[&str] = &["Option", "Vec", "Box"];
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    match &last.arguments {
        PathArguments::None => PLAIN.iter().any(|plain| last.ident == plain),
        PathArguments::AngleBracketed(inner) => AROUND.iter().any(|around| last.ident == around)
            && inner.args.iter().all(
                |inner| matches!(inner, GenericArgument::Type(inner) if is_of_the_standard_library(inner)),
            ),
        PathArguments::Parenthesized(_) => false,
    }
}

/// One function for each question, each of which is the one place that needs what its type of answers has to have.
fn expand_questions(tool: &Tool, paths: &Paths) -> TokenStream {
    let (parameters, _, bounds) = tool.signature.generics.split_for_impl();
    let functions = tool.inputs().enumerate().map(|(number, question)| {
        let function = question_ident(number);
        let (ty, declared) = expand_question(question, paths);
        quote! {
            fn #function #parameters () -> #ty #bounds {
                #declared
            }
        }
    });
    quote!(#(#functions)*)
}

/// The type of a question and its value.
fn expand_question(question: &Input, paths: &Paths) -> (TokenStream, TokenStream) {
    let key = &question.key;
    let plain = |ty: TokenStream| (ty.clone(), quote!(#ty::declared(#key)));
    match &question.kind {
        Kind::Form(answer) => {
            let input = paths.input();
            (quote!(#input<#answer>), Paths::blaming(&quote!(#input::declared(#key)), answer))
        }
        Kind::Url => plain(paths.url_input()),
        Kind::Roots => plain(paths.roots_input()),
        Kind::Sampling { max_tokens, system } => {
            let (ty, declared) = plain(paths.sampling_input());
            let max_tokens = max_tokens.as_ref().map(|number| quote!(.with_max_tokens(#number)));
            let system = system.as_ref().map(|text| quote!(.with_system_prompt(#text)));
            (ty, quote!(#declared #max_tokens #system))
        }
    }
}

/// The call that says how the arguments are read.
fn read_arguments(tool: &Tool) -> TokenStream {
    let (function, turbofish) = (read_arguments_ident(), turbofish(tool));
    quote!(#function #turbofish ())
}

/// The call that makes the question of that number.
fn question(tool: &Tool, number: usize) -> TokenStream {
    let (function, turbofish) = (question_ident(number), turbofish(tool));
    quote!(#function #turbofish ())
}

fn turbofish(tool: &Tool) -> TokenStream {
    let (_, generic_arguments, _) = tool.signature.generics.split_for_impl();
    generic_arguments.as_turbofish().to_token_stream()
}

fn expand_implementation(tool: &Tool, companion: &Companion, paths: &Paths) -> TokenStream {
    let name = &tool.name;
    let definition = expand_definition(tool, paths);
    let run = expand_run(tool, paths);
    let arguments = read_arguments(tool);
    let raw_object = paths.raw_object();
    let argument_error = paths.argument_error();
    let result = paths.result();
    let object = Ident::new("object", Span::mixed_site());
    let items = quote! {
        const NAME: &'static str = #name;

        #definition

        fn check(#object: &#raw_object) -> #result<(), #argument_error> {
            #arguments.check(#object)
        }

        #run
    };
    companion.expand_impl(&items, paths)
}

fn expand_definition(tool: &Tool, paths: &Paths) -> TokenStream {
    let args = &tool.args;
    let arguments = read_arguments(tool);
    let result = Paths::itself(&tool.signature.result, &paths.tool_return());
    let tool_definition = paths.tool_definition();
    let task_tool = paths.task_tool();

    let mut settings = TokenStream::new();
    if let Some(description) = expand_description(tool, paths) {
        settings.extend(quote!(.with_description(#description)));
    }
    if let Some(title) = &args.title {
        settings.extend(quote!(.with_title(#title)));
    }
    if let Some(version) = &args.version {
        settings.extend(quote!(.with_version(#version)));
    }
    if let Some(status) = &args.status {
        settings.extend(quote!(.with_status_message(#status)));
    }
    if let Some(ttl_ms) = args.ttl_ms {
        settings.extend(quote!(.with_ttl_ms(#ttl_ms)));
    }
    if let Some(poll_ms) = args.poll_ms {
        settings.extend(quote!(.with_poll_ms(#poll_ms)));
    }
    if let Some(task) = args.task {
        let task_mode = paths.task_mode();
        settings.extend(quote!(.with_task_mode(#task_mode::#task)));
    }
    if let Some(policy) = args.restart {
        let restart = paths.restart();
        settings.extend(quote!(.with_restart(#restart::#policy)));
    }
    if let Some(cancel_grace_ms) = args.cancel_grace_ms {
        settings.extend(quote!(.with_cancel_grace_ms(#cancel_grace_ms)));
    }
    if let Some(deadline_ms) = args.deadline_ms {
        settings.extend(quote!(.with_deadline_ms(#deadline_ms)));
    }
    if let Some(retain_ms) = args.retain_ms {
        settings.extend(quote!(.with_retain_ms(#retain_ms)));
    }
    if let Some(park_after_ms) = args.park_after_ms {
        settings.extend(quote!(.with_park_after_ms(#park_after_ms)));
    }
    if let Some(grace_ms) = args.grace_ms {
        settings.extend(quote!(.with_grace_ms(#grace_ms)));
    }
    if let Some(argument) = &args.idempotency_key {
        settings.extend(quote!(.with_idempotency_argument(#argument)));
    }
    if let Some(required) = args.require_input_capability {
        settings.extend(quote!(.with_require_input_capability(#required)));
    }
    for argument in tool.arguments() {
        if let Some(header) = &argument.header {
            let name = argument.ident.unraw().to_string();
            settings.extend(quote!(.with_header(#name, #header)));
        }
    }
    for (number, input) in tool.inputs().enumerate() {
        let (question, text) = (question(tool, number), input.question.text(paths));
        settings.extend(if input.before_task {
            quote!(.with_question_before_task(&#question, #text))
        } else {
            quote!(.with_question(&#question, #text))
        });
    }
    quote! {
        fn definition() -> #tool_definition {
            #arguments.define::<#result>(<Self as #task_tool>::NAME)
            #settings
        }
    }
}

/// The description of the attribute, or else the function's documentation.
fn expand_description(tool: &Tool, paths: &Paths) -> Option<TokenStream> {
    let docs: &Docs = &tool.signature.docs;
    match &tool.args.description {
        Some(description) => Some(description.to_token_stream()),
        None => (!docs.is_blank()).then(|| docs.text(paths)),
    }
}

/// Reads the arguments, calls the function as any caller would, and turns its result into the tool's.
fn expand_run(tool: &Tool, paths: &Paths) -> TokenStream {
    let call = Ident::new("call", Span::mixed_site());
    let values = Ident::new("arguments", Span::mixed_site());
    let context = Ident::new("context", Span::mixed_site());
    let arguments = read_arguments(tool);
    let (_, generic_arguments, _) = tool.signature.generics.split_for_impl();
    let turbofish = generic_arguments.as_turbofish();
    let function = &tool.signature.ident;
    // Types are repeated where they could be inferred, so that the compiler blames them and not the attribute.
    let written_result = Paths::itself(&tool.signature.result, &paths.tool_return());
    let (tool_call, clone) = (paths.tool_call(), paths.clone());
    let mut questions = 0..;
    let passed = tool.signature.parameters.iter().map(|parameter| match parameter {
        Parameter::Context { by_reference: true } => quote!(&#context),
        Parameter::Context { by_reference: false } => quote!(#clone::clone(&#context)),
        Parameter::Input(_) => question(tool, questions.next().unwrap_or_default()),
        Parameter::Argument(argument) => {
            let ident = &argument.ident;
            quote!(#values.#ident)
        }
    });
    let read_values = quote!(#arguments.read(&#call)?);
    let read_values = if tool.arguments().next().is_some() {
        quote!(let #values = #read_values;)
    } else {
        quote!(#read_values;)
    };
    let read_context = tool.needs_context().then(|| quote!(let #context = #tool_call::context(&#call);));
    let (result, boxed, finish) = (paths.result(), paths.boxed(), paths.finish());
    let (box_future, call_tool_result, tool_error) =
        (paths.box_future(), paths.call_tool_result(), paths.tool_error());
    quote! {
        fn run(#call: #tool_call) -> #box_future<'static, #result<#call_tool_result, #tool_error>> {
            #boxed::pin(async move {
                #read_values
                #read_context
                #finish::<#written_result>(#function #turbofish(#(#passed),*).await)
            })
        }
    }
}
