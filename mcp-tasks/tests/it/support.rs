//! What several topics need.

use mcp_tasks::types::Timestamp;
use mcp_tasks::record::ToolFingerprint;
use mcp_tasks::{Owner, TaskRecord};

/// A working task of the anonymous owner.
pub(crate) fn record(id: &str) -> TaskRecord {
    let tool = ToolFingerprint::new("tool", "digest", None);
    let now = Timestamp::from_unix_millis(1_767_225_600_000);
    TaskRecord::new(id.into(), Owner::anonymous(), "tools/call", tool, now)
}
