//! The rules of the store contract, one function each.

mod concurrent;
mod faults;
mod limits;
mod run;
mod shared;
mod world;

use std::pin::Pin;
use std::sync::Arc;

use mcp_tasks_types::{RawJson, RawObject, TaskId, Timestamp};

use concurrent::{
    concurrent_claims_take_each_task_once, concurrent_creations_of_one_call_make_one_task,
    concurrent_steps_of_one_name_are_recorded_once, concurrent_writers_lose_nothing,
};
use faults::{
    claim_whose_answer_is_lost_is_made_again, conflict_is_decided_on_what_the_winner_wrote,
    creation_whose_answer_is_lost_is_made_once, end_is_recorded_however_often_the_write_fails,
    handle_is_withheld_until_a_read_finds_the_task, idle_worker_takes_up_what_a_dead_one_began,
    missed_changes_are_made_good, renewal_whose_answer_is_lost_is_made_again, slow_call_holds_up_nobody_else,
    step_whose_answer_is_lost_is_recorded_once, write_whose_answer_is_lost_is_done_once,
};
use limits::{
    freed_task_is_told_as_claimable, keys_are_kept_up_to_their_limit, large_record_is_kept_whole,
    listener_that_fell_behind_is_told, question_is_due_in_its_time, unknown_id_is_not_found_whatever_it_is,
};
use run::{checked, checked_apart, count_case};
use shared::two_stores_at_once_are_one_place;

use super::{Backend, Kept, Violation};
use crate::lifecycle::{Event, apply};
use crate::owner::Owner;
use crate::record::{
    ErrorRecord, InputKind, InputRecord, InputState, Lease, Progress, SharedRecord, State, StepRecord,
    TaskRecord, ToolFingerprint, TraceContext,
};
use crate::store::{Change, Claim, Parts, Store, StoreError, StoreErrorKind};

/// The time at which the suite's records are made; far enough from 1970 to show a confusion of units.
const NOW: i64 = 1_767_225_600_000;

type Checked = Result<(), String>;

/// Ends the rule with a message when what is claimed is not so.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        {
            $crate::testing::contract::count_case();
            if !$holds {
                return Err(format!($($message)+));
            }
        }
    };
}
use ensure;

/// A rule on its way, made in a frame of its own: all of them beside each other are too much for a thread's stack.
fn boxed<'b, B, F: Future<Output = Checked>>(rule: impl FnOnce(&'b B) -> F, backend: &'b B) -> Pin<Box<F>> {
    Box::pin(rule(backend))
}

/// Lists the rules once, for [`RULES`], [`ENGINE_RULES`] and the run.
macro_rules! rules {
    (store { $($of_store:ident,)+ } engine { $($of_engine:ident,)+ }) => {
        /// The names of the rules about what a store does, in the order in which they are checked.
        pub const RULES: &[&str] = &[$(stringify!($of_store)),+];

        /// The names of the rules about what an engine makes of the store when calls fail, are slow, lose their answers
        /// or are behind, in the order in which they are checked, after [`RULES`].
        pub const ENGINE_RULES: &[&str] = &[$(stringify!($of_engine)),+];

        /// Checks every rule, each on a place of its own, and tells how much was looked at. Needs a tokio runtime. On
        /// one of several threads, what is done at once is done in parallel as well. The rules about engines have a
        /// thread and a runtime of their own, since they drive a clock: how busy the machine is makes no difference to
        /// them.
        ///
        /// # Errors
        ///
        /// The first rule that does not hold, or that does not come to an end.
        pub async fn store_contract<B: Backend + 'static>(fresh: impl Fn() -> B) -> Result<Kept, Violation> {
            let mut kept = Kept::default();
            $(
                let backend = fresh();
                kept.add(checked(stringify!($of_store), boxed($of_store, &backend)).await?);
            )+
            $(kept.add(checked_apart(stringify!($of_engine), fresh(), $of_engine::<B>).await?);)+
            Ok(kept)
        }
    };
}

rules! {
store {
    inserted_record_is_read_back_whole,
    head_comes_without_params_and_steps,
    method_may_be_any,
    second_insert_of_an_id_is_refused,
    replace_needs_the_version_that_is_stored,
    replace_leaves_params_and_steps,
    forgotten_task_keeps_nothing,
    same_call_is_made_once,
    parked_task_is_not_taken_up_until_it_is_wanted,
    live_tasks_are_counted_by_owner,
    step_needs_the_lease_and_a_new_name,
    claim_takes_each_free_task_once_with_a_new_token,
    claim_takes_over_a_lease_that_ran_out,
    renewed_lease_lasts_longer_and_keeps_the_version,
    replace_can_end_a_lease_but_not_lengthen_it,
    due_tells_what_is_over_and_what_comes_next,
    due_tells_when_the_first_lease_ends,
    list_has_the_tasks_of_one_owner_in_pages,
    removed_record_is_gone,
    changes_are_told,
    listener_that_fell_behind_is_told,
    freed_task_is_told_as_claimable,
    question_is_due_in_its_time,
    unknown_id_is_not_found_whatever_it_is,
    concurrent_writers_lose_nothing,
    concurrent_claims_take_each_task_once,
    concurrent_creations_of_one_call_make_one_task,
    concurrent_steps_of_one_name_are_recorded_once,
    two_stores_at_once_are_one_place,
    everything_is_there_after_opening_again,
    opening_again_ends_all_leases,
    closed_store_gives_its_place_back,
    large_record_is_kept_whole,
    keys_are_kept_up_to_their_limit,
}
engine {
    handle_is_withheld_until_a_read_finds_the_task,
    creation_whose_answer_is_lost_is_made_once,
    write_whose_answer_is_lost_is_done_once,
    conflict_is_decided_on_what_the_winner_wrote,
    step_whose_answer_is_lost_is_recorded_once,
    claim_whose_answer_is_lost_is_made_again,
    renewal_whose_answer_is_lost_is_made_again,
    end_is_recorded_however_often_the_write_fails,
    missed_changes_are_made_good,
    slow_call_holds_up_nobody_else,
    idle_worker_takes_up_what_a_dead_one_began,
}
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(NOW + millis)
}

fn raw(text: &str) -> Result<RawJson, String> {
    RawJson::from_text(text).map_err(|err| err.to_string())
}

fn object(text: &str) -> Result<RawObject, String> {
    RawObject::from_text(text).map_err(|err| err.to_string())
}

fn record(id: &str) -> TaskRecord {
    let tool = ToolFingerprint::new("tool", "digest", Some("1".to_owned()));
    TaskRecord::new(id.into(), Owner::new("tenant", "principal"), "tools/call", tool, at(0))
}

/// A record with something in every member.
fn full(id: &str) -> Result<TaskRecord, String> {
    let mut record = record(id);
    record.method = "prompts/get".to_owned();
    record.params = Some(object(r#"{"name":"t","arguments":{"n":1.0,"text":"\u00e4 \"'; -- 😀"}}"#)?);
    record.params_digest = "digest".to_owned();
    record.state = State::InputRequired;
    record.status_message = Some("half-way".to_owned());
    record.progress = Some(Progress { progress: 0.5, total: Some(1.0) });
    record.trace = TraceContext {
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        tracestate: Some("a=b".to_owned()),
        baggage: None,
    };
    record.can_be_asked = Some(vec![InputKind::Form, InputKind::SamplingWithTools]);
    record.last_updated_at = at(5);
    record.ttl_ms = Some(1_000);
    record.poll_interval_ms = Some(10);
    record.retain_ms = Some(20);
    record.same_call = Some(format!("call of {id}"));
    let mut answered = InputRecord::new("a", raw(r#"{"method":"elicitation/create"}"#)?, "print");
    answered.state = InputState::Answered { response: raw(r#"{"action":"accept","content":{"n":1.50}}"#)? };
    let mut asked = InputRecord::new("b", raw(r#"{"method":"roots/list"}"#)?, "print");
    asked.expires_at = Some(at(900));
    record.inputs = vec![answered, asked];
    record.steps = vec![StepRecord::new("first", "print", raw("[1e2]")?)];
    Ok(record)
}

async fn open<B: Backend>(backend: &B) -> Result<B::Store, String> {
    backend.open().await.map_err(|err| format!("the store does not open: {}", chain(&err)))
}

fn chain(err: &StoreError) -> String {
    let mut text = err.to_string();
    let mut source = std::error::Error::source(err);
    while let Some(err) = source {
        text = format!("{text}: {err}");
        source = err.source();
    }
    text
}

fn told<T>(answer: Result<T, StoreError>) -> Result<T, String> {
    answer.map_err(|err| chain(&err))
}

async fn load(store: &impl Store, id: &str, parts: Parts) -> Result<SharedRecord, String> {
    told(store.load(&id.into(), parts).await)?.ok_or_else(|| format!("`{id}` is not found"))
}

fn expect_error<T>(answer: Result<T, StoreError>, kind: StoreErrorKind, what: &str) -> Checked {
    count_case();
    match answer {
        Ok(_) => Err(format!("{what} succeeds")),
        Err(err) if err.kind() == kind => Ok(()),
        Err(err) => Err(format!("{what} gives {:?} instead of {kind:?}: {}", err.kind(), chain(&err))),
    }
}

fn expect_equal(read: &TaskRecord, wanted: &TaskRecord) -> Checked {
    ensure!(read == wanted, "read {read:?} instead of {wanted:?}");
    Ok(())
}

fn claim_by(worker: &str, now: i64, until: i64) -> Claim {
    Claim::new(worker, at(now), at(until), 10)
}

fn ids(records: &[SharedRecord]) -> Vec<&str> {
    records.iter().map(|record| record.id.as_str()).collect()
}

/// A replacement as the engine would make it.
async fn write(
    store: &impl Store,
    record: &TaskRecord,
    event: Event,
    now: i64,
) -> Result<SharedRecord, String> {
    let next = apply(record, event, &at(now)).map_err(|err| err.to_string())?;
    told(store.replace(next, record.version).await)
}

async fn inserted_record_is_read_back_whole<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    for record in [record("tsk_1"), full("tsk_2")?] {
        expect_equal(&*told(store.insert(record.clone()).await)?, &record)?;
        expect_equal(&*load(&store, record.id.as_str(), Parts::Whole).await?, &record)?;
    }
    let unknown = told(store.load(&"tsk_3".into(), Parts::Head).await)?;
    ensure!(unknown.is_none(), "an id that was never inserted is found: {unknown:?}");
    Ok(())
}

async fn head_comes_without_params_and_steps<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let record = full("tsk_1")?;
    told(store.insert(record.clone()).await)?;
    expect_equal(&*load(&store, "tsk_1", Parts::Head).await?, &record.into_parts().0)
}

/// C-14: nothing assumes `tools/call`.
async fn method_may_be_any<B: Backend>(backend: &B) -> Checked {
    let mut record = record("tsk_1");
    record.method = "vendor/own.method".to_owned();
    told(open(backend).await?.insert(record).await)?;
    let read = load(&open(backend).await?, "tsk_1", Parts::Head).await?;
    ensure!(read.method == "vendor/own.method", "the method was read as `{}`", read.method);
    Ok(())
}

async fn second_insert_of_an_id_is_refused<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let first = record("tsk_1");
    told(store.insert(first.clone()).await)?;
    let second = TaskRecord { method: "other".to_owned(), ..first.clone() };
    expect_error(store.insert(second).await, StoreErrorKind::Conflict, "a second insert")?;
    expect_equal(&*load(&store, "tsk_1", Parts::Whole).await?, &first)
}

async fn replace_needs_the_version_that_is_stored<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let first = told(store.insert(record("tsk_1")).await)?;
    let cancel = || Event::Cancel { reason: None };
    let second = write(&store, &first, cancel(), 10).await?;
    ensure!(
        second.version == first.version + 1,
        "the version went from {} to {}",
        first.version,
        second.version
    );
    expect_equal(&*load(&store, "tsk_1", Parts::Head).await?, &second)?;
    let late = TaskRecord { version: first.version + 1, ..TaskRecord::clone(&first) };
    expect_error(store.replace(late.clone(), first.version).await, StoreErrorKind::Conflict, "a late write")?;
    expect_equal(&*load(&store, "tsk_1", Parts::Head).await?, &second)?;
    let unknown = TaskRecord { id: "tsk_2".into(), ..late };
    // P045: a write brings nothing to life.
    expect_error(
        store.replace(unknown, first.version).await,
        StoreErrorKind::NotFound,
        "a write of an unknown id",
    )?;
    let unknown = told(store.load(&"tsk_2".into(), Parts::Head).await)?;
    ensure!(unknown.is_none(), "a refused write brought a record to life");
    Ok(())
}

async fn replace_leaves_params_and_steps<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let whole = full("tsk_1")?;
    told(store.insert(whole.clone()).await)?;
    let head = load(&store, "tsk_1", Parts::Head).await?;
    let after = write(&store, &head, Event::Cancel { reason: None }, 10).await?;
    let read = load(&store, "tsk_1", Parts::Whole).await?;
    ensure!(
        read.params == whole.params && read.steps == whole.steps,
        "a replace changed parameters or steps"
    );
    ensure!(read.state == after.state && read.state == State::Cancelled, "the replace had no effect");
    Ok(())
}

async fn forgotten_task_keeps_nothing<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let whole = full("tsk_1")?;
    let head = told(store.insert(whole.clone()).await)?;
    let ended = write(&store, &head, Event::Cancel { reason: None }, 10).await?;
    let tombstone = ended.tombstone(at(5_000));
    told(store.replace(tombstone.clone(), ended.version).await)?;
    expect_equal(&*load(&store, "tsk_1", Parts::Whole).await?, &tombstone)?;
    let due = told(store.due(&at(4_999), 10).await)?;
    ensure!(due.ids.is_empty() && due.next == Some(at(5_000)), "a forgotten task is due at {due:?}");
    // Its call can be made again.
    told(store.insert(TaskRecord { id: "tsk_2".into(), ..whole }).await)?;
    Ok(())
}

async fn same_call_is_made_once<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let call = |id: &str, call: &str| TaskRecord { same_call: Some(call.to_owned()), ..record(id) };
    told(store.insert(call("tsk_1", "one")).await)?;
    told(store.insert(call("tsk_2", "two")).await)?;
    told(store.insert(record("tsk_3")).await)?;
    told(store.insert(record("tsk_4")).await)?;
    expect_error(store.insert(call("tsk_5", "one")).await, StoreErrorKind::Conflict, "the same call")?;
    let refused = told(store.load(&"tsk_5".into(), Parts::Head).await)?;
    ensure!(refused.is_none(), "a refused call left a record");
    let found = told(store.find_call("two").await)?;
    ensure!(found.as_ref().is_some_and(|record| record.id.as_str() == "tsk_2"), "found {found:?}");
    let nothing = told(store.find_call("three").await)?;
    ensure!(nothing.is_none(), "a call that was not made is found: {nothing:?}");
    told(store.remove(&"tsk_1".into(), 1).await)?;
    told(store.insert(call("tsk_6", "one")).await).map(drop)
}

async fn parked_task_is_not_taken_up_until_it_is_wanted<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    let claimed = told(store.claim(claim_by("one", 0, 100)).await)?.pop().ok_or("nothing was claimed")?;
    let question = InputRecord::new("a", raw(r#"{"method":"roots/list"}"#)?, "print");
    let asked = Event::Ask { token: 1, inputs: vec![question] };
    let asked = write(&store, &claimed, asked, 1).await?;
    let parked = write(&store, &asked, Event::Park { token: 1 }, 2).await?;
    ensure!(parked.lease.is_none() && parked.parked.is_some(), "the task is not parked: {parked:?}");
    let lease_end = told(store.due(&at(500), 10).await)?.lease_end;
    ensure!(lease_end.is_none(), "a parked task counts as one that may be taken up: {lease_end:?}");
    let taken = told(store.claim(claim_by("two", 500, 600)).await)?;
    ensure!(taken.is_empty(), "a parked task was taken up");
    let answer = Event::Answer { responses: vec![("a".to_owned(), raw("{}")?)] };
    let answered = write(&store, &parked, answer, 3).await?;
    ensure!(answered.parked.is_none(), "the answer did not bring the task back");
    let taken = told(store.claim(claim_by("two", 500, 600)).await)?;
    ensure!(ids(&taken) == ["tsk_1"], "an answered task was not taken up");
    Ok(())
}

async fn live_tasks_are_counted_by_owner<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let (owner, other) = (Owner::new("tenant", "principal"), Owner::new("tenant", "other"));
    for id in ["tsk_1", "tsk_2", "tsk_3"] {
        told(store.insert(record(id)).await)?;
    }
    told(store.insert(TaskRecord { owner: other.clone(), ..record("tsk_4") }).await)?;
    let counts = async |expected: [usize; 4]| {
        let counted = [
            told(store.count_live(Some(&owner), 10).await)?,
            told(store.count_live(Some(&owner), 2).await)?,
            told(store.count_live(Some(&other), 10).await)?,
            told(store.count_live(None, 10).await)?,
        ];
        ensure!(counted == expected, "counted {counted:?} instead of {expected:?}");
        Ok::<(), String>(())
    };
    counts([3, 2, 1, 4]).await?;
    let ended = load(&store, "tsk_1", Parts::Head).await?;
    write(&store, &ended, Event::Cancel { reason: None }, 1).await?;
    told(store.remove(&"tsk_4".into(), 1).await)?;
    counts([2, 2, 0, 2]).await
}

async fn step_needs_the_lease_and_a_new_name<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    let step = |name: &str, value: &str| Ok::<_, String>(StepRecord::new(name, "print", raw(value)?));
    let id = TaskId::from("tsk_1");
    let early = store.append_step(&id, 1, step("a", "1")?).await;
    expect_error(early, StoreErrorKind::Conflict, "a step without a lease")?;
    let claimed = told(store.claim(claim_by("one", 0, 100)).await)?;
    let version = claimed.first().map(|record| record.version);
    told(store.append_step(&id, 1, step("b", "1")?).await)?;
    told(store.append_step(&id, 1, step("a", "[2.0]")?).await)?;
    let again = store.append_step(&id, 1, step("b", "3")?).await;
    expect_error(again, StoreErrorKind::Conflict, "a second step of one name")?;
    expect_error(
        store.append_step(&id, 0, step("c", "1")?).await,
        StoreErrorKind::Conflict,
        "a step under an old token",
    )?;
    let unknown = store.append_step(&"tsk_2".into(), 1, step("a", "1")?).await;
    expect_error(unknown, StoreErrorKind::NotFound, "a step of an unknown task")?;
    let read = load(&store, "tsk_1", Parts::Whole).await?;
    ensure!(read.steps == [step("b", "1")?, step("a", "[2.0]")?], "the steps are {:?}", read.steps);
    ensure!(Some(read.version) == version, "a step changed the version");
    let outcome = crate::lifecycle::Outcome::Cancelled { message: String::new() };
    write(&store, &read, Event::Finish { token: 1, outcome }, 5).await?;
    expect_error(
        store.append_step(&id, 1, step("d", "1")?).await,
        StoreErrorKind::Conflict,
        "a step of an ended task",
    )
}

async fn claim_takes_each_free_task_once_with_a_new_token<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let mut ended = record("tsk_0");
    ended.state = State::Failed { error: ErrorRecord::new(-1, "no") };
    ended.finished_at = Some(at(0));
    told(store.insert(ended).await)?;
    told(store.insert(TaskRecord { created_at: at(2), ..record("tsk_a") }).await)?;
    told(store.insert(TaskRecord { created_at: at(1), ..full("tsk_b")? }).await)?;
    let one = Claim { limit: 1, ..claim_by("one", 10, 100) };
    let first = told(store.claim(one).await)?;
    ensure!(ids(&first) == ["tsk_b"], "the first claim of one took {:?}, not the oldest", ids(&first));
    let claimed = &first[0];
    let lease = claimed.lease.as_ref().ok_or("a claimed record has no lease")?;
    ensure!(
        (lease.worker.as_str(), &lease.until, lease.token) == ("one", &at(100), 1),
        "the lease is {lease:?}"
    );
    ensure!(
        (claimed.fence, claimed.attempt, claimed.version) == (1, 1, 2),
        "fence, attempt and version are wrong"
    );
    ensure!(claimed.params.is_some() && claimed.steps.len() == 1, "a claimed record does not come whole");
    ensure!(claimed.last_updated_at == at(5), "a claim shows as a change to the client");
    expect_equal(&*load(&store, "tsk_b", Parts::Whole).await?, claimed)?;
    let second = told(store.claim(claim_by("two", 10, 100)).await)?;
    ensure!(ids(&second) == ["tsk_a"], "the second claim took {:?}", ids(&second));
    let third = told(store.claim(claim_by("three", 99, 200)).await)?;
    ensure!(third.is_empty(), "a leased or ended task was claimed: {:?}", ids(&third));
    Ok(())
}

/// S-37, P093.
async fn claim_takes_over_a_lease_that_ran_out<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    let first = told(store.claim(claim_by("one", 0, 100)).await)?;
    let second = told(store.claim(claim_by("two", 100, 200)).await)?;
    ensure!(ids(&second) == ["tsk_1"], "a lease that ran out was not taken over");
    ensure!((second[0].fence, second[0].attempt) == (2, 2), "fence or attempt did not grow");
    let late = store.replace(
        TaskRecord { version: first[0].version + 1, ..TaskRecord::clone(&first[0]) },
        first[0].version,
    );
    expect_error(late.await, StoreErrorKind::Conflict, "a write of the worker that lost its lease")?;
    let step = store.append_step(&"tsk_1".into(), 1, StepRecord::new("a", "print", RawJson::null())).await;
    expect_error(step, StoreErrorKind::Conflict, "a step of the worker that lost its lease")
}

async fn renewed_lease_lasts_longer_and_keeps_the_version<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    told(store.insert(record("tsk_2")).await)?;
    told(store.insert(record("tsk_3")).await)?;
    told(store.claim(Claim { limit: 1, ..claim_by("one", 0, 100) }).await)?;
    told(store.claim(Claim { limit: 1, ..claim_by("two", 0, 100) }).await)?;
    told(store.claim(claim_by("one", 0, 100)).await)?;
    let before = load(&store, "tsk_1", Parts::Head).await?;
    let wanted = ["tsk_1".into(), "tsk_2".into(), "tsk_4".into()];
    let renewed = told(store.renew("one", &wanted, &at(300)).await)?;
    ensure!(renewed == 1, "{renewed} leases were renewed instead of 1");
    let of_nobody = told(store.renew("nobody", &wanted, &at(300)).await)?;
    ensure!(of_nobody == 0, "leases of another worker were renewed");
    let after = load(&store, "tsk_1", Parts::Head).await?;
    ensure!(after.version == before.version, "a renewal changed the version");
    ensure!(
        after.lease.as_ref().is_some_and(|lease| lease.until == at(300)),
        "the lease is {:?}",
        after.lease
    );
    let free = told(store.claim(claim_by("three", 200, 400)).await)?;
    ensure!(ids(&free) == ["tsk_2", "tsk_3"], "after the renewal {:?} were free", ids(&free));
    Ok(())
}

async fn replace_can_end_a_lease_but_not_lengthen_it<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    let claimed = told(store.claim(claim_by("one", 0, 100)).await)?.pop().ok_or("nothing was claimed")?;
    told(store.renew("one", &["tsk_1".into()], &at(300)).await)?;
    // The record in hand is older than the renewal and must not take it back.
    let status = Event::Status { token: 1, message: "on it".to_owned() };
    let written = write(&store, &claimed, status, 10).await?;
    ensure!(
        written.lease.as_ref().is_some_and(|lease| lease.until == at(300)),
        "the lease is {:?}",
        written.lease
    );
    let released = write(&store, &written, Event::Release { token: 1 }, 20).await?;
    ensure!(released.lease.is_none(), "a lease that was given back is still there");
    ensure!(
        load(&store, "tsk_1", Parts::Head).await?.lease.is_none(),
        "a lease that was given back is still stored"
    );
    let free = told(store.claim(claim_by("two", 30, 400)).await)?;
    ensure!(
        free.first().is_some_and(|record| record.fence == 2),
        "a task that was given back was not claimed anew"
    );
    Ok(())
}

async fn due_tells_what_is_over_and_what_comes_next<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let nothing = told(store.due(&at(0), 10).await)?;
    ensure!(nothing.ids.is_empty() && nothing.next.is_none(), "an empty store has due tasks: {nothing:?}");
    for (id, ttl_ms) in [("tsk_c", Some(300)), ("tsk_a", Some(100)), ("tsk_b", Some(200)), ("tsk_d", None)] {
        told(store.insert(TaskRecord { ttl_ms, ..record(id) }).await)?;
    }
    let due = |ids: &[&str], next: Option<i64>| {
        (ids.iter().map(|id| TaskId::from(*id)).collect::<Vec<_>>(), next.map(at))
    };
    for (now, limit, wanted) in [
        (99, 10, due(&[], Some(100))),
        (100, 10, due(&["tsk_a"], Some(200))),
        (299, 10, due(&["tsk_a", "tsk_b"], Some(300))),
        (999, 1, due(&["tsk_a"], Some(200))),
        (999, 10, due(&["tsk_a", "tsk_b", "tsk_c"], None)),
    ] {
        let read = told(store.due(&at(now), limit).await)?;
        let read = (read.ids, read.next);
        ensure!(read == wanted, "at {now} with limit {limit}: {read:?} instead of {wanted:?}");
    }
    let record = load(&store, "tsk_a", Parts::Head).await?;
    let expired = write(&store, &record, Event::Expire { retain_ms: 60_000 }, 150).await?;
    let read = told(store.due(&at(150), 10).await)?;
    let read = (read.ids, read.next);
    ensure!(read == due(&[], Some(200)), "an expired task that is retained is still due: {read:?}");
    let read = told(store.due(&at(60_150), 10).await)?;
    ensure!(read.ids.last() == Some(&expired.id), "the end of retention does not come: {read:?}");
    Ok(())
}

/// So that the work of a worker that is gone is found without looking through all tasks.
async fn due_tells_when_the_first_lease_ends<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let ends = |wanted: Option<i64>, what: &'static str| {
        let store = &store;
        async move {
            let end = told(store.due(&at(0), 10).await)?.lease_end;
            ensure!(end == wanted.map(at), "{what}: {end:?}");
            Ok::<(), String>(())
        }
    };
    ends(None, "an empty store has a lease").await?;
    told(store.insert(record("tsk_1")).await)?;
    let free = told(store.due(&at(0), 10).await)?.lease_end;
    ensure!(free.is_some_and(|end| end <= at(0)), "a live task without a lease is not told");
    told(store.claim(claim_by("one", 0, 100)).await)?;
    ends(Some(100), "one lease").await?;
    told(store.insert(record("tsk_2")).await)?;
    told(store.claim(claim_by("two", 0, 50)).await)?;
    ends(Some(50), "two leases").await?;
    told(store.renew("two", &["tsk_2".into()], &at(200)).await)?;
    ends(Some(100), "after a renewal").await?;
    for (id, left) in [("tsk_1", Some(200)), ("tsk_2", None)] {
        let outcome = crate::lifecycle::Outcome::Cancelled { message: String::new() };
        let record = load(&store, id, Parts::Head).await?;
        write(&store, &record, Event::Finish { token: 1, outcome }, 5).await?;
        ends(left, "a task has ended").await?;
    }
    Ok(())
}

async fn list_has_the_tasks_of_one_owner_in_pages<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let owner = Owner::new("tenant", "principal");
    for (id, created) in [("tsk_d", 2), ("tsk_b", 1), ("tsk_a", 1), ("tsk_c", 1)] {
        told(store.insert(TaskRecord { created_at: at(created), ..full(id)? }).await)?;
    }
    for (index, stranger) in [("tenant", "other"), ("other", "principal"), ("", "")].into_iter().enumerate() {
        let owner = Owner::new(stranger.0, stranger.1);
        told(store.insert(TaskRecord { owner, ..record(&format!("tsk_x{index}")) }).await)?;
    }
    let first = told(store.list(Some(&owner), None, 2).await)?;
    ensure!(ids(&first.records) == ["tsk_a", "tsk_b"], "the first page is {:?}", ids(&first.records));
    ensure!(first.records.iter().all(|record| record.params.is_none()), "a list carries parameters");
    let cursor = first.next.ok_or("the first page has no next one")?;
    told(store.remove(&"tsk_b".into(), 1).await)?;
    let second = told(store.list(Some(&owner), Some(&cursor), 2).await)?;
    ensure!(ids(&second.records) == ["tsk_c", "tsk_d"], "the second page is {:?}", ids(&second.records));
    ensure!(second.next.is_none(), "the last page claims to have a next one");
    let everybody = told(store.list(None, Some(&cursor), 9).await)?;
    ensure!(
        ids(&everybody.records) == ["tsk_c", "tsk_d"],
        "behind the first page all owners have {:?}",
        ids(&everybody.records)
    );
    let everybody = told(store.list(None, None, 9).await)?;
    ensure!(everybody.records.len() == 6, "all owners have {:?}", ids(&everybody.records));
    let nobody = told(store.list(Some(&Owner::new("tenant", "")), None, 2).await)?;
    ensure!(
        nobody.records.is_empty() && nobody.next.is_none(),
        "an owner without tasks has {:?}",
        ids(&nobody.records)
    );
    Ok(())
}

async fn removed_record_is_gone<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let id = TaskId::from("tsk_1");
    told(store.insert(full("tsk_1")?).await)?;
    expect_error(store.remove(&id, 7).await, StoreErrorKind::Conflict, "removing another version")?;
    told(store.remove(&id, 1).await)?;
    expect_error(store.remove(&id, 1).await, StoreErrorKind::NotFound, "removing twice")?;
    ensure!(told(store.load(&id, Parts::Whole).await)?.is_none(), "a removed record is found");
    let due = told(store.due(&at(9_999), 10).await)?;
    ensure!(due.ids.is_empty() && due.next.is_none(), "a removed record is due: {due:?}");
    let free = told(store.claim(claim_by("one", 0, 100)).await)?;
    ensure!(free.is_empty(), "a removed record was claimed");
    // Its parameters and steps are gone too: the id is as good as new.
    told(store.insert(record("tsk_1")).await)?;
    expect_equal(&*load(&store, "tsk_1", Parts::Whole).await?, &record("tsk_1"))
}

async fn changes_are_told<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let mut changes = store.changes();
    let record = told(store.insert(record("tsk_1")).await)?;
    let after = write(&store, &record, Event::Cancel { reason: None }, 1).await?;
    told(store.remove(&record.id, after.version).await)?;
    let id = record.id.clone();
    let written = |version, claimable| Change::Written { id: id.clone(), version, claimable };
    for wanted in [written(1, true), written(after.version, false), Change::Removed { id: id.clone() }] {
        let change = changes.next().await;
        // A backend may know no more than that something changed.
        ensure!(
            matches!(&change, Some(told) if *told == wanted || *told == Change::Resync),
            "told {change:?}, not {wanted:?}"
        );
    }
    Ok(())
}

/// C-31, S-09, S-33, S-35: durable when the call returned.
async fn everything_is_there_after_opening_again<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    let whole = full("tsk_1")?;
    told(store.insert(whole.clone()).await)?;
    told(store.insert(record("tsk_2")).await)?;
    told(store.insert(record("tsk_3")).await)?;
    told(store.claim(claim_by("one", 0, 100)).await)?;
    told(store.append_step(&"tsk_2".into(), 1, StepRecord::new("a", "print", raw("[2]")?)).await)?;
    let second = load(&store, "tsk_2", Parts::Head).await?;
    let status = Event::Status { token: 1, message: "on it".to_owned() };
    let second = write(&store, &second, status, 10).await?;
    told(store.remove(&"tsk_3".into(), 2).await)?;
    drop(store);
    let store = open(backend).await?;
    let read = load(&store, "tsk_1", Parts::Whole).await?;
    // Who holds a lease lives on where several processes can.
    let lease = B::SHARED.then(|| Lease::new("one", at(100), 1));
    let wanted = TaskRecord { lease, fence: 1, attempt: 1, version: read.version, ..whole };
    expect_equal(&read, &wanted)?;
    let read = load(&store, "tsk_2", Parts::Whole).await?;
    ensure!(
        read.status_message == second.status_message && read.steps.len() == 1,
        "a write was lost: {read:?}"
    );
    ensure!(told(store.load(&"tsk_3".into(), Parts::Head).await)?.is_none(), "a removed record came back");
    Ok(())
}

/// What was leased to a dead process is free at once; its tokens are worth nothing. Where the place is shared, the
/// process may live, and its leases run out by themselves.
async fn opening_again_ends_all_leases<B: Backend>(backend: &B) -> Checked {
    if B::SHARED {
        return Ok(());
    }
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    told(store.claim(claim_by("one", 0, 1_000_000)).await)?;
    drop(store);
    let store = open(backend).await?;
    ensure!(
        load(&store, "tsk_1", Parts::Head).await?.lease.is_none(),
        "the dead process still has its lease"
    );
    let late = store.append_step(&"tsk_1".into(), 1, StepRecord::new("a", "print", RawJson::null())).await;
    expect_error(late, StoreErrorKind::Conflict, "a step of the dead process")?;
    let claimed = told(store.claim(claim_by("two", 1, 100)).await)?;
    ensure!(
        claimed.first().is_some_and(|record| record.fence == 2),
        "the task was not claimed with a new token"
    );
    let shared = Arc::clone(&claimed[0]);
    ensure!(shared.attempt == 2, "the attempt did not grow");
    Ok(())
}

/// When `close` returned, the next process gets the place, though the store is not dropped yet; and what is written
/// through it all the same is not lost in silence.
async fn closed_store_gives_its_place_back<B: Backend>(backend: &B) -> Checked {
    let store = open(backend).await?;
    told(store.insert(record("tsk_1")).await)?;
    store.close().await;
    let next = open(backend).await?;
    expect_equal(&*load(&next, "tsk_1", Parts::Whole).await?, &record("tsk_1"))?;
    if store.insert(record("tsk_2")).await.is_ok() {
        load(&next, "tsk_2", Parts::Whole).await.map_err(|err| format!("written after `close`: {err}"))?;
    }
    if let Ok(Some(read)) = store.load(&"tsk_1".into(), Parts::Whole).await {
        expect_equal(&read, &record("tsk_1"))?;
    }
    // Whoever closes it once more, or drops it, takes nothing from the next one.
    store.close().await;
    drop(store);
    told(next.insert(record("tsk_3")).await)?;
    load(&next, "tsk_3", Parts::Whole).await.map(drop)
}
