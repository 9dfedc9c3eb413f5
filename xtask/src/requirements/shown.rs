//! Which tests name which rules.
//!
//! A reading of lines: a test is a function with an attribute `test`, or one of the rules of the stores' contract. It
//! shows the rules that its documentation, its body or its name (`p058_…`) name. What a file of tests names and none of
//! its tests does is shown by the file as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::rules::ids;
use crate::tidy::repository::File;

/// A test, or a file of tests whose parts are none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    /// The folder of its package.
    pub(super) package: String,
    /// As the program of tests calls it.
    pub(super) path: String,
}

impl Test {
    /// Whether it is one of the tests of a file.
    fn is_in(&self, file: &Self) -> bool {
        let path = self.path.strip_prefix(&file.path);
        self.package == file.package && path.is_some_and(|path| path.starts_with("::"))
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.package, self.path)
    }
}

/// The tests of each rule that one names.
pub(super) fn tests<'a>(files: impl Iterator<Item = &'a File>) -> BTreeMap<String, BTreeSet<Test>> {
    let mut out: BTreeMap<String, BTreeSet<Test>> = BTreeMap::new();
    for file in files.filter(|file| file.is_rust() && !file.is_generated() && !makes_ids_up(file)) {
        let mut reading = Reading::of(file);
        for line in file.text.lines().skip(reading.first) {
            reading.take(line);
        }
        for (id, path) in reading.named {
            let test = Test { package: reading.package.clone(), path };
            out.entry(id).or_default().insert(test);
        }
    }
    for tests in out.values_mut() {
        let all = tests.clone();
        tests.retain(|test| !all.iter().any(|other| other.is_in(test)));
    }
    out
}

fn makes_ids_up(file: &File) -> bool {
    file.path.starts_with("xtask/src/tidy/") || file.path.starts_with("xtask/src/requirements")
}

/// A function that is being read.
struct Function {
    path: String,
    end: String,
}

struct Reading {
    package: String,
    module: String,
    /// How many lines are the program's and not the tests'.
    first: usize,
    /// Whether every function is a check, as the stores' contract has them.
    all_are_checks: bool,
    /// What comments and attributes above an item say.
    above: BTreeSet<String>,
    is_test: bool,
    function: Option<Function>,
    named: BTreeSet<(String, String)>,
}

impl Reading {
    fn of(file: &File) -> Self {
        let (package, inside) = split(&file.path);
        let all_are_checks = inside.starts_with("src/testing/");
        let is_for_tests = inside.starts_with("tests/") || inside.ends_with("/tests.rs") || all_are_checks;
        let lines: Vec<&str> = file.text.lines().collect();
        let module_of_tests =
            lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1].ends_with('{'));
        let first = if is_for_tests { 0 } else { module_of_tests.unwrap_or(lines.len()) };
        let path = inside.trim_start_matches("src/").trim_start_matches("tests/").trim_start_matches("it/");
        let mut module = path.trim_end_matches(".rs").replace('/', "::");
        if !is_for_tests {
            module.push_str("::tests");
        }
        Self {
            package: package.to_owned(),
            module,
            first,
            all_are_checks,
            above: BTreeSet::new(),
            is_test: false,
            function: None,
            named: BTreeSet::new(),
        }
    }

    fn take(&mut self, line: &str) {
        let text = line.trim_start();
        if let Some(function) = &self.function {
            let path = function.path.clone();
            if line == function.end {
                self.function = None;
            }
            self.name(ids(line), &path);
        } else if text.starts_with("//!") {
            self.name_by_file(ids(line));
        } else if text.starts_with("//") {
            self.above.extend(ids(line));
        } else if text.starts_with("#[") {
            self.is_test |= text.starts_with("#[test]") || text.starts_with("#[tokio::test");
        } else if let Some(name) = name_of_function(text) {
            let named = std::mem::take(&mut self.above).into_iter().chain(case_of(name)).collect();
            let is_check = std::mem::take(&mut self.is_test) || self.all_are_checks;
            let path = if is_check { format!("{}::{name}", self.module) } else { self.module.clone() };
            self.name(named, &path);
            let indent = &line[..line.len() - text.len()];
            let opens_and_closes = text.ends_with('}');
            self.function = (!opens_and_closes).then(|| Function { path, end: format!("{indent}}}") });
        } else {
            let mut named = std::mem::take(&mut self.above);
            named.extend(ids(line));
            self.is_test = false;
            self.name_by_file(named);
        }
    }

    fn name(&mut self, ids: BTreeSet<String>, path: &str) {
        self.named.extend(ids.into_iter().map(|id| (id, path.to_owned())));
    }

    fn name_by_file(&mut self, ids: BTreeSet<String>) {
        let module = self.module.clone();
        self.name(ids, &module);
    }
}

/// A file's package and its path in it.
fn split(path: &str) -> (&str, &str) {
    ["/tests/", "/src/"]
        .iter()
        .filter_map(|folder| path.find(folder))
        .min()
        .map_or(("", path), |at| (&path[..at], &path[at + 1..]))
}

/// The name of the function whose head begins a line.
fn name_of_function(text: &str) -> Option<&str> {
    let head = text.strip_prefix("pub(crate) ").or_else(|| text.strip_prefix("pub(super) ")).unwrap_or(text);
    let head = head.strip_prefix("pub ").unwrap_or(head);
    let head = head.strip_prefix("async ").unwrap_or(head).strip_prefix("fn ")?;
    head.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

/// The case that a test's name begins with: `p058_late_results` is about `P058`.
fn case_of(name: &str) -> Option<String> {
    let number = name.strip_prefix('p')?.get(..3)?;
    let is_number = number.chars().all(|c| c.is_ascii_digit()) && name[4..].starts_with('_');
    is_number.then(|| format!("P{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        let named = tests(std::iter::once(&file));
        named.iter().flat_map(|(id, tests)| tests.iter().map(move |test| format!("{id} {test}"))).collect()
    }

    #[test]
    fn a_test_shows_what_its_documentation_its_body_and_its_name_say() {
        let text = "//! C-01\n\n/// C-02: as\n/// said in C-03.\n#[tokio::test(start_paused = true)]\nasync fn a() {\n    \
            // C-04\n    fn b() {\n    }\n}\n\n#[test]\nfn p058_c() {}\n\n/// C-05\nfn help() {\n    // C-06\n}\n";
        assert_eq!(
            shown("a/tests/it/b/c.rs", text),
            [
                "C-01 a b::c",
                "C-02 a b::c::a",
                "C-03 a b::c::a",
                "C-04 a b::c::a",
                "C-05 a b::c",
                "C-06 a b::c",
                "P058 a b::c::p058_c",
            ]
        );
    }

    #[test]
    fn a_file_shows_what_none_of_its_tests_does() {
        let text = "//! C-01 and C-02\n\n/// C-02\n#[test]\nfn a() {}\n";
        assert_eq!(shown("a/tests/it/b.rs", text), ["C-01 a b", "C-02 a b::a"]);
    }

    #[test]
    fn of_a_program_only_the_tests_count_and_of_the_contract_every_check() {
        let text =
            "/// C-01\nfn a() {}\n#[cfg(test)]\nmod tests {\n    /// C-02\n    #[test]\n    fn b() {}\n}\n";
        assert_eq!(shown("a/src/b.rs", text), ["C-02 a b::tests::b"]);
        assert_eq!(
            shown("a/src/testing/c.rs", "/// C-01\npub(super) async fn d<B>() {}\n"),
            ["C-01 a testing::c::d"]
        );
        assert_eq!(shown("a/src/b/tests.rs", "/// C-01\n#[test]\nfn d() {}\n"), ["C-01 a b::tests::d"]);
    }
}
