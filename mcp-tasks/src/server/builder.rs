//! Putting a server together, with all mistakes told at once.

use std::{collections::BTreeMap, fmt, sync::Arc};

use mcp_tasks_types::v2026_07_28::Implementation;

use super::{Inner, Server, admission::Rules, discover::Prepared, identity::Identity, tools};
use crate::{
    clock::{Clock, Ids},
    engine::{Engine, EngineBuilder},
    error::BuildError,
    owner::Owner,
    store::{MemoryStore, Store},
    tool::{TaskTool, ToolDefinition},
};

/// How long clients may keep the answers of discover and `tools/list`: five minutes.
const CACHE_TTL_MS: u64 = 300_000;

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
    tools: Vec<ToolDefinition>,
    first_status: BTreeMap<String, String>,
    poll_ms: Option<u64>,
    require_task_name: bool,
    lenient_inputs: bool,
    cache_ttl_ms: u64,
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServerBuilder")
            .field("implementation", &self.implementation)
            .field("tools", &self.tools)
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
            tools: Vec::new(),
            first_status: BTreeMap::new(),
            poll_ms: None,
            require_task_name: false,
            lenient_inputs: false,
            cache_ttl_ms: CACHE_TTL_MS,
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
    pub fn tool<T: TaskTool>(mut self) -> Self {
        self.tools.push(T::definition());
        self.with_engine(EngineBuilder::tool::<T>)
    }

    /// Whose tasks all requests are about, as long as nobody is authenticated.
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// Adds a tool whose tasks say something about where they stand before their body does, so that
    /// already the answer that hands the task over has it (S-06).
    pub fn tool_with_status<T: TaskTool>(mut self, message: impl Into<String>) -> Self {
        self.first_status.insert(T::NAME.to_owned(), message.into());
        self.tool::<T>()
    }

    /// Where the time comes from.
    pub fn clock(self, clock: impl Clock) -> Self {
        self.with_engine(move |engine| engine.clock(clock))
    }

    /// Where task ids come from. Whoever can guess an id can reach a task of the same owner.
    pub fn ids(self, ids: impl Ids) -> Self {
        self.with_engine(move |engine| engine.ids(ids))
    }

    /// How often clients should ask about any task, in place of what the tools say.
    pub fn poll_ms(mut self, milliseconds: u64) -> Self {
        self.poll_ms = Some(milliseconds.max(1));
        self
    }

    /// Whether `Mcp-Name` has to be there on the task methods. Off, since a published client leaves
    /// it out; a wrong one is refused in any case.
    pub fn require_task_name(mut self, required: bool) -> Self {
        self.require_task_name = required;
        self
    }

    /// Whether tools that ask serve also clients that do not declare that they can be asked. Such a
    /// client may never answer, so the tool waits until its lifetime ends.
    pub fn lenient_inputs(mut self, lenient: bool) -> Self {
        self.lenient_inputs = lenient;
        self
    }

    /// How long clients may keep the answers of discover and `tools/list`.
    pub fn cache_ttl_ms(mut self, milliseconds: u64) -> Self {
        self.cache_ttl_ms = milliseconds;
        self
    }

    /// Builds the server and takes up the tasks that its store holds.
    ///
    /// # Errors
    ///
    /// All faults of all tools at once, or that the store cannot be used.
    pub async fn build(self) -> Result<Server, BuildError> {
        let faults = tools::faults(&self.tools);
        if !faults.is_empty() {
            return Err(BuildError::of_tools(faults));
        }
        let mirrored = self.tools.iter().filter_map(tools::mirrored).collect();
        let rules = Rules { require_task_name: self.require_task_name, mirrored };
        let identity = Identity::new(self.implementation.clone());
        let prepared = Prepared::new(&identity, self.instructions, &self.tools, self.cache_ttl_ms)
            .map_err(|error| BuildError::with_source("the server's descriptions cannot be written", error))?;
        let begun = (self.begin)().identity(self.implementation);
        let engine = self.engine.into_iter().fold(begun, |engine, change| change(engine)).build().await?;
        Ok(Server {
            inner: Arc::new(Inner {
                engine,
                owner: self.owner,
                identity,
                prepared,
                first_status: self.first_status,
                poll_ms: self.poll_ms,
                rules,
                lenient_inputs: self.lenient_inputs,
            }),
        })
    }
}
