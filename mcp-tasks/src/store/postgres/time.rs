//! What time it is in the database.
//!
//! Between two comparisons the database's time is counted by a clock that nobody sets: our wall clock may jump, and the
//! database's time, as it is known here, does not. Statements about leases say what time it is taken to be, and the
//! database puts right what is wrong with that.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::clock::{Clock as _, SystemClock};

/// The database's clock, as it was last read.
#[derive(Debug, Default)]
pub(super) struct DatabaseClock {
    read: Mutex<Option<Reading>>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    /// When, by a clock that nobody sets.
    at: Instant,
    /// What it said, in milliseconds since 1970.
    theirs: i64,
    /// How far off that may be, since it took its time.
    slack: i64,
}

impl DatabaseClock {
    /// The clock said `theirs` somewhere between two moments.
    pub(super) fn set(&self, before: Instant, theirs: i64, after: Instant) {
        let half = after.saturating_duration_since(before) / 2;
        let reading = Reading { at: before + half, theirs, slack: millis(half) + 1 };
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
    }

    /// By how much it is ahead of our wall clock now.
    pub(super) fn ahead_ms(&self) -> i64 {
        let Moment { at, took, own } = Moment::now();
        self.ahead_of(at, took, own)
    }

    /// What it says now, in milliseconds since 1970.
    pub(super) fn now_ms(&self) -> i64 {
        let Moment { at, took, own } = Moment::now();
        own.saturating_add(self.ahead_of(at, took, own))
    }

    /// By how much it is ahead of a clock that says `own`, read within `took` milliseconds after `now`; nothing where
    /// what the readings took explains the difference.
    fn ahead_of(&self, now: Instant, took: i64, own: i64) -> i64 {
        let reading = *self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Reading { at, theirs, slack }) = reading else { return 0 };
        let ahead = theirs.saturating_add(millis(now.saturating_duration_since(at))).saturating_sub(own);
        if ahead.abs() <= slack.saturating_add(took) { 0 } else { ahead }
    }
}

/// Two clocks of ours, read at once: one that nobody sets, and the wall clock.
struct Moment {
    at: Instant,
    /// How many milliseconds that took at most.
    took: i64,
    own: i64,
}

impl Moment {
    /// A thread that is suspended between the two would tell a difference that there is not.
    const TRIES: u32 = 4;

    fn now() -> Self {
        let mut best = Self::read();
        for _ in 1..Self::TRIES {
            if best.took <= 1 {
                break;
            }
            let next = Self::read();
            if next.took < best.took {
                best = next;
            }
        }
        best
    }

    fn read() -> Self {
        let at = Instant::now();
        let own = SystemClock::new().now_millis();
        // A part of a millisecond is one.
        Self { at, took: millis(at.elapsed()) + 1, own }
    }
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn read_at(start: Instant, took_ms: u64, theirs: i64) -> DatabaseClock {
        let clock = DatabaseClock::default();
        clock.set(start, theirs, start + Duration::from_millis(took_ms));
        clock
    }

    #[test]
    fn clocks_that_agree_as_far_as_can_be_told_are_the_same() {
        let start = Instant::now();
        let now = |millis| start + Duration::from_millis(millis);
        assert_eq!(DatabaseClock::default().ahead_of(now(0), 0, 100), 0);
        assert_eq!(read_at(start, 0, 100).ahead_of(now(0), 0, 100), 0);
        assert_eq!(read_at(start, 0, 101).ahead_of(now(0), 0, 100), 0);
        assert_eq!(read_at(start, 10, 100).ahead_of(now(10), 0, 100), 0);
        assert_eq!(read_at(start, 10, 90).ahead_of(now(10), 0, 110), -15);
        // A thread that was suspended while it read them.
        assert_eq!(read_at(start, 0, 100).ahead_of(now(0), 31, 130), 0);
        assert_eq!(read_at(start, 0, 100).ahead_of(now(0), 20, 130), -30);
        assert_eq!(read_at(start, 10, 5_105).ahead_of(now(10), 0, 110), 5_000);
    }

    /// S-36: a wall clock that is set is known to be wrong at once, whenever the clocks were compared last.
    #[test]
    fn wall_clock_that_is_set_does_not_change_what_time_it_is_in_the_database() {
        let start = Instant::now();
        let clock = read_at(start, 0, 1_000);
        let later = start + Duration::from_secs(9);
        assert_eq!(clock.ahead_of(later, 0, 10_000), 0);
        assert_eq!(clock.ahead_of(later, 0, 70_000), -60_000);
        assert_eq!(clock.ahead_of(later, 0, 4_000), 6_000);
    }
}
