//! The moment in which a call becomes a task: its record is stored when the body first needs it or the grace is over,
//! and never when the body ends before.

use tokio::sync::{Mutex, MutexGuard, oneshot};

use super::limits::Place;
use super::supervise::End;
use super::watched::Watched;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The call may become a task.
    Pending,
    /// The task is stored.
    Stored,
    /// There will be no task.
    Never,
}

/// Whether the task of a run is stored.
#[derive(Debug)]
pub(super) struct Birth {
    stage: Watched<Stage>,
    /// The task's place, held while it is decided, and while the record changes that is not stored yet.
    deciding: Mutex<Option<Place>>,
}

impl Birth {
    /// Of a task that is stored, or of what never becomes one.
    pub(super) fn over() -> Self {
        Self { stage: Watched::new(Stage::Stored), deciding: Mutex::default() }
    }

    /// Of a task that may be stored in this place.
    pub(super) fn awaited(place: Place) -> Self {
        Self { stage: Watched::new(Stage::Pending), deciding: Mutex::new(Some(place)) }
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage.read(|stage| *stage)
    }

    pub(super) fn is_pending(&self) -> bool {
        self.stage() == Stage::Pending
    }

    /// The right to decide, if it is not decided.
    pub(super) async fn pending(&self) -> Option<MutexGuard<'_, Option<Place>>> {
        if !self.is_pending() {
            return None;
        }
        let deciding = self.deciding.lock().await;
        self.is_pending().then_some(deciding)
    }

    pub(super) fn decide(&self, deciding: &mut MutexGuard<'_, Option<Place>>, stage: Stage) {
        // A place that was not used is somebody else's now.
        drop(deciding.take());
        self.stage.change(|decided| {
            *decided = stage;
            true
        });
    }

    /// Decides that there will be no task, unless it is decided. Gives whether there is none.
    pub(super) async fn prevent(&self) -> bool {
        if let Some(mut deciding) = self.pending().await {
            self.decide(&mut deciding, Stage::Never);
        }
        self.stage() == Stage::Never
    }

    /// Waits until it is decided.
    pub(super) async fn decided(&self) {
        self.stage.wait(|stage| (*stage != Stage::Pending).then_some(())).await;
    }
}

/// Where the end of a call goes whose task was never stored.
pub(super) type Unborn = oneshot::Sender<End>;
