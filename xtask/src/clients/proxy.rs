//! A proxy that sends each request to the next server: a client that keeps its connection is told to make a new one.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A listening proxy. It goes on until the process ends.
pub(super) struct Proxy {
    url: String,
}

impl Proxy {
    /// Listens in front of servers with these URLs, which differ in their addresses alone.
    pub(super) fn before<'u>(urls: impl Iterator<Item = &'u str>) -> Result<Self, String> {
        let mut servers = Vec::new();
        let mut path = String::new();
        for url in urls {
            let rest = url.strip_prefix("http://").ok_or_else(|| format!("`{url}` is no URL of ours"))?;
            let (address, rest) = rest.split_once('/').unwrap_or((rest, ""));
            servers.push(address.to_owned());
            path = format!("/{rest}");
        }
        let failed = |error: io::Error| format!("the proxy cannot listen: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (servers, turn) = (Arc::new(servers), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = servers[turn.fetch_add(1, Ordering::Relaxed) % servers.len()].clone();
                // Whose connection breaks finds out by that.
                thread::spawn(move || pass(client, &server));
            }
        });
        Ok(Self { url: format!("http://{address}{path}") })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// Passes one request on, and everything that comes back.
fn pass(mut client: TcpStream, server: &str) -> io::Result<()> {
    let mut head = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let end = loop {
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let read = client.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..read]);
    };
    let mut server = TcpStream::connect(server)?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    server.write_all(&closing(&head[..end], &server.peer_addr()?.to_string()))?;
    server.write_all(&head[end..])?;
    let (mut more, mut onwards) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut more, &mut onwards);
        // Nothing comes from the client any more; a stream that it has left ends by that.
        let _ = onwards.shutdown(Shutdown::Write);
    });
    io::copy(&mut server, &mut client)?;
    client.shutdown(Shutdown::Both)
}

/// The head, but with the server's own name and so that the connection ends with the answer.
fn closing(head: &[u8], server: &str) -> Vec<u8> {
    let head = String::from_utf8_lossy(head);
    let kept = head.split("\r\n").filter(|line| {
        let name = line.split(':').next().unwrap_or_default();
        !name.eq_ignore_ascii_case("connection") && !name.eq_ignore_ascii_case("host")
    });
    let mut lines: Vec<String> = kept.map(str::to_owned).collect();
    lines.push(format!("Host: {server}"));
    lines.push("Connection: close".to_owned());
    lines.join("\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};

    use super::*;

    /// A server that answers with its name.
    fn named(name: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<String> =
                    lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                assert!(head.contains(&"Connection: close".to_owned()), "{head:?}");
                assert_eq!(head.iter().filter(|line| line.starts_with("Host")).count(), 1, "{head:?}");
                write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{name}").unwrap();
            }
        });
        format!("http://{address}/mcp")
    }

    #[test]
    fn each_request_goes_to_the_next_server() {
        let servers = [named("one"), named("two")];
        let proxy = Proxy::before(servers.iter().map(String::as_str)).unwrap();
        let address = proxy.url().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        let answers: Vec<String> = (0..4)
            .map(|_| {
                let mut stream = TcpStream::connect(&address).unwrap();
                stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n").unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer.rsplit("\r\n").next().unwrap().to_owned()
            })
            .collect();
        assert_eq!(answers, ["one", "two", "one", "two"]);
    }
}
