//! Time and identifiers behind traits, so that a test decides both.
//!
//! This is the only module that reads the wall clock or the operating system's random source.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::oneshot;

use crate::BoxFuture;

/// The time, and waiting for a time.
///
/// Durations are milliseconds everywhere in this crate, because that is what the protocol speaks.
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
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    sleepers: Mutex<BTreeMap<(i64, u64), oneshot::Sender<()>>>,
    next: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: &Timestamp) -> Self {
        Self { now: AtomicI64::new(now.unix_millis()), sleepers: Mutex::default(), next: AtomicU64::new(0) }
    }

    /// Moves the time on and wakes everybody whose deadline has come, the earliest first.
    pub fn advance(&self, millis: u64) {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now.fetch_add(millis, Ordering::SeqCst) + millis;
        let later = sleepers.split_off(&(now + 1, 0));
        let due = std::mem::replace(&mut *sleepers, later);
        drop(sleepers);
        for sender in due.into_values() {
            // A sleeper that was dropped in the meantime has nobody to wake.
            let _ = sender.send(());
        }
    }

    /// The deadline of the next sleeper that is still waiting.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        sleepers.retain(|_, sender| !sender.is_closed());
        sleepers.keys().next().map(|(deadline, _)| Timestamp::from_unix_millis(*deadline))
    }
}

impl Default for ManualClock {
    /// A clock that shows the first second of 2026.
    fn default() -> Self {
        Self::new(&Timestamp::from_unix_millis(1_767_225_600_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.now_millis())
    }

    fn now_millis(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    fn sleep_until(&self, deadline: &Timestamp) -> BoxFuture<'static, ()> {
        // The time is read under the lock that `advance` holds while it moves, so that no deadline falls between.
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        if deadline.unix_millis() <= self.now.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(()));
        }
        let (sender, receiver) = oneshot::channel();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        sleepers.insert((deadline.unix_millis(), turn), sender);
        Box::pin(async move {
            if receiver.await.is_err() {
                // The clock is gone, and with it the time that was waited for.
                std::future::pending::<()>().await;
            }
        })
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
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex(&bytes))
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

/// Identifiers that count up; for tests only, since anybody can guess them.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn task_id(&self) -> io::Result<TaskId> {
        Ok(TaskId::new(format!("tsk_{:032x}", self.0.fetch_add(1, Ordering::Relaxed) + 1)))
    }

    fn worker_id(&self) -> io::Result<String> {
        Ok(format!("wrk_{:032x}", self.0.fetch_add(1, Ordering::Relaxed) + 1))
    }
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

    #[tokio::test]
    async fn manual_clock_wakes_a_sleeper_only_when_its_time_has_come() {
        let clock = ManualClock::default();
        let deadline = after(&clock.now(), 100);
        let sleep = tokio::spawn(clock.sleep_until(&deadline));
        clock.advance(99);
        assert_eq!(clock.next_deadline().unwrap(), deadline);
        clock.advance(1);
        sleep.await.unwrap();
        assert!(clock.next_deadline().is_none());
        clock.sleep_until(&deadline).await;
    }

    #[test]
    fn a_lifetime_longer_than_the_calendar_ends_with_it() {
        let last = after(&Timestamp::from_unix_millis(0), u64::MAX);
        assert!(last.as_str().starts_with("9999-12-31T23:59:59"));
    }
}
