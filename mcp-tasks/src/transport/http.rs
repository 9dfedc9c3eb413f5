//! Serving over HTTP: one endpoint that takes `POST`, as an axum router that nests in yours.
//!
//! There are no sessions and no streams of the server's own: `GET` and `DELETE` get 405, session
//! headers are ignored (X-94, X-95).
//! A server that binds by itself binds where it is told, and [`serve_http`] on a loopback address
//! also refuses requests whose `Host` is another machine.

mod origin;

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_TYPE, HOST, ORIGIN},
    },
    response::Response,
    routing::post,
    serve::ListenerExt as _,
};
use tokio::{net::TcpListener, sync::oneshot};

use crate::{
    error::with_causes,
    server::{Incoming, Reply, RequestContext, Server, routing::ReceivedHeaders},
    transport::DEFAULT_MESSAGE_LIMIT,
};

/// How HTTP requests are let in.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    allowed_origins: Vec<String>,
    message_limit: usize,
    loopback_hosts_only: bool,
    drain: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            allowed_origins: Vec::new(),
            message_limit: DEFAULT_MESSAGE_LIMIT,
            loopback_hosts_only: false,
            drain: Duration::from_secs(5),
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

    /// The largest body that is read, in bytes.
    #[must_use]
    pub fn with_message_limit(mut self, bytes: usize) -> Self {
        self.message_limit = bytes;
        self
    }

    /// Refuses requests whose `Host` is not this machine. Right for a server on a loopback
    /// address, wrong behind a proxy.
    #[must_use]
    pub fn with_loopback_hosts_only(mut self) -> Self {
        self.loopback_hosts_only = true;
        self
    }

    /// How long answers in flight may still take when a server that binds by itself shuts down.
    #[must_use]
    pub fn with_drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }
}

/// The endpoint, at the root of a router: nest it where you want it, for instance at `/mcp`.
///
/// Authentication and further limits are layers around it.
///
/// ```
/// use mcp_tasks::Server;
/// use mcp_tasks::transport::http::{HttpOptions, router};
///
/// fn application(server: Server) -> axum::Router {
///     let options = HttpOptions::default().with_allowed_origin("https://app.example");
///     axum::Router::new().nest("/mcp", router(server, options))
/// }
/// ```
pub fn router(server: Server, options: HttpOptions) -> Router {
    let endpoint = Arc::new(Endpoint { server, options });
    Router::new().route("/", post(receive)).with_state(endpoint)
}

/// Binds an address, loopback or not as you say, for the endpoint at `/mcp`. Port 0 takes any; then
/// [`BoundHttp::url`] says which.
///
/// # Errors
///
/// When the address cannot be bound.
pub async fn bind_http(server: Server, address: SocketAddr, options: HttpOptions) -> io::Result<BoundHttp> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let options = if address.ip().is_loopback() { options.with_loopback_hosts_only() } else { options };
    Ok(BoundHttp {
        listener,
        address,
        drain: options.drain,
        router: Router::new().nest("/mcp", router(server, options)),
    })
}

/// Binds and serves in one call, until `shutdown` is done.
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

    /// Serves until `shutdown` is done; then answers in flight get a moment to leave.
    ///
    /// # Errors
    ///
    /// When the listener fails.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        // An answer is one small write: waiting for more to send only delays it.
        let listener = self.listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(error = with_causes(&error), "TCP_NODELAY is not available");
            }
        });
        let (begins, begun) = oneshot::channel();
        let shutdown = async move {
            shutdown.await;
            // Nobody waits for it if serving has failed already.
            let _ = begins.send(());
        };
        let drained = async {
            if begun.await.is_ok() {
                tokio::time::sleep(self.drain).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        let serving = axum::serve(listener, self.router).with_graceful_shutdown(shutdown);
        tokio::select! {
            served = serving => served,
            () = drained => Ok(()),
        }
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
    if !is_from_here(&parts.headers, options) {
        return response(Reply::origin_refused());
    }
    let Ok(bytes) = to_bytes(body, options.message_limit).await else {
        return response(Reply::too_large(options.message_limit));
    };
    let headers = ReceivedHeaders::read(
        parts
            .headers
            .iter()
            .map(|(name, value): (&HeaderName, &HeaderValue)| (name.as_str(), value.as_bytes())),
    );
    let context = RequestContext::new(server.owner().clone()).with_headers(headers);
    response(server.answer(&context, Incoming::read(bytes)).await)
}

fn is_from_here(headers: &HeaderMap, options: &HttpOptions) -> bool {
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let origins = headers.get_all(ORIGIN);
    let origin_is_fine =
        origins.iter().all(|origin| origin::is_allowed(&text(origin), &options.allowed_origins));
    let host_is_fine = !options.loopback_hosts_only
        || headers.get(HOST).is_none_or(|host| origin::is_loopback_host(&text(host)));
    origin_is_fine && host_is_fine
}

fn response(answer: Reply) -> Response {
    let status = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let text = answer.into_text();
    let has_text = text.is_some();
    let mut response = Response::new(text.map_or_else(Body::empty, Body::from));
    *response.status_mut() = status;
    if has_text {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}
