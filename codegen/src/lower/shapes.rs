//! Objects, their members and the plain types that members have.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, Lowering, description};
use crate::json::Json;
use crate::model::{
    Constant, ConstantValue, Member, Method, Object, Part, Presence, State, StateArm, TypeRef,
};
use crate::names;

impl<'a> Lowering<'a> {
    pub(super) fn object(&mut self, at: &At<'_>, name: &str, schema: &Json) -> Option<Object> {
        let mut parts = Vec::new();
        self.composed.clear();
        let own = [
            "x-at-least-one",
            "x-mcp-method",
            "x-mcp-direction",
            "x-mcp-result",
            "x-mcp-name",
            "x-extension-id",
        ];
        match schema.get("allOf").and_then(Json::items) {
            None => {
                self.only(at, schema, &[PART, &own].concat());
                self.object_part(at, name, schema, &mut parts);
            }
            Some(all) => {
                self.only(at, schema, &[&["allOf"], own.as_slice()].concat());
                let at = at.child("allOf");
                for (index, part) in all.iter().enumerate() {
                    let at = at.child(&index.to_string());
                    match part.reference() {
                        None if index == 0 => {
                            self.only(&at, part, PART);
                            self.object_part(&at, name, part, &mut parts);
                        }
                        None => self.fault(
                            &at,
                            "only the first part of a composition stands inline; the others are references",
                        ),
                        Some(target) => {
                            self.only(&at, part, &["$ref"]);
                            if let Some(schema) = self.target(&at, target) {
                                self.composed(&at, name, target, schema, &mut parts);
                            }
                        }
                    }
                }
            }
        }
        self.check_parts(at, name, &parts);
        let at_least_one = texts(schema.get("x-at-least-one"));
        for member in &at_least_one {
            let optional = |part: &Part| matches!(part, Part::Member(m) if m.name == *member && m.presence == Presence::Optional);
            if !parts.iter().any(optional) {
                self.fault(&at.child("x-at-least-one"), format!("`{member}` is no optional member"));
            }
        }
        let method = self.method(at, schema, &parts);
        let extension = schema.get("x-extension-id").and_then(Json::text).map(str::to_owned);
        let direction = schema.get("x-mcp-direction").and_then(Json::text).map(str::to_owned);
        Some(Object { parts, at_least_one, method, direction, extension })
    }

    fn method(&mut self, at: &At<'_>, schema: &Json, parts: &[Part]) -> Option<Method> {
        let name = schema.get("x-mcp-method").and_then(Json::text).map(str::to_owned);
        let stated = parts.iter().find_map(|part| match part {
            Part::Constant(Constant { name, value: ConstantValue::Text(value), .. }) if name == "method" => {
                Some(value)
            }
            _ => None,
        });
        if name.as_ref() != stated {
            self.fault(at, "`x-mcp-method` and the constant of the member `method` go together");
        }
        let name = name?;
        if schema.get("x-mcp-direction").is_none() {
            self.fault(at, "a method needs `x-mcp-direction`");
        }
        let result = match schema.get("x-mcp-result") {
            Some(result) => {
                let at = at.child("x-mcp-result");
                let name = result.reference()?.to_owned();
                self.target(&at, &name)?;
                Some(name)
            }
            None => None,
        };
        let has_id = parts.iter().any(|part| matches!(part, Part::Member(member) if member.name == "id"));
        if has_id && result.is_none() {
            self.fault(at, "a request needs `x-mcp-result`, the definition of what it is answered with");
        }
        let routed_by = schema.get("x-mcp-name").and_then(Json::text).map(str::to_owned);
        Some(Method { name, result, routed_by })
    }

    fn composed(&mut self, at: &At<'_>, owner: &str, target: &str, schema: &'a Json, parts: &mut Vec<Part>) {
        if !self.composed.insert(target.to_owned()) && !self.within.iter().any(|outer| outer == target) {
            return self.fault(at, format!("`{target}` is composed twice"));
        }
        self.follow(at, target, |this| {
            // Faults of a composed definition stand where it stands.
            let place = this.place_of(target)?;
            this.composed_part(&place, owner, target, schema, parts);
            Some(())
        });
    }

    fn composed_part(
        &mut self,
        at: &At<'_>,
        owner: &str,
        target: &str,
        schema: &'a Json,
        parts: &mut Vec<Part>,
    ) {
        if self.config.replace.contains_key(target) {
            self.fault(at, format!("`{target}` is a type of its own in [replace], and cannot be composed"));
        }
        if schema.get("x-mixin").is_some() {
            self.only(at, schema, &[PART, &["x-mixin", "allOf"]].concat());
        }
        if schema.get("x-at-least-one").is_some() {
            self.fault(at, format!("`{target}` says `x-at-least-one`, which is lost when it is composed"));
        }
        if is_state(schema) {
            if parts.iter().any(|part| matches!(part, Part::State(_))) {
                self.fault(at, "an object has at most one state");
            }
            parts.push(Part::State(target.to_owned()));
        } else if let Some(all) = schema.get("allOf").and_then(Json::items) {
            for (index, part) in all.iter().enumerate() {
                let at = at.child("allOf").child(&index.to_string());
                match part.reference() {
                    Some(inner) => {
                        if let Some(schema) = self.target(&at, inner) {
                            self.composed(&at, owner, inner, schema, parts);
                        }
                    }
                    None => self.object_part(&at, owner, part, parts),
                }
            }
        } else if self.is_object(schema) {
            self.object_part(at, owner, schema, parts);
        } else {
            self.fault(
                at,
                format!("`{target}` is neither an object nor a state, and nothing else can be composed"),
            );
        }
    }

    fn object_part(&mut self, at: &At<'_>, owner: &str, schema: &Json, parts: &mut Vec<Part>) {
        if schema.get("type").and_then(Json::text) != Some("object") {
            self.fault(at, "an object says `type: object`");
        }
        if schema.get("additionalProperties").and_then(Json::members).is_none_or(|open| !open.is_empty()) {
            self.fault(at, "a wire object is open: it says `additionalProperties: {}`");
        }
        let required = texts(schema.get("required"));
        let properties = schema.get("properties").and_then(Json::members).unwrap_or_default();
        let known: BTreeSet<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
        for name in &required {
            if !known.contains(name.as_str()) {
                self.fault(&at.child("required"), format!("`{name}` is required but not described"));
            }
        }
        let required: BTreeSet<String> = required.into_iter().collect();
        let at = at.child("properties");
        for (name, property) in properties {
            let at = at.child(name);
            let is_required = required.contains(name);
            if let Some(value) = property.get("const") {
                if let Some(part) = self.constant(&at, name, property, value, is_required) {
                    parts.push(part);
                }
            } else if let Some(member) = self.member(&at, owner, name, property, is_required) {
                parts.push(Part::Member(member));
            }
        }
    }

    fn constant(
        &mut self,
        at: &At<'_>,
        name: &str,
        schema: &Json,
        value: &Json,
        required: bool,
    ) -> Option<Part> {
        if !required {
            self.fault(at, "a constant is required; an optional one is a reference to a list of one value");
        }
        let value = match value {
            Json::Text(text) => ConstantValue::Text(text.clone()),
            Json::Integer(number) => ConstantValue::Integer(*number),
            _ => return None,
        };
        self.only(at, schema, &["const", "x-const-absent"]);
        let absent = schema.get("x-const-absent").is_some();
        Some(Part::Constant(Constant { name: name.to_owned(), docs: description(schema), value, absent }))
    }

    pub(super) fn member(
        &mut self,
        at: &At<'_>,
        owner: &str,
        name: &str,
        schema: &Json,
        required: bool,
    ) -> Option<Member> {
        let docs = description(schema);
        if docs.is_empty() {
            self.fault(at, "a member needs a `description`; it becomes the field's documentation");
        }
        let (shape, nullable) = self.shape(at, schema, true)?;
        let presence = match (required, nullable) {
            (true, true) => Presence::Nullable,
            (true, false) => Presence::Required,
            (false, false) => Presence::Optional,
            (false, true) => {
                self.fault(
                    at,
                    "a member that may be null is required, and an optional one is left out instead of null",
                );
                Presence::Optional
            }
        };
        let key = format!("{owner}.{name}");
        let field = match self.config.fields.get(&key) {
            Some(field) => {
                if *field != names::field_name(name) {
                    self.used.insert(format!("fields.{key}"));
                }
                field.clone()
            }
            None => names::field_name(name),
        };
        let (details, meta_key) = (super::details::details(schema), schema.get("x-meta-key").is_some());
        Some(Member { name: name.to_owned(), field, docs, presence, shape, details, meta_key })
    }

    /// A plain type and whether it may be null, which only a member may.
    pub(super) fn shape(&mut self, at: &At<'_>, schema: &Json, member: bool) -> Option<(TypeRef, bool)> {
        if let Some(name) = schema.get("$ref").and(schema.reference()) {
            self.target(at, name)?;
            let marks: &[&str] = if member { &["$ref", "x-meta-key"] } else { &["$ref"] };
            self.only(at, schema, marks);
            return Some((TypeRef::Named(name.to_owned()), false));
        }
        let (kind, null) = match schema.get("type") {
            Some(Json::Text(kind)) => (kind.as_str(), false),
            Some(Json::Array(kinds)) => match kinds.as_slice() {
                [Json::Text(kind), Json::Text(null)] if null == "null" && member => (kind.as_str(), true),
                _ => {
                    self.fault(
                        &at.child("type"),
                        "a list of types is a type followed by `null`, on a member",
                    );
                    return None;
                }
            },
            _ => {
                self.fault(at, "expected a `$ref` or a `type`");
                return None;
            }
        };
        let own: &[&str] = match kind {
            "string" => &["format"],
            "number" | "integer" => &["format", "minimum", "maximum"],
            "array" => &["items"],
            "object" => &["additionalProperties"],
            _ => &[],
        };
        let marks: &[&str] = if member { &["x-meta-key"] } else { &[] };
        self.only(at, schema, &[&["type"], own, marks].concat());
        let format = schema.get("format").and_then(Json::text);
        if kind == "string" && matches!(format, Some("uint64" | "millis")) {
            self.fault(&at.child("format"), "the format is one of numbers");
        }
        let shape = match kind {
            "string" => TypeRef::Text,
            "boolean" => TypeRef::Boolean,
            "number" if format == Some("millis") => {
                if schema.get("minimum") != Some(&Json::Integer(0)) || schema.get("maximum").is_some() {
                    self.fault(at, "a number of format `millis` has `minimum: 0` and no `maximum`");
                }
                // Fractions are rounded by the reader of a member; lists, maps and newtypes have none.
                if !member {
                    self.fault(at, "a number of format `millis` is a member of an object");
                }
                TypeRef::Millis
            }
            "number" => {
                if format.is_some() {
                    self.fault(at, "a number has the format `millis` or none");
                }
                TypeRef::Number
            }
            "integer" if format == Some("uint64") => {
                if schema.get("minimum") != Some(&Json::Integer(0)) || schema.get("maximum").is_some() {
                    self.fault(at, "an integer of format `uint64` has `minimum: 0` and no `maximum`");
                }
                TypeRef::Unsigned
            }
            "integer" => {
                if format.is_some() {
                    self.fault(at, "an integer has the format `uint64` or none");
                }
                if schema.get("minimum").is_some() || schema.get("maximum").is_some() {
                    self.fault(at, "bounds of an integer are not enforced; use the format `uint64` for one that is not negative");
                }
                TypeRef::Integer
            }
            "array" => {
                let at = at.child("items");
                let Some(items) = schema.get("items") else {
                    self.fault(&at, "an array needs `items`");
                    return None;
                };
                TypeRef::List(Box::new(self.shape(&at, items, false)?.0))
            }
            "object" if schema.get("properties").is_none() => {
                let at = at.child("additionalProperties");
                let Some(values) =
                    schema.get("additionalProperties").filter(|v| v.members().is_some_and(|m| !m.is_empty()))
                else {
                    self.fault(&at, "an inline object is a map: it says what its values are; anything else is a definition of its own");
                    return None;
                };
                TypeRef::Map(Box::new(self.shape(&at, values, false)?.0))
            }
            "object" => {
                self.fault(at, "an object with members is a definition of its own");
                return None;
            }
            other => {
                self.fault(&at.child("type"), format!("the type `{other}` is outside the dialect"));
                return None;
            }
        };
        Some((shape, null))
    }

    pub(super) fn state(&mut self, at: &At<'_>, owner: &str, arms: &[Json]) -> Option<State> {
        let at = at.child("oneOf");
        let mut tag: Option<String> = None;
        let mut payloads = BTreeSet::new();
        let mut out: Vec<(String, String, Vec<Member>)> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            let at = at.child(&index.to_string());
            if arm.get("additionalProperties").is_some() {
                self.fault(
                    &at,
                    "an arm of a state leaves `additionalProperties` to the object that it becomes part of",
                );
            }
            self.only(&at, arm, PART);
            let required = texts(arm.get("required"));
            let properties = arm.get("properties").and_then(Json::members).unwrap_or_default();
            let mut value = None;
            let mut members = Vec::new();
            for (name, property) in properties {
                let at = at.child("properties").child(name);
                if !required.contains(name) {
                    self.fault(&at, "each member of a state's arm is required");
                }
                match property.get("const") {
                    Some(constant) if tag.get_or_insert_with(|| name.clone()) == name => {
                        self.only(&at, property, &["const"]);
                        value = constant.text().map(str::to_owned);
                    }
                    Some(_) => self.fault(&at, "all arms of a state have the same constant member"),
                    None => members.extend(self.member(&at, owner, name, property, true)),
                }
            }
            for member in &members {
                if !payloads.insert(member.name.clone()) {
                    self.fault(&at, format!("two arms share the member `{}`", member.name));
                }
                if member.presence == Presence::Nullable {
                    self.fault(&at, format!("the payload `{}` of a state cannot be null", member.name));
                }
                if member.shape == TypeRef::Millis {
                    self.fault(
                        &at,
                        format!("the payload `{}` of a state cannot have the format `millis`", member.name),
                    );
                }
            }
            match value {
                Some(value) => out.push((value, description(arm), members)),
                None => self.fault(&at, "an arm of a state has one member with a string constant"),
            }
        }
        let tag = tag?;
        let values: Vec<_> = out.iter().map(|(value, ..)| (value.as_str(), None)).collect();
        let names = self.variants_of(owner, &values);
        let arms = out.into_iter().zip(names);
        let arms = arms.map(|((value, docs, members), name)| StateArm { value, name, docs, members });
        Some(State { tag, arms: arms.collect() })
    }

    /// Each member has a field of its own, under a name that a field can have.
    fn check_parts(&mut self, at: &At<'_>, owner: &str, parts: &[Part]) {
        let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
        for part in parts {
            let Part::Member(Member { name, field, .. }) = part else { continue };
            let another = format!("`\"{owner}.{name}\" = \"…\"` below [fields] in codegen.toml");
            // Every object has the one, and where it is composed with a state the other.
            let message = if matches!(field.as_str(), "extra" | "state") {
                format!("the Rust field `{field}` is reserved; give `{name}` another: {another}")
            } else if !names::is_snake(field) {
                format!("no field can have the Rust name `{field}`; give `{name}` another: {another}")
            } else if let Some(other) = fields.insert(field, name) {
                format!("the Rust field `{field}` is that of `{other}`; give `{name}` another: {another}")
            } else {
                continue;
            };
            self.fault(at, message);
        }
    }
}

pub(super) fn texts(json: Option<&Json>) -> Vec<String> {
    let items = json.and_then(Json::items).unwrap_or_default();
    items.iter().filter_map(|item| item.text().map(str::to_owned)).collect()
}

/// The keywords of an object or an inline part of one.
const PART: &[&str] = &["type", "properties", "required", "additionalProperties"];

/// Whether a definition is a state: a choice of inline objects.
pub(super) fn is_state(schema: &Json) -> bool {
    schema
        .get("oneOf")
        .and_then(Json::items)
        .is_some_and(|arms| arms.iter().any(|a| a.get("properties").is_some()))
}
