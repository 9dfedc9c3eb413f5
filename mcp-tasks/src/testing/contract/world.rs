//! What the rules about engines need: a clock that they drive, engines over a store in which calls fail, and a tool
//! that does as its arguments say.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use mcp_tasks_types::v2026_07_28::CallToolResult;
use mcp_tasks_types::{Map, RawJson, RawObject};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::open;
use super::run::in_time;
use crate::clock::Clock;
use crate::engine::{Engine, NewTask};
use crate::error::{ArgumentError, EngineError, ToolError};
use crate::input::{Answer, Input};
use crate::owner::Owner;
use crate::record::{SharedRecord, State};
use crate::store::Store;
use crate::testing::{Backend, FaultyStore, ManualClock};
use crate::tool::{Restart, TaskTool, ToolCall, ToolDefinition, check_arguments};
use crate::{BoxFuture, macro_support};

/// How often everybody else gets their turn before nothing more is expected of them.
const TURNS: u32 = 64;

/// How long what is on its way from outside, as news from a database, may be on its way.
const PATIENCE: Duration = Duration::from_secs(10);

/// One process's view of the store.
pub(super) type View<S> = Arc<FaultyStore<Arc<S>>>;

pub(super) struct World<S> {
    pub(super) clock: Arc<ManualClock>,
    pub(super) store: Arc<S>,
    pub(super) owner: Owner,
    /// Makes names that no other test has.
    nonce: u64,
}

impl<S: Store> World<S> {
    pub(super) async fn open<B: Backend<Store = S>>(backend: &B) -> Result<Self, String> {
        static WORLDS: AtomicU64 = AtomicU64::new(0);
        let nonce = WORLDS.fetch_add(1, Ordering::Relaxed);
        let (clock, owner) = (Arc::new(ManualClock::default()), Owner::new("tenant", "principal"));
        Ok(Self { clock, store: Arc::new(open(backend).await?), owner, nonce })
    }

    pub(super) fn view(&self) -> View<S> {
        Arc::new(FaultyStore::new(Arc::clone(&self.store)))
    }

    /// An engine in a process of its own.
    pub(super) async fn engine(&self, store: impl Store) -> Result<Engine, String> {
        let engine = Engine::builder(store).clock(Arc::clone(&self.clock)).tool::<Puppet>();
        engine.build().await.map_err(|err| format!("the engine does not start: {err:?}"))
    }

    pub(super) fn name(&self, name: &str) -> String {
        format!("{name} of {}", self.nonce)
    }

    /// A call of the tool, which does this.
    pub(super) fn task(&self, script: Value) -> Result<NewTask, String> {
        let arguments = RawObject::new(&json!({"script": script})).map_err(|err| err.to_string())?;
        Ok(NewTask::new(self.owner.clone(), Puppet::NAME, arguments))
    }

    pub(super) fn now(&self) -> i64 {
        self.clock.now_millis()
    }

    /// What comes of this within so many milliseconds, which pass as soon as nothing else happens.
    pub(super) async fn within<T, V: Store>(
        &self,
        millis: i64,
        what: &str,
        views: &[&FaultyStore<V>],
        work: impl Future<Output = T>,
    ) -> Result<T, String> {
        let end = self.now() + millis;
        let mut work = pin!(work);
        let mut turns = 0;
        loop {
            if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
                return Ok(done);
            }
            tokio::task::yield_now().await;
            let quiet = views.iter().all(|view| view.calls_under_way() == 0);
            turns = if quiet { turns + 1 } else { 0 };
            if turns < TURNS {
                continue;
            }
            match self.clock.next_deadline() {
                Some(next) if next.unix_millis() <= end => {
                    turns = 0;
                    self.clock.advance((next.unix_millis() - self.now()).unsigned_abs());
                }
                // Nothing is left that the time would bring: either it is on its way, or something else is that waits
                // for the time in its turn.
                _ => {
                    turns = 0;
                    let last = async {
                        tokio::select! {
                            biased;
                            done = &mut work => Some(done),
                            () = self.clock.sleeper_came() => None,
                        }
                    };
                    match in_time(PATIENCE, || 0, last).await {
                        Some(Some(done)) => return Ok(done),
                        Some(None) => {}
                        None => return Err(format!("{what} does not come within {millis} ms")),
                    }
                }
            }
        }
    }

    /// Lets so much time pass, and everything happen that happens meanwhile.
    pub(super) async fn pass<V: Store>(&self, millis: u64, views: &[&FaultyStore<V>]) {
        let end = self.clock.now_millis() + i64::try_from(millis).unwrap_or(i64::MAX);
        let mut turns = 0;
        loop {
            tokio::task::yield_now().await;
            let quiet = views.iter().all(|view| view.calls_under_way() == 0);
            turns = if quiet { turns + 1 } else { 0 };
            if turns < TURNS {
                continue;
            }
            turns = 0;
            let now = self.now();
            if now >= end {
                return;
            }
            let next = self.clock.next_deadline().map_or(end, |next| next.unix_millis().clamp(now, end));
            self.clock.advance((next - now).unsigned_abs());
        }
    }
}

pub(super) fn told<T>(answer: Result<T, EngineError>, what: &str) -> Result<T, String> {
    answer.map_err(|err| match std::error::Error::source(&err) {
        Some(source) => format!("{what}: {err}: {source}"),
        None => format!("{what}: {err}"),
    })
}

/// The answer yes to a question of the tool.
pub(super) fn yes(key: &str) -> Result<Map<RawJson>, String> {
    let accepted = RawJson::new(&json!({"action": "accept", "content": {"yes": true}}));
    Ok([(key.to_owned(), accepted.map_err(|err| err.to_string())?)].into_iter().collect())
}

/// The text that the task ended with.
pub(super) fn result_of(record: &SharedRecord) -> Result<String, String> {
    let State::Completed { result } = &record.state else {
        return Err(format!("the task is not completed: {record:?}"));
    };
    let result: Value = result.get().map_err(|err| err.to_string())?;
    let text = result["content"][0]["text"].as_str();
    text.map(str::to_owned).ok_or_else(|| format!("the result has no text: {result}"))
}

static DONE: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// How often bodies did what has this name.
pub(super) fn done(name: &str) -> usize {
    DONE.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or(0)
}

fn do_it(name: &str) {
    *DONE.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_insert(0) += 1;
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Pairs of an operation and its operand.
    script: Vec<(String, String)>,
}

#[derive(Deserialize, JsonSchema)]
struct Yes {
    yes: bool,
}

/// A tool that does as its arguments say, and whose tasks can be run again.
struct Puppet;

impl TaskTool for Puppet {
    const NAME: &'static str = "contract";

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Arguments, Result<String, ToolError>>(Self::NAME)
            .with_ttl_ms(900_000)
            .with_restart(Restart::Rerun)
            .with_input::<Yes>("go", "Go on?")
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        check_arguments::<Arguments>(arguments)
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async move { macro_support::finish(perform(call).await) })
    }
}

async fn perform(call: ToolCall) -> Result<String, ToolError> {
    let arguments: Arguments = call.arguments()?;
    let ctx = call.context();
    let mut said = String::new();
    for (operation, operand) in arguments.script {
        match operation.as_str() {
            "do" => do_it(&operand),
            "status" => ctx.status(operand).await?,
            "step" => {
                let work = || async {
                    do_it(&operand);
                    Ok::<_, ToolError>(operand.clone())
                };
                said = ctx.step("the step", work).await?;
            }
            "ask" => {
                let input: Input<Yes> = Input::declared("go");
                said = match input.ask(&ctx).await? {
                    Answer::Accept(Yes { yes }) => yes.to_string(),
                    Answer::Decline | Answer::Cancel => "no".to_owned(),
                };
            }
            "token" => said = ctx.fencing_token().to_string(),
            "until told" => return Err(ctx.cancelled().await.into()),
            _ => return Ok(operand),
        }
    }
    Ok(said)
}
