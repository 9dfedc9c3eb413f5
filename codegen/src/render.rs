//! From model to Rust text. No decision about shape is taken here.

mod constants;
mod inline;
mod object;
mod plain;
mod state;
mod union;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::visit::Visit;

use crate::error::{Error, Errors};
use crate::front::Front;
use crate::json::Json;
use crate::lower::Source;
use crate::model::{Item, ItemKind, Model};
use crate::{Options, TextFile};

/// What the templates of one generation share.
struct Context<'a> {
    model: &'a Model,
    front: &'a Front,
    /// The path of the types crate.
    root: syn::Path,
    /// Definitions by schema name.
    items: BTreeMap<&'a str, &'a Item>,
}

impl Context<'_> {
    /// The Rust type of a definition. Those written by hand are named from the root.
    fn type_of(&self, schema_name: &str) -> syn::Type {
        let root = &self.root;
        match self.items.get(schema_name) {
            Some(Item { kind: ItemKind::Replaced(path), .. }) => {
                let path = by_hand(path);
                syn::parse_quote!(#root::#path)
            }
            Some(item) => {
                let ident = format_ident!("{}", item.rust_name);
                syn::parse_quote!(#ident)
            }
            // Lowering has followed every reference.
            None => syn::parse_quote!(()),
        }
    }
}

/// The path of a type that stands in the types crate, from its root.
fn by_hand(path: &str) -> TokenStream {
    let segments = path.split("::").map(|segment| format_ident!("{segment}"));
    quote!(#(#segments)::*)
}

fn invalid(message: impl std::fmt::Display) -> Errors {
    vec![Error::new("generated code", "", message.to_string())]
}

/// The files of one generation.
pub(crate) fn generation(model: &Model, front: &Front, options: &Options) -> Result<Vec<TextFile>, Errors> {
    let root: syn::Path = syn::parse_str(&options.root).map_err(invalid)?;
    let items = model.items().map(|item| (item.schema_name.as_str(), item)).collect();
    let context = Context { model, front, root, items };
    let homes: BTreeMap<&str, &str> = model
        .files
        .iter()
        .flat_map(|file| {
            file.items
                .iter()
                .filter(|item| context.makes_type(item))
                .map(|item| (item.rust_name.as_str(), file.stem.as_str()))
        })
        .collect();
    let mut out = Vec::new();
    let mut modules = TokenStream::new();
    for file in &model.files {
        let body: TokenStream = file.items.iter().map(|item| context.item(item)).collect();
        let mut named = Named::default();
        named.visit_file(&syn::parse2(body.clone()).map_err(invalid)?);
        let imports: Vec<_> = homes
            .iter()
            .filter(|(name, home)| named.0.contains(**name) && **home != file.stem)
            .map(|(name, home)| {
                let (name, home) = (format_ident!("{name}"), format_ident!("{home}"));
                quote!(use super::#home::#name;)
            })
            .collect();
        let docs = format!(" {}", file.docs);
        let root = &context.root;
        let path = format!("{}/{}.rs", model.module, file.stem);
        let text = print(
            &header(options, &file.path),
            quote!(#![doc = #docs] use #root::support; use #root::support::serde; #(#imports)* #body),
        )?;
        out.push(TextFile::new(path, text));
        let stem = format_ident!("{}", file.stem);
        let names = file.items.iter().filter(|item| context.makes_type(item)).flat_map(plain::exported);
        modules.extend(quote!(mod #stem; pub use #stem::{#(#names),*};));
    }
    let constants = context.constants();
    let folder =
        model.files.first().and_then(|file| file.path.rsplit_once('/')).map_or("", |(folder, _)| folder);
    let docs = module_docs(&context, options);
    let version = version(&context.root);
    let text = print(&header(options, folder), quote!(#docs #version #modules #constants))?;
    out.push(TextFile::new(format!("{}.rs", model.module), text));
    Ok(out)
}

/// What the module of a revision or an extension says of itself, and where its reader begins.
fn module_docs(context: &Context<'_>, options: &Options) -> TokenStream {
    let generation = &context.model.generation;
    let mut lines = vec![if options.registry {
        format!(" The types of protocol revision {generation}.")
    } else {
        format!(" The types of `{generation}`, an extension of the protocol.")
    }];
    let named = |schema_name: &String| match context.items.get(schema_name.as_str()) {
        Some(Item { kind: ItemKind::Replaced(path), .. }) => format!("`{path}`"),
        Some(item) => format!("[`{}`]", item.rust_name),
        None => format!("`{schema_name}`"),
    };
    let mut messages = Vec::new();
    for item in context.model.items() {
        let ItemKind::Object(object) = &item.kind else { continue };
        let Some(method) = &object.method else { continue };
        let answer = method.result.as_ref().map_or_else(|| "–".to_owned(), named);
        messages.push(format!(" | `{}` | {} | {answer} |", method.name, named(&item.schema_name)));
    }
    messages.sort();
    if !messages.is_empty() {
        lines.extend(["", " Begin with a message; the types of its members lead on.", ""].map(str::to_owned));
        lines.extend([" | method | message | answered with |", " |---|---|---|"].map(str::to_owned));
        lines.append(&mut messages);
    }
    quote!(#(#![doc = #lines])*)
}

/// Outside the types crate, a check that it is of the version that the code was made for: what generated code calls
/// there is no interface that anybody else keeps to.
fn version(root: &syn::Path) -> Option<TokenStream> {
    let number = |text: &str| text.parse().ok().map(Literal::u32_unsuffixed);
    let major = number(env!("CARGO_PKG_VERSION_MAJOR"))?;
    let minor = number(env!("CARGO_PKG_VERSION_MINOR"))?;
    (!root.is_ident("crate")).then(|| quote!(const _: () = #root::support::assert_version(#major, #minor);))
}

/// The list of all types, as a macro: tests, commands and benches expand it instead of keeping lists of their own.
pub(crate) fn registry(models: &[&Model], options: &Options) -> Result<TextFile, Errors> {
    let (mut generated, mut by_hand) = (Vec::new(), Vec::new());
    for model in models {
        let module = format_ident!("{}", model.module);
        for item in model.items().filter(|item| is_wire_type(item)) {
            let (generation, name) = (&model.generation, &item.schema_name);
            if let ItemKind::Replaced(path) = &item.kind {
                let path = self::by_hand(path);
                by_hand.push(quote!([#generation, #name, $crate::#path]));
            } else {
                let ident = format_ident!("{}", item.rust_name);
                generated.push(quote!([#generation, #name, $crate::#module::#ident]));
            }
        }
    }
    let bundles = models.iter().map(|model| {
        let (generation, file) = (&model.generation, format!("{}.schema.json", model.module));
        quote!((#generation, include_str!(#file)))
    });
    let tokens = quote! {
        #![doc = " The list of all wire types."]
        /// Calls a macro with the list of all wire types, each as `[generation, schema name, path]`.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! for_each_wire_type {
            ($callback:ident) => { $callback! { #(#generated)* #(#by_hand)* } };
        }
        #[doc = " The same without the types that are written by hand."]
        #[cfg(feature = "schemars")]
        macro_rules! for_each_generated_type {
            ($callback:ident) => { $callback! { #(#generated)* } };
        }
        #[cfg(feature = "schemars")]
        pub(crate) use for_each_generated_type;
        #[doc = " The whole schema of each generation, by its name."]
        #[cfg(feature = "schemars")]
        pub(crate) const BUNDLES: &[(&str, &str)] = &[#(#bundles),*];
    };
    Ok(TextFile::new("registry.rs", print(&header(options, "schema"), tokens)?))
}

/// All definitions of a generation in one file, the form that validators read.
pub(crate) fn bundle(model: &Model, sources: &[Source]) -> TextFile {
    let mut definitions = Vec::new();
    for source in sources {
        definitions.extend_from_slice(source.root.get("$defs").and_then(Json::members).unwrap_or_default());
    }
    for (_, definition) in &mut definitions {
        state_at_least_one(definition);
    }
    let text = |text: &str| Json::Text(text.to_owned());
    let root = Json::Object(vec![
        ("$schema".to_owned(), text("https://json-schema.org/draft/2020-12/schema")),
        ("$id".to_owned(), text(&format!("urn:mcp-tasks:{}", model.generation))),
        ("$defs".to_owned(), Json::Object(definitions)),
    ]);
    let mut out = String::new();
    root.write(0, &mut out);
    out.push('\n');
    TextFile::new(format!("{}.schema.json", model.module), out)
}

/// Says `x-at-least-one` in the words of JSON Schema.
fn state_at_least_one(definition: &mut Json) {
    let Json::Object(members) = definition else { return };
    let Some((_, Json::Array(names))) = members.iter().find(|(name, _)| name == "x-at-least-one") else {
        return;
    };
    let arms =
        names.iter().map(|name| Json::Object(vec![("required".to_owned(), Json::Array(vec![name.clone()]))]));
    let arms = Json::Array(arms.collect());
    members.push(("anyOf".to_owned(), arms));
}

/// Whether a definition can be read and written on its own.
pub(crate) fn is_wire_type(item: &Item) -> bool {
    match &item.kind {
        ItemKind::Object(_)
        | ItemKind::Union(_)
        | ItemKind::StringEnum(_)
        | ItemKind::Newtype(_)
        | ItemKind::ErrorCodes(_)
        | ItemKind::Replaced(_) => true,
        ItemKind::State(_) => false,
    }
}

fn header(options: &Options, source: &str) -> String {
    format!("// @generated by `{}` from {source}. Do not edit.\n\n", options.command)
}

fn print(header: &str, tokens: TokenStream) -> Result<String, Errors> {
    let mut file: syn::File = syn::parse2(tokens).map_err(invalid)?;
    inline::mark(&mut file);
    // Reading is a visitor, never one of the attributes that buffer or guess.
    if let Some(attribute) = SerdeAttribute::of(&file) {
        return Err(invalid(format!("the attribute `{attribute}` stands in generated code")));
    }
    Ok(format!("{header}{}", prettyplease::unparse(&file)))
}

/// A serde attribute or derive, if there is one.
#[derive(Default)]
struct SerdeAttribute(Option<String>);

impl SerdeAttribute {
    fn of(file: &syn::File) -> Option<String> {
        let mut found = Self::default();
        found.visit_file(file);
        found.0
    }
}

impl<'ast> Visit<'ast> for SerdeAttribute {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let text = quote!(#attribute).to_string();
        if attribute.path().is_ident("serde")
            || (attribute.path().is_ident("derive") && text.contains("serde"))
        {
            self.0 = Some(text);
        }
    }
}

/// The names that paths begin with.
#[derive(Default)]
struct Named(BTreeSet<String>);

impl<'ast> Visit<'ast> for Named {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            self.0.insert(first.ident.to_string());
        }
        syn::visit::visit_path(self, path);
    }
}

/// The documentation of a definition's type, and the published name where Rust's is another, to be found by.
fn item_docs(item: &Item) -> TokenStream {
    let (docs, alias) = (docs(&item.docs), alias(item));
    quote!(#docs #alias)
}

/// The published name of a definition as one that rustdoc finds its type by.
fn alias(item: &Item) -> Option<syn::Attribute> {
    let published = &item.schema_name;
    // Rustdoc takes no blanks and quotes there.
    let plain = published.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (plain && *published != item.rust_name).then(|| syn::parse_quote!(#[doc(alias = #published)]))
}

/// Documentation attributes, a line each, with the blank that rustdoc's own comments have.
fn docs(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

impl Context<'_> {
    fn makes_type(&self, item: &Item) -> bool {
        !matches!(item.kind, ItemKind::Replaced(_))
    }

    fn item(&self, item: &Item) -> TokenStream {
        match &item.kind {
            ItemKind::Object(object) => self.object(item, object),
            ItemKind::State(state) => self.state(item, state),
            ItemKind::Union(union) => self.union(item, union),
            ItemKind::StringEnum(variants) => self.string_enum(item, variants),
            ItemKind::Newtype(shape) => self.newtype(item, shape),
            ItemKind::ErrorCodes(codes) => self.error_codes(item, codes),
            ItemKind::Replaced(_) => TokenStream::new(),
        }
    }
}
