//! What a process does with tasks, and how many bodies it has room for.

use std::sync::Arc;

use super::core::{Core, Running};
use crate::error::{EngineError, EngineErrorKind};

/// What a process does with tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Takes calls and runs bodies.
    #[default]
    Both,
    /// Takes calls, and leaves the tasks to workers over the same store. Ordinary calls run here.
    Serve,
    /// Runs bodies, and takes no calls.
    Work,
}

/// Room for bodies that are about to run here, so that never more of them begin than may run.
pub(super) struct Room {
    core: Arc<Core>,
    bodies: usize,
}

impl Core {
    /// Room for the body of a call that is no task, which runs here whatever the role is.
    pub(super) fn room_for_call(self: &Arc<Self>) -> Result<Room, EngineError> {
        self.room_for(1, false).ok_or_else(|| {
            EngineError::new(EngineErrorKind::Busy, "the server is as busy as it can be; try again later")
        })
    }

    /// Room for the bodies of some tasks, at most so many. When there is none, the timer is woken as soon as there is,
    /// and takes up what was left.
    pub(super) fn room_for_tasks(self: &Arc<Self>, bodies: usize) -> Option<Room> {
        match self.settings.role {
            Role::Serve => None,
            Role::Both | Role::Work => self.room_for(bodies, true),
        }
    }

    fn room_for(self: &Arc<Self>, bodies: usize, is_waited_for: bool) -> Option<Room> {
        let mut running = self.running();
        let bodies = self.settings.max_running.saturating_sub(running.bodies()).min(bodies);
        running.promised += bodies;
        running.is_waited_for |= is_waited_for && bodies == 0;
        drop(running);
        (bodies > 0).then(|| Room { core: Arc::clone(self), bodies })
    }

    /// Whether no task can run here. When that changes, the timer is woken.
    pub(super) fn is_full(&self) -> bool {
        let mut running = self.running();
        let is_full = running.bodies() >= self.settings.max_running;
        running.is_waited_for |= is_full;
        is_full || self.settings.role == Role::Serve
    }
}

impl Room {
    pub(super) fn bodies(&self) -> usize {
        self.bodies
    }

    /// Gives back what is more than this.
    pub(super) fn shrink(&mut self, bodies: usize) {
        let more = self.bodies.saturating_sub(bodies);
        self.bodies -= more;
        let mut running = self.core.running();
        running.promised -= more;
        if more > 0 && std::mem::take(&mut running.is_waited_for) {
            self.core.timer.notify_one();
        }
    }

    /// A body uses its part of it.
    pub(super) fn use_one(&mut self, running: &mut Running) {
        let one = self.bodies.min(1);
        self.bodies -= one;
        running.promised -= one;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bodies > 0 {
            self.shrink(0);
        }
    }
}
