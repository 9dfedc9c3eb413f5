//! Several processes over one store, on one clock, within one test: each has a view of its own, which can die.

use std::sync::Arc;

use mcp_tasks::testing::{FaultyStore, ManualClock};
use mcp_tasks::{Clock, Store};

/// What one process sees of the store.
pub(crate) type View<S> = Arc<FaultyStore<Arc<S>>>;

/// How often everybody gets their turn before nothing more is expected of them.
const TURNS: usize = 48;

pub(crate) struct Processes<S: Store> {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<S>,
    views: Vec<View<S>>,
}

impl<S: Store> Processes<S> {
    pub(crate) fn new(store: S, clock: Arc<ManualClock>) -> Self {
        Self { clock, store: Arc::new(store), views: Vec::new() }
    }

    pub(crate) fn view(&mut self) -> View<S> {
        let view = Arc::new(FaultyStore::new(Arc::clone(&self.store)));
        self.views.push(Arc::clone(&view));
        view
    }

    /// Lets everything happen that happens without the time going on.
    pub(crate) async fn settle(&self) {
        let mut turns = 0;
        while turns < TURNS {
            tokio::task::yield_now().await;
            let quiet = self.views.iter().all(|view| view.calls_under_way() == 0);
            turns = if quiet { turns + 1 } else { 0 };
        }
    }

    /// Lets so much time pass, from one deadline to the next.
    pub(crate) async fn pass(&self, millis: u64) {
        let end = self.clock.now_millis() + i64::try_from(millis).unwrap();
        loop {
            self.settle().await;
            let now = self.clock.now_millis();
            if now >= end {
                return;
            }
            let next = self.clock.next_deadline().map_or(end, |next| next.unix_millis().clamp(now, end));
            self.clock.advance((next - now).unsigned_abs());
        }
    }
}
