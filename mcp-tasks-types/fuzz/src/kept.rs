//! That nothing of a text is lost in what is written for it.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// What the written text lacks of the one that was read, if anything. Allowed are: a null less, a constant more,
/// another spelling of a number and, where fractions are rounded up, the next whole number.
pub(crate) fn lost(read: &Tree, written: &Tree, rounds_up: bool) -> Option<String> {
    match (read, written) {
        (Tree::Null, Tree::Null) => None,
        (Tree::Bool(a), Tree::Bool(b)) if a == b => None,
        (Tree::String(a), Tree::String(b)) if a == b => None,
        (Tree::Number(a), Tree::Number(b)) => {
            let rounded = rounds_up && a.as_f64().map(f64::ceil) == b.as_f64();
            (a != b && a.as_f64() != b.as_f64() && !rounded).then(|| format!("{a} became {b}"))
        }
        (Tree::Array(a), Tree::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).find_map(|(a, b)| lost(a, b, rounds_up))
        }
        (Tree::Object(a), Tree::Object(b)) => lost_members(a, b, rounds_up),
        _ => Some(format!("{read:?} became {written:?}")),
    }
}

fn lost_members(read: &[(String, Tree)], written: &[(String, Tree)], rounds_up: bool) -> Option<String> {
    let (read, written) = (by_name(read), by_name(written));
    for (name, values) in &read {
        let Some(others) = written.get(name) else {
            if values.iter().all(|value| matches!(value, Tree::Null)) {
                continue;
            }
            return Some(format!("`{name}` is gone"));
        };
        if values.len() != others.len() {
            return Some(format!(
                "`{name}` came {} times and is written {} times",
                values.len(),
                others.len()
            ));
        }
        if let Some(fault) = values.iter().zip(others).find_map(|(a, b)| lost(a, b, rounds_up)) {
            return Some(format!("`{name}`: {fault}"));
        }
    }
    // A constant that may be absent is written all the same; nothing else comes from nowhere.
    let invented = written.iter().find(|(name, values)| {
        !read.contains_key(*name) && !matches!(values.as_slice(), [Tree::String(_) | Tree::Number(_)])
    });
    invented.map(|(name, _)| format!("`{name}` was not there"))
}

/// The values of each name in order: members of one name keep theirs, whatever stands between them.
fn by_name(members: &[(String, Tree)]) -> BTreeMap<&str, Vec<&Tree>> {
    let mut out: BTreeMap<&str, Vec<&Tree>> = BTreeMap::new();
    for (name, value) in members {
        out.entry(name).or_default().push(value);
    }
    out
}
