//! Writing in batches: one transaction and one commit for all that is queued.
//!
//! A commit waits for the disk, and everybody who comes meanwhile shares the next one: with one caller a write takes
//! one commit, with many there are as few commits as the disk allows. Each job has a savepoint, so that one that is
//! refused undoes its own effects alone. Nobody is answered, and no change is told, before the commit.

use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior, ffi};

use super::failed_for_all;
use super::file::Named;
use crate::store::writer::{Job, run_job};
use crate::store::{ChangeFeed, StoreError};

/// Does the jobs in one transaction, then answers them in their order, which is that of the versions they write.
pub(super) fn run(
    connection: &mut Connection,
    named: &Named,
    mut batch: Vec<Box<dyn Job<Connection>>>,
    feed: &ChangeFeed,
) {
    let committed = match named.check() {
        // Once more behind it: what was written to a file that went away meanwhile is lost as well.
        Ok(()) => match commit(connection, &mut batch).map_err(Arc::new) {
            Ok(()) => named.check(),
            Err(err) => return answer(batch, || Err(failed_for_all(&err)), feed),
        },
        gone => gone,
    };
    match committed {
        Ok(()) => answer(batch, || Ok(()), feed),
        Err(gone) => answer(batch, || Err(StoreError::new(gone.kind(), gone.to_string())), feed),
    }
}

fn answer(
    batch: Vec<Box<dyn Job<Connection>>>,
    committed: impl Fn() -> Result<(), StoreError>,
    feed: &ChangeFeed,
) {
    for job in batch {
        job.answer(committed(), feed);
    }
}

fn commit(connection: &mut Connection, batch: &mut [Box<dyn Job<Connection>>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut has_effects = false;
    for job in batch {
        transaction.prepare_cached("SAVEPOINT job")?.execute([])?;
        let done = run_job(&mut **job, &transaction);
        if transaction.is_autocommit() {
            // What was done before is undone as well.
            let failure = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
            let message = "a write that failed, as of a full disk, has ended the transaction";
            return Err(rusqlite::Error::SqliteFailure(failure, Some(message.to_owned())));
        }
        if !done {
            transaction.prepare_cached("ROLLBACK TO job")?.execute([])?;
        }
        transaction.prepare_cached("RELEASE job")?.execute([])?;
        has_effects |= done;
    }
    if has_effects { transaction.commit() } else { transaction.rollback() }
}

#[cfg(test)]
mod tests;
