//! Golden cases: `tests/cases/<case>/{schema.json,codegen.toml}` makes `expected.rs`.
//!
//! `MCP_TASKS_BLESS=1 cargo test -p mcp-tasks-codegen` writes what came out, to be read before it is committed.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_tasks_codegen::{Generation, Options, TextFile, generate};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// What a case makes of its one schema file.
fn made(case: &Path) -> String {
    let read = |name: &str| fs::read_to_string(case.join(name)).unwrap();
    let generation = Generation::new(
        TextFile::new("schema/1/codegen.toml", read("codegen.toml")),
        vec![TextFile::new("schema/1/things.json", read("schema.json"))],
    );
    // The types crate names itself `crate`; others, whose cases have a file that says so, name it from outside.
    let mut options = Options::inside();
    if let Ok(root) = fs::read_to_string(case.join("root")) {
        root.trim().clone_into(&mut options.root);
    }
    let files = generate(&[generation], &options).unwrap_or_else(|errors| panic!("{errors:#?}"));
    files.into_iter().find(|file| file.path == "v1/things.rs").unwrap().text
}

#[test]
fn each_case_makes_what_is_expected() {
    let bless = std::env::var_os("MCP_TASKS_BLESS").is_some();
    let mut count = 0;
    for case in fs::read_dir(cases()).unwrap() {
        let case = case.unwrap().path();
        let made = made(&case);
        let expected = case.join("expected.rs");
        if bless {
            fs::write(&expected, &made).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default().replace("\r\n", "\n");
        let line = made.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count() + 1;
        assert!(made == expected, "{} differs from line {line} on", case.display());
        count += 1;
    }
    assert!(count >= 5, "{count} cases");
}

/// The generator refuses to print a serde attribute or derive; here is that there is none that it would miss.
#[test]
fn generated_code_needs_no_serde_of_its_own() {
    for case in fs::read_dir(cases()).unwrap() {
        let made = made(&case.unwrap().path());
        for word in ["flatten", "untagged", "::serde::", "serde_json::"] {
            assert!(!made.contains(word), "{word}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for case in fs::read_dir(cases()).unwrap() {
        let case = case.unwrap().path();
        assert_eq!(made(&case), made(&case));
    }
}
