//! What connections get when a program is told to end.

use std::process::Command;

use serde_json::{Value, json};

use crate::process::{Connection, HttpServer, call, request, until};

/// The programs that serve HTTP by themselves, each with a header that lets a caller in.
fn programs() -> [(Command, &'static str); 3] {
    let program = |path: &str, arguments: &[&str]| {
        let mut command = Command::new(path);
        command.args(arguments);
        command
    };
    [
        (program(env!("CARGO_BIN_EXE_report"), &[]), ""),
        (program(env!("CARGO_BIN_EXE_owners"), &["0"]), "Authorization: Bearer alice-token\r\n"),
        (program(env!("CARGO_BIN_EXE_questions"), &["0"]), ""),
    ]
}

/// X-87: whoever listens when the process is told to end gets the result of its subscription, and not just the
/// end of its connection.
#[test]
fn sigterm_closes_subscriptions_with_their_results() {
    for (mut program, header) in programs() {
        let mut server = HttpServer::start(&mut program);
        let mut connection = Connection::open(&server);
        let listen = request(5, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
        connection.send(&connection.post(header, &listen));
        connection.read_until("notifications/subscriptions/acknowledged");
        server.process.signal("-TERM");
        let rest = connection.rest();
        let message = rest.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        let message: Value = serde_json::from_str(message.expect(&rest)).unwrap();
        assert!(message["id"] == 5 && message["result"].is_object(), "{program:?}: {message}");
        assert!(rest.ends_with("\r\n0\r\n\r\n"), "{program:?}: the stream is cut: {rest}");
        assert!(server.process.ended().success(), "{program:?}");
    }
}

/// A request that has begun to arrive when the process is told to end is answered.
#[test]
fn sigterm_leaves_time_for_what_is_in_flight() {
    for (mut program, header) in programs() {
        let mut server = HttpServer::start(&mut program);
        let mut connection = Connection::open(&server);
        let text = connection.post(header, &request(6, "tools/list", json!({})));
        let (first, rest) = text.split_at(text.len() - 10);
        connection.send(&first.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
        // It is at the body.
        connection.read_until("100 Continue");
        server.process.signal("-TERM");
        until("nobody new is let in", || Connection::try_open(&server).err());
        connection.send(rest);
        let answer = connection.rest();
        assert!(answer.contains(r#""id":6"#) && answer.contains(r#""result":"#), "{program:?}: {answer}");
        assert!(server.process.ended().success(), "{program:?}");
    }
}

/// A client that never ends the head of its request keeps no program from ending.
#[test]
fn half_a_head_does_not_keep_a_program_from_ending() {
    let mut application = Command::new(env!("CARGO_BIN_EXE_application"));
    application.arg("0");
    let mut report = Command::new(env!("CARGO_BIN_EXE_report"));
    for program in [&mut application, &mut report] {
        let mut server = HttpServer::start(program);
        let mut connection = Connection::open(&server);
        connection.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-");
        // Who came later is served, so the first one is at its head.
        server.answer(None, "tools/call", call("small"));
        server.process.signal("-TERM");
        assert!(server.process.ended().success(), "{program:?}");
    }
}
