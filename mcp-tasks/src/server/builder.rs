//! Putting a server together, with all mistakes told at once.

use std::{collections::BTreeMap, fmt, sync::Arc};

use mcp_tasks_types::v2026_07_28::Implementation;
use tokio::sync::watch;

use super::{
    Inner, Server,
    admission::Rules,
    discover::Prepared,
    identity::Identity,
    listen::Places,
    polls::Polls,
    states::{MIN_KEY_BYTES, States},
    tools,
};
use crate::{
    clock::{Clock, Ids, random_bytes},
    engine::{Engine, EngineBuilder},
    error::BuildError,
    owner::Owner,
    store::{MemoryStore, Store},
    tool::TaskTool,
};

/// How long clients may keep the answers of discover and `tools/list`: five minutes.
const CACHE_TTL_MS: u64 = 300_000;

const HOUR_MS: u64 = 3_600_000;

/// A server that is being put together; without a store it forgets everything with the process.
#[must_use]
pub struct ServerBuilder {
    implementation: Implementation,
    instructions: Option<String>,
    owner: Owner,
    /// Begins the engine on the store.
    begin: Box<dyn FnOnce() -> EngineBuilder + Send>,
    /// What is done to the engine then, in order.
    engine: Vec<Box<dyn FnOnce(EngineBuilder) -> EngineBuilder + Send>>,
    require_task_name: bool,
    lenient_inputs: bool,
    request_state_key: Option<Vec<u8>>,
    cache_ttl_ms: u64,
    max_subscriptions_of_owner: usize,
    max_subscriptions: usize,
    max_subscription_ms: Option<u64>,
    max_early_polls: Option<u32>,
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServerBuilder")
            .field("implementation", &self.implementation)
            .finish_non_exhaustive()
    }
}

impl ServerBuilder {
    pub(super) fn new(implementation: Implementation) -> Self {
        Self {
            implementation,
            instructions: None,
            owner: Owner::anonymous(),
            begin: Box::new(|| Engine::builder(MemoryStore::new())),
            engine: Vec::new(),
            require_task_name: false,
            lenient_inputs: false,
            request_state_key: None,
            cache_ttl_ms: CACHE_TTL_MS,
            max_subscriptions_of_owner: 1_000,
            max_subscriptions: 10_000,
            max_subscription_ms: Some(HOUR_MS),
            max_early_polls: None,
        }
    }

    fn with_engine(mut self, change: impl FnOnce(EngineBuilder) -> EngineBuilder + Send + 'static) -> Self {
        self.engine.push(Box::new(change));
        self
    }

    /// Where tasks live.
    pub fn store(mut self, store: impl Store) -> Self {
        self.begin = Box::new(move || Engine::builder(store));
        self
    }

    /// A title for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.implementation = self.implementation.with_title(title);
        self
    }

    /// What a model should know about using the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool. Tools are listed in the order in which they are added.
    pub fn tool<T: TaskTool>(self) -> Self {
        self.with_engine(EngineBuilder::tool::<T>)
    }

    /// Whose tasks all requests are about where nobody is authenticated.
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// Where the time comes from.
    pub fn clock(self, clock: impl Clock) -> Self {
        self.with_engine(move |engine| engine.clock(clock))
    }

    /// Where task ids come from. Whoever can guess an id can reach a task of the same owner.
    pub fn ids(self, ids: impl Ids) -> Self {
        self.with_engine(move |engine| engine.ids(ids))
    }

    /// How often clients should ask about any task, in place of what the tools say. Unless set, what the tool says
    /// holds, or 1,000 where it says nothing. Zero is taken for a millisecond.
    pub fn poll_ms(self, milliseconds: u64) -> Self {
        self.with_engine(move |engine| engine.poll_ms(milliseconds))
    }

    /// How often the body of a task with `restart = "rerun"` is started without coming any further before
    /// the task fails, for a body that ends its process each time: five times, unless set. An answer, a new
    /// step and an orderly end of the process are headway; a task that waits for an answer is not counted. Zero is
    /// taken for one.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with_engine(move |engine| engine.max_attempts(attempts))
    }

    /// How large a result may be, in bytes of its JSON: 16 MiB, unless set. A task with a larger one
    /// fails, as one with a larger error, step or status does, and an ordinary call is answered with an
    /// error.
    pub fn result_limit(self, bytes: usize) -> Self {
        self.with_engine(move |engine| engine.result_limit(bytes))
    }

    /// How many milliseconds bodies may go on after they were told that the server shuts down: 1,000, unless
    /// set. Shutting down takes four times this at most.
    pub fn shutdown_grace_ms(self, milliseconds: u64) -> Self {
        self.with_engine(move |engine| engine.shutdown_grace_ms(milliseconds))
    }

    /// How long a task that outlived its lifetime stays readable as failed: a minute, unless set.
    pub fn expired_retention_ms(self, milliseconds: u64) -> Self {
        self.with_engine(move |engine| engine.expired_retention_ms(milliseconds))
    }

    /// Everything else that an engine can be told: limits, roles, retention.
    pub fn engine(self, change: impl FnOnce(EngineBuilder) -> EngineBuilder + Send + 'static) -> Self {
        self.with_engine(change)
    }

    /// Whether `Mcp-Name` has to be there on the task methods. Off, since a published client leaves
    /// it out; a wrong one is refused in any case.
    pub fn require_task_name(mut self, required: bool) -> Self {
        self.require_task_name = required;
        self
    }

    /// Whether tools that ask as tasks serve also clients that do not declare that they can be asked. Such a
    /// client may never answer, so the task waits until its lifetime ends. What is asked in the answer of a call
    /// is asked of those who declare it alone.
    pub fn lenient_inputs(mut self, lenient: bool) -> Self {
        self.lenient_inputs = lenient;
        self
    }

    /// The key under which `requestState` is sealed, which clients bring back with their answers to a call that asks
    /// (S-16): at least 32 bytes that nobody can guess. Unless set, one is made at start, so that calls which ask do
    /// not go on after the next start. Processes over one store need the same key.
    pub fn request_state_key(mut self, key: impl AsRef<[u8]>) -> Self {
        self.request_state_key = Some(key.as_ref().to_vec());
        self
    }

    /// How long a call that asks without being a task waits for its client to come back with answers: ten minutes,
    /// unless set, and no longer than the tool's lifetime. Zero is taken for a millisecond.
    pub fn round_ms(self, milliseconds: u64) -> Self {
        self.with_engine(move |engine| engine.round_ms(milliseconds))
    }

    /// How many subscriptions an owner may have at a time: 1,000, unless set. Without authentication all callers are
    /// one owner.
    pub fn max_subscriptions_of_owner(mut self, subscriptions: usize) -> Self {
        self.max_subscriptions_of_owner = subscriptions;
        self
    }

    /// How many subscriptions there may be at a time: 10,000, unless set. Each holds a connection and hears of every
    /// change in the store.
    pub fn max_subscriptions(mut self, subscriptions: usize) -> Self {
        self.max_subscriptions = subscriptions;
        self
    }

    /// How long a subscription over HTTP goes on before it ends with its result and the client has to ask again, with
    /// credentials that are good then: an hour, unless set; without limit with `None`.
    pub fn max_subscription_ms(mut self, milliseconds: impl Into<Option<u64>>) -> Self {
        self.max_subscription_ms = milliseconds.into();
        self
    }

    /// How many polls an owner may make in a minute before it is time for them: earlier than `pollIntervalMs` after the
    /// last answer to a poll of that task, the first of which is never early, or of what is no task of theirs. Zero is
    /// taken for one; no limit, unless set. Over HTTP what goes beyond is refused with status 429 and `Retry-After`,
    /// and with -32603 and `retryAfterMs` in the body; on streams, where a client is its own process, everything is
    /// answered (C-40).
    ///
    /// Whoever waits between two polls as long as they were told is never refused, however many tasks they have. There
    /// are clients that begin with short waits after each answer that they give, so that a minute should have room for
    /// a dozen early polls. Without authentication all callers are one owner. The allowance is one process's, as each
    /// has its own.
    pub fn max_early_polls(mut self, per_minute: impl Into<Option<u32>>) -> Self {
        self.max_early_polls = per_minute.into();
        self
    }

    /// How long clients may keep the answers of discover and `tools/list`: 300,000, which is five minutes, unless set.
    /// With zero they are to ask each time.
    pub fn cache_ttl_ms(mut self, milliseconds: u64) -> Self {
        self.cache_ttl_ms = milliseconds;
        self
    }

    /// Builds the server and takes up the tasks that its store holds.
    ///
    /// # Errors
    ///
    /// All faults of all tools at once, that the key of states is too short or missing where several processes share
    /// the store and a tool asks, or that the store cannot be used.
    pub async fn build(self) -> Result<Server, BuildError> {
        let engine = self.engine.into_iter().fold((self.begin)(), |engine, change| change(engine));
        let mut faults = engine.faults();
        let mut mirrored = BTreeMap::new();
        for definition in engine.definitions() {
            match tools::mirrored(definition) {
                Ok(found) => {
                    for argument in found.secrets() {
                        tracing::warn!(
                            tool = definition.name(),
                            argument,
                            "a secret does not belong into a header"
                        );
                    }
                    mirrored.insert(definition.name().to_owned(), found);
                }
                Err(found) => faults.extend(found),
            }
        }
        if !faults.is_empty() {
            return Err(BuildError::of_tools(faults));
        }
        let states = states(self.request_state_key, &engine)?;
        let identity = Identity::new(self.implementation);
        let prepared = Prepared::new(&identity, self.instructions, engine.definitions(), self.cache_ttl_ms)
            .map_err(|error| {
            BuildError::with_source("the server's descriptions cannot be written", error)
        })?;
        let mark = identity.clone();
        let engine = engine.finish_results(move |result| mark.mark(result)).build().await?;
        Ok(Server {
            inner: Arc::new(Inner {
                engine,
                owner: self.owner,
                identity,
                prepared,
                rules: Rules { require_task_name: self.require_task_name, mirrored },
                lenient_inputs: self.lenient_inputs,
                states,
                ending: watch::Sender::new(false),
                places: Places::new(self.max_subscriptions_of_owner, self.max_subscriptions),
                max_subscription_ms: self.max_subscription_ms,
                polls: self.max_early_polls.map(Polls::new),
            }),
        })
    }
}

/// The seal of `requestState`.
fn states(key: Option<Vec<u8>>, engine: &EngineBuilder) -> Result<States, BuildError> {
    let key = match key {
        Some(key) => key,
        None if engine.store_is_shared() && engine.definitions().any(tools::asks_in_answer) => {
            return Err(BuildError::new(
                "a tool asks, and several processes use the store: give all of them the same `request_state_key`, or a \
                 question that one of them asked cannot be answered to another",
            ));
        }
        None => random_bytes::<MIN_KEY_BYTES>()
            .map_err(|error| BuildError::with_source("there are no random numbers", error))?
            .to_vec(),
    };
    States::with_key(&key).ok_or_else(|| {
        BuildError::new(format!("the `request_state_key` has {} bytes and needs {MIN_KEY_BYTES}", key.len()))
    })
}
