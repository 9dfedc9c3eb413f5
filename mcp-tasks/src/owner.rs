//! Whose task it is: the key beside the id in every look-up.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The verified tenant and principal behind a request.
///
/// An owner comes from verified credentials only, never from anything in a message. Knowing a task's id is not enough
/// to reach it: to another owner an existing task looks exactly like one that never was.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(
    /// Shared, so that all of somebody's tasks have one copy of it.
    Arc<Names>,
);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename = "Owner")]
struct Names {
    tenant: String,
    principal: String,
}

impl Owner {
    /// The principal of a tenant.
    pub fn new(tenant: impl Into<String>, principal: impl Into<String>) -> Self {
        Self(Arc::new(Names { tenant: tenant.into(), principal: principal.into() }))
    }

    /// The one owner of a server without authentication, where the unguessable id is all that protects a task.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::new("", "")
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.0.tenant
    }

    /// The principal inside the tenant.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.0.principal
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tenant().is_empty() && self.principal().is_empty() {
            f.write_str("anonymous")
        } else {
            write!(f, "{}/{}", self.tenant(), self.principal())
        }
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Names { tenant, principal } = &*self.0;
        f.debug_struct("Owner").field("tenant", tenant).field("principal", principal).finish()
    }
}

impl Serialize for Owner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Owner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Names::deserialize(deserializer).map(|names| Self(Arc::new(names)))
    }
}
