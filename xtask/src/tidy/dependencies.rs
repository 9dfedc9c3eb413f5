//! Rules about the packages of others that the workspace's graph has. They stand in `deny.toml`, in the format of
//! cargo-deny, which looks at more; these two need nothing but cargo.

use std::collections::BTreeMap;

use serde_json::Value;
use spdx::{Expression, LicenseReq, Licensee, ParseMode};
use toml::Table;

use super::Finding;
use super::repository::{Repository, list};

const RULES: &str = "deny.toml";

/// Every package is under licenses that `deny.toml` allows, and none is allowed that no package needs.
pub(super) fn licenses_are_allowed(repository: &Repository) -> Vec<Finding> {
    let rules = match rules(repository) {
        Ok(rules) => rules,
        Err(finding) => return vec![finding],
    };
    let Some(names) =
        rules.get("licenses").and_then(|section| section.get("allow")).and_then(toml::Value::as_array)
    else {
        return vec![Finding::at(RULES, 1, "list the allowed licenses: `[licenses] allow = […]`")];
    };
    let mut out = Vec::new();
    let mut needed: BTreeMap<&str, bool> = BTreeMap::new();
    let mut allowed: Vec<(&str, Licensee)> = Vec::new();
    for name in names.iter().filter_map(toml::Value::as_str) {
        needed.insert(name, false);
        match Licensee::parse(name) {
            Ok(licensee) => allowed.push((name, licensee)),
            Err(error) => {
                let what = format!("`{name}`: {}", error.reason);
                out.push(Finding::at(RULES, line_of(repository, name), what));
            }
        }
    }
    for package in &repository.graph {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        let Some(license) = package["license"].as_str() else {
            out.push(Finding::at(
                RULES,
                1,
                format!("{name} does not name its license; see whether it can be used"),
            ));
            continue;
        };
        let expression = match Expression::parse_mode(license, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => {
                out.push(Finding::at(RULES, 1, format!("{name}: cannot read `{license}`: {}", error.reason)));
                continue;
            }
        };
        let satisfies =
            |required: &LicenseReq| allowed.iter().any(|(_, licensee)| licensee.satisfies(required));
        if !expression.evaluate(satisfies) {
            let what = format!(
                "{name} is under `{license}`, which is not allowed; see whether it can be, or go without"
            );
            out.push(Finding::at(RULES, 1, what));
            continue;
        }
        for (name, licensee) in &allowed {
            if expression.requirements().any(|required| licensee.satisfies(&required.req)) {
                needed.insert(name, true);
            }
        }
    }
    let idle = needed.iter().filter(|(_, needed)| !**needed);
    out.extend(idle.map(|(name, _)| {
        Finding::at(RULES, line_of(repository, name), format!("no package needs `{name}`; take it out"))
    }));
    out
}

/// A feature that changes what a package does for everybody in a build stays off: those that `deny.toml` denies.
pub(super) fn features_that_change_everybody_stay_off(repository: &Repository) -> Vec<Finding> {
    let rules = match rules(repository) {
        Ok(rules) => rules,
        Err(finding) => return vec![finding],
    };
    let entries = rules.get("bans").and_then(|bans| bans.get("features")).and_then(toml::Value::as_array);
    let mut out = Vec::new();
    for entry in entries.into_iter().flatten() {
        let name = entry.get("crate").and_then(toml::Value::as_str).unwrap_or_default();
        let denied: Vec<&str> = entry
            .get("deny")
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .collect();
        let mut packages = repository.graph.iter().filter(|package| package["name"] == name).peekable();
        if packages.peek().is_none() {
            let what = format!("there is no package `{name}` whose features could be denied; take it out");
            out.push(Finding::at(RULES, line_of(repository, name), what));
        }
        for feature in packages.flat_map(|package| list(&package["features"])) {
            if denied.contains(&text(&feature)) {
                let what = format!("a dependency turns on `{}` of {name} for everybody", text(&feature));
                out.push(Finding::at(RULES, line_of(repository, name), what));
            }
        }
    }
    out
}

fn rules(repository: &Repository) -> Result<Table, Finding> {
    let text = &repository.file(RULES).ok_or_else(|| Finding::at(RULES, 1, "the file is not there"))?.text;
    text.parse().map_err(|error: toml::de::Error| Finding::at(RULES, 1, error.message()))
}

/// The line of `deny.toml` that names something.
fn line_of(repository: &Repository, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    let mut lines = repository.file(RULES).into_iter().flat_map(|file| file.lines());
    lines.find(|(_, line)| line.contains(&quoted)).map_or(1, |(number, _)| number)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(rule: super::super::Rule, rules: &str, graph: Vec<Value>) -> Vec<String> {
        let repository = Repository { graph, ..Repository::of(&[(RULES, rules)]) };
        rule(&repository).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_license_that_is_not_allowed_is_found_and_one_that_is_a_choice_is_not() {
        let package =
            |name: &str, license: Value| json!({"name": name, "version": "1.0.0", "license": license});
        let found = said(
            licenses_are_allowed,
            "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n    \"No-Such\",\n]\n",
            vec![
                package("chosen", json!("GPL-3.0-only OR MIT")),
                package("old", json!("MIT/Apache-2.0")),
                package("both", json!("MIT AND BSD-3-Clause")),
                package("file", json!(null)),
                package("own", json!("Ask me")),
            ],
        );
        assert_eq!(
            found,
            [
                "deny.toml:5: `No-Such`: unknown term",
                "deny.toml:1: both 1.0.0 is under `MIT AND BSD-3-Clause`, which is not allowed; see whether it can be, \
                 or go without",
                "deny.toml:1: file 1.0.0 does not name its license; see whether it can be used",
                "deny.toml:1: own 1.0.0: cannot read `Ask me`: unknown term",
                "deny.toml:5: no package needs `No-Such`; take it out",
                "deny.toml:4: no package needs `Zlib`; take it out",
            ]
        );
    }

    #[test]
    fn a_list_that_is_not_there_allows_nothing() {
        let found = said(licenses_are_allowed, "", vec![]);
        assert_eq!(found, ["deny.toml:1: list the allowed licenses: `[licenses] allow = […]`"]);
        let found: Vec<String> =
            licenses_are_allowed(&Repository::default()).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["deny.toml:1: the file is not there"]);
    }

    #[test]
    fn a_denied_feature_that_is_on_is_found() {
        let rules =
            "[[bans.features]]\ncrate = \"a\"\ndeny = [\"order\"]\n[[bans.features]]\ncrate = \"gone\"\n";
        let found = said(
            features_that_change_everybody_stay_off,
            rules,
            vec![json!({"name": "a", "features": ["std", "order"]})],
        );
        assert_eq!(
            found,
            [
                "deny.toml:2: a dependency turns on `order` of a for everybody",
                "deny.toml:5: there is no package `gone` whose features could be denied; take it out",
            ]
        );
    }
}
