//! Faults of a schema are named by file and JSON pointer, all of a stage at once.

use mcp_tasks_codegen::{Error, Generation, Options, TextFile, generate};

use crate::{file, run};

/// Expects one fault at a pointer below `#/$defs`.
fn check(definitions: &str, pointer: &str, message: &str) {
    check_with(definitions, "", pointer, message);
}

fn check_with(definitions: &str, config: &str, pointer: &str, message: &str) {
    let errors = run(&file(definitions), config).expect_err(definitions);
    let found = errors.iter().any(|error| {
        error.file == "schema/1/things.json"
            && error.place == format!("#/$defs/{pointer}")
            && error.message.contains(message)
    });
    assert!(found, "{definitions}\nexpected {pointer}: {message}\nfound {errors:#?}");
}

fn object(properties: &str, required: &str) -> String {
    format!(
        r#"{{"A":{{"description":"A.","type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":{{}}}}}}"#
    )
}

#[test]
fn keywords_outside_the_dialect_are_refused() {
    for keyword in
        ["patternProperties", "if", "not", "unevaluatedProperties", "prefixItems", "x-mcp-metod", "enum"]
    {
        check(
            &format!(r#"{{"A":{{"description":"A.","type":"string","{keyword}":{{}}}}}}"#),
            &format!("A/{keyword}"),
            "",
        );
    }
    check(r#"{"A":true}"#, "A", "boolean schemas are outside the dialect");
    check(
        r#"{"A":{"description":"A.","type":"string","format":"e-mail"}}"#,
        "A/format",
        "expected one of uint64",
    );
}

#[test]
fn an_object_is_open_and_described() {
    check(r#"{"A":{"type":"string"}}"#, "A", "needs a `description`");
    check(&object(r#""b":{"type":"string"}"#, ""), "A/properties/b", "needs a `description`");
    check(
        r#"{"A":{"description":"A.","type":"object","properties":{},"additionalProperties":{"type":"string"}}}"#,
        "A",
        "`additionalProperties: {}`",
    );
    check(&object("", r#""b""#), "A/required", "`b` is required but not described");
}

#[test]
fn references_lead_to_definitions() {
    check(
        &object(r##""b":{"$ref":"#/$defs/B","description":"B."}"##, ""),
        "A/properties/b/$ref",
        "no file of this generation defines `B`",
    );
    let near = object(r##""b":{"$ref":"#/$defs/Somthing","description":"B."}"##, "");
    let near = near.replacen('{', r#"{"Something":{"type":"string","description":"S."},"#, 1);
    check(&near, "A/properties/b/$ref", "defines `Somthing`; did you mean `Something`?");
    for reference in ["other.json#/$defs/B", "#/$defs/B/properties/c", "#/$defs/"] {
        check(
            &object(&format!(r#""b":{{"$ref":"{reference}"}}"#), ""),
            "A/properties/b/$ref",
            "has the form",
        );
    }
    check(&object(r##""b":{"$ref":"#/$defs/A","minimum":0}"##, ""), "A/properties/b", "beside `$ref`");
}

#[test]
fn a_union_says_how_its_arms_are_told_apart() {
    check(r#"{"A":{"description":"A.","anyOf":[{"type":"string"}]}}"#, "A", "`anyOf` needs `x-union`");
    check(
        r#"{"A":{"description":"A.","x-union":"kind","anyOf":[{"title":"X","type":"string"},{"title":"Y","type":"string"}]}}"#,
        "A/anyOf/1",
        "the same kind of JSON value",
    );
    check_with(
        r##"{"A":{"description":"A.","x-union":"kind","anyOf":[{"title":"X","type":"string"},{"title":"Y","$ref":"#/$defs/B"}]},"B":{"description":"B.","type":"object","additionalProperties":{}}}"##,
        "[replace]\nB = \"RawObject\"",
        "A/anyOf/1",
        "is no type written by hand",
    );
    check(r#"{"A":{"description":"A.","x-union":"tag","anyOf":[{"type":"string"}]}}"#, "A", "needs `x-tag`");
    let arm = r#""B":{"description":"B.","type":"object","properties":{},"additionalProperties":{}}"#;
    check(
        &format!(
            r##"{{"A":{{"description":"A.","x-union":"tag","x-tag":"t","anyOf":[{{"$ref":"#/$defs/B"}}]}},{arm}}}"##
        ),
        "A/anyOf/0",
        "`B` has no string constant `t`",
    );
    check(
        &format!(
            r##"{{"A":{{"description":"A.","x-union":"member","anyOf":[{{"$ref":"#/$defs/B","title":"B"}}]}},{arm}}}"##
        ),
        "A/anyOf/0",
        "no constant to be known by",
    );
}

#[test]
fn presence_and_null_go_together() {
    check(
        &object(r#""b":{"description":"B.","type":["string","null"]}"#, ""),
        "A/properties/b",
        "a member that may be null is required",
    );
    check(&object(r#""b":{"const":"x"}"#, ""), "A/properties/b", "a constant is required");
}

#[test]
fn integers_have_bounds_that_types_can_hold() {
    for (schema, message) in [
        (r#""type":"integer","format":"uint64""#, "has `minimum: 0`"),
        (r#""type":"integer","format":"uint64","minimum":0,"maximum":9"#, "no `maximum`"),
        (r#""type":"integer","minimum":1"#, "not enforced"),
    ] {
        check(&object(&format!(r#""b":{{"description":"B.",{schema}}}"#), ""), "A/properties/b", message);
    }
}

#[test]
fn milliseconds_are_members_with_a_lower_bound() {
    for (schema, pointer, message) in [
        (r#""type":"number","format":"millis""#, "A/properties/b", "has `minimum: 0`"),
        (r#""type":"number","format":"millis","minimum":0,"maximum":9"#, "A/properties/b", "no `maximum`"),
        (r#""type":"number","format":"uint64","minimum":0"#, "A/properties/b", "`millis` or none"),
        (
            r#""type":"array","items":{"type":"number","format":"millis","minimum":0}"#,
            "A/properties/b/items",
            "is a member of an object",
        ),
    ] {
        check(&object(&format!(r#""b":{{"description":"B.",{schema}}}"#), ""), pointer, message);
    }
    check(
        r#"{"A":{"description":"A.","oneOf":[{"type":"object","properties":{"s":{"const":"x"},"p":{"description":"P.","type":"number","format":"millis","minimum":0}},"required":["s","p"]}]}}"#,
        "A/oneOf/0",
        "cannot have the format `millis`",
    );
}

#[test]
fn a_state_has_one_constant_and_arms_of_their_own() {
    let arm = |tag: &str, rest: &str| {
        format!(r#"{{"type":"object","properties":{{{tag}{rest}}},"required":["s","p"]}}"#)
    };
    let payload = r#","p":{"description":"P.","type":"string"}"#;
    let state = |a: &str, b: &str| format!(r#"{{"A":{{"description":"A.","oneOf":[{a},{b}]}}}}"#);
    check(
        &state(&arm(r#""s":{"const":"x"}"#, payload), &arm(r#""s":{"const":"y"}"#, payload)),
        "A/oneOf/1",
        "two arms share the member `p`",
    );
    check(
        &state(
            &arm(r#""s":{"const":"x"}"#, payload),
            &arm(r#""s":{"type":"string","description":"S."}"#, ""),
        ),
        "A/oneOf/1",
        "one member with a string constant",
    );
}

#[test]
fn a_member_that_comes_twice_is_found_where_it_stands() {
    let errors = run(r#"{"$defs":{"A":{"type":"string"},"A":{"type":"integer"}}}"#, "").unwrap_err();
    assert_eq!(errors[0].to_string(), "schema/1/things.json #/$defs/A: the member `A` comes twice");
}

#[test]
fn a_text_that_is_no_json_is_named_by_line_and_column() {
    let errors = run("{\n  \"$defs\": }", "").unwrap_err();
    assert_eq!(errors[0].place, "line 2 column 12");
}

#[test]
fn configuration_that_does_nothing_is_refused() {
    let schema = file(r#"{"A":{"description":"A.","type":"string"}}"#);
    for (config, place) in [
        ("[names]\nB = \"C\"", "[names] B"),
        ("[fields]\n\"A.b\" = \"c\"", "[fields] A.b"),
        ("[replace]\nB = \"C\"", "[replace] B"),
        ("[unknown]\na = \"b\"", "line 3"),
    ] {
        let errors = run(&schema, config).expect_err(config);
        assert!(
            errors.iter().any(|error| error.file == "schema/1/codegen.toml" && error.place == place),
            "{errors:?}"
        );
    }
}

#[test]
fn two_definitions_do_not_share_a_rust_name() {
    let schema =
        r#"{"URLs":{"description":"A.","type":"string"},"Urls":{"description":"B.","type":"string"}}"#;
    check(schema, "Urls", "has the Rust name of `URLs`");
}

#[test]
fn all_faults_of_a_stage_come_at_once() {
    let errors = run(&file(r#"{"A":{"if":{}},"b":{"description":"B.","not":{}}}"#), "").unwrap_err();
    assert_eq!(errors.len(), 4, "{errors:#?}");
}

#[test]
fn a_method_goes_with_its_constant() {
    let request = r#"{"A":{"description":"A.","x-mcp-method":"a/b","x-mcp-direction":"both","type":"object","properties":{"method":{"const":"a/c"}},"required":["method"],"additionalProperties":{}}}"#;
    check(request, "A", "go together");
    let request = r#"{"A":{"description":"A.","x-mcp-method":"a/b","x-mcp-direction":"both","type":"object","properties":{"id":{"description":"I.","type":"string"},"method":{"const":"a/b"}},"required":["method"],"additionalProperties":{}}}"#;
    check(request, "A", "needs `x-mcp-result`");
}

/// Each keyword has its place; elsewhere it would be taken for a rule that nothing keeps.
#[test]
fn a_keyword_where_nothing_reads_it_is_refused() {
    for (schema, keyword) in [
        (r#""type":"string","x-at-least-one":["a"]"#, "x-at-least-one"),
        (r#""type":"string","x-http-status":400"#, "x-http-status"),
        (r#""type":"string","x-tag":"a""#, "x-tag"),
        (r#""type":"string","minimum":0"#, "minimum"),
        (r#""type":"string","items":{"type":"string"}"#, "items"),
        (r#""type":"string","x-const-absent":true"#, "x-const-absent"),
        (r#""type":"boolean","format":"uri""#, "format"),
        (r#""type":"string","minLength":1"#, "minLength"),
        (r#""type":"string","default":"a""#, "default"),
    ] {
        check(&format!(r#"{{"A":{{"description":"A.",{schema}}}}}"#), &format!("A/{keyword}"), "");
    }
    check(
        &object(r#""b":{"description":"B.","type":"string","format":"uint64"}"#, ""),
        "A/properties/b/format",
        "one of numbers",
    );
    let mixin = r##""B":{"description":"B.","x-mixin":true,"type":"object","properties":{"c":{"description":"C.","type":"string"}},"x-at-least-one":["c"],"additionalProperties":{}}"##;
    let composed = r##""A":{"description":"A.","allOf":[{"type":"object","additionalProperties":{}},{"$ref":"#/$defs/B"}]}"##;
    check(&format!("{{{composed},{mixin}}}"), "B", "lost when it is composed");
}

#[test]
fn circles_are_refused() {
    let compose = |name: &str, target: &str| {
        format!(
            r##""{name}":{{"description":"D.","allOf":[{{"type":"object","additionalProperties":{{}}}},{{"$ref":"#/$defs/{target}"}}]}}"##
        )
    };
    check(&format!("{{{}}}", compose("A", "A")), "A/allOf/1", "leads back to itself");
    check(&format!("{{{},{}}}", compose("A", "B"), compose("B", "A")), "B/allOf/1", "leads back to itself");
    let itself = "would contain itself";
    check(&object(r##""b":{"description":"B.","$ref":"#/$defs/A"}"##, ""), "A", itself);
    check(r##"{"A":{"description":"A.","$ref":"#/$defs/A"}}"##, "A", itself);
    let union = r##"{"A":{"description":"A.","x-union":"kind","anyOf":[{"title":"Text","type":"string"},{"title":"More","$ref":"#/$defs/B"}]},
        "B":{"description":"B.","type":"object","properties":{"a":{"description":"A.","$ref":"#/$defs/A"}},"additionalProperties":{}}}"##;
    check(union, "A", itself);
    let list = r##"{"A":{"description":"A.","type":"object","properties":{"more":{"description":"More.","type":"array","items":{"$ref":"#/$defs/A"}}},"additionalProperties":{}}}"##;
    assert!(run(&file(list), "").is_ok(), "a list stands in between");
}

#[test]
fn names_that_rust_cannot_have_are_refused_where_they_come_from() {
    for member in ["", "_", "$", "*/", "{}", "x/", "1a", "-"] {
        let quoted = format!(r#""{member}":{{"description":"B.","type":"string"}}"#);
        check(&object(&quoted, ""), "A", "no field can have the Rust name");
    }
    // A keyword gets an underscore; some cannot be written even so.
    for member in ["self", "type", "gen", "fn", "async"] {
        let quoted = format!(r#""{member}":{{"description":"B.","type":"string"}}"#);
        let made = run(&file(&object(&quoted, "")), "").unwrap();
        assert!(made.iter().any(|file| file.text.contains(&format!("pub {member}_:"))), "{member}");
    }
    for name in ["Option", "Result", "String", "Vec", "Some", "Self", "Box"] {
        check(
            &format!(r#"{{"{name}":{{"description":"A.","type":"string"}}}}"#),
            name,
            "no type can have the Rust name",
        );
    }
    for (config, place) in [
        ("[names]\nA = \"1x\"", "A"),
        ("[names]\nA = \"\"", "A"),
        ("[replace]\nA = \"a b\"", "A"),
        ("[replace]\nA = \"std::fs\"", "A"),
    ] {
        check_with(r#"{"A":{"description":"A.","type":"string"}}"#, config, place, "name");
    }
    let member = object(r#""b":{"description":"B.","type":"string"}"#, "");
    for field in ["a-b", "", "fn"] {
        check_with(
            &member,
            &format!("[fields]\n\"A.b\" = \"{field}\""),
            "A",
            "no field can have the Rust name",
        );
    }
    // A text is no name to be proud of, but always one.
    for (value, variant) in [
        ("X", "XX58"),
        ("", "Empty"),
        ("1", "N1X31"),
        ("\\n", "NX0A"),
        ("*/", "NX2A2F"),
        ("self", "NSelfX73656C66"),
    ] {
        let values = format!(
            r#"{{"A":{{"description":"A.","type":"string","oneOf":[{{"const":"x","description":"A."}},{{"const":"{value}","description":"B."}}]}}}}"#
        );
        let made = run(&file(&values), "").unwrap();
        assert!(made.iter().any(|file| file.text.contains(&format!("    {variant},"))), "{value}: {made:#?}");
    }
    let titles = r#"{"A":{"description":"A.","x-union":"kind","anyOf":[{"title":"B","type":"string"},{"title":"b","type":"boolean"}]}}"#;
    check(titles, "A", "both have the Rust variant `B`");
}

/// A type of a revision is reached by its path; one that is not made here cannot be taken apart either.
#[test]
fn a_type_of_a_revision_stands_for_a_definition() {
    let member = object(r##""b":{"description":"B.","$ref":"#/$defs/B"}"##, "");
    let with = |rest: &str| {
        let inner = r#""B":{"description":"B.","type":"object","additionalProperties":{}}"#;
        format!("{},{inner}{rest}}}", &member[..member.len() - 1])
    };
    let config = "[replace]\nB = \"v1_0::Error\"";
    let revision = |name: &str, definitions: &str, config: &str| {
        let config = format!("module = \"v{}\"\ngeneration = \"{name}\"\n{config}", name.replace('.', "_"));
        Generation::new(
            TextFile::new("schema/codegen.toml", config),
            vec![TextFile::new("schema/things.json", file(definitions))],
        )
    };
    let older = r#"{"Error":{"description":"E.","type":"object","additionalProperties":{}}}"#;
    let revisions = [revision("1.0", older, ""), revision("2", &with(""), config)];
    let made = generate(&revisions, &Options::inside()).unwrap();
    assert!(made.iter().any(|made| made.text.contains("pub b: Option<crate::v1_0::Error>")), "{made:#?}");
    assert!(made.iter().any(|made| made.text.contains("$crate::v1_0::Error")), "{made:#?}");
    let composed = r##","C":{"description":"C.","allOf":[{"type":"object","additionalProperties":{}},{"$ref":"#/$defs/B"}]}"##;
    check_with(&with(composed), config, "B", "cannot be composed");
}

#[test]
fn a_root_that_is_no_path_is_refused() {
    let generation = Generation::new(
        TextFile::new("codegen.toml", "module = \"v1\"\ngeneration = \"1\""),
        vec![TextFile::new("things.json", file("{}"))],
    );
    let mut options = Options::outside("make");
    options.root = "no path".to_owned();
    let errors = generate(&[generation], &options).unwrap_err();
    assert!(errors[0].message.contains("`no path` is no path to the types crate"), "{errors:?}");
}

#[test]
fn texts_that_hide_what_they_say_are_refused() {
    for text in ["a\\rb", "a\u{202e}b", "a\u{2028}b"] {
        check(
            &format!(r#"{{"A":{{"description":"{text}","type":"string"}}}}"#),
            "A/description",
            "hide what it says",
        );
    }
    // What is only odd is kept: comments, brackets, quotes.
    let odd = r#"{"A":{"description":"*/ ] `unclosed \"quoted\" {braces} #","type":"string"}}"#;
    assert!(run(&file(odd), "").is_ok());
}

#[test]
fn an_arm_of_a_union_by_kind_is_inline_unless_it_is_an_object() {
    let union = r##"{"A":{"description":"A.","x-union":"kind","anyOf":[{"title":"Text","type":"string"},{"title":"More","$ref":"#/$defs/B"}]},
        "B":{"description":"B.","type":"array","items":{"type":"string"}}}"##;
    check(union, "A", "`B` is no object");
}

/// A fault of a part that several definitions are composed of is told once, where the part stands.
#[test]
fn a_fault_of_a_composed_part_is_told_once_at_the_part() {
    let compose = |name: &str| {
        format!(
            r##""{name}":{{"description":"D.","allOf":[{{"type":"object","additionalProperties":{{}}}},{{"$ref":"#/$defs/Core"}}]}}"##
        )
    };
    let core = r#""Core":{"description":"C.","x-mixin":true,"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":{}}"#;
    let errors = run(&file(&format!("{{{},{},{core}}}", compose("A"), compose("B"))), "").unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0].place, "#/$defs/Core/properties/b");
}

#[test]
fn a_definition_with_a_type_by_hand_still_says_what_it_is() {
    let config = "[replace]\nA = \"RawJson\"";
    check_with(r#"{"A":{"description":"A.","type":"strng"}}"#, config, "A/type", "the name of a JSON type");
    check_with(
        r#"{"A":{"description":"A.","type":"integer","minLength":-2}}"#,
        config,
        "A/minLength",
        "outside the dialect",
    );
    check_with(
        r#"{"A":{"description":"A.","type":"string","items":{"type":"string"}}}"#,
        config,
        "A/items",
        "means nothing here",
    );
}

/// What `[replace]` names is a type of the types crate of this version, and one that can be read and written.
#[test]
fn a_replacement_is_a_type_that_is_there() {
    let schema = file(r#"{"A":{"description":"A.","type":"object","additionalProperties":{}}}"#);
    let made = |path: &str, options: &Options| {
        let config = format!("module = \"v1\"\ngeneration = \"1\"\n[replace]\nA = \"{path}\"");
        let generation = Generation::new(
            TextFile::new("schema/codegen.toml", config),
            vec![TextFile::new("schema/things.json", &schema)],
        );
        generate(&[generation], options)
    };
    for (path, inside, outside) in [
        ("TaskId", Ok(()), Ok(())),
        ("Extra", Ok(()), Ok(())),
        ("v2026_07_28::RequestId", Err(""), Ok(())),
        ("v2026_07_28::RequestID", Err(""), Err("; did you mean `v2026_07_28::RequestId`?")),
        ("RequestId", Err(""), Err("; did you mean `v2026_07_28::RequestId`?")),
        ("v2026_7_28::GetTaskResult", Err(""), Err("; did you mean `v2026_07_28::GetTaskResult`?")),
        // Types that are there, and are no value of their own.
        ("v2026_07_28::TaskState", Err(""), Err("")),
        ("v2026_07_28::Method", Err(""), Err("")),
        ("JsonError", Err(""), Err("")),
        ("Map", Err(""), Err("")),
    ] {
        for (options, expected) in [(Options::inside(), inside), (Options::outside("make types"), outside)] {
            let found = made(path, &options).map(drop).map_err(|errors| {
                assert_eq!(errors.len(), 1, "{errors:?}");
                errors[0].clone()
            });
            match (expected, found) {
                (Ok(()), Ok(())) => {}
                (Err(hint), Err(Error { file, place, message, .. })) => {
                    assert_eq!((file.as_str(), place.as_str()), ("schema/codegen.toml", "[replace] A"));
                    assert!(
                        message.starts_with(&format!("`{path}` is no type of mcp-tasks-types ")),
                        "{message}"
                    );
                    assert!(message.ends_with(hint), "{message}");
                }
                (_, found) => panic!("{path}: {found:?}"),
            }
        }
    }
}
