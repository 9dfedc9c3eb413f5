//! The suite that every store passes, and what tests of tools and servers need.
//!
//! ```
//! use mcp_tasks::MemoryStore;
//! use mcp_tasks::testing::{Backend, reopened, store_contract};
//!
//! struct Memory(MemoryStore);
//!
//! impl Backend for Memory {
//!     type Store = MemoryStore;
//!
//!     async fn open(&self) -> Result<MemoryStore, mcp_tasks::StoreError> {
//!         Ok(reopened(&self.0))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let kept = store_contract(|| Memory(MemoryStore::new())).await?;
//! println!("contract: memory: {kept}");
//! # Ok::<(), mcp_tasks::testing::Violation>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod contract;
mod faulty;
mod lagging;

use std::fmt;

pub use clock::{CountingIds, ManualClock};
pub use contract::{ENGINE_RULES, RULES, store_contract};
pub use faulty::{FaultyStore, Held, Verb};
pub use lagging::LaggingStore;

use crate::store::{MemoryStore, Store, StoreError};

/// A second store over the same tasks, with all leases ended: what another process finds that opens the file which a
/// dead one left. What was running over the first store is fenced off.
#[must_use]
pub fn reopened(store: &MemoryStore) -> MemoryStore {
    store.reopen()
}

/// One empty place for records that can be opened again and again.
pub trait Backend: Send + Sync {
    /// The store under test.
    type Store: Store;

    /// Whether several processes can have the place open at once. What is leased stays so when another one opens it
    /// then; with one process at a time nobody can be left who holds a lease.
    const SHARED: bool = false;

    /// Opens the store. The suite has dropped the store that it opened before, as the end of a process would.
    ///
    /// # Errors
    ///
    /// When the store cannot be opened; the suite counts it as a broken rule.
    fn open(&self) -> impl Future<Output = Result<Self::Store, StoreError>> + Send;
}

/// How much the contract looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// The number of rules that were looked at, all of which hold.
    pub rules: u64,
    /// The number of rules that were not: those of places that one process has, or several, where [`Backend::SHARED`]
    /// says otherwise.
    pub skipped: u64,
    /// The number of cases in which they were looked at: answers of the store that had to be as expected.
    pub cases: u64,
}

impl Kept {
    fn add(&mut self, cases: u64) {
        if cases == 0 {
            self.skipped += 1;
        } else {
            self.rules += 1;
        }
        self.cases += cases;
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules, {} cases, {} skipped", self.rules, self.cases, self.skipped)
    }
}

/// A rule of the store contract that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule's name, one of [`RULES`] or [`ENGINE_RULES`].
    pub rule: &'static str,
    /// What was seen instead.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule `{}` does not hold: {}", self.rule, self.message)
    }
}

impl std::error::Error for Violation {}
