//! Rules about words that no text of the repository has.
//!
//! The words are put together from parts here, so that the rules can be held against their own file.

use super::Finding;
use super::repository::{File, Repository};

/// What is left for later has an issue, which can be looked up and closed; a mark in the text is found by nobody.
pub(super) fn nothing_is_left_for_later(repository: &Repository) -> Vec<Finding> {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
    let is_mark = |line: &str| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| marks.contains(&word))
    };
    matching(texts(repository), is_mark, "do it, or open an issue and leave the mark out")
}

/// Where somebody keeps their files on their machine is nobody's business, and no other machine has it. Tests may make
/// paths up.
pub(super) fn no_place_of_one_machine(repository: &Repository) -> Vec<Finding> {
    let places = ["home", "root", "tmp", "Users", "work"].map(|folder| format!("/{folder}/"));
    let is_place = |line: &str| {
        places.iter().any(|place| {
            line.match_indices(place.as_str()).any(|(at, _)| {
                // Behind a name it is a part of another path.
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/'))
            })
        })
    };
    let files = texts(repository).filter(|file| !file.is_below("tests"));
    matching(files, is_place, "name the path from the root of the repository")
}

/// Where packages come from is a setting of cargo's, which a mirror changes: a text names the package, not the host.
pub(super) fn no_host_of_a_registry(repository: &Repository) -> Vec<Finding> {
    let hosts = [
        concat!("crates", ".io"),
        concat!("registry", ".npmjs.org"),
        concat!("py", "pi.org"),
        concat!("python", "hosted.org"),
    ];
    let is_host = |line: &str| hosts.iter().any(|host| line.contains(host));
    matching(texts(repository), is_host, "name the package, not the host that it comes from")
}

/// A text speaks of the project. What was said or asked while it came about means nothing to a reader who was not
/// there.
pub(super) fn no_word_of_a_conversation(repository: &Repository) -> Vec<Finding> {
    let words = [
        concat!("as requ", "ested"),
        concat!("as disc", "ussed"),
        concat!("as instr", "ucted"),
        concat!("as you ", "asked"),
        concat!("the br", "ief"),
        concat!("co-authored", "-by"),
    ];
    let is_word = |line: &str| {
        let line = line.to_lowercase();
        let begins = |at: usize| !line[..at].ends_with(char::is_alphanumeric);
        words.iter().any(|word| line.match_indices(word).any(|(at, _)| begins(at)))
    };
    matching(texts(repository), is_word, "give the reason itself; the reader was not there")
}

/// The texts that people write. Lock files and licences are written elsewhere, and descriptions in generated files come
/// from the schema, which is looked at.
fn texts(repository: &Repository) -> impl Iterator<Item = &File> {
    repository.files.iter().filter(|file| {
        !file.is_generated() && file.name() != "Cargo.lock" && !file.name().starts_with("LICENSE")
    })
}

fn matching<'a>(
    files: impl Iterator<Item = &'a File>,
    fits: impl Fn(&str) -> bool,
    what: &str,
) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in files {
        let lines = file.lines().filter(|(_, line)| fits(line));
        out.extend(lines.map(|(number, _)| Finding::at(&file.path, number, what)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Rule, said};
    use super::*;

    #[track_caller]
    fn found(rule: Rule, bad: &str, good: &str) {
        assert_eq!(said(rule, &[("a.md", &format!("{bad}\n"))]).len(), 1, "{bad}");
        assert_eq!(said(rule, &[("a.md", &format!("{good}\n"))]), [""; 0]);
    }

    #[test]
    fn marks_of_unfinished_work_are_found() {
        found(nothing_is_left_for_later, concat!("// TO", "DO: more"), concat!("to", "do!() and a_TO", "DO"));
    }

    #[test]
    fn paths_of_one_machine_are_found_outside_tests() {
        let path = format!("`/{}/someone/project`", "home");
        found(no_place_of_one_machine, &path, &format!("src/{}/a.rs", "home"));
        assert_eq!(said(no_place_of_one_machine, &[("a/tests/it/b.rs", &path)]), [""; 0]);
    }

    #[test]
    fn hosts_of_registries_are_found() {
        found(no_host_of_a_registry, concat!("https://crates", ".io/crates/serde"), "serde");
    }

    #[test]
    fn words_of_a_conversation_are_found() {
        found(
            no_word_of_a_conversation,
            concat!("Sorted, as requ", "ested."),
            "What was requested is sorted.",
        );
    }
}
