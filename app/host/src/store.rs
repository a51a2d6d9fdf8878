//! Durable storage of friends, matches and settings in one SQLite file.
//!
//! Every write is one transaction and is on disk when the call returns (WAL with `synchronous=FULL`); the session sends
//! nothing before that. A match is its setup and a list of actions, one row each. The view `record` leaves out what differs
//! between the devices of a match, so that its rows are equal on both.

mod achieved;
mod clubs;
mod explore;
#[cfg(test)]
pub(crate) mod fuzz;
mod list;
mod made_puzzles;
mod matches;
mod mistakes;
mod notes;
mod past;
mod people;
#[cfg(test)]
mod power_cut;
mod puzzles;
mod salvage;
mod schema;
mod standing;
mod strength;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use proto::control::RefusalCode;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior};
use tracing::warn;

use crate::refusal::Refusal;
use crate::work::JobContext;
pub(crate) use achieved::achieved;
pub(crate) use explore::{Beginning, Beginnings, End};
pub(crate) use list::{MatchFilter, Opponent};
pub(crate) use made_puzzles::MOST_MADE;
#[cfg(feature = "online")]
pub(crate) use matches::letter_written;
pub(crate) use matches::{KeptFile, SavedMatch};
pub(crate) use mistakes::{NewMistake, SavedMistake};
pub(crate) use notes::KeptNotes;
pub(crate) use people::{SavedBlocked, SavedFriend};
pub(crate) use puzzles::SavedPuzzle;
pub(crate) use schema::refuse_newer;
use schema::{connect, connect_to_read};
pub(crate) use standing::{Five, Mark, Player, Tried, Verdict};
pub(crate) use strength::strength;

/// Name of the database in the data directory.
pub const DATABASE: &str = "qiyou.db";
/// Settings key.
const ADVERT_KEY: &str = "advert_key";
/// Name of the lock file, which is locked while a host uses the directory.
const LOCK: &str = "lock";

/// Why something could not be saved or read. Data saved before is unaffected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No space is left, or a quota is exhausted.
    #[error("the disk is full")]
    DiskFull,
    /// Permission to write to the directory or the file is missing.
    #[error("cannot write to {0}")]
    Unwritable(PathBuf),
    /// Another host uses the same directory.
    #[error("another qiyou uses {0} already")]
    InUse(PathBuf),
    /// The file contains values that this program cannot have written. It is left unchanged.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The invalid content.
        what: String,
    },
    /// The file was written by a newer Qiyou. It is left unchanged.
    #[error("{path} was written by a newer Qiyou (schema {found}, this one knows {known})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version of the file.
        found: i64,
        /// The newest schema version that this program knows.
        known: i64,
    },
    /// Any other error of SQLite or the system.
    #[error("the saved games cannot be used: {0}")]
    Other(String),
}

/// The open database. At most one per directory.
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    /// Path of a damaged file that was set aside at this start; its readable data is in the new file.
    pub(crate) set_aside: Option<PathBuf>,
    /// Unlocked when dropped, or when the process ends.
    _lock: File,
}

impl StoreError {
    /// What an error of the system with the files of a folder means.
    pub(crate) fn of_folder(directory: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Unwritable(directory.to_owned()),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::new(RefusalCode::RefusalDisk, error.to_string())
    }
}

impl Store {
    /// Opens or creates the database in this directory, which is created with mode 0700 if missing.
    #[cfg(test)]
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        Self::open_after(directory, |_| Ok(()))
    }

    /// The same; calls `prepare` once the directory is locked, before the database is opened.
    pub(crate) fn open_after(
        directory: &Path,
        prepare: impl FnOnce(&Path) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let unwritable = |error: std::io::Error| StoreError::of_folder(directory, &error);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(unwritable)?;
        take_from_others(directory).map_err(unwritable)?;
        let own = |name: &str| {
            let path = directory.join(name);
            let is_link =
                |error: &std::io::Error| error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
            private(&path).map_err(|error| {
                if is_link(&error) || error.kind() == std::io::ErrorKind::InvalidInput {
                    StoreError::Other(format!("{} is a link or no ordinary file", path.display()))
                } else {
                    unwritable(error)
                }
            })
        };
        let lock = own(LOCK)?;
        lock_patiently(&lock).map_err(|error| {
            if error == rustix::io::Errno::WOULDBLOCK {
                StoreError::InUse(directory.to_owned())
            } else {
                StoreError::Other(format!("locking {}: {error}", directory.display()))
            }
        })?;
        prepare(directory)?;
        let path = directory.join(DATABASE);
        // Done before SQLite creates the file: its log and index get the mode of the database.
        own(DATABASE)?;
        let (connection, set_aside) = match connect(&path) {
            Err(StoreError::Damaged { what, .. }) => {
                warn!(what, "the file of saves is damaged: it is set aside");
                let aside = salvage::set_aside(&path).map_err(unwritable)?;
                let mut connection = connect(&path)?;
                salvage::copy_readable(&aside, &mut connection).map_err(|error| explain(&path, &error))?;
                (connection, Some(aside))
            }
            connected => (connected?, None),
        };
        Ok(Self { connection, path, set_aside, _lock: lock })
    }

    /// Copies the database on any thread, while this store is used.
    pub(crate) fn copier(&self) -> Copier {
        Copier { path: self.path.clone() }
    }

    fn explain(&self, error: rusqlite::Error) -> StoreError {
        explain(&self.path, &error)
    }

    fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }

    /// Writes dummy data to test whether saving works now.
    pub(crate) fn probe(&mut self) -> Result<(), StoreError> {
        /// Several times the size of an action, so that a disk without space for play fails the test.
        const BYTES: usize = 16 * 1024;
        self.connection
            .execute(
                "INSERT OR REPLACE INTO settings (key, value) VALUES ('probe', randomblob(?1))",
                [BYTES as i64],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    pub(crate) fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.read_setting(key)
    }

    pub(crate) fn set_setting(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.connection
            .execute("INSERT OR REPLACE INTO settings (key, value) VALUES (?1, ?2)", [key, value])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Settings whose keys begin with this prefix; keys are returned without it.
    pub(crate) fn settings_of(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut rows = self
                .connection
                .prepare("SELECT substr(key, length(?1) + 1), value FROM settings WHERE substr(key, 1, length(?1)) = ?1")?;
            readable(rows.query_map([prefix], |row| Ok((row.get(0)?, row.get(1)?)))?)
        };
        read().map_err(|error| self.explain(error))
    }

    pub(crate) fn remove_setting(&mut self, key: &str) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM settings WHERE key = ?1", [key])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// The advertising key that replaced the identity's own when a friend was first removed; `None` before.
    pub(crate) fn advert_key(&self) -> Result<Option<[u8; 32]>, StoreError> {
        self.read_setting(ADVERT_KEY)
    }

    /// A value that is none of its type counts as missing: the device must start.
    fn read_setting<T: FromSql>(&self, key: &str) -> Result<Option<T>, StoreError> {
        let sql = "SELECT value FROM settings WHERE key = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let values: Vec<T> = readable(statement.query_map([key], |row| row.get(0))?)?;
            Ok(values.into_iter().next())
        };
        read().map_err(|error| self.explain(error))
    }

    fn in_transaction(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            work(&transaction)?;
            transaction.commit()
        };
        waiting_for_the_disk(|| run(&mut self.connection)).map_err(|error| explain(&self.path, &error))
    }

    /// Limits the size of the file to this many pages, to simulate a small disk.
    #[cfg(test)]
    pub(crate) fn limit_pages(&mut self, pages: u32) {
        self.connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("a limit can be set");
    }
}

/// Locks the file. A program that this process is starting, such as an engine, holds a copy of a lock that was just given
/// back, until it runs: that passes in milliseconds.
fn lock_patiently(lock: &File) -> rustix::io::Result<()> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match rustix::fs::flock(lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(std::time::Duration::from_millis(10)),
            other => return other,
        }
    }
    rustix::fs::flock(lock, rustix::fs::FlockOperation::NonBlockingLockExclusive)
}

/// Opens or creates a file for writing that only this user can read, regardless of the umask and of the mode that an older
/// program has set: names and moves are private on a shared machine.
fn private(path: &Path) -> std::io::Result<File> {
    let file = owned_file(path, true)?;
    for beside in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        match owned_file(Path::new(&name), false) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(file)
}

/// Opens an ordinary file and gives it mode 0600. Not through a symbolic link, which may lead to somebody's other file, and no
/// pipe, which would be waited for.
fn owned_file(path: &Path, create: bool) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = File::options();
    options.create(create).read(true).write(true).truncate(false).mode(0o600);
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Takes a folder away from the others of this machine if they may write to it.
fn take_from_others(directory: &Path) -> std::io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    let found = fs::metadata(directory)?;
    if found.permissions().mode() & OTHERS_WRITE != 0 {
        warn!(folder = %directory.display(), "others could write to the folder of saves: it is made private");
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Runs blocking work, such as a write to a slow card, while other tasks continue: links must acknowledge input even though
/// the daemon has one worker thread.
fn waiting_for_the_disk<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|here| here.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Summary of a database file.
pub(crate) struct Held {
    pub(crate) matches: u32,
    pub(crate) friends: u32,
    /// The value of the requested setting; empty if there is none.
    pub(crate) name: String,
}

/// Copies a database through a connection of its own. One at a time: each writes the same temporary file.
pub(crate) struct Copier {
    path: PathBuf,
}

impl Copier {
    /// The committed contents of the database including its log. Fails if it is stopped. `part`: of the whole computation, in
    /// thousandths.
    pub(crate) fn whole(&self, context: &JobContext, part: Range<u32>) -> Result<Vec<u8>, StoreError> {
        /// Instructions of SQLite's machine between two looks at `context`: some hundred rows.
        const LOOK: i32 = 1_000;
        let copy = self.path.with_extension("copy");
        let _ = fs::remove_file(&copy);
        let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
        let (whole, context, grown) = (size(&self.path), context.clone(), copy.clone());
        let look = move || {
            context.report(part.start, part.end, size(&grown), whole);
            context.is_stopped()
        };
        let written = connect_to_read(&self.path)
            .and_then(|mut connection| {
                connection.progress_handler(LOOK, Some(look))?;
                connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()])
            })
            .map_err(|error| explain(&self.path, &error));
        let read =
            written.and_then(|_| fs::read(&copy).map_err(|error| StoreError::Other(error.to_string())));
        let _ = fs::remove_file(&copy);
        read
    }
}

/// Verifies that a file is a usable database, and summarises it. The file is migrated to the present schema, and its log is
/// merged.
pub(crate) fn look_into(path: &Path, setting: &str) -> Result<Held, StoreError> {
    let connection = connect(path)?;
    let read = || -> rusqlite::Result<Held> {
        let count = |table: &str| {
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0))
        };
        let name = connection
            .query_row("SELECT value FROM settings WHERE key = ?1", [setting], |row| row.get(0))
            .optional()?;
        let held =
            Held { matches: count("matches")?, friends: count("friends")?, name: name.unwrap_or_default() };
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        Ok(held)
    };
    read().map_err(|error| explain(path, &error))
}

fn explain(path: &Path, error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Unwritable(path.to_owned())
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Damaged { path: path.to_owned(), what: error.to_string() }
        }
        // The value does not fit the column's type.
        None if is_value(error) => StoreError::Damaged { path: path.to_owned(), what: error.to_string() },
        _ => StoreError::Other(error.to_string()),
    }
}

/// Whether the file is readable but contains an invalid value.
fn is_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

/// The readable rows; the others stay in the file.
fn readable<T, C: FromIterator<T>>(rows: impl Iterator<Item = rusqlite::Result<T>>) -> rusqlite::Result<C> {
    rows.filter(|row| match row {
        Err(error) if is_value(error) => {
            warn!(%error, "a row is left out");
            false
        }
        _ => true,
    })
    .collect()
}
