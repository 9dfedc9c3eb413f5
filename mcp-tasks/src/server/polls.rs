//! How often an owner may ask about tasks earlier than they were told to (C-40).
//!
//! Whoever waits between two polls as long as the answer said is never refused, however many tasks they have. What
//! comes earlier draws on an allowance of the owner's, and so does asking about what is not theirs, which nobody told
//! them when to ask about again: so it makes no difference whether such a task is somebody else's or never was.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_tasks_types::TaskId;

use crate::owner::Owner;

/// The time in which an allowance that was used up is whole again.
const MINUTE_US: i64 = 60_000_000;

/// How many owners and tasks are remembered at most. What does not fit is not limited.
const MOST: usize = 100_000;

/// How long nothing is looked for that is not needed any more.
const SWEEP_MS: u64 = 1_000;

/// What is remembered of polls.
#[derive(Debug)]
pub(super) struct Polls {
    /// What an early poll takes from the allowance.
    cost_us: i64,
    remembered: Mutex<Remembered>,
}

#[derive(Debug)]
struct Remembered {
    owners: BTreeMap<Owner, OfOwner>,
    /// Owners and tasks together, at least; exact after a sweep.
    count: usize,
    /// At which count to look for what is not needed any more.
    sweep_at: usize,
    /// When that was done last.
    swept_ms: i64,
}

#[derive(Debug, Default)]
struct OfOwner {
    /// When the whole allowance is there again, in microseconds.
    whole_at: i64,
    due: BTreeMap<TaskId, Due>,
}

/// When a poll of a task is no longer early, and how long that is after each, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: i64,
    wait: i64,
}

impl Due {
    fn after(wait: i64, now_ms: i64) -> Self {
        Self { at: now_ms.saturating_add(wait), wait }
    }

    /// What is further off than it ever was is so because a clock was set back, and that is nobody's haste.
    fn is_early(self, now_ms: i64) -> bool {
        now_ms < self.at && self.at <= now_ms.saturating_add(self.wait)
    }
}

/// A poll that came too early, and in how many milliseconds it no longer would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooEarly {
    pub(super) retry_ms: u64,
}

impl Polls {
    /// So many early polls of an owner in a minute, one at least.
    pub(super) fn new(early_per_minute: u32) -> Self {
        Self {
            cost_us: (MINUTE_US / i64::from(early_per_minute.max(1))).max(1),
            remembered: Mutex::new(Remembered {
                owners: BTreeMap::new(),
                count: 0,
                sweep_at: 1_024,
                swept_ms: 0,
            }),
        }
    }

    /// Before a task is looked at: whether it is time to, or the allowance pays for it. Of what this owner was not told
    /// of lately that is not known before.
    pub(super) fn begin(&self, owner: &Owner, id: &TaskId, now_ms: i64) -> Result<(), TooEarly> {
        let mut remembered = self.remembered();
        let Some(of_owner) = remembered.owners.get_mut(owner) else { return Ok(()) };
        let Some(due) = of_owner.due.get(id).copied() else { return Ok(()) };
        if due.is_early(now_ms) {
            of_owner
                .pay(self.cost_us, now_ms)
                .map_err(|paid_at| TooEarly::until(paid_at.min(due.at), now_ms))?;
        }
        // Others that come before this one is answered are early.
        of_owner.due.insert(id.clone(), Due::after(due.wait, now_ms));
        Ok(())
    }

    /// After a task that was told to be asked about again after so many milliseconds.
    pub(super) fn told(&self, owner: &Owner, id: &TaskId, interval_ms: u64, now_ms: i64) {
        // Clocks and networks are not exact; a tenth is nobody's haste.
        let wait_ms = i64::try_from(interval_ms - interval_ms / 10).unwrap_or(i64::MAX);
        let mut remembered = self.remembered();
        if remembered.has_room(now_ms) {
            let due = Due::after(wait_ms, now_ms);
            let added = remembered.of(owner).due.insert(id.clone(), due).is_none();
            remembered.count += usize::from(added);
        }
    }

    /// After what turned out not to be a task of this owner's, or to be none any more.
    pub(super) fn missed(&self, owner: &Owner, id: &TaskId, now_ms: i64) -> Result<(), TooEarly> {
        let mut remembered = self.remembered();
        let forgotten = remembered.owners.get_mut(owner).and_then(|of_owner| of_owner.due.remove(id));
        if forgotten.is_some() {
            // It was in time, or paid for.
            remembered.count -= 1;
            return Ok(());
        }
        if !remembered.has_room(now_ms) {
            return Ok(());
        }
        remembered.of(owner).pay(self.cost_us, now_ms).map_err(|paid_at| TooEarly::until(paid_at, now_ms))
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        // Nothing here panics between two changes that belong together.
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OfOwner {
    /// Takes an early poll from the allowance; else when it could be.
    fn pay(&mut self, cost_us: i64, now_ms: i64) -> Result<(), i64> {
        let now_us = now_ms.saturating_mul(1_000);
        // Not further off than when all of it is used up, where the clock was set back.
        self.whole_at = self.whole_at.clamp(now_us, now_us.saturating_add(MINUTE_US));
        let whole_at = self.whole_at.saturating_add(cost_us);
        let over_us = whole_at.saturating_sub(now_us) - MINUTE_US;
        if over_us > 0 {
            return Err(now_ms.saturating_add((over_us + 999) / 1_000));
        }
        self.whole_at = whole_at;
        Ok(())
    }
}

impl Remembered {
    fn of(&mut self, owner: &Owner) -> &mut OfOwner {
        if !self.owners.contains_key(owner) {
            self.count += 1;
        }
        self.owners.entry(owner.clone()).or_default()
    }

    /// Whether one more owner and task can be remembered, after what has become needless was forgotten.
    fn has_room(&mut self, now_ms: i64) -> bool {
        // Swept so seldom that each poll pays for a few steps of it, and that it takes no time where nothing can go.
        if self.count + 2 > self.sweep_at && now_ms.abs_diff(self.swept_ms) >= SWEEP_MS {
            self.swept_ms = now_ms;
            let now_us = now_ms.saturating_mul(1_000);
            self.count = 0;
            self.owners.retain(|_, of_owner| {
                // A task that is due is as good as one that is not remembered.
                of_owner.due.retain(|_, due| due.is_early(now_ms));
                let needed = !of_owner.due.is_empty() || of_owner.whole_at > now_us;
                self.count += usize::from(needed) + of_owner.due.len();
                needed
            });
            self.sweep_at = (self.count * 2).clamp(1_024, MOST);
        }
        self.count + 2 <= MOST
    }
}

impl TooEarly {
    fn until(then_ms: i64, now_ms: i64) -> Self {
        Self { retry_ms: u64::try_from(then_ms.saturating_sub(now_ms)).unwrap_or(0).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> Owner {
        Owner::new("t", name)
    }

    /// C-40: nobody who waits as long as they were told is refused, whatever else they have done.
    #[test]
    fn polls_that_wait_are_never_refused() {
        let (polls, alice) = (Polls::new(3), owner("alice"));
        let ids: Vec<TaskId> = (0..50).map(|number| TaskId::new(format!("tsk_{number}"))).collect();
        let mut now = 1_000_000;
        let nobodys = TaskId::new("tsk_nobodys");
        while polls.missed(&alice, &nobodys, now).is_ok() {}
        for _ in 0..100 {
            for id in &ids {
                assert!(polls.begin(&alice, id, now).is_ok());
                polls.told(&alice, id, 1_000, now);
            }
            now += 900;
        }
    }

    /// C-40: early polls have an allowance for each owner, which comes back with time, and the refusal says when.
    #[test]
    fn early_polls_draw_on_an_allowance() {
        let (polls, id) = (Polls::new(6), TaskId::new("tsk_1"));
        let mut now = 1_000_000;
        for name in ["alice", "bob"] {
            assert_eq!(polls.begin(&owner(name), &id, now), Ok(()));
            polls.told(&owner(name), &id, 60_000, now);
            for _ in 0..6 {
                assert_eq!(polls.begin(&owner(name), &id, now), Ok(()));
            }
            assert_eq!(polls.begin(&owner(name), &id, now), Err(TooEarly { retry_ms: 10_000 }));
        }
        now += 10_000;
        assert_eq!(polls.begin(&owner("bob"), &id, now), Ok(()));
        assert!(polls.begin(&owner("bob"), &id, now).is_err());
        // It is no longer early before the allowance is there again.
        polls.told(&owner("bob"), &id, 100, now);
        assert_eq!(polls.begin(&owner("bob"), &id, now), Err(TooEarly { retry_ms: 90 }));
        assert_eq!(polls.begin(&owner("bob"), &id, now + 90), Ok(()));
    }

    /// A clock that is set back makes nobody early, and no allowance is gone for longer than a minute.
    #[test]
    fn clocks_may_be_set_back() {
        let (polls, alice, id) = (Polls::new(2), owner("alice"), TaskId::new("tsk_1"));
        let (later, now) = (7_200_000, 3_600_000);
        polls.told(&alice, &id, 1_000, later);
        while polls.begin(&alice, &id, later).is_ok() {}
        assert_eq!(polls.begin(&alice, &id, now), Ok(()));
        assert_eq!(polls.begin(&alice, &id, now), Err(TooEarly { retry_ms: 900 }));
        let nobodys = TaskId::new("tsk_nobodys");
        assert_eq!(polls.missed(&alice, &nobodys, now), Err(TooEarly { retry_ms: 30_000 }));
        assert_eq!(polls.missed(&alice, &nobodys, now + 30_000), Ok(()));
    }

    /// What is remembered is bounded, and what is not needed any more goes.
    #[test]
    fn what_is_remembered_is_bounded() {
        let polls = Polls::new(1);
        let told = |owner_number: usize, number: usize, now| {
            let id = TaskId::new(format!("tsk_{number}"));
            polls.told(&owner(&owner_number.to_string()), &id, 1_000, now);
        };
        for number in 0..MOST + 10_000 {
            told(number % 1_000, number, 0);
        }
        let entries = || {
            let remembered = polls.remembered();
            remembered.owners.len()
                + remembered.owners.values().map(|of_owner| of_owner.due.len()).sum::<usize>()
        };
        assert!(entries() <= MOST, "{}", entries());
        // Beyond that nobody is refused.
        for _ in 0..3 {
            assert_eq!(polls.missed(&owner("new"), &TaskId::new("tsk_nobodys"), 0), Ok(()));
        }
        told(1, 1, 10_000);
        assert_eq!(entries(), 2);
    }
}
