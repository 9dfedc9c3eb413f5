//! Code of others that panics: it ends what it was called for, and nothing else.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};

/// Does the work; nothing when code that it calls (clock, store, seal, a tool's own types) panics, which is logged.
pub(crate) async fn caught<T>(what: &str, work: impl Future<Output = T>) -> Option<T> {
    caught_in_place(what, pin!(work)).await
}

/// The same where the work is: a future that holds another one has room for it twice.
pub(crate) async fn caught_in_place<T>(what: &str, mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    // What a panic leaves half done is dropped with the future, which is not polled again.
    let done = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    });
    logged(what, done.await)
}

/// The same for what does not wait.
pub(crate) fn caught_at_once<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
    logged(what, catch_unwind(AssertUnwindSafe(work)))
}

fn logged<T>(what: &str, done: Result<T, Box<dyn Any + Send>>) -> Option<T> {
    let panic = match done {
        Ok(done) => return Some(done),
        Err(panic) => panic,
    };
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    tracing::error!(what, panic = text, "code that the engine calls panicked");
    None
}
