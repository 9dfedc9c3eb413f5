//! The samples that the schema makes (`samples/`): what has to be accepted, rejected, and read although refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use mcp_tasks_types::RawJson;
use serde::Deserialize;

use crate::round_trip;

#[derive(Deserialize)]
struct Sample {
    r#type: String,
    case: String,
    value: RawJson,
}

/// Every sample of a verdict, checked by a function; gives the counts by generation.
fn walk(verdict: &str, check: impl Fn(&Sample, Result<RawJson, String>) -> Result<(), String>) {
    let folder: PathBuf = crate::package().join("../samples");
    let mut counts = BTreeMap::new();
    let mut faults = Vec::new();
    for generation in fs::read_dir(folder).unwrap() {
        let generation = generation.unwrap();
        if !generation.path().is_dir() {
            continue;
        }
        let name = generation.file_name().into_string().unwrap();
        let text = fs::read_to_string(generation.path().join(format!("{verdict}.jsonl"))).unwrap();
        for line in text.lines() {
            let sample: Sample = mcp_tasks_types::from_str(line).unwrap();
            let round_trip = round_trip(&name, &sample.r#type).unwrap_or_else(|| panic!("{}", sample.r#type));
            let outcome = round_trip(&sample.value).map_err(|error| error.to_string());
            if let Err(fault) = check(&sample, outcome) {
                faults
                    .push(format!("{name} {}, {}: {fault}\n  {}", sample.r#type, sample.case, sample.value));
            }
            *counts.entry(name.clone()).or_insert(0) += 1;
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(counts.values().all(|count| *count > 20) && !counts.is_empty(), "{counts:?}");
}

#[test]
fn samples_to_accept_are_written_back_equal() {
    walk("accept", |sample, outcome| match outcome {
        Ok(written) if written.json_eq(&sample.value) => Ok(()),
        Ok(written) => Err(format!("written back as {written}")),
        Err(error) => Err(error),
    });
}

#[test]
fn samples_to_reject_are_errors_with_a_place() {
    walk("reject", |_, outcome| match outcome {
        Ok(written) => Err(format!("read as {written}")),
        Err(error) if error.contains(" at line 1 column ") => Ok(()),
        Err(error) => Err(format!("without a place: {error}")),
    });
}

#[test]
fn samples_to_read_leniently_are_read() {
    walk("lenient", |_, outcome| outcome.map(drop));
}
