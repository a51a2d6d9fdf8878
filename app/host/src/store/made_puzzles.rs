//! Storage of the puzzles that this device has made.

use std::collections::BTreeMap;

use engine::GameKind;
use engine::puzzles::{self, Puzzle};
use rusqlite::{OptionalExtension as _, TransactionBehavior, params};

use super::{Store, StoreError, readable};

/// The table, as a migration of its own.
pub(super) const TABLES: &str = "
    CREATE TABLE made_puzzles (
        puzzle       TEXT PRIMARY KEY,
        game         INTEGER NOT NULL,                                 -- qiyou.board.Game
        shape        INTEGER NOT NULL,                                 -- equal for all rotations and reflections
        grade        INTEGER NOT NULL,                                 -- 1 to 5
        rating       REAL NOT NULL,                                    -- as long as it was not tried
        line         TEXT NOT NULL,                                    -- as in a set of the engine
        made_unix_ms INTEGER NOT NULL,
        UNIQUE (game, shape)
    ) STRICT, WITHOUT ROWID;
";

/// Maximum number of puzzles that are kept for a game.
pub(crate) const MOST_MADE: u32 = 10_000;

/// Numbers of the puzzles of a game that this device has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MadeCount {
    pub(crate) all: u32,
    pub(crate) solved: u32,
}

impl Store {
    /// Keeps new puzzles of a game in one transaction, as far as there is room. One that is there already, also turned or reflected,
    /// is passed over. Returns how many were new.
    pub(crate) fn keep_made(
        &mut self,
        kind: GameKind,
        made: &[Puzzle],
        now_unix_ms: i64,
    ) -> Result<u32, StoreError> {
        let write = |store: &mut Self| -> rusqlite::Result<u32> {
            let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let count = "SELECT count(*) FROM made_puzzles WHERE game = ?1";
            let before: u32 = transaction.query_row(count, [kind as u8], |row| row.get(0))?;
            let mut new = 0;
            for puzzle in made {
                if before + new >= MOST_MADE {
                    break;
                }
                let changed = transaction.execute(
                    "INSERT OR IGNORE INTO made_puzzles (puzzle, game, shape, grade, rating, line, made_unix_ms)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        puzzle.id,
                        kind as u8,
                        puzzle.shape() as i64,
                        puzzle.grade(),
                        puzzles::presumed(puzzle).rating,
                        puzzle.write(),
                        now_unix_ms
                    ],
                )?;
                new += changed as u32;
            }
            transaction.commit()?;
            Ok(new)
        };
        write(self).map_err(|error| self.explain(error))
    }

    /// Numbers of puzzles by game.
    pub(crate) fn made_counts(&self) -> Result<BTreeMap<i32, MadeCount>, StoreError> {
        let sql = "SELECT game, count(*), count(solved_unix_ms) FROM made_puzzles LEFT JOIN puzzles USING (puzzle) GROUP BY game";
        let read = || -> rusqlite::Result<BTreeMap<i32, MadeCount>> {
            let row = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, MadeCount { all: row.get(1)?, solved: row.get(2)? }))
            };
            readable(self.connection.prepare_cached(sql)?.query_map([], row)?)
        };
        read().map_err(|error| self.explain(error))
    }

    /// The puzzle with this id, if this device has made it.
    pub(crate) fn made_puzzle(&self, id: &str) -> Result<Option<Puzzle>, StoreError> {
        let sql = "SELECT game, line FROM made_puzzles WHERE puzzle = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i32>(0)?, row.get::<_, String>(1)?));
        let read = || self.connection.prepare_cached(sql)?.query_row([id], row).optional();
        let found = read().map_err(|error| self.explain(error))?;
        Ok(found.and_then(|(game, line)| {
            let kind = GameKind::ALL.iter().find(|&&kind| kind as i32 == game)?;
            Puzzle::read(*kind, &line).ok()
        }))
    }

    /// Unsolved ones that are nearest to a rating, the nearest first.
    pub(crate) fn made_near(
        &self,
        kind: GameKind,
        rating: f64,
        most: usize,
    ) -> Result<Vec<Puzzle>, StoreError> {
        let sql = "SELECT line FROM made_puzzles AS made
            LEFT JOIN puzzles USING (puzzle) LEFT JOIN puzzle_ratings AS rated USING (puzzle)
            WHERE game = ?1 AND solved_unix_ms IS NULL
            ORDER BY abs(coalesce(rated.rating, made.rating) - ?2), puzzle LIMIT ?3";
        self.read_made(kind, sql, params![kind as u8, rating, most as i64])
    }

    /// What a list shows of each grade: the earliest unsolved ones, and those that were solved last. Easier ones first.
    pub(crate) fn made_listed(
        &self,
        kind: GameKind,
        open: usize,
        solved: usize,
    ) -> Result<Vec<Puzzle>, StoreError> {
        let sql = "SELECT line FROM (
                SELECT line, grade, solved_unix_ms, row_number() OVER (
                    PARTITION BY grade, solved_unix_ms IS NULL ORDER BY solved_unix_ms DESC, made_unix_ms, puzzle
                ) AS place FROM made_puzzles LEFT JOIN puzzles USING (puzzle) WHERE game = ?1
            ) WHERE place <= CASE WHEN solved_unix_ms IS NULL THEN ?2 ELSE ?3 END
            ORDER BY grade, solved_unix_ms IS NULL DESC, place";
        self.read_made(kind, sql, params![kind as u8, open as i64, solved as i64])
    }

    fn read_made(
        &self,
        kind: GameKind,
        sql: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<Puzzle>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            readable(self.connection.prepare_cached(sql)?.query_map(parameters, |row| row.get(0))?)
        };
        let lines = read().map_err(|error| self.explain(error))?;
        // A damaged one is passed over.
        Ok(lines.iter().filter_map(|line| Puzzle::read(kind, line).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: GameKind = GameKind::Xiangqi;

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("opened");
        (directory, store)
    }

    fn ids(puzzles: &[Puzzle]) -> Vec<&str> {
        puzzles.iter().map(|puzzle| puzzle.id.as_str()).collect()
    }

    #[test]
    fn what_was_made_is_read_again_and_counted_and_the_same_is_kept_once() {
        let (_directory, mut store) = store();
        let set = &puzzles::all(KIND)[..3];
        assert_eq!(store.keep_made(KIND, set, 1).expect("saved"), 3);
        assert_eq!(store.keep_made(KIND, &puzzles::all(KIND)[..4], 2).expect("saved"), 1);
        let read = store.made_puzzle(&set[1].id).expect("read").expect("there");
        assert_eq!(read.write(), set[1].write());
        assert!(store.made_puzzle("xiangqi-00000000").expect("read").is_none());
        store.solve_puzzle(&set[0].id, 5).expect("saved");
        let counts = store.made_counts().expect("read");
        assert_eq!(counts, BTreeMap::from([(KIND as i32, MadeCount { all: 4, solved: 1 })]));
    }

    #[test]
    fn a_position_that_is_only_reflected_is_no_new_puzzle() {
        let (_directory, mut store) = store();
        let read = |line| Puzzle::read(GameKind::Go, line).expect("a puzzle");
        let made = [
            read("capture:E5 2 D5 6w1w/4wwbw1/3wbbb2/1b1bw4/4wb3/b3bww2/6b2/4b4/1w4w2 b - 0 0 1"),
            read("capture:E5 2 F5 w1w6/1wbww4/2bbbw3/4wb1b1/3bw4/2wwb3b/2b6/4b4/2w4w1 b - 0 0 1"),
        ];
        assert_ne!(made[0].id, made[1].id);
        assert_eq!(store.keep_made(GameKind::Go, &made, 1).expect("saved"), 1);
    }

    #[test]
    fn the_nearest_unsolved_ones_are_found_by_their_rating() {
        let (_directory, mut store) = store();
        let all = puzzles::all(KIND);
        store.keep_made(KIND, all, 1).expect("saved");
        let hardest = all.iter().map(|one| puzzles::presumed(one).rating).fold(0.0, f64::max);
        let near = store.made_near(KIND, hardest, 5).expect("read");
        assert_eq!(near.len(), 5);
        let far = |puzzle: &Puzzle| (puzzles::presumed(puzzle).rating - hardest).abs();
        assert!(near.is_sorted_by(|one, next| far(one) <= far(next)));
        assert!((far(&near[0])).abs() < 1e-9);
        store.solve_puzzle(&near[0].id, 5).expect("saved");
        assert_eq!(ids(&store.made_near(KIND, hardest, 4).expect("read")), ids(&near[1..]));
    }

    #[test]
    fn a_list_has_some_of_each_grade_and_what_was_solved_last() {
        let (_directory, mut store) = store();
        let all = puzzles::all(KIND);
        store.keep_made(KIND, all, 1).expect("saved");
        let grades: std::collections::BTreeSet<u32> = all.iter().map(Puzzle::grade).collect();
        let first = store.made_listed(KIND, 2, 1).expect("read");
        assert_eq!(first.len(), 2 * grades.len());
        for (time, puzzle) in (5..).zip(&first[..2]) {
            store.solve_puzzle(&puzzle.id, time).expect("saved");
        }
        let then = store.made_listed(KIND, 2, 1).expect("read");
        assert_eq!(then.len(), 2 * grades.len() + 1);
        assert!(!ids(&then).contains(&first[0].id.as_str()) && ids(&then).contains(&first[1].id.as_str()));
        assert!(then.is_sorted_by_key(Puzzle::grade));
    }

    #[test]
    fn a_game_has_room_for_so_many_and_a_damaged_one_is_passed_over() {
        let (_directory, mut store) = store();
        let set = &puzzles::all(KIND)[..2];
        let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
            INSERT INTO made_puzzles SELECT 'xiangqi-' || i, ?2, i, 1, 1000, 'no puzzle', 0 FROM n";
        store.connection.execute(fill, params![MOST_MADE - 1, KIND as u8]).expect("filled");
        assert_eq!(store.keep_made(KIND, set, 1).expect("saved"), 1);
        assert_eq!(store.keep_made(KIND, set, 1).expect("saved"), 0, "it is full");
        assert_eq!(ids(&store.made_near(KIND, 1000.0, 20_000).expect("read")), ids(&set[..1]));
        assert!(store.made_puzzle("xiangqi-7").expect("read").is_none());
    }
}
