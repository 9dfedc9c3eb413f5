//! Payloads under a seal.

use mcp_tasks::lifecycle::{Event, apply};
use mcp_tasks::record::{
    CancelRecord, ErrorRecord, InputRecord, InputState, Lease, State, StepRecord, ToolFingerprint,
};
use mcp_tasks::store::{Parts, Seal, SealError, SealedStore};
use mcp_tasks::testing::{Backend, reopened};
use mcp_tasks::types::{RawJson, RawObject, TaskId, Timestamp};
use mcp_tasks::{MemoryStore, Owner, Store, StoreError, StoreErrorKind, TaskRecord};

/// No cipher, but one that notices another key and another task.
struct Shifted(u8);

impl Seal for Shifted {
    fn seal(&self, task: &TaskId, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let bound = [task.as_str().as_bytes(), b"|", plain].concat();
        Ok(bound.iter().map(|byte| byte.wrapping_add(self.0)).collect())
    }

    fn open(&self, task: &TaskId, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let bound: Vec<u8> = sealed.iter().map(|byte| byte.wrapping_sub(self.0)).collect();
        let plain = bound.strip_prefix(task.as_str().as_bytes()).and_then(|rest| rest.strip_prefix(b"|"));
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
