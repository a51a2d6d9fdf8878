//! The opening book: precomputed moves, which take no time, are based on longer searches, and vary from game to game.
//!
//! `qiyou-engine book` makes the books. A book is for one rule, on the board of 15 with default options. Positions that are
//! equal by rotation or reflection share an entry. File format, with little-endian numbers:
//!
//! ```text
//! file  = "QYGBOOK1" { entry }                    entries by key, those of one position the best first
//! entry = key:u64 place:u16 value:i16             place: 15 * row + column; value: points for the side to move
//! ```

use std::sync::OnceLock;

use super::rules::{TURN_KEY, stone_key};
use super::{Gomoku, GomokuRule, GomokuSetup};
use crate::game::points;
use crate::point::way_back;
use crate::{Game as _, Point, Side};

/// Moves for positions with few stones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: u64,
    place: u16,
    value: i16,
}

/// Magic bytes of the file.
const MAGIC: &[u8; 8] = b"QYGBOOK1";
/// Size of an entry in bytes.
const ENTRY: usize = 12;
/// Points on a side.
const SIZE: u16 = 15;
const BOARD: [u16; 2] = [SIZE; 2];

impl Book {
    /// The book for a setup; `None` if there is none for it.
    pub fn shared(setup: &GomokuSetup) -> Option<&'static Self> {
        static SHARED: [OnceLock<Option<Book>>; 3] = [const { OnceLock::new() }; 3];
        if !is_usual(setup) {
            return None;
        }
        let (once, bytes): (_, &[u8]) = match setup.rule {
            GomokuRule::Freestyle => (&SHARED[0], include_bytes!("book/freestyle.bin")),
            GomokuRule::Standard => (&SHARED[1], include_bytes!("book/standard.bin")),
            GomokuRule::Renju => (&SHARED[2], include_bytes!("book/renju.bin")),
        };
        once.get_or_init(|| Self::read(bytes)).as_ref()
    }

    /// A book of these positions with their moves, each with its value in points for the side to move.
    pub fn of<'a>(positions: impl IntoIterator<Item = (&'a Gomoku, Vec<(Point, i16)>)>) -> Self {
        let mut entries = Vec::new();
        for (game, moves) in positions {
            let (key, way) = canonical(game);
            entries.extend(moves.into_iter().map(|(point, value)| {
                let point = point.turned(way, BOARD);
                Entry { key, place: SIZE * point.row + point.column, value }
            }));
        }
        entries.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.value), entry.place));
        Self { entries }
    }

    /// Parses a file; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let body = bytes.strip_prefix(MAGIC)?;
        let chunks = body.chunks_exact(ENTRY);
        if !chunks.remainder().is_empty() {
            return None;
        }
        let entries: Vec<Entry> = chunks
            .map(|bytes| {
                let (key, rest) = bytes.split_first_chunk().expect("an entry is longer than its key");
                Entry {
                    key: u64::from_le_bytes(*key),
                    place: u16::from_le_bytes([rest[0], rest[1]]),
                    value: i16::from_le_bytes([rest[2], rest[3]]),
                }
            })
            .collect();
        let ordered = entries.is_sorted_by_key(|entry| (entry.key, std::cmp::Reverse(entry.value)));
        (ordered && entries.iter().all(|entry| entry.place < SIZE * SIZE)).then_some(Self { entries })
    }

    /// The content of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for Entry { key, place, value } in &self.entries {
            bytes.extend(key.to_le_bytes());
            bytes.extend(place.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    /// The moves for a position with their values for the side to move, best first; empty if the position is not in the
    /// book.
    pub fn moves(&self, game: &Gomoku) -> Vec<(Point, i16)> {
        if !is_usual(game.setup()) || game.is_opening() {
            return Vec::new();
        }
        let (key, way) = canonical(game);
        let first = self.entries.partition_point(|entry| entry.key < key);
        self.entries[first..]
            .iter()
            .take_while(|entry| entry.key == key)
            .map(|entry| {
                let point = Point::new(entry.place % SIZE, entry.place / SIZE);
                (point.turned(way_back(way), BOARD), entry.value)
            })
            // Guards against hash collisions.
            .filter(|&(point, _)| game.at(point.column.into(), point.row.into()).is_none())
            .collect()
    }
}

/// Whether a book can exist for these options. The opening rule does not matter once its stones are placed.
fn is_usual(setup: &GomokuSetup) -> bool {
    let usual = GomokuSetup { rule: setup.rule, opening: setup.opening, ..GomokuSetup::default() };
    *setup == usual && u16::from(usual.size) == SIZE
}

/// The minimal key among the symmetries of a position, and the symmetry that yields it. Only for boards with [`SIZE`] points
/// on a side.
fn canonical(game: &Gomoku) -> (u64, u8) {
    let next = if game.next_color() == Side::Second { TURN_KEY } else { 0 };
    let stones: Vec<(Point, Side)> =
        points(SIZE, SIZE).filter_map(|at| Some((at, game.at(at.column.into(), at.row.into())?))).collect();
    let key = |way: u8| {
        stones.iter().fold(next, |key, &(at, side)| {
            let at = at.turned(way, BOARD);
            key ^ stone_key(at.column, at.row, side)
        })
    };
    (0..8).map(|way| (key(way), way)).min_by_key(|&(key, _)| key).expect("there are eight")
}

impl Gomoku {
    /// A hash that is equal for all symmetries of a position. `None` on boards without a book.
    pub fn book_key(&self) -> Option<u64> {
        is_usual(self.setup()).then(|| canonical(self).0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::gomoku::{GomokuBot, GomokuOpening};
    use crate::{Action, AnyGame, Bot as _, Limits, Rng, Tier};

    /// Random stones near the centre.
    fn drawn(rng: &mut Rng, stones: u32) -> Vec<Point> {
        let mut points = Vec::new();
        while points.len() < stones as usize {
            let point = Point::new(4 + rng.below(7) as u16, 4 + rng.below(7) as u16);
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points
    }

    fn played(points: &[Point], opening: GomokuOpening) -> Gomoku {
        let mut game = Gomoku::new(&GomokuSetup { opening, ..GomokuSetup::default() }).expect("it is valid");
        for &point in points {
            game.play(game.legal_move(Action::Place(point)).expect("it is empty"));
        }
        game
    }

    #[test]
    fn a_move_is_found_however_the_board_is_turned() {
        let mut rng = Rng::new(4);
        for round in 0..50 {
            let mut points = drawn(&mut rng, 2 + round % 4);
            let answer = points.pop().expect("there are two at least");
            let book = Book::of([(&played(&points, GomokuOpening::Free), vec![(answer, 7)])]);
            for way in 0..8 {
                let turned: Vec<Point> = points.iter().map(|&point| point.turned(way, BOARD)).collect();
                let game = played(&turned, GomokuOpening::Free);
                let found = book.moves(&game);
                assert_eq!(found.len(), 1);
                // A symmetric position can have symmetric moves.
                let key =
                    |answer| played(&[turned.clone(), vec![answer]].concat(), GomokuOpening::Free).book_key();
                assert_eq!(
                    (key(found[0].0), found[0].1),
                    (key(answer.turned(way, BOARD)), 7),
                    "{points:?} {way}"
                );
                assert_eq!(answer.turned(way, BOARD).turned(way_back(way), BOARD), answer);
            }
        }
    }

    #[test]
    fn it_knows_only_what_was_put_in_and_only_on_its_own_board() {
        let middle = Point::new(7, 7);
        let empty = played(&[], GomokuOpening::Free);
        let book = Book::of([(&empty, vec![(middle, 12)])]);
        assert_eq!(book.moves(&empty), [(middle, 12)]);
        assert_eq!(book.moves(&played(&[middle], GomokuOpening::Free)), []);
        assert_eq!(book.moves(&played(&[], GomokuOpening::Swap2)), [], "three stones are to be put, not one");
        for other in [
            GomokuSetup { size: 19, ..GomokuSetup::default() },
            GomokuSetup { edge_five_wins: false, ..GomokuSetup::default() },
        ] {
            let game = Gomoku::new(&other).expect("it is valid");
            assert_eq!(book.moves(&game), []);
            assert!(Book::shared(&other).is_none() && game.book_key().is_none());
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_else_is() {
        let first = played(&[Point::new(7, 7)], GomokuOpening::Free);
        let second = played(&[Point::new(7, 7), Point::new(8, 8)], GomokuOpening::Free);
        let book = Book::of([
            (&first, vec![(Point::new(8, 8), -3), (Point::new(7, 8), 40)]),
            (&second, vec![(Point::new(3, 3), 0)]),
        ]);
        let bytes = book.write();
        assert_eq!(Book::read(&bytes).as_ref(), Some(&book));
        assert_eq!(book.moves(&first).iter().map(|&(_, value)| value).collect::<Vec<_>>(), [40, -3]);
        assert_eq!(Book::read(&bytes[..bytes.len() - 1]), None, "cut short");
        assert_eq!(Book::read(&bytes[1..]), None, "something else");
        let mut wrong = bytes;
        wrong[16..18].copy_from_slice(&225_u16.to_le_bytes());
        assert_eq!(Book::read(&wrong), None, "a point off the board");
    }

    #[test]
    fn every_rule_has_a_book_that_begins_in_the_middle_and_answers_the_first_stone() {
        for rule in GomokuRule::ALL {
            let setup = GomokuSetup { rule, ..GomokuSetup::default() };
            let book = Book::shared(&setup).expect("it is there");
            let mut game = Gomoku::new(&setup).expect("it is valid");
            assert_eq!(book.moves(&game)[0].0, Point::new(7, 7));
            game.play(game.legal_move(Action::Place(Point::new(7, 7))).expect("it is empty"));
            assert!(
                book.moves(&game).iter().all(|&(point, _)| game.legal_move(Action::Place(point)).is_ok())
            );
            assert!(!book.moves(&game).is_empty() && book.entries.len() > 30, "{rule:?}");
        }
    }

    #[test]
    fn the_strongest_level_plays_from_it_for_every_seed_and_what_compares_and_other_levels_look_themselves() {
        let stop = AtomicBool::new(false);
        let elapsed = || Duration::ZERO;
        let limits = Limits { time: None, nodes: Some(500), depth: None, stop: &stop, elapsed: &elapsed };
        let game = played(&[Point::new(7, 7)], GomokuOpening::Free);
        let known: Vec<Point> =
            Book::shared(game.setup()).expect("it is there").moves(&game).iter().map(|mv| mv.0).collect();
        let game = AnyGame::Gomoku(game);
        for seed in 0..20 {
            let mut strongest = GomokuBot::new(Tier::MAX, seed);
            let chosen = strongest.choose(&game, &limits, &mut |_| {}).expect("the game goes on");
            assert_eq!(chosen.nodes, 1);
            assert!(known.iter().any(|&point| chosen.line[0] == Action::Place(point)));
            assert!(strongest.choose_lines(&game, 1, &limits, &mut |_| {})[0].nodes > 1);
            assert!(strongest.judge(&game, &limits).expect("the game goes on").nodes > 1);
        }
        let mut other = GomokuBot::new(Tier::new(9).expect("there is one"), 1);
        assert!(other.choose(&game, &limits, &mut |_| {}).expect("the game goes on").nodes > 1);
    }
}
