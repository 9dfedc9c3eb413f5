//! The rules about ids of protocol rules: each can be looked up, and `docs/conformance.md` says what shows it.

use std::collections::BTreeSet;

use super::Finding;
use super::repository::{File, Repository};
use crate::requirements::{ANSWERS, DOCUMENT, LIST, Requirements, ids, parse, stale};

/// Every rule of the protocol that a text names is in the list of rules.
pub(super) fn every_id_can_be_looked_up(repository: &Repository) -> Vec<Finding> {
    let Some(list) = repository.file(LIST) else {
        return vec![Finding::at(LIST, 1, "the list of rules is not there")];
    };
    let listed: BTreeSet<String> = parse(&list.text).into_iter().map(|rule| rule.id).collect();
    let mut out = Vec::new();
    for file in repository.files.iter().filter(|file| names_rules(file)) {
        for (number, line) in file.lines() {
            let unknown = ids(line).into_iter().filter(|id| !listed.contains(id));
            out.extend(
                unknown.map(|id| Finding::at(&file.path, number, format!("`{id}`: list the rule in {LIST}"))),
            );
        }
    }
    out
}

/// Each rule is shown by a test or answered, no reason stands in the list that is not needed, and the document says so.
pub(super) fn every_rule_is_shown_or_answered(repository: &Repository) -> Vec<Finding> {
    let requirements = Requirements::of(&repository.files);
    let mut out: Vec<Finding> =
        requirements.faults().iter().map(|fault| Finding::at(ANSWERS, 1, fault.as_str())).collect();
    out.extend(requirements.open().into_iter().map(|open| Finding::at(LIST, 1, open)));
    let document = repository.file(DOCUMENT).map(|file| file.text.as_str()).unwrap_or_default();
    if document != requirements.document() {
        out.push(Finding::at(DOCUMENT, 1, stale()));
    }
    out
}

/// Whether a file is a text that people write and that names rules.
fn names_rules(file: &File) -> bool {
    let kinds = [".rs", ".md", ".json", ".toml"];
    // These files make ids up.
    let is_ours = file.path.ends_with("tidy/rule_ids.rs") || file.path.starts_with("xtask/src/requirements");
    kinds.iter().any(|kind| file.path.ends_with(kind)) && !file.is_generated() && !is_ours
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    const ROWS: &str = "| C-1 | MUST | server | One. |\n| C-2 | MUST | server | Two. |\n";

    #[test]
    fn ids_that_are_no_rules_are_found() {
        let found = said(every_id_can_be_looked_up, &[(LIST, ROWS), ("a.rs", "//! C-1\n//! and C-3.\n")]);
        assert_eq!(found, [format!("a.rs:2: `C-3`: list the rule in {LIST}")]);
    }

    #[test]
    fn open_rules_reasons_that_are_not_needed_and_a_stale_document_are_found() {
        let found = said(
            every_rule_is_shown_or_answered,
            &[
                (LIST, ROWS),
                (ANSWERS, "[[answer]]\nverdict = \"answered\"\nreason = \"so\"\nrows = [\"C-3\"]\n"),
            ],
        );
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].contains("`C-3` is no rule"), "{found:?}");
        assert!(found[1].contains("`C-1`: name it in a test"), "{found:?}");
        assert!(found[3].contains("is stale; run `cargo xtask requirements`"), "{found:?}");
    }
}
