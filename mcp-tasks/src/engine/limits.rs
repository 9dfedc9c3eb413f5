//! Admission: how many live tasks there may be, and calls that are made once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use mcp_tasks_types::{JsonKind, Map, RawJson, RawObject};

use super::core::Core;
use crate::digest;
use crate::error::{EngineError, EngineErrorKind};
use crate::owner::Owner;
use crate::record::{SharedRecord, TaskRecord, Visibility};

/// How long a count is good enough, with what is created here added to it.
const COUNT_AGE_MS: i64 = 1_000;

/// Of how many owners counts are kept.
const MAX_COUNTS: usize = 1_024;

/// The numbers of live tasks, as last counted: counting costs more the more there are, and a creation must not.
#[derive(Debug, Default)]
pub(super) struct Census(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: Counted,
    owners: BTreeMap<Owner, Counted>,
}

/// No fewer than there are, but for what other processes create: ends are not counted, and creations that fail are.
#[derive(Clone, Copy, Debug)]
struct Counted {
    at: i64,
    live: usize,
}

impl Counted {
    fn is_fresh(self, now: i64) -> bool {
        self.at <= now && now.saturating_sub(self.at) < COUNT_AGE_MS
    }
}

impl Default for Counted {
    fn default() -> Self {
        Self { at: i64::MIN, live: 0 }
    }
}

impl Counts {
    /// Whether one more is known to be no more than the limit; then it is counted.
    fn admits(&mut self, owner: &Owner, limit: usize, now: i64) -> bool {
        match self.owners.get_mut(owner) {
            Some(counted) if counted.is_fresh(now) && counted.live < limit => {
                counted.live += 1;
                true
            }
            _ => false,
        }
    }

    fn keep(&mut self, owner: &Owner, counted: Counted) {
        if self.owners.len() >= MAX_COUNTS {
            self.owners.retain(|_, known| known.is_fresh(counted.at));
        }
        if self.owners.len() >= MAX_COUNTS {
            self.owners.clear();
        }
        self.owners.insert(owner.clone(), counted);
    }
}

impl Core {
    /// Refuses one task more than there may be. What is refused is always counted anew.
    pub(super) async fn admit(&self, owner: &Owner) -> Result<(), EngineError> {
        let of_owner = self.settings.max_tasks_of_owner;
        let now = self.clock.now_millis();
        let admitted = self.census().admits(owner, of_owner, now);
        if !admitted {
            let live = self.store.count_live(Some(owner), of_owner).await?;
            if live >= of_owner {
                return Err(too_many(&format!(
                    "you have {of_owner} tasks that have not ended, and may not have more"
                )));
            }
            self.census().keep(owner, Counted { at: now, live: live + 1 });
        }
        let all = self.settings.max_tasks;
        if self.live().await? >= all {
            return Err(too_many("the server has as many tasks as it can have; try again later"));
        }
        Ok(())
    }

    async fn live(&self) -> Result<usize, EngineError> {
        let now = self.clock.now_millis();
        let counted = self.census().all;
        if counted.is_fresh(now) {
            return Ok(counted.live);
        }
        let live = self.store.count_live(None, self.settings.max_tasks).await?;
        self.census().all = Counted { at: now, live };
        Ok(live)
    }

    fn census(&self) -> std::sync::MutexGuard<'_, Counts> {
        // Plain numbers, which no panic leaves half changed.
        self.census.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a task that was stored here, and makes it known.
    pub(super) fn created(&self, record: &SharedRecord) {
        {
            let mut counts = self.census();
            counts.all.live = counts.all.live.saturating_add(1);
        }
        #[cfg(feature = "metrics")]
        super::meter::created(record);
        self.announce(record);
        match record.visibility {
            Visibility::Task => {
                tracing::info!(task = %record.id, tool = record.tool.name, "the task was created");
            }
            Visibility::Inline => {
                tracing::info!(call = %record.id, tool = record.tool.name, "the call asks and is kept");
            }
        }
    }

    /// The task of a call that was made before under the same key.
    pub(super) async fn made_before(&self, record: &TaskRecord) -> Result<Option<SharedRecord>, EngineError> {
        let Some(same_call) = &record.same_call else { return Ok(None) };
        let Some(known) = self.store.find_call(same_call).await? else { return Ok(None) };
        // What is left of a task whose retention is over does not keep its key.
        let known = self.overdue(known).await?.filter(|known| known.forgotten_at.is_none());
        let Some(known) = known else { return Ok(None) };
        if known.params_digest != record.params_digest {
            return Err(EngineError::new(
                EngineErrorKind::InvalidArguments,
                "a task was made under this idempotency key with other arguments",
            ));
        }
        Ok(Some(known))
    }
}

fn too_many(message: &str) -> EngineError {
    EngineError::new(EngineErrorKind::TooManyTasks, message)
}

/// The text of an argument, if it has one that is not null.
pub(super) fn text_of(arguments: &RawObject, name: &str) -> Option<String> {
    let members: Map<RawJson> = arguments.get().ok()?;
    let value = members.get(name)?;
    match value.kind() {
        JsonKind::Null => None,
        JsonKind::String => value.get().ok(),
        _ => Some(value.as_str().to_owned()),
    }
}

/// What keeps something from being used for a second task.
pub(super) fn used_once(what: &str) -> String {
    digest::of_value(&serde_json::Value::from(["used once", what].as_slice()))
}

/// What makes a second call the same one: no owner's and no tool's key is another's.
pub(super) fn same_call(owner: &Owner, tool: &str, key: &str) -> String {
    let parts = [owner.tenant(), owner.principal(), tool, key];
    digest::of_value(&serde_json::Value::from(parts.as_slice()))
}
