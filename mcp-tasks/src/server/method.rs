//! The methods that are served, and what each needs.

use mcp_tasks_types::v2026_07_28::method;

/// A method that has a handler. Anything else is not found, removed methods included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Discover,
    ListTools,
    CallTool,
    GetTask,
    UpdateTask,
    CancelTask,
    Listen,
}

impl Method {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            method::SERVER_DISCOVER => Self::Discover,
            method::TOOLS_LIST => Self::ListTools,
            method::TOOLS_CALL => Self::CallTool,
            method::TASKS_GET => Self::GetTask,
            method::TASKS_UPDATE => Self::UpdateTask,
            method::TASKS_CANCEL => Self::CancelTask,
            method::SUBSCRIPTIONS_LISTEN => Self::Listen,
            _ => return None,
        })
    }

    /// Whether the method belongs to the tasks extension, so that the request has to declare it.
    pub(super) fn needs_tasks(self) -> bool {
        matches!(self, Self::GetTask | Self::UpdateTask | Self::CancelTask)
    }
}
