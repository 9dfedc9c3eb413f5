//! Why something of one generation could not be said in another.

use std::fmt;

use crate::JsonError;

/// A value has no form in the generation that was asked for; names the member and the reason.
///
/// Display gives both: `` `result.structuredContent`: 2025-11-25 has objects only ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    path: String,
    kind: ConvertErrorKind,
    reason: String,
}

/// What kind of reason a [`ConvertError`] has, and so who can do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConvertErrorKind {
    /// The target requires the member and the source does not carry it: the caller fetches it and hands it in.
    Missing,
    /// The target generation has no place for the value: the caller answers with an error of its own.
    NoCounterpart,
    /// Two things that were handed in cannot both be true: the peer is at fault.
    Contradiction,
    /// The value is not what its own generation says it is: the peer is at fault.
    Malformed,
}

impl ConvertError {
    #[inline]
    pub(super) fn new(kind: ConvertErrorKind, path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), kind, reason: reason.into() }
    }

    #[inline]
    pub(super) fn missing(path: &str, reason: &str) -> Self {
        Self::new(ConvertErrorKind::Missing, path, reason)
    }

    #[inline]
    pub(super) fn no_counterpart(path: &str, reason: &str) -> Self {
        Self::new(ConvertErrorKind::NoCounterpart, path, reason)
    }

    #[inline]
    pub(super) fn contradiction(path: &str, reason: &str) -> Self {
        Self::new(ConvertErrorKind::Contradiction, path, reason)
    }

    #[inline]
    pub(super) fn twice(path: &str) -> Self {
        Self::new(ConvertErrorKind::Malformed, path, "the member is there twice")
    }

    #[inline]
    pub(super) fn malformed(path: &str, error: &JsonError) -> Self {
        let inner = Self::new(ConvertErrorKind::Malformed, error.path(), error.reason());
        if path.is_empty() { inner } else { inner.within(path) }
    }

    /// The same error, seen from the object that holds the value under that name.
    #[inline]
    pub(super) fn within(mut self, name: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    /// The member at fault, as a path from the value that was to be made or read, such as
    /// `result.structuredContent`.
    #[must_use]
    #[inline]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What kind of reason it is.
    #[must_use]
    #[inline]
    pub const fn kind(&self) -> ConvertErrorKind {
        self.kind
    }

    /// The reason without the member.
    #[must_use]
    #[inline]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for ConvertError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ConvertError {}
