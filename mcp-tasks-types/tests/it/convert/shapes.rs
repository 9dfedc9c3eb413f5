//! Types that two generations define alike, over the samples that the schemas make: there and back is the same.

use std::collections::BTreeMap;
use std::fs;

use mcp_tasks_types::{RawJson, v2025_11_25, v2026_07_28};
use serde::Deserialize;

use super::{read, refusal, text};

#[derive(Deserialize)]
pub(super) struct Sample {
    pub(super) r#type: String,
    pub(super) value: RawJson,
}

/// What becomes of a value in the other generation, and of that back in its own.
type ThereAndBack = fn(&RawJson) -> (String, String);

macro_rules! alike {
    ($($name:ident)*) => {
        const FROM_2025: &[(&str, ThereAndBack)] = &[$((stringify!($name), |raw| {
            let there = v2026_07_28::$name::from(raw.get::<v2025_11_25::$name>().unwrap());
            (text(&there), text(&v2025_11_25::$name::from(there)))
        })),*];
        const FROM_2026: &[(&str, ThereAndBack)] = &[$((stringify!($name), |raw| {
            let there = v2025_11_25::$name::from(raw.get::<v2026_07_28::$name>().unwrap());
            (text(&there), text(&v2026_07_28::$name::from(there)))
        })),*];
    };
}

alike! {
    RequestId ProgressToken ErrorObject MetaObject Icon IconTheme Implementation
    ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource ResourceContents
    TextResourceContents BlobResourceContents Annotations Role
    ElicitationFormMode ElicitFormSchema ElicitFormProperties PrimitiveSchemaDefinition StringSchema StringFormat
    NumberSchema NumberKind BooleanSchema EnumSchema SingleSelectEnumSchema MultiSelectEnumSchema
    UntitledSingleSelectEnumSchema TitledSingleSelectEnumSchema UntitledMultiSelectEnumSchema
    UntitledMultiSelectItems TitledMultiSelectEnumSchema TitledMultiSelectItems LegacyTitledEnumSchema EnumOption
    EnumSelection ElicitAction ElicitContent ElicitValue
    IncludeContext ModelPreferences ModelHint ToolChoice ToolChoiceMode ToolUseContent ToolAnnotations Root
    LoggingLevel ElicitationCapability SamplingCapability ToolsCapability PromptsCapability ResourcesCapability
    ExperimentalCapabilities
}

/// Those whose older form is narrower: 2025-11-25 fits into 2026-07-28 and comes back.
const WIDER: &[(&str, ThereAndBack)] = &[
    ("ToolResultContent", |raw| {
        let there =
            v2026_07_28::ToolResultContent::from(raw.get::<v2025_11_25::ToolResultContent>().unwrap());
        (text(&there), text(&v2025_11_25::ToolResultContent::try_from(there).unwrap()))
    }),
    ("SamplingMessage", |raw| {
        let there = v2026_07_28::SamplingMessage::from(raw.get::<v2025_11_25::SamplingMessage>().unwrap());
        (text(&there), text(&v2025_11_25::SamplingMessage::try_from(there).unwrap()))
    }),
    ("SamplingMessageContent", |raw| {
        let there = v2026_07_28::SamplingMessageContent::from(
            raw.get::<v2025_11_25::SamplingMessageContent>().unwrap(),
        );
        (text(&there), text(&v2025_11_25::SamplingMessageContent::try_from(there).unwrap()))
    }),
];

/// Walks the accepted samples of a generation; gives how many there were by type.
fn walk(generation: &str, types: &[(&str, ThereAndBack)]) -> BTreeMap<String, usize> {
    let file = crate::package().join("../samples").join(generation).join("accept.jsonl");
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let sample: Sample = read(line);
        // The schemas call the error object `Error`.
        let name = if sample.r#type == "Error" { "ErrorObject" } else { &sample.r#type };
        let Some((_, there_and_back)) = types.iter().find(|(known, _)| *known == name) else { continue };
        let (there, back) = there_and_back(&sample.value);
        for written in [there, back] {
            let written = RawJson::from_text(written).unwrap();
            assert!(written.json_eq(&sample.value), "{generation} {name}:\n{}\n{written}", sample.value);
        }
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn what_both_define_alike_is_the_same_there_and_back() {
    let counts = walk("2025-11-25", FROM_2025);
    assert!(counts.len() > 30, "{counts:?}");
    let counts = walk("2026-07-28", FROM_2026);
    assert!(counts.len() > 30, "{counts:?}");
    let counts = walk("2025-11-25", WIDER);
    assert_eq!(counts.len(), WIDER.len(), "{counts:?}");
}

/// C-101: a tool loses `execution`; the keywords of its schemas stay.
#[test]
fn a_tool_loses_its_execution_and_nothing_else() {
    let b: v2025_11_25::Tool = read(
        r#"{"name":"n","title":"t","description":"d","inputSchema":{"type":"object","$schema":"s","properties":{"a":{"minimum":1.0}},"required":["a"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"b":{}},"x":1.0},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"},"icons":[{"src":"https://e.com/i.png","sizes":["any"]}],"_meta":{"v/k":1},"x":2}"#,
    );
    let c = v2026_07_28::Tool::from(b.clone());
    let written = text(&c);
    assert!(!written.contains("execution"), "{written}");
    let back = v2025_11_25::Tool::try_from(c).unwrap();
    let mut without = b;
    without.execution = None;
    assert_eq!(back, without);
    let c: v2026_07_28::Tool = read(
        r#"{"name":"n","inputSchema":{"type":"object","anyOf":[{}]},"execution":{"taskSupport":"required"}}"#,
    );
    assert_eq!(
        text(&v2025_11_25::Tool::try_from(c).unwrap()),
        r#"{"name":"n","inputSchema":{"type":"object","anyOf":[{}]}}"#
    );
}

#[test]
fn an_output_schema_of_no_objects_has_no_older_form() {
    for schema in ["{}", r#"{"type":"array"}"#, r#"{"type":["object","null"]}"#] {
        let c: v2026_07_28::Tool =
            read(&format!(r#"{{"name":"n","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#));
        assert_eq!(
            refusal(v2025_11_25::Tool::try_from(c)),
            "`outputSchema.type`: 2025-11-25 has schemas of objects only"
        );
    }
}
