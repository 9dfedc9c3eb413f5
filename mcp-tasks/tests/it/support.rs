//! What several topics need: records, an engine that stands still, and a tool that does as its arguments say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

#[cfg(any(feature = "sqlite", feature = "fs", feature = "postgres"))]
use mcp_tasks::record::ToolFingerprint;
use mcp_tasks::record::{InputState, State};
use mcp_tasks::testing::{Backend, ENGINE_RULES, FaultyStore, ManualClock, RULES, reopened, store_contract};
#[cfg(any(feature = "sqlite", feature = "fs", feature = "postgres"))]
use mcp_tasks::types::Timestamp;
use mcp_tasks::types::v2026_07_28::{CallToolResult, Implementation, ResultMetaObject};
use mcp_tasks::types::{Map, RawJson, RawObject, TaskId};
use mcp_tasks::{
    Answer, ArgumentError, BoxFuture, Engine, EngineBuilder, Input, MemoryStore, NewTask, Owner, Restart,
    SharedRecord, Store, TaskContext, TaskRecord, TaskTool, ToolCall, ToolDefinition, ToolError,
    check_arguments,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// A working task of the anonymous owner.
#[cfg(any(feature = "sqlite", feature = "fs", feature = "postgres"))]
pub(crate) fn record(id: &str) -> TaskRecord {
    let tool = ToolFingerprint::new("tool", "digest", None);
    let now = Timestamp::from_unix_millis(1_767_225_600_000);
    TaskRecord::new(id.into(), Owner::anonymous(), "tools/call", tool, now)
}

/// Says what was looked at, also where the output of tests that pass is not shown.
pub(crate) fn say(line: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout(), format!("{line}\n").as_bytes());
}

/// The store keeps the contract; says with how many rules and cases.
pub(crate) async fn keeps_the_contract<B: Backend + 'static>(store: &str, fresh: impl Fn() -> B) {
    let kept = store_contract(fresh).await.unwrap();
    // Of the two rules about processes at once and after each other, one is for this store.
    assert_eq!(kept.skipped, 1, "{kept}");
    assert_eq!(kept.rules + kept.skipped, (RULES.len() + ENGINE_RULES.len()) as u64);
    assert!(kept.cases > 2 * kept.rules, "{kept}");
    say(&format!("contract: {store}: {kept}"));
}

/// An engine on a clock that stands still, over a store that can be opened again.
pub(crate) struct Bench<S: Store = Arc<MemoryStore>> {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: S,
    pub(crate) owner: Owner,
}

/// A store in memory that fails when it is told to.
pub(crate) type FaultyMemory = Arc<FaultyStore<MemoryStore>>;

pub(crate) fn faulty() -> FaultyMemory {
    Arc::new(FaultyStore::new(MemoryStore::new()))
}

pub(crate) fn builder(store: impl Store, clock: &Arc<ManualClock>) -> EngineBuilder {
    Engine::builder(store)
        .clock(Arc::clone(clock))
        .finish_results(|result| {
            let bench = Implementation::new("bench", "1");
            result.with_meta(ResultMetaObject::new().with_server_info(bench))
        })
        .tool::<Script<true>>()
        .tool::<Script<false>>()
}

pub(crate) async fn bench() -> Bench {
    bench_over(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).await
}

pub(crate) async fn bench_over<S: Store + Clone>(store: S, clock: Arc<ManualClock>) -> Bench<S> {
    let engine = builder(store.clone(), &clock).build().await.unwrap();
    Bench { engine, clock, store, owner: Owner::new("tenant", "alice") }
}

impl Bench {
    /// What a new process finds after this one was killed. What still runs here is fenced off.
    pub(crate) async fn restarted(&self) -> Self {
        bench_over(Arc::new(reopened(&self.store)), Arc::clone(&self.clock)).await
    }
}

impl<S: Store> Bench<S> {
    pub(crate) fn task(&self, tool: &str, script: &Value) -> NewTask {
        let arguments = RawObject::new(&json!({"script": script})).unwrap();
        NewTask::new(self.owner.clone(), tool, arguments)
    }

    /// Creates a task that can be run again.
    pub(crate) async fn create(&self, script: Value) -> TaskId {
        self.engine.create(self.task("rerun", &script)).await.unwrap().id.clone()
    }

    /// Creates a task that fails when its process dies.
    pub(crate) async fn create_mortal(&self, script: Value) -> TaskId {
        self.engine.create(self.task("mortal", &script)).await.unwrap().id.clone()
    }

    pub(crate) async fn get(&self, id: &TaskId) -> SharedRecord {
        self.engine.get(&self.owner, id).await.unwrap()
    }

    pub(crate) async fn settled(&self, id: &TaskId) -> SharedRecord {
        self.engine.settled(&self.owner, id).await.unwrap()
    }

    /// Waits until as many questions are out.
    pub(crate) async fn asked(&self, id: &TaskId, count: usize) -> SharedRecord {
        let record =
            self.engine.wait(&self.owner, id, |record| record.outstanding().count() == count).await.unwrap();
        assert_eq!(record.state, State::InputRequired, "{record:?}");
        record
    }

    pub(crate) async fn said(&self, id: &TaskId, message: &str) {
        let said = |record: &TaskRecord| record.status_message.as_deref() == Some(message);
        let record = self.engine.wait(&self.owner, id, said).await.unwrap();
        assert!(said(&record), "{record:?}");
    }

    /// A body that loses interest in questions while they are being asked leaves none of them open.
    pub(crate) async fn dropped_questions_are_taken_back(&self) {
        let script = json!([
            ["drop ask", ""],
            ["drop ask", ""],
            ["drop ask", ""],
            ["status", "dropped"],
            ["until cancelled", ""]
        ]);
        let id = self.create(script).await;
        self.said(&id, "dropped").await;
        let taken_back = |record: &TaskRecord| {
            record.inputs.len() == 3 && record.inputs.iter().all(|input| input.state == InputState::Withdrawn)
        };
        let patience = std::time::Duration::from_secs(10);
        let waited = tokio::time::timeout(patience, self.engine.wait(&self.owner, &id, taken_back)).await;
        assert!(waited.is_ok(), "{:?}", self.get(&id).await.inputs);
        assert_eq!(waited.unwrap().unwrap().state, State::Working);
    }

    pub(crate) async fn update(
        &self,
        id: &TaskId,
        responses: Value,
    ) -> Result<SharedRecord, mcp_tasks::EngineError> {
        self.engine.update(&self.owner, id, answers(&responses)).await
    }

    pub(crate) async fn cancel(&self, id: &TaskId) -> SharedRecord {
        self.engine.cancel(&self.owner, id, None).await.unwrap()
    }
}

pub(crate) fn answers(responses: &Value) -> Map<RawJson> {
    let members = responses.as_object().unwrap();
    members.iter().map(|(key, response)| (key.clone(), RawJson::new(response).unwrap())).collect()
}

/// An accepted answer to `approve` and its like.
pub(crate) fn accept(approved: bool) -> Value {
    json!({"action": "accept", "content": {"approved": approved}})
}

/// The text of a completed task's first block.
pub(crate) fn text(record: &SharedRecord) -> String {
    let State::Completed { result } = &record.state else { panic!("{record:?}") };
    let result: Value = result.get().unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

pub(crate) fn outstanding(record: &TaskRecord) -> Vec<&str> {
    record.outstanding().map(|input| input.key.as_str()).collect()
}

/// Lets others run until the claim holds.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{what} does not come");
}

static GATES: Mutex<BTreeMap<String, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());
static COUNTS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// A gate that bodies wait at. Names are the tests', so that tests do not meet.
pub(crate) fn gate(name: &str) -> Arc<Semaphore> {
    Arc::clone(GATES.lock().unwrap().entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))))
}

pub(crate) fn open(name: &str) {
    gate(name).add_permits(1);
}

/// How often a body came by.
pub(crate) fn count(name: &str) -> usize {
    COUNTS.lock().unwrap().get(name).copied().unwrap_or(0)
}

pub(crate) fn pass(name: &str) -> usize {
    let mut counts = COUNTS.lock().unwrap();
    let count = counts.entry(name.to_owned()).or_insert(0);
    *count += 1;
    *count
}

/// Counts when it is dropped, as a guard in a body.
struct Guard(String);

impl Drop for Guard {
    fn drop(&mut self) {
        pass(&self.0);
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
pub(crate) struct Approval {
    approved: bool,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// Pairs of an operation and its operand.
    script: Vec<(String, String)>,
}

/// A tool that does as its arguments say; its tasks can be run again or not.
pub(crate) struct Script<const RERUN: bool>;

impl<const RERUN: bool> TaskTool for Script<RERUN> {
    const NAME: &'static str = if RERUN { "rerun" } else { "mortal" };

    fn definition() -> ToolDefinition {
        ToolDefinition::new::<Arguments, Result<String, ToolError>>(Self::NAME)
            .with_ttl_ms(900_000)
            .with_restart(if RERUN { Restart::Rerun } else { Restart::Fail })
            .with_input::<Approval>("approve", "Approve?")
            .with_input::<Approval>("other", "And the other?")
    }

    fn check(arguments: &RawObject) -> Result<(), ArgumentError> {
        check_arguments::<Arguments>(arguments)
    }

    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async move {
            let arguments: Arguments = call.arguments()?;
            let context = call.context();
            let mut log = Vec::new();
            for (operation, operand) in arguments.script {
                if let Some(end) = perform(&context, &operation, operand, &mut log).await {
                    return mcp_tasks::macro_support::finish(end);
                }
            }
            mcp_tasks::macro_support::finish(Ok::<_, ToolError>(log.join(",")))
        })
    }
}

type End = Result<String, ToolError>;

fn input(key: &str) -> Input<Approval> {
    Input::declared(match key {
        "approve" => "approve",
        "other" => "other",
        _ => "undeclared",
    })
}

fn told(answer: Answer<Approval>) -> String {
    match answer {
        Answer::Accept(approval) => approval.approved.to_string(),
        Answer::Decline => "decline".to_owned(),
        Answer::Cancel => "cancel".to_owned(),
    }
}

async fn perform(ctx: &TaskContext, operation: &str, operand: String, log: &mut Vec<String>) -> Option<End> {
    let done: End = match operation {
        "status" => ctx.status(operand).await.map(|()| String::new()).map_err(Into::into),
        "check" => ctx.checkpoint().map(|()| String::new()).map_err(Into::into),
        "count" => {
            pass(&operand);
            Ok(String::new())
        }
        // Waits for the gate and for nothing else, however loudly it is told to stop.
        "gate" => {
            gate(&operand).acquire().await.unwrap().forget();
            Ok(String::new())
        }
        // Blocks its thread until the gate opens.
        "spin" => {
            let gate = gate(&operand);
            pass(&operand);
            while gate.try_acquire().is_err() {
                std::thread::yield_now();
            }
            Ok(String::new())
        }
        "ask" => input(&operand).ask(ctx).await.map(told).map_err(Into::into),
        "ask both" => {
            let (one, other) = (input("approve"), input("other"));
            let both = tokio::try_join!(one.ask(ctx), other.ask(ctx));
            both.map(|(one, other)| format!("{} {}", told(one), told(other))).map_err(Into::into)
        }
        "ask until gate" => {
            let permit = gate(&operand);
            tokio::select! {
                answer = async { input("approve").ask(ctx).await } => answer.map(told).map_err(Into::into),
                permit = permit.acquire() => {
                    permit.unwrap().forget();
                    Ok("gate".to_owned())
                }
            }
        }
        // Loses interest while the question is being asked.
        "drop ask" => {
            let ask = input("approve");
            tokio::select! {
                biased;
                answer = ask.ask(ctx) => answer.map(told).map_err(Into::into),
                () = tokio::task::yield_now() => Ok(String::new()),
            }
        }
        "step" => {
            ctx.step(&operand, || async { Ok::<_, ToolError>(pass(&operand)) }).await.map(|n| n.to_string())
        }
        "long step" => {
            ctx.step("long", || async { Ok::<_, ToolError>("x".repeat(operand.parse().unwrap())) }).await
        }
        "text step" => ctx.step(&operand, || async { Ok::<_, ToolError>(operand.clone()) }).await,
        "number step" => {
            let number: f64 = operand.parse().unwrap();
            ctx.step(&operand, || async { Ok::<_, ToolError>(number) }).await.map(|n| n.to_string())
        }
        "until cancelled" => Err(ctx.cancelled().await.into()),
        "ignore" => {
            let interrupted = ctx.cancelled().await;
            log.push(format!("{:?}", interrupted.kind()));
            Ok(String::new())
        }
        "late status" => {
            let late = ctx.status("late").await;
            pass(&format!("{operand} {}", late.map_err(|err| err.to_string()).unwrap_err()));
            Ok(String::new())
        }
        "hold" => {
            let _guard = Guard(operand);
            std::future::pending().await
        }
        "ask within 60s" => {
            let answer = input(&operand).ask_within(ctx, std::time::Duration::from_secs(60)).await;
            answer.map(|answer| answer.map_or("nothing".to_owned(), told)).map_err(Into::into)
        }
        "poll interval" => {
            let done = ctx.set_poll_interval_ms(operand.parse().unwrap()).await;
            done.map(|()| String::new()).map_err(Into::into)
        }
        "extend ttl" => {
            ctx.extend_ttl_ms(operand.parse().unwrap()).await.map(|()| String::new()).map_err(Into::into)
        }
        "leave" => Err(ctx.leave().await.into()),
        "token" => Ok(ctx.fencing_token().to_string()),
        "id" => Ok(ctx.task_id().to_string()),
        "owner" => Ok(ctx.owner().to_string()),
        "return" => return Some(Ok(operand)),
        "tool error" => Err(ToolError::tool(operand)),
        "any error" => Err(std::io::Error::other(operand).into()),
        "protocol error" => Err(ToolError::protocol(-1234, operand)),
        "give up" => Err(ToolError::cancelled(operand)),
        "panic" => panic!("{operand}"),
        _ => unreachable!("{operation}"),
    };
    match done {
        Ok(said) => {
            if !said.is_empty() {
                log.push(said);
            }
            None
        }
        Err(err) => Some(Err(err)),
    }
}
