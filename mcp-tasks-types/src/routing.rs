//! The HTTP headers by which intermediaries route a request of 2026-07-28 without reading its body.

use std::borrow::Cow;
use std::fmt;

use crate::message::Request;

/// The header with the protocol version that the request's `_meta` states.
pub const PROTOCOL_VERSION_HEADER: &str = "MCP-Protocol-Version";
/// The header with the method.
pub const METHOD_HEADER: &str = "Mcp-Method";
/// The header with the name of what the method is about: the tool that is called, the task that is meant.
pub const NAME_HEADER: &str = "Mcp-Name";

/// The routing headers of a request, names and values as they are sent (S-28, C-90).
///
/// They are `MCP-Protocol-Version`, `Mcp-Method` and, where the method is about something with a name, `Mcp-Name`;
/// their values are those of the body, since a receiver refuses a request whose headers say something else. A request
/// of a revision that has no such headers gets none. `Content-Type` and `Accept` are the same for every request and
/// belong to the transport; so do the headers that repeat arguments, which the tool's schema decides.
///
/// ```
/// use mcp_tasks_types::{routing_headers, tasks_extension, v2026_07_28 as mcp};
///
/// let capabilities = mcp::ClientCapabilities::new().with_extensions(tasks_extension());
/// let meta = mcp::RequestMetaObject::new("2026-07-28", capabilities);
/// let request = mcp::GetTaskRequest::new(7, mcp::GetTaskRequestParams::new(meta, "tsk_1"));
/// let headers = routing_headers(&request);
/// assert_eq!(headers[0], ("MCP-Protocol-Version", "2026-07-28".into()));
/// assert_eq!(headers[1], ("Mcp-Method", "tasks/get".into()));
/// assert_eq!(headers[2], ("Mcp-Name", "tsk_1".into()));
/// ```
#[must_use]
pub fn routing_headers<R: Request>(request: &R) -> Vec<(&'static str, Cow<'_, str>)> {
    let Some(version) = request.protocol_version() else {
        return Vec::new();
    };
    let mut headers =
        vec![(PROTOCOL_VERSION_HEADER, header_value(version)), (METHOD_HEADER, header_value(R::METHOD))];
    if let Some(name) = request.routing_name() {
        headers.push((NAME_HEADER, header_value(name)));
    }
    headers
}

/// A text as the value of a header: itself where a header can hold it, else `=?base64?…?=` around its UTF-8 (X-108).
///
/// A header holds visible ASCII, spaces and tabs inside, and nothing that looks encoded without being so.
#[must_use]
pub fn header_value(text: &str) -> Cow<'_, str> {
    let outer_blanks = text.trim_matches(BLANKS) != text;
    if is_plain(text) && !outer_blanks && encoded(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut value = String::with_capacity(PREFIX.len() + text.len().div_ceil(3) * 4 + SUFFIX.len());
    value.push_str(PREFIX);
    push_base64(text.as_bytes(), &mut value);
    value.push_str(SUFFIX);
    Cow::Owned(value)
}

/// The text that a received value of `Mcp-Name` or `Mcp-Param-*` stands for, to be compared with what the body says
/// (X-108).
///
/// Blanks around the value are no part of it (X-109). What is not encoded is the text itself.
///
/// ```
/// use mcp_tasks_types::{decode_header_value, header_value};
///
/// for text in ["tsk_1", "Prüfung", " outer", "=?base64?QQ==?=", ""] {
///     assert_eq!(decode_header_value(&header_value(text))?, text);
/// }
/// # Ok::<(), mcp_tasks_types::HeaderValueError>(())
/// ```
///
/// # Errors
///
/// When the value has characters that a header cannot hold, or looks encoded (`=?base64?…?=`) without being so: base64
/// has its padding and no bits left over, and what comes out is UTF-8.
pub fn decode_header_value(value: &str) -> Result<Cow<'_, str>, HeaderValueError> {
    let value = value.trim_matches(BLANKS);
    if !is_plain(value) {
        return Err(HeaderValueError("a header value is visible ASCII, or encoded"));
    }
    let Some(base64) = encoded(value) else { return Ok(Cow::Borrowed(value)) };
    let bytes = bytes_of(base64).ok_or(HeaderValueError("the header value is no base64"))?;
    let text = String::from_utf8(bytes);
    text.map(Cow::Owned).map_err(|_| HeaderValueError("the encoded header value is no UTF-8"))
}

/// Why a header value stands for no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderValueError(&'static str);

impl fmt::Display for HeaderValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for HeaderValueError {}

const BLANKS: [char; 2] = [' ', '\t'];
const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Whether a header can hold a text as it is, but for blanks at its ends.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7E))
}

/// The base64 in a value that looks encoded.
fn encoded(value: &str) -> Option<&str> {
    value.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

/// The bytes of base64 with padding, which has one form for each.
fn bytes_of(base64: &str) -> Option<Vec<u8>> {
    let digits = base64.trim_end_matches('=');
    let padding = base64.len() - digits.len();
    if !base64.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (mut out, mut bits, mut count) = (Vec::with_capacity(digits.len() / 4 * 3 + 2), 0_u32, 0);
    for byte in digits.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // What is left over is no byte, and nothing else either.
    (bits == 0).then_some(out)
}

/// Base64 with padding. By hand, because so little of it is no reason for a dependency of every user of the types.
fn push_base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for digit in 0..4 {
            let six = (bits >> (18 - 6 * digit)) & 0x3F;
            out.push(if digit <= group.len() { char::from(DIGITS[six as usize]) } else { '=' });
        }
    }
}
