//! Step 13 of the order of checks: the parameters of a method in their own type.

use serde::de::DeserializeOwned;

use super::{envelope::Request, refusal::Refusal};

/// Reads the parameters; what does not fit is named to the client.
pub(super) fn typed<T: DeserializeOwned>(request: &Request<'_>) -> Result<T, Refusal> {
    let text = request.params_text.unwrap_or("{}");
    mcp_tasks_types::from_str(text).map_err(|error| Refusal::Params(error.to_string()))
}
