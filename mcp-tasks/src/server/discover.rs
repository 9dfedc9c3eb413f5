//! `server/discover` and `tools/list`: what the server is and offers.
//!
//! Both answers are written when the server is built, and the list again when it changes, so that they are the
//! same bytes every time and claim exactly what was built.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use mcp_tasks_types::{
    JsonError, RawObject, tasks_extension,
    v2026_07_28::{
        CacheScope, DiscoverResult, ListToolsResult, PaginatedRequestParams, RequestParams,
        ServerCapabilities, Tool as Descriptor, ToolsCapability,
    },
};
use tokio::sync::watch;

use super::{
    Inner, SUPPORTED_VERSIONS, envelope::Request, identity::Identity, params::typed, refusal::Refusal,
    tools::descriptor,
};
use crate::tool::ToolDefinition;

/// The two answers that are the same for everybody.
#[derive(Debug)]
pub(super) struct Prepared {
    discover: RawObject,
    /// The answer to `tools/list` as it is now.
    list: watch::Sender<RawObject>,
    descriptors: Vec<Descriptor>,
    /// The tools that are not offered at present.
    hidden: Mutex<BTreeSet<String>>,
    identity: Identity,
    cache_ttl_ms: u64,
}

impl Prepared {
    pub(super) fn new<'t>(
        identity: &Identity,
        instructions: Option<String>,
        tools: impl Iterator<Item = &'t ToolDefinition>,
        cache_ttl_ms: u64,
    ) -> Result<Self, JsonError> {
        let capabilities = ServerCapabilities::new()
            .with_tools(ToolsCapability::new().with_list_changed(true))
            .with_extensions(tasks_extension());
        let mut discover = DiscoverResult::new(
            SUPPORTED_VERSIONS.map(str::to_owned).to_vec(),
            capabilities,
            cache_ttl_ms,
            CacheScope::Public,
        )
        .with_meta(identity.meta());
        if let Some(instructions) = instructions {
            discover = discover.with_instructions(instructions);
        }
        let descriptors = tools.map(descriptor).collect::<Result<Vec<_>, _>>()?;
        let prepared = Self {
            discover: RawObject::new(&discover)?,
            list: watch::Sender::new(RawObject::empty()),
            descriptors,
            hidden: Mutex::default(),
            identity: identity.clone(),
            cache_ttl_ms,
        };
        prepared.list.send_replace(prepared.written(&BTreeSet::new())?);
        Ok(prepared)
    }

    fn written(&self, hidden: &BTreeSet<String>) -> Result<RawObject, JsonError> {
        let offered = self.descriptors.iter().filter(|tool| !hidden.contains(&tool.name));
        let list = ListToolsResult::new(offered.cloned().collect(), self.cache_ttl_ms, CacheScope::Public)
            .with_meta(self.identity.meta());
        RawObject::new(&list)
    }

    /// Whether calls of the tool are taken.
    pub(super) fn offers(&self, name: &str) -> bool {
        !self.hidden.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    /// Changes the list. Gives whether there is such a tool.
    pub(super) fn offer(&self, name: &str, offered: bool) -> bool {
        if !self.descriptors.iter().any(|tool| tool.name == name) {
            return false;
        }
        let mut hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = if offered { hidden.remove(name) } else { hidden.insert(name.to_owned()) };
        if changed {
            match self.written(&hidden) {
                Ok(list) => drop(self.list.send_replace(list)),
                // All of it has been written once.
                Err(error) => {
                    tracing::error!(error = crate::error::with_causes(&error), "the list cannot be written");
                }
            }
        }
        true
    }

    /// Tells of every change of the list from now on.
    pub(super) fn changes(&self) -> watch::Receiver<RawObject> {
        self.list.subscribe()
    }
}

impl Inner {
    pub(super) fn discover(&self, request: &Request<'_>) -> Result<RawObject, Refusal> {
        let _: RequestParams = typed(request)?;
        Ok(self.prepared.discover.clone())
    }

    /// All tools are one page, so there is no cursor that we could have given out.
    pub(super) fn list_tools(&self, request: &Request<'_>) -> Result<RawObject, Refusal> {
        let params: PaginatedRequestParams = typed(request)?;
        if params.cursor.is_some() {
            return Err(Refusal::Params("the cursor is not one of ours".to_owned()));
        }
        Ok(self.prepared.list.borrow().clone())
    }
}
