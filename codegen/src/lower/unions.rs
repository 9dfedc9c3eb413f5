//! Unions: how their arms are told apart (`x-union`).

use std::collections::BTreeSet;

use super::{At, Lowering};
use crate::json::Json;
use crate::lower::shapes::texts;
use crate::model::{Condition, KindArm, MemberArm, TagArm, TypeRef, Union};
use crate::names;

impl<'a> Lowering<'a> {
    pub(super) fn union(&mut self, at: &At<'_>, owner: &str, schema: &Json) -> Option<Union> {
        let Some(arms) = schema.get("anyOf").and_then(Json::items) else {
            self.fault(at, "a union lists its arms under `anyOf`");
            return None;
        };
        let tagged = schema.get("x-union").and_then(Json::text) == Some("tag");
        let own: &[&str] = if tagged { &["x-union", "x-tag", "anyOf"] } else { &["x-union", "anyOf"] };
        self.only(at, schema, own);
        let at = at.child("anyOf");
        match schema.get("x-union").and_then(Json::text)? {
            "kind" => self.kind_union(&at, arms),
            "tag" => self.tag_union(&at, owner, schema.get("x-tag").and_then(Json::text)?, arms),
            _ => self.member_union(&at, arms),
        }
    }

    fn kind_union(&mut self, at: &At<'_>, arms: &[Json]) -> Option<Union> {
        let mut out: Vec<KindArm> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            let at = at.child(&index.to_string());
            let Some(title) = arm.get("title").and_then(Json::text) else {
                self.fault(&at, "an arm of a union by kind has a `title`, the name of its variant");
                continue;
            };
            let (shape, _) = self.shape(&at, arm, false)?;
            if shape == TypeRef::Unsigned {
                self.fault(&at, "an integer arm takes all integers");
            }
            // Such a type wants the value's text, which telling the kinds apart has used up.
            if matches!(&shape, TypeRef::Named(name) if self.config.replace.contains_key(name)) {
                self.fault(&at, "an arm of a union by kind is no type written by hand");
            }
            if out.iter().any(|earlier| kind(&earlier.shape) == kind(&shape)) {
                self.fault(&at, "two arms have the same kind of JSON value");
            }
            out.push(KindArm { variant: names::variant_name(title), shape });
        }
        Some(Union::Kind(out))
    }

    fn tag_union(&mut self, at: &At<'_>, owner: &str, tag: &str, arms: &[Json]) -> Option<Union> {
        let mut found: Vec<(String, Option<String>, &str)> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            let at = at.child(&index.to_string());
            self.only(&at, arm, &["$ref"]);
            let Some(target) = arm.reference() else {
                self.fault(&at, "an arm of a union by tag is a reference");
                continue;
            };
            let schema = self.target(&at, target)?;
            let Some(value) = self.constant_of(schema, tag) else {
                self.fault(&at, format!("`{target}` has no string constant `{tag}`"));
                continue;
            };
            if found.iter().any(|(earlier, ..)| *earlier == value) {
                self.fault(&at, format!("two arms have the tag `{value}`"));
            }
            let title = arm.get("title").and_then(Json::text).map(names::variant_name);
            found.push((value, title, target));
        }
        let values: Vec<_> = found.iter().map(|(value, title, _)| (value.as_str(), title.clone())).collect();
        let variants = self.variants_of(owner, &values);
        let arms = found.into_iter().zip(variants).map(|((value, _, target), variant)| TagArm {
            variant,
            value,
            target: target.to_owned(),
        });
        Some(Union::Tag { tag: tag.to_owned(), arms: arms.collect() })
    }

    fn member_union(&mut self, at: &At<'_>, arms: &[Json]) -> Option<Union> {
        let mut out: Vec<MemberArm> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            let at = at.child(&index.to_string());
            self.only(&at, arm, &["$ref", "x-member"]);
            let (Some(target), Some(title)) = (arm.reference(), arm.get("title").and_then(Json::text)) else {
                self.fault(
                    &at,
                    "an arm of a union by member is a reference with a `title`, the name of its variant",
                );
                continue;
            };
            if matches!(out.last(), Some(MemberArm { condition: Condition::Always, .. })) {
                self.fault(&at, "an arm after `x-member: *` is never reached");
            }
            let schema = self.target(&at, target)?;
            let condition = self.arm_condition(&at, arm, target, schema)?;
            out.push(MemberArm { variant: names::variant_name(title), target: target.to_owned(), condition });
        }
        Some(Union::Member(out))
    }

    fn arm_condition(
        &mut self,
        at: &At<'_>,
        arm: &Json,
        target: &str,
        schema: &'a Json,
    ) -> Option<Condition> {
        match arm.get("x-member").and_then(Json::text) {
            Some("*") => return Some(Condition::Always),
            Some(path) if self.is_required(schema, path) => return Some(Condition::Has(path.to_owned())),
            Some(path) => return Some(Condition::Holds(path.to_owned())),
            None => {}
        }
        if schema.get("x-union").is_some() {
            if let Some(known) = self.conditions.get(target) {
                return Some(known.clone());
            }
            let condition = self.follow(at, target, |this| {
                let mut conditions = Vec::new();
                for inner in schema.get("anyOf").and_then(Json::items).unwrap_or_default() {
                    let name = inner.reference()?;
                    let schema = this.target(at, name)?;
                    let more = match this.arm_condition(at, inner, name, schema)? {
                        Condition::Any(more) => more,
                        one => vec![one],
                    };
                    // Two unions may have an arm in common.
                    for condition in more {
                        if !conditions.contains(&condition) {
                            conditions.push(condition);
                        }
                    }
                }
                Some(Condition::Any(conditions))
            })?;
            self.conditions.insert(target.to_owned(), condition.clone());
            return Some(condition);
        }
        let conditions = self.constants_of(schema);
        if conditions.is_empty() {
            self.fault(
                at,
                format!(
                    "`{target}` has no constant to be known by; say which member tells it with `x-member`"
                ),
            );
            return None;
        }
        Some(Condition::All(conditions))
    }

    /// Whether an object has to have a member; of `a/b` the last one counts.
    fn is_required(&self, schema: &Json, path: &str) -> bool {
        let mut parts = self.parts_of(schema).into_iter();
        match path.split_once('/') {
            None => parts.any(|part| texts(part.get("required")).iter().any(|name| name == path)),
            Some((outer, inner)) => parts
                .find_map(|part| part.get("properties")?.get(outer))
                .is_some_and(|schema| self.is_required(schema, inner)),
        }
    }

    /// The value of a string constant of an object.
    fn constant_of(&self, schema: &Json, name: &str) -> Option<String> {
        self.parts_of(schema)
            .into_iter()
            .find_map(|part| part.get("properties")?.get(name)?.get("const")?.text().map(str::to_owned))
    }

    /// What an object is known by: its required constants, or the required lists of strings of one that has none. Where
    /// a constant tells what an object is, a wrong value of a list beside it is a fault of that object.
    fn constants_of(&self, schema: &Json) -> Vec<Condition> {
        let (mut constants, mut lists) = (Vec::new(), Vec::new());
        for part in self.parts_of(schema) {
            let required: BTreeSet<String> = texts(part.get("required")).into_iter().collect();
            for (name, property) in part.get("properties").and_then(Json::members).unwrap_or_default() {
                if !required.contains(name) {
                    continue;
                }
                let (found, values): (_, Vec<String>) = match property.get("const") {
                    Some(value) => (&mut constants, value.text().map(str::to_owned).into_iter().collect()),
                    None => {
                        let values = property
                            .reference()
                            .and_then(|target| self.definitions.get(target))
                            .and_then(|(_, schema)| schema.get("oneOf")?.items())
                            .unwrap_or_default()
                            .iter()
                            .filter_map(|arm| arm.get("const")?.text().map(str::to_owned));
                        (&mut lists, values.collect())
                    }
                };
                if !values.is_empty() {
                    found.push(Condition::Is { name: name.clone(), values });
                }
            }
        }
        if constants.is_empty() { lists } else { constants }
    }

    /// The objects that a definition is composed of, all the way down.
    fn parts_of<'s>(&self, schema: &'s Json) -> Vec<&'s Json>
    where
        'a: 's,
    {
        let (mut found, mut open) = (Vec::new(), vec![schema]);
        // A circle is a fault of the composition itself and is told there.
        let mut seen = BTreeSet::new();
        while let Some(schema) = open.pop() {
            let target = schema.reference().and_then(|name| Some((name, self.definitions.get(name)?.1)));
            match (target, schema.get("allOf").and_then(Json::items)) {
                (Some((name, target)), _) => {
                    if seen.insert(name) {
                        open.push(target);
                    }
                }
                (None, Some(parts)) => open.extend(parts.iter().rev()),
                (None, None) => found.push(schema),
            }
        }
        found
    }
}

/// The kind of JSON value that a shape has, as far as a reader can tell kinds apart.
fn kind(shape: &TypeRef) -> u8 {
    match shape {
        TypeRef::Text => 0,
        TypeRef::Integer | TypeRef::Unsigned => 1,
        TypeRef::Number | TypeRef::Millis => 2,
        TypeRef::Boolean => 3,
        TypeRef::List(_) => 4,
        // A definition in a union by kind is an object: lists and scalars are written inline.
        TypeRef::Named(_) | TypeRef::Map(_) => 5,
    }
}
