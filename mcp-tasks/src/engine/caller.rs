//! Who waits for the answer of a call, and hears what its body tells until then.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use mcp_tasks_types::v2026_07_28::LoggingLevel;
use serde_json::Value;

use crate::BoxFuture;
use crate::record::{Progress, TraceContext};

/// What a body tells on the way to its result.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// How far it is.
    Progress { progress: Progress, message: Option<String> },
    /// What it does.
    Log { level: LoggingLevel, logger: Option<String>, data: Value },
}

/// One who calls, as far as it is of interest to the body. When the call is answered, it wants nothing any more.
pub(crate) trait Caller: Send + Sync {
    /// The trace that the call is a part of.
    fn trace(&self) -> &TraceContext;

    /// Whether it wants to hear of the progress.
    fn wants_progress(&self) -> bool;

    /// Whether it wants to hear messages of this level.
    fn wants_log(&self, level: LoggingLevel) -> bool;

    /// Passes something on, as fast as it is taken.
    fn tell(&self, told: Told) -> BoxFuture<'_, ()>;
}

/// A caller that can be copied with its call.
#[derive(Clone)]
pub(crate) struct SharedCaller(pub(crate) Arc<dyn Caller>);

impl Deref for SharedCaller {
    type Target = dyn Caller;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for SharedCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCaller")
    }
}
