//! What goes back for one message.

/// The answer to one message: JSON text where there is one, and the status for HTTP.
///
/// Notifications have no text: nothing is written for them on a stream, and HTTP sends the status
/// alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    status: u16,
    text: Option<String>,
    retry_after_ms: Option<u64>,
}

impl Reply {
    pub(super) fn new(status: u16, text: String) -> Self {
        Self { status, text: Some(text), retry_after_ms: None }
    }

    /// A message that is not answered, but was taken or refused.
    pub(super) fn silent(status: u16) -> Self {
        Self { status, text: None, retry_after_ms: None }
    }

    pub(super) fn with_retry_after_ms(mut self, milliseconds: Option<u64>) -> Self {
        self.retry_after_ms = milliseconds;
        self
    }

    /// In how many milliseconds the request may be made again; only where the status is 429.
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.retry_after_ms
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
}
