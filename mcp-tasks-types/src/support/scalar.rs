//! Values without parts: constants, integers, strings out of a list.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, Expected, Unexpected, Visitor};

use crate::decimal;
use crate::error::excerpt;
use crate::raw::{FromText, JsonKind, by_text};

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

pub(super) struct ConstantSeed {
    pub(super) name: &'static str,
    pub(super) want: Constant,
}

impl<'de> DeserializeSeed<'de> for ConstantSeed {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.want {
            Constant::Text(_) => deserializer.deserialize_str(self),
            Constant::Integer(_) => by_text(self, deserializer),
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
            _ => Err(E::invalid_value(Unexpected::Str(&excerpt(text)), &self)),
        }
    }
}

impl FromText for ConstantSeed {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Visitor::expecting(self, f)
    }
    fn read<E: de::Error>(self, text: &str) -> Result<(), E> {
        match self.want {
            Constant::Integer(want) if number(text).and_then(decimal::integer) == Some(want.into()) => Ok(()),
            _ => Err(unfit(text, &self)),
        }
    }
}

/// The text, if it is that of a number.
fn number(text: &str) -> Option<&str> {
    (JsonKind::of(text) == JsonKind::Number).then_some(text)
}

/// The error for a value that is not what was expected.
#[cold]
fn unfit<E: de::Error>(text: &str, expected: &dyn Expected) -> E {
    match JsonKind::of(text) {
        JsonKind::Number => {
            let is_integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
            let kind = if is_integer { "integer" } else { "floating point" };
            E::invalid_value(Unexpected::Other(&format!("{kind} `{}`", excerpt(text))), expected)
        }
        JsonKind::Bool => E::invalid_type(Unexpected::Bool(text == "true"), expected),
        JsonKind::String => {
            let text = text.trim_matches('"');
            E::invalid_type(Unexpected::Str(&excerpt(text)), expected)
        }
        kind => E::invalid_type(super::unexpected(kind), expected),
    }
}

macro_rules! number_seed {
    ($(#[$doc:meta])* $name:ident, $type:ty, $expected:literal, $read:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[expect(clippy::exhaustive_structs, reason = "a marker without parts")]
        pub struct $name;
        impl<'de> DeserializeSeed<'de> for $name {
            type Value = $type;
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$type, D::Error> {
                by_text(self, deserializer)
            }
        }
        impl FromText for $name {
            type Value = $type;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }
            fn read<E: de::Error>(self, text: &str) -> Result<$type, E> {
                number(text).and_then($read).ok_or_else(|| unfit(text, &$expected))
            }
        }
    };
}

number_seed! {
    /// Reads an integer that is not negative; `60000.0` is one, `1.5` and `"1"` are none.
    Unsigned, u64, "an integer that is not negative", |text| text.parse().ok().or_else(|| u64::try_from(decimal::integer(text)?).ok())
}
number_seed! {
    /// Reads an integer; `1.0` is one, `1.5` and `"1"` are none.
    Integer, i64, "an integer", |text| i64::try_from(decimal::integer(text)?).ok()
}
number_seed! {
    /// Reads milliseconds that are not negative, and rounds a fraction up: no lifetime and no wait is cut short.
    Millis, u64, "a number of milliseconds that is not negative", decimal::rounded_up
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
            found.ok_or_else(|| E::unknown_variant(&excerpt(text), T::NAMES))
        }
    }
    deserializer.deserialize_str(NameVisitor(PhantomData))
}
