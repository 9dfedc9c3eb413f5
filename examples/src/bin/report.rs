//! The reference service: writes a report and asks for approval of its outline.
//!
//! Run `report --http 127.0.0.1:8000`, call the tool `generate_report`, poll the task with
//! `tasks/get`, answer `approve_outline` with `tasks/update`, and poll for the result.
//! With `--store sqlite:PATH` or `--store fs:PATH` you can end the process between any two of these and start it again.
//! With `--store postgres:URL` several of these processes serve the same tasks.
#![expect(clippy::print_stderr, reason = "a program for the terminal; standard output is the protocol's")]

use std::{future::Future, net::SocketAddr, path::PathBuf, process::ExitCode, sync::OnceLock};

use mcp_tasks::{
    Answer, FsStore, Ids as _, Input, Interrupted, MemoryStore, PostgresStore, RandomIds, Server,
    SqliteStore, Store, TaskContext, ToolError, task_tool, tool_type,
    transport::{
        http::{HttpOptions, bind_http},
        stdio::serve_stdio,
    },
    types::{
        RawJson,
        v2026_07_28::{CallToolResult, ContentBlock, TextContent},
    },
};
use mcp_tasks_examples::command::{Failure, StoreChoice, address, chain, told_to_end};
use tokio::sync::Semaphore;

/// What the person is asked.
#[tool_type]
struct Approval {
    approved: bool,
}

/// What programs read of the result.
#[tool_type]
struct Report {
    size: String,
    approved: bool,
}

/// What a task says until its outline is ready.
const PREPARING: &str = "Preparing report outline.";

/// Writes a report and asks for approval of its outline.
#[task_tool(ttl = "15m", restart = "rerun", status = PREPARING)]
async fn generate_report(
    ctx: TaskContext,
    /// How long the report shall be, for instance `small` or `large`.
    size: String,
    /// Approve the generated report outline?
    approve_outline: Input<Approval>,
) -> Result<CallToolResult, ToolError> {
    ctx.status(PREPARING).await?;
    step_boundary(&ctx).await?;
    let approved = match approve_outline.ask(&ctx).await? {
        Answer::Accept(approval) => approval.approved,
        Answer::Decline => return Err(ToolError::cancelled("The outline was not approved.")),
        // The person closed the question without a choice: the report is written as it stands.
        Answer::Cancel => false,
    };
    step_boundary(&ctx).await?;
    let with = if approved { "with" } else { "without" };
    let text = format!("Generated {size} report {with} approved outline.");
    let report = RawJson::new(&Report { size, approved })?;
    Ok(CallToolResult::new(vec![ContentBlock::Text(TextContent::new(text))])
        .with_structured_content(report)
        .with_is_error(false))
}

/// How many step boundaries the worker may still pass in this process; unset without `--steps`.
static STEPS: OnceLock<Semaphore> = OnceLock::new();

/// Between two steps of the work. With `--steps` the worker holds here once its steps are used up,
/// but still hears a cancellation.
async fn step_boundary(ctx: &TaskContext) -> Result<(), Interrupted> {
    if let Some(steps) = STEPS.get() {
        tokio::select! {
            step = steps.acquire() => {
                if let Ok(step) = step {
                    step.forget();
                }
            }
            interrupted = ctx.cancelled() => return Err(interrupted),
        }
    }
    ctx.checkpoint()
}

const USAGE: &str = "\
usage: report (--stdio | --http ADDRESS) [OPTIONS]

  --stdio                      serve standard input and output
  --http ADDRESS               serve HTTP at http://ADDRESS/mcp; a port alone is one of this
                               machine, port 0 takes any
  --store memory|sqlite:PATH|fs:PATH|postgres:URL
                               where tasks live: nowhere for long (memory), in a file, in a
                               folder of JSON files, or in a PostgreSQL database, which several
                               processes can share
  --poll-ms N                  how often clients should ask (1000)
  --lease-ms N                 how long the tasks of a process that was killed wait for another
                               one that shares the store (30000)
  --state-key-file PATH        a file with at least 32 secret bytes, the same for all processes over
                               one store: it seals what clients bring back when a call asks them
                               in its answer; without it such calls end with their process
  --lenient-inputs             ask also clients that do not declare elicitation
  --steps N                    let the worker pass N step boundaries, then hold";

struct Options {
    serve: Serve,
    store: StoreChoice,
    poll_ms: u64,
    lease_ms: u64,
    state_key_file: Option<PathBuf>,
    lenient_inputs: bool,
    steps: Option<usize>,
}

enum Serve {
    Stdio,
    Http(SocketAddr),
}

impl Serve {
    /// There is one way of serving.
    fn choose(self, chosen: &mut Option<Self>) -> Result<(), &'static str> {
        match chosen.replace(self) {
            None => Ok(()),
            Some(_) => Err("only one of `--stdio` and `--http`, and only once"),
        }
    }
}

impl Options {
    /// Reads the command line; nothing when only the usage was asked for.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        use lexopt::{Arg, ValueExt as _};

        let mut serve = None;
        let mut store = StoreChoice::Memory;
        let mut poll_ms = 1_000;
        let mut lease_ms = 30_000;
        let mut state_key_file = None;
        let mut lenient_inputs = false;
        let mut steps = None;
        while let Some(argument) = arguments.next()? {
            match argument {
                Arg::Long("stdio") => Serve::Stdio.choose(&mut serve)?,
                Arg::Long("http") => {
                    Serve::Http(arguments.value()?.parse_with(address)?).choose(&mut serve)?;
                }
                Arg::Long("store") => {
                    store = arguments.value()?.parse_with(StoreChoice::parse)?;
                }
                Arg::Long("poll-ms") => poll_ms = arguments.value()?.parse()?,
                Arg::Long("lease-ms") => lease_ms = arguments.value()?.parse()?,
                Arg::Long("state-key-file") => state_key_file = Some(arguments.value()?.into()),
                Arg::Long("lenient-inputs") => lenient_inputs = true,
                Arg::Long("steps") => steps = Some(arguments.value()?.parse()?),
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        let serve = serve.ok_or("one of `--stdio` and `--http` is needed")?;
        Ok(Some(Self { serve, store, poll_ms, lease_ms, state_key_file, lenient_inputs, steps }))
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(lexopt::Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            eprintln!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("report: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("report: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(run(options));
    // Nothing is waited for: what the work was at is in the store, and the file comes free with
    // the process.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("report: {}", chain(&*failure));
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<(), Failure> {
    let ended = told_to_end()?;
    if let Some(steps) = options.steps {
        STEPS.get_or_init(|| Semaphore::new(steps));
    }
    match &options.store {
        StoreChoice::Memory => serve(MemoryStore::new(), &options, ended).await,
        StoreChoice::Sqlite(path) => serve(SqliteStore::open(path).await?, &options, ended).await,
        StoreChoice::Fs(path) => serve(FsStore::open(path).await?, &options, ended).await,
        StoreChoice::Postgres(url) => serve(PostgresStore::open(url).await?, &options, ended).await,
    }
}

/// The key of what clients bring back; without a file one of this process alone, which is said where there may be
/// others.
fn state_key(options: &Options) -> Result<Vec<u8>, Failure> {
    if let Some(path) = &options.state_key_file {
        let key = std::fs::read(path);
        return key.map_err(|error| format!("`{}` cannot be read: {error}", path.display()).into());
    }
    if matches!(options.store, StoreChoice::Postgres(_)) {
        eprintln!(
            "without --state-key-file, a call that asks in its answer can be answered at this process only"
        );
    }
    let ids = RandomIds::new();
    Ok(format!("{}{}", ids.task_id()?, ids.task_id()?).into_bytes())
}

async fn serve(
    store: impl Store,
    options: &Options,
    ended: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Failure> {
    let lease_ms = options.lease_ms;
    let server = Server::builder("tasks-demo", env!("CARGO_PKG_VERSION"))
        .store(store)
        .engine(move |engine| engine.lease_ms(lease_ms))
        .instructions("Call `generate_report` and approve the outline when you are asked.")
        .tool::<generate_report>()
        .poll_ms(options.poll_ms)
        .lenient_inputs(options.lenient_inputs)
        .request_state_key(state_key(options)?)
        .build()
        .await?;
    // However it ends, leases are handed over at once, and do not have to run out.
    match options.serve {
        Serve::Stdio => {
            tokio::select! {
                served = serve_stdio(server.clone()) => served?,
                () = ended => server.shutdown().await,
            }
        }
        Serve::Http(address) => {
            let http = bind_http(server, address, HttpOptions::default()).await?;
            eprintln!("listening on {}", http.url());
            http.serve(ended).await?;
        }
    }
    Ok(())
}
