//! What the folder of samples says of itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Verdict;
use crate::TextFile;

const BEFORE: &str = "\
<!-- Made by `cargo xtask samples` from schema/. Do not edit. -->

# Samples

Messages that every type of the protocol revisions has to accept, to reject, or to read although it need not.
They are made from the schema, as the types are, and are here for tests in any language.

A folder is a revision, and a file in it a verdict, `<revision>/<verdict>.jsonl`:

| verdict | what a reader does |
|---|---|
| `accept` | reads the value, and writes back an equal one |
| `reject` | refuses the value, with an error |
| `lenient` | reads the value, although the schema or the text refuses it, or although it means nothing; others may refuse it |

Equal is JSON equality: the order of members and the spelling of numbers do not count.

Each line is an object of JSON.

| member | |
|---|---|
| `type` | the definition in the schema of the revision, by its published name |
| `case` | what the sample is about, in words |
| `value` | the message, or the part of one |
| `reason` | why it is read; on each lenient sample |

";

const AFTER: &str = "
`cargo xtask samples --check` has the compiled types read all of them, and prints these counts.
A program in another language asks the types by lines of JSON and gets one answer a line, of which this is the first:

```sh
jq -c '{generation: \"2026-07-28\", type, value}' samples/2026-07-28/accept.jsonl | cargo xtask wire
```

```text
{\"ok\":true,\"value\":{}}
```
";

/// `README.md` of a folder with the samples of some generations.
#[must_use]
pub fn readme(files: &[TextFile]) -> TextFile {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for file in files {
        if let Some((generation, name)) = file.path.split_once('/') {
            counts.entry(generation).or_default().insert(name, file.text.lines().count());
        }
    }
    let mut text = String::from(BEFORE);
    let verdicts = Verdict::ALL.map(Verdict::name);
    // Writing to a string cannot fail.
    let _ =
        writeln!(text, "| revision | {} |\n|---|{}", verdicts.join(" | "), "---:|".repeat(verdicts.len()));
    for (generation, files) in counts {
        let count =
            |verdict: &str| files.get(format!("{verdict}.jsonl").as_str()).copied().unwrap_or_default();
        let _ = writeln!(text, "| {generation} | {} |", verdicts.map(|v| count(v).to_string()).join(" | "));
    }
    text.push_str(AFTER);
    TextFile::new("README.md", text)
}
