//! The walk over both sides.

use std::collections::BTreeSet;

use super::form::{Closed, Form, arms, list};
use super::published::Schemas;
use super::{Difference, Drift, Kind};
use crate::json::Json;

/// Every difference, listed or not.
pub(super) fn compare(ours: &Schemas, theirs: &Schemas) -> Drift {
    let mut walk = Walk { ours, theirs, found: Vec::new(), seen: BTreeSet::new() };
    let (here, not_here) = ("defined", "not there");
    let is_mixin = |schema: &Json| schema.get("x-mixin").is_some();
    for name in ours.iter().filter(|(_, schema)| !is_mixin(schema)).map(|(name, _)| name) {
        if !theirs.contains_key(name) {
            walk.found(name, Kind::Definition, here, not_here);
        }
    }
    let mut compared = 0;
    for (name, schema) in theirs {
        let Some(our_schema) = ours.get(name) else {
            walk.found(name, Kind::Definition, not_here, here);
            continue;
        };
        compared += 1;
        let our_form = Closed::Schema(our_schema).open(ours);
        let their_form = Closed::Schema(schema).open(theirs);
        // The arms of a union are compared under their own definitions; the union itself is which arms it has.
        if let (Some(our_arms), Some(their_arms)) = (arms(our_schema, ours), arms(schema, theirs)) {
            if our_arms != their_arms {
                walk.found(name, Kind::Values, list(&our_arms), list(&their_arms));
            }
            walk.yes_or_no(name, Kind::Nullable, our_form.nullable(), their_form.nullable());
            continue;
        }
        walk.forms(name, &our_form, &their_form, (None, None));
    }
    let (our_codes, their_codes) = (codes(ours), codes(theirs));
    for code in our_codes.difference(&their_codes) {
        walk.found(&code.to_string(), Kind::Code, here, not_here);
    }
    for code in their_codes.difference(&our_codes) {
        walk.found(&code.to_string(), Kind::Code, not_here, here);
    }
    let mut differences = walk.found;
    differences.sort();
    Drift { differences, obsolete: Vec::new(), compared }
}

struct Walk<'a> {
    ours: &'a Schemas,
    theirs: &'a Schemas,
    found: Vec<Difference>,
    /// Pairs of definitions with different names that were compared where they are used.
    seen: BTreeSet<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
}

impl<'a> Walk<'a> {
    fn found(&mut self, at: &str, kind: Kind, ours: impl Into<String>, published: impl Into<String>) {
        let (at, ours, published) = (at.to_owned(), ours.into(), published.into());
        self.found.push(Difference { at, kind, ours, published, reason: None, listed_for: None });
    }

    fn yes_or_no(&mut self, at: &str, kind: Kind, ours: bool, theirs: bool) {
        let words = |value: bool| if value { "yes" } else { "no" };
        if ours != theirs {
            self.found(at, kind, words(ours), words(theirs));
        }
    }

    /// Whether both sides define all of some names.
    fn known(&self, names: &BTreeSet<&str>) -> bool {
        !names.is_empty()
            && names.iter().all(|name| self.ours.contains_key(*name) && self.theirs.contains_key(*name))
    }

    /// Compares what stands in one place.
    fn closed(&mut self, at: &str, ours: &Closed<'a>, theirs: &Closed<'a>) {
        // What is the same definition on both sides is compared there, once.
        if let (Some(name), Some(other)) = (ours.name(), theirs.name())
            && name == other
        {
            return;
        }
        let (our_targets, their_targets) = (ours.targets(self.ours), theirs.targets(self.theirs));
        let known = self.known(&our_targets) && self.known(&their_targets);
        let (our_form, their_form) = (ours.open(self.ours), theirs.open(self.theirs));
        // Two definitions that both sides know are not the same thing, whatever they have in common.
        let same = our_targets == their_targets;
        if known && (same || our_form.may_be("object") && their_form.may_be("object")) {
            if !same {
                self.found(at, Kind::Type, list(&our_targets), list(&their_targets));
            }
            return self.yes_or_no(at, Kind::Nullable, our_form.nullable(), their_form.nullable());
        }
        let words = |targets: &BTreeSet<&str>| (!targets.is_empty()).then(|| list(targets));
        let named = (words(&our_targets), words(&their_targets));
        // A definition that one side lacks is compared where it is used, which may be inside itself.
        if named.0.is_some() && named.1.is_some() && !self.seen.insert((our_targets, their_targets)) {
            return;
        }
        self.forms(at, &our_form, &their_form, named);
    }

    /// Compares what two schemas allow. The names are those of the definitions that they are, for who reads of another
    /// type.
    fn forms(
        &mut self,
        at: &str,
        ours: &Form<'a>,
        theirs: &Form<'a>,
        (our_name, their_name): (Option<String>, Option<String>),
    ) {
        self.yes_or_no(at, Kind::Nullable, ours.nullable(), theirs.nullable());
        if ours.values != theirs.values {
            self.found(at, Kind::Values, list(&ours.values), list(&theirs.values));
        }
        if ours.kinds() != theirs.kinds() {
            let was = our_name.unwrap_or_else(|| ours.words(self.ours));
            let is = their_name.unwrap_or_else(|| theirs.words(self.theirs));
            self.found(at, Kind::Type, was, is);
        }
        if ours.may_be("array") && theirs.may_be("array") {
            self.held(&format!("{at}[]"), ours.items.as_ref(), theirs.items.as_ref());
        }
        if ours.may_be("object") && theirs.may_be("object") {
            self.members(at, ours, theirs);
            self.held(&format!("{at}{{}}"), ours.others.as_ref(), theirs.others.as_ref());
        }
    }

    fn members(&mut self, at: &str, ours: &Form<'a>, theirs: &Form<'a>) {
        let words =
            |required: bool, kinds: String| if required { format!("{kinds}, required") } else { kinds };
        for (name, member) in &ours.members {
            if !theirs.members.contains_key(name) {
                let kinds = member.closed.open(self.ours).words(self.ours);
                self.found(&format!("{at}.{name}"), Kind::Member, words(member.required, kinds), "not there");
            }
        }
        for (name, their_member) in &theirs.members {
            let at = format!("{at}.{name}");
            let Some(our_member) = ours.members.get(name) else {
                let kinds = their_member.closed.open(self.theirs).words(self.theirs);
                self.found(&at, Kind::Member, "not there", words(their_member.required, kinds));
                continue;
            };
            self.yes_or_no(&at, Kind::Required, our_member.required, their_member.required);
            self.closed(&at, &our_member.closed, &their_member.closed);
        }
    }

    /// Compares what lists or maps hold, which is anything where a side does not say.
    fn held(&mut self, at: &str, ours: Option<&Closed<'a>>, theirs: Option<&Closed<'a>>) {
        let anything = Closed::All(Vec::new());
        if ours.is_some() || theirs.is_some() {
            self.closed(at, ours.unwrap_or(&anything), theirs.unwrap_or(&anything));
        }
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
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    schemas.values().for_each(|schema| walk(schema, &mut out));
    out
}
