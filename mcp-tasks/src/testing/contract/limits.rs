//! Rules about what is large, strange or late: sizes, keys, ids from outside, listeners that sleep, deadlines of
//! questions.

use std::sync::Arc;

use mcp_tasks_types::{RawJson, TaskId};

use super::{
    Checked, at, claim_by, ensure, expect_equal, expect_error, full, load, object, open, raw, record, told,
    write,
};
use crate::lifecycle::{Event, Outcome};
use crate::owner::Owner;
use crate::record::{InputRecord, Lease, StepRecord, TaskRecord};
use crate::store::{Change, Changes, Claim, MAX_KEY_BYTES, Parts, Store, StoreErrorKind};
use crate::testing::Backend;

async fn expect_told(changes: &mut Changes, id: &str, claimable: bool, what: &str) -> Checked {
    let change = changes.next().await;
    // A backend may know no more than that something changed.
    let right = match &change {
        Some(Change::Written { id: written, claimable: told, .. }) => {
            written.as_str() == id && *told == claimable
        }
        Some(Change::Resync) => true,
        _ => false,
    };
    ensure!(right, "{what}: told {change:?}");
    Ok(())
}

/// P153: whoever waits for work hears when there is some, and is not woken when there is none.
pub(super) async fn freed_task_is_told_as_claimable<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let mut changes = store.changes();
    let lease = Some(Lease::new("one", at(100), 1));
    let leased = told(store.insert(TaskRecord { lease, fence: 1, attempt: 1, ..record("tsk_1") }).await)?;
    expect_told(&mut changes, "tsk_1", false, "a leased task was inserted").await?;
    write(&store, &leased, Event::Release { token: 1 }, 1).await?;
    expect_told(&mut changes, "tsk_1", true, "a lease was given back").await?;
    let claimed = told(store.claim(claim_by("two", 1, 100)).await)?.pop().ok_or("nothing was claimed")?;
    expect_told(&mut changes, "tsk_1", false, "the task was claimed").await?;
    let question = InputRecord::new("a", raw(r#"{"method":"roots/list"}"#)?, "print");
    let asked = write(&store, &claimed, Event::Ask { token: 2, inputs: vec![question] }, 2).await?;
    expect_told(&mut changes, "tsk_1", false, "the task asked").await?;
    let parked = write(&store, &asked, Event::Park { token: 2 }, 3).await?;
    expect_told(&mut changes, "tsk_1", false, "the task was parked").await?;
    write(&store, &parked, Event::Answer { responses: vec![("a".to_owned(), raw("{}")?)] }, 4).await?;
    expect_told(&mut changes, "tsk_1", true, "the parked task was answered").await
}

/// A listener hears every change or that it missed some.
pub(super) async fn listener_that_fell_behind_is_told<B: Backend>(backend: &B) -> Checked {
    const TASKS: usize = 64;
    const ROUNDS: i64 = 20;
    let store = Arc::new(open(backend).await?);
    let inserts = (0..TASKS).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { told(store.insert(record(&format!("tsk_{number}"))).await).map(drop) })
    });
    for insert in inserts.collect::<Vec<_>>() {
        insert.await.map_err(|err| err.to_string())??;
    }
    let mut changes = store.changes();
    for round in 0..ROUNDS {
        let claim = Claim { limit: TASKS, ..claim_by("one", round * 10, round * 10 + 10) };
        let claimed = told(store.claim(claim).await)?;
        ensure!(claimed.len() == TASKS, "{} tasks were claimed instead of {TASKS}", claimed.len());
    }
    told(store.insert(record("tsk_last")).await)?;
    let mut heard = 0;
    loop {
        match changes.next().await {
            Some(Change::Resync) => return Ok(()),
            Some(Change::Written { id, .. }) if id.as_str() == "tsk_last" => break,
            Some(_) => heard += 1,
            None => return Err("the changes came to an end".to_owned()),
        }
    }
    let wanted = TASKS * usize::try_from(ROUNDS).unwrap_or(usize::MAX);
    ensure!(heard == wanted, "{heard} changes of {wanted} were told, and nothing of those that were missed");
    Ok(())
}

/// P153: a question that is waited for until some time is due then, and not when it has its answer.
pub(super) async fn question_is_due_in_its_time<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(TaskRecord { ttl_ms: Some(5_000), ..record("tsk_1") }).await)?;
    let claimed = told(store.claim(claim_by("one", 0, 10_000)).await)?.pop().ok_or("nothing was claimed")?;
    let due = async |now: i64, ids: &[&str], next: Option<i64>, what: &str| {
        let due = told(store.due(&at(now), 10).await)?;
        let found: Vec<&str> = due.ids.iter().map(TaskId::as_str).collect();
        ensure!(found == ids && due.next == next.map(at), "{what}: {due:?}");
        Ok::<(), String>(())
    };
    due(0, &[], Some(5_000), "nothing was asked").await?;
    let question = |key: &str, until: Option<i64>| {
        let mut input = InputRecord::new(key, raw(r#"{"method":"roots/list"}"#)?, "print");
        input.expires_at = until.map(at);
        Ok::<_, String>(input)
    };
    let inputs = vec![question("a", Some(300))?, question("b", Some(200))?, question("c", None)?];
    let asked = write(&store, &claimed, Event::Ask { token: 1, inputs }, 1).await?;
    due(199, &[], Some(200), "three questions").await?;
    due(200, &["tsk_1"], None, "the first one's time is over").await?;
    let answer = |key: &str| Event::Answer {
        responses: vec![(key.to_owned(), raw("{}").unwrap_or_else(|_| RawJson::null()))],
    };
    let answered = write(&store, &asked, answer("b"), 210).await?;
    due(210, &[], Some(300), "the first one is answered").await?;
    let given_up = write(&store, &answered, Event::GiveUpWaiting, 300).await?;
    due(300, &[], Some(5_000), "nobody waits for the second one any more").await?;
    let outcome = Outcome::Cancelled { message: String::new() };
    write(&store, &given_up, Event::Finish { token: 1, outcome }, 310).await?;
    due(310, &[], Some(5_000), "the task has ended").await
}

/// What a client asks for is any text, and none of it is an error of the store.
pub(super) async fn unknown_id_is_not_found_whatever_it_is<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    let long = "x".repeat(100_000);
    for text in
        ["", "\0", "tsk_1\0", "TSK_1", "tsk_1 ", "../tsk_1", "'; --", "%", "_", "\u{feff}tsk_1", &long]
    {
        let shown: String = text.chars().take(20).collect();
        let id = TaskId::from(text);
        let found = told(store.load(&id, Parts::Whole).await).map_err(|err| format!("{shown:?}: {err}"))?;
        ensure!(found.is_none(), "`{shown:?}` is found");
        let found = told(store.find_call(text).await).map_err(|err| format!("call {shown:?}: {err}"))?;
        ensure!(found.is_none(), "the call `{shown:?}` is found");
        let renewed = told(store.renew("one", &[id], &at(10)).await)?;
        ensure!(renewed == 0, "a lease of `{shown:?}` was renewed");
    }
    expect_equal(&*load(&store, "tsk_1", Parts::Whole).await?, &record("tsk_1"))
}

/// What the engine lets through by default is kept whole: a result of 16 MiB and whatever else the record holds.
pub(super) async fn large_record_is_kept_whole<B: Backend>(backend: &B) -> Checked {
    let large = |millions: usize| format!(r#"{{"text":"{}"}}"#, "ä€😀x ".repeat(millions * 1_000_000 / 11));
    let store = open(backend).await?;
    let mut whole = full("tsk_1")?;
    whole.params = Some(object(&large(4))?);
    whole.status_message = Some("ä€😀".repeat(100_000));
    for number in 0..200 {
        whole.inputs.push(InputRecord::new(format!("key {number}"), raw(&large(0))?, "print"));
    }
    told(store.insert(whole.clone()).await)?;
    let read = load(&store, "tsk_1", Parts::Whole).await?;
    ensure!(*read == whole, "a large record was read as another one");
    told(store.claim(claim_by("one", 0, 100)).await)?;
    for number in 0..50 {
        let value = raw(&large(usize::from(number == 0)))?;
        told(
            store.append_step(&whole.id, 1, StepRecord::new(format!("step {number}"), "print", value)).await,
        )?;
    }
    let result = object(&large(16))?;
    let head = load(&store, "tsk_1", Parts::Head).await?;
    let outcome = Outcome::Completed { result };
    let ended = write(&store, &head, Event::Finish { token: 1, outcome }, 10).await?;
    drop(store);
    let store = open(backend).await?;
    let read = load(&store, "tsk_1", Parts::Whole).await?;
    ensure!(read.state == ended.state, "a large result was read as another one");
    ensure!(read.params == whole.params, "large parameters were read as others");
    ensure!(read.inputs.len() == whole.inputs.len(), "{} questions were read", read.inputs.len());
    let first = read.steps.get(1).map(|step| step.value.as_str().len());
    ensure!(
        read.steps.len() == 51 && first == Some(large(1).len()),
        "{} steps were read, the large one with {first:?} bytes",
        read.steps.len()
    );
    Ok(())
}

/// One limit for all stores, so that a program which works with one of them works with every other one.
pub(super) async fn keys_are_kept_up_to_their_limit<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    // Letters of four bytes; two that take two places each, wherever they stand; and one that is too much.
    let half = "😀".repeat(MAX_KEY_BYTES / 8);
    let longest = format!("{}{}{}", "\0\u{1}", "x".repeat(MAX_KEY_BYTES / 2 - 4), half);
    let of_owner = (MAX_KEY_BYTES / 2, MAX_KEY_BYTES / 2 + 1);
    let owner = |letters: usize| Owner::new(half.as_str(), "p".repeat(letters));
    let kept = TaskRecord {
        id: longest.as_str().into(),
        owner: owner(of_owner.0),
        same_call: Some(longest.clone()),
        ..record("")
    };
    told(store.insert(kept.clone()).await).map_err(|err| format!("keys of {MAX_KEY_BYTES} bytes: {err}"))?;
    let claimed = told(store.claim(claim_by("one", 0, 100)).await)?.pop().ok_or("nothing was claimed")?;
    let step = |name: &str| StepRecord::new(name, "print", RawJson::null());
    told(store.append_step(&kept.id, 1, step(&longest)).await)?;
    drop(store);
    let store = open(backend).await?;
    let read = load(&store, &longest, Parts::Whole).await?;
    ensure!((&read.id, &read.owner) == (&kept.id, &kept.owner), "long keys were read as {:?}", read.id);
    ensure!(read.steps == [step(&longest)], "the step with a long name is {:?}", read.steps);
    let found = told(store.find_call(&longest).await)?;
    ensure!(found.is_some_and(|found| found.id == kept.id), "a long call is not found");
    let page = told(store.list(Some(&kept.owner), None, 9).await)?;
    ensure!(page.records.len() == 1, "an owner with a long name has {} tasks", page.records.len());
    let longer = format!("{longest}x");
    let too_long = [
        ("id", TaskRecord { id: longer.as_str().into(), ..record("") }),
        ("owner", TaskRecord { owner: owner(of_owner.1), ..record("tsk_2") }),
        ("call", TaskRecord { same_call: Some(longer.clone()), ..record("tsk_3") }),
        ("step", TaskRecord { steps: vec![step(&longer)], ..record("tsk_4") }),
    ];
    for (what, record) in too_long {
        let refused = store.insert(record).await;
        expect_error(refused, StoreErrorKind::Refused, &format!("an insert with too long a key ({what})"))?;
    }
    let all = told(store.list(None, None, 9).await)?;
    ensure!(all.records.len() == 1, "{} records are kept instead of 1", all.records.len());
    let lease_is_over = told(store.claim(claim_by("two", 100, 200)).await)?.pop();
    let token = lease_is_over.map_or(claimed.fence, |record| record.fence);
    let refused = store.append_step(&kept.id, token, step(&longer)).await;
    expect_error(refused, StoreErrorKind::Refused, "a step with too long a name")
}
