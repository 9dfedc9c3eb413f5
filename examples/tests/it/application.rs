//! The endpoint in an application that authenticates by itself.

use std::process::Command;

use serde_json::{Value, json};

use crate::process::{HttpServer, request, until};

/// S-30, C-98, X-137: the application's middleware says whose a request is, and whom it does not know gets no further.
#[test]
fn owners_come_from_the_middleware_of_the_application() {
    let mut server = HttpServer::start(Command::new(env!("CARGO_BIN_EXE_application")).arg("0"));
    let ask = |session: &str, method: &str, params: Value| {
        server.answer_with("Cookie", session, &request(1, method, params))
    };
    let (alice, bob) = ("theme=dark; session=alice-session", "session=bob-session");
    let call = || json!({"name": "whoami", "arguments": {}});
    let created = ask(alice, "tools/call", call());
    let id = created["result"]["taskId"].clone();
    let completed = until("the task ends", || {
        let snapshot = ask(alice, "tasks/get", json!({"taskId": id}))["result"].clone();
        (snapshot["status"] == "completed").then_some(snapshot)
    });
    assert_eq!(completed["result"]["content"][0]["text"], "example/alice");
    let foreign = ask(bob, "tasks/get", json!({"taskId": id}));
    assert_eq!(foreign, ask(bob, "tasks/get", json!({"taskId": "tsk_0"})));
    assert_eq!(foreign["error"]["code"], -32_602);
    for stranger in ["session=made-up", "alice-session", ""] {
        assert_eq!(ask(stranger, "tasks/get", json!({"taskId": id})), Value::Null, "{stranger}");
    }
    server.process.signal("-TERM");
    assert!(server.process.ended().success());
}
