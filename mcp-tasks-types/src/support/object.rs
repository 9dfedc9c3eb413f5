//! Objects: the loop over their members, and what becomes of members that are unknown, missing or there twice.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::fragment::{at_member, placed};
use super::scalar::{Constant, ConstantSeed, OrNull};
use crate::error::{excerpt, within};
use crate::extra::Extra;
use crate::raw::RawJson;

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
    // Those that have come are kept in one word.
    const { assert!(T::MEMBERS.len() <= 64, "an object has at most 64 members") };
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
enum Key {
    Known(usize),
    Unknown(String),
}

impl<'de, A: MapAccess<'de>> Members<A> {
    /// The place of the next known member in [`Object::MEMBERS`]; unknown ones before it go to `extra`.
    ///
    /// # Errors
    ///
    /// When the input is malformed or a known member comes twice.
    pub fn next(&mut self, extra: &mut Extra) -> Result<Option<usize>, A::Error> {
        loop {
            match self.next_key()? {
                None => return Ok(None),
                Some(Key::Known(index)) => return Ok(Some(index)),
                Some(Key::Unknown(name)) => extra.push(name, self.access.next_value()?),
            }
        }
    }

    fn next_key(&mut self) -> Result<Option<Key>, A::Error> {
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

    /// Reads a value and puts it where it belongs, at once: values are large.
    #[inline]
    fn value<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
        put: impl FnOnce(S::Value),
    ) -> Result<(), A::Error> {
        match self.access.next_value_seed(seed) {
            Ok(value) => {
                put(value);
                Ok(())
            }
            Err(error) => Err(self.at(error)),
        }
    }

    /// The error of the value of the known member that has come last.
    #[cold]
    fn at(&mut self, error: A::Error) -> A::Error {
        let name = self.next.checked_sub(1).and_then(|at| self.names.get(at));
        placed(&mut self.access, name.copied().unwrap_or_default(), error)
    }

    /// Reads the value of a required member.
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn required<T: Deserialize<'de>>(&mut self, slot: &mut Option<T>) -> Result<(), A::Error> {
        self.value(PhantomData, |value| *slot = Some(value))
    }

    /// Reads the value of a required member in a form of its own, such as [`Unsigned`](super::Unsigned).
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn required_as<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
        slot: &mut Option<S::Value>,
    ) -> Result<(), A::Error> {
        self.value(seed, |value| *slot = Some(value))
    }

    /// Reads the value of an optional member, whose `null` stands for its absence.
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn optional<T: Deserialize<'de>>(&mut self, slot: &mut Option<T>) -> Result<(), A::Error> {
        self.value(PhantomData, |value| *slot = value)
    }

    /// Reads the value of an optional member in a form of its own; `null` stands for its absence.
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn optional_as<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
        slot: &mut Option<S::Value>,
    ) -> Result<(), A::Error> {
        self.value(OrNull(seed), |value| *slot = value)
    }

    /// Passes over a value.
    ///
    /// # Errors
    ///
    /// When the input is malformed.
    pub fn skip(&mut self) -> Result<(), A::Error> {
        self.access.next_value::<de::IgnoredAny>().map(|_| ())
    }

    /// Reads the value of a state's tag, as its place in the list.
    ///
    /// # Errors
    ///
    /// When it is not in the list.
    pub fn tag(&mut self, tags: &'static [&'static str], slot: &mut Option<usize>) -> Result<(), A::Error> {
        self.value(TagSeed(tags), |tag| *slot = Some(tag))
    }

    /// Reads the value of a state's payload: typed when the tag has come and claims it, else as text.
    ///
    /// # Errors
    ///
    /// When it is claimed and does not fit.
    pub fn payload<T: Deserialize<'de>>(
        &mut self,
        claimed: bool,
        slot: &mut Slot<T>,
    ) -> Result<(), A::Error> {
        if claimed {
            self.value(PhantomData, |value| *slot = Slot::Typed(value))
        } else {
            self.value(PhantomData, |value| *slot = Slot::Raw(value))
        }
    }

    /// Checks a member against its constant.
    ///
    /// # Errors
    ///
    /// When the value is another.
    pub fn constant(&mut self, name: &'static str, want: Constant) -> Result<(), A::Error> {
        self.value(ConstantSeed { name, want }, |()| {})
    }

    /// Whether a known member has come.
    pub fn has(&self, index: usize) -> bool {
        self.seen & (1 << index) != 0
    }

    /// The first member of the list that has not come, as an error.
    #[cold]
    pub fn missing(&self, required: &[usize]) -> A::Error {
        let first = required.iter().find(|index| !self.has(**index));
        A::Error::missing_field(first.map_or("", |index| self.names[*index]))
    }
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

    /// The payload of the state that it belongs to; `state` tells a person which one that is.
    ///
    /// # Errors
    ///
    /// When it has not come or does not fit.
    pub fn claim<E: de::Error>(self, name: &'static str, state: &'static str) -> Result<T, E> {
        match self {
            Self::Empty => Err(E::custom(format_args!("missing field `{name}`, since {state}"))),
            Self::Typed(value) => Ok(value),
            Self::Raw(raw) => serde_json::from_str(raw.as_str())
                .map_err(|error| at_member(name, within(raw.as_str(), &error))),
        }
    }

    /// Puts a payload that no state has claimed among the unknown members. A typed one has been claimed by the state
    /// that made it typed.
    pub fn stray(self, name: &'static str, extra: &mut Extra) {
        if let Self::Raw(raw) = self {
            extra.push(name, raw);
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
        self.0.iter().position(|tag| *tag == text).ok_or_else(|| E::unknown_variant(&excerpt(text), self.0))
    }
}

/// Writes the members of an object; the first error is kept and ends the writing.
#[derive(Debug)]
pub struct Writer<S: Serializer> {
    map: S::SerializeMap,
    failed: Option<S::Error>,
}

impl<S: Serializer> Writer<S> {
    /// Begins an object.
    ///
    /// # Errors
    ///
    /// When the serializer fails.
    #[inline]
    pub fn begin(serializer: S) -> Result<Self, S::Error> {
        Ok(Self { map: serializer.serialize_map(None)?, failed: None })
    }

    /// Writes a member.
    #[inline]
    pub fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if self.failed.is_none() {
            self.failed = self.map.serialize_entry(name, value).err();
        }
    }

    /// Writes a member if there is one.
    #[inline]
    pub fn optional<T: Serialize>(&mut self, name: &str, value: &Option<T>) {
        if let Some(value) = value {
            self.member(name, value);
        }
    }

    /// Writes the unknown members, but for those whose name a known member or one of the state has just been written
    /// under, and ends the object.
    ///
    /// # Errors
    ///
    /// When the serializer fails, now or before.
    #[inline]
    pub fn end(mut self, extra: &Extra, known: &[&str], state: &[&str]) -> Result<S::Ok, S::Error> {
        if !extra.is_empty() {
            self.unknown(extra, known, state);
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.map.end(),
        }
    }

    /// Apart, since most objects have none.
    #[cold]
    fn unknown(&mut self, extra: &Extra, known: &[&str], state: &[&str]) {
        for (name, value) in extra.iter() {
            if !known.contains(&name) && !state.contains(&name) {
                self.member(name, value);
            }
        }
    }
}
