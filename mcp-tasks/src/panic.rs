//! Code of others that panics: it ends what it was called for, and nothing else.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

/// Does the work; nothing when code that it calls (clock, store, seal, a tool's own types) panics, which is logged.
pub(crate) async fn caught<T>(what: &str, work: impl Future<Output = T>) -> Option<T> {
    caught_in_place(what, pin!(work)).await
}

/// The same where the work is: a future that holds another one has room for it twice.
pub(crate) async fn caught_in_place<T>(what: &str, mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    logged(what, unwinding(work.as_mut()).await)
}

/// The same for what does not wait.
pub(crate) fn caught_at_once<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
    logged(what, catch_unwind(AssertUnwindSafe(work)).map_err(Panicked::of))
}

/// Does the work where it is, and gives the panic to whoever has to tell of it.
pub(crate) async fn unwinding<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Result<T, Panicked> {
    // What a panic leaves half done is dropped with the future, which is not polled again; what it shares is behind
    // locks that know of panics.
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(Panicked::of(panic))),
    })
    .await
}

fn logged<T>(what: &str, done: Result<T, Panicked>) -> Option<T> {
    done.inspect_err(|Panicked(panic)| tracing::error!(what, panic, "code of others panicked")).ok()
}

/// A panic, by its text.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl Panicked {
    fn of(payload: Box<dyn Any + Send>) -> Self {
        let payload = match payload.downcast::<String>() {
            Ok(text) => return Self(*text),
            Err(payload) => payload,
        };
        Self(payload.downcast_ref::<&str>().map_or("no text", |text| *text).to_owned())
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panicked: {}", self.0)
    }
}

impl StdError for Panicked {}
