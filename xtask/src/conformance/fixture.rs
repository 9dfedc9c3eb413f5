//! The fixture server, a process of its own over a store of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::run::cargo;

/// A running server; it ends with this.
pub(super) struct Fixture {
    child: Child,
    url: String,
    _place: Place,
}

/// What the store is in.
enum Place {
    Nothing,
    Folder(#[expect(dead_code, reason = "removed when it is dropped")] tempfile::TempDir),
    #[cfg(unix)]
    Database(#[expect(dead_code, reason = "ended when it is dropped")] crate::postgres_cluster::Cluster),
}

impl Fixture {
    /// Starts it; nothing where the store needs what is not installed.
    pub(super) fn start(store: &str) -> Result<Option<Self>, String> {
        let Some((store, place)) = place(store)? else { return Ok(None) };
        let mut command =
            cargo(&["run", "--quiet", "--package", "mcp-tasks-examples", "--bin", "conformance_server"]);
        command.args(["--", "--http", "0", "--store", &store]);
        let failed = |error: &dyn std::fmt::Display| format!("the fixture server does not start: {error}");
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
        let stderr = child.stderr.take().ok_or_else(|| failed(&"it has no output"))?;
        let mut lines = BufReader::new(stderr).lines();
        let mut fixture = Self { child, url: String::new(), _place: place };
        for line in lines.by_ref() {
            let line = line.map_err(|error| failed(&error))?;
            if let Some(url) = line.strip_prefix("listening on ") {
                url.clone_into(&mut fixture.url);
                break;
            }
        }
        if fixture.url.is_empty() {
            return Err(failed(&"it says no address"));
        }
        // Nobody reads on, and a full pipe would stop it.
        std::thread::spawn(move || for _ in lines {});
        Ok(Some(fixture))
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // One that has ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place(store: &str) -> Result<Option<(String, Place)>, String> {
    let folder = || tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"));
    Ok(Some(match store {
        "sqlite" => {
            let folder = folder()?;
            (format!("sqlite:{}", folder.path().join("tasks.db").display()), Place::Folder(folder))
        }
        "fs" => {
            let folder = folder()?;
            (format!("fs:{}", folder.path().join("tasks").display()), Place::Folder(folder))
        }
        #[cfg(unix)]
        "postgres" => {
            let cluster = crate::postgres_cluster::Cluster::start();
            match cluster.map_err(|error| format!("PostgreSQL does not start: {error}"))? {
                Some(cluster) => (format!("postgres:{}", cluster.url()), Place::Database(cluster)),
                None => return Ok(None),
            }
        }
        #[cfg(not(unix))]
        "postgres" => return Ok(None),
        _ => ("memory".to_owned(), Place::Nothing),
    }))
}
