//! Our schema of a generation against the published one.
//!
//! Both are brought to the same plain form: what members an object can have, which of them it must have, which may be
//! null, which values and constants they take. A union of objects is one object whose required members are those of
//! all its arms, so that it does not matter how either side spells it. Differences that are meant stand in
//! `divergences.toml` with a reason; one that is not listed, and one that is listed and not there, are both faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use crate::error::{Error, Errors};
use crate::json::Json;
use crate::{Generation, TextFile};

/// What the comparison found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Drift {
    /// The differences, in order of their place.
    pub differences: Vec<Difference>,
    /// Entries of `divergences.toml` that nothing corresponds to, as `at: kind`.
    pub obsolete: Vec<String>,
    /// How many definitions both sides have.
    pub compared: usize,
}

impl Drift {
    /// Whether every difference is listed and every entry is needed.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.obsolete.is_empty() && self.differences.iter().all(|difference| difference.reason.is_some())
    }

    /// How many differences are listed with a reason.
    #[must_use]
    pub fn listed(&self) -> usize {
        self.differences.iter().filter(|difference| difference.reason.is_some()).count()
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Difference {
    /// The definition, or `Definition.member`.
    pub at: String,
    /// In what they differ.
    pub kind: Kind,
    /// What ours says.
    pub ours: String,
    /// What the published one says.
    pub published: String,
    /// Why, if it is meant.
    pub reason: Option<String>,
}

/// In what two schemas differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// One side has no such definition.
    Definition,
    /// One side has no such member.
    Member,
    /// The member is required on one side only.
    Required,
    /// The member may be null on one side only.
    Nullable,
    /// The type is another.
    Type,
    /// The list of values, or the constant, is another.
    Values,
    /// One side has no such error code.
    Code,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Definition => "definition",
            Self::Member => "member",
            Self::Required => "required",
            Self::Nullable => "nullable",
            Self::Type => "type",
            Self::Values => "values",
            Self::Code => "code",
        })
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| at | kind | ours | published | reason |\n|---|---|---|---|---|")?;
        for difference in &self.differences {
            let Difference { at, kind, ours, published, reason } = difference;
            let reason = reason.as_deref().unwrap_or("**not listed**");
            writeln!(f, "| {at} | {kind} | {} | {} | {reason} |", cell(ours), cell(published))?;
        }
        for entry in &self.obsolete {
            writeln!(f, "| {entry} | | | | **listed, but there is no such difference** |")?;
        }
        let (total, listed) = (self.differences.len(), self.listed());
        let obsolete = self.obsolete.len();
        write!(
            f,
            "{} definitions compared, {total} differences, {listed} listed, {} not listed, {obsolete} obsolete",
            self.compared,
            total - listed
        )
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// `divergences.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Divergences {
    /// Definitions that one side has on purpose.
    #[serde(default)]
    definitions: Vec<Definitions>,
    /// Single differences.
    #[serde(default)]
    differs: Vec<Differs>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Definitions {
    names: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Differs {
    /// One place or several with the same reason.
    at: OneOrMany,
    kind: Kind,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Compares a generation with its published schemas. A definition that several of those have is taken from the first.
///
/// # Errors
///
/// When a file cannot be read.
pub fn drift(
    generation: &Generation,
    published: &[TextFile],
    divergences: &TextFile,
) -> Result<Drift, Vec<Error>> {
    let ours = definitions(&generation.schemas)?;
    let theirs = definitions(published)?;
    let listed: Divergences = toml::from_str(&divergences.text)
        .map_err(|error| vec![Error::new(&divergences.path, "", error.message().to_owned())])?;
    let mut drift = compare(&ours, &theirs);
    apply(&mut drift, &listed);
    Ok(drift)
}

type Schemas = BTreeMap<String, Json>;

fn definitions(files: &[TextFile]) -> Result<Schemas, Errors> {
    let mut out = Schemas::new();
    for file in files {
        let root = Json::parse(&file.path, &file.text)?;
        let Some(found) = root.get("$defs").or_else(|| root.get("definitions")).and_then(Json::members)
        else {
            return Err(vec![Error::new(&file.path, "#", "there are no definitions")]);
        };
        for (name, schema) in found {
            out.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
    Ok(out)
}

fn apply(drift: &mut Drift, listed: &Divergences) {
    let mut used = BTreeSet::new();
    for difference in &mut drift.differences {
        let reason = if difference.kind == Kind::Definition {
            listed
                .definitions
                .iter()
                .find(|entry| entry.names.contains(&difference.at))
                .map(|entry| &entry.reason)
        } else {
            let fits =
                |entry: &&Differs| entry.kind == difference.kind && entry.at.all().contains(&difference.at);
            listed.differs.iter().find(fits).map(|entry| &entry.reason)
        };
        if let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) {
            difference.reason = Some(reason.clone());
            used.insert((difference.at.clone(), difference.kind));
        }
    }
    let entries =
        listed.definitions.iter().flat_map(|entry| &entry.names).map(|name| (name.clone(), Kind::Definition));
    let differs =
        listed.differs.iter().flat_map(|entry| entry.at.all().iter().map(|at| (at.clone(), entry.kind)));
    let obsolete = entries.chain(differs).filter(|key| !used.contains(key));
    drift.obsolete = obsolete.map(|(at, kind)| format!("{at}: {kind}")).collect();
}

fn compare(ours: &Schemas, theirs: &Schemas) -> Drift {
    let mut drift = Drift::default();
    let mut found = |at: &str, kind, ours: String, published: String| {
        drift.differences.push(Difference { at: at.to_owned(), kind, ours, published, reason: None });
    };
    let is_mixin = |schema: &Json| schema.get("x-mixin").is_some();
    for name in ours.iter().filter(|(_, schema)| !is_mixin(schema)).map(|(name, _)| name) {
        if !theirs.contains_key(name) {
            found(name, Kind::Definition, "defined".to_owned(), "not there".to_owned());
        }
    }
    let known = |names: &BTreeSet<String>| {
        names.iter().all(|name| ours.contains_key(name) && theirs.contains_key(name))
    };
    let mut compared = 0;
    for (name, schema) in theirs {
        let Some(our_schema) = ours.get(name) else {
            found(name, Kind::Definition, "not there".to_owned(), "defined".to_owned());
            continue;
        };
        compared += 1;
        // The arms of a union are compared under their own definitions; the union itself is which arms it has.
        if let (Some(our_arms), Some(their_arms)) = (arms(our_schema, ours), arms(schema, theirs)) {
            if our_arms != their_arms {
                found(name, Kind::Values, list(&our_arms), list(&their_arms));
            }
            continue;
        }
        let (our_form, their_form) = (Form::of(our_schema, ours), Form::of(schema, theirs));
        compare_forms(name, &our_form, &their_form, &known, &mut found);
    }
    let (our_codes, their_codes) = (codes(ours), codes(theirs));
    for code in our_codes.difference(&their_codes) {
        found(&code.to_string(), Kind::Code, "defined".to_owned(), "not there".to_owned());
    }
    for code in their_codes.difference(&our_codes) {
        found(&code.to_string(), Kind::Code, "not there".to_owned(), "defined".to_owned());
    }
    drift.compared = compared;
    drift.differences.sort();
    drift
}

fn compare_forms(
    at: &str,
    ours: &Form,
    theirs: &Form,
    known: &impl Fn(&BTreeSet<String>) -> bool,
    found: &mut impl FnMut(&str, Kind, String, String),
) {
    if ours.is_object() && theirs.is_object() {
        for (name, member) in &ours.members {
            if !theirs.members.contains_key(name) {
                found(&format!("{at}.{name}"), Kind::Member, member.words(), "not there".to_owned());
            }
        }
        for (name, their_member) in &theirs.members {
            let at = format!("{at}.{name}");
            let Some(our_member) = ours.members.get(name) else {
                found(&at, Kind::Member, "not there".to_owned(), their_member.words());
                continue;
            };
            let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
            if our_member.required != their_member.required {
                found(&at, Kind::Required, yes(our_member.required), yes(their_member.required));
            }
            // What is the same definition on both sides is compared there, once. What is none of ours, or has no
            // published counterpart, is told as a definition; two that both sides know are not the same thing.
            let (our_targets, their_targets) = (&our_member.form.targets, &their_member.form.targets);
            let elsewhere =
                our_member.form.is_object() && their_member.form.is_object() && !their_targets.is_empty();
            if elsewhere && known(our_targets) && known(their_targets) && our_targets != their_targets {
                found(&at, Kind::Type, list(our_targets), list(their_targets));
            }
            if !elsewhere {
                compare_forms(&at, &our_member.form, &their_member.form, known, found);
            }
        }
        return;
    }
    let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
    if ours.nullable() != theirs.nullable() {
        found(at, Kind::Nullable, yes(ours.nullable()), yes(theirs.nullable()));
    }
    if ours.values != theirs.values {
        found(at, Kind::Values, list(&ours.values), list(&theirs.values));
    }
    let (our_kinds, their_kinds) = (ours.kinds(), theirs.kinds());
    if our_kinds != their_kinds {
        found(at, Kind::Type, list(&our_kinds), list(&their_kinds));
    }
}

fn list(texts: &BTreeSet<String>) -> String {
    if texts.is_empty() { "any".to_owned() } else { texts.iter().cloned().collect::<Vec<_>>().join(", ") }
}

/// What a schema allows, in plain form.
#[derive(Clone, Debug, Default, PartialEq)]
struct Form {
    /// JSON types; none when any is allowed.
    types: BTreeSet<String>,
    /// Values, as JSON text; none when they are free.
    values: BTreeSet<String>,
    members: BTreeMap<String, Member>,
    /// The form of items, in words.
    items: Option<String>,
    /// The definitions that it is a reference to; several for a choice of references.
    targets: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Member {
    required: bool,
    form: Form,
}

impl Member {
    fn words(&self) -> String {
        let kinds = list(&self.form.kinds());
        if self.required { format!("{kinds}, required") } else { kinds }
    }
}

/// How deep members of members are followed.
const DEPTH: usize = 6;

impl Form {
    fn of(schema: &Json, all: &Schemas) -> Self {
        Self::at_depth(schema, all, DEPTH)
    }

    fn at_depth(schema: &Json, all: &Schemas, depth: usize) -> Self {
        let mut form = Self::default();
        if let Some(name) = reference(schema) {
            return match all.get(name) {
                Some(target) if depth > 0 => {
                    let targets = arms(target, all).unwrap_or_else(|| BTreeSet::from([name.to_owned()]));
                    Self { targets, ..Self::at_depth(target, all, depth - 1) }
                }
                _ => Self { types: BTreeSet::from(["object".to_owned()]), ..Self::default() },
            };
        }
        match schema.get("type") {
            Some(Json::Text(kind)) => drop(form.types.insert(kind.clone())),
            Some(Json::Array(kinds)) => {
                form.types.extend(kinds.iter().filter_map(|k| k.text().map(str::to_owned)));
            }
            _ => {}
        }
        if let Some(value) = schema.get("const") {
            form.values.insert(json_text(value));
            form.types.insert(type_of(value).to_owned());
        }
        for value in schema.get("enum").and_then(Json::items).unwrap_or_default() {
            form.values.insert(json_text(value));
        }
        let required: BTreeSet<&str> = schema
            .get("required")
            .and_then(Json::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Json::text)
            .collect();
        for (name, member) in schema.get("properties").and_then(Json::members).unwrap_or_default() {
            let member_form =
                if depth > 0 { Self::at_depth(member, all, depth - 1) } else { Self::default() };
            let member = Member { required: required.contains(name.as_str()), form: member_form };
            form.members.insert(name.clone(), member);
        }
        if let Some(items) = schema.get("items") {
            form.items = Some(list(&Self::at_depth(items, all, depth.min(1)).kinds()));
        }
        for part in schema.get("allOf").and_then(Json::items).unwrap_or_default() {
            form.merge(Self::at_depth(part, all, depth));
        }
        let arms =
            schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Json::items).unwrap_or_default();
        // A list of values in the form of error codes says nothing about a message.
        if !arms.is_empty() && schema.get("x-error-codes").is_none() {
            let arms = arms.iter().map(|arm| Self::at_depth(arm, all, depth)).collect();
            let either = Self::either(arms);
            if form.targets.is_empty() {
                form.targets.clone_from(&either.targets);
            }
            form.merge(either);
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
        self.items = self.items.take().or(other.items);
        for (name, member) in other.members {
            match self.members.get_mut(&name) {
                Some(known) => {
                    known.required |= member.required;
                    known.form.merge(member.form);
                }
                None => drop(self.members.insert(name, member)),
            }
        }
    }

    /// One of them has to hold.
    fn either(arms: Vec<Self>) -> Self {
        let count = arms.len();
        let mut out = Self::default();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let free = arms.iter().any(|arm| arm.values.is_empty());
        let any = arms.iter().any(|arm| arm.types.is_empty());
        if arms.iter().all(|arm| !arm.targets.is_empty()) {
            out.targets = arms.iter().flat_map(|arm| arm.targets.iter().cloned()).collect();
        }
        for arm in arms {
            if !any {
                out.types.extend(arm.types);
            }
            if !free {
                out.values.extend(arm.values);
            }
            out.items = out.items.or(arm.items);
            for (name, member) in arm.members {
                *seen.entry(name.clone()).or_default() += 1;
                match out.members.get_mut(&name) {
                    Some(known) => {
                        known.required &= member.required;
                        let pair = vec![std::mem::take(&mut known.form), member.form];
                        known.form = Self::either(pair);
                    }
                    None => drop(out.members.insert(name, member)),
                }
            }
        }
        for (name, member) in &mut out.members {
            member.required &= seen[name] == count;
        }
        out
    }

    fn is_object(&self) -> bool {
        !self.members.is_empty()
    }

    fn nullable(&self) -> bool {
        self.types.contains("null")
    }

    /// The types but for null, with what a list holds.
    fn kinds(&self) -> BTreeSet<String> {
        let kinds = self.types.iter().filter(|kind| *kind != "null");
        kinds
            .map(|kind| match &self.items {
                Some(items) if kind == "array" => format!("array of {items}"),
                _ => kind.clone(),
            })
            .collect()
    }
}

/// The definitions that a union of references chooses from; unions inside it are opened.
fn arms(schema: &Json, all: &Schemas) -> Option<BTreeSet<String>> {
    let mut out = BTreeSet::new();
    for arm in schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Json::items)? {
        let name = reference(arm)?;
        match all.get(name).and_then(|target| arms(target, all)) {
            Some(inner) => out.extend(inner),
            None => drop(out.insert(name.to_owned())),
        }
    }
    Some(out)
}

fn reference(schema: &Json) -> Option<&str> {
    let target = schema.get("$ref")?.text()?;
    target.strip_prefix("#/$defs/").or_else(|| target.strip_prefix("#/definitions/"))
}

fn json_text(value: &Json) -> String {
    let mut text = String::new();
    value.write(0, &mut text);
    text
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Integer(_) => "integer",
        Json::Number(_) => "number",
        Json::Text(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The error codes that a schema names: constants of a member `code`, and our list.
fn codes(schemas: &Schemas) -> BTreeSet<i64> {
    fn walk(schema: &Json, out: &mut BTreeSet<i64>) {
        if schema.get("x-error-codes").is_some() {
            for arm in schema.get("oneOf").and_then(Json::items).unwrap_or_default() {
                if let Some(Json::Integer(code)) = arm.get("const") {
                    out.insert(*code);
                }
            }
        }
        if let Some(Json::Integer(code)) = schema
            .get("properties")
            .and_then(|members| members.get("code"))
            .and_then(|code| code.get("const"))
        {
            out.insert(*code);
        }
        match schema {
            Json::Object(members) => members.iter().for_each(|(_, value)| walk(value, out)),
            Json::Array(items) => items.iter().for_each(|item| walk(item, out)),
            Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Number(_) | Json::Text(_) => {}
        }
    }
    let mut out = BTreeSet::new();
    schemas.values().for_each(|schema| walk(schema, &mut out));
    out
}
