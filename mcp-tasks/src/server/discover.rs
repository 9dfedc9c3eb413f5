//! `server/discover` and `tools/list`: what the server is and offers.
//!
//! Both answers are written once, when the server is built, so that they are the same bytes every
//! time and claim exactly what was built.

use mcp_tasks_types::{
    JsonError, RawObject,
    v2026_07_28::{
        CacheScope, DiscoverResult, ListToolsResult, PaginatedRequestParams, RequestParams,
        ServerCapabilities, ToolsCapability,
    },
};

use super::{
    Inner, SUPPORTED_VERSIONS, capability, envelope::Request, identity::Identity, params::typed,
    refusal::Refusal, tools::descriptor,
};
use crate::tool::ToolDefinition;

/// The two answers that never change.
#[derive(Debug)]
pub(super) struct Prepared {
    discover: RawObject,
    tools: RawObject,
}

impl Prepared {
    pub(super) fn new<'t>(
        identity: &Identity,
        instructions: Option<String>,
        tools: impl Iterator<Item = &'t ToolDefinition>,
        cache_ttl_ms: u64,
    ) -> Result<Self, JsonError> {
        let capabilities = ServerCapabilities::new()
            .with_tools(ToolsCapability::new())
            .with_extensions(capability::tasks_extension());
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
        let list = ListToolsResult::new(
            tools.map(descriptor).collect::<Result<_, _>>()?,
            cache_ttl_ms,
            CacheScope::Public,
        )
        .with_meta(identity.meta());
        Ok(Self { discover: RawObject::new(&discover)?, tools: RawObject::new(&list)? })
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
        Ok(self.prepared.tools.clone())
    }
}
