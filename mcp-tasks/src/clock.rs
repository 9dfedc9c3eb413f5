//! Time and identifiers behind traits, so that a test decides both.
//!
//! This is the only module that reads the wall clock or the operating system's random source.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_tasks_types::{TaskId, Timestamp};

use crate::BoxFuture;

/// The time, and waiting for a time.
///
/// What a record holds and an engine is told is in milliseconds, because that is what the protocol speaks. A
/// [`Duration`] is how long somebody waits who is no engine: a body in [`Input::ask_within`](crate::Input::ask_within),
/// a transport in its options.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// The current time in milliseconds since 1970, for comparing: making a text of it is what costs.
    fn now_millis(&self) -> i64 {
        self.now().unix_millis()
    }

    /// Ends when `deadline` has come; at once when it lies in the past.
    fn sleep_until(&self, deadline: &Timestamp) -> BoxFuture<'static, ()>;
}

/// The time `millis` after `start`, as far as the calendar reaches.
pub(crate) fn after(start: &Timestamp, millis: u64) -> Timestamp {
    Timestamp::from_unix_millis(millis_after(start.unix_millis(), millis))
}

/// The same in milliseconds since 1970.
pub(crate) fn millis_after(start: i64, millis: u64) -> i64 {
    // The last instant of the year 9999; RFC 3339 has no later one.
    const LAST: i64 = 253_402_300_799_999;
    start.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)).min(LAST)
}

/// The wall clock, with tokio's timers.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl SystemClock {
    /// The wall clock.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.now_millis())
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else asks")]
    fn now_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep_until(&self, deadline: &Timestamp) -> BoxFuture<'static, ()> {
        let millis = deadline.unix_millis().saturating_sub(self.now().unix_millis());
        let wait = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        // This is the clock that everybody else asks.
        Box::pin(tokio::time::sleep(wait))
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn now_millis(&self) -> i64 {
        (**self).now_millis()
    }

    fn sleep_until(&self, deadline: &Timestamp) -> BoxFuture<'static, ()> {
        (**self).sleep_until(deadline)
    }
}

/// Where identifiers come from.
pub trait Ids: Send + Sync + 'static {
    /// A fresh task id, made of `A-Z a-z 0-9 _ -` only, so that it needs no encoding in a header.
    ///
    /// # Errors
    ///
    /// When the source of randomness gives none.
    fn task_id(&self) -> io::Result<TaskId>;

    /// A fresh name for one run of an engine, by which its leases are known.
    ///
    /// # Errors
    ///
    /// When the source of randomness gives none.
    fn worker_id(&self) -> io::Result<String>;
}

impl<I: Ids + ?Sized> Ids for std::sync::Arc<I> {
    fn task_id(&self) -> io::Result<TaskId> {
        (**self).task_id()
    }

    fn worker_id(&self) -> io::Result<String> {
        (**self).worker_id()
    }
}

/// Identifiers with 128 bits from the operating system.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RandomIds;

impl RandomIds {
    /// Identifiers with 128 bits from the operating system.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Ids for RandomIds {
    fn task_id(&self) -> io::Result<TaskId> {
        Ok(TaskId::new(format!("tsk_{}", random_hex()?)))
    }

    fn worker_id(&self) -> io::Result<String> {
        Ok(format!("wrk_{}", random_hex()?))
    }
}

fn random_hex() -> io::Result<String> {
    random_bytes::<16>().map(|bytes| hex(&bytes))
}

/// Bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

impl fmt::Debug for dyn Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

/// Waits for `future` no longer than until `deadline`; `None` when the deadline came first.
pub(crate) async fn until<T>(
    clock: &dyn Clock,
    deadline: &Timestamp,
    future: impl Future<Output = T>,
) -> Option<T> {
    let sleep: Pin<Box<dyn Future<Output = ()> + Send>> = clock.sleep_until(deadline);
    tokio::select! {
        biased;
        value = future => Some(value),
        () = sleep => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-92, C-97: 128 random bits, in characters that travel in any header, and no two alike.
    #[test]
    fn task_ids_are_random_and_need_no_encoding() {
        let ids = RandomIds::new();
        let made: std::collections::BTreeSet<String> =
            (0..1000).map(|_| ids.task_id().unwrap().as_str().to_owned()).collect();
        assert_eq!(made.len(), 1000);
        for id in made {
            let digits = id.strip_prefix("tsk_").unwrap();
            assert_eq!(digits.len(), 32);
            assert!(
                digits.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()),
                "{id}"
            );
        }
    }

    #[test]
    fn a_lifetime_longer_than_the_calendar_ends_with_it() {
        let last = after(&Timestamp::from_unix_millis(0), u64::MAX);
        assert!(last.as_str().starts_with("9999-12-31T23:59:59"));
    }
}
