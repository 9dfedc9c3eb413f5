//! The requests of one connection: which are worked on, which wait, which are given up.
//!
//! A request is over in the moment before its answer can be read: a client that reads it and sends the next one at
//! once finds its id, and its place among the calls, free.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcp_tasks_types::v2026_07_28::RequestId;
use tokio::{
    sync::{mpsc, watch},
    task::{AbortHandle, Id, JoinSet},
};

use super::{StdioOptions, framing::Line};
use crate::server::{Incoming, Outgoing, Reply, RequestContext, Server};

/// What a request costs besides its own bytes.
const OVERHEAD: usize = 1024;

/// How many of the largest messages may be in memory for requests that are not answered yet; once for calls that wait
/// once for everything else,
/// and twice for what is read ahead.
const MESSAGES: usize = 4;

/// Enough for many small requests where no large ones are allowed.
const LEAST_BUDGET: usize = 1 << 20;

/// How many requests that are neither call nor subscription are worked on at a time. None takes long, but the answer of
/// each may be far larger than itself, and how large is not known before it is there.
const AT_A_TIME: usize = 16;

/// How many subscriptions a connection may have; one can follow a thousand tasks.
const SUBSCRIPTIONS: usize = 256;

/// Number and string ids are different ids.
type Key = String;

fn key(id: &RequestId) -> Key {
    match id {
        RequestId::Integer(number) => number.to_string(),
        RequestId::String(text) => format!("\"{text}\""),
    }
}

/// The requests of one connection that are not answered yet; tasks are not among them (S-20).
#[derive(Debug)]
pub(super) struct Dispatch {
    server: Server,
    answers: mpsc::Sender<String>,
    message_limit: usize,
    /// How many calls are worked on at a time.
    calls: NonZeroUsize,
    work: JoinSet<()>,
    /// What is told of here has its answer in the queue, or is just about to.
    answered: mpsc::UnboundedReceiver<Id>,
    tell_answered: mpsc::UnboundedSender<Id>,
    /// What is worked on, or has an answer that has not left.
    running: BTreeMap<Id, Running>,
    running_calls: usize,
    subscriptions: usize,
    /// How much runs that is neither call nor subscription, and its sizes.
    running_others: usize,
    running_bytes: usize,
    /// The sizes of the answers that wait for a place in the queue.
    unread_bytes: Arc<AtomicUsize>,
    /// Whether subscriptions have to end.
    ending: watch::Sender<bool>,
    by_id: BTreeMap<Key, Place>,
    waiting: VecDeque<Call>,
    waiting_bytes: usize,
    /// What was read while there was no room for it, in its order.
    ahead: VecDeque<Ahead>,
    ahead_bytes: usize,
}

/// A line that is not begun with. Nothing stands for one that is too long.
#[derive(Debug)]
struct Ahead {
    message: Option<Incoming>,
    bytes: usize,
}

#[derive(Debug)]
struct Running {
    key: Option<Key>,
    counts: Counts,
}

/// What a request takes of the connection's limits until it is answered.
#[derive(Clone, Copy, Debug)]
enum Counts {
    Call,
    /// It has no end of its own, and its bytes are read and gone.
    Subscription,
    Bytes(usize),
}

/// A call that waits for its turn.
#[derive(Debug)]
struct Call {
    key: Key,
    message: Incoming,
    bytes: usize,
}

#[derive(Debug)]
enum Place {
    Waits,
    Runs(AbortHandle),
}

impl Dispatch {
    pub(super) fn new(server: Server, answers: mpsc::Sender<String>, options: &StdioOptions) -> Self {
        let (tell_answered, answered) = mpsc::unbounded_channel();
        Self {
            server,
            answers,
            answered,
            tell_answered,
            message_limit: options.message_limit,
            calls: NonZeroUsize::new(options.calls).unwrap_or(NonZeroUsize::MIN),
            work: JoinSet::new(),
            running: BTreeMap::new(),
            running_calls: 0,
            subscriptions: 0,
            running_others: 0,
            running_bytes: 0,
            unread_bytes: Arc::default(),
            ending: watch::Sender::new(false),
            by_id: BTreeMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            ahead: VecDeque::new(),
            ahead_bytes: 0,
        }
    }

    /// Whether something is not answered yet.
    pub(super) fn is_busy(&self) -> bool {
        !self.work.is_empty()
    }

    /// Whether another line may be read: also where there is no room for it, since the end of the input, or a
    /// cancellation, may come next.
    pub(super) fn may_read(&self) -> bool {
        self.ahead_bytes < self.budget().saturating_mul(2)
    }

    /// Whether another line may be begun with. There is no room when answers pile up because nobody reads them.
    fn has_room(&self) -> bool {
        let bytes = self.running_bytes.saturating_add(self.unread_bytes.load(Ordering::Relaxed));
        self.running_others < AT_A_TIME && bytes < self.budget()
    }

    /// Ends subscriptions, each with its result: nobody will cancel them any more.
    pub(super) fn end_subscriptions(&self) {
        self.ending.send_replace(true);
    }

    fn budget(&self) -> usize {
        self.message_limit.saturating_mul(MESSAGES).max(LEAST_BUDGET)
    }

    /// Waits until the next answer has left, and begins with a call that has waited.
    pub(super) async fn next_done(&mut self) {
        let Some(done) = self.work.join_next_with_id().await else { return };
        let id = match done {
            Ok((id, ())) => id,
            Err(error) => error.id(),
        };
        // Whatever ends without an answer, as what was cancelled, is not told of.
        self.forget(id);
        self.settle();
    }

    /// Forgets what is answered, and begins with calls that have waited, and with lines that there is room for now.
    fn settle(&mut self) {
        while let Ok(id) = self.answered.try_recv() {
            self.forget(id);
        }
        while self.running_calls < self.calls.get()
            && let Some(call) = self.waiting.pop_front()
        {
            self.waiting_bytes -= call.bytes;
            self.call(call.key, call.message);
        }
        while self.has_room()
            && let Some(line) = self.ahead.pop_front()
        {
            self.ahead_bytes -= line.bytes;
            self.begin(line);
        }
    }

    fn forget(&mut self, id: Id) {
        let Some(running) = self.running.remove(&id) else { return };
        match running.counts {
            Counts::Call => self.running_calls -= 1,
            Counts::Subscription => self.subscriptions -= 1,
            Counts::Bytes(bytes) => {
                self.running_others -= 1;
                self.running_bytes -= bytes;
            }
        }
        let Some(key) = running.key else { return };
        // After a cancellation the id may belong to a later request already.
        if let Some(Place::Runs(handle)) = self.by_id.get(&key)
            && handle.id() == id
        {
            self.by_id.remove(&key);
        }
    }

    /// Takes a line, and begins with it as soon as there is room.
    pub(super) fn take(&mut self, line: Line) {
        let line = match line {
            Line::Message(line) => {
                let bytes = line.len().saturating_add(OVERHEAD);
                Ahead { message: Some(Incoming::read(line)), bytes }
            }
            Line::TooLong => Ahead { message: None, bytes: OVERHEAD },
        };
        if let Some(id) = line.message.as_ref().and_then(Incoming::cancels) {
            // What has an answer already is no longer there to be cancelled.
            self.settle();
            return self.cancel(&id);
        }
        self.ahead_bytes += line.bytes;
        self.ahead.push_back(line);
        self.settle();
    }

    fn begin(&mut self, Ahead { message, bytes }: Ahead) {
        let Some(message) = message else {
            return self.reply(Reply::too_large(self.message_limit));
        };
        let Some(id) = message.request_id() else {
            self.answer(None, message, Counts::Bytes(bytes));
            return;
        };
        let key = key(id);
        if self.by_id.contains_key(&key) {
            self.reply(Reply::id_in_use(id.clone()));
        } else if message.subscribes() {
            if self.subscriptions < SUBSCRIPTIONS {
                let handle = self.answer(Some(key.clone()), message, Counts::Subscription);
                self.by_id.insert(key, Place::Runs(handle));
            } else {
                self.reply(Reply::too_many_subscriptions(id.clone()));
            }
        } else if !message.calls_tool() {
            let handle = self.answer(Some(key.clone()), message, Counts::Bytes(bytes));
            self.by_id.insert(key, Place::Runs(handle));
        } else if self.running_calls < self.calls.get() {
            self.call(key, message);
        } else if self.waiting_bytes.saturating_add(bytes) <= self.budget() {
            self.waiting_bytes += bytes;
            self.by_id.insert(key.clone(), Place::Waits);
            self.waiting.push_back(Call { key, message, bytes });
        } else {
            self.reply(Reply::busy(id.clone()));
        }
    }

    /// No further message for that request. A task that it has created lives on (S-18).
    fn cancel(&mut self, id: &RequestId) {
        let key = key(id);
        match self.by_id.remove(&key) {
            Some(Place::Runs(handle)) => handle.abort(),
            Some(Place::Waits) => {
                if let Some(place) = self.waiting.iter().position(|call| call.key == key)
                    && let Some(call) = self.waiting.remove(place)
                {
                    self.waiting_bytes -= call.bytes;
                }
            }
            None => {
                let names = |line: &Ahead| line.message.as_ref().and_then(Incoming::request_id) == Some(id);
                if let Some(place) = self.ahead.iter().position(names)
                    && let Some(line) = self.ahead.remove(place)
                {
                    self.ahead_bytes -= line.bytes;
                }
            }
        }
    }

    fn call(&mut self, key: Key, message: Incoming) {
        let handle = self.answer(Some(key.clone()), message, Counts::Call);
        self.by_id.insert(key, Place::Runs(handle));
    }

    fn answer(&mut self, key: Option<Key>, message: Incoming, counts: Counts) -> AbortHandle {
        match counts {
            Counts::Call => self.running_calls += 1,
            Counts::Subscription => self.subscriptions += 1,
            Counts::Bytes(bytes) => {
                self.running_others += 1;
                self.running_bytes += bytes;
            }
        }
        let (server, outlet) = (self.server.clone(), self.outlet());
        let outgoing = Outgoing::shared(self.answers.clone(), self.ending.subscribe());
        let handle = self.work.spawn(async move {
            let context = RequestContext::new(server.owner().clone()).with_outgoing(outgoing);
            outlet.send(server.answer(&context, message).await).await;
        });
        self.running.insert(handle.id(), Running { key, counts });
        handle
    }

    fn outlet(&self) -> Outlet {
        Outlet {
            answers: self.answers.clone(),
            answered: self.tell_answered.clone(),
            unread_bytes: Arc::clone(&self.unread_bytes),
        }
    }

    /// Sends what needs no work. Not from here, since the output may be stuck.
    fn reply(&mut self, reply: Reply) {
        let outlet = self.outlet();
        self.running_others += 1;
        self.running_bytes += OVERHEAD;
        let handle = self.work.spawn(async move { outlet.send(reply).await });
        self.running.insert(handle.id(), Running { key: None, counts: Counts::Bytes(OVERHEAD) });
    }
}

/// Where answers go.
struct Outlet {
    answers: mpsc::Sender<String>,
    answered: mpsc::UnboundedSender<Id>,
    unread_bytes: Arc<AtomicUsize>,
}

impl Outlet {
    async fn send(self, reply: Reply) {
        let Some(text) = reply.into_text() else { return };
        let _unread = Unread::new(&self.unread_bytes, text.len());
        // A closed queue means that the output failed; the connection ends by that.
        if let Ok(place) = self.answers.reserve().await {
            // First, since the client may read the answer before this goes on. If nobody listens, the connection is
            // over.
            let _ = self.answered.send(tokio::task::id());
            place.send(text);
        }
    }
}

/// Counts an answer as long as it waits, also when it is given up.
struct Unread<'a> {
    all: &'a AtomicUsize,
    bytes: usize,
}

impl<'a> Unread<'a> {
    fn new(all: &'a AtomicUsize, bytes: usize) -> Self {
        all.fetch_add(bytes, Ordering::Relaxed);
        Self { all, bytes }
    }
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
