//! Storage of one's own mistakes, to be tried again.

use std::collections::BTreeMap;

use engine::puzzles::Mistake;
use engine::{Action, AnyGame, GameKind, Setup};
use proto::control::Words;
use rusqlite::{OptionalExtension as _, Row, params};
use session::{MatchId, wire};

use super::matches::{action_bytes, parse_action, parse_setup, setup_bytes};
use super::{Store, StoreError, readable};
use crate::leitner::{Card, LEARNT};

/// Maximum number of mistakes of a game: with a handful from each judged match the mistakes of a year. What is learnt goes first.
const MOST: usize = 200;

/// A mistake as it is kept.
#[derive(Clone)]
pub(crate) struct SavedMistake {
    /// Equal for equal positions of the same record: the same mistake made twice is one.
    pub(crate) id: String,
    pub(crate) mistake: Mistake,
    /// Why it was one, as far as that is known.
    pub(crate) why: Option<Words>,
    pub(crate) card: Card,
}

/// A mistake to keep.
pub(crate) struct NewMistake {
    pub(crate) id: String,
    /// The match in which it was made. The mistake is deleted with it.
    pub(crate) match_id: MatchId,
    pub(crate) setup: Setup,
    /// The record before it.
    pub(crate) actions: Vec<Action>,
    pub(crate) played: Action,
    pub(crate) better: Action,
    /// As in [`Mistake`].
    pub(crate) chance: i32,
    pub(crate) lost: i32,
    pub(crate) why: Option<Words>,
}

/// How many mistakes of a game are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MistakeCount {
    pub(crate) all: u32,
    /// Not learnt, and due on the day that was asked about.
    pub(crate) due: u32,
}

const COLUMNS: &str = "mistake, setup, actions, played, better, chance, lost, why_zh, why_en, level, due_day";

impl Store {
    /// The mistakes of a game, those that are due soonest first and what is learnt last. A row that cannot be read is left out.
    pub(crate) fn mistakes(&self, kind: GameKind) -> Result<Vec<SavedMistake>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SavedMistake>> {
            let sql = format!(
                "SELECT {COLUMNS} FROM mistakes WHERE game = ?1
                 ORDER BY level >= {LEARNT}, due_day, added_unix_ms, mistake"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let found: Vec<_> = readable(statement.query_map([kind as u8], saved)?)?;
            Ok(found.into_iter().flatten().collect())
        };
        read().map_err(|error| self.explain(error))
    }

    /// One mistake by its id.
    pub(crate) fn mistake(&self, id: &str) -> Result<Option<SavedMistake>, StoreError> {
        let read = || -> rusqlite::Result<Option<SavedMistake>> {
            let sql = format!("SELECT {COLUMNS} FROM mistakes WHERE mistake = ?1");
            let found = self.connection.prepare_cached(&sql)?.query_row([id], saved).optional()?;
            Ok(found.flatten())
        };
        read().map_err(|error| self.explain(error))
    }

    /// The number of mistakes by game, as numbered on the wire.
    pub(crate) fn mistake_counts(&self, today: u32) -> Result<BTreeMap<i32, MistakeCount>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<i32, MistakeCount>> {
            let sql = format!(
                "SELECT game, count(*), sum(level < {LEARNT} AND due_day <= ?1) FROM mistakes GROUP BY game"
            );
            let row = |row: &Row<'_>| Ok((row.get(0)?, MistakeCount { all: row.get(1)?, due: row.get(2)? }));
            readable(self.connection.prepare_cached(&sql)?.query_map([today], row)?)
        };
        read().map_err(|error| self.explain(error))
    }

    /// Keeps these mistakes as due today. One that is known already is due again, with what is known of it now.
    pub(crate) fn add_mistakes(
        &mut self,
        mistakes: &[NewMistake],
        today: u32,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            for new in mistakes {
                let card = Card::new(today);
                let (why_zh, why_en) = match &new.why {
                    Some(why) => (Some(&why.zh), Some(&why.en)),
                    None => (None, None),
                };
                transaction.execute(
                    "INSERT INTO mistakes (mistake, game, setup, actions, played, better, chance, lost, why_zh, why_en,
                        level, due_day, added_unix_ms, match_id)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?15)
                     ON CONFLICT (mistake) DO UPDATE SET match_id = ?15, played = ?5, better = ?6, chance = ?7, lost = ?8, why_zh = ?9,
                        why_en = ?10, due_day = CASE WHEN level >= ?14 THEN ?12 ELSE due_day END,
                        level = CASE WHEN level >= ?14 THEN 0 ELSE level END",
                    params![
                        new.id,
                        new.setup.kind() as u8,
                        setup_bytes(&new.setup),
                        wire::pack_actions(&new.actions),
                        action_bytes(new.played),
                        action_bytes(new.better),
                        new.chance,
                        new.lost,
                        why_zh,
                        why_en,
                        card.level,
                        card.due_day,
                        now_unix_ms,
                        LEARNT,
                        new.match_id.0,
                    ],
                )?;
                transaction.execute(
                    "DELETE FROM mistakes WHERE mistake IN (SELECT mistake FROM mistakes WHERE game = ?1
                     ORDER BY level, due_day, added_unix_ms DESC LIMIT -1 OFFSET ?2)",
                    params![new.setup.kind() as u8, MOST as i64],
                )?;
            }
            Ok(())
        })
    }

    /// Moves a mistake to another box.
    pub(crate) fn set_card(&mut self, id: &str, card: Card) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE mistakes SET level = ?2, due_day = ?3 WHERE mistake = ?1",
                params![id, card.level, card.due_day],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }
}

/// `None` if the row cannot be replayed: it is of another program, or of damage.
fn saved(row: &Row<'_>) -> rusqlite::Result<Option<SavedMistake>> {
    let (id, setup, actions): (String, Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (played, better): (Vec<u8>, Vec<u8>) = (row.get(3)?, row.get(4)?);
    let (chance, lost): (i32, i32) = (row.get(5)?, row.get(6)?);
    let why = match (row.get::<_, Option<String>>(7)?, row.get::<_, Option<String>>(8)?) {
        (Some(zh), Some(en)) => Some(Words { zh, en }),
        _ => None,
    };
    let card = Card { level: row.get(9)?, due_day: row.get(10)? };
    let replayed = || {
        let mut before = AnyGame::new(&parse_setup(&setup)?).ok()?;
        for action in wire::unpack_actions(&actions).ok()? {
            before.act(action).ok()?;
        }
        let (played, better) = (parse_action(&played)?, parse_action(&better)?);
        before.legal_move(played).ok()?;
        before.legal_move(better).ok()?;
        Some(Mistake { before, played, better, chance, lost })
    };
    Ok(replayed().map(|mistake| SavedMistake { id, mistake, why, card }))
}

#[cfg(test)]
mod tests {
    use engine::{Point, Side};
    use session::MatchRecord;

    use super::*;
    use crate::leitner::Answered;
    use crate::room::Seat;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("opens");
        for number in [1, 2] {
            let record =
                MatchRecord::new(MatchId([number; 16]), GameKind::Gomoku.default_setup(), Side::First);
            store.begin(&record, Seat::BOTH_HERE, 1).expect("saved");
        }
        (folder, store)
    }

    fn place(column: u16, row: u16) -> Action {
        Action::Place(Point::new(column, row))
    }

    fn mistake(number: u16) -> NewMistake {
        NewMistake {
            id: format!("yours-{number:016x}"),
            match_id: MatchId([1; 16]),
            setup: GameKind::Gomoku.default_setup(),
            actions: vec![place(14, 14)],
            played: place(number % 15, number / 15),
            better: place(8, 8),
            chance: 300,
            lost: 400,
            why: Some(Words { zh: "送子".into(), en: "It hangs.".into() }),
        }
    }

    fn levels(store: &Store) -> Vec<(String, u8)> {
        let all = store.mistakes(GameKind::Gomoku).expect("read");
        all.into_iter().map(|one| (one.id, one.card.level)).collect()
    }

    #[test]
    fn a_mistake_reads_back_with_its_position_and_is_due_until_it_is_answered() {
        let (folder, mut store) = store();
        store.add_mistakes(&[mistake(3)], 20, 1).expect("saved");
        drop(store);
        let mut store = Store::open(folder.path()).expect("opens again");
        let saved = store.mistake(&mistake(3).id).expect("read").expect("there");
        assert_eq!((saved.mistake.before.ply(), saved.mistake.played), (1, place(3, 0)));
        assert_eq!((saved.mistake.better, saved.mistake.chance, saved.mistake.lost), (place(8, 8), 300, 400));
        assert_eq!((saved.why, saved.card), (mistake(3).why, Card::new(20)));
        let count = |store: &Store, today| {
            store
                .mistake_counts(today)
                .expect("read")
                .get(&(GameKind::Gomoku as i32))
                .copied()
                .unwrap_or_default()
        };
        assert_eq!(count(&store, 20), MistakeCount { all: 1, due: 1 });
        store.set_card(&saved.id, saved.card.after(Answered::Known, 20)).expect("saved");
        assert_eq!(count(&store, 20), MistakeCount { all: 1, due: 0 });
        assert_eq!(count(&store, 21), MistakeCount { all: 1, due: 1 });
        assert!(store.mistakes(GameKind::Xiangqi).expect("read").is_empty(), "each game has its own");
    }

    #[test]
    fn what_is_due_soonest_comes_first_and_what_is_learnt_last() {
        let (_folder, mut store) = store();
        store.add_mistakes(&[mistake(1), mistake(2), mistake(3)], 20, 1).expect("saved");
        store.set_card(&mistake(1).id, Card { level: LEARNT, due_day: 0 }).expect("saved");
        store.set_card(&mistake(2).id, Card { level: 2, due_day: 25 }).expect("saved");
        let ids: Vec<String> = levels(&store).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [mistake(3).id, mistake(2).id, mistake(1).id]);
    }

    #[test]
    fn a_mistake_that_is_made_again_keeps_its_box_unless_it_was_learnt() {
        let (_folder, mut store) = store();
        store.add_mistakes(&[mistake(1), mistake(2)], 20, 1).expect("saved");
        store.set_card(&mistake(1).id, Card { level: LEARNT, due_day: 0 }).expect("saved");
        store.set_card(&mistake(2).id, Card { level: 3, due_day: 40 }).expect("saved");
        store.add_mistakes(&[mistake(1), mistake(2)], 30, 2).expect("saved");
        let card = |number| store.mistake(&mistake(number).id).expect("read").expect("there").card;
        assert_eq!(card(1), Card::new(30));
        assert_eq!(card(2), Card { level: 3, due_day: 40 });
    }

    #[test]
    fn of_too_many_what_is_learnt_is_dropped_first_and_what_is_new_stays() {
        let (_folder, mut store) = store();
        let many: Vec<NewMistake> = (0..MOST as u16).map(mistake).collect();
        store.add_mistakes(&many, 20, 1).expect("saved");
        store.set_card(&mistake(5).id, Card { level: LEARNT, due_day: 0 }).expect("saved");
        store.add_mistakes(&[mistake(210)], 30, 2).expect("saved");
        let kept = levels(&store);
        assert_eq!(kept.len(), MOST);
        assert!(kept.iter().any(|(id, _)| *id == mistake(210).id));
        assert!(kept.iter().all(|(id, _)| *id != mistake(5).id));
    }

    #[test]
    fn with_a_match_go_the_mistakes_that_were_last_made_in_it() {
        let (_folder, mut store) = store();
        store.add_mistakes(&[mistake(1), mistake(2)], 20, 1).expect("saved");
        let again = NewMistake { match_id: MatchId([2; 16]), ..mistake(2) };
        store.add_mistakes(&[again], 21, 2).expect("saved");
        store.delete(MatchId([1; 16])).expect("deleted");
        let ids: Vec<String> = levels(&store).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [mistake(2).id]);
    }

    #[test]
    fn a_row_that_cannot_be_replayed_is_left_out() {
        let (_folder, mut store) = store();
        let occupied = NewMistake { played: place(14, 14), ..mistake(1) };
        store.add_mistakes(&[occupied, mistake(2)], 20, 1).expect("saved");
        store
            .connection
            .execute("UPDATE mistakes SET actions = x'ff' WHERE mistake = ?1", [mistake(2).id])
            .expect("damaged");
        assert!(store.mistakes(GameKind::Gomoku).expect("read").is_empty());
        assert!(store.mistake(&mistake(2).id).expect("read").is_none());
    }
}
