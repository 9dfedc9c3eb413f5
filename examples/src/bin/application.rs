//! The endpoint inside an application of one's own, whose middleware knows who its users are.
//!
//! Run `cargo run -p mcp-tasks-examples --bin application -- 8000`. `http://127.0.0.1:8000/` is a page of the
//! application; the endpoint is at `/mcp`, and takes requests with the header `Cookie: session=alice-session`, or
//! `bob-session`. The same layer stands before pages and endpoint, and what it has found out about a request, it puts
//! into its extensions, where `OwnerExtension` takes it: so the tool `whoami` says `example/alice`, and neither can
//! reach a task of the other's.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::{future::IntoFuture as _, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header::COOKIE},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
    routing::get,
};
use mcp_tasks::{
    MemoryStore, Owner, Server, TaskContext, ToolError, task_tool,
    transport::http::{HttpOptions, OwnerExtension, router},
};
use mcp_tasks_examples::command::{Failure, address, told_to_end};
use tokio::{net::TcpListener, sync::oneshot};

/// Who is logged in. An application makes these when somebody logs in, and has them somewhere else.
const SESSIONS: [(&str, &str); 2] = [("alice-session", "alice"), ("bob-session", "bob")];

/// How long requests in flight may still take when the program is told to end.
const DRAIN: Duration = Duration::from_secs(5);

/// What the application knows of its users.
struct Users;

impl Users {
    fn of(&self, request: &Request) -> Option<Owner> {
        let cookies = request.headers().get(COOKIE)?.to_str().ok()?;
        let session = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("session="))?;
        let (_, name) = SESSIONS.iter().find(|(known, _)| *known == session)?;
        Some(Owner::new("example", *name))
    }
}

/// The application's own layer: whoever it does not know goes no further, and the others are known from here on.
async fn authenticate(State(users): State<Arc<Users>>, mut request: Request, next: Next) -> Response {
    match users.of(&request) {
        Some(owner) => {
            request.extensions_mut().insert(owner);
            next.run(request).await
        }
        None => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// Says whose task this is.
#[task_tool(ttl = "1h")]
async fn whoami(ctx: TaskContext) -> Result<String, ToolError> {
    Ok(ctx.owner().to_string())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = address(&std::env::args().nth(1).ok_or("usage: application ADDRESS")?)?;
    let told_to_end = told_to_end()?;
    let server =
        Server::builder("application", env!("CARGO_PKG_VERSION")).store(MemoryStore::new()).tool::<whoami>();
    let server = server.build().await?;

    let options = HttpOptions::default().with_authenticator(OwnerExtension).with_loopback_hosts_only();
    let application = Router::new()
        .route("/", get(async || "a page of the application"))
        .nest_service("/mcp", router(server.clone(), options))
        .layer(from_fn_with_state(Arc::new(Users), authenticate));

    let listener = TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let subscriptions = server.clone();
    let (ending, ended) = oneshot::channel::<()>();
    let serving = axum::serve(listener, application).with_graceful_shutdown(async move {
        told_to_end.await;
        // They have no end of their own, and everything else is waited for.
        subscriptions.end_subscriptions();
        drop(ending);
    });
    let too_long = async {
        let _ = ended.await;
        // A client that is half-way into the head of a request would be waited for without end.
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        served = serving.into_future() => served?,
        () = too_long => {}
    }
    server.shutdown().await;
    Ok(())
}
