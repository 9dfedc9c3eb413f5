//! What the clients saw, and what it adds up to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::Options;
use super::effects::Effect;

/// One task whose handle a client holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The end, as it was first seen.
    end: Option<Value>,
    pub(super) lost: bool,
}

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) tasks: BTreeMap<String, Seen>,
    pub(super) create_times: Vec<Duration>,
    pub(super) kills: usize,
    pub(super) crashes: usize,
    pub(super) duration_ms: u128,
    changed: BTreeSet<String>,
    repeated: BTreeSet<(String, String)>,
    twice: BTreeSet<String>,
    recovered: BTreeSet<String>,
}

impl Tally {
    pub(super) fn created(&mut self, id: &str, took: Duration) {
        self.tasks.entry(id.to_owned()).or_default();
        self.create_times.push(took);
    }

    /// Takes note of what a poll gave. A task that has ended stays as it is.
    pub(super) fn polled(&mut self, id: &str, snapshot: &Value) {
        let status = snapshot["status"].as_str().unwrap_or_default();
        if !matches!(status, "completed" | "failed" | "cancelled") {
            if self.tasks.get(id).is_some_and(|seen| seen.end.is_some()) {
                self.changed.insert(id.to_owned());
            }
            return;
        }
        let end = json!({
            "status": status, "result": snapshot["result"], "error": snapshot["error"],
            "statusMessage": snapshot["statusMessage"], "lastUpdatedAt": snapshot["lastUpdatedAt"],
        });
        let Some(seen) = self.tasks.get_mut(id) else { return };
        match &seen.end {
            None => seen.end = Some(end),
            Some(before) if *before == end => {}
            Some(_) => drop(self.changed.insert(id.to_owned())),
        }
    }

    /// The server says that there is no such task.
    pub(super) fn unknown(&mut self, id: &str) {
        if let Some(seen) = self.tasks.get_mut(id) {
            seen.lost = true;
        }
    }

    pub(super) fn open(&self) -> Vec<String> {
        let open = self.tasks.iter().filter(|(_, seen)| seen.end.is_none() && !seen.lost);
        open.map(|(id, _)| id.clone()).collect()
    }

    /// Holds the log of the bodies against what is promised: what is recorded is not done again, and one run ends a
    /// task.
    pub(super) fn effects(&mut self, effects: &[Effect]) {
        let mut recorded: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        let mut finished: BTreeMap<&str, u64> = BTreeMap::new();
        for effect in effects {
            let step = (effect.task.as_str(), effect.step.as_str());
            if effect.token > 1 {
                self.recovered.insert(effect.task.clone());
            }
            match effect.what.as_str() {
                "recorded" => {
                    recorded.entry(step).or_insert(effect.token);
                }
                // A run that was overtaken may still be at it; it is known by its older token.
                "done" if recorded.get(&step).is_some_and(|token| effect.token > *token) => {
                    self.repeated.insert((effect.task.clone(), effect.step.clone()));
                }
                _ => {}
            }
        }
        // Which run a result is of stands in it.
        for (id, seen) in &self.tasks {
            let token = seen.end.as_ref().and_then(|end| end.pointer("/result/structuredContent/token"));
            if let Some(token) = token.and_then(Value::as_u64) {
                finished.insert(id, token);
            }
        }
        for effect in effects.iter().filter(|effect| effect.what == "ended") {
            if finished.get(effect.task.as_str()).is_some_and(|token| *token != effect.token)
                && self.changed.contains(&effect.task)
            {
                self.twice.insert(effect.task.clone());
            }
        }
    }

    fn lost(&self) -> usize {
        self.tasks.values().filter(|seen| seen.lost).count()
    }

    pub(super) fn holds(&self) -> bool {
        self.lost() == 0
            && self.changed.is_empty()
            && self.repeated.is_empty()
            && self.twice.is_empty()
            && self.open().is_empty()
            && !self.tasks.is_empty()
    }

    pub(super) fn line(&self, options: &Options) -> Value {
        let mut times = self.create_times.clone();
        times.sort_unstable();
        let p99 = times.get(times.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default();
        json!({
            "store": options.store, "replicas": options.replicas, "seed": options.seed,
            "handles": self.tasks.len(), "lost": self.lost(), "changed": self.changed.len(),
            "repeated_steps": self.repeated.len(), "finished_twice": self.twice.len(),
            "stuck": self.open().len(), "recovered": self.recovered.len(), "kills": self.kills,
            "database_crashes": self.crashes,
            "duration_ms": self.duration_ms, "create_p99_ms": p99.as_secs_f64() * 1_000.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Effect, Tally};
    use serde_json::json;
    use std::time::Duration;

    fn effect(what: &str, step: &str, token: u64) -> Effect {
        Effect { what: what.to_owned(), task: "t".to_owned(), step: step.to_owned(), token }
    }

    fn tally() -> Tally {
        let mut tally = Tally::default();
        tally.created("t", Duration::from_millis(1));
        tally
    }

    #[test]
    fn task_that_changes_after_its_end_is_found_out() {
        let mut tally = tally();
        assert!(!tally.holds(), "a task that has not ended is stuck");
        tally.polled("t", &json!({"status": "completed", "result": {"a": 1}}));
        tally.polled("t", &json!({"status": "completed", "result": {"a": 1}}));
        assert!(tally.holds());
        tally.polled("t", &json!({"status": "completed", "result": {"a": 2}}));
        assert!(!tally.holds());
    }

    #[test]
    fn task_that_is_gone_is_lost() {
        let mut tally = tally();
        tally.unknown("t");
        assert!(!tally.holds());
        assert_eq!(tally.lost(), 1);
    }

    #[test]
    fn recorded_step_that_is_done_again_is_found_out() {
        let ended = json!({"status": "completed", "result": {}});
        let mut at_the_edge = tally();
        at_the_edge.polled("t", &ended);
        at_the_edge.effects(&[effect("done", "a", 1), effect("done", "a", 2), effect("recorded", "a", 2)]);
        assert!(at_the_edge.holds(), "done and not recorded");
        let mut overtaken = tally();
        overtaken.polled("t", &ended);
        overtaken.effects(&[effect("recorded", "a", 2), effect("done", "a", 1)]);
        assert!(overtaken.holds(), "an older run");
        let mut again = tally();
        again.polled("t", &ended);
        again.effects(&[effect("done", "a", 1), effect("recorded", "a", 1), effect("done", "a", 2)]);
        assert!(!again.holds());
    }
}
