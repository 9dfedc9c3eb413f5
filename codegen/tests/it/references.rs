//! References lead to what can stand where they stand.

use crate::{file, run};

fn fault(definitions: &str, pointer: &str, message: &str) {
    let errors = run(&file(definitions), "").expect_err(definitions);
    let found = errors
        .iter()
        .any(|error| error.place == format!("#/$defs/{pointer}") && error.message.contains(message));
    assert!(found, "{definitions}\nexpected {pointer}: {message}\nfound {errors:#?}");
}

const STATE: &str = r#""S":{"description":"S.","oneOf":[{"description":"A.","type":"object","properties":{"k":{"const":"a"}},"required":["k"]}]}"#;
const MIXIN: &str = r##""M":{"description":"M.","x-mixin":true,"type":"object","properties":{"t":{"const":"m"}},"required":["t"],"additionalProperties":{}},
    "Composed":{"description":"C.","allOf":[{"type":"object","additionalProperties":{}},{"$ref":"#/$defs/M"}]}"##;

/// A state and a mixin are parts of objects: neither makes a type that can be read.
#[test]
fn a_part_of_objects_is_no_type_of_a_value() {
    for (part, target) in [(STATE, "S"), (MIXIN, "M")] {
        let here = format!(r##"{{"$ref":"#/$defs/{target}"}}"##);
        for (shape, owner) in [
            (
                format!(
                    r##""A":{{"description":"A.","type":"object","properties":{{"b":{{"description":"B.","$ref":"#/$defs/{target}"}}}},"additionalProperties":{{}}}}"##
                ),
                "A",
            ),
            (format!(r#""A":{{"description":"A.","type":"array","items":{here}}}"#), "A"),
            (format!(r#""A":{{"description":"A.","type":"object","additionalProperties":{here}}}"#), "A"),
            (
                format!(
                    r#""A":{{"description":"A.","x-union":"kind","anyOf":[{{"title":"One","type":"array","items":{here}}}]}}"#
                ),
                "A",
            ),
            (
                format!(
                    r##""A":{{"description":"A.","x-union":"member","anyOf":[{{"title":"One","x-member":"*","$ref":"#/$defs/{target}"}}]}}"##
                ),
                "A",
            ),
            (
                format!(
                    r#""A":{{"description":"A.","x-error-codes":true,"oneOf":[{{"const":1,"title":"One","description":"O.","x-error-data":{here}}}]}}"#
                ),
                "A",
            ),
            (
                format!(
                    r#""A":{{"description":"A.","x-mcp-method":"a","x-mcp-direction":"both","x-mcp-result":{here},"type":"object","properties":{{"method":{{"const":"a"}}}},"required":["method"],"additionalProperties":{{}}}}"#
                ),
                "A",
            ),
        ] {
            fault(&format!("{{{part},{shape}}}"), owner, &format!("`{target}` is a part of objects"));
        }
    }
    let tagged = r##""A":{"description":"A.","x-union":"tag","x-tag":"t","anyOf":[{"$ref":"#/$defs/M"}]}"##;
    fault(&format!("{{{MIXIN},{tagged}}}"), "A", "`M` is a part of objects");
}

/// `x-mcp-name` is a required string of parameters that are always there.
#[test]
fn what_a_request_is_routed_by_is_there() {
    let request = |mark: &str, required: &str, params: &str| {
        format!(
            r##"{{"A":{{"description":"A.","x-mcp-method":"a","x-mcp-direction":"both","x-mcp-result":{{"$ref":"#/$defs/P"}},"x-mcp-name":{mark},"type":"object",
            "properties":{{"method":{{"const":"a"}},"params":{{"description":"P.","$ref":"#/$defs/P"}}}},"required":["method"{required}],"additionalProperties":{{}}}},
            "P":{{"description":"P.","type":"object","properties":{{"name":{params}}},"required":["name"],"additionalProperties":{{}}}}}}"##
        )
    };
    let (text, number) =
        (r#"{"description":"N.","type":"string"}"#, r#"{"description":"N.","type":"number"}"#);
    let made = run(&file(&request("\"name\"", ",\"params\"", text)), "").unwrap();
    assert!(made.iter().any(|file| file.text.contains("Some(self.params.name.as_ref())")));
    let renamed = "[fields]\n\"P.name\" = \"title\"";
    let made = run(&file(&request("\"name\"", ",\"params\"", text)), renamed).unwrap();
    assert!(made.iter().any(|file| file.text.contains("Some(self.params.title.as_ref())")), "{made:#?}");
    for (mark, required, params) in [
        ("\"1\"", ",\"params\"", text),
        ("\"other\"", ",\"params\"", text),
        ("\"name\"", "", text),
        ("\"name\"", ",\"params\"", number),
    ] {
        fault(&request(mark, required, params), "A/x-mcp-name", "a required string");
    }
    fault(&request("5", ",\"params\"", text), "A/x-mcp-name", "expected a string");
}

/// The member of `_meta` that says which revision a request speaks is read as a string.
#[test]
fn the_version_of_a_request_is_a_string() {
    let key = "io.modelcontextprotocol/protocolVersion";
    let request = |required: &str, shape: &str| {
        format!(
            r##"{{"A":{{"description":"A.","x-mcp-method":"a","x-mcp-direction":"both","x-mcp-result":{{"$ref":"#/$defs/P"}},"type":"object",
            "properties":{{"method":{{"const":"a"}},"params":{{"description":"P.","$ref":"#/$defs/P"}}}},"required":["method"{required}],"additionalProperties":{{}}}},
            "P":{{"description":"P.","type":"object","properties":{{"_meta":{{"description":"M.","$ref":"#/$defs/M"}}}},"required":["_meta"],"additionalProperties":{{}}}},
            "M":{{"description":"M.","type":"object","properties":{{"{key}":{{"description":"V.","type":"{shape}"}}}},"required":["{key}"],"additionalProperties":{{}}}}}}"##
        )
    };
    let reads = |definitions: &str| {
        let made = run(&file(definitions), "").unwrap();
        made.iter().any(|file| file.text.contains("fn protocol_version"))
    };
    assert!(reads(&request(",\"params\"", "string")));
    assert!(!reads(&request("", "string")), "without parameters it is not said");
    fault(&request(",\"params\"", "number"), "M", "is a string");
}

/// The front end would have a name of a number parse it, as if it were one of Rust's.
#[test]
fn a_name_of_a_number_does_not_parse_text() {
    let named = r##"{"A":{"description":"A.","type":"number"},"B":{"description":"B.","$ref":"#/$defs/A"},"C":{"description":"C.","type":"boolean"}}"##;
    let made = run(&file(named), "").unwrap();
    let code = &made.iter().find(|file| file.path == "v1/things.rs").unwrap().text;
    assert_eq!(code.matches("FromStr for").count(), 1, "{code}");
    assert!(code.contains("FromStr for C {"), "{code}");
}
