//! How an engine is put together and started.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use mcp_tasks_types::Timestamp;
use mcp_tasks_types::v2026_07_28::CallToolResult;
use tokio::sync::{Notify, watch};

use super::Engine;
use super::core::{Core, FinishResult, Running, Settings, Tool};
use super::heartbeat::keep_leases;
use super::limits::Census;
use super::role::Role;
use super::timer;
use crate::BoxFuture;
use crate::clock::{Clock, Ids, RandomIds, SystemClock};
use crate::error::{BuildError, DefinitionError};
use crate::record::LONGEST_MS;
use crate::store::{DynStore, Store};
use crate::tool::{TaskTool, ToolDefinition};

/// An engine in the making.
pub struct EngineBuilder {
    store: Arc<dyn DynStore>,
    clock: Arc<dyn Clock>,
    ids: Box<dyn Ids>,
    finish_result: FinishResult,
    tools: Vec<Arc<Tool>>,
    settings: Settings,
}

impl EngineBuilder {
    pub(super) fn new(store: impl Store) -> Self {
        Self {
            store: Arc::new(store),
            clock: Arc::new(SystemClock::new()),
            ids: Box::new(RandomIds::new()),
            finish_result: Box::new(std::convert::identity),
            tools: Vec::new(),
            settings: Settings::default(),
        }
    }

    /// Sets where the time comes from.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets where identifiers come from.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> Self {
        self.ids = Box::new(ids);
        self
    }

    /// Adds to what is done to the result of a tool before it is kept or given out, after what was added before; a
    /// server marks results as its own at last (S-10).
    #[must_use]
    pub fn finish_results(
        mut self,
        finish: impl Fn(CallToolResult) -> CallToolResult + Send + Sync + 'static,
    ) -> Self {
        let before = self.finish_result;
        self.finish_result = Box::new(move |result| finish(before(result)));
        self
    }

    /// Registers a tool.
    #[must_use]
    pub fn tool<T: TaskTool>(mut self) -> Self {
        self.tools.push(Arc::new(Tool::of::<T>()));
        self
    }

    /// Sets how often the body of a task with `restart = "rerun"` is started without coming any further before the task
    /// fails, for a body that ends its process each time: five times, unless set. An answer, a new step and an orderly
    /// end of the process are headway; a task that waits for an answer is not counted. Zero is taken for one.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.max_attempts = attempts.max(1);
        self
    }

    /// Sets how large a result may be, in bytes of its JSON: 16 MiB, unless set. A task with a larger one fails, as one
    /// with a larger error, step or status does.
    #[must_use]
    pub fn result_limit(mut self, bytes: usize) -> Self {
        self.settings.result_limit = bytes;
        self
    }

    /// Sets how many milliseconds bodies may go on after the engine was [told to shut down](Engine::shutdown), as after
    /// they were told to stop: 1,000, unless set. Then they are dropped, and their tasks are handed over or fail. To
    /// record that there is as long again, and twice as long to close the store: so shutting down takes four times this
    /// at most, whatever bodies and the store do. Zero drops bodies at once.
    #[must_use]
    pub fn shutdown_grace_ms(mut self, shutdown_grace_ms: u64) -> Self {
        self.settings.shutdown_grace_ms = shutdown_grace_ms;
        self
    }

    /// Sets how long a task that outlived its lifetime stays readable as failed: a minute, unless set.
    #[must_use]
    pub fn expired_retention_ms(mut self, expired_retention_ms: u64) -> Self {
        self.settings.expired_retention_ms = expired_retention_ms;
        self
    }

    /// Sets how long the owner of a task whose retention is over is told that it expired, before it is as unknown as
    /// one that never was: an hour, unless set. Zero removes tasks at once.
    #[must_use]
    pub fn tombstone_ms(mut self, tombstone_ms: u64) -> Self {
        self.settings.tombstone_ms = tombstone_ms;
        self
    }

    /// Sets the lifetime of tasks whose tools say nothing about it: an hour, unless set. Zero is taken for a
    /// millisecond.
    #[must_use]
    pub fn default_ttl_ms(mut self, ttl_ms: u64) -> Self {
        self.settings.default_ttl_ms = ttl_ms.max(1);
        self
    }

    /// Sets the longest lifetime that a task may have, whatever its tool or its body wants: no limit, unless set. Zero
    /// is taken for a millisecond, and what is beyond 2^53 - 1, which readers of JSON cannot hold, for that.
    #[must_use]
    pub fn max_ttl_ms(mut self, ttl_ms: u64) -> Self {
        self.settings.max_ttl_ms = ttl_ms.clamp(1, LONGEST_MS);
        self
    }

    /// Sets how long a live task goes on when nobody asks about it, for clients that lose their ids: it fails and says
    /// so at the earliest this many milliseconds after somebody last got, answered, cancelled or watched it, and at the
    /// latest a quarter of that later. Never, unless set; several processes over one store have to be told the same.
    ///
    /// That somebody asked is written once in a quarter of that time, and other polls stay one read. A client that is
    /// told how often to ask ([`poll_ms`](Self::poll_ms)) should be able to miss a few times. Zero is taken for a
    /// millisecond, and what is beyond 2^53 - 1 for that.
    #[must_use]
    pub fn abandon_ms(mut self, abandon_ms: u64) -> Self {
        self.settings.abandon_ms = Some(abandon_ms.clamp(1, LONGEST_MS));
        self
    }

    /// Sets how long a call that asks without being a task waits for its client to come back with answers: ten minutes,
    /// unless set. Then it is given up, at the latest a quarter of that later. Where a tool's lifetime is shorter, that
    /// counts. Several processes over one store have to be told the same. Zero is taken for a millisecond, and what is
    /// beyond 2^53 - 1 for that.
    #[must_use]
    pub fn round_ms(mut self, round_ms: u64) -> Self {
        self.settings.round_ms = round_ms.clamp(1, LONGEST_MS);
        self
    }

    /// Sets how many live tasks an owner may have: 10,000, unless set. One more is refused. Calls that wait for answers
    /// count as well. Without authentication all callers are one owner. Exact in one process, however many callers
    /// there are at once; several processes may overshoot it as [`max_tasks`](Self::max_tasks).
    #[must_use]
    pub fn max_tasks_of_owner(mut self, tasks: usize) -> Self {
        self.settings.max_tasks_of_owner = tasks;
        self
    }

    /// Sets how many live tasks there may be over all owners: 100,000, unless set. Counted once a second and between
    /// that by what this process creates, so that one process never overshoots it, several may by what the others
    /// create in a second, and the place of a task that ended is free a second later at the latest.
    #[must_use]
    pub fn max_tasks(mut self, tasks: usize) -> Self {
        self.settings.max_tasks = tasks;
        self
    }

    /// Sets after how many milliseconds the tasks of a process that died or hangs are taken up by another one: 30,000,
    /// unless set. Three times as often a live process says that it is there, so that less than 3 is taken for 3.
    #[must_use]
    pub fn lease_ms(mut self, lease_ms: u64) -> Self {
        self.settings.lease_ms = lease_ms.max(3);
        self
    }

    /// Sets what this process does with tasks: everything, unless set.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.settings.role = role;
        self
    }

    /// Sets how many bodies run here at once: 10,000, unless set. More tasks wait until one of them ends, here or in
    /// another process; calls that are no tasks take room as well and are [refused](crate::EngineErrorKind::Busy) where
    /// there is none. Zero is taken for one; a process that runs no bodies has the [role](Self::role) for it.
    #[must_use]
    pub fn max_running(mut self, bodies: usize) -> Self {
        self.settings.max_running = bodies.max(1);
        self
    }

    /// Sets how often clients should ask about any task, in place of what the tools say. Unless set, what the tool says
    /// holds, or 1,000 where it says nothing. Zero is taken for a millisecond.
    #[must_use]
    pub fn poll_ms(mut self, poll_ms: u64) -> Self {
        self.settings.poll_ms = Some(poll_ms.max(1));
        self
    }

    /// Starts the engine and takes up the tasks that nobody works on. Needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// When tools have faults, all of which are told at once, or when the store fails.
    pub async fn build(self) -> Result<Engine, BuildError> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(BuildError::of_tools(faults));
        }
        for definition in self.definitions() {
            for argument in definition.undescribed() {
                let tool = definition.name();
                if let Some(argument) = argument {
                    tracing::warn!(
                        tool,
                        argument,
                        "an argument has no description: write a doc comment above it"
                    );
                } else {
                    tracing::warn!(tool, "a tool has no description: write a doc comment above it");
                }
            }
            for (key, member) in definition.secrets() {
                tracing::warn!(tool = definition.name(), key, member, "a form must not ask for secrets");
            }
        }
        let worker = self.ids.worker_id();
        let worker = worker.map_err(|err| BuildError::with_source("there are no random numbers", err))?;
        #[cfg(feature = "metrics")]
        let store: Arc<dyn DynStore> = Arc::new(super::meter::MeteredStore(self.store));
        #[cfg(not(feature = "metrics"))]
        let store = self.store;
        let core = Arc::new(Core {
            clock: Arc::new(SharedClock { store: Arc::clone(&store), own: self.clock }),
            store,
            ids: self.ids,
            finish_result: self.finish_result,
            tools: self.tools,
            worker,
            settings: self.settings,
            running: Mutex::new(Running::default()),
            count: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            ended: watch::Sender::new(false),
            timer: Arc::new(Notify::new()),
            next_wake: AtomicI64::new(i64::MAX),
            heartbeat_at: AtomicI64::new(i64::MAX),
            beat: Arc::new(Notify::new()),
            next_beat: AtomicI64::new(i64::MAX),
            recovering: tokio::sync::Mutex::new(()),
            census: Census::default(),
        });
        let follow = timer::follow(Arc::downgrade(&core), core.store.changes(), core.closing.subscribe());
        tokio::spawn(follow);
        // What is taken up first must not lose its lease while the rest is.
        tokio::spawn(keep_leases(Arc::downgrade(&core), core.closing.subscribe()));
        let recovered = core.recover().await;
        let recovered =
            recovered.map_err(|err| BuildError::with_source("the unfinished tasks cannot be read", err))?;
        if recovered > 0 {
            tracing::info!(tasks = recovered, "unfinished tasks were taken up");
        }
        tokio::spawn(timer::keep_time(Arc::downgrade(&core), core.closing.subscribe()));
        Ok(Engine { core })
    }

    /// Whether other processes use the store as well.
    pub(crate) fn store_is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// The tools, in the order of registration.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(|tool| &tool.definition)
    }

    /// What is wrong with the tools, all at once (X-153).
    pub(crate) fn faults(&self) -> Vec<DefinitionError> {
        let mut names = BTreeSet::new();
        let mut faults = Vec::new();
        for definition in self.definitions() {
            faults.extend(definition.faults());
            if !names.insert(definition.name()) {
                faults.push(DefinitionError::new(definition.name(), "there are two tools of this name"));
            }
        }
        faults
    }
}

/// The time that all processes over the store agree on, as far as the store knows one.
struct SharedClock {
    own: Arc<dyn Clock>,
    store: Arc<dyn DynStore>,
}

impl SharedClock {
    fn ahead_ms(&self) -> i64 {
        self.store.clock_ahead_ms()
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        match self.ahead_ms() {
            0 => self.own.now(),
            ahead_ms => Timestamp::from_unix_millis(self.own.now_millis().saturating_add(ahead_ms)),
        }
    }

    fn now_millis(&self) -> i64 {
        self.own.now_millis().saturating_add(self.ahead_ms())
    }

    fn sleep_until(&self, deadline: &Timestamp) -> BoxFuture<'static, ()> {
        match self.ahead_ms() {
            0 => self.own.sleep_until(deadline),
            ahead_ms => {
                let own = deadline.unix_millis().saturating_sub(ahead_ms);
                self.own.sleep_until(&Timestamp::from_unix_millis(own))
            }
        }
    }
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&str> = self.definitions().map(ToolDefinition::name).collect();
        f.debug_struct("EngineBuilder").field("tools", &tools).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use mcp_tasks_types::RawObject;
    use tracing::field::{Field, Visit};
    use tracing::span;

    use super::*;
    use crate::BoxFuture;
    use crate::error::{ArgumentError, ToolError};
    use crate::store::MemoryStore;
    use crate::tool::ToolCall;

    struct Bare;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Arguments {
        /// Described.
        one: u8,
        two: u8,
    }

    impl TaskTool for Bare {
        const NAME: &'static str = "bare";

        fn definition() -> ToolDefinition {
            ToolDefinition::new::<Arguments, Result<(), ToolError>>(Self::NAME)
        }

        fn check(_: &RawObject) -> Result<(), ArgumentError> {
            Ok(())
        }

        fn run(_: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
            Box::pin(std::future::pending())
        }
    }

    /// Keeps what is warned of.
    struct Warnings(Arc<Mutex<String>>);

    struct Fields<'a>(&'a mut String);

    impl Visit for Fields<'_> {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            write!(self.0, "{field}={value:?} ").unwrap();
        }
    }

    impl tracing::Subscriber for Warnings {
        fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
            *metadata.level() == tracing::Level::WARN
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            let mut text = self.0.lock().unwrap();
            event.record(&mut Fields(&mut text));
            text.push('\n');
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[tokio::test]
    async fn missing_descriptions_are_warned_of_with_their_place() {
        let text = Arc::new(Mutex::new(String::new()));
        let warnings = tracing::subscriber::set_default(Warnings(Arc::clone(&text)));
        Engine::builder(MemoryStore::new()).tool::<Bare>().build().await.unwrap();
        drop(warnings);
        let text = text.lock().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains(r#"tool="bare""#) && !lines[0].contains("argument="), "{text}");
        assert!(lines[1].contains(r#"tool="bare" argument="two""#), "{text}");
    }
}
