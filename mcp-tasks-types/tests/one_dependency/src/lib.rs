//! A client and a gateway in a package that depends on `mcp-tasks-types` alone.

use mcp_tasks_types::convert::Snapshot;
use mcp_tasks_types::v2026_07_28::{GetTaskRequest, GetTaskResult, TaskState};
use mcp_tasks_types::{JsonError, RawMessage, Request, from_slice, from_str, to_string, v2025_11_25};

/// What a task says to a person.
pub fn told(task: &GetTaskResult) -> String {
    match &task.state {
        TaskState::Working => "working".to_owned(),
        TaskState::InputRequired { input_requests } => format!("{} questions", input_requests.0.len()),
        TaskState::Completed { result } => result.as_str().to_owned(),
        TaskState::Failed { error } => error.message.clone(),
        TaskState::Cancelled => "cancelled".to_owned(),
    }
}

/// The task that a message asks about, if it asks about one.
///
/// # Errors
///
/// When the bytes are no message, or no `tasks/get` as it should be.
pub fn asked_about(bytes: &[u8]) -> Result<Option<String>, JsonError> {
    let message = RawMessage::read(bytes)?;
    if message.method() != Some(GetTaskRequest::METHOD) {
        return Ok(None);
    }
    let request: GetTaskRequest = from_slice(bytes)?;
    Ok(request.routing_name().map(str::to_owned))
}

/// The same answer for a client of 2025-11-25.
///
/// # Errors
///
/// When the text is no answer.
pub fn for_an_older_client(text: &str) -> Result<String, JsonError> {
    let task: GetTaskResult = from_str(text)?;
    to_string(&v2025_11_25::GetTaskResult::from(Snapshot::from(task)))
}

#[cfg(test)]
mod tests {
    use super::{asked_about, for_an_older_client, told};

    const DONE: &str = r#"{"resultType":"complete","taskId":"t","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:01Z","ttlMs":null,"status":"completed","result":{"content":[]}}"#;

    #[test]
    fn one_dependency_reads_matches_and_writes() {
        let task = mcp_tasks_types::from_str(DONE).expect("a task");
        assert_eq!(told(&task), r#"{"content":[]}"#);
        assert_eq!(mcp_tasks_types::to_string(&task).expect("JSON"), DONE);
    }

    #[test]
    fn one_dependency_routes() {
        let bytes = br#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        assert_eq!(asked_about(bytes).expect("a message").as_deref(), Some("t"));
        assert_eq!(asked_about(br#"{"jsonrpc":"2.0","method":"x"}"#).expect("a message"), None);
        let error = asked_about(br#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}}"#)
            .expect_err("no task");
        assert_eq!(error.path(), "params");
    }

    #[test]
    fn one_dependency_speaks_two_generations() {
        assert_eq!(
            for_an_older_client(DONE).expect("a task"),
            r#"{"taskId":"t","status":"completed","createdAt":"2026-08-21T10:30:00Z","lastUpdatedAt":"2026-08-21T10:30:01Z","ttl":null}"#
        );
    }
}
