//! What is expected: the scenarios that concern us, and what each has to say.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;

/// How many checks of a scenario came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Verdict {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warned: usize,
    pub(super) skipped: usize,
}

impl Verdict {
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.warned += other.warned;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, warned, skipped } = self;
        write!(f, "passed {passed:3}  failed {failed:3}  warned {warned:3}  skipped {skipped:3}")
    }
}

/// A committed list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// How the names begin that the list is about; empty for all of a revision.
    #[serde(default)]
    select: String,
    scenario: BTreeMap<String, Verdict>,
    /// Scenarios that no server of ours can serve, with the reason.
    #[serde(default)]
    left_out: BTreeMap<String, String>,
}

impl List {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// How the names begin; empty where the list is about all of a revision.
    pub(super) fn select(&self) -> &str {
        &self.select
    }

    /// That this scenario is one of the list.
    pub(super) fn has(&self, scenario: &str) -> Result<(), String> {
        if self.scenario.contains_key(scenario) {
            return Ok(());
        }
        if let Some(reason) = self.left_out.get(scenario) {
            return Err(format!("`{scenario}` is left out: {reason}"));
        }
        let known: Vec<&str> = self.scenario.keys().map(String::as_str).collect();
        Err(format!("`{scenario}` is no scenario of the list; known are {}", known.join(", ")))
    }

    pub(super) fn expected(&self, scenario: &str) -> Option<Verdict> {
        self.scenario.get(scenario).copied()
    }

    /// Where the list and the suite do not agree about which scenarios there are.
    pub(super) fn compare(&self, known: &[String]) -> Vec<String> {
        let listed = |name: &str| self.scenario.contains_key(name) || self.left_out.contains_key(name);
        let new = known.iter().filter(|name| !listed(name));
        let new = new.map(|name| format!("{name} is in the suite and not in the list"));
        let all = self.scenario.keys().chain(self.left_out.keys());
        let gone = all.filter(|name| !known.contains(name));
        let gone = gone.map(|name| format!("{name} is in the list and not in the suite"));
        new.chain(gone).collect()
    }

    /// What was left out and why, by reasons.
    pub(super) fn left_out(&self) -> Option<String> {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, reason) in &self.left_out {
            reasons.entry(reason).or_default().push(name);
        }
        let reasons: Vec<String> = reasons
            .iter()
            .map(|(reason, names)| format!("{} left out, {reason}: {}", names.len(), names.join(", ")))
            .collect();
        (!reasons.is_empty()).then(|| reasons.join("\n  "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        let text =
            "select = \"tasks-\"\n[scenario]\ntasks-a = { passed = 2 }\n[left_out]\ntasks-b = \"prompts\"\n";
        toml::from_str(text).unwrap()
    }

    #[test]
    fn new_and_missing_scenarios_are_told() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(list().compare(&names(&["tasks-a", "tasks-b"])).is_empty());
        let told = list().compare(&names(&["tasks-a", "tasks-c"]));
        assert_eq!(
            told,
            ["tasks-c is in the suite and not in the list", "tasks-b is in the list and not in the suite"]
        );
    }

    #[test]
    fn a_scenario_that_is_misspelt_or_left_out_is_refused_with_the_known_ones_or_the_reason() {
        assert_eq!(list().has("tasks-a"), Ok(()));
        let refused = list().has("task-a").unwrap_err();
        assert_eq!(refused, "`task-a` is no scenario of the list; known are tasks-a");
        assert_eq!(list().has("tasks-b").unwrap_err(), "`tasks-b` is left out: prompts");
    }

    #[test]
    fn fewer_checks_than_listed_are_not_as_expected() {
        let expected = list().expected("tasks-a").unwrap();
        assert_ne!(expected, Verdict { passed: 1, ..Verdict::default() });
        assert_ne!(expected, Verdict { passed: 2, failed: 1, ..Verdict::default() });
        assert_eq!(expected, Verdict { passed: 2, ..Verdict::default() });
        assert_eq!(list().left_out().unwrap(), "1 left out, prompts: tasks-b");
    }
}
