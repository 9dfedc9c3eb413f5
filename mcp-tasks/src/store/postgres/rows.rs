//! Records to and from rows.

use std::collections::BTreeMap;

use mcp_tasks_types::{RawJson, RawObject, TaskId};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

use super::Shared;
use super::group::Work;
use super::session::Failure;
use super::statements::Sql;
use super::text::{kept, original};
use crate::record::{StepRecord, TaskRecord};
use crate::store::row::{Head, NO_LEASE, RawHead, integer, lease_of, unreadable};
use crate::store::{StoreError, StoreErrorKind};

/// A record to add.
pub(super) struct Insert {
    pub(super) head: Head,
    pub(super) params: Option<RawObject>,
    pub(super) steps: Vec<StepRecord>,
}

impl Work for Insert {
    type Said = bool;

    fn bytes(&self) -> usize {
        let params = self.params.as_ref().map_or(0, |params| params.as_str().len());
        let step = |step: &StepRecord| step.name.len() + step.fingerprint.len() + step.value.as_str().len();
        self.head.text.len() + params + self.steps.iter().map(step).sum::<usize>()
    }

    fn id(&self) -> &TaskId {
        &self.head.record.id
    }

    async fn write(shared: &Shared, group: &[&Self]) -> Result<Vec<bool>, Failure> {
        let of = |text: fn(&TaskRecord) -> &str| -> Vec<_> {
            group.iter().map(|insert| kept(text(&insert.head.record))).collect()
        };
        let ids = of(|record| record.id.as_str());
        let (tenants, principals) =
            (of(|record| record.owner.tenant()), of(|record| record.owner.principal()));
        let records = || group.iter().map(|insert| &insert.head.record);
        let created: Vec<i64> = records().map(|record| record.created_at.unix_millis()).collect();
        let columns = Columns::of(records());
        let workers: Vec<_> =
            records().map(|record| record.lease.as_ref().map(|lease| kept(&lease.worker))).collect();
        let leases: Vec<i64> = records()
            .map(|record| record.lease.as_ref().map_or(NO_LEASE, |lease| lease.until.unix_millis()))
            .collect();
        let texts: Vec<&str> = group.iter().map(|insert| insert.head.text.as_str()).collect();
        let params: Vec<Option<&str>> =
            group.iter().map(|insert| insert.params.as_ref().map(RawObject::as_str)).collect();
        let steps =
            || group.iter().flat_map(|insert| insert.steps.iter().map(|step| (&insert.head.record.id, step)));
        let tasks: Vec<_> = steps().map(|(task, _)| kept(task.as_str())).collect();
        let names: Vec<_> = steps().map(|(_, step)| kept(&step.name)).collect();
        let prints: Vec<_> = steps().map(|(_, step)| kept(&step.fingerprint)).collect();
        let values: Vec<&str> = steps().map(|(_, step)| step.value.as_str()).collect();
        let columns: [&(dyn ToSql + Sync); 20] = [
            &ids,
            &tenants,
            &principals,
            &created,
            &columns.due,
            &columns.live,
            &columns.parked,
            &columns.formats,
            &columns.versions,
            &columns.fences,
            &columns.attempts,
            &workers,
            &leases,
            &columns.calls,
            &texts,
            &params,
            &tasks,
            &names,
            &prints,
            &values,
        ];
        // The statement that writes steps as well costs more, and new tasks have none.
        let (sql, columns) = if tasks.is_empty() {
            (Sql::Insert, &columns[..16])
        } else {
            (Sql::InsertWithSteps, &columns[..])
        };
        let rows = shared.pool.write_once(sql, columns).await?;
        let made: Vec<&str> = list(&rows, 0)?;
        Ok(ids.iter().map(|id| made.contains(&&**id)).collect())
    }

    fn finish(self, made: bool) -> Result<TaskRecord, StoreError> {
        let mut record = self.head.into_record();
        if !made {
            let message = format!("there is a task `{}` already, or another one of the same call", record.id);
            return Err(StoreError::new(StoreErrorKind::Conflict, message));
        }
        record.params = self.params;
        record.steps = self.steps;
        Ok(record)
    }
}

/// A record to put in the place of another one.
pub(super) struct Replace {
    pub(super) head: Head,
    pub(super) expected: u64,
}

/// What became of a record that was to be replaced.
pub(super) enum Replaced {
    /// It is, and this is its lease.
    Done { worker: Option<String>, until: i64 },
    /// There is another version.
    Changed,
    /// There is none.
    Missing,
}

impl Work for Replace {
    type Said = Replaced;

    fn bytes(&self) -> usize {
        self.head.text.len()
    }

    fn id(&self) -> &TaskId {
        &self.head.record.id
    }

    async fn write(shared: &Shared, group: &[&Self]) -> Result<Vec<Replaced>, Failure> {
        let records = || group.iter().map(|replace| &replace.head.record);
        let ids: Vec<_> = records().map(|record| kept(record.id.as_str())).collect();
        let expected: Vec<i64> = group.iter().map(|replace| integer(replace.expected)).collect();
        let columns = Columns::of(records());
        let leased: Vec<bool> = records().map(|record| record.lease.is_some()).collect();
        let texts: Vec<&str> = group.iter().map(|replace| replace.head.text.as_str()).collect();
        let forgotten: Vec<bool> = records().map(|record| record.forgotten_at.is_some()).collect();
        let rows = shared
            .pool
            .write_once(
                Sql::Replace,
                &[
                    &ids,
                    &expected,
                    &columns.due,
                    &columns.live,
                    &columns.parked,
                    &columns.formats,
                    &columns.versions,
                    &columns.fences,
                    &columns.attempts,
                    &leased,
                    &columns.calls,
                    &texts,
                    &forgotten,
                ],
            )
            .await?;
        let done: Vec<&str> = list(&rows, 0)?;
        let (workers, leases): (Vec<Option<String>>, Vec<i64>) = (list(&rows, 1)?, list(&rows, 2)?);
        let mut done: BTreeMap<&str, (Option<String>, i64)> =
            done.into_iter().zip(workers.into_iter().zip(leases)).collect();
        let refused: Vec<&str> = ids.iter().map(|id| &**id).filter(|id| !done.contains_key(id)).collect();
        let there = if refused.is_empty() {
            Vec::new()
        } else {
            shared.pool.read(Sql::Existing, &[&refused]).await?
        };
        let there = read_ids(&there)?;
        let said = ids.iter().map(|id| match done.remove(&**id) {
            Some((worker, until)) => Replaced::Done { worker, until },
            None if there.contains(&&**id) => Replaced::Changed,
            None => Replaced::Missing,
        });
        Ok(said.collect())
    }

    fn finish(self, replaced: Replaced) -> Result<TaskRecord, StoreError> {
        let mut record = self.head.into_record();
        match replaced {
            Replaced::Done { worker, until } => {
                record.lease = lease_of(worker.map(original), until, record.fence);
                Ok(record)
            }
            Replaced::Changed => Err(StoreError::conflict(&record.id)),
            Replaced::Missing => Err(StoreError::not_found(&record.id)),
        }
    }
}

/// What is in both statements, a list a column.
struct Columns {
    due: Vec<Option<i64>>,
    live: Vec<bool>,
    parked: Vec<bool>,
    formats: Vec<i32>,
    versions: Vec<i64>,
    fences: Vec<i64>,
    attempts: Vec<i64>,
    calls: Vec<Option<String>>,
}

impl Columns {
    fn of<'r>(records: impl Iterator<Item = &'r TaskRecord> + Clone) -> Self {
        let call = |record: &TaskRecord| record.same_call.as_deref().map(|call| kept(call).into_owned());
        Self {
            due: records.clone().map(TaskRecord::due_millis).collect(),
            live: records.clone().map(|record| !record.state.is_terminal()).collect(),
            parked: records.clone().map(|record| record.parked.is_some()).collect(),
            formats: records.clone().map(|record| i32::try_from(record.format).unwrap_or(i32::MAX)).collect(),
            versions: records.clone().map(|record| integer(record.version)).collect(),
            fences: records.clone().map(|record| integer(record.fence)).collect(),
            attempts: records.clone().map(|record| i64::from(record.attempt)).collect(),
            calls: records.map(call).collect(),
        }
    }
}

/// A column of lists, of which there is one or, where nothing was written, none.
fn list<'r, T: FromSql<'r>>(rows: &'r [Row], column: usize) -> Result<Vec<T>, Failure> {
    Ok(rows.first().map_or(Ok(Vec::new()), |row| row.try_get(column))?)
}

fn read_ids(rows: &[Row]) -> Result<Vec<&str>, Failure> {
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// A row whose record may not be readable, with what it takes to do something about that.
pub(super) struct Read {
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) record: Result<TaskRecord, StoreError>,
}

/// Reads the columns of a head, which are the first seven.
pub(super) fn read_head(row: &Row) -> Result<Read, StoreError> {
    let id: String = get(row, 0)?;
    let (text, version, fence): (&str, i64, i64) = (get(row, 1)?, get(row, 2)?, get(row, 3)?);
    let (attempt, worker, until): (i64, Option<String>, i64) = (get(row, 4)?, get(row, 5)?, get(row, 6)?);
    let record = match u32::try_from(attempt) {
        Ok(attempt) => {
            let worker = worker.map(original);
            RawHead { id: &id, text, version, fence, attempt, worker, until }.read()
        }
        Err(err) => {
            let message = format!("task `{id}` has been taken up {attempt} times");
            Err(StoreError::new(StoreErrorKind::Corrupt, message).with_source(err))
        }
    };
    Ok(Read { id, version, record })
}

/// Reads the parameters in a column.
pub(super) fn read_params(id: &str, row: &Row, column: usize) -> Result<Option<RawObject>, StoreError> {
    let text: Option<String> = get(row, column)?;
    text.map(RawObject::from_text).transpose().map_err(|err| unreadable(id, err))
}

/// Reads a step, and of which task it is.
pub(super) fn read_step(row: &Row) -> Result<(String, Result<StepRecord, StoreError>), StoreError> {
    let (task, name, print): (String, String, String) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    let value = RawJson::from_text(get::<&str>(row, 3)?).map_err(|err| unreadable(&task, err));
    Ok((task, value.map(|value| StepRecord::new(original(name), original(print), value))))
}

/// What stands in a column.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(|err| {
        StoreError::new(StoreErrorKind::Corrupt, "the database holds unknown values").with_source(err)
    })
}
