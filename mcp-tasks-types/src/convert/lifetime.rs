//! How long a task is kept: counted from creation, or from the end.

use crate::Timestamp;

/// The largest integer that every reader of JSON holds, and so the largest that is written.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// A duration as it is written: one beyond what every reader holds is not told from the largest by any of them.
#[inline]
pub(super) const fn safe(millis: u64) -> u64 {
    if millis > MAX_SAFE { MAX_SAFE } else { millis }
}

/// A poll interval as it is written. One of 0 says nothing, and a poller that took it at its word would never rest.
#[inline]
pub(super) const fn interval(millis: Option<u64>) -> Option<u64> {
    match millis {
        Some(0) | None => None,
        Some(millis) => Some(safe(millis)),
    }
}

/// How long a task is kept, in milliseconds, and from when on.
///
/// 2026-07-28 (`ttlMs`) and 2025-11-25 (`ttl`) count from creation, SEP-1686 (`keepAlive`) from the end. While a task
/// runs, a time from its end is no time from its creation: [`ttl`](Self::ttl) then says `None`, unlimited, and a
/// gateway with a cap of its own sets that instead. What depends on the present time is computed anew for each answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lifetime {
    /// Without limit.
    Unlimited,
    /// Milliseconds from creation.
    FromCreation(u64),
    /// Milliseconds from the end.
    FromEnd(u64),
}

impl Lifetime {
    /// Reads `ttl` or `ttlMs`.
    #[must_use]
    #[inline]
    pub const fn from_ttl(ttl: Option<u64>) -> Self {
        match ttl {
            Some(millis) => Self::FromCreation(millis),
            None => Self::Unlimited,
        }
    }

    /// Reads `keepAlive`.
    #[must_use]
    #[inline]
    pub const fn from_keep_alive(keep_alive: Option<u64>) -> Self {
        match keep_alive {
            Some(millis) => Self::FromEnd(millis),
            None => Self::Unlimited,
        }
    }

    /// `ttl` or `ttlMs`: `(end - creation) + keepAlive` of a task that has ended; `None`, which is null on the wire,
    /// without limit and where no finite value exists.
    ///
    /// Positive, as 2026-07-28 has it: no time at all becomes one millisecond. At most 2^53 - 1.
    #[must_use]
    #[inline]
    pub fn ttl(self, created: &Timestamp, ended: Option<&Timestamp>) -> Option<u64> {
        let millis = match (self, ended) {
            (Self::Unlimited, _) | (Self::FromEnd(_), None) => return None,
            (Self::FromCreation(millis), _) => millis,
            (Self::FromEnd(millis), Some(ended)) => {
                let run = u64::try_from(ended.unix_millis() - created.unix_millis()).unwrap_or(0);
                run.saturating_add(millis)
            }
        };
        Some(safe(millis.max(1)))
    }

    /// `keepAlive`: what is left of the time from creation when the task ends, or now while it runs, never negative.
    /// `None`, which is null on the wire, without limit. At most 2^53 - 1.
    #[must_use]
    #[inline]
    pub fn keep_alive(self, created: &Timestamp, ended: Option<&Timestamp>, now: &Timestamp) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::FromEnd(millis) => Some(safe(millis)),
            Self::FromCreation(millis) => {
                let passed =
                    i128::from(ended.unwrap_or(now).unix_millis()) - i128::from(created.unix_millis());
                let left = (i128::from(millis) - passed).max(0);
                // A clock behind that of the task's receiver makes no lifetime longer than it is.
                Some(safe(u64::try_from(left).unwrap_or(u64::MAX).min(millis)))
            }
        }
    }
}
