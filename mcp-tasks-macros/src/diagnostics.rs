//! Collects the mistakes of one use of a macro, so that a single compile reports them all.
//!
//! A part that finds a mistake reports it here and returns nothing; the other parts go on.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// Every mistake found so far, in the order of discovery.
#[derive(Default)]
pub(crate) struct Diagnostics {
    errors: Vec<syn::Error>,
}

impl Diagnostics {
    /// Reports a mistake at the tokens to blame.
    pub(crate) fn error(&mut self, blame: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(blame, message));
    }

    /// Reports a mistake at a place that has no token of its own.
    pub(crate) fn error_at(&mut self, span: Span, message: impl Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    /// Takes over an error of the parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Runs one part of the checks, whose value counts only if the part reported nothing.
    pub(crate) fn part<T>(&mut self, run: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.errors.len();
        let value = run(self);
        if self.errors.len() == before { value } else { None }
    }

    /// One `compile_error!` a mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors.into_iter().map(syn::Error::into_compile_error).collect()
    }

    /// The messages alone, for tests.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.errors.iter().map(ToString::to_string).collect()
    }
}
