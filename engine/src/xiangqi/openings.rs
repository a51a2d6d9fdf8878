//! Openings by name, from the first moves of a game.
//!
//! The names are those of Chinese opening books; in English those of the World Xiangqi Federation's books. Squares are as in
//! ICCS (`h2`), and each opening also has its mirror image, where files a to i are i to a.

use super::attacks::{FILE, RANK};
use super::board::XiangqiMove;
use crate::Language;

/// Plies that are looked at: the openings named here are recognised within six moves of each side.
const PLIES: usize = 12;

/// The first moves of a game from the standard position, Red first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    moves: [XiangqiMove; PLIES],
    plies: u8,
}

impl Beginning {
    pub(super) const fn new() -> Self {
        Self { moves: [XiangqiMove { from: 0, to: 0 }; PLIES], plies: 0 }
    }

    /// Adds the next move of the game; further moves than the openings have change nothing.
    pub(super) fn add(&mut self, mv: XiangqiMove) {
        if let Some(next) = self.moves.get_mut(usize::from(self.plies)) {
            *next = mv;
            self.plies += 1;
        }
    }

    /// The opening so far; `None` if it has no name here.
    pub(super) fn opening(&self) -> Option<Opening> {
        let played = &self.moves[..usize::from(self.plies)];
        [false, true].into_iter().find_map(|mirrored| {
            let of =
                |first: usize| played.iter().skip(first).step_by(2).map(|mv| name(*mv, mirrored)).collect();
            Opening::of(&of(0), &of(1))
        })
    }
}

/// A move as ICCS writes it.
fn name(mv: XiangqiMove, mirrored: bool) -> String {
    let square = |square: u8| {
        let file = FILE[usize::from(square)];
        let file = if mirrored { 8 - file } else { file };
        format!("{}{}", char::from(b'a' + file), RANK[usize::from(square)])
    };
    square(mv.from) + &square(mv.to)
}

/// An opening: what Red plays, and how Black answers, if that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    red: Name,
    black: Option<Name>,
}

/// Chinese and English.
type Name = (&'static str, &'static str);

/// Red's systems by the first move, the right-hand form of each.
const SYSTEMS: [(&str, Name); 8] = [
    ("h2e2", ("中炮", "Central Cannon")),
    ("g0e2", ("飞相局", "Elephant Opening")),
    ("g3g4", ("仙人指路", "Pawn Opening")),
    ("h0g2", ("起马局", "Horse Opening")),
    ("h0i2", ("边马局", "Edge Horse Opening")),
    ("h2d2", ("过宫炮", "Cross-Palace Cannon")),
    ("h2f2", ("仕角炮", "Palcorner Cannon")),
    ("e3e4", ("中兵局", "Central Pawn Opening")),
];

/// Red's continuations after the central cannon, by a move of the other cannon or the chariot.
const CENTRAL: [(&[&str], Name); 6] = [
    (&["b2d2"], ("五六炮", "Five-Six Cannons")),
    (&["b2c2"], ("五七炮", "Five-Seven Cannons")),
    (&["b2b6"], ("五八炮", "Five-Eight Cannons")),
    (&["b2b4"], ("中炮巡河炮", "Central Cannon with River Cannon")),
    (&["i0h0", "h0h6"], ("中炮过河车", "Central Cannon with Crossing Chariot")),
    (&["i0h0", "h0h4"], ("中炮巡河车", "Central Cannon with River Chariot")),
];

impl Opening {
    fn of(red: &Vec<String>, black: &Vec<String>) -> Option<Self> {
        let first = red.first()?;
        let (_, system) = SYSTEMS.iter().find(|(mv, _)| first == mv)?;
        let played = |moves: &Vec<String>, wanted: &str| moves.iter().position(|mv| mv == wanted);
        let all = |moves: &Vec<String>, wanted: &[&str]| wanted.iter().all(|mv| played(moves, mv).is_some());
        let answer = match first.as_str() {
            "h2e2" => {
                let centre = ["h7e7", "b7e7"].map(|mv| played(black, mv));
                let horses = ["b9c7", "h9g7"].map(|mv| played(black, mv).is_some());
                let edges = ["b9a7", "h9i7"].map(|mv| played(black, mv).is_some());
                match centre {
                    [Some(0), _] => {
                        return Some(Self { red: ("顺炮", "Same-Direction Cannons"), black: None });
                    }
                    [_, Some(0)] => {
                        return Some(Self { red: ("列炮", "Opposite-Direction Cannons"), black: None });
                    }
                    [_, Some(_)] => Some(("半途列炮", "Delayed Opposite Cannons")),
                    [Some(_), _] => Some(("后补顺炮", "Delayed Same-Direction Cannons")),
                    _ if horses == [true; 2] => {
                        let between = all(black, &["h7f7"]) || all(black, &["b7d7"]);
                        Some(if between {
                            ("反宫马", "Sandwiched Horses")
                        } else {
                            ("屏风马", "Screen Horses")
                        })
                    }
                    _ if horses[0] && edges[1] || horses[1] && edges[0] => Some(("单提马", "Single Horse")),
                    _ if all(black, &["h9g7", "h7i7", "i9h9"]) || all(black, &["b9c7", "b7a7", "a9b9"]) => {
                        Some(("三步虎", "Three-Step Tiger"))
                    }
                    _ => None,
                }
            }
            "g3g4" => match black.first().map(String::as_str) {
                Some("h7g7") => Some(("卒底炮", "Cannon behind the Pawn")),
                // Both advance the same side's pawn, seen from each player.
                Some("c6c5") => return Some(Self { red: ("对兵局", "Facing Pawns"), black: None }),
                Some("h7e7" | "b7e7") => Some(("中炮", "Central Cannon")),
                Some("c9e7" | "g9e7") => Some(("飞象", "Elephant")),
                _ => None,
            },
            "g0e2" => match black.first().map(String::as_str) {
                Some("h7e7" | "b7e7") => Some(("中炮", "Central Cannon")),
                Some("h7f7" | "b7d7") => Some(("士角炮", "Palcorner Cannon")),
                Some("h7d7" | "b7f7") => Some(("过宫炮", "Cross-Palace Cannon")),
                _ => None,
            },
            _ => None,
        };
        let further = CENTRAL.iter().find(|(moves, _)| first == "h2e2" && all(red, moves));
        let red = match (further, answer) {
            // Against no set-up with a name these plans have none of their own.
            (Some((_, name)), Some(_)) => *name,
            _ => *system,
        };
        Some(Self { red, black: answer })
    }

    /// 五七炮对屏风马; Five-Seven Cannons vs Screen Horses.
    pub fn name(self, language: Language) -> String {
        let pick = |(chinese, english): Name| language.pick(chinese, english);
        match self.black {
            Some(black) => format!("{}{}{}", pick(self.red), language.pick("对", " vs "), pick(black)),
            None => pick(self.red).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Xiangqi, XiangqiSetup};
    use crate::{Game as _, Language};

    /// The name after these moves, in Chinese notation.
    fn named(moves: &str, language: Language) -> String {
        let mut game = Xiangqi::new(&XiangqiSetup::default()).expect("a game");
        for text in moves.split(' ') {
            let action = game.parse(text).unwrap_or_else(|| panic!("{text} is a move"));
            game.play(game.legal_move(action).expect(text));
        }
        game.opening().map_or_else(String::new, |opening| opening.name(language))
    }

    #[test]
    fn openings_have_the_names_of_the_books_on_both_wings() {
        for (moves, chinese, english) in [
            ("炮二平五", "中炮", "Central Cannon"),
            ("炮八平五", "中炮", "Central Cannon"),
            ("炮二平五 炮8平5", "顺炮", "Same-Direction Cannons"),
            ("炮八平五 炮2平5", "顺炮", "Same-Direction Cannons"),
            ("炮二平五 炮2平5", "列炮", "Opposite-Direction Cannons"),
            (
                "炮二平五 马8进7 马二进三 车9平8 车一平二 马2进3",
                "中炮对屏风马",
                "Central Cannon vs Screen Horses",
            ),
            (
                "炮二平五 马8进7 马二进三 车9平8 车一平二 马2进3 兵七进一 卒7进1 车二进六",
                "中炮过河车对屏风马",
                "Central Cannon with Crossing Chariot vs Screen Horses",
            ),
            (
                "炮二平五 马8进7 马二进三 车9平8 车一平二 马2进3 兵三进一 卒3进1 马八进九 卒1进1 炮八平七",
                "五七炮对屏风马",
                "Five-Seven Cannons vs Screen Horses",
            ),
            (
                "炮二平五 马2进3 马二进三 炮8平6 车一平二 马8进7",
                "中炮对反宫马",
                "Central Cannon vs Sandwiched Horses",
            ),
            ("炮二平五 马2进3 马二进三 马8进9", "中炮对单提马", "Central Cannon vs Single Horse"),
            (
                "炮二平五 马8进7 马二进三 炮8平9 车一平二 车9平8",
                "中炮对三步虎",
                "Central Cannon vs Three-Step Tiger",
            ),
            ("相三进五", "飞相局", "Elephant Opening"),
            ("相七进五 炮8平5", "飞相局对中炮", "Elephant Opening vs Central Cannon"),
            ("兵七进一 炮2平3", "仙人指路对卒底炮", "Pawn Opening vs Cannon behind the Pawn"),
            ("兵三进一 炮8平7", "仙人指路对卒底炮", "Pawn Opening vs Cannon behind the Pawn"),
            ("兵七进一 卒7进1", "对兵局", "Facing Pawns"),
            ("马八进七", "起马局", "Horse Opening"),
            ("炮二平六", "过宫炮", "Cross-Palace Cannon"),
            ("炮八平六", "仕角炮", "Palcorner Cannon"),
            ("兵九进一", "", ""),
            ("车一进一 炮8平5", "", ""),
        ] {
            assert_eq!(named(moves, Language::Chinese), chinese, "{moves}");
            assert_eq!(named(moves, Language::English), english, "{moves}");
        }
    }

    #[test]
    fn a_position_set_up_and_a_game_that_black_begins_have_no_opening() {
        let setup = XiangqiSetup { black_first: true, ..XiangqiSetup::default() };
        let mut game = Xiangqi::new(&setup).expect("a game");
        let first = game.parse("炮8平5").expect("a move");
        game.play(game.legal_move(first).expect("legal"));
        assert!(game.opening().is_none());
        let fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 1";
        let mut game = Xiangqi::from_position(&XiangqiSetup::default(), fen).expect("a position");
        let reply = game.parse("炮8平5").expect("a move");
        game.play(game.legal_move(reply).expect("legal"));
        assert!(game.opening().is_none());
    }
}
