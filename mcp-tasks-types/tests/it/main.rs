//! What the types accept, refuse, keep and write back.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod convert;
mod equal;
mod foreign;
mod hostile;
mod keeps;
mod messages;
mod older;
mod property;
mod published;
mod refuses;
mod reports;
mod round_trip;
mod samples;
#[cfg(feature = "schemars")]
mod schemas;
mod seed;
mod unions;

use mcp_tasks_types::{JsonError, RawJson};

/// What came out of reading and writing, or why nothing did.
pub(crate) type Outcome = Result<RawJson, String>;

/// Reads a value as the type of that schema name and writes it back.
pub(crate) type RoundTrip = fn(&RawJson) -> Result<RawJson, JsonError>;

macro_rules! table {
    ($([$generation:literal, $name:literal, $type:path])*) => {
        pub(crate) const TYPES: &[(&str, &str, RoundTrip)] =
            &[$(($generation, $name, |raw| RawJson::new(&raw.get::<$type>()?))),*];
    };
}
mcp_tasks_types::for_each_wire_type!(table);

pub(crate) fn round_trip(generation: &str, name: &str) -> Option<RoundTrip> {
    TYPES.iter().find(|(g, n, _)| *g == generation && *n == name).map(|(.., f)| *f)
}

/// Writes back what a type of 2026-07-28 makes of a text.
pub(crate) fn read(name: &str, text: &str) -> Result<String, String> {
    read_as("2026-07-28", name, text)
}

/// Writes back what a type of a generation makes of a text.
pub(crate) fn read_as(generation: &str, name: &str, text: &str) -> Result<String, String> {
    let round_trip = round_trip(generation, name).expect("a wire type");
    let raw = RawJson::from_text(text).expect("JSON");
    round_trip(&raw).map(|raw| raw.as_str().to_owned()).map_err(|error| error.to_string())
}

/// The folder of mcp-tasks-types; these tests also run in a package inside it (`tests/features`).
pub(crate) fn package() -> std::path::PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().find(|folder| folder.ends_with("mcp-tasks-types")).unwrap_or(here).to_owned()
}
