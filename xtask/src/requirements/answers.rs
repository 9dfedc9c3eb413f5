//! Why no test shows a rule, where none does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use super::rules::Rule;
use super::shown::Test;

/// Where the reasons stand.
pub(crate) const ANSWERS: &str = "xtask/requirements/answers.toml";

/// What a reason is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// The rule holds, or binds nobody here.
    Answered,
    /// The rule is about what this project does not serve yet.
    NotYetServed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "answered",
            Self::NotYetServed => "not yet served",
        })
    }
}

/// A reason for some rules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    rows: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    answer: Vec<Answer>,
}

/// The answer of each rule that has one, and what is wrong with the list.
pub(super) fn read(
    text: &str,
    rules: &[Rule],
    tests: &BTreeMap<String, BTreeSet<Test>>,
) -> (BTreeMap<String, Answer>, Vec<String>) {
    let listed: Listed = match toml::from_str(text) {
        Ok(listed) => listed,
        Err(error) => return (BTreeMap::new(), vec![error.to_string()]),
    };
    let mut out: BTreeMap<String, Answer> = BTreeMap::new();
    let mut faults = Vec::new();
    for answer in listed.answer {
        if answer.reason.trim().is_empty() || answer.rows.is_empty() {
            faults.push(format!("an answer needs a reason and rows: {:?} {:?}", answer.reason, answer.rows));
        }
        for id in &answer.rows {
            let rule = rules.iter().find(|rule| rule.id == *id);
            if rule.is_none() {
                faults.push(format!("`{id}` is no rule"));
            }
            if let Some(test) = tests.get(id).and_then(BTreeSet::first) {
                faults.push(format!("`{id}` needs no answer, since a test names it ({test}); take it out"));
            }
            if answer.verdict == Verdict::NotYetServed && rule.is_some_and(Rule::is_for_servers) {
                faults.push(format!("`{id}` is for servers of 2026-07-28; serve it, or answer it"));
            }
            if out.insert(id.clone(), answer.clone()).is_some() {
                faults.push(format!("`{id}` is answered twice"));
            }
        }
    }
    (out, faults)
}
