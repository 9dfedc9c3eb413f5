//! The members of one JSON object, looked at without decoding their values.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// An object's members in the order of their arrival, values as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members<'m>(Vec<(Cow<'m, str>, &'m RawValue)>);

impl<'m> Members<'m> {
    /// Reads an object; the values are only checked to be JSON.
    pub(crate) fn read(text: &'m str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The first member of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&'m RawValue> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| *value)
    }

    /// The member of that name, if it is a string.
    pub(crate) fn string(&self, name: &str) -> Option<Cow<'m, str>> {
        as_string(self.get(name)?)
    }

    /// Whether a member of that name is there more than once.
    pub(crate) fn repeats(&self, name: &str) -> bool {
        self.0.iter().filter(|(found, _)| found == name).count() > 1
    }
}

/// The text of a JSON string; nothing for any other value.
pub(crate) fn as_string<'m>(value: &'m RawValue) -> Option<Cow<'m, str>> {
    serde_json::from_str::<Text<'m>>(value.get()).ok().map(|text| text.0)
}

impl<'de: 'm, 'm> Deserialize<'de> for Members<'m> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<Text<'de>>()? {
                    members.push((name.0, map.next_value()?));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

/// A string, borrowed where it has no escapes.
struct Text<'m>(Cow<'m, str>);

impl<'de: 'm, 'm> Deserialize<'de> for Text<'m> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Cow<'de, str>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }

        deserializer.deserialize_str(TextVisitor).map(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::Members;

    #[test]
    fn names_are_unescaped_and_values_are_kept_as_text() {
        let members = Members::read(r#"{"a":1.0,"\u0062":"x\n","a":null}"#).unwrap();
        assert_eq!(members.get("a").unwrap().get(), "1.0");
        assert!(members.repeats("a"));
        assert_eq!(members.string("b").as_deref(), Some("x\n"));
        assert!(members.string("a").is_none());
        assert!(Members::read("[]").is_err());
    }
}
