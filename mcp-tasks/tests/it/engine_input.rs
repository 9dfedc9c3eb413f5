//! Questions and answers.

use mcp_tasks::EngineErrorKind;
use mcp_tasks::record::State;
use serde_json::{Value, json};

use crate::support::{accept, bench, count, eventually, open, outstanding, text};

/// C-50, C-51, C-58, C-59, P078: the question is out with all it needs and nothing more; its answer is visible when
/// `update` returns.
#[tokio::test]
async fn answer_is_visible_when_update_returns() {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "approve"]])).await;
    let record = bench.asked(&id, 1).await;
    let request: Value = record.input("approve").unwrap().request.get().unwrap();
    let wanted = json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": "Approve?",
        "requestedSchema": {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]},
    }});
    assert_eq!(request, wanted);
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert!(bench.get(&id).await.outstanding().next().is_none());
    assert_eq!(text(&bench.settled(&id).await), "true");
}

/// C-61, P075: a part of the answers is taken, the rest stays asked for; the first answer to a question wins.
#[tokio::test]
async fn questions_are_answered_one_by_one() {
    let bench = bench().await;
    let id = bench.create(json!([["ask both", ""]])).await;
    let record = bench.asked(&id, 2).await;
    assert_eq!(outstanding(&record), ["approve", "other"]);
    let record = bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!((outstanding(&record), &record.state), (vec!["other"], &State::InputRequired));
    let record = bench.get(&id).await;
    assert_eq!((outstanding(&record), &record.state), (vec!["other"], &State::InputRequired));
    bench.update(&id, json!({"approve": accept(false), "other": {"action": "decline"}})).await.unwrap();
    let never_asked = json!({"third": accept(false)});
    bench.update(&id, never_asked).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "true decline");
}

/// C-60, C-65, P079: what nobody waits for changes nothing, and its value is not looked at.
#[tokio::test]
async fn unwanted_answers_are_ignored_unread() {
    let bench = bench().await;
    let id = bench
        .create(json!([["ask", "approve"], ["count", "unwanted"], ["ask", "other"], ["gate", "unwanted"]]))
        .await;
    bench.asked(&id, 1).await;
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    let before = bench.asked(&id, 1).await;
    for odd in [
        json!({}),
        json!({"zzz": {"ignored": true}}),
        json!({"approve": 5}),
        json!({"approve": accept(false)}),
    ] {
        assert_eq!(bench.update(&id, odd).await.unwrap(), before);
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!((bench.get(&id).await, count("unwanted")), (before, 1));
    bench.update(&id, json!({"other": accept(true), "zzz": null})).await.unwrap();
    let working = bench.get(&id).await;
    assert_eq!(working.state, State::Working);
    assert_eq!(bench.update(&id, json!({"other": accept(false)})).await.unwrap(), working);
    open("unwanted");
    let ended = bench.settled(&id).await;
    assert_eq!(text(&ended), "true,true", "what counts is what was asked for, when it was asked for");
    assert_eq!(bench.update(&id, json!({"other": 1})).await.unwrap(), ended);
}

/// C-64, X-52: one answer that does not fit, and none of the update is applied.
#[tokio::test]
async fn update_is_all_or_nothing() {
    let bench = bench().await;
    let id = bench.create(json!([["ask both", ""]])).await;
    let before = bench.asked(&id, 2).await;
    for bad in [
        json!({"action": "maybe"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"approved": "yes"}}),
        json!(null),
    ] {
        let error = bench.update(&id, json!({"approve": accept(true), "other": bad})).await.unwrap_err();
        assert_eq!(error.kind(), EngineErrorKind::InvalidInput);
        assert!(error.message().contains("`other`"), "{error}");
        assert_eq!(bench.get(&id).await, before);
    }
}

/// P080, X-51: turning a question down in either way reaches the body as such.
#[tokio::test]
async fn declined_and_dismissed_questions_reach_the_body() {
    let bench = bench().await;
    for action in ["decline", "cancel"] {
        let id = bench.create(json!([["ask", "approve"]])).await;
        bench.asked(&id, 1).await;
        bench.update(&id, json!({"approve": {"action": action}})).await.unwrap();
        assert_eq!(text(&bench.settled(&id).await), action);
    }
}

/// C-52, C-53: asking again uses another key.
#[tokio::test]
async fn question_asked_again_has_a_fresh_key() {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "approve"], ["ask", "approve"]])).await;
    assert_eq!(outstanding(&*bench.asked(&id, 1).await), ["approve"]);
    let answered = bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(answered.state, State::Working);
    assert_eq!(outstanding(&*bench.asked(&id, 1).await), ["approve#2"]);
    bench.update(&id, json!({"approve": accept(true), "approve#2": accept(false)})).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "true,false");
}

/// A body that stops waiting takes its question back; the next one is another.
#[tokio::test]
async fn question_nobody_waits_for_is_taken_back() {
    let bench = bench().await;
    let id = bench.create(json!([["ask until gate", "taken back"], ["ask", "approve"]])).await;
    bench.asked(&id, 1).await;
    open("taken back");
    let taken_back = |record: &mcp_tasks::TaskRecord| outstanding(record) == ["approve#2"];
    bench.engine.wait(&bench.owner, &id, taken_back).await.unwrap();
    bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    bench.update(&id, json!({"approve#2": accept(false)})).await.unwrap();
    assert_eq!(text(&bench.settled(&id).await), "gate,false");
}

/// P076: a task that waits for a person is cancelled at once, and its body is woken.
#[tokio::test]
async fn waiting_task_is_cancelled_at_once() {
    let bench = bench().await;
    let id = bench.create(json!([["ask", "approve"], ["count", "cancelled while it waited"]])).await;
    bench.asked(&id, 1).await;
    let record = bench.cancel(&id).await;
    assert_eq!((&record.state, record.outstanding().count()), (&State::Cancelled, 0));
    assert_eq!(bench.get(&id).await, record);
    eventually("the end of the run", || bench.engine.running() == 0).await;
    assert_eq!(count("cancelled while it waited"), 0);
    let late = bench.update(&id, json!({"approve": accept(true)})).await.unwrap();
    assert_eq!(late, record);
}

/// The question is withdrawn after it was asked, however early the body lost interest.
#[tokio::test]
async fn question_dropped_while_it_is_asked_is_taken_back() {
    bench().await.dropped_questions_are_taken_back().await;
}
