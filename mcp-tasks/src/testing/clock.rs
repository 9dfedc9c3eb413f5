//! Time that stands still and identifiers that count up.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::{Notify, oneshot};

use crate::BoxFuture;
use crate::clock::{Clock, Ids};

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    sleepers: Mutex<BTreeMap<(i64, u64), oneshot::Sender<()>>>,
    next: AtomicU64,
    came: Notify,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: &Timestamp) -> Self {
        Self {
            now: AtomicI64::new(now.unix_millis()),
            sleepers: Mutex::default(),
            next: AtomicU64::new(0),
            came: Notify::new(),
        }
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

    /// Waits for somebody who sleeps, or comes back at once if one came since the last time.
    pub(crate) async fn sleeper_came(&self) {
        self.came.notified().await;
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
        self.came.notify_one();
        Box::pin(async move {
            if receiver.await.is_err() {
                // The clock is gone, and with it the time that was waited for.
                std::future::pending::<()>().await;
            }
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::after;

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
}
