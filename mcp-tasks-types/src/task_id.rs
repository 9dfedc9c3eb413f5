//! The identifier of a task.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::short_text::ShortText;

/// The identifier of a task: opaque text, made by the server (by the requestor in SEP-1686).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(
    /// As long as 128 bits in hexadecimal digits behind a prefix: a store has an id in each of its indexes.
    ShortText<38>,
);

impl TaskId {
    /// Takes the text of an identifier.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(ShortText::new(&text.into()))
    }

    /// The text of the identifier.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = TaskId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TaskId, E> {
                Ok(text.into())
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskId").field(&self.as_str()).finish()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AsRef<str> for TaskId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for TaskId {
    fn from(text: String) -> Self {
        Self(ShortText::new(&text))
    }
}

impl From<&str> for TaskId {
    fn from(text: &str) -> Self {
        Self(ShortText::new(text))
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.as_str().to_owned()
    }
}
