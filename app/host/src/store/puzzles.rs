//! Storage of the progress in puzzles.

use std::collections::BTreeMap;

use rusqlite::params;

use super::{Store, StoreError, readable};

/// The stored progress in a puzzle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedPuzzle {
    /// Number of tries begun.
    pub(crate) tries: u32,
    /// First solution as Unix time in milliseconds; 0: unsolved.
    pub(crate) solved_unix_ms: u64,
}

impl Store {
    /// The progress of every puzzle that was tried, by puzzle id.
    pub(crate) fn puzzles(&self) -> Result<BTreeMap<String, SavedPuzzle>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<String, SavedPuzzle>> {
            let mut statement = self
                .connection
                .prepare_cached("SELECT puzzle, tries, coalesce(solved_unix_ms, 0) FROM puzzles")?;
            let row = |row: &rusqlite::Row<'_>| {
                let (tries, solved): (i64, i64) = (row.get(1)?, row.get(2)?);
                let tries = u32::try_from(tries).unwrap_or(0);
                Ok((row.get(0)?, SavedPuzzle { tries, solved_unix_ms: solved.max(0) as u64 }))
            };
            readable(statement.query_map([], row)?)
        };
        read().map_err(|error| self.explain(error))
    }

    /// Counts a try.
    pub(crate) fn count_puzzle(&mut self, puzzle: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO puzzles (puzzle, tries) VALUES (?1, 1)
            ON CONFLICT (puzzle) DO UPDATE SET tries = min(tries + 1, 1000000)";
        self.connection.execute(sql, [puzzle]).map(drop).map_err(|error| self.explain(error))
    }

    /// Marks a puzzle as solved; only the first time is stored.
    pub(crate) fn solve_puzzle(&mut self, puzzle: &str, now_unix_ms: i64) -> Result<(), StoreError> {
        let sql = "INSERT INTO puzzles (puzzle, tries, solved_unix_ms) VALUES (?1, 1, ?2)
            ON CONFLICT (puzzle) DO UPDATE SET solved_unix_ms = coalesce(solved_unix_ms, ?2)";
        let now = now_unix_ms.max(1);
        self.connection.execute(sql, params![puzzle, now]).map(drop).map_err(|error| self.explain(error))
    }
}
