//! Recovery from a damaged database: the file is set aside unchanged, and its readable rows are copied to a new one.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use tracing::{info, warn};

use super::DATABASE;

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

/// Moves the file to the first free name, and returns that path.
pub(super) fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let aside = (1..u32::MAX)
        .map(|number| path.with_file_name(format!("{DATABASE}.damaged-{number}")))
        .find(|name| !name.exists())
        .expect("nobody keeps four billion damaged files");
    let with = |path: &Path, ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    // Its log is moved first: a new database must not be opened with the old one's log.
    for ending in BESIDE {
        let from = with(path, ending);
        if from.exists() {
            fs::rename(from, with(&aside, ending))?;
        }
    }
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Copies every readable row. Returns their number.
pub(super) fn copy_readable(aside: &Path, into: &mut Connection) -> rusqlite::Result<usize> {
    // A copy is read, because SQLite may merge the log into the file that it opens.
    let work = aside.with_extension("work");
    let copied = fs::copy(aside, &work);
    let transaction = into.transaction()?;
    let mut saved = 0;
    if copied.is_ok() {
        for table in TABLES {
            match copy_table(&work, table, &transaction) {
                Ok(rows) => saved += rows,
                Err(error) => warn!(table, %error, "nothing of it can be read any more"),
            }
        }
    }
    transaction.commit()?;
    let _ = fs::remove_file(&work);
    info!(rows = saved, "what could be read of the damaged file was kept");
    Ok(saved)
}

fn copy_table(from: &Path, table: &str, into: &rusqlite::Transaction<'_>) -> rusqlite::Result<usize> {
    let known = columns(into, table)?;
    let mut saved = 0;
    // From both ends, because reading stops at a damaged page.
    for order in ["", " ORDER BY 1 DESC"] {
        let from = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // As in `schema`: the file may come from anywhere.
        from.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        from.pragma_update(None, "trusted_schema", false)?;
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
