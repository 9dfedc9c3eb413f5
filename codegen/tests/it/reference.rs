//! `reference`: it can be read on its own, without the schema beside it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mcp_tasks_codegen::reference::reference;
use mcp_tasks_codegen::{Generation, TextFile};

use crate::file;

const THINGS: &str = r##"{
"Moment":{"description":"A moment.","type":"string","format":"date-time"},
"Any":{"description":"Anything."},
"Share":{"description":"A share.","type":"number","minimum":0,"maximum":1},
"Params":{"description":"What is asked.","type":"object","properties":{
  "name":{"description":"Whose.","type":"string"},
  "link":{"description":"Where.","type":"string","format":"uri"},
  "least":{"description":"At least.","type":"number","minimum":2},
  "many":{"description":"Addresses.","type":"array","items":{"type":"string","format":"uri"}}},
  "required":["name"],"additionalProperties":{}},
"Ask":{"description":"Asks.","x-mcp-method":"things/ask","x-mcp-direction":"client-to-server","x-mcp-result":{"$ref":"#/$defs/Answer"},"x-mcp-name":"name","type":"object","properties":{"id":{"description":"D.","type":"integer"},"method":{"const":"things/ask","description":"D."},"params":{"description":"D.","$ref":"#/$defs/Params"}},"required":["id","method","params"],"additionalProperties":{}},
"Tell":{"description":"Tells.","x-mcp-method":"things/told","x-mcp-direction":"both","type":"object","properties":{"method":{"const":"things/told","description":"D."}},"required":["method"],"additionalProperties":{}},
"Letter":{"description":"D.","type":"object","properties":{"text":{"description":"D.","type":"string"}},"required":["text"],"additionalProperties":{}},
"Blob":{"description":"D.","type":"object","properties":{"blob":{"description":"D.","type":"string"}},"required":["blob"],"additionalProperties":{}},
"Answer":{"description":"D.","x-union":"member","anyOf":[{"$ref":"#/$defs/Letter","title":"Letter","x-member":"text"},{"$ref":"#/$defs/Blob","title":"Blob","x-member":"*"}]},
"Codes":{"description":"D.","x-error-codes":true,"oneOf":[{"title":"Bad","const":-1,"x-http-status":400,"description":"Bad."}]}
}"##;

fn of(generations: &[&str]) -> String {
    let generations: Vec<Generation> = generations
        .iter()
        .map(|name| {
            let config = format!(
                "module = \"v{name}\"\ngeneration = \"{name}\"\n[replace]\nMoment = \"Timestamp\"\nAny = \"RawJson\"\n"
            );
            Generation::new(
                TextFile::new("schema/codegen.toml", config),
                vec![TextFile::new("schema/things.json", file(THINGS))],
            )
        })
        .collect();
    reference(&generations).unwrap_or_else(|errors| panic!("{errors:#?}")).text
}

#[track_caller]
fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|found| found == *line), "{line}\n{text}");
    }
}

#[test]
fn a_method_has_its_direction_its_answer_and_what_routes_it() {
    let text = of(&["1"]);
    has(
        &text,
        &[
            "| `things/ask` | [Ask](#1-ask)<br>from client to server<br>answered with [Answer](#1-answer) |",
            "| `things/told` | [Tell](#1-tell)<br>in both directions<br>no answer |",
            "Method `things/ask`, from client to server, answered with [Answer](#1-answer).",
            "Over HTTP the header `Mcp-Name` repeats `params.name`.",
        ],
    );
}

#[test]
fn a_union_says_how_its_arms_are_told_apart() {
    has(
        &of(&["1"]),
        &["The first that fits:", "- has `text`: [Letter](#1-letter)", "- what is left: [Blob](#1-blob)"],
    );
}

#[test]
fn formats_bounds_and_types_by_hand_are_shown() {
    has(
        &of(&["1"]),
        &[
            "JSON: string (date-time).",
            "JSON: any value.",
            "JSON: number, 0 to 1.",
            "| `link` | string (uri) |  | Where. |",
            "| `least` | number, at least 2 |  | At least. |",
            "| `many` | list of string (uri) |  | Addresses. |",
        ],
    );
}

#[test]
fn a_list_of_codes_leads_to_the_table_of_errors() {
    has(
        &of(&["1"]),
        &[
            "JSON: integer, one of `-1` Bad or another; see [Errors](#errors).",
            "| `-1` | Bad: Bad. HTTP 400. |",
        ],
    );
}

#[test]
fn an_anchor_stands_above_its_heading_and_a_constant_is_described() {
    let text = of(&["1"]);
    assert!(text.contains("\n<a id=\"1-tell\"></a>\n\n### Tell (1)\n\nTells.\n"), "{text}");
    has(&text, &["| `method` | `\"things/told\"` | required | D. |"]);
}

/// What no schema says of a revision is said all the same, and what it names is there.
#[test]
fn what_a_revision_leaves_out_is_told_in_its_column() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference.md");
    let text = fs::read_to_string(committed).unwrap();
    assert!(text.contains("The columns of sep-1686 hold only what that proposal adds"));
    let cells = |row: &str| -> Vec<String> {
        let row = text.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{row}"));
        row.split(" | ").map(str::to_owned).collect()
    };
    let augmented = cells("| any request |");
    for (cell, link) in augmented[1..].iter().zip([
        "(#sep-1686-taskaugmentedrequestmeta)",
        "(#2025-11-25-taskaugmentedrequestparams)",
        "(#2026-07-28-createtaskresult)",
    ]) {
        assert!(cell.contains(link) && !cell.contains('{'), "{cell}");
    }
    assert!(cells("| `io.modelcontextprotocol/related-task` |")[3].starts_with("none: "));
    assert!(!of(&["1"]).contains("any request"));
}

/// No two headings are the same, so that a link to one of them is to that one.
#[test]
fn headings_differ_between_revisions_and_the_contents_lead_to_all_of_them() {
    check_links(&of(&["1", "2"]));
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference.md");
    check_links(&fs::read_to_string(committed).unwrap());
}

fn check_links(text: &str) {
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    let different: BTreeSet<&str> = headings.iter().copied().collect();
    assert_eq!(headings.len(), different.len(), "two headings are the same");
    let mut targets: BTreeSet<String> = text
        .split("<a id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect();
    // As Markdown is shown with links: small letters, `-` for blanks, and no other signs.
    targets.extend(headings.iter().map(|heading| {
        let title = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    }));
    let mut links = BTreeSet::new();
    for rest in text.split("](#").skip(1) {
        let target = rest.split(')').next().unwrap_or_default();
        assert!(targets.contains(target), "nothing is called {target}");
        links.insert(target);
    }
    let (contents, _) = text.split_once("\n## Methods\n").expect("a table of methods");
    for heading in headings.iter().filter_map(|heading| heading.strip_prefix("### ")) {
        let (name, generation) = heading.split_once(" (").expect("a revision");
        let link = format!("(#{}-{})", generation.trim_end_matches(')'), name).to_lowercase();
        assert!(contents.contains(&link), "{heading}");
    }
}
