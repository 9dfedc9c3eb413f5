//! What a task's status and state mean, beyond their spelling. Which status may follow which is not here: a type does
//! not know where it came from.

use crate::v2026_07_28::{CreateTaskResult, DetailedTask, GetTaskResult, TaskState, TaskStatus};

impl TaskStatus {
    /// Whether a task of this status never changes again (C-36).
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Working | Self::InputRequired => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

impl TaskState {
    /// The status that the state stands for.
    #[must_use]
    pub const fn status(&self) -> TaskStatus {
        match self {
            Self::Working => TaskStatus::Working,
            Self::InputRequired { .. } => TaskStatus::InputRequired,
            Self::Completed { .. } => TaskStatus::Completed,
            Self::Failed { .. } => TaskStatus::Failed,
            Self::Cancelled => TaskStatus::Cancelled,
        }
    }
}

impl GetTaskResult {
    /// The task's status.
    #[must_use]
    pub const fn status(&self) -> TaskStatus {
        self.state.status()
    }
}

impl DetailedTask {
    /// The task's status.
    #[must_use]
    pub const fn status(&self) -> TaskStatus {
        self.state.status()
    }
}

impl CreateTaskResult {
    /// When the task expires, in milliseconds since 1970 (C-77: the lifetime counts from creation); `None` without a
    /// limit, or when the sum is beyond what a timestamp holds.
    #[must_use]
    pub fn expires_at_unix_millis(&self) -> Option<i64> {
        self.created_at.unix_millis().checked_add(i64::try_from(self.ttl_ms?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{CreateTaskResult, TaskState, TaskStatus};
    use crate::{RawObject, Timestamp};

    #[test]
    fn a_state_has_the_status_that_it_writes() {
        for state in
            [TaskState::Working, TaskState::Cancelled, TaskState::Completed { result: RawObject::empty() }]
        {
            assert_eq!(state.status().as_str(), state.as_str());
        }
    }

    #[test]
    fn two_statuses_are_live_and_three_are_final() {
        let terminal: Vec<_> = TaskStatus::ALL.iter().filter(|status| status.is_terminal()).collect();
        assert_eq!(terminal, [&TaskStatus::Completed, &TaskStatus::Failed, &TaskStatus::Cancelled]);
    }

    /// C-77.
    #[test]
    fn a_lifetime_counts_from_creation() {
        let created = Timestamp::parse("2026-08-21T10:30:00Z").unwrap();
        let task =
            |ttl| CreateTaskResult::new("t", TaskStatus::Working, created.clone(), created.clone(), ttl);
        assert_eq!(task(Some(1500)).expires_at_unix_millis(), Some(created.unix_millis() + 1500));
        assert_eq!(task(None).expires_at_unix_millis(), None);
        assert_eq!(task(Some(u64::MAX)).expires_at_unix_millis(), None);
    }
}
