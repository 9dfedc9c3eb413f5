//! Descriptions as Markdown that rustdoc neither runs nor warns of.
//!
//! Code in backticks stays as it is. Elsewhere angle brackets and square brackets are escaped, addresses become
//! links, and no line is indented: indented text would be a doctest.

/// A description as documentation.
pub(crate) fn safe(description: &str) -> String {
    let mut lines = Vec::new();
    let mut fenced = false;
    for line in description.trim().lines() {
        let line = line.trim();
        if let Some(fence) = line.strip_prefix("```") {
            fenced = !fenced;
            // Without a language, or as Rust, rustdoc would run it.
            let named = fenced && !fence.is_empty() && !fence.starts_with("rust");
            lines.push(if named { line.to_owned() } else { fence_of(fenced) });
        } else if fenced {
            lines.push(line.to_owned());
        } else {
            lines.push(escaped(line));
        }
    }
    if fenced {
        lines.push(fence_of(false));
    }
    lines.join("\n")
}

fn fence_of(opens: bool) -> String {
    if opens { "```text".to_owned() } else { "```".to_owned() }
}

/// A line with its parts outside of backticks escaped.
fn escaped(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    // A backtick without its partner would put everything behind it into code.
    let paired = parts.len() % 2 == 1;
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push_str(if paired { "`" } else { "\\`" });
        }
        if paired && index % 2 == 1 {
            out.push_str(part);
        } else {
            text(part, &mut out);
        }
    }
    out
}

fn text(part: &str, out: &mut String) {
    let mut rest = part;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("https://") || rest.starts_with("http://") {
            let end = rest.find(|c: char| c.is_whitespace() || "<>()[]\"".contains(c)).unwrap_or(rest.len());
            let address = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
            out.push('<');
            out.push_str(address);
            out.push('>');
            rest = &rest[address.len()..];
            continue;
        }
        if matches!(first, '<' | '>' | '[' | ']') {
            out.push('\\');
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn markdown_that_rustdoc_would_act_on_is_made_plain_and_code_is_left() {
        for (description, docs) in [
            ("Plain `Vec<T>` and `[x]`.", "Plain `Vec<T>` and `[x]`."),
            ("A Vec<T> of [x].", r"A Vec\<T\> of \[x\]."),
            (
                "See https://example.com/a_b. Or (http://b).",
                "See <https://example.com/a_b>. Or (<http://b>).",
            ),
            ("One ` alone <b>.", r"One \` alone \<b\>."),
            ("Then:\n\n    let x = 1;", "Then:\n\nlet x = 1;"),
            ("```\nlet x;\n```\nEnd <b>.", "```text\nlet x;\n```\nEnd \\<b\\>."),
            ("```rust\nf()\n```", "```text\nf()\n```"),
            ("```json\n{\"a\":[1]}", "```json\n{\"a\":[1]}\n```"),
        ] {
            assert_eq!(safe(description), docs);
        }
    }
}
