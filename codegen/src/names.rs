//! From the protocol's spelling to Rust's.

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

/// The Rust variants of a list of string values: their own names, and where two would share one or a value has none, a
/// name that spells the value out. A name depends on the values that it would clash with and on no place in the list.
pub(crate) fn variant_names<'v>(values: impl Iterator<Item = &'v str>) -> Vec<String> {
    let values: Vec<&str> = values.collect();
    let plain: Vec<String> = values.iter().map(|value| variant_name(value)).collect();
    let clashes = |name: &String| plain.iter().filter(|other| *other == name).count() > 1;
    let spelled = |value: &str| -> String { value.bytes().map(|byte| format!("{byte:02X}")).collect() };
    let names = values.iter().zip(&plain).map(|(value, name)| match name.as_str() {
        "" if value.is_empty() => "Empty".to_owned(),
        name if !is_ident(name) && is_ident(&format!("N{name}")) => format!("N{name}X{}", spelled(value)),
        name if clashes(&name.to_owned()) => format!("{name}X{}", spelled(value)),
        name => name.to_owned(),
    });
    names.collect()
}

/// The Rust constant of a method or `_meta` key: `tasks/get` becomes `TASKS_GET`.
pub(crate) fn constant_name(text: &str) -> String {
    text.replace('/', "_").to_shouty_snake_case()
}

/// Whether a generation is named as protocol versions are: by a date or another number.
pub(crate) fn is_version(generation: &str) -> bool {
    generation.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a text can be the name of something in Rust as it stands.
pub(crate) fn is_ident(name: &str) -> bool {
    // Syn takes what was a name in earlier editions.
    syn::parse_str::<syn::Ident>(name).is_ok() && name != "gen" && name != "_"
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
    use super::{constant_name, field_name, is_type_path, type_name, variant_name, variant_names};

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
            let names = variant_names(values.iter().copied());
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
