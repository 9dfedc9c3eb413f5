//! A JSON text as a tree in which a member may come twice: what serde_json makes of it, without our types.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// One JSON value.
#[derive(Debug)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Tree {
    /// The tree of a text; none when it is no JSON, nested more than 127 deep, or has a number beyond all floats.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// The members of that name.
    pub(crate) fn members(&self, name: &str) -> impl Iterator<Item = &Self> {
        let members = if let Self::Object(members) = self { members.as_slice() } else { &[] };
        members.iter().filter_map(move |(known, value)| (known == name).then_some(value))
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TreeVisitor;
        impl<'de> Visitor<'de> for TreeVisitor {
            type Value = Tree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
                Ok(Tree::Bool(value))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
                Ok(Tree::Number(number.into()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
                Ok(Tree::Number(number.into()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
                Ok(Number::from_f64(number).map_or(Tree::Null, Tree::Number))
            }
            fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::String(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Tree::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Tree::Object(members))
            }
        }
        deserializer.deserialize_any(TreeVisitor)
    }
}
