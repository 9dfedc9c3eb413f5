//! Questions to the client, mostly to the person behind it, and their answers.

mod kinds;
mod question;

use std::fmt;
use std::time::Duration;

use mcp_tasks_types::RawJson;
use mcp_tasks_types::v2026_07_28::method::ELICITATION_CREATE;
use mcp_tasks_types::v2026_07_28::{ElicitAction, ElicitResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

pub use self::kinds::{RootsInput, SamplingInput, SamplingQuestion, UrlInput, UrlQuestion};
use self::question::sealed;
pub(crate) use self::question::{Asked, Declared};
pub use self::question::{Declare, Question, Questions};
use crate::context::TaskContext;
use crate::error::Interrupted;
use crate::form::{FormError, FormSchema};
use crate::record::InputKind;

/// A type that a form can be filled in for: any struct of plain members with `serde::Deserialize` and
/// `schemars::JsonSchema`. What a form cannot ask for is told when the tool is registered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer to a question",
    label = "no answer to a question",
    note = "put `#[mcp_tasks::tool_type]` on `{Self}`, or derive `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait Answerable: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Answerable for T {}

/// A question that a tool declares, with a form for `T`.
///
/// Each use asks anew: the first under the declared key, further ones under the key with a number, since a key is used
/// once in a task's life. When a body runs again, it gets the answers that it had, in the order in which it asks.
pub struct Input<T> {
    key: &'static str,
    source: AnswerSource,
    read: fn(&RawJson) -> Result<Answer<T>, String>,
}

// With one bound in one place, so that a type that cannot be an answer is told once, where the question is declared.
impl<T> Input<T> {
    /// The question declared under this key.
    #[must_use]
    pub const fn declared(key: &'static str) -> Self
    where
        T: Answerable,
    {
        Self { key, source: AnswerSource::of::<T>(), read: read_answer }
    }

    /// The declared key.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Asks and waits for the answer, however long it takes and however often the server is restarted meanwhile.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask(&self, ctx: &TaskContext) -> Result<Answer<T>, Interrupted> {
        ask_one(self, ctx).await
    }

    /// Asks and waits for the answer, but no longer than that; then the question is taken back and there is nothing.
    /// The time is in the record: it goes on while the server is restarted or the body is parked, where a timer beside
    /// the question would begin anew.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask_within(
        &self,
        ctx: &TaskContext,
        within: Duration,
    ) -> Result<Option<Answer<T>>, Interrupted> {
        ask_one_within(self, ctx, within).await
    }
}

impl<T> sealed::Sealed for Input<T> {}

impl<T> Declare for Input<T> {
    fn declared(&self, message: &str) -> Declared {
        self.source.declared(self.key, message)
    }
}

impl<T> Question for Input<T> {
    type Answer = Answer<T>;

    fn asked(&self) -> Asked {
        Asked::declared(self.key)
    }

    fn read(&self, response: &RawJson) -> Result<Answer<T>, String> {
        (self.read)(response)
    }
}

/// Asks one question and waits for its answer.
async fn ask_one<Q: Question>(question: &Q, ctx: &TaskContext) -> Result<Q::Answer, Interrupted> {
    let asked = question.asked();
    let key = asked.key;
    match ctx.ask(vec![asked], None).await?.pop().flatten() {
        Some(response) => read(question, ctx, key, &response),
        // This run set no limit, so an earlier one of another body did.
        None => Err(ctx.answer_unreadable(key, "no answer came in time")),
    }
}

/// The same for no longer than that; nothing when there was no answer by then.
async fn ask_one_within<Q: Question>(
    question: &Q,
    ctx: &TaskContext,
    within: Duration,
) -> Result<Option<Q::Answer>, Interrupted> {
    let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
    let asked = question.asked();
    let key = asked.key;
    let response = ctx.ask(vec![asked], Some(within_ms)).await?.pop().flatten();
    response.map(|response| read(question, ctx, key, &response)).transpose()
}

fn read<Q: Question>(
    question: &Q,
    ctx: &TaskContext,
    key: &str,
    response: &RawJson,
) -> Result<Q::Answer, Interrupted> {
    question.read(response).map_err(|message| ctx.answer_unreadable(key, &message))
}

impl<T> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The form for a type of answers, and whether that type takes an answer that has passed the form.
#[derive(Clone, Copy)]
pub(crate) struct AnswerSource {
    pub(crate) form: fn() -> Result<FormSchema, Vec<FormError>>,
    pub(crate) check: fn(&RawJson) -> Result<(), String>,
}

impl AnswerSource {
    pub(crate) const fn of<T: Answerable>() -> Self {
        Self { form: FormSchema::of::<T>, check: check_answer::<T> }
    }

    pub(crate) fn declared<K>(self, key: K, message: &str) -> Declared<K> {
        let request = (self.form)().map(|form| {
            let params = json!({"mode": "form", "message": message, "requestedSchema": form.as_value()});
            Some(json!({"method": ELICITATION_CREATE, "params": params}))
        });
        Declared { key, kind: InputKind::Form, message: message.to_owned(), request, check: self.check }
    }
}

fn check_answer<T: DeserializeOwned>(response: &RawJson) -> Result<(), String> {
    read_answer::<T>(response).map(drop)
}

/// What came back. Turning a question down is not cancelling the task; the body decides what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a body must decide about all three; a fourth is a change of the protocol"
)]
pub enum Answer<T> {
    /// The filled-in form; nothing where there was none to fill in.
    Accept(T),
    /// The person said no.
    Decline,
    /// The person closed the question without a choice.
    Cancel,
}

impl<T> Answer<T> {
    /// The filled-in form, if there is one.
    #[must_use]
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accept(value) => Some(value),
            Self::Decline | Self::Cancel => None,
        }
    }
}

/// Reads an answer that has passed its form.
pub(crate) fn read_answer<T: DeserializeOwned>(response: &RawJson) -> Result<Answer<T>, String> {
    /// The content letter for letter, since the tool's own type may see more in a number than a form does.
    #[derive(Deserialize)]
    struct Content {
        content: Option<RawJson>,
    }
    match response.get::<ElicitResult>().map_err(|err| err.to_string())?.action {
        ElicitAction::Decline => Ok(Answer::Decline),
        ElicitAction::Cancel => Ok(Answer::Cancel),
        ElicitAction::Accept => {
            let Content { content } = response.get().map_err(|err| err.to_string())?;
            let content = content.ok_or("an accepted form has no content")?;
            content.get().map(Answer::Accept).map_err(|err| err.reason())
        }
    }
}
