//! Texts as PostgreSQL can keep them: it has no NUL in them, and ids and names of others may.

use std::borrow::Cow;

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
    use super::{kept, original};

    #[test]
    fn every_text_can_be_kept_and_comes_back() {
        for text in ["", "plain", "\0", "\u{1}", "\u{1}0", "\u{1}1", "a\0\u{1}\0b", "\u{1}\u{1}0\0"] {
            let kept = kept(text);
            assert!(!kept.contains('\0'));
            assert_eq!(original(kept.into_owned()), text);
        }
    }
}
