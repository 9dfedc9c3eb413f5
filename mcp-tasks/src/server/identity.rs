//! Who the server is: the mark on every result (X-25).

use mcp_tasks_types::{
    RawJson, RawObject,
    v2026_07_28::{Implementation, ResultMetaObject, meta_key},
};

use super::members::Members;

/// The server's name and version, ready to be put on results.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    meta: ResultMetaObject,
    text: String,
}

impl Identity {
    pub(super) fn new(implementation: Implementation) -> Result<Self, mcp_tasks_types::JsonError> {
        Ok(Self {
            text: mcp_tasks_types::to_string(&implementation)?,
            meta: ResultMetaObject::new().with_server_info(implementation),
        })
    }

    /// The `_meta` of a result of our own.
    pub(super) fn meta(&self) -> ResultMetaObject {
        self.meta.clone()
    }

    /// A tool's result with the mark, everything else letter for letter.
    ///
    /// A tool may put its own `_meta` on a result, and stays the author of what it put there.
    pub(super) fn stamp(&self, result: &RawObject) -> RawObject {
        let text = result.as_str();
        let Ok(members) = Members::read(text) else {
            return result.clone();
        };
        let entry = format!("\"{}\":{}", meta_key::SERVER_INFO, self.text);
        let stamped = match members.get("_meta") {
            None => insert(text, members.is_empty(), &format!("\"_meta\":{{{entry}}}")),
            Some(meta) => {
                let Ok(inner) = Members::read(meta.get()) else {
                    return result.clone();
                };
                if inner.get(meta_key::SERVER_INFO).is_some() {
                    return result.clone();
                }
                let marked = insert(meta.get(), inner.is_empty(), &entry);
                replace(text, meta.get(), &marked)
            }
        };
        RawJson::from_text(stamped)
            .ok()
            .and_then(|json| RawObject::try_from(json).ok())
            .unwrap_or_else(|| result.clone())
    }
}

/// Adds a member before the closing brace.
fn insert(object: &str, is_empty: bool, member: &str) -> String {
    let body = object.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body).trim_end();
    let comma = if is_empty { "" } else { "," };
    format!("{body}{comma}{member}}}")
}

/// Exchanges a part, given as a slice of the whole.
fn replace(whole: &str, part: &str, new: &str) -> String {
    let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
    format!("{}{new}{}", &whole[..start], &whole[start + part.len()..])
}

#[cfg(test)]
mod tests {
    use mcp_tasks_types::{RawObject, v2026_07_28::Implementation};

    use super::Identity;

    // S-10, C-15
    #[test]
    fn a_stamped_result_keeps_everything_that_the_tool_wrote() {
        let identity = Identity::new(Implementation::new("s".to_owned(), "1".to_owned())).unwrap();
        let stamp = |text: &str| {
            let result = RawObject::from_text(text).unwrap();
            identity.stamp(&result).as_str().to_owned()
        };
        let info = r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}"#;
        assert_eq!(stamp("{}"), format!(r#"{{"_meta":{{{info}}}}}"#));
        assert_eq!(
            stamp(r#"{"n": 1.0, "content":[]}"#),
            format!(r#"{{"n": 1.0, "content":[],"_meta":{{{info}}}}}"#)
        );
        assert_eq!(
            stamp(r#"{"_meta":{"a":"_meta"},"b":2}"#),
            format!(r#"{{"_meta":{{"a":"_meta",{info}}},"b":2}}"#)
        );
        assert_eq!(stamp(r#"{"_meta":{ }}"#), format!(r#"{{"_meta":{{{info}}}}}"#));
        let own = r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}"#;
        assert_eq!(stamp(own), own);
    }
}
