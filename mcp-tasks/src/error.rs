//! What can go wrong, one type for each person who has to act on it.
//!
//! [`ToolError`] is the tool author's, [`Interrupted`] tells a body to stop, [`ArgumentError`] and [`EngineError`] are
//! the server's, [`BuildError`] is the operator's. None of them is a wire error: those are made in the server.

use std::error::Error as StdError;
use std::fmt;

use crate::store::StoreError;

type Source = Box<dyn StdError + Send + Sync>;

/// An error for the log, which writes it with everything that caused it.
pub(crate) fn with_causes(error: &(impl StdError + 'static)) -> &(dyn StdError + 'static) {
    error
}

/// Writes an error as a person wants to read it who meets it at the end of `main`: what happened and what caused it.
pub(crate) fn write_chain(
    f: &mut fmt::Formatter<'_>,
    message: &str,
    source: Option<&dyn StdError>,
) -> fmt::Result {
    f.write_str(message)?;
    let mut cause = source;
    while let Some(error) = cause {
        write!(f, ": {error}")?;
        cause = error.source();
    }
    Ok(())
}

/// How a tool's body ends when it has no result.
///
/// Anything that `?` brings along becomes a result with `isError` and the error's own message: standard errors,
/// `anyhow` errors, text. The other ends are chosen on purpose.
#[derive(Debug)]
pub struct ToolError {
    kind: ToolErrorKind,
}

#[derive(Debug)]
pub(crate) enum ToolErrorKind {
    Tool(String),
    Protocol { code: i64, message: String },
    Cancelled(String),
    Interrupted(Interrupted),
    Other(Source),
}

impl ToolError {
    /// An error that the tool found; the task completes with a result that says so (`isError`).
    pub fn tool(message: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Tool(message.into()) }
    }

    /// A protocol error; the task fails with it.
    pub fn protocol(code: i64, message: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Protocol { code, message: message.into() } }
    }

    /// Giving up on purpose, as after a refusal; the task is cancelled.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Cancelled(message.into()) }
    }

    pub(crate) fn into_kind(self) -> ToolErrorKind {
        self.kind
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ToolErrorKind::Tool(message)
            | ToolErrorKind::Protocol { message, .. }
            | ToolErrorKind::Cancelled(message) => f.write_str(message),
            ToolErrorKind::Interrupted(interrupted) => interrupted.fmt(f),
            ToolErrorKind::Other(source) => source.fmt(f),
        }
    }
}

// `ToolError` is no standard error itself, or this impl could not take all of those.
impl<E: Into<Source>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error: Source = error.into();
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*error);
        while let Some(current) = cause {
            if let Some(interrupted) = current.downcast_ref::<Interrupted>() {
                return Self { kind: ToolErrorKind::Interrupted(interrupted.clone()) };
            }
            cause = current.source();
        }
        Self { kind: ToolErrorKind::Other(error) }
    }
}

/// The run of a body is over, whatever the body does next: pass this on with `?`.
///
/// Every method of the context gives it once the task is cancelled, has expired, runs elsewhere or the server stops. It
/// is a standard error, so it passes through anybody's error type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    pub(crate) kind: InterruptedKind,
}

/// Why a body has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InterruptedKind {
    /// Somebody asked for it.
    Cancelled,
    /// The task has ended already, as by the end of its lifetime.
    Ended,
    /// Another worker has the task.
    LeaseLost,
    /// The body ran longer than its tool allows.
    Deadline,
    /// The server stops. A task that may be run again goes on after the next start.
    Shutdown,
    /// The run itself cannot go on, as when a replay does something else than before.
    Fault,
}

impl Interrupted {
    pub(crate) fn new(kind: InterruptedKind) -> Self {
        Self { kind }
    }

    /// Why.
    #[must_use]
    pub fn kind(&self) -> InterruptedKind {
        self.kind
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            InterruptedKind::Cancelled => "the task was cancelled",
            InterruptedKind::Ended => "the task has ended",
            InterruptedKind::LeaseLost => "another worker has the task",
            InterruptedKind::Deadline => "the body ran too long",
            InterruptedKind::Shutdown => "the server stops",
            InterruptedKind::Fault => "the run cannot go on",
        })
    }
}

impl StdError for Interrupted {}

/// Arguments that a tool cannot be called with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentError {
    /// Whether a required member is missing, which is the caller's malformed request; anything else is an error that
    /// the tool reports in its result.
    pub missing: bool,
    /// Which member, if it is known.
    pub member: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl ArgumentError {
    /// A required member is missing.
    pub fn missing(member: impl Into<String>) -> Self {
        let member = member.into();
        Self { missing: true, message: format!("missing argument `{member}`"), member: Some(member) }
    }

    /// A value does not fit.
    pub fn invalid(member: Option<String>, reason: impl fmt::Display) -> Self {
        let message = match &member {
            Some(member) => format!("invalid argument `{member}`: {reason}"),
            None => format!("invalid arguments: {reason}"),
        };
        Self { missing: false, member, message }
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for ArgumentError {}

/// Why the engine did not do what a request asked for. `Debug` says it with everything that caused it.
pub struct EngineError {
    kind: EngineErrorKind,
    message: String,
    argument: Option<ArgumentError>,
    source: Option<Source>,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EngineErrorKind {
    /// There is no such task for this owner.
    TaskNotFound,
    /// There is no such tool.
    UnknownTool,
    /// The arguments do not fit; [`EngineError::argument`] has more.
    InvalidArguments,
    /// The owner's task was there and its time is over.
    TaskExpired,
    /// There are as many live tasks as are allowed; later there may be fewer.
    TooManyTasks,
    /// There is no room for one more body in this process; later there may be some.
    Busy,
    /// The task's work does not go on outside, so that nobody outside may say how it ends.
    NotOutside,
    /// The engine does not do what was asked of it, by its role.
    WrongRole,
    /// An answer does not fit its question; none of the update was applied.
    InvalidInput,
    /// There is no such call for this owner that waits for answers, or not any more.
    CallOver,
    /// The answers were used for a task before, and count once.
    AnswersUsed,
    /// The tool asked a question where nobody can be asked.
    InputUnavailable,
    /// The engine takes no new work.
    ShuttingDown,
    /// The store failed.
    Store,
    /// Another fault of ours.
    Internal,
}

impl EngineError {
    pub(crate) fn new(kind: EngineErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), argument: None, source: None }
    }

    /// The one answer for an id that is unknown, somebody else's or gone; equal to the byte (S-29, S-31).
    pub(crate) fn task_not_found() -> Self {
        Self::new(EngineErrorKind::TaskNotFound, "Task not found")
    }

    /// What the owner of a task is told whose retention is over.
    pub(crate) fn task_expired() -> Self {
        Self::new(EngineErrorKind::TaskExpired, "Task expired")
    }

    pub(crate) fn unknown_tool(name: &str) -> Self {
        Self::new(EngineErrorKind::UnknownTool, format!("Unknown tool: {name}"))
    }

    pub(crate) fn shutting_down() -> Self {
        Self::new(EngineErrorKind::ShuttingDown, "the server is shutting down")
    }

    pub(crate) fn internal(source: impl Into<Source>) -> Self {
        Self { source: Some(source.into()), ..Self::new(EngineErrorKind::Internal, "Internal error") }
    }

    /// What kind of refusal it is.
    #[must_use]
    pub fn kind(&self) -> EngineErrorKind {
        self.kind
    }

    /// What the client may be told; holds nothing of the cause (C-48, C-95).
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What is wrong with the arguments, if they are what is wrong.
    #[must_use]
    pub fn argument(&self) -> Option<&ArgumentError> {
        self.argument.as_ref()
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_chain(f, &self.message, self.source())
    }
}

impl StdError for EngineError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        Self { source: Some(error.into()), ..Self::new(EngineErrorKind::Store, "Internal error") }
    }
}

impl From<ArgumentError> for EngineError {
    fn from(error: ArgumentError) -> Self {
        let message = error.message.clone();
        Self { argument: Some(error), ..Self::new(EngineErrorKind::InvalidArguments, message) }
    }
}

/// Why an engine or a server could not be built. `Debug` says it with everything that caused it, each fault on a line
/// of its own, so that a `main` that returns it tells people what to do.
pub struct BuildError {
    message: String,
    faults: Vec<DefinitionError>,
    source: Option<Source>,
}

impl BuildError {
    pub(crate) fn of_tools(mut faults: Vec<DefinitionError>) -> Self {
        let mut told = Vec::new();
        faults.retain(|fault| {
            let new = !told.contains(fault);
            told.extend(new.then(|| fault.clone()));
            new
        });
        Self { message: "the tools have faults".to_owned(), faults, source: None }
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), faults: Vec::new(), source: None }
    }

    pub(crate) fn with_source(message: impl Into<String>, source: impl Into<Source>) -> Self {
        Self { message: message.into(), faults: Vec::new(), source: Some(source.into()) }
    }

    /// Every fault of every tool.
    #[must_use]
    pub fn faults(&self) -> &[DefinitionError] {
        &self.faults
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (place, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if place == 0 { ": " } else { "; " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_chain(f, &self.message, self.source())?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl StdError for BuildError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// A fault of a tool's definition, found when the tool is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionError {
    /// The tool.
    pub tool: String,
    /// The key of the question, if it is about one.
    pub key: Option<String>,
    /// The member of the form, if it is about one.
    pub member: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl DefinitionError {
    pub(crate) fn new(tool: &str, message: impl Into<String>) -> Self {
        Self { tool: tool.to_owned(), key: None, member: None, message: message.into() }
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool `{}`", self.tool)?;
        if let Some(key) = &self.key {
            write!(f, ", input `{key}`")?;
        }
        if let Some(member) = &self.member {
            write!(f, ", member `{member}`")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl StdError for DefinitionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Wrapper(Interrupted);

    impl fmt::Display for Wrapper {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the report could not be written")
        }
    }

    impl StdError for Wrapper {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn interruption_is_found_inside_other_errors() {
        let interrupted = || Interrupted::new(InterruptedKind::Cancelled);
        for error in [ToolError::from(interrupted()), ToolError::from(Wrapper(interrupted()))] {
            assert!(matches!(error.into_kind(), ToolErrorKind::Interrupted(_)));
        }
    }

    /// What `main` prints of an error that it returns.
    #[test]
    fn debug_form_is_for_people() {
        let store = || {
            StoreError::new(crate::StoreErrorKind::Unavailable, "the store `x.db` cannot be opened")
                .with_source(std::io::Error::other("disk full"))
        };
        let told = "the store `x.db` cannot be opened: disk full";
        assert_eq!(format!("{:?}", store()), told);
        assert_eq!(format!("{:?}", EngineError::from(store())), format!("Internal error: {told}"));
        let build = BuildError::with_source("the unfinished tasks cannot be read", store());
        assert_eq!(format!("{build:?}"), format!("the unfinished tasks cannot be read: {told}"));
        let fault = |tool: &str| DefinitionError::new(tool, "a lifetime of 0");
        let build = BuildError::of_tools(vec![fault("a"), fault("b"), fault("a")]);
        let listed = "the tools have faults\n  tool `a`: a lifetime of 0\n  tool `b`: a lifetime of 0";
        assert_eq!(format!("{build:?}"), listed);
        let line = "the tools have faults: tool `a`: a lifetime of 0; tool `b`: a lifetime of 0";
        assert_eq!((build.to_string().as_str(), build.faults().len()), (line, 2));
    }

    #[test]
    fn anything_that_boxes_into_an_error_is_a_tool_error() {
        for error in [
            ToolError::from("no"),
            ToolError::from("no".to_owned()),
            ToolError::from(std::io::Error::other("no")),
        ] {
            assert_eq!(error.to_string(), "no");
            assert!(matches!(error.into_kind(), ToolErrorKind::Other(_)));
        }
    }
}
