//! A client that answers an answer at once: what it sends arrives while the work behind the answer is not quite over.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use serde_json::{Value, json};

use super::*;

/// Hands the next line over in the moment in which an answer can be read, before anything else goes on.
struct Prompt {
    dispatch: Arc<Mutex<Dispatch>>,
    line: Mutex<Option<Line>>,
}

impl Wake for Prompt {
    fn wake(self: Arc<Self>) {
        if let Some(line) = self.line.lock().unwrap().take() {
            self.dispatch.lock().unwrap().take(line);
        }
    }
}

fn line(id: u64, method: &str, mut params: Value) -> Line {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    Line::Message(message.to_string().into_bytes())
}

/// The answers to some lines and to one that is sent as soon as the first answer is there.
async fn answers(options: StdioOptions, first: Vec<Line>, prompt: Line) -> Vec<Value> {
    let server = Server::builder("prompt", "1").build().await.unwrap();
    let (sender, mut queue) = mpsc::channel(16);
    let mut left = first.len() + 1;
    let dispatch = Arc::new(Mutex::new(Dispatch::new(server, sender, &options)));
    let waker =
        Waker::from(Arc::new(Prompt { dispatch: Arc::clone(&dispatch), line: Mutex::new(Some(prompt)) }));
    assert!(matches!(queue.poll_recv(&mut Context::from_waker(&waker)), Poll::Pending));
    for line in first {
        dispatch.lock().unwrap().take(line);
    }
    let mut answers = Vec::new();
    while left > 0 {
        tokio::task::yield_now().await;
        if let Ok(mut dispatch) = dispatch.try_lock() {
            let done = std::pin::pin!(dispatch.next_done());
            let _ = done.poll(&mut Context::from_waker(Waker::noop()));
        }
        while let Ok(text) = queue.try_recv() {
            answers.push(serde_json::from_str(&text).unwrap());
            left -= 1;
        }
    }
    answers
}

/// an id is free in the moment in which its answer can be read.
#[tokio::test]
async fn an_id_is_free_as_soon_as_its_answer_can_be_read() {
    for method in ["tools/list", "tools/call"] {
        let first = line(7, method, json!({"name": "nothing"}));
        let next = line(7, "server/discover", json!({}));
        let answers = answers(StdioOptions::default(), vec![first], next).await;
        assert!(answers[1]["result"]["supportedVersions"].is_array(), "{answers:?}");
    }
}

/// P150: so is the place of a call, and the place of the one that waited for it.
#[tokio::test]
async fn a_place_is_free_as_soon_as_its_answer_can_be_read() {
    let options = StdioOptions::default().with_calls(1).with_message_limit(256 * 1024);
    let padding = "x".repeat(240 * 1024);
    let call = |id| line(id, "tools/call", json!({"name": "nothing", "padding": padding}));
    // One is worked on, four wait, and the sixth would be one too many.
    let answers = answers(options, (1..6).map(call).collect(), call(6)).await;
    let mut told: Vec<_> =
        answers.iter().map(|answer| (answer["id"].as_u64(), answer["error"]["code"].as_i64())).collect();
    told.sort_unstable();
    assert_eq!(told, [1, 2, 3, 4, 5, 6].map(|id| (Some(id), Some(-32_602))));
}

/// what was read ahead can be cancelled, and the rest is answered as soon as somebody reads.
#[tokio::test]
async fn lines_without_room_can_be_cancelled_and_are_answered_later() {
    let server = Server::builder("ahead", "1").build().await.unwrap();
    let (sender, mut queue) = mpsc::channel(1);
    let mut dispatch = Dispatch::new(server, sender, &StdioOptions::default().with_message_limit(1_000));
    let mut lines = 0;
    while dispatch.ahead.len() < 500 {
        assert!(dispatch.may_read());
        dispatch.take(line(lines, "tools/list", json!({})));
        lines += 1;
    }
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": lines - 1},
    });
    dispatch.take(Line::Message(cancel.to_string().into_bytes()));
    let mut answered = Vec::new();
    while dispatch.is_busy() {
        tokio::select! {
            () = dispatch.next_done() => {}
            Some(text) = queue.recv() => {
                answered.push(serde_json::from_str::<Value>(&text).unwrap()["id"].as_u64().unwrap());
            }
        }
    }
    while let Ok(text) = queue.try_recv() {
        answered.push(serde_json::from_str::<Value>(&text).unwrap()["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..lines - 1));
    assert_eq!((dispatch.ahead_bytes, dispatch.running_bytes), (0, 0));
}
