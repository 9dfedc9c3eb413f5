//! The headers by which HTTP intermediaries route a request without reading its body.
//!
//! What a client or gateway sends for a request that has a type is [`mcp_tasks_types::routing_headers`]; here they are
//! made for a request of any method, and compared with what the server received.

use std::{borrow::Cow, collections::BTreeMap};

pub use mcp_tasks_types::{METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER};
use mcp_tasks_types::{RawObject, header_value, v2026_07_28::method};

use super::{
    members::Members,
    mirrored::{self, Expected, Mirrored},
};

/// What the headers of one request say, in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingHeaders {
    protocol_version: String,
    method: String,
    name: Option<String>,
    /// Arguments that the tool's schema mirrors.
    params: Vec<(String, String)>,
}

impl RoutingHeaders {
    /// The headers of a request.
    ///
    /// A name source that is missing or not a string gives no name, so that the receiver judges
    /// the parameters and not the header.
    pub fn of_request(protocol_version: &str, method: &str, params: &RawObject) -> Self {
        let members = Members::read(params.as_str()).unwrap_or_default();
        Self {
            protocol_version: protocol_version.to_owned(),
            method: method.to_owned(),
            name: name_of(method, &members).map(Cow::into_owned),
            params: Vec::new(),
        }
    }

    /// The headers of a `tools/call`, with the arguments that the tool's input schema wants mirrored.
    pub fn of_call(protocol_version: &str, params: &RawObject, input_schema: &RawObject) -> Self {
        let mut headers = Self::of_request(protocol_version, method::TOOLS_CALL, params);
        let members = Members::read(params.as_str()).unwrap_or_default();
        // A schema with faults in its marks mirrors nothing: such a tool is not to be called.
        let schema = input_schema.get().unwrap_or_default();
        let mirrored = Mirrored::of_schema(&schema).unwrap_or_default();
        for (name, expected) in mirrored.expected(members.get("arguments")) {
            let value = match expected {
                Expected::Text(text) => text,
                Expected::Integer(number) => number.to_string(),
                Expected::Nothing | Expected::Unknown => continue,
            };
            headers.params.push((name.to_owned(), value));
        }
        headers
    }

    /// Names and values as they are sent, encoded where a value needs it.
    pub fn pairs(&self) -> Vec<(&str, String)> {
        let mut pairs =
            vec![(PROTOCOL_VERSION_HEADER, &self.protocol_version), (METHOD_HEADER, &self.method)];
        pairs.extend(self.name.iter().map(|name| (NAME_HEADER, name)));
        pairs.extend(self.params.iter().map(|(name, value)| (name.as_str(), value)));
        pairs.into_iter().map(|(name, value)| (name, header_value(value).into_owned())).collect()
    }
}

/// Which parameter `Mcp-Name` repeats.
fn name_source(name: &str) -> Option<&'static str> {
    match name {
        // Gateways ask also about methods that have no type here.
        method::TOOLS_CALL | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => Some("taskId"),
        _ => None,
    }
}

/// What `Mcp-Name` has to say for this request, if anything.
pub(super) fn name_of<'m>(method: &str, params: &Members<'m>) -> Option<Cow<'m, str>> {
    params.string(name_source(method)?)
}

/// Whether the method's `Mcp-Name` may be missing unless the server insists: a published client
/// leaves it out on the task methods (R-1 step 4).
pub(super) fn name_is_lenient(method: &str) -> bool {
    name_source(method) == Some("taskId")
}

/// One received header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Received {
    #[default]
    Absent,
    /// Trimmed, as it was sent.
    Text(String),
    /// Not one line of visible ASCII.
    Malformed,
    /// Sent more than once, with different values.
    Contradictory,
}

/// The routing headers as a transport received them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedHeaders {
    pub(super) protocol_version: Received,
    pub(super) method: Received,
    pub(super) name: Received,
    /// By name in lower case.
    params: BTreeMap<String, Received>,
}

impl ReceivedHeaders {
    /// Takes the routing headers out of all headers of a request; names in any case (X-109).
    pub fn read<'h>(headers: impl IntoIterator<Item = (&'h str, &'h [u8])>) -> Self {
        let mut received = Self::default();
        for (name, value) in headers {
            let slot = if name.eq_ignore_ascii_case(PROTOCOL_VERSION_HEADER) {
                &mut received.protocol_version
            } else if name.eq_ignore_ascii_case(METHOD_HEADER) {
                &mut received.method
            } else if name.eq_ignore_ascii_case(NAME_HEADER) {
                &mut received.name
            } else if mirrored::is_mirror(name) {
                received.params.entry(name.to_ascii_lowercase()).or_default()
            } else {
                continue;
            };
            let value = value_text(value);
            *slot = if *slot == Received::Absent || *slot == value { value } else { Received::Contradictory };
        }
        received
    }

    /// The header that mirrors an argument.
    pub(super) fn param(&self, name: &str) -> &Received {
        self.params.get(&name.to_ascii_lowercase()).unwrap_or(&Received::Absent)
    }
}

fn value_text(value: &[u8]) -> Received {
    match std::str::from_utf8(value) {
        Ok(text) if text.bytes().all(is_plain) => Received::Text(text.trim_matches([' ', '\t']).to_owned()),
        _ => Received::Malformed,
    }
}

/// Visible ASCII, space and tab: what a header value can hold as it is.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7E)
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use mcp_tasks_types::{RawObject, decode_header_value, header_value};
    use proptest::prelude::{Strategy, any, prop_oneof, proptest};

    use super::{Received, ReceivedHeaders, RoutingHeaders};

    /// S-28, C-90
    #[test]
    fn a_task_request_names_the_task_and_a_call_names_the_tool() {
        let pairs = |method: &str, params: &str| {
            let params = RawObject::from_text(params).unwrap();
            let headers = RoutingHeaders::of_request("2026-07-28", method, &params);
            headers.pairs().into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Vec<_>>()
        };
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let expected = vec![
                ("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()),
                ("Mcp-Method".to_owned(), method.to_owned()),
                ("Mcp-Name".to_owned(), "tsk_1".to_owned()),
            ];
            assert_eq!(pairs(method, r#"{"taskId":"tsk_1","name":"x"}"#), expected);
        }
        assert_eq!(pairs("tools/call", r#"{"name":"echo"}"#)[2].1, "echo");
        assert_eq!(pairs("tools/call", r#"{"name":7}"#).len(), 2);
        assert_eq!(pairs("tools/list", "{}").len(), 2);
    }

    /// P107: the table is that of the schema, for every request that has a type.
    #[test]
    fn every_method_is_named_by_what_its_schema_says() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/2026-07-28");
        let mut requests = 0;
        for file in ["core.json", "tasks.json"] {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
            for definition in schema["$defs"].as_object().unwrap().values() {
                let Some(method) = definition["x-mcp-method"].as_str() else { continue };
                // Notifications have no result.
                if definition.get("x-mcp-result").is_some() {
                    assert_eq!(super::name_source(method), definition["x-mcp-name"].as_str(), "{method}");
                    requests += 1;
                }
            }
        }
        assert!(requests >= 6, "{requests}");
    }

    /// X-110
    #[test]
    fn a_call_mirrors_the_arguments_that_are_marked() {
        let params = r#"{"name":"t","arguments":{"region":"\u00fc","count":3,"none":null}}"#;
        let schema = r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "count":{"type":"integer","x-mcp-header":"Count"},
            "none":{"type":"string","x-mcp-header":"None"}}}"#;
        let (params, schema) = (RawObject::from_text(params).unwrap(), RawObject::from_text(schema).unwrap());
        let headers = RoutingHeaders::of_call("2026-07-28", &params, &schema);
        let mut pairs = headers.pairs().split_off(3);
        pairs.sort();
        assert_eq!(
            pairs,
            [("Mcp-Param-Count", "3".to_owned()), ("Mcp-Param-Region", "=?base64?w7w=?=".to_owned())]
        );
    }

    /// What a received value stands for, by a library for base64.
    fn decoded(value: &str) -> Option<String> {
        let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        let Some(inner) = inner else { return Some(value.to_owned()) };
        String::from_utf8(STANDARD.decode(inner).ok()?).ok()
    }

    fn values() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>().prop_map(|text| header_value(&text).into_owned()),
            "=\\?base64\\?[A-Za-z0-9+/]{0,12}={0,3}\\?=",
            any::<Vec<u8>>().prop_map(|bytes| format!("=?base64?{}?=", STANDARD.encode(bytes))),
            "[=?base64A-Z]{0,16}",
        ]
    }

    proptest! {
        /// X-108: what strangers send is read as a library reads it.
        #[test]
        fn values_are_decoded_as_by_a_library(value in values()) {
            assert_eq!(decode_header_value(&value).ok().map(String::from), decoded(&value), "{value}");
        }
    }

    /// X-109
    #[test]
    fn header_names_are_read_in_any_case_and_values_are_trimmed() {
        let read = |headers: &[(&str, &[u8])]| {
            ReceivedHeaders::read(headers.iter().map(|(name, value)| (*name, *value)))
        };
        let received = read(&[("mcp-METHOD", b" \ttools/list "), ("Mcp-Name", b"\xff")]);
        assert_eq!(received.method, Received::Text("tools/list".to_owned()));
        assert_eq!(received.name, Received::Malformed);
        assert_eq!(received.protocol_version, Received::Absent);
        let twice = read(&[("Mcp-Name", b"a"), ("mcp-name", b"b")]);
        assert_eq!(twice.name, Received::Contradictory);
        let thrice = read(&[("Mcp-Name", b"a"), ("mcp-name", b"b"), ("MCP-NAME", b"b")]);
        assert_eq!(thrice.name, Received::Contradictory);
        let same = read(&[("Mcp-Name", b"a"), ("mcp-name", b" a")]);
        assert_eq!(same.name, Received::Text("a".to_owned()));
    }
}
