//! JSON kept as its text until someone asks for a type.
//!
//! A payload travels through a server, a store and a gateway far more often than it is looked at, and a copy of its
//! text is both the fastest and the only faithful way: number text, member order and duplicate members stay as they
//! were sent. What is deliberately not here: any check of depth, which is the transport's.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::OnceLock;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::JsonError;
use crate::transcribe::Transcript;

/// The six kinds of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON has six kinds and will not get a seventh")]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// One JSON value, kept as text without line breaks.
///
/// Equality is by text; [`json_eq`](Self::json_eq) compares the values. Reading works from bytes as well as inside
/// other people's untagged, flattened and [`serde_json::Value`] input, where a plain [`RawValue`] fails.
///
/// ```
/// use mcp_tasks_types::RawJson;
///
/// let raw: RawJson = mcp_tasks_types::from_str(r#"{"z":1.0,"a":[2]}"#)?;
/// assert_eq!(raw.as_str(), r#"{"z":1.0,"a":[2]}"#);
/// # Ok::<(), mcp_tasks_types::JsonError>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Writes a value as JSON.
    ///
    /// # Errors
    ///
    /// When the value's own `Serialize` fails, or a map key is not a string.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        Ok(Self::from_raw_value(serde_json::value::to_raw_value(value)?))
    }

    /// Takes a text that holds exactly one JSON value.
    ///
    /// # Errors
    ///
    /// When it does not, with the line and column where reading stopped.
    pub fn from_text(text: impl AsRef<str>) -> Result<Self, JsonError> {
        let text = text.as_ref();
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Ok(Self::from_raw_value(raw.to_owned())),
            Err(error) => Err(JsonError::of_text(text.as_bytes(), &error)),
        }
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    fn from_raw_value(raw: Box<RawValue>) -> Self {
        let text = raw.get();
        // Inside strings JSON forbids raw line breaks, so each one found is insignificant and never parts two tokens
        // that would otherwise run together.
        if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
            return Self(raw);
        }
        let joined: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
        Self(RawValue::from_string(joined).unwrap_or(raw))
    }

    /// The text of the value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Reads the value as a type.
    ///
    /// # Errors
    ///
    /// When the value does not fit; line and column count from the start of this value.
    pub fn get<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        crate::from_str(self.0.get())
    }

    /// Whether both texts stand for the same JSON value: the order of members and the spelling of numbers (`1`, `1.0`,
    /// `1e0`) and strings do not count. Numbers are compared exactly, and members of one name in their order.
    #[must_use]
    #[inline]
    pub fn json_eq(&self, other: &Self) -> bool {
        crate::equal::same(self.as_str(), other.as_str())
    }

    /// The kind of the value.
    #[must_use]
    pub fn kind(&self) -> JsonKind {
        JsonKind::of(self.as_str())
    }
}

impl JsonKind {
    /// The kind of the value that a text holds: it begins with it.
    pub(crate) fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;
        impl<'de> Visitor<'de> for RawVisitor {
            type Value = RawJson;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            // serde_json hands the text over as a map of one private member.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawJson, A::Error> {
                Box::<RawValue>::deserialize(AsNewtype(map)).map(RawJson::from_raw_value)
            }
            // Everything that does not know the private name, such as serde's own buffer, offers its content plainly.
            fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<RawJson, D::Error> {
                let Transcript(text) = Transcript::deserialize(inner)?;
                RawValue::from_string(text).map(RawJson::from_raw_value).map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_newtype_struct(private_name(), RawVisitor)
    }
}

/// What a value is read from when it is read by its text.
pub(crate) trait FromText: Sized {
    type Value;
    /// What an error calls it.
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn read<E: de::Error>(self, text: &str) -> Result<Self::Value, E>;
}

/// Reads a value by its text, which is not copied where the input is text. So numbers are seen as they are spelled, in
/// whatever form the input holds them, and with whatever features serde_json was built.
pub(crate) fn by_text<'de, T: FromText, D: Deserializer<'de>>(
    what: T,
    deserializer: D,
) -> Result<T::Value, D::Error> {
    struct ByText<T>(T);
    impl<T: FromText> ByText<T> {
        fn read<E: de::Error>(self, text: &str) -> Result<T::Value, E> {
            self.0.read(text)
        }
    }
    impl<'de, T: FromText> DeserializeSeed<'de> for ByText<T> {
        type Value = T::Value;
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
            deserializer.deserialize_str(self)
        }
    }
    impl<'de, T: FromText> Visitor<'de> for ByText<T> {
        type Value = T::Value;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.expecting(f)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T::Value, E> {
            self.read(text)
        }
        // serde_json hands the text over as a map of one private member; its name is the one that was asked for.
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T::Value, A::Error> {
            map.next_key::<de::IgnoredAny>()?;
            map.next_value_seed(self)
        }
        fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<T::Value, D::Error> {
            let Transcript(text) = Transcript::deserialize(inner)?;
            self.read(&text)
        }
    }
    deserializer.deserialize_newtype_struct(private_name(), ByText(what))
}

/// The name under which serde_json recognises a request for raw text, learned through its public interface: the name
/// itself is private to it.
fn private_name() -> &'static str {
    static NAME: OnceLock<&'static str> = OnceLock::new();
    NAME.get_or_init(|| {
        struct Probe(Rc<Cell<&'static str>>);
        impl<'de> Deserializer<'de> for Probe {
            type Error = de::value::Error;
            fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
                Err(de::Error::custom("the probe holds no value"))
            }
            fn deserialize_newtype_struct<V: Visitor<'de>>(
                self,
                name: &'static str,
                _: V,
            ) -> Result<V::Value, Self::Error> {
                self.0.set(name);
                Err(de::Error::custom("the probe holds no value"))
            }
            serde::forward_to_deserialize_any! {
                bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
                seq tuple tuple_struct map struct enum identifier ignored_any
            }
        }
        let name = Rc::new(Cell::new(""));
        // The probe always fails; what counts is the name that it heard.
        let _: Result<Box<RawValue>, _> = Deserialize::deserialize(Probe(Rc::clone(&name)));
        name.get()
    })
}

/// Offers a map that a visitor already holds as the deserializer that raw text is read from.
struct AsNewtype<A>(A);

impl<'de, A: MapAccess<'de>> Deserializer<'de> for AsNewtype<A> {
    type Error = A::Error;
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// One JSON object, kept as text: the form of tool arguments and of the result inside a completed task.
#[derive(Clone, PartialEq, Eq)]
pub struct RawObject(RawJson);

impl RawObject {
    /// Writes a value that becomes a JSON object.
    ///
    /// # Errors
    ///
    /// When the value's own `Serialize` fails or makes something else than an object.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        Self::try_from(RawJson::new(value)?)
    }

    /// Takes a text that holds exactly one JSON object.
    ///
    /// # Errors
    ///
    /// When it does not.
    pub fn from_text(text: impl AsRef<str>) -> Result<Self, JsonError> {
        Self::try_from(RawJson::from_text(text)?)
    }

    /// The object without members.
    #[must_use]
    pub fn empty() -> Self {
        Self::from_text("{}").expect("the text is an object")
    }

    /// The text of the object.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The object as any JSON value.
    #[must_use]
    pub fn as_json(&self) -> &RawJson {
        &self.0
    }

    /// Reads the object as a type.
    ///
    /// # Errors
    ///
    /// When the object does not fit; line and column count from the start of this object.
    pub fn get<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        self.0.get()
    }

    /// Whether both stand for the same JSON object; see [`RawJson::json_eq`].
    #[must_use]
    #[inline]
    pub fn json_eq(&self, other: &Self) -> bool {
        self.0.json_eq(&other.0)
    }
}

impl TryFrom<RawJson> for RawObject {
    type Error = JsonError;
    fn try_from(raw: RawJson) -> Result<Self, JsonError> {
        match raw.kind() {
            JsonKind::Object => Ok(Self(raw)),
            JsonKind::Null | JsonKind::Bool | JsonKind::Number | JsonKind::String | JsonKind::Array => {
                Err(JsonError::custom("expected an object"))
            }
        }
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RawObject {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let kind = raw.kind();
        Self::try_from(raw)
            .map_err(|_| de::Error::invalid_type(crate::support::unexpected(kind), &"an object"))
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonKind, RawJson, RawObject};
    use serde::Deserialize;

    const TEXT: &str = r#"{"z":1.0,"a":[12345678901234567890123],"z":2}"#;

    #[derive(Debug, Deserialize)]
    struct Plain {
        r: RawJson,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Arm(Plain),
    }

    #[derive(Debug, Deserialize)]
    struct Flattened {
        #[serde(flatten)]
        inner: Plain,
    }

    #[test]
    fn text_is_kept_as_sent_when_read_from_bytes() {
        let plain: Plain = serde_json::from_str(&format!(r#"{{"r":{TEXT}}}"#)).unwrap();
        assert_eq!(plain.r.as_str(), TEXT);
        assert_eq!(serde_json::to_string(&plain.r).unwrap(), TEXT);
    }

    #[test]
    fn reading_works_inside_untagged_flattened_and_value_input() {
        let text = r#"{"r":{"a":[1,"x",null,true]}}"#;
        let Untagged::Arm(untagged) = serde_json::from_str(text).unwrap();
        let flattened: Flattened = serde_json::from_str(text).unwrap();
        let value: Plain = serde_json::from_value(serde_json::from_str(text).unwrap()).unwrap();
        for raw in [untagged.r, flattened.inner.r, value.r] {
            assert_eq!(raw.as_str(), r#"{"a":[1,"x",null,true]}"#);
        }
    }

    #[test]
    fn order_and_duplicates_survive_a_foreign_buffer() {
        let text = r#"{"r":{"z":1,"a":[18446744073709551615,-1,0.5,"\u00e9\n"],"z":{}}}"#;
        let Untagged::Arm(untagged) = serde_json::from_str(text).unwrap();
        let flattened: Flattened = serde_json::from_str(text).unwrap();
        for raw in [untagged.r, flattened.inner.r] {
            assert_eq!(raw.as_str(), "{\"z\":1,\"a\":[18446744073709551615,-1,0.5,\"é\\n\"],\"z\":{}}");
        }
    }

    /// A name that serde_json uses among its own is a member like any other in what a peer sends.
    #[test]
    fn private_names_of_serde_json_are_plain_members() {
        for name in ["$serde_json::private::RawValue", "$serde_json::private::Number"] {
            let text = format!(r#"{{"r":{{"{name}":"1"}}}}"#);
            let plain: Plain = serde_json::from_str(&text).unwrap();
            assert_eq!(plain.r.as_str(), format!(r#"{{"{name}":"1"}}"#));
        }
    }

    #[test]
    fn line_breaks_between_tokens_are_taken_out_and_escaped_ones_stay() {
        let raw = RawJson::from_text("{\r\n \"a\": \"x\\ny\",\n \"b\": 1\n}").unwrap();
        assert_eq!(raw.as_str(), "{ \"a\": \"x\\ny\", \"b\": 1}");
    }

    #[test]
    fn equality_is_by_text_and_json_eq_by_value() {
        let a = RawJson::from_text(r#"{"a":1,"b":2.50}"#).unwrap();
        let b = RawJson::from_text(r#"{"b":2.5,"a":1.0}"#).unwrap();
        assert_ne!(a, b);
        assert!(a.json_eq(&b));
        assert!(!a.json_eq(&RawJson::from_text(r#"{"a":1}"#).unwrap()));
    }

    #[test]
    fn two_values_in_one_text_are_refused() {
        assert!(RawJson::from_text("1 2").is_err());
        assert!(RawJson::from_text("").is_err());
    }

    #[test]
    fn an_object_is_required_where_one_is_meant() {
        assert!(RawObject::from_text("[1]").is_err());
        let error = serde_json::from_str::<RawObject>("7").unwrap_err().to_string();
        assert!(error.contains("expected an object"), "{error}");
        assert_eq!(RawObject::empty().as_str(), "{}");
    }

    #[test]
    fn kinds_are_told_by_the_first_byte() {
        let kinds = [
            ("null", JsonKind::Null),
            (" true", JsonKind::Bool),
            ("-1", JsonKind::Number),
            ("\"\"", JsonKind::String),
            ("[]", JsonKind::Array),
            ("{}", JsonKind::Object),
        ];
        for (text, kind) in kinds {
            assert_eq!(RawJson::from_text(text).unwrap().kind(), kind, "{text}");
        }
    }

    #[test]
    fn a_deeply_nested_payload_does_not_exhaust_the_stack() {
        let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
        assert_eq!(RawJson::from_text(deep.clone()).unwrap().as_str(), deep);
    }
}
