//! What a request declares that its client can do, and what we tell it to declare.

use mcp_tasks_types::{
    RawObject, tasks_extension,
    v2026_07_28::{ClientCapabilities, ElicitationCapability},
};

/// Whether the request declares the tasks extension. The `tasks` capability of 2025-11-25 does not
/// count (C-25).
pub(super) fn has_tasks(capabilities: &ClientCapabilities) -> bool {
    capabilities.extensions.as_ref().is_some_and(|extensions| extensions.tasks.is_some())
}

/// Whether the request declares that forms can be shown. An empty `elicitation` means forms.
pub(super) fn has_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The declaration that the task methods need.
pub(super) fn tasks() -> ClientCapabilities {
    ClientCapabilities::new().with_extensions(tasks_extension())
}

/// The declaration that a tool needs, as far as the request lacks it.
pub(super) fn missing(
    capabilities: &ClientCapabilities,
    needs_tasks: bool,
    needs_forms: bool,
) -> Option<ClientCapabilities> {
    let lacks_tasks = needs_tasks && !has_tasks(capabilities);
    let lacks_forms = needs_forms && !has_forms(capabilities);
    if !lacks_tasks && !lacks_forms {
        return None;
    }
    let mut missing = ClientCapabilities::new();
    if lacks_tasks {
        missing = missing.with_extensions(tasks_extension());
    }
    if lacks_forms {
        missing = missing.with_elicitation(ElicitationCapability::new().with_form(RawObject::empty()));
    }
    Some(missing)
}
