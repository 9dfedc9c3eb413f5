//! The store contract itself: each of its rules finds the store that breaks it.

use std::collections::BTreeSet;
use std::sync::Mutex;

use mcp_tasks::record::StepRecord;
use mcp_tasks::store::{ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts};
use mcp_tasks::testing::{Backend, RULES, reopened, store_contract};
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{MemoryStore, Owner, SharedRecord, Store, StoreError, TaskRecord};

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    LosesParameters,
    LoadsAlwaysWhole,
    KnowsOneMethod,
    InsertsTwice,
    IgnoresVersion,
    ForgetsSteps,
    RemembersTheForgotten,
    MakesCallsTwice,
    ClaimsParked,
    CountsAll,
    IgnoresToken,
    ClaimsLeased,
    LeavesOrphans,
    RenewsAll,
    TakesRenewalsBack,
    IgnoresLimit,
    HidesLeases,
    IgnoresCursor,
    RemovesAnyVersion,
    TellsNothing,
    LosesStepsOnOpening,
    StartsTokensAnew,
}

/// Each flaw with the rule that finds it. Those before it in the contract hold nevertheless.
const TABLE: [(Flaw, &str); 22] = [
    (Flaw::LosesParameters, "inserted_record_is_read_back_whole"),
    (Flaw::LoadsAlwaysWhole, "head_comes_without_params_and_steps"),
    (Flaw::KnowsOneMethod, "method_may_be_any"),
    (Flaw::InsertsTwice, "second_insert_of_an_id_is_refused"),
    (Flaw::IgnoresVersion, "replace_needs_the_version_that_is_stored"),
    (Flaw::ForgetsSteps, "replace_leaves_params_and_steps"),
    (Flaw::RemembersTheForgotten, "forgotten_task_keeps_nothing"),
    (Flaw::MakesCallsTwice, "same_call_is_made_once"),
    (Flaw::ClaimsParked, "parked_task_is_not_taken_up_until_it_is_wanted"),
    (Flaw::CountsAll, "live_tasks_are_counted_by_owner"),
    (Flaw::IgnoresToken, "step_needs_the_lease_and_a_new_name"),
    (Flaw::ClaimsLeased, "claim_takes_each_free_task_once_with_a_new_token"),
    (Flaw::LeavesOrphans, "claim_takes_over_a_lease_that_ran_out"),
    (Flaw::RenewsAll, "renewed_lease_lasts_longer_and_keeps_the_version"),
    (Flaw::TakesRenewalsBack, "replace_can_end_a_lease_but_not_lengthen_it"),
    (Flaw::IgnoresLimit, "due_tells_what_is_over_and_what_comes_next"),
    (Flaw::HidesLeases, "due_tells_when_the_first_lease_ends"),
    (Flaw::IgnoresCursor, "list_has_the_tasks_of_one_owner_in_pages"),
    (Flaw::RemovesAnyVersion, "removed_record_is_gone"),
    (Flaw::TellsNothing, "changes_are_told"),
    (Flaw::LosesStepsOnOpening, "everything_is_there_after_opening_again"),
    (Flaw::StartsTokensAnew, "opening_again_ends_all_leases"),
];

#[tokio::test]
async fn each_rule_finds_the_store_that_breaks_it() {
    for (flaw, rule) in TABLE {
        let violation = store_contract(|| Place::new(flaw)).await.unwrap_err();
        assert_eq!(violation.rule, rule, "{flaw:?}: {violation}");
    }
    let covered: BTreeSet<&str> = TABLE.iter().map(|(_, rule)| *rule).collect();
    assert_eq!(covered, RULES.iter().copied().collect::<BTreeSet<&str>>());
}

struct Place {
    flaw: Flaw,
    store: MemoryStore,
    openings: Mutex<usize>,
}

impl Place {
    fn new(flaw: Flaw) -> Self {
        Self { flaw, store: MemoryStore::new(), openings: Mutex::new(0) }
    }
}

impl Backend for Place {
    type Store = Flawed;

    async fn open(&self) -> Result<Flawed, StoreError> {
        let mut openings = self.openings.lock().unwrap();
        *openings += 1;
        let (inner, opened_again) = (reopened(&self.store), *openings > 1);
        Ok(Flawed { flaw: self.flaw, inner, opened_again, ids: Mutex::default() })
    }
}

/// A memory store with one flaw.
struct Flawed {
    flaw: Flaw,
    inner: MemoryStore,
    opened_again: bool,
    ids: Mutex<Vec<TaskId>>,
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    /// The version that is stored, whatever was expected.
    async fn stored(&self, id: &TaskId, expected: u64) -> Result<u64, StoreError> {
        Ok(self.inner.load(id, Parts::Head).await?.map_or(expected, |record| record.version))
    }
}

impl Store for Flawed {
    async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
        self.ids.lock().unwrap().push(record.id.clone());
        if self.has(Flaw::InsertsTwice)
            && let Some(before) = self.inner.load(&record.id, Parts::Head).await?
        {
            self.inner.remove(&before.id, before.version).await?;
        }
        let mut record = record;
        if self.has(Flaw::MakesCallsTwice)
            && let Some(call) = &record.same_call
            && self.inner.find_call(call).await?.is_some()
        {
            record.same_call = None;
        }
        self.inner.insert(record).await
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        let parts = match self.flaw {
            Flaw::LosesParameters => Parts::Head,
            Flaw::LoadsAlwaysWhole => Parts::Whole,
            _ => parts,
        };
        let Some(record) = self.inner.load(id, parts).await? else { return Ok(None) };
        let mut record = TaskRecord::clone(&record);
        if self.has(Flaw::KnowsOneMethod) && self.opened_again {
            record.method = "tools/call".to_owned();
        }
        if self.has(Flaw::LosesStepsOnOpening) && self.opened_again {
            record.steps.clear();
        }
        Ok(Some(record.into()))
    }

    async fn replace(&self, record: TaskRecord, expected: u64) -> Result<SharedRecord, StoreError> {
        let (id, lease) = (record.id.clone(), record.lease.clone());
        let expected =
            if self.has(Flaw::IgnoresVersion) { self.stored(&id, expected).await? } else { expected };
        let before = self.inner.load(&id, Parts::Whole).await?;
        let mut record = record;
        if self.has(Flaw::ClaimsParked) {
            record.parked = None;
        }
        let written = self.inner.replace(record, expected).await?;
        if self.has(Flaw::RemembersTheForgotten)
            && let Some(before) = before.filter(|_| written.forgotten_at.is_some())
        {
            self.inner.remove(&id, written.version).await?;
            let (params, steps) = (before.params.clone(), before.steps.clone());
            let mut kept = TaskRecord::clone(&written);
            (kept.params, kept.steps) = (params, steps);
            return self.inner.insert(kept).await;
        }
        if self.has(Flaw::ForgetsSteps) {
            self.inner.remove(&id, written.version).await?;
            return self.inner.insert(TaskRecord::clone(&written)).await;
        }
        if self.has(Flaw::TakesRenewalsBack)
            && let Some(lease) = lease
        {
            self.inner.renew(&lease.worker, std::slice::from_ref(&id), &lease.until).await?;
            return Ok(self.inner.load(&id, Parts::Head).await?.unwrap());
        }
        Ok(written)
    }

    async fn append_step(&self, id: &TaskId, token: u64, step: StepRecord) -> Result<(), StoreError> {
        let stored = self.inner.load(id, Parts::Head).await?;
        let stored = stored.and_then(|record| record.lease.as_ref().map(|lease| lease.token));
        let token = stored.filter(|_| self.has(Flaw::IgnoresToken)).unwrap_or(token);
        self.inner.append_step(id, token, step).await
    }

    async fn remove(&self, id: &TaskId, expected: u64) -> Result<(), StoreError> {
        let expected =
            if self.has(Flaw::RemovesAnyVersion) { self.stored(id, expected).await? } else { expected };
        self.inner.remove(id, expected).await
    }

    async fn claim(&self, mut claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        match self.flaw {
            Flaw::ClaimsLeased => claim.now = Timestamp::from_unix_millis(i64::MAX),
            Flaw::LeavesOrphans => claim.now = Timestamp::from_unix_millis(0),
            _ => {}
        }
        let mut claimed = self.inner.claim(claim).await?;
        if self.has(Flaw::StartsTokensAnew) && self.opened_again {
            for record in &mut claimed {
                let mut old = TaskRecord::clone(record);
                old.fence = 1;
                *record = old.into();
            }
        }
        Ok(claimed)
    }

    async fn renew(&self, worker: &str, ids: &[TaskId], until: &Timestamp) -> Result<u64, StoreError> {
        let all = self.ids.lock().unwrap().clone();
        self.inner.renew(worker, if self.has(Flaw::RenewsAll) { &all } else { ids }, until).await
    }

    async fn due(&self, now: &Timestamp, limit: usize) -> Result<Due, StoreError> {
        let limit = if self.has(Flaw::IgnoresLimit) { usize::MAX } else { limit };
        let mut due = self.inner.due(now, limit).await?;
        if self.has(Flaw::HidesLeases) {
            due.lease_end = None;
        }
        Ok(due)
    }

    async fn find_call(&self, same_call: &str) -> Result<Option<SharedRecord>, StoreError> {
        self.inner.find_call(same_call).await
    }

    async fn count_live(&self, owner: Option<&Owner>, at_most: usize) -> Result<usize, StoreError> {
        let owner = owner.filter(|_| !self.has(Flaw::CountsAll));
        self.inner.count_live(owner, at_most).await
    }

    async fn list(
        &self,
        owner: Option<&Owner>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let after = after.filter(|_| !self.has(Flaw::IgnoresCursor));
        self.inner.list(owner, after, limit).await
    }

    fn changes(&self) -> Changes {
        if self.has(Flaw::TellsNothing) { ChangeFeed::default().subscribe() } else { self.inner.changes() }
    }
}
