//! Records as rows. Each function is one statement or a few inside the caller's transaction.

use std::ops::ControlFlow;

use mcp_tasks_types::{RawJson, RawObject, TaskId, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Rows, params};

use super::failed;
use crate::error::with_causes;
use crate::lifecycle::{self, Event};
use crate::owner::Owner;
use crate::record::{FORMAT, StepRecord, TaskRecord};
use crate::store::row::{Head, NO_LEASE, RawHead, integer, lease_of, unreadable};
use crate::store::{Claim, Cursor, Due, StoreError, StoreErrorKind};

/// Whether a row's record is of no newer format than a parameter says. One that cannot be understood may be ours.
macro_rules! not_newer {
    ($format:literal) => {
        concat!(
            "NOT coalesce(CASE WHEN json_valid(record) THEN json_extract(record, '$.format') > ",
            $format,
            " END, 0)"
        )
    };
}

/// Ends all leases, but for those of a newer version's tasks, which are left as they are.
pub(super) const END_LEASES: &str = concat!(
    "UPDATE tasks SET lease_worker = NULL, lease_until = ?1, version = version + 1 \
     WHERE lease_worker IS NOT NULL AND ",
    not_newer!("?2")
);

/// The columns that [`read_head`] reads.
macro_rules! head_columns {
    () => {
        "rowid, id, record, version, fence, attempt, lease_worker, lease_until"
    };
}

pub(super) fn insert(connection: &Connection, head: &Head) -> Result<(), StoreError> {
    let record = &head.record;
    let sql = "INSERT INTO tasks (id, tenant, principal, created_at, due_at, live, version, fence, attempt, \
         lease_worker, lease_until, record, parked, same_call) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT DO NOTHING";
    let inserted = connection.prepare_cached(sql).map_err(failed)?.execute(params![
        record.id.as_str(),
        record.owner.tenant(),
        record.owner.principal(),
        record.created_at.unix_millis(),
        record.due_millis(),
        !record.state.is_terminal(),
        integer(record.version),
        integer(record.fence),
        record.attempt,
        record.lease.as_ref().map(|lease| lease.worker.as_str()),
        record.lease.as_ref().map_or(NO_LEASE, |lease| lease.until.unix_millis()),
        head.text,
        record.parked.is_some(),
        record.same_call,
    ]);
    if inserted.map_err(failed)? == 0 {
        let message = format!("there is a task `{}` already, or another one of the same call", record.id);
        return Err(StoreError::new(StoreErrorKind::Conflict, message));
    }
    Ok(())
}

pub(super) fn insert_params(
    connection: &Connection,
    id: &TaskId,
    value: &RawObject,
) -> Result<(), StoreError> {
    let mut statement =
        connection.prepare_cached("INSERT INTO params (task, value) VALUES (?1, ?2)").map_err(failed)?;
    statement.execute(params![id.as_str(), value.as_str()]).map(drop).map_err(failed)
}

pub(super) fn insert_step(connection: &Connection, id: &TaskId, step: &StepRecord) -> Result<(), StoreError> {
    let sql = "INSERT INTO steps (task, name, fingerprint, value) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (task, name) DO NOTHING";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let inserted = statement.execute(params![id.as_str(), step.name, step.fingerprint, step.value.as_str()]);
    if inserted.map_err(failed)? == 0 {
        let message = format!("task `{id}` has a step `{}` already", step.name);
        return Err(StoreError::new(StoreErrorKind::Conflict, message));
    }
    Ok(())
}

/// Whether the task's lease has this token; a task that has ended has no lease.
pub(super) fn check_token(connection: &Connection, id: &TaskId, token: u64) -> Result<(), StoreError> {
    let sql = "SELECT fence, lease_worker IS NOT NULL FROM tasks WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let found = statement.query_row([id.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?)));
    match found.optional().map_err(failed)? {
        None => Err(StoreError::not_found(id)),
        Some((fence, true)) if fence == integer(token) => Ok(()),
        Some(_) => Err(StoreError::conflict(id)),
    }
}

/// Replaces the head if it has the expected version; gives the record with the lease that is stored.
pub(super) fn replace(connection: &Connection, head: Head, expected: u64) -> Result<TaskRecord, StoreError> {
    let sql = "UPDATE tasks SET record = ?3, version = ?4, due_at = ?5, live = ?6, fence = ?7, attempt = ?8, \
         lease_worker = CASE WHEN ?9 THEN lease_worker END, \
         lease_until = CASE WHEN ?9 THEN lease_until ELSE ?10 END, parked = ?11, same_call = ?12 \
         WHERE id = ?1 AND version = ?2 RETURNING lease_worker, lease_until";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let record = &head.record;
    let values = params![
        record.id.as_str(),
        integer(expected),
        head.text,
        integer(record.version),
        record.due_millis(),
        !record.state.is_terminal(),
        integer(record.fence),
        record.attempt,
        record.lease.is_some(),
        NO_LEASE,
        record.parked.is_some(),
        record.same_call,
    ];
    let lease =
        statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional().map_err(failed)?;
    let Some((worker, until)) = lease else {
        return Err(missing_or_changed(connection, &head.record.id)?);
    };
    let mut record = head.into_record();
    if record.forgotten_at.is_some() {
        for table in ["DELETE FROM params WHERE task = ?1", "DELETE FROM steps WHERE task = ?1"] {
            let mut statement = connection.prepare_cached(table).map_err(failed)?;
            statement.execute([record.id.as_str()]).map_err(failed)?;
        }
    }
    record.lease = lease_of(worker, until, record.fence);
    Ok(record)
}

pub(super) fn remove(connection: &Connection, id: &TaskId, expected: u64) -> Result<(), StoreError> {
    let mut statement =
        connection.prepare_cached("DELETE FROM tasks WHERE id = ?1 AND version = ?2").map_err(failed)?;
    if statement.execute(params![id.as_str(), integer(expected)]).map_err(failed)? == 0 {
        return Err(missing_or_changed(connection, id)?);
    }
    Ok(())
}

fn missing_or_changed(connection: &Connection, id: &TaskId) -> Result<StoreError, StoreError> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1").map_err(failed)?;
    let exists = statement.exists([id.as_str()]).map_err(failed)?;
    Ok(if exists { StoreError::conflict(id) } else { StoreError::not_found(id) })
}

/// A record that cannot be understood, as something is going to be done about it.
pub(super) struct Unreadable {
    row: i64,
    id: String,
    cause: StoreError,
}

/// Takes a record that cannot be understood out of everything that happens by itself, so that it stops nobody else.
/// Its text stays as it is; asked for by its id, it is an error.
pub(super) fn set_aside(connection: &Connection, unreadable: &Unreadable) -> Result<(), StoreError> {
    let sql =
        "UPDATE tasks SET live = 0, due_at = NULL, lease_worker = NULL, lease_until = ?2 WHERE rowid = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.execute(params![unreadable.row, NO_LEASE]).map_err(failed)?;
    let error = with_causes(&unreadable.cause);
    tracing::error!(task = unreadable.id, error, "the task cannot be understood and is set aside");
    Ok(())
}

/// Reads the records that a query finds, in order, until `take` has enough, and gives those that cannot be understood.
/// It is told of those of a newer version.
/// The query's columns are [`head_columns`].
fn read_each(
    rows: &mut Rows<'_>,
    mut take: impl FnMut(Result<TaskRecord, Unreadable>) -> Result<ControlFlow<()>, StoreError>,
) -> Result<Vec<Unreadable>, StoreError> {
    let mut unreadable = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let flow = match read_head(row) {
            Ok(record) => take(Ok(record))?,
            Err(cause) => {
                let id = row.get_ref(1).ok().and_then(|id| id.as_bytes().ok()).unwrap_or_default();
                let id = String::from_utf8_lossy(id).into_owned();
                let kind = cause.kind();
                let unread = Unreadable { row: row.get(0).map_err(failed)?, id, cause };
                match kind {
                    StoreErrorKind::Corrupt => {
                        unreadable.push(unread);
                        continue;
                    }
                    StoreErrorKind::Unsupported => take(Err(unread))?,
                    _ => return Err(unread.cause),
                }
            }
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(unreadable)
}

pub(super) fn claim(connection: &Connection, claim: &Claim) -> Result<Vec<TaskRecord>, StoreError> {
    let sql = concat!(
        "SELECT ",
        head_columns!(),
        " FROM tasks WHERE live = 1 AND parked = 0 AND lease_until <= ?1 ORDER BY lease_until, created_at, id"
    );
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query([claim.now.unix_millis()]).map_err(failed)?;
    let mut free = Vec::new();
    let mut unreadable = Vec::new();
    if claim.limit > 0 {
        unreadable = read_each(&mut rows, |head| {
            // A newer version's task waits for its program.
            free.extend(head);
            Ok(if free.len() == claim.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    drop(rows);
    let update = "UPDATE tasks SET version = ?2, fence = ?3, attempt = ?4, lease_worker = ?5, lease_until = ?6 \
         WHERE id = ?1";
    let mut update = connection.prepare_cached(update).map_err(failed)?;
    let mut claimed = Vec::new();
    for head in free {
        let event = Event::Claim { worker: claim.worker.clone(), until: claim.until.clone() };
        let Ok(mut record) = lifecycle::apply(&head, event, &claim.now) else { continue };
        match read_parts(connection, &mut record) {
            Ok(()) => {}
            Err(cause) if cause.kind() == StoreErrorKind::Corrupt => {
                let row = row_of(connection, &record.id)?;
                unreadable.push(Unreadable { row, id: record.id.to_string(), cause });
                continue;
            }
            Err(err) => return Err(err),
        }
        let values = params![
            record.id.as_str(),
            integer(record.version),
            integer(record.fence),
            record.attempt,
            claim.worker,
            claim.until.unix_millis(),
        ];
        update.execute(values).map_err(failed)?;
        claimed.push(record);
    }
    for unreadable in &unreadable {
        set_aside(connection, unreadable)?;
    }
    if claimed.is_empty() && !unreadable.is_empty() {
        // Behind those there may be others, and no answer means that there is none.
        return self::claim(connection, claim);
    }
    Ok(claimed)
}

fn row_of(connection: &Connection, id: &TaskId) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT rowid FROM tasks WHERE id = ?1").map_err(failed)?;
    statement.query_row([id.as_str()], |row| row.get(0)).map_err(failed)
}

pub(super) fn renew(
    connection: &Connection,
    worker: &str,
    ids: &[TaskId],
    until: i64,
) -> Result<u64, StoreError> {
    let sql = "UPDATE tasks SET lease_until = ?3 WHERE id = ?1 AND lease_worker = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut renewed = 0;
    for id in ids {
        renewed += statement.execute(params![id.as_str(), worker, until]).map_err(failed)? as u64;
    }
    Ok(renewed)
}

pub(super) fn load(connection: &Connection, id: &TaskId) -> Result<Option<TaskRecord>, StoreError> {
    let sql = concat!("SELECT ", head_columns!(), " FROM tasks WHERE id = ?1");
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.query_row([id.as_str()], |row| Ok(read_head(row))).optional().map_err(failed)?.transpose()
}

/// Adds parameters and steps to a head.
pub(super) fn read_parts(connection: &Connection, record: &mut TaskRecord) -> Result<(), StoreError> {
    let id = record.id.as_str();
    let mut statement =
        connection.prepare_cached("SELECT value FROM params WHERE task = ?1").map_err(failed)?;
    let value = statement.query_row([id], |row| row.get::<_, String>(0)).optional().map_err(failed)?;
    record.params = value.map(RawObject::from_text).transpose().map_err(|err| unreadable(id, err))?;
    let sql = "SELECT name, fingerprint, value FROM steps WHERE task = ?1 ORDER BY rowid";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let rows = statement.query_map([id], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    });
    for row in rows.map_err(failed)? {
        let (name, fingerprint, value) = row.map_err(failed)?;
        let value = RawJson::from_text(value).map_err(|err| unreadable(id, err))?;
        record.steps.push(StepRecord::new(name, fingerprint, value));
    }
    Ok(())
}

/// What is due, and what is among it that cannot be understood. A newer version's record is left alone.
pub(super) fn due(
    connection: &Connection,
    now: i64,
    count: usize,
) -> Result<(Due, Vec<Unreadable>), StoreError> {
    let sql = concat!("SELECT ", head_columns!(), " FROM tasks WHERE due_at <= ?1 ORDER BY due_at, id");
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query([now]).map_err(failed)?;
    let mut due = Due::default();
    let unreadable = read_each(&mut rows, |head| match head {
        Ok(record) if due.ids.len() == count => {
            due.next = record.due_at();
            Ok(ControlFlow::Break(()))
        }
        Ok(record) => {
            due.ids.push(record.id);
            Ok(ControlFlow::Continue(()))
        }
        Err(newer) => {
            tracing::warn!(
                task = newer.id,
                error = with_causes(&newer.cause),
                "a task that is due is left alone"
            );
            Ok(ControlFlow::Continue(()))
        }
    })?;
    drop(rows);
    if due.next.is_none() {
        let sql = "SELECT due_at FROM tasks WHERE due_at > ?1 ORDER BY due_at LIMIT 1";
        let mut statement = connection.prepare_cached(sql).map_err(failed)?;
        let next = statement.query_row([now], |row| row.get::<_, i64>(0)).optional().map_err(failed)?;
        due.next = next.map(Timestamp::from_unix_millis);
    }
    let sql = concat!(
        "SELECT lease_until FROM tasks WHERE live = 1 AND parked = 0 AND ",
        not_newer!("?1"),
        " ORDER BY lease_until LIMIT 1"
    );
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let lease_end = statement.query_row([FORMAT], |row| row.get::<_, i64>(0)).optional().map_err(failed)?;
    due.lease_end = lease_end.map(Timestamp::from_unix_millis);
    Ok((due, unreadable))
}

pub(super) fn find_call(connection: &Connection, same_call: &str) -> Result<Option<TaskRecord>, StoreError> {
    let sql = concat!("SELECT ", head_columns!(), " FROM tasks WHERE same_call = ?1");
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.query_row([same_call], |row| Ok(read_head(row))).optional().map_err(failed)?.transpose()
}

pub(super) fn count_live(
    connection: &Connection,
    owner: Option<&Owner>,
    at_most: usize,
) -> Result<usize, StoreError> {
    let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
    let count = |row: &Row<'_>| row.get::<_, i64>(0);
    let counted = match owner {
        Some(owner) => {
            let sql = "SELECT count(*) FROM (SELECT 1 FROM tasks \
                 WHERE live = 1 AND tenant = ?1 AND principal = ?2 LIMIT ?3)";
            let mut statement = connection.prepare_cached(sql).map_err(failed)?;
            statement.query_row(params![owner.tenant(), owner.principal(), at_most], count)
        }
        None => {
            let sql = "SELECT count(*) FROM (SELECT 1 FROM tasks WHERE live = 1 LIMIT ?1)";
            connection.prepare_cached(sql).map_err(failed)?.query_row([at_most], count)
        }
    };
    Ok(usize::try_from(counted.map_err(failed)?).unwrap_or(0))
}

/// The tasks of an owner or of all owners, and the ids of those that cannot be read and are left out.
pub(super) fn list(
    connection: &Connection,
    owner: Option<&Owner>,
    after: Option<&Cursor>,
    count: usize,
) -> Result<(Vec<TaskRecord>, Vec<TaskId>), StoreError> {
    let of_owner = concat!(
        "SELECT ",
        head_columns!(),
        " FROM tasks WHERE (created_at, id) > (?1, ?2) AND tenant = ?3 AND principal = ?4 \
         ORDER BY created_at, id"
    );
    let of_all = concat!(
        "SELECT ",
        head_columns!(),
        " FROM tasks WHERE (created_at, id) > (?1, ?2) ORDER BY created_at, id"
    );
    let sql = if owner.is_some() { of_owner } else { of_all };
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let (created_at, id) = after.map_or((i64::MIN, ""), |cursor| (cursor.created_at(), cursor.id().as_str()));
    let mut rows = match owner {
        Some(owner) => statement.query(params![created_at, id, owner.tenant(), owner.principal()]),
        None => statement.query(params![created_at, id]),
    }
    .map_err(failed)?;
    let (mut records, mut newer) = (Vec::new(), Vec::new());
    if count == 0 {
        return Ok((records, Vec::new()));
    }
    let unreadable = read_each(&mut rows, |head| {
        match head {
            Ok(record) => records.push(record),
            Err(unread) => newer.push(unread),
        }
        Ok(if records.len() == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    let left_out = unreadable.into_iter().chain(newer).map(|Unreadable { id, cause, .. }| {
        tracing::warn!(task = id, error = with_causes(&cause), "a task is left out of a list");
        TaskId::from(id)
    });
    Ok((records, left_out.collect()))
}

/// Reads the columns of a head.
fn read_head(row: &Row<'_>) -> Result<TaskRecord, StoreError> {
    let raw = RawHead {
        id: text_at(row, 1)?,
        text: text_at(row, 2)?,
        version: row.get(3).map_err(failed)?,
        fence: row.get(4).map_err(failed)?,
        attempt: row.get(5).map_err(failed)?,
        worker: row.get(6).map_err(failed)?,
        until: row.get(7).map_err(failed)?,
    };
    raw.read()
}

fn text_at<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, StoreError> {
    let text = row.get_ref(column).map_err(failed)?.as_str();
    // As a copy would tell it.
    text.map_err(|err| failed(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(err))))
}
