//! Saying that this process is there: the leases of what runs here are renewed, whatever else goes on.
//!
//! A task of its own, so that neither many due tasks nor slow writes let a lease lapse. It goes on while the engine
//! shuts down, until the last run is settled or the store is given back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_tasks_types::{TaskId, Timestamp};
use tokio::sync::watch;

use super::core::{Core, Running};
use super::timer::BACK_OFF_MS;
use crate::clock::{after, millis_after};
use crate::error::with_causes;
use crate::panic::caught;
use crate::store::StoreError;

/// Renews leases until the engine is gone or at its end.
pub(super) async fn keep_leases(core: Weak<Core>, mut closing: watch::Receiver<bool>) {
    loop {
        let Some(strong) = core.upgrade() else { return };
        if strong.running().is_over() {
            return;
        }
        let beat = Arc::clone(&strong.beat);
        let Some(sleep) = caught("renewing leases", strong.beat_once()).await else {
            drop(strong);
            // The clock may be what panicked.
            tokio::time::sleep(Duration::from_millis(BACK_OFF_MS)).await;
            continue;
        };
        drop(strong);
        tokio::select! {
            slept = caught("sleeping", sleep) => if slept.is_none() {
                // The clock may be what panicked.
                tokio::time::sleep(Duration::from_millis(BACK_OFF_MS)).await;
            },
            () = beat.notified() => {}
            // The engine is gone, if it does not close.
            changed = closing.changed() => if changed.is_err() { return },
        }
    }
}

impl Core {
    /// Renews what has to be renewed, and gives the time until the next time.
    async fn beat_once(&self) -> crate::BoxFuture<'static, ()> {
        // Whoever begins something from here on wakes the task again.
        self.next_beat.store(i64::MAX, Ordering::SeqCst);
        let wake = match self.heartbeat().await {
            Ok(wake) => wake,
            // The store is closed already.
            Err(_) if self.running().abandoned => None,
            Err(err) => {
                tracing::error!(error = with_causes(&err), "leases could not be renewed, trying again");
                Some(after(&self.now(), BACK_OFF_MS.min(self.settings.lease_ms / 3)))
            }
        };
        let Some(wake) = wake else { return Box::pin(std::future::pending()) };
        self.next_beat.store(wake.unix_millis(), Ordering::SeqCst);
        self.clock.sleep_until(&wake)
    }

    /// Renews the leases of what runs here and of what is being taken up, if it is time to. After that none of them
    /// ends within two thirds of a lease.
    pub(super) async fn heartbeat(&self) -> Result<Option<Timestamp>, StoreError> {
        if self.running().is_idle() {
            return Ok(None);
        }
        let now = self.now();
        let at = self.heartbeat_at.load(Ordering::SeqCst);
        if now.unix_millis() < at {
            return Ok(Some(Timestamp::from_unix_millis(at)));
        }
        let ids: Vec<TaskId> = {
            let running = self.running();
            running.runs.keys().chain(&running.taking).cloned().collect()
        };
        self.store.renew(&self.worker, &ids, &after(&now, self.settings.lease_ms)).await?;
        let next = after(&now, self.settings.lease_ms / 3);
        self.heartbeat_at.store(next.unix_millis(), Ordering::SeqCst);
        Ok(Some(next))
    }

    /// Sees to it that something that begins with a lease given at this time, in milliseconds since 1970, has it
    /// renewed.
    pub(super) fn expect_heartbeat(&self, running: &Running, given: i64) {
        if running.is_idle() {
            let at = millis_after(given, self.settings.lease_ms / 3);
            self.heartbeat_at.store(at, Ordering::SeqCst);
        }
    }

    /// Wakes the task that renews leases if it would sleep too long.
    pub(super) fn wake_heartbeat(&self) {
        if self.heartbeat_at.load(Ordering::SeqCst) < self.next_beat.load(Ordering::SeqCst) {
            self.beat.notify_one();
        }
    }
}
