//! What stands beside a task's file: its parameters, then its steps, each a line of JSON.
//!
//! A line counts when it has its line break. One without, at the end, was being written when the process died; it is
//! left out, and the next one takes its place.

use std::fs::{self, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use mcp_tasks_types::{JsonError, RawObject};
use serde::{Deserialize, Serialize};

use super::folder::{corrupt, failed, not_written};
use crate::record::StepRecord;
use crate::store::lock::private;
use crate::store::{StoreError, StoreErrorKind};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Params(RawObject),
    Step(StepRecord),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum LineOf<'a> {
    Params(&'a RawObject),
    Step(&'a StepRecord),
}

/// What a file of parts has.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) params: Option<RawObject>,
    pub(super) steps: Vec<StepRecord>,
    /// How long the file is, in bytes, without a line that does not count; nothing when there is no file.
    pub(super) length: Option<u64>,
}

fn line(line: &LineOf<'_>) -> Result<String, StoreError> {
    // Raw values have no line breaks.
    let written = mcp_tasks_types::to_string(line).map(|text| text + "\n");
    written.map_err(|err: JsonError| {
        StoreError::new(StoreErrorKind::Refused, "parameters or steps cannot be written").with_source(err)
    })
}

/// Parameters and steps as the file has them.
pub(super) fn lines(params: Option<&RawObject>, steps: &[StepRecord]) -> Result<String, StoreError> {
    let mut text = String::new();
    if let Some(params) = params {
        text += &line(&LineOf::Params(params))?;
    }
    for step in steps {
        text += &line(&LineOf::Step(step))?;
    }
    Ok(text)
}

/// Reads a file of parts, which need not be there.
pub(super) fn read(path: &Path) -> Result<Contents, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Contents::default()),
        Err(err) => return Err(failed("read", path, err)),
    };
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (whole, torn) = bytes.split_at(length);
    if !torn.is_empty() {
        tracing::warn!(file = %path.display(), bytes = torn.len(), "a half-written line is left out");
    }
    let mut contents = Contents { length: Some(length as u64), ..Contents::default() };
    for (number, line) in (1..).zip(whole.split_inclusive(|byte| *byte == b'\n')) {
        let line = mcp_tasks_types::from_slice(line);
        match line.map_err(|err| corrupt(path, &format!("has no step in line {number}")).with_source(err))? {
            Line::Params(params) => contents.params = Some(params),
            Line::Step(step) => contents.steps.push(step),
        }
    }
    Ok(contents)
}

/// Adds a step behind what counts, durably but for the file's entry in the folder; gives the new length.
pub(super) fn append(path: &Path, length: u64, step: &StepRecord) -> Result<u64, StoreError> {
    let text = line(&LineOf::Step(step))?;
    let append = || {
        let mut file = private(OpenOptions::new().create(true).write(true).truncate(false)).open(path)?;
        let written = file.set_len(length).and_then(|()| {
            file.seek(SeekFrom::Start(length))?;
            file.write_all(text.as_bytes())?;
            file.sync_data()
        });
        if written.is_err() {
            // What was refused must not be read again. If this fails as well, the next step overwrites it.
            let _ = file.set_len(length);
        }
        written
    };
    append().map_err(|err| not_written(path, err))?;
    Ok(length + text.len() as u64)
}

/// Takes back what was appended.
pub(super) fn truncate(path: &Path, length: u64) -> Result<(), StoreError> {
    let truncate = || {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.sync_data()
    };
    match truncate() {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        truncated => truncated.map_err(|err| failed("written", path, err)),
    }
}
