//! The order of checks: what a request has to pass before a handler sees it.
//!
//! The numbers are those of reading R-1; the first check that fails decides the answer.
//! Step 1 is the transport's, step 2 is `envelope`, steps 13 and 14 are the handlers'.
//! Without headers (stdio) steps 4, 5, 7 and 10 do not apply; everything else is the same.

use std::{borrow::Cow, collections::BTreeMap};

use mcp_tasks_types::{
    decode_header_value,
    v2026_07_28::{ClientCapabilities, RequestMetaObject, meta_key, method::TOOLS_CALL},
};

use super::{
    SUPPORTED_VERSIONS, capability,
    envelope::Request,
    members::Members,
    method::Method,
    mirrored::{Expected, Mirrored},
    refusal::Refusal,
    routing::{self, Received, ReceivedHeaders},
    whole::Whole,
};

/// A request that passed: its method is known and its declarations are read.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) method: Method,
    pub(super) meta: RequestMetaObject,
}

/// What the checks of headers depend on besides the request.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether `Mcp-Name` has to be there on the task methods.
    pub(super) require_task_name: bool,
    /// The arguments that tools mirror into headers, by the tool's name.
    pub(super) mirrored: BTreeMap<String, Mirrored>,
}

/// Steps 3 to 12.
pub(super) fn admit(
    request: &Request<'_>,
    headers: Option<&ReceivedHeaders>,
    rules: &Rules,
) -> Result<Admitted, Refusal> {
    step_3_era(request, headers)?;
    if let Some(headers) = headers {
        step_4_headers_present(request, headers, rules)?;
        step_5_method_header(request, headers)?;
    }
    let version = step_6_version_stated(request)?;
    if let Some(headers) = headers {
        step_7_version_header(&version, headers)?;
    }
    step_8_version_implemented(&version)?;
    let meta = step_9_meta(request)?;
    if let Some(headers) = headers {
        step_10_name_header(request, headers)?;
        step_10_mirrored_arguments(request, headers, rules)?;
    }
    let method = step_11_method_implemented(request)?;
    step_12_extension_declared(method, &meta.client_capabilities)?;
    Ok(Admitted { method, meta })
}

/// A handshake of an older revision is told what is spoken here.
fn step_3_era(request: &Request<'_>, headers: Option<&ReceivedHeaders>) -> Result<(), Refusal> {
    if request.method != "initialize" {
        return Ok(());
    }
    let modern_meta = request
        .params
        .get("_meta")
        .and_then(|meta| Members::read(meta.get()).ok())
        .is_some_and(|meta| meta.get(meta_key::PROTOCOL_VERSION).is_some());
    let modern_headers = headers.is_some_and(|headers| headers.method != Received::Absent);
    if !modern_meta && !modern_headers {
        return Err(match headers {
            Some(_) => Refusal::LegacyHandshake,
            None => Refusal::Method("initialize".to_owned()),
        });
    }
    Ok(())
}

fn step_4_headers_present(
    request: &Request<'_>,
    headers: &ReceivedHeaders,
    rules: &Rules,
) -> Result<(), Refusal> {
    let present = |header: &Received, name: &str| header_text(header, name).map(drop);
    present(&headers.protocol_version, routing::PROTOCOL_VERSION_HEADER)?;
    present(&headers.method, routing::METHOD_HEADER)?;
    if routing::name_of(request.method, &request.params).is_none() {
        return Ok(());
    }
    let may_be_absent = routing::name_is_lenient(request.method) && !rules.require_task_name;
    if headers.name == Received::Absent && may_be_absent {
        return Ok(());
    }
    present(&headers.name, routing::NAME_HEADER)
}

fn step_5_method_header(request: &Request<'_>, headers: &ReceivedHeaders) -> Result<(), Refusal> {
    equal(&headers.method, routing::METHOD_HEADER, request.method)
}

fn step_6_version_stated(request: &Request<'_>) -> Result<String, Refusal> {
    let meta = |what: &str| Refusal::Meta(what.to_owned());
    if request.params.repeats("_meta") {
        return Err(meta("`_meta` is there twice"));
    }
    let text = request.params.get("_meta").ok_or_else(|| meta("`_meta` is missing"))?;
    let members = Members::read(text.get()).map_err(|_| meta("`_meta` must be an object"))?;
    let key = meta_key::PROTOCOL_VERSION;
    if members.get(key).is_none() {
        return Err(Refusal::Meta(format!("`_meta` has no `{key}`")));
    }
    members.string(key).map(Cow::into_owned).ok_or_else(|| Refusal::Meta(format!("`{key}` must be a string")))
}

fn step_7_version_header(version: &str, headers: &ReceivedHeaders) -> Result<(), Refusal> {
    equal(&headers.protocol_version, routing::PROTOCOL_VERSION_HEADER, version)
}

fn step_8_version_implemented(version: &str) -> Result<(), Refusal> {
    if SUPPORTED_VERSIONS.contains(&version) {
        return Ok(());
    }
    Err(Refusal::Version { requested: version.to_owned() })
}

/// Everything else that `_meta` says has to be well formed; only the capabilities are required.
fn step_9_meta(request: &Request<'_>) -> Result<RequestMetaObject, Refusal> {
    let text = request.params.get("_meta").map_or("{}", |meta| meta.get());
    mcp_tasks_types::from_str(text).map_err(|error| Refusal::Meta(format!("`_meta` does not fit: {error}")))
}

fn step_10_name_header(request: &Request<'_>, headers: &ReceivedHeaders) -> Result<(), Refusal> {
    let Some(name) = routing::name_of(request.method, &request.params) else {
        return Ok(());
    };
    if headers.name == Received::Absent {
        return Ok(());
    }
    equal(&headers.name, routing::NAME_HEADER, &name)
}

/// A mirrored argument stands in its header, and nothing stands there for one that is not given.
fn step_10_mirrored_arguments(
    request: &Request<'_>,
    headers: &ReceivedHeaders,
    rules: &Rules,
) -> Result<(), Refusal> {
    if request.method != TOOLS_CALL {
        return Ok(());
    }
    let tool = request.params.string("name");
    let Some(mirrored) = tool.and_then(|name| rules.mirrored.get(&*name)) else {
        return Ok(());
    };
    for (name, expected) in mirrored.expected(request.params.get("arguments")) {
        let header = headers.param(name);
        match (expected, header) {
            (Expected::Unknown, _) | (Expected::Nothing, Received::Absent) => {}
            (Expected::Text(text), header) => equal(header, name, &text)?,
            (Expected::Integer(number), header) => {
                if Whole::parse(&plain_text(header, name)?) != Some(number) {
                    return Err(Refusal::HeaderMismatch(format!("header `{name}` differs from the body")));
                }
            }
            (Expected::Nothing, _) => {
                return Err(Refusal::HeaderMismatch(format!("header `{name}` differs from the body")));
            }
        }
    }
    Ok(())
}

/// Before the capability, so that a removed method is not found for anybody (S-23).
fn step_11_method_implemented(request: &Request<'_>) -> Result<Method, Refusal> {
    Method::from_name(request.method).ok_or_else(|| Refusal::Method(request.method.to_owned()))
}

/// Before the look-up, so that the answer does not depend on whether a task exists (C-22).
fn step_12_extension_declared(method: Method, capabilities: &ClientCapabilities) -> Result<(), Refusal> {
    if method.needs_tasks() && !capability::has_tasks(capabilities) {
        return Err(Refusal::Capability(Box::new(capability::tasks())));
    }
    Ok(())
}

/// What a header says, as it was sent.
fn header_text<'h>(header: &'h Received, name: &str) -> Result<&'h str, Refusal> {
    let what = match header {
        Received::Text(text) => return Ok(text),
        Received::Absent => "is missing",
        Received::Malformed => "is not one line of visible ASCII",
        Received::Contradictory => "is there more than once, with different values",
    };
    Err(Refusal::HeaderMismatch(format!("header `{name}` {what}")))
}

/// Compares after decoding; values are case-sensitive.
fn equal(header: &Received, name: &str, body: &str) -> Result<(), Refusal> {
    if plain_text(header, name)? == body {
        return Ok(());
    }
    Err(Refusal::HeaderMismatch(format!("header `{name}` differs from the body")))
}

/// What a header stands for.
fn plain_text<'h>(header: &'h Received, name: &str) -> Result<Cow<'h, str>, Refusal> {
    decode_header_value(header_text(header, name)?)
        .map_err(|error| Refusal::HeaderMismatch(format!("header `{name}` is malformed: {error}")))
}
