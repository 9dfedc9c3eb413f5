//! Values that a type takes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::text;
use crate::json::Json;
use crate::model::{ConstantValue, Item, ItemKind, Member, Object, Part, Presence, State, TypeRef, Union};

/// How far samples nest: types refer to each other in circles, with a list or a map in between.
const DEPTH: usize = 4;
/// How many values a sample has at most, so that wide types in circles stay readable. They nest less.
const SIZE: usize = 4_000;

pub(super) struct Values<'a> {
    items: BTreeMap<&'a str, &'a Item>,
    /// How many values a definition comes to, by whether all members are there and how far it nests.
    sizes: RefCell<BTreeMap<(&'a str, bool, usize), usize>>,
}

impl<'a> Values<'a> {
    pub(super) fn new(items: impl Iterator<Item = &'a Item>) -> Self {
        let items = items.map(|item| (item.schema_name.as_str(), item)).collect();
        Self { items, sizes: RefCell::default() }
    }

    pub(super) fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.get(name).copied()
    }

    pub(super) fn state_of(&self, object: &'a Object) -> Option<&'a State> {
        object.parts.iter().find_map(|part| match part {
            Part::State(name) => self.state(name),
            Part::Constant(_) | Part::Member(_) => None,
        })
    }

    pub(super) fn state(&self, name: &str) -> Option<&'a State> {
        match &self.item(name)?.kind {
            ItemKind::State(state) => Some(state),
            _ => None,
        }
    }

    /// A valid object with its required members or with all of them, in an arm of its state.
    pub(super) fn object(&self, object: &'a Object, all: bool, arm: usize) -> Json {
        self.object_at(object, all, arm, self.depth(|depth| self.object_size(object, all, depth)))
    }

    /// A valid value of a definition.
    pub(super) fn named(&self, name: &'a str, all: bool) -> Json {
        self.named_at(name, all, self.depth(|depth| self.size_of(name, all, depth)))
    }

    /// A valid value of a type, with what it needs.
    pub(super) fn shape(&self, shape: &'a TypeRef) -> Json {
        self.shape_at(shape, false, self.depth(|depth| self.shape_size(shape, false, depth)))
    }

    /// How far something may nest.
    fn depth(&self, size: impl Fn(usize) -> usize) -> usize {
        (1..=DEPTH).rev().find(|depth| size(*depth) <= SIZE).unwrap_or(1)
    }

    fn object_at(&self, object: &'a Object, all: bool, arm: usize, depth: usize) -> Json {
        let mut members = Vec::new();
        for part in &object.parts {
            match part {
                Part::Constant(constant) => {
                    let value = match &constant.value {
                        ConstantValue::Text(value) => text(value),
                        ConstantValue::Integer(number) => Json::Integer(*number),
                    };
                    members.push((constant.name.clone(), value));
                }
                Part::Member(member) if wanted(object, member, all, depth) => {
                    let value = self.shape_at(&member.shape, all, depth.saturating_sub(1));
                    members.push((member.name.clone(), value));
                }
                Part::Member(_) => {}
                Part::State(name) => {
                    let Some(arm) = self.state(name).and_then(|state| Some((state, state.arms.get(arm)?)))
                    else {
                        continue;
                    };
                    let (state, arm) = arm;
                    members.push((state.tag.clone(), text(&arm.value)));
                    for member in &arm.members {
                        let value = self.shape_at(&member.shape, all, depth.saturating_sub(1));
                        members.push((member.name.clone(), value));
                    }
                }
            }
        }
        Json::Object(members)
    }

    fn named_at(&self, name: &str, all: bool, depth: usize) -> Json {
        let Some(item) = self.item(name) else { return Json::Null };
        match &item.kind {
            ItemKind::Object(object) => self.object_at(object, all, 0, depth),
            ItemKind::StringEnum(variants) => {
                variants.first().map_or(Json::Null, |variant| text(&variant.value))
            }
            ItemKind::Newtype(shape) => self.shape_at(shape, all, below(shape, depth)),
            ItemKind::ErrorCodes(codes) => codes.first().map_or(Json::Null, |code| Json::Integer(code.code)),
            ItemKind::Union(Union::Kind(arms)) => arms
                .first()
                .map_or(Json::Null, |arm| self.shape_at(&arm.shape, all, below(&arm.shape, depth))),
            ItemKind::Union(Union::Tag { arms, .. }) => {
                arms.first().map_or(Json::Null, |arm| self.named_at(&arm.target, all, depth))
            }
            // Which arm is meant can hang on an optional member, so all are there.
            ItemKind::Union(Union::Member(arms)) => {
                arms.first().map_or(Json::Null, |arm| self.named_at(&arm.target, true, depth.max(1)))
            }
            ItemKind::Replaced(path) => match path.as_str() {
                "RawObject" => Json::Object(vec![("any".to_owned(), Json::Integer(1))]),
                "Timestamp" => text("2026-08-21T12:30:00.120+02:00"),
                "TaskId" => text("tsk_786512e29e0d44bd8f29789f320fe840"),
                _ => Json::Array(vec![Json::Integer(1), Json::Null, text("any")]),
            },
            ItemKind::State(_) => Json::Null,
        }
    }

    fn shape_at(&self, shape: &TypeRef, all: bool, depth: usize) -> Json {
        match shape {
            TypeRef::Named(name) => self.named_at(name, all, depth),
            TypeRef::Text => text("tëxt"),
            TypeRef::Unsigned | TypeRef::Millis => Json::Integer(60_000),
            TypeRef::Integer => Json::Integer(-7),
            TypeRef::Number => Json::Number(0.25),
            TypeRef::Boolean => Json::Bool(true),
            TypeRef::List(_) if depth == 0 => Json::Array(Vec::new()),
            TypeRef::List(item) => Json::Array(vec![self.shape_at(item, all, depth)]),
            TypeRef::Map(_) if depth == 0 => Json::Object(Vec::new()),
            TypeRef::Map(value) => Json::Object(vec![("a key".to_owned(), self.shape_at(value, all, depth))]),
        }
    }

    /// How many values there would be, counted without making them.
    fn size_of(&self, name: &'a str, all: bool, depth: usize) -> usize {
        let key = (name, all, depth);
        if let Some(size) = self.sizes.borrow().get(&key) {
            return *size;
        }
        let size = match self.item(name).map(|item| &item.kind) {
            Some(ItemKind::Object(object)) => self.object_size(object, all, depth),
            Some(ItemKind::Newtype(shape)) => self.shape_size(shape, all, below(shape, depth)),
            Some(ItemKind::Union(Union::Kind(arms))) => {
                arms.first().map_or(1, |arm| self.shape_size(&arm.shape, all, below(&arm.shape, depth)))
            }
            Some(ItemKind::Union(Union::Tag { arms, .. })) => {
                arms.first().map_or(1, |arm| self.size_of(&arm.target, all, depth))
            }
            Some(ItemKind::Union(Union::Member(arms))) => {
                arms.first().map_or(1, |arm| self.size_of(&arm.target, true, depth.max(1)))
            }
            _ => 1,
        };
        self.sizes.borrow_mut().insert(key, size);
        size
    }

    fn object_size(&self, object: &'a Object, all: bool, depth: usize) -> usize {
        let size = |member: &'a Member| self.shape_size(&member.shape, all, depth.saturating_sub(1));
        let sizes = object.parts.iter().map(|part| match part {
            Part::Member(member) if wanted(object, member, all, depth) => size(member),
            Part::Member(_) => 0,
            Part::Constant(_) => 1,
            Part::State(name) => {
                let arms = self.state(name).map(|state| state.arms.as_slice()).unwrap_or_default();
                let sizes =
                    arms.iter().map(|arm| arm.members.iter().map(size).fold(1, usize::saturating_add));
                sizes.max().unwrap_or_default()
            }
        });
        sizes.fold(1, usize::saturating_add)
    }

    fn shape_size(&self, shape: &'a TypeRef, all: bool, depth: usize) -> usize {
        match shape {
            TypeRef::Named(name) => self.size_of(name, all, depth),
            TypeRef::List(inner) | TypeRef::Map(inner) if depth > 0 => {
                self.shape_size(inner, all, depth).saturating_add(1)
            }
            _ => 1,
        }
    }
}

/// Whether a sample has the member.
fn wanted(object: &Object, member: &Member, all: bool, depth: usize) -> bool {
    let first_needed = object.at_least_one.first() == Some(&member.name);
    member.presence != Presence::Optional || (all && depth > 0) || first_needed
}

/// How far what a definition stands for may nest: an object counts itself, so here lists and maps have to, or a
/// definition that is a list of itself would nest without end.
fn below(shape: &TypeRef, depth: usize) -> usize {
    match shape {
        TypeRef::List(_) | TypeRef::Map(_) => depth.saturating_sub(1),
        _ => depth,
    }
}
