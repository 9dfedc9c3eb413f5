//! Answers to questions: which of them count, and whether they fit.

use mcp_tasks_types::{Map, RawJson};

use super::core::Core;
use super::rounds::invalid_input;
use crate::error::EngineError;
use crate::form::check_answer;
use crate::lifecycle::Event;
use crate::record::{InputRecord, SharedRecord, TaskRecord};

impl Core {
    /// Applies the answers to the questions that are outstanding at the moment of the write, all or none.
    pub(super) async fn answer(
        &self,
        record: SharedRecord,
        responses: Map<RawJson>,
    ) -> Result<SharedRecord, EngineError> {
        // Looked at for every version anew: a question may have come or gone.
        self.transition_with(record, |record| {
            let wanted = self.wanted(record, &responses)?;
            Ok((!wanted.is_empty()).then_some(Event::Answer { responses: wanted }))
        })
        .await
    }

    /// The answers that somebody waits for. Others are not looked at (C-60, C-65).
    fn wanted(
        &self,
        record: &TaskRecord,
        responses: &Map<RawJson>,
    ) -> Result<Vec<(String, RawJson)>, EngineError> {
        let mut wanted = Vec::new();
        for input in record.outstanding() {
            let Some(response) = responses.get(&input.key) else { continue };
            self.fits(record, input, response).map_err(|reason| invalid_input(&input.key, &reason))?;
            wanted.push((input.key.clone(), response.clone()));
        }
        Ok(wanted)
    }

    /// By the form that was recorded with the question, and by the tool's own type where it is at hand.
    fn fits(&self, record: &TaskRecord, input: &InputRecord, response: &RawJson) -> Result<(), String> {
        check_answer(&input.request, response)?;
        let tool = self.tool(&record.tool.name);
        let mut declared = tool.into_iter().flat_map(|tool| tool.definition.inputs());
        match declared.find(|declared| declared.fingerprint() == Some(&input.fingerprint)) {
            Some(declared) => declared.check(response),
            None => Ok(()),
        }
    }
}
