//! Rules about many who write at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_tasks_types::TaskId;
use tokio::task::JoinHandle;

use super::{
    Checked, apply, at, claim_by, ensure, expect_equal, ids, load, object, open, raw, record, told, write,
};
use crate::lifecycle::Event;
use crate::record::{StepRecord, TaskRecord};
use crate::store::{Claim, Parts, Store, StoreError, StoreErrorKind};
use crate::testing::Backend;

/// How many write at once.
const WRITERS: usize = 8;

/// How often each of them writes.
const ROUNDS: usize = 5;

/// Starts the same work for each writer.
fn each<T, W>(work: impl Fn(usize) -> W) -> Vec<JoinHandle<T>>
where
    T: Send + 'static,
    W: Future<Output = T> + Send + 'static,
{
    (0..WRITERS).map(|writer| tokio::spawn(work(writer))).collect()
}

async fn joined<T>(handles: Vec<JoinHandle<T>>) -> Result<Vec<T>, String> {
    let mut answers = Vec::new();
    for handle in handles {
        answers.push(handle.await.map_err(|err| format!("a writer ended: {err}"))?);
    }
    Ok(answers)
}

/// One of the answers is a success, all others are conflicts.
fn expect_one<T>(answers: &[Result<T, StoreError>], what: &str) -> Checked {
    let won = answers.iter().filter(|answer| answer.is_ok()).count();
    ensure!(won == 1, "{won} of {} {what} succeeded", answers.len());
    for answer in answers {
        if let Err(err) = answer {
            ensure!(
                err.kind() == StoreErrorKind::Conflict,
                "one of the {what} that lost gives {:?}",
                err.kind()
            );
        }
    }
    Ok(())
}

/// Of those who start from the same version one wins, and whoever reads again and writes again gets through.
pub(super) async fn concurrent_writers_lose_nothing<B: Backend>(backend: &B) -> Checked {
    let store = Arc::new(open(backend).await?);
    let first = told(store.insert(record("tsk_1")).await)?;
    let claimed = told(store.claim(claim_by("one", 0, 100)).await)?.pop().ok_or("nothing was claimed")?;
    let from_one_version = each(|writer| {
        let (store, claimed) = (Arc::clone(&store), Arc::clone(&claimed));
        async move {
            let status = Event::Status { token: 1, message: format!("first of {writer}") };
            let next = apply(&claimed, status, &at(1)).map_err(|err| err.to_string())?;
            Ok::<_, String>(store.replace(next, claimed.version).await)
        }
    });
    let answers = joined(from_one_version).await?.into_iter().collect::<Result<Vec<_>, _>>()?;
    expect_one(&answers, "writes of one version")?;
    let in_turn = each(|writer| {
        let store = Arc::clone(&store);
        async move {
            let mut versions = Vec::new();
            while versions.len() < ROUNDS {
                let head = load(&*store, "tsk_1", Parts::Head).await?;
                tokio::task::yield_now().await;
                let message = format!("{} of {writer}", versions.len());
                let next = apply(&head, Event::Status { token: 1, message }, &at(2));
                match store.replace(next.map_err(|err| err.to_string())?, head.version).await {
                    Ok(written) => versions.push(written.version),
                    Err(err) if err.kind() == StoreErrorKind::Conflict => {}
                    Err(err) => return told(Err(err)),
                }
            }
            Ok::<_, String>(versions)
        }
    });
    let mut versions = Vec::new();
    for of_writer in joined(in_turn).await? {
        versions.extend(of_writer?);
    }
    let different: BTreeSet<u64> = versions.iter().copied().collect();
    ensure!(different.len() == WRITERS * ROUNDS, "two writes were answered with one version: {versions:?}");
    let last = load(&*store, "tsk_1", Parts::Head).await?.version;
    // The insertion, the claim, the one of all, and theirs.
    let wanted = first.version + 2 + (WRITERS * ROUNDS) as u64;
    ensure!(last == wanted, "the version is {last} instead of {wanted}");
    Ok(())
}

/// S-37: and each of them gets other tasks.
pub(super) async fn concurrent_claims_take_each_task_once<B: Backend>(backend: &B) -> Checked {
    const TASKS: usize = 40;
    let store = Arc::new(open(backend).await?);
    let inserts = (0..TASKS).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { told(store.insert(record(&format!("tsk_{number}"))).await).map(drop) })
    });
    joined(inserts.collect()).await?.into_iter().collect::<Checked>()?;
    let claims = each(|writer| {
        let store = Arc::clone(&store);
        async move {
            let mut taken = Vec::new();
            loop {
                let claim = Claim { limit: 3, ..claim_by(&format!("worker {writer}"), 0, 100) };
                let claimed = told(store.claim(claim).await)?;
                if claimed.is_empty() {
                    return Ok::<_, String>((writer, taken));
                }
                taken.extend(claimed);
                tokio::task::yield_now().await;
            }
        }
    });
    let mut all = BTreeSet::new();
    let mut count = 0;
    for of_worker in joined(claims).await? {
        let (writer, taken) = of_worker?;
        let worker = format!("worker {writer}");
        ensure!(
            taken.iter().all(|record| record.fence == 1
                && record.lease.as_ref().is_some_and(|lease| lease.worker == worker && lease.token == 1)),
            "a claim gave tasks with another one's lease: {taken:?}"
        );
        count += taken.len();
        all.extend(taken.into_iter().map(|record| record.id.clone()));
    }
    ensure!(
        count == TASKS && all.len() == TASKS,
        "{count} leases were given for {} of {TASKS} tasks",
        all.len()
    );
    Ok(())
}

pub(super) async fn concurrent_creations_of_one_call_make_one_task<B: Backend>(backend: &B) -> Checked {
    let store = Arc::new(open(backend).await?);
    let params = object(r#"{"n":1}"#)?;
    let calls = each(|writer| {
        let (store, params) = (Arc::clone(&store), params.clone());
        async move {
            let same_call = Some("the call".to_owned());
            let id = format!("tsk_{writer}");
            store.insert(TaskRecord { same_call, params: Some(params), ..record(&id) }).await
        }
    });
    let calls = joined(calls).await?;
    expect_one(&calls, "creations of one call")?;
    let found = told(store.find_call("the call").await)?.ok_or("the call is not found")?;
    let all = told(store.list(None, None, 100).await)?;
    ensure!(ids(&all.records) == [found.id.as_str()], "the tasks are {:?}", ids(&all.records));
    let same_id = each(|writer| {
        let store = Arc::clone(&store);
        async move { store.insert(TaskRecord { method: format!("m{writer}"), ..record("tsk_x") }).await }
    });
    let same_id = joined(same_id).await?;
    expect_one(&same_id, "creations under one id")?;
    let won = same_id.into_iter().flatten().next().ok_or("nobody won")?;
    expect_equal(&*load(&*store, "tsk_x", Parts::Whole).await?, &won)
}

/// And of different names all are.
pub(super) async fn concurrent_steps_of_one_name_are_recorded_once<B: Backend>(backend: &B) -> Checked {
    let store = Arc::new(open(backend).await?);
    told(store.insert(record("tsk_1")).await)?;
    told(store.claim(claim_by("one", 0, 100)).await)?;
    let id = TaskId::from("tsk_1");
    let step = |name: String, writer: usize| {
        let (store, id) = (Arc::clone(&store), id.clone());
        async move {
            let value = raw(&writer.to_string())?;
            Ok::<_, String>(store.append_step(&id, 1, StepRecord::new(name, "print", value)).await)
        }
    };
    let same = joined(each(|writer| step("one".to_owned(), writer))).await?;
    let same = same.into_iter().collect::<Result<Vec<_>, _>>()?;
    expect_one(&same, "steps of one name")?;
    for answer in joined(each(|writer| step(format!("of {writer}"), writer))).await? {
        told(answer?)?;
    }
    let read = load(&*store, "tsk_1", Parts::Whole).await?;
    let names: BTreeSet<&str> = read.steps.iter().map(|step| step.name.as_str()).collect();
    ensure!(read.steps.len() == WRITERS + 1 && names.len() == WRITERS + 1, "the steps are {:?}", read.steps);
    let won = same.iter().position(Result::is_ok).ok_or("nobody won")?;
    let kept = read.steps.iter().find(|step| step.name == "one").ok_or("the step is not there")?;
    ensure!(
        kept.value.as_str() == won.to_string(),
        "the step of another writer than the one that was told is kept"
    );
    // A write that comes between leaves them all.
    let status = Event::Status { token: 1, message: "on it".to_owned() };
    write(&*store, &read, status, 5).await?;
    let after = load(&*store, "tsk_1", Parts::Whole).await?;
    ensure!(after.steps == read.steps, "a write changed the steps");
    Ok(())
}
