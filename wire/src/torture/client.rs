//! Clients: create tasks, poll them, answer, cancel, and take note of what they see.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcp_tasks_types::v2026_07_28::{PROTOCOL_VERSION, extension, meta_key};
use serde_json::{Value, json};

use super::cluster::{Cluster, Random};
use super::now;
use super::tally::Tally;

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a server said, if it said anything: a process that was killed says nothing.
enum Said {
    Result(Value),
    Error(i64, String),
    Nothing,
}

struct Client<'c> {
    cluster: &'c Cluster,
    agent: ureq::Agent,
    random: Random,
}

impl<'c> Client<'c> {
    fn new(cluster: &'c Cluster, seed: u64) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(10)))
            .build();
        Self { cluster, agent: config.into(), random: Random::new(seed) }
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Said {
        let mut meta = serde_json::Map::new();
        let capabilities = json!({"elicitation": {"form": {}}, "extensions": {extension::TASKS: {}}});
        meta.insert(meta_key::PROTOCOL_VERSION.to_owned(), json!(PROTOCOL_VERSION));
        meta.insert(meta_key::CLIENT_CAPABILITIES.to_owned(), capabilities);
        params["_meta"] = Value::Object(meta);
        let name = params["taskId"].as_str().or(params["name"].as_str()).unwrap_or_default().to_owned();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let url = self.cluster.url(self.random.next());
        let sent = self
            .agent
            .post(&url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", PROTOCOL_VERSION)
            .header("Mcp-Method", method)
            .header("Mcp-Name", name)
            .send(request.to_string());
        let text = sent.and_then(|mut answer| answer.body_mut().read_to_string());
        let Some(answer) = text.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
            return Said::Nothing;
        };
        match (answer.get("result"), answer.get("error")) {
            (Some(result), _) => Said::Result(result.clone()),
            (_, Some(error)) => {
                let message = error["message"].as_str().unwrap_or_default();
                Said::Error(error["code"].as_i64().unwrap_or_default(), message.to_owned())
            }
            _ => Said::Nothing,
        }
    }

    fn create(&mut self, tally: &Mutex<Tally>) {
        let (tool, arguments) = match self.random.below(10) {
            0..=2 => ("quick", json!({})),
            3 | 4 => ("slow", json!({"millis": self.random.below(800)})),
            5 | 6 => ("asking", json!({})),
            7 | 8 => ("stepwise", json!({"steps": 1 + self.random.below(6)})),
            _ => ("panicking", json!({})),
        };
        let start = now();
        let said = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        if let Said::Result(result) = said
            && let Some(id) = result["taskId"].as_str()
        {
            lock(tally).created(id, start.elapsed());
        }
    }

    /// Polls a task and does what it wants.
    fn attend(&mut self, tally: &Mutex<Tally>, id: &str) {
        let began_after_end = lock(tally).has_ended(id);
        match self.ask("tasks/get", json!({"taskId": id})) {
            Said::Result(snapshot) => {
                lock(tally).polled(id, began_after_end, &snapshot);
                if let Some(questions) = snapshot["inputRequests"].as_object() {
                    let answer = json!({"action": "accept", "content": {"approved": true}});
                    let answers: serde_json::Map<String, Value> =
                        questions.keys().map(|key| (key.clone(), answer.clone())).collect();
                    self.ask("tasks/update", json!({"taskId": id, "inputResponses": answers}));
                }
            }
            Said::Error(-32602, message) if message.contains("not found") => lock(tally).unknown(id),
            Said::Error(..) | Said::Nothing => {}
        }
    }
}

/// Loads the servers until the time comes.
pub(super) fn load(cluster: &Cluster, tally: &Mutex<Tally>, seed: u64, stop: Instant) {
    let mut client = Client::new(cluster, seed);
    while now() < stop {
        client.create(tally);
        let ids: Vec<String> = lock(tally).tasks.keys().cloned().collect();
        for _ in 0..3 {
            let choice = usize::try_from(client.random.next()).unwrap_or(0);
            let Some(id) = ids.get(choice % ids.len().max(1)) else { continue };
            if client.random.below(20) == 0 {
                client.ask("tasks/cancel", json!({"taskId": id}));
            }
            client.attend(tally, id);
        }
    }
}

/// Looks after every task until all have ended, or the time comes, and looks at each once more.
pub(super) fn drain(cluster: &Cluster, tally: &mut Tally, stop: Instant) {
    let mut client = Client::new(cluster, 0);
    let shared = Mutex::new(std::mem::take(tally));
    let all: Vec<String> = lock(&shared).tasks.keys().cloned().collect();
    loop {
        let open = lock(&shared).open();
        if open.is_empty() || now() >= stop {
            break;
        }
        for id in &open {
            client.attend(&shared, id);
        }
        // Work takes its time; how often it is asked for, and nothing else.
        std::thread::sleep(Duration::from_millis(20));
    }
    for id in &all {
        client.attend(&shared, id);
    }
    *tally = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
}
