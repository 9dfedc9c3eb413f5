//! `diff`: each kind of change with its marks, and what it says about whole schemas.

use std::fs;
use std::path::Path;

use mcp_tasks_codegen::diff::{Change, Diff, Kind, Mark, diff};
use mcp_tasks_codegen::{Generation, TextFile};

use crate::file;

const BASE: &str = r##"{
"Name":{"description":"D.","type":"string"},
"Status":{"description":"D.","type":"string","oneOf":[{"const":"on","description":"D."},{"const":"off","description":"D."}]},
"State":{"description":"D.","oneOf":[
  {"description":"D.","type":"object","properties":{"status":{"const":"going","description":"D."}},"required":["status"]},
  {"description":"D.","type":"object","properties":{"status":{"const":"done","description":"D."},"result":{"description":"D.","$ref":"#/$defs/Name"}},"required":["status","result"]}]},
"Job":{"description":"D.","allOf":[{"type":"object","properties":{"id":{"description":"D.","type":"string"}},"required":["id"],"additionalProperties":{}},{"$ref":"#/$defs/State"}]},
"Meta":{"description":"D.","type":"object","properties":{"example.com/mark":{"description":"D.","type":"string","x-meta-key":true}},"additionalProperties":{}},
"Thing":{"description":"D.","type":"object","properties":{
  "kind":{"const":"thing","description":"D."},
  "resultType":{"const":"complete","x-const-absent":true,"description":"D."},
  "name":{"description":"D.","$ref":"#/$defs/Name"},
  "count":{"description":"D.","type":"integer"},
  "note":{"description":"D.","type":"string"},
  "limit":{"description":"D.","type":["integer","null"],"format":"uint64","minimum":0},
  "tags":{"description":"D.","type":"array","items":{"type":"string"}},
  "status":{"description":"D.","$ref":"#/$defs/Status"},
  "any":{"description":"D.","$ref":"#/$defs/Any"},
  "_meta":{"description":"D.","$ref":"#/$defs/Meta"}},
  "required":["kind","resultType","name","count","limit","any"],"additionalProperties":{}},
"Ask":{"description":"D.","x-mcp-method":"things/ask","x-mcp-direction":"client-to-server","x-mcp-result":{"$ref":"#/$defs/Letter"},"x-mcp-name":"name","type":"object","properties":{"id":{"description":"D.","type":"integer"},"method":{"const":"things/ask","description":"D."},"params":{"description":"D.","$ref":"#/$defs/AskParams"}},"required":["id","method","params"],"additionalProperties":{}},
"AskParams":{"description":"D.","type":"object","properties":{"name":{"description":"D.","type":"string"},"topic":{"description":"D.","type":"string"}},"required":["name","topic"],"additionalProperties":{}},
"Id":{"description":"D.","x-union":"kind","anyOf":[{"title":"Text","type":"string"},{"title":"Number","type":"integer"}]},
"Cat":{"description":"D.","type":"object","properties":{"type":{"const":"cat","description":"D."}},"required":["type"],"additionalProperties":{}},
"Dog":{"description":"D.","type":"object","properties":{"type":{"const":"dog","description":"D."}},"required":["type"],"additionalProperties":{}},
"Cow":{"description":"D.","type":"object","properties":{"type":{"const":"cow","description":"D."}},"required":["type"],"additionalProperties":{}},
"Pet":{"description":"D.","x-union":"tag","x-tag":"type","anyOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]},
"Letter":{"description":"D.","type":"object","properties":{"text":{"description":"D.","type":"string"}},"required":["text"],"additionalProperties":{}},
"Blob":{"description":"D.","type":"object","properties":{"blob":{"description":"D.","type":"string"}},"required":["blob"],"additionalProperties":{}},
"Body":{"description":"D.","x-union":"member","anyOf":[{"$ref":"#/$defs/Letter","title":"Letter","x-member":"text"},{"$ref":"#/$defs/Blob","title":"Blob","x-member":"blob"}]},
"Choice":{"description":"D.","type":"object","properties":{"a":{"description":"D.","type":"string"},"b":{"description":"D.","type":"string"}},"x-at-least-one":["a","b"],"additionalProperties":{}},
"Codes":{"description":"D.","x-error-codes":true,"oneOf":[
  {"title":"Bad","const":-1,"x-http-status":400,"description":"D."},
  {"title":"Worse","const":-2,"x-error-data":{"$ref":"#/$defs/Letter"},"description":"D."}]},
"Settings":{"description":"D.","x-extension-id":"example.com/things","type":"object","additionalProperties":{}},
"Any":{"description":"D."},
"Alone":{"description":"D.","type":"object","additionalProperties":{}}
}"##;

fn generation(definitions: &str, module: &str, config: &str) -> Generation {
    let config = format!("module = \"{module}\"\ngeneration = \"{module}\"\n{config}");
    Generation::new(
        TextFile::new("schema/codegen.toml", config),
        vec![TextFile::new("schema/things.json", file(definitions))],
    )
}

const ANY: &str = "[replace]\nAny = \"RawJson\"\n";

fn changed(replace: &[(&str, &str)]) -> Diff {
    let mut new = BASE.to_owned();
    for (from, to) in replace {
        assert_eq!(new.matches(from).count(), 1, "{from}");
        new = new.replacen(from, to, 1);
    }
    diff(&generation(BASE, "v1", ANY), &generation(&new, "v2", ANY)).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn row(change: &Change) -> String {
    let mark = |mark| if mark == Mark::Breaking { "breaks" } else { "fine" };
    let Change { at, kind, readers, writers, item, .. } = change;
    format!("{at} | {kind} | {} | {} | {item}", mark(*readers), mark(*writers))
}

fn rows(diff: &Diff) -> Vec<String> {
    diff.changes.iter().map(row).collect()
}

/// One change makes one row.
fn check(from: &str, to: &str, expected: &str) {
    assert_eq!(rows(&changed(&[(from, to)])), [expected], "{from} became {to}");
}

fn check_all(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(rows(&changed(&[(from, to)])), expected, "{from} became {to}");
}

#[test]
fn a_schema_does_not_differ_from_itself() {
    assert_eq!(rows(&changed(&[])), [""; 0]);
    for name in ["sep-1686", "2025-11-25", "2026-07-28"] {
        let generation = published(name);
        let diff = diff(&generation, &generation).unwrap();
        assert!(diff.changes.is_empty() && !diff.breaks(), "{diff}");
        assert_eq!(
            diff.to_string(),
            format!("{name} to {name}: changes: 0; breaking readers: 0; breaking writers: 0")
        );
    }
}

/// A revision of ours.
fn published(name: &str) -> Generation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema").join(name);
    let read = |name: &str| TextFile::new(name, fs::read_to_string(folder.join(name)).unwrap());
    let schemas = ["core.json", "errors.json", "meta.json", "tasks.json"];
    Generation::new(read("codegen.toml"), schemas.into_iter().map(read).collect())
}

/// What breaks the readers of a change breaks the writers of its reverse.
#[test]
fn a_change_and_its_reverse_have_each_others_marks() {
    let names = ["sep-1686", "2025-11-25", "2026-07-28"];
    for (old, new) in [(0, 1), (1, 2), (0, 2)] {
        let (old, new) = (published(names[old]), published(names[new]));
        let (there, back) = (diff(&old, &new).unwrap(), diff(&new, &old).unwrap());
        assert_eq!(there.changes.len(), back.changes.len());
        let mut compared = 0;
        for change in &there.changes {
            // Coming and going are no mirror images, for methods in each direction: nobody sends what did not exist.
            if change.old.is_empty() || change.new.is_empty() || change.kind == Kind::Method {
                continue;
            }
            let reverse = back
                .changes
                .iter()
                .find(|other| (&other.at, other.kind) == (&change.at, change.kind))
                .unwrap();
            assert_eq!((change.readers, change.writers), (reverse.writers, reverse.readers), "{change:?}");
            compared += 1;
        }
        assert!(compared > 5, "{compared} compared");
    }
}

#[test]
fn members() {
    let note = r#""note":{"description":"D.","type":"string"},"#;
    check(note, "", "Thing.note | member | fine | fine | v1::Thing::note");
    check(
        note,
        &format!(r#"{note}"more":{{"description":"D.","type":"string"}},"#),
        "Thing.more | member | fine | fine | v2::Thing::more",
    );
    check(
        r#""text":{"description":"D.","type":"string"}},"required":["text"]"#,
        r#""text":{"description":"D.","type":"string"},"more":{"description":"D.","type":"string"}},"required":["text","more"]"#,
        "Letter.more | member | fine | breaks | v2::Letter::more",
    );
    let gone = changed(&[
        (r#""count":{"description":"D.","type":"integer"},"#, ""),
        (r#""name","count""#, r#""name""#),
    ]);
    assert_eq!(rows(&gone), ["Thing.count | member | breaks | fine | v1::Thing::count"]);
}

#[test]
fn meta_keys() {
    let key = r#""example.com/mark":{"description":"D.","type":"string","x-meta-key":true}"#;
    check(key, "", "Meta.example.com/mark | `_meta` key | fine | fine | v1::Meta::mark");
    check(
        key,
        &format!(r#"{key},"example.com/more":{{"description":"D.","type":"string","x-meta-key":true}}"#),
        "Meta.example.com/more | `_meta` key | fine | fine | v2::Meta::more",
    );
    check(
        r#""string","x-meta-key":true"#,
        r#""string""#,
        "Meta.example.com/mark | `_meta` key | fine | fine | v2::Meta::mark",
    );
}

#[test]
fn presence_and_null() {
    let required = r#"["kind","resultType","name","count","limit","any"]"#;
    let with = |names: &str| format!(r#"["kind","resultType",{names}]"#);
    check(
        required,
        &with(r#""name","limit","any""#),
        "Thing.count | required | breaks | fine | v2::Thing::count",
    );
    check(
        required,
        &with(r#""name","count","limit","any","note""#),
        "Thing.note | required | fine | breaks | v2::Thing::note",
    );
    check(
        r#""count":{"description":"D.","type":"integer"}"#,
        r#""count":{"description":"D.","type":["integer","null"]}"#,
        "Thing.count | nullable | breaks | fine | v2::Thing::count",
    );
    let limit = r#""type":["integer","null"],"format":"uint64""#;
    let plain = r#""type":"integer","format":"uint64""#;
    check(limit, plain, "Thing.limit | nullable | fine | breaks | v2::Thing::limit");
    // Null for an optional member is tolerated, so only absence breaks.
    let optional = changed(&[(limit, plain), (required, &with(r#""name","count","any""#))]);
    assert_eq!(rows(&optional), ["Thing.limit | required | breaks | fine | v2::Thing::limit"]);
}

#[test]
fn types() {
    let count = r#""count":{"description":"D.","type":"integer"}"#;
    for (schema, readers, writers) in [
        (r#""type":"integer","format":"uint64","minimum":0"#, "fine", "breaks"),
        (r#""type":"number""#, "breaks", "fine"),
        (r#""type":"number","format":"millis","minimum":0"#, "breaks", "breaks"),
        (r#""type":"string""#, "breaks", "breaks"),
        (r##""$ref":"#/$defs/Any""##, "breaks", "fine"),
        (r##""$ref":"#/$defs/Id""##, "breaks", "fine"),
        (r##""$ref":"#/$defs/Codes""##, "fine", "fine"),
    ] {
        check(
            count,
            &format!(r#""count":{{"description":"D.",{schema}}}"#),
            &format!("Thing.count | type | {readers} | {writers} | v2::Thing::count"),
        );
    }
    let tags = r#""items":{"type":"string"}"#;
    for (schema, readers, writers) in [
        (r#""type":"integer""#, "breaks", "breaks"),
        (r##""$ref":"#/$defs/Name""##, "fine", "fine"),
        (r##""$ref":"#/$defs/Status""##, "fine", "breaks"),
        (r##""$ref":"#/$defs/Id""##, "breaks", "fine"),
    ] {
        check(
            tags,
            &format!(r#""items":{{{schema}}}"#),
            &format!("Thing.tags | type | {readers} | {writers} | v2::Thing::tags"),
        );
    }
    check(
        r#""Name":{"description":"D.","type":"string"}"#,
        r#""Name":{"description":"D.","type":"boolean"}"#,
        "Name | type | breaks | breaks | v2::Name",
    );
    // Another definition of the same form is the same on the wire.
    let renamed = changed(&[
        (
            r##""_meta":{"description":"D.","$ref":"#/$defs/Meta"}"##,
            r##""_meta":{"description":"D.","$ref":"#/$defs/Notes"}"##,
        ),
        (r#""Meta":{"#, r#""Notes":{"#),
    ]);
    assert_eq!(
        rows(&renamed),
        [
            "Meta | definition | fine | fine | v1::Meta",
            "Thing._meta | type | fine | fine | v2::Thing::meta",
            "Notes | definition | fine | fine | v2::Notes",
        ]
    );
}

#[test]
fn constants() {
    check(
        r#""kind":{"const":"thing""#,
        r#""kind":{"const":"thong""#,
        "Thing.kind | constant | breaks | breaks | v2::Thing",
    );
    check(
        r#""kind":{"const":"thing","description":"D."}"#,
        r#""kind":{"type":"string","description":"D."}"#,
        "Thing.kind | constant | breaks | fine | v2::Thing::kind",
    );
    check(
        r#""const":"complete","x-const-absent":true"#,
        r#""const":"complete""#,
        "Thing.resultType | absent constant | fine | fine | v2::Thing",
    );
    let without = |constant: &str, names: &str, rest: &str| rows(&changed(&[(constant, ""), (names, rest)]));
    assert_eq!(
        without(
            r#""kind":{"const":"thing","description":"D."},"#,
            r#"["kind","resultType""#,
            r#"["resultType""#
        ),
        ["Thing.kind | constant | breaks | fine | v1::Thing"]
    );
    assert_eq!(
        without(
            r#""resultType":{"const":"complete","x-const-absent":true,"description":"D."},"#,
            r#"["kind","resultType""#,
            r#"["kind""#
        ),
        ["Thing.resultType | constant | fine | fine | v1::Thing"]
    );
}

#[test]
fn lists_of_strings() {
    let off = r#",{"const":"off","description":"D."}"#;
    check(off, "", "Status.off | value | fine | breaks | v1::Status::Off");
    check(
        off,
        &format!(r#"{off},{{"const":"half_way","description":"D."}}"#),
        "Status.half_way | value | breaks | fine | v2::Status::HalfWay",
    );
}

#[test]
fn states() {
    let going = r#"{"description":"D.","type":"object","properties":{"status":{"const":"going","description":"D."}},"required":["status"]},"#;
    check(going, "", "State.going | state | fine | breaks | v1::State::Going");
    check(
        going,
        &format!("{going}{}", going.replace("going", "lost")),
        "State.lost | state | breaks | fine | v2::State::Lost",
    );
    let result = r##","result":{"description":"D.","$ref":"#/$defs/Name"}},"required":["status","result"]"##;
    check(
        result,
        r#"},"required":["status"]"#,
        "State.done.result | payload | breaks | fine | v1::State::Done::result",
    );
    check(
        r#"{"const":"going","description":"D."}},"required":["status"]"#,
        r#"{"const":"going","description":"D."},"why":{"description":"D.","type":"string"}},"required":["status","why"]"#,
        "State.going.why | payload | fine | breaks | v2::State::Going::why",
    );
    check(
        result,
        &result.replace(r##""$ref":"#/$defs/Name""##, r#""type":"integer""#),
        "State.done.result | type | breaks | breaks | v2::State::Done::result",
    );
    // Without the state's payloads a list of strings can stand for it, but not the other way round.
    let plain = changed(&[
        (r##"},{"$ref":"#/$defs/State"}]"##, "}]"),
        (
            r#""id":{"description":"D.","type":"string"}},"required":["id"]"#,
            r#""id":{"description":"D.","type":"string"},"status":{"description":"D.","type":"string"}},"required":["id","status"]"#,
        ),
    ]);
    assert_eq!(rows(&plain), ["Job | state | breaks | fine | v2::Job"]);
}

#[test]
fn unions() {
    let cow = r##","anyOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}"##;
    check(
        cow,
        &format!(r##"{cow},{{"$ref":"#/$defs/Cow"}}"##),
        "Pet.cow | arm | breaks | fine | v2::Pet::Cow",
    );
    check(r##",{"$ref":"#/$defs/Dog"}"##, "", "Pet.dog | arm | fine | breaks | v1::Pet::Dog");
    check(r#",{"title":"Number","type":"integer"}"#, "", "Id.Number | arm | fine | breaks | v1::Id::Number");
    check(
        r#"{"title":"Number","type":"integer"}"#,
        r#"{"title":"Number","type":"number"}"#,
        "Id.Number | arm | breaks | fine | v2::Id::Number",
    );
    check(
        r##",{"$ref":"#/$defs/Blob","title":"Blob","x-member":"blob"}"##,
        "",
        "Body.Blob | arm | fine | breaks | v1::Body::Blob",
    );
    check(
        r#""title":"Blob","x-member":"blob""#,
        r#""title":"Blob","x-member":"*""#,
        "Body.Blob | arm | breaks | fine | v2::Body::Blob",
    );
    check(
        r#""title":"Blob","x-member":"blob""#,
        r#""title":"Bytes","x-member":"blob""#,
        "Body.Blob | Rust name | fine | fine | v2::Body::Bytes",
    );
    check(
        r##"{"$ref":"#/$defs/Letter","title":"Letter","x-member":"text"},{"$ref":"#/$defs/Blob","title":"Blob","x-member":"blob"}"##,
        r##"{"$ref":"#/$defs/Blob","title":"Blob","x-member":"blob"},{"$ref":"#/$defs/Letter","title":"Letter","x-member":"text"}"##,
        "Body | arm | breaks | breaks | v2::Body",
    );
}

#[test]
fn choices_and_extensions() {
    let both = r#""x-at-least-one":["a","b"]"#;
    check(both, r#""x-at-least-one":["a"]"#, "Choice | at least one | fine | breaks | v2::Choice");
    check(&format!("{both},"), "", "Choice | at least one | breaks | fine | v2::Choice");
    check("example.com/things", "example.com/stuff", "Settings | extension | breaks | breaks | v2::Settings");
}

#[test]
fn methods() {
    check("client-to-server", "both", "things/ask | method | fine | fine | v2::method::THINGS_ASK");
    check(
        "client-to-server",
        "server-to-client",
        "things/ask | method | fine | breaks | v2::method::THINGS_ASK",
    );
    let renamed = changed(&[
        (r#""x-mcp-method":"things/ask""#, r#""x-mcp-method":"things/beg""#),
        (r#"{"const":"things/ask""#, r#"{"const":"things/beg""#),
    ]);
    assert_eq!(
        rows(&renamed),
        [
            "Ask.method | constant | breaks | breaks | v2::Ask",
            "things/ask | method | fine | breaks | v1::method::THINGS_ASK",
            "things/beg | method | fine | fine | v2::method::THINGS_BEG",
        ]
    );
}

/// Who asks reads the answer, and who answers writes it.
#[test]
fn another_result_of_a_request_is_judged_by_what_the_types_read() {
    let result = r##""x-mcp-result":{"$ref":"#/$defs/Letter"}"##;
    for (other, readers, writers) in
        [("Blob", "breaks", "breaks"), ("Alone", "breaks", "fine"), ("Body", "breaks", "fine")]
    {
        check(
            result,
            &result.replace("Letter", other),
            &format!("things/ask | result | {readers} | {writers} | v2::Ask"),
        );
    }
    // A member more of the same definition is told there.
    check(
        r#""text":{"description":"D.","type":"string"}},"required":["text"]"#,
        r#""text":{"description":"D.","type":"string"},"more":{"description":"D.","type":"string"}},"required":["text"]"#,
        "Letter.more | member | fine | fine | v2::Letter::more",
    );
}

/// Whoever sends the request repeats that member in a header, which whoever takes it compares.
#[test]
fn another_member_that_a_request_is_routed_by_breaks_writers() {
    let routed = r#""x-mcp-name":"name","#;
    let row = |marks: &str| format!("things/ask | routing | {marks} | v2::Ask");
    check(routed, r#""x-mcp-name":"topic","#, &row("fine | breaks"));
    check(routed, "", &row("fine | fine"));
    let added = diff(&generation(&BASE.replacen(routed, "", 1), "v1", ANY), &generation(BASE, "v2", ANY));
    assert_eq!(rows(&added.unwrap()), [row("fine | breaks")]);
}

#[test]
fn error_codes() {
    let bad = r#"{"title":"Bad","const":-1,"x-http-status":400,"description":"D."},"#;
    check(bad, "", "Codes.-1 | error code | fine | fine | v1::Codes::Bad");
    check(
        bad,
        &format!(r#"{bad}{{"title":"New","const":-3,"description":"D."}},"#),
        "Codes.-3 | error code | fine | fine | v2::Codes::New",
    );
    check(r#""title":"Bad""#, r#""title":"Evil""#, "Codes.-1 | Rust name | fine | fine | v2::Codes::Evil");
    check(
        r#""x-http-status":400"#,
        r#""x-http-status":404"#,
        "Codes.-1 | HTTP status | fine | fine | v2::Codes::Bad",
    );
    let data = r##""x-error-data":{"$ref":"#/$defs/Letter"},"##;
    check(data, "", "Codes.-2 | error data | breaks | fine | v2::CodesData::Worse");
    check(
        data,
        &data.replace("Letter", "Blob"),
        "Codes.-2 | error data | breaks | breaks | v2::CodesData::Worse",
    );
    check(
        r#""x-http-status":400,"#,
        r##""x-http-status":400,"x-error-data":{"$ref":"#/$defs/Letter"},"##,
        "Codes.-1 | error data | fine | breaks | v2::CodesData::Bad",
    );
}

#[test]
fn definitions() {
    let alone = r#""Alone":{"description":"D.","type":"object","additionalProperties":{}}"#;
    check(&format!(",\n{alone}"), "", "Alone | definition | fine | breaks | v1::Alone");
    check(
        alone,
        &format!("{alone},{}", alone.replace("Alone", "More")),
        "More | definition | fine | fine | v2::More",
    );
    check(
        alone,
        r#""Alone":{"description":"D.","type":"array","items":{"type":"string"}}"#,
        "Alone | type | breaks | breaks | v2::Alone",
    );
    // Members outside a schema are kept, whatever they are.
    check(
        alone,
        r#""Alone":{"description":"D.","type":"object","properties":{"a":{"description":"D.","type":"string"}},"additionalProperties":{}}"#,
        "Alone.a | member | fine | fine | v2::Alone::a",
    );
}

#[test]
fn names_in_rust_and_types_by_hand() {
    let against =
        |config: &str| rows(&diff(&generation(BASE, "v1", ANY), &generation(BASE, "v2", config)).unwrap());
    assert_eq!(
        against(&format!("{ANY}[names]\nThing = \"Item\"")),
        ["Thing | Rust name | fine | fine | v2::Item"]
    );
    assert_eq!(
        against(&format!("{ANY}[fields]\n\"Thing.name\" = \"title\"")),
        ["Thing.name | Rust name | fine | fine | v2::Thing::title"]
    );
    assert_eq!(against("[replace]\nAny = \"RawObject\""), ["Any | type | fine | breaks | RawObject"]);
}

/// A value more can take another one's name, and the source that has the name does not compile any more.
#[test]
fn a_kept_variant_with_another_name_in_rust_is_told() {
    check_all(
        r#"{"const":"off","description":"D."}"#,
        r#"{"const":"off","description":"D."},{"const":"off_","description":"D."}"#,
        &[
            "Status.off | Rust name | fine | fine | v2::Status::OffX6F6666",
            "Status.off_ | value | breaks | fine | v2::Status::OffX6F66665F",
        ],
    );
    let going = r#"{"description":"D.","type":"object","properties":{"status":{"const":"going","description":"D."}},"required":["status"]},"#;
    check_all(
        going,
        &format!("{going}{}", going.replace("going", "go_ing").replace("go_ing", "going_")),
        &[
            "State.going | Rust name | fine | fine | v2::State::GoingX676F696E67",
            "State.going_ | state | breaks | fine | v2::State::GoingX676F696E675F",
        ],
    );
}

/// A new revision is a module of its own; the same one under another name is the same to nobody's source.
#[test]
fn another_module_for_the_same_revision_is_told() {
    let with = |module: &str, generation: &str| {
        Generation::new(
            TextFile::new(
                "schema/codegen.toml",
                format!("module = \"{module}\"\ngeneration = \"{generation}\"\n{ANY}"),
            ),
            vec![TextFile::new("schema/things.json", file(BASE))],
        )
    };
    let moved = diff(&with("m", "1"), &with("q", "1")).unwrap();
    assert_eq!(rows(&moved), ["1 | Rust name | fine | fine | q"]);
    assert_eq!((moved.changes[0].old.as_str(), moved.changes[0].new.as_str()), ("m", "q"));
    assert!(diff(&with("m", "1"), &with("q", "2")).unwrap().changes.is_empty());
}

/// Definitions that lead back to themselves are compared once around.
#[test]
fn circles_through_lists_end() {
    let tree = |name: &str, leaf: &str| {
        format!(
            r##"{{"Root":{{"description":"D.","type":"object","properties":{{"tree":{{"description":"D.","$ref":"#/$defs/{name}"}}}},"additionalProperties":{{}}}},
            "{name}":{{"description":"D.","type":"object","properties":{{"leaf":{{"description":"D.","type":"{leaf}"}},"more":{{"description":"D.","type":"array","items":{{"$ref":"#/$defs/{name}"}}}}}},"additionalProperties":{{}}}}}}"##
        )
    };
    let marks = |leaf: &str| {
        let diff =
            diff(&generation(&tree("Tree", "integer"), "v1", ""), &generation(&tree("Bush", leaf), "v2", ""));
        let row = rows(&diff.unwrap()).into_iter().find(|row| row.starts_with("Root.tree")).unwrap();
        row.split(" | ").skip(2).take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(marks("integer"), "fine fine");
    assert_eq!(marks("number"), "breaks fine");
    assert_eq!(marks("string"), "breaks breaks");
}

#[test]
fn a_description_is_no_change() {
    let text = BASE.replace("\"D.\"", "\"Other words.\"");
    let diff = diff(&generation(BASE, "v1", ANY), &generation(&text, "v1", ANY)).unwrap();
    assert_eq!(rows(&diff), [""; 0]);
}

#[test]
fn the_table_says_what_breaks() {
    let diff = changed(&[(r#",{"const":"off","description":"D."}"#, "")]);
    assert_eq!(
        diff.to_string(),
        "| at | change | old | new | readers | writers | Rust item |\n|---|---|---|---|---|---|---|\n\
         | Status.off | value | `off` | – | compatible | **breaks** | `v1::Status::Off` |\n\
         v1 to v2: changes: 1; breaking readers: 0; breaking writers: 1"
    );
}

#[test]
fn a_faulty_schema_is_told_and_not_compared() {
    let faulty = generation(r#"{"A":{"description":"A.","not":{}}}"#, "v2", "");
    let errors = diff(&generation(BASE, "v1", ANY), &faulty).unwrap_err();
    assert!(errors[0].to_string().contains("the keyword `not`"), "{errors:?}");
}
