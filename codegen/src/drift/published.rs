//! The definitions of one side, read with suspicion: a published schema was written for other programs, and what the
//! comparison would not understand has to be a fault with a place rather than no difference.

use std::collections::{BTreeMap, BTreeSet};

use crate::TextFile;
use crate::error::{Error, Errors};
use crate::json::{Json, child};

/// The definitions of one side by their names.
pub(super) type Schemas = BTreeMap<String, Json>;

/// How many references may lead on from one another before something with members, items or a type comes.
const CHAIN: usize = 100;

/// Where a definition stands.
struct Place<'a> {
    file: &'a str,
    pointer: String,
}

/// Reads the definitions of some files. One that several files have is taken from the first.
pub(super) fn definitions(files: &[TextFile]) -> Result<Schemas, Errors> {
    let mut out = Schemas::new();
    let mut places: BTreeMap<String, Place<'_>> = BTreeMap::new();
    let mut errors = Errors::new();
    for file in files {
        let root = match Json::parse(&file.path, &file.text) {
            Ok(root) => root,
            Err(faults) => {
                errors.extend(faults);
                continue;
            }
        };
        let found = ["$defs", "definitions"].into_iter().find_map(|key| Some((key, root.get(key)?)));
        let Some((key, found)) = found else {
            errors.push(Error::new(&file.path, "#", "there are no definitions"));
            continue;
        };
        let pointer = child("#", key);
        let Some(found) = found.members() else {
            errors.push(Error::new(&file.path, pointer, "expected an object of definitions"));
            continue;
        };
        for (name, schema) in found {
            if !out.contains_key(name) {
                out.insert(name.clone(), schema.clone());
                places.insert(name.clone(), Place { file: &file.path, pointer: child(&pointer, name) });
            }
        }
    }
    let mut reading = Reading { all: &out, file: "", errors };
    for (name, schema) in &out {
        reading.file = places[name].file;
        reading.schema(&places[name].pointer, schema);
    }
    let mut errors = reading.errors;
    if errors.is_empty() {
        errors.extend(endless(&out).map(|(name, message)| {
            let Place { file, pointer } = &places[&name];
            Error::new(file, pointer, message)
        }));
    }
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

struct Reading<'a> {
    all: &'a Schemas,
    file: &'a str,
    errors: Errors,
}

impl Reading<'_> {
    fn fault(&mut self, place: &str, message: impl Into<String>) {
        self.errors.push(Error::new(self.file, place, message));
    }

    fn schema(&mut self, place: &str, schema: &Json) {
        let members = match schema {
            Json::Bool(_) => return,
            Json::Object(members) => members,
            _ => return self.fault(place, "expected a schema: an object or a boolean"),
        };
        for (keyword, value) in members {
            let here = child(place, keyword);
            match keyword.as_str() {
                "$ref" => match value.text().map(|text| (text, target(text))) {
                    Some((_, Some(name))) if self.all.contains_key(name) => {}
                    Some((_, Some(name))) => {
                        self.fault(&here, format!("no file of this side defines `{name}`"));
                    }
                    Some((text, None)) => {
                        self.fault(
                            &here,
                            format!("`{text}` does not lead into the definitions of these files"),
                        );
                    }
                    None => self.fault(&here, "expected a reference"),
                },
                "properties" | "patternProperties" | "$defs" | "definitions" => match value.members() {
                    Some(schemas) => {
                        for (name, schema) in schemas {
                            self.schema(&child(&here, name), schema);
                        }
                    }
                    None => self.fault(&here, "expected an object of schemas"),
                },
                "items" | "additionalProperties" | "not" => self.schema(&here, value),
                "allOf" | "anyOf" | "oneOf" => match value.items() {
                    Some(schemas) if !schemas.is_empty() => {
                        for (index, schema) in schemas.iter().enumerate() {
                            self.schema(&child(&here, &index.to_string()), schema);
                        }
                    }
                    _ => self.fault(&here, "expected an array of at least one schema"),
                },
                "enum" if value.items().is_none() => self.fault(&here, "expected an array of values"),
                "required" if !all_texts(value) => self.fault(&here, "expected an array of member names"),
                "type" if value.text().is_none() && !all_texts(value) => {
                    self.fault(&here, "expected the name of a type or an array of them");
                }
                _ => {}
            }
        }
    }
}

fn all_texts(value: &Json) -> bool {
    value.items().is_some_and(|items| items.iter().all(|item| item.text().is_some()))
}

/// The definition that the text of a reference names.
pub(super) fn target(text: &str) -> Option<&str> {
    text.strip_prefix("#/$defs/").or_else(|| text.strip_prefix("#/definitions/"))
}

/// The definition that a schema is a reference to.
pub(super) fn reference(schema: &Json) -> Option<&str> {
    target(schema.get("$ref")?.text()?)
}

/// The definitions that a schema is made of, which is to say what has to be followed before its first member or item
/// is met.
fn made_of<'a>(schema: &'a Json, out: &mut BTreeSet<&'a str>) {
    out.extend(reference(schema));
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in schema.get(keyword).and_then(Json::items).unwrap_or_default() {
            made_of(part, out);
        }
    }
}

/// A definition that is made of itself, or of more references in a row than anybody means.
fn endless(all: &Schemas) -> Option<(String, String)> {
    let mut open: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, schema) in all {
        let mut parts = BTreeSet::new();
        made_of(schema, &mut parts);
        for part in &parts {
            users.entry(part).or_default().push(name);
        }
        open.insert(name, parts);
    }
    // Definitions are taken away from the bottom; what is left when no more can be is a circle or stands on one.
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut next: Vec<&str> =
        open.iter().filter(|(_, parts)| parts.is_empty()).map(|(name, _)| *name).collect();
    while let Some(name) = next.pop() {
        open.remove(name);
        let depth = depths.get(name).copied().unwrap_or_default() + 1;
        if depth > CHAIN {
            return Some((name.to_owned(), format!("more than {CHAIN} references follow one another")));
        }
        for user in users.get(name).into_iter().flatten() {
            let deepest = depths.entry(user).or_default();
            *deepest = depth.max(*deepest);
            if let Some(parts) = open.get_mut(user) {
                parts.remove(name);
                if parts.is_empty() {
                    next.push(user);
                }
            }
        }
    }
    let mut name = *open.keys().next()?;
    let mut seen = BTreeSet::new();
    while seen.insert(name) {
        name = open.get(name)?.first()?;
    }
    Some((name.to_owned(), format!("`{name}` leads back to itself with no member or item in between")))
}
