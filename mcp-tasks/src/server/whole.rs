//! Whole numbers as JSON writes them, compared by value however large they are and however they are written.

use std::fmt;

/// A number without a fraction: its digits, without outer zeros, and how many zeros follow them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    negative: bool,
    digits: String,
    zeros: u64,
}

impl Whole {
    /// Reads JSON's spelling of a number, if it stands for an integer: `7`, `7.0`, `0.7e1`, but neither `+7` nor `07`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = match number.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (number, ""),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || has_leading_zero || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        let fraction = i64::try_from(fraction.len()).ok()?;
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self { negative: false, digits: "0".to_owned(), zeros: 0 });
        }
        let zeros = exponent.checked_add(zeros)?.checked_sub(fraction)?;
        Some(Self { negative, digits: digits.to_owned(), zeros: u64::try_from(zeros).ok()? })
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than that fit no number that anybody means.
    text.parse().ok().filter(|_| is_number)
}

/// In plain digits, unless those would be many more than were sent.
impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PLAIN: u64 = 64;
        let sign = if self.negative { "-" } else { "" };
        match usize::try_from(self.zeros) {
            Ok(zeros) if self.zeros <= PLAIN => write!(f, "{sign}{}{}", self.digits, "0".repeat(zeros)),
            _ => write!(f, "{sign}{}e{}", self.digits, self.zeros),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Whole;

    /// integers compare numerically.
    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        let huge = "340282366920938463463374607431768211456000";
        for (one, other) in [
            ("7", "7.0"),
            ("-7", "-7.00"),
            ("1000", "1e3"),
            ("1000", "1E+3"),
            ("1000", "10000e-1"),
            ("12", "1.2e1"),
            ("7", "0.7e1"),
            ("0", "-0"),
            ("0", "0.0e9"),
            ("0", "0e-9"),
            (huge, "340282366920938463463374607431768211456e3"),
            ("1e99999999", "10e99999998"),
        ] {
            assert_eq!(Whole::parse(one).unwrap(), Whole::parse(other).unwrap(), "{one} {other}");
        }
        for (one, other) in [("7", "-7"), ("7", "70"), (huge, "340282366920938463463374607431768211456001")] {
            assert_ne!(Whole::parse(one).unwrap(), Whole::parse(other).unwrap(), "{one} {other}");
        }
    }

    #[test]
    fn what_json_does_not_call_an_integer_is_none() {
        for other in [
            "",
            "-",
            "+7",
            "07",
            "7.",
            ".7",
            "7.5",
            "1e-1",
            "0.1e0",
            "x",
            "7x",
            "1e",
            "1e+",
            "1e1.0",
            "1e--1",
            "0x7",
            "1_000",
            " 7",
            "1e99999999999999999999",
            "NaN",
            "\u{661}",
        ] {
            assert_eq!(Whole::parse(other), None, "{other}");
        }
    }

    #[test]
    fn text_is_short_and_means_the_same() {
        for (text, shown) in [("7.0", "7"), ("-1e3", "-1000"), ("0e5", "0"), ("2e999999999", "2e999999999")] {
            let number = Whole::parse(text).unwrap();
            assert_eq!(number.to_string(), shown);
            assert_eq!(Whole::parse(shown), Some(number));
        }
    }
}
