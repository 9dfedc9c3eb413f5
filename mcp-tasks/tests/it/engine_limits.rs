//! How many live tasks there may be, and how many bodies run here, however slow the store is.

use std::sync::Arc;

use mcp_tasks::testing::{FaultyStore, ManualClock, Verb};
use mcp_tasks::types::RawObject;
use mcp_tasks::{
    Engine, EngineBuilder, EngineError, EngineErrorKind, MemoryStore, NewTask, Owner, Role, Round,
    Store as _, StoreErrorKind,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{FaultyMemory, builder, count, eventually, faulty, open};

const LIMIT: usize = 5;
const MORE: usize = 4;

fn owner() -> Owner {
    Owner::new("tenant", "alice")
}

fn task(tool: &str, script: &Value) -> NewTask {
    NewTask::new(owner(), tool, RawObject::new(&json!({"script": script})).unwrap())
}

/// More creations at once than there may be tasks.
fn create_too_many(engine: &Engine) -> Vec<JoinHandle<Result<(), EngineErrorKind>>> {
    let create = |_| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let task = task("mortal", &json!([["until cancelled", ""]]));
            engine.create(task).await.map(drop).map_err(|err| err.kind())
        })
    };
    (0..LIMIT + MORE).map(create).collect()
}

async fn all(creations: Vec<JoinHandle<Result<(), EngineErrorKind>>>) -> Vec<Result<(), EngineErrorKind>> {
    let mut ends = Vec::new();
    for creation in creations {
        ends.push(creation.await.unwrap());
    }
    ends
}

fn number(ends: &[Result<(), EngineErrorKind>], end: Result<(), EngineErrorKind>) -> usize {
    ends.iter().filter(|seen| **seen == end).count()
}

async fn others_run() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

/// One limit for an owner, and one for all of them.
type Limited = fn(EngineBuilder) -> EngineBuilder;
const LIMITS: [(&str, Limited); 2] = [
    ("of an owner", |engine| engine.max_tasks_of_owner(LIMIT)),
    ("of all", |engine| engine.max_tasks(LIMIT)),
];

async fn engine(limited: Limited) -> (FaultyMemory, Engine) {
    let store = faulty();
    let engine = builder(Arc::clone(&store), &Arc::new(ManualClock::default()));
    (store, limited(engine).build().await.unwrap())
}

async fn live(store: &FaultyStore<MemoryStore>) -> usize {
    store.inner().count_live(None, 100).await.unwrap()
}

/// P095: those who come while the tasks are counted are no more than those who come one by one.
#[tokio::test]
async fn p095_slow_count_lets_no_more_through_than_there_may_be() {
    for (limit, limited) in LIMITS {
        let (store, engine) = engine(limited).await;
        let held: Vec<_> = (1..=LIMIT + MORE).map(|nth| store.hold_answer(Verb::CountLive, nth)).collect();
        let creations = create_too_many(&engine);
        others_run().await;
        held.iter().for_each(mcp_tasks::testing::Held::let_go);
        let ends = all(creations).await;
        assert_eq!(number(&ends, Ok(())), LIMIT, "{limit}: {ends:?}");
        assert_eq!(number(&ends, Err(EngineErrorKind::TooManyTasks)), MORE, "{limit}: {ends:?}");
        assert_eq!((live(&store).await, engine.running()), (LIMIT, LIMIT), "{limit}");
    }
}

/// P095: the same while tasks are being stored, before and after they can be counted; and a place that was not used is
/// somebody else's.
#[tokio::test]
async fn p095_slow_creation_lets_no_more_through_than_there_may_be() {
    for (limit, limited) in LIMITS {
        for failures in [0, 2] {
            for is_done in [false, true] {
                let (store, engine) = engine(limited).await;
                let hold = |nth| match is_done && nth > failures {
                    true => store.hold_answer(Verb::Insert, nth),
                    false => store.hold(Verb::Insert, nth),
                };
                let held: Vec<_> = (1..=LIMIT).map(hold).collect();
                (1..=failures).for_each(|nth| store.fail(Verb::Insert, nth, StoreErrorKind::Refused));
                let creations = create_too_many(&engine);
                for held in &held {
                    held.reached().await;
                }
                others_run().await;
                // Nobody is refused for what may not come.
                assert!(
                    creations.iter().all(|creation| !creation.is_finished()),
                    "{limit}, {failures}, {is_done}"
                );
                held.iter().for_each(mcp_tasks::testing::Held::let_go);
                let ends = all(creations).await;
                let what = format!("{limit}, {failures} failures, done: {is_done}: {ends:?}");
                assert_eq!(number(&ends, Err(EngineErrorKind::Store)), failures, "{what}");
                let through = LIMIT.min(LIMIT - failures + MORE);
                assert_eq!(number(&ends, Ok(())), through, "{what}");
                assert_eq!(live(&store).await, through, "{what}");
            }
        }
    }
}

/// P095: a creation of which nobody knows whether it was done has its place until the tasks are counted.
#[tokio::test]
async fn p095_creation_without_an_answer_has_its_place_until_it_is_known() {
    for (limit, limited) in LIMITS {
        let (store, engine) = engine(limited).await;
        store.lose_answer(Verb::Insert, 1, StoreErrorKind::Unavailable);
        store.fail(Verb::Load, 1, StoreErrorKind::Unavailable);
        let removal = store.hold(Verb::Remove, 1);
        let create = || engine.create(task("mortal", &json!([["until cancelled", ""]])));
        assert_eq!(create().await.unwrap_err().kind(), EngineErrorKind::Store, "{limit}");
        removal.reached().await;
        for _ in 1..LIMIT {
            create().await.unwrap();
        }
        assert_eq!(create().await.unwrap_err().kind(), EngineErrorKind::TooManyTasks, "{limit}");
        assert_eq!(live(&store).await, LIMIT, "{limit}");
        let mut changes = store.changes();
        removal.let_go();
        changes.next().await;
        if limit == "of an owner" {
            create().await.unwrap();
        }
    }
}

/// The same for calls that ask without being tasks.
#[tokio::test]
async fn p095_calls_that_ask_are_no_more_than_there_may_be() {
    for (limit, limited) in LIMITS {
        let (store, engine) = engine(limited).await;
        let held: Vec<_> = (1..=LIMIT + MORE).map(|nth| store.hold_answer(Verb::CountLive, nth)).collect();
        let calls: Vec<_> = (0..LIMIT + MORE)
            .map(|_| {
                let engine = engine.clone();
                tokio::spawn(async move {
                    let call = engine.call_in_rounds(task("rerun", &json!([["ask", "approve"]]))).await;
                    call.map(|round| assert!(matches!(round, Round::Asks(_)))).map_err(|err| err.kind())
                })
            })
            .collect();
        others_run().await;
        held.iter().for_each(mcp_tasks::testing::Held::let_go);
        let ends = all(calls).await;
        assert_eq!(number(&ends, Ok(())), LIMIT, "{limit}: {ends:?}");
        assert_eq!(number(&ends, Err(EngineErrorKind::TooManyTasks)), MORE, "{limit}: {ends:?}");
        assert_eq!(live(&store).await, LIMIT, "{limit}");
        // A call that ends without having asked leaves its place.
        let (_, engine) = self::engine(limited).await;
        for _ in 0..=LIMIT {
            engine.call_in_rounds(task("rerun", &json!([["return", "x"]]))).await.unwrap();
        }
    }
}

type Call = fn(Engine, NewTask) -> mcp_tasks::BoxFuture<'static, Result<(), EngineError>>;

/// P095: calls that are no tasks take room like the bodies of tasks, whatever the role is, and are refused where there
/// is none.
#[tokio::test]
async fn p095_no_more_calls_run_than_there_is_room_for() {
    let calls: [(&str, Call); 2] = [
        ("at once", |engine, task| Box::pin(async move { engine.call_inline(task).await.map(drop) })),
        ("in rounds", |engine, task| Box::pin(async move { engine.call_in_rounds(task).await.map(drop) })),
    ];
    for (what, call) in calls {
        for role in [Role::Both, Role::Serve] {
            let engine = builder(faulty(), &Arc::new(ManualClock::default())).role(role).max_running(2);
            let engine = engine.build().await.unwrap();
            let name = format!("no room for calls {what} {role:?}");
            let script = json!([["count", name], ["gate", name]]);
            let calls: Vec<_> =
                (0..4).map(|_| tokio::spawn(call(engine.clone(), task("rerun", &script)))).collect();
            others_run().await;
            assert_eq!((engine.running(), count(&name)), (2, 2), "{name}");
            open(&name);
            open(&name);
            let mut ends = Vec::new();
            for call in calls {
                ends.push(call.await.unwrap().map_err(|err| err.kind()));
            }
            assert_eq!(number(&ends, Err(EngineErrorKind::Busy)), 2, "{name}: {ends:?}");
            // There is room again.
            open(&name);
            call(engine.clone(), task("rerun", &script)).await.unwrap();
        }
    }
}

/// A creation that takes its time keeps its room, so that what is taken up meanwhile is not one body too many; and what
/// waited for the room gets it when the creation fails.
#[tokio::test]
async fn room_is_taken_before_anything_runs_in_it() {
    for fails in [false, true] {
        let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
        let serving = builder(Arc::clone(&store), &clock).role(Role::Serve).build().await.unwrap();
        let engine = builder(Arc::clone(&store), &clock).max_running(1).build().await.unwrap();
        let slow = store.hold(Verb::Insert, 1);
        if fails {
            store.fail(Verb::Insert, 1, StoreErrorKind::Refused);
        }
        let name = format!("room is taken, {fails}");
        let creation = tokio::spawn({
            let (engine, name) = (engine.clone(), name.clone());
            async move { engine.create(task("rerun", &json!([["count", name], ["gate", name]]))).await.map(drop) }
        });
        slow.reached().await;
        let other = format!("waits for room, {fails}");
        let waiting = serving.create(task("rerun", &json!([["count", other]]))).await.unwrap();
        others_run().await;
        assert_eq!(count(&other), 0);
        slow.let_go();
        assert_eq!(creation.await.unwrap().is_err(), fails);
        if !fails {
            others_run().await;
            assert_eq!((count(&name), count(&other)), (1, 0));
            open(&name);
        }
        engine.settled(&owner(), &waiting.id).await.unwrap();
        eventually("the body that waited", || count(&other) == 1).await;
    }
}
