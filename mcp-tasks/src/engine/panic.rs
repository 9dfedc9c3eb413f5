//! Code of others that panics: it ends what it was called for, and nothing else.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

/// Does the work; nothing when code that it calls (clock, store, seal, a tool's own types) panics, which is logged.
pub(super) async fn caught<T>(what: &str, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    // What a panic leaves half done is dropped with the future, which is not polled again.
    let done = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    });
    logged(what, done.await)
}

/// The same for what does not wait.
pub(super) fn caught_at_once<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
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
