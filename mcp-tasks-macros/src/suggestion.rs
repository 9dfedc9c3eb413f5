//! Near names: which known word a misspelt one was meant to be.

/// Adds to the statement that a word is unknown which one was perhaps meant, and which there are.
pub(crate) fn unknown_word(statement: &str, word: &str, known: &[&str]) -> String {
    let known_list = known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
    match nearest(word, known) {
        Some(near) => {
            format!("{statement}, did you mean `{near}`? known: {known_list}")
        }
        None => format!("{statement}, known: {known_list}"),
    }
}

/// The known word with the fewest edits, if few enough to be a slip of the keyboard.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .iter()
        .map(|known| (edits(&word, known), *known))
        .filter(|(edits, known)| *edits <= (known.chars().count() / 3).max(1))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, known)| known)
}

/// Insertions, removals, replacements and swaps of neighbours that turn one word into the other.
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, from_char) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to_char) in to.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(from_char != to_char);
            let mut fewest = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && *from_char == to[j - 1] && from[i - 1] == *to_char;
            if swapped {
                fewest = fewest.min(rows[i - 1][j - 1] + 1);
            }
            row.push(fewest);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::{nearest, unknown_word};

    const KNOWN: &[&str] = &["name", "title", "ttl", "poll", "restart", "cancel_grace"];

    #[test]
    fn a_slip_of_the_keyboard_finds_its_word() {
        for (word, meant) in [
            ("tll", "ttl"),
            ("TTL", "ttl"),
            ("nmae", "name"),
            ("pol", "poll"),
            ("restrat", "restart"),
            ("cancelgrace", "cancel_grace"),
            ("titel", "title"),
        ] {
            assert_eq!(nearest(word, KNOWN), Some(meant), "{word}");
        }
    }

    #[test]
    fn a_different_word_finds_none() {
        for word in ["lifetime", "x", "", "retain"] {
            assert_eq!(nearest(word, KNOWN), None, "{word}");
        }
    }

    #[test]
    fn the_message_lists_what_is_known() {
        assert_eq!(
            unknown_word("unknown attribute `tll`", "tll", &["name", "ttl"]),
            "unknown attribute `tll`, did you mean `ttl`? known: `name`, `ttl`"
        );
        assert_eq!(
            unknown_word("unknown attribute `colour`", "colour", &["name", "ttl"]),
            "unknown attribute `colour`, known: `name`, `ttl`"
        );
    }
}
