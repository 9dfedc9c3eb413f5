//! The end of an engine: bodies are told to stop, and the store is given back whatever they do about it.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Engine;
use super::core::Core;
use super::run::Run;
use crate::clock::{after, until};
use crate::error::{InterruptedKind, with_causes};

impl Engine {
    /// Takes no new work, tells every body to stop, waits for them for a bounded time, and closes the store. A task
    /// whose tool can be run again is handed over and goes on after the next start; others fail and say so.
    ///
    /// When this returns, the store's file and lock are free, also when bodies block the threads of the runtime: such
    /// a body cannot be stopped and keeps a process from ending that waits for its runtime, but writes nothing more.
    pub async fn shutdown(&self) {
        let core = &self.core;
        let bound_ms = core.settings.shutdown_grace_ms.saturating_mul(2);
        let (stop, closed) = close_in_time(Arc::clone(core), Duration::from_millis(bound_ms));
        let orderly = async {
            self.end_runs(bound_ms).await;
            core.abandon();
            core.store.close().await;
        };
        tokio::select! {
            () = orderly => {}
            Ok(()) = closed => {}
        }
        drop(stop);
        core.ended.send_replace(true);
    }

    async fn end_runs(&self, bound_ms: u64) {
        let core = &self.core;
        let runs: Vec<Arc<Run>> = {
            let mut running = core.running();
            running.closed = true;
            running.runs.values().cloned().collect()
        };
        core.closing.send_replace(true);
        for run in runs {
            run.stop(InterruptedKind::Shutdown);
        }
        // The supervisors end the bodies; this is for a store that does not answer.
        let deadline = after(&core.now(), bound_ms);
        if until(&*core.clock, &deadline, self.idle()).await.is_none() {
            tracing::warn!(runs = self.running(), "the engine stops although not every run has ended");
        }
    }
}

impl Core {
    /// Renews no more leases: the store is given back.
    fn abandon(&self) {
        self.running().abandoned = true;
        self.beat.notify_one();
    }
}

/// Closes the store from a thread of its own when the time is over: where bodies block every thread of the runtime,
/// none is left that would keep its time. Not any more when the sender is dropped.
fn close_in_time(core: Arc<Core>, bound: Duration) -> (mpsc::Sender<()>, oneshot::Receiver<()>) {
    let (stop, stopped) = mpsc::channel();
    let (tell, closed) = oneshot::channel();
    let close = move || {
        if stopped.recv_timeout(bound) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        core.abandon();
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => {
                let closing = async { tokio::time::timeout(bound, core.store.close()).await };
                if runtime.block_on(closing).is_err() {
                    tracing::warn!("the store does not close in time");
                }
            }
            Err(err) => tracing::warn!(error = with_causes(&err), "the store cannot be closed in time"),
        }
        // Nobody listens any more: then the orderly way was faster.
        let _ = tell.send(());
    };
    if let Err(err) = thread::Builder::new().name("mcp-tasks-close".to_owned()).spawn(close) {
        tracing::warn!(error = with_causes(&err), "the end of the engine is not bounded");
    }
    (stop, closed)
}
