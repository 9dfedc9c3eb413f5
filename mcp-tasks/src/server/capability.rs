//! What a request declares that its client can do, and what we tell it to declare.

use mcp_tasks_types::{RawObject, tasks_extension, v2026_07_28::ClientCapabilities};

use crate::tool::InputKind;

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

/// Whether the request declares that its client can be asked this.
pub(super) fn can_be_asked(capabilities: &ClientCapabilities, kind: InputKind) -> bool {
    let (elicitation, sampling) = (capabilities.elicitation.as_ref(), capabilities.sampling.as_ref());
    match kind {
        InputKind::Form => has_forms(capabilities),
        InputKind::Url => elicitation.is_some_and(|elicitation| elicitation.url.is_some()),
        InputKind::Sampling => sampling.is_some(),
        InputKind::SamplingWithTools => sampling.is_some_and(|sampling| sampling.tools.is_some()),
        InputKind::SamplingWithContext => sampling.is_some_and(|sampling| sampling.context.is_some()),
        InputKind::Roots => capabilities.roots.is_some(),
    }
}

/// All that it declares so.
pub(super) fn all_that_can_be_asked(capabilities: &ClientCapabilities) -> Vec<InputKind> {
    InputKind::ALL.iter().copied().filter(|kind| can_be_asked(capabilities, *kind)).collect()
}

/// The declaration that is needed, as far as the request lacks it.
pub(super) fn missing(
    capabilities: &ClientCapabilities,
    needs_tasks: bool,
    kinds: impl Iterator<Item = InputKind>,
) -> Option<ClientCapabilities> {
    let mut missing = None;
    if needs_tasks && !has_tasks(capabilities) {
        missing = Some(tasks());
    }
    for kind in kinds.filter(|kind| !can_be_asked(capabilities, *kind)) {
        missing = Some(with_kind(missing.unwrap_or_default(), kind));
    }
    missing
}

fn with_kind(mut capabilities: ClientCapabilities, kind: InputKind) -> ClientCapabilities {
    let nothing = RawObject::empty;
    match kind {
        InputKind::Form => {
            let elicitation = capabilities.elicitation.take().unwrap_or_default();
            capabilities.with_elicitation(elicitation.with_form(nothing()))
        }
        InputKind::Url => {
            let elicitation = capabilities.elicitation.take().unwrap_or_default();
            capabilities.with_elicitation(elicitation.with_url(nothing()))
        }
        InputKind::Sampling => {
            let sampling = capabilities.sampling.take().unwrap_or_default();
            capabilities.with_sampling(sampling)
        }
        InputKind::SamplingWithTools => {
            let sampling = capabilities.sampling.take().unwrap_or_default();
            capabilities.with_sampling(sampling.with_tools(nothing()))
        }
        InputKind::SamplingWithContext => {
            let sampling = capabilities.sampling.take().unwrap_or_default();
            capabilities.with_sampling(sampling.with_context(nothing()))
        }
        InputKind::Roots => capabilities.with_roots(nothing()),
    }
}

#[cfg(test)]
mod tests {
    use mcp_tasks_types::v2026_07_28::ClientCapabilities;
    use serde_json::{Value, json};

    use super::{all_that_can_be_asked, missing};
    use crate::tool::InputKind;

    fn declaring(capabilities: &Value) -> ClientCapabilities {
        serde_json::from_value(capabilities.clone()).unwrap()
    }

    /// C-66: what is missing is named as a client would declare it, and is all that is missing then.
    #[test]
    fn what_is_missing_is_what_has_to_be_declared() {
        let needed = |capabilities: &Value, kinds: &[InputKind]| {
            let missing = missing(&declaring(capabilities), false, kinds.iter().copied());
            missing.map(|missing| serde_json::to_value(missing).unwrap())
        };
        let all = json!({
            "elicitation": {"form": {}, "url": {}},
            "sampling": {"context": {}, "tools": {}},
            "roots": {},
        });
        assert_eq!(needed(&json!({}), InputKind::ALL), Some(all.clone()));
        assert_eq!(needed(&all, InputKind::ALL), None);
        assert_eq!(all_that_can_be_asked(&declaring(&all)), InputKind::ALL);
        for (declared, kind, wanted) in [
            (json!({"elicitation": {}}), InputKind::Form, None),
            (json!({"elicitation": {}}), InputKind::Url, Some(json!({"elicitation": {"url": {}}}))),
            (
                json!({"elicitation": {"url": {}}}),
                InputKind::Form,
                Some(json!({"elicitation": {"form": {}}})),
            ),
            (json!({"elicitation": {"form": {}}}), InputKind::Sampling, Some(json!({"sampling": {}}))),
            (json!({"sampling": {}}), InputKind::Sampling, None),
            (
                json!({"sampling": {"context": {}}}),
                InputKind::SamplingWithTools,
                Some(json!({"sampling": {"tools": {}}})),
            ),
            (json!({"sampling": {}}), InputKind::Roots, Some(json!({"roots": {}}))),
        ] {
            assert_eq!(needed(&declared, &[kind]), wanted, "{declared} {kind:?}");
        }
    }
}
