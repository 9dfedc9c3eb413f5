//! Our own messages: each file under `tests/data/<generation>/<Type>/` is read as its type and written back equal.

use std::fs;
use std::path::Path;

use mcp_tasks_types::RawJson;

use crate::round_trip;

#[test]
fn every_message_of_ours_is_written_back_equal() {
    let data = crate::package().join("tests/data");
    let mut count = 0;
    for generation in entries(&data) {
        count += walk(&data.join(&generation), |name| {
            Some(round_trip(&generation, name).unwrap_or_else(|| panic!("no type `{name}` in {generation}")))
        });
    }
    assert!(count >= 210, "{count} messages");
}

/// Round-trips all files in `folder/<Type>/`; a type without a function is passed over.
pub(crate) fn walk(folder: &Path, find: impl Fn(&str) -> Option<crate::RoundTrip>) -> usize {
    let mut count = 0;
    for name in entries(folder) {
        let Some(round_trip) = find(&name) else { continue };
        for file in entries(&folder.join(&name)) {
            let text = fs::read_to_string(folder.join(&name).join(&file)).unwrap();
            let raw = RawJson::from_text(text).unwrap();
            let written = round_trip(&raw).unwrap_or_else(|error| panic!("{name}/{file}: {error}"));
            assert!(raw.json_eq(&written), "{name}/{file}:\n{raw}\n{written}");
            count += 1;
        }
    }
    count
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
