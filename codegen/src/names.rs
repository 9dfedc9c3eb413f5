//! From the protocol's spelling to Rust's.

use std::collections::BTreeMap;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};

/// Acronyms that the protocol writes in capitals and Rust as words.
const ACRONYMS: &[(&str, &str)] = &[("JSONRPC", "JsonRpc"), ("JSON", "Json"), ("URL", "Url"), ("MCP", "Mcp")];

/// The Rust type of a definition.
pub(crate) fn type_name(schema_name: &str) -> String {
    let mut name = schema_name.to_owned();
    for (acronym, word) in ACRONYMS {
        name = name.replace(acronym, word);
    }
    name.to_upper_camel_case()
}

/// The Rust field of a member: `_meta` becomes `meta`, a key with a prefix its last part.
pub(crate) fn field_name(member: &str) -> String {
    let last = member.rsplit('/').next().unwrap_or(member);
    let name = last.trim_start_matches(['_', '$']).to_snake_case();
    if is_ident(&name) || !is_ident(&format!("{name}_")) { name } else { format!("{name}_") }
}

/// The Rust variant of a string value: `resource_link` becomes `ResourceLink`.
pub(crate) fn variant_name(value: &str) -> String {
    value.replace('/', "_").to_upper_camel_case()
}

/// The Rust variants of a list of string values, each perhaps with a name that it has been given: the values' own
/// names, and where two would share one or a value has none, names that spell the values out. A name depends on the
/// values that it would clash with and on no place in the list.
pub(crate) fn variant_names(values: &[(&str, Option<&str>)]) -> Vec<String> {
    let mut names: Vec<(String, bool)> =
        values.iter().map(|(value, given)| own_name(value, *given)).collect();
    loop {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for (name, _) in &names {
            *count.entry(name.clone()).or_default() += 1;
        }
        let mut settled = true;
        for ((name, is_final), (value, _)) in names.iter_mut().zip(values) {
            if !*is_final && count.get(name).is_some_and(|count| *count > 1) {
                *name = spelled(name, value);
                (*is_final, settled) = (true, false);
            }
        }
        // A name that was spelled out may be another value's own, which gives way in the next round.
        if settled {
            return names.into_iter().map(|(name, _)| name).collect();
        }
    }
}

/// The name that a value would have alone, and whether it keeps it whatever the others are called. Only ASCII makes a
/// name as it is: the compiler takes other letters for equal that are written differently, or warns of them.
fn own_name(value: &str, given: Option<&str>) -> (String, bool) {
    if let Some(given) = given {
        return (given.to_owned(), true);
    }
    if value.is_empty() {
        return ("Empty".to_owned(), false);
    }
    let ascii: String = value.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let name = variant_name(&ascii);
    if is_variant(&name) && value.is_ascii() {
        return (name, false);
    }
    let name = if is_pascal(&name) { name } else { format!("N{name}") };
    (spelled(&name, value), true)
}

fn spelled(name: &str, value: &str) -> String {
    let bytes: String = value.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("{name}X{bytes}")
}

/// The Rust constant of a method or `_meta` key: `tasks/get` becomes `TASKS_GET`.
pub(crate) fn constant_name(text: &str) -> String {
    text.replace('/', "_").to_shouty_snake_case()
}

/// The Rust constant of a `_meta` key or an identifier, of which the part after the prefix is the name.
pub(crate) fn key_constant(text: &str) -> String {
    constant_name(text.rsplit('/').next().unwrap_or(text))
}

/// The method that sets an optional field.
pub(crate) fn setter_name(field: &str) -> String {
    format!("with_{}", field.trim_end_matches('_'))
}

/// The type that holds the payloads of a state while an object is read.
pub(crate) fn slots_name(state: &str) -> String {
    format!("{state}Slots")
}

/// The type of the data of error codes.
pub(crate) fn data_name(codes: &str) -> String {
    format!("{codes}Data")
}

/// Whether a generation is named as protocol versions are: by a date or another number.
pub(crate) fn is_version(generation: &str) -> bool {
    generation.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a text can be the name of something in Rust as it stands. Of letters it has those of ASCII alone.
pub(crate) fn is_ident(name: &str) -> bool {
    // Syn takes what was a name in earlier editions.
    name.chars().all(is_word) && syn::parse_str::<syn::Ident>(name).is_ok() && name != "gen" && name != "_"
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text can be the name of a field or module.
pub(crate) fn is_snake(name: &str) -> bool {
    is_ident(name) && !name.contains(|c: char| c.is_ascii_uppercase()) && !name.starts_with('_')
}

/// Whether a text can be the name of a type.
pub(crate) fn is_pascal(name: &str) -> bool {
    is_ident(name)
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && !name.contains('_')
        && name != "Self"
}

/// Whether a text can be the name of a variant: of a type, but none that would hide a constant of the enum.
pub(crate) fn is_variant(name: &str) -> bool {
    is_pascal(name) && !matches!(name, "ALL" | "EXPECTED")
}

/// Whether a text can be the name of a constant.
pub(crate) fn is_shouty(name: &str) -> bool {
    is_ident(name)
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether a text is a type's name, perhaps in a module: `RawJson`, `v2026_07_28::ErrorObject`.
pub(crate) fn is_type_path(path: &str) -> bool {
    let (modules, name) =
        path.rsplit_once("::").map_or((None, path), |(modules, name)| (Some(modules), name));
    let begins = |name: &str, upper: bool| name.starts_with(|c: char| c.is_ascii_uppercase() == upper);
    modules.is_none_or(|modules| modules.split("::").all(|module| is_ident(module) && begins(module, false)))
        && is_ident(name)
        && begins(name, true)
}

#[cfg(test)]
mod tests {
    use super::{
        constant_name, field_name, is_pascal, is_shouty, is_snake, is_type_path, type_name, variant_name,
        variant_names,
    };

    #[test]
    fn acronyms_become_words() {
        assert_eq!(type_name("ElicitRequestURLParams"), "ElicitRequestUrlParams");
        assert_eq!(type_name("JSONRPCErrorResponse"), "JsonRpcErrorResponse");
        assert_eq!(type_name("CallToolResult"), "CallToolResult");
    }

    #[test]
    fn members_become_fields() {
        for (member, field) in [
            ("_meta", "meta"),
            ("$schema", "schema"),
            ("ttlMs", "ttl_ms"),
            ("io.modelcontextprotocol/clientInfo", "client_info"),
            ("type", "type_"),
        ] {
            assert_eq!(field_name(member), field);
        }
    }

    #[test]
    fn values_become_variants_and_constants() {
        assert_eq!(variant_name("resource_link"), "ResourceLink");
        assert_eq!(variant_name("elicitation/create"), "ElicitationCreate");
        assert_eq!(constant_name("notifications/tools/list_changed"), "NOTIFICATIONS_TOOLS_LIST_CHANGED");
        assert_eq!(constant_name("subscriptionId"), "SUBSCRIPTION_ID");
    }

    /// P119
    #[test]
    fn values_that_would_share_a_name_are_spelled_out_wherever_they_stand() {
        let of = |values: &[&str]| {
            let values_alone: Vec<_> = values.iter().map(|value| (*value, None)).collect();
            let names = variant_names(&values_alone);
            values
                .iter()
                .map(|value| (*value).to_owned())
                .zip(names)
                .collect::<std::collections::BTreeMap<_, _>>()
        };
        let names = of(&["a-b", "a_b", "a b", "A-B", "", "-32602", "+", "done"]);
        for (value, name) in [
            ("a-b", "ABX612D62"),
            ("a_b", "ABX615F62"),
            ("a b", "ABX612062"),
            ("A-B", "ABX412D42"),
            ("", "Empty"),
            ("-32602", "N32602X2D3332363032"),
            ("+", "NX2B"),
            ("done", "Done"),
        ] {
            assert_eq!(names[value], name, "{value}");
        }
        let more = of(&["new", "done", "+", "32602", "-32602", "", "A-B", "a b", "newer", "a_b", "a-b"]);
        for (value, name) in &names {
            assert_eq!(&more[value], name, "{value}");
        }
    }

    /// Names that were made up clash with nobody's own (P119), and letters that only look different with nobody.
    #[test]
    fn a_name_that_was_made_up_is_no_other_values_name() {
        for (values, names) in [
            (["", "empty"], ["EmptyX", "EmptyX656D707479"]),
            (["1", "n-1-x31"], ["N1X31", "N1X31X6E2D312D783331"]),
            (["\u{212b}", "\u{c5}"], ["NXE284AB", "NXC385"]),
            (["a/l/l", "all"], ["ALLX612F6C2F6C", "All"]),
            (["größe", "grösse"], ["GrEX6772C3B6C39F65", "GrSseX6772C3B6737365"]),
        ] {
            assert_eq!(variant_names(&values.map(|value| (value, None))), names, "{values:?}");
            let turned = [values[1], values[0]];
            assert_eq!(variant_names(&turned.map(|value| (value, None))), [names[1], names[0]], "{turned:?}");
        }
        let chain = variant_names(&[("", None), ("empty", None), ("empty-x", None)]);
        assert_eq!(chain, ["EmptyX", "EmptyX656D707479", "EmptyXX656D7074792D78"]);
    }

    #[test]
    fn a_given_name_stays_and_others_give_way() {
        let names = variant_names(&[("a-b", Some("AB")), ("a_b", None), ("c", None)]);
        assert_eq!(names, ["AB", "ABX615F62", "C"]);
        let names = variant_names(&[("a", Some("C")), ("c", None)]);
        assert_eq!(names, ["C", "CX63"]);
    }

    #[test]
    fn names_have_the_case_that_their_kind_has() {
        for name in ["a", "v2026_07_28", "type_", "a1"] {
            assert!(is_snake(name), "{name}");
        }
        for name in ["", "a b", "a/b", "..", "fn", "gen", "A", "aB", "_a", "__a", "_", "r#fn", "größe", "1"]
        {
            assert!(!is_snake(name), "{name}");
        }
        assert!(is_pascal("Ab1") && is_shouty("A_1"));
        for name in ["", "a", "Self", "A_b", "Größe", "1A", "_A"] {
            assert!(!is_pascal(name), "{name}");
        }
        for name in ["", "a", "1_A", "_", "É"] {
            assert!(!is_shouty(name), "{name}");
        }
    }

    #[test]
    fn a_type_is_named_from_the_types_crate() {
        for path in ["RawJson", "v2026_07_28::ErrorObject", "a::b::C"] {
            assert!(is_type_path(path), "{path}");
        }
        for path in
            ["", "std::fs", "::RawJson", "crate::RawJson", "v1::", "V1::A", "a b", "A<B>", "self::A", "A::B"]
        {
            assert!(!is_type_path(path), "{path}");
        }
    }
}
