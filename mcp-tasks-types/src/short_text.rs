//! Text that is mostly short, in place.
//!
//! Reading, copying and looking at a text of its own piece of memory costs more than the text itself, and every task has
//! several of them.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Text that has no memory of its own up to a length of `N` bytes.
#[derive(Clone)]
pub(crate) struct ShortText<const N: usize>(Place<N>);

#[derive(Clone)]
enum Place<const N: usize> {
    /// The bytes behind the length are zero.
    Short {
        length: u8,
        bytes: [u8; N],
    },
    Long(Box<str>),
}

impl<const N: usize> ShortText<N> {
    pub(crate) fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        match (u8::try_from(text.len()), bytes.get_mut(..text.len())) {
            (Ok(length), Some(start)) => {
                start.copy_from_slice(text.as_bytes());
                Self::in_place(length, bytes)
            }
            _ => Self(Place::Long(text.into())),
        }
    }

    /// The first `length` bytes, which have to be a text.
    pub(crate) fn in_place(length: u8, bytes: [u8; N]) -> Self {
        Self(Place::Short { length, bytes })
    }

    fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Place::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Place::Long(text) => text.as_bytes(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            // It was a text, and still is one.
            Place::Short { .. } => str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Place::Long(text) => text,
        }
    }
}

impl<const N: usize> PartialEq for ShortText<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for ShortText<N> {}

impl<const N: usize> PartialOrd for ShortText<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for ShortText<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl<const N: usize> Hash for ShortText<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::ShortText;

    #[test]
    fn texts_are_the_same_in_place_and_beside_it() {
        for text in [
            "",
            "a",
            "seven b",
            "eight by",
            "nine byte",
            "\u{e9}\u{e9}\u{e9}\u{e9}",
            "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
        ] {
            let [text, other] = [text, "eight"].map(ShortText::<8>::new);
            assert_eq!(text.clone().as_str(), text.as_str());
            assert_eq!(text.cmp(&other), text.as_str().cmp("eight"));
            assert!(text == text.clone() && text != other);
        }
        assert_eq!(ShortText::<8>::new("nine byte").as_str(), "nine byte");
        assert_eq!(ShortText::<8>::new("\u{e9}\u{e9}\u{e9}\u{e9}").as_str(), "\u{e9}\u{e9}\u{e9}\u{e9}");
    }
}
