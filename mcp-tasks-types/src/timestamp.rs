//! Instants as the protocol writes them: RFC 3339, kept letter for letter.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// An RFC 3339 date and time with an offset (C-10).
///
/// What was read is written back letter for letter; comparing and hashing go by the instant, to the nanosecond.
/// One that we make is in UTC with `Z` and milliseconds where there are any.
///
/// ```
/// use mcp_tasks_types::Timestamp;
///
/// let a = Timestamp::parse("2026-08-21T12:30:00.250+02:00")?;
/// assert_eq!(a.as_str(), "2026-08-21T12:30:00.250+02:00");
/// assert_eq!(a, Timestamp::from_unix_millis(a.unix_millis()));
/// # Ok::<(), mcp_tasks_types::TimestampError>(())
/// ```
#[derive(Clone)]
pub struct Timestamp {
    /// Shared, since what is told of a task repeats its times.
    text: Arc<str>,
    seconds: i64,
    nanos: u32,
}

/// The text is no RFC 3339 date and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimestampError {
    text: String,
}

impl fmt::Display for TimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {EXPECTED}", self.text)
    }
}

impl std::error::Error for TimestampError {}

const EXPECTED: &str = "an RFC 3339 timestamp such as `2026-08-21T10:30:00Z`";
/// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z, the years that four digits can hold.
const FIRST_MILLIS: i64 = -62_167_219_200_000;
const LAST_MILLIS: i64 = 253_402_300_799_999;

impl Timestamp {
    /// Reads a timestamp.
    ///
    /// # Errors
    ///
    /// When the text is no RFC 3339 date and time (the basic format, a missing offset, a space in place of `T` and
    /// dates that no calendar has are refused).
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        match instant(text.as_bytes()) {
            Some((seconds, nanos)) => Ok(Self { text: text.into(), seconds, nanos }),
            None => Err(TimestampError { text: crate::error::excerpt(text).into_owned() }),
        }
    }

    /// The instant that many milliseconds after 1970-01-01T00:00:00Z, clamped to the years 0000 to 9999.
    #[must_use]
    pub fn from_unix_millis(millis: i64) -> Self {
        let millis = millis.clamp(FIRST_MILLIS, LAST_MILLIS);
        let (seconds, fraction) = (millis.div_euclid(1000), millis.rem_euclid(1000));
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        put_digits(&mut text[..4], year);
        put_digits(&mut text[5..7], month);
        put_digits(&mut text[8..10], day);
        put_digits(&mut text[11..13], hour);
        put_digits(&mut text[14..16], minute);
        put_digits(&mut text[17..19], second);
        put_digits(&mut text[20..23], fraction);
        let mut length = text.len();
        if fraction == 0 {
            text[19] = b'Z';
            length = 20;
        }
        // Digits and signs, all of them ASCII.
        let text = String::from_utf8_lossy(&text[..length]);
        let nanos = u32::try_from(fraction).unwrap_or(0) * 1_000_000;
        Self { text: text.into(), seconds, nanos }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub fn unix_millis(&self) -> i64 {
        self.seconds * 1000 + i64::from(self.nanos / 1_000_000)
    }

    /// The text as it was read or made.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Fills the text with the last digits of a number that is not negative.
fn put_digits(text: &mut [u8], mut number: i64) {
    for digit in text.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

/// Seconds since 1970 and nanoseconds of a text, if it is one.
fn instant(text: &[u8]) -> Option<(i64, u32)> {
    fn number(digits: &[u8]) -> Option<i64> {
        digits.iter().try_fold(0, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
    }
    let (head, mut rest) = text.split_at_checked(19)?;
    let separators = [head[4], head[7], head[10].to_ascii_uppercase(), head[13], head[16]];
    if separators != *b"--T::" {
        return None;
    }
    let (year, month, day) = (number(&head[..4])?, number(&head[5..7])?, number(&head[8..10])?);
    let (hour, minute, second) = (number(&head[11..13])?, number(&head[14..16])?, number(&head[17..])?);
    if !(1..=12).contains(&month) || day < 1 || day > month_length(year, month) {
        return None;
    }
    // RFC 3339 knows leap seconds; the instant is then that of the following second.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = fraction.iter().take_while(|d| d.is_ascii_digit()).count();
        if length == 0 {
            return None;
        }
        let digits = fraction[..length].iter().chain(std::iter::repeat(&b'0'));
        nanos = digits.take(9).fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
        rest = &fraction[length..];
    }
    let offset = match rest {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some((seconds, nanos))
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, by 400-year eras that start in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date that many days after 1970-01-01; the inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.seconds, self.nanos).hash(state);
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = TimestampError;
    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::parse(text)
    }
}

impl Serialize for Timestamp {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Timestamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                Timestamp::parse(text)
                    .map_err(|_| E::invalid_value(de::Unexpected::Str(&crate::error::excerpt(text)), &self))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;
    use proptest::prelude::*;

    #[test]
    fn what_was_read_is_written_back_letter_for_letter() {
        for text in ["2026-08-21T10:30:00Z", "2026-08-21t10:30:00.120000z", "0000-02-29T23:59:60-00:00"] {
            let json = format!("\"{text}\"");
            let read: Timestamp = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
        }
    }

    #[test]
    fn what_is_no_rfc_3339_is_refused() {
        let refused = [
            "yesterday",
            "",
            "20260728T105000Z",
            "2026-07-28T10:50Z",
            "2026-07-28 10:50:00Z",
            "2026-07-28T10:50:00",
            "2026-02-29T10:50:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00ZZ",
            "+2026-01-01T00:00:00Z",
            "2026-01-01T00:00:0é",
        ];
        for text in refused {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
        let error = serde_json::from_str::<Timestamp>("\"yesterday\"").unwrap_err().to_string();
        assert_eq!(
            error,
            "invalid value: string \"yesterday\", expected an RFC 3339 timestamp such as `2026-08-21T10:30:00Z` \
             at line 1 column 11"
        );
    }

    #[test]
    fn comparing_goes_by_instant() {
        let utc = Timestamp::parse("2026-08-21T10:30:00Z").unwrap();
        let offset = Timestamp::parse("2026-08-21T12:30:00.000+02:00").unwrap();
        assert_eq!(utc, offset);
        assert!(utc < Timestamp::parse("2026-08-21T10:30:00.000000001Z").unwrap());
    }

    #[test]
    fn making_is_clamped_to_four_digit_years() {
        assert_eq!(Timestamp::from_unix_millis(i64::MIN).as_str(), "0000-01-01T00:00:00Z");
        assert_eq!(Timestamp::from_unix_millis(i64::MAX).as_str(), "9999-12-31T23:59:59.999Z");
    }

    proptest! {
        #[test]
        fn reading_agrees_with_an_independent_library(
            year in 0_i64..=9999, month in 1_i64..=13, day in 1_i64..=32, hour in 0_i64..=24, minute in 0_i64..=60,
            second in 0_i64..=59, fraction in proptest::option::of("[0-9]{1,9}"),
            offset in prop_oneof![Just("Z".to_owned()), "[+-](0[0-9]|1[0-9]):[0-5][0-9]"],
        ) {
            let fraction = fraction.map(|f| format!(".{f}")).unwrap_or_default();
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}");
            match (Timestamp::parse(&text), text.parse::<jiff::Timestamp>()) {
                (Ok(ours), Ok(theirs)) => {
                    let nanos = i128::from(ours.seconds) * 1_000_000_000 + i128::from(ours.nanos);
                    prop_assert_eq!(nanos, theirs.as_nanosecond(), "{}", text);
                }
                (Err(_), Err(_)) => {}
                // Instants before the first or after the last of jiff's own range are ours alone.
                (Ok(ours), Err(_)) => prop_assert!(
                    !(-62_135_596_800..253_402_207_200).contains(&ours.seconds), "{}", text
                ),
                (Err(_), Ok(_)) => prop_assert!(hour == 24, "{}", text),
            }
        }

        #[test]
        fn making_and_reading_are_inverse(millis in super::FIRST_MILLIS..=super::LAST_MILLIS) {
            let made = Timestamp::from_unix_millis(millis);
            prop_assert_eq!(made.unix_millis(), millis);
            let read = Timestamp::parse(made.as_str()).unwrap();
            prop_assert_eq!(read.unix_millis(), millis);
            prop_assert!(made.as_str().ends_with('Z'));
        }
    }
}
