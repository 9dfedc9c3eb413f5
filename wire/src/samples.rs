//! `samples FOLDER`: has the types read the samples that the schema makes, and counts the verdicts that they agree
//! with, for each revision.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mcp_tasks_types::{Map, RawJson};

use crate::wire::{RoundTrip, round_trip, types};

/// The verdicts, which are the names of files.
const VERDICTS: [&str; 3] = ["accept", "reject", "lenient"];

/// Runs the command.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's answer to the person who runs it")]
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let [folder] = arguments else {
        eprintln!("usage: mcp-tasks-wire samples FOLDER");
        return ExitCode::from(2);
    };
    match read(Path::new(folder)) {
        Ok(report) => {
            println!("{report}");
            if report.is_agreed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("samples: {message}");
            ExitCode::from(2)
        }
    }
}

/// What the types said.
#[derive(Debug, Default)]
struct Report {
    generations: Vec<Generation>,
}

#[derive(Debug, Default)]
struct Generation {
    name: String,
    /// How many samples there are of each verdict.
    counts: [usize; VERDICTS.len()],
    faults: Vec<String>,
}

impl Report {
    fn is_agreed(&self) -> bool {
        !self.generations.is_empty() && self.generations.iter().all(|generation| generation.faults.is_empty())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Generation { name, counts, faults } in &self.generations {
            for fault in faults {
                writeln!(f, "{name} {fault}")?;
            }
            let counts: Vec<String> =
                VERDICTS.iter().zip(counts).map(|(verdict, count)| format!("{count} {verdict}")).collect();
            write!(f, "{name}: {}", counts.join(", "))?;
            match faults.len() {
                0 => writeln!(f, "; all agreed")?,
                count => writeln!(f, "; {count} not agreed")?,
            }
        }
        let verdict = if self.is_agreed() { "agree" } else { "do not agree" };
        write!(f, "the types {verdict} with the samples")
    }
}

/// Reads the samples of each revision that there are types of.
fn read(folder: &Path) -> Result<Report, String> {
    let mut report = Report::default();
    for path in folders(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut generation = Generation { name, ..Generation::default() };
        let mut accepted = BTreeSet::new();
        for (verdict, count) in VERDICTS.iter().zip(&mut generation.counts) {
            let file = path.join(format!("{verdict}.jsonl"));
            let text = fs::read_to_string(&file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            for (index, line) in text.lines().enumerate() {
                let sample = Sample::read(line)
                    .map_err(|error| format!("{} line {}: {error}", file.display(), index + 1))?;
                *count += 1;
                if *verdict == "accept" {
                    accepted.insert(sample.r#type.clone());
                }
                if let Err(fault) = sample.agrees(&generation.name, verdict) {
                    let Sample { r#type, case, value } = &sample;
                    generation.faults.push(format!("{type} {verdict}, {case}: {fault}\n  {value}"));
                }
            }
            if *count == 0 {
                generation.faults.push(format!("has no sample to {verdict}"));
            }
        }
        for name in types(&generation.name).filter(|name| !accepted.contains(*name)) {
            generation.faults.push(format!("{name} accept: no sample"));
        }
        report.generations.push(generation);
    }
    if report.generations.is_empty() {
        return Err(format!("there are no samples in {}", folder.display()));
    }
    Ok(report)
}

/// The folders in a folder, in order.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let entries: Result<Vec<PathBuf>, io::Error> =
        fs::read_dir(folder).map_err(cannot)?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = entries.map_err(cannot)?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}

/// A line of a file of samples.
#[derive(Debug)]
struct Sample {
    r#type: String,
    case: String,
    value: RawJson,
}

impl Sample {
    fn read(line: &str) -> Result<Self, String> {
        let members: Map<RawJson> = mcp_tasks_types::from_str(line).map_err(|error| error.to_string())?;
        let member = |name: &str| members.get(name).ok_or_else(|| format!("`{name}` is missing"));
        let text = |name: &str| {
            member(name)?.get::<String>().map_err(|error| format!("`{name}`: {}", error.reason()))
        };
        Ok(Self { r#type: text("type")?, case: text("case")?, value: member("value")?.clone() })
    }

    /// Whether the type says what the verdict says.
    fn agrees(&self, generation: &str, verdict: &str) -> Result<(), String> {
        let Some(round_trip) = round_trip(generation, &self.r#type) else {
            return Err("there is no such type".to_owned());
        };
        match (verdict, round_trip(&self.value)) {
            ("reject", Err(_)) => Ok(()),
            ("reject", Ok(written)) => Err(format!("is read, and written as {written}")),
            (_, Err(error)) => Err(format!("is refused: {error}")),
            ("accept", Ok(written)) if written.json_eq(&self.value) => Ok(()),
            ("accept", Ok(written)) => Err(format!("is written as {written}")),
            (_, Ok(written)) => settles(round_trip, &written),
        }
    }
}

/// What was read leniently is written as what is read without leniency, or at least once and for all.
fn settles(round_trip: RoundTrip, written: &RawJson) -> Result<(), String> {
    match round_trip(written) {
        Ok(again) if again.json_eq(written) => Ok(()),
        Ok(again) => Err(format!("is written as {written}, and that as {again}")),
        Err(error) => Err(format!("is written as {written}, which is refused: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{VERDICTS, read};

    /// Must show of the toolkit: counts of all three verdicts for each revision, all agreed.
    #[test]
    fn the_types_agree_with_the_samples_of_every_revision() {
        let report = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples")).unwrap();
        assert!(report.is_agreed(), "{report}");
        let names: Vec<&str> = report.generations.iter().map(|generation| generation.name.as_str()).collect();
        assert_eq!(names, ["2025-11-25", "2026-07-28", "sep-1686"]);
        for generation in &report.generations {
            assert!(generation.counts.iter().all(|count| *count > 20), "{report}");
            let [accept, reject, lenient] = generation.counts;
            let line = format!(
                "{}: {accept} accept, {reject} reject, {lenient} lenient; all agreed\n",
                generation.name
            );
            assert!(report.to_string().contains(&line), "{report}");
        }
    }

    /// Lines of one revision, as accepted, rejected and leniently read.
    fn report(files: [&str; 3]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("README.md"), "Samples.").unwrap();
        let generation = folder.path().join("2026-07-28");
        fs::create_dir(&generation).unwrap();
        for (verdict, text) in VERDICTS.iter().zip(files) {
            fs::write(generation.join(format!("{verdict}.jsonl")), text).unwrap();
        }
        read(folder.path()).map(|report| {
            assert!(!report.is_agreed(), "{report}");
            report.to_string()
        })
    }

    fn sample(name: &str, value: &str) -> String {
        format!(r#"{{"type":"{name}","case":"a case","value":{value},"reason":"because"}}"#)
    }

    #[test]
    fn each_disagreement_is_told_with_revision_definition_verdict_and_sample() {
        let (good, bad) = (sample("TaskStatus", "\"working\""), sample("TaskStatus", "\"paused\""));
        let told = report([&bad, &good, &bad]).unwrap();
        for line in [
            "2026-07-28 TaskStatus accept, a case: is refused: ",
            "2026-07-28 TaskStatus reject, a case: is read, and written as \"working\"\n  \"working\"\n",
            "2026-07-28 TaskStatus lenient, a case: is refused: ",
            "\n  \"paused\"\n",
            "2026-07-28 TextContent accept: no sample\n",
        ] {
            assert!(told.contains(line), "{line}\n{told}");
        }
        assert!(
            told.contains("2026-07-28: 1 accept, 1 reject, 1 lenient; ") && told.contains(" not agreed\n")
        );
        assert!(told.ends_with("the types do not agree with the samples"), "{told}");

        let changed = report([&sample("Annotations", r#"{"priority":null}"#), &bad, &good]).unwrap();
        assert!(changed.contains("Annotations accept, a case: is written as {}\n"), "{changed}");
        let unknown = report([&sample("Nobody", "1"), &bad, &good]).unwrap();
        assert!(
            unknown.contains("2026-07-28 Nobody accept, a case: there is no such type\n  1\n"),
            "{unknown}"
        );
    }

    #[test]
    fn files_that_are_missing_empty_or_no_samples_are_told() {
        let (good, bad) = (sample("TaskStatus", "\"working\""), sample("TaskStatus", "\"paused\""));
        assert!(report([&good, &bad, ""]).unwrap().contains("2026-07-28 has no sample to lenient"));
        let message = report([&good, r#"{"type":"TaskStatus","value":1}"#, &good]).unwrap_err();
        assert!(message.ends_with("reject.jsonl line 1: `case` is missing"), "{message}");
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap_err().starts_with("there are no samples in "));
        fs::create_dir(folder.path().join("2026-07-28")).unwrap();
        assert!(read(folder.path()).unwrap_err().starts_with("cannot read "));
    }
}
