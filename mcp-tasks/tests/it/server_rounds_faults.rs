//! Calls that ask, over stores that fail, lose answers and lag.

use std::sync::Arc;

use mcp_tasks::testing::{LaggingStore, ManualClock, Verb};
use mcp_tasks::{Clock as _, MemoryStore, Server, StoreErrorKind};
use serde_json::{Value, json};

use crate::server_harness::{all_capabilities, result, until_status};
use crate::server_rounds::{
    accept, asked_for, builder, called, forms, kept, person, refused, retry, send, text_of,
};
use crate::support::{count, eventually, faulty};

/// Lets time go on until the work is done.
async fn with_time<T>(clock: &ManualClock, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    for _ in 0..100_000 {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::task::yield_now() => {}
        }
        // Deadlines far away are none that the work waits for.
        if clock.next_deadline().is_some_and(|next| next.unix_millis() - clock.now_millis() < 10_000) {
            clock.advance(10);
        }
    }
    panic!("the work does not come to its end");
}

/// P091: neither a question whose writing was not answered nor an answer is asked or given twice.
#[tokio::test]
async fn rounds_go_on_where_answers_of_the_store_are_lost() {
    for verb in [Verb::Insert, Verb::Replace, Verb::Remove] {
        let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
        let server = builder(Arc::clone(&store)).clock(Arc::clone(&clock)).build().await.unwrap();
        let counter = format!("rounds and lost {verb:?}");
        let call = json!({"name": "pair", "arguments": {"counter": counter}});
        for nth in 1..=3 {
            store.lose_answer(verb, nth, StoreErrorKind::Unavailable);
        }
        with_time(&clock, async {
            let asked = called(&server, call.clone()).await;
            asked_for(&asked);
            let both = json!({"left": person("Ann"), "right": person("Bob")});
            let mut asked = called(&server, retry(&call, &asked, both.clone())).await;
            // Both questions may not have come in one round.
            while asked["inputRequests"].get("dance").is_none() {
                asked = called(&server, retry(&call, &asked, both.clone())).await;
            }
            let yes = json!({"dance": accept(json!({"approved": true}))});
            assert_eq!(text_of(&called(&server, retry(&call, &asked, yes)).await), "Ann and Bob dance");
        })
        .await;
        assert_eq!(count(&counter), 1, "{verb:?}");
        assert_eq!(kept(&server).await, 0, "{verb:?}");
    }
}

/// A round that the store kept from its end can be sent again.
#[tokio::test]
async fn round_that_failed_can_be_repeated() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let server = builder(Arc::clone(&store)).clock(Arc::clone(&clock)).build().await.unwrap();
    let call = json!({"name": "confirm"});
    let asked = called(&server, call.clone()).await;
    let answered = retry(&call, &asked, json!({"sure": accept(json!({"approved": true}))}));
    store.fail(Verb::Load, 1, StoreErrorKind::Unavailable);
    let (status, answer) = send(&server, answered.clone(), forms()).await;
    assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32_603)), "{answer}");
    assert_eq!(text_of(&called(&server, answered).await), "sure: true");
    assert_eq!(kept(&server).await, 0);
}

/// whoever was told that no task was made can use the answers again, and one task is made in the end.
#[tokio::test]
async fn answers_of_a_task_that_was_not_made_are_not_used() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let server = builder(Arc::clone(&store)).clock(Arc::clone(&clock)).build().await.unwrap();
    let call = json!({"name": "test_tool_with_task"});
    let asked = result(&server, "tools/call", call.clone()).await;
    let answered = retry(&call, &asked, json!({"user_name": person("Alice")}));
    // It is stored, and nobody can know.
    store.lose_answer(Verb::Insert, 1, StoreErrorKind::Unavailable);
    store.fail(Verb::Load, 1, StoreErrorKind::Unavailable);
    let (_, answer) = send(&server, answered.clone(), all_capabilities()).await;
    assert_eq!(answer["error"]["code"], -32_603, "{answer}");
    with_time(&clock, async {
        while kept(&server).await > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let created = result(&server, "tools/call", answered.clone()).await;
    assert_eq!(created["resultType"], "task", "{created}");
    until_status(&server, created["taskId"].as_str().unwrap(), "completed").await;
    let (_, again) = send(&server, answered, all_capabilities()).await;
    assert!(again["error"]["message"].as_str().unwrap().contains("counts once"), "{again}");
}

async fn lagging() -> (Server, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let store = LaggingStore::new(MemoryStore::new(), Arc::clone(&clock), 50);
    (builder(store).clock(Arc::clone(&clock)).build().await.unwrap(), clock)
}

/// C-32: what was answered is not asked for again where reads lag, and a call that is over is over.
#[tokio::test]
async fn rounds_go_on_where_reads_lag() {
    let (server, clock) = lagging().await;
    let call = json!({"name": "pair", "arguments": {"counter": "rounds and lag"}});
    with_time(&clock, async {
        let asked = called(&server, call.clone()).await;
        let half = called(&server, retry(&call, &asked, json!({"left": person("Ann")}))).await;
        assert_eq!(asked_for(&half), ["right"]);
        let last = called(&server, retry(&call, &half, json!({"right": person("Bob")}))).await;
        assert_eq!(asked_for(&last), ["dance"]);
        let done = called(&server, retry(&call, &last, json!({"dance": {"action": "decline"}}))).await;
        assert_eq!(done["isError"], true);
    })
    .await;
    assert_eq!(count("rounds and lag"), 1);
    clock.advance(50);
    assert_eq!(kept(&server).await, 0);
}

/// What is left of a call whose removal failed goes by itself, and nobody gets its result twice after that.
#[tokio::test]
async fn call_whose_removal_failed_goes_by_itself() {
    let (store, clock) = (faulty(), Arc::new(ManualClock::default()));
    let builder = builder(Arc::clone(&store)).clock(Arc::clone(&clock)).round_ms(60_000);
    let server = builder.build().await.unwrap();
    let call: Value = json!({"name": "confirm"});
    let asked = called(&server, call.clone()).await;
    store.fail(Verb::Remove, 1, StoreErrorKind::Unavailable);
    let answered = retry(&call, &asked, json!({"sure": {"action": "decline"}}));
    assert_eq!(text_of(&called(&server, answered.clone()).await), "not sure");
    assert_eq!(kept(&server).await, 1);
    clock.advance(60_000);
    eventually("the removal", || store.calls(Verb::Remove) == 2).await;
    assert_eq!(kept(&server).await, 0);
    assert!(refused(&server, answered).await.contains("expired"));
}
