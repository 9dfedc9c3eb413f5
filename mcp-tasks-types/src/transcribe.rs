//! Writing as JSON text what another deserializer holds in a form of its own.
//!
//! serde's buffer behind `untagged` and `flatten`, and formats other than JSON, hand out values and no text. Going
//! through a tree would sort members and round numbers; this writes each value as it comes.

use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

/// The text of one value.
pub(crate) struct Transcript(pub(crate) String);

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

/// The private name under which serde_json offers a number, as a map of one member, to whoever does not say which kind
/// of number it wants; only where somebody in this build has switched on its `arbitrary_precision`.
fn number_name() -> Option<&'static str> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
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

struct TextVisitor;

fn text(value: impl fmt::Display) -> Transcript {
    Transcript(value.to_string())
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Transcript;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Transcript, E> {
        Ok(text("null"))
    }
    fn visit_none<E: de::Error>(self) -> Result<Transcript, E> {
        Ok(text("null"))
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Transcript, D::Error> {
        Transcript::deserialize(deserializer)
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Transcript, D::Error> {
        Transcript::deserialize(deserializer)
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Transcript, E> {
        Ok(text(value))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Transcript, E> {
        Ok(text(number))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Transcript, E> {
        Ok(text(number))
    }
    fn visit_i128<E: de::Error>(self, number: i128) -> Result<Transcript, E> {
        Ok(text(number))
    }
    fn visit_u128<E: de::Error>(self, number: u128) -> Result<Transcript, E> {
        Ok(text(number))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Transcript, E> {
        if !number.is_finite() {
            return Err(E::invalid_value(de::Unexpected::Float(number), &"a number that JSON has"));
        }
        serde_json::to_string(&number).map(Transcript).map_err(E::custom)
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Transcript, E> {
        serde_json::to_string(value).map(Transcript).map_err(E::custom)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Transcript, A::Error> {
        let mut out = String::from("[");
        while let Some(Transcript(item)) = access.next_element()? {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&item);
        }
        out.push(']');
        Ok(Transcript(out))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Transcript, A::Error> {
        let mut out = String::from("{");
        while let Some(name) = access.next_key::<String>()? {
            // With `arbitrary_precision` a number whose kind nobody asked for is a map of one private member.
            if out.len() == 1 && Some(name.as_str()) == number_name() {
                let number: String = access.next_value()?;
                return match crate::Number::parse(&number) {
                    Ok(number) => Ok(text(number)),
                    Err(error) => Err(de::Error::custom(error)),
                };
            }
            let Transcript(value) = access.next_value()?;
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&serde_json::Value::from(name).to_string());
            out.push(':');
            out.push_str(&value);
        }
        out.push('}');
        Ok(Transcript(out))
    }
}
