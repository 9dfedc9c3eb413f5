//! The tools that are offered, and `tools/call`.

use std::collections::BTreeSet;

use mcp_tasks_types::{
    JsonError, RawJson, RawObject,
    v2026_07_28::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ContentBlock, TextContent,
        Tool as Descriptor, ToolInputSchema, ToolOutputSchema, method,
    },
};

use super::{Inner, capability, envelope::Request, params::typed, refusal::Refusal, tasks};
use crate::{
    engine::NewTask,
    error::{ArgumentError, DefinitionError},
    owner::Owner,
    record::Generation,
    tool::{TaskMode, TaskTool, ToolDefinition},
};

/// One tool, as the server sees it.
#[derive(Debug)]
struct Tool {
    definition: ToolDefinition,
    check: fn(&RawObject) -> Result<(), ArgumentError>,
}

/// The tools in the order of their registration.
#[derive(Debug, Default)]
pub(super) struct Tools(Vec<Tool>);

impl Tools {
    pub(super) fn add<T: TaskTool>(&mut self) {
        self.0.push(Tool { definition: T::definition(), check: T::check });
    }

    fn find(&self, name: &str) -> Option<&Tool> {
        self.0.iter().find(|tool| tool.definition.name() == name)
    }

    /// What `tools/list` says.
    pub(super) fn descriptors(&self) -> Result<Vec<Descriptor>, JsonError> {
        self.0.iter().map(Tool::descriptor).collect()
    }

    /// What is wrong with the tools, all at once.
    pub(super) fn faults(&self) -> Vec<DefinitionError> {
        let mut faults = Vec::new();
        let mut names = BTreeSet::new();
        for Tool { definition, .. } in &self.0 {
            faults.extend(definition.faults());
            let name = definition.name();
            if !names.insert(name) {
                let what = "another tool has the same name";
                faults.push(DefinitionError::new(name, what));
            }
            if definition.mode() == TaskMode::Never && !definition.inputs().is_empty() {
                let what = "it asks, so it has to be a task: nothing else can ask yet";
                faults.push(DefinitionError::new(name, what));
            }
        }
        faults
    }
}

impl Tool {
    /// The tool as clients see it. How it runs is no business of theirs: there is no `execution` in
    /// this revision (C-101).
    fn descriptor(&self) -> Result<Descriptor, JsonError> {
        let definition = &self.definition;
        let input_schema = RawJson::new(definition.input_schema())?;
        let mut descriptor = Descriptor::new(definition.name(), input_schema.get::<ToolInputSchema>()?);
        if let Some(title) = definition.get_title() {
            descriptor = descriptor.with_title(title);
        }
        if let Some(description) = definition.get_description() {
            descriptor = descriptor.with_description(description);
        }
        if let Some(schema) = definition.output_schema() {
            let schema = RawJson::new(schema)?;
            descriptor = descriptor.with_output_schema(schema.get::<ToolOutputSchema>()?);
        }
        Ok(descriptor)
    }

    /// What the request would have to declare for this tool and does not.
    fn missing(&self, capabilities: &ClientCapabilities, lenient: bool) -> Option<ClientCapabilities> {
        let asks = !self.definition.inputs().is_empty();
        let needs_tasks = asks || self.definition.mode() == TaskMode::Required;
        let needs_forms = asks && self.definition.requires_input_capability() && !lenient;
        capability::missing(capabilities, needs_tasks, needs_forms)
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
        let Some(tool) = self.tools.find(&params.name) else {
            return Err(Refusal::Tool(params.name));
        };
        if let Some(missing) = tool.missing(capabilities, self.lenient_inputs) {
            return Err(Refusal::Capability(Box::new(missing)));
        }
        let arguments = params.arguments.unwrap_or_else(RawObject::empty);
        if let Err(error) = (tool.check)(&arguments) {
            // A malformed call is the caller's error, a bad value is the tool's to tell.
            if error.missing {
                return Err(Refusal::Params(error.message));
            }
            return self.stamped(&tool_error(&error.message));
        }

        let raw_params = RawObject::from_text(request.params_text.unwrap_or("{}"))
            .map_err(|error| Refusal::internal(&error))?;
        let task = NewTask::new(
            owner.clone(),
            method::TOOLS_CALL,
            raw_params,
            params.name,
            arguments,
            Generation::V2026_07_28,
        );
        let engine = self.engine.clone();
        let becomes_task = tool.definition.mode() != TaskMode::Never && capability::has_tasks(capabilities);
        if becomes_task {
            // Begun is finished: a client that hangs up does not tear the creation apart.
            let record = self.to_the_end(async move { engine.create(task).await }).await?;
            return RawObject::new(&tasks::handle(&record, &self.identity))
                .map_err(|error| Refusal::internal(&error));
        }
        let result = engine.call_inline(task).await?;
        self.stamped(&result)
    }

    fn stamped(&self, result: &CallToolResult) -> Result<RawObject, Refusal> {
        RawObject::new(result)
            .map(|result| self.identity.stamp(&result))
            .map_err(|error| Refusal::internal(&error))
    }
}

/// A result that tells of an error of the tool.
fn tool_error(message: &str) -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::Text(TextContent::new(message))]).with_is_error(true)
}
