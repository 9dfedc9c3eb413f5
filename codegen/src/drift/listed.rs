//! `divergences.toml`: the differences that are meant, each with its reason.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Difference, Drift, Kind};
use crate::TextFile;
use crate::error::{Error, Errors};

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Divergences {
    /// Why there is nothing to compare with, where nobody publishes a schema.
    pub(super) unpublished: Option<String>,
    /// Definitions that one side has on purpose.
    #[serde(default)]
    definitions: Vec<Definitions>,
    /// Single differences.
    #[serde(default)]
    differs: Vec<Differs>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Definitions {
    names: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Differs {
    /// One place or several with the same reason.
    at: OneOrMany,
    kind: Kind,
    /// What the published side says there.
    published: Option<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl Differs {
    fn is_for(&self, difference: &Difference) -> bool {
        self.kind == difference.kind && self.at.all().contains(&difference.at)
    }
}

/// Whether an entry of this kind has to say what is published. The others say it by being there: one side has the
/// thing and the other has not.
fn says_more_than_itself(kind: Kind) -> bool {
    matches!(kind, Kind::Values | Kind::Type | Kind::Required)
}

pub(super) fn read(file: &TextFile) -> Result<Divergences, Errors> {
    toml::from_str(&file.text).map_err(|error| vec![Error::new(&file.path, "", error.message().to_owned())])
}

/// Gives each difference the reason of its entry, and finds the entries that there is no difference for.
pub(super) fn apply(drift: &mut Drift, listed: &Divergences) {
    let mut used = BTreeSet::new();
    for difference in &mut drift.differences {
        let (reason, published) = if difference.kind == Kind::Definition {
            let entry = listed.definitions.iter().find(|entry| entry.names.contains(&difference.at));
            (entry.map(|entry| &entry.reason), None)
        } else {
            let entry = listed.differs.iter().find(|entry| entry.is_for(difference));
            (entry.map(|entry| &entry.reason), entry.and_then(|entry| entry.published.as_ref()))
        };
        let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else { continue };
        used.insert((difference.at.clone(), difference.kind));
        match published {
            Some(published) if *published != difference.published => {
                difference.listed_for = Some(published.clone());
            }
            None if says_more_than_itself(difference.kind) => difference.listed_for = Some(String::new()),
            _ => difference.reason = Some(reason.clone()),
        }
    }
    let entries =
        listed.definitions.iter().flat_map(|entry| &entry.names).map(|name| (name.clone(), Kind::Definition));
    let differs =
        listed.differs.iter().flat_map(|entry| entry.at.all().iter().map(|at| (at.clone(), entry.kind)));
    let obsolete = entries.chain(differs).filter(|key| !used.contains(key));
    drift.obsolete = obsolete.map(|(at, kind)| format!("{at}: {kind}")).collect();
}

/// The file with `published` as the comparison found it. Everything else stays as it was written, comments too.
pub(super) fn with_published(file: &TextFile, drift: &Drift) -> Result<TextFile, Errors> {
    read(file)?;
    let mut text = String::new();
    for block in blocks(&file.text) {
        let one: Result<Divergences, _> = toml::from_str(&block);
        // Each table of a list can be read alone; what stands above the first is no such table.
        match one.as_ref().map(|one| one.differs.as_slice()) {
            Ok([entry]) => text.push_str(&rewritten(&block, entry, drift)),
            _ => text.push_str(&block),
        }
    }
    Ok(TextFile::new(&file.path, text))
}

/// The text cut before each table.
fn blocks(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("[[") {
            out.push(String::new());
        }
        if let Some(last) = out.last_mut() {
            last.push_str(line);
        }
    }
    out
}

fn rewritten(block: &str, entry: &Differs, drift: &Drift) -> String {
    if !says_more_than_itself(entry.kind) && entry.published.is_none() {
        return block.to_owned();
    }
    // The places by what is published there, in their order.
    let mut groups: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    for at in entry.at.all() {
        let found = drift.differences.iter().find(|found| found.kind == entry.kind && found.at == *at);
        // An entry that nothing corresponds to is told; nothing is known to write into it.
        let published = found.map(|found| found.published.as_str()).or(entry.published.as_deref());
        match groups.iter_mut().find(|(known, _)| *known == published) {
            Some((_, places)) => places.push(at),
            None => groups.push((published, vec![at])),
        }
    }
    if let [(published, _)] = groups.as_slice() {
        return with_line(block, *published);
    }
    let mut out = String::new();
    for (index, (published, places)) in groups.iter().enumerate() {
        let places: Vec<String> = places.iter().map(|at| quoted(at)).collect();
        let at = match places.as_slice() {
            [one] => one.clone(),
            several => format!("[\n    {},\n]", several.join(",\n    ")),
        };
        let entry_text = format!(
            "[[differs]]\nat = {at}\nkind = \"{}\"\nreason = {}\n",
            entry.kind,
            quoted(&entry.reason)
        );
        out.push_str(if index == 0 { "" } else { "\n" });
        out.push_str(&with_line(&entry_text, *published));
    }
    // What stands between this entry and the next stays.
    let rest: Vec<&str> = block.split_inclusive('\n').rev().take_while(|line| is_between(line)).collect();
    out.extend(rest.into_iter().rev());
    out
}

fn is_between(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// The entry with a line `published` below its `kind`, in place of the one that it may have.
fn with_line(entry: &str, published: Option<&str>) -> String {
    let Some(published) = published else { return entry.to_owned() };
    let mut out = String::new();
    for line in entry.split_inclusive('\n') {
        let key = line.split('=').next().unwrap_or_default().trim();
        if key == "published" {
            continue;
        }
        out.push_str(line);
        if key == "kind" {
            if !line.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&format!("published = {}\n", quoted(published)));
        }
    }
    out
}

/// A string of TOML. A string of JSON is one; where it would be full of backslashes, a literal one reads better.
fn quoted(text: &str) -> String {
    let literal = text.contains(['"', '\\']) && !text.contains('\'') && !text.chars().any(char::is_control);
    if literal { format!("'{text}'") } else { serde_json::Value::from(text).to_string() }
}
