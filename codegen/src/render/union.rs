//! Unions: an enum with one variant an arm, and the reader that tells the arms apart.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Context, item_docs};
use crate::model::{Condition, Item, KindArm, MemberArm, TagArm, TypeRef, Union};

impl Context<'_> {
    pub(super) fn union(&self, item: &Item, union: &Union) -> TokenStream {
        match union {
            Union::Kind(arms) => self.kind_union(item, arms),
            Union::Tag { tag, arms } => self.tag_union(item, tag, arms),
            Union::Member(arms) => self.member_union(item, arms),
        }
    }

    /// The enum with its conversions and writer; the reader calls one function of the support module.
    fn enumeration(
        &self,
        item: &Item,
        arms: &[(syn::Ident, syn::Type, String)],
        reader: &str,
    ) -> TokenStream {
        let (name, reader) = (format_ident!("{}", item.rust_name), format_ident!("{reader}"));
        let docs = item_docs(item);
        let variants = arms.iter().map(|(variant, ty, docs)| quote!(#[doc = #docs] #variant(#ty)));
        let writes =
            arms.iter().map(|(variant, ..)| quote!(Self::#variant(value) => value.serialize(serializer)));
        let conversions =
            arms.iter().filter(|(_, ty, _)| arms.iter().filter(|(_, other, _)| other == ty).count() == 1);
        let conversions = conversions.map(|(variant, ty, _)| {
            quote! {
                impl From<#ty> for #name {
                    fn from(value: #ty) -> Self {
                        Self::#variant(value)
                    }
                }
            }
        });
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub enum #name { #(#variants),* }
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self { #(#writes),* }
                }
            }
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    support::#reader(deserializer)
                }
            }
            #(#conversions)*
        }
    }

    fn kind_union(&self, item: &Item, arms: &[KindArm]) -> TokenStream {
        let root = &self.root;
        let name = format_ident!("{}", item.rust_name);
        let (mut rows, mut methods, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        let mut eq = true;
        for (index, arm) in arms.iter().enumerate() {
            let variant = format_ident!("{}", arm.variant);
            let ty =
                self.front.field(&item.rust_name, index).cloned().unwrap_or_else(|| syn::parse_quote!(()));
            let some = quote!(Some);
            let option = quote!(Option<Self>);
            let (kind, method) = match &arm.shape {
                TypeRef::Text => (
                    "a string",
                    quote! {
                        fn string(text: String) -> #option { #some(Self::#variant(text)) }
                    },
                ),
                TypeRef::Integer | TypeRef::Unsigned => (
                    "an integer",
                    quote! {
                        fn integer(number: i64) -> #option { #some(Self::#variant(number)) }
                    },
                ),
                // Lowering lets durations be members of objects only.
                TypeRef::Number | TypeRef::Millis => (
                    "a number",
                    quote! {
                        fn number(number: #root::Number) -> #option { #some(Self::#variant(number)) }
                    },
                ),
                TypeRef::Boolean => (
                    "a boolean",
                    quote! {
                        fn boolean(value: bool) -> #option { #some(Self::#variant(value)) }
                    },
                ),
                TypeRef::List(_) => (
                    "an array",
                    quote! {
                        fn array<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                            serde::Deserialize::deserialize(deserializer).map(Self::#variant)
                        }
                    },
                ),
                TypeRef::Named(_) | TypeRef::Map(_) => (
                    "an object",
                    quote! {
                        fn object<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                            serde::Deserialize::deserialize(deserializer).map(Self::#variant)
                        }
                    },
                ),
            };
            eq &= matches!(arm.shape, TypeRef::Text | TypeRef::Integer);
            expected.push(kind);
            methods.push(method);
            rows.push((variant, ty, format!(" Written as {kind}.")));
        }
        let enumeration = self.enumeration(item, &rows, "kind_union");
        let expected = format!("{} (`{}`)", expected.join(" or "), item.schema_name);
        // Identifiers are keys of tables; floats and objects have no such equality.
        let key = eq.then(|| {
            let displays = rows.iter().map(|(variant, ..)| quote!(Self::#variant(value) => value.fmt(f)));
            let equals = rows.iter().map(|(variant, ..)| quote!(Self::#variant(value) => value.hash(state)));
            let texts = arms.iter().filter(|arm| arm.shape == TypeRef::Text).map(|arm| {
                let variant = format_ident!("{}", arm.variant);
                quote! {
                    impl From<&str> for #name {
                        fn from(text: &str) -> Self {
                            Self::#variant(text.into())
                        }
                    }
                }
            });
            quote! {
                impl Eq for #name {}
                impl ::core::hash::Hash for #name {
                    fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                        ::core::mem::discriminant(self).hash(state);
                        match self { #(#equals),* }
                    }
                }
                impl ::core::fmt::Display for #name {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        match self { #(#displays),* }
                    }
                }
                #(#texts)*
            }
        });
        quote! {
            #enumeration
            impl support::KindUnion for #name {
                const EXPECTED: &'static str = #expected;
                #(#methods)*
            }
            #key
        }
    }

    fn tag_union(&self, item: &Item, tag: &str, arms: &[TagArm]) -> TokenStream {
        let name = format_ident!("{}", item.rust_name);
        let rows: Vec<_> = arms
            .iter()
            .map(|arm| {
                let docs = format!(" `{tag}` is `{}`.", arm.value);
                (format_ident!("{}", arm.variant), self.type_of(&arm.target), docs)
            })
            .collect();
        let enumeration = self.enumeration(item, &rows, "tag_union");
        let tags = arms.iter().map(|arm| &arm.value);
        let expected = format!("an object of type `{}`", item.schema_name);
        let reads = reads(rows.iter().map(|(variant, ..)| variant));
        quote! {
            #enumeration
            impl support::TagUnion for #name {
                const EXPECTED: &'static str = #expected;
                const TAG: &'static str = #tag;
                const TAGS: &'static [&'static str] = &[#(#tags),*];
                #reads
            }
        }
    }

    fn member_union(&self, item: &Item, arms: &[MemberArm]) -> TokenStream {
        let name = format_ident!("{}", item.rust_name);
        let rows: Vec<_> = arms
            .iter()
            .map(|arm| {
                let docs = format!(" {}.", sentence(&arm.condition));
                (format_ident!("{}", arm.variant), self.type_of(&arm.target), docs)
            })
            .collect();
        let enumeration = self.enumeration(item, &rows, "member_union");
        let conditions: Vec<String> =
            arms.iter().map(|arm| format!("`{}` ({})", arm.target, words(&arm.condition))).collect();
        let expected = format!("an object of type `{}`: {}", item.schema_name, conditions.join(", or "));
        let mut closed = false;
        let choices: Vec<_> = arms
            .iter()
            .enumerate()
            .map(|(index, arm)| {
                let index = Literal::usize_unsuffixed(index);
                if matches!(arm.condition, Condition::Always) {
                    closed = true;
                    return quote!(Some(#index));
                }
                let condition = test(&arm.condition);
                quote!(if #condition { return Some(#index); })
            })
            .collect();
        let none = (!closed).then(|| quote!(None));
        let reads = reads(rows.iter().map(|(variant, ..)| variant));
        quote! {
            #enumeration
            impl support::MemberUnion for #name {
                const EXPECTED: &'static str = #expected;
                fn arm(members: &support::Present) -> Option<usize> {
                    #(#choices)*
                    #none
                }
                #reads
            }
        }
    }
}

fn reads<'v>(variants: impl Iterator<Item = &'v syn::Ident>) -> TokenStream {
    let arms = variants.enumerate().map(|(index, variant)| {
        let index = Literal::usize_unsuffixed(index);
        quote!(#index => serde::Deserialize::deserialize(deserializer).map(Self::#variant))
    });
    quote! {
        fn read<'de, D: serde::Deserializer<'de>>(arm: usize, deserializer: D) -> Result<Self, D::Error> {
            match arm {
                #(#arms,)*
                _ => Err(serde::de::Error::custom(Self::EXPECTED)),
            }
        }
    }
}

fn test(condition: &Condition) -> TokenStream {
    match condition {
        Condition::Always => quote!(true),
        Condition::Has(path) => quote!(members.has(#path)),
        Condition::Holds(path) => quote!(members.holds(#path)),
        Condition::Is { name, values } => quote!(members.is(#name, &[#(#values),*])),
        Condition::All(conditions) => {
            let tests = conditions.iter().map(test);
            quote!(#(#tests)&&*)
        }
        Condition::Any(conditions) => {
            let tests = conditions.iter().map(test);
            quote!(#(#tests)||*)
        }
    }
}

fn words(condition: &Condition) -> String {
    let join =
        |conditions: &[Condition], word: &str| conditions.iter().map(words).collect::<Vec<_>>().join(word);
    match condition {
        Condition::Always => "anything else".to_owned(),
        Condition::Has(path) | Condition::Holds(path) => format!("with `{path}`"),
        Condition::Is { name, values } => format!("with `{name}` `{}`", values.join("` or `")),
        Condition::All(conditions) => join(conditions, " and "),
        Condition::Any(conditions) => join(conditions, " or "),
    }
}

fn sentence(condition: &Condition) -> String {
    let words = words(condition);
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => format!("{}{}", first.to_uppercase(), chars.as_str()),
        None => words,
    }
}
