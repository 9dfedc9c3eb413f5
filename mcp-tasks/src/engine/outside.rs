//! Tasks whose work goes on outside: a webhook, a queue's worker or another program says how they go on.

use mcp_tasks_types::TaskId;
use mcp_tasks_types::v2026_07_28::CallToolResult;

use super::Engine;
use super::core::Unwritten;
use super::supervise::{failed, within_limit};
use crate::error::{EngineError, EngineErrorKind};
use crate::lifecycle::{Event, IllegalReason, Outcome};
use crate::owner::Owner;
use crate::record::{OUTSIDE_TOKEN, SharedRecord};

/// Speaks for tasks that their bodies [left](crate::TaskContext::leave), of one owner.
#[derive(Clone, Debug)]
pub struct Outside {
    engine: Engine,
    owner: Owner,
}

impl Engine {
    /// Speaks for the tasks of this owner that were left to work outside. Any process over the store can.
    #[must_use]
    pub fn outside(&self, owner: Owner) -> Outside {
        Outside { engine: self.clone(), owner }
    }
}

impl Outside {
    /// Tells people where the task stands.
    ///
    /// # Errors
    ///
    /// When this owner has no such task, it was not left, it has ended, or the store fails.
    pub async fn set_status(
        &self,
        id: &TaskId,
        message: impl Into<String>,
    ) -> Result<SharedRecord, EngineError> {
        self.write(id, Event::Status { token: OUTSIDE_TOKEN, message: message.into() }).await
    }

    /// Asks a question that the task's tool declares, under its key. The answer is in the record, for whoever
    /// [watches](Engine::watch) the task.
    ///
    /// # Errors
    ///
    /// As [`set_status`](Self::set_status), and when the tool is not registered here, declares no such question or has
    /// asked it.
    pub async fn require_input(&self, id: &TaskId, key: &str) -> Result<SharedRecord, EngineError> {
        let record = self.engine.find(&self.owner, id).await?;
        let tool = self.engine.tool(&record.tool.name);
        let declared = tool.and_then(|tool| tool.inputs().iter().find(|input| input.key() == key));
        let Some(declared) = declared else {
            let message = format!("the tool `{}` declares no question `{key}`", record.tool.name);
            return Err(EngineError::new(EngineErrorKind::InvalidInput, message));
        };
        let Some(input) = declared.record(key) else {
            let message = format!("what `{key}` asks is for the body to say");
            return Err(EngineError::new(EngineErrorKind::InvalidInput, message));
        };
        self.write(id, Event::Ask { token: OUTSIDE_TOKEN, inputs: vec![input] }).await
    }

    /// Ends the task with a result.
    ///
    /// # Errors
    ///
    /// As [`set_status`](Self::set_status), and when the result is larger than the engine's limit.
    pub async fn complete(&self, id: &TaskId, result: CallToolResult) -> Result<SharedRecord, EngineError> {
        let core = &self.engine.core;
        let result = core.full_result(result).map_err(EngineError::internal)?;
        let outcome = within_limit(core, Outcome::Completed { result });
        self.write(id, Event::Finish { token: OUTSIDE_TOKEN, outcome }).await
    }

    /// Ends the task as failed, with an internal error that says this.
    ///
    /// # Errors
    ///
    /// As [`set_status`](Self::set_status).
    pub async fn fail(&self, id: &TaskId, message: impl Into<String>) -> Result<SharedRecord, EngineError> {
        let outcome = within_limit(&self.engine.core, failed(message.into()));
        self.write(id, Event::Finish { token: OUTSIDE_TOKEN, outcome }).await
    }

    async fn write(&self, id: &TaskId, event: Event) -> Result<SharedRecord, EngineError> {
        let record = self.engine.find(&self.owner, id).await?;
        let (core, event) = (self.engine.core.clone(), event);
        super::to_the_end(async move {
            core.transition(record, event).await.map_err(|unwritten| match unwritten {
                Unwritten::Illegal(illegal) => match illegal.reason {
                    IllegalReason::KeyUsed(key) => EngineError::new(
                        EngineErrorKind::InvalidInput,
                        format!("the question `{key}` was asked before"),
                    ),
                    _ => EngineError::new(EngineErrorKind::NotOutside, illegal.to_string()),
                },
                other => other.into(),
            })
        })
        .await
    }
}
