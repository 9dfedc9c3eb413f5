//! What goes to the client before the answer: messages that belong to one request.

use std::{fmt, task};

use tokio::sync::{Semaphore, mpsc, watch};

/// Where the notifications of one request go, in their order, before its answer.
///
/// A transport that can carry them makes a pair with [`Outgoing::channel`] and gives this half to the
/// [`RequestContext`](super::RequestContext). Whoever sends waits until the transport takes the message, so that a
/// client that reads slowly fills no memory.
#[derive(Clone)]
pub struct Outgoing {
    messages: mpsc::Sender<String>,
    ended: watch::Receiver<bool>,
}

/// The other half: the messages of one request, for the transport.
#[derive(Debug)]
pub struct OutgoingMessages {
    messages: mpsc::Receiver<String>,
    end: watch::Sender<bool>,
}

impl Outgoing {
    /// A pair; `ahead` messages, one at least, are taken before anybody looks at the first.
    #[must_use]
    pub fn channel(ahead: usize) -> (Self, OutgoingMessages) {
        let (sender, messages) = mpsc::channel(ahead.clamp(1, Semaphore::MAX_PERMITS));
        let (end, ended) = watch::channel(false);
        (Self { messages: sender, ended }, OutgoingMessages { messages, end })
    }

    /// Sends to a queue that many requests share, until the flag asks what has no end of its own to end.
    #[cfg(feature = "stdio")]
    pub(crate) fn shared(messages: mpsc::Sender<String>, ended: watch::Receiver<bool>) -> Self {
        Self { messages, ended }
    }

    /// Sends one message. Gives whether anybody takes messages still.
    pub(crate) async fn send(&self, text: String) -> bool {
        self.messages.send(text).await.is_ok()
    }

    /// Waits until the transport wants what has no end of its own to end.
    pub(super) async fn ended(&self) {
        // A transport that is gone wants that as well.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outgoing").finish_non_exhaustive()
    }
}

impl OutgoingMessages {
    /// The next message, a line of JSON; nothing when the request is answered and nobody has its context any more.
    pub async fn next(&mut self) -> Option<String> {
        self.messages.recv().await
    }

    /// The same for whoever implements a stream.
    pub fn poll_next(&mut self, context: &mut task::Context<'_>) -> task::Poll<Option<String>> {
        self.messages.poll_recv(context)
    }

    /// The next message that is there already.
    pub fn next_now(&mut self) -> Option<String> {
        self.messages.try_recv().ok()
    }

    /// Asks what has no end of its own, a subscription, to end with its result.
    pub fn end(&self) {
        self.end.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::Outgoing;

    #[tokio::test]
    async fn channel_takes_one_message_ahead_at_least_and_no_number_is_too_large() {
        for ahead in [0, 1, usize::MAX] {
            let (outgoing, mut messages) = Outgoing::channel(ahead);
            assert!(outgoing.send("text".to_owned()).await);
            assert_eq!(messages.next().await.as_deref(), Some("text"));
        }
    }
}
