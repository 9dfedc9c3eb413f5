//! What peers declare: `capabilities.tasks` of a session, an extension in 2026-07-28.

use serde::de::DeserializeOwned;

use super::ConvertError;
use super::open::{self, DECLARATIONS, Members, REQUESTS_MEMBERS, TASKS_MEMBERS};
use super::same::Carry;
use crate::v2025_11_25::{CapabilityMark, CapabilitySettings};
use crate::{Extra, RawObject, sep_1686, v2025_11_25, v2026_07_28};

/// The declaration of the tasks extension, `{"io.modelcontextprotocol/tasks":{}}`: what a client of 2026-07-28 puts
/// into the capabilities of each request that may become a task, and of those about tasks. A server refuses a request
/// about a task without it with -32021 (C-22).
///
/// ```
/// use mcp_tasks_types::{tasks_extension, to_string, v2026_07_28::ClientCapabilities};
///
/// let capabilities = ClientCapabilities::new().with_extensions(tasks_extension());
/// assert_eq!(to_string(&capabilities)?, r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#);
/// # Ok::<(), mcp_tasks_types::JsonError>(())
/// ```
#[must_use]
#[inline]
pub fn tasks_extension() -> v2026_07_28::ExtensionCapabilities {
    v2026_07_28::ExtensionCapabilities::new().with_tasks(v2026_07_28::TasksExtensionCapability::new())
}

/// Whether a feature is supported; a peer may say `true` for `{}` (B-12).
#[inline]
const fn is_marked(mark: Option<&CapabilityMark>) -> bool {
    match mark {
        Some(CapabilityMark::Settings(_)) => true,
        Some(CapabilityMark::Boolean(is)) => *is,
        None => false,
    }
}

#[inline]
fn mark() -> CapabilityMark {
    CapabilityMark::Settings(CapabilitySettings::new())
}

impl From<v2025_11_25::ServerCapabilities> for v2026_07_28::ServerCapabilities {
    /// Declares the extension when `tools/call` may become a task (C-17); `tasks.list` has no counterpart, and
    /// `tasks.cancel` is part of the extension.
    #[inline]
    fn from(server: v2025_11_25::ServerCapabilities) -> Self {
        let call = server.tasks.and_then(|tasks| tasks.requests?.tools?.call);
        Self {
            extensions: is_marked(call.as_ref()).then(tasks_extension),
            tools: server.tools.carry(),
            prompts: server.prompts.carry(),
            resources: server.resources.carry(),
            completions: server.completions,
            logging: server.logging,
            experimental: server.experimental.carry(),
            extra: open::foreign(server.extra, DECLARATIONS),
        }
    }
}

impl From<v2026_07_28::ServerCapabilities> for v2025_11_25::ServerCapabilities {
    /// The extension becomes `tasks` with `cancel` and `requests.tools.call`. `list` is left out: 2026-07-28 has no
    /// lists of tasks, and a gateway that keeps an index of its own adds it. Settings of the extension and other
    /// extensions stay behind.
    #[inline]
    fn from(server: v2026_07_28::ServerCapabilities) -> Self {
        let tasks = server.extensions.and_then(|known| known.tasks).map(|_| {
            let tools = v2025_11_25::ToolsTasksCapability::new().with_call(mark());
            let requests = v2025_11_25::ServerTaskRequestsCapability::new().with_tools(tools);
            v2025_11_25::ServerTasksCapability::new().with_cancel(mark()).with_requests(requests)
        });
        Self {
            tasks,
            tools: server.tools.carry(),
            prompts: server.prompts.carry(),
            resources: server.resources.carry(),
            completions: server.completions,
            logging: server.logging,
            experimental: server.experimental.carry(),
            extra: open::foreign(server.extra, DECLARATIONS),
        }
    }
}

impl From<v2025_11_25::ClientCapabilities> for v2026_07_28::ClientCapabilities {
    /// Without `tasks`, which is about tasks that the client holds: in 2026-07-28 none does. Without the extension too,
    /// which is declared request by request: see [`tasks_extension`]. Without `roots.listChanged`, a notification that
    /// is gone.
    #[inline]
    fn from(client: v2025_11_25::ClientCapabilities) -> Self {
        Self {
            extensions: None,
            elicitation: client.elicitation.carry(),
            sampling: client.sampling.carry(),
            roots: client.roots.map(|roots| Members::of_extra(&roots.extra).into_object()),
            experimental: client.experimental.carry(),
            extra: open::foreign(client.extra, DECLARATIONS),
        }
    }
}

impl From<v2026_07_28::ClientCapabilities> for v2025_11_25::ClientCapabilities {
    /// Without extensions: a client of 2026-07-28 holds no tasks, so there is nothing to put into `tasks`. Whether it
    /// understands tasks of the server shows in `params.task` of each call.
    #[inline]
    fn from(client: v2026_07_28::ClientCapabilities) -> Self {
        let roots = |roots: RawObject| {
            let mut capability = v2025_11_25::RootsCapability::new();
            capability.extra = Members::of_object(&roots).without(&["listChanged"]).into_extra();
            capability
        };
        Self {
            tasks: None,
            elicitation: client.elicitation.carry(),
            sampling: client.sampling.carry(),
            roots: client.roots.map(roots),
            experimental: client.experimental.carry(),
            extra: open::foreign(client.extra, DECLARATIONS),
        }
    }
}

/// All capabilities but those about tasks, as members of a type that knows more of them.
#[inline]
fn others<T: DeserializeOwned>(extra: Extra) -> Result<T, ConvertError> {
    let members = Members::of_extra(&open::foreign(extra, DECLARATIONS));
    open::raw(&members).get().map_err(|error| ConvertError::malformed("", &error))
}

/// The same as members of the type of SEP-1686, which knows of tasks alone.
fn into_others<T: serde::Serialize>(capabilities: &T) -> Extra {
    let members = Members::of(&open::raw(capabilities)).unwrap_or_default();
    members.without(DECLARATIONS).into_extra()
}

impl TryFrom<sep_1686::Capabilities> for v2025_11_25::ServerCapabilities {
    type Error = ConvertError;
    /// With `tasks.cancel`, for which SEP-1686 has a notification
    /// ([`cancel_to_sep_1686`](super::cancel_to_sep_1686)); without requests that only clients answer. Fails when a
    /// capability that the proposal leaves to the core is not what 2025-11-25 has under that name.
    #[inline]
    fn try_from(peer: sep_1686::Capabilities) -> Result<Self, ConvertError> {
        let mut server: Self = others(peer.extra)?;
        server.tasks = peer.tasks.map(|tasks| v2025_11_25::ServerTasksCapability {
            list: tasks.list.carry(),
            cancel: Some(mark()),
            requests: tasks.requests.map(|requests| v2025_11_25::ServerTaskRequestsCapability {
                tools: requests.tools.carry(),
                extra: open::foreign(requests.extra, REQUESTS_MEMBERS),
            }),
            extra: open::foreign(tasks.extra, TASKS_MEMBERS),
        });
        Ok(server)
    }
}

impl TryFrom<sep_1686::Capabilities> for v2025_11_25::ClientCapabilities {
    type Error = ConvertError;
    /// As for servers, without the requests that only servers answer.
    #[inline]
    fn try_from(peer: sep_1686::Capabilities) -> Result<Self, ConvertError> {
        let mut client: Self = others(peer.extra)?;
        client.tasks = peer.tasks.map(|tasks| v2025_11_25::ClientTasksCapability {
            list: tasks.list.carry(),
            cancel: Some(mark()),
            requests: tasks.requests.map(|requests| v2025_11_25::ClientTaskRequestsCapability {
                sampling: requests.sampling.carry(),
                elicitation: requests.elicitation.carry(),
                extra: open::foreign(requests.extra, REQUESTS_MEMBERS),
            }),
            extra: open::foreign(tasks.extra, TASKS_MEMBERS),
        });
        Ok(client)
    }
}

impl From<v2025_11_25::ServerCapabilities> for sep_1686::Capabilities {
    /// Without `tasks.cancel`, which is a notification there (R-12). Everything else is kept.
    #[inline]
    fn from(mut server: v2025_11_25::ServerCapabilities) -> Self {
        let tasks = server.tasks.take().map(|tasks| sep_1686::TasksCapability {
            list: tasks.list.carry(),
            requests: tasks.requests.map(|requests| sep_1686::TaskRequestsCapability {
                tools: requests.tools.carry(),
                sampling: None,
                elicitation: None,
                extra: open::foreign(requests.extra, REQUESTS_MEMBERS),
            }),
            extra: open::foreign(tasks.extra, TASKS_MEMBERS),
        });
        Self { tasks, extra: into_others(&server) }
    }
}

impl From<v2025_11_25::ClientCapabilities> for sep_1686::Capabilities {
    /// Without `tasks.cancel`, which is a notification there (R-12). Everything else is kept.
    #[inline]
    fn from(mut client: v2025_11_25::ClientCapabilities) -> Self {
        let tasks = client.tasks.take().map(|tasks| sep_1686::TasksCapability {
            list: tasks.list.carry(),
            requests: tasks.requests.map(|requests| sep_1686::TaskRequestsCapability {
                tools: None,
                sampling: requests.sampling.carry(),
                elicitation: requests.elicitation.carry(),
                extra: open::foreign(requests.extra, REQUESTS_MEMBERS),
            }),
            extra: open::foreign(tasks.extra, TASKS_MEMBERS),
        });
        Self { tasks, extra: into_others(&client) }
    }
}
