//! An answer as an event stream: the messages of one request in their order, the answer last.
//!
//! A request that sends nothing before its answer is answered in plain JSON. No event has an id, and there is nothing
//! to resume: whoever loses a stream asks again (S-25, S-27).

use std::{
    convert::Infallible,
    future::Future,
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

use crate::server::{OutgoingMessages, Reply};

type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// What a request begins with.
pub(super) enum Begun {
    /// It is answered at once.
    Answered(Reply),
    /// It tells something before.
    Streaming(Events),
}

/// Works on a request until it is answered or sends its first message.
pub(super) async fn begin(
    answering: impl Future<Output = Reply> + Send + 'static,
    mut messages: OutgoingMessages,
) -> Begun {
    let mut answering: Answering = Box::pin(answering);
    tokio::select! {
        biased;
        Some(first) = messages.next() => {
            Begun::Streaming(Events { first: Some(first), answering: Some(answering), messages, last: None })
        }
        reply = &mut answering => match messages.next_now() {
            // Both came in the same moment.
            Some(first) => Begun::Streaming(Events {
                first: Some(first),
                answering: None,
                messages,
                last: reply.into_text(),
            }),
            None => Begun::Answered(reply),
        },
    }
}

/// The events of one request. Dropping it gives the request up, and nothing else (S-18, X-70).
pub(super) struct Events {
    first: Option<String>,
    /// The work, until the answer is there.
    answering: Option<Answering>,
    messages: OutgoingMessages,
    last: Option<String>,
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = |text: String| Poll::Ready(Some(Ok(Event::default().data(text))));
        if let Some(first) = self.first.take() {
            return event(first);
        }
        if let Some(answering) = &mut self.answering
            && let Poll::Ready(reply) = answering.as_mut().poll(context)
        {
            self.answering = None;
            self.last = reply.into_text();
        }
        if self.answering.is_some() {
            // The work holds the other half, so that this is never the end.
            return match self.messages.poll_next(context) {
                Poll::Ready(Some(text)) => event(text),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            };
        }
        match self.messages.next_now().or_else(|| self.last.take()) {
            Some(text) => event(text),
            None => Poll::Ready(None),
        }
    }
}

/// The response; a comment now and then keeps it from looking dead.
pub(super) fn response(events: Events, keep_alive: Duration) -> Response {
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(keep_alive)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
