//! How a rule is run: for as long as it comes any further, its cases counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Checked;
use crate::testing::{Backend, Violation};

/// How long a rule may be without a new case on the slowest of disks; one that waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);

tokio::task_local! {
    /// How much the rule that runs in this task has looked at.
    static CASES: Arc<AtomicU64>;
}

/// Counts one more case. Tasks that a rule spawns count nothing.
pub(super) fn count_case() {
    let _ = CASES.try_with(|cases| cases.fetch_add(1, Ordering::Relaxed));
}

/// Checks one rule and gives the number of its cases.
pub(super) async fn checked(
    rule: &'static str,
    run: impl Future<Output = Checked>,
) -> Result<u64, Violation> {
    let cases = Arc::<AtomicU64>::default();
    let counted = CASES.scope(Arc::clone(&cases), run);
    let seen = Arc::clone(&cases);
    let checked = in_time(PATIENCE, move || seen.load(Ordering::Relaxed), counted).await;
    let checked = checked.unwrap_or_else(|| Err(format!("it does not come any further in {PATIENCE:?}")));
    checked.map(|()| cases.load(Ordering::Relaxed)).map_err(|message| Violation { rule, message })
}

/// Checks a rule in a thread of its own, in which all that it begins gets its turn in order: when the rule lets others
/// run first, they have run, whatever else the machine and the tests' runtime have to do.
pub(super) async fn checked_apart<B: Backend + 'static>(
    rule: &'static str,
    backend: B,
    run: impl AsyncFnOnce(&B) -> Checked + Send + 'static,
) -> Result<u64, Violation> {
    let broken = move |message: String| Violation { rule, message };
    let (tell, told) = oneshot::channel();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let checked = match runtime {
            Ok(runtime) => {
                let checked = runtime.block_on(checked(rule, Box::pin(run(&backend))));
                // What hangs is not waited for.
                runtime.shutdown_background();
                checked
            }
            Err(err) => Err(broken(format!("there is no runtime for it: {err}"))),
        };
        // Whoever asked may have gone away.
        let _ = tell.send(checked);
    };
    match thread::Builder::new().name("mcp-tasks-contract".to_owned()).spawn(work) {
        Ok(_) => told.await.unwrap_or_else(|_| Err(broken("it panicked".to_owned()))),
        Err(err) => Err(broken(format!("there is no thread for it: {err}"))),
    }
}

/// What comes in time, which begins anew whenever there is progress. The time is kept by a thread, since the runtime of
/// the tests need not have a clock.
pub(super) async fn in_time<T>(
    patience: Duration,
    progress: impl Fn() -> u64 + Send + 'static,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (stop, stopped) = mpsc::channel::<()>();
    let (tell, over) = oneshot::channel();
    thread::spawn(move || {
        let mut before = progress();
        while stopped.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let now = progress();
            if now == before {
                // If nobody listens, the work was faster.
                let _ = tell.send(());
                return;
            }
            before = now;
        }
    });
    let done = tokio::select! {
        biased;
        done = work => Some(done),
        _ = over => None,
    };
    drop(stop);
    done
}
