//! `drift`: what differs from a published schema is told unless it is listed, and what is listed has to differ.

use mcp_tasks_codegen::drift::{Drift, Kind, drift, with_published};
use mcp_tasks_codegen::{Error, Generation, TextFile};

use crate::file;

fn tried(ours: &str, published: &str, divergences: &str) -> Result<Drift, Vec<Error>> {
    let ours = Generation::new(
        TextFile::new("schema/1/codegen.toml", ""),
        vec![TextFile::new("schema/1/things.json", file(ours))],
    );
    let published = TextFile::new("published.json", format!(r#"{{"$defs":{published}}}"#));
    drift(&ours, &[published], &TextFile::new("schema/1/divergences.toml", divergences))
}

fn compared(ours: &str, published: &str, divergences: &str) -> Drift {
    tried(ours, published, divergences).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Two schemas differ in exactly these places, as `at: kind, ours, published`.
fn check(ours: &str, published: &str, expected: &[&str]) {
    let drift = compared(ours, published, "");
    let found: Vec<String> = drift
        .differences
        .iter()
        .map(|found| format!("{}: {}, {}, {}", found.at, found.kind, found.ours, found.published))
        .collect();
    assert_eq!(found, expected, "{ours}\n{published}");
    assert_eq!(drift.is_clean(), expected.is_empty());
}

fn object(properties: &str, required: &str) -> String {
    format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]}}"#)
}

fn one(schema: &str) -> String {
    format!(r#"{{"A":{schema}}}"#)
}

const TEXT: &str = r#""b":{"type":"string"}"#;

#[test]
fn equal_schemas_have_not_drifted() {
    let schema = one(&object(TEXT, r#""b""#));
    check(&schema, &schema, &[]);
    assert_eq!(compared(&schema, &schema, "").compared, 1);
}

#[test]
fn an_unlisted_difference_is_told() {
    let drift = compared(&one(&object(TEXT, r#""b""#)), &one(&object(TEXT, "")), "");
    assert!(!drift.is_clean());
    assert_eq!(drift.listed(), 0);
    let table = drift.to_string();
    assert!(table.contains("| A.b | required | yes | no | **not listed** |"), "{table}");
    assert!(
        table.ends_with("1 definitions compared, 1 differences, 0 listed, 1 not listed, 0 obsolete"),
        "{table}"
    );
}

#[test]
fn a_listed_difference_is_accepted_with_its_reason() {
    let listed =
        "[[differs]]\nat = \"A.b\"\nkind = \"required\"\npublished = \"no\"\nreason = \"always there\"";
    let drift = compared(&one(&object(TEXT, r#""b""#)), &one(&object(TEXT, "")), listed);
    assert!(drift.is_clean(), "{drift}");
    assert_eq!(drift.differences[0].reason.as_deref(), Some("always there"));
    let definitions = "[[definitions]]\nnames = [\"B\", \"C\"]\nreason = \"not modelled\"";
    let ours = format!(r#"{{"A":{0},"B":{0}}}"#, object("", ""));
    let published = format!(r#"{{"A":{0},"C":{0}}}"#, object("", ""));
    assert!(compared(&ours, &published, definitions).is_clean());
}

#[test]
fn an_entry_for_another_kind_or_without_a_reason_accepts_nothing() {
    for listed in [
        "[[differs]]\nat = \"A.b\"\nkind = \"nullable\"\nreason = \"another kind\"",
        "[[differs]]\nat = \"A.c\"\nkind = \"required\"\nreason = \"another place\"",
        "[[differs]]\nat = \"A.b\"\nkind = \"required\"\nreason = \" \"",
        "[[definitions]]\nnames = [\"A\"]\nreason = \"is on both sides\"",
    ] {
        let drift = compared(&one(&object(TEXT, r#""b""#)), &one(&object(TEXT, "")), listed);
        assert_eq!((drift.listed(), drift.obsolete.len()), (0, 1), "{listed}");
        assert!(!drift.is_clean());
    }
}

#[test]
fn an_obsolete_entry_is_told() {
    let listed = "[[differs]]\nat = [\"A.b\", \"A.c\"]\nkind = \"type\"\nreason = \"long repaired\"\n\
                  [[definitions]]\nnames = [\"Gone\"]\nreason = \"long gone\"";
    let schema = one(&object(TEXT, ""));
    let drift = compared(&schema, &schema, listed);
    assert_eq!(drift.obsolete, ["Gone: definition", "A.b: type", "A.c: type"]);
    assert!(!drift.is_clean());
    assert!(drift.to_string().contains("| A.b: type | | | | **listed, but there is no such difference** |"));
}

#[test]
fn a_file_of_divergences_that_cannot_be_read_is_a_fault() {
    let generation = Generation::new(
        TextFile::new("schema/1/codegen.toml", ""),
        vec![TextFile::new("schema/1/things.json", file("{}"))],
    );
    let published = [TextFile::new("published.json", r#"{"$defs":{}}"#)];
    for listed in ["[[differs]]\nat = \"A.b\"\nkind = \"size\"\nreason = \"r\"", "[[differ]]\n"] {
        let errors = drift(&generation, &published, &TextFile::new("divergences.toml", listed)).unwrap_err();
        assert_eq!(errors[0].file, "divergences.toml");
    }
    let published = [TextFile::new("published.json", "[]")];
    let errors = drift(&generation, &published, &TextFile::new("divergences.toml", "")).unwrap_err();
    assert_eq!(errors[0].file, "published.json");
}

#[test]
fn definitions_and_members_of_one_side_are_told() {
    let a = object("", "");
    check(
        &format!(r#"{{"A":{a},"B":{a}}}"#),
        &format!(r#"{{"A":{a},"C":{a}}}"#),
        &["B: definition, defined, not there", "C: definition, not there, defined"],
    );
    check(
        &one(&object(&format!(r#"{TEXT},"c":{{"type":"integer"}}"#), "")),
        &one(&object(&format!(r#"{TEXT},"d":{{"type":"boolean"}}"#), r#""d""#)),
        &["A.c: member, integer, not there", "A.d: member, not there, boolean, required"],
    );
    // A mixin is only a way of writing.
    let mixin = format!(r#"{{"A":{a},"B":{{"x-mixin":true,"type":"object"}}}}"#);
    check(&mixin, &format!(r#"{{"A":{a}}}"#), &[]);
}

#[test]
fn the_first_published_file_that_has_a_definition_is_compared() {
    let ours = Generation::new(
        TextFile::new("schema/1/codegen.toml", ""),
        vec![TextFile::new("schema/1/things.json", file(r#"{"A":{"type":"string"}}"#))],
    );
    let published = ["string", "integer"]
        .map(|kind| TextFile::new(kind, format!(r#"{{"definitions":{{"A":{{"type":"{kind}"}}}}}}"#)));
    let listed = TextFile::new("divergences.toml", "");
    assert!(drift(&ours, &published, &listed).unwrap().is_clean());
    let reversed: Vec<_> = published.into_iter().rev().collect();
    assert!(!drift(&ours, &reversed, &listed).unwrap().is_clean());
}

#[test]
fn types_values_and_constants_are_compared() {
    for (ours, published, expected) in [
        (r#"{"type":"string"}"#, r#"{"type":"integer"}"#, "A.b: type, string, integer"),
        (
            r#"{"type":"array","items":{"type":"string"}}"#,
            r#"{"type":"array","items":{"type":"integer"}}"#,
            "A.b[]: type, string, integer",
        ),
        (r#"{"type":["string","null"]}"#, r#"{"type":"string"}"#, "A.b: nullable, yes, no"),
        (
            r#"{"type":"string"}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            "A.b: nullable, no, yes",
        ),
        (r#"{"const":"x"}"#, r#"{"const":"y"}"#, r#"A.b: values, "x", "y""#),
        (r#"{"type":"string"}"#, r#"{"type":"string","const":"y"}"#, r#"A.b: values, any, "y""#),
        (
            r#"{"type":"string","oneOf":[{"const":"x"},{"const":"y"}]}"#,
            r#"{"type":"string","enum":["x","z"]}"#,
            r#"A.b: values, "x", "y", "x", "z""#,
        ),
    ] {
        check(
            &one(&object(&format!(r#""b":{ours}"#), "")),
            &one(&object(&format!(r#""b":{published}"#), "")),
            &[expected],
        );
    }
}

#[test]
fn the_way_in_which_a_form_is_spelled_is_no_difference() {
    // A list of values.
    check(
        &one(r#"{"type":"string","oneOf":[{"const":"x"},{"const":"y"}]}"#),
        &one(r#"{"type":"string","enum":["y","x"]}"#),
        &[],
    );
    // A composition.
    check(
        &format!(
            r##"{{"A":{{"allOf":[{},{{"$ref":"#/$defs/B"}}]}},"B":{{"x-mixin":true,"type":"object","properties":{{"c":{{"type":"integer"}}}},"required":["c"]}}}}"##,
            object(TEXT, "")
        ),
        &one(&object(&format!(r#"{TEXT},"c":{{"type":"integer"}}"#), r#""c""#)),
        &[],
    );
}

/// A state is one object whose required members are those of all its arms, like a union of whole objects.
#[test]
fn a_state_is_compared_as_the_union_of_its_arms() {
    let arm = |value: &str, rest: &str, required: &str| {
        format!(
            r#"{{"type":"object","properties":{{"s":{{"type":"string","const":"{value}"}}{rest}}},"required":["s"{required}]}}"#
        )
    };
    let payload = r#","p":{"type":"string"}"#;
    let state = |first: &str, second: &str| format!(r#"{{"A":{{"oneOf":[{first},{second}]}}}}"#);
    let union = |first: &str, second: &str| {
        format!(
            r##"{{"A":{{"anyOf":[{{"$ref":"#/$defs/X"}},{{"$ref":"#/$defs/Y"}}]}},"X":{first},"Y":{second}}}"##
        )
    };
    let ours = state(&arm("x", "", ""), &arm("y", payload, r#","p""#));
    let left_out = |published: &str| {
        let listed = "[[definitions]]\nnames = [\"X\", \"Y\"]\nreason = \"arms of ours\"";
        let drift = compared(&ours, published, listed);
        assert!(drift.obsolete.is_empty(), "{drift}");
        let unlisted = drift.differences.iter().filter(|difference| difference.reason.is_none());
        unlisted.map(|found| format!("{}: {}", found.at, found.kind)).collect::<Vec<_>>()
    };
    let same = union(&arm("x", "", ""), &arm("y", payload, r#","p""#));
    assert_eq!(left_out(&same), [""; 0]);
    let another_value = union(&arm("x", "", ""), &arm("z", payload, r#","p""#));
    assert_eq!(left_out(&another_value), ["A.s: values"]);
    let another_payload = union(&arm("x", "", ""), &arm("y", r#","p":{"type":"integer"}"#, r#","p""#));
    assert_eq!(left_out(&another_payload), ["A.p: type"]);
    let payload_everywhere = union(&arm("x", payload, r#","p""#), &arm("y", payload, r#","p""#));
    assert_eq!(left_out(&payload_everywhere), ["A.p: required"]);
}

#[test]
fn a_union_is_which_arms_it_has() {
    let with = |arms: &str| {
        format!(
            r#"{{"A":{{"anyOf":[{arms}]}},"B":{0},"C":{0},"D":{{"oneOf":[{1}]}}}}"#,
            object("", ""),
            reference("B")
        )
    };
    fn reference(name: &str) -> String {
        format!(r##"{{"$ref":"#/$defs/{name}"}}"##)
    }
    let (b, c, d) = (reference("B"), reference("C"), reference("D"));
    check(&with(&format!("{b},{c}")), &with(&format!("{c},{b}")), &[]);
    check(&with(&format!("{b},{c}")), &with(&b), &["A: values, B, C, B"]);
    // A union inside a union is its arms.
    check(&with(&format!("{d},{c}")), &with(&format!("{b},{c}")), &[]);
}

#[test]
fn what_a_reference_leads_to_is_compared_there_and_once() {
    let schema = |kind: &str| {
        format!(
            r##"{{"A":{},"B":{}}}"##,
            object(r##""b":{"$ref":"#/$defs/B"},"c":{"$ref":"#/$defs/B"}"##, ""),
            object(&format!(r#""d":{{"type":"{kind}"}}"#), "")
        )
    };
    check(&schema("string"), &schema("integer"), &["B.d: type, string, integer"]);
}

#[test]
fn a_reference_to_another_definition_of_both_sides_is_a_difference() {
    let with = |member: &str| {
        let definition = |text: &str| object(&format!(r#""{text}":{{"type":"string"}}"#), "");
        format!(
            r##"{{"A":{},"B":{},"C":{}}}"##,
            object(&format!(r#""m":{member}"#), ""),
            definition("b"),
            definition("c")
        )
    };
    let (b, c) = (r##"{"$ref":"#/$defs/B"}"##, r##"{"$ref":"#/$defs/C"}"##);
    let choice = format!(r#"{{"anyOf":[{b},{c}]}}"#);
    check(&with(b), &with(c), &["A.m: type, B, C"]);
    check(&with(b), &with(&choice), &["A.m: type, B, B, C"]);
    check(&with(&choice), &with(&choice), &[]);
}

#[test]
fn error_codes_are_compared_wherever_they_stand() {
    let listed = r#"{"A":{"x-error-codes":true,"oneOf":[{"const":-1},{"const":-2}]}}"#;
    let inside = |codes: &[i64]| {
        let objects: Vec<String> = codes
            .iter()
            .map(|code| {
                format!(r#""E{}":{}"#, -code, object(&format!(r#""code":{{"const":{code}}}"#), r#""code""#))
            })
            .collect();
        format!("{{{}}}", objects.join(","))
    };
    let drift = compared(listed, &inside(&[-1, -3]), "");
    let codes: Vec<_> = drift
        .differences
        .iter()
        .filter(|found| found.kind == Kind::Code)
        .map(|found| (found.at.as_str(), found.ours.as_str()))
        .collect();
    assert_eq!(codes, [("-2", "defined"), ("-3", "not there")]);
    let accepted = "[[differs]]\nat = [\"-2\", \"-3\"]\nkind = \"code\"\nreason = \"ours\"\n\
                    [[definitions]]\nnames = [\"A\", \"E1\", \"E3\"]\nreason = \"spelled otherwise\"";
    assert!(compared(listed, &inside(&[-1, -3]), accepted).is_clean());
}

fn reference(name: &str) -> String {
    format!(r##"{{"$ref":"#/$defs/{name}"}}"##)
}

/// A definition `A` with a member `m`, and two objects that both sides know.
fn with_member(member: &str) -> String {
    let definition = |text: &str| object(&format!(r#""{text}":{{"type":"string"}}"#), "");
    format!(
        r#"{{"A":{},"B":{},"C":{}}}"#,
        object(&format!(r#""m":{member}"#), ""),
        definition("b"),
        definition("c")
    )
}

#[test]
fn what_a_list_holds_is_compared_at_any_depth() {
    let list = |items: &str| format!(r#"{{"type":"array","items":{items}}}"#);
    let (b, c) = (reference("B"), reference("C"));
    let both = format!(r#"{{"anyOf":[{b},{c}]}}"#);
    for (ours, published, expected) in [
        (list(&b), list(&c), "A.m[]: type, B, C"),
        (list(&both), list(&b), "A.m[]: type, B, C, B"),
        (list(&b), r#"{"type":"array"}"#.to_owned(), "A.m[]: type, B, any"),
        (list(&b), list(r#"{"type":"string"}"#), "A.m[]: type, B, string"),
        (list(&list(&b)), list(&list(&c)), "A.m[][]: type, B, C"),
        (
            list(r#"{"type":"string","enum":["x"]}"#),
            list(r#"{"type":"string"}"#),
            "A.m[]: values, \"x\", any",
        ),
        (
            list(&object(TEXT, "")),
            list(&object(r#""b":{"type":"integer"}"#, "")),
            "A.m[].b: type, string, integer",
        ),
    ] {
        check(&with_member(&ours), &with_member(&published), &[expected]);
        check(&with_member(&ours), &with_member(&ours), &[]);
    }
}

#[test]
fn what_a_map_holds_and_whether_an_object_is_open_is_compared() {
    let map = |values: &str| format!(r#"{{"type":"object","additionalProperties":{values}}}"#);
    let (b, c) = (reference("B"), reference("C"));
    for (ours, published, expected) in [
        (map(&b), map(&c), "A.m{}: type, B, C"),
        (map(&b), map(r#"{"type":"integer"}"#), "A.m{}: type, B, integer"),
        (map(&map(&b)), map(&map(&c)), "A.m{}{}: type, B, C"),
        (map("{}"), map("false"), "A.m{}: type, any, nothing"),
        (map("true"), map(r#"{"not":{}}"#), "A.m{}: type, any, nothing"),
        (map(&b), r#"{"type":"object"}"#.to_owned(), "A.m{}: type, B, any"),
    ] {
        check(&with_member(&ours), &with_member(&published), &[expected]);
        check(&with_member(&ours), &with_member(&ours), &[]);
    }
    check(&with_member(&map("{}")), &with_member(r#"{"type":"object"}"#), &[]);
}

/// An object without members on one side is not the same as one with members.
#[test]
fn members_are_compared_where_one_side_has_none() {
    check(&one(&object(TEXT, "")), &one(r#"{"type":"object"}"#), &["A.b: member, string, not there"]);
    check(
        &one(r#"{"type":"object"}"#),
        &one(&object(TEXT, r#""b""#)),
        &["A.b: member, not there, string, required"],
    );
    let nullable = format!(r#"{{"anyOf":[{},{{"type":"null"}}]}}"#, reference("B"));
    check(&with_member(&reference("B")), &with_member(&nullable), &["A.m: nullable, no, yes"]);
}

/// What one side names and the other does not is compared in its place.
#[test]
fn a_definition_that_one_side_lacks_is_compared_where_it_is_used() {
    let ours = |kind: &str| {
        format!(
            r#"{{"A":{},"N":{}}}"#,
            object(&format!(r#""m":{}"#, reference("N")), ""),
            object(&format!(r#""b":{{"type":"{kind}"}},"more":{}"#, reference("N")), "")
        )
    };
    let theirs = format!(
        r#"{{"A":{},"P":{}}}"#,
        object(&format!(r#""m":{}"#, reference("P")), ""),
        object(&format!(r#"{TEXT},"more":{}"#, reference("P")), "")
    );
    let listed = "[[definitions]]\nnames = [\"N\", \"P\"]\nreason = \"named otherwise\"";
    assert!(compared(&ours("string"), &theirs, listed).is_clean());
    let drift = compared(&ours("integer"), &theirs, listed);
    let found: Vec<_> = drift.differences.iter().filter(|found| found.reason.is_none()).collect();
    assert_eq!(found.len(), 1, "{drift}");
    assert_eq!((found[0].at.as_str(), found[0].kind), ("A.m.b", Kind::Type));
}

#[test]
fn a_listed_difference_whose_published_side_changed_is_told() {
    let schema = |kind: &str| one(&object(&format!(r#""b":{{"type":"{kind}"}}"#), ""));
    let listed = |published: &str| {
        format!("[[differs]]\nat = \"A.b\"\nkind = \"type\"\n{published}reason = \"meant\"")
    };
    let fresh = listed("published = \"integer\"\n");
    assert!(compared(&schema("string"), &schema("integer"), &fresh).is_clean());
    for (entry, told) in [
        (fresh.as_str(), "**listed for another published form: integer**"),
        (&listed(""), "**listed without what is published**"),
    ] {
        let drift = compared(&schema("string"), &schema("boolean"), entry);
        assert!(!drift.is_clean() && drift.listed() == 0 && drift.obsolete.is_empty(), "{drift}");
        assert!(
            drift.to_string().contains(&format!("| A.b | type | string | boolean | {told} |")),
            "{drift}"
        );
    }
    // The other kinds say by being there what is published, and may say it.
    let values = "[[differs]]\nat = \"A.c\"\nkind = \"member\"\npublished = \"boolean\"\nreason = \"meant\"";
    let more = one(&object(&format!(r#"{TEXT},"c":{{"type":"integer"}}"#), ""));
    assert!(!compared(&one(&object(TEXT, "")), &more, values).is_clean());
    assert!(compared(&one(&object(TEXT, "")), &more, &values.replace("boolean", "integer")).is_clean());
}

#[test]
fn what_is_published_is_written_into_the_entries_and_nothing_else_changes() {
    let ours = one(&object(r#""b":{"const":"x"},"c":{"const":"x"},"d":{"type":"string"}"#, ""));
    let published = one(&object(r#""b":{"const":"y"},"c":{"const":"z"},"d":{"type":"integer"}"#, ""));
    let listed = "# Why.\n\n[[differs]]\nat = [\"A.b\", \"A.c\"]\nkind = \"values\"\nreason = \"meant\"\n\n\
                  # A remark.\n[[differs]]\nat = \"A.d\"\nkind = \"type\"\npublished = \"boolean\"\nreason = \"it is = so\"\n";
    let drift = compared(&ours, &published, listed);
    assert!(!drift.is_clean());
    let written = with_published(&TextFile::new("divergences.toml", listed), &drift).unwrap();
    assert_eq!(
        written.text,
        "# Why.\n\n[[differs]]\nat = \"A.b\"\nkind = \"values\"\npublished = '\"y\"'\nreason = \"meant\"\n\n\
         [[differs]]\nat = \"A.c\"\nkind = \"values\"\npublished = '\"z\"'\nreason = \"meant\"\n\n\
         # A remark.\n[[differs]]\nat = \"A.d\"\nkind = \"type\"\npublished = \"integer\"\nreason = \"it is = so\"\n"
    );
    let drift = compared(&ours, &published, &written.text);
    assert!(drift.is_clean(), "{drift}");
    assert_eq!(with_published(&written, &drift).unwrap(), written);
}

#[test]
fn a_revision_that_nobody_publishes_a_schema_of_says_so() {
    let errors =
        tried(&one(r#"{"type":"string"}"#), "{}", "unpublished = \"its messages stand in\"").unwrap_err();
    assert_eq!(errors[0].to_string(), "schema/1/divergences.toml unpublished: its messages stand in");
}

/// What cannot be understood is a fault of either side with its place, and no difference that nobody sees.
#[test]
fn what_is_no_schema_is_a_fault_with_its_place() {
    let good = one(r#"{"type":"string"}"#);
    for (bad, place) in [
        (r#"{"A":5}"#.to_owned(), "#/$defs/A"),
        (one(r#"{"type":"object","properties":5}"#), "#/$defs/A/properties"),
        (one(r#"{"type":"object","properties":{"b":"text"}}"#), "#/$defs/A/properties/b"),
        (one(r#"{"type":"object","required":"b"}"#), "#/$defs/A/required"),
        (one(r##"{"$ref":"#/$defs/Gone"}"##), "#/$defs/A/$ref"),
        (one(r#"{"$ref":"https://example.com/other.json"}"#), "#/$defs/A/$ref"),
        (one(r##"{"type":"array","items":{"$ref":"#/properties/b"}}"##), "#/$defs/A/items/$ref"),
        (one(r#"{"type":"array","items":[1]}"#), "#/$defs/A/items"),
        (one(r#"{"anyOf":[]}"#), "#/$defs/A/anyOf"),
        (one(r#"{"type":7}"#), "#/$defs/A/type"),
        (one(r#"{"enum":"x"}"#), "#/$defs/A/enum"),
    ] {
        let errors = tried(&good, &bad, "").unwrap_err();
        assert_eq!((errors[0].file.as_str(), errors[0].place.as_str()), ("published.json", place), "{bad}");
        let errors = tried(&bad, &good, "").unwrap_err();
        assert_eq!(
            (errors[0].file.as_str(), errors[0].place.as_str()),
            ("schema/1/things.json", place),
            "{bad}"
        );
    }
    // Bounds of integers in other people's schemas reach further than ours.
    let large = one(r#"{"type":"integer","maximum":18446744073709551615}"#);
    assert!(compared(&one(r#"{"type":"integer"}"#), &large, "").is_clean());
}

#[test]
fn definitions_that_lead_back_to_themselves_end() {
    let (a, b) = (reference("A"), reference("B"));
    for circle in [
        one(&a),
        one(&format!(r#"{{"anyOf":[{a}]}}"#)),
        one(&format!(r#"{{"oneOf":[{{"type":"string"}},{a}]}}"#)),
        one(&format!(r#"{{"allOf":[{{"anyOf":[{a}]}}]}}"#)),
        format!(r#"{{"A":{{"anyOf":[{b}]}},"B":{a}}}"#),
    ] {
        for errors in [tried(&circle, "{}", ""), tried(r#"{"A":{"type":"string"}}"#, &circle, "")] {
            let error = errors.unwrap_err().remove(0);
            assert_eq!(error.place, "#/$defs/A", "{circle}");
            assert!(error.message.contains("leads back to itself"), "{error}");
        }
    }
    // Through members and items they are what many definitions do.
    let tree = one(&object(
        &format!(
            r#""more":{{"type":"array","items":{a}}},"one":{a},"by":{{"type":"object","additionalProperties":{a}}}"#
        ),
        "",
    ));
    check(&tree, &tree, &[]);
    let many: Vec<String> = (0..40).map(|n| format!(r#""m{n}":{{"type":"array","items":{a}}}"#)).collect();
    let wide = one(&object(&many.join(","), ""));
    check(&wide, &wide, &[]);
    let chain: Vec<String> =
        (0..20_000).map(|n| format!(r#""D{n}":{}"#, reference(&format!("D{}", n + 1)))).collect();
    let chain = format!(r#"{{{},"D20000":{{"type":"string"}}}}"#, chain.join(","));
    assert!(tried(&chain, "{}", "").unwrap_err()[0].message.contains("references follow one another"));
}
