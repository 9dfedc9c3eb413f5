//! Serving over HTTP: one endpoint that takes `POST`, as an axum router that nests in yours.
//!
//! There are no sessions and no streams of the server's own: `GET` and `DELETE` get 405, session
//! headers are ignored (X-94, X-95). A request that tells something before its answer, as a
//! subscription does, is answered with an event stream; every other one in plain JSON.
//! A server that binds by itself binds where it is told, and [`serve_http`] on a loopback address
//! also refuses requests whose `Host` is another machine.
//!
//! Without an [`Authenticator`] all requests are about the server's one owner, also behind a layer of yours that keeps
//! strangers out: everyone whom it lets in can read, answer and cancel every task whose id they have. With one, each
//! request is about the tasks of its owner, and those of others do not exist for it.
//!
//! A body has a limit in size and in time wherever the router is nested. What a connection may cost before and after
//! that is decided where it is accepted: `axum::serve` waits without limit for the head of a request and for a client
//! that does not read. A server that binds by itself gives up both in time, takes heads of about 64 KiB and a hundred
//! headers at most (431), and takes as many connections as the system lets it have. Whoever serves a nested router
//! where strangers can connect puts a proxy in front of it, or serves it with hyper's `header_read_timeout`,
//! `max_buf_size` and `max_headers`. A client that is gone without a word is found out by the system, since something
//! is written to each stream now and then ([`HttpOptions::with_keep_alive`]).

mod authenticate;
mod events;
mod origin;
mod unread;

use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody as _},
    extract::{Request, State},
    http::{
        HeaderName, HeaderValue, StatusCode, Version,
        header::{CONTENT_TYPE, HOST, ORIGIN, RETRY_AFTER},
    },
    response::Response,
    routing::post,
    serve::Listener,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

pub use self::authenticate::{Authenticator, Denied, OwnerExtension};
use self::{authenticate::Gate, events::Begun, unread::Impatient};
use crate::{
    error::with_causes,
    server::{Incoming, Outgoing, Reply, RequestContext, Server, routing::ReceivedHeaders},
    transport::DEFAULT_MESSAGE_LIMIT,
};

/// The head of a request, as the `http` crate has it.
#[doc(no_inline)]
pub use axum::http::request::Parts;

/// How many headers a request may have, and how large its head may be: far more than a client needs, and little enough
/// for many connections of strangers.
const MAX_HEADERS: usize = 100;
const MAX_HEAD: usize = 64 << 10;

/// How HTTP requests are let in.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    allowed_origins: Vec<String>,
    allowed_hosts: Vec<String>,
    message_limit: usize,
    loopback_hosts_only: bool,
    drain: Duration,
    head_timeout: Duration,
    body_timeout: Duration,
    write_timeout: Duration,
    keep_alive: Duration,
    event_delay: Duration,
    gate: Gate,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            message_limit: DEFAULT_MESSAGE_LIMIT,
            loopback_hosts_only: false,
            drain: Duration::from_secs(5),
            head_timeout: Duration::from_secs(20),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            event_delay: Duration::from_millis(5),
            gate: Gate::default(),
        }
    }
}

impl HttpOptions {
    /// Lets pages of that origin in, besides those of this machine.
    #[must_use]
    pub fn with_allowed_origin(mut self, origin: impl Into<String>) -> Self {
        self.allowed_origins.push(origin.into());
        self
    }

    /// The largest body that is read, in bytes: [4 MiB](DEFAULT_MESSAGE_LIMIT), unless set. A larger one is refused
    /// with status 413.
    #[must_use]
    pub fn with_message_limit(mut self, bytes: usize) -> Self {
        self.message_limit = bytes;
        self
    }

    /// Refuses requests whose `Host` is neither this machine nor an [allowed one](Self::with_allowed_host): the guard
    /// of a server on a loopback address against DNS rebinding. [`bind_http`] sets it on such an address.
    #[must_use]
    pub fn with_loopback_hosts_only(mut self) -> Self {
        self.loopback_hosts_only = true;
        self
    }

    /// Lets requests to that `Host` in where only those to this machine are, as of a proxy on the same machine that
    /// passes the client's on: the value as it is sent, with its port if it has one.
    #[must_use]
    pub fn with_allowed_host(mut self, host: impl Into<String>) -> Self {
        self.allowed_hosts.push(host.into());
        self
    }

    /// How long answers in flight may still take when a server that binds by itself shuts down: 5 s, unless
    /// set. Zero drops them at once.
    #[must_use]
    pub fn with_drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// How long a connection may take for the head of its next request, also while it is idle, when a
    /// server binds by itself: 20 s, unless set.
    #[must_use]
    pub fn with_head_timeout(mut self, timeout: Duration) -> Self {
        self.head_timeout = timeout;
        self
    }

    /// How long the body of a request may take to arrive: 30 s, unless set. One that takes longer is refused with
    /// status 408.
    #[must_use]
    pub fn with_body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// How long a client may read nothing of what there is for it before its connection is closed, when a server binds
    /// by itself: a minute, unless set.
    #[must_use]
    pub fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Has each request tell whose it is. Without, all are about the server's one owner.
    #[must_use]
    pub fn with_authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.gate = Gate::new(authenticator);
        self
    }

    /// How long an event stream may be silent before a comment is sent that keeps it open: 15 s, unless set.
    /// For proxies that close what is silent for less.
    #[must_use]
    pub fn with_keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = interval;
        self
    }

    /// How long a message on an event stream waits for what follows it, so that they leave together: 5 ms, unless set.
    /// Where `TCP_NODELAY` is not set on connections, an answer that follows later than that, and within 40 ms, waits
    /// for the rest of those. Where it is set, zero is best; a server that binds by itself does both.
    ///
    /// ```
    /// use axum::serve::ListenerExt as _;
    /// use mcp_tasks::{Server, transport::http::{HttpOptions, router}};
    ///
    /// async fn serve(server: Server, listener: tokio::net::TcpListener) -> std::io::Result<()> {
    ///     let options = HttpOptions::default().with_event_delay(std::time::Duration::ZERO);
    ///     let listener = listener.tap_io(|connection| {
    ///         // A connection without the option is slower and nothing else.
    ///         let _ = connection.set_nodelay(true);
    ///     });
    ///     axum::serve(listener, axum::Router::new().nest_service("/mcp", router(server, options))).await
    /// }
    /// ```
    #[must_use]
    pub fn with_event_delay(mut self, delay: Duration) -> Self {
        self.event_delay = delay;
        self
    }
}

/// The endpoint, at the root of a router: nest it where you want it, for instance at `/mcp`. With
/// `nest_service` it is found with and without a slash at the end of its path, with `nest` only without.
///
/// Who may send requests, and whose tasks they are about, is said by an [`Authenticator`] in the options. What else the
/// application around it has to see to is said [above](self); when it ends, it calls [`Server::end_subscriptions`] and,
/// when nothing is in flight any more, [`Server::shutdown`]. It gives what is in flight a few seconds and no more:
/// axum's `with_graceful_shutdown` waits without end for a client that is half-way into the head of a request.
///
/// ```
/// use mcp_tasks::Server;
/// use mcp_tasks::transport::http::{HttpOptions, router};
///
/// fn application(server: Server) -> axum::Router {
///     let options = HttpOptions::default().with_allowed_origin("https://app.example");
///     axum::Router::new().nest_service("/mcp", router(server, options))
/// }
/// ```
pub fn router(server: Server, options: HttpOptions) -> Router {
    let endpoint = Arc::new(Endpoint { server, options });
    Router::new().route("/", post(receive)).with_state(endpoint)
}

/// Binds an address, loopback or not as you say, for the endpoint at `/mcp`. Port 0 takes any; then
/// [`BoundHttp::url`] says which. On a loopback address, requests are refused whose `Host` is neither this machine nor
/// one that [is allowed](HttpOptions::with_allowed_host).
///
/// # Errors
///
/// When the address cannot be bound.
pub async fn bind_http(server: Server, address: SocketAddr, options: HttpOptions) -> io::Result<BoundHttp> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on `{address}`: {error}")))?;
    let address = listener.local_addr()?;
    let options = if address.ip().is_loopback() { options.with_loopback_hosts_only() } else { options };
    // Each write leaves at once, by `TCP_NODELAY`.
    let options = options.with_event_delay(Duration::ZERO);
    Ok(BoundHttp {
        listener,
        address,
        drain: options.drain,
        head_timeout: options.head_timeout,
        write_timeout: options.write_timeout,
        server: server.clone(),
        router: Router::new().nest_service("/mcp", router(server, options)),
    })
}

/// Binds and serves in one call, until `shutdown` is done; then the server ends as by
/// [`Server::shutdown`].
///
/// A process that is to end in an orderly way listens for what tells it to, as with tokio's feature
/// `signal`:
///
/// ```no_run
/// # async fn main_part(server: mcp_tasks::Server) -> std::io::Result<()> {
/// use mcp_tasks::transport::http::serve_http;
///
/// # #[cfg(unix)] {
/// use tokio::signal::unix::{SignalKind, signal};
///
/// let mut terminate = signal(SignalKind::terminate())?;
/// let shutdown = async move { drop(terminate.recv().await) };
/// serve_http(server, ([127, 0, 0, 1], 8000).into(), shutdown).await
/// # }
/// # #[cfg(not(unix))] Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When the address cannot be bound, or serving fails.
pub async fn serve_http(
    server: Server,
    address: SocketAddr,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    bind_http(server, address, HttpOptions::default()).await?.serve(shutdown).await
}

/// An endpoint that has its address and waits for `serve`.
#[derive(Debug)]
pub struct BoundHttp {
    listener: TcpListener,
    address: SocketAddr,
    drain: Duration,
    head_timeout: Duration,
    write_timeout: Duration,
    server: Server,
    router: Router,
}

impl BoundHttp {
    /// The address in use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The endpoint's URL.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `shutdown` is done; then answers in flight get a moment to leave, and the server ends
    /// as by [`Server::shutdown`].
    ///
    /// # Errors
    ///
    /// None at present: a connection that fails is its client's affair, and accepting is tried again.
    pub async fn serve(mut self, shutdown: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.head_timeout);
        http.max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD);
        let stop = watch::Sender::new(());
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                (stream, _) = Listener::accept(&mut self.listener) => {
                    let (http, router) = (http.clone(), self.router.clone());
                    // An answer is one small write: waiting for more to send only delays it.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(error = with_causes(&error), "TCP_NODELAY is not available");
                    }
                    let stream = Impatient::new(stream, self.write_timeout);
                    connections.spawn(serve_connection(http, stream, router, stop.subscribe()));
                }
                Some(_) = connections.join_next() => {}
            }
        }
        // Nobody new.
        drop(self.listener);
        // What has no end of its own would take the whole drain.
        self.server.end_subscriptions();
        stop.send_replace(());
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.drain, drained).await.is_err() {
            tracing::debug!("requests in flight were given up, the server stops");
        }
        self.server.shutdown().await;
        Ok(())
    }
}

async fn serve_connection(
    http: http1::Builder,
    stream: Impatient<TcpStream>,
    router: Router,
    mut stop: watch::Receiver<()>,
) {
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
    let served = tokio::select! {
        served = &mut connection => served,
        _ = stop.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(error = with_causes(&error), "a connection failed");
    }
}

#[derive(Debug)]
struct Endpoint {
    server: Server,
    options: HttpOptions,
}

/// One `POST`: who may talk to us (step 1 of R-1), then the message.
async fn receive(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let Endpoint { server, options } = &*endpoint;
    let (parts, body) = request.into_parts();
    if !has_one_host(&parts) {
        return response(Reply::host_unclear());
    }
    if !is_from_here(&parts, options) {
        return response(Reply::origin_refused());
    }
    let owner = match options.gate.owner(&parts, server.owner()).await {
        Ok(owner) => owner,
        Err(denied) => return refused(denied),
    };
    let bytes = match tokio::time::timeout(options.body_timeout, read(body, options.message_limit)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(refused)) => return response(refused),
        Err(_) => return response(Reply::too_slow()),
    };
    let headers = ReceivedHeaders::read(
        parts
            .headers
            .iter()
            .map(|(name, value): (&HeaderName, &HeaderValue)| (name.as_str(), value.as_bytes())),
    );
    let (outgoing, messages) = Outgoing::channel(1);
    let context = RequestContext::new(owner).with_headers(headers).with_outgoing(outgoing);
    let server = server.clone();
    let answering = Box::pin(async move { server.answer(&context, Incoming::read(bytes)).await });
    match events::begin(answering, messages, options.event_delay).await {
        Begun::Answered(reply) => response(reply),
        Begun::Streaming(events) => events::response(events, options.keep_alive),
    }
}

/// Whoever is not let in learns nothing of the protocol behind.
fn refused(denied: Denied) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = denied.status();
    response.headers_mut().extend(denied.header());
    response
}

/// Reads a body, unless it is too long, as soon as that is known, or is cut off.
async fn read(mut body: Body, limit: usize) -> Result<Vec<u8>, Reply> {
    if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > limit) {
        return Err(Reply::too_large(limit));
    }
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| {
            tracing::debug!(error = with_causes(&error), "a body cannot be read");
            Reply::cut_off()
        })?;
        // Anything but data are trailers.
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - bytes.len() {
            return Err(Reply::too_large(limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// RFC 9112, section 3.2: a request of HTTP/1.1 has one `Host`, and none of any version has two. What is called without
/// a connection, or by HTTP/2, may have the host in its target alone.
fn has_one_host(parts: &Parts) -> bool {
    match parts.headers.get_all(HOST).iter().count() {
        0 => parts.version != Version::HTTP_11 || parts.uri.authority().is_some(),
        hosts => hosts == 1,
    }
}

/// Whether all that says from where and for whom a request is may stand in it. A target that names a host goes before
/// `Host`, and who reads the one must not differ from who reads the other.
fn is_from_here(parts: &Parts, options: &HttpOptions) -> bool {
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let origins = parts.headers.get_all(ORIGIN);
    let origin_is_fine =
        origins.iter().all(|origin| origin::is_allowed(&text(origin), &options.allowed_origins));
    let named = parts.uri.authority().map(|authority| authority.as_str().to_owned());
    let mut hosts = parts.headers.get_all(HOST).iter().map(text).chain(named);
    let host_is_fine = !options.loopback_hosts_only
        || hosts.all(|host| origin::is_host_allowed(&host, &options.allowed_hosts));
    origin_is_fine && host_is_fine
}

fn response(answer: Reply) -> Response {
    let retry_after_ms = answer.retry_after_ms();
    let status = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let text = answer.into_text();
    let has_text = text.is_some();
    let mut response = Response::new(text.map_or_else(Body::empty, Body::from));
    *response.status_mut() = status;
    if has_text {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(retry_after_ms) = retry_after_ms {
        // In whole seconds, and not too early then.
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_ms.div_ceil(1_000)));
    }
    response
}
