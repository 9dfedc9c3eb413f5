//! `#[tool_type]`: judges the type; `tool_type/expand.rs` adds the derives.

mod expand;

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Data, DeriveInput, GenericParam, Meta, Path, Token, punctuated::Punctuated};

pub(crate) use self::expand::expand_tool_type;
use crate::{args::CRATE, diagnostics::Diagnostics};

/// A struct or enum that can be an argument, an answer or a result.
pub(crate) struct ToolType {
    /// Names of the traits that the author derives already.
    derived: Vec<String>,
    /// Whether the variants are to be renamed in the way that messages are usually written.
    renames_variants: bool,
    /// Helpers with a `crate = ".."` of the author.
    has_serde_crate: bool,
    has_schemars_crate: bool,
}

impl ToolType {
    /// Every attribute of `#[tool_type]`.
    pub(crate) const KNOWN: &'static [&'static str] = &[CRATE];

    /// Judges an item; what cannot be read from a message is reported.
    pub(crate) fn check(item: &TokenStream, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Ok(input) = syn::parse2::<DeriveInput>(item.clone()) else {
            let keyword = item
                .clone()
                .into_iter()
                .find(|token| matches!(token, TokenTree::Ident(word) if word != "pub"));
            diagnostics.error(keyword, "`#[tool_type]` belongs on a `struct` or an `enum`");
            return None;
        };
        diagnostics.part(|diagnostics| {
            if let Data::Union(data) = &input.data {
                diagnostics.error(
                    data.union_token,
                    "a `union` does not say which of its members a message holds: write an `enum`",
                );
            }
            for parameter in &input.generics.params {
                if let GenericParam::Lifetime(lifetime) = parameter {
                    let lifetime = &lifetime.lifetime;
                    diagnostics.error(
                        lifetime,
                        format!(
                            "a type of a task's messages outlives the call and cannot borrow for `{lifetime}`: \
                             hold owned types such as `String`"
                        ),
                    );
                }
            }
            let is_enum = matches!(input.data, Data::Enum(_));
            Some(Self {
                derived: derived(&input.attrs),
                renames_variants: is_enum && !has_setting(&input.attrs, "serde", "rename_all"),
                has_serde_crate: has_setting(&input.attrs, "serde", "crate"),
                has_schemars_crate: has_setting(&input.attrs, "schemars", "crate"),
            })
        })
    }
}

/// The last words of the paths in every `derive`.
fn derived(attributes: &[Attribute]) -> Vec<String> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"))
        .filter_map(|attribute| {
            attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok()
        })
        .flatten()
        .filter_map(|path| path.segments.last().map(|last| last.ident.to_string()))
        .collect()
}

/// Whether an attribute such as `#[serde(..)]` has a setting of this name.
fn has_setting(attributes: &[Attribute], helper: &str, setting: &str) -> bool {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident(helper))
        .filter_map(|attribute| match &attribute.meta {
            Meta::List(list) => Some(list.tokens.clone()),
            Meta::Path(_) | Meta::NameValue(_) => None,
        })
        .flatten()
        .any(|token| matches!(token, TokenTree::Ident(word) if word == setting))
}
