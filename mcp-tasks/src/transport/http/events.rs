//! An answer as an event stream: the messages of one request in their order, the answer last.
//!
//! A request that sends nothing before its answer is answered in plain JSON. No event has an id, and there is nothing
//! to resume: whoever loses a stream asks again (S-25, S-27).

use std::{
    collections::VecDeque,
    convert::Infallible,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    http::HeaderValue,
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_core::Stream;
use tokio::time::{Sleep, sleep};

use crate::server::{OutgoingMessages, Reply};

pub(super) type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// What may wait for company; more is sent.
const MAX_WAITING: usize = 16;

/// What a request begins with.
pub(super) enum Begun {
    /// It is answered at once.
    Answered(Reply),
    /// It tells something before.
    Streaming(Events),
}

/// Works on a request until it is answered or has messages to send.
pub(super) async fn begin(answering: Answering, messages: OutgoingMessages, delay: Duration) -> Begun {
    let mut events = Events {
        waiting: VecDeque::new(),
        goes: false,
        delay,
        until: None,
        answering: Some(answering),
        messages,
        last: None,
    };
    // The head of the response would leave by itself if it were made before there is something to send with it.
    poll_fn(|context| events.poll_together(context)).await;
    match events.last.take() {
        Some(reply) if events.waiting.is_empty() => Begun::Answered(reply),
        last => {
            events.last = last;
            events.goes = true;
            Begun::Streaming(events)
        }
    }
}

/// The events of one request. Dropping it gives the request up, and nothing else (S-18, X-70).
///
/// A message waits a moment for what follows it. Two small writes in a row would make the second one wait for the
/// client's acknowledgement of the first where nobody has set `TCP_NODELAY` on the connection, which takes 40 ms.
pub(super) struct Events {
    waiting: VecDeque<String>,
    /// Whether what waits goes now.
    goes: bool,
    delay: Duration,
    /// How long the first that waits does so.
    until: Option<Pin<Box<Sleep>>>,
    /// The work, until the answer is there.
    answering: Option<Answering>,
    messages: OutgoingMessages,
    /// The answer, until it is sent.
    last: Option<Reply>,
}

impl Events {
    /// Ready when there is something to send, or nothing more to come.
    fn poll_together(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(answering) = &mut self.answering {
            if let Poll::Ready(reply) = answering.as_mut().poll(context) {
                self.answering = None;
                self.last = Some(reply);
                break;
            }
            // The work holds the other half, so that nothing is never the end.
            let Poll::Ready(Some(text)) = self.messages.poll_next(context) else { break };
            self.waiting.push_back(text);
            if self.delay.is_zero() || self.waiting.len() >= MAX_WAITING {
                self.until = None;
                return Poll::Ready(());
            }
        }
        if self.answering.is_none() {
            while let Some(text) = self.messages.next_now() {
                self.waiting.push_back(text);
            }
            return Poll::Ready(());
        }
        if self.waiting.is_empty() {
            return Poll::Pending;
        }
        // How long messages wait for each other on the wire is the sockets' time and changes nothing of a task.
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(self.delay)));
        until.as_mut().poll(context).map(|()| self.until = None)
    }
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.goes && self.poll_together(context).is_pending() {
            return Poll::Pending;
        }
        let next = self.waiting.pop_front().or_else(|| self.last.take().and_then(Reply::into_text));
        self.goes = !self.waiting.is_empty();
        Poll::Ready(next.map(|text| Ok(Event::default().data(text))))
    }
}

/// The response; a comment now and then keeps it from looking dead.
pub(super) fn response(events: Events, keep_alive: Duration) -> Response {
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(keep_alive)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
        time::Duration,
    };

    use futures_core::Stream as _;
    use tokio::time::Instant;

    use super::{Begun, Events, begin};
    use crate::server::{Outgoing, Reply};

    const DELAY: Duration = Duration::from_millis(5);

    async fn streaming(work: impl Future<Output = Reply> + Send + 'static, channel: Channel) -> Events {
        match begin(Box::pin(work), channel.1, channel.2).await {
            Begun::Streaming(events) => events,
            Begun::Answered(reply) => panic!("{reply:?}"),
        }
    }

    type Channel = (Outgoing, crate::server::OutgoingMessages, Duration);

    fn channel(delay: Duration) -> Channel {
        let (outgoing, messages) = Outgoing::channel(1);
        (outgoing, messages, delay)
    }

    fn answer() -> Reply {
        Reply::cut_off()
    }

    /// How many events come without a moment in between; what is written before one is a packet of its own.
    fn come_together(events: &mut Events) -> (usize, bool) {
        let mut context = Context::from_waker(Waker::noop());
        let mut events = Pin::new(events);
        let mut count = 0;
        loop {
            match events.as_mut().poll_next(&mut context) {
                Poll::Ready(Some(_)) => count += 1,
                Poll::Ready(None) => return (count, true),
                Poll::Pending => return (count, false),
            }
        }
    }

    /// nothing waits for the client to acknowledge the messages before it, on whatever listener.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_follows_soon_leaves_with_the_messages_before_it() {
        let channel = channel(DELAY);
        let outgoing = channel.0.clone();
        let work = async move {
            for _ in 0..3 {
                assert!(outgoing.send("message".to_owned()).await);
                // On the clock that stands still until nothing else is left to do.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            answer()
        };
        let mut events = streaming(work, channel).await;
        assert_eq!(come_together(&mut events), (4, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_nothing_follows_waits_a_moment_and_none_where_it_need_not() {
        for delay in [DELAY, Duration::ZERO] {
            let channel = channel(delay);
            let outgoing = channel.0.clone();
            let work = async move {
                for _ in 0..2 {
                    assert!(outgoing.send("message".to_owned()).await);
                    // As above.
                    tokio::time::sleep(Duration::from_secs(60)).await;
                }
                answer()
            };
            let start = Instant::now();
            let mut events = streaming(work, channel).await;
            assert_eq!(start.elapsed(), delay);
            assert_eq!(come_together(&mut events), (1, false));
            let next = std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context));
            assert!(next.await.is_some());
            assert_eq!(start.elapsed(), Duration::from_secs(60) + delay);
        }
    }

    /// A flood is sent on, and does not fill the memory.
    #[tokio::test(start_paused = true)]
    async fn many_messages_do_not_wait_for_each_other() {
        let channel = channel(DELAY);
        let outgoing = channel.0.clone();
        let work = async move {
            while outgoing.send("message".to_owned()).await {}
            answer()
        };
        let start = Instant::now();
        let mut events = streaming(work, channel).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(events.waiting.len(), super::MAX_WAITING);
        for _ in 0..1_000 {
            let next = std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context));
            assert!(next.await.is_some());
            assert!(events.waiting.len() <= super::MAX_WAITING);
        }
    }
}
