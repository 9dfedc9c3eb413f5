//! Adds the derives of `#[tool_type]` in front of the untouched item.

use proc_macro2::TokenStream;
use quote::quote;

use super::ToolType;
use crate::{diagnostics::Diagnostics, paths::Paths};

/// The mistakes, if any, and the item, with its derives unless it cannot have them.
pub(crate) fn expand_tool_type(
    tool_type: Option<&ToolType>,
    paths: &Paths,
    item: &TokenStream,
    diagnostics: Diagnostics,
) -> TokenStream {
    let errors = diagnostics.into_tokens();
    let derives = tool_type.map(|tool_type| expand_derives(tool_type, paths));
    quote!(#errors #derives #item)
}

fn expand_derives(tool_type: &ToolType, paths: &Paths) -> TokenStream {
    let (serde, schemars) = (paths.serde(), paths.schemars());
    let derives = [
        ("Debug", paths.debug()),
        ("Clone", paths.clone()),
        ("Serialize", quote!(#serde::Serialize)),
        ("Deserialize", quote!(#serde::Deserialize)),
        ("JsonSchema", quote!(#schemars::JsonSchema)),
    ]
    .into_iter()
    .filter(|(name, _)| !tool_type.derived.iter().any(|derived| derived == name))
    .map(|(_, path)| path);
    let serde_crate = (!tool_type.has_serde_crate).then(|| {
        let path = paths.serde_text();
        quote!(#[serde(crate = #path)])
    });
    let schemars_crate = (!tool_type.has_schemars_crate).then(|| {
        let path = paths.schemars_text();
        quote!(#[schemars(crate = #path)])
    });
    let renames = tool_type.renames_variants.then(|| quote!(#[serde(rename_all = "snake_case")]));
    quote! {
        #[derive(#(#derives),*)]
        #serde_crate
        #schemars_crate
        #renames
    }
}
