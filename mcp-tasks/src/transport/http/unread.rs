//! Connections whose client does not read: they are given up after a while.
//!
//! Nothing else ends them: the server waits for room in the connection before it does anything more for it, and a
//! client that is there and takes nothing looks to the system like a slow one.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A connection that fails when nothing could be written for so long.
#[derive(Debug)]
pub(super) struct Impatient<C> {
    connection: C,
    limit: Duration,
    /// Since when there is no room, until when it has to come.
    until: Option<Pin<Box<Sleep>>>,
}

impl<C> Impatient<C> {
    pub(super) fn new(connection: C, limit: Duration) -> Self {
        Self { connection, limit, until: None }
    }

    /// What a write came to, or that it has waited for too long.
    fn in_time<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.until = None;
            return written;
        }
        let limit = self.limit;
        // A peer that does not read is one in real time; no clock of tasks tells it.
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(until.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Impatient<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Impatient<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.in_time(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write_vectored(context, slices);
        self.in_time(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.connection).poll_flush(context);
        self.in_time(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.connection).poll_shutdown(context);
        self.in_time(ended, context)
    }
}

#[cfg(test)]
mod tests {
    use std::{io, time::Duration};

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        time::Instant,
    };

    use super::Impatient;

    const LIMIT: Duration = Duration::from_secs(30);

    /// P152: nobody holds a connection by not reading.
    #[tokio::test(start_paused = true)]
    async fn a_connection_that_nobody_reads_fails_when_its_time_is_over() {
        let (_client, server) = tokio::io::duplex(4);
        let mut server = Impatient::new(server, LIMIT);
        let start = Instant::now();
        assert_eq!(server.write_all(b"12345").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed(), LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_gets_everything() {
        let (mut client, server) = tokio::io::duplex(4);
        let mut server = Impatient::new(server, LIMIT);
        let writing = tokio::spawn(async move { server.write_all(&[7; 40]).await });
        for _ in 0..10 {
            // On the clock that stands still until nothing else is left to do.
            tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
            client.read_exact(&mut [0; 4]).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }
}
