//! String enums, newtypes and error codes.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;

use super::{Context, docs};
use crate::model::{ErrorCode, Item, ItemKind, TypeRef, Variant};

/// The Rust types that an item is made of.
pub(super) fn exported(item: &Item) -> Vec<syn::Ident> {
    let name = format_ident!("{}", item.rust_name);
    match &item.kind {
        ItemKind::ErrorCodes(codes) if has_data(codes) => vec![data_name(item), name],
        _ => vec![name],
    }
}

fn data_name(item: &Item) -> syn::Ident {
    format_ident!("{}", crate::names::data_name(&item.rust_name))
}

fn has_data(codes: &[ErrorCode]) -> bool {
    codes.iter().any(|code| code.data.is_some())
}

/// Rustdoc's comments begin with a blank, the front end's do not.
struct DocBlanks;

impl VisitMut for DocBlanks {
    fn visit_attribute_mut(&mut self, attribute: &mut syn::Attribute) {
        if !attribute.path().is_ident("doc") {
            return;
        }
        if let syn::Meta::NameValue(pair) = &mut attribute.meta
            && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &mut pair.value
            && !text.value().starts_with(' ')
            && !text.value().is_empty()
        {
            *text = syn::LitStr::new(&format!(" {}", text.value().replace('\n', "\n ")), text.span());
        }
    }
}

/// Whether an item reads a type from text. The front end takes a number for one that Rust can read; ours keeps its text
/// and is read as JSON alone.
fn is_parser(item: &syn::Item) -> bool {
    let syn::Item::Impl(syn::ItemImpl { trait_: Some((path, _)), .. }) = item else { return false };
    path.segments.last().is_some_and(|segment| segment.ident == "FromStr" || segment.ident == "TryFrom")
}

impl Context<'_> {
    /// The front end's enum with our own conversions: its `FromStr` error says nothing.
    pub(super) fn string_enum(&self, item: &Item, variants: &[Variant]) -> TokenStream {
        let root = &self.root;
        let name = format_ident!("{}", item.rust_name);
        let Some(syn::Item::Enum(declared)) =
            self.front.items(&item.rust_name).iter().find(|i| matches!(i, syn::Item::Enum(_)))
        else {
            return TokenStream::new();
        };
        let mut declared = declared.clone();
        DocBlanks.visit_item_enum_mut(&mut declared);
        declared.attrs.extend(super::alias(item));
        let idents: Vec<_> = variants.iter().map(|variant| format_ident!("{}", variant.name)).collect();
        for (declared, ident) in declared.variants.iter_mut().zip(&idents) {
            declared.ident = ident.clone();
        }
        let values: Vec<_> = variants.iter().map(|variant| variant.value.as_str()).collect();
        let expected = format!("`{}`", values.join("`, `"));
        quote! {
            #declared
            impl #name {
                /// All values, in schema order.
                pub const ALL: &'static [Self] = &[#(Self::#idents),*];
                /// The value as the protocol writes it.
                #[must_use]
                pub const fn as_str(self) -> &'static str {
                    match self { #(Self::#idents => #values),* }
                }
            }
            impl support::StringEnum for #name {
                const NAMES: &'static [&'static str] = &[#(#values),*];
                const VALUES: &'static [Self] = Self::ALL;
            }
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    support::string_enum(deserializer)
                }
            }
            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(self.as_str())
                }
            }
            impl ::core::str::FromStr for #name {
                type Err = #root::UnknownValue;
                fn from_str(text: &str) -> Result<Self, #root::UnknownValue> {
                    match text {
                        #(#values => Ok(Self::#idents),)*
                        _ => Err(#root::UnknownValue::new(text, #expected)),
                    }
                }
            }
        }
    }

    pub(super) fn newtype(&self, item: &Item, shape: &TypeRef) -> TokenStream {
        let name = format_ident!("{}", item.rust_name);
        let read = match shape {
            TypeRef::Unsigned => {
                quote!(serde::de::DeserializeSeed::deserialize(support::Unsigned, deserializer))
            }
            TypeRef::Integer => {
                quote!(serde::de::DeserializeSeed::deserialize(support::Integer, deserializer))
            }
            _ => quote!(serde::Deserialize::deserialize(deserializer)),
        };
        let mut items = self.front.items(&item.rust_name).to_vec();
        if self.is_number(shape) {
            items.retain(|item| !is_parser(item));
        }
        for made in &mut items {
            DocBlanks.visit_item_mut(made);
            if let syn::Item::Struct(declared) = made {
                declared.attrs.extend(super::alias(item));
            }
        }
        quote! {
            #(#items)*
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    self.0.serialize(serializer)
                }
            }
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    #read.map(Self)
                }
            }
        }
    }

    /// Whether a shape is a number in the end, by whatever names.
    fn is_number(&self, shape: &TypeRef) -> bool {
        let mut shape = shape;
        while let TypeRef::Named(name) = shape
            && let Some(Item { kind: ItemKind::Newtype(inner), .. }) = self.items.get(name.as_str())
        {
            shape = inner;
        }
        *shape == TypeRef::Number
    }

    pub(super) fn error_codes(&self, item: &Item, codes: &[ErrorCode]) -> TokenStream {
        let name = format_ident!("{}", item.rust_name);
        let variants: Vec<_> = codes.iter().map(|code| format_ident!("{}", code.variant)).collect();
        let numbers: Vec<_> = codes.iter().map(|code| Literal::i64_unsuffixed(code.code)).collect();
        let variant_docs = codes.iter().map(|code| docs(&code.docs));
        let item_docs = super::item_docs(item);
        let statuses: Vec<_> = codes
            .iter()
            .zip(&variants)
            .filter_map(|(code, variant)| {
                let status = Literal::u16_unsuffixed(code.http_status?);
                Some(quote!(Self::#variant => Some(#status),))
            })
            .collect();
        let http_status = (!statuses.is_empty()).then(|| {
            quote! {
                /// The HTTP status that goes with the code, where one is fixed.
                #[must_use]
                pub const fn http_status(self) -> Option<u16> {
                    match self { #(#statuses)* _ => None }
                }
            }
        });
        let data = has_data(codes).then(|| self.error_data(item, codes));
        quote! {
            #item_docs
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            #[non_exhaustive]
            pub enum #name {
                #(#variant_docs #variants,)*
                #[doc = " A code outside this list."]
                Other(i64),
            }
            impl #name {
                /// The number of the code.
                #[must_use]
                pub const fn code(self) -> i64 {
                    match self { #(Self::#variants => #numbers,)* Self::Other(code) => code }
                }
                /// The code of a number.
                #[must_use]
                pub const fn from_code(code: i64) -> Self {
                    match code { #(#numbers => Self::#variants,)* code => Self::Other(code) }
                }
                #http_status
            }
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_i64(self.code())
                }
            }
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    serde::de::DeserializeSeed::deserialize(support::Integer, deserializer).map(Self::from_code)
                }
            }
            #data
        }
    }

    /// The data that the codes describe, as one enum.
    fn error_data(&self, item: &Item, codes: &[ErrorCode]) -> TokenStream {
        let root = &self.root;
        let (name, data) = (format_ident!("{}", item.rust_name), data_name(item));
        let typed: Vec<_> = codes
            .iter()
            .filter_map(|code| {
                let variant = format_ident!("{}", code.variant);
                code.data.as_ref().map(|target| (variant, self.type_of(target)))
            })
            .collect();
        let declared = typed.iter().map(|(variant, ty)| {
            let docs = format!(" Of [`{name}::{variant}`].");
            quote!(#[doc = #docs] #variant(#ty))
        });
        let decoded = typed
            .iter()
            .map(|(variant, ty)| quote!(#name::#variant => raw.get::<#ty>().map(Self::#variant),));
        let encoded =
            typed.iter().map(|(variant, _)| quote!(Self::#variant(data) => #root::RawJson::new(data),));
        let data_docs = format!(" The `data` of an error, by its [`{name}`].");
        quote! {
            #[doc = #data_docs]
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            pub enum #data {
                #(#declared,)*
                #[doc = " Of a code whose `data` the protocol does not describe."]
                Other(#root::RawJson),
            }
            impl #data {
                /// Reads the `data` of an error with that code.
                ///
                /// # Errors
                ///
                /// When the data does not have the shape that belongs to the code.
                pub fn decode(code: #name, raw: &#root::RawJson) -> Result<Self, #root::JsonError> {
                    match code { #(#decoded)* _ => Ok(Self::Other(raw.clone())) }
                }
                /// Writes the data.
                ///
                /// # Errors
                ///
                /// Never for data that was read; writing is fallible by its interface.
                pub fn encode(&self) -> Result<#root::RawJson, #root::JsonError> {
                    match self { #(#encoded)* Self::Other(raw) => Ok(raw.clone()) }
                }
            }
        }
    }
}
