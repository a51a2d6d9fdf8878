//! Odds: positions and beginnings that make up for a difference in strength.
//!
//! Odds of pieces follow the starts of XQWLight, which many programs share (the left horse, both horses, nine pieces): the side that
//! gives them is Red and moves first. No text was found for the others. The chariot is the left one, as the horse is. With odds of
//! moves the weaker side has Red and moves first (让先), or makes two moves (让两先): a start is a position, so the first of the two is
//! on the board, the cannon to the middle (炮二平五). Odds of a cannon are not customary; the page for positions has them.

use super::XiangqiSetup;
use crate::options::{Both, Listed, Row};
use crate::start::Start;
use crate::{GameKind, Language, Side};

/// Odds that a match can begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odds {
    /// 让先: the weaker side moves first.
    FirstMove,
    /// 让两先: the weaker side makes two moves first.
    TwoMoves,
    /// 让单马: without the left horse.
    Horse,
    /// 让车: without the left chariot.
    Chariot,
    /// 让双马: without horses.
    TwoHorses,
    /// 让九子: without soldiers, elephants and advisers.
    NinePieces,
}

impl Odds {
    /// From the smallest to the largest.
    pub const ALL: [Self; 6] =
        [Self::FirstMove, Self::TwoMoves, Self::Horse, Self::Chariot, Self::TwoHorses, Self::NinePieces];

    /// The odds of a setup, if it begins with their position.
    pub fn of(setup: &XiangqiSetup) -> Option<Self> {
        let start = setup.start.as_ref()?;
        Self::ALL.into_iter().find(|odds| odds.start() == *start)
    }

    /// The FEN of the position.
    pub const fn fen(self) -> &'static str {
        match self {
            Self::FirstMove => "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w",
            Self::TwoMoves => "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w",
            Self::Horse => "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w",
            Self::Chariot => "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/1NBAKABNR w",
            Self::TwoHorses => "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKAB1R w",
            Self::NinePieces => "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/9/1C5C1/9/RN2K2NR w",
        }
    }

    /// The position.
    pub fn start(self) -> Start {
        Start::read(GameKind::Xiangqi, self.fen().as_bytes()).expect("each is a position")
    }

    /// The side that gives them.
    pub const fn giver(self) -> Side {
        match self {
            Self::FirstMove | Self::TwoMoves => Side::Second,
            Self::Horse | Self::Chariot | Self::TwoHorses | Self::NinePieces => Side::First,
        }
    }

    /// A sentence for the rule sheet.
    pub const fn rule(self, language: Language) -> &'static str {
        let (chinese, english) = match self {
            Self::FirstMove => (
                "让先：黑方让红方先走，棋子不少。",
                "Odds of the first move: Black lets Red move first. No piece is missing.",
            ),
            Self::TwoMoves => (
                "让两先：黑方让红方先走两步。第一步“炮二平五”已在盘上，红方再走第二步。",
                "Odds of two moves: Black lets Red make the first two moves. The first, a cannon to the middle, is on the board; Red makes the second.",
            ),
            Self::Horse => (
                "让单马：红方去掉左马，先走。",
                "Odds of a horse: Red plays without the left horse, and moves first.",
            ),
            Self::Chariot => (
                "让车：红方去掉左车，先走。",
                "Odds of a chariot: Red plays without the left chariot, and moves first.",
            ),
            Self::TwoHorses => (
                "让双马：红方去掉双马，先走。",
                "Odds of both horses: Red plays without horses, and moves first.",
            ),
            Self::NinePieces => (
                "让九子：红方去掉五兵、双相和双仕，先走。",
                "Odds of nine pieces: Red plays without soldiers, elephants and advisers, and moves first.",
            ),
        };
        language.pick(chinese, english)
    }

    fn set(self, setup: &mut XiangqiSetup) {
        (setup.start, setup.black_first) = (Some(self.start()), false);
    }
}

/// A value of the option.
macro_rules! odds {
    ($word:literal, $chinese:literal, $english:literal, $odds:ident) => {
        Listed {
            word: $word,
            name: Both::new($chinese, $english),
            is: |setup: &XiangqiSetup| Odds::of(setup) == Some(Odds::$odds),
            set: |setup: &mut XiangqiSetup| Odds::$odds.set(setup),
        }
    };
}

/// The option for odds.
pub(super) fn row() -> Row<XiangqiSetup> {
    let none = Listed {
        word: "none",
        name: Both::new("不让", "None"),
        is: |setup: &XiangqiSetup| setup.start.is_none(),
        set: |setup: &mut XiangqiSetup| setup.start = None,
    };
    let values = vec![
        none,
        odds!("first-move", "黑让先", "Black gives the first move", FirstMove),
        odds!("two-moves", "黑让两先", "Black gives two moves", TwoMoves),
        odds!("horse", "红让单马", "Red gives a horse", Horse),
        odds!("chariot", "红让车", "Red gives a chariot", Chariot),
        odds!("two-horses", "红让双马", "Red gives both horses", TwoHorses),
        odds!("nine-pieces", "红让九子", "Red gives nine pieces", NinePieces),
    ];
    Row::listed("odds", Both::new("让子", "Odds"), values)
}
