//! Random events through engines over every store: what is recorded is what the pure lifecycle makes of them.
//!
//! 24 sequences a store, the same each time; `MCP_TASKS_SEQUENCES` asks for another number. A failure is shrunk.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_tasks::lifecycle::{Event, Outcome, apply};
use mcp_tasks::record::{ErrorRecord, InputRecord, InputState, State, StepRecord};
use mcp_tasks::store::Parts;
use mcp_tasks::testing::{Backend, CountingIds, ManualClock};
use mcp_tasks::types::v2026_07_28::CallToolResult;
use mcp_tasks::types::{RawJson, RawObject, TaskId, Timestamp};
use mcp_tasks::{
    ArgumentError, BoxFuture, Clock, Engine, EngineErrorKind, Ids, Input, NewTask, Owner, Restart, Store,
    TaskRecord, TaskTool, ToolCall, ToolDefinition, ToolError, check_arguments,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::processes::{Processes, View};
use crate::support::{accept, answers, say};

/// How long what has to come may take on a busy machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

const TTL_MS: u64 = 60_000;
const RETAIN_MS: u64 = 20_000;
const TOMBSTONE_MS: u64 = 20_000;
const LEASE_MS: u64 = 30_000;

#[derive(Deserialize, schemars::JsonSchema)]
struct Approval {
    #[expect(dead_code, reason = "that it is there is enough")]
    approved: bool,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// What the body does, in order.
    script: Vec<String>,
}

/// A tool in two versions, whose tasks can be run again or not.
struct Actor<const RERUN: bool, const NEW: bool>;

impl<const RERUN: bool, const NEW: bool> TaskTool for Actor<RERUN, NEW> {
    const NAME: &'static str = if RERUN { "again" } else { "once" };

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Arguments, Result<String, ToolError>>(Self::NAME)
            .with_ttl_ms(TTL_MS)
            .with_version(if NEW { "2" } else { "1" })
            .with_restart(if RERUN { Restart::Rerun } else { Restart::Fail })
            .with_input::<Approval>("approve", "Approve?")
            .with_input::<Approval>("other", "And the other?")
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        check_arguments::<Arguments>(arguments)
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async move { mcp_tasks::macro_support::finish(act(call).await) })
    }
}

async fn act(call: ToolCall) -> Result<String, ToolError> {
    let arguments: Arguments = call.arguments()?;
    let ctx = call.context();
    for operation in arguments.script {
        match operation.as_str() {
            "ask" | "ask other" => {
                let key = if operation == "ask" { "approve" } else { "other" };
                Input::<Approval>::declared(key).ask(&ctx).await?;
            }
            "step" => drop(ctx.step("step", || async { Ok::<_, ToolError>("done".to_owned()) }).await?),
            "status" => ctx.status("said").await?,
            "wait" => return Err(ctx.cancelled().await.into()),
            "panic" => panic!("as planned"),
            "refuse" => return Err(ToolError::protocol(-1, "refused")),
            "give up" => return Err(ToolError::cancelled("given up")),
            _ => unreachable!("{operation}"),
        }
    }
    Ok("done".to_owned())
}

#[derive(Clone, Debug)]
enum Happening {
    Create { worker: usize, again: bool, script: Vec<&'static str> },
    Answer { worker: usize, task: usize, other: bool },
    Cancel { worker: usize, task: usize },
    Pass(u64),
    Crash(usize),
    Start(usize),
    Upgrade,
    Reopen,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let operation = prop::sample::select(vec![
        "ask",
        "ask other",
        "step",
        "step",
        "status",
        "wait",
        "panic",
        "refuse",
        "give up",
    ]);
    let worker = 0..2_usize;
    let happening = prop_oneof![
        5 => (worker.clone(), prop::bool::weighted(0.8), prop::collection::vec(operation, 0..6))
            .prop_map(|(worker, again, script)| Happening::Create { worker, again, script }),
        5 => (worker.clone(), 0..8_usize, any::<bool>())
            .prop_map(|(worker, task, other)| Happening::Answer { worker, task, other }),
        2 => (worker.clone(), 0..8_usize).prop_map(|(worker, task)| Happening::Cancel { worker, task }),
        3 => (1..16_u64).prop_map(|seconds| Happening::Pass(seconds * 1_000)),
        2 => worker.clone().prop_map(Happening::Crash),
        3 => worker.prop_map(Happening::Start),
        1 => Just(Happening::Upgrade),
        1 => Just(Happening::Reopen),
    ];
    prop::collection::vec(happening, 1..40)
}

/// What the lifecycle says that there is.
struct Task {
    record: TaskRecord,
    script: Vec<&'static str>,
    again: bool,
    new: bool,
    /// Which process runs its body.
    worker: Option<usize>,
    removed: bool,
}

fn millis(now: i64) -> Timestamp {
    Timestamp::from_unix_millis(now)
}

fn failed(message: &str) -> Outcome {
    Outcome::Failed { error: ErrorRecord::new(-32_603, message), message: message.to_owned() }
}

impl Task {
    /// The event happens, unless it cannot.
    fn happens(&mut self, event: Event, now: i64) {
        if let Ok(next) = apply(&self.record, event, &millis(now)) {
            self.record = next;
        }
        if self.record.lease.is_none() {
            self.worker = None;
        }
    }

    fn token(&self) -> u64 {
        self.record.lease.as_ref().map_or(0, |lease| lease.token)
    }

    /// The body runs, from the top, up to where it waits.
    fn runs(&mut self, now: i64) {
        let token = self.token();
        let mut steps_ahead = self.record.steps.len();
        let mut keys_ahead: Vec<String> = self.record.inputs.iter().map(|input| input.key.clone()).collect();
        let (mut past, mut asked, mut steps) = (false, BTreeMap::new(), 0);
        for operation in self.script.clone() {
            match operation {
                "ask" | "ask other" => {
                    let declared = if operation == "ask" { "approve" } else { "other" };
                    let count = asked.entry(declared).or_insert(0);
                    *count += 1;
                    let key = if *count == 1 { declared.to_owned() } else { format!("{declared}#{count}") };
                    let ahead = keys_ahead.iter().position(|known| *known == key);
                    match ahead {
                        Some(place) => drop(keys_ahead.remove(place)),
                        None => past = true,
                    }
                    if self.record.input(&key).is_none() {
                        let input = InputRecord::new(&key, RawJson::null(), "");
                        self.happens(Event::Ask { token, inputs: vec![input] }, now);
                    }
                    let state = self.record.input(&key).map(|input| &input.state);
                    if !matches!(state, Some(InputState::Answered { .. })) {
                        return;
                    }
                }
                "step" => {
                    steps += 1;
                    if steps_ahead > 0 {
                        steps_ahead -= 1;
                        continue;
                    }
                    past = true;
                    let name = if steps == 1 { "step".to_owned() } else { format!("step#{steps}") };
                    let value = RawJson::new(&"done").unwrap();
                    self.record.steps.push(StepRecord::new(name, std::any::type_name::<String>(), value));
                }
                "status" if !past && (steps_ahead > 0 || !keys_ahead.is_empty()) => {}
                "status" => self.happens(Event::Status { token, message: "said".to_owned() }, now),
                "wait" => return,
                "panic" => return self.ends(failed("the tool failed unexpectedly"), now),
                "refuse" => {
                    let (error, message) = (ErrorRecord::new(-1, "refused"), "refused".to_owned());
                    return self.ends(Outcome::Failed { error, message }, now);
                }
                _ => return self.ends(Outcome::Cancelled { message: "given up".to_owned() }, now),
            }
        }
        self.ends(Outcome::Completed { result: RawObject::empty() }, now);
    }

    fn ends(&mut self, outcome: Outcome, now: i64) {
        let token = self.token();
        self.happens(Event::Finish { token, outcome }, now);
    }

    /// A worker takes it up if nobody works on it.
    fn is_taken_up(&mut self, worker: usize, new: bool, now: i64) {
        if self.record.claimable_millis().is_none_or(|free| free > now) {
            return;
        }
        let until = millis(now + i64::try_from(LEASE_MS).unwrap());
        self.happens(Event::Claim { worker: String::new(), until }, now);
        self.worker = Some(worker);
        let (record, token) = (&self.record, self.token());
        let has_new_steps = record.steps.len() > record.headway.steps;
        if record.is_over(now) {
            self.happens(Event::Expire { retain_ms: RETAIN_MS }, now);
        } else if record.cancel.is_some() {
            self.happens(Event::Release { token }, now);
        } else if !self.again {
            self.ends(failed("interrupted"), now);
        } else if new != self.new {
            self.ends(failed("another version"), now);
        } else if record.state == State::Working && !has_new_steps && record.attempts_without_headway() > 5 {
            self.ends(failed("attempts"), now);
        } else {
            if has_new_steps {
                let steps = record.steps.len();
                self.happens(Event::Headway { token, steps }, now);
            }
            self.runs(now);
        }
    }

    /// What happens by itself at this time.
    fn grows_old(&mut self, now: i64) {
        while !self.removed && self.record.is_due(now) {
            if !self.record.state.is_terminal() {
                self.happens(Event::Expire { retain_ms: RETAIN_MS }, now);
            } else if self.record.forgotten_at.is_none() {
                self.record = self.record.tombstone(millis(now + i64::try_from(TOMBSTONE_MS).unwrap()));
            } else {
                self.removed = true;
            }
        }
    }
}

/// What has to be equal: all but the words of failures, times, versions and payloads.
fn seen(record: &TaskRecord) -> String {
    let inputs = record.inputs.iter().map(|input| match &input.state {
        InputState::Answered { .. } => (input.key.clone(), "answered"),
        InputState::Outstanding => (input.key.clone(), "outstanding"),
        InputState::Withdrawn => (input.key.clone(), "withdrawn"),
        _ => (input.key.clone(), "other"),
    });
    let said = match &record.state {
        State::Failed { error } => format!("{}", error.code),
        _ => format!("{:?}", record.status_message),
    };
    let steps: Vec<_> = record.steps.iter().map(|step| (&step.name, step.value.as_str())).collect();
    format!(
        "{} {said} {:?} {steps:?} cancel {} leased {} fence {} attempt {} {:?} parked {:?} forgotten {}",
        record.state.name(),
        inputs.collect::<Vec<_>>(),
        record.cancel.is_some(),
        record.lease.is_some(),
        record.fence,
        record.attempt,
        record.headway,
        record.parked,
        record.forgotten_at.is_some(),
    )
}

/// Ids of tasks that count up, and a worker that is known by its name.
struct Named {
    worker: String,
    ids: Arc<CountingIds>,
}

impl Ids for Named {
    fn task_id(&self) -> std::io::Result<TaskId> {
        self.ids.task_id()
    }

    fn worker_id(&self) -> std::io::Result<String> {
        Ok(self.worker.clone())
    }
}

struct World<'b, B: Backend> {
    backend: &'b B,
    processes: Processes<B::Store>,
    workers: [Option<(Engine, View<B::Store>)>; 2],
    new: bool,
    owner: Owner,
    tasks: Vec<Task>,
    ids: Arc<CountingIds>,
    /// How many workers there were.
    started: usize,
}

impl<B: Backend> World<'_, B> {
    fn now(&self) -> i64 {
        self.processes.clock.now_millis()
    }

    async fn start(&mut self, worker: usize) {
        if self.workers[worker].is_some() {
            return;
        }
        let view = self.processes.view();
        self.started += 1;
        // Which of the two it is can be read off its name.
        let ids = Named { worker: format!("{worker} {}", self.started), ids: Arc::clone(&self.ids) };
        let engine = Engine::builder(Arc::clone(&view))
            .clock(Arc::clone(&self.processes.clock))
            .ids(ids)
            .lease_ms(LEASE_MS)
            .expired_retention_ms(RETAIN_MS)
            .tombstone_ms(TOMBSTONE_MS);
        let engine = if self.new {
            engine.tool::<Actor<true, true>>().tool::<Actor<false, true>>()
        } else {
            engine.tool::<Actor<true, false>>().tool::<Actor<false, false>>()
        };
        self.workers[worker] = Some((engine.build().await.unwrap(), view));
        let (now, new) = (self.now(), self.new);
        for task in self.tasks.iter_mut().filter(|task| !task.removed) {
            task.is_taken_up(worker, new, now);
            task.grows_old(now);
        }
    }

    fn crash(&mut self, worker: usize) {
        let Some((_, view)) = self.workers[worker].take() else { return };
        view.die();
        for task in self.tasks.iter_mut().filter(|task| task.worker == Some(worker)) {
            task.worker = None;
        }
    }

    /// The times of leases are the store's to tell.
    async fn learn_leases(&mut self) {
        for task in self.tasks.iter_mut().filter(|task| task.record.lease.is_some()) {
            let stored = self.processes.store.load(&task.record.id, Parts::Head).await.unwrap();
            let Some(stored) = stored else { continue };
            task.record.lease.clone_from(&stored.lease);
            let name = task.record.lease.as_ref().map_or("", |lease| lease.worker.as_str());
            if task.worker.is_some() {
                // Of two that could take it up, the store tells which one did.
                task.worker = name.split(' ').next().and_then(|worker| worker.parse().ok());
            }
        }
    }

    async fn happens(&mut self, happening: &Happening) {
        let now = self.now();
        match happening {
            Happening::Create { worker, again, script } => {
                let Some((engine, _)) = &self.workers[*worker] else { return };
                let arguments = RawObject::new(&json!({"script": script})).unwrap();
                let tool = if *again { "again" } else { "once" };
                let created = engine.create(NewTask::new(self.owner.clone(), tool, arguments)).await.unwrap();
                let (again, new, worker) = (*again, self.new, Some(*worker));
                let record = TaskRecord::clone(&created);
                let mut task = Task { record, script: script.clone(), again, new, worker, removed: false };
                task.runs(now);
                self.tasks.push(task);
            }
            Happening::Answer { worker, task, other } => {
                let (Some((engine, _)), Some(task)) = (&self.workers[*worker], self.tasks.get_mut(*task))
                else {
                    return;
                };
                let declared = if *other { "other" } else { "approve" };
                let key = task.record.outstanding().find(|input| input.key.starts_with(declared));
                let key = key.map_or(declared.to_owned(), |input| input.key.clone());
                let response: Value = json!({&key: accept(true)});
                let answered = engine.update(&self.owner, &task.record.id, answers(&response)).await;
                if task.removed || task.record.forgotten_at.is_some() {
                    return assert!(answered.is_err());
                }
                answered.unwrap();
                let before = task.record.version;
                task.happens(Event::Answer { responses: vec![(key, RawJson::null())] }, now);
                if task.record.version > before && task.worker.is_some() {
                    task.runs(now);
                }
            }
            Happening::Cancel { worker, task } => {
                let (Some((engine, _)), Some(task)) = (&self.workers[*worker], self.tasks.get_mut(*task))
                else {
                    return;
                };
                let cancelled = engine.cancel(&self.owner, &task.record.id, None).await;
                if task.removed || task.record.forgotten_at.is_some() {
                    return assert!(cancelled.is_err());
                }
                cancelled.unwrap();
                task.happens(Event::Cancel { reason: None }, now);
                if task.worker.is_some() {
                    let message = "The task was cancelled.".to_owned();
                    task.ends(Outcome::Cancelled { message }, now);
                }
            }
            Happening::Pass(millis) => self.pass(*millis).await,
            Happening::Crash(worker) => self.crash(*worker),
            Happening::Start(worker) => self.start(*worker).await,
            Happening::Upgrade => {
                self.crash(0);
                self.crash(1);
                self.new = !self.new;
                self.start(0).await;
            }
            Happening::Reopen => {
                self.crash(0);
                self.crash(1);
                // In a place that several processes share, the leases of dead ones run out.
                self.processes.pass(LEASE_MS).await;
                let clock = Arc::clone(&self.processes.clock);
                self.processes.store.close().await;
                let store = self.backend.open().await.unwrap();
                self.processes = Processes::new(store, clock);
                for task in &mut self.tasks {
                    task.record.lease = None;
                }
                self.start(0).await;
            }
        }
    }

    /// Second by second, so that what happens in one of them is known.
    async fn pass(&mut self, millis: u64) {
        for _ in 0..millis / 1_000 {
            self.processes.pass(1_000).await;
            let now = self.now();
            let Some(worker) = self.workers.iter().position(Option::is_some) else { continue };
            for task in self.tasks.iter_mut().filter(|task| !task.removed) {
                task.grows_old(now);
                if task.worker.is_none() && !task.removed {
                    task.is_taken_up(worker, self.new, now);
                }
            }
            self.learn_leases().await;
        }
    }

    async fn check(&self, after: &Happening) -> Result<(), TestCaseError> {
        for task in &self.tasks {
            let id: &TaskId = &task.record.id;
            let mut found = String::new();
            let wanted = if task.removed { "removed".to_owned() } else { seen(&task.record) };
            // Stores on disk, and news from a database, take their time, which no clock of ours tells.
            let coming = async {
                while found != wanted {
                    self.processes.settle().await;
                    let stored = self.processes.store.load(id, Parts::Whole).await.unwrap();
                    found = stored.map_or("removed".to_owned(), |record| seen(&record));
                }
            };
            // What has not come by then is told below.
            let _ = tokio::time::timeout(PATIENCE, coming).await;
            prop_assert_eq!(&found, &wanted, "{} after {:?}", id, after);
            let Some((engine, _)) = self.workers.iter().flatten().next() else { continue };
            let stranger = engine.get(&Owner::new("tenant", "mallory"), id).await.unwrap_err();
            prop_assert_eq!(stranger.kind(), EngineErrorKind::TaskNotFound);
        }
        Ok(())
    }
}

async fn follow<B: Backend>(backend: &B, happenings: &[Happening]) -> Result<(), TestCaseError> {
    let processes = Processes::new(backend.open().await.unwrap(), Arc::new(ManualClock::default()));
    let (owner, tasks) = (Owner::new("tenant", "alice"), Vec::new());
    let ids = Arc::default();
    let mut world =
        World { backend, processes, workers: [None, None], new: false, owner, tasks, ids, started: 0 };
    world.start(0).await;
    for happening in happenings {
        world.happens(happening).await;
        world.check(happening).await?;
        world.learn_leases().await;
    }
    Ok(())
}

fn engines_follow_the_lifecycle<B: Backend>(store: &str, fresh: impl Fn() -> B) {
    let cases = std::env::var("MCP_TASKS_SEQUENCES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let events = std::cell::Cell::new(0);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let result = runner.run(&happenings(), |happenings| {
        events.set(events.get() + happenings.len());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(follow(&fresh(), &happenings))
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    say(&format!("model: {store}: {cases} sequences, {} events", events.get()));
}

#[test]
fn engines_over_memory_follow_the_lifecycle() {
    engines_follow_the_lifecycle("memory", crate::store::fresh);
}

#[cfg(feature = "sqlite")]
#[test]
fn engines_over_sqlite_follow_the_lifecycle() {
    engines_follow_the_lifecycle("SQLite", crate::sqlite::fresh);
}

#[cfg(feature = "fs")]
#[test]
fn engines_over_fs_follow_the_lifecycle() {
    engines_follow_the_lifecycle("fs", crate::fs::fresh);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn engines_over_postgres_follow_the_lifecycle() {
    if crate::postgres::is_there() {
        engines_follow_the_lifecycle("PostgreSQL", crate::postgres::fresh);
    }
}
