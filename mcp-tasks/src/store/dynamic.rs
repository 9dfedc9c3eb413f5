//! The same store behind a pointer, so that the engine is one type whatever it runs on.
//!
//! A boxed future costs about 25 ns a call. Authors of backends never see this. A backend that panics has failed, and
//! takes nobody along who goes on without the answer.

use std::pin::pin;

use mcp_tasks_types::{TaskId, Timestamp};

use super::{Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError, StoreErrorKind};
use crate::BoxFuture;
use crate::owner::Owner;
use crate::panic::caught_in_place;
use crate::record::{SharedRecord, StepRecord, TaskRecord};

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub(crate) trait DynStore: Send + Sync + 'static {
    fn insert(&self, record: TaskRecord) -> Answer<'_, SharedRecord>;
    fn load<'a>(&'a self, id: &'a TaskId, parts: Parts) -> Answer<'a, Option<SharedRecord>>;
    fn replace(&self, record: TaskRecord, expected_version: u64) -> Answer<'_, SharedRecord>;
    fn append_step<'a>(&'a self, id: &'a TaskId, token: u64, step: StepRecord) -> Answer<'a, ()>;
    fn remove<'a>(&'a self, id: &'a TaskId, expected_version: u64) -> Answer<'a, ()>;
    fn claim(&self, claim: Claim) -> Answer<'_, Vec<SharedRecord>>;
    fn renew<'a>(&'a self, worker: &'a str, ids: &'a [TaskId], until: &'a Timestamp) -> Answer<'a, u64>;
    fn due<'a>(&'a self, now: &'a Timestamp, limit: usize) -> Answer<'a, Due>;
    fn find_call<'a>(&'a self, same_call: &'a str) -> Answer<'a, Option<SharedRecord>>;
    fn count_live<'a>(&'a self, owner: Option<&'a Owner>, at_most: usize) -> Answer<'a, usize>;
    fn list<'a>(
        &'a self,
        owner: Option<&'a Owner>,
        after: Option<&'a Cursor>,
        limit: usize,
    ) -> Answer<'a, Page>;
    fn changes(&self) -> Changes;
    fn clock_ahead_ms(&self) -> i64;
    fn reads_may_lag(&self) -> bool;
    fn is_shared(&self) -> bool;
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A panic comes again, so that nobody may wait for it to go away: what is read cannot be understood, and a write is
/// refused. Of a new record its maker finds out whether it was made.
macro_rules! answer {
    ($verb:literal, $kind:ident, $call:expr) => {
        Box::pin(async move {
            // A backend may do something before it gives a future.
            let mut work = pin!(async move { $call.await });
            let answer = caught_in_place($verb, work.as_mut()).await;
            let panicked = || StoreError::new(StoreErrorKind::$kind, concat!("the store panicked: ", $verb));
            answer.unwrap_or_else(|| Err(panicked()))
        })
    };
}

impl<S: Store> DynStore for S {
    fn insert(&self, record: TaskRecord) -> Answer<'_, SharedRecord> {
        answer!("insert", Unavailable, Store::insert(self, record))
    }

    fn load<'a>(&'a self, id: &'a TaskId, parts: Parts) -> Answer<'a, Option<SharedRecord>> {
        answer!("load", Corrupt, Store::load(self, id, parts))
    }

    fn replace(&self, record: TaskRecord, expected_version: u64) -> Answer<'_, SharedRecord> {
        answer!("replace", Refused, Store::replace(self, record, expected_version))
    }

    fn append_step<'a>(&'a self, id: &'a TaskId, token: u64, step: StepRecord) -> Answer<'a, ()> {
        answer!("append_step", Refused, Store::append_step(self, id, token, step))
    }

    fn remove<'a>(&'a self, id: &'a TaskId, expected_version: u64) -> Answer<'a, ()> {
        answer!("remove", Refused, Store::remove(self, id, expected_version))
    }

    fn claim(&self, claim: Claim) -> Answer<'_, Vec<SharedRecord>> {
        answer!("claim", Refused, Store::claim(self, claim))
    }

    fn renew<'a>(&'a self, worker: &'a str, ids: &'a [TaskId], until: &'a Timestamp) -> Answer<'a, u64> {
        answer!("renew", Refused, Store::renew(self, worker, ids, until))
    }

    fn due<'a>(&'a self, now: &'a Timestamp, limit: usize) -> Answer<'a, Due> {
        answer!("due", Corrupt, Store::due(self, now, limit))
    }

    fn find_call<'a>(&'a self, same_call: &'a str) -> Answer<'a, Option<SharedRecord>> {
        answer!("find_call", Corrupt, Store::find_call(self, same_call))
    }

    fn count_live<'a>(&'a self, owner: Option<&'a Owner>, at_most: usize) -> Answer<'a, usize> {
        answer!("count_live", Corrupt, Store::count_live(self, owner, at_most))
    }

    fn clock_ahead_ms(&self) -> i64 {
        Store::clock_ahead_ms(self)
    }

    fn reads_may_lag(&self) -> bool {
        Store::reads_may_lag(self)
    }

    fn is_shared(&self) -> bool {
        Store::is_shared(self)
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a Owner>,
        after: Option<&'a Cursor>,
        limit: usize,
    ) -> Answer<'a, Page> {
        answer!("list", Corrupt, Store::list(self, owner, after, limit))
    }

    fn changes(&self) -> Changes {
        Store::changes(self)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut work = pin!(async move { Store::close(self).await });
            // Whoever closes cannot do more about it than the log says.
            let _ = caught_in_place("close", work.as_mut()).await;
        })
    }
}
