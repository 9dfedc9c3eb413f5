//! What the types crate of this version has, and what its protocol says: for the schemas of others, which may name the
//! one and should not say the other again with another meaning.
//!
//! The list is a file that `cargo xtask codegen` writes, since this crate reads none and does not see the types.

use std::fmt::Write as _;

use crate::error::{Error, Errors};
use crate::json::child;
use crate::model::{ItemKind, Model};
use crate::render::is_wire_type;
use crate::{Generation, Options, TextFile, nearest};

/// Made from all revisions.
const LIST: &str = include_str!("known.txt");
/// The types that are written by hand and can stand for a definition.
const BY_HAND: &[&str] = &["Extra", "Number", "RawJson", "RawObject", "TaskId", "Timestamp"];
/// The package whose types they are.
const PACKAGE: &str = "mcp-tasks-types";

/// The list that this crate has of the types, methods and error codes of all revisions, oldest first, made anew.
///
/// It belongs in place of `src/known.txt`, so that `[replace]` is held against the types that there are.
///
/// # Errors
///
/// As [`generate`](crate::generate).
pub fn known(generations: &[Generation]) -> Result<TextFile, Vec<Error>> {
    let models = generations.iter().map(crate::model_of).collect::<Result<Vec<_>, _>>()?;
    let mut out = "# Made by `cargo xtask codegen` from schema/. Do not edit.\n".to_owned();
    for name in BY_HAND {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "type {name}");
    }
    for model in &models {
        for name in types(model) {
            let _ = writeln!(out, "type {name}");
        }
        for (what, word, _) in words(model) {
            let _ = writeln!(out, "{what} {word}");
        }
    }
    Ok(TextFile::new("known.txt", out))
}

/// The types of a revision that can be read and written, by their paths.
fn types(model: &Model) -> impl Iterator<Item = String> {
    let made = |item: &&crate::model::Item| is_wire_type(item) && !matches!(item.kind, ItemKind::Replaced(_));
    model.items().filter(made).map(|item| format!("{}::{}", model.module, item.rust_name))
}

/// The methods and error codes of a revision, each with the definition that says it.
fn words(model: &Model) -> Vec<(&'static str, String, &str)> {
    let mut out = Vec::new();
    for item in model.items() {
        match &item.kind {
            ItemKind::Object(object) => {
                let method = object.method.iter().map(|method| method.name.clone());
                out.extend(method.map(|method| ("method", method, item.schema_name.as_str())));
            }
            ItemKind::ErrorCodes(codes) => {
                let codes = codes.iter().map(|code| code.code.to_string());
                out.extend(codes.map(|code| ("code", code, item.schema_name.as_str())));
            }
            _ => {}
        }
    }
    out
}

fn listed(what: &str) -> impl Iterator<Item = &'static str> {
    LIST.lines()
        .filter_map(move |line| line.split_once(' ').filter(|(is, _)| *is == what).map(|(_, word)| word))
}

/// Demands that what `[replace]` names is there, of the types crate that the code is made for.
pub(crate) fn check(models: &[(Model, &str)], options: &Options) -> Errors {
    let own: Vec<String> = if options.registry {
        let made = models.iter().flat_map(|(model, _)| types(model));
        BY_HAND.iter().map(|name| (*name).to_owned()).chain(made).collect()
    } else {
        listed("type").map(str::to_owned).collect()
    };
    let mut errors = Errors::new();
    for (model, config) in models {
        for item in model.items() {
            let ItemKind::Replaced(path) = &item.kind else { continue };
            if own.iter().any(|known| known == path) {
                continue;
            }
            let hint = nearest::hint(path, own.iter().map(String::as_str));
            let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
            let message = format!(
                "`{path}` is no type of {PACKAGE} {major}.{minor} that can be read and written{hint}"
            );
            errors.push(Error::new(config, format!("[replace] {}", item.schema_name), message));
        }
    }
    errors
}

/// What is no fault in the schema of an extension, but perhaps not meant: a method or an error code that the protocol
/// has already.
///
/// # Errors
///
/// As [`generate`](crate::generate).
pub fn notes(generation: &Generation) -> Result<Vec<Error>, Vec<Error>> {
    let model = crate::model_of(generation)?;
    let mut out = Vec::new();
    for (what, word, definition) in words(&model) {
        if !listed(what).any(|known| known == word) {
            continue;
        }
        let file =
            model.files.iter().find(|file| file.items.iter().any(|item| item.schema_name == definition));
        let message = match what {
            "method" => format!("the method `{word}` is one of the protocol's own"),
            _ => format!("the error code {word} is one of the protocol's own"),
        };
        out.push(Error::new(file.map_or("", |file| &file.path), child("#/$defs", definition), message));
    }
    Ok(out)
}
