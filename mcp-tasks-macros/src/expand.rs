//! From the validated model to tokens. Nothing is checked here.
//!
//! Beside the function comes a struct of the same name in the type namespace, and its `TaskTool` implementation in an
//! unnamed constant. Names that the expansion makes are told from the author's by their spans (locals) or by two
//! leading underscores (items and members), and everything else is named by an absolute path.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Generics, Ident, Visibility};

use crate::{
    docs::Docs,
    paths::Paths,
    signature::{Parameter, Signature},
    tool::Tool,
};

/// The function as given, the struct of its name, and the implementation.
pub(crate) fn expand_tool(tool: &Tool, paths: &Paths, function: &TokenStream) -> TokenStream {
    let Signature { conditions, deprecation, visibility, ident, generics, .. } = &tool.signature;
    let docs = struct_docs(tool);
    let companion = Companion::new(ident, generics);
    let declaration = companion.expand_declaration(visibility, paths);
    let arguments = expand_arguments(tool, paths);
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

/// The struct that a call's arguments are read into and that the input schema is made from.
fn expand_arguments(tool: &Tool, paths: &Paths) -> TokenStream {
    let ident = arguments_ident();
    let (serde, schemars) = (paths.serde(), paths.schemars());
    let (serde_text, schemars_text) = (paths.serde_text(), paths.schemars_text());
    let generics = &tool.signature.generics;
    let bounds = &generics.where_clause;
    let has_types = generics.type_params().next().is_some();
    let own_bounds = has_types.then(|| quote!(#[serde(bound = "")] #[schemars(bound = "")]));
    let marker = expand_marker(generics, paths).map(|marker| quote!(#[serde(skip)] #marker));
    let members = tool.arguments().map(|argument| {
        let docs = argument.docs.attributes();
        let (ident, ty) = (&argument.ident, &argument.ty);
        quote!(#(#docs)* #ident: #ty,)
    });
    quote! {
        #[derive(#serde::Deserialize, #schemars::JsonSchema)]
        #[serde(crate = #serde_text, rename = "arguments")]
        #[schemars(crate = #schemars_text)]
        #own_bounds
        struct #ident #generics #bounds {
            #(#members)*
            #marker
        }
    }
}

fn expand_implementation(tool: &Tool, companion: &Companion, paths: &Paths) -> TokenStream {
    let name = &tool.name;
    let definition = expand_definition(tool, paths);
    let run = expand_run(tool, paths);
    let (_, generic_arguments, _) = tool.signature.generics.split_for_impl();
    let arguments = arguments_ident();
    let raw_object = paths.raw_object();
    let argument_error = paths.argument_error();
    let check_arguments = paths.check_arguments();
    let result = paths.result();
    let object = Ident::new("object", Span::mixed_site());
    let items = quote! {
        const NAME: &'static str = #name;

        #definition

        fn check(#object: &#raw_object) -> #result<(), #argument_error> {
            #check_arguments::<#arguments #generic_arguments>(#object)
        }

        #run
    };
    companion.expand_impl(&items, paths)
}

fn expand_definition(tool: &Tool, paths: &Paths) -> TokenStream {
    let args = &tool.args;
    let (_, generic_arguments, _) = tool.signature.generics.split_for_impl();
    let arguments = arguments_ident();
    let result = &tool.signature.result;
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
    if let Some(required) = args.require_input_capability {
        settings.extend(quote!(.with_require_input_capability(#required)));
    }
    for input in tool.inputs() {
        let (key, answer) = (&input.key, &input.answer);
        let question = input.question.text(paths);
        settings.extend(quote!(.with_input::<#answer>(#key, #question)));
    }
    quote! {
        fn definition() -> #tool_definition {
            #tool_definition::new::<#arguments #generic_arguments, #result>(
                <Self as #task_tool>::NAME
            )
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
    let arguments = arguments_ident();
    let (_, generic_arguments, _) = tool.signature.generics.split_for_impl();
    let turbofish = generic_arguments.as_turbofish();
    let function = &tool.signature.ident;
    // Types are repeated where they could be inferred, so that the compiler blames them and not the attribute.
    let written_result = &tool.signature.result;
    let (tool_call, input, clone) = (paths.tool_call(), paths.input(), paths.clone());
    let passed = tool.signature.parameters.iter().map(|parameter| match parameter {
        Parameter::Context { by_reference: true } => quote!(&#context),
        Parameter::Context { by_reference: false } => quote!(#clone::clone(&#context)),
        Parameter::Input(question) => {
            let (key, answer) = (&question.key, &question.answer);
            quote!(#input::<#answer>::declared(#key))
        }
        Parameter::Argument(argument) => {
            let ident = &argument.ident;
            quote!(#values.#ident)
        }
    });
    let read_values = quote!(#tool_call::arguments::<#arguments #generic_arguments>(&#call)?);
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
