//! Rust text as words, without comments, literals and tests.
//!
//! A reading of words and not of syntax: it keeps line numbers, and it reads programs that must not compile as well.

/// A name or a sign of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
}

impl Word<'_> {
    fn is_name(self) -> bool {
        self.text.starts_with(is_part_of_a_name)
    }
}

fn is_part_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with comments and literals blanked; every line stays where it was.
pub(super) fn bare(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = blank_until(&chars, at);
        if end > at {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
            continue;
        }
        // A name is read as a whole, so that its last letter is not taken for the prefix of a literal.
        let length = chars[at..].iter().take_while(|c| is_part_of_a_name(**c)).count().max(1);
        out.extend(&chars[at..at + length]);
        at += length;
    }
    out
}

/// Where the comment or literal that begins here ends; here when none does.
fn blank_until(chars: &[char], at: usize) -> usize {
    let is = |offset: usize, c: char| chars.get(at + offset) == Some(&c);
    let find = |from: usize, wanted: &str| {
        let wanted: Vec<char> = wanted.chars().collect();
        (from..chars.len())
            .find(|i| chars[*i..].starts_with(&wanted))
            .map_or(chars.len(), |i| i + wanted.len())
    };
    if is(0, '/') && is(1, '/') {
        return (at..chars.len()).find(|i| chars[*i] == '\n').unwrap_or(chars.len());
    }
    if is(0, '/') && is(1, '*') {
        let (mut depth, mut i) = (1, at + 2);
        while depth > 0 && i < chars.len() {
            match (chars[i], chars.get(i + 1)) {
                ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
                ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
                _ => i += 1,
            }
        }
        return i;
    }
    let prefix = usize::from(is(0, 'b') || is(0, 'c'));
    if is(prefix, 'r') {
        let hashes = chars[at + prefix + 1..].iter().take_while(|c| **c == '#').count();
        let open = prefix + 1 + hashes;
        if is(open, '"') {
            return find(at + open + 1, &format!("\"{}", "#".repeat(hashes)));
        }
    }
    for quote in ['"', '\''] {
        if !is(prefix, quote) {
            continue;
        }
        // A quote that neither an escape nor a second quote follows begins the name of a lifetime.
        if quote == '\'' && !is(prefix + 1, '\\') && !is(prefix + 2, quote) {
            continue;
        }
        let mut i = at + prefix + 1;
        while i < chars.len() && chars[i] != quote {
            i += if chars[i] == '\\' { 2 } else { 1 };
        }
        return (i + 1).min(chars.len());
    }
    at
}

/// The words of a bare text; `::` is one of them.
pub(super) fn words(bare: &str) -> Vec<Word<'_>> {
    let mut out = Vec::new();
    for (line, text) in (1..).zip(bare.lines()) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                c if is_part_of_a_name(c) => rest.find(|c| !is_part_of_a_name(c)).unwrap_or(rest.len()),
                _ if rest.starts_with("::") => 2,
                c => c.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            out.push(Word { line, text });
            rest = after.trim_start();
        }
    }
    out
}

/// The words of a file's program: of the items that are there without tests.
pub(super) fn program(bare: &str) -> Vec<Word<'_>> {
    let words = words(bare);
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if is_for_tests(&words[at..]) {
            at = end_of_item(&words, at);
        } else {
            out.push(words[at]);
            at += 1;
        }
    }
    out
}

/// Whether words begin with `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(words: &[Word<'_>]) -> bool {
    let begins = |with: &[&str]| {
        words.len() >= with.len() && words.iter().zip(with).all(|(word, text)| word.text == *text)
    };
    begins(&["#", "[", "cfg", "(", "test", ")"]) || begins(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// Behind the item whose attributes begin here: its `;`, or the brace that closes what it opened.
fn end_of_item(words: &[Word<'_>], from: usize) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().skip(from) {
        match word.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(word.text, ";" | "}") {
            // The braces of a `use` are followed by its end.
            return at + 1 + usize::from(words.get(at + 1).is_some_and(|next| next.text == ";"));
        }
    }
    words.len()
}

/// What is named directly below the path that ends before `at`: `a::b` gives `a`, `{a, b::c}` gives `a` and `b`.
pub(super) fn heads<'a>(words: &[Word<'a>], at: usize) -> Vec<Word<'a>> {
    let Some(first) = words.get(at) else { return Vec::new() };
    if first.text != "{" {
        return vec![*first];
    }
    let (mut depth, mut out) = (0, Vec::new());
    for (i, word) in words.iter().enumerate().skip(at) {
        match word.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if depth == 1 && matches!(words[i - 1].text, "{" | ",") => out.push(*word),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    out
}

/// What a program names directly below `root`, which is the first segment of a path.
pub(super) fn below<'a>(words: &[Word<'a>], root: &str) -> Vec<Word<'a>> {
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word.text == root && begins_a_path(words, at) && words.get(at + 1).is_some_and(|w| w.text == "::")
        {
            out.extend(heads(words, at + 2));
        }
    }
    out
}

/// Whether the word is not a later segment of a path: `::std` begins one, the second half of `a::std` does not.
pub(super) fn begins_a_path(words: &[Word<'_>], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).map(|i| words[i]);
    match before(1).map(|word| word.text) {
        Some("::") => !before(2).is_some_and(|word| word.is_name() && word.text != "use" || word.text == ">"),
        Some(".") => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'a>(words: &[Word<'a>]) -> Vec<&'a str> {
        words.iter().map(|word| word.text).collect()
    }

    #[test]
    fn comments_and_literals_are_no_words_and_lines_stay() {
        let text = "a /* b /* c */ d */ e // f\n\
            \"g\\\" h\" r#\"i \" j\"# 'k' '\\'' b'l' br\"m\" &'n o\n/// p\nattr\"q\"";
        let bare = bare(text);
        assert_eq!(texts(&words(&bare)), ["a", "e", "&", "'", "n", "o", "attr"]);
        assert_eq!(words(&bare).last().unwrap().line, 4);
    }

    #[test]
    fn items_for_tests_are_not_of_the_program() {
        let text = "a! {}\n#[cfg(test)]\nuse b::{c, d};\n\
            #[cfg(all(test, feature))] #[e] mod f { fn g() {} }\nfn h() {}";
        assert_eq!(texts(&program(text)), ["a", "!", "{", "}", "fn", "h", "(", ")", "{", "}"]);
    }

    #[test]
    fn the_first_names_below_a_root_are_found_in_groups_as_well() {
        let text =
            "use crate::{a::b, c::{d, e}, f}; crate::g::h(); x::crate::i; <T as crate::j::K>::l; ::crate::m";
        assert_eq!(texts(&below(&words(text), "crate")), ["a", "c", "f", "g", "j", "m"]);
    }
}
