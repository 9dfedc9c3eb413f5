//! Members that a type does not know, and maps whose names the protocol leaves open.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::raw::RawJson;

/// The members of an object that its type does not know, in the order in which they arrived.
///
/// A name may occur more than once, as it may in the text; all occurrences are written back. A member whose name the
/// type does know is not written: the type's own field has that name.
///
/// ```
/// use mcp_tasks_types::{RawJson, from_str, to_string, v2026_07_28::Implementation};
///
/// let mut server: Implementation = from_str(r#"{"name":"n","version":"1","x-a":1,"x-b":2}"#)?;
/// server.extra.retain(|name, _| name != "x-a");
/// server.extra.push("x-c", RawJson::new(&3)?);
/// server.extra.push("name", RawJson::new("another")?);
/// assert_eq!(to_string(&server)?, r#"{"name":"n","version":"1","x-b":2,"x-c":3}"#);
/// # Ok::<(), mcp_tasks_types::JsonError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(Vec<(String, RawJson)>);

impl Extra {
    /// No members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a member, beside those of its name that there are.
    pub fn push(&mut self, name: impl Into<String>, value: RawJson) {
        self.0.push((name.into(), value));
    }

    /// The first member of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Takes out all members of a name, and gives the first.
    #[inline]
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        let (_, value) = self.0.remove(place);
        self.retain(|known, _| known != name);
        Some(value)
    }

    /// Keeps those members that a function says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &RawJson) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    /// All members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members as the text of an object, each with the text that it came with.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("{");
        for (name, value) in self.iter() {
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
}

impl IntoIterator for Extra {
    type Item = (String, RawJson);
    type IntoIter = std::vec::IntoIter<(String, RawJson)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<N: Into<String>> Extend<(N, RawJson)> for Extra {
    /// Appends members, beside those of their names that there are.
    fn extend<I: IntoIterator<Item = (N, RawJson)>>(&mut self, members: I) {
        self.0.extend(members.into_iter().map(|(name, value)| (name.into(), value)));
    }
}

impl<N: Into<String>> FromIterator<(N, RawJson)> for Extra {
    fn from_iter<I: IntoIterator<Item = (N, RawJson)>>(members: I) -> Self {
        let mut extra = Self::new();
        extra.extend(members);
        extra
    }
}

/// Any object, taken apart. Hidden: a type's unknown members are written by the type.
#[doc(hidden)]
impl Serialize for Extra {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[doc(hidden)]
impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExtraVisitor;
        impl<'de> Visitor<'de> for ExtraVisitor {
            type Value = Extra;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Extra, A::Error> {
                let mut members = Extra::new();
                while let Some((name, value)) = access.next_entry::<String, RawJson>()? {
                    members.push(name, value);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(ExtraVisitor)
    }
}

/// A JSON object whose member names are data, such as input keys: ordered as it arrived, each name once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<T>(Vec<(String, T)>);

impl<T> Map<T> {
    /// No entries.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Sets the value of a name and returns the value it had; a new name goes to the end.
    pub fn insert(&mut self, name: impl Into<String>, value: T) -> Option<T> {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, slot)) => Some(std::mem::replace(slot, value)),
            None => {
                self.0.push((name, value));
                None
            }
        }
    }

    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The value of a name, to be changed.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.0.iter_mut().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Takes an entry out and gives its value.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }

    /// Keeps those entries that a function says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut T) -> bool) {
        self.0.retain_mut(|(name, value)| keep(name, value));
    }

    /// Whether a name is present.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// All names in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same names with other values: names that differ need no look at each other.
    pub(crate) fn map<U>(self, value: impl Fn(T) -> U) -> Map<U> {
        Map(self.0.into_iter().map(|(name, old)| (name, value(old))).collect())
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> IntoIterator for Map<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<N: Into<String>, T> FromIterator<(N, T)> for Map<T> {
    /// Later values of a name replace earlier ones.
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        let mut kept: Vec<(String, T)> = Vec::new();
        // An index beside the vector keeps very many names from quadratic time.
        let mut places = BTreeMap::new();
        for (name, value) in entries {
            let name = name.into();
            match places.get(&name) {
                Some(&place) => kept[place] = (name, value),
                None => {
                    places.insert(name.clone(), kept.len());
                    kept.push((name, value));
                }
            }
        }
        Self(kept)
    }
}

impl<T: Serialize> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MapVisitor<T> {
            type Value = Map<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Map<T>, A::Error> {
                let mut entries: Vec<(String, T)> = Vec::new();
                // A set beside the vector keeps a hostile object with very many names from quadratic time.
                let mut names = std::collections::BTreeSet::new();
                while let Some(name) = access.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(serde::de::Error::custom(format_args!(
                            "duplicate key `{}`",
                            crate::error::excerpt(&name)
                        )));
                    }
                    match access.next_value() {
                        Ok(value) => entries.push((name, value)),
                        Err(error) => return Err(crate::support::placed(&mut access, &name, error)),
                    }
                }
                Ok(Map(entries))
            }
        }
        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::Map;

    #[test]
    fn a_map_keeps_the_order_of_arrival_and_refuses_a_name_twice() {
        let map: Map<u8> = serde_json::from_str(r#"{"z":1,"a":2}"#).unwrap();
        assert_eq!(map.keys().collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"z":1,"a":2}"#);
        let error = serde_json::from_str::<Map<u8>>(r#"{"a":1,"a":2}"#).unwrap_err().to_string();
        assert!(error.contains("duplicate key `a`"), "{error}");
    }
}
