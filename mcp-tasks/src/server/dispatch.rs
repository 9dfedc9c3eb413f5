//! One message in, one answer out: from a method to its handler, and the only place where a
//! [`Refusal`] becomes an error of the wire.

use mcp_tasks_types::{
    RawJson, RawObject,
    v2026_07_28::{
        ErrorCode, ErrorObject, JsonRpcErrorResponse, JsonRpcResultResponse,
        MissingRequiredClientCapabilityErrorData, RequestId, UnsupportedProtocolVersionErrorData,
    },
};
use serde::Serialize;
use tracing::Instrument as _;

use super::{
    Inner, RequestContext, SUPPORTED_VERSIONS,
    admission::admit,
    envelope::{self, Malformed, Message, Request},
    method::Method,
    refusal::Refusal,
    reply::Reply,
};

impl Inner {
    /// Answers one message.
    pub(super) async fn answer(&self, context: &RequestContext, bytes: &[u8]) -> Reply {
        let request = match envelope::read(bytes) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Notification(notification)) => {
                // None has an effect here: there is nothing that a client could tell us without
                // wanting an answer. Cancelling a request is between client and transport.
                tracing::debug!(method = %notification.method, "notification");
                return Reply::silent(ACCEPTED);
            }
            Ok(Message::Response) | Err(Malformed::Silent) => return Reply::silent(BAD_REQUEST),
            Err(Malformed::Answered { id, refusal }) => return refused(id, refusal),
        };
        let span = tracing::info_span!("request", method = %request.method);
        match self.serve(context, &request).instrument(span).await {
            Ok(result) => answered(request.id, result),
            Err(refusal) => refused(Some(request.id), refusal),
        }
    }

    async fn serve(&self, context: &RequestContext, request: &Request<'_>) -> Result<RawObject, Refusal> {
        let admitted = admit(request, context.headers(), &self.rules)?;
        let owner = context.owner();
        match admitted.method {
            Method::Discover => self.discover(request),
            Method::ListTools => self.list_tools(request),
            Method::CallTool => self.call_tool(owner, request, &admitted.capabilities).await,
            Method::GetTask => self.get_task(owner, request).await,
            Method::UpdateTask => self.update_task(owner, request).await,
            Method::CancelTask => self.cancel_task(owner, request).await,
        }
    }
}

const OK: u16 = 200;
const ACCEPTED: u16 = 202;
const BAD_REQUEST: u16 = 400;
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const TOO_LARGE: u16 = 413;

fn answered(id: RequestId, result: RawObject) -> Reply {
    match mcp_tasks_types::to_string(&JsonRpcResultResponse::new(id.clone(), result)) {
        Ok(text) => Reply::new(OK, text),
        Err(error) => refused(Some(id), Refusal::internal(&error)),
    }
}

/// The error of a request that was refused.
pub(super) fn refused(id: Option<RequestId>, refusal: Refusal) -> Reply {
    let (status, error) = wire_error(refusal);
    let mut response = JsonRpcErrorResponse::new(error);
    if let Some(id) = id {
        response = response.with_id(id);
    }
    let text = mcp_tasks_types::to_string(&response).unwrap_or_else(|_| LAST_RESORT.to_owned());
    Reply::new(status, text)
}

/// Said when even an error cannot be written.
const LAST_RESORT: &str = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#;

/// A body that is longer than the transport reads.
pub(super) fn too_large(limit: usize) -> Reply {
    let what = format!("longer than {limit} bytes");
    let answer = refused(None, Refusal::InvalidRequest(what));
    with_status(TOO_LARGE, answer)
}

/// A page of another origin.
pub(super) fn origin_refused() -> Reply {
    let what = "requests of this origin or host are not accepted".to_owned();
    with_status(FORBIDDEN, refused(None, Refusal::InvalidRequest(what)))
}

/// An id that is still in use on the same connection (X-03).
pub(super) fn id_in_use(id: RequestId) -> Reply {
    let what = "the id belongs to a request that is not answered yet".to_owned();
    refused(Some(id), Refusal::InvalidRequest(what))
}

/// More calls at a time than a transport lets wait.
pub(super) fn busy(id: RequestId) -> Reply {
    refused(Some(id), Refusal::Internal("Too many calls wait for their answers".to_owned()))
}

fn with_status(status: u16, answer: Reply) -> Reply {
    answer.into_text().map_or_else(|| Reply::silent(status), |text| Reply::new(status, text))
}

/// Codes, data and statuses of the 2026-07-28 revision.
fn wire_error(refusal: Refusal) -> (u16, ErrorObject) {
    match refusal {
        Refusal::Parse(detail) => error(BAD_REQUEST, ErrorCode::ParseError, format!("Parse error: {detail}")),
        Refusal::InvalidRequest(detail) => {
            error(BAD_REQUEST, ErrorCode::InvalidRequest, format!("Invalid request: {detail}"))
        }
        Refusal::HeaderMismatch(detail) => {
            error(BAD_REQUEST, ErrorCode::HeaderMismatch, format!("Header mismatch: {detail}"))
        }
        Refusal::LegacyHandshake => with_data(
            error(
                BAD_REQUEST,
                ErrorCode::HeaderMismatch,
                format!("Header mismatch: header `Mcp-Method` is missing; {}", spoken()),
            ),
            &Supported::all(),
        ),
        Refusal::Meta(detail) => {
            error(BAD_REQUEST, ErrorCode::InvalidParams, format!("Invalid params: {detail}"))
        }
        Refusal::Version { requested } => {
            let supported = SUPPORTED_VERSIONS.map(str::to_owned).to_vec();
            let data = UnsupportedProtocolVersionErrorData::new(supported, requested);
            let message = "Unsupported protocol version".to_owned();
            with_data(error(BAD_REQUEST, ErrorCode::UnsupportedProtocolVersion, message), &data)
        }
        Refusal::Method(method) if method == "initialize" => with_data(
            error(
                NOT_FOUND,
                ErrorCode::MethodNotFound,
                format!("Method not found: `initialize`; {}", spoken()),
            ),
            &Supported::all(),
        ),
        Refusal::Method(method) => {
            error(NOT_FOUND, ErrorCode::MethodNotFound, format!("Method not found: `{method}`"))
        }
        Refusal::Capability(required) => {
            let data = MissingRequiredClientCapabilityErrorData::new(*required);
            let message = "Missing required client capability".to_owned();
            with_data(error(BAD_REQUEST, ErrorCode::MissingRequiredClientCapability, message), &data)
        }
        Refusal::Params(detail) => error(OK, ErrorCode::InvalidParams, format!("Invalid params: {detail}")),
        Refusal::Tool(name) => error(OK, ErrorCode::InvalidParams, format!("Unknown tool: {name}")),
        Refusal::TaskNotFound => {
            error(OK, ErrorCode::InvalidParams, "Failed to retrieve task: Task not found".to_owned())
        }
        Refusal::Internal(message) => error(OK, ErrorCode::InternalError, message),
        Refusal::Protocol { code, message, data } => {
            let mut error = ErrorObject::new(code, message);
            if let Some(data) = data {
                error = error.with_data(data);
            }
            (OK, error)
        }
    }
}

/// For clients of older revisions, which begin with a handshake.
fn spoken() -> String {
    let versions = SUPPORTED_VERSIONS.join(", ");
    format!("this server speaks {versions}, which has no handshake")
}

fn error(status: u16, code: ErrorCode, message: String) -> (u16, ErrorObject) {
    (status, ErrorObject::new(code.code(), message))
}

fn with_data((status, error): (u16, ErrorObject), data: &impl Serialize) -> (u16, ErrorObject) {
    match RawJson::new(data) {
        Ok(data) => (status, error.with_data(data)),
        Err(_) => (status, error),
    }
}

/// What a client of an older revision is told besides the code.
#[derive(Serialize)]
struct Supported {
    supported: [&'static str; SUPPORTED_VERSIONS.len()],
}

impl Supported {
    fn all() -> Self {
        Self { supported: SUPPORTED_VERSIONS }
    }
}
