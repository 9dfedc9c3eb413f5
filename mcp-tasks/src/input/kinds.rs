//! Questions that are no forms: a visit to a web page, a model's answer, the client's roots.

use std::time::Duration;

use mcp_tasks_types::RawJson;
use mcp_tasks_types::v2026_07_28::method::{ROOTS_LIST, SAMPLING_CREATE_MESSAGE};
use mcp_tasks_types::v2026_07_28::{
    CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequest,
    ElicitRequestParams, ElicitRequestUrlParams, ElicitResult, ListRootsResult, Role, Root, SamplingMessage,
    SamplingMessageContent, SamplingMessageContentBlock,
};
use serde::Serialize;
use serde_json::json;

use super::question::{Asked, Declare, Declared, Question, sealed};
use super::{Answer, ask_one, ask_one_within};
use crate::context::TaskContext;
use crate::error::Interrupted;
use crate::record::InputKind;

/// A question that is answered on a web page, out of sight of the client and its model: what is secret, as a password
/// or a payment, is asked for there and never in a form. The body says at which address.
///
/// To accept means to go there, not that it is done: what came of it, the server behind the address knows, by what the
/// address has in it. It should be of one use, and bound to [the owner](TaskContext::owner) of the task.
#[derive(Clone, Copy, Debug)]
pub struct UrlInput {
    key: &'static str,
}

impl UrlInput {
    /// The question declared under this key.
    #[must_use]
    pub const fn declared(key: &'static str) -> Self {
        Self { key }
    }

    /// The declared key.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// The question with its address, to be asked alone or [with others](TaskContext::ask_all). A body that is run
    /// again has to come with the same address, so one that is made up belongs into a [step](TaskContext::step).
    #[must_use]
    pub fn at(&self, url: impl Into<String>) -> UrlQuestion {
        UrlQuestion { key: self.key, url: url.into() }
    }

    /// Asks and waits for the answer, as [`Input::ask`](super::Input::ask) does.
    ///
    /// # Errors
    ///
    /// When the run is over; it fails if the address is none.
    pub async fn ask(&self, ctx: &TaskContext, url: impl Into<String>) -> Result<Answer<()>, Interrupted> {
        self.at(url).ask(ctx).await
    }
}

impl sealed::Sealed for UrlInput {}

impl Declare for UrlInput {
    fn declared(&self, message: &str) -> Declared {
        Declared {
            key: self.key,
            kind: InputKind::Url,
            message: message.to_owned(),
            request: Ok(None),
            check: |response| read_url(response).map(drop),
        }
    }
}

/// A [`UrlInput`] with its address.
#[derive(Clone, Debug)]
pub struct UrlQuestion {
    key: &'static str,
    url: String,
}

impl UrlQuestion {
    /// Asks and waits for the answer, as [`Input::ask`](super::Input::ask) does.
    ///
    /// # Errors
    ///
    /// When the run is over; it fails if the address is none.
    pub async fn ask(&self, ctx: &TaskContext) -> Result<Answer<()>, Interrupted> {
        ask_one(self, ctx).await
    }

    /// Asks and waits for the answer, but no longer than that, as [`Input::ask_within`](super::Input::ask_within) does.
    ///
    /// # Errors
    ///
    /// When the run is over; it fails if the address is none.
    pub async fn ask_within(
        &self,
        ctx: &TaskContext,
        within: Duration,
    ) -> Result<Option<Answer<()>>, Interrupted> {
        ask_one_within(self, ctx, within).await
    }
}

impl sealed::Sealed for UrlQuestion {}

impl Question for UrlQuestion {
    type Answer = Answer<()>;

    fn asked(&self) -> Asked {
        let url = self.url.clone();
        Asked::with(self.key, |message| {
            if !is_url(&url) {
                return Err("its address is no URL".to_owned());
            }
            let params = ElicitRequestUrlParams::new(message, url);
            written(&ElicitRequest::new(ElicitRequestParams::Url(params)))
        })
    }

    fn read(&self, response: &RawJson) -> Result<Answer<()>, String> {
        read_url(response)
    }
}

fn read_url(response: &RawJson) -> Result<Answer<()>, String> {
    let result: ElicitResult = response.get().map_err(|err| err.to_string())?;
    Ok(match result.action {
        ElicitAction::Accept => Answer::Accept(()),
        ElicitAction::Decline => Answer::Decline,
        ElicitAction::Cancel => Answer::Cancel,
    })
}

/// An absolute one, of visible characters.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme && !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A question to the client's model.
///
/// As it is declared, its text is the only message. A body that has more to say asks [with](Self::with) a whole
/// conversation.
#[derive(Clone, Copy, Debug)]
pub struct SamplingInput {
    key: &'static str,
    max_tokens: u64,
    system_prompt: Option<&'static str>,
}

impl SamplingInput {
    /// The question declared under this key; the answer may have a thousand tokens.
    #[must_use]
    pub const fn declared(key: &'static str) -> Self {
        Self { key, max_tokens: 1_000, system_prompt: None }
    }

    /// Sets how many tokens the answer may have.
    #[must_use]
    pub const fn with_max_tokens(mut self, max_tokens: u64) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets what the model is told before.
    #[must_use]
    pub const fn with_system_prompt(mut self, system_prompt: &'static str) -> Self {
        self.system_prompt = Some(system_prompt);
        self
    }

    /// The declared key.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// The question with a conversation of the body's, to be asked alone or [with others](TaskContext::ask_all). A body
    /// that is run again has to come with the same one. Tools need a client whose capabilities have
    /// `sampling.tools`, and a context other than none one with `sampling.context`;
    /// [`TaskContext::can_ask`] says whether they are there.
    #[must_use]
    pub fn with(&self, params: CreateMessageRequestParams) -> SamplingQuestion {
        SamplingQuestion { key: self.key, params }
    }

    /// Asks and waits for the answer, as [`Input::ask`](super::Input::ask) does.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask(&self, ctx: &TaskContext) -> Result<CreateMessageResult, Interrupted> {
        ask_one(self, ctx).await
    }

    /// Asks and waits for the answer, but no longer than that, as [`Input::ask_within`](super::Input::ask_within) does.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask_within(
        &self,
        ctx: &TaskContext,
        within: Duration,
    ) -> Result<Option<CreateMessageResult>, Interrupted> {
        ask_one_within(self, ctx, within).await
    }
}

impl sealed::Sealed for SamplingInput {}

impl Declare for SamplingInput {
    fn declared(&self, message: &str) -> Declared {
        let content = json!({"type": "text", "text": message});
        let messages = json!([{"role": "user", "content": content}]);
        let mut params = json!({"messages": messages, "maxTokens": self.max_tokens});
        if let Some(system_prompt) = self.system_prompt {
            params["systemPrompt"] = system_prompt.into();
        }
        Declared {
            key: self.key,
            kind: InputKind::Sampling,
            message: message.to_owned(),
            request: Ok(Some(json!({"method": SAMPLING_CREATE_MESSAGE, "params": params}))),
            check: |response| read_typed::<CreateMessageResult>(response).map(drop),
        }
    }
}

impl Question for SamplingInput {
    type Answer = CreateMessageResult;

    fn asked(&self) -> Asked {
        Asked::declared(self.key)
    }

    fn read(&self, response: &RawJson) -> Result<CreateMessageResult, String> {
        read_typed(response)
    }
}

/// A [`SamplingInput`] with a conversation of the body's.
#[derive(Clone, Debug)]
pub struct SamplingQuestion {
    key: &'static str,
    params: CreateMessageRequestParams,
}

impl SamplingQuestion {
    /// Asks and waits for the answer, as [`Input::ask`](super::Input::ask) does.
    ///
    /// # Errors
    ///
    /// When the run is over; it fails if results of tools are not where they belong, or the client does not have what
    /// the question needs.
    pub async fn ask(&self, ctx: &TaskContext) -> Result<CreateMessageResult, Interrupted> {
        ask_one(self, ctx).await
    }

    /// Asks and waits for the answer, but no longer than that, as [`Input::ask_within`](super::Input::ask_within) does.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask).
    pub async fn ask_within(
        &self,
        ctx: &TaskContext,
        within: Duration,
    ) -> Result<Option<CreateMessageResult>, Interrupted> {
        ask_one_within(self, ctx, within).await
    }
}

impl sealed::Sealed for SamplingQuestion {}

impl Question for SamplingQuestion {
    type Answer = CreateMessageResult;

    fn asked(&self) -> Asked {
        let params = self.params.clone();
        Asked::with(self.key, |_| {
            check_messages(&params.messages)?;
            written(&CreateMessageRequest::new(params))
        })
    }

    fn read(&self, response: &RawJson) -> Result<CreateMessageResult, String> {
        read_typed(response)
    }
}

/// Each use of a tool is answered by one result in the next message, which holds nothing else.
fn check_messages(messages: &[SamplingMessage]) -> Result<(), String> {
    let mut wanted: Vec<&str> = Vec::new();
    for message in messages {
        let blocks = match &message.content {
            SamplingMessageContent::Block(block) => std::slice::from_ref(block),
            SamplingMessageContent::Blocks(blocks) => blocks,
        };
        let mut results: Vec<&str> = Vec::new();
        let mut uses: Vec<&str> = Vec::new();
        for block in blocks {
            match block {
                SamplingMessageContentBlock::ToolResult(result) => results.push(&result.tool_use_id),
                SamplingMessageContentBlock::ToolUse(tool_use) => uses.push(&tool_use.id),
                _ => {}
            }
        }
        if !uses.is_empty() && message.role != Role::Assistant {
            return Err("a message that is not the model's uses a tool".to_owned());
        }
        if !results.is_empty() && (message.role != Role::User || results.len() != blocks.len()) {
            return Err("results of tools do not stand alone in a message of the user".to_owned());
        }
        results.sort_unstable();
        wanted.sort_unstable();
        if results != wanted {
            return Err(
                "a use of a tool has no result in the next message, or a result has no use".to_owned()
            );
        }
        wanted = uses;
    }
    if wanted.is_empty() { Ok(()) } else { Err("the last use of a tool has no result".to_owned()) }
}

/// Asks which folders and files the client works with. There is nothing that a person would read.
#[derive(Clone, Copy, Debug)]
pub struct RootsInput {
    key: &'static str,
}

impl RootsInput {
    /// The question declared under this key.
    #[must_use]
    pub const fn declared(key: &'static str) -> Self {
        Self { key }
    }

    /// The declared key.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Asks and waits for the answer, as [`Input::ask`](super::Input::ask) does.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask(&self, ctx: &TaskContext) -> Result<Vec<Root>, Interrupted> {
        ask_one(self, ctx).await
    }

    /// Asks and waits for the answer, but no longer than that, as [`Input::ask_within`](super::Input::ask_within) does.
    ///
    /// # Errors
    ///
    /// When the run is over.
    pub async fn ask_within(
        &self,
        ctx: &TaskContext,
        within: Duration,
    ) -> Result<Option<Vec<Root>>, Interrupted> {
        ask_one_within(self, ctx, within).await
    }
}

impl sealed::Sealed for RootsInput {}

impl Declare for RootsInput {
    fn declared(&self, message: &str) -> Declared {
        Declared {
            key: self.key,
            kind: InputKind::Roots,
            message: message.to_owned(),
            request: Ok(Some(json!({"method": ROOTS_LIST, "params": {}}))),
            check: |response| read_typed::<ListRootsResult>(response).map(drop),
        }
    }
}

impl Question for RootsInput {
    type Answer = Vec<Root>;

    fn asked(&self) -> Asked {
        Asked::declared(self.key)
    }

    fn read(&self, response: &RawJson) -> Result<Vec<Root>, String> {
        read_typed::<ListRootsResult>(response).map(|result| result.roots)
    }
}

fn read_typed<T: serde::de::DeserializeOwned>(response: &RawJson) -> Result<T, String> {
    response.get().map_err(|err| err.to_string())
}

fn written(request: &impl Serialize) -> Result<RawJson, String> {
    RawJson::new(request).map_err(|err| err.to_string())
}
