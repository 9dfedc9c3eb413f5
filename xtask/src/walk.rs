//! The walk-through in CONTRIBUTING.md, carried out: its edits are applied and its commands run in a copy of the files
//! that they touch, and what the commands say has to stand below them.
//!
//! `MCP_TASKS_BLESS=1 cargo test -p xtask` writes what they said into the text, to be read before it is committed.

use std::fs;
use std::path::Path;

use crate::codegen::settled;
use crate::output::sorted;
use crate::samples;
use crate::schema::diff_of;

const BEGIN: &str = "<!-- walk-through -->\n";
const END: &str = "<!-- end of the walk-through -->\n";

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in sorted(from).unwrap() {
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).unwrap();
        }
    }
}

/// The files that the walk-through touches, with fresh generated code.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&workspace().join("schema"), &folder.path().join("schema"));
    fs::create_dir_all(folder.path().join("mcp-tasks-types/src")).unwrap();
    for file in ["mcp-tasks-types/src/lib.rs", "mcp-tasks-types/src/generated.rs"] {
        fs::copy(workspace().join(file), folder.path().join(file)).unwrap();
    }
    settled(folder.path(), false).unwrap();
    samples::settled(folder.path(), false).unwrap();
    folder
}

/// What a command of the walk-through says.
fn say(root: &Path, command: &str) -> String {
    if let Some(arguments) = command.strip_prefix("sed -i '") {
        let (script, files) = arguments.split_once("' ").unwrap();
        substitute(&root.join(files.strip_suffix("/*").unwrap()), script);
        return String::new();
    }
    match command.split(' ').collect::<Vec<_>>().as_slice() {
        ["cp", "-r", from, to] => {
            copy_folder(&root.join(from), &root.join(to));
            String::new()
        }
        ["cargo", "xtask", "schema", "diff", old, new] => format!("{}\n", diff_of(root, old, new).unwrap()),
        ["cargo", "xtask", "codegen", rest @ ..] => {
            let lines = match settled(root, rest == ["--check"]) {
                Ok((told, faults)) => [told, faults].concat(),
                Err(fault) => vec![fault],
            };
            format!("{}\n", lines.join("\n"))
        }
        // What the types say about them is asked of a program that has them compiled; the text says that it is.
        ["cargo", "xtask", "samples"] => format!("{}\n", samples::settled(root, false).unwrap()),
        _ => panic!("the walk-through has a command that the test does not know: {command}"),
    }
}

/// `s/a/b/g; s/c/d/g` in each file of a folder.
fn substitute(folder: &Path, script: &str) {
    for file in sorted(folder).unwrap() {
        let mut text = fs::read_to_string(&file).unwrap();
        for rule in script.split("; ") {
            let [from, to] = rule
                .strip_prefix("s/")
                .unwrap()
                .strip_suffix("/g")
                .unwrap()
                .split('/')
                .collect::<Vec<_>>()[..]
            else {
                panic!("no substitution: {rule}")
            };
            text = text.replace(from, to);
        }
        fs::write(&file, text).unwrap();
    }
}

/// Applies an edit: `--- file`, then lines that stay, go and come. `@@ text` goes on below a text.
fn apply(root: &Path, edit: &str) {
    let mut lines = edit.lines().peekable();
    let path =
        root.join(lines.next().and_then(|line| line.strip_prefix("--- ")).expect("an edit names its file"));
    let mut text = fs::read_to_string(&path).unwrap();
    let mut from = 0;
    while lines.peek().is_some() {
        if let Some(anchor) = lines.peek().and_then(|line| line.strip_prefix("@@ ")) {
            assert_eq!(text.matches(anchor).count(), 1, "{anchor}");
            from = text.find(anchor).unwrap();
            lines.next();
        }
        let (mut old, mut new) = (String::new(), String::new());
        while let Some(line) = lines.next_if(|line| !line.starts_with("@@ ")) {
            let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            if mark != "+" {
                old.push_str(&format!("{rest}\n"));
            }
            if mark != "-" {
                new.push_str(&format!("{rest}\n"));
            }
        }
        let at = from + text[from..].find(&old).unwrap_or_else(|| panic!("{} has no\n{old}", path.display()));
        text.replace_range(at..at + old.len(), &new);
        from = at + new.len();
    }
    fs::write(&path, text).unwrap();
}

/// Walks through, and gives the text with what the commands say.
fn walked(text: &str) -> String {
    let folder = copy();
    let mut out = String::new();
    let mut said = String::new();
    let mut rest = text;
    while let Some((prose, block)) = rest.split_once("\n```") {
        let (language, block) = block.split_once('\n').unwrap();
        // A block without content ends where it begins.
        let (content, after) = match block.strip_prefix("```") {
            Some(after) => ("", after),
            None => block.split_once("\n```").unwrap(),
        };
        out.push_str(&format!("{prose}\n```{language}\n"));
        if language == "text" {
            out.push_str(&said);
            said.clear();
        } else {
            assert!(said.is_empty(), "the text does not say what the commands say:\n{said}");
            out.push_str(&format!("{content}\n"));
        }
        match language {
            "sh" => said = content.lines().map(|command| say(folder.path(), command)).collect(),
            "diff" => apply(folder.path(), content),
            "text" => {}
            other => panic!("the walk-through has a block of {other}"),
        }
        out.push_str("```");
        rest = after;
    }
    assert!(said.is_empty(), "the text does not say what the commands say:\n{said}");
    out + rest
}

#[test]
fn the_walk_through_says_what_the_commands_say() {
    let file = workspace().join("CONTRIBUTING.md");
    let text = fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (walk, after) = rest.split_once(END).unwrap();
    let walked = walked(walk);
    if std::env::var_os("MCP_TASKS_BLESS").is_some() {
        fs::write(&file, format!("{before}{BEGIN}{walked}{END}{after}")).unwrap();
        return;
    }
    let line = walk.lines().zip(walked.lines()).take_while(|(a, b)| a == b).count();
    assert!(
        walked == walk,
        "CONTRIBUTING.md differs from line {} on:\n{}\nMCP_TASKS_BLESS=1 cargo test -p xtask writes it anew",
        before.lines().count() + line + 2,
        walked.lines().skip(line).take(3).collect::<Vec<_>>().join("\n")
    );
}
