//! What the text of a JSON number stands for, digit by digit: a float rounds, and tells too few numbers apart.

/// A number as digits and a power of ten.
pub(crate) struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: Vec<u8>,
    /// The power of ten of the last digit; nothing when it is beyond all that can be counted.
    exponent: Option<i128>,
}

impl Decimal {
    #[inline]
    pub(crate) fn parse(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').collect();
        let length = digits.len();
        let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
        digits.truncate(length - zeros);
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: Some(0) };
        }
        // Texts are shorter than 2^64, so that no sum of these overflows.
        let exponent = exponent.parse::<i128>().ok().filter(|e| e.unsigned_abs() < 1 << 100);
        let exponent = exponent.map(|exponent| exponent - fraction.len() as i128 + zeros as i128);
        Self { negative, digits, exponent }
    }

    /// Whether two texts stand for one number. Exponents of thirty digits and more are equal as texts only.
    #[inline]
    pub(crate) fn same(a: &str, b: &str) -> bool {
        if a == b {
            return true;
        }
        let (a, b) = (Self::parse(a), Self::parse(b));
        a.exponent.is_some() && a.negative == b.negative && a.exponent == b.exponent && a.digits == b.digits
    }
}

/// The integer that a number is (`60000.0` is one, `1.00000000000000001` is none), as far as it goes.
#[inline]
pub(crate) fn integer(text: &str) -> Option<i128> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    let Decimal { negative, digits, exponent } = Decimal::parse(text);
    // 10^38 is the last power of ten that fits.
    let power = u32::try_from(exponent?).ok().filter(|power| *power <= 38)?;
    let number =
        if digits.is_empty() { 0 } else { std::str::from_utf8(&digits).ok()?.parse::<i128>().ok()? };
    let number = number.checked_mul(10_i128.pow(power))?;
    Some(if negative { -number } else { number })
}

/// A number that is not negative, with a fraction rounded up.
#[inline]
pub(crate) fn rounded_up(text: &str) -> Option<u64> {
    if let Some(number) = integer(text) {
        return u64::try_from(number).ok();
    }
    let Decimal { negative, mut digits, exponent } = Decimal::parse(text);
    let fraction = usize::try_from(exponent?.unsigned_abs()).unwrap_or(usize::MAX);
    if negative || exponent? >= 0 {
        return None;
    }
    digits.truncate(digits.len().saturating_sub(fraction));
    let whole = if digits.is_empty() { 0 } else { std::str::from_utf8(&digits).ok()?.parse::<u64>().ok()? };
    whole.checked_add(1)
}
