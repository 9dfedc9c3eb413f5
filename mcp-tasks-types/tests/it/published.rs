//! The published examples, where the folder that holds them is at hand (`MCP_TASKS_SHARED`).

use crate::round_trip;
use crate::round_trip::walk;

/// Types of parts of the protocol that have nothing to do with tasks and have no schema here.
const LEFT_OUT: &[&str] =
    &["Complete", "GetPrompt", "ListPrompts", "ListResource", "ReadResource", "Resource"];

#[test]
fn published_examples_are_written_back_equal() {
    let root = crate::package().join("..");
    let shared = std::env::var_os("MCP_TASKS_SHARED").map_or_else(|| root.join("../shared"), Into::into);
    let folder = shared.join("upstream/examples-2026-07-28");
    if !folder.is_dir() {
        println!("skipped: no published examples in {}", folder.display());
        return;
    }
    let count = walk(&folder, |name| {
        let found = round_trip("2026-07-28", name);
        let left_out =
            LEFT_OUT.iter().any(|prefix| name.starts_with(prefix)) && !name.starts_with("ResourceLink");
        assert!(found.is_some() || left_out, "no type for the published examples of `{name}`");
        found
    });
    assert!(count >= 60, "{count} examples");
}
