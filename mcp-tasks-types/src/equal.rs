//! Whether two JSON texts stand for the same value.
//!
//! By way of a tree of its own: serde_json's keeps one of several members of a name and rounds numbers. The tree is
//! flat, so that neither depth nor width of a text matters.

use std::borrow::Cow;

use crate::decimal::Decimal;

/// A value inside a text.
enum Node<'t> {
    /// `null`, `true`, `false`.
    Word(&'t str),
    Number(&'t str),
    String(Cow<'t, str>),
    Array(Vec<usize>),
    /// Sorted by name; members of one name stay in their order.
    Object(Vec<(Cow<'t, str>, usize)>),
}

/// Whether two texts, each of one JSON value, stand for the same value.
#[inline]
pub(crate) fn same(a: &str, b: &str) -> bool {
    a == b || same_trees(&tree(a), &tree(b))
}

/// All values of a text, the outermost last.
#[inline]
fn tree(text: &str) -> Vec<Node<'_>> {
    /// An array or object that has not ended.
    struct Open<'t> {
        names: Vec<Cow<'t, str>>,
        values: Vec<usize>,
        is_object: bool,
    }
    let bytes = text.as_bytes();
    let (mut nodes, mut open): (Vec<Node<'_>>, Vec<Open<'_>>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let node = match byte {
            b'{' | b'[' => {
                open.push(Open { names: Vec::new(), values: Vec::new(), is_object: *byte == b'{' });
                continue;
            }
            b'}' | b']' => match open.pop() {
                Some(Open { names, values, is_object: true }) => {
                    let mut members: Vec<_> = names.into_iter().zip(values).collect();
                    members.sort_by(|(a, _), (b, _)| a.cmp(b));
                    Node::Object(members)
                }
                Some(Open { values, .. }) => Node::Array(values),
                None => continue,
            },
            b'"' => {
                at = start + crate::path::string_length(&bytes[start..]).unwrap_or(bytes.len() - start);
                let string = unescaped(&text[start..at]);
                match open.last_mut() {
                    // In an object a name comes before each value.
                    Some(Open { names, values, is_object: true }) if names.len() == values.len() => {
                        names.push(string);
                        continue;
                    }
                    _ => Node::String(string),
                }
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                let in_token =
                    |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'E' | b'0'..=b'9' | b'a'..=b'z');
                at = start + bytes[start..].iter().take_while(|byte| in_token(byte)).count();
                let token = &text[start..at];
                if byte.is_ascii_lowercase() { Node::Word(token) } else { Node::Number(token) }
            }
            _ => continue,
        };
        if let Some(outer) = open.last_mut() {
            outer.values.push(nodes.len());
        }
        nodes.push(node);
    }
    nodes
}

/// The text that a quoted one stands for. Half of a surrogate pair stands for nothing but itself.
#[inline]
fn unescaped(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.trim_matches('"');
    if !quoted.contains('\\') {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str::<String>(quoted).map_or(Cow::Borrowed(quoted), Cow::Owned)
}

#[inline]
fn same_trees(a: &[Node<'_>], b: &[Node<'_>]) -> bool {
    let (Some(last_a), Some(last_b)) = (a.len().checked_sub(1), b.len().checked_sub(1)) else {
        return a.is_empty() && b.is_empty();
    };
    let mut pairs = vec![(last_a, last_b)];
    while let Some((at_a, at_b)) = pairs.pop() {
        let same = match (&a[at_a], &b[at_b]) {
            (Node::Word(a), Node::Word(b)) => a == b,
            (Node::Number(a), Node::Number(b)) => Decimal::same(a, b),
            (Node::String(a), Node::String(b)) => a == b,
            (Node::Array(a), Node::Array(b)) => {
                pairs.extend(a.iter().copied().zip(b.iter().copied()));
                a.len() == b.len()
            }
            (Node::Object(a), Node::Object(b)) => {
                pairs.extend(a.iter().zip(b).map(|((_, a), (_, b))| (*a, *b)));
                a.len() == b.len() && a.iter().zip(b).all(|((a, _), (b, _))| a == b)
            }
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}
