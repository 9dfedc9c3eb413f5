//! How large a schema can be, and that a large one does not take the generator long.

use std::fmt::Write as _;

use crate::{file, run};

fn fault(definitions: &str, pointer: &str, message: &str) {
    let errors = run(&file(definitions), "").expect_err(pointer);
    let found = errors
        .iter()
        .any(|error| error.place == format!("#/$defs/{pointer}") && error.message.contains(message));
    assert!(found, "expected {pointer}: {message}\nfound {:#?}", &errors[..errors.len().min(5)]);
}

/// An object of some members that is composed with a state of one arm for each payload, and its tag.
fn stated(members: usize, payloads: usize) -> String {
    let mut arms = String::new();
    for arm in 0..payloads {
        let comma = if arm == 0 { "" } else { "," };
        write!(
            arms,
            r#"{comma}{{"description":"A.","type":"object","properties":{{"k":{{"const":"a{arm}"}},"p{arm}":{{"type":"string","description":"P."}}}},"required":["k","p{arm}"]}}"#
        )
        .unwrap();
    }
    let members: Vec<String> =
        (0..members).map(|at| format!(r#""m{at}":{{"type":"string","description":"M."}}"#)).collect();
    format!(
        r##"{{"FooState":{{"description":"S.","oneOf":[{arms}]}},"Foo":{{"description":"F.","allOf":[
        {{"type":"object","properties":{{{}}},"additionalProperties":{{}}}},{{"$ref":"#/$defs/FooState"}}]}}}}"##,
        members.join(",")
    )
}

/// The members that have come are kept in a word of 64 bits.
#[test]
fn an_object_has_at_most_64_members_with_those_of_its_state() {
    for (members, payloads) in [(1, 62), (62, 1), (30, 33)] {
        assert!(run(&file(&stated(members, payloads)), "").is_ok(), "{members} {payloads}");
    }
    for (members, payloads) in [(1, 63), (63, 1), (1, 70), (30, 34), (70, 1)] {
        fault(&stated(members, payloads), "Foo", "at most 64 members");
    }
}

/// Mixins, each of which composes the next one twice.
#[test]
fn a_part_is_composed_once() {
    let mut definitions = r#"{"M26":{"description":"M.","x-mixin":true,"type":"object","properties":{},"additionalProperties":{}}"#.to_owned();
    for level in 0..26 {
        let (mark, next) = (if level == 0 { "" } else { r#","x-mixin":true"# }, level + 1);
        write!(
            definitions,
            r##","M{level}":{{"description":"M."{mark},"allOf":[{{"type":"object","additionalProperties":{{}}}},{{"$ref":"#/$defs/M{next}"}},{{"$ref":"#/$defs/M{next}"}}]}}"##
        )
        .unwrap();
    }
    definitions.push('}');
    fault(&definitions, "M0/allOf/2", "`M1` is composed twice");
    fault(&definitions, "M1/allOf/2", "`M2` is composed twice");
}

/// Unions of unions: each arm of one is an arm of two others.
#[test]
fn a_lattice_of_unions_is_read_once() {
    let mut definitions = String::from("{");
    for level in 0..26 {
        for side in ["A", "B"] {
            let next = level + 1;
            write!(
                definitions,
                r##""{side}{level}":{{"description":"U.","x-union":"member","anyOf":[{{"title":"One","$ref":"#/$defs/A{next}"}},{{"title":"Two","$ref":"#/$defs/B{next}"}}]}},"##
            )
            .unwrap();
        }
    }
    for side in ["A", "B"] {
        let comma = if side == "A" { "," } else { "}" };
        write!(
            definitions,
            r#""{side}26":{{"description":"O.","type":"object","properties":{{"t":{{"const":"{side}"}}}},"required":["t"],"additionalProperties":{{}}}}{comma}"#
        )
        .unwrap();
    }
    run(&file(&definitions), "").unwrap();
}

#[test]
fn compositions_are_not_endless() {
    let mut definitions = String::from("{");
    for level in 0..5000 {
        let (mark, next) = (if level == 0 { "" } else { r#","x-mixin":true"# }, level + 1);
        write!(
            definitions,
            r##""M{level}":{{"description":"M."{mark},"allOf":[{{"type":"object","additionalProperties":{{}}}},{{"$ref":"#/$defs/M{next}"}}]}},"##
        )
        .unwrap();
    }
    definitions.push_str(r#""M5000":{"description":"M.","x-mixin":true,"type":"object","properties":{},"additionalProperties":{}}}"#);
    fault(&definitions, "M64/allOf/1", "more than 64 definitions");
}

/// Objects in a row, each a member of the one before.
#[test]
fn a_long_chain_of_references_is_followed_once() {
    let chain = |end: &str| {
        let mut definitions = String::from("{");
        for at in 0..3000 {
            write!(
                definitions,
                r##""C{at}":{{"description":"C.","type":"object","properties":{{"next":{{"description":"N.","$ref":"#/$defs/C{}"}}}},"additionalProperties":{{}}}},"##,
                at + 1
            )
            .unwrap();
        }
        definitions.push_str(end);
        definitions
    };
    let circle = r##""C3000":{"description":"C.","type":"object","properties":{"next":{"description":"N.","$ref":"#/$defs/C7"}},"additionalProperties":{}}}"##;
    fault(&chain(circle), "C7", "would contain itself");
    fault(&chain(circle), "C2999", "would contain itself");
    let errors = run(&file(&chain(circle)), "").unwrap_err();
    assert_eq!(errors.len(), 3000 - 6, "those before the circle are no part of it");
}

/// Lists of many values and objects of many members are judged in one pass.
#[test]
fn a_long_list_takes_no_longer_for_each_of_its_values() {
    let values: Vec<String> =
        (0..20_000).map(|at| format!(r#"{{"const":"v{at}","description":"V."}}"#)).collect();
    let list = format!(r#"{{"A":{{"description":"A.","type":"string","oneOf":[{}]}}}}"#, values.join(","));
    // Not generated: that is the front end's time. A fault elsewhere ends the run when this has been read.
    let list = format!("{},\"B\":{{\"description\":\"B.\"}}}}", &list[..list.len() - 1]);
    fault(&list, "B", "expected a `$ref` or a `type`");
    let members: Vec<String> =
        (0..20_000).map(|at| format!(r#""m{at}":{{"type":"string","description":"M."}}"#)).collect();
    let required: Vec<String> = (0..20_000).map(|at| format!("\"m{at}\"")).collect();
    let object = format!(
        r#"{{"A":{{"description":"A.","type":"object","properties":{{{}}},"required":[{}],"additionalProperties":{{}}}}}}"#,
        members.join(","),
        required.join(",")
    );
    fault(&object, "A", "at most 64 members");
}
