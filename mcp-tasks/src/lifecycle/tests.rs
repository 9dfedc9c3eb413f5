//! The table of all transitions, and properties over random events.

use mcp_tasks_types::{RawJson, RawObject, Timestamp};
use proptest::prelude::*;

use super::{Event, IllegalReason, Outcome, apply};
use crate::owner::Owner;
use crate::record::{ErrorRecord, InputRecord, InputState, Progress, State, TaskRecord, ToolFingerprint};

const START: i64 = 1_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis)
}

/// A working task with a lifetime of one second, leased under token 1 until the time 2000.
fn working() -> TaskRecord {
    let tool = ToolFingerprint::new("tool", "digest", None);
    let mut record = TaskRecord::new("tsk_1".into(), Owner::anonymous(), "tools/call", tool, at(START));
    record.ttl_ms = Some(1_000);
    step(&record, Event::Claim { worker: "one".to_owned(), until: at(2_000) })
}

fn waiting() -> TaskRecord {
    step(&working(), ask(1, "key"))
}

fn step(record: &TaskRecord, event: Event) -> TaskRecord {
    apply(record, event, &at(START + 10)).unwrap()
}

fn refused(record: &TaskRecord, event: Event) -> IllegalReason {
    apply(record, event, &at(START + 10)).unwrap_err().reason
}

/// Two questions in one event.
fn ask_both(token: u64, one: &str, other: &str) -> Event {
    let (mut both, more) = (ask(token, one), ask(token, other));
    if let (Event::Ask { inputs, .. }, Event::Ask { inputs: more, .. }) = (&mut both, more) {
        inputs.extend(more);
    }
    both
}

fn ask(token: u64, key: &str) -> Event {
    let request = RawJson::from_text(r#"{"method":"elicitation/create"}"#).unwrap();
    Event::Ask { token, inputs: vec![InputRecord::new(key, request, "print")] }
}

fn answer(key: &str) -> Event {
    Event::Answer {
        responses: vec![(key.to_owned(), RawJson::from_text(r#"{"action":"decline"}"#).unwrap())],
    }
}

fn finish(token: u64, state: &str) -> Event {
    let outcome = match state {
        "completed" => Outcome::Completed { result: RawObject::empty() },
        "failed" => Outcome::Failed { error: ErrorRecord::new(-1, "no"), message: "no".to_owned() },
        _ => Outcome::Cancelled { message: "stopped".to_owned() },
    };
    Event::Finish { token, outcome }
}

/// Attempts count from an answer, from new steps and from an orderly end; while a person is asked they do not count.
#[test]
fn attempts_count_from_the_last_headway() {
    let claim = |record: &TaskRecord| {
        let free = TaskRecord { lease: None, ..record.clone() };
        step(&free, Event::Claim { worker: "one".to_owned(), until: at(2_000) })
    };
    let thrice = |record: &TaskRecord| claim(&claim(&claim(record)));
    let check = |record: &TaskRecord, wanted: u32| assert_eq!(record.attempts_without_headway(), wanted);
    check(&working(), 1);
    check(&thrice(&working()), 4);
    check(&thrice(&step(&working(), Event::Status { token: 1, message: "busy".to_owned() })), 4);
    check(&thrice(&step(&working(), Event::Release { token: 1 })), 3);
    check(&thrice(&step(&thrice(&waiting()), answer("key"))), 4);
    let stepped = step(&thrice(&working()), Event::Headway { token: 4, steps: 1 });
    check(&stepped, 1);
    check(&step(&thrice(&stepped), Event::Headway { token: 7, steps: 1 }), 4);
    // A body that asks and loses interest comes no further; one that waited through restarts is not blamed for them.
    let withdraw = |token| Event::Withdraw { token, key: "key".to_owned() };
    check(&step(&step(&thrice(&working()), ask(4, "key")), withdraw(4)), 4);
    check(&step(&thrice(&waiting()), withdraw(4)), 1);
}

const CANCEL: Event = Event::Cancel { reason: None };
const EXPIRE: Event = Event::Expire { retain_ms: 60_000 };
const FORGET: Event = Event::Forget { tombstone_ms: 500 };
const ABANDON: Event = Event::Abandon { retain_ms: 60_000 };

/// P067: a task is given up a quarter of its time after the time, counted from when somebody was last seen; and being
/// seen is nothing that anybody sees.
#[test]
fn live_task_that_nobody_asks_about_is_given_up() {
    for record in [working(), waiting()] {
        assert_eq!(step(&record, Event::Seen), record, "nobody is waited for");
        assert_eq!(refused(&record, ABANDON), IllegalReason::NotDue);
        let record = TaskRecord { abandon_ms: Some(400), ..record };
        assert_eq!(record.due_at(), Some(at(START + 500)));
        assert!(!record.wants_to_be_seen(START + 99) && record.wants_to_be_seen(START + 100));
        let seen = apply(&record, Event::Seen, &at(START + 200)).unwrap();
        assert_eq!((&seen.last_updated_at, seen.version), (&record.last_updated_at, record.version + 1));
        assert_eq!(seen.due_at(), Some(at(START + 700)));
        // A clock that is set back makes nobody unseen.
        assert_eq!(step(&seen, Event::Seen), seen);
        assert_eq!(apply(&seen, ABANDON, &at(START + 699)).unwrap_err().reason, IllegalReason::NotDue);
        let end = apply(&seen, ABANDON, &at(START + 700)).unwrap();
        assert_eq!(end.state.name(), "failed");
        assert!(end.lease.is_none() && !end.is_abandoned(i64::MAX) && !end.wants_to_be_seen(i64::MAX));
        assert_eq!(end.due_at(), Some(at(START + 60_700)));
    }
}

/// C-35: working and waiting are the only live states; each goes to the other and to every terminal one.
#[test]
fn live_states_reach_each_other_and_every_end() {
    for state in ["completed", "failed", "cancelled"] {
        for record in [working(), waiting()] {
            let next = step(&record, finish(1, state));
            assert_eq!(next.state.name(), state);
            assert_eq!(next.finished_at, Some(at(START + 10)));
            assert!(next.lease.is_none() && next.outstanding().next().is_none());
        }
    }
    assert_eq!(waiting().state, State::InputRequired);
    assert_eq!(step(&waiting(), answer("key")).state, State::Working);
}

/// C-36, P050: terminal is final for every event there is, and late clients get no error (C-65, C-73).
#[test]
fn terminal_record_refuses_or_ignores_every_event() {
    for state in ["completed", "failed", "cancelled"] {
        let record = step(&working(), finish(1, state));
        let claim = Event::Claim { worker: "two".to_owned(), until: at(9_000) };
        let status = Event::Status { token: 1, message: "late".to_owned() };
        let withdraw = Event::Withdraw { token: 1, key: "key".to_owned() };
        for event in [
            status,
            ask(1, "new"),
            withdraw,
            finish(1, "completed"),
            EXPIRE,
            ABANDON,
            claim,
            Event::Headway { token: 1, steps: 1 },
            Event::Park { token: 1 },
            Event::Leave { token: 1 },
            Event::GiveUpWaiting,
            Event::PollInterval { token: 1, poll_interval_ms: 1 },
            Event::ExtendTtl { token: 1, ttl_ms: 9_000 },
            Event::Release { token: 1 },
        ] {
            assert_eq!(refused(&record, event), IllegalReason::Terminal);
        }
        for event in [CANCEL, answer("key"), Event::Seen] {
            assert_eq!(step(&record, event), record.clone());
        }
    }
}

/// C-52, C-53: a key is used once in a task's life, whatever became of it.
#[test]
fn key_cannot_be_used_again() {
    let outstanding = waiting();
    let answered = step(&outstanding, answer("key"));
    let withdrawn = step(&outstanding, Event::Withdraw { token: 1, key: "key".to_owned() });
    assert_eq!(withdrawn.state, State::Working);
    for record in [outstanding, answered, withdrawn] {
        assert_eq!(refused(&record, ask(1, "key")), IllegalReason::KeyUsed("key".to_owned()));
    }
}

/// C-61: a part of the answers leaves the task waiting for the rest.
#[test]
fn task_waits_until_the_last_question_is_answered() {
    let both = step(&waiting(), ask(1, "other"));
    assert_eq!(both.outstanding().count(), 2);
    let one = step(&both, answer("key"));
    assert_eq!(one.state, State::InputRequired);
    assert_eq!(one.outstanding().map(|input| input.key.as_str()).collect::<Vec<_>>(), ["other"]);
    // P075: the first answer wins.
    let late = Event::Answer { responses: vec![("key".to_owned(), RawJson::null())] };
    assert_eq!(step(&one, late), one);
    assert_eq!(step(&one, answer("other")).state, State::Working);
}

/// C-60, P079: an answer that nobody waits for changes nothing, the time of the last change included.
#[test]
fn unwanted_answer_changes_nothing() {
    for record in [working(), waiting()] {
        assert_eq!(step(&record, answer("never-issued")), record.clone());
        assert_eq!(step(&record, Event::Answer { responses: vec![] }), record.clone());
    }
}

/// S-17: a task that waits, or that nobody works on, is cancelled in the same write; a busy one records the wish.
#[test]
fn cancel_is_at_once_where_nobody_has_to_be_asked() {
    assert_eq!(step(&waiting(), CANCEL).state, State::Cancelled);

    let released = step(&working(), Event::Release { token: 1 });
    assert_eq!(step(&released, CANCEL).state, State::Cancelled);
    // The lease has run out: its holder is dead.
    assert_eq!(apply(&working(), CANCEL, &at(2_000)).unwrap().state, State::Cancelled);

    let next = step(&working(), Event::Cancel { reason: Some("enough".to_owned()) });
    assert_eq!(next.state, State::Working);
    assert_eq!(next.cancel.as_ref().unwrap().reason.as_deref(), Some("enough"));
    // Once more, later: nothing changes.
    assert_eq!(apply(&next, CANCEL, &at(START + 500)).unwrap(), next);
    assert_eq!(refused(&next, ask(1, "key")), IllegalReason::Cancelling);
    // C-75: the run may still end otherwise, and a hand-over does not lose the wish.
    assert_eq!(step(&next, finish(1, "completed")).state.name(), "completed");
    let handed_over = step(&next, Event::Release { token: 1 });
    assert_eq!(handed_over.state, State::Cancelled);
    assert_eq!(handed_over.status_message.as_deref(), Some("enough"));
}

/// S-37, P093: whoever lost the lease cannot write.
#[test]
fn write_under_an_old_token_is_refused() {
    let claim = || Event::Claim { worker: "two".to_owned(), until: at(9_000) };
    assert_eq!(refused(&working(), claim()), IllegalReason::Leased);
    let taken = apply(&working(), claim(), &at(2_000)).unwrap();
    assert_eq!((taken.fence, taken.attempt, taken.lease.as_ref().unwrap().token), (2, 2, 2));
    for event in [finish(1, "failed"), ask(1, "late"), Event::Release { token: 1 }] {
        assert_eq!(refused(&taken, event), IllegalReason::Fenced);
    }
    assert_eq!(step(&taken, finish(2, "completed")).state.name(), "completed");
}

/// R-9, C-78: a live task past its lifetime fails and stays readable for a while.
#[test]
fn live_task_expires_when_its_lifetime_is_over() {
    for record in [working(), waiting()] {
        assert_eq!(refused(&record, EXPIRE), IllegalReason::NotDue);
        let next = apply(&record, EXPIRE, &at(2_000)).unwrap();
        let State::Failed { error } = &next.state else { panic!("{:?}", next.state) };
        assert_eq!((error.code, error.message.as_str()), (-32603, "Task expired"));
        assert_eq!(next.due_at(), Some(at(62_000)));
    }
}

/// R-9: an ended task is forgotten once, when its time is over and not before; what is left of it says nothing of it
/// and goes in its turn.
#[test]
fn ended_task_is_forgotten_once_when_its_time_is_over() {
    assert_eq!(apply(&working(), FORGET, &at(9_000)).unwrap_err().reason, IllegalReason::NotDue);
    let ended = step(&step(&waiting(), CANCEL), Event::Seen);
    assert_eq!(ended.due_at(), Some(at(2_000)));
    assert_eq!(apply(&ended, FORGET, &at(1_999)).unwrap_err().reason, IllegalReason::NotDue);
    let left = apply(&ended, FORGET, &at(2_000)).unwrap();
    assert_eq!(left, ended.tombstone(at(2_500)));
    assert_eq!((left.version, left.due_at(), left.inputs.len()), (ended.version + 1, Some(at(2_500)), 0));
    assert_eq!(apply(&left, FORGET, &at(9_000)).unwrap_err().reason, IllegalReason::Terminal);
}

/// P020: what the body said while it worked is not left standing beside its result.
#[test]
fn status_message_goes_with_the_work() {
    let status = || Event::Status { token: 1, message: "phase 2 of 3".to_owned() };
    let next = step(&working(), status());
    assert_eq!(next.status_message.as_deref(), Some("phase 2 of 3"));
    assert_eq!(next.last_updated_at, at(START + 10));
    assert_eq!(apply(&next, status(), &at(START + 20)).unwrap(), next);
    assert_eq!(step(&next, finish(1, "completed")).status_message, None);
    // C-47: a failure says something.
    assert_eq!(step(&next, finish(1, "failed")).status_message.as_deref(), Some("no"));
}

fn any_event() -> impl Strategy<Value = Event> {
    let token = 0..4_u64;
    let key = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        (token.clone(), "[ab]").prop_map(|(token, message)| Event::Status { token, message }),
        (token.clone(), -1.0..3.0_f64, prop::option::of("[ab]")).prop_map(|(token, done, message)| {
            Event::Progress { token, progress: Progress::new(done, None), message }
        }),
        (token.clone(), key.clone()).prop_map(|(token, key)| ask(token, key)),
        (token.clone(), key.clone(), key.clone()).prop_map(|(token, one, other)| ask_both(token, one, other)),
        (token.clone(), key.clone()).prop_map(|(token, key)| Event::Withdraw { token, key: key.to_owned() }),
        key.prop_map(answer),
        Just(CANCEL),
        (token.clone(), prop::sample::select(vec!["completed", "failed", "cancelled"]))
            .prop_map(|(token, state)| finish(token, state)),
        Just(EXPIRE),
        Just(ABANDON),
        Just(FORGET),
        Just(Event::Seen),
        (0..4_000_i64).prop_map(|until| Event::Claim { worker: "w".to_owned(), until: at(until) }),
        token.prop_map(|token| Event::Release { token }),
    ]
}

proptest! {
    #[test]
    fn invariants_hold_over_any_sequence_of_events(events in prop::collection::vec((any_event(), 0..120_i64), 0..60)) {
        let mut record = TaskRecord { abandon_ms: Some(200), ..working() };
        let mut now = START;
        for (event, passed) in events {
            // The clock may also be set back.
            now += passed - 20;
            let Ok(next) = apply(&record, event, &at(now)) else { continue };
            if next.version == record.version {
                prop_assert_eq!(&next, &record);
            } else {
                prop_assert_eq!(next.version, record.version + 1);
                let forgotten = record.forgotten_at.is_none() && next.forgotten_at.is_some();
                prop_assert!(forgotten == record.state.is_terminal(), "a terminal record changed");
                if forgotten {
                    prop_assert!(now >= record.due_millis().unwrap());
                    record = next;
                    continue;
                }
            }
            prop_assert!(next.last_updated_at >= record.last_updated_at);
            prop_assert!(next.created_at == record.created_at);
            prop_assert!(next.fence >= record.fence && next.attempt >= record.attempt);
            prop_assert!(next.inputs.len() >= record.inputs.len());
            if let Some(before) = &record.progress {
                let now = next.progress.as_ref().map(|now| now.progress);
                prop_assert!(now.is_some_and(|now| now >= before.progress), "progress was taken back");
            }
            for (index, input) in next.inputs.iter().enumerate() {
                prop_assert!(next.inputs[..index].iter().all(|other| other.key != input.key), "a key twice");
                if let Some(before) = record.inputs.get(index) {
                    prop_assert!(before.state == InputState::Outstanding || before == input, "an answer was changed");
                }
            }
            prop_assert_eq!(next.state == State::InputRequired, next.outstanding().next().is_some());
            prop_assert_eq!(next.state.is_terminal(), next.finished_at.is_some());
            if let Some(lease) = &next.lease {
                prop_assert!(!next.state.is_terminal());
                prop_assert_eq!(lease.token, next.fence);
            }
            record = next;
        }
    }
}

/// X-91: progress only grows, and only its message is something that a client sees.
#[test]
fn progress_grows_and_its_message_is_the_status() {
    let progress = |token, done, message: Option<&str>| Event::Progress {
        token,
        progress: Progress::new(done, Some(10.0)),
        message: message.map(str::to_owned),
    };
    let begun = working();
    let silent = step(&begun, progress(1, 3.0, None));
    assert_eq!(silent.progress, Some(Progress::new(3.0, Some(10.0))));
    assert_eq!((&silent.last_updated_at, silent.version), (&begun.last_updated_at, begun.version + 1));
    assert_eq!(silent.status_message, None);
    let told = step(&silent, progress(1, 4.0, Some("four")));
    assert_eq!((told.status_message.as_deref(), &told.last_updated_at), (Some("four"), &at(START + 10)));
    for late in [4.0, 3.5, f64::NAN] {
        assert_eq!(step(&told, progress(1, late, Some("late"))), told, "{late}");
    }
    assert_eq!(refused(&told, progress(2, 5.0, None)), IllegalReason::Fenced);
}
