//! Unions: by a tag, by the members that are there, by the kind of JSON value.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, Unexpected, Visitor};

use super::fragment::{fragment, placed};
use crate::decimal;
use crate::error::excerpt;
use crate::extra::Extra;
use crate::number::Number;
use crate::raw::{FromText, JsonKind, RawJson, by_text};

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
                    before.push(name, access.next_value()?);
                    continue;
                }
                let tag: String = access.next_value()?;
                let Some(arm) = T::TAGS.iter().position(|known| *known == tag) else {
                    let error = A::Error::unknown_variant(&excerpt(&tag), T::TAGS);
                    return Err(placed(&mut access, T::TAG, error));
                };
                if before.is_empty() {
                    let members = TagFirst { name: Some(T::TAG), tag: Some(tag), rest: access };
                    return T::read(arm, MapAccessDeserializer::new(members));
                }
                let mut members = before;
                members.push(name, RawJson::new(&tag).map_err(A::Error::custom)?);
                while let Some((name, value)) = access.next_entry::<String, RawJson>()? {
                    members.push(name, value);
                }
                return fragment(&members.text(), |text| T::read(arm, text));
            }
            Err(A::Error::missing_field(T::TAG))
        }
    }
    deserializer.deserialize_map(TagVisitor(PhantomData))
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
        fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
            let members = Present::deserialize(MapAccessDeserializer::new(access))?;
            let Some(arm) = T::arm(&members) else {
                return Err(A::Error::custom(format_args!("expected {}", T::EXPECTED)));
            };
            fragment(&members.0.text(), |text| T::read(arm, text))
        }
    }
    deserializer.deserialize_map(MemberVisitor(PhantomData))
}

/// The members of an object that a [`MemberUnion`] decides by.
#[derive(Debug)]
pub struct Present(Extra);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Extra::deserialize(deserializer).map(Self)
    }
}

impl Present {
    /// Whether a member is there; `items/anyOf` looks into the object `items`.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.is_at(path, |_| true)
    }

    fn is_at(&self, path: &str, check: fn(&RawJson) -> bool) -> bool {
        match path.split_once('/') {
            None => self.0.get(path).is_some_and(check),
            Some((outer, inner)) => self
                .0
                .get(outer)
                .and_then(|raw| raw.get::<Self>().ok())
                .is_some_and(|object| object.is_at(inner, check)),
        }
    }

    /// Whether a member is there and not null, which stands for the absence of an optional one.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        self.is_at(path, |raw| raw.kind() != JsonKind::Null)
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

/// Reads a [`KindUnion`], by way of the value's text: its first character tells the kind, and numbers are seen as they
/// are spelled.
///
/// # Errors
///
/// When there is no arm for the value's kind, or the value does not fit the arm.
pub fn kind_union<'de, T: KindUnion, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Kinds<T>(PhantomData<T>);
    impl<T: KindUnion> FromText for Kinds<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn read<E: de::Error>(self, text: &str) -> Result<T, E> {
            let kind = JsonKind::of(text);
            let found = match kind {
                JsonKind::String => match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                    // What has no escapes stands for itself.
                    Some(plain) if !plain.contains('\\') => T::string(plain.to_owned()),
                    _ => T::string(fragment(text, |text| String::deserialize(text))?),
                },
                JsonKind::Bool => T::boolean(text == "true"),
                JsonKind::Array => return fragment(text, |text| T::array(text)),
                JsonKind::Object => return fragment(text, |text| T::object(text)),
                JsonKind::Null => None,
                JsonKind::Number => decimal::integer(text)
                    .and_then(|number| T::integer(i64::try_from(number).ok()?))
                    .or_else(|| T::number(Number::parse(text).ok()?)),
            };
            found.ok_or_else(|| E::invalid_type(unexpected(kind), &T::EXPECTED))
        }
    }
    by_text(Kinds(PhantomData), deserializer)
}
