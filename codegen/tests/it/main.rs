//! The generator on small schemas: what it makes, what it refuses, and that the same input gives the same bytes.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod diff;
mod drift;
mod golden;
mod limits;
mod names;
mod reference;
mod references;
mod refuses;
mod reports;
mod samples;

use mcp_tasks_codegen::{Error, Generation, Options, TextFile, generate};

/// Generates one file named `things.json` with a configuration.
pub(crate) fn run(schema: &str, config: &str) -> Result<Vec<TextFile>, Vec<Error>> {
    let config = format!("module = \"v1\"\ngeneration = \"1\"\n{config}");
    let generation = Generation::new(
        TextFile::new("schema/1/codegen.toml", config),
        vec![TextFile::new("schema/1/things.json", schema)],
    );
    generate(&[generation], &Options::inside())
}

/// A schema file with these definitions.
pub(crate) fn file(definitions: &str) -> String {
    format!(
        r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:test","description":"Things.","$defs":{definitions}}}"#
    )
}
