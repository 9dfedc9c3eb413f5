//! `cargo xtask fuzz`: random bytes against the types and the transports, guided by what they reach in the code
//! (libFuzzer).
//!
//! The targets are a workspace of their own in the layout of cargo-fuzz, which needs a nightly compiler for its
//! sanitizers. What it needs for coverage the stable one has as well, and without unsafe code there is little for a
//! sanitizer to find; so the targets are built here with the same flags.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
};

use crate::output::sorted;
use crate::run::{SKIPPED, cargo, passed_on, reported, root, target};

/// The packages of targets: those of the types, and those of a server.
const PACKAGES: [&str; 2] = ["mcp-tasks-types/fuzz", "mcp-tasks/fuzz"];
const USAGE: &str = "usage: cargo xtask fuzz [--seconds N] [TARGET...]";
const SECONDS: u32 = 60;

/// Counters on all edges, the table that tells which they are, and the operands of comparisons.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// How long an input may be: longer than any of the schema's own messages.
const MAX_LEN: usize = 64 << 10;
/// What an input may cost: with what the claims need, some hundred times what it does.
const LIMITS: &[&str] = &["-timeout=5", "-rss_limit_mb=1024"];

/// Words that the samples do not have: members once more, and values that readers get wrong, among them serde_json's
/// own private names.
const ODD_WORDS: &[&str] = &[
    r#","_meta":{}"#,
    r#","id":1"#,
    r#","params":{}"#,
    r#""":[],"#,
    r#""a","b","c","#,
    "null",
    "1e400",
    "-0.0",
    "9007199254740993",
    "18446744073709551616",
    r"\ud83d",
    r"\u0000",
    r"\u0061\n",
    r#""$serde_json::private::Number""#,
    r#""$serde_json::private::RawValue""#,
];

/// Runs the command: builds the targets and gives each of them its time, as many at once as there are processors.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let all = match targets(&root()) {
        Ok(all) => all,
        Err(fault) => return reported(Err(fault)),
    };
    let (seconds, chosen) = match asked(arguments, &all) {
        Ok(asked) => asked,
        Err(fault) => {
            eprintln!("{fault}\n{USAGE}\n  targets: {}", all.join(" "));
            return ExitCode::from(2);
        }
    };
    if let Err(fault) = compiler() {
        eprintln!("fuzz: skipped: libFuzzer is compiled from C++, and there is no compiler for it: {fault}");
        return ExitCode::from(SKIPPED);
    }
    let folder = target().join("fuzz");
    let host = match host() {
        Ok(host) => host,
        Err(fault) => return reported(Err(fault)),
    };
    for package in PACKAGES {
        let wanted: Vec<String> = match targets_of(&root(), package) {
            Ok(targets) => targets.into_iter().filter(|target| chosen.contains(target)).collect(),
            Err(fault) => return reported(Err(fault)),
        };
        if wanted.is_empty() {
            continue;
        }
        // With a target named, build scripts and macros are built without the flags, which are not for them.
        let mut build = cargo(&["build", "--release", "--manifest-path"]);
        build
            .arg(root().join(package).join("Cargo.toml"))
            .args(["--target", &host])
            .arg("--target-dir")
            .arg(&folder);
        build.args(wanted.iter().flat_map(|target| ["--bin", target]));
        build.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
        if passed_on(&mut build) != ExitCode::SUCCESS {
            return ExitCode::FAILURE;
        }
    }
    let programs = folder.join(host).join("release");
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let mut all_is_well = true;
    for group in chosen.chunks(at_once) {
        let outcomes = thread::scope(|scope| {
            let runs: Vec<_> = group
                .iter()
                .map(|name| scope.spawn(|| fuzz(&Target::new(name, &programs, &folder), seconds)))
                .collect();
            runs.into_iter()
                .map(|run| run.join().unwrap_or_else(|_| Err("panicked".to_owned())))
                .collect::<Vec<_>>()
        });
        for (name, outcome) in group.iter().zip(outcomes) {
            match outcome {
                Ok(outcome) => {
                    println!("{name}: {outcome}");
                    all_is_well &= outcome.finding.is_none();
                }
                Err(fault) => {
                    eprintln!("{name}: {fault}");
                    all_is_well = false;
                }
            }
        }
    }
    if all_is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The names of all targets.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let of_each =
        PACKAGES.map(|package| targets_of(root, package)).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(of_each.concat())
}

/// The names of a package's targets: the files of its folder.
fn targets_of(root: &Path, package: &str) -> Result<Vec<String>, String> {
    let files = sorted(&root.join(package).join("fuzz_targets"))?;
    let names = files.iter().filter_map(|file| file.file_stem());
    Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
}

/// For how long, and which.
fn asked(arguments: &[String], all: &[String]) -> Result<(u32, Vec<String>), String> {
    let (mut seconds, mut chosen) = (SECONDS, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let number = rest.next().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
            seconds = number.ok_or("fuzz: `--seconds` takes a number of seconds")?;
        } else if all.contains(argument) {
            chosen.push(argument.clone());
        } else {
            return Err(format!("fuzz: no target `{argument}`"));
        }
    }
    if chosen.is_empty() {
        chosen = all.to_vec();
    }
    Ok((seconds, chosen))
}

/// Whether there is a C++ compiler where the build looks for one.
fn compiler() -> Result<(), String> {
    let program = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(&program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{} --version` ends with {status}", program.display())),
        Err(error) => Err(format!("`{}`: {error}", program.display())),
    }
}

/// The platform that we run on, by the compiler's name for it.
fn host() -> Result<String, String> {
    let output =
        cargo(&["-vV"]).output().map_err(|error| format!("fuzz: cannot ask cargo for its host: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "fuzz: cargo does not say what its host is".to_owned())
}

/// A target's program, and where it keeps what.
struct Target {
    name: String,
    program: PathBuf,
    /// Made anew each time.
    seeds: PathBuf,
    dictionary: PathBuf,
    /// What reached something new; stays, so that a later run goes on from there.
    corpus: PathBuf,
    /// Inputs that broke a claim; stay as well, and are tried again first.
    findings: PathBuf,
}

impl Target {
    fn new(name: &str, programs: &Path, folder: &Path) -> Self {
        Self {
            name: name.to_owned(),
            program: programs.join(name),
            seeds: folder.join("seeds").join(name),
            dictionary: folder.join("seeds").join(format!("{name}.dict")),
            corpus: folder.join("corpus").join(name),
            findings: folder.join("findings").join(name),
        }
    }
}

fn fuzz(target: &Target, seconds: u32) -> Result<Outcome, String> {
    let io = |error: std::io::Error| format!("{}: {error}", target.seeds.display());
    if target.seeds.is_dir() {
        fs::remove_dir_all(&target.seeds).map_err(io)?;
    }
    for folder in [&target.seeds, &target.corpus, &target.findings] {
        fs::create_dir_all(folder).map_err(io)?;
    }
    let samples = samples_of(&root(), &target.name)?;
    for (name, text) in seeds(&target.name, &samples) {
        fs::write(target.seeds.join(name), text).map_err(io)?;
    }
    fs::write(&target.dictionary, dictionary(&samples)).map_err(io)?;

    let mut command = Command::new(&target.program);
    command.args([&target.corpus, &target.seeds, &target.findings]).args(LIMITS);
    command.args([
        format!("-max_len={MAX_LEN}"),
        format!("-max_total_time={seconds}"),
        "-print_final_stats=1".to_owned(),
    ]);
    command.arg(format!("-artifact_prefix={}/", target.findings.display()));
    command.arg(format!("-dict={}", target.dictionary.display()));
    // A panic's message is what counts; the stack would hide it.
    command.env("RUST_BACKTRACE", "0");
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start {}: {error}", target.program.display()))?;
    Ok(Outcome::of(&target.program, output.status.success(), &String::from_utf8_lossy(&output.stderr)))
}

/// The lines of a target's samples, by verdict. The target's name ends with the generation's.
fn samples_of(root: &Path, target: &str) -> Result<Vec<(String, String)>, String> {
    let of = |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
    let folders = sorted(&root.join("samples"))?;
    let folder = folders.iter().find(|folder| target.ends_with(&format!("_{}", of(folder))));
    let folder = folder.ok_or_else(|| format!("no samples for {target}"))?;
    sorted(folder)?
        .iter()
        .map(|file| {
            let verdict = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            Ok((verdict, text))
        })
        .collect()
}

/// The inputs that a target begins with, and names for them. One of `types_` names the type on a line of its own, one
/// of `http_` has headers before the message; the others are messages.
fn seeds(target: &str, samples: &[(String, String)]) -> Vec<(String, String)> {
    let seed = |name: &str, message: &str| match target.split('_').next() {
        Some("types") => Some(format!("{name}\n{message}")),
        _ if !(message.contains("\"jsonrpc\"") || message.contains("\"method\"")) => None,
        Some("http") => Some(with_headers(message)),
        _ => Some(message.to_owned()),
    };
    let mut out = Vec::new();
    for (verdict, text) in samples {
        for (number, line) in text.lines().enumerate() {
            let Some((name, value)) = type_and_value(line) else { continue };
            out.extend(seed(name, value).map(|seed| (format!("{verdict}-{number:04}"), seed)));
        }
    }
    let odd = odd_messages().into_iter().chain(if is_of_a_server(target) { calls() } else { Vec::new() });
    out.extend(odd.filter_map(|(case, text)| Some((case.to_owned(), seed("JSONRPCNotification", &text)?))));
    out
}

fn is_of_a_server(target: &str) -> bool {
    target.starts_with("http_") || target.starts_with("stdio_")
}

/// The headers that belong to a message, a blank line, and the message.
fn with_headers(message: &str) -> String {
    let string = |member: &str| {
        let (_, rest) = message.split_once(&format!("\"{member}\":\""))?;
        rest.split('"').next()
    };
    let mut head = String::from("MCP-Protocol-Version: 2026-07-28\r\n");
    if let Some(method) = string("method") {
        head.push_str(&format!("Mcp-Method: {method}\r\n"));
    }
    if let Some(name) = string("taskId").or_else(|| string("name")) {
        head.push_str(&format!("Mcp-Name: {name}\r\n"));
    }
    format!("{head}\r\n{message}")
}

/// Requests to the tools of the server that is fuzzed, as a client sends them.
fn calls() -> Vec<(&'static str, String)> {
    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    let request = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},{META}}}}}"#)
    };
    vec![
        ("call-add", request("tools/call", r#""name":"add","arguments":{"left":1,"right":2,"words":["a"]}"#)),
        ("call-echo", request("tools/call", r#""name":"echo","arguments":{"text":"a"}"#)),
        ("call-ask", request("tools/call", r#""name":"ask","arguments":{}"#)),
        (
            "call-ask-answered",
            request(
                "tools/call",
                r#""name":"ask","arguments":{},"inputResponses":{"approve":{"action":"accept","content":{"approved":true}}}"#,
            ),
        ),
        ("get", request("tasks/get", r#""taskId":"tsk_1""#)),
        ("cancel", request("tasks/cancel", r#""taskId":"tsk_1""#)),
        (
            "update",
            request("tasks/update", r#""taskId":"tsk_1","inputResponses":{"approve":{"action":"decline"}}"#),
        ),
        (
            "listen",
            request(
                "subscriptions/listen",
                r#""notifications":{"taskIds":["tsk_1"],"toolsListChanged":true}"#,
            ),
        ),
    ]
}

/// Messages that no run would come to by itself in its time: those about as long as an input may be, in which it shows
/// what takes more than its share of time, and one that says something twice.
fn odd_messages() -> Vec<(&'static str, String)> {
    let members: String = (0..4000).map(|number| format!("\"{number}\":[],")).collect();
    let lists = format!("{}{}", "[".repeat(30_000), "]".repeat(30_000));
    let twice = r#"{"jsonrpc":"2.0","id":"\u0061","method":"m","params":{"_meta":{},"_meta":{}}}"#;
    vec![
        ("long-members", format!(r#"{{{members}"jsonrpc":"2.0","method":"m"}}"#)),
        ("long-members-refused", format!(r#"{{{members}"jsonrpc":"2.0","method":1}}"#)),
        ("long-lists", format!(r#"{{"jsonrpc":"2.0","method":"m","x":{lists}}}"#)),
        ("meta-twice", twice.to_owned()),
    ]
}

/// The parts of a sample, which is written as `{"type":…,"case":…,"value":…}`; inside a string the quotes before a name
/// would be escaped.
fn type_and_value(line: &str) -> Option<(&str, &str)> {
    let (head, value) = line.split_once(r#","value":"#)?;
    let name = head.strip_prefix(r#"{"type":""#)?.split('"').next()?;
    Some((name, value.strip_suffix('}')?))
}

/// A libFuzzer dictionary of the strings in the samples, names of members among them.
fn dictionary(samples: &[(String, String)]) -> String {
    let mut words: BTreeSet<String> = ODD_WORDS.iter().map(|word| (*word).to_owned()).collect();
    for (_, text) in samples {
        for (_, value) in text.lines().filter_map(type_and_value) {
            // Every second part stands between quotes as long as none is escaped, as in nearly all samples.
            let strings = value.split('"').skip(1).step_by(2);
            words.extend(strings.map(|string| format!("\"{string}\"")));
        }
    }
    // libFuzzer has room for 64 bytes a word.
    let entries = words.iter().filter(|word| word.len() < 64).map(|word| {
        let escaped = word.bytes().map(|byte| match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'_' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        });
        format!("\"{}\"\n", escaped.collect::<String>())
    });
    entries.collect()
}

/// What a run of a target came to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    runs: u64,
    seconds: u64,
    corpus: u64,
    edges: u64,
    /// What went wrong, and how to see it again.
    finding: Option<String>,
}

impl Outcome {
    /// Reads what libFuzzer says.
    fn of(program: &Path, ended_well: bool, log: &str) -> Self {
        let statistic = |name: &str| {
            let line = log.lines().find_map(|line| line.strip_prefix(&format!("stat::{name}:")));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        // `#1234 DONE cov: 12 ft: 34 corp: 56/78Kb …`
        let status =
            log.lines().rfind(|line| line.starts_with('#') && line.contains(" cov: ")).unwrap_or_default();
        let number = |name: &str| {
            let text = status.split_once(name).map_or("", |(_, rest)| rest);
            text.split(|c: char| !c.is_ascii_digit())
                .next()
                .and_then(|number| number.parse().ok())
                .unwrap_or(0)
        };
        let runs: u64 = statistic("number_of_executed_units");
        Self {
            runs,
            // Of an end within the first second there is no average.
            seconds: runs.checked_div(statistic("average_exec_per_sec")).unwrap_or(0),
            corpus: number("corp: "),
            edges: number("cov: "),
            finding: (!ended_well).then(|| finding(program, log)),
        }
    }
}

/// The reason in a log, and the command that shows it again.
fn finding(program: &Path, log: &str) -> String {
    // A panic tells its message on the lines after its place; other ends tell it in libFuzzer's words.
    let mut reason: Vec<&str> = log
        .lines()
        .skip_while(|line| !line.contains("panicked at"))
        .take_while(|line| !line.starts_with("==") && !line.starts_with("note: "))
        .collect();
    if reason.is_empty() {
        reason = log.lines().filter(|line| line.contains("ERROR: ")).collect();
    }
    if reason.is_empty() {
        reason = log.lines().rev().take(5).collect();
    }
    let input = log.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path));
    let again = input.map(|input| format!("\n  input: {input}\n  again: {} {input}", program.display()));
    format!("{}{}", reason.join("\n  "), again.unwrap_or_default())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, seconds, corpus, edges, finding } = self;
        write!(f, "{runs} runs in {seconds} s, {corpus} inputs kept, {edges} edges reached, ")?;
        match finding {
            None => f.write_str("no finding"),
            Some(finding) => write!(f, "1 finding\n  {finding}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{
        MAX_LEN, Outcome, PACKAGES, asked, dictionary, samples_of, seeds, targets, type_and_value,
        with_headers,
    };
    use crate::run::root;

    #[test]
    fn every_generation_has_its_targets_and_they_have_seeds() {
        let names: BTreeSet<String> = targets(&root()).unwrap().into_iter().collect();
        let manifests =
            PACKAGES.map(|package| fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap());
        let manifest = manifests.concat();
        let mut expected = BTreeSet::new();
        let folders = fs::read_dir(root().join("samples")).unwrap().map(Result::unwrap);
        for generation in folders.filter(|entry| entry.file_type().unwrap().is_dir()) {
            let generation = generation.file_name().into_string().unwrap().replace('-', "_");
            // What a server speaks.
            let of_a_server: &[&str] = if generation == "2026_07_28" { &["http", "stdio"] } else { &[] };
            for kind in ["envelope", "types"].iter().chain(of_a_server) {
                let name = format!("{kind}_{generation}");
                assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
                let seeds = seeds(&name, &samples_of(&root(), &name).unwrap());
                assert!(seeds.len() > 50, "{name} has {} seeds", seeds.len());
                let fits = |(_, seed): &(String, String)| seed.len() <= MAX_LEN;
                assert!(seeds.iter().all(fits), "{name} has a seed that is too long");
                expected.insert(name);
            }
        }
        assert_eq!(names, expected);
    }

    #[test]
    fn a_sample_is_taken_apart() {
        let line = r#"{"type":"Task","case":"odd","value":{"x":{},"value":"a"}}"#;
        assert_eq!(type_and_value(line), Some(("Task", r#"{"x":{},"value":"a"}"#)));
        let words = dictionary(&[("accept".to_owned(), line.to_owned())]);
        assert!(words.contains(r#""\x22value\x22""#), "{words}");
    }

    #[test]
    fn a_message_gets_the_headers_that_repeat_it() {
        let message = r#"{"method":"tasks/get","params":{"taskId":"a","name":"b"}}"#;
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tasks/get\r\nMcp-Name: a\r\n\r\n";
        assert_eq!(with_headers(message), format!("{headers}{message}"));
    }

    #[test]
    fn targets_and_time_are_chosen() {
        let all = ["a".to_owned(), "b".to_owned()];
        let of = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
            asked(&arguments, &all)
        };
        assert_eq!(of(&[]), Ok((60, all.to_vec())));
        assert_eq!(of(&["b", "--seconds", "5"]), Ok((5, vec!["b".to_owned()])));
        assert!(of(&["c"]).is_err() && of(&["--seconds"]).is_err() && of(&["--seconds", "0"]).is_err());
    }

    #[test]
    fn what_libfuzzer_says_is_read() {
        let log = "#9 INITED cov: 1 ft: 1 corp: 1/1b\n#120\tDONE   cov: 12 ft: 34 corp: 56/7Kb lim: 4\n\
            stat::number_of_executed_units: 120\nstat::average_exec_per_sec:     40\n";
        let outcome = Outcome::of(Path::new("p"), true, log);
        assert_eq!(outcome, Outcome { runs: 120, seconds: 3, corpus: 56, edges: 12, finding: None });
        let log = "thread 'main' panicked at a.rs:1:2:\nlost\n==1== ERROR: libFuzzer: deadly signal\n\
            artifact_prefix='f/'; Test unit written to f/crash-1\n";
        let finding = Outcome::of(Path::new("p"), false, log).finding.unwrap();
        assert!(finding.contains("lost") && finding.ends_with("again: p f/crash-1"), "{finding}");
    }
}
