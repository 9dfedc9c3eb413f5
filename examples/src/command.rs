//! What the command lines of all these programs have in common.

use std::{
    future::Future,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

/// Where tasks live.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "programs of this package match on it")]
pub enum StoreChoice {
    /// Nowhere for long.
    Memory,
    /// In a file.
    Sqlite(PathBuf),
    /// In a folder.
    Fs(PathBuf),
    /// In a database.
    Postgres(String),
}

impl StoreChoice {
    /// Reads what stands behind `--store`.
    ///
    /// # Errors
    ///
    /// When it names no store.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("fs", path)) if !path.is_empty() => Ok(Self::Fs(path.into())),
            // The whole text is a URL too.
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Postgres(text.to_owned()))
            }
            Some(("postgres", url)) if !url.is_empty() => Ok(Self::Postgres(url.to_owned())),
            _ => Err("a store is `memory`, `sqlite:PATH`, `fs:PATH` or `postgres:URL`"),
        }
    }
}

/// An address, or a port of this machine alone.
///
/// # Errors
///
/// When it is neither.
pub fn address(text: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| "an address is `IP:PORT` or `PORT`")
}

/// What ends the program, for a person.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What happened, and what caused it down to the first cause.
#[must_use]
pub fn chain(failure: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(failure.source(), |cause| cause.source());
    causes.fold(failure.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Ends when the process is told to: Ctrl-C, and SIGTERM where there is one.
///
/// # Errors
///
/// When the system does not tell.
#[cfg(unix)]
pub fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a handler there is nothing to wait for; the system ends the process then.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
