//! The protocol's words as constants: the revision, methods, `_meta` keys, extensions.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Context;
use crate::model::ItemKind;
use crate::names;

impl Context<'_> {
    pub(super) fn constants(&self) -> TokenStream {
        // The check has found that each name stands for one text.
        let mut methods = BTreeMap::new();
        let mut keys = BTreeMap::new();
        let mut extensions = BTreeMap::new();
        for item in self.model.items() {
            let ItemKind::Object(object) = &item.kind else { continue };
            if let Some(method) = &object.method {
                methods.insert(names::constant_name(&method.name), &method.name);
            }
            if let Some(id) = &object.extension {
                extensions.insert(names::key_constant(id), id);
            }
            for member in object.members().filter(|member| member.meta_key) {
                keys.insert(names::key_constant(&member.name), &member.name);
            }
        }
        let generation = &self.model.generation;
        let enumeration = (!methods.is_empty()).then(|| self.methods(methods.values().copied()));
        // Beside the module and not in it, where a key could be called the same.
        let all_keys = (!keys.is_empty()).then(|| {
            let texts = keys.values();
            quote! {
                /// All keys of [`meta_key`], in its order.
                pub const META_KEYS: &[&str] = &[#(#texts),*];
            }
        });
        let methods = constants(&methods, "method");
        let keys = constants(&keys, "key");
        let extensions = constants(&extensions, "extension");
        // A proposal never had a version of its own: peers state the revision that it was tried on.
        let version = names::is_version(generation).then(|| {
            quote! {
                /// The protocol revision, as `protocolVersion` states it.
                pub const PROTOCOL_VERSION: &str = #generation;
            }
        });
        let module = |name: &str, docs: &str, constants: Vec<TokenStream>| {
            let name = format_ident!("{name}");
            (!constants.is_empty()).then(|| quote!(#[doc = #docs] pub mod #name { #(#constants)* }))
        };
        let methods = module("method", " The methods of this revision.", methods);
        let keys = module("meta_key", " The keys of `_meta` objects that the protocol defines.", keys);
        let extensions = module("extension", " The identifiers of protocol extensions.", extensions);
        quote!(#version #methods #keys #all_keys #extensions #enumeration)
    }

    /// The methods as an enum, for whoever dispatches on them.
    fn methods<'m>(&self, methods: impl Iterator<Item = &'m String>) -> TokenStream {
        let root = &self.root;
        let methods: Vec<_> = methods.collect();
        let variants: Vec<_> = methods.iter().map(|m| format_ident!("{}", names::variant_name(m))).collect();
        let docs = methods.iter().map(|method| format!(" `{method}`."));
        let expected = format!("the methods of {}", self.model.generation);
        quote! {
            /// A method of this revision, of a request or a notification.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[non_exhaustive]
            pub enum Method { #(#[doc = #docs] #variants),* }
            impl Method {
                /// All methods, in the order of their names.
                pub const ALL: &'static [Self] = &[#(Self::#variants),*];
                /// The method as the protocol writes it.
                #[must_use]
                pub const fn as_str(self) -> &'static str {
                    match self { #(Self::#variants => #methods),* }
                }
            }
            impl ::core::fmt::Display for Method {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(self.as_str())
                }
            }
            impl ::core::str::FromStr for Method {
                type Err = #root::UnknownValue;
                fn from_str(text: &str) -> Result<Self, #root::UnknownValue> {
                    match text {
                        #(#methods => Ok(Self::#variants),)*
                        _ => Err(#root::UnknownValue::new(text, #expected)),
                    }
                }
            }
        }
    }
}

fn constants(texts: &BTreeMap<String, &String>, what: &str) -> Vec<TokenStream> {
    texts
        .iter()
        .map(|(name, text)| {
            let (name, docs) = (format_ident!("{name}"), format!(" The {what} `{text}`."));
            quote!(#[doc = #docs] pub const #name: &str = #text;)
        })
        .collect()
}
