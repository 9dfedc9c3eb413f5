//! Where in a JSON text a value stands, as a path such as `result.content[0].text`.
//!
//! Kept apart from reading, so that only an error pays for it: the path is found by walking the text once more up to
//! the line and column that the error names. The reader of a part, which knows no more than the part, writes the path
//! inside it before its reason (`` `content[0]`: … ``); the reader of the whole puts the two together.

use std::fmt;

/// A step of a path.
#[derive(Debug, PartialEq)]
enum Step {
    Member(String),
    Item(usize),
}

/// The way from a value to one inside it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Path(Vec<Step>);

/// An open object or array on the way to the place.
enum Frame {
    Object { key: Option<String>, key_comes: bool },
    Array { index: usize },
}

impl Frame {
    /// Whether the value that stands here now is the one that a step leads to.
    fn is_at(&self, step: &Step) -> bool {
        match (self, step) {
            (Self::Object { key: Some(key), .. }, Step::Member(name)) => key == name,
            (Self::Array { index }, Step::Item(item)) => index == item,
            _ => false,
        }
    }
}

/// A walk through a text that is JSON as far as it goes.
struct Walk<'t> {
    text: &'t [u8],
    at: usize,
    frames: Vec<Frame>,
}

/// What a step of the walk has passed.
enum Passed {
    /// The end of a value: of a string, an object or an array.
    Value,
    /// The beginning of a value that may end with any step that follows, or something in between values.
    Other,
    /// A string without its end.
    Broken,
}

impl Walk<'_> {
    /// Passes a token, or a byte of one.
    fn step(&mut self) -> Passed {
        let mut passed = Passed::Other;
        match self.text[self.at] {
            b'{' => self.frames.push(Frame::Object { key: None, key_comes: true }),
            b'[' => self.frames.push(Frame::Array { index: 0 }),
            b'}' | b']' => {
                self.frames.pop();
                passed = Passed::Value;
            }
            b',' => match self.frames.last_mut() {
                Some(Frame::Object { key, key_comes }) => (*key, *key_comes) = (None, true),
                Some(Frame::Array { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                let rest = &self.text[self.at..];
                let Some(length) = string_length(rest) else { return Passed::Broken };
                match self.frames.last_mut() {
                    Some(Frame::Object { key, key_comes: key_comes @ true }) => {
                        *key = serde_json::from_slice(&rest[..length]).ok();
                        *key_comes = false;
                    }
                    _ => passed = Passed::Value,
                }
                self.at += length;
                return passed;
            }
            _ => {}
        }
        self.at += 1;
        passed
    }
}

impl Path {
    /// The path of the value at a place; empty for the outermost value. Line and column count from 1, the column in
    /// bytes.
    pub(crate) fn of(text: &[u8], line: usize, column: usize) -> Self {
        let start: usize =
            text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
        let end = (start + column).min(text.len());
        let mut walk = Walk { text: &text[..end], at: 0, frames: Vec::new() };
        while walk.at < end && !matches!(walk.step(), Passed::Broken) {}
        let steps = walk.frames.into_iter().filter_map(|frame| match frame {
            Frame::Object { key, .. } => key.map(Step::Member),
            Frame::Array { index } => Some(Step::Item(index)),
        });
        Self(steps.collect())
    }

    /// The path of one member.
    pub(crate) fn member(name: &str) -> Self {
        Self(vec![Step::Member(name.to_owned())])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes on along a path that begins where this one ends.
    pub(crate) fn append(&mut self, inner: Self) {
        self.0.extend(inner.0);
    }

    /// Where in a text the value ends that the path leads to.
    pub(crate) fn end_in(&self, text: &[u8]) -> Option<usize> {
        let mut walk = Walk { text, at: 0, frames: Vec::new() };
        // How many of the steps the frames follow, and where the last token ended while they followed all.
        let mut found = None;
        let mut follows = 0;
        while walk.at < text.len() {
            let blank = matches!(text[walk.at], b' ' | b'\t' | b'\n' | b'\r' | b':');
            let passed = walk.step();
            if blank {
                continue;
            }
            let depth = walk.frames.len();
            follows = follows.min(depth.saturating_sub(1));
            if follows + 1 == depth
                && let (Some(frame), Some(step)) = (walk.frames.last(), self.0.get(follows))
                && frame.is_at(step)
            {
                follows = depth;
            }
            let is_there = follows == self.0.len();
            match passed {
                Passed::Value if is_there && depth == follows => return Some(walk.at),
                Passed::Broken => return None,
                _ if is_there => found = Some(walk.at),
                _ if found.is_some() => return found,
                _ => {}
            }
        }
        found
    }

    /// The path that stands before a reason, and the reason.
    pub(crate) fn before(text: &str) -> Option<(Self, &str)> {
        let mut rest = text.strip_prefix('`')?;
        let mut steps = Vec::new();
        loop {
            if let Some(reason) = rest.strip_prefix("`: ") {
                return (!steps.is_empty()).then_some((Self(steps), reason));
            }
            if let Some(bracket) = rest.strip_prefix('[') {
                let length = match bracket.starts_with('"') {
                    true => string_length(bracket.as_bytes())?,
                    false => bracket.find(']')?,
                };
                let (inner, after) = bracket.split_at_checked(length)?;
                steps.push(match inner.starts_with('"') {
                    true => Step::Member(serde_json::from_str(inner).ok()?),
                    false => Step::Item(inner.parse().ok()?),
                });
                rest = after.strip_prefix(']')?;
                continue;
            }
            if !steps.is_empty() {
                rest = rest.strip_prefix('.')?;
            }
            let end = rest.find(|c: char| !is_plain(c))?;
            let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
            steps.push(Step::Member(name.to_owned()));
            rest = after;
        }
    }
}

/// Whether a character may stand in a member name beside dots and brackets.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-')
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(item) => write!(f, "[{item}]")?,
                // In brackets where it would be misread beside the dots.
                Step::Member(name) if name.is_empty() || !name.chars().all(is_plain) => {
                    write!(f, "[{}]", serde_json::Value::from(name.as_str()))?;
                }
                Step::Member(name) if index == 0 => f.write_str(name)?,
                Step::Member(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

/// Line and column, from 1, of the byte before a place, as a reader counts that has come so far.
pub(crate) fn line_and_column(text: &[u8], place: usize) -> (usize, usize) {
    let before = &text[..place.min(text.len())];
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    (lines + 1, before.iter().rev().take_while(|byte| **byte != b'\n').count())
}

/// The length of the string that the text begins with, quotes included; none when it does not end.
pub(crate) fn string_length(text: &[u8]) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::{Path, line_and_column};
    use serde::de::IgnoredAny;

    /// The path of the first `!`, which is no JSON.
    fn of(text: &str) -> String {
        let error = serde_json::from_str::<IgnoredAny>(text).unwrap_err();
        Path::of(text.as_bytes(), error.line(), error.column()).to_string()
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
        let path = |text: &[u8], line, column| Path::of(text, line, column).to_string();
        assert_eq!(path(b"{\"a\":[1,2", 9, 99), "a[1]");
        assert_eq!(path(b"{\"a\":\"x", 1, 99), "a");
        assert_eq!(path(b"", 1, 1), "");
    }

    #[test]
    fn a_path_before_a_reason_is_read_as_it_was_written() {
        for text in ["a", "a.b[1].c", "[2][0]", r#"["a`: b"].c"#, r#"_meta["io.example/k"]"#, r#"a[""]"#] {
            let message = format!("`{text}`: `b` is missing");
            let (path, reason) = Path::before(&message).unwrap();
            assert_eq!((path.to_string().as_str(), reason), (text, "`b` is missing"));
        }
        for text in [
            "a: b",
            "`a` is missing",
            "`a b`: c",
            "``: c",
            "`a[x]`: c",
            "`a..b`: c",
            "`a",
            "`[\"a`: c",
            "missing field `a`: b",
        ] {
            assert_eq!(Path::before(text), None, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_value_is_found_by_its_path() {
        let text = r#"{"a": [1, {"b" : "x,]"}, [] ,-1e2], "b":{"b":true , "c":{}},"d":null}"#;
        for (path, value) in [
            ("a", r#"{"a": [1, {"b" : "x,]"}, [] ,-1e2]"#),
            ("a[0]", r#"{"a": [1"#),
            ("a[1]", r#"{"a": [1, {"b" : "x,]"}"#),
            ("a[1].b", r#"{"a": [1, {"b" : "x,]""#),
            ("a[2]", r#"{"a": [1, {"b" : "x,]"}, []"#),
            ("a[3]", r#"{"a": [1, {"b" : "x,]"}, [] ,-1e2"#),
            ("b.b", r#"{"a": [1, {"b" : "x,]"}, [] ,-1e2], "b":{"b":true"#),
            ("b.c", r#"{"a": [1, {"b" : "x,]"}, [] ,-1e2], "b":{"b":true , "c":{}"#),
            ("d", &text[..text.len() - 1]),
        ] {
            let (path, _) = Path::before(&format!("`{path}`: x")).unwrap();
            assert_eq!(path.end_in(text.as_bytes()).map(|end| &text[..end]), Some(value), "{path}");
        }
        for path in ["x", "a[4]", "a.b", "b[0]", "a[0].b"] {
            let (path, _) = Path::before(&format!("`{path}`: x")).unwrap();
            assert_eq!(path.end_in(text.as_bytes()), None, "{path}");
        }
        assert_eq!(line_and_column(b"a\nbc\n", 4), (2, 2));
    }
}
