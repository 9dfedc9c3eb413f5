//! Open objects: which of their members another generation may see, and objects taken apart as text.
//!
//! One rule for all of them: a name that no generation defines at that place is data of somebody else and travels; a
//! name that some generation defines is either mapped or left behind (I-02).

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::ConvertError;
use crate::{Extra, RawJson, RawObject, TaskId, sep_1686, v2025_11_25, v2026_07_28};

/// What any generation defines in a task object or in the result that carries one.
pub(super) const TASK_MEMBERS: &[&str] = &[
    "_meta",
    "taskId",
    "status",
    "statusMessage",
    "error",
    "createdAt",
    "lastUpdatedAt",
    "keepAlive",
    "ttl",
    "ttlMs",
    "pollFrequency",
    "pollInterval",
    "pollIntervalMs",
    "result",
    "inputRequests",
    "requestState",
    "resultType",
    "task",
];

/// What makes a result something else than the tool result that it is: in 2026-07-28 all but `task`, in 2025-11-25
/// `task`.
pub(super) const RESULT_MEMBERS: &[&str] = &["resultType", "inputRequests", "requestState", "task"];

/// What any generation defines in the result of a tool or in the answer to a question.
pub(super) const PAYLOAD_MEMBERS: &[&str] = &[
    "_meta",
    "resultType",
    "inputRequests",
    "requestState",
    "task",
    "content",
    "structuredContent",
    "isError",
    "action",
    "role",
    "model",
    "stopReason",
    "roots",
];

/// What any generation defines in the parameters of `tools/call`.
pub(super) const CALL_MEMBERS: &[&str] =
    &["_meta", "name", "arguments", "task", "inputResponses", "requestState"];

/// What any generation defines in a page of tasks or tools.
pub(super) const PAGE_MEMBERS: &[&str] =
    &["_meta", "resultType", "tasks", "tools", "nextCursor", "ttlMs", "cacheScope"];

/// Where one generation or another declares tasks. The other extensions of 2026-07-28 stay behind with them: what they
/// mean in another generation is not known here.
pub(super) const DECLARATIONS: &[&str] = &["tasks", "extensions"];

/// What either older generation declares about tasks.
pub(super) const TASKS_MEMBERS: &[&str] = &["list", "cancel", "requests"];

/// The kinds of request that either older generation declares to become tasks, of servers or of clients.
pub(super) const REQUESTS_MEMBERS: &[&str] = &["tools", "sampling", "elicitation"];

/// What either older generation defines in the wish for a task.
pub(super) const WISH_MEMBERS: &[&str] = &["taskId", "keepAlive", "ttl"];

/// What 2025-11-25 alone defines in a tool.
pub(super) const TOOL_MEMBERS: &[&str] = &["execution"];

/// The keywords of a tool's schema that 2025-11-25 names and 2026-07-28 may not.
pub(super) const KEYWORDS: &[&str] = &["type", "properties", "required"];

/// What any generation defines in the parameters of a nested request and is no part of the question.
pub(super) const QUESTION_MEMBERS: &[&str] = &["_meta", "task", "elicitationId"];

/// The `_meta` keys that any generation defines, except for those of trace context, which mean the same everywhere.
pub(super) const META_KEYS: &[&str] = &[
    sep_1686::meta_key::TASK,
    sep_1686::meta_key::RELATED_TASK,
    v2025_11_25::meta_key::RELATED_TASK,
    IMMEDIATE_RESPONSE,
    v2026_07_28::meta_key::PROGRESS_TOKEN,
    v2026_07_28::meta_key::PROTOCOL_VERSION,
    v2026_07_28::meta_key::CLIENT_CAPABILITIES,
    v2026_07_28::meta_key::CLIENT_INFO,
    v2026_07_28::meta_key::LOG_LEVEL,
    v2026_07_28::meta_key::SERVER_INFO,
    v2026_07_28::meta_key::SUBSCRIPTION_ID,
];

/// The keys of trace context, which 2026-07-28 names and every generation may carry.
pub(super) const TRACE: &[&str] =
    &[v2026_07_28::meta_key::TRACEPARENT, v2026_07_28::meta_key::TRACESTATE, v2026_07_28::meta_key::BAGGAGE];

/// The key of 2025-11-25 for the words that a model gets at once.
pub(super) const IMMEDIATE_RESPONSE: &str = v2025_11_25::meta_key::MODEL_IMMEDIATE_RESPONSE;

/// The members that no generation defines.
#[inline]
pub(super) fn foreign(extra: Extra, defined: &[&str]) -> Extra {
    if extra.iter().all(|(name, _)| !defined.contains(&name)) {
        return extra;
    }
    let mut kept = Extra::new();
    for (name, value) in extra.iter().filter(|(name, _)| !defined.contains(name)) {
        kept.push(name, value.clone());
    }
    kept
}

/// Adds the names that are not there yet, each as often as it comes.
#[inline]
pub(super) fn merge(into: &mut Extra, more: Extra) {
    if into.is_empty() {
        *into = more;
        return;
    }
    let known: BTreeSet<&str> = into.iter().map(|(name, _)| name).collect();
    let fresh: Vec<_> = more.iter().filter(|(name, _)| !known.contains(name)).collect();
    for (name, value) in fresh {
        into.push(name, value.clone());
    }
}

/// Refuses an object in which a member that the protocol defines comes twice: two readers of it could take different
/// ones, and what one of them checked the other would not see.
pub(super) fn once<'a>(
    mut names: impl Iterator<Item = &'a str>,
    defined: &[&str],
) -> Result<(), ConvertError> {
    let mut seen = 0_u64;
    let again = names.find_map(|name| {
        let place = defined.iter().position(|known| *known == name)?;
        let again = seen & (1 << place) != 0;
        seen |= 1 << place;
        again.then_some(name)
    });
    again.map_or(Ok(()), |name| Err(ConvertError::twice(name)))
}

/// The same for the members that a type does not know.
#[inline]
pub(super) fn extra_once(extra: &Extra, defined: &[&str]) -> Result<(), ConvertError> {
    once(extra.iter().map(|(name, _)| name), defined)
}

/// A value that serde writes without fail, such as a text.
pub(super) fn raw<T: Serialize + ?Sized>(value: &T) -> RawJson {
    RawJson::new(value).expect("texts, numbers and members kept as text are always JSON")
}

/// The members of any JSON object, in order, as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(Vec<(String, RawJson)>);

impl Members {
    /// Takes an object apart; nothing of something else.
    #[inline]
    pub(super) fn of(json: &RawJson) -> Option<Self> {
        json.get().ok()
    }

    #[inline]
    pub(super) fn of_object(object: &RawObject) -> Self {
        Self::of(object.as_json()).unwrap_or_default()
    }

    /// The members of a typed object without `_meta`.
    #[inline]
    pub(super) fn of_extra(extra: &Extra) -> Self {
        Self(extra.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect())
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    #[inline]
    pub(super) fn push(&mut self, name: &str, value: RawJson) {
        self.0.push((name.to_owned(), value));
    }

    /// Refuses a member of those names that comes twice.
    #[inline]
    pub(super) fn once(&self, defined: &[&str]) -> Result<(), ConvertError> {
        once(self.0.iter().map(|(name, _)| name.as_str()), defined)
    }

    /// Leaves the last of each of those names, for conversions that cannot refuse: most readers of JSON take that one.
    #[inline]
    pub(super) fn last(mut self, defined: &[&str]) -> Self {
        let mut seen = 0_u64;
        self.0.reverse();
        self.0.retain(|(name, _)| match defined.iter().position(|known| known == name) {
            Some(place) => {
                let first = seen & (1 << place) == 0;
                seen |= 1 << place;
                first
            }
            None => true,
        });
        self.0.reverse();
        self
    }

    /// Leaves out the members of those names.
    #[inline]
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(&name.as_str()));
        self
    }

    /// Cleans `_meta`, of which there has to be one at most, of what the protocol defines and, if asked to, ties it to
    /// a task. A `_meta` that is left without a key goes; one that is no object stays as it is unless it has to name a
    /// task.
    #[inline]
    pub(super) fn with_meta(mut self, related: Option<(&str, &TaskId)>) -> Self {
        let related = related.map(|(key, id)| (key, related_task(id)));
        let place = self.0.iter().position(|(name, _)| name == "_meta");
        match (place, related) {
            (Some(place), related) => {
                let meta = match Self::of(&self.0[place].1) {
                    Some(meta) => meta,
                    None if related.is_none() => return self,
                    None => Self::default(),
                };
                let before = meta.0.len();
                let mut meta = meta.without(META_KEYS);
                if let Some((key, id)) = related {
                    meta.push(key, id);
                }
                if meta.0.is_empty() && before != 0 {
                    self.0.remove(place);
                } else {
                    self.0[place].1 = raw(&meta);
                }
            }
            (None, Some((key, id))) => {
                let mut meta = Self::default();
                meta.push(key, id);
                self.push("_meta", raw(&meta));
            }
            (None, None) => {}
        }
        self
    }

    /// Moves all members behind those of another object.
    #[inline]
    pub(super) fn append_to(self, other: &mut Self) {
        other.0.extend(self.0);
    }

    #[inline]
    pub(super) fn into_object(self) -> RawObject {
        RawObject::try_from(raw(&self)).expect("members make an object")
    }

    #[inline]
    pub(super) fn into_extra(self) -> Extra {
        let mut extra = Extra::new();
        for (name, value) in self.0 {
            extra.push(name, value);
        }
        extra
    }
}

/// `{"taskId":…}`.
#[inline]
fn related_task(id: &TaskId) -> RawJson {
    let mut members = Members::default();
    members.push("taskId", raw(id));
    raw(&members)
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;
            #[inline]
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Whether a tool result says `isError:true`; anything that is no tool result does not. Of several the last counts, as
/// in [`Members::last`].
#[inline]
pub(super) fn is_error(result: &RawObject) -> bool {
    struct IsError(bool);
    impl<'de> Deserialize<'de> for IsError {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct IsErrorVisitor;
            impl<'de> Visitor<'de> for IsErrorVisitor {
                type Value = IsError;
                #[inline]
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<IsError, A::Error> {
                    let mut found = false;
                    while let Some(name) = access.next_key::<std::borrow::Cow<'de, str>>()? {
                        if name == "isError" {
                            found = access.next_value::<RawJson>()?.as_str() == "true";
                        } else {
                            access.next_value::<serde::de::IgnoredAny>()?;
                        }
                    }
                    Ok(IsError(found))
                }
            }
            deserializer.deserialize_map(IsErrorVisitor)
        }
    }
    result.get::<IsError>().is_ok_and(|found| found.0)
}

/// The unknown keys of a `_meta` of 2025-11-25 or SEP-1686, nothing when there are none.
#[inline]
pub(super) fn foreign_meta(extra: Extra) -> Option<Extra> {
    let kept = foreign(extra, META_KEYS);
    (!kept.is_empty()).then_some(kept)
}

/// The `_meta` of a nested request as the member that 2026-07-28 does not know.
#[inline]
pub(super) fn insert_meta(into: &mut Extra, meta: Option<v2025_11_25::RequestMetaObject>) {
    if let Some(kept) = meta.and_then(|meta| foreign_meta(meta.extra)) {
        into.push("_meta", raw(&Members::of_extra(&kept)));
    }
}

/// The other way round: that member, cleaned and tied to a task.
#[inline]
pub(super) fn take_meta(
    extra: &Extra,
    task_id: &TaskId,
) -> Result<v2025_11_25::RequestMetaObject, ConvertError> {
    extra_once(extra, &["_meta"])?;
    let mut meta = v2025_11_25::RequestMetaObject::new()
        .with_related_task(v2025_11_25::RelatedTaskMetadata::new(task_id.clone()));
    if let Some(members) = extra.get("_meta").and_then(Members::of) {
        meta.extra = members.without(META_KEYS).into_extra();
    }
    Ok(meta)
}

/// The `_meta` of a result of 2026-07-28, nothing when there is no key.
#[inline]
pub(super) fn result_meta(keys: Extra) -> Option<v2026_07_28::ResultMetaObject> {
    (!keys.is_empty()).then(|| {
        let mut meta = v2026_07_28::ResultMetaObject::new();
        meta.extra = keys;
        meta
    })
}

#[cfg(test)]
mod tests {
    //! The lists of names against what the generated types know, so that a name that a generation gains is missed here
    //! and not by a peer.

    use std::collections::BTreeSet;

    use super::{
        CALL_MEMBERS, DECLARATIONS, KEYWORDS, META_KEYS, PAGE_MEMBERS, PAYLOAD_MEMBERS, QUESTION_MEMBERS,
        REQUESTS_MEMBERS, RESULT_MEMBERS, TASK_MEMBERS, TASKS_MEMBERS, TOOL_MEMBERS, TRACE, WISH_MEMBERS,
    };
    use crate::support::Object;
    use crate::{sep_1686 as a, v2025_11_25 as b, v2026_07_28 as c};

    /// All members of the types.
    macro_rules! members {
        ($($type:ty)*) => {{
            let all: &[&[&str]] = &[$(<$type as Object<'_>>::MEMBERS),*];
            all.concat().into_iter().collect::<BTreeSet<&str>>()
        }};
    }

    /// A list as a set, in which no name is lost.
    fn set(list: &[&'static str]) -> BTreeSet<&'static str> {
        let set: BTreeSet<_> = list.iter().copied().collect();
        assert_eq!(set.len(), list.len(), "a name is listed twice: {list:?}");
        set
    }

    #[test]
    fn every_key_of_meta_is_listed() {
        let all: BTreeSet<&str> = [a::META_KEYS, b::META_KEYS, c::META_KEYS].concat().into_iter().collect();
        assert_eq!(set(&[META_KEYS, TRACE].concat()), all);
    }

    #[test]
    fn every_member_of_a_task_is_listed() {
        let all = members! {
            a::TaskInfo a::GetTaskResult
            b::Task b::CreateTaskResult b::GetTaskResult b::CancelTaskResult b::TaskStatusNotificationParams
            c::Task c::WorkingTask c::InputRequiredTask c::CompletedTask c::FailedTask c::CancelledTask
            c::DetailedTask c::CreateTaskResult c::GetTaskResult c::TaskStatusNotificationParams
            c::InputRequiredResult
        };
        assert_eq!(set(TASK_MEMBERS), all);
    }

    #[test]
    fn every_member_of_a_call_is_listed() {
        let all = members! {
            a::TaskAugmentedRequestParams b::TaskAugmentedRequestParams b::CallToolRequestParams
            c::CallToolRequestParams
        };
        assert_eq!(set(CALL_MEMBERS), all);
    }

    #[test]
    fn every_member_of_a_payload_is_listed() {
        let other = members! { b::CreateTaskResult c::InputRequiredResult };
        let other: BTreeSet<_> = other.into_iter().filter(|name| *name != "_meta").collect();
        assert_eq!(set(RESULT_MEMBERS), other);
        let all = members! {
            a::GetTaskPayloadResult
            b::GetTaskPayloadResult b::CallToolResult b::ElicitResult b::CreateMessageResult b::ListRootsResult
            b::CreateTaskResult
            c::CallToolResult c::ElicitResult c::CreateMessageResult c::ListRootsResult c::InputRequiredResult
        };
        assert_eq!(set(PAYLOAD_MEMBERS), all);
    }

    #[test]
    fn every_member_of_a_page_is_listed() {
        let all = members! { a::ListTasksResult b::ListTasksResult b::ListToolsResult c::ListToolsResult };
        assert_eq!(set(PAGE_MEMBERS), all);
    }

    #[test]
    fn every_member_about_tasks_in_capabilities_is_listed() {
        let server = &members!(b::ServerCapabilities) ^ &members!(c::ServerCapabilities);
        let client = &members!(b::ClientCapabilities) ^ &members!(c::ClientCapabilities);
        let proposal = members!(a::Capabilities);
        assert_eq!(set(DECLARATIONS), &(&server | &client) | &proposal);
        let all = members! { a::TasksCapability b::ServerTasksCapability b::ClientTasksCapability };
        assert_eq!(set(TASKS_MEMBERS), all);
        let all = members! {
            a::TaskRequestsCapability b::ServerTaskRequestsCapability b::ClientTaskRequestsCapability
        };
        assert_eq!(set(REQUESTS_MEMBERS), all);
    }

    #[test]
    fn every_member_of_a_wish_or_a_tool_is_listed() {
        assert_eq!(set(WISH_MEMBERS), members! { a::TaskMetadata b::TaskMetadata });
        assert_eq!(set(TOOL_MEMBERS), &members!(b::Tool) ^ &members!(c::Tool));
        let older = members! { b::ToolInputSchema b::ToolOutputSchema };
        assert_eq!(set(KEYWORDS), &older ^ &members!(c::ToolOutputSchema));
    }

    #[test]
    fn every_member_around_a_question_is_listed() {
        let form = &members!(b::ElicitRequestFormParams) - &members!(c::ElicitRequestFormParams);
        let url = &members!(b::ElicitRequestUrlParams) - &members!(c::ElicitRequestUrlParams);
        let sample = &members!(b::CreateMessageRequestParams) - &members!(c::CreateMessageRequestParams);
        assert_eq!(set(QUESTION_MEMBERS), &(&form | &url) | &sample);
    }
}
