//! The store contract's rules about engines: each finds a store that breaks it and no rule before it.
//!
//! What such a store does wrong, it does to the tasks of the suite's engines alone, so that the rules about stores
//! hold.

use std::collections::BTreeSet;

use mcp_tasks::record::{State, StepRecord};
use mcp_tasks::store::{Claim, Parts};
use mcp_tasks::testing::{Backend, ENGINE_RULES, Violation, reopened, store_contract};
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{
    Clock as _, MemoryStore, SharedRecord, Store, StoreError, StoreErrorKind, TaskRecord, forward_store,
};

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    /// An insertion is answered and never done.
    AnswersTooEarly,
    /// Removing succeeds and does nothing.
    KeepsRemoved,
    /// What is read is not what was written, to the letter.
    AddsToStatuses,
    /// A write from before a cancellation takes it back.
    OverwritesWishes,
    /// A step that is there is refused, and written under another name.
    WritesStepsTwice,
    /// Only two attempts are counted.
    CountsToTwo,
    /// Renewing succeeds and does nothing.
    RenewsNothing,
    /// Ends of tasks that are old by then are mixed up.
    MixesUpLateEnds,
    /// Who takes up a task that nobody began gets the second token.
    BeginsWithTheSecondToken,
    /// One live task keeps others from being made.
    HoldsUpOthers,
    /// Tasks that were made late are taken up without their steps.
    ForgetsStepsOfLateTasks,
}

/// Each flaw with the rule that finds it.
const TABLE: [(Flaw, &str); 11] = [
    (Flaw::AnswersTooEarly, "handle_is_withheld_until_a_read_finds_the_task"),
    (Flaw::KeepsRemoved, "creation_whose_answer_is_lost_is_made_once"),
    (Flaw::AddsToStatuses, "write_whose_answer_is_lost_is_done_once"),
    (Flaw::OverwritesWishes, "conflict_is_decided_on_what_the_winner_wrote"),
    (Flaw::WritesStepsTwice, "step_whose_answer_is_lost_is_recorded_once"),
    (Flaw::CountsToTwo, "claim_whose_answer_is_lost_is_made_again"),
    (Flaw::RenewsNothing, "renewal_whose_answer_is_lost_is_made_again"),
    (Flaw::MixesUpLateEnds, "end_is_recorded_however_often_the_write_fails"),
    (Flaw::BeginsWithTheSecondToken, "missed_changes_are_made_good"),
    (Flaw::HoldsUpOthers, "slow_call_holds_up_nobody_else"),
    (Flaw::ForgetsStepsOfLateTasks, "idle_worker_takes_up_what_a_dead_one_began"),
];

#[test]
fn each_rule_about_engines_finds_the_store_that_breaks_it() {
    let found = |flaw: Flaw| -> Result<(), Violation> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store_contract(|| Place { flaw, store: MemoryStore::new() })).map(drop)
    };
    // Beside each other, since all other rules are looked at each time.
    std::thread::scope(|scope| {
        let runs = TABLE.map(|(flaw, rule)| (flaw, rule, scope.spawn(move || found(flaw))));
        for (flaw, rule, run) in runs {
            let violation = run.join().unwrap().unwrap_err();
            assert_eq!(violation.rule, rule, "{flaw:?}: {violation}");
        }
    });
    let covered: BTreeSet<&str> = TABLE.iter().map(|(_, rule)| *rule).collect();
    assert_eq!(covered, ENGINE_RULES.iter().copied().collect::<BTreeSet<&str>>());
}

struct Place {
    flaw: Flaw,
    store: MemoryStore,
}

impl Backend for Place {
    type Store = Flawed;

    async fn open(&self) -> Result<Flawed, StoreError> {
        Ok(Flawed { flaw: self.flaw, inner: reopened(&self.store) })
    }
}

/// A memory store with one flaw.
struct Flawed {
    flaw: Flaw,
    inner: MemoryStore,
}

/// Whether a task was made by one of the suite's engines.
fn is_of_an_engine(record: &TaskRecord) -> bool {
    record.tool.name == "contract"
}

/// How many seconds after the beginning of a rule, whose clock stands still until then.
fn seconds(time: &Timestamp) -> i64 {
    (time.unix_millis() - mcp_tasks::testing::ManualClock::default().now_millis()) / 1_000
}

impl Flawed {
    async fn head(&self, id: &TaskId) -> Result<Option<SharedRecord>, StoreError> {
        Ok(self.inner.load(id, Parts::Head).await?.filter(|record| is_of_an_engine(record)))
    }

    /// A task as it is read.
    fn read(&self, record: SharedRecord) -> SharedRecord {
        let mut read = TaskRecord::clone(&record);
        match (self.flaw, &mut read.status_message) {
            (Flaw::AddsToStatuses, Some(message)) => message.push(' '),
            (Flaw::CountsToTwo, _) => read.attempt = read.attempt.min(2),
            _ => return record,
        }
        read.into()
    }
}

impl Store for Flawed {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        if self.flaw == Flaw::AnswersTooEarly && is_of_an_engine(&record) {
            return Ok(record.into());
        }
        if self.flaw == Flaw::HoldsUpOthers
            && is_of_an_engine(&record)
            && self.inner.count_live(Some(&record.owner), 1).await? > 0
        {
            return Err(StoreError::new(StoreErrorKind::Refused, "there is a live task"));
        }
        self.inner.insert(record).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        let found = self.inner.load(id, parts).await?;
        Ok(found.map(|record| if is_of_an_engine(&record) { self.read(record) } else { record }))
    }

    async fn replace(&self, record: TaskRecord, expected: u64) -> Result<SharedRecord, StoreError> {
        let (mut record, mut expected) = (record, expected);
        if is_of_an_engine(&record) {
            let age = seconds(&record.last_updated_at) - seconds(&record.created_at);
            if self.flaw == Flaw::MixesUpLateEnds && record.state.is_terminal() && age > 100 {
                record.state = State::Cancelled;
            }
            if self.flaw == Flaw::OverwritesWishes
                && record.cancel.is_none()
                && let Some(stored) = self.head(&record.id).await?
                && stored.cancel.is_some()
                && !stored.state.is_terminal()
            {
                (record.version, expected) = (stored.version + 1, stored.version);
            }
        }
        self.inner.replace(record, expected).await
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        let again = StepRecord::new(format!("{} again", step.name), "print", step.value.clone());
        let written = self.inner.append_step(id, token, step).await;
        if self.flaw == Flaw::WritesStepsTwice && written.is_err() && self.head(id).await?.is_some() {
            // Of other refusals as well: then it is refused again.
            let _ = self.inner.append_step(id, token, again).await;
        }
        written
    }

    async fn remove(&self, id: &TaskId, expected: u64) -> Result<(), StoreError> {
        if self.flaw == Flaw::KeepsRemoved && self.head(id).await?.is_some() {
            return Ok(());
        }
        self.inner.remove(id, expected).await
    }

    async fn claim(&self, claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        let claimed = self.inner.claim(claim.clone()).await?;
        let mut taken = Vec::new();
        for mut record in claimed {
            if is_of_an_engine(&record) {
                if self.flaw == Flaw::BeginsWithTheSecondToken && record.fence == 1 {
                    let mut freed = TaskRecord::clone(&record);
                    (freed.lease, freed.version) = (None, record.version + 1);
                    self.inner.replace(freed, record.version).await?;
                    record = self.inner.claim(claim.clone()).await?.pop().unwrap_or(record);
                }
                if self.flaw == Flaw::ForgetsStepsOfLateTasks && seconds(&record.created_at) > 50 {
                    let mut forgetful = TaskRecord::clone(&record);
                    forgetful.steps.clear();
                    record = forgetful.into();
                }
                record = self.read(record);
            }
            taken.push(record);
        }
        Ok(taken)
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        if self.flaw == Flaw::RenewsNothing {
            for id in ids {
                if self.head(id).await?.is_some() {
                    return Ok(ids.len() as u64);
                }
            }
        }
        self.inner.renew(worker, ids, until).await
    }

    forward_store!(|flawed| &flawed.inner; due, find_call, count_live, list, changes, properties, close);
}
