//! Callers who are told apart, on the wire.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response as AxumResponse;
use mcp_tasks::transport::http::{Authenticator, Denied, HttpOptions, OwnerExtension, Parts, router};
use mcp_tasks::{Owner, Server};
use serde_json::{Value, json};

use crate::http_client::{Response, listen, post_with, send};
use crate::server_harness::{request, server};

/// Two tenants, in one of which there are two people.
struct Tokens;

impl Authenticator for Tokens {
    async fn authenticate(&self, request: &Parts) -> Result<Owner, Denied> {
        match request.headers.get("authorization").map(|value| value.as_bytes()) {
            Some(b"Bearer alice") => Ok(Owner::new("one", "alice")),
            Some(b"Bearer bob") => Ok(Owner::new("one", "bob")),
            Some(b"Bearer other alice") => Ok(Owner::new("two", "alice")),
            Some(b"Bearer banned") => Err(Denied::forbidden()),
            Some(b"Bearer unknown yet") => Err(Denied::unavailable()),
            _ => Err(Denied::unauthorized(r#"Bearer realm="tasks""#)),
        }
    }
}

pub(crate) async fn authenticated(server: Server) -> SocketAddr {
    listen(server, HttpOptions::default().with_authenticator(Tokens)).await
}

pub(crate) async fn as_(address: SocketAddr, who: &str, message: &Value) -> Response {
    post_with(address, &[("Authorization", &format!("Bearer {who}"))], message).await
}

/// C-98, S-29, S-31, X-61: a valid id in the wrong tenant or of another person is the same to the byte as an id that
/// never was, for every method.
#[tokio::test]
async fn foreign_task_is_byte_for_byte_an_unknown_one() {
    let address = authenticated(server().await).await;
    let call = request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}));
    let created = as_(address, "alice", &call).await.json();
    let mine = created["result"]["taskId"].as_str().unwrap().to_owned();
    let unknown = format!("tsk_{}", "0".repeat(mine.len() - 4));
    let methods = [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {"approve": {"action": "decline"}}})),
        ("tasks/cancel", json!({})),
    ];
    for (method, params) in methods {
        let about = |id: &str| {
            let mut params = params.clone();
            params["taskId"] = json!(id);
            request(json!(1), method, params)
        };
        for stranger in ["bob", "other alice"] {
            let foreign = as_(address, stranger, &about(&mine)).await;
            let never = as_(address, stranger, &about(&unknown)).await;
            assert_eq!(foreign.code(), -32_602);
            assert_eq!((foreign.status, &foreign.body), (never.status, &never.body), "{method}");
        }
        // And nothing has happened to it.
        let get = request(json!(1), "tasks/get", json!({"taskId": mine}));
        assert_eq!(as_(address, "alice", &get).await.json()["result"]["status"], "working", "{method}");
    }
    let cancel = request(json!(1), "tasks/cancel", json!({"taskId": mine}));
    assert_eq!(as_(address, "alice", &cancel).await.json()["result"]["resultType"], "complete");
}

/// C-98, X-137: whoever is not let in is told so before anything of the message is looked at, and learns nothing of it.
#[tokio::test]
async fn request_without_credentials_is_refused_by_its_head() {
    let address = authenticated(server().await).await;
    let get = request(json!(1), "tasks/get", json!({"taskId": "tsk_unknown"}));
    let challenged = Some(r#"Bearer realm="tasks""#);
    for (who, status, challenge) in
        [("mallory", 401, challenged), ("banned", 403, None), ("unknown yet", 503, None)]
    {
        let refused = as_(address, who, &get).await;
        assert_eq!((refused.status, refused.header("www-authenticate")), (status, challenge));
        assert_eq!(refused.body, "");
    }
    let refused = send(address, "POST", &[("Content-Type", "application/json")], b"no json at all").await;
    assert_eq!(refused.status, 401);
}

async fn session(mut request: Request, next: Next) -> AxumResponse {
    if let Some(user) = request.headers().get("x-user").and_then(|user| user.to_str().ok()) {
        let owner = Owner::new("app", user);
        request.extensions_mut().insert(owner);
    }
    next.run(request).await
}

/// The application's own layer says who it is, and a request that no layer has spoken for is refused.
#[tokio::test]
async fn owner_may_come_from_a_layer_of_the_application() {
    let options = HttpOptions::default().with_authenticator(OwnerExtension);
    let application =
        axum::Router::new().nest_service("/mcp", router(server().await, options)).layer(from_fn(session));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, application).await });
    let call = request(json!(1), "tools/call", json!({"name": "endless", "arguments": {}}));
    let created = post_with(address, &[("X-User", "alice")], &call).await.json();
    let get = request(json!(1), "tasks/get", json!({"taskId": created["result"]["taskId"]}));
    assert_eq!(post_with(address, &[("X-User", "alice")], &get).await.code(), 0);
    assert_eq!(post_with(address, &[("X-User", "bob")], &get).await.code(), -32_602);
    assert_eq!(post_with(address, &[], &get).await.status, 403);
}
