//! What goes back for one message.

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
}
