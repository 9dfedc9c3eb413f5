//! What goes back for one message.

use mcp_tasks_types::v2026_07_28::RequestId;

use super::dispatch;

/// The answer to one message: JSON text where there is one, and the status for HTTP.
///
/// Notifications have no text: nothing is written for them on a stream, and HTTP sends the status
/// alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    status: u16,
    text: Option<String>,
}

impl Reply {
    pub(super) fn new(status: u16, text: String) -> Self {
        Self { status, text: Some(text) }
    }

    /// A message that is not answered, but was taken or refused.
    pub(super) fn silent(status: u16) -> Self {
        Self { status, text: None }
    }

    /// The status on HTTP.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// One line of JSON, without the line break; nothing where no answer may be sent.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The same, owned.
    pub fn into_text(self) -> Option<String> {
        self.text
    }

    /// For a message that is longer than the transport reads.
    pub fn too_large(limit: usize) -> Self {
        dispatch::too_large(limit)
    }

    /// For a page of an origin, or a request to a host, that may not talk to us.
    pub fn origin_refused() -> Self {
        dispatch::origin_refused()
    }

    /// For a request whose id is still in use on the same connection.
    pub fn id_in_use(id: RequestId) -> Self {
        dispatch::id_in_use(id)
    }

    /// For a call beyond what the transport lets wait at a time.
    pub fn busy(id: RequestId) -> Self {
        dispatch::busy(id)
    }
}
