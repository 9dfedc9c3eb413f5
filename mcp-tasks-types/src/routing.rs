//! The HTTP headers by which intermediaries route a request of 2026-07-28 without reading its body.

use std::borrow::Cow;

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
    const PREFIX: &str = "=?base64?";
    const SUFFIX: &str = "?=";
    let plain = text.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7E));
    let outer_blanks = text.trim_matches([' ', '\t']) != text;
    let looks_encoded = text.strip_prefix(PREFIX).is_some_and(|rest| rest.ends_with(SUFFIX));
    if plain && !outer_blanks && !looks_encoded {
        return Cow::Borrowed(text);
    }
    let mut value = String::with_capacity(PREFIX.len() + text.len().div_ceil(3) * 4 + SUFFIX.len());
    value.push_str(PREFIX);
    push_base64(text.as_bytes(), &mut value);
    value.push_str(SUFFIX);
    Cow::Owned(value)
}

/// Base64 with padding. By hand, because one direction of it is no reason for a dependency of every user of the types.
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
