//! The tools that are offered, and `tools/call`.

use mcp_tasks_types::{
    JsonError, RawJson, RawObject,
    v2026_07_28::{
        CallToolRequestParams, ClientCapabilities, Tool as Descriptor, ToolInputSchema, ToolOutputSchema,
    },
};

use super::{Inner, capability, envelope::Request, mirrored::Mirrored, params::typed, refusal::Refusal};
use crate::{
    engine::{Called, InlineOutcome, NewTask},
    error::{DefinitionError, EngineError},
    output::text_result,
    owner::Owner,
    tool::{TaskMode, ToolDefinition},
};

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

/// What the request would have to declare for this tool and does not.
fn missing(
    definition: &ToolDefinition,
    capabilities: &ClientCapabilities,
    lenient: bool,
) -> Option<ClientCapabilities> {
    let asks = !definition.inputs().is_empty();
    let needs_tasks = asks || definition.task_mode() == TaskMode::Required;
    let needs_forms = asks && definition.requires_input_capability() && !lenient;
    capability::missing(capabilities, needs_tasks, needs_forms)
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
        owner: &Owner,
        request: &Request<'_>,
        capabilities: &ClientCapabilities,
    ) -> Result<RawObject, Refusal> {
        let params: CallToolRequestParams = typed(request)?;
        if params.request_state.is_some() {
            // We never give one out, so whatever it is, it is not ours.
            let what = "`requestState` was not given out by this server";
            return Err(Refusal::Params(what.to_owned()));
        }
        let offered = self.engine.tool(&params.name).filter(|_| self.prepared.offers(&params.name));
        let Some(definition) = offered else {
            return Err(Refusal::Tool(params.name));
        };
        if let Some(missing) = missing(definition, capabilities, self.lenient_inputs) {
            return Err(Refusal::Capability(Box::new(missing)));
        }

        let arguments = params.arguments.unwrap_or_else(RawObject::empty);
        let task = NewTask::new(owner.clone(), params.name, arguments);
        if definition.task_mode() != TaskMode::Never && capability::has_tasks(capabilities) {
            return match self.engine.call(task).await {
                Ok(Called::Task(record)) => {
                    RawObject::new(&self.handle(&record)).map_err(|error| Refusal::internal(&error))
                }
                Ok(Called::Ended(outcome)) => answered(outcome),
                Err(error) => self.not_called(error),
            };
        }
        match self.engine.call_inline(task).await {
            Ok(outcome) => answered(outcome),
            Err(error) => self.not_called(error),
        }
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
