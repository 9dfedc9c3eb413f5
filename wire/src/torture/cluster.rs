//! The processes under torture: started, killed at random moments, started again.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Failure, Options, now, postgres_cluster};

/// Between two kills, at most.
const PAUSE_MS: u64 = 600;
/// How long the database is away.
const AWAY: Duration = Duration::from_millis(300);

pub(super) struct Cluster {
    options: Options,
    folder: tempfile::TempDir,
    replicas: Vec<Mutex<Replica>>,
    kills: AtomicUsize,
    crashes: AtomicUsize,
    /// Ends after the replicas.
    database: Option<postgres_cluster::Cluster>,
}

/// One process, and where it listens.
struct Replica {
    child: Option<Child>,
    url: String,
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Cluster {
    pub(super) fn start(options: &Options) -> Result<Self, Failure> {
        let database = match options.store.as_str() {
            "postgres" => Some(postgres_cluster::Cluster::start()?.ok_or("PostgreSQL is not installed")?),
            _ => None,
        };
        let mut cluster = Self {
            options: options.clone(),
            folder: tempfile::tempdir()?,
            replicas: Vec::new(),
            kills: AtomicUsize::new(0),
            crashes: AtomicUsize::new(0),
            database,
        };
        for _ in 0..options.replicas {
            let replica = cluster.spawn()?;
            cluster.replicas.push(Mutex::new(replica));
        }
        Ok(cluster)
    }

    /// The file for effects.
    pub(super) fn effects(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    pub(super) fn kills(&self) -> usize {
        self.kills.load(Ordering::SeqCst)
    }

    pub(super) fn crashes(&self) -> usize {
        self.crashes.load(Ordering::SeqCst)
    }

    /// Where one of the processes listens.
    pub(super) fn url(&self, choice: u64) -> String {
        let index = usize::try_from(choice).unwrap_or(0) % self.replicas.len();
        self.replicas[index].lock().unwrap_or_else(PoisonError::into_inner).url.clone()
    }

    fn spawn(&self) -> Result<Replica, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("torture-server").arg(&self.options.store);
        match &self.database {
            Some(database) => command.arg(database.url()),
            None => command.arg(self.folder.path().join("store")),
        };
        command.arg(self.effects());
        if self.options.broken {
            command.arg("--broken");
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take();
        let mut replica = Replica { child: Some(child), url: String::new() };
        let mut lines = BufReader::new(stderr.ok_or("no standard error")?).lines();
        let line = lines.next().ok_or("a server ended before it listened")??;
        let url = line.strip_prefix("listening on ").ok_or_else(|| format!("a server says: {line}"))?;
        url.clone_into(&mut replica.url);
        // Kept open, so that the server never writes into a closed pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(replica)
    }

    /// Kills processes at random moments and starts them again, until the time comes; half-way the database as well.
    pub(super) fn kill_until(&self, stop: Instant, seed: u64) -> Result<(), Failure> {
        let mut random = Random::new(seed);
        let half = Duration::from_secs(self.options.seconds) / 2;
        loop {
            let pause = Duration::from_millis(50 + random.below(PAUSE_MS));
            if now() + pause >= stop {
                return Ok(());
            }
            // The moment is what is random here.
            std::thread::sleep(pause);
            if let Some(database) = &self.database
                && self.crashes() == 0
                && now() + half >= stop
            {
                database.crash()?;
                self.crashes.fetch_add(1, Ordering::SeqCst);
                // So that everybody who works meets it.
                std::thread::sleep(AWAY);
                database.resume()?;
            }
            let index = usize::try_from(random.next()).unwrap_or(0) % self.replicas.len();
            let mut replica = self.replicas[index].lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(mut child) = replica.child.take() {
                child.kill()?;
                child.wait()?;
                self.kills.fetch_add(1, Ordering::SeqCst);
            }
            *replica = self.spawn()?;
        }
    }
}

/// Numbers that look random and are the same for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        // Splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}
