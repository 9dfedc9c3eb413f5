//! The folder: what its files are called, whose it is, and what is in it when it is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_tasks_types::TaskId;
use serde::Deserialize;

use crate::digest;
use crate::error::with_causes;
use crate::owner::Owner;
use crate::record::{FORMAT, TaskRecord};
use crate::store::heads::Heads;
use crate::store::lock::{Lock, private};
use crate::store::{StoreError, StoreErrorKind};

/// Says whose folder it is, and of which version.
const MARKER: &str = "mcp-tasks.json";
const LOCK: &str = "mcp-tasks.lock";
const HEAD: &str = ".task.json";
const PARTS: &str = ".parts.jsonl";
const TEMPORARY: &str = ".tmp";

/// The arrangement of the folder that this version makes.
const LAYOUT: u32 = 1;

/// Names up to this length are spelled out; file systems take 255 bytes, and there are endings.
const MAX_STEM: usize = 200;

/// The folder of a store.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

/// What is known of the folder's tasks, for everybody who reads.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) heads: Heads,
    /// Tasks whose files cannot be understood, by the stems of their files.
    aside: BTreeMap<String, Aside>,
}

/// Why a task is set aside.
#[derive(Debug)]
struct Aside {
    kind: StoreErrorKind,
    why: String,
    id: TaskId,
    /// None if it cannot be told.
    owner: Option<Owner>,
}

impl Shared {
    /// An error when the task is set aside.
    pub(super) fn check(&self, id: &TaskId) -> Result<(), StoreError> {
        if self.aside.is_empty() {
            return Ok(());
        }
        match self.aside.get(&stem(id)) {
            None => Ok(()),
            Some(aside) => Err(StoreError::new(
                aside.kind,
                format!("the record of task `{id}` cannot be read: {}", aside.why),
            )),
        }
    }

    /// The tasks that are set aside and may be of the owner.
    pub(super) fn unreadable(&self, owner: Option<&Owner>) -> Vec<TaskId> {
        let aside = self.aside.values();
        let of_owner = aside.filter(|aside| match (owner, &aside.owner) {
            (Some(owner), Some(of)) => owner == of,
            _ => true,
        });
        of_owner.map(|aside| aside.id.clone()).collect()
    }

    /// Takes a task out of everything that happens by itself, so that it stops nobody else. Its files stay.
    pub(super) fn set_aside(&mut self, stem: String, owner: Option<Owner>, cause: &StoreError) {
        let (error, kind) = (with_causes(cause), cause.kind());
        let said = match kind {
            StoreErrorKind::Unsupported => "the task is of a newer version and is left alone",
            _ => "the task cannot be understood and is set aside",
        };
        tracing::error!(file = %format_args!("{stem}{HEAD}"), error, "{said}");
        let id = id_of(&stem);
        self.aside.insert(stem, Aside { kind, why: cause.to_string(), id, owner });
    }
}

/// What the files of a task are called, without their endings: ids are any text, and file names are not.
pub(super) fn stem(id: &TaskId) -> String {
    use std::fmt::Write as _;

    let mut stem = String::new();
    for byte in id.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            stem.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(stem, "%{byte:02X}");
        }
    }
    if stem.is_empty() || stem.len() > MAX_STEM {
        stem = format!("~{}", digest::of_text(id.as_str()));
    }
    stem
}

/// The id that a stem stands for, or the stem where it does not tell.
fn id_of(stem: &str) -> TaskId {
    let mut bytes = Vec::new();
    let mut rest = stem.as_bytes();
    while let [byte, behind @ ..] = rest {
        let code = behind.get(..2).filter(|_| *byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(coded) => {
                bytes.push(coded);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).map_or_else(|_| TaskId::from(stem), TaskId::from)
}

/// Whether a name could be of ours: a stray file's mostly could not.
fn is_stem(name: &str) -> bool {
    let is_ours = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'%' | b'~');
    !name.is_empty() && name.bytes().all(is_ours)
}

/// The stem of a temporary file's name.
fn stem_of_temporary(name: &str) -> Option<&str> {
    let (stem, number) = name.strip_suffix(TEMPORARY)?.rsplit_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let stem = if stem == MARKER { Some(stem) } else { stem.strip_suffix(HEAD).filter(|stem| is_stem(stem)) };
    stem.filter(|_| is_number)
}

/// An operation on a file that failed.
pub(super) fn failed(what: &str, path: &Path, err: io::Error) -> StoreError {
    let message = format!("the file `{}` cannot be {what}", path.display());
    StoreError::new(StoreErrorKind::Unavailable, message).with_source(err)
}

/// A file that could not be written, and has what it had before, if it had something. What does not fit into a file, or
/// has no place under its name, never will.
pub(super) fn not_written(path: &Path, err: io::Error) -> StoreError {
    use io::ErrorKind::{FileTooLarge, InvalidFilename, InvalidInput};

    let is_refused = matches!(err.kind(), FileTooLarge | InvalidFilename | InvalidInput);
    let mut failed = failed("written", path, err);
    if is_refused {
        failed.kind = StoreErrorKind::Refused;
    }
    failed
}

/// Whether one file alone cannot be read, and not whatever file comes next, as when there are too many open ones.
pub(super) fn is_of_the_file(cause: &StoreError) -> bool {
    use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, PermissionDenied};

    if cause.kind() != StoreErrorKind::Unavailable {
        return true;
    }
    /// What a disk says of a damaged place.
    const EIO: i32 = 5;
    let err = std::error::Error::source(cause).and_then(|err| err.downcast_ref::<io::Error>());
    err.is_some_and(|err| {
        matches!(err.kind(), InvalidData | IsADirectory | NotADirectory | PermissionDenied)
            || (cfg!(unix) && err.raw_os_error() == Some(EIO))
    })
}

/// A head as it is after opening: a lease is worth nothing in another process than the one that wrote it.
fn with_its_lease_ended(record: TaskRecord) -> TaskRecord {
    let version = record.version.saturating_add(u64::from(record.lease.is_some()));
    TaskRecord { lease: None, version, ..record.into_parts().0 }
}

/// Whether this head is what is known of what stands in the file: it was written from here, or read on opening.
pub(super) fn is_of(head: &TaskRecord, written: &TaskRecord) -> bool {
    let was_opened = written.lease.is_some() && head.fence == written.fence;
    head.version == written.version || (was_opened && head.version == written.version.saturating_add(1))
}

pub(super) fn corrupt(path: &Path, what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("the file `{}` {what}", path.display()))
}

/// Opens the folder or makes it, and keeps others out.
pub(super) fn open(path: &Path) -> Result<(Folder, Lock), StoreError> {
    match private_folder(path) {
        // An entry in a folder is durable when the folder is.
        Ok(()) => sync(path.parent().unwrap_or(path)).map_err(|err| failed("made durable", path, err))?,
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
        Err(err) => return Err(failed("made", path, err)),
    }
    if !path.is_dir() {
        let message = format!("`{}` is no folder", path.display());
        return Err(StoreError::new(StoreErrorKind::Unsupported, message));
    }
    // One name for good, should the process change its own folder.
    let path = fs::canonicalize(path).map_err(|err| failed("found", path, err))?;
    let folder = Folder { path };
    // A newer version's folder is left alone down to the lock file.
    let is_new = !folder.has_marker()?;
    let lock = Lock::inside(&folder.path, LOCK)?;
    if is_new && !folder.has_marker()? {
        let text = format!("{{\n  \"store\": \"mcp-tasks\",\n  \"layout\": {LAYOUT}\n}}\n");
        let marker = folder.path.join(MARKER);
        let temporary = folder.write_temporary(&marker, 0, &text)?;
        fs::rename(&temporary, &marker).map_err(|err| failed("written", &marker, err))?;
        folder.sync()?;
    }
    Ok((folder, lock))
}

/// Makes a folder that nobody else can look into.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Synchronises a folder: what is in it under which name is durable then.
fn sync(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // Elsewhere a folder cannot be opened.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

impl Folder {
    fn has_marker(&self) -> Result<bool, StoreError> {
        #[derive(Deserialize)]
        struct Marker {
            store: String,
            layout: u32,
        }

        let path = self.path.join(MARKER);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(err) => return Err(failed("read", &path, err)),
        };
        let marker: Marker = mcp_tasks_types::from_slice(&text)
            .map_err(|err| corrupt(&path, "cannot be understood").with_source(err))?;
        if marker.store == "mcp-tasks" && marker.layout <= LAYOUT {
            return Ok(true);
        }
        let whose =
            if marker.store == "mcp-tasks" { "a newer version of this program" } else { "something else" };
        let message = format!("the folder `{}` was written by {whose}", self.path.display());
        Err(StoreError::new(StoreErrorKind::Unsupported, message))
    }

    pub(super) fn head_path(&self, stem: &str) -> PathBuf {
        self.path.join(format!("{stem}{HEAD}"))
    }

    pub(super) fn parts_path(&self, stem: &str) -> PathBuf {
        self.path.join(format!("{stem}{PARTS}"))
    }

    pub(super) fn sync(&self) -> Result<(), StoreError> {
        sync(&self.path).map_err(|err| failed("made durable", &self.path, err))
    }

    /// Writes a file that is going to take the place of another one, durably.
    pub(super) fn write_temporary(
        &self,
        path: &Path,
        number: u64,
        text: &str,
    ) -> Result<PathBuf, StoreError> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}{TEMPORARY}"));
        let temporary = PathBuf::from(name);
        let written = private(OpenOptions::new().create(true).write(true).truncate(true))
            .open(&temporary)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            });
        if let Err(err) = written {
            remove_if_there(&temporary);
            return Err(not_written(&temporary, err));
        }
        Ok(temporary)
    }

    /// Makes a file anew, durably but for its entry in the folder.
    pub(super) fn write_parts(&self, stem: &str, text: &str) -> Result<PathBuf, StoreError> {
        let path = self.parts_path(stem);
        let mut options = OpenOptions::new();
        let written =
            private(options.create(true).write(true).truncate(true)).open(&path).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            });
        if let Err(err) = written {
            remove_if_there(&path);
            return Err(not_written(&path, err));
        }
        Ok(path)
    }

    /// Reads a task's file; nothing when there is none.
    pub(super) fn read_head(&self, stem: &str) -> Result<Option<TaskRecord>, StoreError> {
        let path = self.head_path(stem);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(failed("read", &path, err)),
        };
        let read = mcp_tasks_types::from_slice::<TaskRecord>(&text);
        let format = match &read {
            Ok(record) => record.format,
            Err(_) => Outline::of(&text).format,
        };
        if format > FORMAT {
            let message = format!("the file `{}` has the newer format {format}", path.display());
            return Err(StoreError::new(StoreErrorKind::Unsupported, message));
        }
        let record = read.map_err(|err| corrupt(&path, "is no record").with_source(err))?;
        if self::stem(&record.id) != stem {
            return Err(corrupt(&path, "has the record of another task"));
        }
        Ok(Some(record))
    }

    /// Cleans up and reads the heads of all tasks, with all leases ended. That needs no write: a lease is worth
    /// nothing in another process, and whoever reads the same file once more comes to the same version.
    pub(super) fn read_all(&self) -> Result<Shared, StoreError> {
        let listed = |err| failed("listed", &self.path, err);
        let mut shared = Shared::default();
        let mut heads = Vec::new();
        let mut parts = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(listed)? {
            let name = entry.map_err(listed)?.file_name();
            let Some(name) = name.to_str() else { continue };
            if stem_of_temporary(name).is_some() {
                // Whoever wrote it died before it counted.
                remove_if_there(&self.path.join(name));
            } else if let Some(stem) = name.strip_suffix(HEAD).filter(|stem| is_stem(stem)) {
                heads.push(stem.to_owned());
            } else if let Some(stem) = name.strip_suffix(PARTS).filter(|stem| is_stem(stem)) {
                parts.push(stem.to_owned());
            }
        }
        // A call can be made once; which of two copies counts is at least the same each time.
        heads.sort_unstable();
        let mut with_parts = BTreeSet::new();
        for stem in &heads {
            match self.read_head(stem) {
                Ok(None) => {}
                Ok(Some(record)) if record.forgotten_at.is_some() => shared.heads.put(Arc::new(record)),
                Ok(Some(record)) => {
                    with_parts.insert(stem.clone());
                    let call = record.same_call.as_ref().and_then(|call| shared.heads.call(call));
                    if let Some(other) = call {
                        let what = format!("is of the same call as task `{}`", other.id);
                        let (owner, cause) = (record.owner.clone(), corrupt(&self.head_path(stem), &what));
                        shared.set_aside(stem.clone(), Some(owner), &cause);
                        continue;
                    }
                    shared.heads.put(Arc::new(with_its_lease_ended(record)));
                }
                Err(cause) => {
                    with_parts.insert(stem.clone());
                    let outline = fs::read(self.head_path(stem)).map(|text| Outline::of(&text));
                    shared.set_aside(stem.clone(), outline.unwrap_or_default().owner(), &cause);
                }
            }
        }
        // Of a task that was being made or removed, or whose contents were being erased.
        for stem in parts.iter().filter(|stem| !with_parts.contains(*stem)) {
            remove_if_there(&self.parts_path(stem));
        }
        Ok(shared)
    }
}

/// What can be told of a record that is not understood.
#[derive(Default, Deserialize)]
struct Outline {
    #[serde(default)]
    format: u32,
    #[serde(default)]
    owner: Option<mcp_tasks_types::RawJson>,
}

impl Outline {
    fn of(text: &[u8]) -> Self {
        mcp_tasks_types::from_slice(text).unwrap_or_default()
    }

    fn owner(&self) -> Option<Owner> {
        self.owner.as_ref()?.get().ok()
    }
}

/// Removes what is not needed any more. If it cannot be removed now, the next opening does it.
pub(super) fn remove_if_there(path: &Path) {
    if let Err(err) = fs::remove_file(path)
        && err.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(file = %path.display(), error = with_causes(&err), "a file could not be removed");
    }
}
