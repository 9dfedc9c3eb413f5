//! The rule that an id of a protocol rule in a comment or test can be looked up: `docs/rules.md` has it.

use std::collections::BTreeSet;

use super::Finding;
use super::repository::{File, Repository};

/// Where the ids are explained.
const RULES: &str = "docs/rules.md";

/// Every rule of the protocol that a text names is listed in `docs/rules.md`, and none is listed that nothing names.
pub(super) fn every_id_can_be_looked_up(repository: &Repository) -> Vec<Finding> {
    let Some(rules) = repository.file(RULES) else {
        return vec![Finding::at(RULES, 1, "the list of rules is not there")];
    };
    let row =
        |line: &str| line.strip_prefix("| ").and_then(|line| line.split(" |").next()).map(str::to_owned);
    let listed: Vec<(usize, String)> = rules
        .lines()
        .filter_map(|(number, line)| Some((number, row(line)?)))
        .filter(|(_, id)| ids(id).contains(id))
        .collect();
    let mut named = BTreeSet::new();
    let mut out = Vec::new();
    for file in repository.files.iter().filter(|file| names_rules(file)) {
        for (number, line) in file.lines() {
            for id in ids(line) {
                if listed.iter().all(|(_, known)| *known != id) {
                    out.push(Finding::at(&file.path, number, format!("`{id}`: list the rule in {RULES}")));
                }
                named.insert(id);
            }
        }
    }
    let idle = listed.iter().filter(|(_, id)| !named.contains(id));
    out.extend(
        idle.map(|(number, id)| Finding::at(RULES, *number, format!("nothing names `{id}`; take it out"))),
    );
    out
}

/// Whether a file is a text that people write and that names rules.
fn names_rules(file: &File) -> bool {
    let kinds = [".rs", ".md", ".json", ".toml"];
    // This file makes ids up.
    let is_ours = file.path == RULES || file.path.ends_with("tidy/rule_ids.rs");
    kinds.iter().any(|kind| file.path.ends_with(kind)) && !file.is_generated() && !is_ours
}

/// The rule ids in a text: `C-36`, `R-5`, `P058`.
fn ids(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let (group, number) = match word.split_once('-') {
            Some((group, number)) => (group, number),
            None => word.split_at(usize::from(word.starts_with('P'))),
        };
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let known = match group {
            "A" | "B" | "C" | "X" | "S" | "I" | "R" => word.contains('-') && number.len() <= 3,
            "P" => !word.contains('-') && number.len() == 3,
            _ => false,
        };
        if digits && known {
            out.insert(word.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn ids_are_told_from_other_words() {
        let text = "C-36 and `R-5`, (P058); not UTF-8, ISO-8601, X-Accel, RC-1, P5, A-1234 or s-1";
        let expected: BTreeSet<String> = ["C-36", "R-5", "P058"].map(str::to_owned).into();
        assert_eq!(ids(text), expected);
    }

    #[test]
    fn rules_that_are_not_listed_or_listed_in_vain_are_found() {
        let rules = "| id | rule |\n|---|---|\n| C-1 | One. |\n| C-2 | Two. |\n";
        let found = said(every_id_can_be_looked_up, &[(RULES, rules), ("a.rs", "//! C-1\n//! and C-3.\n")]);
        assert_eq!(
            found,
            [
                "a.rs:2: `C-3`: list the rule in docs/rules.md",
                "docs/rules.md:4: nothing names `C-2`; take it out"
            ]
        );
    }
}
