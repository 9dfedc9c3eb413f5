//! Unions: by a tag, by the members that are there, by the kind of JSON value.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor};

use super::fragment::fragment;
use super::scalar::{Integer, whole};
use crate::extra::Extra;
use crate::number::Number;
use crate::raw::{JsonKind, RawJson};

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
