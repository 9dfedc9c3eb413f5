//! The questions that a tool declares.

use std::fmt;

use mcp_tasks_types::RawJson;
use mcp_tasks_types::v2026_07_28::{ElicitRequestParams, IncludeContext, InputRequest};
use serde_json::Value;

use super::ToolDefinition;
use crate::digest;
use crate::error::DefinitionError;
use crate::input::{AnswerSource, Answerable, Declare, Declared};
use crate::record::{InputKind, InputRecord};

impl ToolDefinition {
    /// Declares a question with a form for `T`.
    #[must_use]
    pub fn with_input<T: Answerable>(self, key: impl Into<String>, message: impl Into<String>) -> Self {
        self.declare(AnswerSource::of::<T>().declared(key.into(), &message.into()))
    }

    /// Declares a question that is asked before the body runs and before a task exists, together with all others like
    /// it. [`Input::ask`](crate::Input::ask) gives the answer at once the first time.
    #[must_use]
    pub fn with_input_before_task<T: Answerable>(
        self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        self.with_input::<T>(key, message).before_task()
    }

    /// Declares a question of any kind, with what the person or the model is asked.
    #[must_use]
    pub fn with_question(self, question: &impl Declare, message: impl Into<String>) -> Self {
        let Declared { key, kind, message, request, check } = question.declared(&message.into());
        self.declare(Declared { key: key.to_owned(), kind, message, request, check })
    }

    /// The same for one that is asked before the body runs and before a task exists. What the body has to say a part
    /// of, as the address of a [`UrlInput`](crate::UrlInput), cannot be.
    #[must_use]
    pub fn with_question_before_task(self, question: &impl Declare, message: impl Into<String>) -> Self {
        self.with_question(question, message).before_task()
    }

    fn before_task(mut self) -> Self {
        if let Some(input) = self.inputs.last_mut() {
            input.before_task = true;
            if input.request.is_none() {
                let fault = "what the body says a part of cannot be asked before it runs";
                let key = Some(input.key.clone());
                self.faults.push(DefinitionError { key, ..DefinitionError::new(&self.name, fault) });
            }
        }
        self
    }

    fn declare(mut self, declared: Declared<String>) -> Self {
        let Declared { key, kind, message, request, check } = declared;
        let fault = |member, message: String| DefinitionError {
            key: Some(key.clone()),
            member,
            ..DefinitionError::new(&self.name, message)
        };
        if self.inputs.iter().any(|input| input.key == key) {
            self.faults.push(fault(None, "the key is declared twice".to_owned()));
        }
        if key.is_empty() || key.contains('#') {
            // `key#2` is the second time that `key` is asked for.
            self.faults.push(fault(None, "a key is not empty and holds no `#`".to_owned()));
        }
        let request = match request {
            Ok(request) => request,
            Err(errors) => {
                self.faults.extend(errors.into_iter().map(|error| fault(error.member, error.message)));
                return self;
            }
        };
        let request =
            request.map(|request| RawJson::new(&request).map(|text| (text, digest::of_value(&request))));
        match request.transpose() {
            Ok(request) => {
                self.inputs.push(InputDeclaration { key, message, kind, request, before_task: false, check });
            }
            Err(err) => self.faults.push(fault(None, err.to_string())),
        }
        self
    }

    /// Whether the key is one of a question that is asked before a task exists.
    pub(crate) fn asks_before_task(&self, key: &str) -> bool {
        self.inputs.iter().any(|input| input.before_task && input.key == key)
    }

    /// Members of forms whose names look like secrets, which a form never asks for.
    pub(crate) fn secrets(&self) -> Vec<(&str, String)> {
        let mut found = Vec::new();
        for input in &self.inputs {
            let request: Value = input.request().and_then(|request| request.get().ok()).unwrap_or_default();
            let Some(members) =
                request.pointer("/params/requestedSchema/properties").and_then(Value::as_object)
            else {
                continue;
            };
            for name in members.keys() {
                if looks_secret(name) {
                    found.push((input.key(), name.clone()));
                }
            }
        }
        found
    }
}

/// Whether a member is called like something that few people may see.
pub(crate) fn looks_secret(name: &str) -> bool {
    const SECRETS: &[&str] =
        &["password", "passphrase", "secret", "token", "api_key", "apikey", "credential"];
    let lower = name.to_ascii_lowercase();
    SECRETS.iter().any(|secret| lower.contains(secret))
}

/// A question that a tool may ask.
#[derive(Clone)]
pub struct InputDeclaration {
    key: String,
    message: String,
    kind: InputKind,
    /// With its fingerprint; none where the body says it.
    request: Option<(RawJson, String)>,
    before_task: bool,
    check: fn(&RawJson) -> Result<(), String>,
}

impl InputDeclaration {
    /// The key under which it is asked for the first time.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What the person reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the client has to be capable of.
    #[must_use]
    pub fn kind(&self) -> InputKind {
        self.kind
    }

    /// The request, `{"method":…,"params":…}`; none where the body says it when it asks, as the address of a
    /// [`UrlInput`](crate::UrlInput).
    #[must_use]
    pub fn request(&self) -> Option<&RawJson> {
        self.request.as_ref().map(|(request, _)| request)
    }

    /// Whether it is asked before the body runs and before a task exists.
    #[must_use]
    pub fn is_before_task(&self) -> bool {
        self.before_task
    }

    /// The digest of the request that is declared.
    pub(crate) fn fingerprint(&self) -> Option<&str> {
        self.request.as_ref().map(|(_, fingerprint)| fingerprint.as_str())
    }

    /// The question as it is recorded when it is asked under this key; none where the body has to say it.
    pub(crate) fn record(&self, key: &str) -> Option<InputRecord> {
        let (request, fingerprint) = self.request.as_ref()?;
        Some(InputRecord::new(key, request.clone(), fingerprint))
    }

    /// Whether the tool's own type takes the answer, which has passed its form.
    pub(crate) fn check(&self, response: &RawJson) -> Result<(), String> {
        (self.check)(response)
    }
}

impl fmt::Debug for InputDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputDeclaration")
            .field("key", &self.key)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// What a client has to be capable of to be asked this.
pub(crate) fn kind_of(request: &InputRequest) -> InputKind {
    match request {
        InputRequest::Elicit(request) => match request.params {
            ElicitRequestParams::Form(_) => InputKind::Form,
            ElicitRequestParams::Url(_) => InputKind::Url,
        },
        InputRequest::CreateMessage(request) => {
            let context = request.params.include_context.filter(|context| *context != IncludeContext::None);
            if request.params.tools.is_some() || request.params.tool_choice.is_some() {
                InputKind::SamplingWithTools
            } else if context.is_some() {
                InputKind::SamplingWithContext
            } else {
                InputKind::Sampling
            }
        }
        InputRequest::ListRoots(_) => InputKind::Roots,
    }
}
