//! What generated codecs are made of. Public so that types generated from somebody else's schema can use it from
//! outside, hidden because no person should have to.
//!
//! A generated `Deserialize` says only which members an object has; the loop over members, constants, duplicate
//! members and unions stand here once, so that a wire type costs few lines of generated code.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;

use crate::extra::Extra;
use crate::number::Number;
use crate::raw::{JsonKind, RawJson};
pub use {serde, serde_json};

use crate::error::without_place;
use crate::path::path;

/// An object type: its members and how it is read from them.
pub trait Object<'de>: Sized {
    /// What an error calls it.
    const EXPECTED: &'static str;
    /// All members that it knows, in schema order; at most 64.
    const MEMBERS: &'static [&'static str];

    /// Reads the object.
    ///
    /// # Errors
    ///
    /// When a member is missing, comes twice, or does not fit.
    fn read<A: MapAccess<'de>>(members: Members<A>) -> Result<Self, A::Error>;
}

/// Reads an [`Object`].
///
/// # Errors
///
/// When the input is no object or does not fit.
pub fn object<'de, T: Object<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);
    impl<'de, T: Object<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
            T::read(Members { access, names: T::MEMBERS, next: 0, seen: 0 })
        }
    }
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// The members of an object while it is read.
#[derive(Debug)]
pub struct Members<A> {
    access: A,
    names: &'static [&'static str],
    /// Where the next name is looked for first: senders write members in schema order more often than not.
    next: usize,
    seen: u64,
}

/// A member name: the place of a known one in [`Object::MEMBERS`], or the text of an unknown one.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "generated code matches on both")]
pub enum Key {
    /// The index of a known member.
    Known(usize),
    /// An unknown member.
    Unknown(String),
}

impl<'de, A: MapAccess<'de>> Members<A> {
    /// The next member's name.
    ///
    /// # Errors
    ///
    /// When the input is malformed or a known member comes twice.
    pub fn next_key(&mut self) -> Result<Option<Key>, A::Error> {
        struct KeySeed {
            names: &'static [&'static str],
            next: usize,
        }
        impl<'de> DeserializeSeed<'de> for KeySeed {
            type Value = Key;
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
                deserializer.deserialize_identifier(self)
            }
        }
        impl Visitor<'_> for KeySeed {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
                let (before, after) = self.names.split_at(self.next.min(self.names.len()));
                let found = match after.iter().position(|known| *known == name) {
                    Some(index) => Some(before.len() + index),
                    None => before.iter().position(|known| *known == name),
                };
                Ok(found.map_or_else(|| Key::Unknown(name.to_owned()), Key::Known))
            }
        }
        let key = self.access.next_key_seed(KeySeed { names: self.names, next: self.next })?;
        if let Some(Key::Known(index)) = key {
            let bit = 1_u64 << index;
            if self.seen & bit != 0 {
                return Err(A::Error::duplicate_field(self.names[index]));
            }
            self.seen |= bit;
            self.next = index + 1;
        }
        Ok(key)
    }

    /// The value of a member.
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn value<T: Deserialize<'de>>(&mut self) -> Result<T, A::Error> {
        self.access.next_value()
    }

    /// The value of a member in a form of its own, such as [`Unsigned`].
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.access.next_value_seed(seed)
    }

    /// Passes over a value.
    ///
    /// # Errors
    ///
    /// When the input is malformed.
    pub fn skip(&mut self) -> Result<(), A::Error> {
        self.access.next_value::<de::IgnoredAny>().map(|_| ())
    }

    /// The value of a state's tag, as its place in the list.
    ///
    /// # Errors
    ///
    /// When it is not in the list.
    pub fn tag(&mut self, tags: &'static [&'static str]) -> Result<usize, A::Error> {
        self.access.next_value_seed(TagSeed(tags))
    }

    /// The value of a state's payload: typed when the tag has come and claims it, else as text.
    ///
    /// # Errors
    ///
    /// When it is claimed and does not fit.
    pub fn slot<T: Deserialize<'de>>(&mut self, claimed: bool) -> Result<Slot<T>, A::Error> {
        if claimed { self.value().map(Slot::Typed) } else { self.value().map(Slot::Raw) }
    }

    /// Checks a member against its constant.
    ///
    /// # Errors
    ///
    /// When the value is another.
    pub fn constant(&mut self, name: &'static str, want: Constant) -> Result<(), A::Error> {
        self.access.next_value_seed(ConstantSeed { name, want })
    }

    /// Whether a known member has come.
    pub fn has(&self, index: usize) -> bool {
        self.seen & (1 << index) != 0
    }

    /// Demands that a known member has come.
    ///
    /// # Errors
    ///
    /// When it has not.
    pub fn require(&self, index: usize) -> Result<(), A::Error> {
        if self.has(index) { Ok(()) } else { Err(A::Error::missing_field(self.names[index])) }
    }
}

/// The value of a required member after the loop.
///
/// # Errors
///
/// When it has not come.
pub fn required<T, E: de::Error>(slot: Option<T>, name: &'static str) -> Result<T, E> {
    slot.ok_or_else(|| E::missing_field(name))
}

/// A payload of a state while its object is read.
#[derive(Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "used by generated code only")]
pub enum Slot<T> {
    /// It has not come, or has been claimed.
    #[default]
    Empty,
    /// The tag came first and claims it.
    Typed(T),
    /// It came before the tag, or the tag does not claim it.
    Raw(RawJson),
}

impl<T: de::DeserializeOwned> Slot<T> {
    /// Leaves the slot empty.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Empty)
    }

    /// The payload of the state that it belongs to.
    ///
    /// # Errors
    ///
    /// When it has not come or does not fit.
    pub fn claim<E: de::Error>(self, name: &'static str) -> Result<T, E> {
        match self {
            Self::Empty => Err(E::missing_field(name)),
            Self::Typed(value) => Ok(value),
            Self::Raw(raw) => serde_json::from_str(raw.as_str())
                .map_err(|error| E::custom(format_args!("`{name}`: {}", within(raw.as_str(), &error)))),
        }
    }

    /// Puts a payload that no state has claimed among the unknown members.
    ///
    /// # Errors
    ///
    /// Never: a typed payload has been claimed by the state that made it typed.
    pub fn stray<E: de::Error>(self, name: &'static str, extra: &mut Extra) -> Result<(), E> {
        match self {
            Self::Empty => Ok(()),
            Self::Raw(raw) => {
                extra.insert(name, raw);
                Ok(())
            }
            Self::Typed(_) => Err(E::custom(format_args!("`{name}` belongs to another state"))),
        }
    }
}

struct TagSeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for TagSeed {
    type Value = usize;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for TagSeed {
    type Value = usize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of `{}`", self.0.join("`, `"))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<usize, E> {
        self.0.iter().position(|tag| *tag == text).ok_or_else(|| E::unknown_variant(text, self.0))
    }
}

/// Writes the unknown members, but for those whose name a known member has just been written under.
///
/// # Errors
///
/// When the serializer fails.
pub fn write_extra<M: SerializeMap>(
    map: &mut M,
    extra: &Extra,
    known: &[&str],
    state: &[&str],
) -> Result<(), M::Error> {
    for (name, value) in extra.iter() {
        if !known.contains(&name) && !state.contains(&name) {
            map.serialize_entry(name, value)?;
        }
    }
    Ok(())
}

/// A constant member's value.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "generated code names both")]
pub enum Constant {
    /// A text.
    Text(&'static str),
    /// An integer.
    Integer(i64),
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Integer(number) => write!(f, "{number}"),
        }
    }
}

struct ConstantSeed {
    name: &'static str,
    want: Constant,
}

impl<'de> DeserializeSeed<'de> for ConstantSeed {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.want {
            Constant::Text(_) => deserializer.deserialize_str(self),
            Constant::Integer(_) => deserializer.deserialize_i64(self),
        }
    }
}

impl Visitor<'_> for ConstantSeed {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as `{}`", self.want, self.name)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        match self.want {
            Constant::Text(want) if want == text => Ok(()),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        match self.want {
            Constant::Integer(want) if want == number => Ok(()),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        match whole(number) {
            Some(number) => self.visit_i64(number),
            None => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

/// The integer that a JSON number such as `60000.0` stands for, within the range in which floats are exact.
pub(crate) fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within ±2^53, checked above")]
        return Some(number as i64);
    }
    None
}

macro_rules! integer_seed {
    ($(#[$doc:meta])* $name:ident, $type:ty, $deserialize:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[expect(clippy::exhaustive_structs, reason = "a marker without parts")]
        pub struct $name;
        impl<'de> DeserializeSeed<'de> for $name {
            type Value = $type;
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$type, D::Error> {
                deserializer.$deserialize(self)
            }
        }
        impl Visitor<'_> for $name {
            type Value = $type;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
                <$type>::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<$type, E> {
                <$type>::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<$type, E> {
                whole(number)
                    .and_then(|number| <$type>::try_from(number).ok())
                    .ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
            }
        }
    };
}

integer_seed! {
    /// Reads an integer that is not negative; `60000.0` is one, `1.5` and `"1"` are none.
    Unsigned, u64, deserialize_u64, "an integer that is not negative"
}
integer_seed! {
    /// Reads an integer; `1.0` is one, `1.5` and `"1"` are none.
    Integer, i64, deserialize_i64, "an integer"
}

/// Reads milliseconds that are not negative, and rounds a fraction up: no lifetime and no wait is cut short.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a marker without parts")]
pub struct Millis;

impl<'de> DeserializeSeed<'de> for Millis {
    type Value = u64;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        // Integers come as such all the same; a buffered number would refuse its fraction to an integer.
        deserializer.deserialize_f64(self)
    }
}

impl Visitor<'_> for Millis {
    type Value = u64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of milliseconds that is not negative")
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        /// The first number that `u64` does not hold.
        const END: f64 = 18_446_744_073_709_551_616.0;
        if (0.0..END).contains(&number) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and within the range, checked above"
            )]
            return Ok(number.ceil() as u64);
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}

/// Reads `null` as nothing and everything else through a seed.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper that generated code makes")]
pub struct OrNull<S>(pub S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for OrNull<S> {
    type Value = Option<S::Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for OrNull<S> {
    type Value = Option<S::Value>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }
    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

/// A union of object types that a constant member tells apart.
pub trait TagUnion: Sized {
    /// What an error calls it.
    const EXPECTED: &'static str;
    /// The member that decides.
    const TAG: &'static str;
    /// Its values, one an arm.
    const TAGS: &'static [&'static str];

    /// Reads one arm.
    ///
    /// # Errors
    ///
    /// When the input does not fit that arm.
    fn read<'de, D: Deserializer<'de>>(arm: usize, deserializer: D) -> Result<Self, D::Error>;
}

/// Reads a [`TagUnion`]: straight through when the tag is the first member, as senders mostly write it; otherwise by
/// way of the object's text.
///
/// # Errors
///
/// When the tag is missing, unknown, or the object does not fit the arm that it names.
pub fn tag_union<'de, T: TagUnion, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct TagVisitor<T>(PhantomData<T>);
    impl<'de, T: TagUnion> Visitor<'de> for TagVisitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<T, A::Error> {
            let mut before = Extra::new();
            while let Some(name) = access.next_key::<String>()? {
                if name != T::TAG {
                    before.insert(name, access.next_value()?);
                    continue;
                }
                let tag: String = access.next_value()?;
                let arm = arm_of::<T, A::Error>(&tag)?;
                if before.is_empty() {
                    let members = TagFirst { name: Some(T::TAG), tag: Some(tag), rest: access };
                    return T::read(arm, MapAccessDeserializer::new(members));
                }
                let mut members = before;
                members.insert(name, RawJson::new(&tag).map_err(A::Error::custom)?);
                while let Some((name, value)) = access.next_entry::<String, RawJson>()? {
                    members.insert(name, value);
                }
                return fragment(&object_text(&members), |text| T::read(arm, text));
            }
            Err(A::Error::missing_field(T::TAG))
        }
    }
    deserializer.deserialize_map(TagVisitor(PhantomData))
}

fn arm_of<T: TagUnion, E: de::Error>(tag: &str) -> Result<usize, E> {
    T::TAGS.iter().position(|known| *known == tag).ok_or_else(|| E::unknown_variant(tag, T::TAGS))
}

/// Members written as an object, each with the text that it came with.
fn object_text(members: &Extra) -> String {
    let mut text = String::from("{");
    for (name, value) in members.iter() {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::Value::from(name).to_string());
        text.push(':');
        text.push_str(value.as_str());
    }
    text.push('}');
    text
}

/// What an error in a part of a text says: the path inside the part, and the reason. The line and column count from the
/// part's start and would mislead; the reader of the whole adds its own.
fn within(text: &str, error: &serde_json::Error) -> String {
    let path =
        if error.line() == 0 { String::new() } else { path(text.as_bytes(), error.line(), error.column()) };
    let reason = without_place(error);
    if path.is_empty() { reason } else { format!("`{path}`: {reason}") }
}

/// Reads from a text that is part of a larger one, whose reader adds its own place to an error.
fn fragment<'t, T, E: de::Error>(
    text: &'t str,
    read: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'t>>) -> Result<T, serde_json::Error>,
) -> Result<T, E> {
    read(&mut serde_json::Deserializer::from_str(text)).map_err(|error| E::custom(within(text, &error)))
}

/// An object whose first member, the tag, has been read already.
struct TagFirst<A> {
    name: Option<&'static str>,
    tag: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for TagFirst<A> {
    type Error = A::Error;
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        match self.name.take() {
            Some(name) => seed.deserialize(StrDeserializer::new(name)).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.tag.take() {
            Some(tag) => seed.deserialize(StrDeserializer::new(&tag)),
            None => self.rest.next_value_seed(seed),
        }
    }
}

/// A union of object types that the members present tell apart.
pub trait MemberUnion: Sized {
    /// What an error calls it, with the members that decide.
    const EXPECTED: &'static str;

    /// The arm that an object belongs to, if any.
    fn arm(members: &Present) -> Option<usize>;

    /// Reads one arm.
    ///
    /// # Errors
    ///
    /// When the input does not fit that arm.
    fn read<'de, D: Deserializer<'de>>(arm: usize, deserializer: D) -> Result<Self, D::Error>;
}

/// Reads a [`MemberUnion`]: all members are kept as text until the arm is known.
///
/// # Errors
///
/// When no arm's members are present, or the object does not fit the arm that was chosen.
pub fn member_union<'de, T: MemberUnion, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct MemberVisitor<T>(PhantomData<T>);
    impl<'de, T: MemberUnion> Visitor<'de> for MemberVisitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<T, A::Error> {
            let mut members = Extra::new();
            while let Some((name, value)) = access.next_entry::<String, RawJson>()? {
                members.insert(name, value);
            }
            let members = Present(members);
            let Some(arm) = T::arm(&members) else {
                return Err(A::Error::custom(format_args!("expected {}", T::EXPECTED)));
            };
            fragment(&object_text(&members.0), |text| T::read(arm, text))
        }
    }
    deserializer.deserialize_map(MemberVisitor(PhantomData))
}

/// The members of an object that a [`MemberUnion`] decides by.
#[derive(Debug)]
pub struct Present(Extra);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PresentVisitor;
        impl<'de> Visitor<'de> for PresentVisitor {
            type Value = Present;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Present, A::Error> {
                let mut members = Extra::new();
                while let Some((name, value)) = access.next_entry::<String, RawJson>()? {
                    members.insert(name, value);
                }
                Ok(Present(members))
            }
        }
        deserializer.deserialize_map(PresentVisitor)
    }
}

impl Present {
    /// Whether a member is there; `items/anyOf` looks into the object `items`.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        match path.split_once('/') {
            None => self.0.get(path).is_some(),
            Some((outer, inner)) => self
                .0
                .get(outer)
                .and_then(|raw| raw.get::<Self>().ok())
                .is_some_and(|object| object.has(inner)),
        }
    }

    /// Whether a member is a string out of a list.
    #[must_use]
    pub fn is(&self, name: &str, values: &[&str]) -> bool {
        let text = self.0.get(name).and_then(|raw| raw.get::<String>().ok());
        text.is_some_and(|text| values.contains(&text.as_str()))
    }
}

/// What an error calls a value of a kind.
pub(crate) fn unexpected(kind: JsonKind) -> Unexpected<'static> {
    match kind {
        JsonKind::Null => Unexpected::Unit,
        JsonKind::Bool => Unexpected::Other("a boolean"),
        JsonKind::Number => Unexpected::Other("a number"),
        JsonKind::String => Unexpected::Other("a string"),
        JsonKind::Array => Unexpected::Seq,
        JsonKind::Object => Unexpected::Map,
    }
}

/// A union whose arms differ in their kind of JSON value.
pub trait KindUnion: Sized {
    /// What an error calls it.
    const EXPECTED: &'static str;
    /// Whether an arm takes any number, letter for letter.
    const KEEPS_NUMBERS: bool = false;

    /// The arm for strings.
    #[must_use]
    fn string(text: String) -> Option<Self> {
        let _ = text;
        None
    }
    /// The arm for integers.
    #[must_use]
    fn integer(number: i64) -> Option<Self> {
        let _ = number;
        None
    }
    /// The arm for all numbers.
    #[must_use]
    fn number(number: Number) -> Option<Self> {
        let _ = number;
        None
    }
    /// The arm for booleans.
    #[must_use]
    fn boolean(value: bool) -> Option<Self> {
        let _ = value;
        None
    }
    /// The arm for arrays.
    ///
    /// # Errors
    ///
    /// When there is none, or the array does not fit it.
    fn array<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let _ = deserializer;
        Err(D::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }
    /// The arm for objects.
    ///
    /// # Errors
    ///
    /// When there is none, or the object does not fit it.
    fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let _ = deserializer;
        Err(D::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// Reads a [`KindUnion`].
///
/// # Errors
///
/// When there is no arm for the value's kind, or the value does not fit the arm.
pub fn kind_union<'de, T: KindUnion, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    if T::KEEPS_NUMBERS {
        kind_union_of_text(deserializer)
    } else {
        deserializer.deserialize_any(KindVisitor(PhantomData))
    }
}

/// By way of the value's text, whose first character tells the kind: numbers are seen as they are spelled.
fn kind_union_of_text<'de, T: KindUnion, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw = RawJson::deserialize(deserializer)?;
    let kind = raw.kind();
    let found = match kind {
        JsonKind::String => T::string(fragment(raw.as_str(), |text| String::deserialize(text))?),
        JsonKind::Bool => T::boolean(raw.as_str() == "true"),
        JsonKind::Array => return fragment(raw.as_str(), |text| T::array(text)),
        JsonKind::Object => return fragment(raw.as_str(), |text| T::object(text)),
        JsonKind::Null => None,
        JsonKind::Number => {
            let integer = fragment::<_, D::Error>(raw.as_str(), |text| Integer.deserialize(text)).ok();
            integer.and_then(T::integer).or_else(|| Number::from_raw(raw).ok().and_then(T::number))
        }
    };
    found.ok_or_else(|| D::Error::invalid_type(unexpected(kind), &T::EXPECTED))
}

/// The private name under which serde_json offers a number, as a map of one member, to whoever does not say which kind
/// of number it wants; only where somebody in this build has switched on its `arbitrary_precision`.
pub(crate) fn number_name() -> Option<&'static str> {
    static NAME: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    struct Probe;
    impl<'de> Visitor<'de> for Probe {
        type Value = Option<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number")
        }
        fn visit_f64<E: de::Error>(self, _: f64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Option<String>, A::Error> {
            let name = access.next_key::<String>()?;
            access.next_value::<String>()?;
            Ok(name)
        }
    }
    NAME.get_or_init(|| serde_json::Deserializer::from_str("1.5").deserialize_any(Probe).unwrap_or(None))
        .as_deref()
}

struct KindVisitor<T>(PhantomData<T>);

impl<'de, T: KindUnion> Visitor<'de> for KindVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::string(text.to_owned()).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<T, E> {
        T::boolean(value).ok_or_else(|| E::invalid_type(Unexpected::Bool(value), &self))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        T::integer(number).ok_or_else(|| E::invalid_type(Unexpected::Signed(number), &self))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        let integer = i64::try_from(number).ok().and_then(T::integer);
        integer.ok_or_else(|| E::invalid_type(Unexpected::Unsigned(number), &self))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        let integer = whole(number).and_then(T::integer);
        integer.ok_or_else(|| E::invalid_type(Unexpected::Float(number), &self))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        T::array(SeqAccessDeserializer::new(access))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<T, A::Error> {
        let Some(number_name) = number_name() else {
            return T::object(MapAccessDeserializer::new(access));
        };
        let name = access.next_key::<String>()?;
        if name.as_deref() != Some(number_name) {
            return T::object(MapAccessDeserializer::new(NameFirst { name, rest: access }));
        }
        let number = access.next_value::<String>()?;
        let integer = fragment::<_, A::Error>(&number, |text| Integer.deserialize(text)).ok();
        integer.and_then(T::integer).ok_or_else(|| {
            A::Error::invalid_type(Unexpected::Other(&format!("number `{number}`")), &T::EXPECTED)
        })
    }
}

/// An object whose first member's name has been read already.
struct NameFirst<A> {
    name: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for NameFirst<A> {
    type Error = A::Error;
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        match self.name.take() {
            Some(name) => seed.deserialize(StrDeserializer::new(&name)).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}

/// A string out of a fixed list.
pub trait StringEnum: Copy + 'static {
    /// The values as the protocol writes them.
    const NAMES: &'static [&'static str];
    /// The values, in the same order.
    const VALUES: &'static [Self];
}

/// Reads a [`StringEnum`]: from a string and from nothing else.
///
/// # Errors
///
/// When the input is no string or not in the list.
pub fn string_enum<'de, T: StringEnum, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct NameVisitor<T>(PhantomData<T>);
    impl<T: StringEnum> Visitor<'_> for NameVisitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "one of `{}`", T::NAMES.join("`, `"))
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            let found =
                T::NAMES.iter().zip(T::VALUES).find_map(|(name, value)| (*name == text).then_some(*value));
            found.ok_or_else(|| E::unknown_variant(text, T::NAMES))
        }
    }
    deserializer.deserialize_str(NameVisitor(PhantomData))
}
