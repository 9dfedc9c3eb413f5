//! Rules about Markdown: what it refers to is there, and it reads like the rest.

use std::collections::BTreeSet;

use super::Finding;
use super::repository::{File, Repository};
use crate::USAGE;

/// The text that introduces the project.
const README: &str = "README.md";
/// A README is read in one go; what is longer goes into a crate's documentation.
const README_LINES: usize = 150;

/// A link into the repository leads to a file or folder of it.
pub(super) fn links_lead_somewhere(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in repository.files.iter().filter(|file| file.path.ends_with(".md")) {
        for (number, line) in outside_code(file) {
            for target in targets(line) {
                let path = target.split('#').next().unwrap_or_default();
                // `macro@name` and `crate::Name` are links of rustdoc's, which checks them itself.
                if path.contains([':', '@']) {
                    continue;
                }
                let leads = joined(file.folder(), path).is_some_and(|path| repository.has(&path));
                if !leads {
                    out.push(Finding::at(
                        &file.path,
                        number,
                        format!("the link to `{target}` leads nowhere"),
                    ));
                }
            }
        }
    }
    out
}

/// The targets of the links in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.match_indices("](").filter_map(|(at, sign)| line[at + sign.len()..].split(')').next());
    let by_name =
        line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    inline.chain(by_name)
}

/// A path as it is named in a file of this folder, from the root; none when it leaves the repository.
pub(super) fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines of a Markdown file that are not in a block of code.
fn outside_code(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    file.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// An example in Rust is compiled with the documentation of a crate that includes its file. What tells of the past is
/// left as it was.
pub(super) fn examples_in_rust_are_compiled(repository: &Repository) -> Vec<Finding> {
    let included: BTreeSet<String> = repository
        .sources()
        .flat_map(|file| file.lines().map(move |(_, line)| (file.folder(), line.trim_start())))
        .filter_map(|(folder, line)| {
            let path = line.strip_prefix("#[doc = include_str!(\"")?.split('"').next()?;
            joined(folder, path)
        })
        .collect();
    let mut out = Vec::new();
    for file in repository.prose().filter(|file| file.name() != "CHANGELOG.md") {
        let examples = file.lines().filter(|(_, line)| line.trim_start().starts_with("```rust"));
        for (number, _) in examples.filter(|_| !included.contains(&file.path)) {
            let what =
                "nothing compiles the example; include the file where a crate's documentation is tested";
            out.push(Finding::at(&file.path, number, what));
        }
    }
    out
}

/// A command that a text names is one of `cargo xtask help`, with its options, and CONTRIBUTING.md lists them all.
pub(super) fn commands_exist(repository: &Repository) -> Vec<Finding> {
    commands_are(repository, USAGE)
}

fn commands_are(repository: &Repository, usage: &str) -> Vec<Finding> {
    let forms = forms(usage);
    let mut out = Vec::new();
    let mut listed = BTreeSet::new();
    // This file's tests name commands that do not exist.
    for file in repository.files.iter().filter(|file| file.path != "xtask/src/tidy/prose.rs") {
        for (number, line) in file.lines() {
            for (at, sign) in line.match_indices("cargo xtask ") {
                let words = said_in(&line[at + sign.len()..]);
                if file.path == "CONTRIBUTING.md" && line.starts_with('|') {
                    listed.extend(words.first().copied());
                }
                out.extend(fault_of(&words, &forms).map(|what| Finding::at(&file.path, number, what)));
            }
        }
    }
    let unlisted: BTreeSet<&str> =
        forms.iter().map(|form| form[0]).filter(|name| !listed.contains(name)).collect();
    out.extend(unlisted.iter().map(|command| {
        Finding::at("CONTRIBUTING.md", 1, format!("list `cargo xtask {command}` in the table of commands"))
    }));
    out
}

/// The forms of commands in a usage text, as their words.
fn forms(usage: &str) -> Vec<Vec<&str>> {
    let lines = usage.lines().filter_map(|line| line.strip_prefix("  "));
    let forms = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    // What a command is for stands two spaces behind it, or on the next line.
    forms.map(|line| parts(line.split("  ").next().unwrap_or(line))).collect()
}

/// What is wrong with the words of a command; nothing when they are a placeholder.
fn fault_of(words: &[&str], forms: &[Vec<&str>]) -> Option<String> {
    let command = words.first().filter(|word| is_word(word))?;
    let forms: Vec<&Vec<&str>> = forms.iter().filter(|form| form[0] == *command).collect();
    if forms.is_empty() {
        return Some(format!("`cargo xtask {command}` is no command"));
    }
    let has_parts = forms.iter().all(|form| form.get(1).is_some_and(|word| is_word(word)));
    let part = words.get(1).filter(|word| has_parts && is_word(word));
    let options = words.iter().filter(|word| word.starts_with("--"));
    let unknown =
        part.into_iter().chain(options).find(|word| !forms.iter().any(|form| form.contains(word)))?;
    Some(format!("`cargo xtask {command}` knows no `{unknown}`"))
}

/// The words of a command, down to where the text that quotes it goes on.
fn said_in(text: &str) -> Vec<&str> {
    let end = text.find(['`', '#', '"', ';', ',', ')', ':', '\\']).unwrap_or(text.len());
    parts(&text[..end]).into_iter().map(|word| word.trim_end_matches('.')).collect()
}

fn parts(command: &str) -> Vec<&str> {
    command.split([' ', '[', ']']).filter(|word| !word.is_empty()).collect()
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A version in the README is the manifest's: the minimum Rust (`1.0 or later`) and ours (`mcp-tasks = …`). It names
/// both.
pub(super) fn versions_are_the_manifests(repository: &Repository) -> Vec<Finding> {
    let Some(readme) = repository.file(README) else { return Vec::new() };
    let manifest = repository.file("Cargo.toml").and_then(|file| file.text.parse::<toml::Table>().ok());
    let stated = |key: &str| {
        let manifest = manifest.as_ref()?;
        manifest.get("workspace")?.get("package")?.get(key)?.as_str().map(str::to_owned)
    };
    let minimum = |line: &str| {
        let before = line.split_once(" or later")?.0;
        before.rsplit(' ').next().map(str::to_owned)
    };
    let ours = |line: &str| {
        let after = line.strip_prefix("mcp-tasks = ")?;
        after.split('"').nth(1).map(str::to_owned)
    };
    let mut out = Vec::new();
    let mut compare = |key: &str, named: &dyn Fn(&str) -> Option<String>| {
        let stated = stated(key).unwrap_or_default();
        let mut found = false;
        for (number, line) in readme.lines() {
            let Some(version) = named(line) else { continue };
            found = true;
            if version.is_empty() || !format!("{stated}.").starts_with(&format!("{version}.")) {
                let what = format!("`{version}` differs from `{key}` in Cargo.toml, `{stated}`");
                out.push(Finding::at(README, number, what));
            }
        }
        if !found {
            out.push(Finding::at(README, 1, format!("say which `{key}` Cargo.toml states")));
        }
    };
    compare("rust-version", &minimum);
    compare("version", &ours);
    out
}

/// Prose has one sentence a line, so that a change shows the sentence that changed. Lists and tables are read
/// otherwise.
pub(super) fn one_sentence_a_line(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in repository.prose() {
        for (number, line) in outside_code(file) {
            let is_item = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(". ");
            if line.starts_with(['|', '-', '*', ' ', '>', '#', '<']) || is_item {
                continue;
            }
            let ends = [". ", "? ", "! "].iter().flat_map(|end| line.match_indices(end));
            let goes_on = |at: usize| line[at + 2..].starts_with(|c: char| c.is_uppercase() || c == '`');
            // `e.g. A` ends no sentence, and neither does an ellipsis.
            let is_end = |at: usize| {
                line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | ')'))
                    && !line[..at].ends_with(".g")
            };
            if ends.map(|(at, _)| at).any(|at| is_end(at) && goes_on(at)) {
                out.push(Finding::at(&file.path, number, "begin a line with each sentence"));
            }
        }
    }
    out
}

/// The README is read in one go: it has less than 150 lines.
pub(super) fn the_readme_stays_short(repository: &Repository) -> Vec<Finding> {
    let lines = repository.file(README).map_or(0, |file| file.text.lines().count());
    if lines < README_LINES {
        return Vec::new();
    }
    vec![Finding::at(README, lines, "150 lines or more; move what is longer into a crate's documentation")]
}

/// The top-level folders are the project's table of contents; ARCHITECTURE.md says why each is one.
pub(super) fn the_table_of_contents_is_complete(repository: &Repository) -> Vec<Finding> {
    const TEXT: &str = "ARCHITECTURE.md";
    let folders: BTreeSet<&str> = repository
        .files
        .iter()
        .filter_map(|file| file.path.split_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    let mut out = Vec::new();
    let mut listed = BTreeSet::new();
    let lines = repository.file(TEXT).into_iter().flat_map(File::lines);
    let section = lines.skip_while(|(_, line)| *line != "## The table of contents").skip(1);
    for (number, line) in section.take_while(|(_, line)| !line.starts_with("## ")) {
        let Some(cell) = line.strip_prefix("| `").and_then(|line| line.split('|').next()) else { continue };
        for folder in cell.split('`').filter_map(|part| part.strip_suffix('/')) {
            if !folders.contains(folder) {
                out.push(Finding::at(TEXT, number, format!("there is no folder `{folder}`")));
            }
            listed.insert(folder);
        }
    }
    let unlisted = folders.difference(&listed);
    out.extend(unlisted.map(|folder| {
        Finding::at(TEXT, 1, format!("say in the table of contents why there is a folder `{folder}`"))
    }));
    out
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](b.md#c), [d](../src), [e](https://example.org), [f](macro@g) and [h](#i)\n\
            ```text\n[j](k)\n```\n[l](m.md) and [n](../../o)\n[p]: q.md\n";
        let found = said(links_lead_somewhere, &[("docs/a.md", text), ("docs/b.md", ""), ("src/lib.rs", "")]);
        assert_eq!(
            found,
            [
                "docs/a.md:5: the link to `m.md` leads nowhere",
                "docs/a.md:5: the link to `../../o` leads nowhere",
                "docs/a.md:6: the link to `q.md` leads nowhere",
            ]
        );
    }

    #[test]
    fn an_example_that_nothing_compiles_is_found() {
        let example = "One.\n\n```rust,no_run\nlet a = 1;\n```\n";
        let lib = "#[cfg(doctest)]\n#[doc = include_str!(\"../../docs/a.md\")]\nstruct A;\n";
        let files = [
            ("a/src/lib.rs", lib),
            ("docs/a.md", example),
            ("docs/b.md", example),
            ("docs/c.md", "```sh\nrust\n```\n"),
            ("CHANGELOG.md", example),
        ];
        let found = said(examples_in_rust_are_compiled, &files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("docs/b.md:3: nothing compiles the example"), "{found:?}");
    }

    #[test]
    fn commands_that_do_not_exist_or_are_not_listed_are_found() {
        let usage =
            "usage: cargo xtask COMMAND\n\n  make [--check]  makes\n  show old DIR    shows\n  rest   rests";
        let table = "| `cargo xtask make` | makes |\n| `cargo xtask show old DIR` | shows |\n";
        let text = "`cargo xtask make --check`, `cargo xtask make --chek`; \
            `cargo xtask show new`, `cargo xtask build`.\n";
        let repository = Repository::of(&[("CONTRIBUTING.md", table), ("README.md", text)]);
        let found: Vec<String> = commands_are(&repository, usage).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "README.md:1: `cargo xtask make` knows no `--chek`",
                "README.md:1: `cargo xtask show` knows no `new`",
                "README.md:1: `cargo xtask build` is no command",
                "CONTRIBUTING.md:1: list `cargo xtask rest` in the table of commands",
            ]
        );
    }

    #[test]
    fn versions_that_differ_from_the_manifest_are_found_and_so_is_their_absence() {
        let manifest = "[workspace.package]\nversion = \"0.10.0\"\nrust-version = \"1.89\"\n";
        let text = "Rust 1.8 or later.\nmcp-tasks = \"0.1\"\n";
        let found = said(versions_are_the_manifests, &[("Cargo.toml", manifest), (README, text)]);
        assert_eq!(
            found,
            [
                "README.md:1: `1.8` differs from `rust-version` in Cargo.toml, `1.89`",
                "README.md:2: `0.1` differs from `version` in Cargo.toml, `0.10.0`",
            ]
        );
        assert_eq!(said(versions_are_the_manifests, &[("Cargo.toml", manifest), (README, "")]).len(), 2);
        let text = "Rust 1.89 or later.\nmcp-tasks = { version = \"0.10\" }\n";
        assert_eq!(said(versions_are_the_manifests, &[("Cargo.toml", manifest), (README, text)]), [""; 0]);
    }

    #[test]
    fn a_second_sentence_in_a_line_is_found() {
        let text = "One. Two.\n- One. Two.\n1. One. Two.\nOne, e.g. Two, of version 1.0 or 2.\n";
        assert_eq!(said(one_sentence_a_line, &[("a.md", text)]), ["a.md:1: begin a line with each sentence"]);
    }

    #[test]
    fn a_long_readme_is_found() {
        let found = said(the_readme_stays_short, &[(README, &"\n".repeat(150))]);
        assert_eq!(
            found,
            ["README.md:150: 150 lines or more; move what is longer into a crate's documentation"]
        );
    }

    #[test]
    fn folders_without_a_reason_and_reasons_without_a_folder_are_found() {
        let text =
            "## The table of contents\n\n| folder | why |\n|---|---|\n| `a/`, `gone/` | why |\n\n## Next\n";
        let found =
            said(the_table_of_contents_is_complete, &[("ARCHITECTURE.md", text), ("a/b", ""), ("new/c", "")]);
        assert_eq!(
            found,
            [
                "ARCHITECTURE.md:5: there is no folder `gone`",
                "ARCHITECTURE.md:1: say in the table of contents why there is a folder `new`",
            ]
        );
    }
}
