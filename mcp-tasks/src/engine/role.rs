//! What a process does with tasks, and how many bodies it has room for.

use super::core::Core;

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

impl Core {
    /// How many more bodies can run here.
    pub(super) fn room(&self) -> usize {
        match self.settings.role {
            Role::Serve => 0,
            Role::Both | Role::Work => self.settings.max_running.saturating_sub(self.running().runs.len()),
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.room() > 0
    }
}
