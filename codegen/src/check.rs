//! Rules about a whole model that no single definition can be judged by: names that Rust cannot have, and types that
//! would contain themselves.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Errors};
use crate::json::child;
use crate::model::{Item, ItemKind, Model, Part, TypeRef, Union};
use crate::names;

/// Types and variants that generated code takes from the prelude, or that Rust keeps for itself.
const TAKEN: &[&str] = &[
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Drop",
    "Eq",
    "Err",
    "From",
    "Into",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "Self",
    "Send",
    "Some",
    "String",
    "Sync",
    "ToString",
    "Vec",
];

/// Checks a model.
pub(crate) fn check(model: &Model) -> Errors {
    let mut check = Check {
        items: model.items().map(|item| (item.schema_name.as_str(), item)).collect(),
        errors: Errors::new(),
    };
    for file in &model.files {
        for item in &file.items {
            let place = child("#/$defs", &item.schema_name);
            check.item(&file.path, &place, item);
        }
    }
    check.errors
}

struct Check<'a> {
    items: BTreeMap<&'a str, &'a Item>,
    errors: Errors,
}

impl<'a> Check<'a> {
    fn fault(&mut self, file: &str, place: &str, message: String) {
        self.errors.push(Error::new(file, place, message));
    }

    fn item(&mut self, file: &str, place: &str, item: &'a Item) {
        if let ItemKind::Replaced(path) = &item.kind {
            if !names::is_type_path(path) {
                self.fault(file, place, format!("`{path}` in [replace] is no name of a type"));
            }
            return;
        }
        if !names::is_ident(&item.rust_name) || TAKEN.contains(&item.rust_name.as_str()) {
            let message = format!(
                "no type can have the Rust name `{}`; give it another in codegen.toml",
                item.rust_name
            );
            self.fault(file, place, message);
        }
        for field in fields(item) {
            if !names::is_ident(field) {
                let message =
                    format!("no field can have the Rust name `{field}`; give it another in codegen.toml");
                self.fault(file, place, message);
            }
        }
        let mut seen = BTreeMap::new();
        for (variant, value) in variants(item) {
            if !names::is_ident(&variant) || variant == "Self" {
                self.fault(file, place, format!("`{value}` makes no name of a Rust variant"));
            } else if let Some(other) = seen.insert(variant.clone(), value) {
                let message = format!("`{other}` and `{value}` both have the Rust variant `{variant}`");
                self.fault(file, place, message);
            }
        }
        if let ItemKind::Union(Union::Kind(arms)) = &item.kind {
            for arm in arms {
                let TypeRef::Named(name) = &arm.shape else { continue };
                let object = |kind: &ItemKind| {
                    matches!(
                        kind,
                        ItemKind::Object(_) | ItemKind::Union(Union::Tag { .. } | Union::Member(_))
                    )
                };
                if !self.items.get(name.as_str()).is_some_and(|target| object(&target.kind)) {
                    let message = format!("`{name}` is no object; other kinds of arm are written inline");
                    self.fault(file, place, message);
                }
            }
        }
        if self.contains(&item.schema_name, &item.schema_name, &mut BTreeSet::new()) {
            let message = "the type would contain itself; a list or a map has to stand in between".to_owned();
            self.fault(file, place, message);
        }
    }

    /// Whether a value of one type holds a value of another without a list or map in between.
    fn contains(&self, outer: &str, wanted: &str, seen: &mut BTreeSet<&'a str>) -> bool {
        let Some(item) = self.items.get(outer) else { return false };
        let held: Vec<&'a str> = held(item);
        held.into_iter()
            .any(|name| name == wanted || (seen.insert(name) && self.contains(name, wanted, seen)))
    }
}

/// The definitions that a type holds directly.
fn held(item: &Item) -> Vec<&str> {
    fn named(shape: &TypeRef) -> Option<&str> {
        match shape {
            TypeRef::Named(name) => Some(name),
            _ => None,
        }
    }
    match &item.kind {
        ItemKind::Object(object) => object
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Member(member) => named(&member.shape),
                Part::State(name) => Some(name.as_str()),
                Part::Constant(_) => None,
            })
            .collect(),
        ItemKind::State(state) => {
            state.arms.iter().flat_map(|arm| &arm.members).filter_map(|member| named(&member.shape)).collect()
        }
        ItemKind::Union(Union::Kind(arms)) => arms.iter().filter_map(|arm| named(&arm.shape)).collect(),
        ItemKind::Union(Union::Tag { arms, .. }) => arms.iter().map(|arm| arm.target.as_str()).collect(),
        ItemKind::Union(Union::Member(arms)) => arms.iter().map(|arm| arm.target.as_str()).collect(),
        ItemKind::Newtype(shape) => named(shape).into_iter().collect(),
        ItemKind::StringEnum(_) | ItemKind::ErrorCodes(_) | ItemKind::Replaced(_) => Vec::new(),
    }
}

fn fields(item: &Item) -> Vec<&str> {
    match &item.kind {
        ItemKind::Object(object) => object
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Member(member) => Some(member.field.as_str()),
                Part::Constant(_) | Part::State(_) => None,
            })
            .collect(),
        ItemKind::State(state) => {
            state.arms.iter().flat_map(|arm| &arm.members).map(|member| member.field.as_str()).collect()
        }
        _ => Vec::new(),
    }
}

/// The variants of an item, each with the text that it comes from.
fn variants(item: &Item) -> Vec<(String, &str)> {
    match &item.kind {
        ItemKind::StringEnum(values) => {
            values.iter().map(|value| (value.name.clone(), value.value.as_str())).collect()
        }
        ItemKind::State(state) => {
            state.arms.iter().map(|arm| (arm.name.clone(), arm.value.as_str())).collect()
        }
        ItemKind::Union(Union::Kind(arms)) => {
            arms.iter().map(|arm| (arm.variant.clone(), arm.variant.as_str())).collect()
        }
        ItemKind::Union(Union::Tag { arms, .. }) => {
            arms.iter().map(|arm| (arm.variant.clone(), arm.value.as_str())).collect()
        }
        ItemKind::Union(Union::Member(arms)) => {
            arms.iter().map(|arm| (arm.variant.clone(), arm.variant.as_str())).collect()
        }
        ItemKind::ErrorCodes(codes) => {
            codes.iter().map(|code| (code.variant.clone(), code.variant.as_str())).collect()
        }
        ItemKind::Object(_) | ItemKind::Newtype(_) | ItemKind::Replaced(_) => Vec::new(),
    }
}
