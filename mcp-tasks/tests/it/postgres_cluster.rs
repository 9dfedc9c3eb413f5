//! A PostgreSQL server of our own, in a folder that goes away: for tests, for `cargo xtask test`, which starts one for
//! all of them, and for the torture.
//!
//! It knows the programs of PostgreSQL and nothing of stores. A shell watches over the server and ends it when the
//! process that started it is gone, however that ended.
#![allow(dead_code, reason = "who includes this file needs this or that part of it")]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Names a database that tests shall use in place of a server of their own.
pub(crate) const VARIABLE: &str = "MCP_TASKS_TEST_POSTGRES";

/// Whether there is what it takes.
pub(crate) fn is_installed() -> bool {
    programs().is_some()
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    /// Whose processes they are, where that is not us: PostgreSQL refuses to be root's.
    user: Option<(u32, u32)>,
    guard: Child,
}

impl Cluster {
    /// Makes and starts a server that can be reached by a socket in its folder; nothing when PostgreSQL is not
    /// installed.
    pub(crate) fn start() -> io::Result<Option<Self>> {
        let Some(programs) = programs() else { return Ok(None) };
        let folder = tempfile::Builder::new().prefix("mcp-tasks-postgres").tempdir()?;
        let user = if fs::metadata(folder.path())?.uid() == 0 { Some(somebody()?) } else { None };
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group))?;
        }
        let data = folder.path().join("data");
        let mut initdb = command(&programs, "initdb", user);
        initdb.arg("--pgdata").arg(&data);
        initdb.args(["--username=tasks", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        run(&mut initdb)?;
        let guard = guard(&programs, folder.path(), user)?;
        // From here on it is the guard's to remove.
        let cluster = Self { folder: folder.keep(), programs, user, guard };
        cluster.resume()?;
        Ok(Some(cluster))
    }

    /// Where it is reached.
    pub(crate) fn url(&self) -> String {
        format!("postgresql:///postgres?user=tasks&host={}", self.folder.display())
    }

    /// The file of its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Starts it after it was stopped.
    pub(crate) fn resume(&self) -> io::Result<()> {
        self.start_with("-c listen_addresses=")
    }

    /// Starts it anew, with TLS at this port of the machine's own address, by a certificate for `localhost`. Gives the
    /// certificate of who signed it, in PEM; nothing when OpenSSL's program is not installed.
    pub(crate) fn resume_with_tls(&self, port: u16) -> io::Result<Option<Vec<u8>>> {
        let request = |name: &str, options: &[&str]| {
            let mut openssl = Command::new("openssl");
            as_user(&mut openssl, self.user);
            openssl.current_dir(&self.folder).stdin(Stdio::null());
            openssl.args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ]);
            openssl.args(["-days", "2", "-subj", &format!("/CN={name}")]);
            openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")]);
            run(openssl.args(options))
        };
        match request("authority", &["-addext", "keyUsage=critical,keyCertSign"]) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            made => made?,
        }
        let signed = ["-CA", "authority.pem", "-CAkey", "authority.key"];
        let named =
            ["-addext", "basicConstraints=critical,CA:FALSE", "-addext", "subjectAltName=DNS:localhost"];
        request("server", &[signed, named].concat())?;
        self.crash()?;
        let folder = self.folder.display();
        self.start_with(&format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on -c ssl_cert_file={folder}/server.pem \
             -c ssl_key_file={folder}/server.key"
        ))?;
        fs::read(self.folder.join("authority.pem")).map(Some)
    }

    fn start_with(&self, options: &str) -> io::Result<()> {
        let options = format!("{options} -c unix_socket_directories={}", self.folder.display());
        let mut start = self.control();
        start
            .arg("--log")
            .arg(self.folder.join("log"))
            .arg("--options")
            .arg(options)
            .args(["--wait", "start"]);
        run(&mut start)
    }

    /// Stops it as a crash would: without a word to anybody, and with the log to be played back at the next start.
    pub(crate) fn crash(&self) -> io::Result<()> {
        run(self.control().args(["--mode=immediate", "--wait", "stop"]))
    }

    fn control(&self) -> Command {
        let mut command = command(&self.programs, "pg_ctl", self.user);
        command.arg("--pgdata").arg(self.folder.join("data"));
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The guard's sign.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Removes from a database that outlives us, at our end, whatever that is like, the schemas with such names and their
/// users, if there is `psql`. The child does so when its input ends.
pub(crate) fn clear_in_the_end(url: &str, prefix: &str) -> io::Result<Child> {
    let script = "trap '' INT HUP TERM; cat; psql --no-psqlrc --quiet \"$0\"";
    let drop = format!(
        "SELECT format('DROP SCHEMA %I CASCADE', nspname) FROM pg_namespace \
         WHERE starts_with(nspname, '{prefix}') \\gexec\n\
         SELECT format('DROP ROLE %I', rolname) FROM pg_roles \
         WHERE starts_with(rolname, 'user_of_{prefix}') \\gexec\n"
    );
    let script = format!("{script} <<'END'\n{drop}END\n");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(url);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn()
}

/// Waits for its input to end, which it does with the process that has the other end of it, and then removes
/// everything.
fn guard(programs: &Path, folder: &Path, user: Option<(u32, u32)>) -> io::Result<Child> {
    let script =
        "trap '' INT HUP TERM; cat; \"$0\" --pgdata \"$1/data\" --mode=immediate --wait stop; rm -rf \"$1\"";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(programs.join("pg_ctl")).arg(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    as_user(&mut shell, user);
    shell.spawn()
}

fn command(programs: &Path, program: &str, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(programs.join(program));
    command.stdin(Stdio::null());
    as_user(&mut command, user);
    command
}

fn as_user(command: &mut Command, user: Option<(u32, u32)>) {
    // Our own folder may be one that others cannot enter.
    command.current_dir("/");
    if let Some((user, group)) = user {
        command.gid(group).uid(user);
    }
}

/// Runs a program, and says what it said if it failed. The server that it starts inherits none of our streams.
fn run(command: &mut Command) -> io::Result<()> {
    let log = tempfile::tempfile()?;
    let status = command.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?;
    if status.success() {
        return Ok(());
    }
    let said = read(log)?;
    Err(io::Error::other(format!("{} failed: {said}", command.get_program().display())))
}

fn read(mut file: fs::File) -> io::Result<String> {
    use std::io::{Read as _, Seek as _};

    let mut said = String::new();
    file.rewind()?;
    file.read_to_string(&mut said)?;
    Ok(said)
}

/// The folder of the programs: on the path, or where Debian keeps the newest of them.
fn programs() -> Option<PathBuf> {
    let has_them = |folder: &PathBuf| {
        ["initdb", "pg_ctl", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = std::env::split_paths(&paths).find(has_them) {
        return Some(folder);
    }
    let number = |folder: &PathBuf| folder.file_name().and_then(OsStr::to_str)?.parse::<u32>().ok();
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut versions: Vec<PathBuf> = versions.filter(|folder| number(folder).is_some()).collect();
    versions.sort_by_key(number);
    versions.into_iter().rev().map(|folder| folder.join("bin")).find(has_them)
}

/// A user who is not root: PostgreSQL's own, or the one who owns nothing.
fn somebody() -> io::Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd")?;
    let ids = |name: &str| {
        let line = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let mut words = line.split(':').skip(1);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    ids("postgres").or_else(|| ids("nobody")).ok_or_else(|| io::Error::other("there is no user but root"))
}
