//! The protocol server: one message in, one answer out, for every transport alike.
//!
//! What a request has to pass, and in which order, stands in `server/admission.rs`; the one place
//! where a refusal becomes an error of the wire is `server/dispatch.rs`.
//! The server remembers nothing of a client between two requests: what a client may do, it declares
//! each time (X-12), and what lasts is in the engine's store. What it counts (subscriptions, early
//! polls) and which tools are offered is of this process alone, and may be lost.
//! What lives differently long is of different types (S-41): what a request says of itself lives as
//! long as the request, [`RequestContext`] and what `admission` reads; what is in flight as long as
//! its answer takes, in the transport; a call that asks until its client has come back often
//! enough, the `Continuation` in `states`; a task until its lifetime is over, a
//! [`TaskRecord`](crate::TaskRecord).

mod admission;
mod builder;
mod capability;
mod discover;
mod dispatch;
mod envelope;
mod identity;
mod listen;
mod members;
mod method;
mod mirrored;
mod outgoing;
mod params;
mod polls;
mod refusal;
mod reply;
pub mod routing;
mod states;
mod tasks;
mod telling;
mod tools;
mod whole;

use std::sync::Arc;

use mcp_tasks_types::v2026_07_28::{self, Implementation};
use tokio::sync::watch;

use self::{
    admission::Rules, discover::Prepared, identity::Identity, listen::Places, polls::Polls,
    routing::ReceivedHeaders, states::States,
};
pub use self::{
    builder::ServerBuilder,
    envelope::Incoming,
    outgoing::{Outgoing, OutgoingMessages},
    reply::Reply,
    tasks::snapshot,
};
use crate::{engine::Engine, owner::Owner};

/// The versions that are served, as discover lists them and -32022 repeats them (S-03).
const SUPPORTED_VERSIONS: [&str; 1] = [v2026_07_28::PROTOCOL_VERSION];

/// A server with its tools and its store. Clones are handles of the same server.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_tasks::server::{Incoming, RequestContext};
/// use mcp_tasks::{Server, ToolError, task_tool};
///
/// /// Says what it was told.
/// #[task_tool]
/// async fn echo(text: String) -> Result<String, ToolError> {
///     Ok(text)
/// }
///
/// let server = Server::builder("example", "1.0.0").tool::<echo>().build().await?;
///
/// // What a transport does with each message:
/// let context = RequestContext::new(server.owner().clone());
/// let message = Incoming::read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
/// let reply = server.answer(&context, message).await;
/// assert_eq!(reply.status(), 400);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    engine: Engine,
    owner: Owner,
    identity: Identity,
    prepared: Prepared,
    rules: Rules,
    lenient_inputs: bool,
    states: States,
    /// Whether subscriptions have to end.
    ending: watch::Sender<bool>,
    places: Places,
    max_subscription_ms: Option<u64>,
    /// Where early polls are limited.
    polls: Option<Polls>,
}

impl Server {
    /// Begins a server with the name and version that clients are shown.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(Implementation::new(name, version))
    }

    /// Answers one message. What goes to the client before the answer goes to the context's
    /// [`Outgoing`]; a subscription is answered when it ends.
    ///
    /// Dropping the future cancels the request and nothing else: a task that was begun goes on
    /// (S-18).
    pub async fn answer(&self, context: &RequestContext, message: Incoming) -> Reply {
        self.inner.answer(context, message).await
    }

    /// Ends the server: takes no new work, tells bodies to stop, waits for them for a bounded time (see
    /// [`ServerBuilder::shutdown_grace_ms`]), and gives the store back. Tasks with `restart = "rerun"` go on
    /// after the next start; others fail and say so.
    ///
    /// The transports that serve a whole process do this when serving ends:
    #[cfg_attr(
        feature = "stdio",
        doc = "[`serve_stdio`](crate::transport::stdio::serve_stdio) when the input ends,"
    )]
    #[cfg_attr(
        feature = "http",
        doc = "[`serve_http`](crate::transport::http::serve_http) when it is told to."
    )]
    /// Whoever nests a router or serves streams calls it when their own serving is over.
    ///
    /// A process that is killed instead, as by SIGTERM without a handler, loses nothing that was
    /// acknowledged: its file is free at once, and the next start does the same to its tasks.
    pub async fn shutdown(&self) {
        self.end_subscriptions();
        self.inner.engine.shutdown().await;
    }

    /// Ends all subscriptions with their results, and every new one after its acknowledgement. For whoever
    /// serves a nested router: a server that waits for answers in flight would wait for subscriptions without
    /// end. [`shutdown`](Self::shutdown) does it too.
    pub fn end_subscriptions(&self) {
        self.inner.ending.send_replace(true);
    }

    /// Offers a tool again, or offers it no longer: it is not listed then and calls of it are calls of an unknown
    /// tool, while its tasks go on. Subscriptions to the list are told. Gives whether there is such a tool (X-152).
    pub fn offer_tool(&self, name: &str, offered: bool) -> bool {
        self.inner.prepared.offer(name, offered)
    }

    /// Whose tasks requests are about that nobody authenticated.
    pub fn owner(&self) -> &Owner {
        &self.inner.owner
    }

    /// The engine that runs the tasks.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }
}

/// What is known about a request besides its bytes: who sends it, and the headers it came with.
#[derive(Clone, Debug)]
pub struct RequestContext {
    owner: Owner,
    headers: Option<ReceivedHeaders>,
    outgoing: Option<Outgoing>,
}

impl RequestContext {
    /// A request without headers, as on stdio.
    pub fn new(owner: Owner) -> Self {
        Self { owner, headers: None, outgoing: None }
    }

    /// A request that came over HTTP: its routing headers have to agree with its body.
    #[must_use]
    pub fn with_headers(mut self, headers: ReceivedHeaders) -> Self {
        self.headers = Some(headers);
        self
    }

    /// A request whose transport carries messages before its answer. Without that there are no subscriptions, and
    /// what tools tell while they work is dropped.
    #[must_use]
    pub fn with_outgoing(mut self, outgoing: Outgoing) -> Self {
        self.outgoing = Some(outgoing);
        self
    }

    fn outgoing(&self) -> Option<&Outgoing> {
        self.outgoing.as_ref()
    }

    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn headers(&self) -> Option<&ReceivedHeaders> {
        self.headers.as_ref()
    }
}
