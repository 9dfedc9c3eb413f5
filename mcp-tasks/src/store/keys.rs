//! How long may be what stores look tasks up by.
//!
//! An index of a database takes less than its tables do, and where it ends depends on the text. One limit for all
//! stores means that a program which works with one of them works with every other one.

use mcp_tasks_types::TaskId;

use super::{StoreError, StoreErrorKind};
use crate::owner::Owner;
use crate::record::TaskRecord;

/// How many bytes a task's id may have, and a step's name, what a call is known by, and an owner's tenant and principal
/// together. The characters U+0000 and U+0001 count twice.
pub const MAX_KEY_BYTES: usize = 1_024;

/// Whether what a record is looked up by is short enough. Every store asks before it inserts.
///
/// # Errors
///
/// [`StoreErrorKind::Refused`] when the id, the owner, the call or a step's name is longer than [`MAX_KEY_BYTES`].
pub fn check_keys(record: &TaskRecord) -> Result<(), StoreError> {
    check("the id of a task", &[record.id.as_str()])?;
    check_owner(&record.owner)?;
    check("what a call is known by", &[record.same_call.as_deref().unwrap_or_default()])?;
    record.steps.iter().try_for_each(|step| check_step(&record.id, &step.name))
}

fn check_owner(owner: &Owner) -> Result<(), StoreError> {
    check("an owner's tenant and principal", &[owner.tenant(), owner.principal()])
}

/// Whether a step's name is short enough. Every store asks before it records a step.
///
/// # Errors
///
/// [`StoreErrorKind::Refused`] when it is longer than [`MAX_KEY_BYTES`].
pub fn check_step(task: &TaskId, name: &str) -> Result<(), StoreError> {
    check(&format!("the name of a step of task `{task}`"), &[name])
}

fn check(what: &str, texts: &[&str]) -> Result<(), StoreError> {
    let bytes = texts.iter().flat_map(|text| text.bytes()).map(|byte| if byte < 2 { 2 } else { 1 });
    let length: usize = bytes.sum();
    if length <= MAX_KEY_BYTES {
        return Ok(());
    }
    let message = format!("{what}: {length} bytes are more than {MAX_KEY_BYTES}");
    Err(StoreError::new(StoreErrorKind::Refused, message))
}
