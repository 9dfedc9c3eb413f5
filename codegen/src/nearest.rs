//! Near names: which known one a misspelt one was meant to be.

/// What to add to a statement that a name is unknown: the known one with the fewest edits, if they are few enough to be
/// a slip of the keyboard. Where a name is a path, one with the same last part is as near. Of equals the last is taken.
pub(crate) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let lower = name.to_lowercase();
    let near = known
        .filter_map(|known| Some((distance(&lower, &known.to_lowercase())?, known)))
        .reduce(|best, next| if next.0 <= best.0 { next } else { best })
        .map(|(_, known)| known);
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// How far a known name is from another, both in small letters; none when it is another word.
fn distance(name: &str, known: &str) -> Option<usize> {
    let last = |path: &str| path.rsplit("::").next().map(str::to_owned);
    // Insertions, removals, replacements and swaps of neighbours.
    let edits = strsim::osa_distance(name, known);
    if edits <= (known.chars().count() / 4).clamp(1, 3) {
        return Some(edits);
    }
    (last(name) == last(known)).then_some(4)
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn a_slip_of_the_keyboard_finds_its_word_and_another_word_finds_none() {
        let known = ["TaskId", "a::RequestId", "b::RequestId", "b::ErrorObject"];
        for (name, meant) in [
            ("TaskID", Some("TaskId")),
            ("TaksId", Some("TaskId")),
            ("b::RequestID", Some("b::RequestId")),
            ("a::RequstId", Some("a::RequestId")),
            ("RequestId", Some("b::RequestId")),
            ("c::old::RequestId", Some("b::RequestId")),
            ("Sheep", None),
            ("", None),
        ] {
            let expected = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            assert_eq!(hint(name, known.into_iter()), expected, "{name}");
        }
    }
}
