//! Doc comments as text: the description of a tool, the message of a question.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

use crate::paths::Paths;

/// The doc comment of one item, as written and as text.
#[derive(Clone, Default)]
pub(crate) struct Docs {
    attributes: Vec<Attribute>,
}

impl Docs {
    /// Takes the doc comments out of an item's attributes, and settings such as `#[doc(hidden)]`.
    pub(crate) fn of(attributes: &[Attribute]) -> Self {
        Self {
            attributes: attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("doc"))
                .cloned()
                .collect(),
        }
    }

    /// Whether nothing is said. Text from a macro such as `include_str!` is taken for something.
    pub(crate) fn is_blank(&self) -> bool {
        self.literal_text().is_some_and(|text| text.is_empty())
    }

    /// The attributes, to be repeated on another item.
    pub(crate) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The text as an expression: a literal where every line is one, else a `concat!` of the lines.
    /// Lines are joined as schemars joins them, so that all descriptions of a tool follow one rule.
    pub(crate) fn text(&self, paths: &Paths) -> TokenStream {
        if let Some(text) = self.literal_text() {
            let span = self
                .attributes
                .first()
                .map_or_else(proc_macro2::Span::call_site, |attribute| attribute.pound_token.spans[0]);
            return LitStr::new(&text, span).into_token_stream();
        }
        let mut parts: Vec<TokenStream> = Vec::new();
        for value in self.values() {
            if !parts.is_empty() {
                parts.push(quote!("\n"));
            }
            parts.push(match literal(value) {
                Some(line) => unindent(&line).into_token_stream(),
                None => value.into_token_stream(),
            });
        }
        let concat = paths.concat();
        quote!(#concat!(#(#parts),*))
    }

    fn values(&self) -> impl Iterator<Item = &Expr> {
        self.attributes.iter().filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => Some(&pair.value),
            Meta::Path(_) | Meta::List(_) => None,
        })
    }

    fn literal_text(&self) -> Option<String> {
        let lines: Option<Vec<String>> = self.values().map(literal).collect();
        let lines: Vec<String> = lines?.iter().map(|line| unindent(line)).collect();
        Some(lines.join("\n").trim().to_owned())
    }
}

fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

/// A line comment without the blank after its slashes; a block comment without its margin.
fn unindent(text: &str) -> String {
    if !text.contains('\n') {
        return text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned();
    }
    let has_stars =
        text.lines().skip(1).all(|line| line.trim().is_empty() || line.trim_start().starts_with('*'));
    let lines: Vec<&str> = text
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let line = line.trim_end();
            let margin = line.trim_start();
            let line = match margin.strip_prefix('*') {
                Some(rest) if has_stars && index > 0 => rest,
                _ => margin,
            };
            line.strip_prefix(' ').unwrap_or(line)
        })
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::Docs;
    use crate::paths::Paths;
    use syn::{Attribute, parse_quote};

    fn text(attributes: &[Attribute]) -> String {
        Docs::of(attributes).text(&Paths::default()).to_string()
    }

    #[test]
    fn lines_are_joined_without_their_margin() {
        let item: syn::ItemFn = parse_quote! {
            /// First line.
            ///
            ///   - indented
            #[doc(hidden)]
            /// Last line.
            fn tool() {}
        };
        assert_eq!(text(&item.attrs), r#""First line.\n\n  - indented\nLast line.""#);
    }

    #[test]
    fn a_block_comment_loses_its_stars() {
        let attributes = [parse_quote!(#[doc = " First.\n * Second.\n *\n * Third.\n "])];
        assert_eq!(text(&attributes), r#""First.\nSecond.\n\nThird.""#);
    }

    #[test]
    fn text_from_a_macro_is_left_to_the_compiler() {
        let attributes = [parse_quote!(#[doc = " First."]), parse_quote!(#[doc = include_str!("rest.md")])];
        assert_eq!(text(&attributes), r#":: core :: concat ! ("First." , "\n" , include_str ! ("rest.md"))"#);
    }

    #[test]
    fn blank_lines_say_nothing() {
        assert!(Docs::of(&[]).is_blank());
        assert!(Docs::of(&[parse_quote!(#[doc = "  "])]).is_blank());
        assert!(!Docs::of(&[parse_quote!(#[doc = include_str!("x.md")])]).is_blank());
    }
}
