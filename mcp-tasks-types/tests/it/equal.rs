//! Which texts stand for the same value: the measure by which most tests here compare.

use mcp_tasks_types::{Number, RawJson};

fn same(a: &str, b: &str) -> bool {
    let (a, b) = (RawJson::from_text(a).unwrap(), RawJson::from_text(b).unwrap());
    assert_eq!(a.json_eq(&b), b.json_eq(&a), "{a} {b}");
    a.json_eq(&b)
}

/// Pairs of equal numbers, and of numbers that a float would take for equal.
const EQUAL: &[(&str, &str)] = &[
    ("1", "1.0"),
    ("1", "1e0"),
    ("100", "1E+2"),
    ("100", "1000e-1"),
    ("-0", "0"),
    ("0.0e99", "-0"),
    ("0.5", "0.50"),
    ("1e400", "10e399"),
    ("1e-400", "0.1e-399"),
    ("12345678901234567890123", "1234567890123456789012.3e1"),
    ("1e99999999999999999999999999999999999999999", "1e99999999999999999999999999999999999999999"),
];
const UNEQUAL: &[(&str, &str)] = &[
    ("1", "-1"),
    ("1", "1.00000000000000001"),
    ("0", "1e-400"),
    ("9007199254740993", "9007199254740992"),
    ("9007199254740993", "9007199254740992.0"),
    ("18446744073709551615", "18446744073709551614"),
    ("12345678901234567890123", "12345678901234567890124"),
    ("0.1", "0.10000000000000000001"),
    ("1e400", "1e401"),
    ("1e9223372036854775807", "1e9223372036854775806"),
    ("1e99999999999999999999999999999999999999999", "1e99999999999999999999999999999999999999998"),
];

#[test]
fn numbers_are_equal_by_their_exact_value() {
    for (pairs, equal) in [(EQUAL, true), (UNEQUAL, false)] {
        for (a, b) in pairs {
            assert_eq!(same(a, b), equal, "{a} {b}");
            assert_eq!(same(&format!("[{a}]"), &format!("[ {b} ]")), equal, "[{a}] [{b}]");
            assert_eq!(same(&format!(r#"{{"a":{a}}}"#), &format!(r#"{{"a":{b}}}"#)), equal, "{a} {b}");
            assert_eq!(Number::parse(a).unwrap() == Number::parse(b).unwrap(), equal, "numbers {a} {b}");
        }
    }
}

#[test]
fn integers_of_numbers_are_exact() {
    for (text, integer) in [
        ("5.0", Some(5)),
        ("5e0", Some(5)),
        ("-90e-1", Some(-9)),
        ("9007199254740993.0", Some(9_007_199_254_740_993)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808.0", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("1.00000000000000001", None),
        ("1e-400", None),
        ("1e400", None),
        ("1e99999999999999999999", None),
        ("0e99999999999999999999", Some(0)),
    ] {
        assert_eq!(Number::parse(text).unwrap().as_i64(), integer, "{text}");
    }
}

#[test]
fn members_are_equal_in_any_order_and_each_counts() {
    assert!(same(r#"{"a":1,"b":[2,{}]}"#, r#"{ "b" : [ 2, { } ], "a" : 1 }"#));
    assert!(same(r#"{"a":1,"b":0,"a":2}"#, r#"{"b":0,"a":1,"a":2}"#));
    assert!(same(r#"{"\u0061\/":"\u00e9\n"}"#, "{\"a/\":\"é\\u000a\"}"));
    for (a, b) in [
        (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
        (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1,"c":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":{}}"#, r#"{"a":[]}"#),
        ("[1,2]", "[2,1]"),
        ("[1,2]", "[1]"),
        ("[[1],2]", "[[1,2]]"),
        (r#""1""#, "1"),
        ("null", "false"),
        ("true", "false"),
        (r#""a""#, r#""b""#),
        (r#""\ud83d""#, r#""\ud83e""#),
    ] {
        assert!(!same(a, b), "{a} {b}");
    }
}

#[test]
fn values_of_any_depth_and_width_are_compared() {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(same(&deep("1"), &deep(" 1.0")));
    assert!(!same(&deep("1"), &deep("2")));
    let wide = |from: usize| {
        let members: Vec<String> =
            (from..from + 50_000).map(|n| format!(r#""m{}":{n}"#, n % 50_000)).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(same(&wide(0), &wide(0).replace(',', " , ")));
    assert!(!same(&wide(0), &wide(1)));
}
