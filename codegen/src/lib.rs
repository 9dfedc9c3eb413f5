//! Turns JSON Schema files of MCP messages into Rust types, codecs and constants.
//!
//! ```text
//! text -> parse -> lint -> join and lower -> model -> typify (front end) -> render -> text
//! ```
//!
//! The crate does no input or output: files come in as text and go out as text, and the same input gives the same
//! bytes. Faults name the file and the JSON pointer, all of a stage at once. The dialect of the schema files is
//! described in `schema/README.md` of the repository.

mod accept;
mod check;
mod config;
pub mod diff;
pub mod drift;
mod error;
mod front;
mod json;
mod lint;
mod lower;
mod model;
mod names;
pub mod reference;
mod render;
pub mod samples;

pub use error::Error;

/// A file by its path and text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFile {
    /// The path, relative to the folder that the caller reads from or writes to.
    pub path: String,
    /// The content.
    pub text: String,
}

impl TextFile {
    /// A file.
    #[must_use]
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// The input of one generation of the protocol.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Generation {
    /// `codegen.toml`.
    pub config: TextFile,
    /// The schema files.
    pub schemas: Vec<TextFile>,
}

impl Generation {
    /// A generation from its `codegen.toml` and its schema files.
    #[must_use]
    pub fn new(config: TextFile, schemas: Vec<TextFile>) -> Self {
        Self { config, schemas }
    }
}

/// How generated code is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The command that makes the files; their first line names it.
    pub command: String,
    /// The path by which generated code reaches the types crate: `crate` inside it, `::mcp_tasks_types` elsewhere.
    pub root: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { command: "cargo xtask codegen".to_owned(), root: "crate".to_owned() }
    }
}

/// Generates the Rust files of all generations, with paths relative to the folder `generated`.
///
/// # Errors
///
/// All faults of the first stage that found any, each with its file and place.
pub fn generate(generations: &[Generation], options: &Options) -> Result<Vec<TextFile>, Vec<Error>> {
    let mut models = Vec::new();
    let mut files = Vec::new();
    for generation in generations {
        let (model, sources) = lowered(generation)?;
        let front = front::run(&model, &options.root)?;
        files.extend(render::generation(&model, &front, options)?);
        files.push(render::bundle(&model, &sources));
        models.push(model);
    }
    files.push(render::registry(&models, options)?);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The model of a generation with the files that it was made from.
fn lowered(generation: &Generation) -> Result<(model::Model, Vec<lower::Source>), Vec<Error>> {
    let config = config::Config::parse(&generation.config.path, &generation.config.text)?;
    let sources = read(generation)?;
    let model = lower::lower(&sources, &config, &generation.config.path)?;
    let errors = check::check(&model);
    if errors.is_empty() { Ok((model, sources)) } else { Err(errors) }
}

fn model_of(generation: &Generation) -> Result<model::Model, Vec<Error>> {
    lowered(generation).map(|(model, _)| model)
}

fn read(generation: &Generation) -> Result<Vec<lower::Source>, Vec<Error>> {
    let mut sources = Vec::new();
    let mut errors = Vec::new();
    for schema in &generation.schemas {
        match json::Json::parse(&schema.path, &schema.text) {
            Ok(root) => {
                errors.extend(lint::lint(&schema.path, &root));
                let name = schema.path.rsplit('/').next().unwrap_or(&schema.path);
                let stem = name.strip_suffix(".json").unwrap_or(name).to_owned();
                sources.push(lower::Source { path: schema.path.clone(), stem, root });
            }
            Err(faults) => errors.extend(faults),
        }
    }
    if errors.is_empty() { Ok(sources) } else { Err(errors) }
}
