//! Messages without their generation: what a request is answered with, and a message before anybody has decided what
//! it is.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::JsonError;

/// A request: an answer is read as the [`Result`](Self::Result) of the request that was sent, never by trial.
///
/// ```
/// use mcp_tasks_types::{JsonError, Request, v2026_07_28::GetTaskRequest};
///
/// fn answer<R: Request>(text: &str) -> Result<R::Result, JsonError>
/// where
///     R::Result: serde::de::DeserializeOwned,
/// {
///     mcp_tasks_types::from_str(text)
/// }
/// let task = answer::<GetTaskRequest>(
///     r#"{"taskId":"t","status":"working","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":null}"#,
/// )?;
/// assert_eq!(task.task_id.as_str(), "t");
/// # Ok::<(), JsonError>(())
/// ```
pub trait Request {
    /// The method.
    const METHOD: &'static str;
    /// The parameters.
    type Params;
    /// What the request is answered with.
    type Result;

    /// What the request is routed by: the name of its tool, the id of its task. See [`routing_headers`].
    ///
    /// [`routing_headers`]: crate::routing_headers
    fn routing_name(&self) -> Option<&str> {
        None
    }

    /// The protocol version that the request states, in a revision where each one does.
    fn protocol_version(&self) -> Option<&str> {
        None
    }
}

/// A notification: nobody answers it.
pub trait Notification {
    /// The method.
    const METHOD: &'static str;
    /// The parameters.
    type Params;
}

/// The id of a message as it came (X-02: an id that is absent and one that is null are different things).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these and no others")]
pub enum MessageId<'a> {
    /// There is none: a notification.
    Absent,
    /// `null`, which no request has.
    Null,
    /// A string.
    String(Cow<'a, str>),
    /// An integer, in whatever spelling (`1.0` is 1).
    Integer(i64),
    /// Something that is no id, as its text.
    Invalid(&'a str),
}

/// A message of any generation, read without its parameters, result or error: those stay text until somebody knows
/// what they are.
///
/// ```
/// use mcp_tasks_types::{MessageId, RawMessage};
///
/// let text = br#"{"jsonrpc":"2.0","id":0,"method":"tasks/get","params":{"taskId":"t","_meta":{"k":1}}}"#;
/// let message = RawMessage::read(text)?;
/// assert_eq!(message.method(), Some("tasks/get"));
/// assert_eq!(*message.id(), MessageId::Integer(0));
/// assert_eq!(message.meta()?, Some(r#"{"k":1}"#));
/// # Ok::<(), mcp_tasks_types::JsonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RawMessage<'a> {
    whole: Whole<'a>,
    id: MessageId<'a>,
    version: Option<Cow<'a, str>>,
    method: Option<Cow<'a, str>>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

/// The text that a message was read from, if it is at hand: where errors in a part of it are placed.
#[derive(Clone)]
struct Whole<'a>(Option<&'a [u8]>);

impl fmt::Debug for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parts are shown, and once is enough.
        write!(f, "{:?} bytes", self.0.map(<[u8]>::len))
    }
}

impl Whole<'_> {
    /// The line of the first byte of a part, and how many bytes of it come before.
    fn beginning_of(&self, part: &str) -> Option<(usize, usize)> {
        let whole = self.0?;
        let place = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
        (place <= whole.len()).then(|| crate::path::line_and_column(whole, place))
    }
}

impl<'a> RawMessage<'a> {
    /// Reads a message in one pass.
    ///
    /// # Errors
    ///
    /// When the bytes are no JSON object, or one of the members of a message comes twice.
    pub fn read(bytes: &'a [u8]) -> Result<Self, JsonError> {
        let message: Self = crate::from_slice(bytes)?;
        Ok(Self { whole: Whole(Some(bytes)), ..message })
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &MessageId<'a> {
        &self.id
    }

    /// The id as a generation's own type, if it is one.
    ///
    /// ```
    /// use mcp_tasks_types::{RawMessage, v2026_07_28::RequestId};
    ///
    /// let message = RawMessage::read(br#"{"id":"7"}"#)?;
    /// assert_eq!(message.request_id(), Some(RequestId::from("7")));
    /// # Ok::<(), mcp_tasks_types::JsonError>(())
    /// ```
    #[must_use]
    pub fn request_id<Id: From<String> + From<i64>>(&self) -> Option<Id> {
        match &self.id {
            MessageId::String(text) => Some(text.to_string().into()),
            MessageId::Integer(number) => Some((*number).into()),
            MessageId::Absent | MessageId::Null | MessageId::Invalid(_) => None,
        }
    }

    /// Whether `jsonrpc` is there and `2.0`.
    #[must_use]
    pub fn is_json_rpc(&self) -> bool {
        self.version.as_deref() == Some("2.0")
    }

    /// The method, if it is a string.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The text of the parameters.
    #[must_use]
    pub fn params(&self) -> Option<&'a str> {
        self.params.map(RawValue::get)
    }

    /// The text of a response's result.
    #[must_use]
    pub fn result(&self) -> Option<&'a str> {
        self.result.map(RawValue::get)
    }

    /// The text of a response's error.
    #[must_use]
    pub fn error(&self) -> Option<&'a str> {
        self.error.map(RawValue::get)
    }

    /// The answer to a request that was sent: its result, or the error that the peer answered with.
    ///
    /// `E` is the error object of the request's revision, such as
    /// [`v2026_07_28::ErrorObject`](crate::v2026_07_28::ErrorObject). Which request an answer belongs to, its id tells.
    ///
    /// ```
    /// use mcp_tasks_types::v2026_07_28::{CallToolRequest, CallToolResponse, ErrorObject};
    /// use mcp_tasks_types::{JsonError, RawMessage};
    ///
    /// fn told(answer: &[u8]) -> Result<String, JsonError> {
    ///     Ok(match RawMessage::read(answer)?.answer::<CallToolRequest, ErrorObject>()? {
    ///         Ok(CallToolResponse::Complete(result)) => format!("{} blocks", result.content.len()),
    ///         Ok(CallToolResponse::Task(task)) => format!("poll {}", task.task_id),
    ///         Ok(CallToolResponse::InputRequired(_)) => "asks something first".to_owned(),
    ///         Err(error) => format!("refused: {}", error.message),
    ///     })
    /// }
    /// assert_eq!(told(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#)?, "0 blocks");
    /// assert_eq!(told(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#)?, "refused: no");
    /// let error = told(br#"{"jsonrpc":"2.0","id":1,"result":{"content":7}}"#).unwrap_err();
    /// assert_eq!((error.path(), error.column()), ("result.content", 45));
    /// # Ok::<(), JsonError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is neither a result nor an error, or both, or the one that is there does not fit its type. Path, line
    /// and column are those of the whole message; there are no line and column when it was not read by
    /// [`read`](Self::read).
    pub fn answer<R, E>(&self) -> Result<Result<R::Result, E>, JsonError>
    where
        R: Request,
        R::Result: Deserialize<'a>,
        E: Deserialize<'a>,
    {
        match (self.result(), self.error()) {
            // Null for the one that is not there is its absence.
            (Some(result), None | Some("null")) => Ok(Ok(self.part("result", result)?)),
            (None | Some("null"), Some(error)) => Ok(Err(self.part("error", error)?)),
            (Some(_), Some(_)) => Err(JsonError::custom("an answer has a `result` or an `error`, not both")),
            (None, None) => Err(JsonError::custom("missing field `result` or `error` of an answer")),
        }
    }

    /// Reads a member.
    fn part<T: Deserialize<'a>>(&self, member: &str, text: &'a str) -> Result<T, JsonError> {
        crate::from_str(text).map_err(|error| error.of_part(member, self.whole.beginning_of(text)))
    }

    /// The text of `params._meta`. The other parameters are passed over.
    ///
    /// # Errors
    ///
    /// When the parameters are no object, or `_meta` comes twice.
    pub fn meta(&self) -> Result<Option<&'a str>, JsonError> {
        let Some(params) = self.params else { return Ok(None) };
        crate::from_str::<Meta<'a>>(params.get()).map(|Meta(meta)| meta.map(RawValue::get))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawMessage<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MessageVisitor;
        impl<'de> Visitor<'de> for MessageVisitor {
            type Value = RawMessage<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawMessage<'de>, A::Error> {
                let (mut id, mut version, mut method) = (None, None, None);
                let (mut params, mut result, mut error) = (None, None, None);
                while let Some(name) = access.next_key_seed(Name)? {
                    let (slot, name): (&mut Option<&'de RawValue>, _) = match name.as_ref() {
                        "id" => (&mut id, "id"),
                        "jsonrpc" => (&mut version, "jsonrpc"),
                        "method" => (&mut method, "method"),
                        "params" => (&mut params, "params"),
                        "result" => (&mut result, "result"),
                        "error" => (&mut error, "error"),
                        _ => {
                            // As text, since only then its bytes are looked at: a value that is ignored may be no
                            // UTF-8.
                            access.next_value::<&'de RawValue>()?;
                            continue;
                        }
                    };
                    if slot.replace(access.next_value()?).is_some() {
                        return Err(de::Error::duplicate_field(name));
                    }
                }
                let (version, method) = (version.and_then(string), method.and_then(string));
                Ok(RawMessage { whole: Whole(None), id: id_of(id), version, method, params, result, error })
            }
        }
        deserializer.deserialize_map(MessageVisitor)
    }
}

/// A member name, borrowed where the text allows it.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// The string in a value, if it is one.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::Deserializer::from_str(raw.get()).deserialize_str(Name).ok()
}

fn id_of(raw: Option<&RawValue>) -> MessageId<'_> {
    let Some(raw) = raw else { return MessageId::Absent };
    match raw.get().as_bytes().first() {
        Some(b'n') => MessageId::Null,
        Some(b'"') => string(raw).map_or(MessageId::Invalid(raw.get()), MessageId::String),
        Some(b'-' | b'0'..=b'9') => crate::decimal::integer(raw.get())
            .and_then(|number| i64::try_from(number).ok())
            .map_or(MessageId::Invalid(raw.get()), MessageId::Integer),
        _ => MessageId::Invalid(raw.get()),
    }
}

/// The `_meta` of parameters.
struct Meta<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Meta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetaVisitor;
        impl<'de> Visitor<'de> for MetaVisitor {
            type Value = Meta<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of parameters")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Meta<'de>, A::Error> {
                let mut meta: Option<&'de RawValue> = None;
                while let Some(name) = access.next_key_seed(Name)? {
                    if name != "_meta" {
                        access.next_value::<de::IgnoredAny>()?;
                    } else if meta.replace(access.next_value()?).is_some() {
                        return Err(de::Error::duplicate_field("_meta"));
                    }
                }
                Ok(Meta(meta))
            }
        }
        deserializer.deserialize_map(MetaVisitor)
    }
}
