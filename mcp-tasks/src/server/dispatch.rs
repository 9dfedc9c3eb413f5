//! One message in, one answer out: from a method to its handler, and the only place where a
//! [`Refusal`] becomes an error of the wire.

use std::{ops::Range, pin::pin};

use mcp_tasks_types::{
    RawJson, RawObject, TaskId,
    v2026_07_28::{
        CancelTaskRequestParams, ErrorCode, ErrorObject, GetTaskRequestParams, InputResponses,
        JsonRpcErrorResponse, JsonRpcResultResponse, MissingRequiredClientCapabilityErrorData, RequestId,
        RequestMetaObject, UnsupportedProtocolVersionErrorData, UpdateTaskRequestParams,
    },
};
use serde::Serialize;
use tracing::{Instrument as _, Span};

use crate::panic::unwinding;

use super::{
    Inner, RequestContext, SUPPORTED_VERSIONS,
    admission::admit,
    envelope::{Form, Incoming, Malformed, Request},
    listen::Wanted,
    method::Method,
    params::typed,
    polls::TooEarly,
    refusal::Refusal,
    reply::Reply,
    routing::METHOD_HEADER,
    telling,
    tools::Call,
};

impl Inner {
    /// Answers one message.
    pub(super) async fn answer(&self, context: &RequestContext, message: Incoming) -> Reply {
        let (text, form) = message.into_parts();
        let (id, method, params) = match form {
            Ok(Form::Request { id, method, params }) => (id, method, params),
            Ok(Form::Notification { method, .. }) => {
                // None has an effect here: there is nothing that a client could tell us without
                // wanting an answer. Cancelling a request is between client and transport.
                tracing::debug!(method, "notification");
                return Reply::silent(ACCEPTED);
            }
            Ok(Form::Response) | Err(Malformed::Silent) => return Reply::silent(BAD_REQUEST),
            Err(Malformed::Answered { id, refusal }) => return refused(id, refusal),
        };
        let span = tracing::info_span!("request", method, traceparent = tracing::field::Empty);
        // Much of what runs here is the user's: argument types, stores, clocks. A panic of theirs ends one request,
        // with an answer, whatever the transport does with its tasks and connections.
        let served = {
            let serving =
                pin!(self.serve(context, &id, (text, method, params), &span).instrument(span.clone()));
            unwinding(serving).await
        };
        match served {
            Ok(Ok(result)) => answered(id, result),
            Ok(Err(refusal)) => refused(Some(id), refusal),
            Err(panicked) => refused(Some(id), Refusal::internal(&panicked)),
        }
    }

    async fn serve(
        &self,
        context: &RequestContext,
        id: &RequestId,
        message: Text,
        span: &Span,
    ) -> Result<RawObject, Refusal> {
        let owner = context.owner();
        match self.read(context, message, span)? {
            Asked::Prepared(result) => Ok(result),
            // By far the largest of them, and all others would have its size.
            Asked::Call(call) => {
                let (call, meta) = *call;
                Box::pin(self.call_tool(context, call, meta)).await
            }
            Asked::Get(task_id) => self.get_task(context, task_id).await,
            Asked::Update(task_id, responses) => self.update_task(owner, task_id, responses).await,
            Asked::Cancel(task_id) => self.cancel_task(owner, task_id).await,
            Asked::Listen(wanted) => self.listen(context, id, wanted).await,
        }
    }

    /// The checks, and then the parameters. It does not wait, so that the text, and all of it that nobody uses, is gone
    /// before anything does: a subscription may last for days.
    fn read(
        &self,
        context: &RequestContext,
        (text, method, params): Text,
        span: &Span,
    ) -> Result<Asked, Refusal> {
        let request = Request::new(&text, &method, params);
        let admitted = admit(&request, context.headers(), &self.rules)?;
        if let Some(traceparent) = telling::traceparent(&admitted.meta) {
            span.record("traceparent", traceparent);
        }
        Ok(match admitted.method {
            Method::Discover => Asked::Prepared(self.discover(&request)?),
            Method::ListTools => Asked::Prepared(self.list_tools(&request)?),
            Method::CallTool => Asked::Call(Box::new((Call::read(&request)?, admitted.meta))),
            Method::GetTask => Asked::Get(typed::<GetTaskRequestParams>(&request)?.task_id),
            Method::UpdateTask => {
                let params: UpdateTaskRequestParams = typed(&request)?;
                Asked::Update(params.task_id, params.input_responses)
            }
            Method::CancelTask => Asked::Cancel(typed::<CancelTaskRequestParams>(&request)?.task_id),
            Method::Listen => Asked::Listen(Wanted::read(&request, &admitted.meta.client_capabilities)?),
        })
    }
}

/// A message, its method and the place of its parameters.
type Text = (String, String, Option<Range<usize>>);

/// What a request asks.
enum Asked {
    /// What has its answer already.
    Prepared(RawObject),
    Call(Box<(Call, RequestMetaObject)>),
    Get(TaskId),
    Update(TaskId, InputResponses),
    Cancel(TaskId),
    Listen(Wanted),
}

const OK: u16 = 200;
const ACCEPTED: u16 = 202;
const BAD_REQUEST: u16 = 400;
const FORBIDDEN: u16 = 403;
const TIMEOUT: u16 = 408;
const TOO_LARGE: u16 = 413;
const TOO_MANY: u16 = 429;

fn answered(id: RequestId, result: RawObject) -> Reply {
    match mcp_tasks_types::to_string(&JsonRpcResultResponse::new(id.clone(), result)) {
        Ok(text) => Reply::new(OK, text),
        Err(error) => refused(Some(id), Refusal::internal(&error)),
    }
}

/// The error of a request that was refused.
fn refused(id: Option<RequestId>, refusal: Refusal) -> Reply {
    let retry_after_ms = match &refusal {
        Refusal::TooEarly(early) => Some(early.retry_ms),
        _ => None,
    };
    let (status, error) = wire_error(refusal);
    let mut response = JsonRpcErrorResponse::new(error);
    if let Some(id) = id {
        response = response.with_id(id);
    }
    let text = mcp_tasks_types::to_string(&response).unwrap_or_else(|_| LAST_RESORT.to_owned());
    Reply::new(status, text).with_retry_after_ms(retry_after_ms)
}

/// Said when even an error cannot be written.
const LAST_RESORT: &str = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#;

impl Reply {
    /// For a message that is longer than the transport reads.
    pub fn too_large(limit: usize) -> Self {
        let what = format!("longer than {limit} bytes");
        with_status(TOO_LARGE, refused(None, Refusal::InvalidRequest(what)))
    }

    /// For a page of an origin, or a request to a host, that may not talk to us (X-96).
    pub fn origin_refused() -> Self {
        let what = "requests of this origin or host are not accepted".to_owned();
        with_status(FORBIDDEN, refused(None, Refusal::InvalidRequest(what)))
    }

    /// For a request that names no host, or several.
    pub fn host_unclear() -> Self {
        refused(None, Refusal::InvalidRequest("a request has one `Host`".to_owned()))
    }

    /// For a message whose end did not come, or whose framing is malformed.
    pub fn cut_off() -> Self {
        refused(None, Refusal::Parse("the body is cut off or malformed".to_owned()))
    }

    /// For a message that takes longer to arrive than the transport waits.
    pub fn too_slow() -> Self {
        let what = "the body did not come in time".to_owned();
        with_status(TIMEOUT, refused(None, Refusal::InvalidRequest(what)))
    }

    /// For a request whose id is still in use on the same connection (X-03).
    pub fn id_in_use(id: RequestId) -> Self {
        let what = "the id belongs to a request that is not answered yet".to_owned();
        refused(Some(id), Refusal::InvalidRequest(what))
    }

    /// For a subscription beyond what a connection may have.
    pub fn too_many_subscriptions(id: RequestId) -> Self {
        refused(Some(id), Refusal::Unserved("Too many subscriptions on this connection".to_owned()))
    }

    /// For a call beyond what the transport lets wait at a time.
    pub fn busy(id: RequestId) -> Self {
        refused(Some(id), Refusal::Unserved("Too many calls wait for their answers".to_owned()))
    }
}

fn with_status(status: u16, answer: Reply) -> Reply {
    answer.into_text().map_or_else(|| Reply::silent(status), |text| Reply::new(status, text))
}

/// Codes, data and statuses of the 2026-07-28 revision.
fn wire_error(refusal: Refusal) -> (u16, ErrorObject) {
    match refusal {
        Refusal::Parse(detail) => error(ErrorCode::ParseError, format!("Parse error: {detail}")),
        Refusal::InvalidRequest(detail) => {
            error(ErrorCode::InvalidRequest, format!("Invalid request: {detail}"))
        }
        Refusal::HeaderMismatch(detail) => {
            error(ErrorCode::HeaderMismatch, format!("Header mismatch: {detail}"))
        }
        Refusal::LegacyHandshake => with_data(
            error(
                ErrorCode::HeaderMismatch,
                format!("Header mismatch: header `{METHOD_HEADER}` is missing; {}", spoken()),
            ),
            &Supported::all(),
        ),
        // The one error with two statuses: what every request has to say is missing (X-21).
        Refusal::Meta(detail) => {
            (BAD_REQUEST, error(ErrorCode::InvalidParams, format!("Invalid params: {detail}")).1)
        }
        Refusal::Version { requested } => {
            let supported = SUPPORTED_VERSIONS.map(str::to_owned).to_vec();
            let data = UnsupportedProtocolVersionErrorData::new(supported, requested);
            let message = "Unsupported protocol version".to_owned();
            with_data(error(ErrorCode::UnsupportedProtocolVersion, message), &data)
        }
        Refusal::Method(method) if method == "initialize" => with_data(
            error(ErrorCode::MethodNotFound, format!("Method not found: `initialize`; {}", spoken())),
            &Supported::all(),
        ),
        Refusal::Method(method) => error(ErrorCode::MethodNotFound, format!("Method not found: `{method}`")),
        Refusal::Capability(required) => {
            let data = MissingRequiredClientCapabilityErrorData::new(*required);
            let message = "Missing required client capability".to_owned();
            with_data(error(ErrorCode::MissingRequiredClientCapability, message), &data)
        }
        Refusal::Params(detail) => error(ErrorCode::InvalidParams, format!("Invalid params: {detail}")),
        Refusal::Tool(name) => error(ErrorCode::InvalidParams, format!("Unknown tool: {name}")),
        Refusal::TaskExpired => {
            error(ErrorCode::InvalidParams, "Failed to retrieve task: Task has expired".to_owned())
        }
        Refusal::TaskNotFound => {
            error(ErrorCode::InvalidParams, "Failed to retrieve task: Task not found".to_owned())
        }
        // No code of the protocol says it (C-40), and the status does.
        Refusal::TooEarly(TooEarly { retry_ms }) => {
            let message = "Polled too often; wait as long as `pollIntervalMs` says".to_owned();
            let data = RetryAfter { retry_after_ms: retry_ms };
            (TOO_MANY, with_data(error(ErrorCode::InternalError, message), &data).1)
        }
        // No code of the protocol says it either.
        Refusal::Unserved(why) => error(ErrorCode::InternalError, why),
        Refusal::Internal => error(ErrorCode::InternalError, "Internal error".to_owned()),
        // Whatever code the tool chose: the request was served.
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

/// An error with the status that belongs to its code.
fn error(code: ErrorCode, message: String) -> (u16, ErrorObject) {
    (code.http_status().unwrap_or(OK), ErrorObject::new(code.code(), message))
}

fn with_data((status, error): (u16, ErrorObject), data: &impl Serialize) -> (u16, ErrorObject) {
    match RawJson::new(data) {
        Ok(data) => (status, error.with_data(data)),
        Err(_) => (status, error),
    }
}

/// When a poll that came too early may be made again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RetryAfter {
    retry_after_ms: u64,
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
