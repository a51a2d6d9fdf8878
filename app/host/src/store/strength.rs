//! How strong the person here is in a game: from the kept matches against levels.

use engine::rating::{Beyond, Rating, Scored};
use engine::{AnyGame, Level, Setup, Side};
use proto::control::Strength;
use rusqlite::{OptionalExtension as _, Row, params};
use session::MatchId;

use super::matches::{parse_seat, parse_setup};
use super::{Store, StoreError};
use crate::room::Seat;

/// Matches that are looked at, the latest: strength of before them has no weight beside theirs.
const MOST_MATCHES: u32 = 300;
/// Rated matches of the game that are read for them, the latest: more than a thousand of one size of board since the last one of
/// another are not passed over, because the host waits (a few milliseconds on a small device).
const MOST_READ: u32 = 1_000;
/// Matches of the history that is told.
const TOLD: usize = 60;

/// `None` for a game without levels, and for a setup that makes no game.
pub(crate) fn strength(store: &Store, setup: &Setup) -> Result<Option<Strength>, StoreError> {
    let Ok(game) = AnyGame::new(setup) else { return Ok(None) };
    let Some(mut rating) = Rating::new(&game) else { return Ok(None) };
    let mut history: Vec<Level> = Vec::new();
    for (level, scored) in store.rated(setup)? {
        if let Some(opponent) = level.elo(&game) {
            rating.update(opponent, scored);
            history.push(rating.level(&game));
        }
    }
    let at = |probability| u32::from(Level::nearest(rating.quantile(probability), &game).tenths());
    let first = history.len().saturating_sub(TOLD);
    Ok(Some(Strength {
        level_tenths: rating.level(&game).tenths().into(),
        lowest_tenths: at(0.1),
        highest_tenths: at(0.9),
        matches: history.len() as u32,
        below_levels: rating.beyond(&game) == Some(Beyond::Below),
        above_levels: rating.beyond(&game) == Some(Beyond::Above),
        history: history[first..].iter().map(|level| level.tenths().into()).collect(),
    }))
}

/// Whether the results of both say something of the same strength: the same game, on as large a board in Go, without odds.
fn is_same(of: &Setup, other: &Setup) -> bool {
    let is_even = |setup: &Setup| {
        setup.start().is_none() && !matches!(setup, Setup::Go(go) if go.handicap.stones() > 0)
    };
    let group = |setup: &Setup| match setup {
        Setup::Go(go) if go.size <= 9 => 1,
        Setup::Go(go) if go.size <= 13 => 2,
        _ => 0,
    };
    of.kind() == other.kind() && group(of) == group(other) && is_even(other)
}

impl Store {
    /// Finished matches of the person here against levels that count beside this setup, oldest first.
    fn rated(&self, setup: &Setup) -> Result<Vec<(Level, Scored)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Level, Scored)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT setup, first_seat, second_seat, winner FROM matches
                 WHERE game = ?1 AND rated = 1 AND ending IS NOT NULL AND help = 0
                 AND (first_seat = 'here' AND second_seat LIKE 'bot:%' OR second_seat = 'here' AND first_seat LIKE 'bot:%')
                 ORDER BY changed_unix_ms DESC LIMIT ?2",
            )?;
            let row = |row: &Row<'_>| {
                let bytes: Vec<u8> = row.get(0)?;
                let (first, second): (String, String) = (row.get(1)?, row.get(2)?);
                Ok((bytes, first, second, row.get::<_, Option<i64>>(3)?))
            };
            let mut found = Vec::new();
            for one in statement.query_map(params![setup.kind() as u8, MOST_READ], row)? {
                let (bytes, first, second, winner) = one?;
                if !parse_setup(&bytes).is_some_and(|played| is_same(setup, &played)) {
                    continue;
                }
                let mine = if first == "here" { Side::First } else { Side::Second };
                let Some(Seat::Bot(level)) = parse_seat(if mine == Side::First { &second } else { &first })
                else {
                    continue;
                };
                let scored = match winner {
                    Some(1) if mine == Side::First => Scored::Won,
                    Some(2) if mine == Side::Second => Scored::Won,
                    Some(1 | 2) => Scored::Lost,
                    _ => Scored::Drawn,
                };
                found.push((level, scored));
                if found.len() == MOST_MATCHES as usize {
                    break;
                }
            }
            found.reverse();
            Ok(found)
        };
        read().map_err(|error| self.explain(error))
    }

    /// Forgets the strength of the person here in the game of this setup; the matches stay.
    pub(crate) fn forget_strength(&mut self, setup: &Setup) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            let rated: Vec<(MatchId, Vec<u8>)> = transaction
                .prepare("SELECT match_id, setup FROM matches WHERE game = ?1 AND rated = 1 AND ending IS NOT NULL")?
                .query_map([setup.kind() as u8], |row| Ok((MatchId(row.get(0)?), row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (id, bytes) in rated {
                if parse_setup(&bytes).is_some_and(|played| is_same(setup, &played)) {
                    transaction.execute("UPDATE matches SET rated = 0 WHERE match_id = ?1", [id.0])?;
                }
            }
            Ok(())
        })
    }

    /// Whether the bot's level in this match follows the strength of the person here.
    pub(crate) fn is_adaptive(&self, id: MatchId) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT adaptive FROM matches WHERE match_id = ?1")
            .and_then(|mut statement| statement.query_row([id.0], |row| row.get(0)).optional())
            .map(Option::unwrap_or_default)
            .map_err(|error| self.explain(error))
    }

    /// The bot's level in this match follows, or no longer follows, the strength of the person here from match to match.
    pub(crate) fn set_adaptive(&mut self, id: MatchId, adaptive: bool) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE matches SET adaptive = ?2 WHERE match_id = ?1", params![id.0, adaptive])
            .map(drop)
            .map_err(|error| self.explain(error))
    }
}

#[cfg(test)]
mod tests {
    use engine::go::{GoSetup, Handicap};
    use engine::{Action, GameKind, Point};
    use proto::control::Help;
    use session::{MatchRecord, MatchResult};

    use super::*;

    struct Kept {
        _folder: tempfile::TempDir,
        store: Store,
        number: u8,
    }

    impl Kept {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Store::open(folder.path()).expect("opens");
            Self { _folder: folder, store, number: 0 }
        }

        /// A match against this level that the person here has won or lost as Black.
        fn play(&mut self, setup: &Setup, level: &str, won: bool) -> MatchId {
            self.number += 1;
            let id = MatchId([self.number; 16]);
            let record = MatchRecord::new(id, setup.clone(), Side::First);
            let seats = [Seat::Here, Seat::Bot(level.parse().expect("a level"))];
            self.store.begin(&record, seats, self.number.into()).expect("saved");
            let result = MatchResult::Resigned(if won { Side::Second } else { Side::First });
            self.store.end(id, 0, result, self.number.into()).expect("saved");
            id
        }

        fn strength(&self, setup: &Setup) -> Strength {
            strength(&self.store, setup).expect("read").expect("a game with levels")
        }
    }

    fn go(size: u8, handicap: Handicap) -> Setup {
        Setup::Go(GoSetup { size, handicap, ..GoSetup::default() })
    }

    #[test]
    fn wins_raise_and_losses_lower_the_level_that_is_offered_and_narrow_what_is_known() {
        let mut kept = Kept::new();
        let setup = GameKind::Gomoku.default_setup();
        let new = kept.strength(&setup);
        assert_eq!(
            (new.level_tenths, new.matches),
            (10, 0),
            "who has never played begins at the first level"
        );
        for level in ["1", "3.5", "4.5"] {
            kept.play(&setup, level, true);
        }
        let strong = kept.strength(&setup);
        assert!(strong.level_tenths > 45, "{strong:?}");
        assert_eq!((strong.matches, strong.history.len()), (3, 3));
        for _ in 0..8 {
            kept.play(&setup, "5", false);
        }
        let known = kept.strength(&setup);
        assert!(known.level_tenths < strong.level_tenths, "{known:?}");
        let width = |strength: &Strength| strength.highest_tenths - strength.lowest_tenths;
        assert!(width(&known) < width(&strong), "{known:?} {strong:?}");
    }

    #[test]
    fn each_size_of_a_go_board_is_a_strength_of_its_own_and_a_handicap_does_not_count() {
        let mut kept = Kept::new();
        kept.play(&go(9, Handicap::None), "4", true);
        kept.play(&go(9, Handicap::Stars(4)), "4", true);
        kept.play(&go(13, Handicap::None), "4", true);
        let counted = |size| kept.strength(&go(size, Handicap::None)).matches;
        assert_eq!([9, 13, 19].map(counted), [1, 1, 0]);
    }

    #[test]
    fn of_a_long_life_of_matches_the_latest_are_read() {
        let mut kept = Kept::new();
        let first = kept.play(&go(19, Handicap::None), "4", true);
        kept.play(&go(9, Handicap::None), "4", true);
        let add = |most: u32| {
            let sql = "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?1)
                INSERT INTO matches (match_id, setup, first_seat, second_seat, ending, winner, rated, began_unix_ms, changed_unix_ms)
                SELECT randomblob(16), setup, first_seat, second_seat, ending, winner, rated, 1, 100 + number
                FROM matches JOIN numbers WHERE match_id <> ?2 AND changed_unix_ms < 100";
            kept.store.connection.execute(sql, params![most, first.0]).expect("added");
            [9, 19].map(|size| kept.strength(&go(size, Handicap::None)).matches)
        };
        assert_eq!(add(400), [MOST_MATCHES, 1]);
        assert_eq!(add(600), [MOST_MATCHES, 0], "more than a thousand have come since");
    }

    #[test]
    fn help_other_seats_another_beginning_and_what_is_forgotten_do_not_count() {
        let mut kept = Kept::new();
        let setup = GameKind::Xiangqi.default_setup();
        let helped = kept.play(&setup, "4", true);
        kept.store.add_help(helped, Help::Hints).expect("saved");
        assert_eq!(kept.strength(&setup).matches, 0);

        let mut from = MatchRecord::new(MatchId([90; 16]), GameKind::Gomoku.default_setup(), Side::First);
        from.actions = vec![Action::Place(Point::new(7, 7))];
        from.result = Some(MatchResult::Resigned(Side::First));
        let seats = [Seat::Here, Seat::Bot(Level::MIN)];
        kept.store.begin(&from, seats.clone(), 90).expect("saved");
        from.id = MatchId([91; 16]);
        let empty = MatchRecord::new(from.id, from.setup.clone(), Side::First);
        kept.store.begin(&empty, [Seat::Here, Seat::Here], 91).expect("saved");
        kept.store.append(from.id, 1, (from.actions[0], 0), None, 91).expect("saved");
        kept.store.set_seats(from.id, seats).expect("saved");
        kept.store.end(from.id, 0, from.result.expect("resigned"), 91).expect("saved");
        assert_eq!(kept.strength(&from.setup).matches, 0, "played on from a position; a seat changed hands");

        kept.play(&from.setup, "4", true);
        assert_eq!(kept.strength(&from.setup).matches, 1);
        kept.store.forget_strength(&from.setup).expect("forgotten");
        assert_eq!(kept.strength(&from.setup).matches, 0);
        assert!(kept.store.load(MatchId([2; 16])).expect("read").is_some(), "the match stays");
    }

    #[test]
    fn lights_out_has_no_strength() {
        let kept = Kept::new();
        assert_eq!(strength(&kept.store, &GameKind::LightsOut.default_setup()).expect("read"), None);
    }
}
