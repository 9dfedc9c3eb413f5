//! The list of rules: ids, how binding each is, whom it binds and what it says.

use std::collections::BTreeSet;

/// Where the list stands.
pub(crate) const LIST: &str = "xtask/requirements/rules.md";

/// The families in the order of the list, with what each is about.
pub(super) const FAMILIES: &[(char, &str)] = &[
    ('A', "the SEP-1686 draft"),
    ('B', "core 2025-11-25"),
    ('C', "the tasks extension of 2026-07-28"),
    ('X', "core 2026-07-28"),
    ('S', "the reference service"),
    ('I', "what follows from having three generations"),
    ('R', "our readings where the texts leave room"),
    ('P', "faults that were reported of other implementations"),
];

/// A rule of the protocol, a reading of it, or a reported fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) id: String,
    /// The key word of its source (`MUST`), `reading` or `case`.
    pub(super) level: String,
    /// The role that it binds; the class of a case.
    pub(super) who: String,
    pub(super) text: String,
    /// The line of the list that it stands in.
    pub(crate) line: usize,
}

impl Rule {
    pub(super) fn family(&self) -> char {
        self.id.chars().next().unwrap_or_default()
    }

    /// Whether it belongs to what a server of 2026-07-28 has to do, so that no reason but a good one leaves it open.
    pub(super) fn is_for_servers(&self) -> bool {
        matches!(self.family(), 'C' | 'X' | 'S') && self.who != "client"
    }
}

/// The rows of a table of rules, whatever follows their first four columns.
pub(crate) fn parse(text: &str) -> Vec<Rule> {
    let rule = |(line, row): (usize, &str)| {
        let mut cells = row.strip_prefix("| ")?.split(" | ");
        let (id, level, who) = (cells.next()?, cells.next()?, cells.next()?);
        let text = cells.next()?.trim_end_matches(" |");
        let [level, who, text] = [level, who, text].map(|cell| cell.trim().to_owned());
        ids(id).contains(id).then(|| Rule { id: id.to_owned(), level, who, text, line })
    };
    (1..).zip(text.lines()).filter_map(rule).collect()
}

/// The rule ids in a text: `C-36`, `R-5`, `P058`.
pub(crate) fn ids(text: &str) -> BTreeSet<String> {
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
    use super::*;

    #[test]
    fn ids_are_told_from_other_words() {
        let text = "C-36 and `R-5`, (P058); not UTF-8, ISO-8601, X-Accel, RC-1, P5, A-1234 or s-1";
        let expected: BTreeSet<String> = ["C-36", "R-5", "P058"].map(str::to_owned).into();
        assert_eq!(ids(text), expected);
    }

    #[test]
    fn rows_are_read_with_what_they_bind_and_other_lines_are_not() {
        let text = "| id | level | who | rule |\n|---|---|---|---|\n| C-01 | MUST | server | `a` or b. |\n\
            | X-10 | MAY | client | c | in -> out | source |\n";
        let rules = parse(text);
        let [one, two] = rules.as_slice() else { panic!("{rules:?}") };
        assert_eq!((one.id.as_str(), one.text.as_str(), one.line), ("C-01", "`a` or b.", 3));
        assert_eq!((two.level.as_str(), two.who.as_str(), two.text.as_str()), ("MAY", "client", "c"));
        assert!(one.is_for_servers() && !two.is_for_servers());
    }
}
