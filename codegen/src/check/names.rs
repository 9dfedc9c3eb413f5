//! The names that generated code has: that Rust has such names, and that no two things share one.

use std::collections::BTreeMap;

use heck::ToUpperCamelCase;

use super::{At, items, payloads};
use crate::error::{Error, Errors};
use crate::json::child;
use crate::model::{Item, ItemKind, Member, Model, Object, Presence, Union};
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
/// The variant of error codes, and of their data, that takes what the protocol does not list.
const OTHER: &str = "Other";

pub(super) fn check(model: &Model) -> Errors {
    let mut names = Names { module: BTreeMap::new(), errors: Errors::new() };
    names.constants(model);
    for file in &model.files {
        names.file(&file.path, &file.stem);
    }
    for (file, item) in items(model) {
        names.item(&At { file, place: child("#/$defs", &item.schema_name) }, item);
    }
    names.errors
}

struct Names {
    /// The types and modules of a revision, each with what has it. All types stand in one module in the end.
    module: BTreeMap<String, String>,
    errors: Errors,
}

/// Names of constants or variants, each with the text that it stands for.
type Words = BTreeMap<String, String>;

impl Names {
    fn fault(&mut self, at: &At<'_>, message: String) {
        self.errors.push(Error::new(at.file, &at.place, message));
    }

    /// Methods, `_meta` keys and identifiers of extensions: what several definitions may say, but only in one way.
    fn constants(&mut self, model: &Model) {
        let (mut methods, mut variants) = (Words::new(), Words::new());
        let (mut keys, mut extensions) = (Words::new(), Words::new());
        for (file, item) in items(model) {
            let ItemKind::Object(object) = &item.kind else { continue };
            let at = At { file, place: child("#/$defs", &item.schema_name) };
            if let Some(method) = &object.method {
                let at = at.child("x-mcp-method");
                let (constant, variant) =
                    (names::constant_name(&method.name), names::variant_name(&method.name));
                if self.word(&at, &method.name, constant, names::is_shouty, &mut methods) {
                    self.word(&at, &method.name, variant, names::is_variant, &mut variants);
                }
            }
            if let Some(id) = &object.extension {
                let (at, constant) = (at.child("x-extension-id"), names::key_constant(id));
                self.word(&at, id, constant, names::is_shouty, &mut extensions);
            }
            for member in object.members().filter(|member| member.meta_key) {
                let constant = names::key_constant(&member.name);
                self.word(&at, &member.name, constant, names::is_shouty, &mut keys);
            }
        }
        for (name, words) in
            [("method", &methods), ("Method", &methods), ("meta_key", &keys), ("extension", &extensions)]
        {
            if !words.is_empty() {
                self.module.insert(name.to_owned(), "the constants of the protocol".to_owned());
            }
        }
    }

    /// A text that makes a name; whether it is the only one.
    fn word(
        &mut self,
        at: &At<'_>,
        text: &str,
        name: String,
        fits: impl Fn(&str) -> bool,
        known: &mut Words,
    ) -> bool {
        if !fits(&name) {
            self.fault(at, format!("`{text}` makes no name of a Rust constant or variant"));
            return false;
        }
        match known.get(&name) {
            Some(other) if other != text => {
                let message = format!("`{other}` and `{text}` both have the Rust name `{name}`");
                self.fault(at, message);
                false
            }
            _ => {
                known.insert(name, text.to_owned());
                true
            }
        }
    }

    fn file(&mut self, path: &str, stem: &str) {
        let at = At { file: path, place: String::new() };
        if !names::is_snake(stem) {
            let message = format!("the file's name makes no Rust module in snake case: `{stem}`");
            self.fault(&at, message);
        } else if let Some(other) = self.module.insert(stem.to_owned(), format!("the file {path}")) {
            self.fault(&at, format!("{other} make the module `{stem}` as well; rename the file"));
        }
    }

    fn declare(&mut self, at: &At<'_>, name: String, owner: &Item) {
        let what = format!("what `{}` makes", owner.schema_name);
        if let Some(other) = self.module.get(&name) {
            let message = format!(
                "`{name}` is the Rust name of {other} as well; give one of them another in codegen.toml"
            );
            self.fault(at, message);
        } else {
            self.module.insert(name, what);
        }
    }

    fn item(&mut self, at: &At<'_>, item: &Item) {
        let name = &item.rust_name;
        if let ItemKind::Replaced(path) = &item.kind {
            if !names::is_type_path(path) {
                self.fault(at, format!("`{path}` in [replace] is no name of a type"));
            }
            return;
        }
        // The front end writes names in this case, whatever they were.
        if names::is_pascal(name) && name.to_upper_camel_case() == *name && !TAKEN.contains(&name.as_str()) {
            self.declare(at, name.clone(), item);
            if let Some(more) = made_beside(item) {
                self.declare(at, more, item);
            }
        } else {
            let message = format!("no type can have the Rust name `{name}`; give it another in codegen.toml");
            self.fault(at, message);
        }
        match &item.kind {
            ItemKind::Object(object) => self.object(at, object),
            ItemKind::State(state) => {
                let members: Vec<&Member> = payloads(state).collect();
                self.fields(at, &members);
                let fields = members.iter().map(|member| (member.field.clone(), member.name.as_str()));
                self.apart(at, fields, "field");
            }
            _ => {}
        }
        self.variants(at, item);
    }

    fn object(&mut self, at: &At<'_>, object: &Object) {
        let setters = object
            .members()
            .filter(|member| member.presence == Presence::Optional)
            .map(|member| (names::setter_name(&member.field), member.name.as_str()));
        self.apart(at, setters, "setter");
    }

    fn fields(&mut self, at: &At<'_>, members: &[&Member]) {
        for Member { field, .. } in members {
            if !names::is_snake(field) {
                let message =
                    format!("no field can have the Rust name `{field}`; give it another in codegen.toml");
                self.fault(at, message);
            }
        }
    }

    /// Demands that no two texts have one name.
    fn apart<'t>(&mut self, at: &At<'_>, names: impl Iterator<Item = (String, &'t str)>, what: &str) {
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for (name, text) in names {
            if let Some(other) = seen.insert(name.clone(), text) {
                let message = format!(
                    "`{other}` and `{text}` both have the Rust {what} `{name}`; give one of them another in \
                     codegen.toml"
                );
                self.fault(at, message);
            }
        }
    }

    fn variants(&mut self, at: &At<'_>, item: &Item) {
        let variants = variants(item);
        for (variant, text) in &variants {
            if !names::is_variant(variant) {
                self.fault(at, format!("`{text}` makes no name of a Rust variant: `{variant}`"));
            } else if variant == OTHER && matches!(item.kind, ItemKind::ErrorCodes(_)) {
                self.fault(at, format!("the variant `{OTHER}` is that of codes outside the list"));
            }
        }
        let named = variants.into_iter().filter(|(variant, _)| names::is_variant(variant));
        self.apart(at, named, "variant");
    }
}

/// The type that an item makes beside its own.
fn made_beside(item: &Item) -> Option<String> {
    match &item.kind {
        ItemKind::State(_) => Some(names::slots_name(&item.rust_name)),
        ItemKind::ErrorCodes(codes) if codes.iter().any(|code| code.data.is_some()) => {
            Some(names::data_name(&item.rust_name))
        }
        _ => None,
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
