//! Five mistakes: a zero duration, an attribute twice, an unknown word, a borrowed argument, a missing result.

use mcp_tasks::task_tool;

#[task_tool(ttl = "0s", title = "Count", title = "Count again", restart = "rerrun")]
async fn count(words: &str) {
    drop(words.len());
}

fn is_a_tool<T: mcp_tasks::TaskTool>() {}

fn main() {
    is_a_tool::<count>();
}
