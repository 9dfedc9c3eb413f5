//! Whatever comes over a pair of streams: each line is answered by at most one, and the server still serves.

use mcp_tasks::transport::stdio::{StdioOptions, serve_stream};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    malformed::{Random, bytes},
    server_harness::{request, server},
};

/// C-95: broken JSON, wrong types, no UTF-8, no end of nesting, lines beyond the limit.
#[tokio::test]
async fn a_thousand_malformed_lines_are_answered_by_a_line_at_most_and_the_next_request_is_served() {
    let mut random = Random::of_seed(0x5eed_2026);
    let mut input = Vec::new();
    let mut too_long = 0;
    for number in 0..1_000 {
        input.extend(if number % 50 == 7 {
            too_long += 1;
            vec![b'x'; 300_000]
        } else {
            bytes(&mut random)
        });
        input.extend(random.one_of(&["\n", "\r\n", "\n\n", "\n \n"]).as_bytes());
    }
    input.extend(request(json!("last"), "tools/list", json!({})).to_string().into_bytes());
    let (client, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let options = StdioOptions::default().with_message_limit(200_000);
    let serving = tokio::spawn(serve_stream(server().await, reader, writer, options));
    let (mut output, mut sink) = tokio::io::split(client);
    let mut text = Vec::new();
    let writing = async {
        sink.write_all(&input).await.unwrap();
        // The last line has no line break, and the input ends while tasks run that wait for answers.
        sink.shutdown().await.unwrap();
    };
    let both = async { tokio::join!(writing, output.read_to_end(&mut text)).1.unwrap() };
    tokio::time::timeout(std::time::Duration::from_secs(60), both).await.expect("it hangs");
    serving.await.unwrap().unwrap();

    let text = String::from_utf8(text).unwrap();
    let (mut answers, mut refused_as_too_long, mut served) = (0, 0, false);
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        assert_ne!(message["error"]["code"], -32_603, "{line}");
        answers += usize::from(message.get("method").is_none());
        refused_as_too_long += usize::from(line.contains("longer than 200000 bytes"));
        served |= message["id"] == "last" && message["result"]["tools"].is_array();
    }
    assert!(served, "the last request was not served");
    assert!(answers <= 1_001, "{answers} answers");
    assert!(refused_as_too_long >= too_long, "{refused_as_too_long} of {too_long}");
}
