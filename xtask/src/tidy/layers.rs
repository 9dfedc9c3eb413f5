//! Rules about who may know whom: packages, the modules of `mcp-tasks`, and names that have one place.
//!
//! The tables here are what ARCHITECTURE.md says in words.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Finding;
use super::code::{Word, bare, begins_a_path, below, heads, program};
use super::repository::{File, Repository, list};

/// Our packages, and which of ours each may depend on.
const PACKAGES: &[(&str, &[&str])] = &[
    ("mcp-tasks-codegen", &[]),
    ("mcp-tasks-types", &[]),
    ("mcp-tasks-macros", &[]),
    ("mcp-tasks", &["mcp-tasks-types", "mcp-tasks-macros"]),
    ("xtask", &["mcp-tasks-codegen"]),
    ("mcp-tasks-wire", &["mcp-tasks-types", "mcp-tasks"]),
    ("mcp-tasks-examples", &["mcp-tasks"]),
    ("mcp-tasks-example-vendor", &["mcp-tasks-types"]),
];
/// Packages that promise what others they need, optional ones not counted.
const PROMISES: &[(&str, &[&str])] = &[
    ("mcp-tasks-types", &["memchr", "serde", "serde_json"]),
    ("mcp-tasks-macros", &["proc-macro2", "quote", "syn"]),
];

/// The layers of `mcp-tasks`, each of which may name itself and those before it. Nobody but tests names the last one.
const LAYERS: &[&[&str]] = &[
    &["clock", "digest", "finite", "owner", "panic", "record"],
    &["lifecycle"],
    // Errors of stores are a cause of others.
    &["store", "error"],
    &["engine", "tool", "context", "input", "form", "output", "macro_support"],
    &["server"],
    &["transport"],
    &["testing"],
];
const RUNTIME: &str = "mcp-tasks/src/";

/// A name that is not known everywhere.
struct Place {
    /// `crate_name`, `std::module`, or a type.
    names: &'static [&'static str],
    /// Where nobody names it.
    within: &'static [&'static str],
    /// Except here.
    but: &'static [&'static str],
    why: &'static str,
}

const PLACES: &[Place] = &[
    Place {
        names: &["std::fs", "std::net", "std::process", "std::env"],
        within: &["codegen/src/"],
        but: &[],
        why: "the generator turns text into text; files are xtask's",
    },
    Place {
        names: &["typify"],
        within: &["codegen/src/"],
        but: &["codegen/src/front.rs"],
        why: "typify stands behind one module, so that another version is a small change",
    },
    Place {
        names: &["serde_json", "proc_macro2", "quote", "syn"],
        within: &["codegen/src/model.rs"],
        but: &[],
        why: "the model holds neither JSON nor tokens",
    },
    Place {
        names: &["std::fs", "std::net", "std::process", "std::env"],
        within: &["mcp-tasks-types/src/"],
        but: &[],
        why: "the types know no transport and no store",
    },
    Place {
        names: &["tokio", "std::fs", "std::io", "std::time"],
        within: &["mcp-tasks/src/lifecycle.rs", "mcp-tasks/src/record.rs"],
        but: &[],
        why: "a transition is a pure function of record and event",
    },
    Place {
        names: &["v2025_11_25", "v2026_07_28", "sep_1686"],
        within: &["mcp-tasks/src/store.rs", "mcp-tasks/src/store/", "mcp-tasks/src/record.rs"],
        but: &[],
        why: "a store keeps records and names no message",
    },
    Place {
        names: &["rusqlite"],
        within: &["mcp-tasks/src/"],
        but: &["mcp-tasks/src/store/sqlite.rs", "mcp-tasks/src/store/sqlite/"],
        why: "SQLite is one store among others",
    },
    Place {
        names: &["tokio_postgres", "tokio_rustls", "rustls_native_certs"],
        within: &["mcp-tasks/src/"],
        but: &["mcp-tasks/src/store/postgres.rs", "mcp-tasks/src/store/postgres/"],
        why: "PostgreSQL is one store among others",
    },
    Place {
        names: &["axum", "hyper", "hyper_util"],
        within: &["mcp-tasks/src/"],
        but: &["mcp-tasks/src/transport/http.rs", "mcp-tasks/src/transport/http/"],
        why: "HTTP is one transport among others",
    },
    Place {
        names: &["JsonRpcErrorResponse"],
        within: &["mcp-tasks/src/"],
        but: &["mcp-tasks/src/server/dispatch.rs"],
        why: "a refusal becomes an error of the wire in one place",
    },
];

/// A package depends on those of ours that the table allows it, whatever the kind of the dependency; for its tests the
/// macros may see the runtime. Two of them promise what else they need. There is no build script: what is generated is
/// committed.
pub(super) fn packages_know_whom_they_may(repository: &Repository) -> Vec<Finding> {
    let mut out = Vec::new();
    for package in &repository.packages {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = manifest_of(repository, name);
        let Some((_, allowed)) = PACKAGES.iter().find(|(ours, _)| *ours == name) else {
            let what = format!("say in tidy's table which of our packages `{name}` may depend on");
            out.push(Finding::at(&manifest, 1, what));
            continue;
        };
        let promised = PROMISES.iter().find(|(ours, _)| *ours == name).map(|(_, needs)| *needs);
        for dependency in list(&package["dependencies"]) {
            let on = dependency["name"].as_str().unwrap_or_default();
            let for_tests = dependency["kind"] == "dev";
            if PACKAGES.iter().any(|(ours, _)| *ours == on) {
                let in_tests_of_macros = for_tests && name == "mcp-tasks-macros" && on == "mcp-tasks";
                if !allowed.contains(&on) && !in_tests_of_macros {
                    out.push(Finding::at(&manifest, 1, format!("`{name}` may not know `{on}`")));
                }
            } else if !for_tests
                && dependency["optional"] != true
                && promised.is_some_and(|promised| !promised.contains(&on))
            {
                let what = format!(
                    "`{name}` promises to need {} alone, not `{on}`",
                    promised.unwrap_or_default().join(", ")
                );
                out.push(Finding::at(&manifest, 1, what));
            }
        }
        let is_script = |target: &Value| list(&target["kind"]).iter().any(|kind| kind == "custom-build");
        if list(&package["targets"]).iter().any(is_script) {
            out.push(Finding::at(&manifest, 1, "no build scripts; generate and commit what it makes"));
        }
    }
    out
}

fn manifest_of(repository: &Repository, package: &str) -> String {
    let line = format!("name = \"{package}\"");
    let manifest = repository
        .files
        .iter()
        .find(|file| file.is_manifest() && file.text.lines().any(|found| found == line));
    manifest.map_or_else(|| "Cargo.toml".to_owned(), |file| file.path.clone())
}

/// A module of `mcp-tasks` names those of its own layer and of the layers below, also where a name is re-exported in
/// the crate's root. Tests name whom they need.
pub(super) fn modules_know_the_layers_below(repository: &Repository) -> Vec<Finding> {
    let root = repository.file("mcp-tasks/src/lib.rs").map(|file| bare(&file.text)).unwrap_or_default();
    let exported = re_exports(&program(&root));
    let mut out = Vec::new();
    for file in repository.sources().filter(|file| file.path.starts_with(RUNTIME)) {
        let Some(module) = module_of(file) else { continue };
        let Some(layer) = layer_of(module[0]) else {
            out.push(Finding::at(
                &file.path,
                1,
                format!("say in tidy's table in which layer `{}` is", module[0]),
            ));
            continue;
        };
        let bare = bare(&file.text);
        let words = program(&bare);
        let mut named = below(&words, "crate");
        named.extend(below_supers(&words, module.len()));
        for name in named {
            let other = exported.get(name.text).copied().unwrap_or(name.text);
            if layer_of(other).is_some_and(|other| other > layer) {
                let what = format!("`{}` may not know `{other}`, which is a layer above", module[0]);
                out.push(Finding::at(&file.path, name.line, what));
            }
        }
    }
    out
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The path of a file's module; none for the crate's root and for files that hold tests alone.
fn module_of(file: &File) -> Option<Vec<&str>> {
    let path: Vec<&str> = file.path.strip_prefix(RUNTIME)?.strip_suffix(".rs")?.split('/').collect();
    (path != ["lib"] && path.last() != Some(&"tests")).then_some(path)
}

/// What is named below as many `super` as lead from a module of this depth to the root.
fn below_supers<'a>(words: &[Word<'a>], depth: usize) -> Vec<Word<'a>> {
    let chain: Vec<&str> = ["super", "::"].repeat(depth);
    let mut out = Vec::new();
    for at in 0..words.len() {
        let ends = at + chain.len();
        if begins_a_path(words, at)
            && words
                .get(at..ends)
                .is_some_and(|found| found.iter().map(|word| word.text).eq(chain.iter().copied()))
        {
            out.extend(heads(words, ends));
        }
    }
    out
}

/// Names that the crate's root takes from its modules, with the module of each.
fn re_exports<'a>(words: &[Word<'a>]) -> BTreeMap<&'a str, &'a str> {
    let mut out = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let Some(module) =
            words.get(at + 1).filter(|next| word.text == "use" && layer_of(next.text).is_some())
        else {
            continue;
        };
        let names = words[at + 2..].iter().take_while(|word| word.text != ";");
        out.extend(names.map(|name| (name.text, module.text)));
    }
    out
}

/// Some names have one place, and elsewhere nobody knows them: what a module hides can be replaced.
pub(super) fn some_names_have_one_place(repository: &Repository) -> Vec<Finding> {
    let is_in = |file: &File, places: &[&str]| places.iter().any(|place| file.path.starts_with(place));
    let mut out = Vec::new();
    for file in repository.sources() {
        let places: Vec<&Place> =
            PLACES.iter().filter(|place| is_in(file, place.within) && !is_in(file, place.but)).collect();
        if places.is_empty() {
            continue;
        }
        let bare = bare(&file.text);
        let words = program(&bare);
        for place in places {
            for name in place.names {
                for line in lines_that_name(&words, name) {
                    out.push(Finding::at(
                        &file.path,
                        line,
                        format!("`{name}` is not known here: {}", place.why),
                    ));
                }
            }
        }
    }
    out
}

/// Where a program names a type, a module of std, or something of a crate.
fn lines_that_name(words: &[Word<'_>], name: &str) -> Vec<usize> {
    if let Some((root, module)) = name.split_once("::") {
        return below(words, root).iter().filter(|word| word.text == module).map(|word| word.line).collect();
    }
    let is_type = name.starts_with(char::is_uppercase);
    let named = |(at, word): &(usize, &Word<'_>)| {
        let before = at.checked_sub(1).map(|before| words[before].text);
        let after = words.get(at + 1).map(|after| after.text);
        word.text == name && (is_type || after == Some("::") || before == Some("use"))
    };
    words.iter().enumerate().filter(named).map(|(_, word)| word.line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::said;
    use super::*;

    #[test]
    fn a_package_that_knows_whom_it_may_not_is_found() {
        let mut repository = Repository::of(&[("macros/Cargo.toml", "name = \"mcp-tasks-macros\"\n")]);
        repository.packages = vec![
            json!({"name": "mcp-tasks-macros", "targets": [{"kind": ["custom-build"]}], "dependencies": [
                {"name": "mcp-tasks", "kind": "dev"}, {"name": "mcp-tasks-types", "kind": null},
                {"name": "tokio", "kind": null, "optional": false}, {"name": "syn", "kind": null},
                {"name": "trybuild", "kind": "dev"},
            ]}),
            json!({"name": "new", "targets": [], "dependencies": []}),
        ];
        let found: Vec<String> =
            packages_know_whom_they_may(&repository).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "macros/Cargo.toml:1: `mcp-tasks-macros` may not know `mcp-tasks-types`",
                "macros/Cargo.toml:1: `mcp-tasks-macros` promises to need proc-macro2, quote, syn alone, not `tokio`",
                "macros/Cargo.toml:1: no build scripts; generate and commit what it makes",
                "Cargo.toml:1: say in tidy's table which of our packages `new` may depend on",
            ]
        );
    }

    #[test]
    fn a_module_that_knows_a_layer_above_is_found() {
        let found = said(
            modules_know_the_layers_below,
            &[
                ("mcp-tasks/src/lib.rs", "mod engine;\npub use engine::{Engine, EngineBuilder};\n"),
                ("mcp-tasks/src/store.rs", "use crate::{record::A, server::B};\nuse super::transport;\n"),
                (
                    "mcp-tasks/src/store/memory.rs",
                    "//! [`crate::engine`]\nuse super::C;\n\
                     use super::super::tool::D;\nfn e() { crate::Engine::new() }\n",
                ),
                (
                    "mcp-tasks/src/transport.rs",
                    "use crate::server::F;\n#[cfg(test)]\nuse crate::testing::G;\n",
                ),
                ("mcp-tasks/src/store/tests.rs", "use crate::engine::H;\n"),
                ("mcp-tasks/src/new.rs", ""),
            ],
        );
        assert_eq!(
            found,
            [
                "mcp-tasks/src/store.rs:1: `store` may not know `server`, which is a layer above",
                "mcp-tasks/src/store.rs:2: `store` may not know `transport`, which is a layer above",
                "mcp-tasks/src/store/memory.rs:4: `store` may not know `engine`, which is a layer above",
                "mcp-tasks/src/store/memory.rs:3: `store` may not know `tool`, which is a layer above",
                "mcp-tasks/src/new.rs:1: say in tidy's table in which layer `new` is",
            ]
        );
    }

    #[test]
    fn a_name_outside_its_place_is_found() {
        let found = said(
            some_names_have_one_place,
            &[
                ("codegen/src/lower.rs", "use std::{collections::BTreeMap, fs::read};\nuse typify::A;\n"),
                ("codegen/src/front.rs", "use typify::A;\n"),
                ("mcp-tasks/src/store/memory.rs", "use mcp_tasks_types::{TaskId, v2026_07_28::Task};\n"),
                ("mcp-tasks/src/server/tools.rs", "fn a() -> JsonRpcErrorResponse {}\n"),
            ],
        );
        let places: Vec<&str> = found.iter().filter_map(|line| line.split(" is not known").next()).collect();
        assert_eq!(
            places,
            [
                "codegen/src/lower.rs:1: `std::fs`",
                "codegen/src/lower.rs:2: `typify`",
                "mcp-tasks/src/store/memory.rs:1: `v2026_07_28`",
                "mcp-tasks/src/server/tools.rs:1: `JsonRpcErrorResponse`",
            ]
        );
    }

    #[test]
    fn every_place_and_every_module_in_the_tables_exists() {
        let repository = Repository::read(&crate::run::root()).unwrap();
        let paths = PLACES.iter().flat_map(|place| place.within.iter().chain(place.but)).copied();
        let modules = LAYERS.iter().flat_map(|layer| *layer).map(|module| format!("{RUNTIME}{module}.rs"));
        for path in paths.map(str::to_owned).chain(modules) {
            assert!(repository.has(path.trim_end_matches('/')), "{path} is not there");
        }
        for (name, _) in PACKAGES {
            assert!(
                repository.packages.iter().any(|package| package["name"] == *name),
                "{name} is not there"
            );
        }
    }
}
