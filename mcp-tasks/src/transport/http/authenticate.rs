//! Who sends a request.

use std::{fmt, future::Future, sync::Arc};

use axum::http::{HeaderName, HeaderValue, StatusCode, header::WWW_AUTHENTICATE, request::Parts};

use crate::{BoxFuture, owner::Owner};

/// Tells from the head of a request whose it is.
///
/// It is asked once for each request, before the body is read, and nothing about a task is looked at before it has
/// answered. The owner must come from what it has verified, never from what the request merely says: whoever is given
/// an owner can read, answer and cancel all tasks of that owner whose ids they have.
///
/// ```
/// use mcp_tasks::transport::http::{Authenticator, Denied, HttpOptions, Parts};
/// use mcp_tasks::Owner;
///
/// struct Tokens(std::collections::HashMap<String, Owner>);
///
/// impl Authenticator for Tokens {
///     async fn authenticate(&self, request: &Parts) -> Result<Owner, Denied> {
///         let header = request.headers.get("authorization").and_then(|value| value.to_str().ok());
///         let token = header.and_then(|header| header.strip_prefix("Bearer "));
///         token.and_then(|token| self.0.get(token)).cloned().ok_or_else(|| Denied::unauthorized("Bearer"))
///     }
/// }
///
/// let tokens = [("s3cret".to_owned(), Owner::new("example", "alice"))];
/// let options = HttpOptions::default().with_authenticator(Tokens(tokens.into()));
/// # let _ = options;
/// ```
pub trait Authenticator: Send + Sync + 'static {
    /// The owner of what the request is about.
    ///
    /// # Errors
    ///
    /// When the request is not let in.
    fn authenticate(&self, request: &Parts) -> impl Future<Output = Result<Owner, Denied>> + Send;
}

/// Takes the [`Owner`] that a middleware of yours has put into the request's extensions, for an application that
/// authenticates by layers. A request without one is a fault of the application and is refused.
///
/// ```
/// use axum::{extract::Request, middleware::{Next, from_fn}, response::Response};
/// use mcp_tasks::transport::http::{HttpOptions, OwnerExtension, router};
/// use mcp_tasks::{Owner, Server};
///
/// async fn session(mut request: Request, next: Next) -> Response {
///     // Whatever your application knows of its users.
///     request.extensions_mut().insert(Owner::new("example", "alice"));
///     next.run(request).await
/// }
///
/// fn application(server: Server) -> axum::Router {
///     let options = HttpOptions::default().with_authenticator(OwnerExtension);
///     axum::Router::new().nest_service("/mcp", router(server, options)).layer(from_fn(session))
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is a mark without members")]
pub struct OwnerExtension;

impl Authenticator for OwnerExtension {
    async fn authenticate(&self, request: &Parts) -> Result<Owner, Denied> {
        request.extensions.get::<Owner>().cloned().ok_or_else(|| {
            tracing::error!("no layer of the application has said whose the request is");
            Denied::forbidden()
        })
    }
}

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    status: StatusCode,
    challenge: Option<HeaderValue>,
}

impl Denied {
    /// Status 401: credentials are missing or wrong. The challenge says what would help, as in `WWW-Authenticate`, for
    /// instance `Bearer`; what cannot stand in a header is left out.
    pub fn unauthorized(challenge: impl AsRef<str>) -> Self {
        let challenge = HeaderValue::from_str(challenge.as_ref()).ok();
        Self { status: StatusCode::UNAUTHORIZED, challenge }
    }

    /// Status 403: whoever it is may not come in.
    #[must_use]
    pub fn forbidden() -> Self {
        Self { status: StatusCode::FORBIDDEN, challenge: None }
    }

    /// Status 503: it cannot be told now who it is, as when whoever knows cannot be reached. The client may try again.
    #[must_use]
    pub fn unavailable() -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, challenge: None }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn header(self) -> Option<(HeaderName, HeaderValue)> {
        self.challenge.map(|challenge| (WWW_AUTHENTICATE, challenge))
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the request is not let in ({})", self.status)
    }
}

impl std::error::Error for Denied {}

/// The same behind a pointer.
pub(super) trait DynAuthenticator: Send + Sync {
    fn authenticate<'a>(&'a self, request: &'a Parts) -> BoxFuture<'a, Result<Owner, Denied>>;
}

impl<A: Authenticator> DynAuthenticator for A {
    fn authenticate<'a>(&'a self, request: &'a Parts) -> BoxFuture<'a, Result<Owner, Denied>> {
        Box::pin(Authenticator::authenticate(self, request))
    }
}

/// An authenticator, or that there is none.
#[derive(Clone, Default)]
pub(super) struct Gate(Option<Arc<dyn DynAuthenticator>>);

impl Gate {
    pub(super) fn new(authenticator: impl Authenticator) -> Self {
        Self(Some(Arc::new(authenticator)))
    }

    /// Whose the request is; where nobody is authenticated, everybody's tasks are this owner's.
    pub(super) async fn owner(&self, request: &Parts, anonymous: &Owner) -> Result<Owner, Denied> {
        match &self.0 {
            Some(authenticator) => authenticator.authenticate(request).await,
            None => Ok(anonymous.clone()),
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "authenticated" } else { "open" })
    }
}
