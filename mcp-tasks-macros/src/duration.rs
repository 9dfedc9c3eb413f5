//! Durations as they are written in attributes: one whole number and one unit, read at expansion.

/// The largest number of milliseconds that every JSON reader takes exactly.
const LARGEST_MS: u64 = (1 << 53) - 1;

const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// What people write for a unit, and the unit that they mean.
const OTHER_SPELLINGS: &[(&str, &[&str])] = &[
    ("ms", &["msec", "msecs", "milli", "millis", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("m", &["min", "mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("d", &["day", "days"]),
];

/// Reads a duration into milliseconds.
///
/// # Errors
///
/// Says what is wrong with the text and how to write it.
pub(crate) fn parse_duration(text: &str) -> Result<u64, String> {
    let digits_end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits_end);
    if number.is_empty() {
        return Err(format!(
            "`{text}` is no duration, {}",
            if text.starts_with('-') { "it cannot be negative" } else { EXPECTED }
        ));
    }
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit, {EXPECTED}"));
    }
    let Some((_, factor)) = UNITS.iter().find(|(known, _)| *known == unit) else {
        return Err(unknown_unit(text, number, unit));
    };
    let ms = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*factor))
        .filter(|ms| *ms <= LARGEST_MS)
        .ok_or_else(|| {
            format!("`{text}` is too long, at most {LARGEST_MS} milliseconds can be said exactly")
        })?;
    if ms == 0 {
        return Err(format!("`{text}` is zero, expected a positive duration"));
    }
    Ok(ms)
}

/// The end of a message about a value that is no duration.
pub(crate) const EXPECTED: &str =
    "expected a whole number and one of the units `ms`, `s`, `m`, `h`, `d`, such as `\"15m\"`";

fn unknown_unit(text: &str, number: &str, unit: &str) -> String {
    let lower = unit.trim().to_lowercase();
    let meant = OTHER_SPELLINGS
        .iter()
        .find(|(known, others)| *known == lower || others.contains(&lower.as_str()))
        .map(|(known, _)| *known);
    if let Some(meant) = meant {
        return format!("unknown unit in `{text}`, did you mean `\"{number}{meant}\"`?");
    }
    if unit.chars().any(|character| character.is_ascii_digit()) {
        return format!("`{text}` has more than one number, {EXPECTED}");
    }
    format!("unknown unit `{unit}` in `{text}`, {EXPECTED}")
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn a_number_and_a_unit_become_milliseconds() {
        for (text, ms) in [
            ("1ms", 1),
            ("250ms", 250),
            ("30s", 30_000),
            ("15m", 900_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("007s", 7_000),
            ("9007199254740991ms", 9_007_199_254_740_991),
        ] {
            assert_eq!(parse_duration(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn a_mistake_is_told_with_the_way_out() {
        for (text, part) in [
            ("", "is no duration"),
            ("m", "is no duration"),
            ("-5s", "cannot be negative"),
            ("900", "has no unit"),
            ("15min", "did you mean `\"15m\"`?"),
            ("15 m", "did you mean `\"15m\"`?"),
            ("15M", "did you mean `\"15m\"`?"),
            ("2Hours", "did you mean `\"2h\"`?"),
            ("1w", "unknown unit `w`"),
            ("1h30m", "more than one number"),
            ("1.5h", "more than one number"),
            ("0s", "is zero"),
            ("9007199254740992ms", "too long"),
            ("18446744073709551616ms", "too long"),
            ("18446744073709551615d", "too long"),
        ] {
            let message = parse_duration(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
