//! Numbers as the protocol writes them, kept letter for letter.

use std::fmt;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use crate::decimal::{self, Decimal};
use crate::error::JsonError;
use crate::raw::{JsonKind, RawJson};

/// A JSON number where the protocol allows any: a bound of a form field, a form's answer, progress.
///
/// What was read is written back letter for letter, so that `5` does not become `5.0` and an integer beyond 2^53 keeps
/// its value. Equality is by value, and exact: no two numbers are equal because a float holds neither.
///
/// ```
/// use mcp_tasks_types::Number;
///
/// let number: Number = mcp_tasks_types::from_str("9007199254740993")?;
/// assert_eq!(number.as_str(), "9007199254740993");
/// assert_eq!(number.as_i64(), Some(9_007_199_254_740_993));
/// assert_eq!(Number::from(5), Number::from_f64(5.0).ok_or("not finite")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Number(RawJson);

impl Number {
    /// Reads a number.
    ///
    /// # Errors
    ///
    /// When the text is no JSON number.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        Self::from_raw(RawJson::from_text(text)?).map_err(|_| JsonError::custom("expected a number"))
    }

    /// The number of a float; none for infinities and for what is no number, which JSON does not have.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        let raw = RawJson::new(&number).ok()?;
        Self::from_raw(raw).ok()
    }

    /// The number in a JSON value, or the value when it is none.
    pub(crate) fn from_raw(raw: RawJson) -> Result<Self, RawJson> {
        if raw.kind() == JsonKind::Number { Ok(Self(raw)) } else { Err(raw) }
    }

    /// The text of the number.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The nearest float; infinite beyond its range.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        // The grammar of JSON numbers is part of that of Rust's floats.
        self.as_str().parse().unwrap_or(f64::NAN)
    }

    /// The integer, if it is one (`5.0` is) and fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        i64::try_from(decimal::integer(self.as_str())?).ok()
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        Decimal::same(self.as_str(), other.as_str())
    }
}

macro_rules! from_integer {
    ($($type:ty)*) => {
        $(impl From<$type> for Number {
            #[inline]
            fn from(number: $type) -> Self {
                // Integers are numbers in every JSON writer.
                Self(RawJson::new(&number).unwrap_or_else(|_| RawJson::null()))
            }
        })*
    };
}
from_integer!(i32 i64 u8 u16 u32 u64 usize);

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        Self::from_raw(raw)
            .map_err(|raw| de::Error::invalid_type(crate::support::unexpected(raw.kind()), &"a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_are_written_back_letter_for_letter() {
        for text in
            ["5", "5.0", "-0", "1e2", "0.10", "9007199254740993", "123456789012345678901234567890", "1e400"]
        {
            let number: Number = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
    }

    #[test]
    fn equality_is_by_value() {
        let equal = |a: &str, b: &str| Number::parse(a).unwrap() == Number::parse(b).unwrap();
        assert!(equal("5", "5.0") && equal("1e2", "100") && equal("0.5", "0.50") && equal("-0", "0"));
        assert!(!equal("9007199254740993", "9007199254740992"));
        assert!(!equal("123456789012345678901234567890", "123456789012345678901234567891"));
        assert!(!equal("0.5", "1"));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["\"5\"", "null", "", "5 5", "NaN", "0x5", "+5"] {
            assert!(Number::parse(text).is_err(), "{text}");
        }
        assert!(Number::from_f64(f64::NAN).is_none() && Number::from_f64(f64::INFINITY).is_none());
        let error = serde_json::from_str::<Number>("\"5\"").unwrap_err().to_string();
        assert!(error.contains("expected a number"), "{error}");
    }
}
