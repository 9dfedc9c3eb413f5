//! What a schema allows, in plain form, however it is spelled.
//!
//! A form is opened one level at a time: members and items stay schemas until they are compared, so that definitions
//! that lead back to themselves end, and nothing is opened that is compared elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::published::{Schemas, reference};
use crate::json::Json;

/// A schema that has not been opened, or several of which all or one has to hold.
#[derive(Clone, Debug)]
pub(super) enum Closed<'a> {
    Schema(&'a Json),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// What a schema allows.
#[derive(Clone, Debug, Default)]
pub(super) struct Form<'a> {
    /// JSON types; none when any is allowed.
    pub(super) types: BTreeSet<String>,
    /// Values, as JSON text; none when they are free.
    pub(super) values: BTreeSet<String>,
    pub(super) members: BTreeMap<&'a str, Member<'a>>,
    /// What a list holds; none when it is anything.
    pub(super) items: Option<Closed<'a>>,
    /// What members hold that are not described; none when it is anything.
    pub(super) others: Option<Closed<'a>>,
}

#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub(super) required: bool,
    pub(super) closed: Closed<'a>,
}

/// The type of what no value has.
const NOTHING: &str = "nothing";

impl<'a> Closed<'a> {
    /// The definition that it is a reference to.
    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Self::Schema(schema) => reference(schema),
            Self::All(parts) | Self::Any(parts) => match parts.as_slice() {
                [one] => one.name(),
                _ => None,
            },
        }
    }

    /// The definitions that it chooses from; none when it is something else than a choice of definitions. Null beside
    /// them is no part of the choice.
    pub(super) fn targets(&self, all: &'a Schemas) -> BTreeSet<&'a str> {
        match self {
            Self::Schema(schema) => match reference(schema) {
                Some(name) => all
                    .get(name)
                    .and_then(|target| arms(target, all))
                    .unwrap_or_else(|| BTreeSet::from([name])),
                None => arms(schema, all).unwrap_or_default(),
            },
            Self::All(parts) => match parts.as_slice() {
                [one] => one.targets(all),
                _ => BTreeSet::new(),
            },
            Self::Any(parts) => {
                let each: Vec<_> = parts.iter().map(|part| part.targets(all)).collect();
                if each.iter().any(BTreeSet::is_empty) {
                    BTreeSet::new()
                } else {
                    each.into_iter().flatten().collect()
                }
            }
        }
    }

    pub(super) fn open(&self, all: &'a Schemas) -> Form<'a> {
        match self {
            Self::Schema(schema) => Form::of(schema, all),
            Self::All(parts) => {
                let mut form = Form::default();
                parts.iter().for_each(|part| form.merge(part.open(all)));
                form
            }
            Self::Any(parts) => Form::either(parts.iter().map(|part| part.open(all)).collect()),
        }
    }
}

impl<'a> Form<'a> {
    fn of(schema: &'a Json, all: &'a Schemas) -> Self {
        if let Some(target) = reference(schema).and_then(|name| all.get(name)) {
            return Self::of(target, all);
        }
        let mut form = Self::default();
        if *schema == Json::Bool(false)
            || schema.get("not").and_then(Json::members).is_some_and(<[_]>::is_empty)
        {
            form.types.insert(NOTHING.to_owned());
            return form;
        }
        match schema.get("type") {
            Some(Json::Text(kind)) => drop(form.types.insert(kind.clone())),
            Some(Json::Array(kinds)) => form.types.extend(texts(kinds).map(str::to_owned)),
            _ => {}
        }
        if let Some(value) = schema.get("const") {
            form.values.insert(json_text(value));
            form.types.insert(type_of(value).to_owned());
        }
        form.values.extend(parts(schema, "enum").iter().map(json_text));
        let required: BTreeSet<&str> = texts(parts(schema, "required")).collect();
        for (name, member) in schema.get("properties").and_then(Json::members).unwrap_or_default() {
            let required = required.contains(name.as_str());
            form.members.insert(name, Member { required, closed: Closed::Schema(member) });
        }
        // Members alone say that it is an object.
        if form.types.is_empty() && !form.members.is_empty() {
            form.types.insert("object".to_owned());
        }
        let says =
            |keyword: &str| schema.get(keyword).filter(|value| !says_nothing(value)).map(Closed::Schema);
        form.items = says("items");
        form.others = says("additionalProperties");
        for part in parts(schema, "allOf") {
            form.merge(Self::of(part, all));
        }
        // A list of values in the form of error codes says nothing about a message.
        if schema.get("x-error-codes").is_none() {
            let arms = choice(schema);
            if !arms.is_empty() {
                form.merge(Self::either(arms.iter().map(|arm| Self::of(arm, all)).collect()));
            }
        }
        form
    }

    /// Both have to hold.
    fn merge(&mut self, other: Self) {
        if self.types.is_empty() {
            self.types = other.types;
        }
        if self.values.is_empty() {
            self.values = other.values;
        }
        self.items = both(self.items.take(), other.items);
        self.others = both(self.others.take(), other.others);
        for (name, member) in other.members {
            match self.members.get_mut(name) {
                Some(known) => {
                    known.required |= member.required;
                    known.closed = Closed::All(vec![known.closed.clone(), member.closed]);
                }
                None => drop(self.members.insert(name, member)),
            }
        }
    }

    /// One of them has to hold.
    fn either(arms: Vec<Self>) -> Self {
        let count = arms.len();
        let mut out = Self::default();
        let mut members: BTreeMap<&'a str, Vec<Member<'a>>> = BTreeMap::new();
        let (mut items, mut others) = (Some(Vec::new()), Some(Vec::new()));
        let free = arms.iter().any(|arm| arm.values.is_empty());
        let any = arms.iter().any(|arm| arm.types.is_empty());
        for arm in arms {
            // What is no list says nothing about items.
            let (list, object) = (arm.may_be("array"), arm.may_be("object"));
            if list {
                items = items.zip(arm.items).map(|(items, item)| pushed(items, item));
            }
            if object {
                others = others.zip(arm.others).map(|(others, other)| pushed(others, other));
            }
            if !any {
                out.types.extend(arm.types);
            }
            if !free {
                out.values.extend(arm.values);
            }
            for (name, member) in arm.members {
                members.entry(name).or_default().push(member);
            }
        }
        let one_of =
            |found: Option<Vec<Closed<'a>>>| found.filter(|found| !found.is_empty()).map(Closed::Any);
        (out.items, out.others) = (one_of(items), one_of(others));
        for (name, found) in members {
            let required = found.len() == count && found.iter().all(|member| member.required);
            let closed = Closed::Any(found.into_iter().map(|member| member.closed).collect());
            out.members.insert(name, Member { required, closed });
        }
        out
    }

    /// Whether it allows a type by name; where any is allowed, nothing is known of it.
    pub(super) fn may_be(&self, kind: &str) -> bool {
        self.types.contains(kind)
    }

    pub(super) fn nullable(&self) -> bool {
        self.types.contains("null")
    }

    /// The types but for null.
    pub(super) fn kinds(&self) -> BTreeSet<String> {
        self.types.iter().filter(|kind| *kind != "null").cloned().collect()
    }

    /// The types in words, with what a list holds.
    pub(super) fn words(&self, all: &'a Schemas) -> String {
        let with_items = |kind: String| match &self.items {
            Some(items) if kind == "array" => {
                let kinds = items.open(all).kinds();
                let items = list(&kinds);
                if kinds.len() > 1 { format!("array of ({items})") } else { format!("array of {items}") }
            }
            _ => kind,
        };
        list(&self.kinds().into_iter().map(with_items).collect())
    }
}

fn pushed<T>(mut list: Vec<T>, item: T) -> Vec<T> {
    list.push(item);
    list
}

fn both<'a>(one: Option<Closed<'a>>, other: Option<Closed<'a>>) -> Option<Closed<'a>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Closed::All(vec![one, other])),
        (one, other) => one.or(other),
    }
}

pub(super) fn list<T: AsRef<str>>(texts: &BTreeSet<T>) -> String {
    if texts.is_empty() {
        return "any".to_owned();
    }
    texts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

fn parts<'a>(schema: &'a Json, keyword: &str) -> &'a [Json] {
    schema.get(keyword).and_then(Json::items).unwrap_or_default()
}

fn choice(schema: &Json) -> &[Json] {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Json::items).unwrap_or_default()
}

fn texts(items: &[Json]) -> impl Iterator<Item = &str> {
    items.iter().filter_map(Json::text)
}

fn says_nothing(schema: &Json) -> bool {
    schema.is_true() || schema.members().is_some_and(<[_]>::is_empty)
}

/// The definitions that a union of references chooses from; unions inside it are opened.
pub(super) fn arms<'a>(schema: &'a Json, all: &'a Schemas) -> Option<BTreeSet<&'a str>> {
    let mut out = BTreeSet::new();
    for arm in choice(schema) {
        if arm.get("type").and_then(Json::text) == Some("null") {
            continue;
        }
        let name = reference(arm)?;
        match all.get(name).and_then(|target| arms(target, all)) {
            Some(inner) => out.extend(inner),
            None => drop(out.insert(name)),
        }
    }
    (!out.is_empty()).then_some(out)
}

pub(super) fn json_text(value: &Json) -> String {
    let mut text = String::new();
    value.write_line(&mut text);
    text
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Integer(_) | Json::Unsigned(_) => "integer",
        Json::Number(_) => "number",
        Json::Text(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}
