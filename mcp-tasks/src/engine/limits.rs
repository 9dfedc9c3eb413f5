//! Admission: how many live tasks there may be, and calls that are made once.
//!
//! Whoever wants to create a task takes a [`Place`] first, and gives it back when nothing was stored. What is stored
//! and what has a place are never more than there may be, however long counting and storing take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_tasks_types::{JsonKind, Map, RawJson, RawObject};

use super::core::Core;
use super::watched::Watched;
use crate::digest;
use crate::error::{EngineError, EngineErrorKind};
use crate::owner::Owner;
use crate::record::{SharedRecord, TaskRecord, Visibility};
use crate::store::StoreError;

/// How long a count is good enough, with what is created here added to it.
const COUNT_AGE_MS: i64 = 1_000;

/// Of how many owners counts are kept, besides those who create something at the moment.
const MAX_COUNTS: usize = 1_024;

/// How often somebody waits for what others are creating, to be sure whether there is a place left.
const MAX_WAITS: u32 = 3;

/// The numbers of live tasks, as last counted: counting costs more the more there are, and a creation must not.
#[derive(Debug, Default)]
pub(super) struct Census {
    owners: Mutex<Owners>,
    all: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Owners {
    tallies: BTreeMap<Owner, Arc<Tally>>,
    /// How many there have to be before those are looked for that nobody needs.
    sweep_at: usize,
}

/// The live tasks of an owner, or of all owners.
#[derive(Debug, Default)]
struct Tally {
    numbers: Watched<Numbers>,
    /// Held by whoever counts.
    counting: tokio::sync::Mutex<()>,
}

/// What is known of them. Ends are not counted, nor is what other processes create.
#[derive(Debug)]
struct Numbers {
    /// When they were counted, and how often.
    at: i64,
    counts: u64,
    /// How many there are at most and at least, with all places: what was being stored while they were counted may be
    /// in the count or not.
    most: usize,
    least: usize,
    /// Places of which nothing is being stored yet.
    waiting: usize,
    /// How many records began to be stored, of how many that is over, and how many of those were not.
    begun: u64,
    ended: u64,
    failed: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { at: i64::MIN, counts: 0, most: 0, least: 0, waiting: 0, begun: 0, ended: 0, failed: 0 }
    }
}

/// Whether there may be one more.
enum Verdict {
    Room,
    Full,
    /// They have to be counted.
    Uncounted,
    /// It depends on what is being stored.
    Unsure,
}

impl Numbers {
    fn is_fresh(&self, now: i64) -> bool {
        self.at <= now && now.saturating_sub(self.at) < COUNT_AGE_MS
    }

    /// How many records are being stored. Each of them may fail, and make room.
    fn being_stored(&self) -> usize {
        usize::try_from(self.begun.saturating_sub(self.ended)).unwrap_or(usize::MAX)
    }

    /// Whether there may be one more, for somebody who came after so many counts and is refused by a new one alone, if
    /// `anew`.
    fn verdict(&self, limit: usize, now: i64, before: u64, anew: bool) -> Verdict {
        let is_counted = self.counts > before;
        if !is_counted && !self.is_fresh(now) {
            Verdict::Uncounted
        } else if self.most < limit {
            Verdict::Room
        } else if anew && !is_counted {
            Verdict::Uncounted
        } else if self.least.saturating_sub(self.being_stored()) >= limit {
            Verdict::Full
        } else {
            Verdict::Unsure
        }
    }
}

impl Tally {
    /// Counts what is in the store, unless somebody has done so since there were so many counts.
    async fn count(
        &self,
        core: &Core,
        owner: Option<&Owner>,
        limit: usize,
        before: u64,
    ) -> Result<(), StoreError> {
        let _alone = self.counting.lock().await;
        let known = |numbers: &Numbers| {
            (numbers.counts <= before).then(|| (numbers.begun, numbers.failed, numbers.being_stored()))
        };
        let Some((begun, failed, being_stored)) = self.numbers.read(known) else { return Ok(()) };
        let at = core.clock.now_millis();
        let live = core.store.count_live(owner, limit).await?;
        self.numbers.change(|numbers| {
            // What was being stored in that time may be in the count or not.
            let begun = usize::try_from(numbers.begun - begun).unwrap_or(usize::MAX);
            let failed = usize::try_from(numbers.failed - failed).unwrap_or(usize::MAX);
            let unsure = being_stored.saturating_add(begun).saturating_sub(failed);
            numbers.at = at;
            numbers.counts += 1;
            numbers.least = live.saturating_add(numbers.waiting);
            numbers.most = numbers.least.saturating_add(unsure);
            false
        });
        Ok(())
    }

    /// Waits until what is being stored now is over, and counts again.
    async fn wait_and_count(
        &self,
        core: &Core,
        owner: Option<&Owner>,
        limit: usize,
    ) -> Result<(), StoreError> {
        let (begun, counts) = self.numbers.read(|numbers| (numbers.begun, numbers.counts));
        self.numbers.wait(|numbers| (numbers.ended >= begun).then_some(())).await;
        self.count(core, owner, limit, counts).await
    }
}

/// The right to create a task. It is given back when it is dropped and nothing was stored.
#[derive(Debug)]
pub(super) struct Place {
    tallies: [Arc<Tally>; 2],
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    /// The record may be in the store or not.
    Storing,
    Stored,
}

impl Place {
    /// The record is about to be stored.
    pub(super) fn storing(&mut self) {
        if self.stage == Stage::Waiting {
            self.stage = Stage::Storing;
            self.change(|numbers| {
                numbers.waiting -= 1;
                numbers.begun += 1;
            });
        }
    }

    pub(super) fn stored(&mut self) {
        if self.stage == Stage::Storing {
            self.stage = Stage::Stored;
            self.change(|numbers| numbers.ended += 1);
        }
    }

    /// The record was not stored for sure.
    pub(super) fn not_stored(&mut self) {
        if self.stage == Stage::Storing {
            self.stage = Stage::Waiting;
            self.change(|numbers| {
                numbers.ended += 1;
                numbers.failed += 1;
                numbers.waiting += 1;
            });
        }
    }

    fn change(&self, change: impl Fn(&mut Numbers)) {
        for tally in &self.tallies {
            tally.numbers.change(|numbers| {
                let ended = numbers.ended;
                change(numbers);
                numbers.ended != ended
            });
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        match self.stage {
            Stage::Waiting => self.change(|numbers| {
                numbers.waiting -= 1;
                numbers.most = numbers.most.saturating_sub(1);
                numbers.least = numbers.least.saturating_sub(1);
            }),
            // Nobody knows. It counts until there is a new count.
            Stage::Storing => self.change(|numbers| {
                numbers.ended += 1;
                numbers.least = numbers.least.saturating_sub(1);
            }),
            Stage::Stored => {}
        }
    }
}

impl Census {
    fn tally_of(&self, owner: &Owner, now: i64) -> Arc<Tally> {
        // Nothing that can panic runs while the table is half changed.
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tally) = owners.tallies.get(owner) {
            return Arc::clone(tally);
        }
        if owners.tallies.len() >= owners.sweep_at.max(MAX_COUNTS) {
            owners.tallies.retain(|_, tally| {
                Arc::strong_count(tally) > 1 || tally.numbers.read(|numbers| numbers.is_fresh(now))
            });
            if owners.tallies.len() >= MAX_COUNTS {
                owners.tallies.retain(|_, tally| Arc::strong_count(tally) > 1);
            }
            owners.sweep_at = owners.tallies.len().saturating_mul(2);
        }
        Arc::clone(owners.tallies.entry(owner.clone()).or_default())
    }
}

impl Core {
    /// Refuses one task more than there may be: of the owner after a new count, over all owners after one of the last
    /// second.
    pub(super) async fn admit(&self, owner: &Owner) -> Result<Place, EngineError> {
        let (of_owner, of_all) = (self.settings.max_tasks_of_owner, self.settings.max_tasks);
        let all = &self.census.all;
        let own = self.census.tally_of(owner, self.clock.now_millis());
        let before = (own.numbers.read(|own| own.counts), all.numbers.read(|all| all.counts));
        let mut waits = 0;
        loop {
            let now = self.clock.now_millis();
            let mut verdicts = (Verdict::Uncounted, Verdict::Uncounted);
            own.numbers.change(|own| {
                all.numbers.change(|all| {
                    verdicts = (
                        own.verdict(of_owner, now, before.0, true),
                        all.verdict(of_all, now, before.1, false),
                    );
                    if let (Verdict::Room, Verdict::Room) = verdicts {
                        for numbers in [own, all] {
                            numbers.most += 1;
                            numbers.least += 1;
                            numbers.waiting += 1;
                        }
                    }
                    false
                });
                false
            });
            match verdicts {
                (Verdict::Room, Verdict::Room) => {
                    let tallies = [Arc::clone(&own), Arc::clone(all)];
                    return Ok(Place { tallies, stage: Stage::Waiting });
                }
                (Verdict::Uncounted, _) => own.count(self, Some(owner), of_owner, before.0).await?,
                (Verdict::Unsure, _) if waits < MAX_WAITS => {
                    waits += 1;
                    own.wait_and_count(self, Some(owner), of_owner).await?;
                }
                (Verdict::Full | Verdict::Unsure, _) => {
                    return Err(too_many(&format!(
                        "you have {of_owner} tasks that have not ended, and may not have more"
                    )));
                }
                (Verdict::Room, Verdict::Uncounted) => all.count(self, None, of_all, before.1).await?,
                (Verdict::Room, Verdict::Unsure) if waits < MAX_WAITS => {
                    waits += 1;
                    all.wait_and_count(self, None, of_all).await?;
                }
                (Verdict::Room, _) => {
                    return Err(too_many("the server has as many tasks as it can have; try again later"));
                }
            }
        }
    }

    /// Makes a task known that was stored here.
    pub(super) fn created(&self, record: &SharedRecord) {
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
