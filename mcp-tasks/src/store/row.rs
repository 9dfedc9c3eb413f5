//! Records as rows of a database: the head's JSON, and beside it in columns what changes without it.

use mcp_tasks_types::Timestamp;
use serde::Deserialize;

use super::{StoreError, StoreErrorKind};
use crate::record::{FORMAT, Lease, TaskRecord};

/// The end of no lease at all: earlier than any time.
pub(super) const NO_LEASE: i64 = i64::MIN;

/// A record without parameters and steps, ready to be written.
pub(super) struct Head {
    pub(super) record: TaskRecord,
    pub(super) text: String,
}

impl Head {
    /// Writes the JSON in the caller's thread; the writer has enough to do.
    pub(super) fn new(record: TaskRecord) -> Result<Self, StoreError> {
        let lease = record.lease;
        let mut record = TaskRecord { lease: None, ..record };
        let text = mcp_tasks_types::to_string(&record).map_err(|err| {
            let message = format!("the record of task `{}` cannot be written", record.id);
            StoreError::new(StoreErrorKind::Refused, message).with_source(err)
        })?;
        record.lease = lease;
        Ok(Self { record, text })
    }

    pub(super) fn into_record(self) -> TaskRecord {
        self.record
    }
}

/// A row as the database has it. The texts are read where they lie.
pub(super) struct RawHead<'a> {
    pub(super) id: &'a str,
    pub(super) text: &'a str,
    pub(super) version: i64,
    pub(super) fence: i64,
    pub(super) attempt: u32,
    pub(super) worker: Option<String>,
    pub(super) until: i64,
}

impl RawHead<'_> {
    pub(super) fn read(self) -> Result<TaskRecord, StoreError> {
        let read = mcp_tasks_types::from_str::<TaskRecord>(self.text);
        let format = match &read {
            Ok(record) => record.format,
            Err(_) => format_of(self.text),
        };
        if format > FORMAT {
            let message = format!("the record of task `{}` has the newer format {format}", self.id);
            return Err(StoreError::new(StoreErrorKind::Unsupported, message));
        }
        let mut record = read.map_err(|err| unreadable(self.id, err))?;
        record.version = u64::try_from(self.version).unwrap_or(0);
        record.fence = u64::try_from(self.fence).unwrap_or(0);
        record.attempt = self.attempt;
        record.lease = lease_of(self.worker, self.until, record.fence);
        Ok(record)
    }
}

pub(super) fn integer(value: u64) -> i64 {
    // Counters of ours; none comes near.
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn lease_of(worker: Option<String>, until: i64, fence: u64) -> Option<Lease> {
    worker.map(|worker| Lease::new(worker, Timestamp::from_unix_millis(until), fence))
}

/// The format of a record that cannot be read as ours.
fn format_of(text: &str) -> u32 {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    mcp_tasks_types::from_str(text).map_or(0, |Format { format }| format)
}

pub(super) fn unreadable(id: &str, err: mcp_tasks_types::JsonError) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("the record of task `{id}` cannot be read"))
        .with_source(err)
}
