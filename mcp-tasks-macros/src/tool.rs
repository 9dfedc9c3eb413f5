//! The validated model of one tool. Building it is the only way to reach expansion.

use syn::{Expr, ExprLit, Ident, Lit, LitStr, ext::IdentExt};

use crate::{
    args::{Args, check_tool_name},
    diagnostics::Diagnostics,
    parameter::{Argument, Input, Parameter},
    signature::Signature,
};

/// A tool without a mistake in it.
pub(crate) struct Tool {
    pub(crate) name: Expr,
    pub(crate) args: Args,
    pub(crate) signature: Signature,
}

impl Tool {
    /// Joins the attribute with the signature. Nothing comes back if anything at all was reported.
    pub(crate) fn check(
        args: Option<Args>,
        signature: Option<Signature>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let (args, signature) = (args?, signature?);
        let name = match &args.name {
            Some(name) => name.clone(),
            None => check_ident(&signature.ident, diagnostics),
        };
        diagnostics.is_empty().then_some(Self { name, args, signature })
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.signature.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Context { .. } | Parameter::Input(_) => None,
        })
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.signature.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Input(input) => Some(input),
            Parameter::Context { .. } | Parameter::Argument(_) => None,
        })
    }

    pub(crate) fn needs_context(&self) -> bool {
        self.signature.parameters.iter().any(|parameter| matches!(parameter, Parameter::Context { .. }))
    }
}

/// The function's name is the tool's, if clients can take it.
fn check_ident(ident: &Ident, diagnostics: &mut Diagnostics) -> Expr {
    let text = ident.unraw().to_string();
    if let Err(message) = check_tool_name(&text) {
        diagnostics.error(ident, format!("{message}; give one with `name = \"..\"`"));
    }
    Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Str(LitStr::new(&text, ident.span())) })
}
