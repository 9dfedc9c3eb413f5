//! The tools that are offered, and `tools/call`.

use mcp_tasks_types::{
    JsonError, Map, RawJson, RawObject,
    v2026_07_28::{
        CallToolRequestParams, ClientCapabilities, InputRequest, InputRequiredResult, RequestMetaObject,
        Tool as Descriptor, ToolInputSchema, ToolOutputSchema, method::TOOLS_CALL,
    },
};

use super::{
    Inner, RequestContext, capability,
    envelope::Request,
    mirrored::Mirrored,
    params::typed,
    refusal::Refusal,
    states::{Continuation, Origin, State},
    tasks::requests,
    telling::Telling,
};
use crate::{
    clock::millis_after,
    engine::{Called, InlineOutcome, NewTask, Round, SharedCaller},
    error::{DefinitionError, EngineError, EngineErrorKind},
    output::text_result,
    owner::Owner,
    tool::{InputDeclaration, TaskMode, ToolDefinition, kind_of},
};

/// What is called, and what the client brings along. The rest of the request is not kept until it is answered.
pub(super) struct Call {
    name: String,
    arguments: RawObject,
    responses: Map<RawJson>,
    state: Option<String>,
}

impl Call {
    /// Reads the parameters.
    pub(super) fn read(request: &Request<'_>) -> Result<Self, Refusal> {
        let params: CallToolRequestParams = typed(request)?;
        Ok(Self {
            name: params.name,
            arguments: params.arguments.unwrap_or_else(RawObject::empty),
            responses: params.input_responses.map(Map::from).unwrap_or_default(),
            state: params.request_state,
        })
    }
}

/// A tool as clients see it. How it runs is no business of theirs: there is no `execution` in this
/// revision (C-101).
pub(super) fn descriptor(definition: &ToolDefinition) -> Result<Descriptor, JsonError> {
    let input_schema = RawJson::new(definition.input_schema())?;
    let mut descriptor = Descriptor::new(definition.name(), input_schema.get::<ToolInputSchema>()?);
    if let Some(title) = definition.title() {
        descriptor = descriptor.with_title(title);
    }
    if let Some(description) = definition.description() {
        descriptor = descriptor.with_description(description);
    }
    if let Some(schema) = definition.output_schema() {
        let schema = RawJson::new(schema)?;
        descriptor = descriptor.with_output_schema(schema.get::<ToolOutputSchema>()?);
    }
    Ok(descriptor)
}

/// The arguments that a tool mirrors into headers; with everything that is wrong with its marks.
pub(super) fn mirrored(definition: &ToolDefinition) -> Result<Mirrored, Vec<DefinitionError>> {
    let faults = |whats: Vec<String>| {
        whats.into_iter().map(|what| DefinitionError::new(definition.name(), what)).collect()
    };
    Mirrored::of_schema(definition.input_schema()).map_err(faults)
}

/// Whether a call of the tool becomes a task.
fn becomes_a_task(definition: &ToolDefinition, capabilities: &ClientCapabilities) -> bool {
    definition.task_mode() != TaskMode::Never && capability::has_tasks(capabilities)
}

fn asks_before_task(definition: &ToolDefinition) -> bool {
    definition.inputs().iter().any(InputDeclaration::is_before_task)
}

/// Whether calls of the tool can be answered with questions.
pub(super) fn asks_in_answer(definition: &ToolDefinition) -> bool {
    let asks = !definition.inputs().is_empty();
    asks && (definition.task_mode() != TaskMode::Required || asks_before_task(definition))
}

/// What the request would have to declare for this tool and does not. A tool that can do without some of its
/// questions has to be able to ask at least one where it asks in its answer; what it asks then is looked at when it
/// asks.
fn missing(
    definition: &ToolDefinition,
    capabilities: &ClientCapabilities,
    lenient: bool,
) -> Option<ClientCapabilities> {
    let needs_tasks = definition.task_mode() == TaskMode::Required;
    let is_strict = definition.requires_input_capability() && !lenient;
    // Only a task can wait for a client that never said that it can be asked.
    let asks_in_answer = !(needs_tasks || becomes_a_task(definition, capabilities));
    let can_be_asked = |input: &InputDeclaration| capability::can_be_asked(capabilities, input.kind());
    let needs_all = is_strict || (asks_in_answer && !definition.inputs().iter().any(can_be_asked));
    let needed = definition.inputs().iter().filter(|input| needs_all || input.is_before_task());
    capability::missing(capabilities, needs_tasks, needed.map(InputDeclaration::kind))
}

fn answered(outcome: InlineOutcome) -> Result<RawObject, Refusal> {
    match outcome {
        InlineOutcome::Result(result) => Ok(result),
        InlineOutcome::Error(error) => {
            Err(Refusal::Protocol { code: error.code, message: error.message, data: error.data })
        }
    }
}

impl Inner {
    pub(super) async fn call_tool(
        &self,
        context: &RequestContext,
        call: Call,
        meta: RequestMetaObject,
    ) -> Result<RawObject, Refusal> {
        let (capabilities, telling) = Telling::of(meta, context.outgoing(), self.engine.clock());
        let answer = self.answer_call(context.owner(), call, &capabilities, telling.caller()).await;
        // What was told comes before the answer, and nothing comes after it.
        telling.finish().await;
        answer
    }

    async fn answer_call(
        &self,
        owner: &Owner,
        call: Call,
        capabilities: &ClientCapabilities,
        caller: Option<SharedCaller>,
    ) -> Result<RawObject, Refusal> {
        let Call { name, arguments, responses, state } = call;
        let offered = self.engine.tool(&name).filter(|_| self.prepared.offers(&name));
        let Some(definition) = offered else {
            return Err(Refusal::Tool(name));
        };
        if let Some(missing) = missing(definition, capabilities, self.lenient_inputs) {
            return Err(Refusal::Capability(Box::new(missing)));
        }

        let is_task = becomes_a_task(definition, capabilities);
        let asks_before = asks_before_task(definition);
        let new_task = |name, arguments| {
            let mut task = NewTask::new(owner.clone(), name, arguments);
            task.caller.clone_from(&caller);
            if !definition.inputs().is_empty() {
                task.can_be_asked = Some(capability::all_that_can_be_asked(capabilities));
            }
            task
        };
        if is_task && !asks_before && state.is_none() {
            // Its client does not call again, so that nothing has to tell this call from others.
            return self.begin_task(new_task(name, arguments)).await;
        }
        let origin = Origin::new(owner, TOOLS_CALL, &name, &arguments);
        let state = match &state {
            Some(state) => Some(self.states.open(state, &origin, self.engine.now_millis())?),
            None => None,
        };
        let before = match state {
            Some(State { continuation: Continuation::Kept { id, .. }, .. }) => {
                let round = self.engine.next_round_of(owner, &id, responses, caller).await?;
                return self.after_round(round, capabilities, &origin);
            }
            Some(State { continuation: Continuation::Before { nonce, answers }, expires_at }) => {
                Some((nonce, answers, expires_at))
            }
            None => None,
        };

        let is_retry = before.is_some();
        let round_ms = self.engine.round_ms(definition);
        let mut task = new_task(name, arguments);
        if asks_before {
            let (nonce, mut answers, expires_at) = match before {
                Some(before) => before,
                None => {
                    let nonce = self.engine.nonce()?;
                    (nonce, Map::new(), millis_after(self.engine.now_millis(), round_ms))
                }
            };
            // Without a state they are answers to nothing that was asked here, and would not count once.
            for (key, response) in responses.iter().filter(|_| is_retry) {
                // What was taken once stays.
                if answers.get(key).is_none() {
                    answers.insert(key, response.clone());
                }
            }
            let open = match self.engine.ask_before(&mut task, &answers) {
                Ok(open) => open,
                Err(error) => return self.not_called(error),
            };
            if !open.is_empty() {
                let questions = open.iter().filter_map(|input| Some((input.key(), input.request()?)));
                let answers = task.answers.into_iter().collect();
                let continuation = Continuation::Before { nonce, answers };
                return self.asks(questions, &State { continuation, expires_at }, &origin);
            }
            task.once = is_task.then_some(nonce);
        }
        if is_task {
            return self.begin_task(task).await;
        }
        let round = match self.engine.call_in_rounds(task).await {
            Ok(round) if is_retry => round,
            Ok(round) => self.answered_at_once(round, &responses, caller).await?,
            Err(error) => return self.not_called(error),
        };
        let kept = match &round {
            Round::Asks(record) => Some(record.id.clone()),
            Round::Ended(_) => None,
        };
        let answer = self.after_round(round, capabilities, &origin);
        if let (Err(_), Some(id)) = (&answer, kept) {
            // Nobody can come back to it.
            self.engine.give_up_call(&id).await;
        }
        answer
    }

    /// What a call that may become a task is answered with.
    async fn begin_task(&self, task: NewTask) -> Result<RawObject, Refusal> {
        match self.engine.call(task).await {
            Ok(Called::Task(record)) => {
                RawObject::new(&self.handle(&record)).map_err(|error| Refusal::internal(&error))
            }
            Ok(Called::Ended(outcome)) => answered(outcome),
            Err(error) => self.not_called(error),
        }
    }

    /// Goes on with answers that came with the call itself, as from a client that knows what the tool asks. Those that
    /// do not fit are none: the client is asked like any other.
    async fn answered_at_once(
        &self,
        mut round: Round,
        responses: &Map<RawJson>,
        caller: Option<SharedCaller>,
    ) -> Result<Round, EngineError> {
        while let Round::Asks(record) = &round
            && record.outstanding().any(|input| responses.get(&input.key).is_some())
        {
            let (owner, id) = (&record.owner, &record.id);
            match self.engine.next_round_of(owner, id, responses.clone(), caller.clone()).await {
                Ok(next) => round = next,
                Err(error) if error.kind() == EngineErrorKind::InvalidInput => break,
                Err(error) => return Err(error),
            }
        }
        Ok(round)
    }

    /// What a call that is no task is answered with. A client that did not declare that it can be asked what is asked
    /// now can come back with what it had.
    fn after_round(
        &self,
        round: Round,
        capabilities: &ClientCapabilities,
        origin: &Origin<'_>,
    ) -> Result<RawObject, Refusal> {
        match round {
            Round::Ended(outcome) => answered(outcome),
            Round::Asks(record) => {
                let asked = record.outstanding().map(|input| input.request.get::<InputRequest>());
                let kinds = asked.map(|request| request.map(|request| kind_of(&request)));
                let kinds: Vec<_> =
                    kinds.collect::<Result<_, JsonError>>().map_err(|error| Refusal::internal(&error))?;
                if let Some(missing) = capability::missing(capabilities, false, kinds.into_iter()) {
                    return Err(Refusal::Capability(Box::new(missing)));
                }
                let state = State {
                    expires_at: self.engine.round_ends(&record),
                    continuation: Continuation::Kept { id: record.id.clone(), version: record.version },
                };
                let questions = record.outstanding().map(|input| (input.key.as_str(), &input.request));
                self.asks(questions, &state, origin)
            }
        }
    }

    /// The answer that asks: there is no task, and the client calls again with its answers (X-55, C-68).
    fn asks<'a>(
        &self,
        questions: impl Iterator<Item = (&'a str, &'a RawJson)>,
        state: &State,
        origin: &Origin<'_>,
    ) -> Result<RawObject, Refusal> {
        let result = || {
            let result = InputRequiredResult::new()
                .with_input_requests(requests(questions)?)
                .with_request_state(self.states.seal(state, origin)?)
                .with_meta(self.identity.meta());
            RawObject::new(&result)
        };
        result().map_err(|error| Refusal::internal(&error))
    }

    /// A malformed call is the caller's error, a bad value is the tool's to tell. Either way
    /// there is no task.
    fn not_called(&self, error: EngineError) -> Result<RawObject, Refusal> {
        match error.argument() {
            Some(argument) if !argument.missing => {
                let result = self.identity.mark(text_result(&argument.message, true));
                RawObject::new(&result).map_err(|error| Refusal::internal(&error))
            }
            _ => Err(error.into()),
        }
    }
}
