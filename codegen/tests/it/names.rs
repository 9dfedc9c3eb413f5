//! Names that Rust does not have, and names that two things would share: faults at the place that they come from,
//! before the compiler says so about generated code.

use mcp_tasks_codegen::{Error, Generation, Options, TextFile, generate};

use crate::{file, run};

const TEXT: &str = r#""type":"string","description":"T.""#;

/// Expects a fault at a pointer below `#/$defs`.
fn check(definitions: &str, config: &str, pointer: &str, message: &str) {
    let errors = run(&file(definitions), config).expect_err(definitions);
    let found = errors.iter().any(|error| {
        error.file == "schema/1/things.json"
            && error.place == format!("#/$defs/{pointer}")
            && error.message.contains(message)
    });
    assert!(found, "{definitions}\nexpected {pointer}: {message}\nfound {errors:#?}");
}

/// The code of a schema without faults.
fn made(definitions: &str, config: &str) -> String {
    let files = run(&file(definitions), config).unwrap_or_else(|errors| panic!("{definitions}\n{errors:#?}"));
    let code = |file: &&TextFile| file.path == "v1/things.rs" || file.path == "v1.rs";
    files.iter().filter(code).map(|file| file.text.as_str()).collect()
}

fn object(name: &str, members: &[&str]) -> String {
    let members: Vec<String> = members.iter().map(|member| format!(r#""{member}":{{{TEXT}}}"#)).collect();
    let members = members.join(",");
    format!(
        r#""{name}":{{"description":"D.","type":"object","properties":{{{members}}},"additionalProperties":{{}}}}"#
    )
}

/// A state whose arms `a0`, `a1`, … have these payloads.
fn state(name: &str, arms: &[&[&str]]) -> String {
    let arms: Vec<String> = arms
        .iter()
        .enumerate()
        .map(|(index, payloads)| {
            let described: String =
                payloads.iter().map(|name| format!(r#","{name}":{{{TEXT}}}"#)).collect();
            let required: String = payloads.iter().map(|name| format!(r#","{name}""#)).collect();
            format!(
                r#"{{"description":"A.","type":"object","properties":{{"k":{{"const":"a{index}"}}{described}}},"required":["k"{required}]}}"#
            )
        })
        .collect();
    format!(r#""{name}":{{"description":"S.","oneOf":[{}]}}"#, arms.join(","))
}

fn stated(name: &str, state: &str, members: &[&str]) -> String {
    let (_, inline) = object("", members).split_once(':').map(|(_, inline)| ("", inline.to_owned())).unwrap();
    format!(r##""{name}":{{"description":"D.","allOf":[{inline},{{"$ref":"#/$defs/{state}"}}]}}"##)
}

fn request(name: &str, method: &str, marks: &str) -> String {
    format!(
        r#""{name}":{{"description":"R.","x-mcp-method":"{method}","x-mcp-direction":"both"{marks},"type":"object","properties":{{"method":{{"const":"{method}"}}}},"required":["method"],"additionalProperties":{{}}}}"#
    )
}

fn codes(name: &str, title: &str, data: &str) -> String {
    format!(
        r#""{name}":{{"description":"C.","x-error-codes":true,"oneOf":[{{"const":1,"title":"{title}","description":"O."{data}}}]}}"#
    )
}

fn braced(definitions: &[String]) -> String {
    format!("{{{}}}", definitions.join(","))
}

#[test]
fn a_member_may_have_any_name_that_generated_code_uses_for_itself() {
    let all = ["member", "members", "key", "writer", "arm", "deserializer", "serializer", "support", "serde"];
    let code = made(&braced(&[object("Foo", &all)]), "");
    assert!(
        code.contains("let mut member = None;") && !code.contains("let mut members = None;\n        while")
    );
    let (others, payloads) = (["members", "status"], ["arm", "writer", "member", "extra", "state", "value"]);
    made(&braced(&[state("FooState", &[&payloads, &[]]), stated("Foo", "FooState", &others)]), "");
    for taken in ["extra", "state"] {
        let message = format!(
            "the Rust field `{taken}` is reserved; give `{taken}` another: `\"Foo.{taken}\" = \"…\"` below [fields]"
        );
        check(&braced(&[object("Foo", &[taken])]), "", "Foo", &message);
        made(&braced(&[object("Foo", &[taken])]), &format!("[fields]\n\"Foo.{taken}\" = \"other\""));
    }
    // Each has its own reason when there are several.
    let several = braced(&[object("Foo", &["Extra", "-", "_", "a b", "a-b"])]);
    for message in [
        "the Rust field `extra` is reserved; give `Extra` another",
        "no field can have the Rust name ``; give `-` another",
        "no field can have the Rust name ``; give `_` another",
        "the Rust field `a_b` is that of `a b`; give `a-b` another: `\"Foo.a-b\"",
    ] {
        check(&several, "", "Foo", message);
    }
}

/// The compiler warns of what a template leaves unused.
#[test]
fn a_state_without_payloads_takes_nothing_out() {
    let code = made(&braced(&[state("FooState", &[&[], &[]]), stated("Foo", "FooState", &["a"])]), "");
    assert!(code.contains("        self,\n        _: &mut crate::Extra,"), "{code}");
}

#[test]
fn payloads_of_a_state_have_names_of_their_own() {
    let apart: &[&[&str]] = &[&["a-b"], &["a_b"]];
    let together: &[&[&str]] = &[&["a-b", "a_b"]];
    for arms in [apart, together] {
        let foo = [state("FooState", arms), stated("Foo", "FooState", &[])];
        check(&braced(&foo), "", "FooState", "`a-b` and `a_b` both have the Rust field `a_b`");
        made(&braced(&foo), "[fields]\n\"FooState.a-b\" = \"c\"");
    }
}

#[test]
fn a_member_is_not_one_of_the_state_as_well() {
    for member in ["k", "a"] {
        let foo = [state("FooState", &[&["a"], &[]]), stated("Foo", "FooState", &[member])];
        check(&braced(&foo), "", "Foo", &format!("the member `{member}` comes from two parts"));
    }
}

/// What a definition makes beside its own type.
#[test]
fn a_definition_does_not_have_a_name_that_another_makes() {
    let message = "the Rust name";
    let slots = [state("FooState", &[&["a"]]), stated("Foo", "FooState", &[]), object("FooStateSlots", &[])];
    check(&braced(&slots), "", "FooStateSlots", message);
    let data = r##","x-error-data":{"$ref":"#/$defs/Foo"}"##;
    let clash = [codes("Codes", "One", data), object("Foo", &[]), object("CodesData", &[])];
    check(&braced(&clash), "", "CodesData", message);
    made(&braced(&clash), "[names]\nCodesData = \"CodesMore\"");
    // Without data there is no such type.
    made(&braced(&[codes("Codes", "One", ""), object("CodesData", &[])]), "");
    check(&braced(&[request("Foo", "foo", ""), object("Method", &[])]), "", "Method", message);
    made(&braced(&[object("Method", &[])]), "");
    check(&braced(&[codes("Codes", "other", "")]), "", "Codes", "`Other`");
}

#[test]
fn setters_have_names_of_their_own() {
    let config = "[fields]\n\"Foo.b\" = \"a_\"";
    check(&braced(&[object("Foo", &["a", "b"])]), config, "Foo", "both have the Rust setter `with_a`");
}

/// The compiler takes letters for the same that look the same.
#[test]
fn names_have_no_letters_but_those_of_ascii() {
    let values = r#"{"A":{"description":"A.","type":"string","oneOf":[{"const":"\u212b","description":"1."},{"const":"\u00c5","description":"2."}]}}"#;
    let code = made(values, "");
    assert!(code.contains("NXE284AB") && code.contains("NXC385"), "{code}");
    check(&braced(&[object("Foo", &["größe"])]), "", "Foo", "no field can have the Rust name");
    made(&braced(&[object("Foo", &["größe"])]), "[fields]\n\"Foo.größe\" = \"size\"");
}

#[test]
fn names_in_the_configuration_have_the_case_of_their_kind() {
    let one = braced(&[object("Foo", &["a"])]);
    for name in ["foo", "str", "_Foo", "Foo_Bar", "FOO", "Größe", "r#fn"] {
        check(&one, &format!("[names]\nFoo = \"{name}\""), "Foo", "no type can have the Rust name");
    }
    for name in ["B", "None", "__members", "r#fn", "größe"] {
        check(&one, &format!("[fields]\n\"Foo.a\" = \"{name}\""), "Foo", "no field can have the Rust name");
    }
}

/// Each stage has a name for a definition; none is one that a schema can take.
#[test]
fn no_name_of_a_definition_is_kept_for_the_generator() {
    let refers = r##""Foo":{"description":"D.","type":"object","properties":{"a":{"description":"A.","type":"array","items":{"$ref":"#/$defs/CarrierOfFoo"}}},"additionalProperties":{}}"##;
    for more in ["CarrierOfFoo", "CarrierOfCarrierOfFoo", "CarrierOf"] {
        let code = made(
            &braced(
                &[refers.to_owned(), object("CarrierOfFoo", &["b"]), object(more, &[])]
                    [..if more == "CarrierOfFoo" { 2 } else { 3 }],
            ),
            "",
        );
        assert!(code.contains("pub a: Option<Vec<CarrierOfFoo>>"), "{code}");
    }
    // The names of type parameters in generated code.
    for name in ["A", "D", "E", "S"] {
        let state = state(name, &[&["a"], &[]]);
        let code = made(&braced(&[state, stated("Foo", name, &[])]), "");
        assert!(!code.contains(&format!("<{name}: serde::de::Error>")), "{code}");
    }
}

fn of_stem(stem: &str) -> Result<Vec<TextFile>, Vec<Error>> {
    let generation = Generation::new(
        TextFile::new("schema/1/codegen.toml", "module = \"v1\"\ngeneration = \"1\""),
        vec![TextFile::new(format!("schema/1/{stem}.json"), file(&braced(&[request("Foo", "foo", "")])))],
    );
    generate(&[generation], &Options::inside())
}

#[test]
fn a_file_has_a_name_that_a_module_can_have() {
    for stem in
        ["msgs-2", "a b", "type", "self", "super", "crate", "Things", "a.b", "", "1", "größe", "method"]
    {
        let errors = of_stem(stem).expect_err(stem);
        assert_eq!(errors[0].file, format!("schema/1/{stem}.json"), "{errors:?}");
        assert!(errors[0].message.contains("module"), "{errors:?}");
    }
    assert!(of_stem("meta_key").is_ok(), "there is no such module without keys");
}

#[test]
fn methods_and_keys_make_constants() {
    for method in ["1/2", "", "self", "größe", "/"] {
        let pointer = "Foo/x-mcp-method";
        check(&braced(&[request("Foo", method, "")]), "", pointer, &format!("`{method}` makes no name"));
    }
    let key = |key: &str| {
        format!(
            r#""Meta":{{"description":"D.","type":"object","properties":{{"{key}":{{{TEXT},"x-meta-key":true}}}},"additionalProperties":{{}}}}"#
        )
    };
    let config = "[fields]\n\"Meta.a.x/1\" = \"one\"";
    check(&braced(&[key("a.x/1")]), config, "Meta", "`a.x/1` makes no name");
    let id = object("Foo", &[]).replacen("\"D.\"", r#""D.","x-extension-id":"a.x/1""#, 1);
    check(&braced(&[id]), "", "Foo/x-extension-id", "`a.x/1` makes no name");
}

#[test]
fn two_methods_keys_or_extensions_do_not_share_a_constant() {
    for (one, two) in [("v/get", "v_get"), ("v/get", "vGet"), ("a/1b", "a1b")] {
        let both = [request("Foo", one, ""), request("Bar", two, "")];
        let message = format!("`{one}` and `{two}` both have the Rust name");
        check(&braced(&both), "", "Bar/x-mcp-method", &message);
    }
    made(&braced(&[request("Foo", "v/get", ""), request("Bar", "v/get", "")]), "");
    let keyed = |name: &str, key: &str| {
        format!(
            r#""{name}":{{"description":"D.","type":"object","properties":{{"{key}":{{{TEXT},"x-meta-key":true}}}},"additionalProperties":{{}}}}"#
        )
    };
    let both = [keyed("Foo", "a.x/key-a"), keyed("Bar", "b.y/key-a")];
    check(&braced(&both), "", "Bar", "`a.x/key-a` and `b.y/key-a` both have the Rust name `KEY_A`");
    made(&braced(&[keyed("Foo", "a.x/key-a"), keyed("Bar", "a.x/key-a")]), "");
    let extension = |name: &str, id: &str| {
        object(name, &[]).replacen("\"D.\"", &format!(r#""D.","x-extension-id":"{id}""#), 1)
    };
    let both = [extension("Foo", "a.x/e"), extension("Bar", "b.y/e")];
    check(&braced(&both), "", "Bar/x-extension-id", "both have the Rust name `E`");
}

/// A name that has been given stays when a value comes that would have changed it.
#[test]
fn a_variant_keeps_the_name_that_it_has_been_given() {
    let list = |values: &[&str]| {
        let values: Vec<String> =
            values.iter().map(|value| format!(r#"{{"const":"{value}","description":"V."}}"#)).collect();
        format!(r#"{{"A":{{"description":"A.","type":"string","oneOf":[{}]}}}}"#, values.join(","))
    };
    assert!(made(&list(&["a-b"]), "").contains("Self::AB => \"a-b\""));
    let both = list(&["a-b", "a_b"]);
    assert!(made(&both, "").contains("Self::ABX612D62 => \"a-b\""));
    let code = made(&both, "[variants]\n\"A.a-b\" = \"AB\"");
    assert!(code.contains("Self::AB => \"a-b\"") && code.contains("Self::ABX615F62 => \"a_b\""), "{code}");
    let code = made(&both, "[variants]\n\"A.a-b\" = \"Hyphen\"\n\"A.a_b\" = \"Low\"");
    assert!(code.contains("Self::Hyphen => \"a-b\"") && code.contains("Self::Low => \"a_b\""), "{code}");

    let foo = [state("FooState", &[&["a"], &[]]), stated("Foo", "FooState", &[])];
    let code = made(&braced(&foo), "[variants]\n\"FooState.a0\" = \"Begun\"");
    assert!(code.contains("Self::Begun { .. } => \"a0\""), "{code}");
    let tagged = r##"{"U":{"description":"U.","x-union":"tag","x-tag":"t","anyOf":[{"$ref":"#/$defs/X"}]},
        "X":{"description":"X.","type":"object","properties":{"t":{"const":"x"}},"required":["t"],"additionalProperties":{}}}"##;
    assert!(made(tagged, "[variants]\n\"U.x\" = \"Cross\"").contains("Cross(X)"));
}

#[test]
fn a_given_name_is_one_of_a_variant_and_changes_something() {
    let list = r#"{"A":{"description":"A.","type":"string","oneOf":[{"const":"a","description":"1."},{"const":"b","description":"2."}]}}"#;
    for name in ["a", "", "A-B", "Self", "fn"] {
        check(list, &format!("[variants]\n\"A.a\" = \"{name}\""), "A", "makes no name of a Rust variant");
    }
    check(
        list,
        "[variants]\n\"A.a\" = \"X\"\n\"A.b\" = \"X\"",
        "A",
        "`a` and `b` both have the Rust variant `X`",
    );
    for key in ["A.a", "A.c", "B.a", "A"] {
        let errors = run(&file(list), &format!("[variants]\n\"{key}\" = \"A\"")).expect_err(key);
        let place = format!("[variants] {key}");
        assert!(
            errors.iter().any(|error| error.file == "schema/1/codegen.toml" && error.place == place),
            "{errors:?}"
        );
    }
}

#[test]
fn module_and_generation_are_names_of_files() {
    let with = |module: &str, generation: &str| {
        let config = format!("module = '{module}'\ngeneration = '{generation}'");
        let generation = Generation::new(
            TextFile::new("schema/1/codegen.toml", config),
            vec![TextFile::new("schema/1/things.json", file("{}"))],
        );
        generate(&[generation], &Options::inside())
    };
    for module in
        ["../../evil", "/evil", "", "a b", "a/b", "fn", "..", ".", "a\\b", "V1", "größe", "_", "self"]
    {
        let errors = with(module, "1").expect_err(module);
        assert_eq!((errors[0].file.as_str(), errors[0].place.as_str()), ("schema/1/codegen.toml", "module"));
    }
    for generation in
        ["../../evil", "/evil", "", "a b", "a/b", "..", ".", "a..b", "-a", "a\\b", "größe", "a."]
    {
        let errors = with("v1", generation).expect_err(generation);
        assert_eq!(
            (errors[0].file.as_str(), errors[0].place.as_str()),
            ("schema/1/codegen.toml", "generation")
        );
    }
    for (module, generation) in
        [("v1", "1"), ("v2026_07_28", "2026-07-28"), ("sep_1686", "sep-1686"), ("m", "1.0")]
    {
        with(module, generation).unwrap();
    }
}

#[test]
fn two_generations_do_not_write_the_same_file() {
    let generation = |folder: &str, module: &str, name: &str| {
        Generation::new(
            TextFile::new(
                format!("schema/{folder}/codegen.toml"),
                format!("module = \"{module}\"\ngeneration = \"{name}\""),
            ),
            vec![TextFile::new(format!("schema/{folder}/things.json"), file("{}"))],
        )
    };
    for (second, place) in [
        (generation("2", "v1", "2"), "module"),
        (generation("2", "v2", "1"), "generation"),
        (generation("2", "registry", "2"), "module"),
    ] {
        let errors = generate(&[generation("1", "v1", "1"), second], &Options::inside()).unwrap_err();
        assert_eq!((errors[0].file.as_str(), errors[0].place.as_str()), ("schema/2/codegen.toml", place));
    }
}

/// What generated code calls in the types crate belongs to one minor version of it.
#[test]
fn code_for_another_package_names_the_version_that_it_belongs_to() {
    let generation = || {
        Generation::new(
            TextFile::new("schema/1/codegen.toml", "module = \"v1\"\ngeneration = \"1\""),
            vec![TextFile::new("schema/1/things.json", file("{}"))],
        )
    };
    let module = |options: &Options| {
        let files = generate(&[generation()], options).unwrap();
        files.into_iter().find(|file| file.path == "v1.rs").unwrap().text
    };
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let check = format!("const _: () = ::mcp_tasks_types::support::assert_version({major}, {minor});");
    assert!(module(&Options::outside("make")).contains(&check));
    assert!(!module(&Options::inside()).contains("assert_version"));
}

#[test]
fn a_folder_without_a_schema_file_makes_nothing() {
    let config = TextFile::new("schema/1/codegen.toml", "module = \"v1\"\ngeneration = \"1\"");
    let errors = generate(&[Generation::new(config, Vec::new())], &Options::inside()).unwrap_err();
    assert_eq!(errors[0].to_string(), "schema/1/codegen.toml: there is no schema file beside it");
}
