//! Payloads under a seal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_tasks::lifecycle::{Event, apply};
use mcp_tasks::record::{
    CancelRecord, ErrorRecord, InputRecord, InputState, Lease, State, StepRecord, ToolFingerprint,
};
use mcp_tasks::store::{Claim, Parts, Seal, SealError, SealedStore, Subject};
use mcp_tasks::testing::{Backend, reopened};
use mcp_tasks::types::{RawJson, RawObject, Timestamp};
use mcp_tasks::{MemoryStore, Owner, Store, StoreError, StoreErrorKind, TaskRecord};

/// No cipher, but one that notices another key and another task.
struct Shifted(u8);

impl Seal for Shifted {
    fn seal(&self, subject: &Subject<'_>, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let bound = [&*subject.associated_data(), b"|", plain].concat();
        Ok(bound.iter().map(|byte| byte.wrapping_add(self.0)).collect())
    }

    fn open(&self, subject: &Subject<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let bound: Vec<u8> = sealed.iter().map(|byte| byte.wrapping_sub(self.0)).collect();
        let plain = bound.strip_prefix(&*subject.associated_data()).and_then(|rest| rest.strip_prefix(b"|"));
        plain.map(<[u8]>::to_vec).ok_or_else(|| SealError::new("another key or another task"))
    }
}

struct Sealed(MemoryStore);

impl Backend for Sealed {
    type Store = SealedStore<MemoryStore, Shifted>;

    async fn open(&self) -> Result<Self::Store, StoreError> {
        Ok(SealedStore::new(reopened(&self.0), Shifted(3)))
    }
}

#[tokio::test]
async fn sealed_store_keeps_the_contract() {
    crate::support::keeps_the_contract("sealed", || Sealed(MemoryStore::new())).await;
}

const SECRET: &str = "a secret";

/// A record that says the secret wherever something can be said, but for the result of a task that did not fail.
fn secretive(id: &str) -> TaskRecord {
    let now = Timestamp::from_unix_millis(1_767_225_600_000);
    let tool = ToolFingerprint::new("tool", "digest", None);
    let mut record = TaskRecord::new(id.into(), Owner::anonymous(), "tools/call", tool, now);
    let value = || RawJson::new(&serde_json::json!({"said": SECRET})).unwrap();
    record.params = Some(RawObject::try_from(value()).unwrap());
    record.status_message = Some(SECRET.to_owned());
    record.state = State::Failed { error: ErrorRecord::new(-1, SECRET).with_data(value()) };
    let mut input = InputRecord::new("key", value(), "print");
    input.state = InputState::Answered { response: value() };
    record.inputs.push(input);
    record.inputs.push(InputRecord::new("asked", value(), "print"));
    record.cancel = cancelled_for(SECRET, &record);
    record.steps.push(StepRecord::new("step", "print", value()));
    record
}

/// The same of a task that has a result.
fn secretive_with_a_result(id: &str) -> TaskRecord {
    let mut record = secretive(id);
    let result = RawObject::new(&serde_json::json!({"said": SECRET})).unwrap();
    record.state = State::Completed { result };
    record
}

/// The wish to end the task, for this reason.
fn cancelled_for(reason: &str, record: &TaskRecord) -> Option<CancelRecord> {
    let mut working = record.clone();
    working.state = State::Working;
    working.lease = Some(Lease::new("worker", Timestamp::from_unix_millis(2_000_000_000_000), 1));
    let wish = Event::Cancel { reason: Some(reason.to_owned()) };
    apply(&working, wish, &record.created_at).unwrap().cancel
}

#[tokio::test]
async fn nothing_that_was_said_is_stored_in_the_clear() {
    for record in [secretive("tsk_1"), secretive_with_a_result("tsk_1")] {
        let clear = mcp_tasks::types::to_string(&record).unwrap();
        // Parameters, message, state, an answered question, an open one, the wish to cancel, and a step.
        let places = if matches!(record.state, State::Failed { .. }) { 9 } else { 8 };
        assert_eq!(clear.matches(SECRET).count(), places, "{clear}");
        let memory = MemoryStore::new();
        let store = SealedStore::new(reopened(&memory), Shifted(3));
        assert_eq!(*store.insert(record.clone()).await.unwrap(), record);
        let inner = memory.load(&"tsk_1".into(), Parts::Whole).await.unwrap().unwrap();
        let stored = mcp_tasks::types::to_string(&*inner).unwrap();
        assert!(!stored.contains("secret"), "{stored}");
        assert_eq!(*store.load(&"tsk_1".into(), Parts::Whole).await.unwrap().unwrap(), record);
    }
}

#[tokio::test]
async fn payload_that_cannot_be_opened_is_corrupt_and_one_from_before_the_seal_is_read() {
    let memory = MemoryStore::new();
    SealedStore::new(reopened(&memory), Shifted(3)).insert(secretive("tsk_1")).await.unwrap();
    let other_key = SealedStore::new(reopened(&memory), Shifted(4));
    let error = other_key.load(&"tsk_1".into(), Parts::Head).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("tsk_1"), "{error}");
    memory.insert(secretive("tsk_2")).await.unwrap();
    let before = other_key.load(&"tsk_2".into(), Parts::Whole).await.unwrap().unwrap();
    assert_eq!(*before, secretive("tsk_2"));
}

fn working(id: &str) -> TaskRecord {
    let mut record = secretive(id);
    record.state = State::Working;
    record.cancel = None;
    record.ttl_ms = Some(10);
    record
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_767_225_600_000 + millis)
}

/// S-37, P093: a payload that cannot be opened stops nobody else, and is not counted as a run.
#[tokio::test]
async fn task_that_cannot_be_opened_stops_neither_claims_nor_lists_nor_what_is_due() {
    let memory = MemoryStore::new();
    let store = SealedStore::new(reopened(&memory), Shifted(3));
    let other_key = SealedStore::new(reopened(&memory), Shifted(4));
    for id in ["tsk_1", "tsk_2", "tsk_3"] {
        let with = if id == "tsk_2" { &store } else { &other_key };
        with.insert(working(id)).await.unwrap();
    }
    let claimed = store.claim(Claim::new("one", at(0), at(100), 1)).await.unwrap();
    assert_eq!(claimed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["tsk_2"]);
    assert_eq!(store.claim(Claim::new("one", at(0), at(100), 9)).await.unwrap(), []);
    let aside = memory.load(&"tsk_1".into(), Parts::Head).await.unwrap().unwrap();
    assert_eq!((aside.attempt, aside.state.is_terminal()), (0, false));
    let listed = store.list(None, None, 9).await.unwrap().records;
    assert_eq!(listed.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["tsk_2"]);
    let due = store.due(&at(1_000), 1).await.unwrap();
    assert_eq!(due.ids, ["tsk_2".into()]);
    // With the right key it goes on.
    let claimed = other_key.claim(Claim::new("two", at(100), at(200), 9)).await.unwrap();
    assert_eq!(claimed.len(), 2);
    assert_eq!(claimed[0].params, working("tsk_1").params);
}

/// A key service that goes away after a payload was sealed.
struct Leaving(Arc<AtomicBool>);

impl Seal for Leaving {
    fn seal(&self, _: &Subject<'_>, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        Ok(plain.to_vec())
    }

    fn open(&self, _: &Subject<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        if self.0.load(Ordering::SeqCst) {
            return Err(SealError::unavailable("the keys cannot be reached"));
        }
        Ok(sealed.to_vec())
    }
}

/// C-31: what was written is not reported as refused since it could not be opened just then; and what cannot be opened
/// for the moment is not corrupt.
#[tokio::test]
async fn write_needs_no_key_to_open_and_a_key_that_is_away_for_a_moment_makes_nothing_corrupt() {
    let away = Arc::new(AtomicBool::new(true));
    let store = SealedStore::new(MemoryStore::new(), Leaving(Arc::clone(&away)));
    let record = working("tsk_1");
    assert_eq!(*store.insert(record.clone()).await.unwrap(), record);
    let mut next = record.clone();
    next.version += 1;
    let replaced = store.replace(next.clone(), record.version).await.unwrap();
    (next.params, next.steps) = (None, Vec::new());
    assert_eq!(*replaced, next);
    for read in [
        store.load(&"tsk_1".into(), Parts::Head).await.map(drop),
        store.list(None, None, 9).await.map(drop),
        store.claim(Claim::new("one", at(0), at(100), 1)).await.map(drop),
    ] {
        assert_eq!(read.unwrap_err().kind(), StoreErrorKind::Unavailable);
    }
    away.store(false, Ordering::SeqCst);
    assert_eq!(store.load(&"tsk_1".into(), Parts::Whole).await.unwrap().unwrap().params, record.params);
}

/// Who can write to the database cannot put one payload of a task in the place of another one.
#[tokio::test]
async fn payloads_of_one_task_cannot_be_swapped() {
    let memory = MemoryStore::new();
    let store = SealedStore::new(reopened(&memory), Shifted(3));
    store.insert(working("tsk_1")).await.unwrap();
    let mut inner = TaskRecord::clone(&memory.load(&"tsk_1".into(), Parts::Head).await.unwrap().unwrap());
    inner.version += 1;
    let input = &mut inner.inputs[0];
    if let InputState::Answered { response } = &mut input.state {
        std::mem::swap(response, &mut input.request);
    }
    memory.replace(inner.clone(), inner.version - 1).await.unwrap();
    let error = store.load(&"tsk_1".into(), Parts::Head).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

#[tokio::test]
async fn strict_store_refuses_what_is_not_sealed() {
    let memory = MemoryStore::new();
    let store = SealedStore::new(reopened(&memory), Shifted(3)).strict();
    memory.insert(working("tsk_1")).await.unwrap();
    let error = store.load(&"tsk_1".into(), Parts::Head).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    store.insert(working("tsk_2")).await.unwrap();
    assert_eq!(*store.load(&"tsk_2".into(), Parts::Whole).await.unwrap().unwrap(), working("tsk_2"));
}
