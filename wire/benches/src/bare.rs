//! The bare work that a durable store cannot be faster than, and callers that do it side by side.

use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Instant;

const SCHEMA: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
    CREATE TABLE tasks (id TEXT PRIMARY KEY, tenant TEXT, principal TEXT, created_at INTEGER, due_at INTEGER, \
    live INTEGER, lease_until INTEGER, record TEXT) STRICT; \
    CREATE INDEX by_due ON tasks (due_at, id); CREATE INDEX by_lease ON tasks (lease_until, created_at, id) WHERE live = 1; \
    CREATE INDEX by_owner ON tasks (tenant, principal, created_at, id);";
pub(crate) const INSERT: &str = "INSERT INTO tasks VALUES (?1, 't', 'p', 1, 2, 1, 3, ?2)";

/// A bare writer that commits what is queued together.
pub(crate) fn bare_writer(
    mut connection: rusqlite::Connection,
) -> mpsc::Sender<(String, tokio::sync::oneshot::Sender<()>)> {
    let (sender, receiver) = mpsc::channel::<(String, tokio::sync::oneshot::Sender<()>)>();
    std::thread::spawn(move || {
        let record = "x".repeat(500);
        while let Ok(first) = receiver.recv() {
            let mut batch = vec![first];
            batch.extend(receiver.try_iter().take(255));
            let transaction = connection.transaction().expect("a transaction");
            {
                let mut insert = transaction.prepare_cached(INSERT).expect("a statement");
                for (id, _) in &batch {
                    insert.execute([id, &record]).expect("a row");
                }
            }
            transaction.commit().expect("a commit");
            for (_, done) in batch {
                let _ = done.send(());
            }
        }
    });
    sender
}

/// A file with a table as the store's.
pub(crate) fn bare_file(path: &std::path::Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).expect("a file");
    connection.execute_batch(SCHEMA).expect("a schema");
    connection
}

/// So many callers of whom each works so many times; per second.
pub(crate) async fn by_callers<F: Future<Output = ()> + Send + 'static>(
    callers: u64,
    each: u64,
    work: impl Fn(u64) -> F + Send + Sync + 'static,
) -> f64 {
    let work = Arc::new(work);
    let start = Instant::now();
    let mut set = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let work = Arc::clone(&work);
        set.spawn(async move {
            for number in 0..each {
                work(caller * each + number).await;
            }
        });
    }
    while set.join_next().await.is_some() {}
    rate(usize::try_from(callers * each).unwrap_or(0), start)
}

pub(crate) fn rate(count: usize, start: Instant) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}
