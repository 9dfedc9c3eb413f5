//! The server that is tortured: tools that are quick, slow, ask, do steps, and panic.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use mcp_tasks::transport::http::{HttpOptions, bind_http};
use mcp_tasks::{
    FsStore, Input, PostgresStore, Server, SqliteStore, Store, TaskContext, ToolError, task_tool, tool_type,
};

use super::Failure;
use super::broken::Broken;
use super::effects;
use super::watched::Watched;

/// The stores that outlive a process.
pub(super) const STORES: &[&str] = &["sqlite", "fs", "postgres"];

/// How long the tasks of a killed process wait for another one.
const LEASE_MS: u64 = 2_000;

static EFFECTS: OnceLock<PathBuf> = OnceLock::new();

#[tool_type]
struct Approval {
    approved: bool,
}

/// What a result says of its run.
#[tool_type]
struct Run {
    token: u64,
}

fn tell(ctx: &TaskContext, what: &str, step: &str) -> Result<(), ToolError> {
    let Some(path) = EFFECTS.get() else { return Ok(()) };
    Ok(effects::add(path, what, ctx.task_id().as_str(), step, ctx.fencing_token())?)
}

fn end(ctx: &TaskContext) -> Run {
    Run { token: ctx.fencing_token() }
}

/// Is done at once.
#[task_tool(ttl = "1h", restart = "rerun")]
async fn quick(ctx: TaskContext) -> Result<Run, ToolError> {
    Ok(end(&ctx))
}

/// Takes a while and says so.
#[task_tool(ttl = "1h", restart = "rerun", cancel_grace = "200ms")]
async fn slow(
    ctx: TaskContext,
    /// How long it takes.
    millis: u64,
) -> Result<Run, ToolError> {
    for part in 0..4 {
        ctx.status(format!("part {part}")).await?;
        // The work of a slow tool is to take time.
        tokio::time::sleep(Duration::from_millis(millis / 4)).await;
    }
    Ok(end(&ctx))
}

/// Asks before it ends.
#[task_tool(ttl = "1h", restart = "rerun", park_after = "100ms")]
async fn asking(
    ctx: TaskContext,
    /// Go on?
    approve: Input<Approval>,
) -> Result<Run, ToolError> {
    approve.ask(&ctx).await?;
    Ok(end(&ctx))
}

/// Does its work in steps, each with an effect outside.
#[task_tool(ttl = "1h", restart = "rerun")]
async fn stepwise(
    ctx: TaskContext,
    /// How many steps.
    steps: u32,
) -> Result<Run, ToolError> {
    for number in 0..steps {
        let step = format!("step{number}");
        let work = async || {
            tell(&ctx, effects::DONE, &step)?;
            // Between the effect and its record there is time to be killed in.
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok::<_, ToolError>(number)
        };
        ctx.step(step.clone(), work).await?;
        tell(&ctx, effects::RECORDED, &step)?;
    }
    Ok(end(&ctx))
}

/// Panics.
#[task_tool(ttl = "1h")]
async fn panicking(ctx: TaskContext) -> Result<Run, ToolError> {
    ctx.status("about to").await?;
    panic!("as it should")
}

/// Serves until it is killed. Arguments: the kind of store, its place, the file for effects, and `--broken` for a store
/// that loses records.
pub(super) fn serve(arguments: &[String]) -> Result<(), Failure> {
    let [kind, place, file, rest @ ..] = arguments else { return Err("three arguments are needed".into()) };
    let broken = rest.iter().any(|argument| argument == "--broken");
    EFFECTS.get_or_init(|| PathBuf::from(file));
    // A tool that panics is part of the load, and its report is not.
    std::panic::set_hook(Box::new(|_| {}));
    tokio::runtime::Runtime::new()?.block_on(async {
        match kind.as_str() {
            "sqlite" if broken => serve_over(Broken::new(SqliteStore::open(place).await?), file).await,
            "sqlite" => serve_over(SqliteStore::open(place).await?, file).await,
            "fs" => serve_over(FsStore::open(place).await?, file).await,
            "postgres" => serve_over(PostgresStore::open(place).await?, file).await,
            other => Err(format!("no store `{other}`").into()),
        }
    })
}

async fn serve_over(store: impl Store, file: &str) -> Result<(), Failure> {
    let server = Server::builder("torture", "1")
        .store(Watched::new(store, file))
        .engine(|engine| engine.lease_ms(LEASE_MS).max_tasks_of_owner(1_000_000).max_tasks(1_000_000))
        .max_attempts(1_000)
        // Its clients know tasks, so that nothing is sealed; who shares a store has to say so all the same.
        .request_state_key([0; 32])
        .poll_ms(10)
        .tool::<quick>()
        .tool::<slow>()
        .tool::<asking>()
        .tool::<stepwise>()
        .tool::<panicking>()
        .build()
        .await?;
    let http = bind_http(server, "127.0.0.1:0".parse()?, HttpOptions::default()).await?;
    #[expect(clippy::print_stderr, reason = "its parent reads where it listens")]
    {
        eprintln!("listening on {}", http.url());
    }
    http.serve(std::future::pending()).await?;
    Ok(())
}
