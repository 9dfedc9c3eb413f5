//! The store contract over every backend.

use mcp_tasks::testing::{Backend, reopened};
use mcp_tasks::{MemoryStore, StoreError};

pub(crate) struct Memory(MemoryStore);

pub(crate) fn fresh() -> Memory {
    Memory(MemoryStore::new())
}

impl Backend for Memory {
    type Store = MemoryStore;

    async fn open(&self) -> Result<MemoryStore, StoreError> {
        Ok(reopened(&self.0))
    }
}

/// C-14, S-09, S-33, S-35, S-37, P045, P093: by the rules of the contract.
#[tokio::test]
async fn memory_store_keeps_the_contract() {
    crate::support::keeps_the_contract("memory", fresh).await;
}
