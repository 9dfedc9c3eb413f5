//! Whose task it is: the key beside the id in every look-up.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The verified tenant and principal behind a request.
///
/// An owner comes from verified credentials only, never from anything in a message. Knowing a task's id is not enough
/// to reach it: to another owner an existing task looks exactly like one that never was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    tenant: String,
    principal: String,
}

impl Owner {
    /// The principal of a tenant.
    pub fn new(tenant: impl Into<String>, principal: impl Into<String>) -> Self {
        Self { tenant: tenant.into(), principal: principal.into() }
    }

    /// The one owner of a server without authentication, where the unguessable id is all that protects a task.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::new("", "")
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The principal inside the tenant.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.principal
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tenant.is_empty() && self.principal.is_empty() {
            f.write_str("anonymous")
        } else {
            write!(f, "{}/{}", self.tenant, self.principal)
        }
    }
}
