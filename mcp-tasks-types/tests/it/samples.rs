//! The samples that the schema makes (`samples/`): what has to be accepted, rejected, and read although refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use mcp_tasks_types::RawJson;
use serde::Deserialize;
use serde_json::Value;

use crate::round_trip;

#[derive(Deserialize)]
struct Sample {
    #[serde(skip)]
    generation: String,
    r#type: String,
    case: String,
    value: RawJson,
}

fn round_trip_of(sample: &Sample) -> crate::RoundTrip {
    round_trip(&sample.generation, &sample.r#type).unwrap_or_else(|| panic!("{}", sample.r#type))
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
            let mut sample: Sample = mcp_tasks_types::from_str(line).unwrap();
            sample.generation.clone_from(&name);
            let outcome = round_trip_of(&sample)(&sample.value).map_err(|error| error.to_string());
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

/// Whether what was written is what was read, as far as a lenient reader keeps it: a null may be left out, a fraction
/// of a millisecond rounded up, and a constant that was not there written.
fn says_the_same(written: &Value, read: &Value) -> bool {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            let kept = read.iter().all(|(name, value)| match written.get(name) {
                Some(written) => says_the_same(written, value),
                None => value.is_null(),
            });
            kept && written
                .iter()
                .all(|(name, value)| read.contains_key(name) || (name == "resultType" && value == "complete"))
        }
        (Value::Array(written), Value::Array(read)) => {
            written.len() == read.len() && written.iter().zip(read).all(|(w, r)| says_the_same(w, r))
        }
        (Value::Number(written), Value::Number(read)) => {
            let (written, read) = (written.as_f64().unwrap(), read.as_f64().unwrap());
            written == read || written == read.ceil()
        }
        (written, read) => written == read,
    }
}

#[test]
fn samples_to_read_leniently_are_written_as_what_they_were_read_as() {
    walk("lenient", |sample, outcome| {
        let written = outcome?;
        let again =
            round_trip_of(sample)(&written).map_err(|error| format!("{written} is refused: {error}"))?;
        if again != written {
            return Err(format!("written as {written}, then as {again}"));
        }
        if says_the_same(&written.get().unwrap(), &sample.value.get().unwrap()) {
            return Ok(());
        }
        Err(format!("written as {written}"))
    });
}
