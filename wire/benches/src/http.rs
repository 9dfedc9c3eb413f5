//! What serving over HTTP costs: polls, creation, event streams and subscriptions, beside a bare axum handler that
//! answers the same bytes, and beside the task server of another SDK.
//!
//! Arguments name the cases to run; without any, all of them. Each server is a process of its own, and the load comes
//! from this one, with 32 connections that stay open. A table on standard error, one JSON line a bar on standard
//! output; a bar with a goal says whether it is met, and the exit status is 1 when one is not.

mod bare;
mod bars;
#[path = "http/load.rs"]
mod load;
#[path = "http/servers.rs"]
mod servers;

use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bare::{bare_file, bare_writer, by_callers};
use bars::{Goal, Row, report, tell};
use load::{
    Amount, CONNECTIONS, Client, Measured, body, call, call_with_progress, load, load_with, poll, request,
    task_id,
};
use servers::Process;

/// Many short turns: what else the machine does then hits all rows alike.
const ROUNDS: usize = 15;
const ROUND: Amount = Amount::For(Duration::from_millis(300));

/// How many tasks are polled in turn, also where many more are kept.
const FEW: usize = 100;
const MANY: usize = 10_000;

/// Makes tasks, and gives their ids in no order once all have ended.
async fn filled(server: &Process, kept: usize) -> Vec<String> {
    let calls: Rc<[Vec<u8>]> = [call("finish")].into();
    let amount = Amount::Requests(kept.next_multiple_of(CONNECTIONS));
    let (_, mut ids) = load_with(server.address, &calls, amount, task_id).await;
    ended(server, ids.iter().rev().take(CONNECTIONS)).await;
    // By what their random ids are, so in no order of memory or file.
    ids.sort();
    ids.truncate(kept);
    ids
}

async fn ended(server: &Process, ids: impl Iterator<Item = &String>) {
    let mut client = Client::connect(server.address).await.expect("a connection");
    for id in ids {
        let poll = poll(id);
        while !body(client.ask(&poll).await.expect("an answer")).contains(r#""status":"completed""#) {
            tokio::task::yield_now().await;
        }
    }
}

fn polls_of(ids: &[String]) -> Rc<[Vec<u8>]> {
    ids.iter().map(|id| poll(id)).collect()
}

/// A bare handler that answers what another server answered, but for the ids.
async fn bare_handler(folder: &Path, server: &Process, request: &[u8]) -> Process {
    let mut client = Client::connect(server.address).await.expect("a connection");
    let answer = client.ask(request).await.expect("an answer");
    let (text, id) = (body(answer), task_id(answer));
    let text = text.replace(&format!(r#""{id}""#), "\"\0TASK\0\"").replace(r#""id":1,"#, "\"id\":\0ID\0,");
    assert!(text.contains("\0TASK\0") && text.contains("\0ID\0"), "{text}");
    let path = folder.join(format!("{}.template", text.len()));
    std::fs::write(&path, text).expect("a template");
    Process::start(&["axum", &path.display().to_string()])
}

async fn polls() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (few, many) = (file("few.db"), file("many.db"));
    let kinds: [(&[&str], usize, &str); 6] = [
        (&["ours", "memory"], FEW, "memory, 100 kept"),
        (&["ours", "memory"], MANY, "memory, 10000 kept"),
        (&["ours", "sqlite", &few], FEW, "SQLite, 100 kept"),
        (&["ours", "sqlite", &many], MANY, "SQLite, 10000 kept"),
        (&["rmcp"], FEW, "rmcp, 100 kept"),
        (&["rmcp"], MANY, "rmcp, 10000 kept"),
    ];
    // Servers, what they are asked, and under which name.
    let mut rows: Vec<(Rc<Process>, Rc<[Vec<u8>]>, String)> = Vec::new();
    for (arguments, kept, name) in kinds {
        let server = Rc::new(Process::start(arguments));
        let ids = filled(&server, kept).await;
        rows.push((Rc::clone(&server), polls_of(&ids[..FEW]), name.to_owned()));
        if kept == MANY {
            // Those do not fit into the processor's nearer caches any more, here and there.
            rows.push((server, polls_of(&ids), name.replace("10000 kept", "each of 10000")));
        }
    }
    let (first, polls) = (Rc::clone(&rows[0].0), Rc::clone(&rows[0].1));
    let bare = bare_handler(folder.path(), &first, &polls[0]).await;
    rows.insert(0, (Rc::new(bare), polls, "axum".to_owned()));

    let mut rates: Vec<Row> = rows.iter().map(|(_, _, name)| Row::new(name)).collect();
    let mut times: Vec<Row> = rows.iter().map(|(_, _, name)| Row::of("us", name)).collect();
    for _ in 0..ROUNDS {
        for (index, (server, polls, _)) in rows.iter().enumerate() {
            let Measured { rate, p99 } = load(server.address, polls, ROUND).await;
            rates[index].values.push(rate);
            times[index].values.push(p99);
        }
    }
    report("polls", &rates.into_iter().map(with_goals).collect::<Vec<_>>());
    let times = times.into_iter().map(|row| match row.name.as_str() {
        "axum" => row,
        "memory, 100 kept" => row.at_most(2.0, "axum"),
        _ => row.beside("axum"),
    });
    report("polls, p99", &times.collect::<Vec<_>>());
}

fn with_goals(row: Row) -> Row {
    match row.name.as_str() {
        "axum" => row,
        "memory, 100 kept" => row.at_least(0.6, "axum").at_least(1.7, "rmcp, 100 kept"),
        "memory, 10000 kept" => row.at_least(0.9, "memory, 100 kept").at_least(20.0, "rmcp, 10000 kept"),
        "memory, each of 10000" => row.beside("memory, 10000 kept").beside("rmcp, each of 10000"),
        "SQLite, 100 kept" => row.at_least(0.4, "axum").at_least(1.0, "rmcp, 100 kept"),
        "SQLite, 10000 kept" => row.at_least(0.9, "SQLite, 100 kept").at_least(14.0, "rmcp, 10000 kept"),
        "SQLite, each of 10000" => row.beside("SQLite, 10000 kept").beside("rmcp, each of 10000"),
        _ => row.beside("axum"),
    }
}

/// Creations until all that was created has ended, per second.
async fn created(server: &Process, count: usize) -> f64 {
    let calls: Rc<[Vec<u8>]> = [call("finish")].into();
    let start = Instant::now();
    let (_, ids) = load_with(server.address, &calls, Amount::Requests(count), task_id).await;
    let step = (count / CONNECTIONS).max(1);
    // The last one of each connection.
    ended(server, ids.iter().skip(step - 1).step_by(step)).await;
    count as f64 / start.elapsed().as_secs_f64()
}

async fn creates() {
    const COUNT: usize = 10_016;
    let folder = tempfile::tempdir().expect("a folder");
    let first = Process::start(&["ours", "memory"]);
    let bare = bare_handler(folder.path(), &first, &call("finish")).await;
    drop(first);
    let mut rates = [
        Row::new("axum"),
        Row::new("memory, fresh").at_least(0.4, "axum").at_least(2.5, "rmcp, fresh"),
        Row::new("memory, 10000 kept").at_least(0.9, "memory, fresh").at_least(15.0, "rmcp, 10000 kept"),
        Row::new("rmcp, fresh").beside("axum"),
        Row::new("rmcp, 10000 kept").beside("axum"),
        Row::new("bare group commit, 64 callers"),
        Row::new("SQLite FULL, fresh")
            .at_least(0.22, "bare group commit, 64 callers")
            .at_least(1.3, "rmcp, fresh"),
        Row::new("SQLite FULL, 10000 kept")
            .at_least(0.9, "SQLite FULL, fresh")
            .at_least(3.5, "rmcp, 10000 kept"),
    ];
    let calls: Rc<[Vec<u8>]> = [call("finish")].into();
    let group = bare_writer(bare_file(&folder.path().join("group.db")));
    for round in 0..ROUNDS / 2 {
        rates[0].values.push(load(bare.address, &calls, Amount::Requests(2 * COUNT)).await.rate);
        let memory = Process::start(&["ours", "memory"]);
        rates[1].values.push(created(&memory, COUNT).await);
        rates[2].values.push(created(&memory, COUNT).await);
        drop(memory);
        let peer = Process::start(&["rmcp"]);
        // It slows down with each task that it keeps: this is its first second.
        rates[3].values.push(created(&peer, 6_016).await);
        filled(&peer, 4_000).await;
        rates[4].values.push(load(peer.address, &calls, ROUND).await.rate);
        drop(peer);
        let base = round * 1_000_000;
        rates[5].values.push(group_commits(group.clone(), base));
        let path = folder.path().join(format!("{round}.db"));
        let durable = Process::start(&["ours", "sqlite", &path.display().to_string()]);
        rates[6].values.push(created(&durable, COUNT).await);
        rates[7].values.push(created(&durable, COUNT).await);
    }
    report("create, run, finish", &rates);
}

/// The bare work on two threads, as in `bench engine`.
fn group_commits(
    writer: std::sync::mpsc::Sender<(String, tokio::sync::oneshot::Sender<()>)>,
    base: usize,
) -> f64 {
    std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
        runtime.block_on(by_callers(64, 200, move |number| {
            let sender = writer.clone();
            async move {
                let (done, receiver) = tokio::sync::oneshot::channel();
                sender.send((format!("tsk_{:032x}", base as u64 + number), done)).expect("the writer");
                receiver.await.expect("a commit");
            }
        }))
    })
    .join()
    .expect("a rate")
}

/// Answers in two events on a listener that nobody has told of TCP_NODELAY, beside answers in plain JSON on the same
/// one.
async fn streams() {
    let ours = Process::start(&["ours", "nested"]);
    let peers = [Process::start(&["rmcp", "nested", "json"]), Process::start(&["rmcp", "nested", "events"])];
    let plain: Rc<[Vec<u8>]> = [call("tell")].into();
    let told: Rc<[Vec<u8>]> = [call_with_progress("tell")].into();
    // That server streams whatever it answers, or nothing of it.
    let list: Rc<[Vec<u8>]> = [request("tools/list", None, r#""x":1"#)].into();
    let mut rows = [
        Row::of("us", "JSON"),
        Row::of("us", "event stream").at_most(2.0, "JSON"),
        Row::of("us", "rmcp, JSON"),
        Row::of("us", "rmcp, event stream").beside("rmcp, JSON"),
    ];
    for _ in 0..ROUNDS {
        rows[0].values.push(load(ours.address, &plain, ROUND).await.p99);
        rows[1].values.push(load(ours.address, &told, ROUND).await.p99);
        rows[2].values.push(load(peers[0].address, &list, ROUND).await.p99);
        rows[3].values.push(load(peers[1].address, &list, ROUND).await.p99);
    }
    report("plain axum::serve, p99", &rows);
}

/// One task changes, and everybody is told.
async fn subscriptions() {
    const SUBSCRIPTIONS: usize = 1_000;
    let server = Process::start(&["ours", "memory"]);
    let mut client = Client::connect(server.address).await.expect("a connection");
    let id = task_id(client.ask(&call("wait")).await.expect("a task"));
    let params = format!(r#""notifications":{{"taskIds":["{id}"]}}"#);
    let listen = request("subscriptions/listen", None, &params);
    let poll = poll(&id);
    while !body(client.ask(&poll).await.expect("an answer")).contains("input_required") {
        tokio::task::yield_now().await;
    }
    // What the process needs in any case; the connection is gone before it is looked at.
    let mut one = Client::connect(server.address).await.expect("a connection");
    one.send(&listen).await.expect("a request");
    one.wait_for("input_required").await.expect("the present state");
    let before = server.resident_bytes();
    let mut clients = vec![one];
    while clients.len() < SUBSCRIPTIONS + 1 {
        let mut client = Client::connect(server.address).await.expect("a connection");
        client.send(&listen).await.expect("a request");
        client.wait_for("input_required").await.expect("the present state");
        clients.push(client);
    }
    let bytes = (server.resident_bytes() - before) / SUBSCRIPTIONS as f64;
    let goal = Some(Goal::AtMost(1.0));
    let limit = f64::from(32 << 10);
    tell("1000 subscriptions", "memory of each", (bytes, "bytes"), ("32 KiB", bytes / limit), goal);
    let answer = format!(
        r#""taskId":"{id}","inputResponses":{{"approve":{{"action":"accept","content":{{"approved":true}}}}}}"#
    );
    let start = Instant::now();
    client.ask(&request("tasks/update", Some(&id), &answer)).await.expect("an answer");
    let mut heard = Vec::new();
    for client in &mut clients {
        client.wait_for(r#""status":"completed""#).await.expect("the change");
        heard.push(start.elapsed());
    }
    let last = heard.iter().max().copied().unwrap_or_default().as_secs_f64();
    tell("1000 subscriptions", "the last one hears it", (last * 1e6, "us"), ("1 s", last), goal);
}

/// The cases by name, in the order in which they run.
const CASES: [&str; 4] = ["polls", "creates", "streams", "subscriptions"];

fn run(case: &str) {
    // One thread: the servers have the machine.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match case {
        "polls" => runtime.block_on(polls()),
        "creates" => runtime.block_on(creates()),
        "streams" => runtime.block_on(streams()),
        _ => runtime.block_on(subscriptions()),
    }
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, arguments)) = wanted.split_first()
        && first == "serve"
    {
        servers::run(arguments);
        return ExitCode::SUCCESS;
    }
    // For a profiler: nothing but the load, on a server that was started by `serve`.
    if let [word, address, seconds] = &wanted[..]
        && word == "load"
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let calls: Rc<[Vec<u8>]> = [call("finish")].into();
        let amount = Amount::For(Duration::from_secs(seconds.parse().expect("seconds")));
        let rate = runtime.block_on(load(address.parse().expect("an address"), &calls, amount)).rate;
        eprintln!("{rate:.0} creations a second");
        return ExitCode::SUCCESS;
    }
    if let Some(unknown) = wanted.iter().find(|case| !CASES.contains(&case.as_str())) {
        eprintln!("there is no case `{unknown}`; there are {}", CASES.join(", "));
        return ExitCode::from(2);
    }
    for case in CASES.into_iter().filter(|case| wanted.is_empty() || wanted.iter().any(|name| name == case)) {
        let start = Instant::now();
        run(case);
        eprintln!("{case} took {:.0} s", start.elapsed().as_secs_f64());
    }
    let missed = bars::missed();
    eprintln!("goals missed: {missed}");
    ExitCode::from(u8::from(missed > 0))
}
