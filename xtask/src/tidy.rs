//! `cargo xtask tidy`: the house rules, as far as a program can see whether they are kept.
//!
//! A rule is a function from the repository to findings, and says in its documentation what it asks for. What rustc,
//! rustdoc, clippy and rustfmt look at is theirs and not asked here a second time.

mod code;
mod dependencies;
pub(crate) mod features;
mod layers;
mod manifests;
mod prose;
pub(crate) mod repository;
mod rule_ids;
mod sources;
mod tests_of_ours;
mod wording;

use std::fmt;
use std::path::Path;

use crate::output::say;
use repository::Repository;

/// A place where a rule is not kept, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

type Rule = fn(&Repository) -> Vec<Finding>;

/// All rules. One that is not listed here is dead code, which the compiler tells.
const RULES: &[Rule] = &[
    sources::each_file_says_what_it_is_for,
    sources::no_module_grows_too_long,
    sources::comments_are_not_too_wide,
    sources::names_say_something,
    sources::examples_compile,
    tests_of_ours::nobody_sleeps_without_a_reason,
    tests_of_ours::every_test_runs_and_asserts,
    tests_of_ours::names_are_claims_and_mistakes,
    tests_of_ours::one_binary_a_crate,
    tests_of_ours::migrations_are_numbered,
    manifests::every_dependency_has_a_reason,
    manifests::every_package_follows_the_workspace,
    manifests::what_is_published_has_its_licenses,
    features::dependencies_are_no_features,
    features::every_feature_is_described,
    layers::packages_know_whom_they_may,
    layers::modules_know_the_layers_below,
    layers::some_names_have_one_place,
    prose::links_lead_somewhere,
    prose::examples_in_rust_are_compiled,
    prose::commands_exist,
    prose::versions_are_the_manifests,
    prose::one_sentence_a_line,
    prose::the_readme_stays_short,
    prose::the_table_of_contents_is_complete,
    wording::nothing_is_left_for_later,
    wording::no_place_of_one_machine,
    wording::no_host_of_a_registry,
    wording::no_word_of_a_conversation,
    rule_ids::every_id_can_be_looked_up,
    rule_ids::every_rule_is_shown_or_answered,
    dependencies::licenses_are_allowed,
    dependencies::features_that_change_everybody_stay_off,
];

/// Applies every rule and reports all findings at once.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let repository = Repository::read(root)?;
    let found = findings(&repository);
    if found.is_empty() {
        say(&format!("{} rules hold in {} files", RULES.len(), repository.files.len()));
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(Finding::to_string).collect();
    Err(format!("{}\n{} findings", lines.join("\n"), found.len()))
}

fn findings(repository: &Repository) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(repository)).collect();
    found.sort();
    found
}

/// What a rule says of a repository that consists of these files: for the bad example that each rule is tested with.
#[cfg(test)]
fn said(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    rule(&Repository::of(files)).iter().map(Finding::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_keeps_its_rules() {
        if let Err(found) = run(&crate::run::root()) {
            panic!("`cargo xtask tidy` finds:\n{found}");
        }
    }

    #[test]
    fn all_findings_are_reported_at_once_in_the_order_of_the_files() {
        let long = "//! Long.\n".repeat(801);
        let repository = Repository::of(&[("b/src/lib.rs", "mod a;\n"), ("a/src/lib.rs", &long)]);
        let found: Vec<Finding> =
            findings(&repository).into_iter().filter(|finding| finding.path.ends_with("lib.rs")).collect();
        let [long, unexplained] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(long.to_string().split_once(' ').unwrap().0, "a/src/lib.rs:801:");
        assert_eq!(unexplained.to_string().split_once(' ').unwrap().0, "b/src/lib.rs:1:");
    }
}
