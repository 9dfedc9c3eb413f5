//! What a task's status and state mean, beyond their spelling. Which status may follow which is not here: a type does
//! not know where it came from.

use crate::v2026_07_28::{DetailedTask, GetTaskResult, TaskState, TaskStatus, TaskStatusNotificationParams};
use crate::{sep_1686, v2025_11_25};

macro_rules! is_terminal {
    ($($type:path: [$($live:ident)*] [$($ended:ident)*])*) => {
        $(impl $type {
            /// Whether a task of this status never changes again (C-36).
            #[must_use]
            #[inline]
            pub const fn is_terminal(self) -> bool {
                match self {
                    $(Self::$live)|* => false,
                    $(Self::$ended)|* => true,
                }
            }
        })*
    };
}
is_terminal! {
    TaskStatus: [Working InputRequired] [Completed Failed Cancelled]
    v2025_11_25::TaskStatus: [Working InputRequired] [Completed Failed Cancelled]
    // What is unknown is over as far as anybody can tell: no method brings news of it.
    sep_1686::TaskStatus: [Submitted Working InputRequired] [Completed Failed Cancelled Unknown]
}

impl TaskState {
    /// The status that the state stands for.
    #[must_use]
    #[inline]
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

macro_rules! status {
    ($($type:ident)*) => {
        $(impl $type {
            /// The task's status.
            #[must_use]
            #[inline]
            pub const fn status(&self) -> TaskStatus {
                self.state.status()
            }
        })*
    };
}
status!(GetTaskResult DetailedTask TaskStatusNotificationParams);

#[cfg(test)]
mod tests {
    use super::{TaskState, TaskStatus};
    use crate::{RawObject, from_str, sep_1686, v2025_11_25, v2026_07_28};

    #[test]
    fn a_state_has_the_status_that_it_writes() {
        for state in
            [TaskState::Working, TaskState::Cancelled, TaskState::Completed { result: RawObject::empty() }]
        {
            assert_eq!(state.status().as_str(), state.as_str());
        }
    }

    #[test]
    fn whatever_carries_a_state_says_its_status() {
        let task = r#""taskId":"t","status":"cancelled","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:00Z","ttlMs":null"#;
        let plain = format!("{{{task}}}");
        let noted = format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":"s"}},{task}}}"#);
        let detailed: v2026_07_28::DetailedTask = from_str(&plain).unwrap();
        let got: v2026_07_28::GetTaskResult = from_str(&plain).unwrap();
        let noted: v2026_07_28::TaskStatusNotificationParams = from_str(&noted).unwrap();
        assert_eq!([detailed.status(), got.status(), noted.status()], [TaskStatus::Cancelled; 3]);
    }

    #[test]
    fn the_last_statuses_of_each_generation_are_final() {
        macro_rules! ended {
            ($type:path) => {{
                use $type as Status;
                let ended = Status::ALL.iter().filter(|status| status.is_terminal());
                ended.map(|status| status.as_str()).collect::<Vec<_>>().join(" ")
            }};
        }
        assert_eq!(ended!(TaskStatus), "completed failed cancelled");
        assert_eq!(ended!(v2025_11_25::TaskStatus), "completed failed cancelled");
        assert_eq!(ended!(sep_1686::TaskStatus), "completed failed cancelled unknown");
    }
}
