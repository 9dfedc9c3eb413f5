//! Who the server is: the mark on every result.
//!
//! The engine has the results of tools marked when they are made, so that a kept result is the same
//! as the one that an ordinary call is answered with (C-44, S-10).

use mcp_tasks_types::v2026_07_28::{CallToolResult, Implementation, ResultMetaObject};

/// The server's name and version, ready to be put on results.
#[derive(Clone, Debug)]
pub(super) struct Identity(ResultMetaObject);

impl Identity {
    pub(super) fn new(implementation: Implementation) -> Self {
        Self(ResultMetaObject::new().with_server_info(implementation))
    }

    /// The `_meta` of a result of our own.
    pub(super) fn meta(&self) -> ResultMetaObject {
        self.0.clone()
    }

    /// The result of a tool with the mark, unless the tool has set its own.
    pub(super) fn mark(&self, mut result: CallToolResult) -> CallToolResult {
        let meta = result.meta.get_or_insert_with(ResultMetaObject::new);
        if meta.server_info.is_none() {
            meta.server_info.clone_from(&self.0.server_info);
        }
        result
    }
}
