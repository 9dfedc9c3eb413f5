//! What has to hold of every error of reading.

use mcp_tasks_types::JsonError;

use crate::tree::Tree;

/// How long a message may be beside its text: the lists of what was expected.
const MESSAGE: usize = 4096;
/// How often a part of the text may come back in its message, escapes included.
const ECHOES: usize = 4;

/// Checks the error of reading a text.
pub(crate) fn check(text: &[u8], error: &JsonError) {
    let message = error.to_string();
    assert!(!error.reason().is_empty(), "no reason: {message}");
    assert!(message.contains(&error.reason()), "{message} does not say why: {}", error.reason());
    let limit = ECHOES * text.len() + MESSAGE;
    assert!(message.len() <= limit, "{} bytes of message for {} of text", message.len(), text.len());

    let (line, column) = (error.line(), error.column());
    let mut lines = text.split(|byte| *byte == b'\n');
    let length = line.checked_sub(1).and_then(|before| lines.nth(before)).map(<[u8]>::len);
    let length = length.unwrap_or_else(|| panic!("no line {line} in the text: {message}"));
    // An empty line has a place for what is missing in it.
    let columns = 1..=length.max(1);
    assert!(columns.contains(&column), "no column {column} in line {line}, which has {length} bytes: {message}");
    if let Some(tree) = Tree::of(text) {
        assert!(!error.is_syntax(), "a text that is JSON is none: {message}");
        assert!(leads_somewhere(&tree, error.path(), true), "no such path in the text: {message}");
    }
}

/// Whether a path is one of a value in the tree.
fn leads_somewhere(tree: &Tree, path: &str, outermost: bool) -> bool {
    if path.is_empty() {
        return true;
    }
    match tree {
        Tree::Object(members) => members.iter().any(|(name, value)| {
            let rest = path.strip_prefix(step(name, outermost).as_str());
            rest.is_some_and(|rest| ends_here(rest) && leads_somewhere(value, rest, false))
        }),
        Tree::Array(items) => {
            let index = path.strip_prefix('[').and_then(|path| path.split_once(']'));
            index.is_some_and(|(index, rest)| {
                let item = index.parse().ok().and_then(|index: usize| items.get(index));
                item.is_some_and(|item| leads_somewhere(item, rest, false))
            })
        }
        _ => false,
    }
}

/// A member name as a path spells it.
fn step(name: &str, outermost: bool) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
    if name.is_empty() || !name.chars().all(plain) {
        return format!("[{}]", serde_json::Value::from(name));
    }
    if outermost { name.to_owned() } else { format!(".{name}") }
}

/// Whether what is left of a path begins with another step.
fn ends_here(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}
