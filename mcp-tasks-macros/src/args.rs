//! Attribute arguments: first raw, as a list of names and values, then validated for `#[task_tool]`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Expr, ExprLit, Ident, Lit, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use crate::{
    diagnostics::Diagnostics,
    duration::{self, parse_duration},
    suggestion::unknown_word,
};

/// The attribute that says where an expansion finds the runtime.
pub(crate) const CRATE: &str = "crate";

/// The arguments of an attribute: known names, each at most once, values not yet judged.
#[derive(Default)]
pub(crate) struct RawArgs {
    args: Vec<RawArg>,
}

/// One `name = value`; a missing value is told by whoever asks for it.
pub(crate) struct RawArg {
    name: Ident,
    value: Option<Expr>,
}

impl RawArgs {
    /// Reads a list of arguments. Each mistake is reported and costs only its own argument.
    pub(crate) fn parse(attribute: TokenStream, known: &[&str], diagnostics: &mut Diagnostics) -> Self {
        let mut args: Vec<RawArg> = Vec::new();
        for tokens in split_at_commas(attribute) {
            let arg = match parse_arg.parse2(tokens) {
                Ok(arg) => arg,
                Err(error) => {
                    diagnostics.push(error);
                    continue;
                }
            };
            let name = arg.name.unraw().to_string();
            if !known.contains(&name.as_str()) {
                let statement = format!("unknown attribute `{name}`");
                diagnostics.error(&arg.name, unknown_word(&statement, &name, known));
            } else if args.iter().any(|earlier| earlier.name == arg.name) {
                diagnostics.error(&arg.name, format!("`{name}` is given twice, keep one"));
            } else {
                args.push(arg);
            }
        }
        Self { args }
    }

    /// Takes an argument out, if it was given.
    pub(crate) fn take(&mut self, name: &str) -> Option<RawArg> {
        let index = self.args.iter().position(|arg| arg.name == name)?;
        Some(self.args.swap_remove(index))
    }
}

impl RawArg {
    /// The name, for what is wrong with all of it.
    pub(crate) fn name(&self) -> &Ident {
        &self.name
    }

    /// Whether it stands for itself; a value is reported.
    pub(crate) fn is_flag(&self, diagnostics: &mut Diagnostics) -> bool {
        if let Some(value) = &self.value {
            diagnostics.error(value, format!("`{}` has no value: it is there or it is not", self.name));
        }
        self.value.is_none()
    }

    /// The value; a missing one is reported.
    pub(crate) fn value(&self, diagnostics: &mut Diagnostics, expected: &str) -> Option<&Expr> {
        if self.value.is_none() {
            let name = &self.name;
            diagnostics.error(name, format!("`{name}` has no value, {expected}"));
        }
        self.value.as_ref()
    }
}

fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.extend([token]);
                }
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn parse_arg(input: ParseStream<'_>) -> syn::Result<RawArg> {
    const EXPECTED: &str = "expected `name = value`";
    let start = input.span();
    let name = input.call(Ident::parse_any).map_err(|_| syn::Error::new(start, EXPECTED))?;
    if input.is_empty() {
        return Ok(RawArg { name, value: None });
    }
    if !input.peek(Token![=]) {
        return Err(input.error(EXPECTED));
    }
    let equals: Token![=] = input.parse()?;
    if input.is_empty() {
        return Err(syn::Error::new_spanned(equals, format!("expected a value for `{name}` after `=`")));
    }
    Ok(RawArg { name, value: Some(without_group(input.parse()?)) })
}

/// A value that came through a `macro_rules!` macro, without its invisible parentheses.
fn without_group(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => without_group(*group.expr),
        value => value,
    }
}

/// The validated arguments of `#[task_tool]`, each as the author gave it or absent.
pub(crate) struct Args {
    pub(crate) name: Option<Expr>,
    pub(crate) title: Option<Expr>,
    pub(crate) description: Option<Expr>,
    pub(crate) version: Option<Expr>,
    pub(crate) status: Option<Expr>,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) poll_ms: Option<u64>,
    pub(crate) task: Option<TaskMode>,
    pub(crate) restart: Option<Restart>,
    pub(crate) cancel_grace_ms: Option<u64>,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) retain_ms: Option<u64>,
    pub(crate) park_after_ms: Option<u64>,
    pub(crate) grace_ms: Option<u64>,
    pub(crate) idempotency_key: Option<Expr>,
    pub(crate) require_input_capability: Option<bool>,
}

/// Whether calls become tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TaskMode {
    Auto,
    Required,
    Never,
}

/// What becomes of a task whose process died.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Restart {
    Fail,
    Rerun,
}

const TASK_MODES: &[(&str, TaskMode)] =
    &[("auto", TaskMode::Auto), ("required", TaskMode::Required), ("never", TaskMode::Never)];

const RESTARTS: &[(&str, Restart)] = &[("fail", Restart::Fail), ("rerun", Restart::Rerun)];

impl Args {
    /// Every attribute of `#[task_tool]`, in the order of its documentation.
    pub(crate) const KNOWN: &'static [&'static str] = &[
        "name",
        "title",
        "description",
        "version",
        "status",
        "ttl",
        "poll",
        "task",
        "restart",
        "cancel_grace",
        "deadline",
        "retain",
        "park_after",
        "grace",
        "idempotency_key",
        "require_input_capability",
        CRATE,
    ];

    /// Judges every value; nothing comes back if one is wrong.
    pub(crate) fn check(raw: &mut RawArgs, diagnostics: &mut Diagnostics) -> Option<Self> {
        diagnostics.part(|diagnostics| {
            Some(Self {
                name: check_name(raw, diagnostics),
                title: check_text(raw, "title", diagnostics),
                description: check_text(raw, "description", diagnostics),
                version: check_text(raw, "version", diagnostics),
                status: check_text(raw, "status", diagnostics),
                ttl_ms: check_duration(raw, "ttl", diagnostics),
                poll_ms: check_duration(raw, "poll", diagnostics),
                task: check_choice(raw, "task", TASK_MODES, diagnostics),
                restart: check_choice(raw, "restart", RESTARTS, diagnostics),
                cancel_grace_ms: check_duration(raw, "cancel_grace", diagnostics),
                deadline_ms: check_duration(raw, "deadline", diagnostics),
                retain_ms: check_duration(raw, "retain", diagnostics),
                park_after_ms: check_duration(raw, "park_after", diagnostics),
                grace_ms: check_duration(raw, "grace", diagnostics),
                idempotency_key: check_text(raw, "idempotency_key", diagnostics),
                require_input_capability: check_bool(raw, "require_input_capability", diagnostics),
            })
        })
    }
}

const EXPECTED_TEXT: &str = "expected text in quotes or a constant expression";

/// Text is a literal, or an expression that the compiler judges.
fn check_text(raw: &mut RawArgs, name: &str, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let arg = raw.take(name)?;
    let value = arg.value(diagnostics, EXPECTED_TEXT)?;
    match value {
        Expr::Lit(ExprLit { lit, .. }) if !matches!(lit, Lit::Str(_)) => {
            diagnostics.error(value, format!("`{name}` is text, {EXPECTED_TEXT}"));
            None
        }
        _ => Some(value.clone()),
    }
}

fn check_name(raw: &mut RawArgs, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let value = check_text(raw, "name", diagnostics)?;
    if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &value
        && let Err(message) = check_tool_name(&text.value())
    {
        diagnostics.error(&value, message);
    }
    Some(value)
}

/// The rule for names of tools.
///
/// # Errors
///
/// Says what the name has too much or too little of.
pub(crate) fn check_tool_name(name: &str) -> Result<(), String> {
    let is_legal = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    if let Some(character) = name.chars().find(|character| !is_legal(*character)) {
        return Err(format!(
            "the name of a tool cannot contain `{}`, expected letters and digits of ASCII, `_`, `-` and `.`",
            character.escape_debug()
        ));
    }
    if name.is_empty() || name.len() > 128 {
        return Err(format!("the name of a tool has 1 to 128 characters, this one has {}", name.len()));
    }
    Ok(())
}

fn check_duration(raw: &mut RawArgs, name: &str, diagnostics: &mut Diagnostics) -> Option<u64> {
    let arg = raw.take(name)?;
    let value = arg.value(diagnostics, duration::EXPECTED)?;
    let Expr::Lit(ExprLit { lit, .. }) = value else {
        diagnostics.error(value, format!("`{name}` is a duration, {}", duration::EXPECTED));
        return None;
    };
    let parsed = match lit {
        Lit::Str(text) => parse_duration(&text.value()),
        Lit::Int(_) | Lit::Float(_) => {
            Err(format!("`{}` is no duration, {}", lit.to_token_stream(), duration::EXPECTED))
        }
        _ => Err(format!("`{name}` is a duration, {}", duration::EXPECTED)),
    };
    match parsed {
        Ok(ms) => Some(ms),
        Err(message) => {
            diagnostics.error(value, message);
            None
        }
    }
}

fn check_choice<T: Copy>(
    raw: &mut RawArgs,
    name: &str,
    choices: &[(&str, T)],
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
    let expected = format!("expected one of `\"{}\"`", words.join("\"`, `\""));
    let arg = raw.take(name)?;
    let value = arg.value(diagnostics, &expected)?;
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else {
        diagnostics.error(value, format!("`{name}` is a choice of words in quotes, {expected}"));
        return None;
    };
    let text = text.value();
    let choice = choices.iter().find(|(word, _)| *word == text);
    if choice.is_none() {
        let statement = format!("unknown value `{text}` of `{name}`");
        diagnostics.error(value, unknown_word(&statement, &text, &words));
    }
    choice.map(|(_, choice)| *choice)
}

fn check_bool(raw: &mut RawArgs, name: &str, diagnostics: &mut Diagnostics) -> Option<bool> {
    const EXPECTED: &str = "expected `true` or `false`";
    let arg = raw.take(name)?;
    match arg.value(diagnostics, EXPECTED)? {
        Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(value.value),
        value => {
            diagnostics.error(value, format!("`{name}` is a switch, {EXPECTED}"));
            None
        }
    }
}

impl ToTokens for TaskMode {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        Ident::new(&format!("{self:?}"), Span::call_site()).to_tokens(tokens);
    }
}

impl ToTokens for Restart {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        Ident::new(&format!("{self:?}"), Span::call_site()).to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::{Args, RawArgs, Restart, TaskMode};
    use crate::{diagnostics::Diagnostics, paths::Paths};

    fn check(attribute: TokenStream) -> Result<Args, Vec<String>> {
        let mut diagnostics = Diagnostics::default();
        let mut raw = RawArgs::parse(attribute, Args::KNOWN, &mut diagnostics);
        Paths::check(&mut raw, &mut diagnostics);
        let args = Args::check(&mut raw, &mut diagnostics);
        if diagnostics.is_empty() { args.ok_or_else(Vec::new) } else { Err(diagnostics.messages()) }
    }

    fn assert_refused(attribute: TokenStream, expected: &[&str]) {
        let text = attribute.to_string();
        let messages = check(attribute).err().unwrap_or_default();
        assert_eq!(messages.len(), expected.len(), "{text}: {messages:#?}");
        for (message, part) in messages.iter().zip(expected) {
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    /// P136: a description is any constant expression.
    #[test]
    fn every_attribute_is_taken_once() {
        let args = check(quote! {
            name = "a.b-c_1", title = "Title", description = concat!("a", "b"), version = VERSION,
            status = "Waiting.", ttl = "15m", poll = "250ms", task = "required", restart = "rerun", cancel_grace = "5s",
            deadline = "10m", retain = "1h", park_after = "30s", grace = "2s", idempotency_key = "order",
            require_input_capability = false, crate = "facade::tasks",
        })
        .unwrap();
        assert_eq!(args.ttl_ms, Some(900_000));
        assert_eq!(args.poll_ms, Some(250));
        assert_eq!(args.cancel_grace_ms, Some(5_000));
        assert_eq!(args.deadline_ms, Some(600_000));
        assert_eq!(args.retain_ms, Some(3_600_000));
        assert_eq!(args.park_after_ms, Some(30_000));
        assert_eq!(args.grace_ms, Some(2_000));
        assert!(args.idempotency_key.is_some());
        assert_eq!(args.task, Some(TaskMode::Required));
        assert_eq!(args.restart, Some(Restart::Rerun));
        assert_eq!(args.require_input_capability, Some(false));
        assert!(args.name.is_some() && args.title.is_some());
        assert!(args.description.is_some() && args.version.is_some() && args.status.is_some());
    }

    #[test]
    fn nothing_is_required() {
        let args = check(TokenStream::new()).unwrap();
        assert!(args.name.is_none() && args.ttl_ms.is_none() && args.task.is_none());
    }

    #[test]
    fn every_mistake_is_told_on_its_own() {
        assert_refused(quote!(tll = "1s"), &["did you mean `ttl`?"]);
        assert_refused(quote!(ttl = "1s", ttl = "2s"), &["`ttl` is given twice, keep one"]);
        assert_refused(quote!(ttl), &["`ttl` has no value"]);
        assert_refused(quote!(ttl =), &["expected a value for `ttl` after `=`"]);
        assert_refused(quote!("ttl"), &["expected `name = value`"]);
        assert_refused(quote!(ttl("1s")), &["expected `name = value`"]);
        assert_refused(quote!(ttl = 900), &["`900` is no duration"]);
        assert_refused(quote!(ttl = TTL), &["`ttl` is a duration"]);
        assert_refused(quote!(ttl = true), &["`ttl` is a duration"]);
        assert_refused(quote!(ttl = "1s" "2s"), &["unexpected token"]);
        assert_refused(
            quote!(restart = "retry"),
            &["unknown value `retry` of `restart`, known: `fail`, `rerun`"],
        );
        assert_refused(quote!(task = "require"), &["did you mean `required`?"]);
        assert_refused(quote!(task = true), &["expected one of `\"auto\"`, `\"required\"`, `\"never\"`"]);
        assert_refused(quote!(require_input_capability = "no"), &["expected `true` or `false`"]);
        assert_refused(quote!(title = 1), &["`title` is text"]);
        assert_refused(quote!(crate = 1), &["expected the path"]);
        assert_refused(quote!(crate = "a b"), &["expected the path"]);
        assert_refused(
            quote!(tll = "1s", poll = "0s", task = "no", title = 1, version),
            &["`tll`", "`title` is text", "`version` has no value", "`0s` is zero", "`no`"],
        );
    }

    /// names of tools.
    #[test]
    fn a_name_that_clients_may_refuse_is_refused() {
        assert_refused(quote!(name = ""), &["1 to 128 characters"]);
        assert_refused(quote!(name = "a b"), &["cannot contain ` `"]);
        assert_refused(quote!(name = "größe"), &["cannot contain `ö`"]);
        let long = "a".repeat(129);
        assert_refused(quote!(name = #long), &["this one has 129"]);
        let longest = "a".repeat(128);
        assert!(check(quote!(name = #longest)).is_ok());
    }
}
