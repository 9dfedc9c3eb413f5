//! The store contract itself: each of its rules about stores finds the one that breaks it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::record::StepRecord;
use mcp_tasks::store::{Change, ChangeFeed, Changes, Claim, Cursor, Due, Page, Parts, check_keys};
use mcp_tasks::testing::{Backend, RULES, reopened, store_contract};
use mcp_tasks::types::{TaskId, Timestamp};
use mcp_tasks::{MemoryStore, Owner, SharedRecord, Store, StoreError, TaskRecord, forward_store};

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
    TellsNoClaims,
    HidesFreedTasks,
    ForgetsQuestions,
    ReadsIdsLoosely,
    ChecksVersionsTooEarly,
    ClaimsTogether,
    ChecksCallsTooEarly,
    ChecksStepsTooEarly,
    LosesStepsOnOpening,
    StartsTokensAnew,
    WritesNowhereWhenClosed,
    CutsText,
    TakesLongKeys,
}

/// Each flaw with the rule that finds it. Those before it in the contract hold nevertheless.
const TABLE: [(Flaw, &str); 33] = [
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
    (Flaw::TellsNoClaims, "listener_that_fell_behind_is_told"),
    (Flaw::HidesFreedTasks, "freed_task_is_told_as_claimable"),
    (Flaw::ForgetsQuestions, "question_is_due_in_its_time"),
    (Flaw::ReadsIdsLoosely, "unknown_id_is_not_found_whatever_it_is"),
    (Flaw::ChecksVersionsTooEarly, "concurrent_writers_lose_nothing"),
    (Flaw::ClaimsTogether, "concurrent_claims_take_each_task_once"),
    (Flaw::ChecksCallsTooEarly, "concurrent_creations_of_one_call_make_one_task"),
    (Flaw::ChecksStepsTooEarly, "concurrent_steps_of_one_name_are_recorded_once"),
    (Flaw::LosesStepsOnOpening, "everything_is_there_after_opening_again"),
    (Flaw::StartsTokensAnew, "opening_again_ends_all_leases"),
    (Flaw::WritesNowhereWhenClosed, "closed_store_gives_its_place_back"),
    (Flaw::CutsText, "large_record_is_kept_whole"),
    (Flaw::TakesLongKeys, "keys_are_kept_up_to_their_limit"),
];

#[tokio::test]
async fn each_rule_about_stores_finds_the_one_that_breaks_it() {
    for (flaw, rule) in TABLE {
        let violation = store_contract(|| Place::new(flaw)).await.unwrap_err();
        assert_eq!(violation.rule, rule, "{flaw:?}: {violation}");
    }
    let violation = store_contract(|| OneAtATime(MemoryStore::new())).await.unwrap_err();
    assert_eq!(violation.rule, SHARED_RULE, "{violation}");
    let violation = store_contract(|| TwoClocks(Arc::new(MemoryStore::new()))).await.unwrap_err();
    assert_eq!(violation.rule, SHARED_RULE, "{violation}");
    assert!(violation.message.contains("clock"), "{violation}");
    let covered: BTreeSet<&str> = TABLE.iter().map(|(_, rule)| *rule).chain([SHARED_RULE]).collect();
    assert_eq!(covered, RULES.iter().copied().collect::<BTreeSet<&str>>());
}

const SHARED_RULE: &str = "two_stores_at_once_are_one_place";

/// Says that it is shared, and fences one store off when the next one is opened.
struct OneAtATime(MemoryStore);

impl Backend for OneAtATime {
    type Store = MemoryStore;
    const SHARED: bool = true;

    async fn open(&self) -> Result<MemoryStore, StoreError> {
        Ok(reopened(&self.0))
    }
}

/// One store that all have at once, but each tells leases in the time of another clock.
struct TwoClocks(Arc<MemoryStore>);

struct Ahead {
    inner: Arc<MemoryStore>,
    ahead_ms: i64,
}

impl Backend for TwoClocks {
    type Store = Ahead;
    const SHARED: bool = true;

    async fn open(&self) -> Result<Ahead, StoreError> {
        let others = i64::try_from(Arc::strong_count(&self.0)).unwrap();
        Ok(Ahead { inner: Arc::clone(&self.0), ahead_ms: 10_000 * others })
    }
}

impl Store for Ahead {
    forward_store! {
        |ahead| &ahead.inner;
        insert, load, replace, append_step, remove, claim, renew, due, find_call, count_live, list, changes,
        reads_may_lag, is_shared, close,
    }

    fn clock_ahead_ms(&self) -> i64 {
        self.ahead_ms
    }
}

/// One store that all have at once.
struct InCommon(Arc<MemoryStore>);

impl Backend for InCommon {
    type Store = Arc<MemoryStore>;
    const SHARED: bool = true;

    async fn open(&self) -> Result<Arc<MemoryStore>, StoreError> {
        Ok(Arc::clone(&self.0))
    }
}

/// S-36: the rules of a shared place can be kept.
#[tokio::test]
async fn store_that_all_have_in_common_keeps_the_contract() {
    store_contract(|| InCommon(Arc::new(MemoryStore::new()))).await.unwrap();
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
        let (ids, claims, feed) = (Mutex::default(), Mutex::default(), ChangeFeed::default());
        let closed = AtomicBool::new(false);
        Ok(Flawed { flaw: self.flaw, inner, opened_again, ids, claims, feed, closed })
    }
}

/// A memory store with one flaw.
struct Flawed {
    flaw: Flaw,
    inner: MemoryStore,
    opened_again: bool,
    ids: Mutex<Vec<TaskId>>,
    /// What the claims took that are under way.
    claims: Mutex<Vec<SharedRecord>>,
    /// What is told in place of everything.
    feed: ChangeFeed,
    closed: AtomicBool,
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
        if self.has(Flaw::WritesNowhereWhenClosed) && self.closed.load(Ordering::SeqCst) {
            return Ok(record.into());
        }
        if self.has(Flaw::TakesLongKeys) && check_keys(&record).is_err() {
            return Ok(record.into());
        }
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
        if self.has(Flaw::ChecksCallsTooEarly)
            && let Some(call) = record.same_call.clone()
            && self.inner.find_call(&call).await?.is_none()
        {
            tokio::task::yield_now().await;
            if self.inner.find_call(&call).await?.is_some() {
                record.same_call = None;
            }
        }
        let inserted = self.inner.insert(record).await?;
        self.feed.written(&inserted);
        Ok(inserted)
    }

    async fn load(&self, id: &TaskId, parts: Parts) -> Result<Option<SharedRecord>, StoreError> {
        let parts = match self.flaw {
            Flaw::LosesParameters => Parts::Head,
            Flaw::LoadsAlwaysWhole => Parts::Whole,
            _ => parts,
        };
        let id = match self.flaw {
            Flaw::ReadsIdsLoosely => &TaskId::from(id.as_str().trim().to_lowercase()),
            _ => id,
        };
        let Some(record) = self.inner.load(id, parts).await? else { return Ok(None) };
        let mut record = TaskRecord::clone(&record);
        if self.has(Flaw::KnowsOneMethod) && self.opened_again {
            record.method = "tools/call".to_owned();
        }
        if self.has(Flaw::LosesStepsOnOpening) && self.opened_again {
            record.steps.clear();
        }
        if self.has(Flaw::CutsText)
            && let Some(message) = &mut record.status_message
        {
            *message = message.chars().take(1_000).collect();
        }
        Ok(Some(record.into()))
    }

    async fn replace(&self, record: TaskRecord, expected: u64) -> Result<SharedRecord, StoreError> {
        let (id, lease) = (record.id.clone(), record.lease.clone());
        let expected =
            if self.has(Flaw::IgnoresVersion) { self.stored(&id, expected).await? } else { expected };
        let before = self.inner.load(&id, Parts::Whole).await?;
        let mut record = record;
        let mut expected = expected;
        if self.has(Flaw::ChecksVersionsTooEarly)
            && before.as_ref().is_some_and(|before| before.version == expected)
        {
            tokio::task::yield_now().await;
            expected = self.stored(&id, expected).await?;
        }
        if self.has(Flaw::ClaimsParked) {
            record.parked = None;
        }
        let written = self.inner.replace(record, expected).await?;
        let claimable = written.claimable_millis() == Some(i64::MIN) && !self.has(Flaw::HidesFreedTasks);
        self.feed.send(Change::Written { id: id.clone(), version: written.version, claimable });
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
        if self.has(Flaw::ChecksStepsTooEarly)
            && stored == Some(token)
            && let Some(record) = self.inner.load(id, Parts::Whole).await?
            && record.steps.iter().all(|known| known.name != step.name)
        {
            tokio::task::yield_now().await;
            // Whatever has come between.
            let _ = self.inner.append_step(id, token, step).await;
            return Ok(());
        }
        let token = stored.filter(|_| self.has(Flaw::IgnoresToken)).unwrap_or(token);
        self.inner.append_step(id, token, step).await
    }

    async fn remove(&self, id: &TaskId, expected: u64) -> Result<(), StoreError> {
        let expected =
            if self.has(Flaw::RemovesAnyVersion) { self.stored(id, expected).await? } else { expected };
        self.inner.remove(id, expected).await?;
        self.feed.removed(id);
        Ok(())
    }

    async fn claim(&self, mut claim: Claim) -> Result<Vec<SharedRecord>, StoreError> {
        match self.flaw {
            Flaw::ClaimsLeased => claim.now = Timestamp::from_unix_millis(i64::MAX),
            Flaw::LeavesOrphans => claim.now = Timestamp::from_unix_millis(0),
            _ => {}
        }
        let mut claimed = self.inner.claim(claim).await?;
        if self.has(Flaw::HidesFreedTasks) {
            claimed.iter().for_each(|record| self.feed.written(record));
        }
        if self.has(Flaw::ClaimsTogether) {
            self.claims.lock().unwrap().extend(claimed.clone());
            tokio::task::yield_now().await;
            let all = self.claims.lock().unwrap().clone();
            self.claims.lock().unwrap().retain(|record| !claimed.contains(record));
            claimed = all;
        }
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
        if self.has(Flaw::ForgetsQuestions) {
            let mut over = Vec::new();
            for id in due.ids {
                let record = self.inner.load(&id, Parts::Head).await?;
                over.extend(record.filter(|record| record.is_over(now.unix_millis())).map(|_| id));
            }
            due.ids = over;
        }
        Ok(due)
    }

    forward_store!(|flawed| &flawed.inner; find_call);

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
        match self.flaw {
            Flaw::TellsNothing => ChangeFeed::default().subscribe(),
            Flaw::TellsNoClaims | Flaw::HidesFreedTasks => self.feed.subscribe(),
            _ => self.inner.changes(),
        }
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }
}
