//! Beginnings by name: of a corner (joseki-like) and of the whole board.
//!
//! Sources: Sensei's Library (senseis.xmp.net), "Joseki" and "Fuseki", with the Chinese names that are usual in books. A name
//! holds in all eight symmetries and for both colours. Of a corner only the moves in it count, in their order; after moves
//! that have no name of their own a beginning keeps the name that it had.

use crate::{Language, Point, Side};

/// Stones after which a game is no beginning any more.
const MOST: usize = 60;

/// Stones among which a beginning of the whole board is looked for.
const WHOLE_WITHIN: usize = 16;

/// In a corner the lines from both edges; on the whole board column and row; from 1.
type Place = (u8, u8);

/// Chinese and English name, the stones of the side whose beginning it is, and those of the other side.
type Line = (&'static str, &'static str, &'static [Place], &'static [Place]);

/// Beginnings of a corner. Where both sides have stones the first one named was played first.
const CORNERS: &[Line] = &[
    ("星", "Star Point", &[(4, 4)], &[]),
    ("星小飞守角", "Star Point, Small-Knight Enclosure", &[(4, 4), (6, 3)], &[]),
    ("星大飞守角", "Star Point, Large-Knight Enclosure", &[(4, 4), (7, 3)], &[]),
    ("星单关守角", "Star Point, One-Space Enclosure", &[(4, 4), (6, 4)], &[]),
    ("星点三三", "Star Point, 3-3 Invasion", &[(4, 4)], &[(3, 3)]),
    ("星一间高挂", "Star Point, High Approach", &[(4, 4)], &[(6, 4)]),
    ("星小飞挂", "Star Point, Low Approach", &[(4, 4)], &[(6, 3)]),
    ("星双飞燕", "Star Point, Double Approach", &[(4, 4)], &[(6, 3), (3, 6)]),
    ("星小飞挂小飞应", "Star Point, Low Approach, Small-Knight Answer", &[(4, 4), (3, 6)], &[(6, 3)]),
    ("星小飞挂单关应", "Star Point, Low Approach, One-Space Answer", &[(4, 4), (4, 6)], &[(6, 3)]),
    ("星小飞挂大飞应", "Star Point, Low Approach, Large-Knight Answer", &[(4, 4), (3, 7)], &[(6, 3)]),
    ("星小飞挂尖顶", "Star Point, Low Approach, Kick", &[(4, 4), (5, 3)], &[(6, 3)]),
    ("星小飞挂倚盖", "Star Point, Low Approach, Attachment on Top", &[(4, 4), (6, 4)], &[(6, 3)]),
    ("星小飞挂一间低夹", "Star Point, Low Approach, One-Space Low Pincer", &[(4, 4), (8, 3)], &[(6, 3)]),
    ("三三", "3-3 Point", &[(3, 3)], &[]),
    ("小目", "3-4 Point", &[(3, 4)], &[]),
    ("无忧角", "Small-Knight Enclosure", &[(3, 4), (5, 3)], &[]),
    ("单关守角", "One-Space Enclosure", &[(3, 4), (5, 4)], &[]),
    ("大飞守角", "Large-Knight Enclosure", &[(3, 4), (6, 3)], &[]),
    ("二间高守角", "Two-Space High Enclosure", &[(3, 4), (6, 4)], &[]),
    ("小目大飞挂", "3-4 Point, Large-Knight Approach", &[(3, 4)], &[(6, 3)]),
    ("小目二间高挂", "3-4 Point, Two-Space High Approach", &[(3, 4)], &[(6, 4)]),
    ("小目小飞挂", "3-4 Point, Low Approach", &[(3, 4)], &[(5, 3)]),
    ("小目小飞挂一间低夹", "3-4 Point, Low Approach, One-Space Low Pincer", &[(3, 4), (7, 3)], &[(5, 3)]),
    ("小目小飞挂一间高夹", "3-4 Point, Low Approach, One-Space High Pincer", &[(3, 4), (7, 4)], &[(5, 3)]),
    ("小目小飞挂二间低夹", "3-4 Point, Low Approach, Two-Space Low Pincer", &[(3, 4), (8, 3)], &[(5, 3)]),
    ("小目小飞挂二间高夹", "3-4 Point, Low Approach, Two-Space High Pincer", &[(3, 4), (8, 4)], &[(5, 3)]),
    ("小目小飞挂三间低夹", "3-4 Point, Low Approach, Three-Space Low Pincer", &[(3, 4), (9, 3)], &[(5, 3)]),
    ("小目小飞挂三间高夹", "3-4 Point, Low Approach, Three-Space High Pincer", &[(3, 4), (9, 4)], &[(5, 3)]),
    ("秀策小尖", "Shusaku's Diagonal", &[(3, 4), (4, 5)], &[(5, 3)]),
    ("小目一间高挂", "3-4 Point, High Approach", &[(3, 4)], &[(5, 4)]),
    ("小目一间高挂一间低夹", "3-4 Point, High Approach, One-Space Low Pincer", &[(3, 4), (7, 3)], &[(5, 4)]),
    ("小目一间高挂二间低夹", "3-4 Point, High Approach, Two-Space Low Pincer", &[(3, 4), (8, 3)], &[(5, 4)]),
    // The two-space high pincer.
    ("妖刀", "Magic Sword", &[(3, 4), (8, 4)], &[(5, 4)]),
    ("小目一间高挂托", "3-4 Point, High Approach, Inside Attachment", &[(3, 4), (5, 3)], &[(5, 4)]),
    ("托退", "Attach and Draw Back", &[(3, 4), (5, 3), (4, 3)], &[(5, 4), (6, 3)]),
    ("雪崩型", "Avalanche", &[(3, 4), (5, 3), (4, 3)], &[(5, 4), (4, 4), (3, 5)]),
    ("小雪崩", "Small Avalanche", &[(3, 4), (5, 3), (4, 3), (2, 5)], &[(5, 4), (4, 4), (3, 5)]),
    ("大雪崩", "Large Avalanche", &[(3, 4), (5, 3), (4, 3), (2, 4)], &[(5, 4), (4, 4), (3, 5)]),
    ("目外", "5-3 Point", &[(5, 3)], &[]),
    ("目外小目挂", "5-3 Point, 3-4 Approach", &[(5, 3)], &[(3, 4)]),
    ("大斜", "Taisha", &[(5, 3), (4, 6)], &[(3, 4)]),
    ("高目", "5-4 Point", &[(5, 4)], &[]),
    ("高目小目挂", "5-4 Point, 3-4 Approach", &[(5, 4)], &[(3, 4)]),
];

/// Beginnings of a whole board of 19 x 19, those with more stones first.
const WHOLE: &[Line] = &[
    ("迷你中国流", "Mini-Chinese Opening", &[(17, 4), (6, 3), (11, 3)], &[(4, 4)]),
    // Its last stone is on the third or on the fourth line.
    ("小林流", "Kobayashi Opening", &[(16, 3), (6, 3), (10, 3)], &[(4, 4)]),
    ("小林流", "Kobayashi Opening", &[(16, 3), (6, 3), (10, 4)], &[(4, 4)]),
    ("三连星", "Sanrensei", &[(16, 16), (16, 10), (16, 4)], &[]),
    ("低中国流", "Low Chinese Opening", &[(16, 16), (16, 3), (17, 9)], &[]),
    ("高中国流", "High Chinese Opening", &[(16, 16), (16, 3), (16, 9)], &[]),
    ("秀策流", "Shusaku Opening", &[(17, 16), (16, 3), (3, 4)], &[]),
    ("星无忧角", "Orthodox Opening", &[(16, 16), (17, 4), (15, 3)], &[]),
    ("二连星", "Nirensei", &[(16, 16), (16, 4)], &[]),
    ("对角星", "Diagonal Star Points", &[(16, 16), (4, 4)], &[]),
];

/// A beginning with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    chinese: &'static str,
    english: &'static str,
}

impl Opening {
    /// 星小飞挂; Star Point, Low Approach.
    pub fn name(self, language: Language) -> &'static str {
        language.pick(self.chinese, self.english)
    }
}

/// The first stones of a game on an empty board or after handicap stones.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    size: u16,
    stones: Vec<(Point, Side)>,
    /// Number of handicap stones before the first move.
    given: usize,
    /// Whether the whole board may have a name, which handicap stones exclude.
    whole: bool,
}

impl Beginning {
    pub(super) const fn new(size: u8, whole: bool) -> Self {
        Self { size: size as u16, stones: Vec::new(), given: 0, whole }
    }

    /// Adds a handicap stone on its star point.
    pub(super) fn give(&mut self, at: Point) {
        self.stones.push((at, Side::First));
        self.given += 1;
    }

    /// Adds the stone of the next move. Returns false when the game is no beginning any more.
    pub(super) fn add(&mut self, at: Point, side: Side) -> bool {
        self.stones.push((at, side));
        self.stones.len() <= MOST
    }

    /// The name with the most stones: of the corner in which the last stone was played, or of the whole board.
    pub(super) fn opening(&self) -> Option<Opening> {
        if !matches!(self.size, 13 | 19) {
            return None;
        }
        let &(last, _) = self.stones.get(self.given..)?.last()?;
        let whole = if self.whole && self.size == 19 { self.of_the_board() } else { None };
        let line = match (self.of_corner(last), whole) {
            (Some(corner), Some(whole)) if stones(whole) <= stones(corner) => corner,
            (corner, whole) => whole.or(corner)?,
        };
        Some(Opening { chinese: line.0, english: line.1 })
    }

    /// The longest beginning with a name of the moves in the corner of this point.
    fn of_corner(&self, at: Point) -> Option<&'static Line> {
        let (corner, _) = in_corner(self.size, at)?;
        let played: Vec<(Place, Side)> = self
            .stones
            .iter()
            .filter_map(|&(at, side)| Some((in_corner(self.size, at)?, side)))
            .filter(|((there, _), _)| *there == corner)
            .map(|((_, place), side)| (place, side))
            .collect();
        (1..=played.len()).rev().find_map(|count| {
            let played = &played[..count];
            CORNERS.iter().find(|line| stones(line) == count && is_corner(line, played))
        })
    }

    /// The beginning of the whole board that one of the sides has.
    fn of_the_board(&self) -> Option<&'static Line> {
        let played = &self.stones[..self.stones.len().min(WHOLE_WITHIN)];
        WHOLE.iter().find(|(.., own, other)| {
            (0..8).any(|way| {
                Side::BOTH.into_iter().any(|side| {
                    let all = |places: &[Place], side: Side| {
                        places.iter().all(|&(column, row)| {
                            let at = Point::new(u16::from(column) - 1, u16::from(row) - 1);
                            played.contains(&(at.turned(way, [self.size; 2]), side))
                        })
                    };
                    all(own, side) && all(other, side.other())
                })
            })
        })
    }
}

/// Number of stones.
const fn stones(line: &Line) -> usize {
    line.2.len() + line.3.len()
}

/// The corner in which a point is, right or left and above or below, and its lines from there; `None` for the middle lines.
fn in_corner(size: u16, at: Point) -> Option<([bool; 2], Place)> {
    let half = size / 2;
    let line = |from: u16| {
        if from < half {
            Some((false, from as u8 + 1))
        } else if from >= size - half {
            Some((true, (size - from) as u8))
        } else {
            None
        }
    };
    let ((right, x), (above, y)) = (line(at.column)?, line(at.row)?);
    Some(([right, above], (x, y)))
}

/// Whether these stones of one corner, as many as the line has, are those of the line.
fn is_corner(line: &Line, played: &[(Place, Side)]) -> bool {
    let (.., own, other) = line;
    [false, true].into_iter().any(|turned| {
        let place = |(x, y): Place| if turned { (y, x) } else { (x, y) };
        Side::BOTH.into_iter().any(|side| {
            let all =
                |places: &[Place], side: Side| places.iter().all(|&at| played.contains(&(place(at), side)));
            let first = other.is_empty() || played[0] == (place(own[0]), side);
            first && all(own, side) && all(other, side.other())
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Go, GoSetup, Handicap};
    use super::*;
    use crate::{Action, Game as _};

    /// The game of this setup after these moves, as on a board: `D4`.
    fn played(setup: &GoSetup, moves: &str) -> Go {
        let mut game = Go::new(setup).expect("a game");
        for text in moves.split(' ').filter(|text| !text.is_empty()) {
            let action = game.parse(text).unwrap_or_else(|| panic!("{text} is a move"));
            game.play(game.legal_move(action).unwrap_or_else(|error| panic!("{text}: {error:?}")));
        }
        game
    }

    fn of_size(size: u8) -> GoSetup {
        GoSetup { size, ..GoSetup::default() }
    }

    /// The name after these stones on a board of this size, the same in all eight symmetries; whose turn it is not passes.
    fn named(size: u8, stones: &[(Point, Side)]) -> Option<[&'static str; 2]> {
        let mut names = (0..8).map(|way| {
            let mut game = Go::new(&of_size(size)).expect("a game");
            for &(at, side) in stones {
                if game.turn() != side {
                    game.play(game.legal_move(Action::Pass).expect("a pass"));
                }
                let at = at.turned(way, [size.into(); 2]);
                game.play(game.legal_move(Action::Place(at)).expect("an empty point"));
            }
            let opening = game.opening()?;
            Some([Language::Chinese, Language::English].map(|language| opening.name(language)))
        });
        let first = names.next().expect("eight names");
        assert!(names.all(|name| name == first), "{stones:?}: the same in all symmetries");
        first
    }

    /// The stones of a line in turn, as long as both sides have some; it is the beginning of this side.
    fn in_turn(line: &Line, side: Side) -> Vec<(Point, Side)> {
        let (.., own, other) = line;
        let longest = own.len().max(other.len());
        (0..longest)
            .flat_map(|n| [own.get(n).map(|at| (at, side)), other.get(n).map(|at| (at, side.other()))])
            .flatten()
            .map(|(&(x, y), side)| (Point::new(u16::from(x) - 1, u16::from(y) - 1), side))
            .collect()
    }

    #[test]
    fn each_corner_has_its_name_in_all_symmetries_and_both_colours() {
        let mut small = 0;
        for line in CORNERS {
            let (chinese, english, own, other) = *line;
            for size in [13_u8, 19] {
                if own.iter().chain(other).any(|&(x, y)| u16::from(x.max(y)) > u16::from(size) / 2) {
                    continue;
                }
                small += usize::from(size == 13);
                for side in Side::BOTH {
                    assert_eq!(named(size, &in_turn(line, side)), Some([chinese, english]), "{size}");
                }
            }
        }
        assert!(small > 25, "{small} of them on the small board");
    }

    #[test]
    fn each_whole_board_has_its_name_in_all_symmetries_and_both_colours() {
        for line in WHOLE {
            let (chinese, english, ..) = *line;
            for side in Side::BOTH {
                assert_eq!(named(19, &in_turn(line, side)), Some([chinese, english]));
            }
        }
        assert!(WHOLE.is_sorted_by_key(|line| std::cmp::Reverse(stones(line))), "more stones come first");
    }

    #[test]
    fn each_name_is_of_one_beginning() {
        let mut lines: Vec<_> = CORNERS.iter().chain(WHOLE).map(|line| (line.0, line.1)).collect();
        // Two positions of one opening.
        lines.dedup();
        let chinese: BTreeSet<_> = lines.iter().map(|line| line.0).collect();
        let english: BTreeSet<_> = lines.iter().map(|line| line.1).collect();
        assert_eq!((chinese.len(), english.len()), (lines.len(), lines.len()));
        for (n, line) in CORNERS.iter().enumerate() {
            let again = CORNERS[n + 1..].iter().filter(|one| {
                stones(one) == stones(line) && {
                    let played: Vec<_> = in_turn(one, Side::First)
                        .into_iter()
                        .map(|(at, side)| ((at.column as u8 + 1, at.row as u8 + 1), side))
                        .collect();
                    is_corner(line, &played)
                }
            });
            assert_eq!(again.count(), 0, "{} is no other", line.1);
        }
    }

    #[test]
    fn games_are_told_the_name_of_the_last_corner_or_of_the_board() {
        for (moves, chinese, english) in [
            ("", "", ""),
            ("Q16", "星", "Star Point"),
            ("R16", "小目", "3-4 Point"),
            ("R16 P17 Q15", "秀策小尖", "Shusaku's Diagonal"),
            ("R16 D4 P17", "无忧角", "Small-Knight Enclosure"),
            ("P17 D4 R16", "无忧角", "Small-Knight Enclosure"),
            ("R16 P17", "小目小飞挂", "3-4 Point, Low Approach"),
            ("P17 R16", "目外小目挂", "5-3 Point, 3-4 Approach"),
            ("P17 R16 Q14", "大斜", "Taisha"),
            ("R16 P16 M16", "妖刀", "Magic Sword"),
            ("R16 P16 P17 Q16 Q17 R15", "雪崩型", "Avalanche"),
            ("R16 P16 P17 Q16 Q17 R15 S15", "小雪崩", "Small Avalanche"),
            ("R16 P16 P17 Q16 Q17 R15 S16", "大雪崩", "Large Avalanche"),
            ("R16 P16 P17 O17 Q17", "托退", "Attach and Draw Back"),
            ("Q16 R17", "星点三三", "Star Point, 3-3 Invasion"),
            // What follows without a name leaves the one before.
            ("Q16 R17 R16 Q17 P17", "星点三三", "Star Point, 3-3 Invasion"),
            ("Q16 R17 D4", "对角星", "Diagonal Star Points"),
            ("Q16 D4 Q4 D16", "二连星", "Nirensei"),
            ("Q16 D4 Q4 D16 Q10", "三连星", "Sanrensei"),
            ("Q16 D4 Q3 D16 R9", "低中国流", "Low Chinese Opening"),
            ("Q16 D4 Q3 D16 Q9", "高中国流", "High Chinese Opening"),
            ("Q16 D4 Q3 D16 Q9 O3", "高中国流", "High Chinese Opening"),
            ("R16 D17 Q3 P17 C4", "秀策流", "Shusaku Opening"),
            ("Q16 D4 R4 D16 P3", "星无忧角", "Orthodox Opening"),
            ("Q16 D4 R4 D16 F3 C6 L3", "迷你中国流", "Mini-Chinese Opening"),
            ("Q16 D4 Q3 D16 F3 C6 K4", "小林流", "Kobayashi Opening"),
            ("Q16 D4 Q3 D16 F3 C6 K3", "小林流", "Kobayashi Opening"),
            // More stones in the corner than on the whole board.
            ("Q16 D4 Q4 D16 F17 C14", "星小飞挂小飞应", "Star Point, Low Approach, Small-Knight Answer"),
            ("K10", "", ""),
            ("A1", "", ""),
            ("O15", "", ""),
            ("Q10 K4", "", ""),
        ] {
            let opening = played(&of_size(19), moves).opening();
            let name = |language| opening.map_or("", |opening| opening.name(language));
            assert_eq!(name(Language::Chinese), chinese, "{moves}");
            assert_eq!(name(Language::English), english, "{moves}");
        }
    }

    #[test]
    fn other_boards_other_starts_and_later_moves_have_no_name() {
        assert!(played(&of_size(9), "D4").opening().is_none());
        assert!(played(&of_size(15), "D4").opening().is_none());
        let small = played(&of_size(13), "K10 D4 K4").opening().expect("a corner");
        assert_eq!(small.name(Language::English), "Star Point", "only 19 x 19 has names of the whole board");
        let mut game = played(&of_size(19), "Q16 D4 Q4 D16");
        let set_up = game.edited(&[], Side::First).expect("the same stones");
        assert!(set_up.opening().is_none());
        for n in 0..56 {
            // Columns of one colour with an empty one between: nothing is captured.
            let at = Point::new(n % 8 * 2, n / 8);
            game.play(game.legal_move(Action::Place(at)).expect("an empty point"));
            assert!(game.opening().is_some(), "{n}");
        }
        game.play(game.legal_move(Action::Place(Point::new(18, 18))).expect("an empty point"));
        assert!(game.opening().is_none(), "it is no beginning any more");
    }

    #[test]
    fn handicap_stones_are_the_first_in_their_corners() {
        let setup = GoSetup { handicap: Handicap::Stars(4), ..GoSetup::default() };
        assert!(played(&setup, "").opening().is_none(), "nothing was played");
        let opening = played(&setup, "F3").opening().expect("an approach");
        assert_eq!(opening.name(Language::English), "Star Point, Low Approach");
        let opening = played(&setup, "F3 C6").opening().expect("an answer");
        assert_eq!(opening.name(Language::Chinese), "星小飞挂小飞应");
    }
}
