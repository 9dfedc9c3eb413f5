//! How long a tool's tasks run, wait and stay.

use super::{Restart, TaskMode, ToolDefinition};
use crate::error::DefinitionError;

/// What a tool says about the time its tasks take, beside their lifetime.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Durations {
    retain_ms: Option<u64>,
    deadline_ms: Option<u64>,
    park_after_ms: Option<u64>,
    grace_ms: Option<u64>,
    idempotency_argument: Option<&'static str>,
}

impl ToolDefinition {
    /// Sets how long an ended task stays readable at least, counted from its end; unset, it stays until the end of its
    /// lifetime. It is never dropped before its lifetime is over.
    #[must_use]
    pub fn with_retain_ms(mut self, retain_ms: u64) -> Self {
        self.durations.retain_ms = Some(retain_ms);
        self
    }

    /// Sets how long a body may run each time it is started, waiting for answers included. One that takes longer is
    /// told to stop, and its task fails, unless it gives a result within its [`cancel_grace_ms`](Self::cancel_grace_ms)
    /// after that: a task fails at the deadline and that grace at the latest.
    #[must_use]
    pub fn with_deadline_ms(mut self, deadline_ms: u64) -> Self {
        if deadline_ms == 0 {
            self.faults.push(DefinitionError::new(&self.name, "a deadline of 0"));
        }
        self.durations.deadline_ms = Some(deadline_ms);
        self
    }

    /// Sets how long a body that waits for an answer is kept in memory. After that it is dropped with everything it
    /// does beside, and the answer starts it again, in whatever process; only for tools that can be run again.
    #[must_use]
    pub fn with_park_after_ms(mut self, park_after_ms: u64) -> Self {
        self.durations.park_after_ms = Some(park_after_ms);
        self
    }

    /// Sets how long a call is waited for before it becomes a task: one that ends in time, without a question and
    /// without a step, is answered in place and never stored. A call with an idempotency key is a task at once, and so
    /// is every call in a process that runs no bodies of tasks ([`Role::Serve`](crate::Role::Serve)) or has no room for
    /// more.
    #[must_use]
    pub fn with_grace_ms(mut self, grace_ms: u64) -> Self {
        self.durations.grace_ms = Some(grace_ms);
        self
    }

    /// Names the argument whose text makes a second call of the same owner the same one: it gets the first one's task,
    /// as long as that is there. A call without the argument, or with null, is always a new one.
    #[must_use]
    pub fn with_idempotency_argument(mut self, argument: &'static str) -> Self {
        self.durations.idempotency_argument = Some(argument);
        self
    }

    /// How long an ended task stays readable at least, counted from its end.
    #[must_use]
    pub fn retain_ms(&self) -> Option<u64> {
        self.durations.retain_ms
    }

    /// How long a body may run each time it is started, until it is told to stop.
    #[must_use]
    pub fn deadline_ms(&self) -> Option<u64> {
        self.durations.deadline_ms
    }

    /// How long a body that waits for an answer is kept in memory.
    #[must_use]
    pub fn park_after_ms(&self) -> Option<u64> {
        self.durations.park_after_ms
    }

    /// How long a call is waited for before it becomes a task.
    #[must_use]
    pub fn grace_ms(&self) -> Option<u64> {
        self.durations.grace_ms
    }

    /// The argument that makes a second call the same one.
    #[must_use]
    pub fn idempotency_argument(&self) -> Option<&str> {
        self.durations.idempotency_argument
    }

    /// What is wrong with the durations in view of everything else.
    pub(super) fn faults_of_durations(&self) -> Vec<DefinitionError> {
        let mut faults = Vec::new();
        if self.durations.park_after_ms.is_some() && self.restart != Restart::Rerun {
            faults.push(DefinitionError::new(
                &self.name,
                "a body that is parked has to be run again: `park_after` needs `restart = \"rerun\"`",
            ));
        }
        if self.task_mode == TaskMode::Never && self.durations.grace_ms.is_some() {
            faults.push(DefinitionError::new(
                &self.name,
                "a call that never becomes a task has no grace: `grace` needs another `task` than `\"never\"`",
            ));
        }
        // One that asks is kept between its rounds, and goes on after a restart.
        if self.task_mode == TaskMode::Never && self.restart == Restart::Rerun && self.inputs.is_empty() {
            faults.push(DefinitionError::new(
                &self.name,
                "nothing is kept of a call that is never a task and asks nothing: `restart = \"rerun\"` needs \
                 another `task` than `\"never\"`, or a question",
            ));
        }
        if let Some(argument) = self.durations.idempotency_argument
            && self.input_schema.pointer("/properties").and_then(|all| all.get(argument)).is_none()
        {
            let message = format!("the idempotency key `{argument}` is no argument");
            faults.push(DefinitionError::new(&self.name, message));
        }
        faults
    }
}
