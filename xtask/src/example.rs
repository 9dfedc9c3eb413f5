//! Example servers as processes of their own, and places for what they store.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::run::cargo;

/// The stores that an example server can have.
pub(crate) const STORES: &[&str] = &["memory", "sqlite", "fs", "postgres"];

/// Where tasks are kept; gone with this.
pub(crate) struct Place {
    argument: String,
    what: What,
}

enum What {
    Nothing,
    Folder(#[expect(dead_code, reason = "removed when it is dropped")] tempfile::TempDir),
    #[cfg(unix)]
    Database(#[expect(dead_code, reason = "ended when it is dropped")] crate::postgres_cluster::Cluster),
}

impl Place {
    /// Makes one of these [stores](STORES); nothing where it needs what is not installed.
    pub(crate) fn of(store: &str) -> Result<Option<Self>, String> {
        let folder = || tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"));
        let (argument, what) = match store {
            "sqlite" => {
                let folder = folder()?;
                (format!("sqlite:{}", folder.path().join("tasks.db").display()), What::Folder(folder))
            }
            "fs" => {
                let folder = folder()?;
                (format!("fs:{}", folder.path().join("tasks").display()), What::Folder(folder))
            }
            #[cfg(unix)]
            "postgres" => {
                let cluster = crate::postgres_cluster::Cluster::start();
                match cluster.map_err(|error| format!("PostgreSQL does not start: {error}"))? {
                    Some(cluster) => (format!("postgres:{}", cluster.url()), What::Database(cluster)),
                    None => return Ok(None),
                }
            }
            #[cfg(not(unix))]
            "postgres" => return Ok(None),
            _ => ("memory".to_owned(), What::Nothing),
        };
        Ok(Some(Self { argument, what }))
    }

    /// What stands behind `--store`.
    pub(crate) fn argument(&self) -> &str {
        &self.argument
    }

    /// The same for a second process beside the first, which cannot have its file.
    pub(crate) fn beside(&self) -> String {
        match &self.what {
            What::Folder(_) => format!("{}.beside", self.argument),
            _ => self.argument.clone(),
        }
    }
}

/// A running server; it ends with this.
pub(crate) struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Builds and starts an example that serves HTTP.
    pub(crate) fn start(example: &str, arguments: &[&str]) -> Result<Self, String> {
        let mut command =
            cargo(&["run", "--quiet", "--package", "mcp-tasks-examples", "--bin", example, "--"]);
        command.args(["--http", "0"]).args(arguments);
        let failed = |error: &dyn std::fmt::Display| format!("`{example}` does not start: {error}");
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
        let stderr = child.stderr.take().ok_or_else(|| failed(&"it has no output"))?;
        let mut lines = BufReader::new(stderr).lines();
        let mut server = Self { child, url: String::new() };
        let mut said = Vec::new();
        for line in lines.by_ref() {
            let line = line.map_err(|error| failed(&error))?;
            if let Some(url) = line.strip_prefix("listening on ") {
                url.clone_into(&mut server.url);
                // Nobody reads on, and a full pipe would stop it.
                std::thread::spawn(move || for _ in lines {});
                return Ok(server);
            }
            said.push(line);
        }
        Err(failed(&said.join("\n")))
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
