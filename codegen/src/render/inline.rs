//! `#[inline]` on every function that is not generic: a crate of types compiles none of them for itself, and its users
//! compile those that they call.

use syn::visit_mut::VisitMut;

pub(super) fn mark(file: &mut syn::File) {
    Inline.visit_file_mut(file);
}

struct Inline;

impl VisitMut for Inline {
    fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
        if !is_generic(&function.sig) && !function.attrs.iter().any(|a| a.path().is_ident("inline")) {
            function.attrs.push(syn::parse_quote!(#[inline]));
        }
    }
}

/// Whether callers compile it in any case.
fn is_generic(signature: &syn::Signature) -> bool {
    signature.generics.type_params().next().is_some()
        || signature.inputs.iter().any(|input| match input {
            syn::FnArg::Typed(typed) => matches!(*typed.ty, syn::Type::ImplTrait(_)),
            syn::FnArg::Receiver(_) => false,
        })
}
