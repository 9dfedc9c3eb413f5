//! Texts as PostgreSQL can keep them: it has no NUL in them, and ids and names of others may.

use std::borrow::Cow;

/// What is in no text that is kept, to separate several of them; the statements have it as well.
pub(super) const SEPARATOR: &str = "\u{1},";

/// The text without NUL; different texts stay different.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', '\u{1}']) {
        Cow::Owned(text.replace('\u{1}', "\u{1}1").replace('\0', "\u{1}0"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text that was kept.
pub(super) fn original(text: String) -> String {
    if text.contains('\u{1}') { text.replace("\u{1}0", "\0").replace("\u{1}1", "\u{1}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::{SEPARATOR, kept, original};

    #[test]
    fn every_text_can_be_kept_and_comes_back() {
        for text in
            ["", "plain", "\0", "\u{1}", "\u{1}0", "\u{1}1", "a\0\u{1}\0b", "\u{1}\u{1}0\0", SEPARATOR]
        {
            let kept = kept(text);
            assert!(!kept.contains('\0') && !kept.contains(SEPARATOR));
            assert_eq!(original(kept.into_owned()), text);
        }
    }
}
