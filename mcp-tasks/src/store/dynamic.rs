//! The same store behind a pointer, so that the engine is one type whatever it runs on.
//!
//! A boxed future costs about 25 ns a call. Authors of backends never see this.

use mcp_tasks_types::{TaskId, Timestamp};

use super::{Changes, Claim, Cursor, Due, Page, Parts, Store, StoreError};
use crate::BoxFuture;
use crate::owner::Owner;
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

impl<S: Store> DynStore for S {
    fn insert(&self, record: TaskRecord) -> Answer<'_, SharedRecord> {
        Box::pin(Store::insert(self, record))
    }

    fn load<'a>(&'a self, id: &'a TaskId, parts: Parts) -> Answer<'a, Option<SharedRecord>> {
        Box::pin(Store::load(self, id, parts))
    }

    fn replace(&self, record: TaskRecord, expected_version: u64) -> Answer<'_, SharedRecord> {
        Box::pin(Store::replace(self, record, expected_version))
    }

    fn append_step<'a>(&'a self, id: &'a TaskId, token: u64, step: StepRecord) -> Answer<'a, ()> {
        Box::pin(Store::append_step(self, id, token, step))
    }

    fn remove<'a>(&'a self, id: &'a TaskId, expected_version: u64) -> Answer<'a, ()> {
        Box::pin(Store::remove(self, id, expected_version))
    }

    fn claim(&self, claim: Claim) -> Answer<'_, Vec<SharedRecord>> {
        Box::pin(Store::claim(self, claim))
    }

    fn renew<'a>(&'a self, worker: &'a str, ids: &'a [TaskId], until: &'a Timestamp) -> Answer<'a, u64> {
        Box::pin(Store::renew(self, worker, ids, until))
    }

    fn due<'a>(&'a self, now: &'a Timestamp, limit: usize) -> Answer<'a, Due> {
        Box::pin(Store::due(self, now, limit))
    }

    fn find_call<'a>(&'a self, same_call: &'a str) -> Answer<'a, Option<SharedRecord>> {
        Box::pin(Store::find_call(self, same_call))
    }

    fn count_live<'a>(&'a self, owner: Option<&'a Owner>, at_most: usize) -> Answer<'a, usize> {
        Box::pin(Store::count_live(self, owner, at_most))
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
        Box::pin(Store::list(self, owner, after, limit))
    }

    fn changes(&self) -> Changes {
        Store::changes(self)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(Store::close(self))
    }
}
