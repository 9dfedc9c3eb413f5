//! `codegen.toml`: facts of Rust about a generation. Facts of the protocol stand in the schema.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Error, Errors};

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
    /// Definition to a type of the types crate, from its root: one written by hand, or one of a revision.
    #[serde(default)]
    pub(crate) replace: BTreeMap<String, String>,
}

impl Config {
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Errors> {
        toml::from_str(text).map_err(|error| {
            let place = error.span().map_or_else(String::new, |span| {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                format!("line {line}")
            });
            vec![Error::new(file, place, error.message().to_owned())]
        })
    }
}
