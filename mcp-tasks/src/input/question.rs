//! What all kinds of questions have in common: they are declared, asked together or alone, and read.

use std::fmt;

use mcp_tasks_types::RawJson;
use serde_json::Value;

use crate::form::FormError;
use crate::record::InputKind;

/// A question that a tool can declare: an [`Input`](super::Input), [`UrlInput`](super::UrlInput),
/// [`SamplingInput`](super::SamplingInput) or [`RootsInput`](super::RootsInput).
pub trait Declare: sealed::Sealed {
    #[doc(hidden)]
    fn declared(&self, message: &str) -> Declared;
}

/// A question that can be asked: a declared one, or one with what the body has added to it.
pub trait Question: sealed::Sealed {
    /// What comes back.
    type Answer;

    #[doc(hidden)]
    fn asked(&self) -> Asked;

    /// Reads an answer that fits the question.
    #[doc(hidden)]
    fn read(&self, response: &RawJson) -> Result<Self::Answer, String>;
}

/// Several questions, for [`TaskContext::ask_all`](crate::TaskContext::ask_all): a tuple of two to eight of them.
pub trait Questions: sealed::Sealed {
    /// The answers, in the same order.
    type Answers;

    #[doc(hidden)]
    fn all_asked(&self) -> Vec<Asked>;

    #[doc(hidden)]
    fn read_all(&self, responses: &[RawJson]) -> Result<Self::Answers, Unread>;
}

pub(super) mod sealed {
    /// Whether an answer fits is decided here, so that nobody else can say what a question is.
    pub trait Sealed {}
}

/// A declaration on its way into a tool's definition.
#[doc(hidden)]
pub struct Declared<K = &'static str> {
    pub(crate) key: K,
    pub(crate) kind: InputKind,
    pub(crate) message: String,
    /// `{"method":…,"params":…}`; none where the body says it when it asks.
    pub(crate) request: Result<Option<Value>, Vec<FormError>>,
    pub(crate) check: fn(&RawJson) -> Result<(), String>,
}

impl<K: fmt::Debug> fmt::Debug for Declared<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declared").field("key", &self.key).finish_non_exhaustive()
    }
}

/// A question on its way to the client.
#[doc(hidden)]
pub struct Asked {
    pub(crate) key: &'static str,
    /// What the body asks, with the declared message, in place of what the tool declares; or what is wrong with it.
    pub(crate) request: Option<MakeRequest>,
}

pub(crate) type MakeRequest = Box<dyn FnOnce(&str) -> Result<RawJson, String> + Send>;

impl Asked {
    pub(super) fn declared(key: &'static str) -> Self {
        Self { key, request: None }
    }

    pub(super) fn with(
        key: &'static str,
        request: impl FnOnce(&str) -> Result<RawJson, String> + Send + 'static,
    ) -> Self {
        Self { key, request: Some(Box::new(request)) }
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("key", &self.key).finish_non_exhaustive()
    }
}

/// An answer that the tool does not take.
#[doc(hidden)]
#[derive(Debug)]
pub struct Unread {
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

impl<Q: Question> sealed::Sealed for &Q {}

impl<Q: Question> Question for &Q {
    type Answer = Q::Answer;

    fn asked(&self) -> Asked {
        Q::asked(self)
    }

    fn read(&self, response: &RawJson) -> Result<Self::Answer, String> {
        Q::read(self, response)
    }
}

macro_rules! questions {
    ($($question:ident $number:tt),+) => {
        impl<$($question: Question),+> sealed::Sealed for ($($question,)+) {}

        impl<$($question: Question),+> Questions for ($($question,)+) {
            type Answers = ($($question::Answer,)+);

            fn all_asked(&self) -> Vec<Asked> {
                vec![$(self.$number.asked()),+]
            }

            fn read_all(&self, responses: &[RawJson]) -> Result<Self::Answers, Unread> {
                Ok(($(read_one(&self.$number, responses.get($number))?,)+))
            }
        }
    };
}

questions!(A 0, B 1);
questions!(A 0, B 1, C 2);
questions!(A 0, B 1, C 2, D 3);
questions!(A 0, B 1, C 2, D 3, E 4);
questions!(A 0, B 1, C 2, D 3, E 4, F 5);
questions!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
questions!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

fn read_one<Q: Question>(question: &Q, response: Option<&RawJson>) -> Result<Q::Answer, Unread> {
    let read = response.ok_or_else(|| "it is missing".to_owned()).and_then(|text| question.read(text));
    read.map_err(|message| Unread { key: question.asked().key, message })
}
