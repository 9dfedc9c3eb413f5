//! The trait that `#[task_tool]` implements, and what a tool says about itself.

mod durable;
mod question;
mod references;

use std::fmt;

use mcp_tasks_types::RawObject;
use mcp_tasks_types::v2026_07_28::CallToolResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use self::question::InputDeclaration;
pub(crate) use self::question::{kind_of, looks_secret};
use crate::BoxFuture;
use crate::context::TaskContext;
use crate::digest;
use crate::error::{ArgumentError, DefinitionError, ToolError};
use crate::output::{ToolOutput, ToolReturn, schema_of};
pub use crate::record::InputKind;
use crate::record::ToolFingerprint;

/// A tool whose calls can become tasks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no task tool",
    note = "put `#[mcp_tasks::task_tool]` on an async function and name that function here"
)]
pub trait TaskTool: 'static {
    /// The tool's name.
    const NAME: &'static str;

    /// What the tool says about itself.
    fn definition() -> ToolDefinition;

    /// Whether the tool can be called with these arguments. Asked before a task exists.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    fn check(arguments: &RawObject) -> Result<(), ArgumentError>;

    /// Runs the body once, in a task of its own that outlives the request. The caller's tracing span goes along,
    /// task-locals do not.
    fn run(call: ToolCall) -> BoxFuture<'static, Result<CallToolResult, ToolError>>;
}

/// A type that can be an argument of a tool: any with `serde::Deserialize` and `schemars::JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a task tool",
    label = "no argument of a tool",
    note = "put `#[mcp_tasks::tool_type]` on `{Self}`, or derive `serde::Deserialize` and `schemars::JsonSchema`",
    note = "`TaskContext` and `Input<T>` are known by these names: write them out, an alias of them is taken for an argument"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolArgument for T {}

/// Whether a call becomes a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskMode {
    /// For clients that know tasks; others wait for the result.
    #[default]
    Auto,
    /// Always; clients that do not know tasks are refused.
    Required,
    /// Never.
    Never,
}

/// What becomes of a task whose process died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Restart {
    /// It fails and says so.
    #[default]
    Fail,
    /// The body runs again from the top with the same arguments; answers and recorded steps come from the record. What
    /// the body does outside of steps it does again.
    Rerun,
}

/// What marks an argument in a schema that is repeated in a header.
pub(crate) const MIRROR: &str = "x-mcp-header";

/// What a tool says about itself. Faults in it are kept and told all at once when the engine is built.
#[derive(Clone)]
pub struct ToolDefinition {
    name: String,
    title: Option<String>,
    description: Option<String>,
    version: Option<String>,
    status_message: Option<String>,
    input_schema: Value,
    /// Of the arguments as they are, whatever else is said about them.
    input_digest: String,
    output_schema: Option<Value>,
    ttl_ms: Option<u64>,
    poll_ms: Option<u64>,
    task_mode: TaskMode,
    restart: Restart,
    cancel_grace_ms: u64,
    durations: durable::Durations,
    require_input_capability: bool,
    inputs: Vec<InputDeclaration>,
    faults: Vec<DefinitionError>,
}

impl ToolDefinition {
    /// A tool with arguments `A` whose body returns `R`.
    #[must_use]
    pub fn new<A: DeserializeOwned + JsonSchema, R: ToolReturn>(name: impl Into<String>) -> Self {
        Self::of_schemas(name.into(), arguments_schema::<A>(), R::Output::schema())
    }

    fn of_schemas(name: String, mut input_schema: Value, output_schema: Option<Value>) -> Self {
        let mut faults = Vec::new();
        match input_schema.as_object_mut().filter(|schema| schema.get("type") == Some(&json!("object"))) {
            Some(schema) => {
                // Some clients need the member even when it is empty.
                schema.entry("properties").or_insert_with(|| json!({}));
            }
            None => {
                faults.push(DefinitionError::new(&name, "the arguments are no struct with named members"));
            }
        }
        Self {
            name,
            title: None,
            description: None,
            version: None,
            status_message: None,
            input_digest: digest::of_value(&digest::without_annotations(&input_schema)),
            input_schema,
            output_schema,
            ttl_ms: None,
            poll_ms: None,
            task_mode: TaskMode::Auto,
            restart: Restart::Fail,
            cancel_grace_ms: 5_000,
            durations: durable::Durations::default(),
            require_input_capability: true,
            inputs: Vec::new(),
            faults,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the author's version; a task does not go on with a tool of another version.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets what its tasks say about where they stand before their body does, so that already the answer that hands a
    /// task over has it (S-06).
    #[must_use]
    pub fn with_status_message(mut self, message: impl Into<String>) -> Self {
        self.status_message = Some(message.into());
        self
    }

    /// Sets the lifetime of its tasks, counted from creation.
    #[must_use]
    pub fn with_ttl_ms(mut self, ttl_ms: u64) -> Self {
        if ttl_ms == 0 {
            self.faults.push(DefinitionError::new(&self.name, "a lifetime of 0"));
        }
        self.ttl_ms = Some(ttl_ms);
        self
    }

    /// Sets how often a client should ask.
    #[must_use]
    pub fn with_poll_ms(mut self, poll_ms: u64) -> Self {
        if poll_ms == 0 {
            self.faults.push(DefinitionError::new(&self.name, "a poll interval of 0"));
        }
        self.poll_ms = Some(poll_ms);
        self
    }

    /// Sets whether a call becomes a task.
    #[must_use]
    pub fn with_task_mode(mut self, mode: TaskMode) -> Self {
        self.task_mode = mode;
        self
    }

    /// Sets what becomes of a task whose process died.
    #[must_use]
    pub fn with_restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// Sets how long a body may go on after it was told to stop, before it is dropped: 5,000, unless set. Zero drops it
    /// at once.
    #[must_use]
    pub fn with_cancel_grace_ms(mut self, cancel_grace_ms: u64) -> Self {
        self.cancel_grace_ms = cancel_grace_ms;
        self
    }

    /// Sets whether a caller has to declare that it can be asked what the tool may ask (R-5). A task can do without,
    /// since it may be answered all the same; what is asked in the answer of a call is asked of those who declare it
    /// alone.
    #[must_use]
    pub fn with_require_input_capability(mut self, required: bool) -> Self {
        self.require_input_capability = required;
        self
    }

    /// Has an argument be repeated in a header of its requests, `Mcp-Param-` and this name, for whoever routes them
    /// without reading them (X-110). It is a text, an integer or a boolean, and nothing that is secret.
    #[must_use]
    pub fn with_header(mut self, argument: &str, header: impl Into<String>) -> Self {
        let header = header.into();
        let property = self.input_schema.get("properties").and_then(|all| all.get(argument));
        let Some(Value::Object(mut property)) = property.cloned() else {
            let fault =
                format!("`{argument}` is no argument with a type and cannot be the header `{header}`");
            self.faults.push(DefinitionError::new(&self.name, fault));
            return self;
        };
        // Clients look for the type where the mark is.
        if let Some(Value::String(path)) = property.get("$ref")
            && let Some(Value::Object(mut inlined)) =
                path.strip_prefix('#').and_then(|path| self.input_schema.pointer(path)).cloned()
        {
            inlined.extend(property.into_iter().filter(|(name, _)| name != "$ref"));
            property = inlined;
        }
        // Choices that are described one by one have their type with each of them.
        let choices = property.get("oneOf").and_then(Value::as_array);
        let is_choice_of_texts =
            choices.is_some_and(|choices| choices.iter().all(|choice| choice["type"] == "string"));
        if is_choice_of_texts {
            property.entry("type").or_insert_with(|| json!("string"));
        }
        property.insert(MIRROR.to_owned(), Value::String(header));
        self.input_schema["properties"][argument] = Value::Object(property);
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The description.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// What its tasks say before their body does.
    #[must_use]
    pub fn status_message(&self) -> Option<&str> {
        self.status_message.as_deref()
    }

    /// The schema of the arguments.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// The schema of the structured content, if the tool gives any.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.output_schema.as_ref()
    }

    /// The lifetime of its tasks; none leaves it to the engine.
    #[must_use]
    pub fn ttl_ms(&self) -> Option<u64> {
        self.ttl_ms
    }

    /// How often a client should ask; none leaves it to the engine.
    #[must_use]
    pub fn poll_ms(&self) -> Option<u64> {
        self.poll_ms
    }

    /// Whether a call becomes a task.
    #[must_use]
    pub fn task_mode(&self) -> TaskMode {
        self.task_mode
    }

    /// What becomes of a task whose process died.
    #[must_use]
    pub fn restart(&self) -> Restart {
        self.restart
    }

    /// How long a body may go on after it was told to stop.
    #[must_use]
    pub fn cancel_grace_ms(&self) -> u64 {
        self.cancel_grace_ms
    }

    /// Whether a caller has to declare that it can be asked.
    #[must_use]
    pub fn requires_input_capability(&self) -> bool {
        self.require_input_capability
    }

    /// The questions that the tool may ask.
    #[must_use]
    pub fn inputs(&self) -> &[InputDeclaration] {
        &self.inputs
    }

    pub(crate) fn fingerprint(&self) -> ToolFingerprint {
        ToolFingerprint::new(&self.name, &self.input_digest, self.version.clone())
    }

    /// Every fault that registration finds.
    pub(crate) fn faults(&self) -> Vec<DefinitionError> {
        let mut faults = self.faults.clone();
        faults.extend(self.faults_of_durations());
        for schema in std::iter::once(&self.input_schema).chain(&self.output_schema) {
            let of_schema = references::faults_of_references(schema);
            faults.extend(of_schema.into_iter().map(|fault| DefinitionError::new(&self.name, fault)));
        }
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if self.name.is_empty() || self.name.len() > 128 || !self.name.bytes().all(allowed) {
            let message = "a tool's name has 1 to 128 characters of `A-Z a-z 0-9 _ - .`";
            faults.push(DefinitionError::new(&self.name, message));
        }
        faults
    }

    /// What a model would have to guess: the tool itself if it has no description, and each of its arguments that has
    /// none, neither of its own nor of its type.
    pub(crate) fn undescribed(&self) -> Vec<Option<&str>> {
        let is_blank = |text: Option<&str>| text.is_none_or(|text| text.trim().is_empty());
        let tool = is_blank(self.description.as_deref()).then_some(None);
        let described = |schema: &Value| {
            let own = schema.get("description");
            let reference =
                schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
            let of_type = reference.and_then(|path| self.input_schema.pointer(path)?.get("description"));
            !is_blank(own.or(of_type).and_then(Value::as_str))
        };
        let arguments = self.input_schema.get("properties").and_then(Value::as_object);
        let arguments = arguments.into_iter().flatten().filter(|(_, schema)| !described(schema));
        tool.into_iter().chain(arguments.map(|(name, _)| Some(name.as_str()))).collect()
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDefinition")
            .field("name", &self.name)
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

/// One call of a tool: its arguments and its context.
#[derive(Clone, Debug)]
pub struct ToolCall {
    arguments: RawObject,
    context: TaskContext,
}

impl ToolCall {
    pub(crate) fn new(arguments: RawObject, context: TaskContext) -> Self {
        Self { arguments, context }
    }

    /// The arguments as the tool's own type.
    ///
    /// # Errors
    ///
    /// When they do not fit, which [`TaskTool::check`] has ruled out before the call.
    pub fn arguments<A: DeserializeOwned>(&self) -> Result<A, ToolError> {
        self.arguments.get().map_err(|err| ToolError::tool(argument_error(&self.arguments, &err).message))
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> TaskContext {
        self.context.clone()
    }
}

fn arguments_schema<A: JsonSchema>() -> Value {
    schema_of::<A>(schemars::generate::Contract::Deserialize)
}

/// How an expansion reads its arguments. Only one place of it needs what their types have to have, so that the compiler
/// tells once what is missing.
#[doc(hidden)]
pub struct Arguments<A> {
    schema: fn() -> Value,
    check: fn(&RawObject) -> Result<(), ArgumentError>,
    read: fn(&ToolCall) -> Result<A, ToolError>,
}

impl<A> Arguments<A> {
    #[must_use]
    pub const fn of() -> Self
    where
        A: DeserializeOwned + JsonSchema,
    {
        Self { schema: arguments_schema::<A>, check: check_arguments::<A>, read: ToolCall::arguments::<A> }
    }

    #[must_use]
    pub fn define<R: ToolReturn>(&self, name: &str) -> ToolDefinition {
        ToolDefinition::of_schemas(name.to_owned(), (self.schema)(), R::Output::schema())
    }

    /// # Errors
    ///
    /// As [`check_arguments`].
    pub fn check(&self, arguments: &RawObject) -> Result<(), ArgumentError> {
        (self.check)(arguments)
    }

    /// # Errors
    ///
    /// As [`ToolCall::arguments`].
    pub fn read(&self, call: &ToolCall) -> Result<A, ToolError> {
        (self.read)(call)
    }
}

impl<A> fmt::Debug for Arguments<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arguments").finish_non_exhaustive()
    }
}

/// Whether arguments fit a type, for [`TaskTool::check`].
///
/// # Errors
///
/// What is wrong, with the member if it can be told.
pub fn check_arguments<A: DeserializeOwned>(arguments: &RawObject) -> Result<(), ArgumentError> {
    match arguments.get::<A>() {
        Ok(_) => Ok(()),
        Err(err) => Err(argument_error(arguments, &err)),
    }
}

fn argument_error(arguments: &RawObject, err: &mcp_tasks_types::JsonError) -> ArgumentError {
    let reason = err.reason();
    let at = member_at(arguments, err.column().saturating_sub(1));
    if let Some(member) = reason.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return match at {
            // Inside of another argument, whose value is what does not fit.
            Some(outer) => ArgumentError::invalid(Some(outer), reason),
            None => ArgumentError::missing(member),
        };
    }
    ArgumentError::invalid(at, reason)
}

/// The argument whose value covers the place in the text that reading has come to. A value that its first character
/// gives away is not begun: then it is the place before it, which belongs to no other one.
fn member_at(arguments: &RawObject, place: usize) -> Option<String> {
    #[derive(Deserialize)]
    struct Members<'a>(#[serde(borrow)] std::collections::BTreeMap<String, &'a RawValue>);
    let text = arguments.as_str();
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    let start = text.as_ptr() as usize;
    let covers = |value: &RawValue| {
        let from = value.get().as_ptr() as usize - start;
        (from.saturating_sub(1)..from + value.get().len()).contains(&place)
    };
    members.0.into_iter().find(|(_, value)| covers(value)).map(|(name, _)| name)
}

/// Turns what a body returned into the end of its run, for expansions.
///
/// # Errors
///
/// The body's own error.
pub fn finish<R: ToolReturn>(returned: R) -> Result<CallToolResult, ToolError> {
    returned.into_outcome()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only reading it is of interest")]
    struct Arguments {
        /// How many.
        count: u8,
        inner: Option<Inner>,
        /// Any.
        text: Option<String>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only reading it is of interest")]
    struct Inner {
        value: bool,
    }

    fn check(text: &str) -> Result<(), ArgumentError> {
        check_arguments::<Arguments>(&RawObject::from_text(text).unwrap())
    }

    /// X-134, P014: a missing member and a bad value are told apart, and both name the member.
    #[test]
    fn argument_error_names_the_member() {
        assert_eq!(check(r#"{"count":1,"more":2}"#), Ok(()));
        let missing = check(r#"{"inner":{"value":true}}"#).unwrap_err();
        assert_eq!((missing.missing, missing.member.as_deref()), (true, Some("count")));
        for (text, member) in [
            (r#"{"count":999}"#, "count"),
            (r#"{"count":null}"#, "count"),
            // What is refused by its first character is not read.
            (r#"{"more":2,"count":{}}"#, "count"),
            (r#"{"count": [1] ,"more":{}}"#, "count"),
            (r#"{"more":[{}],"text" :  {"a":"b"},"count":1}"#, "text"),
            (r#"{"count":1,"text":[]}"#, "text"),
            (r#"{"count":1,"inner":{"value":{}}}"#, "inner"),
            (r#"{"count":1,"inner":{}}"#, "inner"),
            (r#"{"count":1,"inner":{"value":"yes"}}"#, "inner"),
        ] {
            let error = check(text).unwrap_err();
            assert_eq!((error.missing, error.member.as_deref()), (false, Some(member)), "{text}: {error}");
            assert!(error.message.contains(member));
        }
    }

    /// P145: a tool without arguments says so in full.
    #[test]
    fn schema_without_members_has_properties() {
        #[derive(Deserialize, JsonSchema)]
        struct Nothing {}
        let definition = ToolDefinition::new::<Nothing, Result<(), ToolError>>("ping");
        assert_eq!(definition.input_schema(), &json!({"type": "object", "properties": {}}));
        assert_eq!(definition.output_schema(), None::<&Value>);
        assert!(definition.faults().is_empty());
    }

    /// X-153, X-49: all faults at once, each with tool, key and member.
    #[test]
    fn every_fault_is_told_with_its_place() {
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is of interest")]
        struct Nested {
            inner: Inner,
            list: Vec<u8>,
        }
        let definition = ToolDefinition::new::<bool, Result<(), ToolError>>("my tool")
            .with_ttl_ms(0)
            .with_poll_ms(0)
            .with_input::<Inner>("key", "?")
            .with_input::<Inner>("key", "?")
            .with_input::<Inner>("key#2", "?")
            .with_input::<Nested>("nested", "?");
        let faults: Vec<String> = definition.faults().iter().map(ToString::to_string).collect();
        assert_eq!(faults.len(), 8, "{faults:#?}");
        assert!(faults[3].contains("`my tool`, input `key`: the key is declared twice"), "{}", faults[3]);
        assert!(faults[5].contains("`my tool`, input `nested`, member `inner`: "), "{}", faults[5]);
    }

    /// What nobody has described is found, and what its type describes counts as described.
    #[test]
    fn what_has_no_description_is_found() {
        /// How large.
        #[derive(Deserialize, JsonSchema)]
        enum Size {
            Small,
        }
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is of interest")]
        struct Mixed {
            /// Described.
            one: u8,
            two: Option<u8>,
            size: Size,
            inner: Inner,
        }
        let definition = ToolDefinition::new::<Mixed, Result<(), ToolError>>("mixed");
        assert_eq!(definition.undescribed(), [None, Some("inner"), Some("two")]);
        let described =
            ToolDefinition::new::<Arguments, Result<(), ToolError>>("t").with_description("Does it.");
        assert_eq!(described.undescribed(), [Some("inner")]);
    }

    /// X-110: what is repeated in a header has its type where the mark is, and tasks that wait do not notice.
    #[test]
    fn header_is_marked_beside_the_type() {
        /// How large.
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        enum Size {
            /// Not large.
            Small,
            /// Not small.
            Large,
        }
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is of interest")]
        struct Mirrored {
            region: Option<String>,
            size: Size,
            any: Value,
        }
        let plain = ToolDefinition::new::<Mirrored, Result<(), ToolError>>("t");
        let definition = plain.clone().with_header("region", "Region").with_header("size", "Size");
        assert!(definition.faults().is_empty());
        let properties = &definition.input_schema()["properties"];
        assert_eq!(properties["region"], json!({"type": ["string", "null"], "x-mcp-header": "Region"}));
        assert_eq!(
            (&properties["size"]["type"], &properties["size"]["x-mcp-header"]),
            (&json!("string"), &json!("Size"))
        );
        assert_eq!(properties["size"]["description"], "How large.");
        assert_eq!(definition.fingerprint(), plain.fingerprint());
        for unfit in ["any", "other"] {
            assert_eq!(plain.clone().with_header(unfit, "Any").faults().len(), 1, "{unfit}");
        }
    }

    /// C-66, X-49: a question of any kind is declared with its text, and what the body says is no part of it.
    #[test]
    fn questions_of_all_kinds_are_declared() {
        use crate::{RootsInput, SamplingInput, UrlInput};

        let sampling = SamplingInput::declared("greet").with_max_tokens(50).with_system_prompt("Be kind.");
        let definition = ToolDefinition::new::<Inner, Result<(), ToolError>>("t")
            .with_question(&UrlInput::declared("login"), "Log in.")
            .with_question(&sampling, "Greet them.")
            .with_question_before_task(&RootsInput::declared("folders"), "");
        assert!(definition.faults().is_empty());
        let kinds: Vec<InputKind> = definition.inputs().iter().map(InputDeclaration::kind).collect();
        assert_eq!(kinds, [InputKind::Url, InputKind::Sampling, InputKind::Roots]);
        let request = |place: usize| {
            definition.inputs()[place].request().map(|request| request.get::<Value>().unwrap())
        };
        assert_eq!(request(0), None);
        let message = json!({"role": "user", "content": {"type": "text", "text": "Greet them."}});
        let params = json!({"messages": [message], "maxTokens": 50, "systemPrompt": "Be kind."});
        assert_eq!(request(1), Some(json!({"method": "sampling/createMessage", "params": params})));
        assert_eq!(request(2), Some(json!({"method": "roots/list", "params": {}})));
        let before = definition.with_question_before_task(&UrlInput::declared("pay"), "Pay.");
        let faults: Vec<String> = before.faults().iter().map(ToString::to_string).collect();
        assert!(faults.len() == 1 && faults[0].contains("`t`, input `pay`: "), "{faults:?}");
    }

    /// C-69: a tool without the macro says as well what it asks before a task.
    #[test]
    fn questions_before_a_task_are_told_from_others() {
        let definition = ToolDefinition::new::<Inner, Result<(), ToolError>>("t")
            .with_input::<Inner>("later", "?")
            .with_input_before_task::<Inner>("before", "?");
        assert!(definition.faults().is_empty());
        let told: Vec<_> = definition.inputs().iter().map(InputDeclaration::is_before_task).collect();
        assert_eq!(told, [false, true]);
    }

    /// X-48: a form that asks for a secret is found.
    #[test]
    fn member_that_looks_like_a_secret_is_found() {
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is of interest")]
        struct Login {
            name: String,
            #[serde(rename = "userPassword")]
            password: String,
        }
        let definition =
            ToolDefinition::new::<Inner, Result<(), ToolError>>("login").with_input::<Login>("login", "?");
        assert_eq!(definition.secrets(), [("login", "userPassword".to_owned())]);
    }
}
