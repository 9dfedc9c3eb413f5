//! The house rule that an id of a protocol rule in a comment or test can be looked up: `docs/rules.md` has it.

use std::collections::BTreeSet;

/// The rule ids in a text: `C-36`, `R-5`, `P058`.
fn ids(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let (group, number) = match word.split_once('-') {
            Some((group, number)) => (group, number),
            None => word.split_at(usize::from(word.starts_with('P'))),
        };
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let known = match group {
            "A" | "B" | "C" | "X" | "S" | "I" | "R" => word.contains('-') && number.len() <= 3,
            "P" => !word.contains('-') && number.len() == 3,
            _ => false,
        };
        if digits && known {
            out.insert(word.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::ids;

    /// The texts of the repository that people write.
    fn texts(root: &Path) -> Vec<PathBuf> {
        let mut out = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if path.is_dir() && !matches!(name.as_str(), "target" | ".git" | "generated" | "samples") {
                    folders.push(path);
                } else if path
                    .extension()
                    .is_some_and(|e| e == "rs" || e == "md" || e == "json" || e == "toml")
                {
                    out.push(path);
                }
            }
        }
        out
    }

    #[test]
    fn ids_are_told_from_other_words() {
        let text = "C-36 and `R-5`, (P058); not UTF-8, ISO-8601, X-Accel, RC-1, P5, A-1234 or s-1";
        let expected: BTreeSet<String> = ["C-36", "R-5", "P058"].map(str::to_owned).into();
        assert_eq!(ids(text), expected);
    }

    #[test]
    fn every_rule_that_is_named_can_be_looked_up_and_none_is_listed_in_vain() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let rules = fs::read_to_string(root.join("docs/rules.md")).unwrap();
        let row =
            |line: &str| line.strip_prefix("| ").and_then(|line| line.split(" |").next()).map(str::to_owned);
        let listed: BTreeSet<String> =
            rules.lines().filter_map(row).filter(|id| ids(id).contains(id)).collect();
        let mut named = BTreeSet::new();
        for path in texts(root) {
            if !path.ends_with("docs/rules.md") && !path.ends_with("docs/reference.md") {
                named.extend(ids(&fs::read_to_string(&path).unwrap()));
            }
        }
        let unknown: Vec<_> = named.difference(&listed).collect();
        assert!(unknown.is_empty(), "docs/rules.md lacks {unknown:?}");
        let idle: Vec<_> = listed.difference(&named).collect();
        assert!(idle.is_empty(), "docs/rules.md lists {idle:?}, which nothing names");
    }
}
