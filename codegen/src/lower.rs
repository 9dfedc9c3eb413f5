//! From schema to model: every decision about shape is taken here. What has none of the shapes of the dialect is an
//! error at its place.

mod details;
mod keywords;
mod shapes;
mod unions;

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Config;
use crate::error::{Error, Errors};
use crate::json::{Json, child};
use crate::model::{Condition, ErrorCode, File, Item, ItemKind, Model, Variant};
use crate::{names, nearest};

/// A parsed schema file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) stem: String,
    pub(crate) root: Json,
}

/// Joins the files of a generation into one namespace and reads each definition.
pub(crate) fn lower(sources: &[Source], config: &Config, config_path: &str) -> Result<Model, Errors> {
    let mut lowering = Lowering {
        sources,
        config,
        definitions: BTreeMap::new(),
        errors: Errors::new(),
        used: BTreeSet::new(),
        used_definitions: BTreeSet::new(),
        within: Vec::new(),
        composed: BTreeSet::new(),
        conditions: BTreeMap::new(),
    };
    lowering.join();
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    let mut files = Vec::new();
    for source in sources {
        let mut items = Vec::new();
        for (name, schema) in source.root.get("$defs").and_then(Json::members).unwrap_or_default() {
            let at = At { file: &source.path, pointer: child("#/$defs", name) };
            if !schema.get("x-mixin").is_some_and(Json::is_true)
                && let Some(kind) = lowering.definition(&at, name, schema)
            {
                let docs = description(schema);
                items.push(Item {
                    schema_name: name.clone(),
                    rust_name: lowering.rust_name(name),
                    docs,
                    details: details::details(schema),
                    kind,
                });
            }
        }
        files.push(File {
            stem: source.stem.clone(),
            path: source.path.clone(),
            docs: description(&source.root),
            items,
        });
    }
    lowering.check_names(config_path);
    if !lowering.errors.is_empty() {
        // What is composed into several definitions is read for each, and told once.
        let mut told = BTreeSet::new();
        let mut errors = lowering.errors;
        errors.retain(|error| told.insert((error.file.clone(), error.place.clone(), error.message.clone())));
        return Err(errors);
    }
    Ok(Model { generation: config.generation.clone(), module: config.module.clone(), files })
}

/// A place in a schema file.
#[derive(Clone, Debug)]
struct At<'a> {
    file: &'a str,
    pointer: String,
}

impl At<'_> {
    fn child(&self, name: &str) -> Self {
        Self { file: self.file, pointer: child(&self.pointer, name) }
    }
}

struct Lowering<'a> {
    sources: &'a [Source],
    config: &'a Config,
    /// Each definition with the file that it stands in.
    definitions: BTreeMap<&'a str, (&'a str, &'a Json)>,
    errors: Errors,
    /// Entries of the configuration that took effect, as `table.key`.
    used: BTreeSet<String>,
    /// Definitions that something refers to.
    used_definitions: BTreeSet<String>,
    /// The definitions that are being followed, against circles.
    within: Vec<String>,
    /// The definitions that the object being read is composed of so far.
    composed: BTreeSet<String>,
    /// What tells the arms of a union by member, by the union's name, once that is known.
    conditions: BTreeMap<String, Condition>,
}

/// How many definitions may lead on to each other: a schema must not be deeper than a thread's stack.
const DEPTH: usize = 64;

fn description(schema: &Json) -> String {
    crate::docs::safe(schema.get("description").and_then(Json::text).unwrap_or_default())
}

impl<'a> Lowering<'a> {
    fn fault(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.errors.push(Error::new(at.file, &at.pointer, message));
    }

    fn join(&mut self) {
        for source in self.sources {
            for (name, schema) in source.root.get("$defs").and_then(Json::members).unwrap_or_default() {
                if let Some((earlier, _)) = self.definitions.insert(name, (&source.path, schema)) {
                    let message =
                        format!("`{name}` is defined in {earlier} as well; a name is defined in one file");
                    self.errors.push(Error::new(&source.path, child("#/$defs", name), message));
                }
            }
        }
    }

    /// Configuration that does nothing, mixins that nothing composes, and Rust names that two definitions share.
    fn check_names(&mut self, config_path: &str) {
        let tables = [
            ("names", &self.config.names),
            ("fields", &self.config.fields),
            ("variants", &self.config.variants),
            ("replace", &self.config.replace),
        ];
        for (table, entries) in tables {
            for key in entries.keys() {
                if !self.used.contains(&format!("{table}.{key}")) {
                    let message =
                        "the entry changes nothing: it matches no definition, or says what is so anyway"
                            .to_owned();
                    self.errors.push(Error::new(config_path, format!("[{table}] {key}"), message));
                }
            }
        }
        let mut rust_names: BTreeMap<String, &str> = BTreeMap::new();
        for (name, (file, schema)) in self.definitions.clone() {
            if schema.get("x-mixin").is_some() && !self.used_definitions.contains(name) {
                self.errors.push(Error::new(file, child("#/$defs", name), "the mixin is composed nowhere"));
            }
            if let Some(earlier) = rust_names.insert(self.rust_name(name), name) {
                let message =
                    format!("has the Rust name of `{earlier}`; give one of them another in codegen.toml");
                self.errors.push(Error::new(file, child("#/$defs", name), message));
            }
        }
    }

    fn rust_name(&mut self, schema_name: &str) -> String {
        match self.config.names.get(schema_name) {
            Some(name) => {
                if *name != names::type_name(schema_name) {
                    self.used.insert(format!("names.{schema_name}"));
                }
                name.clone()
            }
            None => names::type_name(schema_name),
        }
    }

    /// Follows a definition unless it is being followed already, which is a circle and a fault.
    fn follow<R>(&mut self, at: &At<'_>, name: &str, f: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        if self.within.iter().any(|outer| outer == name) {
            self.fault(at, format!("`{name}` leads back to itself"));
            return None;
        }
        if self.within.len() > DEPTH {
            self.fault(at, format!("`{name}` is reached through more than {DEPTH} definitions"));
            return None;
        }
        self.within.push(name.to_owned());
        let result = f(self);
        self.within.pop();
        result
    }

    /// Follows a reference.
    fn target(&mut self, at: &At<'_>, name: &str) -> Option<&'a Json> {
        self.used_definitions.insert(name.to_owned());
        let found = self.definitions.get(name).map(|(_, schema)| *schema);
        if found.is_none() {
            let hint = nearest::hint(name, self.definitions.keys().copied());
            self.fault(&at.child("$ref"), format!("no file of this generation defines `{name}`{hint}"));
        }
        found
    }

    fn definition(&mut self, at: &At<'_>, name: &str, schema: &Json) -> Option<ItemKind> {
        if let Some(path) = self.config.replace.get(name) {
            self.used.insert(format!("replace.{name}"));
            self.replaced(at, schema);
            return Some(ItemKind::Replaced(path.clone()));
        }
        self.within = vec![name.to_owned()];
        if schema.get("x-error-codes").is_some() {
            return self.error_codes(at, schema).map(ItemKind::ErrorCodes);
        }
        if schema.get("x-union").is_some() {
            return self.union(at, name, schema).map(ItemKind::Union);
        }
        if let Some(arms) = schema.get("oneOf").and_then(Json::items) {
            return if arms.iter().any(|arm| arm.get("properties").is_some()) {
                self.only(at, schema, &["oneOf"]);
                self.state(at, name, arms).map(ItemKind::State)
            } else {
                self.string_enum(at, name, schema, arms).map(ItemKind::StringEnum)
            };
        }
        if schema.get("allOf").is_some() || self.is_object(schema) {
            return self.object(at, name, schema).map(ItemKind::Object);
        }
        self.shape(at, schema, false).map(|(shape, _)| ItemKind::Newtype(shape))
    }

    /// A definition whose type is written by hand still says what it is, for validators.
    fn replaced(&mut self, at: &At<'_>, schema: &Json) {
        self.only(at, schema, &["type", "format", "additionalProperties"]);
        let known =
            |kind: &str| matches!(kind, "string" | "integer" | "number" | "boolean" | "array" | "object");
        if schema.get("type").is_some_and(|kind| !kind.text().is_some_and(known)) {
            self.fault(&at.child("type"), "expected the name of a JSON type");
        }
    }

    /// The place of a definition.
    fn place_of(&self, name: &str) -> Option<At<'a>> {
        let (file, _) = self.definitions.get(name)?;
        Some(At { file, pointer: child("#/$defs", name) })
    }

    /// A wire object has members of its own, or leaves all of them open.
    fn is_object(&self, schema: &Json) -> bool {
        let open = schema.get("additionalProperties").and_then(Json::members).is_some_and(<[_]>::is_empty);
        schema.get("type").and_then(Json::text) == Some("object")
            && (schema.get("properties").is_some() || open)
    }

    /// The variants of values of a definition, some of which have a name by `[variants]`, or else by their `title`.
    fn variants_of(&mut self, owner: &str, values: &[(&str, Option<String>)]) -> Vec<String> {
        let config = self.config;
        let keys: Vec<String> = values.iter().map(|(value, _)| format!("{owner}.{value}")).collect();
        let alone: Vec<_> = values.iter().map(|(value, title)| (*value, title.as_deref())).collect();
        let given: Vec<_> = alone
            .iter()
            .zip(&keys)
            .map(|((value, title), key)| (*value, config.variants.get(key).map(String::as_str).or(*title)))
            .collect();
        let names = names::variant_names(&given);
        for ((key, name), before) in keys.into_iter().zip(&names).zip(names::variant_names(&alone)) {
            if config.variants.contains_key(&key) && *name != before {
                self.used.insert(format!("variants.{key}"));
            }
        }
        names
    }

    fn string_enum(
        &mut self,
        at: &At<'_>,
        owner: &str,
        schema: &Json,
        arms: &[Json],
    ) -> Option<Vec<Variant>> {
        self.only(at, schema, &["type", "oneOf"]);
        if schema.get("type").and_then(Json::text) != Some("string") {
            self.fault(at, "a list of constants says `type: string`");
        }
        let at = at.child("oneOf");
        let mut seen = BTreeSet::new();
        let mut found: Vec<(&str, String)> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            let at = at.child(&index.to_string());
            self.only(&at, arm, &["const"]);
            let Some(value) = arm.get("const").and_then(Json::text).filter(|_| !description(arm).is_empty())
            else {
                self.fault(&at, "expected a string constant with a description");
                continue;
            };
            if !seen.insert(value) {
                self.fault(&at, format!("the value `{value}` comes twice"));
            }
            found.push((value, description(arm)));
        }
        let values: Vec<_> = found.iter().map(|(value, _)| (*value, None)).collect();
        let names = self.variants_of(owner, &values);
        let variants = found.into_iter().zip(names);
        Some(variants.map(|((value, docs), name)| Variant { value: value.to_owned(), name, docs }).collect())
    }

    fn error_codes(&mut self, at: &At<'_>, schema: &Json) -> Option<Vec<ErrorCode>> {
        let Some(arms) = schema.get("oneOf").and_then(Json::items) else {
            self.fault(at, "error codes are a `oneOf` of integer constants");
            return None;
        };
        self.only(at, schema, &["x-error-codes", "oneOf"]);
        let at = at.child("oneOf");
        let mut seen = BTreeSet::new();
        let mut codes: Vec<ErrorCode> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            let at = at.child(&index.to_string());
            self.only(&at, arm, &["const", "x-error-data", "x-http-status"]);
            let (Some(Json::Integer(code)), Some(title)) =
                (arm.get("const"), arm.get("title").and_then(Json::text))
            else {
                self.fault(&at, "an error code has an integer `const` and a `title`");
                continue;
            };
            let data = match arm.get("x-error-data") {
                Some(data) => {
                    let at = at.child("x-error-data");
                    match data.reference() {
                        Some(name) => self.target(&at, name).map(|_| name.to_owned()),
                        None => {
                            self.fault(&at, "expected a reference to the definition of the error's `data`");
                            None
                        }
                    }
                }
                None => None,
            };
            let http_status = match arm.get("x-http-status") {
                Some(Json::Integer(status)) => u16::try_from(*status).ok(),
                _ => None,
            };
            if !seen.insert(*code) {
                self.fault(&at, "the code comes twice");
            }
            codes.push(ErrorCode {
                code: *code,
                variant: names::variant_name(title),
                docs: description(arm),
                data,
                http_status,
            });
        }
        Some(codes)
    }
}
