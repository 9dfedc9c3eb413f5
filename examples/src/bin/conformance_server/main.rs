//! The server that the official conformance suite is run against: its fixtures, each a few lines.
//!
//! Run `conformance_server --http 127.0.0.1:8000`, or `cargo xtask conformance tasks`, which starts it, runs the suite
//! and prints a table.
#![expect(clippy::print_stderr, reason = "a program for the terminal")]

mod generic;
mod rounds;

use std::{net::SocketAddr, process::ExitCode, time::Duration};

use mcp_tasks::{
    Answer, FsStore, Input, Interrupted, MemoryStore, PostgresStore, Server, SqliteStore, Store, TaskContext,
    ToolError, task_tool, tool_type,
    transport::http::{HttpOptions, bind_http},
};
use mcp_tasks_examples::command::{Failure, StoreChoice, address, chain, told_to_end};

const USAGE: &str = "\
usage: conformance_server --http ADDRESS [--store memory|sqlite:PATH|fs:PATH|postgres:URL]";

/// Greets somebody.
#[task_tool(task = "never")]
async fn greet(
    /// Whom.
    name: String,
) -> Result<String, ToolError> {
    Ok(format!("Hello, {name}!"))
}

/// Takes a while.
#[task_tool(ttl = "10m", poll = "200ms")]
async fn slow_compute(
    ctx: TaskContext,
    /// For how long, in seconds.
    seconds: Option<f64>,
    /// What it is about.
    label: Option<String>,
) -> Result<String, ToolError> {
    let seconds = seconds.unwrap_or(1.0).clamp(0.0, 600.0);
    pause(&ctx, Duration::from_secs_f64(seconds)).await?;
    Ok(format!("{} took {seconds} s", label.as_deref().unwrap_or("it")))
}

/// Fails after a second, as a tool does.
#[task_tool(task = "required", ttl = "10m", poll = "200ms")]
async fn failing_job(ctx: TaskContext) -> Result<String, ToolError> {
    pause(&ctx, Duration::from_secs(1)).await?;
    Err(ToolError::tool("the job failed, as it always does"))
}

/// Fails as a request does.
#[task_tool(ttl = "10m", poll = "200ms")]
async fn protocol_error_job() -> Result<String, ToolError> {
    Err(ToolError::protocol(-32_603, "the job broke the protocol, as it always does"))
}

/// What is asked before something is deleted.
#[tool_type]
struct Confirmation {
    confirm: bool,
}

/// Deletes a file, when it is told to.
#[task_tool(ttl = "10m", poll = "200ms", restart = "rerun")]
async fn confirm_delete(
    ctx: TaskContext,
    /// Which file.
    filename: String,
    /// Delete the file?
    confirm: Input<Confirmation>,
) -> Result<String, ToolError> {
    match confirm.ask(&ctx).await? {
        Answer::Accept(Confirmation { confirm: true }) => Ok(format!("{filename} is deleted")),
        _ => Ok(format!("{filename} is kept")),
    }
}

/// One of two questions.
#[tool_type]
struct Name {
    name: String,
}

/// Asks two questions at once.
#[task_tool(ttl = "10m", poll = "200ms", restart = "rerun")]
async fn multi_input(
    ctx: TaskContext,
    /// What is your name?
    name: Input<Name>,
    /// Go on?
    confirm: Input<Confirmation>,
) -> Result<String, ToolError> {
    let (name, confirm) = ctx.ask_all((&name, &confirm)).await?;
    let name = name.accepted().map_or_else(|| "nobody".to_owned(), |answer| answer.name);
    let confirmed = matches!(confirm, Answer::Accept(Confirmation { confirm: true }));
    Ok(format!("{name}, confirmed: {confirmed}"))
}

/// Greets whoever is there, in a task that is made when the name is known.
#[task_tool(name = "test_tool_with_task", task = "required", ttl = "10m", poll = "200ms")]
async fn greet_in_a_task(
    ctx: TaskContext,
    /// What is your name?
    #[ask(before_task)]
    user_name: Input<Name>,
) -> Result<String, ToolError> {
    let name =
        user_name.ask(&ctx).await?.accepted().map_or_else(|| "nobody".to_owned(), |answer| answer.name);
    Ok(format!("Hello, {name}!"))
}

/// Waits, unless the task is cancelled.
async fn pause(ctx: &TaskContext, time: Duration) -> Result<(), Interrupted> {
    tokio::select! {
        // The suite lives in real time, and looks whether this takes as long as it says.
        () = tokio::time::sleep(time) => Ok(()),
        interrupted = ctx.cancelled() => Err(interrupted),
    }
}

struct Options {
    address: SocketAddr,
    store: StoreChoice,
}

impl Options {
    /// Reads the command line; nothing when only the usage was asked for.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        use lexopt::{Arg, ValueExt as _};

        let mut http = None;
        let mut store = StoreChoice::Memory;
        while let Some(argument) = arguments.next()? {
            match argument {
                Arg::Long("http") => http = Some(arguments.value()?.parse_with(address)?),
                Arg::Long("store") => store = arguments.value()?.parse_with(StoreChoice::parse)?,
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        let address = http.ok_or("`--http` is needed")?;
        Ok(Some(Self { address, store }))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Options::parse(lexopt::Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            eprintln!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("conformance_server: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("conformance_server: {}", chain(&*failure));
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<(), Failure> {
    match &options.store {
        StoreChoice::Memory => serve(MemoryStore::new(), options).await,
        StoreChoice::Sqlite(path) => serve(SqliteStore::open(path).await?, options).await,
        StoreChoice::Fs(path) => serve(FsStore::open(path).await?, options).await,
        StoreChoice::Postgres(url) => serve(PostgresStore::open(url).await?, options).await,
    }
}

async fn serve(store: impl Store, options: &Options) -> Result<(), Failure> {
    let server = Server::builder("conformance-server", env!("CARGO_PKG_VERSION"))
        .store(store)
        .tool::<generic::simple_text>()
        .tool::<greet>()
        .tool::<slow_compute>()
        .tool::<failing_job>()
        .tool::<protocol_error_job>()
        .tool::<confirm_delete>()
        .tool::<multi_input>()
        .tool::<generic::image>()
        .tool::<generic::audio>()
        .tool::<generic::embedded_resource>()
        .tool::<generic::multiple_content_types>()
        .tool::<generic::error_handling>()
        .tool::<generic::custom_header>()
        .tool::<generic::json_schema>()
        .tool::<generic::progress>()
        .tool::<generic::logging>()
        .tool::<generic::sometimes>()
        .tool::<generic::trigger_tool_change>()
        .tool::<greet_in_a_task>()
        .tool::<rounds::elicitation>()
        .tool::<rounds::request_state>()
        .tool::<rounds::tampered_state>()
        .tool::<rounds::multi_round>()
        .tool::<rounds::missing_capability>()
        .tool::<rounds::streaming_elicitation>()
        .tool::<rounds::sampling>()
        .tool::<rounds::list_roots>()
        .tool::<rounds::multiple_inputs>()
        .tool::<rounds::capabilities>()
        // Known to everybody: the suite seals nothing that matters.
        .request_state_key([0; 32])
        .build()
        .await?;
    generic::SERVER.get_or_init(|| server.clone());
    let ended = told_to_end()?;
    let http = bind_http(server, options.address, HttpOptions::default()).await?;
    eprintln!("listening on {}", http.url());
    http.serve(ended).await?;
    Ok(())
}
