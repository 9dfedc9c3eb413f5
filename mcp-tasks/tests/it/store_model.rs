//! Random calls: every durable store answers as the memory store does, across restarts too.

use mcp_tasks::lifecycle::{Event, Outcome, apply};
use mcp_tasks::record::{InputRecord, StepRecord};
use mcp_tasks::store::{Claim, Parts};
use mcp_tasks::testing::{Backend, reopened};
use mcp_tasks::types::{RawJson, RawObject, TaskId, Timestamp};
use mcp_tasks::{MemoryStore, Owner, SharedRecord, Store, StoreError, StoreErrorKind, TaskRecord};
use proptest::prelude::*;

use crate::support::record;

const START: i64 = 1_767_225_600_000;

#[derive(Clone, Debug)]
enum Call {
    Insert { id: u8, ttl_ms: Option<u64>, same_call: Option<u8> },
    Load(u8),
    Change { id: u8, what: u8, token: u64 },
    ReplaceLate { id: u8, behind: u64 },
    Step { id: u8, token: u64, name: u8 },
    Remove { id: u8, behind: u64 },
    Bury(u8),
    Claim { worker: u8, limit: usize },
    Renew { worker: u8 },
    Due { limit: usize },
    List { limit: usize, all: bool },
    Count { at_most: usize },
    Find(u8),
    Reopen,
}

fn any_call() -> impl Strategy<Value = Call> {
    let id = 0..4_u8;
    prop_oneof![
        4 => (id.clone(), prop::option::of(1..40_u64), prop::option::of(0..2_u8))
            .prop_map(|(id, ttl_ms, same_call)| Call::Insert { id, ttl_ms, same_call }),
        1 => id.clone().prop_map(Call::Load),
        6 => (id.clone(), 0..16_u8, 0..4_u64).prop_map(|(id, what, token)| Call::Change { id, what, token }),
        1 => (id.clone(), 0..3_u64).prop_map(|(id, behind)| Call::ReplaceLate { id, behind }),
        2 => (id.clone(), 1..4_u64, 0..3_u8).prop_map(|(id, token, name)| Call::Step { id, token, name }),
        1 => (id.clone(), 0..2_u64).prop_map(|(id, behind)| Call::Remove { id, behind }),
        1 => id.prop_map(Call::Bury),
        3 => (0..2_u8, 1..4_usize).prop_map(|(worker, limit)| Call::Claim { worker, limit }),
        1 => (0..2_u8).prop_map(|worker| Call::Renew { worker }),
        1 => (0..4_usize).prop_map(|limit| Call::Due { limit }),
        1 => (1..4_usize, any::<bool>()).prop_map(|(limit, all)| Call::List { limit, all }),
        1 => (0..4_usize).prop_map(|at_most| Call::Count { at_most }),
        1 => (0..2_u8).prop_map(Call::Find),
        1 => Just(Call::Reopen),
    ]
}

fn id_of(id: u8) -> TaskId {
    format!("tsk_{id}").into()
}

fn event_of(what: u8, token: u64, step: i64) -> Event {
    match what {
        0 => Event::Status { token, message: format!("at {step}") },
        1 | 2 => {
            let request = RawJson::from_text(r#"{"method":"roots/list"}"#).unwrap();
            let mut input = InputRecord::new(format!("key{what}"), request, "print");
            input.expires_at = (what == 2).then(|| Timestamp::from_unix_millis(START + step + 3));
            Event::Ask { token, inputs: vec![input] }
        }
        3 => Event::Answer { responses: vec![("key1".to_owned(), RawJson::null())] },
        4 => Event::Cancel { reason: None },
        5 => Event::Finish { token, outcome: Outcome::Completed { result: RawObject::empty() } },
        6 => Event::Expire { retain_ms: 5 },
        7 => Event::Release { token },
        8 | 9 => Event::Park { token },
        10 => Event::Leave { token },
        11 => Event::GiveUpWaiting,
        12 => Event::PollInterval { token, poll_interval_ms: 7 },
        13 => Event::Seen,
        14 => Event::Abandon { retain_ms: 5 },
        _ => Event::ExtendTtl { token, ttl_ms: 60 },
    }
}

fn kind<T>(answer: Result<T, StoreError>) -> Result<T, StoreErrorKind> {
    answer.map_err(|err| err.kind())
}

/// Makes the call and tells everything that can be seen of it.
async fn make(store: &impl Store, call: &Call, step: i64) -> String {
    let now = Timestamp::from_unix_millis(START + step);
    let until = Timestamp::from_unix_millis(START + step + 7);
    match call {
        Call::Insert { id, ttl_ms, same_call } => {
            let mut record = record(id_of(*id).as_str());
            record.created_at = now.clone();
            record.last_updated_at = now;
            record.ttl_ms = *ttl_ms;
            record.abandon_ms = (step % 2 == 0).then_some(8);
            record.same_call = same_call.map(|call| call.to_string());
            record.params = Some(RawObject::from_text(r#"{"n":1.0}"#).unwrap());
            record.steps = vec![StepRecord::new("0", "print", RawJson::null())];
            format!("{:?}", kind(store.insert(record).await))
        }
        Call::Load(id) => format!("{:?}", kind(store.load(&id_of(*id), Parts::Head).await)),
        Call::Change { id, what, token } => {
            let Some(record) = loaded(store, *id).await else { return "none".to_owned() };
            match apply(&record, event_of(*what, *token, step), &now) {
                Ok(next) if next.version > record.version => {
                    format!("{:?}", kind(store.replace(next, record.version).await))
                }
                _ => "nothing".to_owned(),
            }
        }
        Call::ReplaceLate { id, behind } => {
            let Some(record) = loaded(store, *id).await else { return "none".to_owned() };
            let mut next = TaskRecord::clone(&record);
            next.version += 1;
            format!("{:?}", kind(store.replace(next, record.version.wrapping_sub(*behind)).await))
        }
        Call::Step { id, token, name } => {
            let step = StepRecord::new(name.to_string(), "print", RawJson::from_text("[1e2]").unwrap());
            format!("{:?}", kind(store.append_step(&id_of(*id), *token, step).await))
        }
        Call::Remove { id, behind } => {
            let version = loaded(store, *id).await.map_or(1, |record| record.version);
            format!("{:?}", kind(store.remove(&id_of(*id), version.wrapping_sub(*behind)).await))
        }
        Call::Bury(id) => {
            let Some(record) = loaded(store, *id).await else { return "none".to_owned() };
            format!("{:?}", kind(store.replace(record.tombstone(until), record.version).await))
        }
        Call::Count { at_most } => {
            let owner = Owner::anonymous();
            let counts =
                [store.count_live(Some(&owner), *at_most).await, store.count_live(None, *at_most).await];
            format!("{:?}", counts.map(kind))
        }
        Call::Find(call) => format!("{:?}", kind(store.find_call(&call.to_string()).await)),
        Call::Claim { worker, limit } => {
            format!("{:?}", kind(store.claim(Claim::new(worker.to_string(), now, until, *limit)).await))
        }
        Call::Renew { worker } => format!(
            "{:?}",
            kind(store.renew(&worker.to_string(), &[id_of(0), id_of(1), id_of(3)], &until).await)
        ),
        Call::Due { limit } => format!("{:?}", kind(store.due(&now, *limit).await)),
        Call::List { limit, all } => {
            let owner = (!all).then(Owner::anonymous);
            let first = store.list(owner.as_ref(), None, *limit).await.unwrap();
            let second = match &first.next {
                Some(cursor) => Some(store.list(owner.as_ref(), Some(cursor), *limit).await.unwrap()),
                None => None,
            };
            format!("{first:?} {second:?}")
        }
        Call::Reopen => String::new(),
    }
}

async fn loaded(store: &impl Store, id: u8) -> Option<SharedRecord> {
    store.load(&id_of(id), Parts::Whole).await.unwrap()
}

async fn compare<B: Backend>(backend: &B, calls: Vec<Call>) -> Result<(), TestCaseError> {
    let mut memory = MemoryStore::new();
    let mut store = backend.open().await.unwrap();
    for (step, call) in (0..).zip(&calls) {
        if matches!(call, Call::Reopen) {
            // Where others may have the place open, leases stay.
            if !B::SHARED {
                memory = reopened(&memory);
            }
            drop(store);
            store = backend.open().await.unwrap();
        }
        let (wanted, seen) = (make(&memory, call, step).await, make(&store, call, step).await);
        prop_assert_eq!(&wanted, &seen, "{:?}", call);
        for id in 0..4 {
            prop_assert_eq!(loaded(&memory, id).await, loaded(&store, id).await, "after {:?}", call);
        }
    }
    Ok(())
}

fn compare_all<B: Backend>(fresh: impl Fn() -> B) {
    let config = ProptestConfig { cases: 48, ..ProptestConfig::default() };
    proptest!(config, |(calls in prop::collection::vec(any_call(), 1..50))| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(compare(&fresh(), calls))?;
    });
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_answers_as_memory_does() {
    compare_all(crate::sqlite::fresh);
}

#[cfg(feature = "fs")]
#[test]
fn fs_answers_as_memory_does() {
    compare_all(crate::fs::fresh);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn postgres_answers_as_memory_does() {
    if crate::postgres::is_there() {
        compare_all(crate::postgres::fresh);
    }
}
