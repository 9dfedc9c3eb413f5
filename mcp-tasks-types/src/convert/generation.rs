//! Which generation a request is of, told from the request and its session (I-01, R-1 step 3).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::ConvertError;
use crate::{RawMessage, sep_1686, v2025_11_25, v2026_07_28};

/// A generation of tasks: a module of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Generation {
    /// The proposal, [`sep_1686`].
    Sep1686,
    /// The experimental tasks of [`v2025_11_25`].
    V2025_11_25,
    /// The tasks extension of [`v2026_07_28`].
    V2026_07_28,
}

impl Generation {
    /// The revision, or the name of the proposal, which belongs to none.
    #[must_use]
    #[inline]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sep1686 => "SEP-1686",
            Self::V2025_11_25 => v2025_11_25::PROTOCOL_VERSION,
            Self::V2026_07_28 => v2026_07_28::PROTOCOL_VERSION,
        }
    }
}

impl fmt::Display for Generation {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// In which generation's words a request or notification has to be read and answered.
///
/// `session` is the revision that `initialize` agreed on for the session that the message came in. Where no session is
/// kept, over HTTP, it is what the header `MCP-Protocol-Version` says; without either it is `None`.
///
/// | what the message brings | session | generation |
/// |---|---|---|
/// | `_meta` with the version or the capabilities of 2026-07-28 | any | 2026-07-28 |
/// | `initialize` without them | any | that of the session which it asks for: 2025-11-25, or none of an older one |
/// | anything else | 2025-11-25 | 2025-11-25: a key of SEP-1686 counts for nothing there |
/// | a key of SEP-1686 in `_meta`, or `tasks/list`, which has none | older | SEP-1686, which never had a revision |
/// | anything else | older | `None`: nothing that has to do with tasks |
/// | anything else | none, or no revision that has sessions | 2026-07-28, whose checks then name what is missing |
///
/// Whether the keys have the right values is not looked at here, nor whether the method exists: those are faults within
/// a generation. A response says nothing of itself; it has the generation of the request that it answers.
///
/// ```
/// use mcp_tasks_types::RawMessage;
/// use mcp_tasks_types::convert::{Generation, generation_of};
///
/// let message = RawMessage::read(br#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}"#)?;
/// assert_eq!(generation_of(&message, Some("2025-11-25"))?, Some(Generation::V2025_11_25));
/// assert_eq!(generation_of(&message, Some("2025-06-18"))?, None);
/// assert_eq!(generation_of(&message, None)?, Some(Generation::V2026_07_28));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the parameters are no object, or `params._meta` comes twice.
#[inline]
pub fn generation_of(
    message: &RawMessage<'_>,
    session: Option<&str>,
) -> Result<Option<Generation>, ConvertError> {
    let meta = message.meta().map_err(|error| match message.params() {
        // Nothing else can be wrong with an object of which no other member is read.
        Some(params) if params.starts_with('{') => ConvertError::twice("params._meta"),
        _ => ConvertError::malformed("params", &error),
    })?;
    let keys: Keys = meta.and_then(|meta| crate::from_str(meta).ok()).unwrap_or_default();
    if keys.modern {
        return Ok(Some(Generation::V2026_07_28));
    }
    if message.method() == Some(v2025_11_25::method::INITIALIZE) {
        let wanted: Option<Handshake> = message.params().and_then(|params| crate::from_str(params).ok());
        // A server answers a version that it does not know with the newest that it does, which has sessions here.
        let older = wanted.is_some_and(|wanted| Era::of(Some(&wanted.version)) == Era::Older);
        return Ok((!older).then_some(Generation::V2025_11_25));
    }
    let of_the_proposal = || keys.proposal || message.method() == Some(sep_1686::method::TASKS_LIST);
    Ok(match Era::of(session) {
        Era::Stateless => Some(Generation::V2026_07_28),
        Era::Session => Some(Generation::V2025_11_25),
        Era::Older => of_the_proposal().then_some(Generation::Sep1686),
    })
}

/// What a revision, as text, says of the sessions that it has.
#[derive(PartialEq)]
enum Era {
    /// Before 2025-11-25.
    Older,
    /// 2025-11-25.
    Session,
    /// Later, or no revision at all.
    Stateless,
}

impl Era {
    #[inline]
    fn of(revision: Option<&str>) -> Self {
        // Dates are in the order of their texts.
        let is_date = |text: &&str| {
            text.len() == 10
                && text.bytes().enumerate().all(|(at, byte)| match at {
                    4 | 7 => byte == b'-',
                    _ => byte.is_ascii_digit(),
                })
        };
        match revision.filter(is_date) {
            Some(v2025_11_25::PROTOCOL_VERSION) => Self::Session,
            Some(revision) if revision < v2025_11_25::PROTOCOL_VERSION => Self::Older,
            _ => Self::Stateless,
        }
    }
}

/// Whose keys are in a `_meta`.
#[derive(Default)]
struct Keys {
    modern: bool,
    proposal: bool,
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;
            #[inline]
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Keys, A::Error> {
                let mut keys = Keys::default();
                while let Some((name, IgnoredAny)) = access.next_entry::<Cow<'de, str>, _>()? {
                    match name.as_ref() {
                        v2026_07_28::meta_key::PROTOCOL_VERSION
                        | v2026_07_28::meta_key::CLIENT_CAPABILITIES => keys.modern = true,
                        sep_1686::meta_key::TASK | sep_1686::meta_key::RELATED_TASK => keys.proposal = true,
                        _ => {}
                    }
                }
                Ok(keys)
            }
        }
        deserializer.deserialize_map(KeysVisitor)
    }
}

/// The parameters of `initialize`, as far as they matter here.
struct Handshake {
    version: String,
}

impl<'de> Deserialize<'de> for Handshake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HandshakeVisitor;
        impl<'de> Visitor<'de> for HandshakeVisitor {
            type Value = Handshake;
            #[inline]
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a text as `protocolVersion`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Handshake, A::Error> {
                let mut version = None;
                while let Some(name) = access.next_key::<Cow<'de, str>>()? {
                    if name == "protocolVersion" {
                        version = Some(access.next_value()?);
                    } else {
                        access.next_value::<IgnoredAny>()?;
                    }
                }
                let version = version.ok_or_else(|| serde::de::Error::missing_field("protocolVersion"))?;
                Ok(Handshake { version })
            }
        }
        deserializer.deserialize_map(HandshakeVisitor)
    }
}
