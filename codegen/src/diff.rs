//! Two of our own schema folders against each other: what changed, and whom it breaks.
//!
//! Each change is judged for two programs that still have the old types.
//!
//! - A **reader** reads what the new side writes. A change breaks readers when the new schema allows a message that
//!   the old types refuse.
//! - A **writer** writes to the new side. A change breaks writers when the old schema allows a message that the new
//!   types refuse.
//!
//! Both follow what the types do, not what a validator would do: unknown members are kept, null for an optional
//! member is tolerated, an absent constant with `x-const-absent` is taken for the constant, and an error code outside
//! the list is read as its number. Every message is judged in both roles, whoever sends it.
//! A method that one side does not know has an answer in JSON-RPC, so a new one breaks nobody; the loss of one breaks
//! its writers, and so does the loss of a definition that nothing else referred to.
//!
//! The marks are about the wire. Code that names the types goes on compiling, since each revision is a module of its
//! own; where the same revision gets other names, in Rust only, a row says so. What no type keeps is not compared:
//! descriptions, the formats of texts, the bounds of numbers that are not integers.

mod union;
mod walk;

use std::fmt;

use crate::{Error, Generation};

/// What the comparison of two schema folders found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// The name of the old revision.
    pub old: String,
    /// The name of the new revision.
    pub new: String,
    /// The changes: those of old definitions in their order, then new definitions, then methods.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The definition, `Definition.member`, or a method.
    pub at: String,
    /// What about it changed.
    pub kind: Kind,
    /// What the old side says; empty where it says nothing.
    pub old: String,
    /// What the new side says; empty where it says nothing.
    pub new: String,
    /// For programs that read what the new side writes.
    pub readers: Mark,
    /// For programs that write to the new side.
    pub writers: Mark,
    /// The Rust item that it touches, in the new revision's module where it is still there.
    pub item: String,
}

/// Whether programs with the old types can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a change breaks something or it does not")]
pub enum Mark {
    /// They can.
    Compatible,
    /// There is a message that one side writes and the other refuses.
    Breaking,
}

impl Mark {
    pub(crate) fn of(accepted: bool) -> Self {
        if accepted { Self::Compatible } else { Self::Breaking }
    }
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A definition came or went.
    Definition,
    /// A member came or went.
    Member,
    /// A member that is a key of the protocol's own in `_meta` came or went, or is one on one side only.
    MetaKey,
    /// A member has to be there on one side only.
    Required,
    /// A member may be null on one side only.
    Nullable,
    /// The type is another.
    Type,
    /// A constant came, went, or is another.
    Constant,
    /// Whether the absence of a constant is taken for it.
    ConstantAbsent,
    /// Of which members one has to be there.
    AtLeastOne,
    /// A list of strings has a value more or less.
    Value,
    /// A state has an arm more or less, another tag, or is composed elsewhere.
    State,
    /// An arm of a state has a payload more or less.
    Payload,
    /// A union has an arm more or less, or tells its arms apart otherwise.
    Arm,
    /// A method came or went, or is sent in another direction.
    Method,
    /// A request is answered with another definition.
    Result,
    /// A request is routed by another member of its parameters, which a header repeats.
    Routing,
    /// The identifier of an extension.
    Extension,
    /// An error code came or went.
    Code,
    /// The `data` of an error code.
    Data,
    /// The HTTP status of an error code.
    HttpStatus,
    /// Only the name in Rust is another: messages are the same, and source that has the old name does not compile.
    RustName,
}

impl Diff {
    /// The changes that break a reader.
    #[must_use]
    pub fn breaks_readers(&self) -> usize {
        self.changes.iter().filter(|change| change.readers == Mark::Breaking).count()
    }

    /// The changes that break a writer.
    #[must_use]
    pub fn breaks_writers(&self) -> usize {
        self.changes.iter().filter(|change| change.writers == Mark::Breaking).count()
    }

    /// Whether any change breaks a reader or a writer.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.breaks_readers() + self.breaks_writers() > 0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Definition => "definition",
            Self::Member => "member",
            Self::MetaKey => "`_meta` key",
            Self::Required => "required",
            Self::Nullable => "nullable",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::ConstantAbsent => "absent constant",
            Self::AtLeastOne => "at least one",
            Self::Value => "value",
            Self::State => "state",
            Self::Payload => "payload",
            Self::Arm => "arm",
            Self::Method => "method",
            Self::Result => "result",
            Self::Routing => "routing",
            Self::Extension => "extension",
            Self::Code => "error code",
            Self::Data => "error data",
            Self::HttpStatus => "HTTP status",
            Self::RustName => "Rust name",
        })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compatible => "compatible",
            Self::Breaking => "**breaks**",
        })
    }
}

impl fmt::Display for Diff {
    /// A table in Markdown, and a line with the sums.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.changes.is_empty() {
            writeln!(f, "| at | change | old | new | readers | writers | Rust item |")?;
            writeln!(f, "|---|---|---|---|---|---|---|")?;
        }
        for change in &self.changes {
            let Change { at, kind, old, new, readers, writers, item } = change;
            let (old, new) = (cell(old), cell(new));
            writeln!(f, "| {at} | {kind} | {old} | {new} | {readers} | {writers} | `{item}` |")?;
        }
        write!(
            f,
            "{} to {}: changes: {}; breaking readers: {}; breaking writers: {}",
            self.old,
            self.new,
            self.changes.len(),
            self.breaks_readers(),
            self.breaks_writers()
        )
    }
}

fn cell(text: &str) -> String {
    if text.is_empty() { "–".to_owned() } else { text.replace('|', "\\|") }
}

/// Compares two schema folders.
///
/// # Errors
///
/// As [`generate`](crate::generate), for the first of the two that has faults.
pub fn diff(old: &Generation, new: &Generation) -> Result<Diff, Vec<Error>> {
    let (old, new) = (crate::model_of(old)?, crate::model_of(new)?);
    Ok(Diff { changes: walk::changes(&old, &new), old: old.generation.clone(), new: new.generation.clone() })
}
