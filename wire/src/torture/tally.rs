//! What the clients saw, and what it adds up to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::Options;
use super::effects::{self, Effect};

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
    /// How many ends of a task were recorded, under whatever token.
    ends: BTreeMap<String, usize>,
    recovered: BTreeSet<String>,
}

impl Tally {
    pub(super) fn created(&mut self, id: &str, took: Duration) {
        self.tasks.entry(id.to_owned()).or_default();
        self.create_times.push(took);
    }

    /// Whether somebody has seen the task's end, to be asked before a poll.
    pub(super) fn has_ended(&self, id: &str) -> bool {
        self.tasks.get(id).is_some_and(|seen| seen.end.is_some())
    }

    /// Takes note of what a poll gave that began [before or after](Self::has_ended) an end was seen. A task that has
    /// ended stays as it is; but of two polls at once, the one that found it working may be told of last.
    pub(super) fn polled(&mut self, id: &str, began_after_end: bool, snapshot: &Value) {
        let status = snapshot["status"].as_str().unwrap_or_default();
        if !matches!(status, "completed" | "failed" | "cancelled") {
            if began_after_end {
                self.change(id, snapshot);
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
            Some(_) => self.change(id, snapshot),
        }
    }

    fn change(&mut self, id: &str, snapshot: &Value) {
        let before = self.tasks.get(id).and_then(|seen| seen.end.as_ref()).unwrap_or(&Value::Null);
        eprintln!("torture: task {id} had ended as {before} and is now {snapshot}");
        self.changed.insert(id.to_owned());
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

    /// Holds the log of the processes against what is promised: what is recorded is not done again, and a task ends
    /// once. What clients saw plays no part in it.
    pub(super) fn effects(&mut self, effects: &[Effect]) {
        let mut recorded: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for effect in effects {
            let step = (effect.task.as_str(), effect.step.as_str());
            match effect.what.as_str() {
                effects::RECORDED => {
                    recorded.entry(step).or_insert(effect.token);
                }
                // A run that was overtaken may still be at it; it is known by its older token.
                effects::DONE if recorded.get(&step).is_some_and(|token| effect.token > *token) => {
                    self.repeated.insert((effect.task.clone(), effect.step.clone()));
                }
                effects::TAKEN_OVER => drop(self.recovered.insert(effect.task.clone())),
                effects::FINISHED => *self.ends.entry(effect.task.clone()).or_default() += 1,
                _ => {}
            }
        }
    }

    fn finished_twice(&self) -> usize {
        self.ends.values().filter(|count| **count > 1).count()
    }

    fn lost(&self) -> usize {
        self.tasks.values().filter(|seen| seen.lost).count()
    }

    pub(super) fn holds(&self) -> bool {
        self.lost() == 0
            && self.changed.is_empty()
            && self.repeated.is_empty()
            && self.finished_twice() == 0
            && self.open().is_empty()
            // Where nothing is told of ends, nothing is known of second ones.
            && !self.ends.is_empty()
            && !self.tasks.is_empty()
    }

    pub(super) fn line(&self, options: &Options) -> Value {
        let mut times = self.create_times.clone();
        times.sort_unstable();
        let p99 = times.get(times.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default();
        json!({
            "store": options.store, "replicas": options.replicas, "seed": options.seed,
            "handles": self.tasks.len(), "recorded_ends": self.ends.len(), "lost": self.lost(), "changed": self.changed.len(),
            "repeated_steps": self.repeated.len(), "finished_twice": self.finished_twice(),
            "stuck": self.open().len(), "recovered": self.recovered.len(), "kills": self.kills,
            "database_crashes": self.crashes,
            "duration_ms": self.duration_ms, "create_p99_ms": p99.as_secs_f64() * 1_000.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Effect, Options, Tally, effects};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn effect(what: &str, step: &str, token: u64) -> Effect {
        Effect { what: what.to_owned(), task: "t".to_owned(), step: step.to_owned(), token }
    }

    /// One task, created and nothing else.
    fn created() -> Tally {
        let mut tally = Tally::default();
        tally.created("t", Duration::from_millis(1));
        tally
    }

    /// One task that ended as it should.
    fn ended() -> Tally {
        let mut tally = created();
        tally.polled("t", false, &json!({"status": "completed", "result": {"a": 1}}));
        tally.effects(&[effect(effects::FINISHED, "completed", 1)]);
        assert!(tally.holds());
        tally
    }

    /// The counts of the line that are not zero, of those that should be.
    fn wrong(tally: &Tally) -> Vec<(&'static str, u64)> {
        let options = Options { store: "s".to_owned(), replicas: 1, seconds: 1, seed: 1, broken: false };
        let line = tally.line(&options);
        let counts = ["lost", "changed", "repeated_steps", "finished_twice", "stuck"];
        let counts = counts.map(|name| (name, line.get(name).and_then(Value::as_u64).unwrap()));
        let wrong: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(tally.holds(), wrong.is_empty());
        wrong
    }

    fn recovered(effects: &[Effect]) -> usize {
        let mut tally = ended();
        tally.effects(effects);
        tally.recovered.len()
    }

    #[test]
    fn task_that_does_not_end_is_stuck() {
        let mut tally = created();
        tally.effects(&[effect(effects::FINISHED, "completed", 1)]);
        assert_eq!(wrong(&tally), [("stuck", 1)]);
    }

    #[test]
    fn task_that_changes_after_its_end_is_changed() {
        let mut tally = ended();
        tally.polled("t", false, &json!({"status": "completed", "result": {"a": 1}}));
        assert_eq!(wrong(&tally), []);
        for snapshot in [json!({"status": "completed", "result": {"a": 2}}), json!({"status": "working"})] {
            let mut tally = ended();
            tally.polled("t", tally.has_ended("t"), &snapshot);
            assert_eq!(wrong(&tally), [("changed", 1)]);
        }
    }

    #[test]
    fn poll_that_began_before_the_end_was_seen_may_have_found_it_working() {
        let mut tally = created();
        let began_after_end = tally.has_ended("t");
        tally.polled("t", began_after_end, &json!({"status": "completed", "result": {}}));
        tally.polled("t", began_after_end, &json!({"status": "working"}));
        tally.effects(&[effect(effects::FINISHED, "completed", 1)]);
        assert_eq!(wrong(&tally), []);
        // Two ends are never one, whoever was first.
        tally.polled("t", began_after_end, &json!({"status": "failed"}));
        assert_eq!(wrong(&tally), [("changed", 1)]);
    }

    #[test]
    fn task_that_is_gone_is_lost() {
        let mut tally = ended();
        tally.unknown("t");
        assert_eq!(wrong(&tally), [("lost", 1)]);
    }

    #[test]
    fn recorded_step_that_is_done_again_is_repeated() {
        let with = |effects: &[Effect]| {
            let mut tally = ended();
            tally.effects(effects);
            wrong(&tally)
        };
        let (done, recorded) =
            (|token| effect(effects::DONE, "a", token), |token| effect(effects::RECORDED, "a", token));
        assert_eq!(with(&[done(1), done(2), recorded(2)]), [], "done and not recorded");
        assert_eq!(with(&[recorded(2), done(1)]), [], "an older run");
        assert_eq!(with(&[done(1), recorded(1), done(2)]), [("repeated_steps", 1)]);
    }

    /// Whatever clients saw, which may have been one of the ends alone.
    #[test]
    fn task_of_which_two_ends_are_recorded_is_finished_twice() {
        for token in [1, 2] {
            let mut tally = ended();
            tally.effects(&[effect(effects::FINISHED, "completed", token)]);
            assert_eq!(wrong(&tally), [("finished_twice", 1)]);
        }
    }

    #[test]
    fn task_of_a_process_that_died_is_recovered_and_one_that_was_woken_is_not() {
        assert_eq!(recovered(&[effect(effects::TAKEN_OVER, "-", 2)]), 1);
        assert_eq!(recovered(&[effect(effects::DONE, "a", 2), effect(effects::RECORDED, "a", 2)]), 0);
    }

    #[test]
    fn tally_without_tasks_or_without_ends_proves_nothing() {
        assert!(!Tally::default().holds());
        let mut silent = created();
        silent.polled("t", false, &json!({"status": "completed", "result": {}}));
        assert!(!silent.holds());
    }
}
