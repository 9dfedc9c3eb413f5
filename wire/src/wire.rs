//! `wire`: reads messages as their types and writes back what the types say, one JSON line each. It is the door for
//! other people's tests: whatever language they are in, they can ask what a type accepts and what it keeps.

use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

use mcp_tasks_types::{JsonError, Map, RawJson};
use serde::Serialize;

/// A line of input.
struct Question {
    generation: String,
    r#type: String,
    value: RawJson,
}

impl Question {
    /// Reads an object in which no member comes twice; members with other names are ignored.
    fn read(line: &[u8]) -> Result<Self, String> {
        let members: Map<RawJson> = mcp_tasks_types::from_slice(line).map_err(|error| error.to_string())?;
        let member = |name: &str| members.get(name).ok_or_else(|| format!("`{name}` is missing"));
        let text = |name: &str| {
            member(name)?.get::<String>().map_err(|error| format!("`{name}`: {}", error.reason()))
        };
        Ok(Self { generation: text("generation")?, r#type: text("type")?, value: member("value")?.clone() })
    }
}

/// A line of output.
#[derive(Debug, Serialize)]
struct Answer {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Answer {
    fn error(error: String) -> Self {
        Self { ok: false, value: None, error: Some(error) }
    }
}

/// What reads a value as a type and writes it back.
pub(crate) type RoundTrip = fn(&RawJson) -> Result<RawJson, JsonError>;

struct WireType {
    generation: &'static str,
    name: &'static str,
    round_trip: RoundTrip,
}

macro_rules! wire_types {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        const WIRE_TYPES: &[WireType] = &[$(WireType {
            generation: $generation,
            name: $name,
            round_trip: |raw| RawJson::new(&raw.get::<$type>()?),
        }),*];
    };
}
mcp_tasks_types::for_each_wire_type!(wire_types);

/// The round trip of a type, if there is such a type.
pub(crate) fn round_trip(generation: &str, name: &str) -> Option<RoundTrip> {
    let found = WIRE_TYPES.iter().find(|known| known.generation == generation && known.name == name);
    found.map(|wire_type| wire_type.round_trip)
}

/// The names of a generation's types.
pub(crate) fn types(generation: &str) -> impl Iterator<Item = &'static str> {
    WIRE_TYPES.iter().filter(move |known| known.generation == generation).map(|known| known.name)
}

/// Runs the command on standard input and output.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let outcome = match arguments {
        [] => answer_lines(io::stdin().lock(), BufWriter::new(io::stdout().lock())),
        [flag] if flag == "--list" => list(BufWriter::new(io::stdout().lock())),
        _ => {
            complain("usage: cargo xtask wire [--list]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our answers has gone; there is nobody left to tell.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("wire: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn list(mut output: impl Write) -> io::Result<()> {
    for wire_type in WIRE_TYPES {
        writeln!(output, "{} {}", wire_type.generation, wire_type.name)?;
    }
    output.flush()
}

fn answer_lines(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return output.flush();
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        serde_json::to_writer(&mut output, &answer(line))?;
        output.write_all(b"\n")?;
        // A caller may wait for each answer before it writes the next question.
        output.flush()?;
    }
}

fn answer(line: &[u8]) -> Answer {
    let question = match Question::read(line) {
        Ok(question) => question,
        Err(error) => {
            return Answer::error(format!(
                "the line is no object with `generation`, `type` and `value`: {error}"
            ));
        }
    };
    if types(&question.generation).next().is_none() {
        return Answer::error(format!("unknown generation `{}`; `--list` names them", question.generation));
    }
    let Some(round_trip) = round_trip(&question.generation, &question.r#type) else {
        return Answer::error(format!(
            "unknown type `{}` in {}; `--list` names them",
            question.r#type, question.generation
        ));
    };
    match round_trip(&question.value) {
        Ok(value) => Answer { ok: true, value: Some(value), error: None },
        Err(error) => Answer::error(format!("{}: {error}", question.r#type)),
    }
}

#[expect(clippy::print_stderr, reason = "a command's answer to the person who runs it")]
fn complain(text: &str) {
    eprintln!("{text}");
}

#[cfg(test)]
mod tests {
    use super::{WIRE_TYPES, answer, answer_lines};

    fn ask(line: &str) -> String {
        serde_json::to_string(&answer(line.as_bytes())).unwrap()
    }

    #[test]
    fn a_line_that_is_no_question_gets_an_answer_too() {
        for line in [
            "{",
            "7",
            "{}",
            r#"{"generation":"2026-07-28","type":7,"value":1}"#,
            r#"{"generation":"2026-07-28","type":"TaskStatus"}"#,
            r#"["2026-07-28","TextContent",{"type":"text","text":"a"}]"#,
            r#"{"generation":"2026-07-28","type":"TaskStatus","value":"working","value":"failed"}"#,
            r#"{"generation":"2026-07-28","type":"TaskStatus","value":"working","x":1,"x":1}"#,
            r#"{"generation":"2026-07-28","type":"TaskStatus","value":"working"} 7"#,
        ] {
            assert!(ask(line).starts_with(r#"{"ok":false,"error":"the line is no object"#), "{line}");
        }
        assert!(answer(b"\xff").error.is_some());
        let more = r#"{"more":1,"value":"working","type":"TaskStatus","generation":"2026-07-28"}"#;
        assert_eq!(ask(more), r#"{"ok":true,"value":"working"}"#);
    }

    #[test]
    fn unknown_names_are_told_apart() {
        let answer = ask(r#"{"generation":"2026-07-28","type":"Nope","value":1}"#);
        assert!(answer.contains("unknown type `Nope`"), "{answer}");
        let answer = ask(r#"{"generation":"1999-01-01","type":"Task","value":1}"#);
        assert!(answer.contains("unknown generation"), "{answer}");
    }

    #[test]
    fn every_question_of_a_run_is_answered_in_order() {
        let input = "{\"generation\":\"2026-07-28\",\"type\":\"TaskStatus\",\"value\":\"working\"}\n\nx\n\
                     {\"generation\":\"2026-07-28\",\"type\":\"TaskStatus\",\"value\":\"pending\"}";
        let mut output = Vec::new();
        answer_lines(input.as_bytes(), &mut output).unwrap();
        let output = String::from_utf8(output).unwrap();
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], r#"{"ok":true,"value":"working"}"#);
        assert!(lines[1].contains("\"ok\":false"));
        assert!(lines[2].contains("unknown variant `pending`, expected one of `working`"), "{}", lines[2]);
    }

    #[test]
    fn a_name_stands_once_in_a_generation() {
        let mut names: Vec<_> = WIRE_TYPES.iter().map(|t| (t.generation, t.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 100);
    }
}
