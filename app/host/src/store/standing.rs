//! Storage of how the player fares in puzzles: ratings, runs, and the five of each day.

use std::collections::BTreeMap;

use engine::GameKind;
use engine::glicko::Glicko;
use rusqlite::{OptionalExtension as _, Row, TransactionBehavior, params};

use super::{Store, StoreError, readable};
use crate::leitner::Card;

/// The tables, as a migration of their own.
pub(super) const TABLES: &str = "
    -- Of puzzles that were tried: Glicko-2, and Leitner's box where it was missed once.
    CREATE TABLE puzzle_ratings (
        puzzle     TEXT PRIMARY KEY,
        rating     REAL NOT NULL,
        deviation  REAL NOT NULL,
        volatility REAL NOT NULL,
        rated_day  INTEGER NOT NULL,                                   -- local days since 1 January 1970
        level      INTEGER,                                            -- as in mistakes; NULL where it was never missed
        due_day    INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE puzzle_players (
        game       INTEGER PRIMARY KEY,                                -- qiyou.board.Game
        rating     REAL NOT NULL,
        deviation  REAL NOT NULL,
        volatility REAL NOT NULL,
        rated_day  INTEGER NOT NULL,                                   -- of the last result
        rated      INTEGER NOT NULL,                                   -- number of results
        run        INTEGER NOT NULL,                                   -- solved one after the other without a miss
        best_run   INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE puzzle_days (
        day     INTEGER NOT NULL,
        game    INTEGER NOT NULL,
        puzzles TEXT NOT NULL,                                         -- the five ids, with spaces between
        marks   TEXT NOT NULL,                                         -- for each . open, - missed, ~ solved later, + solved at once
        done    INTEGER NOT NULL,
        PRIMARY KEY (day, game)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX puzzle_days_done ON puzzle_days (day) WHERE done = 1;
";

/// How a player fares in the puzzles of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Player {
    pub(crate) rating: Glicko,
    /// Day of the last result.
    pub(crate) rated_day: u32,
    /// Number of results.
    pub(crate) rated: u32,
    /// Solved one after the other without a miss.
    pub(crate) run: u32,
    pub(crate) best_run: u32,
}

/// A puzzle that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tried {
    pub(crate) rating: Glicko,
    /// The last day on which a try counted.
    pub(crate) rated_day: u32,
    /// Where it was missed once: when it comes back.
    pub(crate) card: Option<Card>,
}

/// How one of the five of a day went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Open,
    Missed,
    /// Solved after it was missed.
    Late,
    /// Solved at the first try and without a hint.
    First,
}

/// The marks as they are kept.
const MARKS: [(Mark, char); 4] =
    [(Mark::Open, '.'), (Mark::Missed, '-'), (Mark::Late, '~'), (Mark::First, '+')];

/// The five of a day: ids of puzzles, and of own mistakes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Five(pub(crate) Vec<(String, Mark)>);

impl Five {
    /// Whether each was solved, at once or later.
    pub(crate) fn is_done(&self) -> bool {
        self.0.iter().all(|(_, mark)| matches!(mark, Mark::First | Mark::Late))
    }

    fn write(&self) -> (String, String) {
        let ids: Vec<&str> = self.0.iter().map(|(id, _)| id.as_str()).collect();
        let sign = |mark: Mark| MARKS.iter().find(|(one, _)| *one == mark).map_or('.', |(_, sign)| *sign);
        (ids.join(" "), self.0.iter().map(|(_, mark)| sign(*mark)).collect())
    }

    fn read(ids: &str, marks: &str) -> Self {
        let mark = |sign| MARKS.iter().find(|(_, one)| *one == sign).map_or(Mark::Open, |(mark, _)| *mark);
        Self(ids.split_whitespace().map(str::to_owned).zip(marks.chars().map(mark)).collect())
    }
}

/// What a verdict on a try changes; kept at once.
#[derive(Default)]
pub(crate) struct Verdict {
    pub(crate) player: Option<(GameKind, Player)>,
    pub(crate) tried: Option<(String, Tried)>,
    pub(crate) five: Option<(u32, GameKind, Five)>,
}

impl Store {
    /// How the player fares in a game; `None` before the first result.
    pub(crate) fn puzzle_player(&self, kind: GameKind) -> Result<Option<Player>, StoreError> {
        let sql = "SELECT rating, deviation, volatility, rated_day, rated, run, best_run FROM puzzle_players WHERE game = ?1";
        let row = |row: &Row<'_>| {
            Ok(Player {
                rating: glicko(row, 0)?,
                rated_day: row.get(3)?,
                rated: row.get(4)?,
                run: row.get(5)?,
                best_run: row.get(6)?,
            })
        };
        let read = || self.connection.prepare_cached(sql)?.query_row([kind as u8], row).optional();
        read().map_err(|error| self.explain(error))
    }

    /// Every puzzle that was tried, by id.
    pub(crate) fn tried_puzzles(&self) -> Result<BTreeMap<String, Tried>, StoreError> {
        let sql =
            "SELECT rating, deviation, volatility, rated_day, level, due_day, puzzle FROM puzzle_ratings";
        let row = |row: &Row<'_>| {
            let card = row.get::<_, Option<u8>>(4)?.zip(row.get(5)?);
            let card = card.map(|(level, due_day)| Card { level, due_day });
            Ok((row.get(6)?, Tried { rating: glicko(row, 0)?, rated_day: row.get(3)?, card }))
        };
        let read = || -> rusqlite::Result<BTreeMap<String, Tried>> {
            readable(self.connection.prepare_cached(sql)?.query_map([], row)?)
        };
        read().map_err(|error| self.explain(error))
    }

    /// The five of a day, if they were chosen.
    pub(crate) fn five(&self, day: u32, kind: GameKind) -> Result<Option<Five>, StoreError> {
        let sql = "SELECT puzzles, marks FROM puzzle_days WHERE day = ?1 AND game = ?2";
        let row = |row: &Row<'_>| Ok(Five::read(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?));
        let read =
            || self.connection.prepare_cached(sql)?.query_row(params![day, kind as u8], row).optional();
        read().map_err(|error| self.explain(error))
    }

    /// Days on which the five of some game were done, earlier ones first.
    pub(crate) fn done_days(&self) -> Result<Vec<u32>, StoreError> {
        let sql = "SELECT DISTINCT day FROM puzzle_days WHERE done = 1 ORDER BY day";
        let read = || -> rusqlite::Result<Vec<u32>> {
            readable(self.connection.prepare_cached(sql)?.query_map([], |row| row.get(0))?)
        };
        read().map_err(|error| self.explain(error))
    }

    pub(crate) fn keep_verdict(&mut self, verdict: &Verdict) -> Result<(), StoreError> {
        let write = |store: &mut Self| {
            let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some((kind, player)) = &verdict.player {
                let Glicko { rating, deviation, volatility } = player.rating;
                transaction.execute(
                    "INSERT OR REPLACE INTO puzzle_players (game, rating, deviation, volatility, rated_day, rated, run, best_run)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    params![
                        *kind as u8, rating, deviation, volatility, player.rated_day, player.rated, player.run,
                        player.best_run
                    ],
                )?;
            }
            if let Some((id, tried)) = &verdict.tried {
                let Glicko { rating, deviation, volatility } = tried.rating;
                let (level, due) = (tried.card.map(|card| card.level), tried.card.map(|card| card.due_day));
                transaction.execute(
                    "INSERT OR REPLACE INTO puzzle_ratings (puzzle, rating, deviation, volatility, rated_day, level, due_day)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![id, rating, deviation, volatility, tried.rated_day, level, due],
                )?;
            }
            if let Some((day, kind, five)) = &verdict.five {
                let (ids, marks) = five.write();
                transaction.execute(
                    "INSERT OR REPLACE INTO puzzle_days (day, game, puzzles, marks, done) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![day, *kind as u8, ids, marks, five.is_done()],
                )?;
            }
            transaction.commit()
        };
        write(self).map_err(|error| self.explain(error))
    }
}

/// A rating in three columns. Numbers that no result leads to, of a damaged file, are as of a novice.
fn glicko(row: &Row<'_>, at: usize) -> rusqlite::Result<Glicko> {
    let found = Glicko { rating: row.get(at)?, deviation: row.get(at + 1)?, volatility: row.get(at + 2)? };
    let sound = found.rating.abs() < 10_000.0
        && (1.0..=1_000.0).contains(&found.deviation)
        && (0.000_1..=1.0).contains(&found.volatility);
    Ok(if sound { found } else { Glicko::novice() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five(marks: [Mark; 5]) -> Five {
        Five(marks.into_iter().enumerate().map(|(at, mark)| (format!("go-{at}"), mark)).collect())
    }

    fn kept(day: u32, kind: GameKind, five: &Five) -> Verdict {
        Verdict { five: Some((day, kind, five.clone())), ..Verdict::default() }
    }

    #[test]
    fn ratings_runs_and_the_five_of_a_day_read_back_as_they_were_kept_also_after_a_restart() {
        let directory = tempfile::tempdir().expect("a directory");
        let player =
            Player { rating: Glicko::new(1234.5, 99.25), rated_day: 7, rated: 3, run: 2, best_run: 9 };
        let card = Some(Card { level: 1, due_day: 8 });
        let tried = Tried { rating: Glicko::new(1500.0, 140.0), rated_day: 7, card };
        let today = five([Mark::First, Mark::Late, Mark::Missed, Mark::Open, Mark::Open]);
        {
            let mut store = Store::open(directory.path()).expect("made");
            assert_eq!(store.puzzle_player(GameKind::Go).expect("read"), None);
            let verdict = Verdict {
                player: Some((GameKind::Go, player)),
                tried: Some(("go-1".into(), tried)),
                five: Some((7, GameKind::Go, today.clone())),
            };
            store.keep_verdict(&verdict).expect("kept");
        }
        let store = Store::open(directory.path()).expect("opened");
        assert_eq!(store.puzzle_player(GameKind::Go).expect("read"), Some(player));
        assert_eq!(store.puzzle_player(GameKind::Gomoku).expect("read"), None, "each game has its own");
        assert_eq!(store.tried_puzzles().expect("read"), BTreeMap::from([("go-1".to_owned(), tried)]));
        assert_eq!(store.five(7, GameKind::Go).expect("read"), Some(today));
        assert_eq!(store.five(8, GameKind::Go).expect("read"), None);
        assert_eq!(store.done_days().expect("read"), [0; 0]);
    }

    #[test]
    fn a_day_is_done_once_all_five_of_one_game_are_solved_and_counts_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(directory.path()).expect("made");
        let nearly = five([Mark::First, Mark::First, Mark::Late, Mark::First, Mark::Missed]);
        let done = five([Mark::First, Mark::First, Mark::Late, Mark::First, Mark::Late]);
        store.keep_verdict(&kept(3, GameKind::Go, &nearly)).expect("kept");
        assert!(store.done_days().expect("read").is_empty());
        for (day, kind) in [(3, GameKind::Go), (3, GameKind::Gomoku), (1, GameKind::Go)] {
            store.keep_verdict(&kept(day, kind, &done)).expect("kept");
        }
        assert_eq!(store.done_days().expect("read"), [1, 3]);
    }

    #[test]
    fn numbers_that_no_result_leads_to_are_as_of_a_novice() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("made");
        let sql = "INSERT INTO puzzle_players VALUES (3, 1e300, -1, 0, 1, 1, 0, 0)";
        store.connection.execute(sql, []).expect("written");
        let player = store.puzzle_player(GameKind::Go).expect("read").expect("there");
        assert_eq!(player.rating, Glicko::novice());
    }
}
