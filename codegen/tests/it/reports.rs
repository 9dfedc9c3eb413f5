//! Public reports of faults in generators, each as a small test (`P` ids, docs/conformance.md).

use crate::{file, run};

fn text_of(definitions: &str) -> String {
    let files = run(&file(definitions), "").unwrap_or_else(|errors| panic!("{errors:#?}"));
    files.into_iter().filter(|file| file.path.ends_with("things.rs")).map(|file| file.text).collect()
}

#[test]
fn p116_branches_that_share_a_tag_become_one_enum_with_named_parts() {
    let text = text_of(
        r##"{"Point":{"description":"P.","type":"object","properties":{"x":{"description":"X.","type":"integer"}},"additionalProperties":{}},
        "Shape":{"description":"S.","oneOf":[
        {"description":"Dot.","type":"object","properties":{"kind":{"const":"dot","description":"K."},"at":{"description":"A.","$ref":"#/$defs/Point"}},"required":["kind","at"]},
        {"description":"Bar.","type":"object","properties":{"kind":{"const":"bar","description":"K."},"len":{"description":"L.","type":"integer"}},"required":["kind","len"]}]}}"##,
    );
    assert!(text.contains("pub enum Shape"), "{text}");
    assert!(text.contains("Dot {\n        /// A.\n        at: Point,"), "{text}");
}

#[test]
fn p119_values_that_would_share_a_name_are_spelled_out_and_written_as_they_are() {
    let text = text_of(
        r##"{"A":{"description":"A.","type":"string","oneOf":[{"const":"a-b","description":"1."},{"const":"","description":"2."},{"const":"-32602","description":"3."},{"const":"a_b","description":"4."}]}}"##,
    );
    for (name, value) in
        [("ABX612D62", "a-b"), ("Empty", ""), ("N32602X2D3332363032", "-32602"), ("ABX615F62", "a_b")]
    {
        assert!(text.contains(&format!(r#"Self::{name} => "{value}""#)), "{text}");
        assert!(text.contains(&format!(r#""{value}" => Ok(Self::{name})"#)), "{text}");
    }
}

#[test]
fn p122_docs_hold_the_description_and_nothing_that_rustdoc_runs_or_warns_of() {
    let text = text_of(
        r##"{"A":{"description":"See <b> and https://example.com/a_b_c or Vec<T>.\n\n    let x = 1;","type":"string"}}"##,
    );
    assert!(text.contains(r"See \<b\> and <https://example.com/a_b_c> or Vec\<T\>."), "{text}");
    assert!(!text.contains("    let x") && !text.contains("<pre>") && !text.contains("$defs"), "{text}");
}

#[test]
fn p123_a_closed_part_of_an_intersection_is_refused() {
    let schema = file(
        r##"{"B":{"description":"B.","type":"object","properties":{"b":{"description":"B.","type":"string"}},"additionalProperties":false},
        "A":{"description":"A.","allOf":[{"type":"object","properties":{"a":{"description":"A.","type":"string"}},"additionalProperties":{}},{"$ref":"#/$defs/B"}]}}"##,
    );
    let errors = run(&schema, "").unwrap_err();
    assert!(errors.iter().any(|error| error.place.starts_with("#/$defs/B")), "{errors:#?}");
}

#[test]
fn p130_presence_follows_required_and_null_follows_the_type() {
    let text = text_of(
        r##"{"A":{"description":"A.","type":"object","properties":{
        "a":{"description":"A.","type":["string","null"]},"b":{"description":"B.","type":"string"}},"required":["a"],"additionalProperties":{}}}"##,
    );
    assert!(text.contains(r#"writer.member("a", &self.a);"#), "{text}");
    assert!(text.contains(r#"writer.optional("b", &self.b);"#), "{text}");
    let schema = file(
        r#"{"A":{"description":"A.","type":"object","properties":{"c":{"description":"C.","type":["string","null"]}},"additionalProperties":{}}}"#,
    );
    let errors = run(&schema, "").unwrap_err();
    assert!(errors.iter().any(|error| error.place == "#/$defs/A/properties/c"), "{errors:#?}");
}
