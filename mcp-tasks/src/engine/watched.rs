//! A value that is read at any time and waited for.
//!
//! As tokio's `watch`, but with one list of those who wait in place of eight, each with a lock of its own: a run has
//! several such values, and hardly anybody ever waits for one of them.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(super) struct Watched<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T> Watched<T> {
    pub(super) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Notify::new() }
    }

    fn value(&self) -> MutexGuard<'_, T> {
        // No code that can panic runs while the value is half changed.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is read of the value as it is now.
    pub(super) fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.value())
    }

    /// Changes the value. Those who wait look again if the change says so.
    pub(super) fn change(&self, change: impl FnOnce(&mut T) -> bool) {
        let is_news = change(&mut self.value());
        if is_news {
            self.changed.notify_waiters();
        }
    }

    /// Waits until the value has what is looked for.
    pub(super) async fn wait<R>(&self, find: impl Fn(&T) -> Option<R>) -> R {
        let mut changed = pin!(self.changed.notified());
        loop {
            // A change after the look is not missed.
            changed.as_mut().enable();
            if let Some(found) = self.read(&find) {
                return found;
            }
            changed.as_mut().await;
            changed.set(self.changed.notified());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Watched;
    use std::sync::Arc;

    /// All who wait are told of every change, also of one that falls between their look and their sleep.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_who_waits_misses_a_change() {
        const LAST: u32 = 2_000;
        let number = Arc::new(Watched::new(0_u32));
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let number = Arc::clone(&number);
            waiting.spawn(async move {
                for wanted in 1..=LAST {
                    number.wait(|number| (*number >= wanted).then_some(())).await;
                }
            });
        }
        for wanted in 1..=LAST {
            number.change(|number| {
                *number = wanted;
                true
            });
            tokio::task::yield_now().await;
        }
        assert_eq!(waiting.join_all().await.len(), 4);
    }
}
