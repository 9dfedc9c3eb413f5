//! Tasks that cannot be dealt with at the moment, so that they keep nobody from the others.

use std::collections::BTreeMap;

use mcp_tasks_types::{TaskId, Timestamp};

use super::timer::BACK_OFF_MS;
use crate::clock::after;

/// The longest time between two tries.
const MAX_WAIT_MS: u64 = 60_000;

/// When to look at them again, at growing distances.
#[derive(Default)]
pub(super) struct Troubles(BTreeMap<TaskId, Trouble>);

struct Trouble {
    until: Timestamp,
    wait_ms: u64,
}

impl Troubles {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_waiting(&self, id: &TaskId, now: &Timestamp) -> bool {
        self.0.get(id).is_some_and(|trouble| trouble.until > *now)
    }

    /// Gives whether it was there before.
    pub(super) fn add(&mut self, id: &TaskId, now: &Timestamp) -> bool {
        let before = self.0.get(id).map(|trouble| trouble.wait_ms);
        let wait_ms = before.map_or(BACK_OFF_MS, |wait_ms| (wait_ms * 2).min(MAX_WAIT_MS));
        self.0.insert(id.clone(), Trouble { until: after(now, wait_ms), wait_ms });
        before.is_some()
    }

    pub(super) fn solved(&mut self, id: &TaskId) {
        self.0.remove(id);
    }

    /// Forgets those that wait no longer and are not among what is due: somebody else dealt with them.
    pub(super) fn forget_others(&mut self, due: &[TaskId], now: &Timestamp) {
        if self.0.is_empty() {
            return;
        }
        let due: std::collections::BTreeSet<&TaskId> = due.iter().collect();
        self.0.retain(|id, trouble| trouble.until > *now || due.contains(id));
    }

    /// When the first one is looked at again.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.0.values().map(|trouble| &trouble.until).min().cloned()
    }
}
