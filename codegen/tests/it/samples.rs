//! `samples`: each rule of a schema has samples on both sides of it, and what is read leniently says why.

use mcp_tasks_codegen::samples::{readme, samples};
use mcp_tasks_codegen::{Generation, TextFile};
use serde_json::Value;

use crate::file;

struct Sample {
    verdict: &'static str,
    line: Value,
}

fn files(definitions: &str) -> Vec<TextFile> {
    let config = TextFile::new("schema/codegen.toml", "module = \"v1\"\ngeneration = \"1\"\n");
    let generation = Generation::new(config, vec![TextFile::new("schema/things.json", file(definitions))]);
    samples(&generation).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn made(definitions: &str) -> Vec<Sample> {
    let files = files(definitions);
    let mut out = Vec::new();
    for verdict in ["accept", "reject", "lenient"] {
        let path = format!("1/{verdict}.jsonl");
        let file = files.iter().find(|file| file.path == path).unwrap();
        out.extend(
            file.text.lines().map(|line| Sample { verdict, line: serde_json::from_str(line).unwrap() }),
        );
    }
    out
}

/// The samples of a type as `verdict case: value`.
fn rows(samples: &[Sample], name: &str) -> Vec<String> {
    let of = samples.iter().filter(|sample| sample.line["type"] == name);
    of.map(|Sample { verdict, line }| {
        format!("{verdict} {}: {}", line["case"].as_str().unwrap(), line["value"])
    })
    .collect()
}

#[track_caller]
fn has(rows: &[String], expected: &[&str]) {
    for row in expected {
        assert!(rows.iter().any(|found| found == row), "{row}\n{}", rows.join("\n"));
    }
}

fn object(name: &str, properties: &str, required: &str) -> String {
    format!(
        r#""{name}":{{"description":"D.","type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":{{}}}}"#
    )
}

#[test]
fn bounds_of_numbers_are_met_and_crossed() {
    let bounded = r#""description":"D.","type":"number","minimum":0,"maximum":1.5"#;
    let list = r#""many":{"description":"D.","type":"array","items":{"type":"number","maximum":3}}"#;
    let properties = format!(
        r#""share":{{{bounded}}},"free":{{"description":"D.","type":"number"}},{list},"wait":{{"description":"D.","type":"number","format":"millis","minimum":0}}"#
    );
    let samples = made(&format!(r#"{{{},"Share":{{{bounded}}}}}"#, object("A", &properties, "")));
    let of_a = rows(&samples, "A");
    has(
        &of_a,
        &[
            r#"accept `share` at the minimum: {"share":0}"#,
            r#"accept `share` at the maximum: {"share":1.5}"#,
            r#"lenient `share` beyond the minimum: {"share":-1}"#,
            r#"lenient `share` beyond the maximum: {"share":2.5}"#,
            r#"lenient `many` beyond the maximum: {"many":[4]}"#,
        ],
    );
    let beyond = of_a.iter().filter(|row| row.contains("beyond")).count();
    assert_eq!(beyond, 3, "a type enforces the others, or there are none: {of_a:#?}");
    has(&rows(&samples, "Share"), &["accept at the minimum: 0", "lenient beyond the maximum: 2.5"]);
}

#[test]
fn every_arm_of_a_union_by_tag_is_refused_without_what_it_needs() {
    let arm = |name: &str| {
        let properties = format!(
            r#""kind":{{"const":"{}","description":"D."}},"size":{{"description":"D.","type":"integer"}},"note":{{"description":"D.","type":"string"}}"#,
            name.to_lowercase()
        );
        object(name, &properties, r#""kind","size""#)
    };
    let samples = made(&format!(
        r##"{{{},{},"Shape":{{"description":"D.","x-union":"tag","x-tag":"kind","anyOf":[{{"$ref":"#/$defs/Dot"}},{{"$ref":"#/$defs/Bar"}}]}}}}"##,
        arm("Dot"),
        arm("Bar")
    ));
    let rows = rows(&samples, "Shape");
    for (variant, kind) in [("Dot", "dot"), ("Bar", "bar")] {
        has(
            &rows,
            &[
                &format!(r#"reject {variant} without `kind`: {{"size":-7}}"#),
                &format!(r#"reject {variant} without `size`: {{"kind":"{kind}"}}"#),
                &format!(r#"reject {variant} with an unknown `kind`: {{"kind":"no such tag","size":-7}}"#),
                &format!(r#"reject {variant} with a `kind` that is no string: {{"kind":1,"size":-7}}"#),
            ],
        );
    }
    assert!(!rows.iter().any(|row| row.contains("without `note`")), "{rows:#?}");
}

const STATE: &str = r##""State":{"description":"D.","oneOf":[
    {"description":"D.","type":"object","properties":{"status":{"const":"going","description":"D."}},"required":["status"]},
    {"description":"D.","type":"object","properties":{"status":{"const":"done","description":"D."},"end":{"description":"D.","type":"integer"}},"required":["status","end"]}]},
"Job":{"description":"D.","allOf":[{"type":"object","properties":{
    "resultType":{"const":"complete","x-const-absent":true,"description":"D."},
    "wait":{"description":"D.","type":"number","format":"millis","minimum":0},
    "note":{"description":"D.","type":"string"}},"required":["resultType"],"additionalProperties":{}},{"$ref":"#/$defs/State"}]}"##;

#[test]
fn a_payload_of_another_state_is_read_as_a_value_and_as_null() {
    let samples = made(&format!("{{{STATE}}}"));
    has(
        &rows(&samples, "Job"),
        &[
            r#"lenient state going with `end` of another state: {"end":-7,"resultType":"complete","status":"going"}"#,
            r#"lenient state going with `end` null of another state: {"end":null,"resultType":"complete","status":"going"}"#,
            r#"reject state done without `end`: {"resultType":"complete","status":"done"}"#,
        ],
    );
}

#[test]
fn what_is_read_leniently_says_why_and_nothing_else_does() {
    let samples = made(&format!("{{{STATE}}}"));
    let mut cases = 0;
    for Sample { verdict, line } in &samples {
        let reason = line.get("reason").and_then(Value::as_str);
        assert_eq!(reason.is_some_and(|reason| !reason.is_empty()), *verdict == "lenient", "{line}");
        cases += usize::from(reason.is_some());
    }
    // No constant, a fraction, null for either optional member, both payloads of another state.
    assert_eq!(cases, 6);
    let reason = |case: &str| {
        let found = samples.iter().find(|sample| sample.line["case"] == case).unwrap();
        found.line["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("no `resultType`").contains("absence"));
    assert!(reason("`wait` a fraction, rounded up").contains("rounds up"));
    assert!(reason("`note` null").contains("not written back"));
}

/// Types that lead back to themselves have samples of a size that somebody can read.
#[test]
fn samples_of_types_in_circles_end() {
    let foo = r##"{"$ref":"#/$defs/Foo"}"##;
    let list = format!(r#"{{"type":"array","items":{foo}}}"#);
    for circle in [
        format!(r##"{{"Foo":{{"description":"D.","type":"array","items":{foo}}}}}"##),
        format!(r##"{{"Foo":{{"description":"D.","type":"object","additionalProperties":{foo}}}}}"##),
        format!(
            r##"{{"Foo":{{"description":"D.","x-union":"kind","anyOf":[{{"title":"Many","type":"array","items":{foo}}},{{"title":"Text","type":"string"}}]}}}}"##
        ),
        format!(
            r##"{{"Foo":{{"description":"D.","type":"array","items":{{"$ref":"#/$defs/Bar"}}}},"Bar":{{"description":"D.","type":"array","items":{list}}}}}"##
        ),
    ] {
        assert!(!rows(&made(&circle), "Foo").is_empty(), "{circle}");
    }
    let members: Vec<String> =
        (0..40).map(|n| format!(r#""m{n}":{{"description":"D.","type":"array","items":{foo}}}"#)).collect();
    for required in ["".to_owned(), (0..40).map(|n| format!("\"m{n}\"")).collect::<Vec<_>>().join(",")] {
        let samples = made(&format!("{{{}}}", object("Foo", &members.join(","), &required)));
        for Sample { line, .. } in &samples {
            assert!(line.to_string().len() < 100_000, "{} characters", line.to_string().len());
        }
        let all = samples.iter().find(|sample| sample.line["case"] == "all members");
        let all = all.unwrap_or(&samples[0]);
        assert!(all.line["value"].get("m39").is_some(), "{}", all.line);
    }
}

#[test]
fn the_readme_counts_the_samples() {
    let files = files(&format!("{{{STATE}}}"));
    let text = readme(&files).text;
    let count = |verdict: &str| {
        let file = files.iter().find(|file| file.path == format!("1/{verdict}.jsonl")).unwrap();
        file.text.lines().count()
    };
    let row = format!("| 1 | {} | {} | {} |", count("accept"), count("reject"), count("lenient"));
    assert!(text.contains(&row), "{row}\n{text}");
}
