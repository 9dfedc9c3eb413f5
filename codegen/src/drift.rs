//! Our schema of a generation against the published one.
//!
//! Both are brought to the same plain form: what members an object can have, which of them it must have, which may be
//! null, which values and constants they take, what lists and maps hold. A union of objects is one object whose
//! required members are those of all its arms, so that it does not matter how either side spells it.
//!
//! Differences that are meant stand in `divergences.toml` with a reason. One that is not listed, and one that is
//! listed and not there, are both faults; so is one whose published side has changed since it was listed, which is
//! why an entry repeats what that says.

mod compare;
mod form;
mod listed;
mod published;

use std::fmt;

use serde::Deserialize;

use crate::error::Error;
use crate::{Generation, TextFile};

/// What the comparison found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Drift {
    /// The differences, in order of their place.
    pub differences: Vec<Difference>,
    /// Entries of `divergences.toml` that nothing corresponds to, as `at: kind`.
    pub obsolete: Vec<String>,
    /// How many definitions both sides have.
    pub compared: usize,
}

impl Drift {
    /// Whether every difference is listed and every entry is needed.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.obsolete.is_empty() && self.differences.iter().all(|difference| difference.reason.is_some())
    }

    /// How many differences are listed with a reason.
    #[must_use]
    pub fn listed(&self) -> usize {
        self.differences.iter().filter(|difference| difference.reason.is_some()).count()
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Difference {
    /// The definition, or `Definition.member`; `[]` stands for the items of a list and `{}` for the values of a map,
    /// or of the members that an object does not describe.
    pub at: String,
    /// In what they differ.
    pub kind: Kind,
    /// What ours says.
    pub ours: String,
    /// What the published one says.
    pub published: String,
    /// Why, if it is meant.
    pub reason: Option<String>,
    /// What the entry for this place has under `published` when that is not what the published side says; empty when
    /// it has none and needs one. Such an entry gives no reason.
    pub listed_for: Option<String>,
}

/// In what two schemas differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// One side has no such definition.
    Definition,
    /// One side has no such member.
    Member,
    /// The member is required on one side only.
    Required,
    /// The member may be null on one side only.
    Nullable,
    /// The type is another.
    Type,
    /// The list of values, or the constant, is another.
    Values,
    /// One side has no such error code.
    Code,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Definition => "definition",
            Self::Member => "member",
            Self::Required => "required",
            Self::Nullable => "nullable",
            Self::Type => "type",
            Self::Values => "values",
            Self::Code => "code",
        })
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| at | kind | ours | published | reason |\n|---|---|---|---|---|")?;
        for difference in &self.differences {
            let Difference { at, kind, ours, published, reason, listed_for } = difference;
            let reason = match (reason, listed_for.as_deref()) {
                (Some(reason), _) => reason.clone(),
                (None, None) => "**not listed**".to_owned(),
                (None, Some("")) => "**listed without what is published**".to_owned(),
                (None, Some(other)) => format!("**listed for another published form: {other}**"),
            };
            let (ours, published, reason) = (cell(ours), cell(published), cell(&reason));
            writeln!(f, "| {at} | {kind} | {ours} | {published} | {reason} |")?;
        }
        for entry in &self.obsolete {
            writeln!(f, "| {entry} | | | | **listed, but there is no such difference** |")?;
        }
        let (total, listed) = (self.differences.len(), self.listed());
        let obsolete = self.obsolete.len();
        write!(
            f,
            "{} definitions compared, {total} differences, {listed} listed, {} not listed, {obsolete} obsolete",
            self.compared,
            total - listed
        )
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Compares a generation with its published schemas. A definition that several of those have is taken from the first.
///
/// # Errors
///
/// When a file cannot be read, or holds what is no schema.
pub fn drift(
    generation: &Generation,
    published: &[TextFile],
    divergences: &TextFile,
) -> Result<Drift, Vec<Error>> {
    let listed = listed::read(divergences)?;
    if let Some(reason) = listed.unpublished {
        return Err(vec![Error::new(&divergences.path, "unpublished", reason)]);
    }
    let (ours, theirs) = (published::definitions(&generation.schemas), published::definitions(published));
    let (ours, theirs) = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (ours, theirs) => return Err([ours.err(), theirs.err()].into_iter().flatten().flatten().collect()),
    };
    let mut drift = compare::compare(&ours, &theirs);
    listed::apply(&mut drift, &listed);
    Ok(drift)
}

/// Why there is nothing to compare with, where `divergences.toml` says that nobody publishes a schema of the revision.
///
/// # Errors
///
/// When the file cannot be read.
pub fn unpublished(divergences: &TextFile) -> Result<Option<String>, Vec<Error>> {
    Ok(listed::read(divergences)?.unpublished)
}

/// `divergences.toml` with what the published side says now under `published` of each entry that is for a difference
/// of this comparison. Entries come and go by hand, since each has a reason; places with one reason whose published
/// sides differ become an entry each.
///
/// # Errors
///
/// When the file cannot be read.
pub fn with_published(divergences: &TextFile, drift: &Drift) -> Result<TextFile, Vec<Error>> {
    listed::with_published(divergences, drift)
}
