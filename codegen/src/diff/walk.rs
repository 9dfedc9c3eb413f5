//! The walk over two models, definition by definition.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Kind, Mark};
use crate::accept::{Side, Value, accepts, accepts_choice, accepts_flats};
use crate::model::{
    Constant, ConstantValue, ErrorCode, Item, ItemKind, Member, Method, Model, Object, Part, Presence, State,
    StateArm, TypeRef, Union, Variant,
};
use crate::names;

const COMPATIBLE: (Mark, Mark) = (Mark::Compatible, Mark::Compatible);
const READERS: (Mark, Mark) = (Mark::Breaking, Mark::Compatible);
const WRITERS: (Mark, Mark) = (Mark::Compatible, Mark::Breaking);
const BOTH: (Mark, Mark) = (Mark::Breaking, Mark::Breaking);

/// All changes from one model to another.
pub(super) fn changes(old: &Model, new: &Model) -> Vec<Change> {
    let mut walk = Walk {
        old: Side::new(old),
        new: Side::new(new),
        old_module: &old.module,
        new_module: &new.module,
        changes: Vec::new(),
    };
    // Another revision is a module of its own and breaks no source.
    if old.generation == new.generation && old.module != new.module {
        let (was, is) = (old.module.as_str(), new.module.as_str());
        walk.change(&new.generation, Kind::RustName, was, is, COMPATIBLE, new.module.clone());
    }
    let referenced = referenced(old);
    for item in old.items() {
        match walk.new.item(&item.schema_name) {
            Some(new) => walk.item(item, new),
            None => {
                // What it was part of has changed too, and says there what that means.
                let marks = if referenced.contains(item.schema_name.as_str()) { COMPATIBLE } else { WRITERS };
                let path = type_path(walk.old_module, item);
                walk.change(&item.schema_name, Kind::Definition, words_of(&item.kind), "", marks, path);
            }
        }
    }
    for item in new.items().filter(|item| walk.old.item(&item.schema_name).is_none()) {
        let path = type_path(walk.new_module, item);
        walk.changes.push(Change {
            at: item.schema_name.clone(),
            kind: Kind::Definition,
            old: String::new(),
            new: words_of(&item.kind).to_owned(),
            readers: Mark::Compatible,
            writers: Mark::Compatible,
            item: path,
        });
    }
    walk.methods(&methods(old), &methods(new));
    walk.changes
}

pub(super) struct Walk<'a> {
    pub(super) old: Side<'a>,
    pub(super) new: Side<'a>,
    pub(super) old_module: &'a str,
    pub(super) new_module: &'a str,
    changes: Vec<Change>,
}

/// A message that has a method.
struct Sent<'a> {
    item: &'a Item,
    method: &'a Method,
    direction: &'a str,
}

/// Messages by their methods.
fn methods(model: &Model) -> BTreeMap<&str, Sent<'_>> {
    let mut out = BTreeMap::new();
    for item in model.items() {
        if let ItemKind::Object(Object { method: Some(method), direction, .. }) = &item.kind {
            let direction = direction.as_deref().unwrap_or_default();
            out.insert(method.name.as_str(), Sent { item, method, direction });
        }
    }
    out
}

/// The definitions that another one refers to.
fn referenced(model: &Model) -> BTreeSet<&str> {
    fn shape_refs<'a>(shape: &'a TypeRef, out: &mut BTreeSet<&'a str>) {
        match shape {
            TypeRef::Named(name) => drop(out.insert(name)),
            TypeRef::List(inner) | TypeRef::Map(inner) => shape_refs(inner, out),
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    for item in model.items() {
        let mut found = BTreeSet::new();
        match &item.kind {
            ItemKind::Object(object) => {
                for part in &object.parts {
                    match part {
                        Part::Member(member) => shape_refs(&member.shape, &mut found),
                        Part::State(name) => drop(found.insert(name)),
                        Part::Constant(_) => {}
                    }
                }
            }
            ItemKind::State(state) => {
                state.arms.iter().flat_map(|arm| &arm.members).for_each(|m| shape_refs(&m.shape, &mut found));
            }
            ItemKind::Union(Union::Kind(arms)) => {
                arms.iter().for_each(|arm| shape_refs(&arm.shape, &mut found));
            }
            ItemKind::Union(Union::Tag { arms, .. }) => {
                found.extend(arms.iter().map(|arm| arm.target.as_str()));
            }
            ItemKind::Union(Union::Member(arms)) => found.extend(arms.iter().map(|arm| arm.target.as_str())),
            ItemKind::Newtype(inner) => shape_refs(inner, &mut found),
            ItemKind::ErrorCodes(codes) => found.extend(codes.iter().filter_map(|code| code.data.as_deref())),
            ItemKind::StringEnum(_) | ItemKind::Replaced(_) => {}
        }
        found.remove(item.schema_name.as_str());
        out.extend(found);
    }
    out
}

/// The path of a definition's type. A type written by hand stands in no module of a revision.
fn type_path(module: &str, item: &Item) -> String {
    match &item.kind {
        ItemKind::Replaced(path) => path.clone(),
        _ => format!("{module}::{}", item.rust_name),
    }
}

fn words_of(kind: &ItemKind) -> &'static str {
    match kind {
        ItemKind::Object(_) => "object",
        ItemKind::State(_) => "state",
        ItemKind::Union(_) => "union",
        ItemKind::StringEnum(_) => "list of strings",
        ItemKind::Newtype(_) => "plain type",
        ItemKind::ErrorCodes(_) => "error codes",
        ItemKind::Replaced(_) => "type written by hand",
    }
}

pub(super) fn shape_words(shape: &TypeRef) -> String {
    match shape {
        TypeRef::Named(name) => name.clone(),
        TypeRef::Text => "string".to_owned(),
        TypeRef::Unsigned => "integer, not negative".to_owned(),
        TypeRef::Millis => "milliseconds".to_owned(),
        TypeRef::Integer => "integer".to_owned(),
        TypeRef::Number => "number".to_owned(),
        TypeRef::Boolean => "boolean".to_owned(),
        TypeRef::List(item) => format!("list of {}", shape_words(item)),
        TypeRef::Map(value) => format!("map to {}", shape_words(value)),
    }
}

fn presence_words(presence: Presence) -> &'static str {
    match presence {
        Presence::Required => "required",
        Presence::Nullable => "required, may be null",
        Presence::Optional => "optional",
    }
}

fn member_words(member: &Member) -> String {
    format!("{}, {}", shape_words(&member.shape), presence_words(member.presence))
}

fn constant_words(value: &ConstantValue) -> String {
    match value {
        ConstantValue::Text(text) => format!("`{text}`"),
        ConstantValue::Integer(number) => format!("`{number}`"),
    }
}

/// A member or a constant of an object.
#[derive(Clone, Copy)]
enum Property<'a> {
    Member(&'a Member),
    Constant(&'a Constant),
}

impl<'a> Property<'a> {
    fn value(self) -> Value<'a> {
        match self {
            Self::Member(member) => Value::Shape(&member.shape),
            Self::Constant(constant) => Value::constant(&constant.value),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Member(member) => member_words(member),
            Self::Constant(constant) => constant_words(&constant.value),
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Member(member) if member.meta_key => Kind::MetaKey,
            Self::Member(_) => Kind::Member,
            Self::Constant(_) => Kind::Constant,
        }
    }

    /// Whether a reader refuses its absence.
    fn needed(self) -> bool {
        match self {
            Self::Member(member) => member.presence != Presence::Optional,
            Self::Constant(constant) => !constant.absent,
        }
    }

    /// A constant is no field, so what it touches is the type.
    fn path(self, owner: &str) -> String {
        match self {
            Self::Member(member) => format!("{owner}::{}", member.field),
            Self::Constant(_) => owner.to_owned(),
        }
    }
}

fn properties<'a>(object: &'a Object, without: &BTreeSet<&str>) -> BTreeMap<&'a str, Property<'a>> {
    let found = object.parts.iter().filter_map(|part| match part {
        Part::Member(member) => Some((member.name.as_str(), Property::Member(member))),
        Part::Constant(constant) => Some((constant.name.as_str(), Property::Constant(constant))),
        Part::State(_) => None,
    });
    found.filter(|(name, _)| !without.contains(name)).collect()
}

fn state_name(object: &Object) -> Option<&str> {
    object.parts.iter().find_map(|part| match part {
        Part::State(name) => Some(name.as_str()),
        Part::Member(_) | Part::Constant(_) => None,
    })
}

impl<'a> Walk<'a> {
    pub(super) fn change(
        &mut self,
        at: &str,
        kind: Kind,
        old: impl Into<String>,
        new: impl Into<String>,
        (readers, writers): (Mark, Mark),
        item: String,
    ) {
        let (at, old, new) = (at.to_owned(), old.into(), new.into());
        self.changes.push(Change { at, kind, old, new, readers, writers, item });
    }

    /// What it means that a value of the old side became one of the new side.
    pub(super) fn judged(&self, old: Value<'a>, new: Value<'a>) -> (Mark, Mark) {
        let readers = accepts(&self.old, old, &self.new, new);
        let writers = accepts(&self.new, new, &self.old, old);
        (Mark::of(readers), Mark::of(writers))
    }

    /// What the old readers of a definition, or the new ones that old writers write to, make of a value of the other
    /// side.
    pub(super) fn still_read(&self, by_old: bool, definition: Value<'a>, value: Value<'a>) -> Mark {
        Mark::of(if by_old {
            accepts(&self.old, definition, &self.new, value)
        } else {
            accepts(&self.new, definition, &self.old, value)
        })
    }

    fn item(&mut self, old: &'a Item, new: &'a Item) {
        let (name, path) = (new.schema_name.as_str(), type_path(self.new_module, new));
        if old.rust_name != new.rust_name {
            self.change(name, Kind::RustName, &*old.rust_name, &*new.rust_name, COMPATIBLE, path.clone());
        }
        match (&old.kind, &new.kind) {
            (ItemKind::Object(old), ItemKind::Object(new)) => self.object(name, &path, old, new),
            (ItemKind::State(old), ItemKind::State(new)) => self.state(name, &path, old, new),
            (ItemKind::StringEnum(old), ItemKind::StringEnum(new)) => self.values(name, &path, old, new),
            (ItemKind::ErrorCodes(old), ItemKind::ErrorCodes(new)) => self.codes(name, &path, old, new),
            (ItemKind::Union(old), ItemKind::Union(new)) => self.union(name, &path, old, new),
            (ItemKind::Newtype(old), ItemKind::Newtype(new)) => {
                if old != new {
                    let marks = self.judged(Value::Shape(old), Value::Shape(new));
                    self.change(name, Kind::Type, shape_words(old), shape_words(new), marks, path);
                }
            }
            (ItemKind::Replaced(old), ItemKind::Replaced(new)) => {
                if old != new {
                    let marks = self.judged(Value::Named(name), Value::Named(name));
                    self.change(name, Kind::Type, old, new, marks, path);
                }
            }
            (old, new) => {
                let marks = self.judged(Value::Named(name), Value::Named(name));
                self.change(name, Kind::Type, words_of(old), words_of(new), marks, path);
            }
        }
    }

    fn object(&mut self, name: &str, path: &str, old: &'a Object, new: &'a Object) {
        let state_members = self.composed_state(name, path, old, new);
        let (olds, news) = (properties(old, &state_members), properties(new, &state_members));
        for (member, old) in &olds {
            let at = format!("{name}.{member}");
            match news.get(member) {
                Some(new) => self.property(&at, path, *old, *new),
                None => {
                    let marks = if old.needed() { READERS } else { COMPATIBLE };
                    let owner = path.replacen(self.new_module, self.old_module, 1);
                    self.change(&at, old.kind(), old.words(), "", marks, old.path(&owner));
                }
            }
        }
        for (member, new) in news.iter().filter(|(member, _)| !olds.contains_key(*member)) {
            let marks = if new.needed() { WRITERS } else { COMPATIBLE };
            self.change(&format!("{name}.{member}"), new.kind(), "", new.words(), marks, new.path(path));
        }
        if old.at_least_one.iter().collect::<BTreeSet<_>>() != new.at_least_one.iter().collect() {
            let readers = accepts_choice(&old.at_least_one, &self.new.flats(new));
            let writers = accepts_choice(&new.at_least_one, &self.old.flats(old));
            let marks = (Mark::of(readers), Mark::of(writers));
            let (old, new) = (old.at_least_one.join(", "), new.at_least_one.join(", "));
            self.change(name, Kind::AtLeastOne, old, new, marks, path.to_owned());
        }
        if old.extension != new.extension {
            let words = |id: &Option<String>| id.clone().unwrap_or_default();
            self.change(
                name,
                Kind::Extension,
                words(&old.extension),
                words(&new.extension),
                BOTH,
                path.to_owned(),
            );
        }
    }

    /// Compares the state that each side composes an object with, when it is not the same definition. Gives the names
    /// of the members that are thereby compared.
    fn composed_state(
        &mut self,
        name: &str,
        path: &str,
        old: &'a Object,
        new: &'a Object,
    ) -> BTreeSet<&'a str> {
        let (old_name, new_name) = (state_name(old), state_name(new));
        if old_name == new_name {
            return BTreeSet::new();
        }
        let mut members = BTreeSet::new();
        for state in [self.old.state_of(old), self.new.state_of(new)].into_iter().flatten() {
            members.insert(state.tag.as_str());
            members.extend(state.arms.iter().flat_map(|arm| &arm.members).map(|member| member.name.as_str()));
        }
        let only = |flats: Vec<crate::accept::Flat<'a>>| -> Vec<_> {
            flats.into_iter().map(|flat| flat.only(&members)).collect()
        };
        let (olds, news) = (only(self.old.flats(old)), only(self.new.flats(new)));
        let readers = accepts_flats(&self.old, &olds, &self.new, &news);
        let writers = accepts_flats(&self.new, &news, &self.old, &olds);
        let marks = (Mark::of(readers), Mark::of(writers));
        let (old, new) = (old_name.unwrap_or_default(), new_name.unwrap_or_default());
        self.change(name, Kind::State, old, new, marks, path.to_owned());
        members
    }

    fn property(&mut self, at: &str, owner: &str, old: Property<'a>, new: Property<'a>) {
        let path = new.path(owner);
        match (old, new) {
            (Property::Constant(old), Property::Constant(new)) => {
                if old.value != new.value {
                    let (was, is) = (constant_words(&old.value), constant_words(&new.value));
                    self.change(at, Kind::Constant, was, is, BOTH, path.clone());
                }
                if old.absent != new.absent {
                    // Those who write always write it.
                    let words = |absent| if absent { "absence is read as it" } else { "has to be there" };
                    let (was, is) = (words(old.absent), words(new.absent));
                    self.change(at, Kind::ConstantAbsent, was, is, COMPATIBLE, path);
                }
            }
            (Property::Member(old), Property::Member(new)) => self.member(at, path, old, new),
            _ => {
                let (mut readers, mut writers) = self.judged(old.value(), new.value());
                // A constant is always written, a member perhaps not.
                if let (Property::Constant(_), Property::Member(member)) = (old, new)
                    && (member.presence == Presence::Nullable || (old.needed() && !new.needed()))
                {
                    readers = Mark::Breaking;
                }
                if let (Property::Member(member), Property::Constant(_)) = (old, new)
                    && (member.presence == Presence::Nullable || (new.needed() && !old.needed()))
                {
                    writers = Mark::Breaking;
                }
                self.change(at, Kind::Constant, old.words(), new.words(), (readers, writers), path);
            }
        }
    }

    fn member(&mut self, at: &str, path: String, old: &'a Member, new: &'a Member) {
        self.presence(at, &path, old, new);
        if old.shape != new.shape {
            let marks = self.judged(Value::Shape(&old.shape), Value::Shape(&new.shape));
            let (was, is) = (shape_words(&old.shape), shape_words(&new.shape));
            self.change(at, Kind::Type, was, is, marks, path.clone());
        }
        if old.meta_key != new.meta_key {
            let words = |is_key| if is_key { "the protocol's own" } else { "any member" };
            let (was, is) = (words(old.meta_key), words(new.meta_key));
            self.change(at, Kind::MetaKey, was, is, COMPATIBLE, path.clone());
        }
        if old.field != new.field {
            self.change(at, Kind::RustName, &*old.field, &*new.field, COMPATIBLE, path);
        }
    }

    fn presence(&mut self, at: &str, path: &str, old: &'a Member, new: &'a Member) {
        let any = |side: &Side<'a>, member: &'a Member| side.takes_anything(Value::Shape(&member.shape));
        // Null for an optional member is tolerated, and so is absence; null for a required one is not.
        let refuses = |reader: &Member, writer: &Member, reads_anything: bool| {
            let absence = reader.presence != Presence::Optional && writer.presence == Presence::Optional;
            let null = reader.presence == Presence::Required && writer.presence == Presence::Nullable;
            absence || (null && !reads_anything)
        };
        if old.presence == new.presence {
            return;
        }
        let readers = Mark::of(!refuses(old, new, any(&self.old, old)));
        let writers = Mark::of(!refuses(new, old, any(&self.new, new)));
        let optional = |member: &Member| member.presence == Presence::Optional;
        let kind = if optional(old) == optional(new) { Kind::Nullable } else { Kind::Required };
        let (was, is) = (presence_words(old.presence), presence_words(new.presence));
        self.change(at, kind, was, is, (readers, writers), path.to_owned());
    }

    fn state(&mut self, name: &str, path: &str, old: &'a State, new: &'a State) {
        if old.tag != new.tag {
            self.change(name, Kind::State, &*old.tag, &*new.tag, BOTH, path.to_owned());
        }
        let variant = |arm: &StateArm| format!("{path}::{}", arm.name);
        let payload = |arm: &StateArm| {
            let members: Vec<_> = arm.members.iter().map(|member| member.name.as_str()).collect();
            if members.is_empty() {
                "without payload".to_owned()
            } else {
                format!("with {}", members.join(", "))
            }
        };
        for arm in &old.arms {
            let at = format!("{name}.{}", arm.value);
            match new.arms.iter().find(|other| other.value == arm.value) {
                Some(other) => {
                    let path = variant(other);
                    if arm.name != other.name {
                        self.change(&at, Kind::RustName, &*arm.name, &*other.name, COMPATIBLE, path.clone());
                    }
                    self.arm(&at, &path, arm, other);
                }
                None => {
                    let item = variant(arm).replacen(self.new_module, self.old_module, 1);
                    self.change(&at, Kind::State, payload(arm), "", WRITERS, item);
                }
            }
        }
        for arm in new.arms.iter().filter(|arm| old.arms.iter().all(|other| other.value != arm.value)) {
            let at = format!("{name}.{}", arm.value);
            self.change(&at, Kind::State, "", payload(arm), READERS, variant(arm));
        }
    }

    fn arm(&mut self, at: &str, path: &str, old: &'a StateArm, new: &'a StateArm) {
        for member in &old.members {
            let at = format!("{at}.{}", member.name);
            match new.members.iter().find(|other| other.name == member.name) {
                Some(other) => self.member(&at, format!("{path}::{}", other.field), member, other),
                None => {
                    let owner = path.replacen(self.new_module, self.old_module, 1);
                    let item = format!("{owner}::{}", member.field);
                    self.change(&at, Kind::Payload, member_words(member), "", READERS, item);
                }
            }
        }
        for member in new.members.iter().filter(|m| old.members.iter().all(|other| other.name != m.name)) {
            let item = format!("{path}::{}", member.field);
            self.change(
                &format!("{at}.{}", member.name),
                Kind::Payload,
                "",
                member_words(member),
                WRITERS,
                item,
            );
        }
    }

    fn values(&mut self, name: &str, path: &str, old: &[Variant], new: &[Variant]) {
        let missing = |from: &Variant, list: &[Variant]| list.iter().all(|other| other.value != from.value);
        let words = |variant: &Variant| format!("`{}`", variant.value);
        let item = |owner: &str, variant: &Variant| format!("{owner}::{}", variant.name);
        let old_path = path.replacen(self.new_module, self.old_module, 1);
        for kept in old {
            if let Some(other) = new.iter().find(|other| other.value == kept.value && other.name != kept.name)
            {
                let at = format!("{name}.{}", kept.value);
                let item = item(path, other);
                self.change(&at, Kind::RustName, &*kept.name, &*other.name, COMPATIBLE, item);
            }
        }
        for gone in old.iter().filter(|variant| missing(variant, new)) {
            let at = format!("{name}.{}", gone.value);
            self.change(&at, Kind::Value, words(gone), "", WRITERS, item(&old_path, gone));
        }
        for added in new.iter().filter(|variant| missing(variant, old)) {
            let at = format!("{name}.{}", added.value);
            self.change(&at, Kind::Value, "", words(added), READERS, item(path, added));
        }
    }

    fn codes(&mut self, name: &str, path: &str, old: &'a [ErrorCode], new: &'a [ErrorCode]) {
        let item = |owner: &str, code: &ErrorCode| format!("{owner}::{}", code.variant);
        let old_path = path.replacen(self.new_module, self.old_module, 1);
        for code in old {
            let at = format!("{name}.{}", code.code);
            match new.iter().find(|other| other.code == code.code) {
                Some(other) => self.code(&at, path, code, other),
                None => self.change(&at, Kind::Code, &*code.variant, "", COMPATIBLE, item(&old_path, code)),
            }
        }
        for code in new.iter().filter(|code| old.iter().all(|other| other.code != code.code)) {
            let at = format!("{name}.{}", code.code);
            self.change(&at, Kind::Code, "", &*code.variant, COMPATIBLE, item(path, code));
        }
    }

    fn code(&mut self, at: &str, path: &str, old: &'a ErrorCode, new: &'a ErrorCode) {
        let item = format!("{path}::{}", new.variant);
        if old.variant != new.variant {
            self.change(at, Kind::RustName, &*old.variant, &*new.variant, COMPATIBLE, item.clone());
        }
        if old.data != new.data {
            let marks = match (&old.data, &new.data) {
                (Some(old), Some(new)) => self.judged(Value::Named(old), Value::Named(new)),
                // Without a definition the data is anything, or nothing.
                (Some(_), None) => READERS,
                (None, _) => WRITERS,
            };
            let words = |data: &Option<String>| data.clone().unwrap_or_default();
            let variant = format!("{path}Data::{}", new.variant);
            self.change(at, Kind::Data, words(&old.data), words(&new.data), marks, variant);
        }
        if old.http_status != new.http_status {
            let words = |status: Option<u16>| status.map(|status| status.to_string()).unwrap_or_default();
            let (was, is) = (words(old.http_status), words(new.http_status));
            self.change(at, Kind::HttpStatus, was, is, COMPATIBLE, item);
        }
    }

    fn methods(&mut self, old: &BTreeMap<&str, Sent<'a>>, new: &BTreeMap<&str, Sent<'a>>) {
        let item = |module: &str, method: &str| format!("{module}::method::{}", names::constant_name(method));
        for (method, was) in old {
            let Some(is) = new.get(method) else {
                let item = item(self.old_module, method);
                self.change(method, Kind::Method, was.direction, "", WRITERS, item);
                continue;
            };
            if was.direction != is.direction {
                // Whoever may still send it is still answered.
                let marks = if is.direction == "both" { COMPATIBLE } else { WRITERS };
                let item = item(self.new_module, method);
                self.change(method, Kind::Method, was.direction, is.direction, marks, item);
            }
            self.answer(method, was, is);
        }
        for (method, is) in new.iter().filter(|(method, _)| !old.contains_key(*method)) {
            let item = item(self.new_module, method);
            self.change(method, Kind::Method, "", is.direction, COMPATIBLE, item);
        }
    }

    /// What a request is answered with, and which of its members the header `Mcp-Name` repeats.
    fn answer(&mut self, method: &str, old: &Sent<'a>, new: &Sent<'a>) {
        let path = type_path(self.new_module, new.item);
        let words = |name: &Option<String>| name.clone().unwrap_or_default();
        let (was, is) = (&old.method.result, &new.method.result);
        if was != is {
            let marks = match (was, is) {
                (Some(was), Some(is)) => self.judged(Value::Named(was), Value::Named(is)),
                // An answer that nobody waits for, or one that somebody waits for in vain.
                _ => BOTH,
            };
            self.change(method, Kind::Result, words(was), words(is), marks, path.clone());
        }
        let (was, is) = (&old.method.routed_by, &new.method.routed_by);
        if was != is {
            // A header that repeats nothing any more is ignored; one that repeats something else is refused.
            let marks = if is.is_none() { COMPATIBLE } else { WRITERS };
            self.change(method, Kind::Routing, words(was), words(is), marks, path);
        }
    }
}
