//! Keeping a second process out of a store on disk, under whatever name it comes.
//!
//! A lock on a file decides: it is given back with the file, or by the end of the process. For a database it is a file
//! beside it, not SQLite's own exclusive mode, which would lock out our own readers. The file's name is that of the
//! database after symbolic links, and the file says which database it guards. Where it does not (it is new, since
//! somebody has deleted the one before, or the database was moved) and where the database has further hard links, the
//! store is asked in addition whether anybody has the database open. A folder has its lock file inside, and its store
//! looks before each write whether the file is still there.
//!
//! What remains: whoever deletes the lock file of a database that is just being made, or shares a store between
//! machines over a file system whose locks do not reach that far, can still let two in.

#[cfg(feature = "sqlite")]
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
#[cfg(feature = "sqlite")]
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

#[cfg(feature = "sqlite")]
use crate::error::with_causes;
use crate::store::{StoreError, StoreErrorKind};

/// How often the lock is tried for, 20 ms apart: a process that was told to end may need two seconds.
const TRIES: u32 = 100;

/// How far symbolic links are followed.
#[cfg(feature = "sqlite")]
const MAX_LINKS: usize = 40;

/// The lock, as long as it is there.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

/// The one name that a database has after symbolic links, whether or not it exists yet.
#[cfg(feature = "sqlite")]
pub(super) fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let unavailable = |err| {
        let message = format!("the file `{}` cannot be reached", path.display());
        StoreError::new(StoreErrorKind::Unavailable, message).with_source(err)
    };
    let mut name = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&name) {
            Ok(found) => return Ok(found),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(unavailable(err)),
        }
        let folder = match name.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = fs::canonicalize(folder).map_err(unavailable)?;
        // A link to a file that does not exist yet: SQLite would make the file that it points to.
        match fs::read_link(&name) {
            Ok(target) => name = folder.join(target),
            Err(_) => {
                let file = name.file_name().ok_or_else(|| unavailable(io::ErrorKind::InvalidInput.into()))?;
                return Ok(folder.join(file));
            }
        }
    }
    Err(unavailable(io::Error::other("too many symbolic links")))
}

impl Lock {
    /// Takes the lock of a database whose name is [resolved](resolve).
    #[cfg(feature = "sqlite")]
    pub(super) fn beside(database: &Path, is_open_elsewhere: fn(&Path) -> bool) -> Result<Self, StoreError> {
        let mut name = OsString::from(database.as_os_str());
        name.push(".lock");
        Self::take(&PathBuf::from(name), database, |lock| {
            let found = fs::metadata(database).ok();
            let is_guarded = found.is_none_or(|found| lock.guards(&found) && !has_other_names(&found));
            is_guarded || !is_open_elsewhere(database)
        })
    }

    /// Takes the lock of a folder, a file of this name inside.
    #[cfg(feature = "fs")]
    pub(super) fn inside(folder: &Path, name: &str) -> Result<Self, StoreError> {
        Self::take(&folder.join(name), folder, |_| true)
    }

    fn take(path: &Path, store: &Path, is_free: impl Fn(&Self) -> bool) -> Result<Self, StoreError> {
        for tried in 1.. {
            if let Some(lock) = Self::try_take(path)?.filter(|lock| lock.is_in_place() && is_free(lock)) {
                return Ok(lock);
            }
            if tried == TRIES {
                break;
            }
            // Another process gives no event when it lets go.
            thread::sleep(Duration::from_millis(20));
        }
        let message = format!("the task store `{}` is in use by another process", store.display());
        Err(StoreError::new(StoreErrorKind::Locked, message))
    }

    fn try_take(path: &Path) -> Result<Option<Self>, StoreError> {
        let unavailable = |err| {
            let message = format!("the lock file `{}` cannot be opened", path.display());
            StoreError::new(StoreErrorKind::Unavailable, message).with_source(err)
        };
        let mut options = OpenOptions::new();
        let file = private(options.create(true).read(true).write(true).truncate(false))
            .open(path)
            .map_err(unavailable)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, path: path.to_owned() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(err)) => Err(unavailable(err)),
        }
    }

    /// Whether the locked file still is the one that others find under its name.
    pub(super) fn is_in_place(&self) -> bool {
        match (self.file.metadata(), fs::metadata(&self.path)) {
            (Ok(locked), Ok(named)) => identity(&locked) == identity(&named),
            _ => false,
        }
    }

    /// Whether whoever opened this database before had this lock.
    #[cfg(feature = "sqlite")]
    fn guards(&self, database: &Metadata) -> bool {
        let mut file = &self.file;
        let mut text = String::new();
        // A file that cannot be read vouches for nothing.
        let read = file.rewind().and_then(|()| file.take(64).read_to_string(&mut text));
        read.is_ok() && text == identity(database)
    }

    /// Writes into the lock file which database it guards, once that exists.
    #[cfg(feature = "sqlite")]
    pub(super) fn vouch_for(&self, database: &Path) {
        let written = fs::metadata(database).and_then(|database| {
            if self.guards(&database) {
                return Ok(());
            }
            let mut file = &self.file;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(identity(&database).as_bytes())
        });
        if let Err(error) = written {
            // Then the next one to open it asks SQLite.
            tracing::debug!(error = with_causes(&error), path = %self.path.display(), "the lock file cannot be written");
        }
    }
}

/// Makes files, where they are made, such that nobody else can read them.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// What stays the same of a file whatever its name is.
#[cfg(unix)]
pub(super) fn identity(file: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!("{}:{}", file.dev(), file.ino())
}

/// Elsewhere a file that is open cannot be deleted or moved, so that its name is enough.
#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> String {
    "by name".to_owned()
}

#[cfg(all(unix, feature = "sqlite"))]
fn has_other_names(file: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.nlink() > 1
}

/// The standard library cannot tell; [`identity`] and SQLite's own locks have to do.
#[cfg(all(not(unix), feature = "sqlite"))]
fn has_other_names(_: &Metadata) -> bool {
    false
}
