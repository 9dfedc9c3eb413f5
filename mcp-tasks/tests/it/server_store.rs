//! The server over a store that is slow or broken.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use mcp_tasks::{
    MemoryStore, Owner, Server, SharedRecord, Store, StoreError, StoreErrorKind, TaskRecord,
    record::StepRecord,
    store::{Changes, Claim, Cursor, Due, Page, Parts},
    types::{TaskId, Timestamp},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::server_harness::{Back, ask, job, request};

/// A memory store that can be broken, and whose insertions wait until they are let through.
#[derive(Clone)]
struct Moody {
    inner: Arc<MemoryStore>,
    broken: Arc<AtomicBool>,
    insertions: Arc<Semaphore>,
}

impl Moody {
    fn new() -> Self {
        Self {
            inner: Arc::new(MemoryStore::new()),
            broken: Arc::default(),
            insertions: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Corrupt, "disk /dev/secret is on fire"));
        }
        Ok(())
    }
}

impl Store for Moody {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        self.check()?;
        let _permit = self.insertions.acquire().await;
        self.inner.insert(record).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.check()?;
        self.inner.load(id, parts).await
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        self.check()?;
        self.inner.replace(record, expected_version).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        self.inner.append_step(id, token, step).await
    }

    async fn remove(&self, id: &TaskId, expected_version: u64) -> Result<(), StoreError> {
        self.inner.remove(id, expected_version).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        self.inner.claim(claim).await
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        self.inner.renew(worker, ids, until).await
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        self.inner.due(now, limit).await
    }

    async fn list(&self, owner: &Owner, after: Option<&Cursor>, limit: usize) -> Result<Page, StoreError> {
        self.inner.list(owner, after, limit).await
    }

    fn changes(&self) -> Changes {
        self.inner.changes()
    }
}

async fn server(store: Moody) -> Server {
    Server::builder("moody", "1").store(store).tool::<job>().build().await.unwrap()
}

fn call() -> Value {
    request(json!(1), "tools/call", json!({"name": "job", "arguments": {}}))
}

// C-95, C-93: and nothing of the cause.
#[tokio::test]
async fn a_store_that_fails_is_an_internal_error() {
    let store = Moody::new();
    let server = server(store.clone()).await;
    let (_, created) = ask(&server, &call()).await;
    let id = &created["result"]["taskId"];

    store.broken.store(true, Ordering::SeqCst);
    let params = json!({"taskId": id, "inputResponses": {}});
    let mut answers: Vec<Back> = vec![ask(&server, &call()).await];
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        answers.push(ask(&server, &request(json!(1), method, params.clone())).await);
    }
    for (status, answer) in answers {
        assert_eq!(status, 200);
        assert_eq!(answer["error"], json!({"code": -32_603, "message": "Internal error"}));
    }
}

// C-31, C-32: the handle is not handed over before the task can be found.
#[tokio::test]
async fn a_new_task_is_answered_for_when_it_is_stored_and_not_before() {
    let gate = Arc::new(Semaphore::new(0));
    let store = Moody { insertions: Arc::clone(&gate), ..Moody::new() };
    let server = server(store).await;

    let message = call();
    let mut answer = Box::pin(ask(&server, &message));
    for _ in 0..1_000 {
        let early = std::future::poll_fn(|context| Poll::Ready(answer.as_mut().poll(context).is_ready()));
        assert!(!early.await, "the task is not stored yet");
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    let (_, created) = answer.await;
    let params = json!({"taskId": created["result"]["taskId"]});
    let (_, found) = ask(&server, &request(json!(2), "tasks/get", params)).await;
    assert!(found["result"]["status"].is_string(), "{found}");
}
