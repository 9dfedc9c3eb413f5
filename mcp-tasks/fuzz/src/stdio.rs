//! Bytes on a pair of streams.

use mcp_tasks::transport::stdio::{StdioOptions, serve_stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{answer, server::with_server};

/// Sends the bytes and then, on a line of its own, a request that has to be served, and ends the input.
pub fn stdio(bytes: &[u8]) {
    with_server(async |server| {
        let (client, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = tokio::spawn(serve_stream(server, reader, writer, StdioOptions::default()));
        let (mut output, mut input) = tokio::io::split(client);
        let (mut text, lines) = (Vec::new(), bytes.split(|byte| *byte == b'\n').count());
        let writing = async {
            input.write_all(bytes).await.expect("it reads");
            input.write_all(b"\n").await.expect("it reads");
            input.write_all(answer::LIST.as_bytes()).await.expect("it reads");
            input.shutdown().await.expect("it reads");
        };
        let (_, read) = tokio::join!(writing, output.read_to_end(&mut text));
        read.expect("it writes");
        serving.await.expect("no panic").expect("it serves");
        let text = String::from_utf8(text).expect("text");
        let mut answers = 0;
        let mut still_there = false;
        for line in text.lines() {
            let message = answer::check(line);
            answers += usize::from(message.get("method").is_none());
            still_there |= message["id"] == "still there";
        }
        assert!(still_there, "{text}");
        assert!(answers <= lines + 1, "{answers} answers to {lines} lines and one");
    });
}
