//! Which keywords mean something where. The lint knows all keywords of the dialect; a keyword that stands where nothing
//! reads it is a fault here, since a reader would take it for a rule.

use super::{At, Lowering};
use crate::json::Json;

/// Texts for people, which may stand anywhere.
const TEXTS: &[&str] = &["title", "description", "$comment"];

impl Lowering<'_> {
    /// Demands that a schema has no keywords but these and texts.
    pub(super) fn only(&mut self, at: &At<'_>, schema: &Json, keywords: &[&str]) {
        for (keyword, _) in schema.members().unwrap_or_default() {
            if !keywords.contains(&keyword.as_str()) && !TEXTS.contains(&keyword.as_str()) {
                self.fault(&at.child(keyword), format!("`{keyword}` means nothing here"));
            }
        }
    }
}
