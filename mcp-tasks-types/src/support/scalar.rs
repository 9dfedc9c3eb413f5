//! Values without parts: constants, integers, strings out of a list.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, Unexpected, Visitor};

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
