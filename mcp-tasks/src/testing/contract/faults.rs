//! Rules about what an engine makes of a store that fails, is slow, loses answers or changes, or is behind.
//!
//! The store under test does what it is asked; between it and the engine stands a [`FaultyStore`] or a
//! [`LaggingStore`].

use std::sync::Arc;

use mcp_tasks_types::{RawJson, RawObject, TaskId};
use serde_json::json;

use super::world::{World, done, result_of, told, yes};
use super::{Checked, at, claim_by, ensure, expect_error, load};
use crate::error::EngineErrorKind;
use crate::record::{State, StepRecord, TaskRecord};
use crate::store::{Parts, Store, StoreErrorKind};
use crate::testing::{Backend, FaultyStore, LaggingStore, Verb};

const LOST: StoreErrorKind = StoreErrorKind::Unavailable;

/// C-32: where reads are behind, and C-31: as long as the write takes.
pub(super) async fn handle_is_withheld_until_a_read_finds_the_task<B: Backend>(backend: &B) -> Checked {
    const LAG_MS: u64 = 700;
    let world = World::open(backend).await?;
    let lagging = LaggingStore::new(Arc::clone(&world.store), Arc::clone(&world.clock), LAG_MS);
    let view = Arc::new(FaultyStore::new(lagging));
    let engine = world.engine(Arc::clone(&view)).await?;
    let begin = world.now();
    let task = world.task(json!([["status", "on it"], ["ask", ""], ["step", world.name("a")]]))?;
    let created = world.within(10_000, "the handle", &[&view], engine.create(task)).await?;
    let id = told(created, "creating")?.id.clone();
    let waited = world.now() - begin;
    ensure!(waited >= 700, "the handle was given out after {waited} ms, when no read found the task");
    told(engine.get(&world.owner, &id).await, "the task that was told of")?;
    // And the task comes to its end, though what is read is always old.
    let asked = engine.wait(&world.owner, &id, |record| record.state == State::InputRequired);
    told(world.within(10_000, "the question", &[&view], asked).await?, "waiting")?;
    let answered = engine.update(&world.owner, &id, yes("go")?);
    told(world.within(10_000, "the answer", &[&view], answered).await?, "answering")?;
    let ended = engine.settled(&world.owner, &id);
    let ended = told(world.within(20_000, "the end", &[&view], ended).await?, "waiting")?;
    ensure!(result_of(&ended)? == world.name("a"), "the task ended as {ended:?}");
    ensure!(done(&world.name("a")) == 1, "the step was done {} times", done(&world.name("a")));
    // A write that takes long withholds the handle too.
    let view = world.view();
    let engine = world.engine(Arc::clone(&view)).await?;
    let held = view.hold(Verb::Insert, 1);
    let task = world.task(json!([["return", "x"]]))?;
    let (creating, owner) = (engine.clone(), world.owner.clone());
    let creating = tokio::spawn(async move { creating.create(task).await });
    held.reached().await;
    world.pass(1_000, &[&*view]).await;
    ensure!(!creating.is_finished(), "the handle was given out before the write was done");
    held.let_go();
    let created = told(creating.await.map_err(|err| err.to_string())?, "creating")?;
    told(engine.get(&owner, &created.id).await, "the task that was told of").map(drop)
}

/// C-31: no handle of a task that is not there, no task that nobody knows, and no second one under a key.
pub(super) async fn creation_whose_answer_is_lost_is_made_once<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let view = world.view();
    let engine = world.engine(Arc::clone(&view)).await?;
    let task = |name: &str| world.task(json!([["do", world.name(name)], ["return", name]]));
    // The read tells.
    view.lose_answer(Verb::Insert, 1, LOST);
    let created = told(engine.create(task("a")?).await, "a creation that was done")?;
    let ended = world.within(1_000, "the end", &[&*view], engine.settled(&world.owner, &created.id)).await?;
    ensure!(result_of(&told(ended, "waiting")?)? == "a", "the task ended otherwise");
    ensure!(done(&world.name("a")) == 1, "the body ran {} times", done(&world.name("a")));
    // The write was not done: there is no task.
    view.fail(Verb::Insert, 1, LOST);
    let failed = engine.create(task("b")?).await;
    ensure!(
        failed.as_ref().is_err_and(|err| err.kind() == EngineErrorKind::Store),
        "a creation that was not done gives {failed:?}"
    );
    // Nothing tells whether it was done: the caller hears of the failure, and nothing is left of it.
    view.lose_answer(Verb::Insert, 1, LOST);
    view.fail(Verb::Load, 1, LOST);
    view.fail(Verb::Remove, 1, LOST);
    ensure!(engine.create(task("c")?).await.is_err(), "a creation of which nothing is known succeeds");
    world.pass(120_000, &[&*view]).await;
    let left = super::told(view.inner().list(None, None, 100).await)?;
    ensure!(left.records.len() == 1, "tasks are left that nobody knows of: {:?}", left.records);
    let ran = (done(&world.name("b")), done(&world.name("c")));
    ensure!(ran == (0, 0), "bodies of tasks ran that nobody knows of: {ran:?}");
    // Under a key, the call that is made again finds it.
    let keyed = || task("d").map(|task| task.with_idempotency_key("key"));
    view.lose_answer(Verb::Insert, 1, LOST);
    view.fail(Verb::Load, 1, LOST);
    ensure!(engine.create(keyed()?).await.is_err(), "a creation of which nothing is known succeeds");
    let first = told(engine.create(keyed()?).await, "the same call again")?;
    let ended = engine.settled(&world.owner, &first.id);
    let ended = told(world.within(120_000, "the end", &[&*view], ended).await?, "waiting")?;
    let again = told(engine.create(keyed()?).await, "the same call once more")?;
    ensure!(
        (&again.id, result_of(&ended)?.as_str()) == (&first.id, "d"),
        "the task is another one: {again:?}"
    );
    ensure!(done(&world.name("d")) == 1, "the body of one call ran {} times", done(&world.name("d")));
    Ok(())
}

/// P091: it is done once, and nobody takes it for somebody else's.
pub(super) async fn write_whose_answer_is_lost_is_done_once<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let view = world.view();
    let engine = world.engine(Arc::clone(&view)).await?;
    let owner = &world.owner;
    for operation in ["status", "ask", "return"] {
        view.lose_answer(Verb::Replace, 1, LOST);
        let task = world.task(json!([[operation, "said"], ["until told", ""]]))?;
        let created = told(engine.create(task).await, "creating")?;
        let written = engine.wait(owner, &created.id, |record| record.version > created.version);
        let written = told(world.within(5_000, "the write", &[&*view], written).await?, "waiting")?;
        world.pass(5_000, &[&*view]).await;
        let after = load(&*world.store, created.id.as_str(), Parts::Head).await?;
        ensure!(after.version == written.version, "`{operation}` was written twice: {after:?}");
        match operation {
            "status" => ensure!(after.status_message.as_deref() == Some("said"), "said {after:?}"),
            "ask" => ensure!(after.outstanding().count() == 1, "asked {:?}", after.inputs),
            _ => ensure!(result_of(&after)? == "said", "ended as {after:?}"),
        }
        if operation == "return" {
            continue;
        }
        // The run is the same and goes on.
        ensure!((after.attempt, engine.running()) == (1, 1), "the run is over: {after:?}");
        view.lose_answer(Verb::Replace, 1, LOST);
        if operation == "ask" {
            let answered =
                told(engine.update(owner, &created.id, yes("go")?).await, "an answer that was written")?;
            ensure!(answered.state == State::Working, "the answer was not applied: {answered:?}");
            view.lose_answer(Verb::Replace, 1, LOST);
        }
        let cancelled = told(engine.cancel(owner, &created.id, None).await, "a wish that was written")?;
        ensure!(cancelled.cancel.is_some(), "the wish was not applied: {cancelled:?}");
        let ended = world.within(5_000, "the end", &[&*view], engine.settled(owner, &created.id)).await?;
        let ended = told(ended, "waiting")?;
        ensure!(ended.state == State::Cancelled, "ended as {ended:?}");
    }
    Ok(())
}

/// A conflict says that the record is to be read again, and nothing else.
pub(super) async fn conflict_is_decided_on_what_the_winner_wrote<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let (one, two) = (world.view(), world.view());
    let (first, second) = (world.engine(Arc::clone(&one)).await?, world.engine(Arc::clone(&two)).await?);
    let held = one.hold(Verb::Replace, 1);
    let task = world.task(json!([["status", "said"], ["ask", ""], ["until told", ""]]))?;
    let created = told(first.create(task).await, "creating")?;
    held.reached().await;
    let wish = told(second.cancel(&world.owner, &created.id, Some("enough".to_owned())).await, "cancelling")?;
    ensure!(wish.state == State::Working, "a working task was cancelled without its body: {wish:?}");
    held.let_go();
    let ended = second.settled(&world.owner, &created.id);
    let ended = told(world.within(10_000, "the end", &[&*one, &*two], ended).await?, "waiting")?;
    ensure!(ended.state == State::Cancelled, "the wish of the winner was lost: {ended:?}");
    ensure!(ended.status_message.as_deref() == Some("enough"), "the wish has another reason: {ended:?}");
    ensure!(ended.inputs.is_empty(), "a question was asked after the wish");
    Ok(())
}

/// P091: it is recorded once, and its work is not done again.
pub(super) async fn step_whose_answer_is_lost_is_recorded_once<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let view = world.view();
    let engine = world.engine(Arc::clone(&view)).await?;
    view.lose_answer(Verb::AppendStep, 1, LOST);
    view.lose_answer(Verb::AppendStep, 2, LOST);
    view.fail(Verb::Load, 1, LOST);
    let task = world.task(json!([["step", world.name("a")], ["token", ""]]))?;
    let created = told(engine.create(task).await, "creating")?;
    // Whoever waits has reads of its own.
    let other = world.view();
    let waiting = world.engine(Arc::clone(&other)).await?;
    let ended = waiting.settled(&world.owner, &created.id);
    let ended = world.within(10_000, "the end", &[&*view, &*other], ended).await?;
    ensure!(view.faults_left() == 0, "not everything was tried");
    ensure!(result_of(&told(ended, "waiting")?)? == "1", "the task was run again");
    ensure!(done(&world.name("a")) == 1, "the step was done {} times", done(&world.name("a")));
    let record = load(&*world.store, created.id.as_str(), Parts::Whole).await?;
    ensure!(record.steps.len() == 1, "the steps are {:?}", record.steps);
    Ok(())
}

/// S-37: whoever does not know that it has a task leaves it to the next one, under a new token.
pub(super) async fn claim_whose_answer_is_lost_is_made_again<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let (one, two) = (world.view(), world.view());
    let first = world.engine(Arc::clone(&one)).await?;
    let task = world.task(json!([["step", world.name("a")], ["ask", ""], ["token", ""]]))?;
    let created = told(first.create(task).await, "creating")?;
    let asked = first.wait(&world.owner, &created.id, |record| record.state == State::InputRequired);
    told(world.within(1_000, "the question", &[&*one], asked).await?, "waiting")?;
    one.die();
    let second = world.engine(Arc::clone(&two)).await?;
    two.lose_answer(Verb::Claim, 1, LOST);
    let taken = second.wait(&world.owner, &created.id, |record| record.fence == 3);
    let taken = told(world.within(120_000, "the third lease", &[&*two], taken).await?, "waiting")?;
    ensure!(taken.attempt == 3, "the attempts are not counted: {taken:?}");
    for token in [1, 2] {
        let step = StepRecord::new("late", "print", RawJson::null());
        let late = world.store.append_step(&created.id, token, step).await;
        expect_error(late, StoreErrorKind::Conflict, "a step under a lease that nobody has")?;
    }
    told(second.update(&world.owner, &created.id, yes("go")?).await, "answering")?;
    let ended = second.settled(&world.owner, &created.id);
    let ended = told(world.within(10_000, "the end", &[&*two], ended).await?, "waiting")?;
    ensure!(result_of(&ended)? == "3", "another run ended the task: {ended:?}");
    ensure!(done(&world.name("a")) == 1, "the step was done {} times", done(&world.name("a")));
    Ok(())
}

/// S-37: nobody loses a lease that was renewed.
pub(super) async fn renewal_whose_answer_is_lost_is_made_again<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let (one, two) = (world.view(), world.view());
    let (first, _second) = (world.engine(Arc::clone(&one)).await?, world.engine(Arc::clone(&two)).await?);
    let task = world.task(json!([["status", "on it"], ["until told", ""]]))?;
    let created = told(first.create(task).await, "creating")?;
    for round in 0..6 {
        if round % 2 == 0 {
            one.lose_answer(Verb::Renew, 1, LOST);
        } else {
            one.fail(Verb::Renew, 1, LOST);
        }
        world.pass(20_000, &[&*one, &*two]).await;
        let record = load(&*world.store, created.id.as_str(), Parts::Head).await?;
        ensure!((record.fence, record.attempt) == (1, 1), "the lease was lost: {record:?}");
        let until = record.lease.as_ref().map_or(0, |lease| lease.until.unix_millis());
        ensure!(until > world.now(), "the lease ran out: {record:?}");
    }
    ensure!(one.calls(Verb::Renew) >= 12, "the lease was renewed {} times", one.calls(Verb::Renew));
    let free = super::told(world.store.claim(claim_by("three", 0, 100)).await)?;
    ensure!(free.is_empty() && at(0) <= created.created_at, "a leased task was claimed");
    Ok(())
}

/// P091: the end of a run is not given up, and nobody sees it before it is written.
pub(super) async fn end_is_recorded_however_often_the_write_fails<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let view = world.view();
    let engine = world.engine(Arc::clone(&view)).await?;
    for nth in 1..=12 {
        if nth == 12 {
            view.lose_answer(Verb::Replace, nth, LOST);
        } else {
            view.fail(Verb::Replace, nth, LOST);
        }
    }
    let task = world.task(json!([["do", world.name("a")], ["token", ""]]))?;
    let created = told(engine.create(task).await, "creating")?;
    world.pass(5_000, &[&*view]).await;
    let record = told(engine.get(&world.owner, &created.id).await, "reading")?;
    ensure!(record.state == State::Working, "an end is seen that is not written: {record:?}");
    let ended = engine.settled(&world.owner, &created.id);
    let ended = told(world.within(600_000, "the end", &[&*view], ended).await?, "waiting")?;
    ensure!(
        (result_of(&ended)?.as_str(), done(&world.name("a"))) == ("1", 1),
        "the body was run again: {ended:?}"
    );
    Ok(())
}

/// What was missed is read again: the wish to cancel by the run, the news by whoever watches, free work by workers.
pub(super) async fn missed_changes_are_made_good<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let (one, two) = (world.view(), world.view());
    let views = [&*one, &*two];
    let (first, second) = (world.engine(Arc::clone(&one)).await?, world.engine(Arc::clone(&two)).await?);
    let task = world.task(json!([["status", "on it"], ["until told", ""]]))?;
    let created = told(second.create(task).await, "creating")?;
    let mut watch = second.watch(world.owner.clone(), [created.id.clone()]);
    let said = |message: Option<&str>| message == Some("on it");
    loop {
        let news = told(world.within(1_000, "the status", &views, watch.next()).await?, "watching")?;
        let news = news.ok_or("the watch came to an end")?;
        if said(news.status_message.as_deref()) {
            break;
        }
    }
    // A read that an earlier change brought about must not see the wish.
    world.pass(0, &views).await;
    two.lose_changes();
    told(first.cancel(&world.owner, &created.id, None).await, "cancelling")?;
    world.pass(5_000, &views).await;
    let record = load(&*world.store, created.id.as_str(), Parts::Head).await?;
    ensure!(record.state == State::Working, "the body heard of a wish that nobody told it: {record:?}");
    two.resume_changes();
    let ended = world.within(1_000, "the end", &views, async {
        loop {
            match watch.next().await {
                Ok(Some(news)) if !news.state.is_terminal() => {}
                other => return other,
            }
        }
    });
    let ended = told(ended.await?, "watching")?.ok_or("the watch came to an end")?;
    ensure!(ended.state == State::Cancelled, "the task ended as {ended:?}");
    // Work that came up meanwhile.
    two.lose_changes();
    one.lose_changes();
    let mut free = TaskRecord::clone(&created);
    let id = TaskId::from("tsk_free");
    free.id = id.clone();
    (free.lease, free.fence, free.attempt) = (None, 0, 0);
    let params = world.task(json!([["token", ""]]))?.arguments;
    let params =
        json!({"name": "contract", "arguments": params.get::<serde_json::Value>().unwrap_or_default()});
    free.params = RawObject::new(&params).ok();
    super::told(world.store.insert(free).await)?;
    world.pass(100, &views).await;
    two.resume_changes();
    let ended = second.settled(&world.owner, &id);
    let ended = told(world.within(1_000, "the free task's end", &views, ended).await?, "waiting")?;
    ensure!(result_of(&ended)? == "1", "the free task ended as {ended:?}");
    Ok(())
}

/// A call that hangs holds up its own task alone.
pub(super) async fn slow_call_holds_up_nobody_else<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let view = world.view();
    let engine = world.engine(Arc::clone(&view)).await?;
    let held = [view.hold(Verb::Replace, 1), view.hold_answer(Verb::AppendStep, 1)];
    let slow = [
        told(engine.create(world.task(json!([["status", "slow"], ["return", "x"]]))?).await, "creating")?,
        told(engine.create(world.task(json!([["step", world.name("slow")]]))?).await, "creating")?,
    ];
    for held in &held {
        held.reached().await;
    }
    let quick = told(engine.create(world.task(json!([["return", "quick"]]))?).await, "creating")?;
    let ended = told(engine.settled(&world.owner, &quick.id).await, "waiting")?;
    ensure!(result_of(&ended)? == "quick", "the quick task ended as {ended:?}");
    for (slow, held) in slow.iter().zip(&held) {
        let record = told(engine.get(&world.owner, &slow.id).await, "reading")?;
        ensure!(record.state == State::Working, "a task whose write hangs is {record:?}");
        held.let_go();
        told(engine.settled(&world.owner, &slow.id).await, "waiting")?;
    }
    Ok(())
}

/// S-37: also when it had nothing to do as the other one began.
pub(super) async fn idle_worker_takes_up_what_a_dead_one_began<B: Backend>(backend: &B) -> Checked {
    let world = World::open(backend).await?;
    let (one, two) = (world.view(), world.view());
    let (first, second) = (world.engine(Arc::clone(&one)).await?, world.engine(Arc::clone(&two)).await?);
    world.pass(60_000, &[&*one, &*two]).await;
    let task = world.task(json!([["step", world.name("a")], ["ask", ""], ["token", ""]]))?;
    let created = told(first.create(task).await, "creating")?;
    let asked = first.wait(&world.owner, &created.id, |record| record.state == State::InputRequired);
    told(world.within(1_000, "the question", &[&*one, &*two], asked).await?, "waiting")?;
    one.die();
    let taken = second.wait(&world.owner, &created.id, |record| record.fence == 2);
    told(world.within(120_000, "the second lease", &[&*two], taken).await?, "waiting")?;
    told(second.update(&world.owner, &created.id, yes("go")?).await, "answering")?;
    let ended = second.settled(&world.owner, &created.id);
    let ended = told(world.within(1_000, "the end", &[&*two], ended).await?, "waiting")?;
    ensure!((result_of(&ended)?.as_str(), done(&world.name("a"))) == ("2", 1), "the task ended as {ended:?}");
    Ok(())
}
