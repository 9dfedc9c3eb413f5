//! Rules about tests: what they may do, what they are called, where they stand.

use super::Finding;
use super::code::{Word, bare, words};
use super::repository::{File, Repository};

/// Programs of tests besides `tests/it/main.rs`, each with the reason why it is one.
const OWN_BINARIES: &[(&str, &str)] = &[
    ("mcp-tasks-macros/tests/ui.rs", "the compiler's messages, which belong to one version of it"),
    ("mcp-tasks-types/tests/golden/main.rs", "generated code whose root is the program itself"),
    ("mcp-tasks-types/tests/oracle/tests/oracle.rs", "the one test of a package of its own"),
];

/// The clock is a parameter, and what takes time is waited for as an event. Who sleeps all the same says why on the
/// line above: at a call by whatever path, and wherever the function is named by the path of its module.
pub(super) fn nobody_sleeps_without_a_reason(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in repository.sources() {
        let lines: Vec<&str> = file.text.lines().collect();
        let bare = bare(&file.text);
        // Before the first and behind the last there is none.
        let none = Word { line: 0, text: "" };
        let around: Vec<Word<'_>> = [none, none].into_iter().chain(words(&bare)).chain([none]).collect();
        for group in around.windows(4) {
            let [module, separator, name, next] = group else { continue };
            // `fn` declares one, and a method of that name is the clock's.
            let is_call = next.text == "(" && !matches!(separator.text, "fn" | ".");
            let is_named = matches!(module.text, "thread" | "time") && separator.text == "::";
            let is_renamed = next.text == "as";
            let sleeps = matches!(name.text, "sleep" | "sleep_until") && (is_call || is_named || is_renamed);
            let above =
                name.line.checked_sub(2).and_then(|line| lines.get(line)).copied().unwrap_or_default();
            if sleeps && !above.trim_start().starts_with("//") {
                let what =
                    "wait for an event or ask the `Clock`; if neither can be, say why on the line above";
                out.push(Finding::at(&file.path, name.line, what));
            }
        }
    }
    out
}

/// A test runs, and says itself what it expects. One that is ignored proves nothing (what takes long runs with
/// `cargo xtask test --long`), and one that should panic passes for every other panic as well.
pub(super) fn every_test_runs_and_asserts(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in repository.sources() {
        let bare = bare(&file.text);
        for group in words(&bare).windows(3) {
            let [sign, bracket, name] = group else { continue };
            let what = match (sign.text, bracket.text, name.text) {
                ("#", "[", "ignore") => "let the test run, or let `cargo xtask test --long` run it",
                ("#", "[", "should_panic") => "assert what happens; other panics would pass this test",
                _ => continue,
            };
            out.push(Finding::at(&file.path, name.line, what));
        }
    }
    out
}

/// A test's name is a claim, which `test_` is no part of. A case of the compiler's messages is named by the mistake,
/// not by a number, and a message belongs to a case.
pub(super) fn names_are_claims_and_mistakes(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in repository.sources() {
        let bare = bare(&file.text);
        for pair in words(&bare).windows(2) {
            let [kind, name] = pair else { continue };
            if kind.text == "fn" && name.text.starts_with("test_") {
                let what = format!("`{}`: name the claim, without `test_`", name.text);
                out.push(Finding::at(&file.path, name.line, what));
            }
        }
    }
    for file in repository.files.iter().filter(|file| file.is_below("ui") && file.is_below("tests")) {
        let Some((stem, ending)) = file.path.rsplit_once('.') else { continue };
        if file.name().contains(|c: char| c.is_ascii_digit()) {
            out.push(Finding::at(&file.path, 1, "name the mistake, not its number"));
        }
        if ending == "stderr" && repository.file(&format!("{stem}.rs")).is_none() {
            out.push(Finding::at(&file.path, 1, "no program makes this message; remove it"));
        }
    }
    out
}

/// A package's integration tests are one program, `tests/it/main.rs`, since each further one is linked by itself.
pub(super) fn one_binary_a_crate(repository: &Repository) -> Vec<Finding> {
    let is_binary = |file: &&File| {
        let Some((package, path)) = file.path.rsplit_once("tests/") else { return false };
        let is_main = !path.contains('/') || path.split_once('/').is_some_and(|(_, file)| file == "main.rs");
        file.is_rust() && is_main && repository.has(&format!("{package}Cargo.toml"))
    };
    let binaries =
        repository.files.iter().filter(is_binary).filter(|file| !file.path.ends_with("tests/it/main.rs"));
    binaries
        .filter(|file| OWN_BINARIES.iter().all(|(path, _)| *path != file.path))
        .map(|file| {
            Finding::at(&file.path, 1, "make it a module of `tests/it/main.rs`, or give the reason in tidy")
        })
        .collect()
}

/// Migrations are numbered from 0001 on and say what they do: `0001_tasks.sql`.
pub(super) fn migrations_are_numbered(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut before: Option<(&str, usize)> = None;
    for file in repository.files.iter().filter(|file| file.path.ends_with(".sql")) {
        let expected =
            before.filter(|(folder, _)| *folder == file.folder()).map_or(1, |(_, number)| number + 1);
        before = Some((file.folder(), expected));
        let begins = format!("{expected:04}_");
        if file.name().strip_prefix(&begins).is_none_or(|what| what == ".sql") {
            out.push(Finding::at(&file.path, 1, format!("name the migration `{begins}` and what it does")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn a_sleep_without_a_reason_is_found_and_one_with_a_reason_is_not() {
        let text =
            "fn a() {\n    std::thread::sleep(b);\n    // Another process.\n    tokio::time::sleep(b);\n}\n";
        let found = said(nobody_sleeps_without_a_reason, &[("a.rs", text)]);
        assert_eq!(
            found,
            ["a.rs:2: wait for an event or ask the `Clock`; if neither can be, say why on the line above",]
        );
    }

    /// However the function is called here.
    #[test]
    fn a_sleep_that_was_imported_is_found_and_the_clocks_own_is_not() {
        let text = "use tokio::time::{Sleep, sleep};\nuse std::thread::{sleep as nap};\n\
            fn a() {\n    sleep(b);\n    clock.sleep_until(c);\n    sleep_until(c);\n}\n\
            fn sleep_until(c: D) {}\nstruct E { sleep: F }\n";
        let found = said(nobody_sleeps_without_a_reason, &[("a.rs", text)]);
        let lines: Vec<&str> = found.iter().filter_map(|line| line.split(':').nth(1)).collect();
        assert_eq!(lines, ["2", "4", "6"]);
    }

    #[test]
    fn tests_that_do_not_run_or_do_not_say_what_they_expect_are_found() {
        let text = "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n#[test]\n#[should_panic]\nfn b() {}\n";
        assert_eq!(
            said(every_test_runs_and_asserts, &[("a.rs", text)]),
            [
                "a.rs:2: let the test run, or let `cargo xtask test --long` run it",
                "a.rs:5: assert what happens; other panics would pass this test",
            ]
        );
    }

    #[test]
    fn names_that_claim_nothing_are_found() {
        let found = said(
            names_are_claims_and_mistakes,
            &[
                ("a/src/lib.rs", "fn test_it() {}\n"),
                ("a/tests/ui/fail/case1.rs", ""),
                ("a/tests/ui/fail/gone.stderr", ""),
            ],
        );
        assert_eq!(
            found,
            [
                "a/src/lib.rs:1: `test_it`: name the claim, without `test_`",
                "a/tests/ui/fail/case1.rs:1: name the mistake, not its number",
                "a/tests/ui/fail/gone.stderr:1: no program makes this message; remove it",
            ]
        );
    }

    #[test]
    fn a_second_program_of_tests_is_found() {
        let found = said(
            one_binary_a_crate,
            &[
                ("a/Cargo.toml", ""),
                ("a/tests/it/main.rs", ""),
                ("a/tests/it/part.rs", ""),
                ("a/tests/more.rs", ""),
                ("a/tests/other/main.rs", ""),
            ],
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a/tests/more.rs:1: make it a module"), "{found:?}");
    }

    #[test]
    fn programs_of_tests_that_have_a_reason_exist() {
        let repository = Repository::read(&crate::run::root()).unwrap();
        for (path, _) in OWN_BINARIES {
            assert!(repository.file(path).is_some(), "{path} is not there");
        }
    }

    #[test]
    fn a_gap_in_the_numbers_of_migrations_is_found() {
        let found = said(migrations_are_numbered, &[("a/0001_tasks.sql", ""), ("a/0003_more.sql", "")]);
        assert_eq!(found, ["a/0003_more.sql:1: name the migration `0002_` and what it does"]);
    }
}
