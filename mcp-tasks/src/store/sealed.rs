//! A store that keeps payloads sealed: what people and tools said is encrypted before another store sees it.

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_tasks_types::{RawJson, RawObject, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Claim, Cursor, Due, Page, Parts, Store, StoreError, StoreErrorKind};
use crate::error::with_causes;
use crate::forward_store;
use crate::owner::Owner;
use crate::panic::caught_at_once;
use crate::record::{InputState, SharedRecord, State, StepRecord, TaskRecord};

/// Encrypts and decrypts payloads. Key management, rotation and the choice of a cipher are its business; a cipher that
/// authenticates lets it find out what was changed, and with [`Subject::associated_data`] also what was moved.
pub trait Seal: Send + Sync + 'static {
    /// Encrypts a payload.
    ///
    /// # Errors
    ///
    /// When it cannot; nothing is stored then.
    fn seal(&self, subject: &Subject<'_>, plain: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Decrypts what [`seal`](Self::seal) made of the same subject.
    ///
    /// # Errors
    ///
    /// When the key is not the right one, the payload was changed, or it belongs to something else. A key that cannot
    /// be had at the moment is [`SealError::unavailable`].
    fn open(&self, subject: &Subject<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// What a payload belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'s> {
    task: &'s TaskId,
    field: &'s str,
}

impl Subject<'_> {
    /// The task.
    #[must_use]
    pub fn task(&self) -> &TaskId {
        self.task
    }

    /// What of the task it is, such as `params`, `result`, `step NAME` or `response KEY`.
    #[must_use]
    pub fn field(&self) -> &str {
        self.field
    }

    /// Both as bytes, no two subjects the same: bound to a payload, nobody can put it in another one's place.
    #[must_use]
    pub fn associated_data(&self) -> Vec<u8> {
        let (task, field) = (self.task.as_str(), self.field);
        format!("{} {task}{field}", task.len()).into_bytes()
    }
}

/// Why a payload could not be sealed or opened.
#[derive(Debug)]
pub struct SealError {
    source: Box<dyn StdError + Send + Sync>,
    is_unavailable: bool,
}

impl SealError {
    /// An error that trying again does not change, with what caused it; a text is enough.
    pub fn new(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { source: source.into(), is_unavailable: false }
    }

    /// An error that may be gone later, such as of a service that keeps the keys and cannot be reached.
    pub fn unavailable(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { source: source.into(), is_unavailable: true }
    }

    /// Whether trying again later may help.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.is_unavailable
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)
    }
}

impl StdError for SealError {}

/// A store whose payloads are sealed: parameters, results, errors, steps, questions, answers, and what is said to
/// people. In the clear stay what a store needs to find tasks (ids, owners, times, statuses, keys of questions, names
/// of steps and tools) and digests.
///
/// Records that were written before there was a seal are read as they are, and sealed with their next write; parameters
/// and steps are written once and stay as they were. Where there are none such, [`strict`](Self::strict) refuses them,
/// since somebody put them there.
///
/// A task with a payload that cannot be opened stops nobody else: it is left out of lists and of what is due, and not
/// taken up. Asked for by its id, it is an error. Nothing of it is changed, so that it goes on once the key is there.
pub struct SealedStore<S, K> {
    inner: S,
    seal: K,
    is_strict: bool,
    /// What could not be opened and was told of.
    told: Mutex<BTreeSet<TaskId>>,
}

impl<S: Store, K: Seal> SealedStore<S, K> {
    /// Seals what goes into a store.
    pub fn new(inner: S, seal: K) -> Self {
        Self { inner, seal, is_strict: false, told: Mutex::default() }
    }

    /// Refuses payloads that are not sealed.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    fn sealer<'s>(&'s self, task: &'s TaskId) -> Sealer<'s, K> {
        Sealer { seal: &self.seal, task, is_strict: self.is_strict }
    }

    fn opened(&self, record: SharedRecord) -> Result<SharedRecord, StoreError> {
        let mut record = Arc::unwrap_or_clone(record);
        let id = record.id.clone();
        let sealer = self.sealer(&id);
        each_payload(&mut record, &mut |field, payload| payload.open(field, &sealer))?;
        Ok(Arc::new(record))
    }

    fn sealed(&self, record: &TaskRecord) -> Result<TaskRecord, StoreError> {
        let mut record = record.clone();
        let id = record.id.clone();
        let sealer = self.sealer(&id);
        each_payload(&mut record, &mut |field, payload| payload.seal(field, &sealer))?;
        Ok(record)
    }

    /// Says once that a task cannot be opened.
    fn tell(&self, id: &TaskId, cause: &StoreError) {
        let is_new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        if is_new {
            tracing::error!(task = %id, error = with_causes(cause), "the task cannot be opened and is set aside");
        }
    }

    /// Opens what was taken, as far as that goes. The lease of what cannot be opened runs out by itself, and it is not
    /// counted as a run.
    async fn opened_claims(
        &self,
        claimed: Vec<SharedRecord>,
    ) -> Result<(Vec<SharedRecord>, Option<StoreError>), StoreError> {
        let (mut opened, mut failed) = (Vec::new(), None);
        for record in claimed {
            let cause = match self.opened(Arc::clone(&record)) {
                Ok(record) => {
                    opened.push(record);
                    continue;
                }
                Err(cause) => cause,
            };
            self.tell(&record.id, &cause);
            failed = Some(cause);
            let (head, _, _) = Arc::unwrap_or_clone(record).into_parts();
            let version = head.version;
            let attempt = head.attempt.saturating_sub(1);
            let uncounted = TaskRecord { attempt, version: version.saturating_add(1), ..head };
            let id = uncounted.id.clone();
            if let Err(err) = self.inner.replace(uncounted, version).await {
                // Then it counts as one more run.
                tracing::warn!(task = %id, error = with_causes(&err), "a task that cannot be opened was counted as run");
            }
        }
        Ok((opened, failed))
    }
}

/// The record that was written, as it is stored, without opening it: what was done is not reported as failed since the
/// key went away just then.
fn given_back(plain: TaskRecord, stored: &TaskRecord) -> SharedRecord {
    let mut record = TaskRecord { lease: stored.lease.clone(), version: stored.version, ..plain };
    if stored.params.is_none() {
        record.params = None;
    }
    if stored.steps.is_empty() {
        record.steps.clear();
    }
    Arc::new(record)
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
    is_strict: bool,
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

    fn seal(&self, field: &str, plain: &str) -> Result<String, StoreError> {
        let seal = || self.seal.seal(&Subject { task: self.task, field }, plain.as_bytes());
        // A panic is its author's fault, and this task's alone.
        let sealed =
            caught_at_once("sealing a payload", seal).unwrap_or_else(|| Err(SealError::new("a panic")));
        sealed.map(|bytes| STANDARD.encode(bytes)).map_err(|err| {
            let kind =
                if err.is_unavailable() { StoreErrorKind::Unavailable } else { StoreErrorKind::Refused };
            self.failed(kind, "sealed", err)
        })
    }

    fn open(&self, field: &str, sealed: &str) -> Result<String, StoreError> {
        let broken =
            |err: Box<dyn StdError + Send + Sync>| self.failed(StoreErrorKind::Corrupt, "opened", err);
        let bytes = STANDARD.decode(sealed).map_err(|err| broken(err.into()))?;
        let open = || self.seal.open(&Subject { task: self.task, field }, &bytes);
        let plain =
            caught_at_once("opening a payload", open).unwrap_or_else(|| Err(SealError::new("a panic")));
        let plain = plain.map_err(|err| {
            let kind =
                if err.is_unavailable() { StoreErrorKind::Unavailable } else { StoreErrorKind::Corrupt };
            self.failed(kind, "opened", err)
        })?;
        String::from_utf8(plain).map_err(|err| broken(err.into()))
    }

    /// What was read is not sealed.
    fn in_the_clear(&self) -> Result<(), StoreError> {
        if !self.is_strict {
            return Ok(());
        }
        let message = format!("a payload of task `{}` is not sealed", self.task);
        Err(StoreError::new(StoreErrorKind::Corrupt, message))
    }
}

/// One payload, whatever its type.
enum Payload<'p> {
    Object(&'p mut RawObject),
    Value(&'p mut RawJson),
    Text(&'p mut String),
}

impl Payload<'_> {
    fn seal<K: Seal>(self, field: &str, sealer: &Sealer<'_, K>) -> Result<(), StoreError> {
        let unwritable = |err| sealer.failed(StoreErrorKind::Refused, "sealed", err);
        match self {
            Self::Text(text) => *text = format!("{MARK}{}", sealer.seal(field, text)?),
            Self::Value(value) => {
                let sealed = sealer.seal(field, value.as_str())?;
                *value = RawJson::new(&Sealed { sealed }).map_err(unwritable)?;
            }
            Self::Object(object) => {
                let sealed = sealer.seal(field, object.as_str())?;
                *object = RawObject::new(&Sealed { sealed }).map_err(unwritable)?;
            }
        }
        Ok(())
    }

    fn open<K: Seal>(self, field: &str, sealer: &Sealer<'_, K>) -> Result<(), StoreError> {
        let unreadable = |err| sealer.failed(StoreErrorKind::Corrupt, "opened", err);
        match self {
            Self::Text(text) => match text.strip_prefix(MARK) {
                Some(sealed) => *text = sealer.open(field, sealed)?,
                None => sealer.in_the_clear()?,
            },
            Self::Value(value) => match value.get::<Sealed>() {
                Ok(sealed) => {
                    *value = RawJson::from_text(sealer.open(field, &sealed.sealed)?).map_err(unreadable)?;
                }
                Err(_) => sealer.in_the_clear()?,
            },
            Self::Object(object) => match object.get::<Sealed>() {
                Ok(sealed) => {
                    *object =
                        RawObject::from_text(sealer.open(field, &sealed.sealed)?).map_err(unreadable)?;
                }
                Err(_) => sealer.in_the_clear()?,
            },
        }
        Ok(())
    }
}

/// What a step's value is called.
fn step_field(name: &str) -> String {
    format!("step {name}")
}

/// Does something with every payload of a record, each with what it is called.
fn each_payload(
    record: &mut TaskRecord,
    work: &mut dyn FnMut(&str, Payload<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if let Some(params) = &mut record.params {
        work("params", Payload::Object(params))?;
    }
    if let Some(message) = &mut record.status_message {
        work("status message", Payload::Text(message))?;
    }
    if let Some(reason) = record.cancel.as_mut().and_then(|cancel| cancel.reason.as_mut()) {
        work("reason", Payload::Text(reason))?;
    }
    match &mut record.state {
        State::Completed { result } => work("result", Payload::Object(result))?,
        State::Failed { error } => {
            work("error message", Payload::Text(&mut error.message))?;
            if let Some(data) = &mut error.data {
                work("error data", Payload::Value(data))?;
            }
        }
        State::Working | State::InputRequired | State::Cancelled => {}
    }
    for input in &mut record.inputs {
        work(&format!("request {}", input.key), Payload::Value(&mut input.request))?;
        if let InputState::Answered { response } = &mut input.state {
            work(&format!("response {}", input.key), Payload::Value(response))?;
        }
    }
    for step in &mut record.steps {
        work(&step_field(&step.name), Payload::Value(&mut step.value))?;
    }
    Ok(())
}

impl<S: Store, K: Seal> Store for SealedStore<S, K> {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        let stored = self.inner.insert(self.sealed(&record)?).await?;
        Ok(given_back(record, &stored))
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        self.inner.load(id, parts).await?.map(|record| self.opened(record)).transpose()
    }

    async fn replace(&self, record: TaskRecord, expected_version: u64) -> Result<SharedRecord, StoreError> {
        let stored = self.inner.replace(self.sealed(&record)?, expected_version).await?;
        Ok(given_back(record, &stored))
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        let mut step = step;
        Payload::Value(&mut step.value).seal(&step_field(&step.name), &self.sealer(id))?;
        self.inner.append_step(id, token, step).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let mut seen = BTreeSet::new();
        loop {
            let claimed = self.inner.claim(claim.clone()).await?;
            let before = seen.len();
            seen.extend(claimed.iter().map(|record| record.id.clone()));
            let is_new = seen.len() > before;
            let (opened, failed) = self.opened_claims(claimed).await?;
            match failed {
                // Behind those there may be others, and no answer means that there is none.
                Some(failed) if opened.is_empty() && failed.kind() == StoreErrorKind::Corrupt && is_new => {}
                Some(failed) if opened.is_empty() && failed.kind() != StoreErrorKind::Corrupt => {
                    return Err(failed);
                }
                _ => return Ok(opened),
            }
        }
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        let mut count = limit;
        loop {
            let mut due = self.inner.due(now, count).await?;
            let found = due.ids.len();
            let mut ids = Vec::new();
            for id in due.ids {
                let head = self.inner.load(&id, Parts::Head).await?;
                match head.map(|head| self.opened(head)).transpose() {
                    Err(cause) if cause.kind() == StoreErrorKind::Corrupt => self.tell(&id, &cause),
                    // What else is wrong with it is found by who asks for it.
                    _ => ids.push(id),
                }
            }
            if ids.len() < limit && found == count && count > 0 {
                // They had the places of others.
                count = count.saturating_mul(2);
                continue;
            }
            if ids.len() > limit {
                ids.truncate(limit);
                due.next = Some(now.clone());
            }
            return Ok(Due { ids, ..due });
        }
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
        let (mut records, mut unreadable) = (Vec::new(), page.unreadable);
        for record in page.records {
            let id = record.id.clone();
            match self.opened(record) {
                Ok(record) => records.push(record),
                Err(cause) if cause.kind() == StoreErrorKind::Corrupt => {
                    tracing::warn!(task = %id, error = with_causes(&cause), "a task is left out of a list");
                    unreadable.push(id);
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok(Page { records, next: page.next, unreadable })
    }

    forward_store!(|sealed| &sealed.inner; remove, renew, count_live, changes, properties, close);
}

impl<S: fmt::Debug, K> fmt::Debug for SealedStore<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nothing of the key.
        f.debug_struct("SealedStore").field("inner", &self.inner).finish_non_exhaustive()
    }
}
