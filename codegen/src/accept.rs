//! Whether the types of one revision read everything that the schema of another allows.
//!
//! A type is opened into the alternatives that a value of it can be: a union into its arms, a state into one object
//! an arm. A reader takes what a writer may send when some alternative of the reader's takes each of the writer's.
//! Members outside a schema are not counted, since every object is open and every reader keeps them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    ConstantValue, Item, ItemKind, Member, Model, Object, Part, Presence, State, StateArm, TypeRef, Union,
};

/// The definitions of one side.
#[derive(Debug)]
pub(crate) struct Side<'a> {
    items: BTreeMap<&'a str, &'a Item>,
}

/// What is compared: a type or one value of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Shape(&'a TypeRef),
    Named(&'a str),
    Text(&'a str),
    Integer(i64),
}

impl<'a> Value<'a> {
    pub(crate) fn constant(value: &'a ConstantValue) -> Self {
        match value {
            ConstantValue::Text(text) => Self::Text(text),
            ConstantValue::Integer(number) => Self::Integer(*number),
        }
    }

    fn name(self) -> Option<&'a str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Shape(TypeRef::Named(name)) => Some(name),
            Self::Shape(_) | Self::Text(_) | Self::Integer(_) => None,
        }
    }
}

/// One thing that a value can be.
#[derive(Debug)]
enum Alternative<'a> {
    /// `RawJson`.
    Any,
    /// `RawObject`.
    AnyObject,
    /// Another type written by hand.
    ByHand(&'a str),
    TextConstant(&'a str),
    IntegerConstant(i64),
    Plain(&'a TypeRef),
    Object(Flat<'a>),
}

/// An object with the members that it has in one alternative.
#[derive(Debug, Default)]
pub(crate) struct Flat<'a> {
    members: Vec<FlatMember<'a>>,
    at_least_one: &'a [String],
}

#[derive(Clone, Copy, Debug)]
struct FlatMember<'a> {
    name: &'a str,
    /// A reader refuses its absence.
    needed: bool,
    /// A writer never leaves it out.
    always: bool,
    /// A writer may write null.
    null: bool,
    /// A reader takes null.
    takes_null: bool,
    value: Value<'a>,
}

impl<'a> FlatMember<'a> {
    fn of(member: &'a Member) -> Self {
        let required = member.presence != Presence::Optional;
        Self {
            name: &member.name,
            needed: required,
            always: required,
            null: member.presence == Presence::Nullable,
            // Null for an optional member is tolerated.
            takes_null: member.presence != Presence::Required,
            value: Value::Shape(&member.shape),
        }
    }

    fn constant(name: &'a str, value: Value<'a>, absent: bool) -> Self {
        Self { name, needed: !absent, always: true, null: false, takes_null: false, value }
    }
}

impl<'a> Side<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        Self { items: model.items().map(|item| (item.schema_name.as_str(), item)).collect() }
    }

    pub(crate) fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.get(name).copied()
    }

    /// The state that an object is composed with.
    pub(crate) fn state_of(&self, object: &'a Object) -> Option<&'a State> {
        object.parts.iter().find_map(|part| match part {
            Part::State(name) => match &self.items.get(name.as_str())?.kind {
                ItemKind::State(state) => Some(state),
                _ => None,
            },
            Part::Constant(_) | Part::Member(_) => None,
        })
    }

    /// An object, once for each arm of its state.
    pub(crate) fn flats(&self, object: &'a Object) -> Vec<Flat<'a>> {
        let own: Vec<FlatMember<'a>> = object
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Member(member) => Some(FlatMember::of(member)),
                Part::Constant(c) => Some(FlatMember::constant(&c.name, Value::constant(&c.value), c.absent)),
                Part::State(_) => None,
            })
            .collect();
        let flat = |more: Vec<FlatMember<'a>>| Flat {
            members: own.iter().copied().chain(more).collect(),
            at_least_one: &object.at_least_one,
        };
        match self.state_of(object) {
            Some(state) => arms_of(state).into_iter().map(flat).collect(),
            None => vec![flat(Vec::new())],
        }
    }

    /// Whether a type takes any value, null among them.
    pub(crate) fn takes_anything(&self, value: Value<'a>) -> bool {
        self.alternatives(value).iter().any(|alternative| matches!(alternative, Alternative::Any))
    }

    fn alternatives(&self, value: Value<'a>) -> Vec<Alternative<'a>> {
        let name = match value {
            Value::Text(text) => return vec![Alternative::TextConstant(text)],
            Value::Integer(number) => return vec![Alternative::IntegerConstant(number)],
            Value::Shape(TypeRef::Named(name)) => name.as_str(),
            Value::Shape(shape) => return vec![Alternative::Plain(shape)],
            Value::Named(name) => name,
        };
        let Some(item) = self.items.get(name) else { return Vec::new() };
        match &item.kind {
            ItemKind::Object(object) => self.flats(object).into_iter().map(Alternative::Object).collect(),
            ItemKind::State(state) => arms_of(state)
                .into_iter()
                .map(|members| Alternative::Object(Flat { members, at_least_one: &[] }))
                .collect(),
            ItemKind::StringEnum(variants) => {
                variants.iter().map(|variant| Alternative::TextConstant(&variant.value)).collect()
            }
            ItemKind::Newtype(shape) => self.alternatives(Value::Shape(shape)),
            // A code outside the list is read as its number.
            ItemKind::ErrorCodes(_) => vec![Alternative::Plain(&TypeRef::Integer)],
            ItemKind::Union(Union::Kind(arms)) => {
                arms.iter().flat_map(|arm| self.alternatives(Value::Shape(&arm.shape))).collect()
            }
            ItemKind::Union(Union::Tag { arms, .. }) => {
                arms.iter().flat_map(|arm| self.alternatives(Value::Named(&arm.target))).collect()
            }
            ItemKind::Union(Union::Member(arms)) => {
                arms.iter().flat_map(|arm| self.alternatives(Value::Named(&arm.target))).collect()
            }
            ItemKind::Replaced(path) => vec![match path.as_str() {
                "RawJson" => Alternative::Any,
                "RawObject" => Alternative::AnyObject,
                path => Alternative::ByHand(path),
            }],
        }
    }
}

fn arms_of(state: &State) -> Vec<Vec<FlatMember<'_>>> {
    let mut out = Vec::new();
    for StateArm { value, members, .. } in &state.arms {
        let mut flat = vec![FlatMember::constant(&state.tag, Value::Text(value), false)];
        flat.extend(members.iter().map(FlatMember::of));
        out.push(flat);
    }
    out
}

impl<'a> Flat<'a> {
    /// The same with these members only.
    pub(crate) fn only(mut self, names: &BTreeSet<&str>) -> Self {
        self.members.retain(|member| names.contains(member.name));
        self.at_least_one = &[];
        self
    }
}

/// Whether a reader of one side's value takes whatever the other side's schema allows there.
pub(crate) fn accepts<'a>(reader: &Side<'a>, read: Value<'a>, writer: &Side<'a>, written: Value<'a>) -> bool {
    Accepting { reader, writer, open: Vec::new(), refused: BTreeSet::new() }.value(read, written)
}

/// The same for objects that are spelled out.
pub(crate) fn accepts_flats<'a>(
    reader: &Side<'a>,
    read: &[Flat<'a>],
    writer: &Side<'a>,
    written: &[Flat<'a>],
) -> bool {
    let mut accepting = Accepting { reader, writer, open: Vec::new(), refused: BTreeSet::new() };
    written.iter().all(|written| read.iter().any(|read| accepting.flat(read, written)))
}

/// Whether a reader that wants one of some members finds one in whatever a writer writes.
pub(crate) fn accepts_choice(read: &[String], writer: &[Flat<'_>]) -> bool {
    writer.iter().all(|flat| choice(read, flat))
}

fn choice(read: &[String], written: &Flat<'_>) -> bool {
    read.is_empty()
        || written
            .members
            .iter()
            .any(|member| member.always && !member.null && read.contains(&member.name.to_owned()))
        || (!written.at_least_one.is_empty() && written.at_least_one.iter().all(|name| read.contains(name)))
}

struct Accepting<'s, 'a> {
    reader: &'s Side<'a>,
    writer: &'s Side<'a>,
    /// Pairs of definitions that are being compared; a pair that leads back to itself asks nothing new.
    open: Vec<(&'a str, &'a str)>,
    refused: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Accepting<'_, 'a> {
    fn value(&mut self, read: Value<'a>, written: Value<'a>) -> bool {
        let pair = read.name().zip(written.name());
        if let Some(pair) = pair {
            if self.open.contains(&pair) {
                return true;
            }
            if self.refused.contains(&pair) {
                return false;
            }
            self.open.push(pair);
        }
        let (reads, writes) = (self.reader.alternatives(read), self.writer.alternatives(written));
        let accepted = writes.iter().all(|write| reads.iter().any(|read| self.alternative(read, write)));
        if let Some(pair) = pair {
            self.open.pop();
            if !accepted {
                self.refused.insert(pair);
            }
        }
        accepted
    }

    fn alternative(&mut self, read: &Alternative<'a>, written: &Alternative<'a>) -> bool {
        use Alternative::{Any, AnyObject, ByHand, IntegerConstant, Object, Plain, TextConstant};
        use TypeRef::{Boolean, Integer, List, Map, Millis, Number, Text, Unsigned};
        match (read, written) {
            (Any, _) | (AnyObject, AnyObject | Object(_) | Plain(Map(_))) => true,
            (ByHand(read), ByHand(written)) => read == written,
            // Those written by hand that are text on the wire.
            (Plain(Text), ByHand("TaskId" | "Timestamp"))
            | (ByHand("TaskId"), Plain(Text) | TextConstant(_)) => true,
            (TextConstant(read), TextConstant(written)) => read == written,
            (IntegerConstant(read), IntegerConstant(written)) => read == written,
            (Plain(Text), Plain(Text) | TextConstant(_)) | (Plain(Boolean), Plain(Boolean)) => true,
            (Plain(Integer), Plain(Integer | Unsigned) | IntegerConstant(_)) => true,
            (Plain(Number), Plain(Number | Integer | Unsigned | Millis) | IntegerConstant(_)) => true,
            (Plain(Unsigned), Plain(Unsigned)) | (Plain(Millis), Plain(Millis | Unsigned)) => true,
            (Plain(Unsigned | Millis), IntegerConstant(number)) => *number >= 0,
            (Plain(List(read)), Plain(List(written))) | (Plain(Map(read)), Plain(Map(written))) => {
                self.value(Value::Shape(read), Value::Shape(written))
            }
            (Plain(Map(value)), AnyObject | Object(_)) => self.reader.takes_anything(Value::Shape(value)),
            (Object(flat), AnyObject) => flat.members.is_empty(),
            (Object(flat), Plain(Map(value))) => {
                flat.at_least_one.is_empty()
                    && flat.members.iter().all(|m| !m.needed && self.value(m.value, Value::Shape(value)))
            }
            (Object(read), Object(written)) => self.flat(read, written),
            _ => false,
        }
    }

    fn flat(&mut self, read: &Flat<'a>, written: &Flat<'a>) -> bool {
        read.members.iter().all(|member| {
            let Some(other) = written.members.iter().find(|other| other.name == member.name) else {
                return !member.needed;
            };
            let null = !other.null || member.takes_null || self.reader.takes_anything(member.value);
            (other.always || !member.needed) && null && self.value(member.value, other.value)
        }) && choice(read.at_least_one, written)
    }
}
