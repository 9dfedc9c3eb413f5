//! The connections of a store: few, made when they are needed and kept, each used by several callers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::session::{Connector, Failure, Session};
use super::statements::Sql;
use crate::BoxFuture;

/// For how long a lock is asked for, and the first and the longest pause after it was not given.
const LOCK_PATIENCE: Duration = Duration::from_secs(15);
const LOCK_PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

pub(super) struct Pool {
    connector: Arc<Connector>,
    /// Connections live where the store was opened, whoever needs them first.
    runtime: Handle,
    slots: Vec<Slot>,
    is_closed: AtomicBool,
}

#[derive(Default)]
struct Slot {
    session: Mutex<Option<Arc<Session>>>,
    /// How many callers wait for an answer.
    busy: AtomicUsize,
}

/// A caller's place in the queue of a connection.
struct Place<'p>(&'p Slot);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>, connections: usize) -> Self {
        let slots = std::iter::repeat_with(Slot::default).take(connections.max(1)).collect();
        Self { connector, runtime: Handle::current(), slots, is_closed: AtomicBool::new(false) }
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Says a statement that changes something, until it gets the locks that it needs.
    pub(super) fn write<'p>(
        &'p self,
        sql: Sql,
        params: &'p [&'p (dyn ToSql + Sync)],
    ) -> BoxFuture<'p, Result<Vec<Row>, Failure>> {
        // What the client keeps while it waits is large, and would be a part of every call of the store.
        Box::pin(async move {
            let mut locked = Locked::new();
            loop {
                match self.say(sql, params).await {
                    Err(failure) if locked.again(&failure).await => {}
                    done => return done,
                }
            }
        })
    }

    /// Says a statement that changes something, once.
    pub(super) fn write_once<'p>(
        &'p self,
        sql: Sql,
        params: &'p [&'p (dyn ToSql + Sync)],
    ) -> BoxFuture<'p, Result<Vec<Row>, Failure>> {
        Box::pin(self.say(sql, params))
    }

    async fn say(&self, sql: Sql, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        let place = self.place();
        self.session(place.0).await?.query(sql, params).await
    }

    /// Says a statement that changes nothing, once more if the connection was lost, as after a restart of the server.
    pub(super) async fn read(&self, sql: Sql, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        match self.write(sql, params).await {
            Err(failure) if failure.is_lost() => self.write(sql, params).await,
            done => done,
        }
    }

    /// The connection with the shortest queue; without load it is always the first one.
    fn place(&self) -> Place<'_> {
        let mut best = &self.slots[0];
        for slot in &self.slots {
            if slot.busy.load(Ordering::Relaxed) < best.busy.load(Ordering::Relaxed) {
                best = slot;
            }
        }
        best.busy.fetch_add(1, Ordering::Relaxed);
        Place(best)
    }

    async fn session(&self, slot: &Slot) -> Result<Arc<Session>, Failure> {
        let mut session = slot.session.lock().await;
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Failure::Closed);
        }
        if let Some(session) = session.as_ref().filter(|session| session.is_usable()) {
            return Ok(Arc::clone(session));
        }
        let connector = Arc::clone(&self.connector);
        let connect = async move { Session::connect(&connector, None).await };
        // The runtime is going away.
        let made = self.runtime.spawn(connect).await.map_err(|_| Failure::Closed)??;
        let made = Arc::new(made);
        *session = Some(Arc::clone(&made));
        Ok(made)
    }

    pub(super) async fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        for slot in &self.slots {
            drop(slot.session.lock().await.take());
        }
    }
}

/// Waiting for locks that somebody else has, but not for ever.
pub(super) struct Locked {
    begun: Instant,
    pause: Duration,
}

impl Locked {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), pause: LOCK_PAUSE.0 }
    }

    /// Whether it failed for a lock alone and is to be tried again, after a while.
    pub(super) async fn again(&mut self, failure: &Failure) -> bool {
        if !failure.is_locked() || self.begun.elapsed() > LOCK_PATIENCE {
            return false;
        }
        // Nothing tells when a lock is given back.
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LOCK_PAUSE.1);
        true
    }
}
