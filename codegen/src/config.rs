//! `codegen.toml`: facts of Rust about a generation. Facts of the protocol stand in the schema.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Error, Errors};
use crate::names;

/// The configuration of a generation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The name of the revision.
    pub(crate) generation: String,
    /// The Rust module.
    pub(crate) module: String,
    /// Schema name to Rust name.
    #[serde(default)]
    pub(crate) names: BTreeMap<String, String>,
    /// `Definition.member` to Rust field.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, String>,
    /// `Definition.value` to Rust variant.
    #[serde(default)]
    pub(crate) variants: BTreeMap<String, String>,
    /// Definition to a type of the types crate, from its root: one written by hand, or one of a revision.
    #[serde(default)]
    pub(crate) replace: BTreeMap<String, String>,
}

impl Config {
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Errors> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or_else(String::new, |span| {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                format!("line {line}")
            });
            vec![Error::new(file, place, error.message().to_owned())]
        })?;
        let errors = config.faults(file);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// Both names become names of files, which must not lead anywhere else.
    fn faults(&self, file: &str) -> Errors {
        let Self { generation, module, .. } = self;
        let mut errors = Errors::new();
        if !names::is_snake(module) {
            let message = format!("`{module}` is no name of a Rust module in snake case");
            errors.push(Error::new(file, "module", message));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        let begins = generation.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !begins || !generation.chars().all(plain) || generation.contains("..") || generation.ends_with('.')
        {
            let message = format!(
                "`{generation}` is no name of a revision: letters, digits, `-` and `.` between them, such as \
                 `2026-07-28`"
            );
            errors.push(Error::new(file, "generation", message));
        }
        errors
    }
}
