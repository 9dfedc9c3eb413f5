//! Where in a JSON text a reader stopped, as a path such as `result.content[0].text`.
//!
//! Kept apart from reading, so that only an error pays for it: the path is found by walking the text once more up to
//! the line and column that the error names.

/// An open object or array on the way to the place.
enum Frame {
    Object { key: Option<String>, key_comes: bool },
    Array { index: usize },
}

/// The path of the value at a place; empty for the outermost value. Line and column count from 1, the column in bytes.
pub(crate) fn path(text: &[u8], line: usize, column: usize) -> String {
    let start: usize =
        text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let end = (start + column).min(text.len());
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 0;
    while at < end {
        match text[at] {
            b'{' => frames.push(Frame::Object { key: None, key_comes: true }),
            b'[' => frames.push(Frame::Array { index: 0 }),
            b'}' | b']' => {
                frames.pop();
            }
            b',' => match frames.last_mut() {
                Some(Frame::Object { key, key_comes }) => (*key, *key_comes) = (None, true),
                Some(Frame::Array { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                let Some(length) = string_length(&text[at..end]) else { break };
                if let Some(Frame::Object { key, key_comes: key_comes @ true }) = frames.last_mut() {
                    let quoted = &text[at..at + length];
                    *key = serde_json::from_slice(quoted).ok();
                    *key_comes = false;
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    let mut out = String::new();
    for frame in frames {
        match frame {
            Frame::Object { key: Some(key), .. } => push_key(&mut out, &key),
            Frame::Object { key: None, .. } => {}
            Frame::Array { index } => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

/// The length of the string that the text begins with, quotes included; none when it does not end.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Appends a member name, in brackets when it would be misread beside the dots.
fn push_key(out: &mut String, key: &str) {
    let plain =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-'));
    if !plain {
        out.push_str(&format!("[{}]", serde_json::Value::from(key)));
        return;
    }
    if !out.is_empty() {
        out.push('.');
    }
    out.push_str(key);
}

#[cfg(test)]
mod tests {
    use super::path;
    use serde::de::IgnoredAny;

    /// The path of the first `!`, which is no JSON.
    fn of(text: &str) -> String {
        let error = serde_json::from_str::<IgnoredAny>(text).unwrap_err();
        path(text.as_bytes(), error.line(), error.column())
    }

    #[test]
    fn a_place_is_named_by_the_members_and_items_around_it() {
        for (text, expected) in [
            ("!", ""),
            (r#"{"a":!}"#, "a"),
            (r#"{"a":{"b":[1,{"c":!}]}}"#, "a.b[1].c"),
            (r#"{"a":[[1],[2,!]]}"#, "a[1][1]"),
            (r#"{"x":1,"a":!}"#, "x.a".trim_start_matches("x.")),
            ("{\n \"a\": 1,\n \"b\": !\n}", "b"),
            (r#"{"_meta":{"io.example/k":!}}"#, r#"_meta["io.example/k"]"#),
            (r#"{"a\"b":!}"#, r#"["a\"b"]"#),
            (r#"{"a":{"b":1},"c":!}"#, "c"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_place_beyond_the_text_is_its_end() {
        assert_eq!(path(b"{\"a\":[1,2", 9, 99), "a[1]");
        assert_eq!(path(b"{\"a\":\"x", 1, 99), "a");
        assert_eq!(path(b"", 1, 1), "");
    }
}
