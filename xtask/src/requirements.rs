//! `cargo xtask requirements [--check] [ID...]`: every rule of the protocol, with the tests that name it or the reason
//! why none does; from that it makes `docs/conformance.md`.
//!
//! The rules stand in `xtask/requirements/rules.md`, the reasons in `answers.toml` beside it. A rule for servers of
//! 2026-07-28 that has neither fails the command, and so does a reason that is no longer needed.

mod answers;
mod document;
mod rules;
mod shown;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

pub(crate) use answers::ANSWERS;
use answers::Answer;
pub(crate) use document::DOCUMENT;
use document::{counts, document, said};
pub(crate) use rules::{LIST, Rule, ids, parse};
use shown::Test;

use crate::output::say;
use crate::tidy::repository::{File, Repository};

const USAGE: &str = "usage: cargo xtask requirements [--check] [ID...]";

/// What is said of a rule.
#[derive(Clone, Debug)]
enum Status<'a> {
    Shown(&'a BTreeSet<Test>),
    Answered(&'a Answer),
    Open,
}

/// All rules with what is said of them.
#[derive(Debug)]
pub(crate) struct Requirements {
    rules: Vec<Rule>,
    tests: BTreeMap<String, BTreeSet<Test>>,
    answers: BTreeMap<String, Answer>,
    /// What is wrong with the list of reasons.
    faults: Vec<String>,
}

impl Requirements {
    /// Reads the lists and the tests out of the repository's files.
    pub(crate) fn of(files: &[File]) -> Self {
        let text = |path: &str| {
            files.iter().find(|file| file.path == path).map(|file| file.text.as_str()).unwrap_or_default()
        };
        let rules = parse(text(LIST));
        let tests = shown::tests(files.iter());
        let (answers, faults) = answers::read(text(ANSWERS), &rules, &tests);
        Self { rules, tests, answers, faults }
    }

    /// Rules that nothing is said of.
    pub(crate) fn open(&self) -> Vec<String> {
        let open = self.rules.iter().filter(|rule| matches!(self.status(rule), Status::Open));
        open.map(|rule| format!("`{}`: name it in a test, or give the reason in {ANSWERS}", rule.id))
            .collect()
    }

    fn status(&self, rule: &Rule) -> Status<'_> {
        match (self.tests.get(&rule.id), self.answers.get(&rule.id)) {
            (Some(tests), _) => Status::Shown(tests),
            (None, Some(answer)) => Status::Answered(answer),
            (None, None) => Status::Open,
        }
    }

    /// What is wrong with the list of reasons: those that are not needed, among others.
    pub(crate) fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The document as it has to be.
    pub(crate) fn document(&self) -> String {
        document(self)
    }
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let check = arguments.iter().any(|argument| argument == "--check");
    let wanted: Vec<&String> = arguments.iter().filter(|argument| *argument != "--check").collect();
    let repository = Repository::read(root)?;
    let requirements = Requirements::of(&repository.files);
    if let Some(odd) = wanted.iter().find(|id| requirements.rules.iter().all(|rule| rule.id != ***id)) {
        return Err(format!("`{odd}` is no rule\n{USAGE}"));
    }
    if !check {
        print(&requirements, &wanted);
        if !wanted.is_empty() {
            return Ok(());
        }
    }
    let mut faults: Vec<String> =
        requirements.faults().iter().map(|fault| format!("{ANSWERS}: {fault}")).collect();
    faults.extend(requirements.open());
    faults.extend(beside_the_matrix(&requirements.rules));
    let path = root.join(DOCUMENT);
    let document = requirements.document();
    let is_fresh = fs::read_to_string(&path).is_ok_and(|found| found == document);
    match (check, is_fresh) {
        (true, false) => faults.push(stale()),
        (false, false) => {
            fs::write(&path, document).map_err(|error| format!("cannot write {DOCUMENT}: {error}"))?;
            say(&format!("{DOCUMENT} written"));
        }
        (_, true) => say(&format!("{DOCUMENT} is up to date")),
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// What to do about a document that is not what it has to be.
pub(crate) fn stale() -> String {
    format!("{DOCUMENT} is stale; run `cargo xtask requirements` and commit what it writes")
}

fn print(requirements: &Requirements, wanted: &[&String]) {
    let is_wanted = |rule: &&Rule| wanted.is_empty() || wanted.contains(&&rule.id);
    for rule in requirements.rules.iter().filter(is_wanted) {
        say(&format!("{} {}", rule.id, said(&requirements.status(rule), usize::MAX)));
    }
    if wanted.is_empty() {
        for (name, counts) in counts(requirements) {
            say(&format!(
                "{name}: rules {}, shown by tests {}, answered otherwise {}, not yet served {}, open {}",
                counts.rules, counts.shown, counts.answered, counts.not_yet_served, counts.open
            ));
        }
    }
}

/// Where our list and the matrix that it was taken from do not agree, where that is at hand.
fn beside_the_matrix(ours: &[Rule]) -> Vec<String> {
    let shared = crate::run::shared();
    match fs::read_to_string(shared.join("requirements.md")) {
        Ok(text) => differences(ours, &parse(&text)),
        Err(_) => {
            say(&format!("skipped: no requirements.md in {} to compare {LIST} with", shared.display()));
            Vec::new()
        }
    }
}

fn differences(ours: &[Rule], theirs: &[Rule]) -> Vec<String> {
    let found = |rules: &[Rule], id: &str| rules.iter().position(|rule| rule.id == id);
    let mut out = Vec::new();
    for rule in theirs {
        match found(ours, &rule.id).map(|at| &ours[at]) {
            None => out.push(format!("{LIST} lacks `{}`", rule.id)),
            Some(known) if (&known.level, &known.who) != (&rule.level, &rule.who) => {
                out.push(format!("{LIST}: `{}` is {} for {}", rule.id, rule.level, rule.who));
            }
            Some(_) => {}
        }
    }
    // Readings and cases are listed elsewhere.
    let is_row = |rule: &&Rule| !matches!(rule.family(), 'R' | 'P');
    let gone = ours.iter().filter(is_row).filter(|rule| found(theirs, &rule.id).is_none());
    out.extend(gone.map(|rule| format!("{LIST}: `{}` is not in the matrix", rule.id)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "| C-01 | MUST | server | One. |\n| C-02 | MUST | server | Two. |\n\
        | C-03 | MAY | client | Three. |\n| B-01 | MUST | receiver | Four. |\n";
    const SHOWN: &str = "/// C-01\n#[test]\nfn a() {}\n";
    const ANSWERED: &str =
        "[[answer]]\nverdict = \"not-yet-served\"\nreason = \"later\"\nrows = [\"C-03\", \"B-01\"]\n";

    fn requirements(answers: &str) -> Requirements {
        let file = |(path, text): (&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
        Requirements::of(&[(LIST, RULES), (ANSWERS, answers), ("a/tests/it/b.rs", SHOWN)].map(file))
    }

    #[test]
    fn a_rule_without_a_test_or_a_reason_is_open() {
        let requirements = requirements(ANSWERED);
        assert!(requirements.faults().is_empty(), "{requirements:?}");
        assert_eq!(
            requirements.open(),
            ["`C-02`: name it in a test, or give the reason in xtask/requirements/answers.toml"]
        );
    }

    #[test]
    fn reasons_that_are_not_needed_doubled_or_too_easy_are_faults() {
        let more = "[[answer]]\nverdict = \"answered\"\nreason = \"so\"\nrows = [\"C-01\", \"C-03\", \"C-09\"]\n\
            [[answer]]\nverdict = \"not-yet-served\"\nreason = \"later\"\nrows = [\"C-02\"]\n";
        let faults = requirements(&format!("{ANSWERED}{more}")).faults.join("\n");
        for fault in [
            "`C-01` needs no answer, since a test names it (a b::a)",
            "`C-03` is answered twice",
            "`C-09` is no rule",
            "`C-02` is for servers of 2026-07-28",
        ] {
            assert!(faults.contains(fault), "{fault}: {faults}");
        }
    }

    #[test]
    fn the_document_has_every_rule_and_begins_with_its_command() {
        let document = requirements(ANSWERED).document();
        assert!(document.starts_with("<!-- @generated by `cargo xtask requirements`"), "{document}");
        for line in [
            "| C-01 | MUST | server | One. | a: `b::a` |",
            "| C-02 | MUST | server | Two. | *open* |",
            "| B-01 | MUST | receiver | Four. | *not yet served*: later |",
            "| C, X and S for servers | 2 | 1 | 0 | 0 | 1 |",
            "| all | 4 | 1 | 0 | 2 | 1 |",
        ] {
            assert!(document.lines().any(|found| found == line), "{line}: {document}");
        }
    }

    #[test]
    fn a_list_that_is_not_the_matrix_is_told() {
        let theirs = "| C-01 | MUST | server | One. |\n| C-02 | MAY | server | Two. |\n| X-01 | MUST | both | Five. |\n";
        let told = differences(&parse(RULES), &parse(theirs)).join("\n");
        assert_eq!(
            told,
            format!(
                "{LIST}: `C-02` is MAY for server\n{LIST} lacks `X-01`\n{LIST}: `C-03` is not in the matrix\n\
                 {LIST}: `B-01` is not in the matrix"
            )
        );
    }
}
