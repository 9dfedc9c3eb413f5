//! A store that keeps payloads sealed: what people and tools said is encrypted before another store sees it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_tasks_types::{RawJson, RawObject, TaskId};
use serde::{Deserialize, Serialize};

use super::{Claim, Cursor, Page, Parts, Store, StoreError, StoreErrorKind};
use crate::forward_store;
use crate::owner::Owner;
use crate::record::{InputState, SharedRecord, State, StepRecord, TaskRecord};

/// Encrypts and decrypts payloads. Key management, rotation and the choice of a cipher are its business; a cipher that
/// authenticates lets it find out what was changed.
pub trait Seal: Send + Sync + 'static {
    /// Encrypts a payload of a task. The task's id can be bound to it, so that nobody moves payloads between tasks.
    ///
    /// # Errors
    ///
    /// When it cannot; nothing is stored then.
    fn seal(&self, task: &TaskId, plain: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Decrypts what [`seal`](Self::seal) made.
    ///
    /// # Errors
    ///
    /// When the key is not the right one or the payload was changed.
    fn open(&self, task: &TaskId, sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// Why a payload could not be sealed or opened.
#[derive(Debug)]
pub struct SealError(Box<dyn StdError + Send + Sync>);

impl SealError {
    /// An error with what caused it; a text is enough.
    pub fn new(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl StdError for SealError {}

/// A store whose payloads are sealed: parameters, results, errors, steps, questions, answers, and what is said to
/// people. In the clear stay what a store needs to find tasks (ids, owners, times, statuses, keys of questions, names of
/// steps and tools) and digests.
///
/// Records that were written before there was a seal are read as they are, and sealed with their next write; parameters
/// and steps are written once and stay as they were.
pub struct SealedStore<S, K> {
    inner: S,
    seal: K,
}

impl<S: Store, K: Seal> SealedStore<S, K> {
    /// Seals what goes into a store.
    pub fn new(inner: S, seal: K) -> Self {
        Self { inner, seal }
    }

    fn sealer<'s>(&'s self, task: &'s TaskId) -> Sealer<'s, K> {
        Sealer { seal: &self.seal, task }
    }

    fn opened(&self, record: SharedRecord) -> Result<SharedRecord, StoreError> {
        let mut record = Arc::unwrap_or_clone(record);
        let id = record.id.clone();
        let sealer = self.sealer(&id);
        each_payload(&mut record, &mut |payload| payload.open(&sealer))?;
        Ok(Arc::new(record))
    }

    fn opened_all(&self, records: Vec<SharedRecord>) -> Result<Vec<SharedRecord>, StoreError> {
        records.into_iter().map(|record| self.opened(record)).collect()
    }

    fn sealed(&self, mut record: TaskRecord) -> Result<TaskRecord, StoreError> {
        let id = record.id.clone();
        let sealer = self.sealer(&id);
        each_payload(&mut record, &mut |payload| payload.seal(&sealer))?;
        Ok(record)
    }
}

/// What a sealed payload looks like among others.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    #[serde(rename = "mcp-tasks.sealed")]
    sealed: String,
}

/// What a sealed text begins with.
const MARK: &str = "mcp-tasks.sealed:";

struct Sealer<'s, K> {
    seal: &'s K,
    task: &'s TaskId,
}

impl<K: Seal> Sealer<'_, K> {
    fn failed(
        &self,
        kind: StoreErrorKind,
        what: &str,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> StoreError {
        StoreError::new(kind, format!("a payload of task `{}` cannot be {what}", self.task))
            .with_source(source)
    }

    fn seal(&self, plain: &str) -> Result<String, StoreError> {
        let sealed = self.seal.seal(self.task, plain.as_bytes());
        sealed
            .map(|bytes| STANDARD.encode(bytes))
            .map_err(|err| self.failed(StoreErrorKind::Unavailable, "sealed", err))
    }

    fn open(&self, sealed: &str) -> Result<String, StoreError> {
        let broken =
            |err: Box<dyn StdError + Send + Sync>| self.failed(StoreErrorKind::Corrupt, "opened", err);
        let bytes = STANDARD.decode(sealed).map_err(|err| broken(err.into()))?;
        let plain = self.seal.open(self.task, &bytes).map_err(|err| broken(err.into()))?;
        String::from_utf8(plain).map_err(|err| broken(err.into()))
    }
}

/// One payload, whatever its type.
enum Payload<'p> {
    Object(&'p mut RawObject),
    Value(&'p mut RawJson),
    Text(&'p mut String),
}

impl Payload<'_> {
    fn seal<K: Seal>(self, sealer: &Sealer<'_, K>) -> Result<(), StoreError> {
        let unwritable = |err| sealer.failed(StoreErrorKind::Unavailable, "sealed", err);
        match self {
            Self::Text(text) => *text = format!("{MARK}{}", sealer.seal(text)?),
            Self::Value(value) => {
                *value =
                    RawJson::new(&Sealed { sealed: sealer.seal(value.as_str())? }).map_err(unwritable)?;
            }
            Self::Object(object) => {
                *object =
                    RawObject::new(&Sealed { sealed: sealer.seal(object.as_str())? }).map_err(unwritable)?;
            }
        }
        Ok(())
    }

    fn open<K: Seal>(self, sealer: &Sealer<'_, K>) -> Result<(), StoreError> {
        let unreadable = |err| sealer.failed(StoreErrorKind::Corrupt, "opened", err);
        match self {
            Self::Text(text) => {
                if let Some(sealed) = text.strip_prefix(MARK) {
                    *text = sealer.open(sealed)?;
                }
            }
            Self::Value(value) => {
                if let Ok(sealed) = value.get::<Sealed>() {
                    *value = RawJson::from_text(sealer.open(&sealed.sealed)?).map_err(unreadable)?;
                }
            }
            Self::Object(object) => {
                if let Ok(sealed) = object.get::<Sealed>() {
                    *object = RawObject::from_text(sealer.open(&sealed.sealed)?).map_err(unreadable)?;
                }
            }
        }
        Ok(())
    }
}

/// Does something with every payload of a record.
fn each_payload(
    record: &mut TaskRecord,
    work: &mut dyn FnMut(Payload<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if let Some(params) = &mut record.params {
        work(Payload::Object(params))?;
    }
    if let Some(message) = &mut record.status_message {
        work(Payload::Text(message))?;
    }
    if let Some(reason) = record.cancel.as_mut().and_then(|cancel| cancel.reason.as_mut()) {
        work(Payload::Text(reason))?;
    }
    match &mut record.state {
        State::Completed { result } => work(Payload::Object(result))?,
        State::Failed { error } => {
            work(Payload::Text(&mut error.message))?;
            if let Some(data) = &mut error.data {
                work(Payload::Value(data))?;
            }
        }
        State::Working | State::InputRequired | State::Cancelled => {}
    }
    for input in &mut record.inputs {
        work(Payload::Value(&mut input.request))?;
        if let InputState::Answered { response } = &mut input.state {
            work(Payload::Value(response))?;
        }
    }
    for step in &mut record.steps {
        work(Payload::Value(&mut step.value))?;
    }
    Ok(())
}

impl<S: Store, K: Seal> Store for SealedStore<S, K> {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        self.opened(self.inner.insert(self.sealed(record)?).await?)
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.inner.load(id, parts).await?.map(|record| self.opened(record)).transpose()
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        self.opened(self.inner.replace(self.sealed(record)?, expected_version).await?)
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        let mut step = step;
        Payload::Value(&mut step.value).seal(&self.sealer(id))?;
        self.inner.append_step(id, token, step).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        self.opened_all(self.inner.claim(claim).await?)
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        self.inner.find_call(same_call).await?.map(|record| self.opened(record)).transpose()
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let page = self.inner.list(owner, after, limit).await?;
        Ok(Page { records: self.opened_all(page.records)?, next: page.next })
    }

    forward_store!(|sealed| &sealed.inner; remove, renew, due, count_live, changes, properties, close);
}

impl<S: fmt::Debug, K> fmt::Debug for SealedStore<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nothing of the key.
        f.debug_struct("SealedStore").field("inner", &self.inner).finish_non_exhaustive()
    }
}
