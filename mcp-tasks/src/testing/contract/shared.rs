//! Rules about a place that several processes have open at once.

use mcp_tasks_types::{RawJson, TaskId};

use super::{Checked, at, claim_by, ensure, expect_equal, expect_error, load, open, record, told, write};
use crate::lifecycle::Event;
use crate::record::{StepRecord, TaskRecord};
use crate::store::{Change, Parts, Store, StoreErrorKind};
use crate::testing::Backend;

/// How far two measurements of one clock may be apart.
const CLOCKS_MS: u64 = 5_000;

/// S-36, S-37: what one process writes, the other reads and hears of; a lease is one worker's; each write that is late
/// is refused, wherever it comes from.
pub(super) async fn two_stores_at_once_are_one_place<B: Backend>(backend: &B) -> Checked {
    if !B::SHARED {
        return Ok(());
    }
    let (one, two) = (open(backend).await?, open(backend).await?);
    // Both tell leases in the time of one clock, however far this process's own is from it.
    let (ahead, too) = (one.clock_ahead_ms(), two.clock_ahead_ms());
    ensure!(ahead.abs_diff(too) <= CLOCKS_MS, "the shared clock is {ahead} ms ahead, and {too} ms");
    let mut changes = two.changes();
    let first = told(one.insert(record("tsk_1")).await)?;
    expect_equal(&*load(&two, "tsk_1", Parts::Whole).await?, &first)?;
    expect_error(two.insert(record("tsk_1")).await, StoreErrorKind::Conflict, "an insert of a taken id")?;
    let claimed = told(one.claim(claim_by("one", 0, 100)).await)?.pop().ok_or("nothing was claimed")?;
    // Whoever comes later leaves the lease to the one who lives.
    let three = open(backend).await?;
    expect_equal(&*load(&three, "tsk_1", Parts::Whole).await?, &claimed)?;
    let free = told(two.claim(claim_by("two", 99, 200)).await)?;
    ensure!(free.is_empty(), "a task that another process has was claimed");
    ensure!(told(two.due(&at(0), 10).await)?.lease_end == Some(at(100)), "the other's lease is not seen");
    let taken =
        told(two.claim(claim_by("two", 100, 200)).await)?.pop().ok_or("a free task was not claimed")?;
    ensure!(taken.fence == 2, "the token did not grow");
    let step = one.append_step(&"tsk_1".into(), 1, StepRecord::new("a", "print", RawJson::null())).await;
    expect_error(step, StoreErrorKind::Conflict, "a step of the process that lost its lease")?;
    let late = TaskRecord { version: claimed.version + 1, ..TaskRecord::clone(&claimed) };
    let late = one.replace(late, claimed.version).await;
    expect_error(late, StoreErrorKind::Conflict, "a write of the process that lost its lease")?;
    ensure!(told(one.renew("one", &["tsk_1".into()], &at(900)).await)? == 0, "a lost lease was renewed");
    let known = load(&one, "tsk_1", Parts::Head).await?;
    let ended = write(&one, &known, Event::Cancel { reason: None }, 110).await?;
    told(one.remove(&ended.id, ended.version).await)?;
    let id = TaskId::from("tsk_1");
    let wanted = [
        Change::Written { id: id.clone(), version: first.version, claimable: true },
        Change::Written { id: id.clone(), version: ended.version, claimable: false },
        Change::Removed { id },
    ];
    let mut wanted = wanted.iter().peekable();
    while let Some(next) = wanted.peek() {
        // Claims may be told or not, and a backend may know no more than that something changed.
        match changes.next().await {
            Some(Change::Resync) => return Ok(()),
            Some(told) if told == **next => drop(wanted.next()),
            Some(Change::Written { .. }) => {}
            told => return Err(format!("told {told:?}, not {next:?}")),
        }
    }
    Ok(())
}
