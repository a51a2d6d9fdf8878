//! Recovery from a damaged database: the file and its log are set aside unchanged, and their readable rows are copied to a new
//! file.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use tracing::{info, warn};

use super::DATABASE;
use super::schema::connect_to_read;

/// Parent tables first, because of foreign keys.
const TABLES: [&str; 17] = [
    "settings",
    "friends",
    "blocked",
    "promised",
    "matches",
    "actions",
    "puzzles",
    "files",
    "notes",
    "mistakes",
    "clubs",
    "club_players",
    "club_games",
    "puzzle_ratings",
    "puzzle_players",
    "puzzle_days",
    "made_puzzles",
];

/// SQLite's files beside a database.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// The name of SQLite's file with this ending beside a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Moves the file and its log to the first free name, and returns that path.
pub(super) fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let aside = (1..u32::MAX)
        .map(|number| path.with_file_name(format!("{DATABASE}.damaged-{number}")))
        .find(|name| !name.exists())
        .expect("nobody keeps four billion damaged files");
    // Its log is moved first: a new database must not be opened with the old one's log.
    for ending in BESIDE {
        let from = beside(path, ending);
        if from.exists() {
            fs::rename(from, beside(&aside, ending))?;
        }
    }
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Copies every readable row. Returns their number.
pub(super) fn copy_readable(aside: &Path, into: &mut Connection) -> rusqlite::Result<usize> {
    // A copy is read, because SQLite may merge the log into the file that it opens.
    let work = aside.with_extension("work");
    // A start that was cut short may have left one.
    remove(&work, &["", "-wal", "-shm"]);
    let saved = copy_through(aside, &work, into);
    remove(&work, &["", "-wal", "-shm"]);
    if let Ok(rows) = saved {
        info!(rows, "what could be read of the damaged file was kept");
    }
    saved
}

fn remove(path: &Path, endings: &[&str]) {
    for ending in endings {
        let _ = fs::remove_file(beside(path, ending));
    }
}

fn copy_through(aside: &Path, work: &Path, into: &mut Connection) -> rusqlite::Result<usize> {
    if fs::copy(aside, work).is_err() {
        return Ok(0);
    }
    // What was written last may be in the log alone. SQLite makes the index of a log anew.
    let log = beside(aside, "-wal");
    if log.exists() && !(fs::copy(log, beside(work, "-wal")).is_ok() && is_readable(work)) {
        warn!("the log of the damaged file cannot be read: the file is read without it");
        remove(work, &BESIDE);
    }
    let transaction = into.transaction()?;
    let mut saved = 0;
    for table in TABLES {
        match copy_table(work, table, &transaction) {
            Ok(rows) => saved += rows,
            Err(error) => warn!(table, %error, "nothing of it can be read any more"),
        }
    }
    transaction.commit()?;
    Ok(saved)
}

/// Whether the list of tables can be read.
fn is_readable(path: &Path) -> bool {
    let count = |from: Connection| {
        from.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
    };
    open(path).and_then(count).is_ok_and(|tables| tables > 0)
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let from = connect_to_read(path)?;
    // The log stays for the next table.
    from.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(from)
}

fn copy_table(from: &Path, table: &str, into: &rusqlite::Transaction<'_>) -> rusqlite::Result<usize> {
    let known = columns(into, table)?;
    let mut saved = 0;
    // From both ends, because reading stops at a damaged page.
    for order in ["", " ORDER BY 1 DESC"] {
        let from = open(from)?;
        let found = columns(&from, table)?;
        let both: Vec<&str> = known.iter().filter(|name| found.contains(name)).map(String::as_str).collect();
        if both.is_empty() {
            return Ok(saved);
        }
        let names = both.join(", ");
        let holes = vec!["?"; both.len()].join(", ");
        let mut insert =
            into.prepare(&format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({holes})"))?;
        let mut select = from.prepare(&format!("SELECT {names} FROM {table}{order}"))?;
        let mut rows = select.query([])?;
        while let Ok(Some(row)) = rows.next() {
            let values: rusqlite::Result<Vec<Value>> = (0..both.len()).map(|at| row.get(at)).collect();
            // A row that does not fit the table is rejected; the next one may fit.
            if let Ok(inserted) = values.and_then(|values| insert.execute(params_from_iter(values))) {
                saved += inserted;
            }
        }
    }
    Ok(saved)
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    statement.query_map([], |row| row.get(0))?.collect()
}
