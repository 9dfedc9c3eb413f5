//! The reference sequence, driven against the real example server.
//!
//! The server process is ended and started anew between every two steps, on one SQLite file: what
//! the next process knows, it knows from the file.
//! Over HTTP the process is killed, over stdio it ends because its input does.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

mod peer;

use std::{
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use mcp_tasks_types::v2026_07_28::{
    CreateTaskResult, DiscoverResult, GetTaskResult, PROTOCOL_VERSION, UpdateTaskResult, extension, meta_key,
    method::{ELICITATION_CREATE, SERVER_DISCOVER, TASKS_GET, TASKS_UPDATE, TOOLS_CALL},
};
use peer::{HttpPeer, Peer, StdioPeer};
use serde_json::{Value, json};

/// What went wrong, for a person.
type Failure = Box<dyn std::error::Error>;

/// What the server tells clients to wait between two polls; short, so that the demo is.
const POLL_MS: &str = "50";
/// How long a step may take before the demo says that the server does not get there.
const PATIENCE: Duration = Duration::from_secs(20);

/// One step: a request, and what its answer has to say.
struct Step {
    id: u64,
    method: &'static str,
    /// How many step boundaries the worker of this process may pass.
    worker_steps: &'static str,
    result_type: &'static str,
    status: &'static str,
    /// Whether the status is the worker's doing, so that the client polls for it.
    polls: bool,
}

const SEQUENCE: [Step; 6] = [
    Step {
        id: 0,
        method: SERVER_DISCOVER,
        worker_steps: "0",
        result_type: "complete",
        status: "ack",
        polls: false,
    },
    Step {
        id: 1,
        method: TOOLS_CALL,
        worker_steps: "0",
        result_type: "task",
        status: "working",
        polls: false,
    },
    Step {
        id: 2,
        method: TASKS_GET,
        worker_steps: "0",
        result_type: "complete",
        status: "working",
        polls: false,
    },
    Step {
        id: 3,
        method: TASKS_GET,
        worker_steps: "1",
        result_type: "complete",
        status: "input_required",
        polls: true,
    },
    Step {
        id: 4,
        method: TASKS_UPDATE,
        worker_steps: "1",
        result_type: "complete",
        status: "ack",
        polls: false,
    },
    Step {
        id: 5,
        method: TASKS_GET,
        worker_steps: "2",
        result_type: "complete",
        status: "completed",
        polls: true,
    },
];

/// Runs the sequence over both transports.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    if let Some(argument) = arguments.first() {
        eprintln!("demo: takes no argument `{argument}`");
        return ExitCode::from(2);
    }
    match both_transports() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("demo: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn both_transports() -> Result<(), Failure> {
    let server = build_server()?;
    for transport in [Transport::Http, Transport::Stdio] {
        writeln!(
            stdout(),
            "{}, one SQLite file, a new server process for every request:\n",
            transport.title()
        )?;
        let folder = tempfile::tempdir()?;
        drive(&server, &folder.path().join("tasks.db"), transport)?;
        writeln!(stdout())?;
    }
    writeln!(stdout(), "Both runs gave the reference sequence.")?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Transport {
    Http,
    Stdio,
}

impl Transport {
    fn title(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Stdio => "stdio",
        }
    }

    fn start(self, server: &Path, store: &Path, worker_steps: &str) -> Result<Box<dyn Peer>, Failure> {
        let mut command = Command::new(server);
        command.arg("--store").arg(format!("sqlite:{}", store.display())).args([
            "--poll-ms",
            POLL_MS,
            "--steps",
            worker_steps,
        ]);
        Ok(match self {
            Self::Http => Box::new(HttpPeer::start(&mut command)?),
            Self::Stdio => Box::new(StdioPeer::start(&mut command)?),
        })
    }
}

/// Six requests, six processes, one store.
fn drive(server: &Path, store: &Path, transport: Transport) -> Result<(), Failure> {
    let mut task_id = None;
    for step in &SEQUENCE {
        let peer = transport.start(server, store, step.worker_steps)?;
        let result = perform(&mut stdout(), step, peer, task_id.as_deref())?;
        if let Some(id) = result.get("taskId").and_then(Value::as_str) {
            task_id = Some(id.to_owned());
        }
    }
    Ok(())
}

/// Sends one step's request, again and again where the worker has to get somewhere first.
fn perform(
    out: &mut impl Write,
    step: &Step,
    mut peer: Box<dyn Peer>,
    task_id: Option<&str>,
) -> Result<Value, Failure> {
    let request = request(step, task_id)?;
    writeln!(out, "-> {}", shortened(&request))?;

    let deadline = peer::now() + PATIENCE;
    let expected = line(step.id, step.result_type, step.status);
    loop {
        let answer = peer.ask(&request)?;
        let found = line_of(step.id, &answer);
        let result = answer.get("result").cloned().unwrap_or_default();
        let waits = step.polls && found != expected && is_live(&result) && peer::now() < deadline;
        if waits {
            let interval = result.get("pollIntervalMs").and_then(Value::as_u64);
            // As often as the server asks to be polled.
            std::thread::sleep(Duration::from_millis(interval.unwrap_or(1_000)));
            continue;
        }
        writeln!(out, "<- {}", shortened(&answer))?;
        writeln!(out, "{found}")?;
        if found != expected {
            return Err(format!("the answer differs\n  expected: {expected}\n  found:    {found}").into());
        }
        check(step, &answer, &result)?;
        peer.end()?;
        return Ok(result);
    }
}

fn is_live(result: &Value) -> bool {
    matches!(result.get("status").and_then(Value::as_str), Some("working" | "input_required"))
}

/// What the printed line does not show: types, ids, identity, the question and the result.
fn check(step: &Step, answer: &Value, result: &Value) -> Result<(), Failure> {
    let text = result.to_string();
    match step.method {
        SERVER_DISCOVER => mcp_tasks_types::from_str::<DiscoverResult>(&text).map(drop),
        TOOLS_CALL => mcp_tasks_types::from_str::<CreateTaskResult>(&text).map(drop),
        TASKS_GET => mcp_tasks_types::from_str::<GetTaskResult>(&text).map(drop),
        _ => mcp_tasks_types::from_str::<UpdateTaskResult>(&text).map(drop),
    }?;
    let identity = &result["_meta"][meta_key::SERVER_INFO]["name"];
    if !identity.is_string() {
        return Err(differs("a server identity", result));
    }
    if answer["id"] != json!(step.id) {
        return Err(differs(&format!("id {}", step.id), answer));
    }
    let wrong = match step.id {
        0 => result["capabilities"]["extensions"][extension::TASKS] != json!({}),
        1 => result["ttlMs"] != json!(900_000) || !result["statusMessage"].is_string(),
        3 => result["inputRequests"]["approve_outline"]["method"] != json!(ELICITATION_CREATE),
        5 => {
            result["result"]["structuredContent"] != json!({"size": "large", "approved": true})
                || result["result"]["isError"] != json!(false)
                || result["result"]["resultType"] != json!("complete")
        }
        _ => false,
    };
    if wrong {
        return Err(differs("the content that the sequence prescribes", result));
    }
    Ok(())
}

fn differs(expected: &str, found: &Value) -> Failure {
    format!("the answer differs\n  expected: {expected}\n  found:    {found}").into()
}

/// The request of a step, with the `_meta` that every request carries.
fn request(step: &Step, task_id: Option<&str>) -> Result<Value, Failure> {
    let task_id = || task_id.ok_or("no task was created");
    let mut params = match step.method {
        TOOLS_CALL => json!({"name": "generate_report", "arguments": {"size": "large"}}),
        TASKS_GET => json!({"taskId": task_id()?}),
        TASKS_UPDATE => json!({
            "taskId": task_id()?,
            "inputResponses": {"approve_outline": {"action": "accept", "content": {"approved": true}}},
        }),
        _ => json!({}),
    };
    params["_meta"] = json!({
        meta_key::PROTOCOL_VERSION: PROTOCOL_VERSION,
        meta_key::CLIENT_INFO: {"name": "demo", "version": env!("CARGO_PKG_VERSION")},
        meta_key::CLIENT_CAPABILITIES: {
            "elicitation": {"form": {}},
            "extensions": {extension::TASKS: {}},
        },
    });
    Ok(json!({"jsonrpc": "2.0", "id": step.id, "method": step.method, "params": params}))
}

fn line(id: u64, result_type: &str, status: &str) -> String {
    format!("id={id} resultType={result_type} status={status}")
}

/// The line of an answer: an error, or a result without the member, is told as such.
fn line_of(id: u64, answer: &Value) -> String {
    if let Some(error) = answer.get("error") {
        return format!("id={id} error={error}");
    }
    let text = |member: &str| answer["result"][member].as_str();
    line(id, text("resultType").unwrap_or("(none)"), text("status").unwrap_or("ack"))
}

/// A message for a person: without envelope, `_meta` and what is the same every time.
fn shortened(message: &Value) -> String {
    let (head, body) = match message.get("method").and_then(Value::as_str) {
        Some(method) => (format!("{method} "), &message["params"]),
        None => (String::new(), message.get("result").or(message.get("error")).unwrap_or(message)),
    };
    let mut body = body.clone();
    shorten(&mut body);
    format!("{head}{body}")
}

const UNINTERESTING: [&str; 7] = [
    "_meta",
    "cacheScope",
    "createdAt",
    "instructions",
    "lastUpdatedAt",
    "pollIntervalMs",
    "requestedSchema",
];

fn shorten(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in UNINTERESTING {
                members.remove(name);
            }
            members.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// Builds the example and says where it is.
fn build_server() -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--package", "mcp-tasks-examples"])
        .args(["--bin", "report", "--message-format", "json-render-diagnostics"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the example does not build".into());
    }
    for line in String::from_utf8(output.stdout)?.lines() {
        let message: Value = serde_json::from_str(line)?;
        if message["target"]["name"] == json!("report")
            && let Some(executable) = message["executable"].as_str()
        {
            return Ok(executable.into());
        }
    }
    Err("cargo did not say where the example's program is".into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Failure, SEQUENCE, line_of, peer::Peer, perform};

    /// A server that says what it was told to say, in order.
    struct Scripted(Vec<Value>);

    impl Peer for Scripted {
        fn ask(&mut self, _request: &Value) -> Result<Value, Failure> {
            Ok(self.0.remove(0))
        }

        fn end(self: Box<Self>) -> Result<(), Failure> {
            Ok(())
        }
    }

    fn snapshot(status: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 2, "result": {
            "resultType": "complete", "taskId": "tsk_1", "status": status,
            "createdAt": "2026-08-21T10:30:00Z", "lastUpdatedAt": "2026-08-21T10:30:00Z",
            "ttlMs": 900_000, "pollIntervalMs": 1,
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
        }})
    }

    fn run(step: usize, answers: Vec<Value>) -> Result<Value, String> {
        let peer = Box::new(Scripted(answers));
        perform(&mut std::io::sink(), &SEQUENCE[step], peer, Some("tsk_1"))
            .map_err(|failure| failure.to_string())
    }

    /// S-40
    #[test]
    fn any_difference_fails_and_tells_both_sides() {
        assert!(run(2, vec![snapshot("working")]).is_ok());
        let failure = run(2, vec![snapshot("cancelled")]).unwrap_err();
        assert!(failure.contains("expected: id=2 resultType=complete status=working"), "{failure}");
        assert!(failure.contains("found:    id=2 resultType=complete status=cancelled"), "{failure}");

        let mut nobody = snapshot("working");
        nobody["result"]["_meta"] = json!({});
        assert!(run(2, vec![nobody]).is_err());
        let mut other_id = snapshot("working");
        other_id["id"] = json!("2");
        assert!(run(2, vec![other_id]).is_err());
        let mut no_lifetime = snapshot("working");
        no_lifetime["result"].as_object_mut().unwrap().remove("ttlMs");
        assert!(run(2, vec![no_lifetime]).is_err());
    }

    #[test]
    fn only_a_live_task_is_polled_again() {
        let mut done = snapshot("completed");
        done["id"] = json!(5);
        done["result"]["result"] = json!({
            "resultType": "complete", "content": [], "isError": false,
            "structuredContent": {"size": "large", "approved": true},
        });
        assert!(run(5, vec![snapshot("working"), snapshot("working"), done.clone()]).is_ok());
        assert!(run(5, vec![snapshot("cancelled"), done]).is_err());
    }

    /// S-40: the word where there is no status.
    #[test]
    fn an_acknowledgement_and_an_error_have_their_own_lines() {
        let acknowledged = json!({"id": 4, "result": {"resultType": "complete"}});
        assert_eq!(line_of(4, &acknowledged), "id=4 resultType=complete status=ack");
        let error = json!({"id": 4, "error": {"code": 1}});
        assert_eq!(line_of(4, &error), r#"id=4 error={"code":1}"#);
    }
}
