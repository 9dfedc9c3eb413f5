//! What the README of the types shows is what a server takes.

use std::path::Path;

use mcp_tasks::types::v2026_07_28::{
    ClientCapabilities, GetTaskRequest, GetTaskRequestParams, RequestMetaObject,
};
use mcp_tasks::types::{routing_headers, tasks_extension, to_string};

use crate::server_harness::{ask_with, server};

/// A text without its white space, so that it may be wrapped in one place and not in the other.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Carries statements out that a text has to show.
macro_rules! as_shown {
    ($text:expr; $($statement:tt)*) => {
        let code = squeezed(stringify!($($statement)*));
        assert!(squeezed($text).contains(&code), "the README does not show {code}");
        $($statement)*
    };
}

/// C-22: the first request that somebody copies declares the extension, so that only the task is not found.
#[tokio::test]
async fn the_first_request_that_the_types_show_is_not_refused() {
    let types = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-tasks-types");
    let readme = std::fs::read_to_string(types.join("README.md")).unwrap();
    as_shown! { &readme;
        let capabilities = ClientCapabilities::new().with_extensions(tasks_extension());
        let meta = RequestMetaObject::new("2026-07-28", capabilities);
        let request = GetTaskRequest::new(1, GetTaskRequestParams::new(meta, "tsk_1"));
    }
    let headers = routing_headers(&request);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_ref())).collect();
    let body = serde_json::from_str(&to_string(&request).unwrap()).unwrap();
    let (status, answer) = ask_with(&server().await, &headers, &body).await;
    assert_eq!((status, answer["error"]["code"].as_i64()), (200, Some(-32_602)), "{answer}");
    assert_eq!(answer["id"], 1, "{answer}");
}
